//! Effective settings in the words of a message.

use super::Evidence;
use crate::conf::{EffectiveConf, Origin};

/// `1g (default of Spark 3.5.9)`, `4g (spark-defaults.conf:12)`; `None` if nobody knows.
pub fn in_force(conf: &EffectiveConf, key: &str) -> Option<String> {
    in_force_in(conf, key, "")
}

/// The same, with the unit that Spark takes for a number written without one: `300s (default of Spark 3.5.9)`.
pub fn in_force_in(conf: &EffectiveConf, key: &str, unit: &str) -> Option<String> {
    let effective = conf.get(key);
    let written = effective.value?;
    let is_bare = written.bytes().all(|byte| byte.is_ascii_digit());
    let value = if is_bare { format!("{written}{unit}") } else { written };
    Some(match effective.origin {
        Some(Origin::Written { path, line, .. }) => {
            let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            format!("{value} ({file}:{line})")
        }
        Some(Origin::Run(label)) => format!("{value} (run {label})"),
        Some(Origin::Default(version)) => format!("{value} (default of Spark {version})"),
        Some(Origin::Launches(_)) | None => value,
    })
}

/// The setting and its value as evidence.
pub fn evidence(conf: &EffectiveConf, key: &str) -> Option<Evidence> {
    let value = in_force(conf, key)?;
    Some(Evidence { name: key.to_owned().into(), value, threshold: None, source: None })
}
