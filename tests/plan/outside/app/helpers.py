"""Called from elsewhere."""
from pyspark.sql import DataFrame


def proven(df):
    df.collect()  #> collect: unbounded; no collect from given


def bounded(df: DataFrame):
    return df.collect()  #> collect: exactly 3


def either(df: DataFrame):
    df.collect()  #> collect: unbounded; collect from given


def never(df: DataFrame):
    df.collect()  #> collect: unknown; collect from given


def own(df):
    df.collect()  #> collect: unbounded; no collect from given


def by_test_only(df: DataFrame):
    df.collect()  #> collect from given


def load(session, name):
    return session.table(name)  #> table orders


def far(df):
    df.collect()  #> collect: unbounded; no collect from given


def batch(df, epoch):
    df.collect()  #> collect: unknown


def tuned(spark, rows):
    spark.conf.set("spark.sql.shuffle.partitions", rows)  #> setting spark.sql.shuffle.partitions=8 runtime


def main(spark):
    own(spark.table("t"))


class Job:
    def __init__(self, session, df):
        self.session = session
        self.df = df

    def run(self):
        self.df.collect()  #> collect: unbounded; no collect from given
        return self.session.table("x").collect()  #> collect: unbounded; no collect from given


if __name__ == "__main__":
    from pyspark.sql import SparkSession

    main(SparkSession.builder.getOrCreate())
