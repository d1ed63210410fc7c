#!/usr/bin/env bash
set -euo pipefail

spark-submit \
  --master yarn \
  --conf "spark.sql.shuffle.par│" \
  jobs/daily.py
