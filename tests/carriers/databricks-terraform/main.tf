resource "databricks_cluster" "shared" {
  cluster_name  = "shared"
  spark_version = data.databricks_spark_version.latest.id
  spark_conf = {
    "spark.databricks.cluster.profile" : "singleNode",
    "spark.sql.shuffle.partitions"     = 64 # small data
    "spark.hadoop.fs.s3a.endpoint"     = var.endpoint
    "spark.driver.extraJavaOptions"    = "-Da=\"${var.a}\" -Db=$${literal}"
    "spark.sql.ansi.enabled"           = var.strict ? "true" : "false"
  }
}

resource "databricks_job" "nightly" {
  task {
    task_key = "load"
    new_cluster {
      num_workers = 4
      spark_conf  = var.fast ? { "spark.speculation" = "true" } : {}
    }
    spark_python_task {
      python_file = "dbfs:/jobs/load.py"
      parameters  = ["--day", "1"]
    }
  }
}
