spark-submit \
  --conf spark.sql.shufle.partitions=400 \
  jobs/daily.py
