from pyspark.sql import DataFrame, SparkSession, Window, functions as F

spark = SparkSession.builder.getOrCreate()

df = spark.read.parquet("x")
df.collect()  #> collect: unbounded
df.withColumn("a", F.
