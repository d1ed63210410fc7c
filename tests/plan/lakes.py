from delta.tables import DeltaTable
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
orders = DeltaTable.forPath(spark, "s3://b/orders")  #> read delta s3://b/orders schema
orders.toDF().collect()  #> collect: unbounded
news = spark.read.format("iceberg").load("db.news")  #> read iceberg db.news
merging = orders.alias("o").merge(news.alias("n"), "o.id = n.id")
merging.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()  #> writes delta to s3://b/orders mode merge; execute: unbounded
DeltaTable.forName(spark, "db.t").history(1).collect()  #> table db.t; collect: small
for day in days:
    orders.delete(f"day = '{day}'")  #> delete in loop
