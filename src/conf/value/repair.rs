//! What a refused value was probably meant to be.

use crate::catalog::{Kind, similar_word};

/// Texts that might be meant, likeliest first; the caller keeps the first one that Spark accepts.
pub(super) fn candidates(text: &str, kind: Kind, allowed: &[&'static str]) -> Vec<String> {
    let bare = bare(text);
    let mut found = vec![bare.to_owned()];
    found.extend(near(bare, allowed));
    match kind {
        Kind::Boolean => found.extend(boolean(bare)),
        Kind::Int | Kind::Long => found.extend(whole(bare)),
        Kind::Double | Kind::Decimal => found.extend(fraction(bare)),
        Kind::Bytes(_) => {
            let compact = compact(bare);
            found.push(compact.clone());
            found.extend(respelled(&compact, SIZE_WORDS));
            found.extend(finer(&compact, &SIZES, false));
        }
        Kind::Time(_) => {
            let compact = compact(bare);
            found.push(compact.clone());
            found.extend(respelled(&compact, TIME_WORDS));
            found.extend(finer(&compact, &TIMES, true));
        }
        _ => {}
    }
    found
}

/// The value without a note behind it, without quotes around it and separators behind it.
fn bare(text: &str) -> &str {
    let note = [" #", " //", " --", " ;", " !"].into_iter().filter_map(|mark| text.find(mark)).min();
    let text = text[..note.unwrap_or(text.len())].trim();
    text.trim_end_matches([';', ',']).trim_matches(['"', '\'']).trim()
}

fn near(text: &str, allowed: &[&'static str]) -> Option<String> {
    let same = allowed.iter().find(|value| value.eq_ignore_ascii_case(text));
    same.or_else(|| allowed.iter().find(|value| similar_word(text, value))).map(|value| (*value).to_owned())
}

fn boolean(text: &str) -> Option<String> {
    let value = match text.to_ascii_lowercase().as_str() {
        "yes" | "y" | "on" | "1" | "t" | "enable" | "enabled" => "true",
        "no" | "n" | "off" | "0" | "f" | "disable" | "disabled" => "false",
        _ => return None,
    };
    Some(value.to_owned())
}

fn whole(text: &str) -> Option<String> {
    let plain = compact(text);
    if let Some(hexadecimal) = plain.strip_prefix("0x") {
        return i64::from_str_radix(hexadecimal, 16).ok().map(|number| number.to_string());
    }
    let number: f64 = plain.trim_end_matches(['l', 'L']).parse().ok()?;
    // Beyond this a floating point number has no room for units.
    (number.fract() == 0.0 && number.abs() < 9e15).then(|| format!("{number:.0}"))
}

fn fraction(text: &str) -> Option<String> {
    if let Some(percent) = text.strip_suffix('%') {
        let percent: f64 = percent.trim().parse().ok()?;
        return Some((percent / 100.0).to_string());
    }
    Some(text.replace(',', "."))
}

/// Without blanks, underscores, thousands' commas and a plus sign.
fn compact(text: &str) -> String {
    let text = text.strip_prefix('+').unwrap_or(text);
    text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '_' | ',')).collect()
}

const SIZE_WORDS: &[(&[&str], &str)] = &[
    (&["byte", "bytes"], "b"),
    (&["kib", "kbs", "ki", "kilobyte", "kilobytes", "kibibytes"], "k"),
    (&["mib", "mbs", "mi", "meg", "megs", "megabyte", "megabytes", "mebibytes"], "m"),
    (&["gib", "gbs", "gi", "gig", "gigs", "gg", "gigabyte", "gigabytes", "gibibytes"], "g"),
    (&["tib", "tbs", "ti", "terabyte", "terabytes", "tebibytes"], "t"),
    (&["pib", "pbs", "pi", "petabyte", "petabytes", "pebibytes"], "p"),
];

const TIME_WORDS: &[(&[&str], &str)] = &[
    (&["micros", "microsecond", "microseconds"], "us"),
    (&["milli", "millis", "msec", "msecs", "millisecond", "milliseconds"], "ms"),
    (&["sec", "secs", "second", "seconds"], "s"),
    (&["mins", "minute", "minutes"], "min"),
    (&["hr", "hrs", "hour", "hours"], "h"),
    (&["day", "days"], "d"),
];

/// The same amount with a unit that Spark knows.
fn respelled(text: &str, words: &[(&[&str], &str)]) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let amount = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &lower[amount.len()..];
    let (_, known) = words.iter().find(|(names, _)| names.contains(&unit))?;
    Some(format!("{amount}{known}"))
}

/// A unit and how many of the next finer one it holds.
type Scale = [(&'static str, u64)];

const SIZES: [(&str, u64); 6] = [("p", 1024), ("t", 1024), ("g", 1024), ("m", 1024), ("k", 1024), ("b", 1)];
const TIMES: [(&str, u64); 6] = [("d", 24), ("h", 60), ("min", 60), ("s", 1000), ("ms", 1000), ("us", 1)];

/// A fraction as a whole number of the next finer units that it is one of: `1.5g` is `1536m`.
fn finer(text: &str, scale: &Scale, is_time: bool) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let amount = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &lower[amount.len()..] {
        "m" if is_time => "min",
        "us" | "ms" | "min" | "s" | "h" | "d" if is_time => &lower[amount.len()..],
        size if !is_time => {
            size.strip_suffix("ib").or(size.strip_suffix('b').filter(|rest| !rest.is_empty())).unwrap_or(size)
        }
        _ => return None,
    };
    let mut amount: f64 = amount.parse().ok()?;
    let first = scale.iter().position(|(name, _)| *name == unit)?;
    for (name, finer) in &scale[first..] {
        if amount.fract() == 0.0 && amount.abs() < 9e15 {
            return Some(format!("{amount:.0}{name}"));
        }
        amount *= *finer as f64;
    }
    None
}
