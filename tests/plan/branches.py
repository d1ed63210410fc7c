#! spark
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()


def read(path, schema, has_header):
    reader = spark.read.format("csv").option("sep", ";")
    if has_header:
        reader = reader.option("header", True)
    if schema is not None:
        reader = reader.schema(schema)
    df = reader.load(path)  #> df: frame unbounded; read csv ? schema open
    return df


def write(df, columns, mode):
    writer = df.coalesce(1).write.format("parquet")
    if columns:
        writer = writer.partitionBy("day")
    if mode == "append":
        writer = writer.mode("append")
    else:
        writer = writer.mode("overwrite")
    writer.save("out")  #> save: unknown; writes parquet to out mode ?; writer partitionBy


def stream(table, once):
    writer = spark.readStream.table(table).writeStream.format("delta")
    if once:
        writer = writer.trigger(once=True)
    else:
        writer = writer.trigger(processingTime="1 minute")
    writer.start("out")  #> stream delta once


def either(path, is_json):
    reader = spark.read.format("json") if is_json else spark.read.format("csv")
    return reader.load(path).collect()  #> silent
