#! no spark
import pandas as pd, polars as pl
p = pd.read_parquet("x"); p.join(p); p.count(); p.filter(["a"])  #> silent
q = pl.read_parquet("x").filter(pl.col("a") > 1).collect()  #> silent


def report(df):
    return df.filter(pl.col("a") > 1).group_by("a").collect()  #> silent
