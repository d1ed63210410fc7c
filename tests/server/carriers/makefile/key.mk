nightly:
	spark-submit --conf spark.dynamicAllocation.ena│ jobs/daily.py
