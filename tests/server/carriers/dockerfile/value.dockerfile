FROM apache/spark:3.5.1
ENV PYSPARK_SUBMIT_ARGS="--conf spark.serializer=│ pyspark-shell"
