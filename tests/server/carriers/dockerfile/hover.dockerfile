FROM apache/spark:3.5.1
CMD ["/opt/spark/bin/spark-submit", "--conf", "spark.executor.co│res=4", "local:///app/daily.py"]
