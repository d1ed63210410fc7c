"""Orders: submitted by Airflow. Run `spark-submit --conf spark.executor.memory=1g jobs/orders.py` to try it alone."""
from __future__ import annotations

from datetime import datetime

from airflow import DAG
from airflow.decorators import task
from airflow.operators.bash import BashOperator
from airflow.providers.apache.livy.operators.livy import LivyOperator
from airflow.providers.apache.spark.operators.spark_jdbc import SparkJDBCOperator
from airflow.providers.apache.spark.operators.spark_sql import SparkSqlOperator
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.providers.databricks.operators.databricks import DatabricksSubmitRunOperator
from airflow.providers.google.cloud.operators.dataproc import (
    DataprocCreateBatchOperator,
    DataprocSubmitJobOperator,
)

JOBS = "s3://jobs"
EXECUTOR_MEMORY = "8g"
BASE_CONF = {
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.shuffle.partitions": 400,
}

PYSPARK_JOB = {
    "reference": {"project_id": PROJECT},
    "placement": {"cluster_name": "etl"},
    "pyspark_job": {
        "main_python_file_uri": "gs://jobs/orders.py",
        "args": ["--day", "{{ ds }}"],
        "properties": {
            "spark.executor.memory": "6g",
            "spark.executor.cores": "4",
        },
    },
}

with DAG("orders", start_date=datetime(2026, 1, 1), doc_md="Needs `spark-submit --conf spark.x=1`.") as dag:
    load = SparkSubmitOperator(
        task_id="load",
        application=f"{JOBS}/load.py",
        application_args=["--day", "{{ ds }}"],
        conf={
            **BASE_CONF,
            "spark.executor.memoryOverhead": "1g",
            'spark.executor.extraJavaOptions': "-Dname=\"x y\" -XX:+UseG1GC",
            "spark.driver.maxResultSize": f"{size}g",
            "spark.kubernetes.namespace": Variable.get("namespace", default_var="jobs"),
        },
        executor_memory=EXECUTOR_MEMORY,
        executor_cores=4,
        driver_memory=None,
        num_executors=10,
        py_files="lib.zip",
        conn_id="spark",
    )

    copy = SparkJDBCOperator(
        task_id="copy",
        cmd_type="spark_to_jdbc",
        spark_conf={"spark.task.maxFailures": "8"},
        executor_memory="2g",
    )

    report = SparkSqlOperator(
        task_id="report",
        sql="SELECT 1",
        conf="spark.sql.ansi.enabled=true,spark.sql.shuffle.partitions=20",
        executor_cores=2,
    )

    livy = LivyOperator(
        task_id="livy",
        file="hdfs:///spark/orders.py",
        args=["--day", "{{ ds }}"],
        conf={"spark.yarn.maxAppAttempts": "1"},
        driver_memory="2g",
        num_executors=5,
    )

    submit = BashOperator(
        task_id="bash",
        bash_command="""
            set -euo pipefail
            cd {{ params.home }} && spark-submit \\
                --deploy-mode cluster \\
                --conf spark.dynamicAllocation.maxExecutors={{ params.executors }} \\
                --conf "spark.sql.files.maxPartitionBytes=256m" \\
                jobs/late.py --day {{ ds }}
        """,
    )

    databricks = DatabricksSubmitRunOperator(
        task_id="databricks",
        new_cluster={
            "spark_version": "15.4.x-scala2.12",
            "num_workers": 8,
            "spark_conf": {"spark.databricks.delta.optimizeWrite.enabled": "true", "fs.s3a.connection.maximum": 200},
        },
        spark_python_task={"python_file": "dbfs:/jobs/orders.py", "parameters": ["--day", "{{ ds }}"]},
    )

    dataproc = DataprocSubmitJobOperator(task_id="dataproc", job=PYSPARK_JOB, region="europe-west1")

    batch = DataprocCreateBatchOperator(
        task_id="batch",
        batch={
            "pyspark_batch": {"main_python_file_uri": "gs://jobs/batch.py"},
            "runtime_config": {"version": "2.2", "properties": {"spark.executor.instances": "4"}},
        },
        batch_id="orders-{{ ds_nodash }}",
    )

    @task.pyspark(conn_id="spark", config_kwargs={"spark.executor.memory": "3g"})
    def count(spark, sc):
        return spark.range(10).count()

    load >> [copy, report, livy] >> submit >> databricks >> dataproc >> batch >> count()
