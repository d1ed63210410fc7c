from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial, reduce, wraps
from typing import TYPE_CHECKING, Generic, TypeVar

from pyspark.sql import DataFrame, SparkSession, functions as F

if TYPE_CHECKING:
    from pyspark.sql import Column

spark = SparkSession.builder.getOrCreate()
big = spark.table("t")


# Arguments that are passed through.
def first(df, n=2):
    return df.limit(n)


def through(*args, **kwargs):
    return first(*args, **kwargs)


through(big, n=4).collect()  #> collect: exactly 4
through(*[big, 5]).collect()  #> collect: exactly 5
through(**{"df": big, "n": 6}).collect()  #> collect: exactly 6
partial(first, n=7)(big).collect()  #> collect: exactly 7
big.transform(partial(first, n=8)).collect()  #> collect: exactly 8


def union_all(*frames):
    return reduce(DataFrame.unionByName, frames)


union_all(big.limit(1), big.limit(2)).collect()  #> collect: exactly 3


# Decorators.
def timed(function):
    @wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


def named(label):
    def decorate(function):
        def inner(df):
            return function(df).limit(9)

        return inner

    return decorate


@timed
def slow(df):
    return df.limit(3)


@named("x")
def labelled(df):
    return df.distinct()


@unknown
def hidden(df: DataFrame):
    return df.limit(3)


slow(big).collect()  #> collect: exactly 3
labelled(big).collect()  #> collect: exactly 9
hidden(big).collect()  #> silent


# Functions in lists and dicts.
def few(df):
    return df.limit(1)


def more(df):
    return df.limit(2)


STEPS = {"few": few, "more": more}
STEPS["few"](big).collect()  #> collect: exactly 1
STEPS[name](big).collect()  #> collect: exactly 2
for key, step in STEPS.items():
    step(big).count()  #> count in loop; no count conditional


def compose(*steps):
    def run(df):
        for step in steps:
            df = step(df)
        return df

    return run


compose(few, lambda df: df.withColumn("a", F.lit(1)))(big).collect()  #> columns; no collect: exactly 1


# Generators and contexts.
def parts(df):
    for n in [1, 2]:
        yield df.limit(n)


for part in parts(big):
    part.collect()  #> collect: small


@contextmanager
def session():
    own = SparkSession.builder.getOrCreate()
    yield own
    own.stop()


with session() as s:
    s.table("u").collect()  #> collect: unbounded


class Kept:
    def __init__(self, df: DataFrame):
        self.df = df

    def __enter__(self):
        return self.df.limit(3)

    def __exit__(self, *failure):
        pass


with Kept(big) as kept:
    kept.collect()  #> collect: exactly 3


# Classes.
@dataclass
class Inputs:
    orders: DataFrame
    shops: DataFrame
    rows: int = 4


inputs = Inputs(big.limit(2), shops=big)
inputs.orders.collect()  #> collect: exactly 2
inputs.shops.limit(inputs.rows).collect()  #> collect: exactly 4


def given(inputs: Inputs):
    return inputs.orders.collect()  #> collect: exactly 2


T = TypeVar("T")


class BaseJob(Generic[T]):
    spark: SparkSession

    def __init__(self, spark: SparkSession):
        self.spark = spark

    def run(self):
        return self.transform(self.spark.table("t"))

    def transform(self, df):
        return df

    @cached_property
    def base(self):
        return self.spark.table("t").limit(6)


class Daily(BaseJob[int]):
    def transform(self, df):
        return super().transform(df).limit(5)


class Deeper(Daily):
    def transform(self, df):
        return super().transform(df)


Daily(spark).run().collect()  #> collect: exactly 5
Deeper(spark).run().collect()  #> collect: exactly 5
Deeper(spark).base.collect()  #> collect: exactly 6
for job in [Daily(spark), Deeper(spark)]:
    job.run().count()  #> count: exactly 5


class Untold:
    spark: SparkSession

    def read(self):
        return self.spark.table("t").collect()  #> collect: unbounded


# Statements.
match big.limit(7):
    case None:
        pass
    case df:
        df.collect()  #> collect: exactly 7; collect conditional
match options:
    case {"frame": big_one, "n": int(n)} if n:
        big = big.limit(2)
    case [spark_one, *others] | Point(x=spark_one):
        pass
big.collect()  #> collect: unbounded
if (n := 3) and (some := big.limit(n)):
    some.collect()  #> collect: exactly 3
try:
    result = spark.table("a").limit(1)
except ValueError as error:
    raise RuntimeError from error
else:
    result = result.limit(1)
finally:
    result.count()  #> count: exactly 1

# Names that hold nothing before the loop.
stacked = None
for table in tables:
    frame = spark.table(table)
    if stacked is None:
        stacked = frame
    else:
        stacked = stacked.union(frame)  #> union; carried union; conditional union
stacked.collect()  #> collect: unbounded
