#!/usr/bin/env python3
"""Starts the jobs of a night: spark-submit --conf spark.executor.memory=1g is what it runs in the end."""
import argparse
import logging
import os
import shlex
import subprocess
import sys

log = logging.getLogger(__name__)

SPARK_OPTS = "--conf spark.sql.adaptive.enabled=true --executor-cores 4"
USAGE = "call with the options of spark-submit, as in spark-submit --conf spark.x=1"
LABELS = {
    "spark.executor.memory": "How much memory an executor gets",
    "spark.executor.cores": "Cores",
}
RENAMED = {"spark.yarn.jar": "spark.yarn.jars"}
DEFAULTS = {
    "spark.executor.memory": "4g",
    "spark.executor.instances": 1_0,
    "spark.speculation": False,
}

os.environ["PYSPARK_SUBMIT_ARGS"] = (
    f"--packages org.apache.spark:spark-sql-kafka-0-10_2.12:{VERSION} "
    "--conf spark.driver.memory=2g "
    "pyspark-shell"
)
os.environ["SPARK_CONF_DIR"] = "/etc/spark conf"


def parse():
    parser = argparse.ArgumentParser(usage="spark-submit --conf spark.x=1 start.py", description=USAGE)
    parser.add_argument("--conf", default="spark.executor.memory=1g", help="handed to spark-submit --conf")
    parser.add_argument("--executor-memory", default="4g")
    return parser.parse_args()


def start(day, master, extra):
    log.info("spark-submit --conf spark.executor.memory=%s orders.py", day)
    command = [
        "spark-submit",
        "--master", master,
        "--conf", "spark.sql.shuffle.partitions=400",
        "--conf", f"spark.app.day={day}",
        "--conf=spark.ui.enabled=false",
        *extra,
        "jobs/orders.py",
        "--day", day,
    ]
    subprocess.run(command, check=True)
    subprocess.check_call(["spark-submit", "--executor-memory", "8g"] + extra + ["jobs/late.py"])
    subprocess.run("spark-submit --conf spark.executor.cores={} jobs/a.py".format(4), shell=True)
    if os.system("/opt/spark/bin/spark-submit --conf spark.task.cpus=%d jobs/b.py --conf spark.lost=1" % 2) != 0:
        raise SystemExit("spark-submit --conf spark.task.cpus=2 jobs/b.py has failed")
    subprocess.Popen(shlex.split('spark-submit --conf "spark.driver.extraJavaOptions=-Da=1 -Db=2" jobs/c.py'))
    cmd = (
        "spark-submit "
        "--conf spark.broken = 1 "
        "--driver-memory 4g "
        + "jobs/d.py"
    )
    return subprocess.call(cmd.split())


def check(conf):
    assert conf == {"spark.executor.memory": "4g"}
    return {"spark.a": 1, "spark.b": 2}.get(conf["spark.c"]) or conf.get("spark.executor.memory", "1g")


if __name__ == "__main__":
    start(sys.argv[1], "yarn", [])
