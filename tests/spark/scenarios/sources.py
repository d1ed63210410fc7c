"""One source of many small files, computed again by three actions, then cached and read twice more."""
import os

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

OUT = os.environ["JOB_OUT"]
FILES = int(os.environ.get("FILES", "240"))
spark = SparkSession.builder.appName("sources").getOrCreate()

orders = spark.range(0, 1200000, 1, FILES).withColumn("country", F.col("id") % 7).withColumn("amount", F.rand(1))
orders.write.mode("overwrite").parquet(f"{OUT}/orders")

read = spark.read.parquet(f"{OUT}/orders").filter("amount > 0.1")
read = read.withColumn("hash", F.sha2(F.repeat(F.col("id").cast("string"), 40), 512))
print(read.groupBy("country").agg(F.min("hash")).collect())
print(read.groupBy("country").agg(F.max("hash")).collect())
print(read.agg(F.max("hash")).collect())

kept = spark.read.parquet(f"{OUT}/orders").filter("amount < 0.5").cache()
print(kept.agg(F.sum("amount")).collect())
print(kept.agg(F.max("amount")).collect())
spark.stop()
