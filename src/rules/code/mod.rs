//! Rules on static plans.

mod blocks;
mod evidence;
mod lineage;
mod python;
mod rows;
mod sides;

crate::rules::rules! {
    action_in_loop::ACTION_IN_LOOP,
    broadcast_discarded::BROADCAST_DISCARDED,
    broadcast_missing::BROADCAST_MISSING,
    broadcast_wrong_side::BROADCAST_WRONG_SIDE,
    cartesian_join::CARTESIAN_JOIN,
    checkpoint_location::CHECKPOINT_LOCATION,
    collect_list_unbounded::COLLECT_LIST_UNBOUNDED,
    collect_unbounded::COLLECT_UNBOUNDED,
    column_in_boolean_context::COLUMN_IN_BOOLEAN_CONTEXT,
    dataframe_to_rdd::DATAFRAME_TO_RDD,
    drop_duplicates_all_columns::DROP_DUPLICATES_ALL_COLUMNS,
    foreach_batch_not_idempotent::FOREACH_BATCH_NOT_IDEMPOTENT,
    foreach_batch_without_persist::FOREACH_BATCH_WITHOUT_PERSIST,
    group_by_key::GROUP_BY_KEY,
    implicit_join_type::IMPLICIT_JOIN_TYPE,
    jdbc_single_partition::JDBC_SINGLE_PARTITION,
    join_for_existence::JOIN_FOR_EXISTENCE,
    join_key_expression::JOIN_KEY_EXPRESSION,
    join_without_equality::JOIN_WITHOUT_EQUALITY,
    merge_schema::MERGE_SCHEMA,
    missing_watermark::MISSING_WATERMARK,
    order_dependent_first::ORDER_DEPENDENT_FIRST,
    partition_filter_function::PARTITION_FILTER_FUNCTION,
    python_udf::PYTHON_UDF,
    reuse_without_cache::REUSE_WITHOUT_CACHE,
    schema_inference::SCHEMA_INFERENCE,
    secret_in_code::SECRET_IN_CODE,
    self_join_for_latest::SELF_JOIN_FOR_LATEST,
    shadowed_builtin::SHADOWED_BUILTIN,
    silent_data_loss::SILENT_DATA_LOSS,
    single_partition_write::SINGLE_PARTITION_WRITE,
    skew_prone_key::SKEW_PRONE_KEY,
    source_read_twice::SOURCE_READ_TWICE,
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
    unsplittable_source::UNSPLITTABLE_SOURCE,
    window_default_frame::WINDOW_DEFAULT_FRAME,
    window_without_partition::WINDOW_WITHOUT_PARTITION,
    with_column_in_loop::WITH_COLUMN_IN_LOOP,
}
