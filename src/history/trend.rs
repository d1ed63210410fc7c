//! What became slower than it used to be.

use std::collections::BTreeMap;

use super::row::{Row, rows_of};
use crate::run::Run;

/// A MAD times this is the standard deviation of normal noise.
const MAD_TO_DEVIATION: f64 = 1.4826;

/// From when on a run counts as slower.
#[derive(Debug, Clone, Copy)]
pub struct Thresholds {
    /// Earlier runs that are needed.
    pub runs: usize,
    /// Earlier runs that are looked at: the latest.
    pub window: usize,
    /// Above the median by more than this share of it.
    pub share: f64,
    /// Above the median by more than this many standard deviations, as the median absolute deviation estimates them.
    pub deviations: f64,
    /// Above the median by at least this much, in seconds.
    pub seconds: f64,
    /// Share of a stage's tasks that must be in a log for its time to count.
    pub coverage: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { runs: 3, window: 30, share: 0.3, deviations: 3.0, seconds: 10.0, coverage: 0.9 }
    }
}

/// A time beside those of earlier runs, all in milliseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Of this run.
    pub now: f64,
    /// Of the earlier runs, oldest first.
    pub earlier: Vec<f64>,
    /// Their median.
    pub median: f64,
    /// Their median absolute deviation.
    pub mad: f64,
    /// What `now` had to exceed by the shares of noise; the floor in seconds comes on top.
    pub limit: f64,
}

/// What earlier runs say of a time.
#[derive(Debug, Clone, PartialEq)]
pub enum Trend {
    /// Slower than the noise of the earlier runs explains.
    Slower(Change),
    /// Within it, or faster.
    Steady(Change),
    /// Too few earlier runs to tell: how many there are.
    TooFew(usize),
    /// This run's time can't be compared, and why.
    Unknown(&'static str),
}

impl Trend {
    /// Of a time and those of earlier runs, in milliseconds, oldest first.
    pub fn of(now: f64, earlier: &[f64], thresholds: &Thresholds) -> Self {
        let earlier = &earlier[earlier.len().saturating_sub(thresholds.window)..];
        let Some(median) = median(earlier).filter(|_| earlier.len() >= thresholds.runs) else {
            return Self::TooFew(earlier.len());
        };
        let deviations: Vec<f64> = earlier.iter().map(|time| (time - median).abs()).collect();
        let mad = self::median(&deviations).unwrap_or(0.0);
        let noise = (thresholds.share * median).max(thresholds.deviations * MAD_TO_DEVIATION * mad);
        let change = Change { now, earlier: earlier.to_vec(), median, mad, limit: median + noise };
        if now > change.limit && now - median >= thresholds.seconds * 1000.0 {
            Self::Slower(change)
        } else {
            Self::Steady(change)
        }
    }

    /// The change, if the time is slower than it used to be.
    pub fn slower(&self) -> Option<&Change> {
        match self {
            Self::Slower(change) => Some(change),
            _ => None,
        }
    }
}

/// A run with the runs of the same job before it.
#[derive(Debug, Clone, Default)]
pub struct Past {
    /// The rows of the run.
    pub own: Vec<Row>,
    /// The rows of runs of the same job that started before it, by start.
    pub earlier: Vec<Row>,
}

impl Past {
    /// Of a run and what was recorded, which may hold the run itself and other jobs.
    pub fn new(run: &Run, recorded: impl IntoIterator<Item = Row>) -> Self {
        Self::of_rows(rows_of(run), recorded)
    }

    /// As [`Past::new`], for a run that is given by its rows.
    pub fn of_rows(own: Vec<Row>, recorded: impl IntoIterator<Item = Row>) -> Self {
        let Some(first) = own.first().filter(|row| row.job.is_some()) else { return Self { own, earlier: Vec::new() } };
        let is_before =
            |row: &Row| row.job == first.job && row.run() != first.run() && row.run_started_ms < first.run_started_ms;
        let mut earlier: Vec<Row> = recorded.into_iter().filter(is_before).collect();
        earlier.sort_by_key(|row| row.run_started_ms);
        Self { own, earlier }
    }

    /// The row of the run just before, of the stage with this key.
    pub fn last(&self, stage_key: &str) -> Option<&Row> {
        self.earlier.iter().rev().find(|row| row.stage_key == stage_key)
    }

    /// How long the stage of a row took, against the same stage of earlier runs.
    pub fn stage(&self, row: &Row, thresholds: &Thresholds) -> Trend {
        if !is_covered(row, thresholds) {
            return Trend::Unknown("too few of its tasks are in the log");
        }
        let Some(now) = row.wall_ms else { return Trend::Unknown("its time was not recorded") };
        let same = |other: &&Row| other.stage_key == row.stage_key && is_covered(other, thresholds);
        let times = self.earlier.iter().filter(same).filter_map(|other| Some(other.wall_ms? as f64));
        Trend::of(now as f64, &times.collect::<Vec<_>>(), thresholds)
    }

    /// How long the run took, against earlier runs whose log is complete.
    pub fn whole_run(&self, thresholds: &Thresholds) -> Trend {
        let Some(row) = self.own.first() else { return Trend::Unknown("no stage of it is in the log") };
        if !row.log_complete {
            return Trend::Unknown("its log is not complete");
        }
        let Some(now) = row.run_wall_ms else { return Trend::Unknown("its time was not recorded") };
        let mut runs: BTreeMap<(i64, (&str, Option<&str>)), f64> = BTreeMap::new();
        for other in self.earlier.iter().filter(|other| other.log_complete) {
            if let Some(time) = other.run_wall_ms {
                runs.insert((other.run_started_ms, other.run()), time as f64);
            }
        }
        Trend::of(now as f64, &runs.into_values().collect::<Vec<_>>(), thresholds)
    }
}

fn is_covered(row: &Row, thresholds: &Thresholds) -> bool {
    row.coverage.is_none_or(|coverage| coverage >= thresholds.coverage)
}

/// Median of times: the mean of the two middle ones for an even number.
pub fn median(times: &[f64]) -> Option<f64> {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    let lower = if sorted.len().is_multiple_of(2) { sorted[middle - 1] } else { upper };
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(now: f64, earlier: &[f64]) -> Trend {
        let ms = |seconds: &f64| seconds * 1000.0;
        Trend::of(now * 1000.0, &earlier.iter().map(ms).collect::<Vec<_>>(), &Thresholds::default())
    }

    #[test]
    fn three_runs_are_needed() {
        assert_eq!(of(1000.0, &[10.0, 10.0]), Trend::TooFew(2));
        assert!(of(1000.0, &[10.0, 10.0, 10.0]).slower().is_some());
    }

    #[test]
    fn thirty_percent_more_is_noise() {
        assert!(of(130.0, &[100.0, 100.0, 100.0]).slower().is_none());
        assert!(of(130.001, &[100.0, 100.0, 100.0]).slower().is_some());
    }

    #[test]
    fn so_are_three_deviations_of_runs_that_differ() {
        // Median 100, deviations 20, 10, 0, 10, 20: MAD 10, so 100 + 3 x 14.826.
        let earlier = [80.0, 90.0, 100.0, 110.0, 120.0];
        assert!(of(144.0, &earlier).slower().is_none());
        let slower = of(145.0, &earlier);
        let change = slower.slower().unwrap();
        assert_eq!((change.median, change.mad), (100_000.0, 10_000.0));
        assert!((change.limit - 144_478.0).abs() < 1.0);
    }

    #[test]
    fn less_than_ten_seconds_is_not_worth_a_word() {
        assert!(of(14.9, &[5.0, 5.0, 5.0]).slower().is_none());
        assert!(of(15.0, &[5.0, 5.0, 5.0]).slower().is_some());
    }

    #[test]
    fn only_the_latest_runs_count() {
        let earlier: Vec<f64> = std::iter::repeat_n(10.0, 40).chain(std::iter::repeat_n(100.0, 30)).collect();
        assert!(of(110.0, &earlier).slower().is_none());
    }

    fn row(application: &str, started: i64, wall: u64) -> Row {
        Row {
            application: application.to_owned(),
            job: Some("orders".to_owned()),
            run_started_ms: started,
            run_wall_ms: Some(2 * wall),
            stage_key: "k".to_owned(),
            wall_ms: Some(wall),
            coverage: Some(1.0),
            log_complete: true,
            ..Row::default()
        }
    }

    #[test]
    fn a_run_is_compared_with_runs_of_its_job_before_it() {
        let mut recorded = vec![row("a", 1, 10_000), row("b", 2, 11_000), row("c", 3, 12_000), row("now", 9, 40_000)];
        recorded.push(row("later", 10, 99_000));
        recorded.push(Row { job: Some("other".to_owned()), ..row("d", 4, 99_000) });
        recorded.push(Row { coverage: Some(0.5), log_complete: false, ..row("e", 5, 1) });
        let past = Past::of_rows(vec![row("now", 9, 40_000)], recorded);
        let thresholds = Thresholds::default();
        let stage = past.stage(&past.own[0], &thresholds);
        assert_eq!(stage.slower().unwrap().earlier, [10_000.0, 11_000.0, 12_000.0]);
        assert_eq!(past.whole_run(&thresholds).slower().unwrap().median, 22_000.0);
        assert_eq!(past.last("k").unwrap().application, "e");
    }

    #[test]
    fn a_run_without_a_job_has_no_past() {
        let unnamed = |application, started| Row { job: None, ..row(application, started, 1) };
        let past = Past::of_rows(vec![unnamed("now", 9)], [unnamed("a", 1)]);
        assert!(past.earlier.is_empty());
    }
}
