from pyspark.sql import SparkSession
from functools import reduce
from pyspark.sql import functions as F

spark = SparkSession.builder.getOrCreate()


def load_one(table):
    spark.table(table).count()  #> count in loop; no count conditional


def checked(table):
    if table:
        spark.table(table).count()  #> no count in loop


def maybe(table):
    spark.table(table).count()  #> no count in loop


def outer(table):
    inner(table)


def inner(table):
    return spark.table(table).collect()  #> collect in loop


def alone(table):
    return spark.table(table).collect()  #> no collect in loop


def again(table, n):
    spark.table(table).limit(n).collect()  #> collect in loop; collect once
    return again(table, n - 1)


alone("t")
load_one("first")
for table in tables:
    load_one(table)
    checked(table)
    outer(table)
    if table.startswith("x"):
        maybe(table)
for attempt in range(3):
    again("t", 1)
    break


class Loader:
    def all(self):
        return [self.one(t) for t in self.names]

    def one(self, t):
        return spark.table(t).count()  #> count in loop


# The accumulator is a loop's variable, whatever is gone through.
df = spark.table("t")
reduce(lambda acc, n: acc.withColumn(n, F.lit(1)), names, df).collect()  #> collect: unbounded; carried withColumn
reduce(lambda acc, n: acc.withColumn(n, F.lit(1)), ["a", "b"], df)  #> columns
wide = reduce(lambda acc, n: acc.withColumn(n, F.lit(1)), names, initial=df.limit(3))  #> wide: frame exactly 3
long = reduce(lambda acc, n: acc.union(n), frames, df.limit(3))  #> long: frame unknown; union open

# Rows that the driver hands over.
sc = spark.sparkContext
spark.read.json(sc.parallelize(['{"a": 1}', '{"a": 2}'])).collect()  #> collect: exactly 2
spark.read.csv(sc.parallelize(lines)).collect()  #> collect: unknown
