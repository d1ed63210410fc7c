//! Attempts of one application in one log, and the version where the log does not say it.

use crate::catalog::SparkVersion;

/// Identity of an attempt: application, attempt, start.
type Identity<'a> = (Option<&'a str>, Option<&'a str>, Option<i64>);

/// Notices when another attempt begins.
#[derive(Debug, Clone, Default)]
pub(super) struct Attempts {
    current: Option<(Option<String>, Option<String>, Option<i64>)>,
    count: usize,
    /// Executors known when the newest log began: later ones belong to the attempt that starts next.
    executors_before: usize,
}

impl Attempts {
    /// `SparkListenerLogStart`.
    pub(super) fn log_started(&mut self, executors: usize) {
        self.executors_before = executors;
    }

    /// `SparkListenerApplicationStart`: how many executors belong to earlier attempts, if this is another attempt.
    pub(super) fn application_started(&mut self, identity: Identity<'_>) -> Option<usize> {
        let (id, attempt, time) = identity;
        let identity = (id.map(str::to_owned), attempt.map(str::to_owned), time);
        // Vendors repeat the start at the head of every file.
        if self.current.as_ref() == Some(&identity) {
            return None;
        }
        self.count += 1;
        let first = self.current.replace(identity).is_none();
        (!first).then(|| std::mem::take(&mut self.executors_before))
    }

    /// What to say of several attempts.
    pub(super) fn note(&self) -> Option<String> {
        (self.count > 1).then(|| format!("{} attempts in the log; this is the last", self.count))
    }
}

/// Spark's version from the name of its core jar in the class path, e.g. `spark-core_2.12-3.1.1.jar`.
pub(super) fn version_of_jars(line: &[u8]) -> Option<SparkVersion> {
    let at = memchr::memmem::find(line, b"spark-core_2.")?;
    let rest = line.get(at..)?;
    let end = memchr::memmem::find(&rest[..rest.len().min(100)], b".jar")?;
    std::str::from_utf8(&rest[..end]).ok()?.split('-').nth(2)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_from_the_core_jar() {
        let line = br#"{"Classpath Entries":{"/opt/spark/jars/spark-core_2.12-3.1.1.jar":"System Classpath"}}"#;
        assert_eq!(version_of_jars(line), Some(SparkVersion::new(3, 1, 1)));
        assert_eq!(version_of_jars(b"{}"), None);
    }
}
