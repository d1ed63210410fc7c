"""The driver works alone between two actions, twice; the executors wait."""
import os
import time

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

SHORT = float(os.environ.get("SHORT_SECONDS", "70"))
LONG = float(os.environ.get("LONG_SECONDS", "232"))
spark = SparkSession.builder.appName("driver-sleep").getOrCreate()

numbers = spark.range(0, 2000000, 1, 4).withColumn("bucket", F.col("id") % 10)
print(numbers.groupBy("bucket").count().collect())
time.sleep(SHORT)  # as a model that is trained on the driver would
print(numbers.agg(F.sum("id")).collect())
time.sleep(LONG)
print(numbers.groupBy("bucket").agg(F.max("id")).collect())
spark.stop()
