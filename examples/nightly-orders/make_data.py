"""Make the input of the nightly orders job: `make_data.py DIR`. The same rows each time (fixed seeds)."""

import csv
import os
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

ORDERS = 144_000
FILES = 96  # the export writes equal files; each becomes one task
MERCHANTS = 20_000
HOT_MERCHANT = 2024  # one marketplace ...
HOT_SHARE = 0.4  # ... with 40 % of all orders


def one_of(seed, *names):
    return F.element_at(F.array(*map(F.lit, names)), (F.rand(seed) * len(names)).cast("int") + 1)


target = sys.argv[1]
os.makedirs(target, exist_ok=True)

spark = SparkSession.builder.appName("make-data").getOrCreate()
orders = spark.range(0, ORDERS, 1, FILES).select(
    F.col("id").alias("order_id"),
    F.when(F.rand(1) < HOT_SHARE, HOT_MERCHANT)
    .otherwise((F.rand(2) * MERCHANTS).cast("int") + 1)
    .alias("merchant_id"),
    (F.rand(3) * 90_000).cast("long").alias("customer_id"),
    F.round(F.rand(4) * 500, 2).alias("amount"),
    one_of(5, "EUR", "GBP", "SEK", "PLN", "CHF").alias("currency"),
    one_of(6, "DE", "FR", "GB", "SE", "PL", "CH").alias("country"),
    # About 580 bytes that do not compress well, the size of a small basket.
    F.concat(*(F.sha2(F.concat(F.col("id").cast("string"), F.lit(f"/{n}")), 256) for n in range(9))).alias("basket"),
)
orders.write.mode("overwrite").parquet(f"{target}/orders")
spark.stop()

with open(f"{target}/merchants.csv", "w", newline="", encoding="utf-8") as file:
    rows = csv.writer(file)
    rows.writerow(["merchant_id", "merchant_name", "plan"])
    for number in range(1, MERCHANTS + 1):
        plan = "enterprise" if number % 50 == 24 else "plus" if number % 3 == 0 else "basic"
        rows.writerow([number, f"merchant {number}", plan])

with open(f"{target}/rates.csv", "w", newline="", encoding="utf-8") as file:
    csv.writer(file).writerows(
        [["currency", "to_eur"], ["EUR", 1.0], ["GBP", 1.17], ["SEK", 0.088], ["PLN", 0.23], ["CHF", 1.05]]
    )
