"""A small application that stays until its standard input ends.

usage: live.py PORT LOGS [KEY=VALUE...]     its UI on PORT, its event log in the folder LOGS, further settings
"""

import sys
import time

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

port, logs, *settings = sys.argv[1:]
builder = SparkSession.builder.master("local[2]").appName("live")
builder = builder.config("spark.ui.port", port).config("spark.ui.showConsoleProgress", "false")
builder = builder.config("spark.eventLog.enabled", "true").config("spark.eventLog.dir", f"file:{logs}")
for setting in settings:
    builder = builder.config(*setting.split("=", 1))
spark = builder.getOrCreate()

rows = spark.range(20_000).withColumn("key", F.when(F.col("id") < 15_000, 0).otherwise(F.col("id") % 50))
rows.repartition(6, "key").groupBy("key").agg(F.collect_list("id")).collect()
for _ in range(2):
    spark.sparkContext.parallelize(range(100), 8).map(lambda number: number * number).sum()
spark.sparkContext.setJobGroup("late", "one task sleeps")
spark.sparkContext.parallelize(range(8), 8).map(lambda number: time.sleep(6 if number == 5 else 0.1)).count()
try:
    spark.sparkContext.parallelize(range(2), 2).map(lambda number: 1 // 0).count()
except Exception:
    pass
# The other failed task may end behind its stage; the end of a job writes the log up to here.
time.sleep(1)
spark.sparkContext.parallelize(range(2), 2).count()
# The UI and the log are written by listeners behind the work.
time.sleep(1)
print("ready", flush=True)
sys.stdin.read()
