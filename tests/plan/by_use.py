#! spark
import mylib
import polars as pl
from mylib import load, read_table
from pyspark.sql import DataFrame, functions as F

# A column among the arguments: only a frame of Spark takes it.
base = load("s3://lake/orders")
kept = base.filter(F.col("day") == "2026-01-01")  #> kept: frame unknown; filter key
kept.count()  #> count: unknown
base.count()  #> count: unknown

# A frame among the arguments.
orders = mylib.orders()
orders.join(kept, "id").collect()  #> join inner using [id]; collect: unknown

# Names that only frames of Spark have.
load("a").groupBy("k").count().collect()  #> collect: by-groups
load("b").withColumn("c", 1).toPandas()  #> toPandas: unknown
summary = load("c")
summary.toPandas()  #> toPandas: unknown

# A name of a frame and what only such a frame has.
daily_df = read_table("daily")
daily_df.repartition(1).write.mode("overwrite").parquet("o")  #> repartition(1); parquet: unknown; writes parquet to o mode overwrite
df = read_table("raw")
df.write.mode("append").parquet("o")  #> parquet: unknown; writes parquet to o mode append


def uniques(df, names):
    for name in names:
        df.filter(F.col(name).isNotNull()).count()  #> count in loop


# What a chain did before may have bounded its rows.
load("d").describe().toPandas()  #> silent
# Too little is known.
rows = load("e")
rows.filter("a"); rows.count(); rows.collect(); rows.select("a").distinct().count()  #> silent
load("f").groupBy(lambda row: row[0]).count()  #> silent


def pandas_frame(df):
    df.merge(df).sort_values("a")
    df.cache()  #> silent


def polars_frame(df):
    return df.select("a").collect()  #> silent
