"""What other people's CI takes from here: the hooks of pre-commit, the action, the job for GitLab."""

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from conftest import ROOT, SPARKLS, run

BIN = Path(sys.executable).parent


@pytest.fixture
def on_path(tmp_path_factory):
    """An environment in which `sparkls` is the binary under test."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "sparkls").symlink_to(SPARKLS)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


@pytest.mark.parametrize(
    ("schema", "file"),
    [
        ("github-actions", "action.yml"),
        ("github-workflows", ".github/workflows/release.yml"),
        ("gitlab-ci", "packaging/ci/gitlab-ci.yml"),
    ],
)
def test_the_schema_holds(schema, file):
    run(BIN / "check-jsonschema", "--builtin-schema", f"vendor.{schema}", ROOT / file, cwd=ROOT)


def git(folder, *words):
    mail = ["-c", "user.email=a@example.org", "-c", "user.name=a"]
    return run("git", *mail, *words, cwd=folder)


def test_pre_commit_takes_the_hooks(project, tmp_path, on_path, tmp_path_factory):
    run(BIN / "pre-commit", "validate-manifest", ROOT / ".pre-commit-hooks.yaml", cwd=ROOT)
    hooks = tmp_path_factory.mktemp("hooks")
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", hooks)
    git(hooks, "init", "--quiet")
    git(hooks, "add", ".")
    git(hooks, "commit", "--quiet", "-m", "hooks")
    revision = git(hooks, "rev-parse", "HEAD").strip()
    # `rust` would build it from source here.
    here = {"language": "system"}
    chosen = [{"id": "sparkls", "args": ["--fail-on", "error"], **here}, {"id": "sparkls-fix", **here}]
    config = {"repos": [{"repo": str(hooks), "rev": revision, "hooks": chosen}]}
    (project / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    git(project, "init", "--quiet")
    git(project, "add", ".")
    env = {**on_path, "PRE_COMMIT_HOME": str(tmp_path_factory.mktemp("cache"))}
    told = run(BIN / "pre-commit", "run", "--all-files", "sparkls", cwd=project, code=1, env=env)
    assert "error[invalid-value]" in told and "Failed" in told
    told = run(BIN / "pre-commit", "run", "--all-files", "sparkls-fix", cwd=project, code=1, env=env)
    assert "files were modified by this hook" in told
    assert (project / "conf/spark-defaults.conf").read_text().count("spark.executor.memory") == 1
    (project / "conf/spark-defaults.conf").write_text("spark.sql.shuffle.partitions  64\n")
    told = run(BIN / "pre-commit", "run", "sparkls", "--files", "conf/spark-defaults.conf", cwd=project, env=env)
    assert "Passed" in told


def action_steps():
    return yaml.safe_load((ROOT / "action.yml").read_text())


def act(project, on_path, code, **inputs):
    """Runs the checking step of the action as a runner does, with these inputs."""
    action = action_steps()
    values = {name: entry.get("default", "") for name, entry in action["inputs"].items()} | inputs
    (step,) = (step for step in action["runs"]["steps"] if step.get("id") == "check")
    env = {}
    for name, value in step["env"].items():
        assert value.startswith("${{ inputs.") and value.endswith(" }}"), value
        env[name] = values[value.removeprefix("${{ inputs.").removesuffix(" }}")]
    output = project / "output.txt"
    env |= on_path | {"GITHUB_OUTPUT": str(output)}
    script = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]]
    return run(*script, cwd=project, env=env, code=code), output.read_text()


def test_the_action_annotates_and_writes_sarif(project, on_path):
    told, output = act(project, on_path, 1)
    assert "::error file=conf/spark-defaults.conf,line=4," in told
    assert output == "sarif-file=sparkls.sarif\n"
    assert len(json.loads((project / "sparkls.sarif").read_text())["runs"][0]["results"]) >= 4


def test_the_action_takes_its_inputs(project, on_path):
    told, _ = act(project, on_path, 0, **{"paths": "jobs", "fail-on": "error", "min-severity": "warning", "spark-version": "3.5"})
    assert "::error" not in told and "collect-unbounded" in told
    told, _ = act(project, on_path, 2, paths="nowhere jobs")
    assert "::error file=nowhere" in told


def test_the_action_puts_no_input_into_a_script():
    for step in action_steps()["runs"]["steps"]:
        assert "${{" not in step.get("run", ""), step["name"]


def test_the_job_for_gitlab(project, on_path):
    job = yaml.safe_load((ROOT / "packaging/ci/gitlab-ci.yml").read_text())["sparkls"]
    env = on_path | job["variables"]
    done = subprocess.run(["sh", "-e", "-c", "\n".join(job["script"])], cwd=project, env={**os.environ, **env})
    assert done.returncode == 1
    assert "<failure " in (project / job["artifacts"]["reports"]["junit"]).read_text()


def test_completions_complete_in_bash(tmp_path):
    script = tmp_path / "sparkls.bash"
    script.write_text(run(SPARKLS, "completions", "bash", cwd=tmp_path))
    ask = f"source {script}; COMP_WORDS=(sparkls check --fail); COMP_CWORD=2; _sparkls sparkls --fail check; echo ${{COMPREPLY[@]}}"
    assert run("bash", "-c", ask, cwd=tmp_path).split() == ["--fail-on"]
