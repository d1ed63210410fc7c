#! spark; session spark
def run(spark, path):
    df = spark.read.json(path)  #> df: frame unbounded; read json ?; json: no input
    df.coalesce(1).write.parquet("out")  #> coalesce(1); parquet: unbounded; writes parquet to out mode ?


def other(session, path):
    return session.query(path).filter(1).count()  #> silent
