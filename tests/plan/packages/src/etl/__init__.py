from .readers import read_orders
from etl.readers import *
