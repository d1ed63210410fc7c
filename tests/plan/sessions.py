#! spark; session spark; functions F; app a; builds session
from pyspark.sql import SparkSession, DataFrame, functions as F
spark = SparkSession.builder.appName("a").config("spark.x.y", 1).getOrCreate()  #> setting spark.x.y=1 builder; setting spark.app.name=a builder
df = spark.read.parquet("s3a://b/x")  #> df: frame unbounded; read parquet s3a://b/x
rows = df.collect()  #> collect: unbounded; collect result bound rows
rows.count(3)  #> silent
