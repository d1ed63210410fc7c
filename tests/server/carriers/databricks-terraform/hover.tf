resource "databricks_cluster" "nightly" {
  spark_conf = {
    "spark.sql.shuffle.part│itions" = "400"
  }
}
