import json
import re
from datetime import datetime
from pyspark.sql import SparkSession, functions as F
from pyspark.sql.types import IntegerType, StringType

spark = SparkSession.builder.getOrCreate()

# Texts.
f = F.udf(lambda s: s.strip().title(), StringType())  #> builtin F.initcap(F.trim({0}))
f = F.udf(lambda s: s.split("@")[1], StringType())  #> builtin F.split({0}, "@")[1]
f = F.udf(lambda s: s.split(".")[-1], StringType())  #> builtin F.element_at(F.split({0}, "[.]"), -1)
f = F.udf(lambda s: len(s), IntegerType())  #> builtin F.length({0})
f = F.udf(lambda s: s.replace("-", ""))  #> builtin F.regexp_replace({0}, "-", "")
f = F.udf(lambda s: s[:3])  #> builtin F.substring({0}, 1, 3)
f = F.udf(lambda s: s[2:5])  #> builtin F.substring({0}, 3, 3)
f = F.udf(lambda s: s[-4:])  #> builtin F.substring({0}, -4, 4)
f = F.udf(lambda a, b: a + "-" + b)  #> builtin F.concat(F.concat({0}, F.lit("-")), {1})
f = F.udf(lambda a, b: f"{a}/{b}")  #> builtin F.concat({0}, F.lit("/"), {1})
f = F.udf(lambda a: f"{a:.2f}")  #> no builtin
f = F.udf(lambda s: "spark" in s, "boolean")  #> builtin {0}.contains("spark")
f = F.udf(lambda s: s in ("a", "b"), "boolean")  #> builtin {0}.isin("a", "b")
f = F.udf(lambda s: s.startswith("http"), "boolean")  #> builtin {0}.startswith("http")
f = F.udf(lambda s: s.rsplit("/", 1)[0])  #> no builtin
f = F.udf(lambda s: s)  #> no builtin
f = F.udf(lambda s: lookup[s])  #> no builtin

# Numbers.
f = F.udf(lambda x: x * 100 / 7, "double")  #> builtin ({0} * 100) / 7
f = F.udf(lambda x: x + 1, "int")  #> builtin {0} + 1
f = F.udf(lambda a, b: a + b, IntegerType())  #> builtin {0} + {1}
f = F.udf(lambda a, b: a + b)  #> no builtin
f = F.udf(lambda x: int(x), "int")  #> builtin {0}.cast("long")
f = F.udf(lambda x: str(x))  #> builtin {0}.cast("string")
f = F.udf(lambda x: round(x, 2), "double")  #> builtin F.bround({0}, 2)

# Nothing, and branches.
f = F.udf(lambda s: s.lower() if s else None)  #> builtin F.lower({0})
f = F.udf(lambda s: s is None, "boolean")  #> builtin {0}.isNull()
f = F.udf(lambda x: "high" if x > 10 else "low")  #> builtin F.when({0} > 10, "high").otherwise("low")
f = F.udf(lambda x: 0 < x <= 9 and x != 5, "boolean")  #> builtin ((0 < {0}) & ({0} <= 9)) & ({0} != 5)


@F.udf("string")  #> builtin F.when({0} < 18, "minor").when({0} < 65, "adult").otherwise("senior")
def band(age):
    """The band of an age."""
    if age < 18:
        return "minor"
    elif age < 65:
        return "adult"
    return "senior"


@F.udf("string")  #> builtin F.lower(F.trim({0}))
def clean(s):
    if s is None:
        return None
    short = s.strip()
    return short.lower()


@F.udf("string")  #> no builtin
def looped(s):
    for part in s:
        s = part
    return s


# JSON, times, regular expressions.
f = F.udf(lambda s: json.loads(s)["user"]["id"])  #> builtin F.get_json_object({0}, "$.user.id")
f = F.udf(lambda s: datetime.strptime(s, "%Y-%m-%d"), "timestamp")  #> builtin F.to_timestamp({0}, "yyyy-MM-dd")
f = F.udf(lambda s: re.sub(r"\d{3}", "", s))  #> builtin F.regexp_replace({0}, r"\d{{3}}", "")
f = F.udf(lambda s: re.sub(r"(?P<x>a)", "", s))  #> no builtin
f = F.udf(lambda s: re.search("id=([0-9]+)", s).group(1))  #> builtin F.regexp_extract({0}, "id=([0-9]+)", 1)


@F.udf("double")  #> no builtin
def scaled(vector: DenseVector, by: float):
    return vector * by
