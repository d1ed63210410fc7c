# Databricks notebook source
# MAGIC %md
# MAGIC # Orders
# MAGIC Cells set `SET spark.sql.shuffle.partitions = 1` themselves: spark-submit --conf spark.x=1 is not for here.

# COMMAND ----------

# MAGIC %sql
# MAGIC -- for the joins below; larger tables need more
# MAGIC SET spark.sql.autoBroadcastJoinThreshold = 64m;
# MAGIC SET spark.sql.shuffle.partitions = auto;
# MAGIC
# MAGIC SELECT * FROM orders WHERE note <> 'SET spark.a = 1; SET spark.b = 2'

# COMMAND ----------

orders = spark.table("orders")
spark.conf.set("spark.sql.files.maxPartitionBytes", "256m")

# COMMAND ----------

# MAGIC %sql SET spark.sql.ansi.enabled = true

# COMMAND ----------

# MAGIC %sh
# MAGIC set -e
# MAGIC /databricks/spark/bin/spark-submit \
# MAGIC   --conf spark.executor.memory=4g \
# MAGIC   --conf "spark.driver.extraJavaOptions=-Da=1 -Db=2" \
# MAGIC   /dbfs/jobs/late.py --day 1

# COMMAND ----------

# MAGIC %pip install pyspark

# COMMAND ----------

orders.write.mode("overwrite").saveAsTable("copy")
