#!/usr/bin/env python3
"""Makes data/pyspark-api.tsv: what each name of PySpark's public API returns, by class.

    python3 data/pyspark-api.py API_JSON > data/pyspark-api.tsv

API_JSON maps class -> name -> {"params", "returns", "since", "property"}, as read from the sources of installed
pyspark packages (3.3, 3.5 and 4.3 were used). Columns of the table: class, name, `property` or `method`, the type
that comes back (one of the classes of TYPES, `list:DataFrame`, or `-` for anything else), and the version that
brought it (`-` if it was always there).
"""
import json
import re
import sys

CLASSES = [
    "Builder", "Catalog", "Column", "DataFrame", "DataFrameNaFunctions", "DataFrameReader", "DataFrameStatFunctions",
    "DataFrameWriter", "DataFrameWriterV2", "DataStreamReader", "DataStreamWriter", "Estimator", "GroupedData",
    "MergeIntoWriter", "RDD", "RuntimeConfig", "SQLContext", "SparkConf", "SparkContext", "SparkSession", "StreamingQuery",
    "StreamingQueryManager", "Transformer", "UDFRegistration", "WhenMatched", "WhenNotMatched", "WhenNotMatchedBySource",
    "Window", "WindowSpec", "functions",
]
# Methods that live in mixins in the sources, under the class that users see.
MIXINS = {
    "PandasConversionMixin": "DataFrame", "PandasMapOpsMixin": "DataFrame", "PandasGroupedOpsMixin": "GroupedData",
    "PandasCogroupedOps": "PandasCogroupedOps",
}
# Second names that the sources assign (`orderBy = sort`): there is no definition to read.
ASSIGNED = {("DataFrame", "orderBy"): "sort"}
TYPES = set(CLASSES) | {"PandasCogroupedOps"}
ALIASES = {
    "ParentDataFrame": "DataFrame", "SparkSession.Builder": "Builder", "PandasDataFrameLike": "pandas", "pa.Table": "arrow",
    "PandasOnSparkDataFrame": "pandas", "RuntimeConf": "RuntimeConfig",
    "MergeIntoWriter.WhenMatched": "WhenMatched", "MergeIntoWriter.WhenNotMatched": "WhenNotMatched",
    "MergeIntoWriter.WhenNotMatchedBySource": "WhenNotMatchedBySource",
}


def returned(annotation):
    name = (annotation or "").replace("'", "").replace('"', "")
    name = ALIASES.get(name, name)
    if name in TYPES or name in ("pandas", "arrow"):
        return name
    if name.startswith("RDD["):
        return "RDD"
    if name in ("List[DataFrame]", "List[RDD[T]]"):
        return "list:" + re.search(r"DataFrame|RDD", name).group(0)
    return "-"


def main():
    api = json.load(open(sys.argv[1], encoding="utf-8"))
    rows = {}
    for source, names in api.items():
        target = MIXINS.get(source, source)
        if target not in TYPES:
            continue
        for name, entry in names.items():
            kind = "property" if entry.get("property") else "method"
            row = (kind, returned(entry["returns"]), entry["since"] or "-")
            # Of a class and its mixin the one that tells the version.
            rows[target, name] = max(rows.get((target, name), row), row, key=lambda row: row[2] != "-")
    for (target, name), first in ASSIGNED.items():
        rows.setdefault((target, name), rows[target, first])
    sys.stdout.writelines("\t".join(key + row) + "\n" for key, row in sorted(rows.items()))


if __name__ == "__main__":
    main()
