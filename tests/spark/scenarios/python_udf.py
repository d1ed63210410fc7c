"""The same work as a Python UDF, as a pandas UDF and as a built-in function."""
import pandas as pd
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

spark = SparkSession.builder.appName("python-udf").getOrCreate()


@F.udf(StringType())
def shout(text):
    total = 0
    for letter in text * 3:
        total = (total * 31 + ord(letter)) % 1000003
    return f"{text.upper()}{total}"


@F.pandas_udf(StringType())
def shout_pandas(texts: pd.Series) -> pd.Series:
    return texts.map(lambda text: sum(ord(letter) for letter in text * 4)).astype(str) + texts.str.upper()


words = spark.range(0, 240000, 1, 4).withColumn("word", F.sha2(F.col("id").cast("string"), 256))
print(words.select(shout("word").alias("loud")).agg(F.max("loud")).collect())
print(words.select(shout_pandas("word").alias("loud")).agg(F.max("loud")).collect())
print(words.select(F.upper("word").alias("loud")).agg(F.max("loud")).collect())
spark.stop()
