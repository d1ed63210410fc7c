from pyspark.sql import DataFrame, SparkSession, Window, functions as F

spark = SparkSession.builder.getOrCreate()

def load(p):
    return spark.read.parquet(p)
def top(df, n=10):
    return df.orderBy(F.desc("v")).limit(n)
top(load("x")).collect()  #> collect: exactly 10
def load_all():
    df = spark.table("t")
    def inner():
        return df.collect()  #> collect: unbounded; collect result returned
    return inner()
def other():
    df = {"collect": 1}
    return df
other().count()  #> silent
def shown(df):
    df.show()  #> show: by-groups
    return df.collect()  #> collect: by-groups
shown(load("x").groupBy("k").count())
def worst(df):
    return df.collect()  #> collect: unbounded
worst(load("a").limit(1)); worst(load("a"))
def ping(df, n):
    return df if n == 0 else pong(df, n - 1)
def pong(df, n):
    return ping(df, n)
ping(load("x"), 3)
def foreign() -> DataFrame:
    return somewhere()
foreign().collect()  #> collect: unknown
def keyword(*, df, rows=3):
    return df.limit(rows)
keyword(df=load("x"), rows=4).collect()  #> collect: exactly 4
wrapped = lambda frame: frame.limit(6)
wrapped(load("y")).collect()  #> collect: exactly 6
if __name__ == "__main__":
    final = load("z")
    final.count()  #> count: unbounded; no count conditional
run_later(lambda: load("x").collect())  #> collect: unbounded
