# Infrastructure as Python: CDK, Pulumi, and a manifest for the Kubernetes operator.
import aws_cdk.aws_emr as emr
import aws_cdk.aws_glue as glue
from airflow.providers.cncf.kubernetes.operators.spark_kubernetes import SparkKubernetesOperator
from airflow.providers.amazon.aws.operators.emr import EmrAddStepsOperator, EmrContainerOperator
from airflow.providers.amazon.aws.operators.glue import GlueJobOperator
from pulumi_databricks import Job


class Etl(Stack):
    def __init__(self, scope, name, **kwargs):
        super().__init__(scope, name, **kwargs)
        emr.CfnCluster(
            self,
            "Cluster",
            configurations=[
                emr.CfnCluster.ConfigurationProperty(
                    classification="spark-defaults",
                    configuration_properties={"spark.executor.memory": "12g"},
                ),
            ],
        )
        glue.CfnJob(
            self,
            "Orders",
            command=glue.CfnJob.JobCommandProperty(name="glueetl", script_location="s3://jobs/orders.py"),
            default_arguments={"--conf": "spark.sql.adaptive.enabled=true --conf spark.speculation=false"},
        )


Job(
    "orders",
    new_cluster={"spark_version": "15.4", "spark_conf": {"spark.speculation": True}},
    spark_python_task={"python_file": "dbfs:/jobs/orders.py"},
)

SPARK_APPLICATION = {
    "apiVersion": "sparkoperator.k8s.io/v1beta2",
    "kind": "SparkApplication",
    "metadata": {"name": "orders"},
    "spec": {
        "mainApplicationFile": "local:///opt/app/orders.py",
        "sparkConf": {
            "spark.ui.port": "4045",
            "spark.eventLog.enabled": True,
        },
        "driver": {"cores": 1, "memory": "2g"},
        "executor": {"instances": 3, "memory": "4g"},
    },
}

SparkKubernetesOperator(task_id="orders", template_spec=SPARK_APPLICATION)
SparkKubernetesOperator(
    task_id="inline",
    application_file="""
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata:
  name: inline
spec:
  mainApplicationFile: local:///opt/app/inline.py
  sparkConf:
    spark.ui.enabled: "false"
""",
)

STEPS = [
    {
        "Name": "orders",
        "HadoopJarStep": {
            "Jar": "command-runner.jar",
            "Args": ["spark-submit", "--conf", "spark.executor.cores=4", "s3://jobs/orders.py"],
        },
    },
]
EmrAddStepsOperator(task_id="steps", job_flow_id="j-1", steps=STEPS)
EmrContainerOperator(
    task_id="eks",
    job_driver={
        "sparkSubmitJobDriver": {
            "entryPoint": "s3://jobs/eks.py",
            "sparkSubmitParameters": "--conf spark.executor.instances=2 --conf spark.executor.memory=2G",
        }
    },
    configuration_overrides={
        "applicationConfiguration": [
            {"classification": "spark-defaults", "properties": {"spark.dynamicAllocation.enabled": "false"}},
        ],
    },
)
GlueJobOperator(
    task_id="glue",
    job_name="orders",
    script_location="s3://jobs/glue.py",
    script_args={"--conf": "spark.sql.shuffle.partitions=200", "--day": "{{ ds }}"},
)
