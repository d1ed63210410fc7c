#! spark; session spark
import jobs.common as c
from jobs.common import Config, apply, clean, kept, load, session, show_all, stacked
from . import common
from .common import by_time, top
from pyspark.sql import functions as F

spark = session("daily")
orders = load(spark, "orders")  #> orders: frame unbounded
orders.collect()  #> collect: unbounded
top(orders).collect()  #> collect: exactly 20
c.top(orders, 5).toPandas()  #> toPandas: exactly 5
common.top(orders, rows=7).toPandas()  #> toPandas: exactly 7
one = kept(orders)  #> one: frame by-groups
one.count()  #> count: by-groups; count cached
show_all(orders)  #> runs show: unbounded; runs count: unbounded
apply(orders, lambda df: df.limit(3).collect())  #> collect: exactly 3
stacked(spark).collect()  #> collect: unbounded
orders.select(clean("name"))  #> udf
orders.withColumn("n", F.row_number().over(by_time))  #> window function; no calls row_number
Config(spark).base().limit(Config.rows).collect()  #> collect: exactly 20


class Daily(Config):
    def run(self):
        return self.base().collect()  #> collect: unbounded


Daily(spark).run()
for name in ["x", "y"]:
    show_all(load(spark, name))  #> runs show: unbounded


# A name that another module holds is known where Spark takes it along.
from jobs.common import shared


@F.udf("long")
def looked_up(key):
    return shared.table("t").count()  #> captures shared Session
