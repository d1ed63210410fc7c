"""A sort-merge join with a small side, and a join whose broadcast side is large."""
import os

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("join-sides").getOrCreate()

orders = spark.range(0, 3000000, 1, 4).withColumn("store", F.col("id") % 500)
stores = spark.range(0, 500, 1, 2).withColumnRenamed("id", "store").withColumn("name", F.sha2(F.col("store").cast("string"), 256))
spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
print(orders.join(stores, "store").groupBy("name").count().agg(F.max("count")).collect())

people = spark.range(0, 700000, 1, 4).withColumn("name", F.sha2(F.col("id").cast("string"), 256))
clicks = spark.range(0, 1000000, 1, 4).withColumn("id", F.col("id") % 700000)
print(clicks.join(F.broadcast(people), "id").agg(F.max("name")).collect())
spark.stop()
