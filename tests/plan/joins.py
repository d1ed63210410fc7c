from pyspark.sql import DataFrame, SparkSession, Window, functions as F

spark = SparkSession.builder.getOrCreate()

from functools import reduce
a = spark.read.parquet("a")
b = spark.read.parquet("b")
a.join(b)  #> join inner without condition; discarded join
r = a.join(b, a.k == b.k)  #> join inner on equality
r = a.join(b, ["k", "d"], "left"); r = a.join(b, on="k")  #> join left using [k, d]; join inner using [k]
conds = [a.k == b.k, a.d == b.d]
r = a.join(b, conds)  #> join inner on equality
r = a.join(b, reduce(lambda x, y: x & y, conds))  #> join inner on equality
r = a.join(b, [a[k] == b[k] for k in keys])  #> join inner on equality
r = a.join(b, a.x < b.y)  #> join inner without equality
r = a.join(b, (a.k == b.k) | (a.j == b.j))  #> join inner without equality
r = a.join(b, a.k.eqNullSafe(b.k))  #> join inner on equality
r = a.join(b, (a.k == b.k) & (a.x < b.y))  #> join inner on equality
r = a.join(b, (a.k == b.id) & (F.lower(a["n"]) == b.n) & (a.x < 5))  #> key k = id; key computed = n; join inner on equality
r = a.join(b, [a.k == b.k, a.d.cast("date") == F.col("d")])  #> key k = k; key computed = d
r = a.join(b, a.k.eqNullSafe(b.k))  #> key k = k
r = a.join(b, (a.k == b.k) | (a.j == b.j))  #> no key k = k
r = a.join(b, a.k == key)  #> join inner on ?
r = a.join(b, a.k == 7)  #> join inner without equality
near = F.udf(lambda x, y: x in y)
r = a.join(b, near(a.x, b.y))  #> join inner without equality
r = a.join(b, near(a.x, b.y) == b.z)  #> join inner without equality
r = a.join(b, near(a.x, a.y) == b.z)  #> join inner on equality
r = a.join(b, near("x", "y") == b.z)  #> join inner on ?
r = a.join(b, F.expr("a.x BETWEEN b.lo AND b.hi"))  #> join inner without equality
w = Window.partitionBy("k", a.j, F.lower("x")).orderBy("ts")  #> window partitioned; window by [k, j, ?]
w = Window.partitionBy(*()).orderBy("ts")  #> window partitioned; window by []
r = spark.read.format("jdbc").options(**options).load()  #> read jdbc open
r = spark.read.options(**{"header": True}).csv("x")  #> read csv x
r = a.join(b, F.expr("a.k = b.k"))  #> join inner on equality
r = a.join(b, condition)  #> join inner on ?
r = a.join(b, keys, how)  #> join ? on ?
r = a.join(b, how="outer", on=["k"])  #> join full using [k]
r = a.crossJoin(spark.range(16).withColumnRenamed("id", "salt"))  #> join cross on purpose
r = a.crossJoin(F.broadcast(a.agg(F.avg("v"))))  #> join cross on purpose; right broadcast
F.broadcast(b)  #> discarded broadcast
r = a.join(F.broadcast(b), "k", "left")  #> right broadcast; join left using [k]
r = F.broadcast(a).join(b, "k", "left")  #> left broadcast
r = a.join(b.hint("broadcast"), "k")  #> right broadcast
small = F.broadcast(b)
r = a.join(small, "k", "left_outer")  #> right broadcast; join left using [k]
b.hint("merge")  #> hint merge; discarded hint
