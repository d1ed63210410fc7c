"""A cache that lies unevenly: one host keeps blocks of ten times the size, and the work on them is slower there."""

import os
import time

from pyspark import StorageLevel
from pyspark.sql import SparkSession

FULL_HOST = "127.0.0.4"

spark = SparkSession.builder.appName("cached-host").getOrCreate()


def on_full_host():
    return os.environ.get("SPARK_LOCAL_IP") == FULL_HOST


def block(index, rows):
    time.sleep(1)
    yield os.urandom(4_000_000 if on_full_host() else 400_000)


def work(rows):
    for row in rows:
        time.sleep(3 if on_full_host() else 0.3)
        yield len(row)


def warm_up(rows):
    time.sleep(1)
    return rows


# Each executor has started before anything is measured.
spark.sparkContext.parallelize(range(8), 8).mapPartitions(warm_up).count()
blocks = spark.sparkContext.parallelize(range(48), 48).mapPartitionsWithIndex(block).persist(StorageLevel.MEMORY_ONLY)
print(blocks.count(), "blocks")
print(blocks.mapPartitions(work).sum(), "bytes")
spark.stop()
