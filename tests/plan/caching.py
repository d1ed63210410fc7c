from pyspark.sql import DataFrame, SparkSession, Window, functions as F

spark = SparkSession.builder.getOrCreate()

a = spark.read.parquet("a")
b = spark.read.parquet("b")
j = a.join(b, "k")  #> join inner using [k]
n = j.count()  #> count: unbounded; no count cached
j.write.parquet("out")  #> no parquet cached
k = a.join(b, "k").cache()  #> cache
k.count(); k.write.parquet("out")  #> count cached; parquet cached
m = a.join(b, "m")
m.persist()  #> cache; no discarded persist
m.count()  #> count cached
m.unpersist()  #> unpersist m
def f(df): return df.groupBy("k").count()
x = f(a); y = f(b)
x.show(); y.show()  #> show: by-groups
s = a.sample(0.1)  #> sample
s.count(); s.toPandas()
t = a.sample(0.1, seed=3)  #> sample seeded
t = a.sample(False, 0.1, 42)  #> sample seeded
c = a.groupBy("k").count().checkpoint()  #> checkpoint
c.count()  #> count cached
