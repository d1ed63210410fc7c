"""Clusters and jobs on EMR, EMR Serverless and Glue, by their clients."""
import json

import boto3
import requests

SCRIPTS = "s3://jobs"
PARAMETERS = (
    "--conf spark.executor.cores=4 "
    "--conf spark.executor.memory=16g "
    "--conf spark.driver.memory=8g"
)

emr = boto3.client("emr")
emr.run_job_flow(
    Name="etl",
    ReleaseLabel="emr-7.2.0",
    Configurations=[
        {
            "Classification": "spark-defaults",
            "Properties": {
                "spark.executor.memory": "10g",
                "spark.dynamicAllocation.enabled": "true",
            },
        },
        {"Classification": "spark-env", "Configurations": [{"Classification": "export", "Properties": {"X": "1"}}]},
    ],
    Steps=[
        {
            "Name": "orders",
            "ActionOnFailure": "CONTINUE",
            "HadoopJarStep": {
                "Jar": "command-runner.jar",
                "Args": [
                    "spark-submit",
                    "--deploy-mode", "cluster",
                    "--conf", "spark.sql.shuffle.partitions=800",
                    SCRIPTS + "/orders.py",
                    "--day", day,
                ],
            },
        }
    ],
)

serverless = boto3.client("emr-serverless")
serverless.start_job_run(
    applicationId=APPLICATION,
    executionRoleArn=role,
    jobDriver={
        "sparkSubmit": {
            "entryPoint": f"{SCRIPTS}/orders.py",
            "entryPointArguments": ["--day", day],
            "sparkSubmitParameters": PARAMETERS,
        }
    },
    configurationOverrides={
        "applicationConfiguration": [
            {"classification": "spark-defaults", "properties": {"spark.dynamicAllocation.maxExecutors": "50"}}
        ]
    },
)

glue = boto3.client("glue")
glue.create_job(
    Name="orders",
    Role=role,
    Command={"Name": "glueetl", "ScriptLocation": "s3://jobs/glue/orders.py", "PythonVersion": "3"},
    DefaultArguments={
        "--conf": "spark.sql.adaptive.enabled=true --conf spark.sql.shuffle.partitions=300",
        "--job-language": "python",
    },
)
glue.start_job_run(JobName="orders", Arguments={"--conf": "spark.task.maxFailures=8"})

requests.post(
    LIVY + "/batches",
    data=json.dumps(
        {
            "file": "hdfs:///spark/orders.py",
            "executorMemory": "4g",
            "conf": {"spark.sql.shuffle.partitions": "300"},
        }
    ),
)
