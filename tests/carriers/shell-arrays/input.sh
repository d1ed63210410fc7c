#!/bin/bash
MEMORY='6g'
COMMON_CONF=(
  --conf spark.sql.adaptive.enabled=true      # the default since 3.2
  --conf "spark.sql.shuffle.partitions=600"
  --conf spark.executor.memoryOverhead=1g
)
if [ -n "$DYNAMIC" ]; then
  COMMON_CONF+=(--conf spark.dynamicAllocation.enabled=true)
fi
OPTS="--driver-memory 2g --conf spark.driver.maxResultSize=1g"
OPTS="$OPTS --conf spark.network.timeout=300s"
ONE="spark.speculation=true"
for level in INFO WARN; do
  spark-submit "${COMMON_CONF[@]}" $OPTS --executor-memory ${MEMORY} --conf $ONE --conf spark.log.level=$level first.py
done
spark-submit "${COMMON_CONF[@]}" $EXTRA_OPTS second.py "$@"
spark-submit $EXTRA_OPTS "$APP"

export PYSPARK_SUBMIT_ARGS="--master local[2] --conf spark.ui.enabled=false --packages a:b:1 pyspark-shell"
export SPARK_EXTRA="--conf spark.sql.ansi.enabled=false"
docker run --rm spark:4.0 /opt/spark/bin/spark-submit --conf spark.ui.enabled=false /app/job.py
kubectl exec driver -- bash -c "spark-submit --conf 'spark.executor.cores=2' \
  --conf spark.executor.memory=\"4g\" third.py"
./wrapper.sh --conf spark.executor.instances=3 --date today
