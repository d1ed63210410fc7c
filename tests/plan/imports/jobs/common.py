"""Helpers that the jobs share."""
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from jobs import settings
from jobs.settings import LIMIT, TABLES

by_time = Window.partitionBy("k").orderBy("ts")


def session(name):
    return SparkSession.builder.appName(name).config("spark.x", "1").getOrCreate()  #> setting spark.x=1 builder


def load(spark, name):
    return spark.table(name)  #> table ?


def top(df: DataFrame, rows=LIMIT):
    return df.orderBy("v").limit(rows)


def kept(df: DataFrame) -> DataFrame:
    return df.dropDuplicates(["k"]).cache()


def show_all(df: DataFrame):
    df.show()
    return df.count()


def apply(df, step):
    return step(df)


def stacked(spark):
    frames = None
    for name in TABLES:
        frame = load(spark, name)
        frames = frame if frames is None else frames.unionByName(frame)
    return frames


@F.udf("string")
def clean(text):
    return text.strip()


class Config:
    rows = settings.LIMIT

    def __init__(self, spark):
        self.spark = spark

    def base(self):
        return self.spark.table("base")


shared = session("shared")
