//! PySpark's API as a table: what each name of each class returns, and which names tell a session or a frame apart.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use crate::catalog::SparkVersion;

/// What comes back from a name of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    /// A class of the table, `list:DataFrame`, `pandas`, `arrow`, or `-`.
    pub(super) returns: &'static str,
    pub(super) is_property: bool,
    /// The version that brought it, `-` if it was always there.
    pub(super) since: &'static str,
}

type Table = FxHashMap<(&'static str, &'static str), Entry>;

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| include_str!("../../data/pyspark-api.tsv").lines().filter_map(row).collect())
}

fn row(line: &'static str) -> Option<((&'static str, &'static str), Entry)> {
    let mut cells = line.split('\t');
    let key = (cells.next()?, cells.next()?);
    let is_property = cells.next()? == "property";
    Some((key, Entry { is_property, returns: cells.next()?, since: cells.next()? }))
}

/// A name of a class of PySpark.
pub(super) fn entry(class: &str, name: &str) -> Option<Entry> {
    let table: &FxHashMap<(&str, &str), Entry> = table();
    table.get(&(class, name)).copied()
}

/// The Spark version that brought a name of a class of PySpark (`"DataFrame", "isEmpty"`; functions are in the class
/// `functions`); `None` if it was always there or is not in the API.
pub fn since(class: &str, name: &str) -> Option<SparkVersion> {
    entry(class, name)?.since.parse().ok()
}

/// The names of `pyspark.sql.functions`.
pub(super) fn functions() -> &'static [&'static str] {
    static NAMES: OnceLock<Vec<&'static str>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let mut names: Vec<_> =
            table().keys().filter(|(class, _)| *class == "functions").map(|(_, name)| *name).collect();
        names.sort_unstable();
        names
    })
}

/// A class of PySpark by its name, with the name's static life.
pub(super) fn class(name: &str) -> Option<&'static str> {
    match name {
        "DatabricksSession" => Some("SparkSession"),
        "HiveContext" | "SQLContext" => Some("SQLContext"),
        "GlueContext" => Some("GlueContext"),
        "RuntimeConf" => Some("RuntimeConfig"),
        "StorageLevel" => None,
        _ => CLASSES.iter().copied().find(|known| *known == name),
    }
}

const CLASSES: &[&str] = &[
    "Column",
    "DataFrame",
    "DataFrameReader",
    "DataFrameWriter",
    "DataFrameWriterV2",
    "DataStreamReader",
    "DataStreamWriter",
    "GroupedData",
    "RDD",
    "SparkSession",
    "SparkContext",
    "SparkConf",
    "RuntimeConfig",
    "Catalog",
    "Builder",
    "SQLContext",
    "Window",
    "WindowSpec",
    "StreamingQuery",
    "UDFRegistration",
    "DataFrameNaFunctions",
    "DataFrameStatFunctions",
    "PandasCogroupedOps",
    "functions",
];

/// Whether only a DataFrame of Spark (and none of pandas, polars or a list) has the method.
pub(super) fn is_frame_only(method: &str) -> bool {
    matches!(
        method,
        "withColumn"
            | "withColumns"
            | "withColumnRenamed"
            | "withColumnsRenamed"
            | "withWatermark"
            | "groupBy"
            | "toPandas"
            | "dropDuplicates"
            | "unionByName"
            | "unionAll"
            | "orderBy"
            | "selectExpr"
            | "createOrReplaceTempView"
            | "createTempView"
            | "createOrReplaceGlobalTempView"
            | "writeStream"
            | "writeTo"
            | "repartition"
            | "repartitionByRange"
            | "coalesce"
            | "sortWithinPartitions"
            | "crossJoin"
            | "printSchema"
            | "toLocalIterator"
            | "randomSplit"
            | "localCheckpoint"
            | "mapInPandas"
            | "exceptAll"
            | "intersectAll"
            | "persist"
            | "unpersist"
            | "sampleBy"
            | "foreachPartition"
            | "write"
            | "rdd"
            | "cache"
    )
}

/// Whether a name alone shows a DataFrame of Spark in a file of Spark.
pub(super) fn is_distinctive(method: &str) -> bool {
    matches!(
        method,
        "withColumn"
            | "withColumnRenamed"
            | "createOrReplaceTempView"
            | "unionByName"
            | "toPandas"
            | "selectExpr"
            | "groupBy"
    )
}

/// Whether another library's frame has the method and Spark's has not.
pub(super) fn is_foreign_frame(method: &str) -> bool {
    matches!(
        method,
        "iloc"
            | "loc"
            | "iat"
            | "at"
            | "values"
            | "apply"
            | "applymap"
            | "merge"
            | "sort_values"
            | "reset_index"
            | "set_index"
            | "iterrows"
            | "itertuples"
            | "to_csv"
            | "to_parquet"
            | "to_dict"
            | "astype"
            | "nunique"
            | "value_counts"
            | "notna"
            | "isna"
            | "assign"
            | "query"
            | "with_columns"
            | "group_by"
            | "lazy"
            | "with_column"
            | "compute"
            | "to_numpy"
            | "to_sql"
            | "unique"
            | "pivot_table"
            | "concat"
            | "plot"
            | "shape"
            | "rename"
            | "index"
            | "empty"
            | "objects"
            | "append"
    )
}

/// Whether a call of this name on `spark` shows that it is a session.
pub(super) fn is_session_name(method: &str) -> bool {
    entry("SparkSession", method).is_some() || matches!(method, "_jsc" | "_jvm" | "_jsparkSession" | "_sc")
}

/// Aggregate functions of `pyspark.sql.functions` (lower case, without `_`): many rows become one.
pub(super) fn is_aggregate(function: &str) -> bool {
    let folded: String =
        function.chars().filter(|letter| *letter != '_').map(|letter| letter.to_ascii_lowercase()).collect();
    matches!(
        folded.as_str(),
        "anyvalue"
            | "approxcountdistinct"
            | "approxpercentile"
            | "arrayagg"
            | "avg"
            | "bitand"
            | "bitor"
            | "bitxor"
            | "booland"
            | "boolor"
            | "collectlist"
            | "collectset"
            | "corr"
            | "count"
            | "countdistinct"
            | "countif"
            | "countminsketch"
            | "covarpop"
            | "covarsamp"
            | "every"
            | "first"
            | "firstvalue"
            | "grouping"
            | "groupingid"
            | "histogramnumeric"
            | "kurtosis"
            | "last"
            | "lastvalue"
            | "listagg"
            | "max"
            | "maxby"
            | "mean"
            | "median"
            | "min"
            | "minby"
            | "mode"
            | "percentile"
            | "percentileapprox"
            | "product"
            | "regravgx"
            | "regravgy"
            | "regrcount"
            | "regrintercept"
            | "regrr2"
            | "regrslope"
            | "regrsxx"
            | "regrsxy"
            | "regrsyy"
            | "skewness"
            | "some"
            | "std"
            | "stddev"
            | "stddevpop"
            | "stddevsamp"
            | "stringagg"
            | "sum"
            | "sumdistinct"
            | "tryavg"
            | "trysum"
            | "varpop"
            | "varsamp"
            | "variance"
            | "bitmapconstructagg"
            | "bitmaporagg"
            | "hllsketchagg"
            | "hllunionagg"
    )
}

/// Functions that make several rows of one.
pub(super) fn is_generator(function: &str) -> bool {
    matches!(
        function,
        "explode"
            | "explode_outer"
            | "posexplode"
            | "posexplode_outer"
            | "inline"
            | "inline_outer"
            | "stack"
            | "json_tuple"
            | "flatten_rows"
    )
}

/// Packages whose frames look like Spark's and are none.
pub(super) fn is_foreign_package(path: &str) -> bool {
    let root = path.split('.').next().unwrap_or_default();
    path.starts_with("pyspark.pandas")
        || matches!(
            root,
            "pandas"
                | "polars"
                | "dask"
                | "ibis"
                | "snowflake"
                | "numpy"
                | "django"
                | "modin"
                | "cudf"
                | "vaex"
                | "duckdb"
                | "pyarrow"
                | "os"
                | "sys"
                | "re"
                | "json"
                | "geopandas"
                | "sqlalchemy"
                | "xarray"
                | "databricks_koalas"
        )
        || path.starts_with("databricks.koalas")
}

/// Packages that a file of Spark imports.
pub(super) fn is_spark_package(path: &str) -> bool {
    let root = path.split('.').next().unwrap_or_default();
    matches!(root, "pyspark" | "awsglue" | "delta" | "databricks" | "sparknlp" | "graphframes" | "dlt" | "sedona")
        && !path.starts_with("databricks.sdk")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_knows_the_api() {
        assert_eq!(entry("DataFrame", "withColumn").map(|entry| entry.returns), Some("DataFrame"));
        assert_eq!(entry("SparkSession", "read").map(|entry| entry.is_property), Some(true));
        assert_eq!(since("DataFrame", "isEmpty"), Some(SparkVersion::new(3, 3, 0)));
        assert_eq!(since("DataFrame", "collect"), Some(SparkVersion::new(1, 3, 0)));
        assert_eq!(entry("DataFrame", "iloc"), None);
        assert!(table().len() > 1000);
    }
}
