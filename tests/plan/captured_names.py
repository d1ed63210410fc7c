from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
df = spark.table("t")
names = ["a", "b"]


# What a function names itself is its own, whatever has that name outside.
def own(row):
    df = {"a": 1}  #> no captures df Frame(NodeId(0))
    for names in df:
        pass
    return [spark for spark in df]  #> no captures spark Session


def outside(row):
    return df.columns  #> captures df Frame(NodeId(0))


F.udf(own)
F.udf(outside)
