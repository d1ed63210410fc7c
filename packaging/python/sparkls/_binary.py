"""Finds the binary that was installed with this package."""

import os
import sys
import sysconfig
from pathlib import Path


def _folders():
    """Where installers put scripts: the environment's, the user's, and those beside an isolated or a target folder."""
    yield sysconfig.get_path("scripts")
    yield sysconfig.get_path("scripts", scheme=sysconfig.get_preferred_scheme("user")) if sys.version_info >= (3, 10) else ""
    package = Path(__file__).parent
    yield str(package.parent / "bin")  # pip install --target
    yield str(Path(sys.prefix) / ("Scripts" if os.name == "nt" else "bin"))


def find_binary() -> str:
    """The path of the binary; FileNotFoundError with the places that were looked at if it is nowhere."""
    name = "sparkls.exe" if os.name == "nt" else "sparkls"
    looked_at = []
    for folder in filter(None, _folders()):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
        looked_at.append(path)
    raise FileNotFoundError("the binary of sparkls is not in " + ", ".join(dict.fromkeys(looked_at)))
