#!/usr/bin/env python3
"""Makes what a release consists of out of built binaries. Standard library only.

    release.py archive --target TRIPLE --binary FILE --dist DIST      an archive with the binary, manual, completions
    release.py npm --dist DIST --to FOLDER                            the npm packages, out of the archives
    release.py files --dist DIST --repository OWNER/NAME --to FOLDER  formula and registry entry, with checksums
    release.py checksums --dist DIST                                  DIST/SHA256SUMS

The version is that of Cargo.toml, nowhere else.
"""

import argparse
import hashlib
import io
import json
import re
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHELLS = {"bash": "sparkls.bash", "zsh": "_sparkls", "fish": "sparkls.fish", "powershell": "sparkls.ps1", "elvish": "sparkls.elv"}
#: Targets of Rust as Node names their platforms.
PLATFORMS = {
    "x86_64-unknown-linux-gnu": ("linux", "x64"),
    "aarch64-unknown-linux-gnu": ("linux", "arm64"),
    "x86_64-apple-darwin": ("darwin", "x64"),
    "aarch64-apple-darwin": ("darwin", "arm64"),
    "x86_64-pc-windows-msvc": ("win32", "x64"),
    "aarch64-pc-windows-msvc": ("win32", "arm64"),
}


def version() -> str:
    manifest = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    return re.search(r'^version = "(.+)"$', manifest, re.MULTILINE).group(1)


def name_of(target: str) -> str:
    return f"sparkls-{target}.{'zip' if 'windows' in target else 'tar.gz'}"


def binary_of(target: str) -> str:
    return "sparkls.exe" if "windows" in target else "sparkls"


def archive(target: str, binary: Path, dist: Path) -> Path:
    """An archive whose members are dated alike, so that the same binary makes the same archive."""
    with tempfile.TemporaryDirectory() as folder:
        content = Path(folder)
        shutil.copy(binary, content / binary_of(target))
        for name in ("LICENSE-MIT", "LICENSE-APACHE", "README.md", "CHANGELOG.md"):
            shutil.copy(ROOT / name, content)
        subprocess.run([binary, "man", "--to", content / "man1"], check=True)
        (content / "completions").mkdir()
        for shell, name in SHELLS.items():
            script = subprocess.run([binary, "completions", shell], check=True, capture_output=True).stdout
            (content / "completions" / name).write_bytes(script)
        dist.mkdir(parents=True, exist_ok=True)
        path = dist / name_of(target)
        members = sorted(path for path in content.rglob("*") if path.is_file())
        (write_zip if path.suffix == ".zip" else write_tar)(path, content, members)
        return path


def write_tar(path: Path, content: Path, members: list[Path]) -> None:
    with tarfile.open(path, "w:gz") as archive:
        for member in members:
            info = tarfile.TarInfo(member.relative_to(content).as_posix())
            data = member.read_bytes()
            info.size, info.mode = len(data), 0o755 if member.name == "sparkls" else 0o644
            archive.addfile(info, io.BytesIO(data))


def write_zip(path: Path, content: Path, members: list[Path]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in members:
            info = zipfile.ZipInfo(member.relative_to(content).as_posix())
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, member.read_bytes())


def read_binary(path: Path, name: str) -> bytes:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            return archive.read(name)
    with tarfile.open(path) as archive:
        return archive.extractfile(name).read()


def npm(dist: Path, to: Path) -> None:
    """One package for each archive that is there, and the one that chooses among them."""
    common = {
        "version": version(),
        "description": "The language server and linter for Apache Spark",
        "license": "MIT OR Apache-2.0",
        "engines": {"node": ">=18"},
    }
    chosen = {}
    for target, (system, processor) in PLATFORMS.items():
        path = dist / name_of(target)
        if not path.exists():
            print(f"no archive for {target}")
            continue
        name, file = f"sparkls-{system}-{processor}", binary_of(target)
        folder = to / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(read_binary(path, file))
        (folder / file).chmod(0o755)
        shutil.copy(ROOT / "LICENSE-MIT", folder)
        shutil.copy(ROOT / "LICENSE-APACHE", folder)
        write_json(folder / "package.json", {"name": name, **common, "os": [system], "cpu": [processor], "files": [file, "LICENSE-*"]})
        chosen[name] = version()
    main = to / "sparkls"
    shutil.copytree(ROOT / "packaging" / "npm", main, dirs_exist_ok=True)
    shutil.copy(ROOT / "LICENSE-MIT", main)
    shutil.copy(ROOT / "LICENSE-APACHE", main)
    bin_of = {"sparkls": "bin/sparkls.js"}
    write_json(main / "package.json", {"name": "sparkls", **common, "bin": bin_of, "files": ["bin", "LICENSE-*"], "optionalDependencies": chosen})


def write_json(path: Path, value: dict) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def files(dist: Path, repository: str, to: Path) -> None:
    """Fills the templates; a missing archive is an error."""
    for template in ("homebrew/sparkls.rb", "mason/package.yaml"):
        text = (ROOT / "packaging" / template).read_text(encoding="utf-8")
        text = text.replace("@REPOSITORY@", repository).replace("@VERSION@", version())
        text = re.sub(r"@SHA256:([^@]+)@", lambda found: sha256(dist / found.group(1)), text)
        path = to / template
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def checksums(dist: Path) -> None:
    """As `sha256sum --check` reads them."""
    found = sorted(path for path in dist.iterdir() if path.is_file() and path.name != "SHA256SUMS")
    lines = [f"{sha256(path)}  {path.name}\n" for path in found]
    (dist / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    options = {
        "--dist": {"type": Path, "required": True}, "--to": {"type": Path, "required": True}, "--binary": {"type": Path, "required": True},
        "--target": {"choices": PLATFORMS, "required": True}, "--repository": {"required": True},
    }
    for command, wanted in {
        "archive": ["--target", "--binary", "--dist"], "npm": ["--dist", "--to"],
        "files": ["--dist", "--repository", "--to"], "checksums": ["--dist"],
    }.items():
        sub = commands.add_parser(command)
        for option in wanted:
            sub.add_argument(option, **options[option])
    arguments = vars(parser.parse_args())
    {"archive": archive, "npm": npm, "files": files, "checksums": checksums}[arguments.pop("command")](**arguments)


if __name__ == "__main__":
    main()
