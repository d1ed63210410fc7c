spark-submit --conf spark.sql.adaptive.enabled=fa│ --executor-memory 4g jobs/daily.py
