from pyspark.sql import DataFrame, SparkSession, Window, functions as F

spark = SparkSession.builder.getOrCreate()

from functools import reduce
def clean(df: DataFrame):
    return df.dropna()
dfs = [spark.read.parquet(p) for p in paths]  #> comprehension unknown; read parquet ?
u = reduce(DataFrame.unionByName, dfs)  #> union open; u: frame unbounded
v = reduce(lambda l, r: l.join(r, "id"), dfs)  #> join inner using [id]; carried join
d = spark.table("t").transform(clean).transform(lambda x: x.limit(2))  #> d: frame exactly 2
w = reduce(lambda l, r: l.union(r), [d, d, d])  #> w: frame exactly 6
parts = []
for p in paths:
    parts.append(spark.read.parquet(p))  #> fresh parquet
x = reduce(DataFrame.union, parts)  #> union open; x: frame unbounded
x.collect()  #> collect: unbounded
columns = ["a", "b"]
y = reduce(lambda df, c: df.withColumn(c, F.lit(0)), columns, d)  #> columns; y: frame exactly 2
z = reduce(lambda df, c: df.withColumn(c, F.lit(0)), names, d)  #> carried withColumn; z: frame exactly 2
names = d.columns
z = reduce(lambda df, c: df.withColumn(c, F.lit(0)), [c for c in names], d)  #> carried withColumn; z: frame exactly 2
