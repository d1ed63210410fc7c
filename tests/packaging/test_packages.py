"""The packages that a release consists of, built with the debug profile and installed as users install them."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
import urllib.request
import venv
import zipfile
from pathlib import Path

import pytest

from conftest import ROOT, SPARKLS, TOOLS, run, version

BIN = Path(sys.executable).parent
TARGET = "x86_64-unknown-linux-gnu"
RELEASE = [sys.executable, ROOT / "packaging" / "release.py"]


@pytest.fixture(scope="session")
def dist():
    """The wheel and the source package of Python."""
    folder = TOOLS / "dist"
    shutil.rmtree(folder, ignore_errors=True)
    maturin = BIN / "maturin"
    run(maturin, "build", "--profile", "dev", "--compatibility", "linux", "--out", folder, cwd=ROOT)
    run(maturin, "sdist", "--out", folder, cwd=ROOT)
    return folder


@pytest.fixture(scope="session")
def clean(dist, tmp_path_factory):
    """An environment with the wheel and nothing else."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder, with_pip=True)
    (wheel,) = dist.glob("*.whl")
    run(folder / "bin/pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", wheel, cwd=folder)
    return folder / "bin"


def test_the_wheel_runs_in_a_clean_environment(clean, project):
    assert run(clean / "sparkls", "--version", cwd=project) == f"sparkls {version()}\n"
    assert run(clean / "python", "-m", "sparkls", "--version", cwd=project) == f"sparkls {version()}\n"
    assert "error[invalid-value]" in run(clean / "sparkls", "check", cwd=project, code=1)
    run(clean / "python", "-m", "sparkls", "check", "--no-such", cwd=project, code=2)
    found = run(clean / "python", "-c", "import sparkls; print(sparkls.find_binary())", cwd=project)
    assert Path(found.strip()) == clean / "sparkls"


def test_the_wheel_holds_the_licences_and_a_bill_of_materials(dist):
    (wheel,) = dist.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (bill,) = (name for name in names if name.endswith(".cyclonedx.json"))
        components = {entry["name"] for entry in json.loads(archive.read(bill))["components"]}
        metadata = archive.read(f"sparkls-{version()}.dist-info/METADATA").decode()
    assert {"tree-sitter", "rusqlite", "tower-lsp-server"} <= components
    assert sum("/licenses/LICENSE-" in name for name in names) == 2
    assert f"\nVersion: {version()}\n" in metadata


def crate():
    run("cargo", "package", "--locked", "--no-verify", "--allow-dirty", "--quiet", cwd=ROOT)
    return ROOT / "target" / "package" / f"sparkls-{version()}.crate"


def members(path):
    with tarfile.open(path) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


def test_the_crate_is_small_and_builds(tmp_path, dist):
    path = crate()
    names = members(path)
    assert path.stat().st_size < 2 << 20, path.stat().st_size
    wanted = {"Cargo.toml", "Cargo.lock", "README.md", "LICENSE-MIT", "LICENSE-APACHE", "sparkls.schema.json", "data/settings.tsv"}
    assert wanted <= names
    tops = {name.split("/")[0] for name in names}
    assert tops.isdisjoint({"tests", "editors", "examples", "fuzz", "docs", "packaging"})
    with tarfile.open(path) as archive:
        archive.extractall(tmp_path)
    # With what is built already: the dependencies are the same.
    source = tmp_path / f"sparkls-{version()}"
    run("cargo", "check", "--locked", "--quiet", "--target-dir", ROOT / "target", cwd=source)
    (sdist,) = dist.glob("*.tar.gz")
    missing = {name for name in names if name.startswith(("src/", "data/", "queries/"))} - members(sdist)
    assert not missing
    assert {"pyproject.toml", "packaging/python/sparkls/jupyter.py", "PKG-INFO"} <= members(sdist)


@pytest.fixture(scope="session")
def archive(tmp_path_factory):
    folder = tmp_path_factory.mktemp("archives")
    run(*RELEASE, "archive", "--target", TARGET, "--binary", SPARKLS, "--dist", folder, cwd=ROOT)
    return folder


def test_an_archive_holds_what_a_packager_needs(archive, tmp_path):
    path = archive / f"sparkls-{TARGET}.tar.gz"
    with tarfile.open(path) as content:
        content.extractall(tmp_path)
    assert run(tmp_path / "sparkls", "--version", cwd=tmp_path) == f"sparkls {version()}\n"
    assert (tmp_path / "man1/sparkls-check.1").exists() and (tmp_path / "completions/_sparkls").exists()
    run(*RELEASE, "checksums", "--dist", archive, cwd=ROOT)
    run("sha256sum", "--check", "--quiet", "SHA256SUMS", cwd=archive)


def test_npm_installs_the_binary_of_the_platform(archive, tmp_path, project):
    run(*RELEASE, "npm", "--dist", archive, "--to", tmp_path / "npm", cwd=ROOT)
    packed = []
    for name in ("sparkls-linux-x64", "sparkls"):
        packed.append(tmp_path / run("npm", "pack", "--silent", tmp_path / "npm" / name, cwd=tmp_path).strip())
    app = tmp_path / "app"
    app.mkdir()
    run("npm", "install", "--offline", "--silent", "--no-audit", "--no-fund", *packed, cwd=app)
    assert run(app / "node_modules/.bin/sparkls", "--version", cwd=app) == f"sparkls {version()}\n"
    assert "invalid-value" in run(app / "node_modules/.bin/sparkls", "check", cwd=project, code=1)
    shutil.rmtree(app / "node_modules/sparkls-linux-x64")
    run(app / "node_modules/.bin/sparkls", "--version", cwd=app, code=2)


def test_formula_and_registry_entry_are_filled_in(archive, tmp_path):
    dist = tmp_path / "dist"
    shutil.copytree(archive, dist)
    run(*RELEASE, "files", "--dist", dist, "--repository", "someone/sparkls", "--to", tmp_path, cwd=ROOT, code=1)
    for target in ("aarch64-unknown-linux-gnu", "x86_64-apple-darwin", "aarch64-apple-darwin"):
        (dist / f"sparkls-{target}.tar.gz").write_bytes(target.encode())
    run(*RELEASE, "files", "--dist", dist, "--repository", "someone/sparkls", "--to", tmp_path, cwd=ROOT)
    formula = (tmp_path / "homebrew/sparkls.rb").read_text()
    entry = (tmp_path / "mason/package.yaml").read_text()
    assert "@" not in formula and len(re.findall(r'sha256 "[0-9a-f]{64}"', formula)) == 4
    assert f"pkg:github/someone/sparkls@v{version()}" in entry and "@REPOSITORY@" not in entry


def test_the_version_stands_in_one_place():
    project = (ROOT / "pyproject.toml").read_text().partition("[project]")[2].partition("\n[")[0]
    assert 'dynamic = ["version"]' in project and not re.search("^version", project, re.MULTILINE)
    # Zed has no other way than to repeat it.
    assert f'version = "{version()}"' in (ROOT / "editors/zed/extension.toml").read_text()


def get(address):
    with urllib.request.urlopen(address, timeout=5) as answer:
        return json.load(answer)


def test_jupyterlab_finds_the_server(dist, tmp_path):
    """A real Jupyter server, told of the wheel by its entry point, starts sparkls for a notebook's language."""
    import websocket

    (wheel,) = dist.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--force-reinstall", "--disable-pip-version-check"]
    run(*pip, wheel, cwd=tmp_path)
    env = {**os.environ, "HOME": str(tmp_path), "JUPYTER_PLATFORM_DIRS": "1"}
    command = [BIN / "jupyter-server", "--no-browser", "--ip=127.0.0.1", "--port=0", "--allow-root", "--IdentityProvider.token=x"]
    with open(tmp_path / "log", "w") as log:
        server = subprocess.Popen([*command, "--ServerApp.jpserver_extensions={\"jupyter_lsp\": True}"], cwd=tmp_path, env=env, stdout=log, stderr=log)
    try:
        port = None
        for _ in range(300):
            found = re.search(r"http://127\.0\.0\.1:(\d+)/", (tmp_path / "log").read_text())
            if found:
                port = found.group(1)
                break
            time.sleep(0.1)
        assert port, (tmp_path / "log").read_text()
        sessions = get(f"http://127.0.0.1:{port}/lsp/status?token=x")["sessions"]
        assert sessions["sparkls"]["spec"]["languages"] == ["python"]
        wire = websocket.create_connection(f"ws://127.0.0.1:{port}/lsp/ws/sparkls?token=x", timeout=20)
        say = lambda **message: wire.send(json.dumps({"jsonrpc": "2.0", **message}))  # noqa: E731
        say(id=1, method="initialize", params={"processId": None, "rootUri": tmp_path.as_uri(), "capabilities": {}})
        assert json.loads(wire.recv())["result"]["serverInfo"]["version"] == version()
        say(method="initialized", params={})
        text = "spark.range(9).write.save('x')\nrows = spark.read.table('t').collect()\n"
        item = {"uri": (tmp_path / "a.ipynb").as_uri(), "languageId": "python", "version": 1, "text": text}
        say(method="textDocument/didOpen", params={"textDocument": item})
        while (told := json.loads(wire.recv())).get("method") != "textDocument/publishDiagnostics":
            pass
        assert [found["code"] for found in told["params"]["diagnostics"]] == ["collect-unbounded"]
        wire.close()
    finally:
        server.terminate()
        server.wait(20)
