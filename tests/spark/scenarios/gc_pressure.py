"""Rows gathered as objects in a heap that hardly holds them: much of the run time goes into garbage collection."""
import os

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

ROWS = int(os.environ.get("ROWS", "3000000"))
spark = SparkSession.builder.appName("gc-pressure").getOrCreate()

events = spark.range(0, ROWS, 1, 8).withColumn("key", F.col("id") % 40000)
events = events.withColumn("text", F.sha2(F.col("id").cast("string"), 256))
gathered = events.groupBy("key").agg(F.collect_list(F.struct("id", "text")).alias("events"))
print(gathered.agg(F.sum(F.size("events"))).collect())
spark.stop()
