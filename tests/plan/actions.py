from pyspark.ml.classification import LogisticRegression
from pyspark.ml.stat import Correlation
from pyspark.sql import Observation, SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
sc = spark.sparkContext
df = spark.read.parquet("in")
rdd = df.rdd

# A frame's own.
df.collect(); df.toPandas(); df.toArrow()  #> collect: unbounded; toPandas: unbounded; toArrow: unbounded
df.take(3); df.tail(3); df.head(); df.head(3); df.first()  #> take: unbounded; tail: unbounded; head: unbounded; first: unbounded
df.toLocalIterator(); df.count(); df.show(); df.isEmpty()  #> toLocalIterator: unbounded; count: unbounded; show: unbounded; isEmpty: unbounded
df.foreach(print); df.foreachPartition(list)  #> foreach: unbounded; foreachPartition: unbounded
df.approxQuantile("v", [0.5], 0.1); df.corr("a", "b"); df.cov("a", "b")  #> approxQuantile: unbounded; corr: unbounded; cov: unbounded
df.stat.approxQuantile("v", [0.5], 0.1); df.stat.corr("a", "b")  #> approxQuantile: unbounded; corr: unbounded
t = df.crosstab("a", "b")  #> crosstab: unbounded; summary; t: frame small
t = df.stat.freqItems(["a"])  #> freqItems: unbounded; summary
df.groupBy("k").pivot("v").sum()  #> pivot: unbounded; aggregate by [k] open pivot

# Checkpoints run at once, unless they are told to wait.
kept = df.checkpoint()  #> checkpoint: unbounded; checkpoint
kept = df.localCheckpoint()  #> localCheckpoint: unbounded; checkpoint
kept = df.checkpoint(eager=False)  #> no checkpoint: unbounded; checkpoint
kept = df.localCheckpoint(False)  #> no localCheckpoint: unbounded; checkpoint

# Nothing runs.
df.printSchema(); df.explain(); df.schema; df.columns; df.inputFiles()  #> silent
seen = df.observe(Observation("rows"), F.count(F.lit(1)))  #> other observe; no observe: unbounded
df.na.drop().na.fill(0).stat.sampleBy("k", {1: 0.5})  #> filter; project; sample; no sampleBy: unbounded
spark.catalog.cacheTable("t"); spark.catalog.uncacheTable("t"); spark.catalog.refreshTable("t")  #> silent
wide = df.limit(3).unpivot("id", ["a", "b"], "name", "value")  #> wide: frame small
turned = df.transpose()  #> other transpose; turned: frame small

# Writes.
df.write.save("out"); df.write.saveAsTable("t"); df.write.insertInto("t")  #> save: unbounded; writes ? to t mode ?
df.write.xml("x", rowTag="r"); df.write.text("y"); df.write.jdbc("u", "t")  #> writes xml to x mode ?; writes text to y mode ?; writes jdbc to t mode ?
df.writeTo("t").using("iceberg").create(); df.writeTo("t").append()  #> writes iceberg to t mode ?; append: unbounded
df.writeTo("t").createOrReplace(); df.writeTo("t").replace(); df.writeTo("t").overwritePartitions()  #> createOrReplace: unbounded; replace: unbounded; overwritePartitions: unbounded
df.writeTo("t").overwrite(F.col("day") == "d")  #> overwrite: unbounded
clauses = df.mergeInto("t", F.expr("t.id = source.id")).whenMatched().updateAll()
clauses.whenNotMatched().insertAll().whenNotMatchedBySource().delete().merge()  #> writes ? to t mode merge; merge: unbounded

# Streams.
stream = spark.readStream.table("s")
stream.writeStream.trigger(availableNow=True).start("out")  #> start: unbounded; stream ? availableNow
stream.writeStream.toTable("t")  #> toTable: unbounded

# RDDs.
rdd.collect(); rdd.collectAsMap(); rdd.collectWithJobGroup("g", "d")  #> collect on rdd; collectAsMap: unbounded; collectWithJobGroup: unbounded
rdd.take(3); rdd.takeOrdered(3); rdd.top(3); rdd.first(); rdd.lookup("k")  #> take: unbounded; takeOrdered: unbounded; top: unbounded; first: unbounded; lookup: unbounded
rdd.reduce(max); rdd.treeReduce(max); rdd.reduceByKeyLocally(max); rdd.countByKey()  #> reduce: unbounded; treeReduce: unbounded; reduceByKeyLocally: unbounded; countByKey: unbounded
rdd.sampleStdev(); rdd.meanApprox(10); rdd.sumApprox(10); rdd.histogram(3)  #> sampleStdev: unbounded; meanApprox: unbounded; sumApprox: unbounded; histogram: unbounded
rdd.saveAsTextFile("out"); rdd.saveAsHadoopDataset({})  #> writes text to out mode ?; saveAsHadoopDataset: unbounded
ordered = rdd.sortByKey()  #> sortByKey: unbounded; sortByKey on rdd; rdd
numbered = rdd.zipWithIndex()  #> zipWithIndex: unbounded; rdd
rdd.getNumPartitions(); rdd.checkpoint(); rdd.reduceByKey(max)  #> no checkpoint: unbounded; no getNumPartitions: unbounded
sc.runJob(rdd, list)  #> runJob: unbounded; runJob on rdd

# Catalogue and models.
df.createOrReplaceTempView("seen")
spark.catalog.analyzeTable("seen")  #> analyzeTable: unbounded
model = LogisticRegression().fit(df)  #> fit: unbounded
models = LogisticRegression().fitMultiple(df, [{}])  #> fitMultiple: unbounded
matrix = Correlation.corr(df, "features")  #> corr: unbounded; matrix: frame small

# pandas on Spark.
psdf = df.pandas_api()
psdf.to_numpy(); psdf.to_dict(); psdf.to_csv()  #> to_numpy: unbounded; to_dict: unbounded; to_csv: unbounded; no writes csv to ? mode overwrite
psdf.to_parquet("out"); psdf.to_table("t")  #> writes parquet to out mode overwrite; writes ? to t mode overwrite
for row in psdf.iterrows():  #> iterrows: unbounded
    print(row)
