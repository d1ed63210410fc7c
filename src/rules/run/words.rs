//! Numbers as people read them: durations, sizes as Spark prints them, ratios and shares.

/// Bytes.
pub(crate) const MIB: f64 = 1024.0 * 1024.0;
/// Bytes.
pub(crate) const GIB: f64 = 1024.0 * MIB;

/// `340 ms`, `1.2 s`, `4 min 5 s`, `2 h 3 min`.
pub(crate) fn duration(ms: f64) -> String {
    let ms = ms.max(0.0);
    if ms < 999.5 {
        return format!("{ms:.0} ms");
    }
    let seconds = ms / 1000.0;
    if seconds < 119.95 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds.round() as u64;
    if whole < 3600 {
        format!("{} min {} s", whole / 60, whole % 60)
    } else {
        format!("{} h {} min", whole / 3600, whole % 3600 / 60)
    }
}

/// Bytes in Spark's binary units: `512 B`, `6.1 MiB`, `190 MiB`.
pub(crate) fn bytes(count: f64) -> String {
    let mut value = count.max(0.0);
    let mut unit = "B";
    for larger in ["KiB", "MiB", "GiB", "TiB", "PiB"] {
        if value < 1023.5 {
            break;
        }
        value /= 1024.0;
        unit = larger;
    }
    if unit == "B" || value >= 99.95 {
        return format!("{value:.0} {unit}");
    }
    let text = format!("{value:.1}");
    format!("{} {unit}", text.strip_suffix(".0").unwrap_or(&text))
}

/// `3.1 x`, `40 x`.
pub(crate) fn ratio(value: f64) -> String {
    if value < 9.95 { format!("{value:.1} x") } else { format!("{value:.0} x") }
}

/// A share of 1 as `79 %` or `0.4 %`.
pub(crate) fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value > 0.0 && value < 0.95 { format!("{value:.1} %") } else { format!("{value:.0} %") }
}

/// `1 task`, `8 tasks`, `1,204 tasks`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// `1,204`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A histogram of values in `width` steps from 0 to the largest: `▁▁█▇▂▁▁▂`.
pub(crate) fn sparkline(values: &[u64], width: usize) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let Some(&largest) = values.iter().max().filter(|&&largest| largest > 0) else { return String::new() };
    let mut counts = vec![0u64; width];
    for &value in values {
        let step = (value as f64 / largest as f64 * width as f64) as usize;
        if let Some(count) = counts.get_mut(step.min(width.saturating_sub(1))) {
            *count += 1;
        }
    }
    let highest = counts.iter().copied().max().unwrap_or(1).max(1) as f64;
    let bar = |count: u64| match count {
        0 => BARS[0],
        count => BARS[(1 + (count as f64 / highest * 6.0).round() as usize).min(7)],
    };
    counts.into_iter().map(bar).collect()
}

/// Stage ids as ranges: `3–9, 12`; of many the first: `1, 3, 5 and 40 more`.
pub(crate) fn ranges(ids: &[u32]) -> String {
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for id in sorted {
        match parts.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(id) => *last = id,
            _ => parts.push((id, id)),
        }
    }
    let text = |(first, last): (u32, u32)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first}–{last}"),
    };
    let shown = if parts.len() > RANGES { &parts[..RANGES] } else { &parts[..] };
    let beyond: u64 = parts[shown.len()..].iter().map(|(first, last)| u64::from(last - first) + 1).sum();
    let mut words = shown.iter().copied().map(text).collect::<Vec<_>>().join(", ");
    if beyond > 0 {
        words.push_str(&format!(" and {beyond} more"));
    }
    words
}

/// Ranges that a sentence holds.
const RANGES: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_in_spark() {
        assert_eq!(duration(340.4), "340 ms");
        assert_eq!(duration(1_200.0), "1.2 s");
        assert_eq!(duration(119_949.0), "119.9 s");
        assert_eq!(duration(245_000.0), "4 min 5 s");
        assert_eq!(duration(7_380_000.0), "2 h 3 min");
        assert_eq!(bytes(512.0), "512 B");
        assert_eq!(bytes(256.0 * 1024.0 * 1024.0), "256 MiB");
        assert_eq!(bytes(6.12 * 1024.0 * 1024.0), "6.1 MiB");
        assert_eq!(bytes(3.0 * 1024.0 * 1024.0 - 1.0), "3 MiB");
        assert_eq!(ratio(3.13), "3.1 x");
        assert_eq!(ratio(40.2), "40 x");
        assert_eq!(percent(0.123), "12 %");
        assert_eq!(percent(0.0041), "0.4 %");
        assert_eq!(count(1_204, "task"), "1,204 tasks");
        assert_eq!(ranges(&[9, 3, 4, 5, 12, 7, 8]), "3–5, 7–9, 12");
        let odd: Vec<u32> = (0..50).map(|half| 2 * half + 1).chain([101, 102]).collect();
        assert_eq!(ranges(&odd), "1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23 and 40 more");
    }

    #[test]
    fn a_sparkline_shows_the_lone_task_at_the_right() {
        let line = sparkline(&[10, 100, 11, 12, 10], 8);
        assert_eq!(line.chars().count(), 8);
        assert_eq!(line.chars().next(), Some('█'));
        assert!(line.ends_with('▄'), "{line}");
        assert_eq!(sparkline(&[0, 0], 8), "");
    }
}
