"""Tasks that fail once, and shuffle files that vanish: the work is done again."""
import glob
import os
import time

from pyspark import TaskContext
from pyspark.sql import SparkSession

SCRATCH = os.environ.get("SPARK_LOCAL_DIRS", "/tmp")
spark = SparkSession.builder.appName("lost-work").getOrCreate()
sc = spark.sparkContext


def flaky(part, rows):
    """Two of eight partitions fail at their first attempt, after two seconds of work."""
    time.sleep(2)
    if part < 2 and TaskContext.get().attemptNumber() == 0:
        raise ValueError(f"the service refused partition {part}")
    yield sum(rows)


print(sum(sc.parallelize(range(8000), 8).mapPartitionsWithIndex(flaky).collect()))


def slow_pairs(part, rows):
    time.sleep(4)
    for row in rows:
        yield row % 97, row


def forget(rows):
    """The first reducer takes the map outputs away before the others fetch them."""
    total = sum(len(list(values)) for _, values in rows)
    done = f"{SCRATCH}/forgotten"
    if not os.path.exists(done):
        open(done, "w").close()
        time.sleep(1)
        for path in glob.glob(f"{SCRATCH}/**/shuffle_*", recursive=True):
            os.remove(path)
    time.sleep(1)
    yield total


pairs = sc.parallelize(range(40000), 8).mapPartitionsWithIndex(slow_pairs).groupByKey(6)
print(sum(pairs.mapPartitions(forget).collect()))
spark.stop()
