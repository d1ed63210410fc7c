"""What `check` prints for machines, against the official schemas."""

import json
import subprocess
import sys
import tarfile

import jsonschema
import pytest
import xmlschema

from conftest import ROOT, SPARKLS, TOOLS, run

EXAMPLE = ROOT / "examples" / "nightly-orders"


@pytest.fixture(scope="module")
def sarif():
    schema = TOOLS / "node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json"
    return jsonschema.Draft7Validator(json.loads(schema.read_text()), format_checker=jsonschema.FormatChecker())


@pytest.fixture(scope="module")
def junit():
    """The schema of Jenkins, which the source package of pytest carries."""
    schema = TOOLS / "junit-10.xsd"
    if not schema.exists():
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        subprocess.run([*pip, "--dest", TOOLS, f"pytest=={pytest.__version__}"], check=True)
        with tarfile.open(TOOLS / f"pytest-{pytest.__version__}.tar.gz") as archive:
            member = f"pytest-{pytest.__version__}/testing/example_scripts/junit-10.xsd"
            schema.write_bytes(archive.extractfile(member).read())
    return xmlschema.XMLSchema(str(schema))


def errors(validator, text):
    return [f"{'/'.join(map(str, error.path))}: {error.message}" for error in validator.iter_errors(json.loads(text))]


def test_sarif_is_valid(project, sarif):
    text = run(SPARKLS, "check", "--format", "sarif", cwd=project, code=1)
    assert errors(sarif, text) == []
    results = json.loads(text)["runs"][0]["results"]
    assert {result["ruleId"] for result in results} >= {"duplicate-key", "invalid-value", "collect-unbounded"}
    places = [result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in results]
    assert "jobs/my%20orders%20%C3%A9.py" in places


def test_sarif_with_a_run_an_error_and_nothing(project, sarif, tmp_path_factory):
    assert errors(sarif, run(SPARKLS, "check", "--format", "sarif", cwd=EXAMPLE, code=1)) == []
    text = run(SPARKLS, "check", "nowhere", project, "--format", "sarif", cwd=project, code=2)
    assert errors(sarif, text) == []
    assert json.loads(text)["runs"][0]["invocations"][0]["executionSuccessful"] is False
    assert errors(sarif, run(SPARKLS, "check", "--format", "sarif", cwd=tmp_path_factory.mktemp("empty"))) == []


def test_the_schema_of_sarif_finds_mistakes(project, sarif):
    log = json.loads(run(SPARKLS, "check", "--format", "sarif", cwd=project, code=1))
    log["runs"][0]["results"][0]["level"] = "fatal"
    assert errors(sarif, json.dumps(log)) != []


def test_junit_is_valid(project, junit, tmp_path_factory):
    text = run(SPARKLS, "check", "nowhere", project, "--format", "junit", cwd=project, code=2)
    junit.validate(text)
    junit.validate(run(SPARKLS, "check", "--format", "junit", cwd=EXAMPLE, code=1))
    junit.validate(run(SPARKLS, "check", "--format", "junit", "--fail-on", "never", cwd=EXAMPLE))
    junit.validate(run(SPARKLS, "check", "--format", "junit", cwd=tmp_path_factory.mktemp("empty")))


def test_junit_counts_right(project, junit):
    report = junit.to_dict(run(SPARKLS, "check", "--format", "junit", "--fail-on", "error", cwd=project, code=1))
    suites = report["testsuite"]
    cases = [{**case, "suite": suite["@file"]} for suite in suites for case in suite["testcase"]]
    assert report["@tests"] == str(len(cases)) and report["@failures"] == "1"
    (failure,) = (case for case in cases if case.get("failure"))
    assert (failure["suite"], failure["@name"]) == ("conf/spark-defaults.conf", "invalid-value at line 4, column 31")
    assert failure["failure"][0]["@type"] == "error[invalid-value]"
