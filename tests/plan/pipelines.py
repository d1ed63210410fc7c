import dlt
from pyspark import pipelines as dp
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.classification import LogisticRegression
from pyspark.ml.evaluation import BinaryClassificationEvaluator
from pyspark.ml.feature import StandardScaler, VectorAssembler
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import StandardScaler as Scaler
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
train = spark.table("train")
assembler = VectorAssembler(inputCols=["a"], outputCol="features").setHandleInvalid("skip")
pipeline = Pipeline(stages=[assembler, LogisticRegression()])
model = pipeline.fit(train)  #> fit: unbounded
scored = model.transform(train.limit(3))  #> other transform; scored: frame exactly 3
BinaryClassificationEvaluator().evaluate(scored)  #> evaluate: exactly 3
PipelineModel.load("m").transform(train).collect()  #> collect: unbounded
StandardScaler().setInputCol("a").fit(train).transform(train)  #> fit: unbounded
LinearRegression().fit(train)  #> silent
Scaler().fit(train).transform(train).collect()  #> silent


@dlt.table(name="orders")
@dlt.expect_or_drop("known", "id is not null")
def orders():
    return dlt.read("raw").limit(4)  #> table raw; limit(4)


@dp.materialized_view
def daily():
    return spark.read.table("orders")  #> table orders


orders().collect()  #> collect: exactly 4
dlt.read_stream("events").writeStream.start()  #> read ? events schema stream
display(train)  #> display: unbounded
