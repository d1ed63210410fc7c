"""Starts a standalone cluster, runs the fleet script on it, and compares its table with `sparkls record`.

usage: cluster.py SPARKLS REPOSITORY
"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

SPARK = Path(pyspark.__file__).parent
WORKERS = 3
# Short lives: no time for the compiler of long ones.
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"


def main(sparkls: str, repository: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="sparkls-fleet-") as folder:
        work = Path(folder)
        good = make_logs(repository, work)
        with cluster(work) as master:
            table_is_what_record_says(sparkls, repository, work, master, good)
            every_log_has_its_row(sparkls, repository, work, master)
    print("fleet: passed")


def make_logs(repository: Path, work: Path) -> list:
    """A folder as a History Server leaves it; the logs in it that can be read."""
    logs = work / "logs"
    (logs / "team").mkdir(parents=True)
    good = []
    for index, log in enumerate(sorted((repository / "tests/fixtures/runs").glob("*-3.5.zst"))):
        target = logs / ("team" if index % 2 else ".") / log.name
        shutil.copy(log, target)
        good.append(str(target))
    rolled = logs / "eventlog_v2_app-1"
    rolled.mkdir()
    shutil.copy(repository / "tests/fixtures/runs/healthy-3.5.zst", rolled / "events_1_app-1.zstd")
    (rolled / "appstatus_app-1").touch()
    good.append(str(rolled))
    (logs / "notes.txt").write_text("not a log\n" * 1000)
    (logs / "empty").touch()
    (logs / "_SUCCESS").touch()
    return good


def table_is_what_record_says(sparkls, repository, work, master, good) -> None:
    table = work / "runs.parquet"
    events = work / "events"
    events.mkdir()
    conf = {"spark.eventLog.enabled": "true", "spark.eventLog.dir": events.as_uri(), "spark.locality.wait": "0"}
    said = fleet(repository, work, master, conf, [work / "logs", "file:/no/such/place", "--to", table, "--sparkls", sparkls])
    rows = read(table)
    by_log = {}
    for row in rows:
        by_log.setdefault(row.pop("log"), []).append(row)

    for log in good:
        answer = subprocess.run([sparkls, "record", "--format", "json", log], capture_output=True, check=True).stdout
        expected = [row for line in answer.splitlines() for row in json.loads(line)["rows"]]
        found = sorted(by_log.pop(log), key=lambda row: row["stage"])
        assert all(row.pop("error") is None for row in found), found
        assert expected and list(expected[0]) == list(found[0]), (list(expected[0]), list(found[0]))
        assert found == expected, (log, found, expected)
    bad = {log.rsplit("/", 1)[-1]: rows for log, rows in by_log.items()}
    assert sorted(bad) == ["empty", "notes.txt", "place"], sorted(bad)
    for name, reason in (("empty", "empty"), ("notes.txt", "not an event log"), ("place", "no event log is there")):
        [row] = bad[name]
        assert reason in row.pop("error"), row
        assert set(row.values()) == {None}, row
    assert f"{len(rows)} rows of {len(good) + 3} logs, 3 of them with an error" in said, said

    tasks = [event for event in events_of(events) if event["Event"] == "SparkListenerTaskEnd"]
    executors = {task["Task Info"]["Executor ID"] for task in tasks}
    assert len(executors) == WORKERS, f"tasks ran on executors {executors}"
    largest = max(stage["Stage Info"]["Number of Tasks"] for stage in events_of(events) if "Stage Info" in stage)
    assert largest == len(good) + 3, f"{largest} tasks for {len(good) + 2} logs and one row of what is missing"
    print(f"fleet: {len(rows)} rows of {len(good)} logs are those of sparkls record; 3 bad ones have a row each")


def every_log_has_its_row(sparkls, repository, work, master) -> None:
    """A program that hangs, is killed or fails once; a file system that sparkls doesn't read."""
    logs = work / "troubles"
    logs.mkdir()
    for name in ("hangs", "killed", "once", "fine"):
        shutil.copy(repository / "tests/fixtures/runs/healthy-3.5.zst", logs / name)
    program = work / "troubled"
    program.write_text(
        "#!/bin/sh\n"
        'case "$4" in\n'
        "*/hangs) exec sleep 60 ;;\n"
        "*/killed) kill -9 $$ ;;\n"
        f'*/once) if mkdir {work}/once 2>/dev/null; then echo "no luck" >&2; exit 7; fi ;;\n'
        "esac\n"
        f'exec {sparkls} "$@"\n'
    )
    fetch = work / "fetch"
    fetch.write_text('#!/bin/sh\nexec cp -r "${1#viewfs:}" "$2"\n')
    for script in (program, fetch):
        script.chmod(0o755)
    table = work / "troubles.parquet"
    conf = {
        "spark.hadoop.fs.viewfs.impl": "org.apache.hadoop.fs.viewfs.ViewFileSystem",
        "spark.hadoop.fs.viewfs.mounttable.default.link./tmp": work.parent.as_uri(),
    }
    options = [logs, f"viewfs:/tmp/{work.name}/troubles/fine", "--to", table, "--sparkls", program]
    options += ["--timeout", "4", "--fetch", f"{fetch} {{log}} {{to}}"]
    fleet(repository, work, master, conf, options)
    rows = read(table)
    errors = {row["log"].rsplit("/", 1)[-1]: row["error"] for row in rows if row["error"]}
    assert errors == {"hangs": "took longer than 4 s", "killed": "killed by signal 9"}, errors
    stages = {}
    for row in rows:
        if not row["error"]:
            stages.setdefault(row["log"], []).append(row["stage_key"])
    names = sorted(log.removeprefix(str(logs) + "/") for log in stages)
    assert names == ["fine", "once", f"viewfs:/tmp/{work.name}/troubles/fine"], names
    assert len(set(map(tuple, map(sorted, stages.values())))) == 1, stages
    print("fleet: a log that hangs and one that kills the program have a row each; others are retried or fetched")


def fleet(repository, work, master, conf, options) -> str:
    script = repository / "fleet/sparkls_fleet.py"
    return submit(work, master, conf, script, options)


def read(table) -> list:
    """The rows of a Parquet table."""
    conf = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.memory": "512m"}
    conf |= {"spark.driver.extraJavaOptions": QUICK, "spark.sql.codegen.wholeStage": "false"}
    conf |= {"spark.ui.showConsoleProgress": "false"}
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    spark = SparkSession.builder.master("local[1]").config(map=conf).getOrCreate()
    return [row.asDict() for row in spark.read.parquet(str(table)).collect()]


def submit(work, master, conf, script, options) -> str:
    conf = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.executor.memory": "512m",
        "spark.executor.cores": "1",
        "spark.driver.extraJavaOptions": QUICK,
        "spark.executor.extraJavaOptions": QUICK,
        "spark.sql.codegen.wholeStage": "false",
        **conf,
    }
    settings = [word for key, value in conf.items() for word in ("--conf", f"{key}={value}")]
    command = [str(SPARK / "bin/spark-submit"), "--master", master, "--driver-memory", "512m", *settings, str(script)]
    command += [str(option) for option in options]
    done = subprocess.run(command, cwd=work, env=environment(), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr[-6000:]
    return done.stdout


@contextlib.contextmanager
def cluster(work):
    """A master and its workers on loopback; their addresses are free ones."""
    started = []
    try:
        log = work / "master.log"
        started.append(daemon("master.Master", log, "--host", "127.0.0.1", "--port", "0", "--webui-port", "0"))
        master = wait_for(log, r"Starting Spark master at (spark://\S+)", 1)[0]
        for number in range(WORKERS):
            name = f"worker-{number}"
            options = ["--host", "127.0.0.1", "--webui-port", "0", "--cores", "1", "--memory", "600m"]
            options += ["--work-dir", str(work / name)]
            started.append(daemon("worker.Worker", work / f"{name}.log", *options, master))
        wait_for(log, r"Registering worker", WORKERS)
        yield master
    finally:
        for process in started:
            process.send_signal(signal.SIGTERM)
        for process in started:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def daemon(name, log, *options):
    command = [str(SPARK / "bin/spark-class"), f"org.apache.spark.deploy.{name}", *options]
    with open(log, "w") as output:
        return subprocess.Popen(command, env=environment(), stdout=output, stderr=output)


def environment():
    return {
        **os.environ,
        "SPARK_HOME": str(SPARK),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": QUICK,
    }


def wait_for(log, pattern, times):
    until = time.monotonic() + 180
    while time.monotonic() < until:
        found = re.findall(pattern, log.read_text())
        if len(found) >= times:
            return found
        time.sleep(0.2)
    said = "\n".join(f"== {other.name}\n{other.read_text()[-2000:]}" for other in sorted(log.parent.glob("*.log")))
    raise AssertionError(f"{log.name} has no {pattern}:\n{said}")


def events_of(folder):
    [log] = folder.iterdir()
    with open(log) as lines:
        return [json.loads(line) for line in lines]


if __name__ == "__main__":
    main(os.path.realpath(sys.argv[1]), Path(sys.argv[2]))
