from pyspark.sql import DataFrame, SparkSession, Window, functions as F

spark = SparkSession.builder.getOrCreate()

df = spark.read.parquet("x")
df.coalesce(1).write.csv("o"); df.repartition(1).write.parquet("o")  #> coalesce(1); repartition(1); csv: unbounded; parquet: unbounded
df.groupBy("k").count().coalesce(1).write.csv("o")  #> csv: by-groups
df.limit(100).coalesce(1).write.csv("o")  #> csv: exactly 100
df.coalesce(n).write.parquet("o")  #> coalesce(?)
n = 1
df.coalesce(n).write.parquet("o")  #> coalesce(1)
df.repartition("k").write.parquet("o")  #> repartition(?) keyed
df.repartition(8, "k").write.partitionBy("d").mode("overwrite").saveAsTable("db.t")  #> repartition(8) keyed; writes ? to db.t mode overwrite
rdd = df.rdd.coalesce(1); rdd.saveAsTextFile("o")  #> coalesce(1); saveAsTextFile on rdd; saveAsTextFile: unbounded
w = Window.orderBy("ts"); r = df.withColumn("r", F.row_number().over(w))  #> window whole; window function
w = Window.partitionBy("k").orderBy("ts")  #> window partitioned
w = Window.orderBy("ts").partitionBy("k")  #> window partitioned
w = Window.partitionBy(F.lit(1)).orderBy("ts")  #> window whole
F.window("ts", "1 day")  #> calls window; no window whole
df.write.format("delta").option("path", "/p").save()  #> writes delta to /p mode ?
df.write.save("q", format="orc", mode="append")  #> writes orc to q mode append
df.writeTo("cat.t").append()  #> append: unbounded; writes ? to cat.t mode ?
writer = df.write.mode("append")
writer.json("j")  #> writes json to j mode append
df.write.mode("append").partitionBy("d").option("a", "b").parquet("j")  #> writer mode; writer partitionBy; writer option
writer = df.write.partitionBy("d")
writer.save("j")  #> writer partitionBy
