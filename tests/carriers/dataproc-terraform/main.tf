resource "google_dataproc_cluster" "etl" {
  cluster_config {
    software_config {
      image_version = "2.2-debian12"
      override_properties = {
        "dataproc:dataproc.allow.zero.workers" = "true"
        "spark:spark.executor.memory"          = "6g"
        "spark:spark.sql.adaptive.enabled"     = "true"
      }
    }
  }
}

resource "google_dataproc_job" "orders" {
  pyspark_config {
    main_python_file_uri = "gs://jobs/orders.py"
    args                 = ["--day", "1"]
    properties = {
      "spark.logConf"                = "true"
      "spark.sql.shuffle.partitions" = "300"
    }
  }
}
