resource "databricks_cluster" "nightly" {
  spark_conf = {
    "spark.sql.shuffle.partition" = "400"
  }
}
