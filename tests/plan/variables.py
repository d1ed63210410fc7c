from pyspark.sql import DataFrame, SparkSession, Window, functions as F

spark = SparkSession.builder.getOrCreate()

df = spark.read.parquet("x")
small = df.limit(5)
df = df.withColumn("a", F.lit(1))
small.collect()  #> collect: exactly 5
df.collect()  #> collect: unbounded
out = small if flag else df
out.collect()  #> collect: unbounded
if flag:
    res = df.groupBy("k").count()
else:
    res = df.limit(1)
res.collect()  #> collect: by-groups
a, b = df.randomSplit([0.8, 0.2])  #> a: frame unbounded; b: frame unbounded; sample; no sample seeded
(x := df.filter("a > 1")).count()  #> x: frame unbounded; count: unbounded
frames = {"a": df, "b": small}
frames["b"].collect()  #> collect: exactly 5
frames["c"] = df.limit(2)
frames["c"].collect()  #> collect: exactly 2
first, *rest = [small, df, df]
maybe = None
if flag:
    maybe = df.limit(3)
maybe.collect()  #> collect: exactly 3
try:
    loaded = spark.table("t").limit(4)
except Exception:
    loaded = df
loaded.collect()  #> collect: unbounded
match flag:
    case 1:
        picked = df.limit(1)
    case _:
        picked = df.limit(2)
picked.collect()  #> collect: exactly 2
DEBUG = False
if DEBUG:
    df.show()  #> show: unbounded; show conditional
    debugged = df
n = 1
if n == 1:
    df.coalesce(n).write.csv("o")  #> coalesce(1); no csv conditional
with_foreign = load_it()
if flag:
    with_foreign = df
with_foreign.collect()  #> silent
del df
df.collect()  #> silent
