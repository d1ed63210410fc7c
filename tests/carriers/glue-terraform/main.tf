locals {
  common_conf = "spark.sql.adaptive.enabled=true --conf spark.speculation=true"
}

resource "aws_glue_job" "orders" {
  name         = "orders"
  role_arn     = aws_iam_role.glue.arn
  glue_version = "4.0"

  command {
    name            = "glueetl"
    script_location = "s3://${aws_s3_bucket.jobs.bucket}/orders.py"
    python_version  = "3"
  }

  default_arguments = {
    "--job-language"         = "python"
    "--enable-spark-ui"      = "true"
    "--spark-event-logs-path" = "s3://${aws_s3_bucket.logs.bucket}/spark/"
    "--conf"                 = "spark.sql.shuffle.partitions=400 --conf spark.executor.memory=8g --conf=spark.task.maxFailures=8 spark.lost=1 --conf spark.app.env=${var.env}"
  }
}
