from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
stream = spark.readStream.format("kafka").option("subscribe", "t").load()  #> read kafka stream
def save(batch, batch_id):
    batch.write.parquet("out")  #> parquet: unknown
stream.writeStream.foreachBatch(save).option("checkpointLocation", "/c").start()  #> start: unbounded
rows = spark.readStream.table("events")  #> read table events stream
