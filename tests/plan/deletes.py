import os
import shutil
import subprocess

from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
out = os.environ["OUT"]
dbutils.fs.rm("/mnt/lake/a", True)  #> deletes /mnt/lake/a
shutil.rmtree("/tmp/a")  #> deletes /tmp/a
shutil.rmtree(out, ignore_errors=True)  #> deletes ?
os.system("hadoop fs -rm -r -skipTrash /lake/b")  #> deletes /lake/b
os.system(f"hdfs dfs -rm -r {out}")  #> deletes ?
subprocess.run(["aws", "s3", "rm", "--recursive", "s3://lake/c"])  #> deletes s3://lake/c
subprocess.run(["ls", "/lake"])  #> no deletes /lake
other.rm("a")  #> no deletes a
