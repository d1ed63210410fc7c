#!/bin/sh
aws emr add-steps --cluster-id "$CLUSTER" --steps \
  Type=Spark,Name=orders,ActionOnFailure=CONTINUE,Args=[--deploy-mode,cluster,--conf,spark.sql.shuffle.partitions=800,s3://jobs/orders.py,--day,1] \
  Type=CUSTOM_JAR,Name=b,Jar=command-runner.jar,Args=[spark-submit,--executor-memory,4g,s3://jobs/b.py]
aws emr create-cluster --release-label emr-7.2.0 --configurations '[
  {"Classification": "spark-defaults",
   "Properties": {"spark.executor.memory": "8g", "spark.dynamicAllocation.enabled": "true"}}]'
aws emr-serverless start-job-run --application-id 1 --job-driver '{
  "sparkSubmit": {
    "entryPoint": "s3://jobs/orders.py",
    "sparkSubmitParameters": "--conf spark.executor.cores=4 --conf spark.executor.memory=16g --driver-memory 8g"
  }}'
gcloud dataproc jobs submit pyspark gs://jobs/orders.py --cluster=etl \
  --properties=spark.executor.memory=8g,spark.sql.adaptive.enabled=true -- --day 1
gcloud dataproc clusters create etl --properties '^#^spark:spark.executor.cores=4#spark:spark.jars.packages=a:b:1,c:d:2#yarn:yarn.x=1'
gcloud dataproc batches submit pyspark gs://jobs/b.py --properties "spark.executor.instances=$N,spark.dataproc.scaling.version=2"
curl -X POST "$LIVY/batches" -H 'Content-Type: application/json' \
  -d '{"file": "hdfs:///spark/orders.py", "executorMemory": "4g", "conf": {"spark.sql.shuffle.partitions": "300"}}'
spark-sql --conf spark.sql.ansi.enabled=true \
  -e "SET spark.sql.shuffle.partitions=64; INSERT OVERWRITE TABLE t SELECT * FROM s"
gcloud dataproc jobs submit spark --cluster etl --class com.x.Orders --jar=gs://jobs/orders.jar \
  --properties ^@^spark.jars.packages=a:b:1,c:d:2@spark.executor.cores=2 --region europe-west1 -- --day "$DAY"
