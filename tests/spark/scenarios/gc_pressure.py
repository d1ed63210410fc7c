"""Rows cached as objects in a heap that hardly holds them: much of the run time goes into garbage collection."""
import os

from pyspark import StorageLevel
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

ROWS = int(os.environ.get("ROWS", "1500000"))
spark = SparkSession.builder.appName("gc-pressure").getOrCreate()

events = spark.range(0, ROWS, 1, 4).withColumn("key", F.col("id") % 40000)
events = events.withColumn("text", F.sha2(F.col("id").cast("string"), 256))
gathered = events.groupBy("key").agg(F.collect_list(F.struct("id", "text")).alias("events"))
held = gathered.persist(StorageLevel.MEMORY_ONLY)
print(held.count())
for turn in range(3):
    print(held.select(F.explode("events").alias("e")).agg(F.max("e.text")).collect())
spark.stop()
