nightly:
	spark-submit --conf spark.sql.ansi.ena│bled=true jobs/daily.py
