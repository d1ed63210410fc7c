from pyspark.sql import SparkSession

from app import helpers
from app.helpers import (
    Job,
    batch,
    bounded,
)
from app.middle import step
from app.plain import rows

SIZE = "8"


def unread(df):
    helpers.either(df)
    helpers.own(df)


def run():
    spark = SparkSession.builder.getOrCreate()
    orders = helpers.load(spark, "orders")
    helpers.proven(orders)
    helpers.either(orders)
    bounded(orders.limit(3))
    rows(orders)
    step(orders)
    Job(spark, orders).run()
    helpers.tuned(spark, SIZE)
    spark.readStream.table("s").writeStream.foreachBatch(batch).start()  #> python ForeachBatch; runs collect: unknown
    orders.collect()  #> collect: unbounded


if __name__ == "__main__":
    run()
