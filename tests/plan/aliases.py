#! local master; session s; functions f
from pyspark.sql import SparkSession as S
import pyspark.sql.functions as f
from pyspark.sql.functions import broadcast as bc, col
s = (S.builder
      .master("local[2]")  #> setting spark.master=local[2] builder
      .getOrCreate())
d = s.table("db.t").where(col("k") == 1)  #> table db.t; filter key; d: frame unknown
e = d.join(bc(s.read.csv("dim.csv")), "k")  #> join inner using [k]; right broadcast; hint broadcast
c = f.coalesce(d["a"], d["b"])  #> calls coalesce; no coalesce(?)
w = d.where(col("k") > 1)  #> filter; w: frame unknown
