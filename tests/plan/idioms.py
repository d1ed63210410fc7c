#! spark; session spark
"""Ways of Python to hand frames on."""

import contextlib
import functools
from dataclasses import dataclass, field
from functools import partial, reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.getOrCreate()
orders = spark.read.parquet("orders")


def by_kind(kind):
    match kind:
        case "csv":
            df = spark.read.csv("in")
        case "json" | "jsonl":
            df = spark.read.json("in")
        case [first, *rest] if first:
            df = spark.read.orc("in")
        case _:
            df = spark.read.parquet("in")
    return df


by_kind("csv").collect()  #> collect: unbounded


def match_returns(kind):
    match kind:
        case "small":
            return orders.limit(3)
        case _:
            return orders.limit(5)


match_returns("x").collect()  #> collect: exactly 5


@contextlib.contextmanager
def session():
    own = SparkSession.builder.getOrCreate()
    try:
        yield own
    finally:
        own.stop()


with session() as own:
    own.read.parquet("in").collect()  #> collect: unbounded


class Session:
    def __enter__(self):
        self.spark = SparkSession.builder.getOrCreate()
        return self.spark

    def __exit__(self, *args):
        self.spark.stop()


with Session() as entered:
    entered.table("t").collect()  #> collect: unbounded

with SparkSession.builder.getOrCreate() as direct, open("x") as file:
    direct.table("t").collect()  #> collect: unbounded

try:
    tried = spark.table("new")
except Exception:
    tried = spark.table("old")
else:
    tried = tried.filter("a > 1")
finally:
    print("done")
tried.collect()  #> collect: unbounded


def tries():
    try:
        return spark.table("a")
    except ValueError:
        return None
    finally:
        print()


tries().collect()  #> collect: unbounded

days = ["a", "b"]
frames = [spark.read.parquet(f"in/{day}") for day in days]
reduce(DataFrame.unionByName, frames).collect()  #> collect: unbounded
functools.reduce(lambda a, b: a.unionByName(b), frames).collect()  #> collect: unbounded
reduce(lambda a, b: a.join(b, "id"), frames).collect()  #> collect: unbounded
reduce(DataFrame.union, [orders.limit(2), orders.limit(3)]).collect()  #> collect: exactly 5
reduce(lambda df, name: df.withColumn(name, F.lit(1)), days, orders).collect()  #> collect: unbounded

orders.transform(lambda df: df.limit(4)).collect()  #> collect: exactly 4
orders.transform(lambda df, n: df.limit(n), 6).collect()  #> collect: exactly 6


def pipe(df, *steps):
    for step in steps:
        df = step(df)
    return df


def few(df):
    return df.limit(7)


pipe(orders, few).collect()  #> collect: exactly 7
pipe(orders, lambda df: df.filter("a > 1")).collect()  #> collect: unbounded


def chain(df, steps):
    return reduce(lambda df, step: step(df), steps, df)


chain(orders, [few]).collect()  #> collect: exactly 7


@dataclass
class Inputs:
    orders: DataFrame
    lookup: DataFrame = None
    names: list = field(default_factory=list)

    def joined(self):
        return self.orders.join(self.lookup, "id")

    @property
    def head(self):
        return self.orders.limit(9)

    @classmethod
    def load(cls, spark):
        return cls(orders=spark.table("o"), lookup=spark.table("l"))

    @staticmethod
    def read(spark):
        return spark.table("s")


inputs = Inputs(orders, spark.table("lookup"))
inputs.joined().collect()  #> collect: unbounded
inputs.head.collect()  #> collect: exactly 9
Inputs.load(spark).joined().collect()  #> collect: unbounded
Inputs.load(spark).orders.collect()  #> collect: unbounded
Inputs.read(spark).collect()  #> collect: unbounded


class Job:
    path = "in"

    def __init__(self, spark):
        self.spark = spark

    def load(self):
        return self.spark.read.parquet(self.path)

    def run(self):
        return self.load().count()


class Small(Job):
    def __init__(self, spark, n):
        super().__init__(spark)
        self.n = n

    def load(self):
        return super().load().limit(11)

    @functools.cached_property
    def cached(self):
        return self.load()


Small(spark, 3).load().collect()  #> collect: exactly 11
Small(spark, 3).cached.collect()  #> collect: exactly 11

head = partial(few)
head(orders).collect()  #> collect: exactly 7


def limited(df, n):
    return df.limit(n)


three = partial(limited, n=3)
three(orders).collect()  #> collect: exactly 3
orders.transform(partial(limited, n=2)).collect()  #> collect: exactly 2


def timed(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        print(function.__name__)
        return function(*args, **kwargs)

    return wrapper


def retry(times):
    def decorate(function):
        def wrapper(*args, **kwargs):
            for _ in range(times):
                try:
                    return function(*args, **kwargs)
                except ValueError:
                    pass

        return wrapper

    return decorate


@timed
def decorated(spark):
    return spark.table("d").limit(13)


@retry(3)
def retried(spark):
    return spark.table("d").limit(14)


decorated(spark).collect()  #> collect: exactly 13
retried(spark).collect()  #> collect: exactly 14


def parts():
    for day in days:
        yield spark.read.parquet(day)


for part in parts():
    part.collect()  #> collect: unbounded; collect in loop

for first, second in zip(parts(), parts()):
    first.collect()  #> collect: unbounded; collect in loop

for index, part in enumerate(frames):
    part.collect()  #> collect: unbounded; collect in loop


def outer(df):
    limit = 15

    def inner():
        return df.limit(limit)

    return inner()


outer(orders).collect()  #> collect: exactly 15


def maker(n):
    def made(df):
        return df.limit(n)

    return made


maker(16)(orders).collect()  #> collect: exactly 16
orders.transform(maker(17)).collect()  #> collect: exactly 17

if (big := spark.table("big")) is not None:
    big.collect()  #> collect: unbounded

LOADERS = {"csv": lambda: spark.read.csv("in"), "few": lambda: orders.limit(18)}
LOADERS["few"]().collect()  #> collect: exactly 18
LOADERS[by_kind]().collect()  #> collect: unbounded
LOADERS.get("few")().collect()  #> collect: exactly 18

for name, loader in LOADERS.items():
    loader().collect()  #> collect: unbounded; collect in loop

tables = {name: spark.table(name) for name in days}
tables["a"].collect()  #> collect: unbounded
for name, table in tables.items():
    table.collect()  #> collect: unbounded; collect in loop
for table in tables.values():
    table.collect()  #> collect: unbounded; collect in loop

getattr(orders, "count")()  #> silent
getattr(orders, kind)()  #> silent

one, two = (orders.limit(1), orders)
one.collect()  #> collect: exactly 1
first, *others = frames
first.collect()  #> collect: unbounded
one.collect() if one else two.collect()
(lambda df: df.limit(19))(orders).collect()  #> collect: exactly 19
next(iter(frames)).collect()  #> collect: unbounded
sorted(frames, key=str)[0].collect()  #> collect: unbounded
