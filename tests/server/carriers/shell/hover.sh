spark-submit --executor-mem│ory 4g --conf spark.executor.memory=8g jobs/daily.py
