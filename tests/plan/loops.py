from pyspark.sql import DataFrame, SparkSession, Window, functions as F

spark = SparkSession.builder.getOrCreate()

df = spark.table("t")
for c in cols:  #> loop unknown
    df = df.withColumn(c, F.trim(c))  #> carried withColumn
for p in paths:  #> loop unknown
    t = spark.read.parquet(p).withColumn("src", F.lit(p))  #> fresh withColumn
    t.write.mode("append").parquet("out")  #> parquet: unbounded; parquet in loop; writes parquet to out mode append
for c in ["a", "b", "c"]:  #> loop literal 3
    df = df.withColumn(c, F.upper(c))  #> carried withColumn
for c in cols:
    if c == "only":
        df = df.withColumn(c, F.lit(0))  #> conditional withColumn
while True:  #> loop endless once
    n = df.count()  #> count: unbounded; count in loop; count once
    break
for row in df.collect():  #> loop rows unbounded; collect: unbounded; collect result iterated; no collect in loop
    spark.table("t").filter(F.col("k") == row.k).count()  #> count: unknown; count in loop
parts = []
for k in keys:
    parts.append(df.filter(F.col("k") == k))  #> filter key; fresh filter
[df.filter(F.col("k") == k).count() for k in keys]  #> comprehension unknown; count in loop
rows = df.limit(3).collect()
for i, row in enumerate(rows):  #> loop rows exactly 3
    pass
for i in range(5):  #> loop literal 5
    df = df.union(df)
for attempt in range(3):  #> loop literal 3 retries
    try:
        df.write.parquet("out")  #> parquet in loop
        break
    except Exception:
        pass
while running():  #> loop while
    df.count()  #> count in loop
x = spark.range(3)
for c in cols:
    x = x.union(spark.range(1))
x.collect()  #> collect: unknown
for a in ["p", "q"]:  #> loop literal 2
    for b in cols:  #> loop unknown
        df = df.withColumnRenamed(a, b)  #> carried withColumnRenamed
i = 1
while i < 9:
    df.coalesce(i)  #> coalesce(?)
    i += 1
all = None
for p in paths:
    part = spark.read.parquet(p)
    if all is None:
        all = part
    else:
        all = all.union(part)  #> carried union
all.count()  #> count: unbounded
whole = None
for p in paths:
    part = spark.read.parquet(p)
    whole = part if whole is None else whole.join(part, "id")  #> carried join


# Frames that a loop's turns bring.
def stats(shard: DataFrame, name: str):
    return shard.count()  #> count in loop


[stats(shard, name) for name, shard in shards.items()]  #> comprehension unknown; each turn a frame
[stats(df, name) for name in names]  #> comprehension unknown; no each turn a frame
for part in [df, df]:  #> loop literal 2; each turn a frame
    part.count()


# What runs behind `and` is not certain, and a doubted parameter may be anything.
def large(frame: DataFrame):
    return verbose and frame.count()  #> count conditional


def doubted(data):
    if isinstance(data, DataFrame):
        data.collect()  #> collect: unknown
    return data.count()  #> count: exactly 3


doubted(spark.range(3))
