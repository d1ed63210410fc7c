from pyspark.sql import DataFrame, SparkSession, Window, functions as F

spark = SparkSession.builder.getOrCreate()

df = spark.read.parquet("x")
df.limit(10).collect()  #> collect: exactly 10
df.take(5)  #> take: unbounded
df.orderBy("a").limit(n).toPandas()  #> toPandas: small
df.agg(F.max("a")).collect()[0][0]  #> collect: exactly 1; collect result indexed
df.select(F.max("a"), F.min("b")).collect()  #> collect: exactly 1
df.select(F.max("a").alias("m"), (F.max("a") - F.min("a")).alias("d")).collect()  #> collect: exactly 1
df.select("a", F.max("a")).collect()  #> collect: unbounded
df.selectExpr("count(*) as n").collect()  #> collect: exactly 1
df.groupBy("k").agg(F.sum("v")).collect()  #> collect: by-groups; aggregate by [k]
df.groupBy().count().collect()  #> collect: exactly 1
df.describe().collect(); df.summary().toPandas()  #> collect: small; toPandas: small
df.select("k").distinct().collect()  #> collect: by-groups
df.groupBy("k").pivot("p", ["a", "b"]).sum("v").toPandas()  #> toPandas: by-groups; aggregate by [k] pivot; no pivot: unbounded
df.groupBy("k").pivot("p").sum("v").toPandas()  #> pivot: unbounded; aggregate by [k] open pivot
df.filter(F.col("id") == 7).collect()  #> collect: unknown
df.filter("id = 7").collect()  #> collect: unknown
df.filter(df.id == df.other).collect()  #> collect: unbounded
df.sample(0.01).collect(); df.dropDuplicates(["k"]).collect()  #> collect: unbounded; collect: by-groups
spark.createDataFrame([(1, "a"), (2, "b")], ["x", "y"]).collect()  #> collect: exactly 2
spark.range(100).collect(); spark.range(n).collect()  #> collect: exactly 100; collect: unknown
spark.range(10, 30, 5).collect()  #> collect: exactly 4
spark.sql("SHOW TABLES").collect(); spark.sql("SELECT count(*) FROM t").collect()  #> collect: small; collect: exactly 1
spark.sql("SELECT * FROM t LIMIT 20").toPandas()  #> toPandas: exactly 20
spark.sql(f"SELECT * FROM {t}").toPandas()  #> toPandas: unbounded
spark.sql(f"SELECT * FROM t LIMIT {n}").toPandas()  #> toPandas: small
spark.sql(query).collect()  #> collect: unknown
spark.sql("INSERT INTO t SELECT * FROM s"); spark.sql("MERGE INTO t USING s ON t.k = s.k WHEN MATCHED THEN DELETE")  #> sql: unbounded; writes ? to t mode append; sql: no input
df.collect()[:10]; df.rdd.collect(); list(df.toLocalIterator())  #> collect: unbounded; collect on rdd; toLocalIterator: unbounded
df.first(); df.head(3); df.tail(2); df.isEmpty()  #> first: unbounded; head: unbounded; tail: unbounded; isEmpty: unbounded
df.limit(10).union(df.limit(5)).collect()  #> collect: exactly 15
df.limit(10).crossJoin(spark.range(4)).collect()  #> collect: exactly 40; join cross on purpose
df.limit(10).join(df, "k").collect()  #> collect: unbounded
df.groupBy("k").count().limit(20).withColumn("z", F.lit(1)).collect()  #> collect: exactly 20
df.limit(10).withColumn("x", F.explode("xs")).collect()  #> collect: small; project explodes
df.limit(7).join(df, "k", "left_semi").collect()  #> collect: exactly 7; join left_semi using [k]
df.na.drop().collect(); df.stat.crosstab("a", "b")  #> collect: unbounded; crosstab: unbounded
df.limit(100).limit(5).collect()  #> collect: exactly 5
df.select([F.when(F.count(F.lit(1)) == F.lit(0), F.lit(False)).otherwise(F.count(c) > F.lit(9)).alias(c) for c in cols]).collect()  #> collect: exactly 1; project aggregates
df.select(F.count("k") > F.col("k")).collect()  #> collect: unbounded
