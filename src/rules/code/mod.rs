//! Rules on static plans.

crate::rules::rules! {}
