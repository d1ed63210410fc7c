"""Nightly orders: score the day's orders, price them with their merchant's plan, write the morning's tables.

This job is run for real to make the event log in runs/ (see README.md). Two of its functions stand in for the
world outside Spark by sleeping for every row: `risk_score` and `quote_fee`. Nothing else is simulated.
"""

import json
import os
import time
from collections import defaultdict

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DoubleType

DATA = "/srv/nightly-orders/data"
OUT = "/srv/nightly-orders/out"

# What the two stand-ins cost, in seconds a row; without these variables they cost nothing.
# On the node called SLOW_NODE a look-up takes SLOW_FACTOR times as long: this stands in for a sick disk.
LOOKUP_SECONDS = float(os.environ.get("LOOKUP_SECONDS", "0"))
QUOTE_SECONDS = float(os.environ.get("QUOTE_SECONDS", "0"))
SLOW_NODE = os.environ.get("SLOW_NODE", "")
SLOW_FACTOR = float(os.environ.get("SLOW_FACTOR", "1"))


@F.udf(DoubleType())
def risk_score(customer_id, amount):
    """Score one order with the customer's profile, which each worker keeps on its own disk."""
    on_slow_node = os.environ.get("NODE_NAME") == SLOW_NODE
    time.sleep(LOOKUP_SECONDS * (SLOW_FACTOR if on_slow_node else 1.0))  # stands in for reading the profile
    profile = (customer_id * 7919) % 1000 / 1000
    return min(1.0, 0.7 * profile + 0.3 * amount / 500)


@F.udf(DoubleType())
def quote_fee(plan, amount):
    """Ask the pricing service for the fee of one order."""
    time.sleep(QUOTE_SECONDS)  # stands in for an expensive enrichment call
    return amount * {"basic": 0.029, "plus": 0.024, "enterprise": 0.017}[plan]


def main():
    spark = SparkSession.builder.appName("nightly-orders").getOrCreate()

    orders = spark.read.parquet(f"{DATA}/orders")
    for name, kind in orders.dtypes:
        if kind == "string":
            orders = orders.withColumn(name, F.trim(name))
    merchants = spark.read.csv(f"{DATA}/merchants.csv", header=True, inferSchema=True)
    rates = spark.read.schema("currency string, to_eur double").csv(f"{DATA}/rates.csv", header=True)

    scored = orders.withColumn("risk", risk_score("customer_id", "amount"))

    # Every order with its merchant's plan, in euro, with the fee: the table that the day's reports read.
    priced = (
        scored.join(merchants, "merchant_id")
        .join(F.broadcast(rates), "currency")
        .withColumn("amount_eur", F.col("amount") * F.col("to_eur"))
        .withColumn("fee", quote_fee("plan", "amount"))
    )
    priced.write.mode("overwrite").parquet(f"{OUT}/orders_priced")

    # Risk by country, for the dashboard.
    by_country = scored.groupBy("country").agg(F.count("*").alias("orders"), F.avg("risk").alias("avg_risk"))
    by_country.write.mode("overwrite").parquet(f"{OUT}/risk_by_country")

    # The risk desk wants the large orders as one file.
    large = scored.filter(F.col("amount") > 465).select("order_id", "merchant_id", "amount", "basket", "risk")
    large.coalesce(1).write.mode("overwrite").parquet(f"{OUT}/large_orders")

    # What each merchant is paid in the morning.
    payouts = defaultdict(float)
    for row in spark.read.parquet(f"{OUT}/orders_priced").select("merchant_id", "amount_eur", "fee").collect():
        payouts[row.merchant_id] += row.amount_eur - row.fee
    with open(f"{OUT}/payouts.json", "w", encoding="utf-8") as file:
        json.dump(payouts, file)

    spark.stop()


if __name__ == "__main__":
    main()
