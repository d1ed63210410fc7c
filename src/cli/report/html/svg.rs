//! Charts as SVG, drawn in the page's own colours.

use maud::{Markup, html};

/// Bars of a histogram.
const BINS: usize = 32;
/// Width and height of a histogram, in its own units.
const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 72.0;
/// A bin that holds anything is at least this high, so that a lone task is seen.
const LEAST: f64 = 3.0;

/// A line across a histogram.
pub(super) struct Mark {
    /// On the scale of the values.
    pub(super) at: f64,
    /// e.g. `median 1.2 s`.
    pub(super) label: String,
}

/// How values spread from 0 to the largest; empty for nothing or zeros. `unit` writes a value.
pub(super) fn histogram(values: &[u64], marks: &[Mark], unit: impl Fn(f64) -> String) -> Markup {
    let Some(&largest) = values.iter().max().filter(|&&largest| largest > 0) else { return html! {} };
    let counts = counts(values, largest);
    let highest = counts.iter().copied().max().unwrap_or(1).max(1) as f64;
    let step = WIDTH / BINS as f64;
    let x = |value: f64| value / largest as f64 * WIDTH;
    html! {
        svg.histogram viewBox={ "0 0 " (WIDTH) " " (HEIGHT + 14.0) } role="img" {
            @for (bin, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                @let height = (count as f64 / highest * (HEIGHT - 8.0)).max(LEAST);
                rect.bar x=(round(bin as f64 * step)) y=(round(HEIGHT - height)) width=(round(step - 1.0)) height=(round(height)) {
                    title {
                        (count) " from " (unit(largest as f64 * bin as f64 / BINS as f64)) " to "
                        (unit(largest as f64 * (bin + 1) as f64 / BINS as f64))
                    }
                }
            }
            line.axis x1="0" x2=(WIDTH) y1=(HEIGHT) y2=(HEIGHT) {}
            @for mark in marks {
                line.mark x1=(round(x(mark.at))) x2=(round(x(mark.at))) y1="0" y2=(HEIGHT) { title { (mark.label) } }
            }
            text.label x="0" y=(HEIGHT + 12.0) { "0" }
            text.label x=(WIDTH) y=(HEIGHT + 12.0) text-anchor="end" { (unit(largest as f64)) }
        }
    }
}

fn counts(values: &[u64], largest: u64) -> Vec<u64> {
    let mut counts = vec![0; BINS];
    for &value in values {
        let bin = (value as f64 / largest as f64 * BINS as f64) as usize;
        if let Some(count) = counts.get_mut(bin.min(BINS - 1)) {
            *count += 1;
        }
    }
    counts
}

/// A coordinate with one decimal: enough for a screen, and a small page.
pub(super) fn round(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_slow_task_is_a_bar_of_its_own() {
        let counts = counts(&[10, 11, 12, 400], 400);
        assert_eq!((counts[0], counts[BINS - 1]), (3, 1));
        assert_eq!(counts.iter().sum::<u64>(), 4);
        assert_eq!(histogram(&[0, 0], &[], |value| value.to_string()).into_string(), "");
    }
}
