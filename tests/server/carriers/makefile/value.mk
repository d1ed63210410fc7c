nightly:
	spark-submit --executor-memory │ jobs/daily.py
