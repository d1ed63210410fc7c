"""What callers hand over that tells little."""
from pyspark.sql import functions as F


def compared(df, product):
    literal = df.filter(F.col("a") == None)  #> misused EqualsNone
    return literal.filter(F.col("product") == product)  #> no misused EqualsNone


def read(spark, path):
    return spark.read.csv(path, inferSchema=True)  #> read csv ?


def session():
    from pyspark.sql import SparkSession

    own = SparkSession.builder.getOrCreate()
    return own
