//! Where logs are, as people write it, and which of many is meant.

use std::convert::Infallible;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Where a log is, or many: a file or folder, standard input, or an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A file or folder on this machine.
    Path(PathBuf),
    /// Standard input, written `-`.
    Stdin,
    /// `s3://`, `gs://`, `abfs://`, `abfss://`, `http://`, `https://`: an object, a prefix, or a History Server.
    Url(String),
}

impl FromStr for Location {
    type Err = Infallible;

    fn from_str(written: &str) -> Result<Self, Infallible> {
        Ok(match written.split_once("://") {
            _ if written == "-" => Self::Stdin,
            Some(("file", path)) => Self::Path(PathBuf::from(path)),
            Some((scheme, _)) if scheme.len() > 1 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
                Self::Url(written.to_owned())
            }
            _ => Self::Path(PathBuf::from(written)),
        })
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => path.display().fmt(f),
            Self::Stdin => f.write_str("standard input"),
            Self::Url(url) => super::web::shown(url).display().fmt(f),
        }
    }
}

/// Which applications are meant where a location holds many.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Which {
    /// The only one; of many the one that was written to last, and a note says so.
    #[default]
    Newest,
    /// The one with this id or name; its attempt where one is named.
    Named {
        /// Application id or name.
        application: String,
        /// Attempt, e.g. `2`.
        attempt: Option<String>,
    },
    /// All of them.
    All,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_as_written() {
        let of = |written: &str| written.parse::<Location>().unwrap();
        assert_eq!(of("-"), Location::Stdin);
        assert_eq!(of("logs/app-1"), Location::Path("logs/app-1".into()));
        assert_eq!(of("file:///logs/app-1"), Location::Path("/logs/app-1".into()));
        assert_eq!(of("C://logs"), Location::Path("C://logs".into()));
        assert_eq!(of("s3://bucket/logs"), Location::Url("s3://bucket/logs".to_owned()));
    }
}
