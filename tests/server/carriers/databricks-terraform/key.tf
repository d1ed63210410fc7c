resource "databricks_cluster" "nightly" {
  cluster_name  = "nightly"
  spark_version = "15.4.x-scala2.12"
  spark_conf = {
    "spark.sql.shuffle.partitions" = "400"
    "spark.speculation.q│"
  }
}
