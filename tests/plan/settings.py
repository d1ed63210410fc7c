#! builds session; app x
from pyspark import SparkConf
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
spark.conf.set("spark.sql.shuffle.partitions", 400)  #> setting spark.sql.shuffle.partitions=400 runtime
SparkSession.builder.config(map={"spark.executor.memory": "8g"})  #> setting spark.executor.memory=8g builder
KEY = "spark.sql.adaptive.enabled"; spark.conf.set(KEY, False)  #> setting spark.sql.adaptive.enabled=false runtime
conf = SparkConf().setAll([("spark.speculation", "true"), ("spark.task.cpus", 2)])  #> setting spark.speculation=true conf; setting spark.task.cpus=2 conf
conf.setAppName("x").setIfMissing("spark.a", "b")  #> setting spark.app.name=x conf; setting spark.a=b conf
conf.set("spark.c", None)  #> setting spark.c=None conf
builder = SparkSession.builder
opts = {"spark.driver.memory": "4g"}  #> setting spark.driver.memory=4g builder
for k, v in opts.items(): builder = builder.config(k, v)
more = [("spark.d", "1"), ("spark.e", "2")]  #> setting spark.d=1 conf; setting spark.e=2 conf
for k, v in more:
    conf.set(k, v)
spark.conf.set(f"spark.sql.catalog.{name}.type", "hive")  #> setting spark.sql.catalog.*=hive runtime
spark.conf.set("spark.f", f"{n}g")  #> setting spark.f=template runtime
spark.conf.set("spark.g", n)  #> setting spark.g=? runtime
spark.conf.set("spark.h")  #> setting spark.h=? runtime
spark.conf.set(key="spark.i", value='''1''')  #> setting spark.i=1 runtime
spark.conf.set("spark." "j", "1")  #> setting spark.j=1 runtime
spark.conf.set(
    r"spark.k",  #> setting spark.k=template runtime
    "${X}",
)
spark.sql("SET spark.sql.ansi.enabled = false")  #> setting spark.sql.ansi.enabled=false sql
spark._jsc.hadoopConfiguration().set("fs.s3a.endpoint", "x")  #> silent
spark.conf.get("spark.x")  #> silent
SparkSession.builder.config(conf=conf).getOrCreate()  #> silent
def configure(builder, options={"spark.l": "1"}):  #> setting spark.l=1 job
    for key, value in options.items():
        builder.config(key, value)
unused = {"spark.m": "1", "note": "x"}  #> setting spark.m=1 job
used = {"spark.n": "1"}  #> setting spark.n=1 conf
used["spark.o"] = "2"  #> setting spark.o=2 conf
SparkConf().setAll(used.items())
SparkSession.builder.config(map={**used, "spark.p": "3"})  #> setting spark.p=3 builder
assert dict(conf.getAll()) == {"spark.q": "1"}  #> silent
{"spark.r": 1}.get(spark.conf.get("spark.s"))  #> silent
