import etl
import etl.steps.clean
from etl import read_small
from etl.steps import clean
from missing.module import something
from helpers import rows

etl.read_orders(spark).collect()  #> collect: unbounded
etl.around(spark).collect()  #> collect: unbounded
read_small(spark).collect()  #> collect: exactly 4
clean.cleaned(spark).collect()  #> collect: by-groups
etl.steps.clean.cleaned(spark).collect()  #> collect: by-groups
something(spark).collect()  #> silent
rows(spark.table("t")).collect()  #> collect: unbounded
