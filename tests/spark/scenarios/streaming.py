"""Short structured streaming queries: rate source to memory sink, and foreachBatch."""
import os
import time

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("streaming").getOrCreate()
OUT = os.environ["JOB_OUT"]
rate = spark.readStream.format("rate").option("rowsPerSecond", 200).load()
agg = rate.groupBy((F.col("value") % 5).alias("bucket")).count()
q1 = agg.writeStream.queryName("bucket_counts").outputMode("complete").format("memory").trigger(processingTime="1 second").start()


def save(batch_df, batch_id):
    batch_df.write.mode("append").parquet(f"{OUT}/batches")


q2 = rate.writeStream.queryName("save_batches").foreachBatch(save).trigger(processingTime="1 second").option("checkpointLocation", f"{OUT}/ck").start()
time.sleep(7)
q1.stop()
q2.stop()
spark.stop()
