//! Rules on static plans.

mod blocks;
mod evidence;
mod lineage;
mod rows;
mod shape;

crate::rules::rules! {
    action_in_loop::ACTION_IN_LOOP,
    append_on_rerun::APPEND_ON_RERUN,
    broadcast_discarded::BROADCAST_DISCARDED,
    cartesian_join::CARTESIAN_JOIN,
    coalesce_after_shuffle::COALESCE_AFTER_SHUFFLE,
    collect_unbounded::COLLECT_UNBOUNDED,
    drop_before_write::DROP_BEFORE_WRITE,
    explode_then_regroup::EXPLODE_THEN_REGROUP,
    implicit_write_mode::IMPLICIT_WRITE_MODE,
    join_in_loop::JOIN_IN_LOOP,
    literal_partition_count::LITERAL_PARTITION_COUNT,
    lost_sort::LOST_SORT,
    partition_by_high_cardinality::PARTITION_BY_HIGH_CARDINALITY,
    partitioned_write_small_files::PARTITIONED_WRITE_SMALL_FILES,
    pivot_without_values::PIVOT_WITHOUT_VALUES,
    redundant_repartition::REDUNDANT_REPARTITION,
    reuse_without_cache::REUSE_WITHOUT_CACHE,
    schema_inference::SCHEMA_INFERENCE,
    select_star::SELECT_STAR,
    single_partition_write::SINGLE_PARTITION_WRITE,
    static_partition_overwrite::STATIC_PARTITION_OVERWRITE,
    to_pandas_unbounded::TO_PANDAS_UNBOUNDED,
    union_in_loop::UNION_IN_LOOP,
    with_column_chain::WITH_COLUMN_CHAIN,
    with_column_in_loop::WITH_COLUMN_IN_LOOP,
}
