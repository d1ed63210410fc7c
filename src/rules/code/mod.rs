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
    checkpoint_location::CHECKPOINT_LOCATION,
    collect_unbounded::COLLECT_UNBOUNDED,
    column_in_boolean_context::COLUMN_IN_BOOLEAN_CONTEXT,
    dataframe_to_rdd::DATAFRAME_TO_RDD,
    foreach_batch_not_idempotent::FOREACH_BATCH_NOT_IDEMPOTENT,
    foreach_batch_without_persist::FOREACH_BATCH_WITHOUT_PERSIST,
    group_by_key::GROUP_BY_KEY,
    missing_watermark::MISSING_WATERMARK,
    python_udf::PYTHON_UDF,
    reuse_without_cache::REUSE_WITHOUT_CACHE,
    schema_inference::SCHEMA_INFERENCE,
    secret_in_code::SECRET_IN_CODE,
    shadowed_builtin::SHADOWED_BUILTIN,
    silent_data_loss::SILENT_DATA_LOSS,
    single_partition_write::SINGLE_PARTITION_WRITE,
    sql_string_interpolation::SQL_STRING_INTERPOLATION,
    to_pandas_unbounded::TO_PANDAS_UNBOUNDED,
    trigger_small_files::TRIGGER_SMALL_FILES,
    udf_for_builtin::UDF_FOR_BUILTIN,
    udf_in_filter::UDF_IN_FILTER,
    udf_large_closure::UDF_LARGE_CLOSURE,
    udf_reevaluated::UDF_REEVALUATED,
    udf_setup_per_row::UDF_SETUP_PER_ROW,
    unbounded_first_batch::UNBOUNDED_FIRST_BATCH,
    union_by_position::UNION_BY_POSITION,
    with_column_in_loop::WITH_COLUMN_IN_LOOP,
}
