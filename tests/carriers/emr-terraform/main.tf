resource "aws_emr_cluster" "etl" {
  name          = "etl"
  release_label = "emr-7.2.0"
  applications  = ["Spark"]

  configurations_json = <<EOF
  [
    {
      "Classification": "spark-defaults",
      "Properties": {
        "spark.executor.memory": "${var.memory}",
        "spark.executor.cores": "4",
        "spark.sql.catalog.lake.warehouse": "s3://${var.bucket}/warehouse"
      }
    }
  ]
EOF

  step {
    name = "orders"
    hadoop_jar_step {
      jar  = "command-runner.jar"
      args = ["spark-submit", "--conf", "spark.sql.shuffle.partitions=${var.partitions}", "--driver-memory", "4g", "s3://jobs/orders.py"]
    }
  }
}

resource "aws_emr_cluster" "other" {
  configurations_json = jsonencode([
    {
      Classification = "spark-defaults"
      Properties = merge(local.base, {
        "spark.driver.memory"          = "8g"
        "spark.dynamicAllocation.enabled" = true
        (local.key)                    = "x"
      })
    }
  ])
  user_data = <<-SCRIPT
    #!/bin/bash
    spark-submit --conf spark.ui.enabled=false \
      --conf spark.env=${var.env} /opt/warm.py
  SCRIPT
}
