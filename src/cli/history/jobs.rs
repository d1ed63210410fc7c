//! The rows of a history by job and run, with what became slower in the last run.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};

use crate::history::{Change, Past, Row, Thresholds, Trend};

/// What a job without a name is called.
const UNNAMED: &str = "(no name)";

/// A job and its runs.
pub(super) struct Job {
    /// Its name: the application's without its numbers.
    pub(super) name: String,
    /// Its runs, oldest first; each has rows, by stage.
    pub(super) runs: Vec<Vec<Row>>,
    /// The last run as a whole.
    pub(super) trend: Trend,
    /// The stages of the last run that became slower, by how much.
    pub(super) slower: Vec<(Row, Change)>,
}

impl Job {
    /// All jobs, those that became slower first, then by last run.
    pub(super) fn all(rows: Vec<Row>, thresholds: &Thresholds) -> Vec<Self> {
        let mut by_job: BTreeMap<Option<String>, Vec<Row>> = BTreeMap::new();
        for row in rows {
            by_job.entry(row.job.clone()).or_default().push(row);
        }
        let mut jobs: Vec<Self> = by_job.into_iter().map(|(name, rows)| Self::of(name, rows, thresholds)).collect();
        jobs.sort_by_key(|job| (!job.is_slower(), std::cmp::Reverse(job.last().map(|row| row.run_started_ms))));
        jobs
    }

    /// `rows` are by start of the run.
    fn of(name: Option<String>, rows: Vec<Row>, thresholds: &Thresholds) -> Self {
        let mut runs: Vec<Vec<Row>> = Vec::new();
        for row in &rows {
            match runs.last_mut() {
                Some(run) if run.first().is_some_and(|first| first.run() == row.run()) => run.push(row.clone()),
                _ => runs.push(vec![row.clone()]),
            }
        }
        let past = Past::of_rows(runs.last().cloned().unwrap_or_default(), rows);
        let slower = |row: &Row| past.stage(row, thresholds).slower().map(|change| (row.clone(), change.clone()));
        let mut slower: Vec<(Row, Change)> = past.own.iter().filter_map(slower).collect();
        slower.sort_by(|(_, a), (_, b)| (b.now - b.median).total_cmp(&(a.now - a.median)));
        let trend = past.whole_run(thresholds);
        Self { name: name.unwrap_or_else(|| UNNAMED.to_owned()), runs, trend, slower }
    }

    /// A row of the last run: for what all of them share.
    pub(super) fn last(&self) -> Option<&Row> {
        self.runs.last()?.first()
    }

    /// Whether the last run, or a stage of it, became slower.
    pub(super) fn is_slower(&self) -> bool {
        self.trend.slower().is_some() || !self.slower.is_empty()
    }

    /// Whether the last run can be judged.
    pub(super) fn can_tell(&self) -> bool {
        matches!(self.trend, Trend::Slower(_) | Trend::Steady(_))
    }

    /// How long each run took, oldest first.
    pub(super) fn times(&self) -> Vec<Option<f64>> {
        self.runs.iter().map(|run| run.first()?.run_wall_ms.map(|time| time as f64)).collect()
    }

    /// The keys of the stages of all runs, those that took longest in the last run that had them first.
    pub(super) fn stages(&self) -> Vec<String> {
        let mut latest: BTreeMap<&str, Option<u64>> = BTreeMap::new();
        for row in self.runs.iter().flatten() {
            latest.insert(&row.stage_key, row.wall_ms);
        }
        let mut keys: Vec<(&str, Option<u64>)> = latest.into_iter().collect();
        keys.sort_by_key(|&(key, wall)| (std::cmp::Reverse(wall), key));
        keys.into_iter().map(|(key, _)| key.to_owned()).collect()
    }

    /// A stage in each run, oldest first; `None` where the run didn't have it.
    pub(super) fn over_runs(&self, stage_key: &str) -> Vec<Option<&Row>> {
        self.runs.iter().map(|run| run.iter().find(|row| row.stage_key == stage_key)).collect()
    }

    /// The key of the one stage that a name fits.
    pub(super) fn stage(&self, name: &str) -> anyhow::Result<String> {
        let stages = self.stages();
        if stages.iter().any(|key| key == name) {
            return Ok(name.to_owned());
        }
        let label = |key: &String| self.over_runs(key).into_iter().flatten().next_back().map(|row| &row.stage_label);
        let fits = |key: &&String| label(key).is_some_and(|label| contains(label, name));
        let fitting: Vec<&String> = stages.iter().filter(fits).collect();
        match fitting.as_slice() {
            [one] => Ok((*one).clone()),
            [] => bail!("{}: no stage `{name}`", self.name),
            many => {
                let named = many.iter().take(5).map(|key| format!("\n  {key}  {}", label(key).map_or("", |l| l)));
                bail!(
                    "{}: `{name}` fits {} stages, name one by its key:{}",
                    self.name,
                    many.len(),
                    named.collect::<String>()
                )
            }
        }
    }
}

/// The one job that a name fits.
pub(super) fn take(jobs: Vec<Job>, name: &str) -> anyhow::Result<Job> {
    let exact = jobs.iter().position(|job| job.name == name);
    let fitting: Vec<usize> = match exact {
        Some(place) => vec![place],
        None => (0..jobs.len()).filter(|&place| contains(&jobs[place].name, name)).collect(),
    };
    let names = |places: &[usize]| places.iter().map(|&place| format!("\n  {}", jobs[place].name)).collect::<String>();
    match *fitting.as_slice() {
        [place] => jobs.into_iter().nth(place).with_context(|| format!("no job `{name}`")),
        [] if jobs.is_empty() => bail!("no run is recorded yet"),
        [] => bail!("no job `{name}`; there are:{}", names(&(0..jobs.len()).collect::<Vec<_>>())),
        ref many => bail!("`{name}` fits {} jobs:{}", many.len(), names(many)),
    }
}

fn contains(text: &str, part: &str) -> bool {
    text.to_lowercase().contains(&part.to_lowercase())
}
