from __future__ import annotations

import etl


def read_orders(spark):
    return spark.read.parquet("orders")  #> read parquet orders


def read_small(spark):
    return read_orders(spark).limit(4)


def around(spark):
    return etl.read_orders(spark)


def _private(spark):
    return spark.table("t")
