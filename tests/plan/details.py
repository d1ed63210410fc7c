import re
import pandas as pd
from pyspark.sql import SparkSession, Window, functions as F
from pyspark.sql.types import StringType

spark = SparkSession.builder.getOrCreate()
df = spark.read.parquet("s3://b/x")

# Column functions, where they are used, and over which window.
df.filter(F.lower("name") == "a").count()  #> calls lower; lower in filter key
w = Window.partitionBy("k").orderBy("ts")
df.withColumn("s", F.sum("v").over(w))  #> calls sum over order; sum in window function
df.withColumn("s", F.sum("v").over(w.rowsBetween(-1, 0)))  #> calls sum over frame
df.withColumn("s", F.max("v").over(Window.partitionBy("k")))  #> calls max over group
total = F.count_distinct("a")  #> calls count_distinct; count_distinct in aggregate by [k]
df.groupBy("k").agg(total, F.first("b"))  #> calls first; first in aggregate by [k]

# Python that runs on rows.
clean = F.udf(lambda s: s.lower(), StringType())  #> python RowUdf <lambda>; builtin F.lower({0}); row calls s.lower
df.select(clean("name"))  #> calls udf clean; clean in udf


@F.udf(returnType=StringType())  #> python RowUdf host
def host(url):
    """The host of a URL."""
    return re.compile("//([^/]+)").search(url).group(1)  #> row calls re.compile


@F.pandas_udf("double")  #> python PandasUdf scaled
def scaled(v: pd.Series) -> pd.Series:
    return v * factors[0]  #> captures factors Literal(3)


factors = [1, 2, 3]
df.where(host(df.url) == "x")  #> calls udf host; host in filter key


def save(rows):
    spark.table("t")  #> captures spark Session
    for row in rows:
        print(row)


df.foreachPartition(save)  #> python ForeachPartition save
df.rdd.map(lambda row: (row.k, 1))  #> python Map <lambda>

# Results.
if df.count() == 0:  #> count tested empty
    print("nothing")
n = df.count()  #> count used elsewhere 0
print(f"{n} rows")  #> count logged
m = df.count()  #> count used elsewhere 1
log.info("rows: %d", m)  #> count logged
limit = m // 2
if not df.count():  #> count tested empty
    pass
df.toPandas()["k"].unique()  #> pandas unique
rows = df.collect()
len(rows)  #> rows Length
df.filter(F.col("k").isin([row.k for row in rows]))  #> rows IsIn
df.filter(f"k in ({','.join(str(row.k) for row in rows)})")  #> rows InText
ids = tuple(row.k for row in rows)
spark.sql("SELECT * FROM t WHERE k IN {}".format(ids))  #> rows InText
spark.sql(f"SELECT * FROM t WHERE k = {ids}")  #> no rows InText
spark.createDataFrame(pd.read_csv("x.csv"))  #> driver data
spark.read.json("x").schema  #> schema read

# Columns where Python wants a truth value.
df.filter((F.col("a") == 1) and (F.col("b") == 2))  #> misused BooleanOperator
df.filter(not F.col("a"))  #> misused Not
df.filter(df.a == None)  #> misused EqualsNone
df.filter(df.a is None)  #> misused IsNone
df.filter(1 < df.a < 3)  #> misused Chained
cond = None
cond = F.lit(True) if cond is None else cond & F.col("a")  #> no misused IsNone

# Streams.
s = spark.readStream.table("events")
s.writeStream.format("parquet").trigger(processingTime="1 second").start("out")  #> stream parquet processingTime


def batch(frame, batch_id):
    frame.count()
    frame.write.parquet("out")


s.writeStream.foreachBatch(batch).start()  #> python ForeachBatch batch; stream ? no trigger

# Frames that the file doesn't follow.


def made():
    return spark.table("t").distinct()  #> escapes


kept = {"t": spark.table("t").limit(3)}  #> escapes
log.audit(df.select("k"))  #> escapes
F.broadcast(df.select("k")).join(df.limit(2), "k")
