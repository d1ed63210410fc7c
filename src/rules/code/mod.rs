//! Rules on static plans.

mod blocks;
mod caches;
mod evidence;
mod lineage;
mod results;
mod rows;

crate::rules::rules! {
    action_in_loop::ACTION_IN_LOOP,
    broadcast_discarded::BROADCAST_DISCARDED,
    cache_never_released::CACHE_NEVER_RELEASED,
    cache_released_early::CACHE_RELEASED_EARLY,
    cache_used_once::CACHE_USED_ONCE,
    cartesian_join::CARTESIAN_JOIN,
    checkpoint_without_dir::CHECKPOINT_WITHOUT_DIR,
    collect_unbounded::COLLECT_UNBOUNDED,
    collected_list_in_filter::COLLECTED_LIST_IN_FILTER,
    count_as_emptiness_check::COUNT_AS_EMPTINESS_CHECK,
    count_for_logging::COUNT_FOR_LOGGING,
    debug_action::DEBUG_ACTION,
    driver_side_data::DRIVER_SIDE_DATA,
    exact_distinct_count::EXACT_DISTINCT_COUNT,
    nondeterministic_reuse::NONDETERMINISTIC_REUSE,
    pandas_reduction_on_driver::PANDAS_REDUCTION_ON_DRIVER,
    reuse_without_cache::REUSE_WITHOUT_CACHE,
    schema_inference::SCHEMA_INFERENCE,
    single_partition_write::SINGLE_PARTITION_WRITE,
    to_pandas_unbounded::TO_PANDAS_UNBOUNDED,
    with_column_in_loop::WITH_COLUMN_IN_LOOP,
}
