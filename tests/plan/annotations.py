from pyspark.sql import DataFrame
from typing import List, Optional
import pandas as pd


def clean(df: "DataFrame") -> "DataFrame":
    return df.dropna()  #> filter


def stats(df):
    return df.iloc[0]  #> silent


def mixed(df):
    df.iloc[0]
    return df.groupBy("a").count().collect()  #> silent


def frame(data: pd.DataFrame):
    return data.count()  #> silent


def maybe(data: Optional[DataFrame] = None):
    return data.count()  #> count: unknown


def several(frames: List[DataFrame]):
    for one in frames:
        one.count()  #> count: unknown; count in loop


def named(sdf):
    sdf.withColumn("a", x).count()  #> count: unknown


def unnamed(x, orders):
    x.filter(1).count()  #> silent
    return orders.groupBy("k").count().toPandas()  #> toPandas: by-groups; aggregate by [k]
