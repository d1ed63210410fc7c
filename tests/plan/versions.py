from packaging.version import Version, parse

import pyspark
from pyspark.sql import DataFrame, SparkSession

spark = SparkSession.builder.getOrCreate()

if pyspark.__version__ >= "3.4":
    spark.conf.set("spark.a", "1")  #> only with 3.5 4.0; setting spark.a=1 runtime
elif Version(pyspark.__version__) >= Version("3.0"):
    spark.conf.set("spark.b", "1")  #> only with 3.0 3.3; setting spark.b=1 runtime
else:
    spark.conf.set("spark.c", "1")  #> only with 2.4; setting spark.c=1 runtime

NEW = parse(spark.version) >= parse("3.5.0")
if not NEW:
    spark.conf.set("spark.d", "1")  #> only with 2.4 3.0 3.3; setting spark.d=1 runtime

if tuple(map(int, spark.version.split(".")[:2])) < (3, 3):
    spark.conf.set("spark.e", "1")  #> only with 2.4 3.0; setting spark.e=1 runtime
if int(spark.version.split(".")[0]) >= 4:
    spark.conf.set("spark.f", "1")  #> only with 4.0; setting spark.f=1 runtime
if str(spark.version).startswith("3"):
    spark.conf.set("spark.g", "1")  #> only with 3.0 3.3 3.5; setting spark.g=1 runtime
if is_windows and spark.version < "3.0" and other:
    spark.conf.set("spark.h", "1")  #> only with 2.4; setting spark.h=1 runtime
if spark.version in SUPPORTED:
    spark.conf.set("spark.i", "1")  #> with any version; setting spark.i=1 runtime
if spark.sparkContext.version == "3.0.1" or spark.version.startswith("2."):
    spark.conf.set("spark.j", "1")  #> only with 2.4; setting spark.j=1 runtime
if other.version < "3.0":
    spark.conf.set("spark.k", "1")  #> no only with 2.4; no with any version; setting spark.k=1 runtime

try:
    from pyspark.sql.functions import array_append
except ImportError:
    array_append = None  #> with any version
try:
    import pandas
except ImportError:
    pandas = None  #> no with any version


def renamed(df: DataFrame, names: dict) -> DataFrame:
    if df.sparkSession.version >= "3.4":
        return df.withColumnsRenamed(names)  #> only with 3.5 4.0
    for old, new in names.items():  #> only with 2.4 3.0 3.3
        df = df.withColumnRenamed(old, new)
    return df


def option(spark: SparkSession, spark_version: str) -> str:
    return "old" if spark_version < "3" else "new"  #> only with 2.4; only with 3.0 3.3 3.5 4.0
