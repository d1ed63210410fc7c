#!/usr/bin/env python3
"""Records the event logs of a folder or bucket on a Spark cluster, into one Parquet table.

    spark-submit fleet/sparkls_fleet.py s3a://logs/spark-events --to s3a://tables/spark-runs --sparkls ./sparkls

Each log is one task: it runs `sparkls record --format json` on the log and turns the answer into rows, one for each stage, with
the columns that `sparkls record` documents, after `log` and before `error`. A log that can't be read, crashes the program or
takes too long is one row with `log` and `error`; the job goes on.

Needs nothing but PySpark 3.0 or newer: no pandas, no Arrow.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

from pyspark import SparkFiles
from pyspark.sql import SparkSession
from pyspark.sql.types import BooleanType, DoubleType, LongType, StringType, StructField, StructType

COLUMNS = [
    ("log", StringType()),
    ("application", StringType()),
    ("application_attempt", StringType()),
    ("job", StringType()),
    ("run_started_ms", LongType()),
    ("run_wall_ms", LongType()),
    ("stage_key", StringType()),
    ("stage_label", StringType()),
    ("stage", LongType()),
    ("stage_attempt", LongType()),
    ("stage_started_ms", LongType()),
    ("wall_ms", LongType()),
    ("tasks", LongType()),
    ("tasks_succeeded", LongType()),
    ("duration_min_ms", LongType()),
    ("duration_median_ms", DoubleType()),
    ("duration_p95_ms", LongType()),
    ("duration_max_ms", LongType()),
    ("max_to_median", DoubleType()),
    ("read_bytes", LongType()),
    ("spill_disk_bytes", LongType()),
    ("spill_memory_bytes", LongType()),
    ("gc_ms", LongType()),
    ("cores", DoubleType()),
    ("spark_version", StringType()),
    ("conf", StringType()),
    ("coverage", DoubleType()),
    ("log_complete", BooleanType()),
    ("log_events", LongType()),
    ("error", StringType()),
]

LARGEST_LONG = 2**63 - 1

# What sparkls reads itself; other file systems are read with --fetch.
READ_BY_SPARKLS = ("s3", "gs", "abfs", "abfss", "http", "https")


def main() -> int:
    options = arguments()
    spark = SparkSession.builder.appName("sparkls fleet").getOrCreate()
    context = spark.sparkContext
    logs, missing = find_logs(context, options.logs)
    if os.path.isfile(options.sparkls):
        context.addFile(options.sparkls)
    program = options.sparkls
    timeout, retries, fetch = options.timeout, options.retries, options.fetch

    def record(log):
        return rows_of_log(log, program, timeout, retries, fetch)

    # One task a log: a log of a gigabyte and one of a megabyte don't wait for each other.
    rows = context.parallelize(logs, max(1, len(logs))).flatMap(record)
    rows = rows.union(context.parallelize([row_of_error(root, reason) for root, reason in missing], 1))
    schema = StructType([StructField(name, kind, True) for name, kind in COLUMNS])
    table = spark.createDataFrame(rows, schema).repartition(max(1, min(200, len(logs) // 500))).persist()
    table.write.mode(options.mode).parquet(options.to)
    unread = table.where(table["error"].isNotNull())
    count, bad = table.count(), unread.count()
    print("{}: {} rows of {} logs, {} of them with an error".format(options.to, count, len(logs) + len(missing), bad))
    for row in unread.select("log", "error").limit(20).collect():
        print("  {}: {}".format(row["log"], row["error"]))
    spark.stop()
    return 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("logs", nargs="+", metavar="LOGS", help="files, folders or globs, wherever Spark reads")
    parser.add_argument("--to", required=True, metavar="TABLE", help="where the Parquet table is written")
    modes = ("error", "append", "overwrite")
    parser.add_argument("--mode", choices=modes, default="error", help="what to do if TABLE is there")
    parser.add_argument(
        "--sparkls",
        default="sparkls",
        metavar="PROGRAM",
        help="a file here, which is sent to the executors; else a path or command there, e.g. of --files or --archives",
    )
    parser.add_argument("--timeout", type=float, default=600, metavar="SECONDS", help="for one log (default 600)")
    parser.add_argument(
        "--retries",
        type=int,
        default=1,
        metavar="N",
        help="times to try again what crashes, takes too long or fails on the network (default 1)",
    )
    parser.add_argument(
        "--fetch",
        metavar="COMMAND",
        default="hadoop fs -copyToLocal {log} {to}",
        help="copies a log that sparkls can't read itself (hdfs:, dbfs:, ...) to an executor's disk",
    )
    return parser.parse_args()


def find_logs(context, roots):
    """The logs below the roots, as sparkls or --fetch take them, and the roots that are not there, with the reason."""
    hadoop = context._jvm.org.apache.hadoop.fs
    logs, missing = [], []
    for root in roots:
        try:
            path = hadoop.Path(root)
            found = path.getFileSystem(context._jsc.hadoopConfiguration()).globStatus(path)
            before = len(logs)
            for status in found or []:
                walk(context, status, logs)
            if len(logs) == before:
                missing.append((root, "no event log is there"))
        except Exception as error:  # whatever the file system throws
            missing.append((root, first_line(str(getattr(error, "java_exception", error)))))
    return sorted(set(logs)), missing


def walk(context, status, logs):
    """Adds the logs below one file or folder. A rolled log is a folder, but one log."""
    waiting = [status]
    while waiting:
        status = waiting.pop()
        path = status.getPath()
        if status.isFile():
            logs.append(name_of(path))
            continue
        children = [
            child
            for child in path.getFileSystem(context._jsc.hadoopConfiguration()).listStatus(path)
            if not child.getPath().getName().startswith((".", "_", "appstatus"))
        ]
        names = [child.getPath().getName() for child in children if child.isFile()]
        if path.getName().startswith("eventlog_v2_") or any(is_part(name) for name in names):
            logs.append(name_of(path))
        else:
            waiting.extend(children)


def is_part(name):
    """A file of a log that is a folder: Spark's rolled logs, and those of Databricks."""
    return name.startswith("events_") or name == "eventlog" or (name.startswith("eventlog-") and name.endswith(".gz"))


def name_of(path):
    uri = path.toUri()
    scheme = uri.getScheme()
    if scheme in (None, "file"):
        return uri.getPath()
    if scheme in ("s3a", "s3n"):
        return "s3" + path.toString()[len(scheme):]
    return path.toString()


# What follows runs on the executors.


def rows_of_log(log, program, timeout, retries, fetch):
    """The rows of one log, or one row with the reason why there are none."""
    for left in range(max(0, retries), -1, -1):
        try:
            answers, problem = ask(log, program, timeout, fetch)
        except Exception as error:  # one log must not cost the job
            answers, problem = [], first_line(str(error)) or type(error).__name__
        rows = [row for answer in answers for row in rows_of_answer(log, answer)]
        if problem:
            rows.append(row_of_error(log, problem))
        # What is wrong with a file is wrong the next time as well; a network may be back.
        may_pass = problem or (not log.startswith("/") and any(answer.get("error") for answer in answers))
        if not may_pass or left == 0:
            return rows
        time.sleep(2)


def ask(log, program, timeout, fetch):
    """What sparkls says of a log, an object for each run, and why that is not all of it, if so."""
    with tempfile.TemporaryDirectory(prefix="sparkls-") as folder:
        local, until = log, time.monotonic() + timeout
        scheme = None if log.startswith("/") or ":/" not in log else log.split(":", 1)[0]
        if scheme is not None and scheme not in READ_BY_SPARKLS:
            local = os.path.join(folder, log.rstrip("/").rsplit("/", 1)[-1])
            command = [word.replace("{log}", log).replace("{to}", local) for word in fetch.split()]
            _, problem = run(command, timeout, (0,))
            if problem:
                return [], "can't be fetched: " + problem
        # Exit code 2 is a log that can't be read, which the answer says as well.
        command = [find_program(program), "record", "--format", "json", local]
        output, problem = run(command, max(1.0, until - time.monotonic()), (0, 2))
    answers = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return answers, problem or ("" if answers else "sparkls gave no answer: is it a version with `record`?")


def run(command, timeout, fine):
    """A command's output, and what went wrong, if its exit code is not one of the fine ones."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return "", "took longer than {:.0f} s".format(timeout)
    except OSError as error:
        return "", "{}: {}".format(command[0], error.strerror or error)
    output = done.stdout.decode("utf-8", "replace")
    if done.returncode in fine:
        return output, ""
    how = "exit code {}" if done.returncode > 0 else "killed by signal {}"
    said = first_line(done.stderr.decode("utf-8", "replace"))
    return output, how.format(abs(done.returncode)) + (": " + said if said else "")


def find_program(program):
    """Where the program is on this machine."""
    sent = SparkFiles.get(os.path.basename(program))
    if os.path.isfile(sent):
        if not os.access(sent, os.X_OK):
            os.chmod(sent, 0o755)
        return sent
    return shutil.which(program) or os.path.abspath(program)


def rows_of_answer(log, answer):
    if answer.get("error"):
        return [row_of_error(log, answer["error"])]
    found = answer.get("rows") or []
    if not found:
        return [row_of_error(log, "no stage is in it")]
    return [tuple(value(kind, log if name == "log" else row.get(name)) for name, kind in COLUMNS) for row in found]


def row_of_error(log, reason):
    return tuple({"log": log, "error": reason}.get(name) for name, _ in COLUMNS)


def value(kind, found):
    """As the column takes it."""
    if found is None:
        return None
    if isinstance(kind, DoubleType):
        return float(found)
    return min(found, LARGEST_LONG) if isinstance(kind, LongType) else found


def first_line(text):
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


if __name__ == "__main__":
    sys.exit(main())
