"""What the tests share: the binary, a project with findings, and where things are."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "target" / "packaging"
SPARKLS = os.environ["SPARKLS"]

#: A value that Spark refuses, a key twice, a call that brings all rows to the driver, behind wide characters.
FILES = {
    "conf/spark-defaults.conf": "# \N{SLIGHTLY SMILING FACE}\nspark.executor.memory  2g\nspark.executor.memory  4g\n"
    "spark.sql.shuffle.partitions  many\n",
    "jobs/my orders é.py": "from pyspark.sql import SparkSession\n\nspark = SparkSession.builder.getOrCreate()\n"
    "note = '\N{SLIGHTLY SMILING FACE}<&>'; rows = spark.read.parquet('/data/orders').collect()\n",
    "jobs/a.ipynb": '{"cells": [{"cell_type": "code", "id": "a", "metadata": {}, "execution_count": null, "outputs": [],'
    ' "source": ["rows = spark.read.table(\'t\').collect()\\n"]}],'
    ' "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}\n',
}


@pytest.fixture
def project(tmp_path):
    """A folder with findings in settings, code and a notebook."""
    for path, text in FILES.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return tmp_path


def run(*command, cwd, code=0, env=None, **options):
    """Runs a command that must end with `code`, and returns its standard output."""
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, env={**os.environ, **(env or {})}, capture_output=True, text=True,
        encoding="utf-8", **options,
    )
    assert done.returncode == code, f"{command} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def version() -> str:
    """The version of Cargo.toml, the only place that has it."""
    return re.search(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE).group(1)
