"""Asks real Spark what it makes of settings, one answer a line.

    python oracle.py < questions.tsv > answers.tsv

A question is `how <tab> key <tab> value <tab> others`, where `others` is `key=value` pairs between `;` and may be empty.
`how` is `parse` (the setting's own parser, then SparkConf.validateSettings) or `start` (a session is started with it and runs
a query). The answer repeats the question and adds one word: `ok`, `parse`, `start`, `query`, or `unknown` for a key that this
Spark does not declare. Run it with the Python of an environment that has the pyspark to ask; it starts one JVM.
"""

import sys

from py4j.protocol import Py4JJavaError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

CHEAP = {"spark.master": "local[1]", "spark.app.name": "oracle", "spark.ui.enabled": "false",
         "spark.sql.shuffle.partitions": "1", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}


def main() -> None:
    SparkContext._ensure_initialized()
    jvm = SparkContext._jvm
    load_entries(jvm)
    for line in sys.stdin:
        question = line.rstrip("\n")
        how, key, value, others = question.split("\t")
        settings = {**dict(pair.split("=", 1) for pair in others.split(";") if pair), key: value}
        answer = start(settings) if how == "start" else parse(jvm, key, value, settings)
        print(f"{question}\t{answer}", flush=True)


def load_entries(jvm) -> None:
    """Entries register when the object that holds them is loaded."""
    for name in ("org.apache.spark.internal.config.package$", "org.apache.spark.sql.internal.SQLConf$",
                 "org.apache.spark.sql.internal.StaticSQLConf$"):
        jvm.java.lang.Class.forName(name)


def parse(jvm, key: str, value: str, settings: dict) -> str:
    entry = jvm.org.apache.spark.internal.config.ConfigEntry.findEntry(key)
    if entry is None:
        return "unknown"
    conf = jvm.org.apache.spark.SparkConf(False)
    for name, text in settings.items():
        conf.set(name, text)
    try:
        if key.startswith("spark.sql."):
            jvm.org.apache.spark.sql.internal.SQLConf().setConfString(key, value)
        else:
            read(conf, entry)
        conf.validateSettings()
    except (Py4JJavaError, PySparkException):
        return "parse"
    return "ok"


def read(conf, entry) -> None:
    """A decimal has no counterpart here; that it was read is enough."""
    try:
        conf.get(entry)
    except ValueError:
        pass


def start(settings: dict) -> str:
    conf = SparkConf(loadDefaults=False)
    for name, text in {**CHEAP, **settings}.items():
        conf.set(name, text)
    session, stage = None, "start"
    try:
        session = SparkSession.builder.config(conf=conf).getOrCreate()
        stage = "query"
        session.range(10).groupBy("id").count().collect()
        return "ok"
    except Exception:
        return stage
    finally:
        stop(session)


def stop(session) -> None:
    """A context that failed half way leaves itself behind."""
    context = session.sparkContext if session is not None else SparkContext._active_spark_context
    if context is not None:
        context.stop()
    SparkSession._instantiatedSession = None
    if SparkSession is not None and SparkContext._jvm is not None:
        SparkContext._jvm.org.apache.spark.sql.SparkSession.clearDefaultSession()
        SparkContext._jvm.org.apache.spark.sql.SparkSession.clearActiveSession()


if __name__ == "__main__":
    main()
