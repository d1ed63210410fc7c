from pyspark.sql import DataFrame, SparkSession, Window, functions as F

spark = SparkSession.builder.getOrCreate()

def first(path):
    df = spark.read.parquet(path)
    return df.collect()  #> collect: unbounded


def second(path):
    df = spark.read.parquet(path)
    df.filter(
    return df.collect()


def third(path):
    return spark.read.parquet(path).count()  #> count: unbounded
