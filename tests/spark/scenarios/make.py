"""Run scenarios on real Spark and keep of each log what a run is made of.

    python make.py SPARK_VENV SCENARIO...

Needs Linux, Java 17, the zstd program and write access to /opt/spark-lab, from where everything runs: no path, user or
host of the machine gets into a log. Writes <scenario>-<major>.<minor>.zst into tests/fixtures/runs.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

LAB = pathlib.Path("/opt/spark-lab")
HERE = pathlib.Path(__file__).resolve().parent
FIXTURES = HERE.parent.parent / "fixtures" / "runs"
PORT = 17177

# What each scenario needs besides the defaults: the master, settings.
SCENARIOS = {
    # With the fallback threshold out of reach, an aggregate keeps its rows as objects outside of Spark's accounting.
    "gc_pressure": ("local[2]", {"spark.driver.memory": "700m", "spark.sql.shuffle.partitions": "8",
                                 "spark.sql.objectHashAggregate.sortBased.fallbackThreshold": "10000000"}),
    "lost_work": ("local[2,4]", {}),
    "driver_sleep": ("local[2]", {"spark.sql.shuffle.partitions": "4"}),
    "sources": ("local[2]", {"spark.sql.shuffle.partitions": "4"}),
    "join_sides": ("local[2]", {"spark.sql.shuffle.partitions": "4", "spark.driver.memory": "2g"}),
    "python_udf": ("local[2]", {"spark.sql.shuffle.partitions": "4"}),
    "stuck_task": ("cluster", {}),
    # Short stages have peaks if they are looked at often; tasks stay where their blocks are.
    "cached_host": ("cluster", {"spark.eventLog.logStageExecutorMetrics": "true", "spark.locality.wait": "30s",
                                "spark.executor.metrics.pollingInterval": "100ms"}),
    "streaming": ("local[2]", {"spark.sql.shuffle.partitions": "2"}),
}

KEPT_SETTINGS = ("spark.sql.", "spark.memory.", "spark.speculation", "spark.locality.", "spark.driver.memory", "spark.app.name",
                 "spark.master")


def environment(venv, scratch, address="127.0.0.1"):
    spark = next(venv.glob("lib/python*/site-packages/pyspark"))
    return spark, {
        "PATH": f"{venv}/bin:{os.environ['PATH']}", "LANG": "C.UTF-8", "TZ": "UTC", "HOME": str(scratch),
        "SPARK_HOME": str(spark), "PYSPARK_PYTHON": f"{venv}/bin/python", "SPARK_LOCAL_DIRS": str(scratch),
        "SPARK_USER": "spark", "HADOOP_USER_NAME": "spark", "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_LOCAL_IP": address, "SPARK_LOCAL_HOSTNAME": "localhost" if address == "127.0.0.1" else address,
        "JOB_OUT": str(LAB / "out"), "SPARK_SUBMIT_OPTS": "-Duser.name=spark -Duser.home=/opt/spark-lab/home",
    }


def cluster(venv, scratch):
    """A master and four workers of one core on 127.0.0.2 to 127.0.0.5."""
    spark, env = environment(venv, scratch)
    started = []

    def start(name, address, *arguments):
        log = open(scratch / f"{name}.err", "w")
        own = environment(venv, scratch / name, address)[1]
        started.append(subprocess.Popen([f"{spark}/bin/spark-class", *arguments], env=own, stdout=log, stderr=log))

    package = "org.apache.spark.deploy"
    start("master", "127.0.0.1", f"{package}.master.Master", "--host", "127.0.0.1", "--port", str(PORT), "--webui-port", "0")
    for number in range(2, 6):
        address = f"127.0.0.{number}"
        start(f"worker-{number}", address, f"{package}.worker.Worker", "--host", address, "--cores", "1", "--memory", "600m",
              "--webui-port", "0", "--work-dir", str(scratch / f"worker-{number}"), f"spark://127.0.0.1:{PORT}")
    for _ in range(180):
        time.sleep(1)
        if (scratch / "master.err").read_text().count("Registering worker") >= 4:
            return started
    for process in started:
        process.terminate()
    raise SystemExit("the workers did not start")


def run(venv, scenario):
    master, settings = SCENARIOS[scenario]
    shutil.rmtree(LAB / "out", ignore_errors=True)
    shutil.rmtree(LAB / "scratch", ignore_errors=True)
    for folder in ("jobs", "out", "scratch", "logs"):
        (LAB / folder).mkdir(parents=True, exist_ok=True)
    for name in ("master", *(f"worker-{number}" for number in range(2, 6))):
        (LAB / "scratch" / name).mkdir()
    for old in (LAB / "logs").iterdir():
        old.unlink()
    job = shutil.copy(HERE / f"{scenario}.py", LAB / "jobs")
    spark, env = environment(venv, LAB / "scratch")
    settings = {**settings, "spark.eventLog.enabled": "true", "spark.eventLog.dir": f"file://{LAB}/logs",
                "spark.eventLog.rolling.enabled": "false", "spark.eventLog.compress": "false", "spark.ui.enabled": "false",
                "spark.executor.memory": "500m"}
    processes = cluster(venv, LAB / "scratch") if master == "cluster" else []
    url = f"spark://127.0.0.1:{PORT}" if processes else master
    command = [f"{spark}/bin/spark-submit", "--master", url]
    command += [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    try:
        with open(LAB / "job.err", "w") as err:
            done = subprocess.run([*command, job], env=env, cwd=LAB, stderr=err)
    finally:
        for process in processes:
            process.terminate()
            process.wait()
    if done.returncode:
        print((LAB / "job.err").read_text()[-3000:])
        raise SystemExit(f"{scenario} failed")
    log, = (path for path in (LAB / "logs").iterdir() if not path.name.startswith("."))
    keep(log, scenario, venv)


KEPT = {
    "SparkListenerLogStart", "SparkListenerEnvironmentUpdate", "SparkListenerApplicationStart", "SparkListenerApplicationEnd",
    "SparkListenerExecutorAdded", "SparkListenerExecutorRemoved", "SparkListenerJobStart", "SparkListenerJobEnd",
    "SparkListenerStageSubmitted", "SparkListenerStageCompleted", "SparkListenerTaskEnd", "SparkListenerSQLExecutionStart",
    "SparkListenerSQLExecutionEnd", "SparkListenerSQLAdaptiveExecutionUpdate", "SparkListenerDriverAccumUpdates",
    "SparkListenerBlockManagerAdded", "SparkListenerStageExecutorMetrics",
}


def keep(log, scenario, venv):
    """Of each event what a run is made of; of each execution the first and the last plan."""
    events = [json.loads(line) for line in log.read_text().splitlines()]
    name = lambda event: event["Event"].rsplit(".", 1)[-1]
    last = {event["executionId"]: at for at, event in enumerate(events) if name(event) == "SparkListenerSQLAdaptiveExecutionUpdate"}
    version, lines = "", []
    for at, event in enumerate(events):
        kind = name(event)
        if kind not in KEPT or last.get(event.get("executionId"), at) != at and kind == "SparkListenerSQLAdaptiveExecutionUpdate":
            continue
        if kind == "SparkListenerLogStart":
            version = ".".join(event["Spark Version"].split(".")[:2])
        elif kind == "SparkListenerEnvironmentUpdate":
            settings = event["Spark Properties"]
            event = {"Event": event["Event"], "JVM Information": {}, "Hadoop Properties": {}, "System Properties": {},
                     "Spark Properties": {key: settings[key] for key in settings if key.startswith(KEPT_SETTINGS)}}
        elif kind == "SparkListenerExecutorAdded":
            event["Executor Info"].update({"Log Urls": {}, "Attributes": {}})
        elif kind == "SparkListenerTaskEnd":
            event.pop("Task Executor Metrics", None)
            reason = event["Task End Reason"]
            for field in ("Stack Trace", "Full Stack Trace", "Accumulator Updates"):
                reason.pop(field, None)
            if "Description" in reason:
                reason["Description"] = reason["Description"][:2000]
            info = event["Task Info"]
            info["Accumulables"] = [one for one in info["Accumulables"] if one.get("Metadata") == "sql"]
        elif "Stage Info" in event:
            event["Stage Info"]["Accumulables"] = [
                one for one in event["Stage Info"]["Accumulables"] if one.get("Metadata") == "sql"]
            event.pop("Properties", None)
        elif kind == "SparkListenerJobStart":
            event["Stage Infos"] = []
            wanted = ("spark.sql.execution.id", "callSite.short", "callSite.long", "spark.job.description", "spark.jobGroup.id",
                      "sql.streaming.queryId", "streaming.sql.batchId")
            properties = event.get("Properties") or {}
            event["Properties"] = {key: properties[key] for key in wanted if key in properties}
        if "physicalPlanDescription" in event:
            event["physicalPlanDescription"] = ""
        lines.append(json.dumps(event, separators=(",", ":")))
    text = "\n".join(lines).replace(str(venv), f"{LAB}/venv") + "\n"
    target = FIXTURES / f"{scenario}-{version}.zst"
    subprocess.run(["zstd", "-q", "-19", "-f", "-o", str(target)], input=text.encode(), check=True)
    print(f"{target.name}: {len(events)} events, {target.stat().st_size} bytes")


if __name__ == "__main__":
    interpreter, *wanted = sys.argv[1:]
    for one in wanted:
        run(pathlib.Path(interpreter), one)
