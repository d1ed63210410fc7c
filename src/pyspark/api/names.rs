//! Names beside the API that tell what a file works with.

use super::{Class, entry};

/// Whether another library's frame has the method and Spark's has not.
pub(in crate::pyspark) fn is_foreign_frame(method: &str) -> bool {
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
pub(in crate::pyspark) fn is_session_name(method: &str) -> bool {
    entry(Class::SparkSession, method).is_some() || matches!(method, "_jsc" | "_jvm" | "_jsparkSession" | "_sc")
}

/// Packages whose frames look like Spark's and are none.
pub(in crate::pyspark) fn is_foreign_package(path: &str) -> bool {
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
pub(in crate::pyspark) fn is_spark_package(path: &str) -> bool {
    let root = path.split('.').next().unwrap_or_default();
    matches!(root, "pyspark" | "awsglue" | "delta" | "databricks" | "sparknlp" | "graphframes" | "dlt" | "sedona")
        && !path.starts_with("databricks.sdk")
}
