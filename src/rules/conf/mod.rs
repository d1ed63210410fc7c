//! Rules on settings.

pub mod blocks;
mod support;

crate::rules::rules! {
    aqe_disabled::AQE_DISABLED,
    broadcast_threshold::BROADCAST_THRESHOLD,
    duplicate_key::DUPLICATE_KEY,
    invalid_value::INVALID_VALUE,
    misread_line::MISREAD_LINE,
    retired_key::RETIRED_KEY,
    skew_join_thresholds::SKEW_JOIN_THRESHOLDS,
    speculation_disabled::SPECULATION_DISABLED,
    static_shuffle_partitions::STATIC_SHUFFLE_PARTITIONS,
    unknown_key::UNKNOWN_KEY,
}
