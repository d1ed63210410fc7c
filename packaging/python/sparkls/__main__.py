"""`python -m sparkls`: the binary, with the same arguments."""

import os
import subprocess
import sys

from ._binary import find_binary


def main() -> None:
    command = [find_binary(), *sys.argv[1:]]
    if os.name == "nt":
        sys.exit(subprocess.run(command).returncode)
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
