#!/usr/bin/env bash
# Starts the job on the cluster, as every night. The log in runs/ is of a smaller run on one machine (make-log.sh).
set -eu
cd "$(dirname "$0")"

spark-submit \
    --master "${SPARK_MASTER:-spark://spark-master:7077}" \
    --properties-file conf/spark-defaults.conf \
    --executor-memory 2g \
    --conf spark.sql.shuffle.partitions=96 \
    jobs/nightly_orders.py
