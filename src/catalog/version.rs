//! Spark versions.

use std::fmt;
use std::str::FromStr;

/// A released Spark version, e.g. `3.5.9`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SparkVersion {
    /// `3` in `3.5.9`.
    pub major: u8,
    /// `5` in `3.5.9`.
    pub minor: u8,
    /// `9` in `3.5.9`; 0 when only `3.5` is known.
    pub patch: u8,
}

impl SparkVersion {
    /// A version from its parts.
    pub const fn new(major: u8, minor: u8, patch: u8) -> Self {
        Self { major, minor, patch }
    }

    /// Whether this is `major.minor` or newer.
    pub fn at_least(self, major: u8, minor: u8) -> bool {
        (self.major, self.minor) >= (major, minor)
    }
}

impl fmt::Display for SparkVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// The text is no Spark version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no Spark version; write it as 3.5 or 3.5.9")]
pub struct NoVersion(pub String);

impl FromStr for SparkVersion {
    type Err = NoVersion;

    /// Reads `3.5`, `3.5.9`, and vendors' forms such as `3.5.0-amzn-1` or `3.4.1.dev0`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || NoVersion(text.to_owned());
        let mut parts = text.trim().split(['.', '-', '+', '_']);
        let mut number = || parts.next().map(str::parse::<u8>);
        let major = number().and_then(Result::ok).ok_or_else(wrong)?;
        let minor = number().and_then(Result::ok).ok_or_else(wrong)?;
        let patch = number().and_then(Result::ok).unwrap_or(0);
        Ok(Self { major, minor, patch })
    }
}
