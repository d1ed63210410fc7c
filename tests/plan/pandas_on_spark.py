#! connect
import pyspark.pandas as ps
from pyspark import pandas as pp
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
psdf = ps.read_parquet("in")
psdf.to_pandas()  #> to_pandas: unbounded
psdf.head(3).to_pandas()  #> to_pandas: exactly 3; limit(3)
psdf[psdf.a > 1].groupby("k").sum().count()  #> silent
psdf.to_spark().collect()  #> collect: unbounded
pp.DataFrame({"a": [1]}).join(psdf)  #> silent
spark.table("t").limit(2).pandas_api().to_pandas()  #> to_pandas: exactly 2
ps.sql("select 1").loc[0]  #> silent
