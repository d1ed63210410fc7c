#! spark; session spark
df = spark.table("main.orders")  #> df: frame unbounded
display(df.limit(5))  #> display: exactly 5
df.createOrReplaceTempView("orders")  #> createOrReplaceTempView: unbounded
spark.table("orders").limit(2).collect()  #> collect: exactly 2
rdd = spark.sparkContext.textFile("x")
rdd.map(len).collect()  #> collect: unbounded; collect on rdd
spark.sparkContext.parallelize([1, 2]).sum()  #> sum: exactly 2
