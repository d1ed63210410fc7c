//! The parsers of Spark's configuration, one function each.

use super::{Reason, Refusal};
use crate::catalog::{ByteUnit, TimeUnit, VersionIndex};

const SIZE_UNITS: &str = "b, k, m, g, t or p";
const TIME_UNITS: &str = "us, ms, s, m (or min), h or d";

/// What Java's `trim` cuts off: everything up to the blank, but no other white space.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(|c| c <= ' ')
}

/// `true` or `false` in any case.
pub fn boolean(text: &str) -> Result<bool, Refusal> {
    if text.eq_ignore_ascii_case("true") {
        Ok(true)
    } else if text.eq_ignore_ascii_case("false") {
        Ok(false)
    } else {
        Err(empty(text).unwrap_or_else(|| {
            Refusal::new(Reason::NotBoolean, format!("`{text}` is no boolean; Spark reads only true and false."))
        }))
    }
}

/// A whole number between two bounds: digits, and a sign before them.
pub fn integer(text: &str, min: i64, max: i64) -> Result<i64, Refusal> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(empty(text).unwrap_or_else(|| {
            Refusal::new(Reason::NotInteger, format!("`{text}` is no whole number; Spark reads digits only."))
        }));
    }
    match text.parse() {
        Ok(number) if (min..=max).contains(&number) => Ok(number),
        _ => Err(Refusal::new(Reason::TooBig, format!("`{text}` is too big for a number of this setting's type."))),
    }
}

/// A floating point number as Java reads it: `0.6`, `.6`, `6e-1`, `1d`, `NaN`.
pub fn double(text: &str) -> Result<f64, Refusal> {
    let trimmed = trim(text);
    let unsigned = trimmed.strip_prefix(['-', '+']).unwrap_or(trimmed);
    match unsigned {
        "NaN" => return Ok(f64::NAN),
        "Infinity" if trimmed.starts_with('-') => return Ok(f64::NEG_INFINITY),
        "Infinity" => return Ok(f64::INFINITY),
        _ => {}
    }
    let number = trimmed.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(trimmed);
    plain_number(number).ok_or_else(|| not_a_number(text))
}

/// A decimal number: as a floating point one, without Java's suffixes and names.
pub(super) fn decimal(text: &str) -> Result<f64, Refusal> {
    plain_number(text).ok_or_else(|| not_a_number(text))
}

fn plain_number(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    text.parse().ok().filter(|_| plain)
}

fn not_a_number(text: &str) -> Refusal {
    let message = || format!("`{text}` is no number; Spark reads 0.6 but no percent sign and no decimal comma.");
    empty(text).unwrap_or_else(|| Refusal::new(Reason::NotNumber, message()))
}

/// A size in whole `unit`s; a bare number is in that unit. The long suffixes (`kib`, `mib`, ...) exist since 4.2.
pub fn bytes(text: &str, unit: ByteUnit, version: VersionIndex) -> Result<i64, Refusal> {
    let lower = text.to_lowercase();
    let (amount, suffix) = amount_and_unit(trim(&lower), false, SIZE_UNITS)?;
    let power = match suffix {
        "" => None,
        "b" => Some(0),
        "k" | "kb" => Some(1),
        "m" | "mb" => Some(2),
        "g" | "gb" => Some(3),
        "t" | "tb" => Some(4),
        "p" | "pb" => Some(5),
        "kib" | "mib" | "gib" | "tib" | "pib" if version.version().at_least(4, 2) => "_kmgtp".find(&suffix[..1]),
        "kib" | "mib" | "gib" | "tib" | "pib" => {
            let message = format!("The unit `{suffix}` is read only since Spark 4.2; write `{}`.", &suffix[..1]);
            return Err(Refusal::new(Reason::UnknownUnit, message));
        }
        _ => return Err(unknown_unit(suffix, SIZE_UNITS)),
    };
    let factor = power.map_or(i128::from(unit.bytes()), |power| 1i128 << (10 * power));
    let units = i128::from(amount) * factor / i128::from(unit.bytes());
    i64::try_from(units).map_err(|_| too_big(text))
}

/// A duration in whole `unit`s; a bare number is in that unit. Durations may be negative; too long ones are cut off.
pub fn time(text: &str, unit: TimeUnit) -> Result<i64, Refusal> {
    let lower = text.to_lowercase();
    let (amount, suffix) = amount_and_unit(trim(&lower), true, TIME_UNITS)?;
    let nanoseconds: i128 = match suffix {
        "" => unit.nanoseconds().into(),
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return Err(unknown_unit(suffix, TIME_UNITS)),
    };
    let units = i128::from(amount) * nanoseconds / i128::from(unit.nanoseconds());
    Ok(i64::try_from(units.clamp(i64::MIN.into(), i64::MAX.into())).unwrap_or(i64::MAX))
}

/// Digits and the letters behind them.
fn amount_and_unit<'a>(text: &'a str, signed: bool, units: &str) -> Result<(i64, &'a str), Refusal> {
    let unsigned = if signed { text.strip_prefix('-').unwrap_or(text) } else { text };
    let digits = unsigned.bytes().take_while(u8::is_ascii_digit).count();
    let (number, suffix) = unsigned.split_at(digits);
    if number.is_empty() || !suffix.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Err(malformed(text, units));
    }
    let amount: i64 = text[..text.len() - suffix.len()].parse().map_err(|_| too_big(text))?;
    Ok((amount, suffix))
}

fn malformed(text: &str, units: &str) -> Refusal {
    if let Some(refusal) = empty(text) {
        return refusal;
    }
    if text.starts_with(['-', '+']) {
        return Refusal::new(Reason::Sign, format!("`{text}` has a sign, which Spark doesn't read here."));
    }
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits_first = rest.len() < text.len();
    if digits_first && rest.starts_with(char::is_whitespace) && rest.trim_start().starts_with(char::is_alphabetic) {
        let message = format!("`{text}` has a blank before its unit, which Spark doesn't read.");
        return Refusal::new(Reason::BlankBeforeUnit, message);
    }
    if rest.strip_prefix('.').is_some_and(|fraction| fraction.starts_with(|c: char| c.is_ascii_digit())) {
        let message = format!("`{text}` is a fraction; Spark reads whole numbers, in a smaller unit if need be.");
        return Refusal::new(Reason::Fraction, message);
    }
    Refusal::new(Reason::NotNumber, format!("`{text}` is no whole number with a unit of {units}."))
}

fn unknown_unit(suffix: &str, units: &str) -> Refusal {
    Refusal::new(Reason::UnknownUnit, format!("The unit `{suffix}` is unknown; Spark reads {units}."))
}

fn too_big(text: &str) -> Refusal {
    Refusal::new(Reason::TooBig, format!("`{text}` is too big for 64 bits."))
}

fn empty(text: &str) -> Option<Refusal> {
    trim(text).is_empty().then(|| Refusal::new(Reason::Empty, "The value is empty, which Spark can't read here."))
}

/// Whether Java could compile it, as far as brackets and a last backslash tell. Anything finer is left alone.
pub(super) fn regex(text: &str) -> Result<(), Refusal> {
    let fault =
        |what: &str| Err(Refusal::new(Reason::BrokenRegex, format!("`{text}` is no regular expression: {what}.")));
    if text.contains("\\Q") {
        return Ok(());
    }
    let (mut groups, mut class, mut chars) = (0usize, false, text.chars().peekable());
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.next().is_none() => return fault("a backslash ends it"),
            '[' if !class => {
                class = true;
                // A bracket right behind the opening one is a member of the class.
                chars.next_if_eq(&'^');
                chars.next_if_eq(&']');
            }
            ']' => class = false,
            '(' if !class => groups += 1,
            ')' if !class => match groups.checked_sub(1) {
                Some(open) => groups = open,
                None => return fault("a `)` closes nothing"),
            },
            _ => {}
        }
    }
    match (class, groups) {
        (true, _) => fault("a `[` is not closed"),
        (false, 0) => Ok(()),
        (false, _) => fault("a `(` is not closed"),
    }
}
