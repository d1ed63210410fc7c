from pyspark.sql import DataFrame, SparkSession, Window, functions as F

spark = SparkSession.builder.getOrCreate()

class Job:
    rows = 3

    def __init__(self, spark: SparkSession):
        self.spark = spark
        self.base = self.spark.table("t")  #> self.base: frame unbounded
    def run(self):
        self.base.collect()  #> collect: unbounded
        return self._small().toPandas()  #> toPandas: exactly 3
    def _small(self):
        return self.base.limit(3)
    @property
    def two(self):
        return self.base.limit(2)
    def both(self):
        self.two.collect()  #> collect: exactly 2
        self.base.limit(self.rows).collect()  #> collect: exactly 3
    @staticmethod
    def clean(df: DataFrame):
        return df.distinct()
    def loop(self):
        for c in self.columns():
            self.base = self.base.withColumn(c, F.lit(1))  #> carried withColumn


class Child(Job):
    def more(self):
        return self._small().collect()  #> collect: exactly 3


Job(spark).run()
class Service:
    def work(self):
        return self.spark.table("t").collect()  #> collect: unbounded


class Steps:
    def __init__(self, spark: SparkSession):
        self.df = spark.table("t")

    def shrink(self):
        self.df = self.df.limit(1)

    def read(self):
        return self.df.collect()  #> collect: unbounded


class Factory:
    @classmethod
    def make(cls, df: DataFrame):
        return df.limit(8)


Factory.make(spark.table("t")).collect()  #> collect: exactly 8


class Base:
    def __init__(self, spark: SparkSession):
        self.source = spark.table("t").limit(9)


class Derived(Base):
    def __init__(self, spark: SparkSession):
        super().__init__(spark)

    def run(self):
        return self.source.collect()  #> collect: exactly 9
