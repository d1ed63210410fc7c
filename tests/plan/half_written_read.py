from pyspark.sql import DataFrame, SparkSession, Window, functions as F

spark = SparkSession.builder.getOrCreate()

df = spark.read.parquet("x")
df.collect()  #> collect: unbounded
later = df.limit(3)  #> later: frame exactly 3
half = spark.read.
