spark-submit --conf spark.sql.shuffle.partitions = 400 --master yarn job.py
spark-submit --conf spark.executor.memory= 4g --conf spark.executor.cores=2 job.py
spark-submit --conf "spark.executor.memory = 4g" job.py
spark-submit --conf spark.driver.extraJavaOptions=-Da=1;-Db=2 job.py
spark-submit --conf spark.speculation job.py
spark-submit job.py --conf spark.executor.memory=4g --executor-cores 4 --packages a:b:1 --name mine
spark-submit --class a.B target/app.jar --conf retries=3
spark-submit --master yarn --conf
