//! Rules on static plans.

mod blocks;
mod evidence;
mod lineage;
mod rows;
mod sides;

crate::rules::rules! {
    action_in_loop::ACTION_IN_LOOP,
    broadcast_discarded::BROADCAST_DISCARDED,
    broadcast_missing::BROADCAST_MISSING,
    broadcast_wrong_side::BROADCAST_WRONG_SIDE,
    cartesian_join::CARTESIAN_JOIN,
    collect_list_unbounded::COLLECT_LIST_UNBOUNDED,
    collect_unbounded::COLLECT_UNBOUNDED,
    drop_duplicates_all_columns::DROP_DUPLICATES_ALL_COLUMNS,
    jdbc_single_partition::JDBC_SINGLE_PARTITION,
    implicit_join_type::IMPLICIT_JOIN_TYPE,
    join_for_existence::JOIN_FOR_EXISTENCE,
    join_key_expression::JOIN_KEY_EXPRESSION,
    join_without_equality::JOIN_WITHOUT_EQUALITY,
    merge_schema::MERGE_SCHEMA,
    order_dependent_first::ORDER_DEPENDENT_FIRST,
    partition_filter_function::PARTITION_FILTER_FUNCTION,
    reuse_without_cache::REUSE_WITHOUT_CACHE,
    schema_inference::SCHEMA_INFERENCE,
    self_join_for_latest::SELF_JOIN_FOR_LATEST,
    single_partition_write::SINGLE_PARTITION_WRITE,
    skew_prone_key::SKEW_PRONE_KEY,
    source_read_twice::SOURCE_READ_TWICE,
    to_pandas_unbounded::TO_PANDAS_UNBOUNDED,
    unsplittable_source::UNSPLITTABLE_SOURCE,
    window_default_frame::WINDOW_DEFAULT_FRAME,
    window_without_partition::WINDOW_WITHOUT_PARTITION,
    with_column_in_loop::WITH_COLUMN_IN_LOOP,
}
