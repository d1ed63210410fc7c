#! spark
import dask.dataframe as dd
import ibis
import pandas as pd
import polars as pl
from django.db import models
from pyspark.sql import SparkSession
from sklearn.feature_extraction.text import CountVectorizer
from snowflake.snowpark import Session

frame = pd.read_csv("a.csv")
frame.groupby("k").count().head(3)  #> silent
frame.join(frame).filter(["a"]).sample(3)  #> silent
lazy = pl.scan_parquet("x").filter(pl.col("a") > 1).group_by("k").agg(pl.len())
lazy.collect()  #> silent
dd.read_parquet("x").repartition(npartitions=3).persist().compute()  #> silent
ibis.duckdb.connect().table("t").limit(3).to_pandas()  #> silent
session = Session.builder.configs({}).create()
session.table("t").filter("a").collect()  #> silent
CountVectorizer().fit(rows).transform(rows)  #> silent


class Order(models.Model):
    def late(self):
        return Order.objects.filter(late=True).distinct().count()  #> silent


def counted(df):
    df = df.reset_index()
    return df.count()  #> silent


numbers = [1, 2, 3]
numbers.count(2)  #> silent
for number in numbers:
    numbers.count(number)  #> silent
text = "a,b"
text.count(","); text.join(["a"])  #> silent
queue.take(3); cursor.first(); stack.distinct().collect()  #> silent
