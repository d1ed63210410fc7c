#! connect; builds session; session spark
from databricks.connect import DatabricksSession
from pyspark.sql import SparkSession

spark = SparkSession.builder.remote("sc://host").getOrCreate()
spark.table("t").collect()  #> collect: unbounded
other = DatabricksSession.builder.getOrCreate()
other.range(3).collect()  #> collect: exactly 3
