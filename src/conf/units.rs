//! Sizes and durations with the units that people read.

use std::fmt;

/// A size in bytes; shown as `64 MiB`, `1.5 GiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub i64);

/// A duration in milliseconds; shown as `250 ms`, `3 s`, `1.5 min`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Millis(pub i64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(&str, f64); 6] = [
            ("PiB", (1u64 << 50) as f64),
            ("TiB", (1u64 << 40) as f64),
            ("GiB", (1u64 << 30) as f64),
            ("MiB", (1u64 << 20) as f64),
            ("KiB", (1u64 << 10) as f64),
            ("B", 1.0),
        ];
        show(f, self.0, &UNITS)
    }
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(&str, f64); 4] = [("h", 3_600_000.0), ("min", 60_000.0), ("s", 1_000.0), ("ms", 1.0)];
        show(f, self.0, &UNITS)
    }
}

/// The amount in the largest unit that it has one of, with one decimal where it isn't whole.
fn show(f: &mut fmt::Formatter<'_>, amount: i64, units: &[(&str, f64)]) -> fmt::Result {
    let amount = amount as f64;
    let fits = units.iter().find(|(_, size)| amount.abs() >= *size).or(units.last());
    let Some((name, size)) = fits else { return Ok(()) };
    let shown = format!("{:.1}", amount / size);
    write!(f, "{} {name}", shown.strip_suffix(".0").unwrap_or(&shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_shown_in_the_largest_unit_that_fits() {
        for (bytes, shown) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (64 << 20, "64 MiB"),
            (3 << 29, "1.5 GiB"),
            (-1, "-1 B"),
            (i64::MAX, "8192 PiB"),
        ] {
            assert_eq!(Bytes(bytes).to_string(), shown);
        }
        for (millis, shown) in [(0, "0 ms"), (250, "250 ms"), (3_000, "3 s"), (90_000, "1.5 min"), (9_000_000, "2.5 h")]
        {
            assert_eq!(Millis(millis).to_string(), shown);
        }
    }
}
