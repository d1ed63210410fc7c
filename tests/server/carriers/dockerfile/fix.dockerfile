FROM apache/spark:3.5.1
CMD ["/opt/spark/bin/spark-submit", "--conf", "spark.executor.memoy=4g", "local:///app/daily.py"]
