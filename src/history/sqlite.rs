//! Rows in a SQLite file.
//!
//! One transaction a run, begun with the write lock, and a rollback journal rather than a write-ahead log: that needs
//! memory shared by all writers, which a network folder does not give. What a crash leaves is undone by whoever opens the
//! file next.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::types::{Value as SqlValue, ValueRef};
use rusqlite::{Connection, OpenFlags, TransactionBehavior, params};
use serde_json::{Map, Value};

use super::{HistoryError, Recorded, Row, by_stage, differences, outcome};

/// How long a writer waits for the others.
const PATIENCE: Duration = Duration::from_secs(60);

/// `application_id` of the file: "spls".
const APPLICATION_ID: i32 = 0x7370_6c73;

/// What brings a file from version n (`user_version`) to n + 1.
const MIGRATIONS: &[&str] = &["
    CREATE TABLE stages (
        application TEXT NOT NULL,
        application_attempt TEXT,
        job TEXT,
        run_started_ms INTEGER NOT NULL,
        run_wall_ms INTEGER,
        stage_key TEXT NOT NULL,
        stage_label TEXT NOT NULL,
        stage INTEGER NOT NULL,
        stage_attempt INTEGER NOT NULL,
        stage_started_ms INTEGER,
        wall_ms INTEGER,
        tasks INTEGER,
        tasks_succeeded INTEGER NOT NULL,
        duration_min_ms INTEGER,
        duration_median_ms REAL,
        duration_p95_ms INTEGER,
        duration_max_ms INTEGER,
        max_to_median REAL,
        read_bytes INTEGER,
        spill_disk_bytes INTEGER,
        spill_memory_bytes INTEGER,
        gc_ms INTEGER,
        cores REAL,
        spark_version TEXT,
        conf TEXT,
        coverage REAL,
        log_complete BOOLEAN NOT NULL,
        log_events INTEGER NOT NULL
    );
    CREATE UNIQUE INDEX stages_of_runs
        ON stages (application, ifnull(application_attempt, ''), stage_key, stage_attempt);
    CREATE INDEX stages_of_jobs ON stages (job, run_started_ms);
    CREATE VIEW runs AS
        SELECT job, application, application_attempt, run_started_ms, run_wall_ms, spark_version, conf, log_complete,
            log_events, count(*) AS stages, sum(tasks_succeeded) AS tasks_succeeded, sum(read_bytes) AS read_bytes,
            sum(spill_disk_bytes) AS spill_disk_bytes, sum(gc_ms) AS gc_ms
        FROM stages GROUP BY application, application_attempt ORDER BY run_started_ms;
"];

/// The columns, by the names of the fields of [`Row`].
const COLUMNS: [&str; 28] = [
    "application",
    "application_attempt",
    "job",
    "run_started_ms",
    "run_wall_ms",
    "stage_key",
    "stage_label",
    "stage",
    "stage_attempt",
    "stage_started_ms",
    "wall_ms",
    "tasks",
    "tasks_succeeded",
    "duration_min_ms",
    "duration_median_ms",
    "duration_p95_ms",
    "duration_max_ms",
    "max_to_median",
    "read_bytes",
    "spill_disk_bytes",
    "spill_memory_bytes",
    "gc_ms",
    "cores",
    "spark_version",
    "conf",
    "coverage",
    "log_complete",
    "log_events",
];

/// An open file.
#[derive(Debug)]
pub struct Table {
    path: PathBuf,
    connection: Connection,
}

impl Table {
    /// Opens the file, makes it where there is none, and brings it to the present version.
    pub(super) fn open(path: &Path) -> Result<Self, HistoryError> {
        let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
        migrate(path, &mut connection, MIGRATIONS)?;
        Ok(Self { path: path.to_owned(), connection })
    }

    pub(super) fn record(&mut self, rows: &[Row]) -> Result<Recorded, HistoryError> {
        let Some(first) = rows.first() else { return Ok(Recorded::Unchanged) };
        let failed = of(&self.path);
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&failed)?;
        let where_run = "WHERE application = ?1 AND application_attempt IS ?2";
        let known = select(&transaction, where_run, params![first.application, first.application_attempt])
            .map_err(|error| error.of(&self.path))?;
        if let Some(outcome) = outcome(&known, rows) {
            return Ok(outcome);
        }
        let new = by_stage(rows);
        for ((stage_key, stage_attempt), old) in by_stage(&known) {
            if new.contains_key(&(stage_key, stage_attempt)) {
                continue;
            }
            let delete = format!("DELETE FROM stages {where_run} AND stage_key = ?3 AND stage_attempt = ?4");
            let key = params![old.application, old.application_attempt, stage_key, stage_attempt];
            transaction.execute(&delete, key).map_err(&failed)?;
        }
        let mut upsert = transaction.prepare(&upsert()).map_err(&failed)?;
        for row in rows {
            upsert.execute(rusqlite::params_from_iter(values(row))).map_err(&failed)?;
        }
        drop(upsert);
        transaction.commit().map_err(&failed)?;
        Ok(if known.is_empty() { Recorded::New(rows.len()) } else { Recorded::Updated(differences(&known, rows)) })
    }
}

pub(super) fn read(path: &Path) -> Result<Vec<Row>, HistoryError> {
    if let Err(reason) = std::fs::metadata(path) {
        return Err(HistoryError::Io { path: path.to_owned(), reason });
    }
    // Who may write brings the file up to date and undoes what a crash left; everybody else reads it as it is.
    let connection = match Table::open(path) {
        Ok(table) => table.connection,
        Err(error) if is_read_only(&error) => connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?,
        Err(error) => return Err(error),
    };
    select(&connection, "", []).map_err(|error| error.of(path))
}

fn is_read_only(error: &HistoryError) -> bool {
    use rusqlite::ErrorCode::{CannotOpen, PermissionDenied, ReadOnly};
    let HistoryError::Sqlite { reason, .. } = error else { return false };
    reason.sqlite_error_code().is_some_and(|code| matches!(code, ReadOnly | PermissionDenied | CannotOpen))
}

fn connect(path: &Path, access: OpenFlags) -> Result<Connection, HistoryError> {
    let failed = of(path);
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(&failed)?;
    connection.busy_timeout(PATIENCE).map_err(&failed)?;
    connection.pragma_update(None, "synchronous", "FULL").map_err(&failed)?;
    Ok(connection)
}

/// Brings a file to the version that these migrations lead to. A file of something else or of a later version is refused.
fn migrate(path: &Path, connection: &mut Connection, migrations: &[&str]) -> Result<(), HistoryError> {
    let failed = of(path);
    let latest = i64::try_from(migrations.len()).unwrap_or(i64::MAX);
    let refused = |reason: String| HistoryError::NotAHistory { path: path.to_owned(), reason };
    if number(connection, "user_version").map_err(&failed)? == latest && is_ours(connection).map_err(&failed)? {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&failed)?;
    // Asked again under the lock: another process may have been first.
    let version = number(&transaction, "user_version").map_err(&failed)?;
    let objects: i64 =
        transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(&failed)?;
    if !is_ours(&transaction).map_err(&failed)? && (objects > 0 || version > 0) {
        return Err(refused("is a SQLite file of something else".to_owned()));
    }
    if version > latest {
        return Err(refused(format!("is of version {version}, this sparkls knows version {latest}: use a newer one")));
    }
    for migration in migrations.iter().skip(usize::try_from(version).unwrap_or(0)) {
        transaction.execute_batch(migration).map_err(&failed)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(&failed)?;
    transaction.pragma_update(None, "user_version", latest).map_err(&failed)?;
    transaction.commit().map_err(&failed)
}

fn number(connection: &Connection, pragma: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, pragma, |row| row.get(0))
}

fn is_ours(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(number(connection, "application_id")? == i64::from(APPLICATION_ID))
}

fn upsert() -> String {
    let columns = COLUMNS.join(", ");
    let places = vec!["?"; COLUMNS.len()].join(", ");
    let excluded = COLUMNS.map(|column| format!("excluded.{column}")).join(", ");
    let known = COLUMNS.map(|column| format!("stages.{column}")).join(", ");
    format!(
        "INSERT INTO stages ({columns}) VALUES ({places})
        ON CONFLICT (application, ifnull(application_attempt, ''), stage_key, stage_attempt)
        DO UPDATE SET ({columns}) = ({excluded}) WHERE ({known}) IS NOT ({excluded})"
    )
}

/// The values of a row in the order of [`COLUMNS`].
fn values(row: &Row) -> Vec<SqlValue> {
    let fields = serde_json::to_value(row).unwrap_or_default();
    let value = |column: &&str| match fields.get(*column) {
        Some(Value::String(text)) => SqlValue::Text(text.clone()),
        Some(Value::Bool(is)) => SqlValue::Integer(i64::from(*is)),
        Some(Value::Number(number)) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(whole), ..) => SqlValue::Integer(whole),
            (None, Some(_), _) => SqlValue::Integer(i64::MAX),
            (None, None, real) => real.map_or(SqlValue::Null, SqlValue::Real),
        },
        _ => SqlValue::Null,
    };
    COLUMNS.iter().map(value).collect()
}

/// Why rows can't be read from a table.
enum SelectError {
    Sqlite(rusqlite::Error),
    Row(serde_json::Error),
}

impl SelectError {
    fn of(self, path: &Path) -> HistoryError {
        match self {
            Self::Sqlite(source) => of(path)(source),
            Self::Row(error) => HistoryError::NotAHistory {
                path: path.to_owned(),
                reason: format!("holds a row that sparkls did not write: {error}"),
            },
        }
    }
}

fn select(connection: &Connection, condition: &str, keys: impl rusqlite::Params) -> Result<Vec<Row>, SelectError> {
    let query = format!("SELECT {} FROM stages {condition}", COLUMNS.join(", "));
    let mut statement = connection.prepare(&query).map_err(SelectError::Sqlite)?;
    let mut found = statement.query(keys).map_err(SelectError::Sqlite)?;
    let mut rows = Vec::new();
    while let Some(record) = found.next().map_err(SelectError::Sqlite)? {
        let mut fields = Map::new();
        for (index, column) in COLUMNS.into_iter().enumerate() {
            let value = match record.get_ref(index).map_err(SelectError::Sqlite)? {
                ValueRef::Integer(whole) if column == "log_complete" => Value::Bool(whole != 0),
                ValueRef::Integer(whole) => Value::from(whole),
                ValueRef::Real(real) => Value::from(real),
                ValueRef::Text(text) => Value::from(String::from_utf8_lossy(text)),
                ValueRef::Null | ValueRef::Blob(_) => Value::Null,
            };
            fields.insert(column.to_owned(), value);
        }
        rows.push(serde_json::from_value(Value::Object(fields)).map_err(SelectError::Row)?);
    }
    Ok(rows)
}

fn of(path: &Path) -> impl Fn(rusqlite::Error) -> HistoryError {
    let path = path.to_owned();
    move |reason| match reason.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => {
            HistoryError::NotAHistory { path: path.clone(), reason: "is not a SQLite file".to_owned() }
        }
        _ => HistoryError::Sqlite { path: path.clone(), reason },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{Store, read};

    fn run(application: &str, wall_ms: u64) -> Vec<Row> {
        let row = |stage: u32| Row {
            application: application.to_owned(),
            application_attempt: (application == "b").then(|| "2".to_owned()),
            stage_key: stage.to_string(),
            stage,
            wall_ms: Some(wall_ms),
            duration_median_ms: Some(0.1 + 0.2),
            cores: Some(16.0),
            log_complete: true,
            ..Row::default()
        };
        (0..3).map(row).collect()
    }

    #[test]
    fn the_columns_are_the_fields_of_a_row() {
        let fields = serde_json::to_value(Row::default()).unwrap();
        let names: Vec<&str> = fields.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(names, COLUMNS);
    }

    #[test]
    fn runs_come_back_as_they_were_and_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.db");
        let mut store = Store::open(&path).unwrap();
        for (application, expected) in [("a", Recorded::New(3)), ("b", Recorded::New(3)), ("a", Recorded::Unchanged)] {
            assert_eq!(store.record(&run(application, 1)).unwrap(), expected);
        }
        let before = std::fs::read(&path).unwrap();
        assert_eq!(Store::open(&path).unwrap().record(&run("b", 1)).unwrap(), Recorded::Unchanged);
        assert_eq!(std::fs::read(&path).unwrap(), before);
        assert_eq!(read(&path).unwrap(), [run("a", 1), run("b", 1)].concat());
    }

    #[test]
    fn a_fuller_log_changes_adds_and_removes_rows_and_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.db");
        let mut store = Store::open(&path).unwrap();
        store.record(&run("a", 1)).unwrap();
        let mut fuller: Vec<Row> = run("a", 2).into_iter().map(|row| Row { log_events: 9, ..row }).collect();
        fuller[2].stage_key = "renamed".to_owned();
        assert_eq!(store.record(&fuller).unwrap(), Recorded::Updated(4));
        assert_eq!(store.record(&run("a", 1)).unwrap(), Recorded::Kept);
        assert_eq!(read(&path).unwrap(), fuller);
    }

    #[test]
    fn an_upsert_changes_only_rows_that_differ() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.db");
        let mut table = Table::open(&path).unwrap();
        table.record(&run("a", 1)).unwrap();
        let insert = |row: &Row| table.connection.execute(&upsert(), rusqlite::params_from_iter(values(row))).unwrap();
        assert_eq!(insert(&run("a", 1)[0]), 0);
        assert_eq!(insert(&run("a", 2)[0]), 1);
    }

    #[test]
    fn other_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().join("notes.txt");
        std::fs::write(&text, "no database ".repeat(100)).unwrap();
        let error = Store::open(&text).unwrap_err().to_string();
        assert!(error.ends_with("notes.txt: is not a SQLite file"), "{error}");

        let other = folder.path().join("other.db");
        Connection::open(&other).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
        let error = Store::open(&other).unwrap_err().to_string();
        assert!(error.ends_with("other.db: is a SQLite file of something else"), "{error}");

        let later = folder.path().join("later.db");
        Store::open(&later).unwrap();
        Connection::open(&later).unwrap().pragma_update(None, "user_version", 99).unwrap();
        let error = Store::open(&later).unwrap_err().to_string();
        assert!(error.contains("is of version 99"), "{error}");
        assert!(read(&folder.path().join("none.db")).is_err());
    }

    #[test]
    fn an_older_file_is_brought_up_to_date_with_what_it_holds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.db");
        Store::open(&path).unwrap().record(&run("a", 1)).unwrap();
        let more = [MIGRATIONS, &["ALTER TABLE stages ADD COLUMN host_count INTEGER"]].concat();
        let mut connection = Connection::open(&path).unwrap();
        migrate(&path, &mut connection, &more).unwrap();
        let query = "SELECT count(*) FROM stages WHERE host_count IS NULL";
        assert_eq!(connection.query_row(query, [], |row| row.get::<_, i64>(0)).unwrap(), 3);
        assert_eq!(number(&connection, "user_version").unwrap(), 2);
    }

    #[test]
    fn who_may_only_read_reads() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.db");
        Store::open(&path).unwrap().record(&run("a", 1)).unwrap();
        let mut permissions = std::fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(&path, permissions).unwrap();
        assert_eq!(read(&path).unwrap(), run("a", 1));
    }

    #[test]
    fn runs_are_seen_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.db");
        let mut table = Table::open(&path).unwrap();
        table.record(&run("a", 1)).unwrap();
        table.record(&run("b", 1)).unwrap();
        let stages = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
        let mut query = table.connection.prepare("SELECT stages FROM runs").unwrap();
        assert_eq!(query.query_map([], stages).unwrap().collect::<Result<Vec<_>, _>>().unwrap(), [3, 3]);
    }
}
