# Databricks notebook source
#! spark
# MAGIC %md
# MAGIC SELECT * FROM nothing

# COMMAND ----------

# MAGIC %sql
# MAGIC CREATE OR REPLACE TEMP VIEW recent AS
# MAGIC SELECT o.*                       -- #> project
# MAGIC FROM orders o, customers c       -- #> table orders; join inner without condition
# MAGIC LIMIT 7;                         -- #> limit(7)
# MAGIC
# MAGIC INSERT INTO target SELECT * FROM recent  -- #> writes ? to target mode append; sql: exactly 7

# COMMAND ----------

spark.table("recent").collect()  #> collect: exactly 7

# COMMAND ----------

# MAGIC %sql
# MAGIC SET spark.sql.shuffle.partitions = 64;  -- #> setting spark.sql.shuffle.partitions=64 sql
