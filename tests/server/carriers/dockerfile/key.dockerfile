FROM apache/spark:3.5.1
CMD ["/opt/spark/bin/spark-submit", "--conf", "spark.executor.memoryOv│", "local:///app/daily.py"]
