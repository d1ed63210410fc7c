//! Which versions of Spark a branch is for.

use smallvec::SmallVec;

use crate::catalog::SparkVersion;
use crate::text::Span;

const FIRST: SparkVersion = SparkVersion::new(0, 0, 0);
const BEYOND: SparkVersion = SparkVersion::new(u8::MAX, u8::MAX, u8::MAX);

/// A set of versions, at most: what a test of the version lets through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versions {
    /// From the first to before the second, in order, none touching another.
    ranges: SmallVec<[(SparkVersion, SparkVersion); 2]>,
}

impl Versions {
    /// All of them: which ones a test lets through isn't told.
    pub fn all() -> Self {
        Self::between(FIRST, BEYOND)
    }

    /// `version >= from`.
    pub fn from(from: SparkVersion) -> Self {
        Self::between(from, BEYOND)
    }

    /// Those of one release line: `3` or `3.4`.
    pub(super) fn of_line(text: &str) -> Option<Self> {
        let parts: Vec<u8> = text.split('.').map(str::parse).collect::<Result<_, _>>().ok()?;
        let (from, below) = match parts[..] {
            [major] => (SparkVersion::new(major, 0, 0), SparkVersion::new(major.checked_add(1)?, 0, 0)),
            [major, minor] => (SparkVersion::new(major, minor, 0), SparkVersion::new(major, minor.checked_add(1)?, 0)),
            [major, minor, patch, ..] => {
                (SparkVersion::new(major, minor, patch), SparkVersion::new(major, minor, patch.checked_add(1)?))
            }
            [] => return None,
        };
        Some(Self::between(from, below))
    }

    fn between(from: SparkVersion, below: SparkVersion) -> Self {
        let mut ranges = SmallVec::new();
        if from < below {
            ranges.push((from, below));
        }
        Self { ranges }
    }

    /// Whether it holds this one.
    pub fn holds(&self, version: SparkVersion) -> bool {
        self.ranges.iter().any(|(from, below)| (*from..*below).contains(&version))
    }

    /// All others.
    pub(super) fn others(&self) -> Self {
        let mut others = SmallVec::new();
        let mut from = FIRST;
        for (start, below) in &self.ranges {
            if from < *start {
                others.push((from, *start));
            }
            from = *below;
        }
        if from < BEYOND {
            others.push((from, BEYOND));
        }
        Self { ranges: others }
    }

    /// Those in both.
    pub fn and(&self, other: &Self) -> Self {
        let mut ranges = SmallVec::new();
        for (from, below) in &self.ranges {
            for (start, end) in &other.ranges {
                let (from, below) = (*from.max(start), *below.min(end));
                if from < below {
                    ranges.push((from, below));
                }
            }
        }
        Self { ranges }
    }

    /// Those in one of them.
    pub(super) fn or(&self, other: &Self) -> Self {
        self.others().and(&other.others()).others()
    }

    /// What a comparison with a version (`3.4`, or `3` of a major one) lets through.
    pub(super) fn compared(operator: &str, with: &str) -> Option<Self> {
        let line = Self::of_line(with)?;
        let (from, below) = *line.ranges.first()?;
        Some(match operator {
            ">=" => Self::from(from),
            "<" => Self::from(from).others(),
            // `> 3.4` of a text or a version lets 3.4.1 through.
            ">" if with.contains('.') => Self::from(from),
            ">" => Self::from(below),
            "<=" => Self::from(below).others(),
            "==" => line,
            "!=" => line.others(),
            _ => return None,
        })
    }
}

/// Code that runs only with some versions of Spark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionBranch {
    /// The statements.
    pub span: Span,
    /// With which versions, at most; [`Versions::all`] where the test doesn't tell.
    pub versions: Versions,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_let_versions_through() {
        let at = |major, minor, patch| SparkVersion::new(major, minor, patch);
        for (operator, with, inside, outside) in [
            (">=", "3.4", at(3, 4, 0), at(3, 3, 9)),
            ("<", "3.0", at(2, 4, 8), at(3, 0, 0)),
            ("==", "3", at(3, 5, 1), at(4, 0, 0)),
            ("!=", "3", at(4, 0, 0), at(3, 1, 0)),
            (">", "2", at(3, 0, 0), at(2, 4, 0)),
            ("<=", "3.3", at(3, 3, 4), at(3, 4, 0)),
        ] {
            let versions = Versions::compared(operator, with).unwrap();
            assert!(versions.holds(inside) && !versions.holds(outside), "{operator} {with}");
            assert!(versions.others().holds(outside) && !versions.others().holds(inside), "not {operator} {with}");
        }
        let either = Versions::of_line("3.1").unwrap().or(&Versions::of_line("3.2").unwrap());
        assert!(either.holds(at(3, 1, 2)) && either.holds(at(3, 2, 0)) && !either.holds(at(3, 3, 0)));
        assert!(Versions::all().holds(at(4, 3, 0)) && !Versions::all().others().holds(at(4, 3, 0)));
    }
}
