#! spark
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
URL = "jdbc:postgresql://db/shop"


def ask(query):
    return spark.read.format("jdbc").option("url", URL).option("dbtable", query).load()


ask("(select min(id), max(id) from orders) t").collect()  #> collect: exactly 1
ask("(select tablename from pg_tables where schemaname = 'public') t").collect()  #> collect: small
ask("(select distinct day from orders order by day) t").collect()  #> collect: small
ask("(select * from orders) t").collect()  #> collect: unbounded
ask("orders").collect()  #> collect: unbounded
column = "id"
spark.read.jdbc(URL, f"(SELECT MAX({key}) AS last FROM {table}) t").collect()  #> collect: exactly 1
spark.read.format("jdbc").option("query", "select * from orders limit 7").load().collect()  #> collect: exactly 7

# Rows that are made in the call are few; rows that were collected needn't be.
days = spark.createDataFrame([(f"{y}-{m:02d}",) for y in years for m in range(1, 13)], ["month"])  #> days: frame small
back = spark.createDataFrame([row for row in spark.table("t").collect()])  #> back: frame unknown
