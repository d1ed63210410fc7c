#!/usr/bin/env bash
# Nightly orders job 🌙: runs on YARN, one queue per environment.
set -euo pipefail

ENVIRONMENT="${1:-dev}"
RUN_DATE="$(date +%F)"
EXECUTOR_MEMORY=8g
SHUFFLE_PARTITIONS=${SHUFFLE_PARTITIONS:-400}
APP_HOME=/opt/jobs/orders
export SPARK_HOME=/opt/spark

kinit -kt /etc/security/orders.keytab orders@EXAMPLE.COM

"${SPARK_HOME}"/bin/spark-submit \
  --master yarn \
  --deploy-mode cluster \
  --name "orders ${RUN_DATE}" \
  --queue etl \
  --num-executors 20 \
  --executor-cores=4 \
  --executor-memory "$EXECUTOR_MEMORY" \
  --driver-memory 4g \
  --conf spark.sql.shuffle.partitions=$SHUFFLE_PARTITIONS \
  --conf "spark.executor.extraJavaOptions=-XX:+UseG1GC -Dorders.env=\"prod\"" \
  --conf 'spark.driver.extraJavaOptions=-Dlog4j.configuration=file:log4j.properties' \
  --conf spark.yarn.appMasterEnv.PYSPARK_PYTHON=./env/bin/python \
  --conf=spark.sql.adaptive.enabled=true \
  -c spark.sql.catalog.lake=org.apache.iceberg.spark.SparkCatalog \
  --conf spark.app.note=caf\é\ au\ lait \
  --conf $'spark.app.separator=a\tb' \
  --packages org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.6.1,io.delta:delta-spark_2.12:3.2.0 \
  --py-files "$APP_HOME/lib.zip" \
  --files /etc/orders/orders.json \
  --properties-file "$APP_HOME/conf/orders.conf" \
  "$APP_HOME/nightly_orders.py" --date "$RUN_DATE" --conf spark.orders.strict=true

if [[ "$ENVIRONMENT" == prod ]]; then
  nohup spark-sql --conf spark.sql.warehouse.dir=/warehouse -e "select count(*) from orders" >/dev/null 2>&1 &
else
  PYSPARK_PYTHON=python3 pyspark --master 'local[*]' --conf spark.ui.port=4041
fi

# Left alone: what a heredoc holds, and what is only printed.
cat > spark-defaults.conf <<EOF
spark.executor.memory 4g
spark-submit --conf spark.heredoc=1 job.py
EOF
echo "spark-submit --conf spark.printed=1 job.py"
pip install pyspark==3.5.1
