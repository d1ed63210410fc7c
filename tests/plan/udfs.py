from pyspark.sql import SparkSession
from pyspark.sql.functions import udf, pandas_udf, col
from pyspark.sql.functions import *
spark = SparkSession.builder.getOrCreate()
@udf("string")
def shout(text):
    return text.upper().count("A")  #> row calls text.upper
plus = udf(lambda x: x + 1)
df = spark.table("t")
r = df.withColumn("s", shout("a"))  #> udf
r = df.select(plus(col("a")).alias("b"))  #> udf
r = df.groupBy("k").applyInPandas(work, schema="a int")  #> udf
r = df.agg(max("a")).collect()  #> collect: exactly 1
