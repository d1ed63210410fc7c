from pyspark.sql.functions import *

df = spark.table("t")
sum([1, 2, 3])  #> shadowed sum
max(len(name) for name in df.columns)  #> shadowed max
df.agg(sum("v"), max(col("v")))  #> no shadowed sum; no shadowed max
