#!/usr/bin/env bash
# Make the log in runs/ anew: run the nightly orders job on a real standalone Spark cluster of four one-core
# workers, on the addresses 127.0.0.2 to 127.0.0.5 of this machine, and keep the event log that Spark writes.
#
# Needs: Linux, Python 3.11 with venv, Java 17 first on the PATH, write access to the two folders below. What the
# first one holds from an earlier run is deleted. About four minutes.
#
# The folders are fixed, and Spark starts with few variables and a user called "etl", so that the log names no
# folder and no person of the machine that made it. One Java property that only describes that machine, the
# version of its kernel, is blanked when Java starts. Nothing in the log is edited afterwards.
set -euo pipefail

project=/srv/nightly-orders # the job runs from a copy here: its own paths start with it
venv=/opt/nightly-orders/venv
port=17077
slow_node=node-3 # the worker on 127.0.0.4

here=$(cd "$(dirname "$0")" && pwd)
fail() { echo "make-log.sh: $*" >&2; exit 1; }
command -v python3.11 >/dev/null || fail "python3.11 is not on the PATH"
java -version 2>&1 | grep -q 'version "17' || fail "Java 17 is not the java on the PATH"

[ -x "$venv/bin/python" ] || python3.11 -m venv "$venv"
"$venv/bin/python" -m pip install --quiet pyspark==3.5.9
spark=$venv/lib/python3.11/site-packages/pyspark

mkdir -p "$project"
rm -rf "$project"/{data,out,scratch,eventlogs}
mkdir -p "$project"/{jobs,conf,out,scratch,eventlogs}
if [ "$here" != "$project" ]; then
    cp "$here/jobs/nightly_orders.py" "$project/jobs/"
    cp "$here/conf/spark-defaults.conf" "$project/conf/"
    cp "$here/make_data.py" "$project/"
fi
cd "$project"

# Every Spark process gets these variables and no others.
clean=(env -i "PATH=$venv/bin:$PATH" LANG=C.UTF-8 TZ=UTC "HOME=$project/scratch"
    "SPARK_HOME=$spark" "PYSPARK_PYTHON=$venv/bin/python" "SPARK_LOCAL_DIRS=$project/scratch"
    SPARK_USER=etl HADOOP_USER_NAME=etl SPARK_DAEMON_MEMORY=512m
    "SPARK_SUBMIT_OPTS=-Duser.name=etl -Duser.home=/home/etl -Dos.version=")

started=()
stop() {
    for process in "${started[@]}"; do
        kill "$process" 2>/dev/null || true
        wait "$process" 2>/dev/null || true
    done
}
trap stop EXIT

echo "making the input"
"${clean[@]}" SPARK_LOCAL_IP=127.0.0.1 "$spark/bin/spark-submit" --master 'local[2]' --conf spark.ui.enabled=false \
    make_data.py "$project/data" 2>scratch/data.err || { tail -40 scratch/data.err >&2; fail "no input"; }

echo "starting a master and four workers"
"${clean[@]}" SPARK_LOCAL_IP=127.0.0.1 "$spark/bin/spark-class" org.apache.spark.deploy.master.Master \
    --host 127.0.0.1 --port "$port" --webui-port 0 2>scratch/master.err &
started+=($!)
for n in 1 2 3 4; do
    address=127.0.0.$((n + 1))
    "${clean[@]}" SPARK_LOCAL_IP="$address" NODE_NAME="node-$n" "$spark/bin/spark-class" \
        org.apache.spark.deploy.worker.Worker --host "$address" --cores 1 --memory 1g --webui-port 0 \
        --work-dir "$project/scratch/node-$n" "spark://127.0.0.1:$port" 2>"scratch/worker-$n.err" &
    started+=($!)
done
registered() { grep -c 'Registering worker' scratch/master.err || true; }
for _ in $(seq 60); do
    [ "$(registered)" = 4 ] && break
    sleep 1
done
[ "$(registered)" = 4 ] || fail "the four workers did not start; see $project/scratch"

echo "running the job"
"${clean[@]}" SPARK_LOCAL_IP=127.0.0.1 SPARK_LOCAL_HOSTNAME=127.0.0.1 \
    LOOKUP_SECONDS=0.0005 QUOTE_SECONDS=0.0002 SLOW_NODE="$slow_node" SLOW_FACTOR=4.5 \
    "$spark/bin/spark-submit" --master "spark://127.0.0.1:$port" --properties-file conf/spark-defaults.conf \
    --conf spark.driver.host=127.0.0.1 --conf spark.ui.enabled=false \
    --conf spark.eventLog.enabled=true --conf "spark.eventLog.dir=file://$project/eventlogs" \
    --conf spark.eventLog.compress=true --conf spark.eventLog.compression.codec=zstd \
    "$project/jobs/nightly_orders.py" 2>scratch/job.err || { tail -40 scratch/job.err >&2; fail "the job failed"; }

mkdir -p "$here/runs"
rm -f "$here"/runs/app-*
install -m 644 eventlogs/app-* "$here/runs/"
echo "made $(ls "$here"/runs/app-*)"
