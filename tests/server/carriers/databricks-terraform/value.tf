resource "databricks_cluster" "nightly" {
  spark_conf = {
    "spark.network.timeout" = "│"
  }
}
