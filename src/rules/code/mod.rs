//! Rules on static plans.

mod blocks;
mod evidence;
mod lineage;
mod python;
mod rows;

crate::rules::rules! {
    action_in_loop::ACTION_IN_LOOP,
    broadcast_discarded::BROADCAST_DISCARDED,
    cartesian_join::CARTESIAN_JOIN,
    collect_unbounded::COLLECT_UNBOUNDED,
    python_udf::PYTHON_UDF,
    reuse_without_cache::REUSE_WITHOUT_CACHE,
    schema_inference::SCHEMA_INFERENCE,
    single_partition_write::SINGLE_PARTITION_WRITE,
    to_pandas_unbounded::TO_PANDAS_UNBOUNDED,
    udf_for_builtin::UDF_FOR_BUILTIN,
    udf_in_filter::UDF_IN_FILTER,
    udf_large_closure::UDF_LARGE_CLOSURE,
    udf_reevaluated::UDF_REEVALUATED,
    udf_setup_per_row::UDF_SETUP_PER_ROW,
    with_column_in_loop::WITH_COLUMN_IN_LOOP,
}
