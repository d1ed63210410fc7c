#! spark
from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from awsglue.transforms import *
from pyspark.context import SparkContext

glueContext = GlueContext(SparkContext.getOrCreate())
spark = glueContext.spark_session
orders = glueContext.create_dynamic_frame.from_catalog(database="shop", table_name="orders")  #> table shop.orders
orders.toDF().collect()  #> collect: unbounded
shops = glueContext.create_dynamic_frame.from_options(  #> read json s3://b/shops schema
    connection_type="s3", connection_options={"paths": ["s3://b/shops"]}, format="json"
)
both = Join.apply(orders, shops, "shop", "shop")  #> join inner using [shop]
named = ApplyMapping.apply(frame=both, mappings=[("a", "int", "b", "int")])  #> project
df = named.toDF().limit(3)  #> df: frame exactly 3
few = DynamicFrame.fromDF(df, glueContext, "few")
few.count()  #> count: exactly 3
glueContext.write_dynamic_frame.from_options(frame=few, connection_type="s3", format="parquet")  #> from_options: exactly 3
glueContext.create_data_frame_from_catalog("shop", "orders").collect()  #> table shop.orders; collect: unbounded
