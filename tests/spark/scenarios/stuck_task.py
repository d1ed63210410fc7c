"""One of 24 tasks hangs where it runs first; a copy elsewhere would not. Speculation is off."""
import time

from pyspark import TaskContext
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("stuck-task").getOrCreate()
sc = spark.sparkContext


def work(part, rows):
    first = TaskContext.get().attemptNumber() == 0
    time.sleep(35 if part == 9 and first else 1)
    yield sum(rows)


sc.parallelize(range(8), 8).map(lambda row: row).count()  # starts the executors and their Python workers
print(sum(sc.parallelize(range(48000), 24).mapPartitionsWithIndex(work).collect()))
spark.stop()
