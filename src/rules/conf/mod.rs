//! Rules on settings.

pub mod blocks;
mod support;
mod written;

crate::rules::rules! {
    advisory_size_vs_skew_threshold::ADVISORY_SIZE_VS_SKEW_THRESHOLD,
    aqe_disabled::AQE_DISABLED,
    broadcast_threshold::BROADCAST_THRESHOLD,
    conflicting_flag::CONFLICTING_FLAG,
    duplicate_key::DUPLICATE_KEY,
    dynamic_allocation_incomplete::DYNAMIC_ALLOCATION_INCOMPLETE,
    event_log_disabled::EVENT_LOG_DISABLED,
    executor_sizing::EXECUTOR_SIZING,
    invalid_combination::INVALID_COMBINATION,
    invalid_value::INVALID_VALUE,
    jvm_flag::JVM_FLAG,
    legacy_setting::LEGACY_SETTING,
    max_result_size::MAX_RESULT_SIZE,
    memory_fraction::MEMORY_FRACTION,
    memory_reflex::MEMORY_REFLEX,
    misplaced_conf_argument::MISPLACED_CONF_ARGUMENT,
    misread_line::MISREAD_LINE,
    output_committer::OUTPUT_COMMITTER,
    overridden_setting::OVERRIDDEN_SETTING,
    partition_coalescing::PARTITION_COALESCING,
    restates_default::RESTATES_DEFAULT,
    retired_key::RETIRED_KEY,
    setting_too_late::SETTING_TOO_LATE,
    setting_without_effect::SETTING_WITHOUT_EFFECT,
    skew_join_thresholds::SKEW_JOIN_THRESHOLDS,
    speculation_disabled::SPECULATION_DISABLED,
    speculation_with_side_effects::SPECULATION_WITH_SIDE_EFFECTS,
    static_shuffle_partitions::STATIC_SHUFFLE_PARTITIONS,
    unknown_key::UNKNOWN_KEY,
    unpinned_spark_version::UNPINNED_SPARK_VERSION,
    unused_suppression::UNUSED_SUPPRESSION,
}

pub(crate) use unused_suppression::UNUSED_SUPPRESSION;
