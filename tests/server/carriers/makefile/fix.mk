nightly:
	spark-submit --conf spark.sql.ansi.enable=true jobs/daily.py
