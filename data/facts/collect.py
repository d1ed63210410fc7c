#!/usr/bin/env python3
"""Collects the facts file that generate.py reads, from the jars of real Spark releases.

    python3 data/facts/collect.py WORK > FACTS.json

WORK is a folder with room for the releases' `pyspark` packages, some 4 GB; what is there already is used. Needs pip and a
JDK 17. ReadFacts.java runs once per release; what it prints is merged here.
"""

import json
import pathlib
import subprocess
import sys
import tarfile

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
from generate import VERSIONS  # noqa: E402

# Reflection into Spark, which itself reaches into the JDK.
OPENED = ["lang", "lang.invoke", "lang.reflect", "io", "net", "nio", "util", "util.concurrent", "util.concurrent.atomic"]
OPENS = [f"--add-opens=java.base/java.{package}=ALL-UNNAMED" for package in OPENED] + [
    f"--add-opens=java.base/sun.{package}=ALL-UNNAMED" for package in ["nio.ch", "nio.cs", "security.action", "util.calendar"]
] + ["--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED", "-Djdk.reflect.useDirectMethodHandle=false"]

# Defaults that differ from machine to machine, and how.
MACHINE = {
    "spark.connect.session.connectML.mlCache.memoryControl.maxInMemorySize": "<JVM max heap / 4 >",
    "spark.driver.host": "<local host name or address>",
    "spark.history.fs.numCompactThreads": "<ceil(cores/4)>",
    "spark.history.fs.numReplayThreads": "<ceil(cores/4)>",
    "spark.sql.session.timeZone": "<JVM default time zone>",
    "spark.sql.streaming.stateStore.numStateStoreMaintenanceThreads": "<max(cores/4, 2)>",
    "spark.sql.warehouse.dir": "<file:$PWD/spark-warehouse>",
    "spark.testing.memory": "<JVM max heap>",
}


def jars(work, version):
    """The folder with the jars of a release, fetched if it isn't there."""
    package = work / f"pyspark-{version}"
    if not (package / "deps/jars").is_dir():
        archive = work / f"pyspark-{version}.tar.gz"
        if not archive.is_file():
            download = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:"]
            subprocess.run([*download, "-d", work, f"pyspark=={version}"], check=True, stdout=sys.stderr)
        with tarfile.open(archive) as tar:
            tar.extractall(work, [member for member in tar if member.name.endswith(".jar")], filter="data")
    return package / "deps/jars"


def read(work, version):
    """What ReadFacts prints for a release."""
    folder = jars(work, version)
    subprocess.run(["javac", "-d", work / "classes", HERE / "ReadFacts.java"], check=True)
    java = ["java", *OPENS, "-cp", f"{work / 'classes'}:{folder}/*", "ReadFacts", folder]
    return json.loads(subprocess.run(java, check=True, stdout=subprocess.PIPE).stdout)


def squeeze(by_version):
    """One value if all versions agree, else the values by version."""
    values = list(by_version.values())
    return values[0] if all(value == values[0] for value in values) else by_version


def setting(key, rows):
    """A declared setting, from its row in each version that declares it."""

    def fact(read_row):
        return squeeze({version: read_row(row) for version, row in rows.items()})

    fact_of = {"versions": {version: MACHINE.get(key, row["default"]) for version, row in rows.items()}}
    if key in MACHINE:
        fact_of["dynamicDefault"] = True
    fact_of["type"] = fact(lambda row: row["type"] + ("[]" if row.get("list") else ""))
    for name in ("unit", "fallback", "prependedKey", "caseFold", "bounds"):
        if (value := fact(lambda row: row.get(name))) is not None:
            fact_of[name] = value
    if (value := fact(lambda row: row["alternatives"] or None)) is not None:
        fact_of["alternatives"] = value
    if value := fact(lambda row: sorted(row.get("allowed", []))):
        fact_of["allowed"] = value
    for name in ("since", "public", "scope", "optional"):
        fact_of[name] = fact(lambda row: row[name])
    fact_of["firstSeen"], fact_of["lastSeen"] = list(rows)[0], list(rows)[-1]
    return fact_of


def merge(releases):
    """The facts on every name, from what ReadFacts printed by version."""
    rows = {version: {row["key"]: row for row in release["settings"]} for version, release in releases.items()}
    facts = {}
    for key in sorted(set().union(*rows.values())):
        facts[key] = setting(key, {version: of[key] for version, of in rows.items() if key in of})

    def undeclared(key):
        return facts.setdefault(key, {"versions": {}, "unregistered": True})

    for version, release in releases.items():
        for key, (since,) in {**release["deprecated"], **release["deprecatedSql"]}.items():
            undeclared(key)["deprecatedIn"] = {"since": since}
        for key, (since, accepted) in release["removedSql"].items():
            undeclared(key)["removedIn"] = {"since": since, "okValue": accepted}
        for key, older in release["older"].items():
            for name, since, translates in older:
                undeclared(name)["alternativeOf"] = {"key": key, "since": since, "translates": translates}
        for key, row in rows[version].items():
            for name in row["alternatives"]:
                undeclared(name)["alternativeOf"] = {"key": key}
    for version, release in releases.items():
        for key in release["raw"]:
            if undeclared(key).get("unregistered"):
                first, _ = facts[key].get("rawString", (version, version))
                facts[key]["rawString"] = [first, version]
    return facts


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    work = pathlib.Path(sys.argv[1])
    json.dump(merge({version: read(work, version) for version in VERSIONS}), sys.stdout, indent=0)


if __name__ == "__main__":
    main()
