from pyspark.sql import DataFrame, SparkSession, Window, functions as F

spark = SparkSession.builder.getOrCreate()

df = spark.read.parquet("x")
df.collect()  #> collect: unbounded
spark.conf.set("spark.executor.cores", 4)  #> setting spark.executor.cores=4 runtime
spark.conf.set("spark.sql.
