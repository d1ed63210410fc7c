//! Rules on settings.

crate::rules::rules! {}
