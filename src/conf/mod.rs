//! Settings: where they are written, what Spark makes of their values, and which one wins.

pub mod carriers;
mod effective;
pub mod properties;
mod setting;
mod template;
mod units;
pub mod upgrade;
pub mod value;

pub use effective::{Effective, EffectiveConf, Layer, Origin, Start};
pub use setting::{Carrier, Setting, Value};
pub use units::{Bytes, Millis};
