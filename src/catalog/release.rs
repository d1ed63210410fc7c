//! The ten Spark releases whose facts are known.

use std::fmt;

use super::SparkVersion;

/// The releases that the facts were read from, oldest first: the last patch of each minor version since 3.0.
pub const VERSIONS: [SparkVersion; 10] = [
    SparkVersion::new(3, 0, 3),
    SparkVersion::new(3, 1, 3),
    SparkVersion::new(3, 2, 4),
    SparkVersion::new(3, 3, 4),
    SparkVersion::new(3, 4, 4),
    SparkVersion::new(3, 5, 9),
    SparkVersion::new(4, 0, 5),
    SparkVersion::new(4, 1, 4),
    SparkVersion::new(4, 2, 1),
    SparkVersion::new(4, 3, 0),
];

/// One of [`VERSIONS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VersionIndex(u8);

impl VersionIndex {
    /// The newest release that is known.
    pub const NEWEST: Self = Self(VERSIONS.len() as u8 - 1);

    /// All of them, oldest first.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> {
        (0..=Self::NEWEST.0).map(Self)
    }

    /// The release.
    pub fn version(self) -> SparkVersion {
        VERSIONS[usize::from(self.0)]
    }

    /// The release that a digit of the table stands for.
    pub(super) fn from_digit(digit: u8) -> Option<Self> {
        let index = char::from(digit).to_digit(36)?;
        u8::try_from(index).ok().filter(|&index| index <= Self::NEWEST.0).map(Self)
    }

    fn minor(self) -> (u8, u8) {
        (self.version().major, self.version().minor)
    }
}

/// The release whose facts hold for `version`: the same minor version, else the newest before it, else the first.
pub fn nearest(version: SparkVersion) -> VersionIndex {
    let minor = (version.major, version.minor);
    VersionIndex::all().rfind(|index| index.minor() <= minor).unwrap_or(VersionIndex(0))
}

impl From<SparkVersion> for VersionIndex {
    fn from(version: SparkVersion) -> Self {
        nearest(version)
    }
}

/// A run of releases, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Releases {
    /// The first.
    pub first: VersionIndex,
    /// The last.
    pub last: VersionIndex,
}

impl Releases {
    /// All that are known.
    pub const ALL: Self = Self { first: VersionIndex(0), last: VersionIndex::NEWEST };

    /// Whether `version` lies in the run.
    pub fn contains(self, version: VersionIndex) -> bool {
        self.first <= version && version <= self.last
    }
}

/// `3.0-3.5`, or `4.3` for a single release.
impl fmt::Display for Releases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = (self.first.minor(), self.last.minor());
        write!(f, "{}.{}", first.0, first.1)?;
        if first == last { Ok(()) } else { write!(f, "-{}.{}", last.0, last.1) }
    }
}

/// A fact by runs of releases, oldest first.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Runs<T>(pub(super) Vec<(Releases, T)>);

impl<T> Default for Runs<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Runs<T> {
    /// The fact in this release.
    pub(super) fn exactly(&self, version: VersionIndex) -> Option<&T> {
        self.0.iter().find(|(releases, _)| releases.contains(version)).map(|(_, fact)| fact)
    }

    /// The fact in this release, else in the newest before it, else the first there is.
    pub(super) fn around(&self, version: VersionIndex) -> Option<&T> {
        let before = self.0.iter().rfind(|(releases, _)| releases.first <= version);
        before.or(self.0.first()).map(|(_, fact)| fact)
    }
}
