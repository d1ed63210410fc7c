//! Whose SQL a script is, by its words: files that end in `.sql` are of every database.

use super::scan::tokens;

/// Whose SQL a script is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SqlDialect {
    /// It says what only Spark and its kin say.
    Spark,
    /// Nothing in it tells.
    Any,
    /// Another database's, or a template of a tool that writes SQL.
    Other,
}

/// Words in a row that Spark's SQL has, and the databases that such files are mostly for have not.
const SPARK: [&[&str]; 22] = [
    &["USING", "PARQUET"],
    &["USING", "DELTA"],
    &["USING", "ORC"],
    &["USING", "ICEBERG"],
    &["USING", "HUDI"],
    &["USING", "CSV"],
    &["USING", "JSON"],
    &["USING", "AVRO"],
    &["GLOBAL", "TEMPORARY", "VIEW"],
    &["INSERT", "OVERWRITE"],
    &["LATERAL", "VIEW"],
    &["DISTRIBUTE", "BY"],
    &["SORT", "BY"],
    &["STORED", "AS"],
    &["PARTITIONED", "BY"],
    &["TBLPROPERTIES"],
    &["CACHE", "TABLE"],
    &["UNCACHE", "TABLE"],
    &["MSCK", "REPAIR"],
    &["REFRESH", "TABLE"],
    &["ZORDER", "BY"],
    &["SET", "SPARK", "."],
];

/// Words in a row that are no SQL of Spark's.
const OTHER: [&[&str]; 46] = [
    &["SERIAL"],
    &["BIGSERIAL"],
    &["AUTO_INCREMENT"],
    &["AUTOINCREMENT"],
    &["ENGINE", "="],
    &["NVARCHAR"],
    &["VARCHAR2"],
    &["NUMBER"],
    &["TIMESTAMPTZ"],
    &["JSONB"],
    &["BYTEA"],
    &["PLPGSQL"],
    &["RETURNING"],
    &["ON", "CONFLICT"],
    &["ON", "DUPLICATE"],
    &["DBO"],
    &["DISTKEY"],
    &["SORTKEY"],
    &["DISTSTYLE"],
    &["PRIMARY", "KEY"],
    &["FOREIGN", "KEY"],
    &["NEXTVAL"],
    &["PRAGMA"],
    &["DELIMITER"],
    &["COMMIT"],
    &["ROLLBACK"],
    &["BEGIN", "TRANSACTION"],
    &["BEGIN", ";"],
    &["SELECT", "TOP"],
    &["NOLOCK"],
    &["FROM", "DUAL"],
    &["ROWNUM"],
    &["SYSDATE"],
    &["UNNEST"],
    &["LATERAL", "FLATTEN"],
    &["GENERATE_SERIES"],
    &["SAFE_CAST"],
    &["CREATE", "EXTENSION"],
    &["CREATE", "INDEX"],
    &["CREATE", "UNIQUE"],
    &["CREATE", "TRIGGER"],
    &["CREATE", "SEQUENCE"],
    &["CREATE", "TYPE"],
    &["CREATE", "PROCEDURE"],
    &["GO", "CREATE"],
    &["$", "$"],
];

/// Hints that databases with comments of this form don't have.
const HINTS: [&str; 10] = [
    "BROADCAST",
    "BROADCASTJOIN",
    "MAPJOIN",
    "COALESCE",
    "REPARTITION",
    "REPARTITION_BY_RANGE",
    "REBALANCE",
    "SHUFFLE_HASH",
    "SHUFFLE_REPLICATE_NL",
    "SHUFFLE_MERGE",
];

/// Tells whose SQL a script is. What looks like both is Spark's: the words of others are also names of columns.
pub fn sql_dialect(text: &str) -> SqlDialect {
    if is_template(text) {
        return SqlDialect::Other;
    }
    let tokens = tokens(text);
    let words: Vec<&str> = tokens.iter().map(|token| token.text).collect();
    let says = |row: &&[&str], at: usize| {
        let found = words.get(at..at + row.len()).unwrap_or_default();
        // `USING (parquet)` names a column.
        let is_together = || tokens[at..at + row.len()].iter().all(|token| token.depth == tokens[at].depth);
        found.len() == row.len()
            && is_together()
            && found.iter().zip(*row).all(|(found, word)| found.eq_ignore_ascii_case(word))
    };
    let says_any = |rows: &[&[&str]]| (0..words.len()).any(|at| rows.iter().any(|row| says(row, at)));
    if has_hint(text) || says_any(&SPARK) {
        SqlDialect::Spark
    } else if says_any(&OTHER) || words.windows(2).any(is_foreign_name) || text.contains("::") {
        SqlDialect::Other
    } else {
        SqlDialect::Any
    }
}

/// Jinja's statements, and the calls that dbt's models are made of.
fn is_template(text: &str) -> bool {
    let calls = ["ref(", "source(", "config(", "var(", "this"];
    let is_call = |behind: &str| calls.iter().any(|call| behind.trim_start_matches(['-', ' ']).starts_with(call));
    text.contains("{%") || text.split("{{").skip(1).any(is_call)
}

fn has_hint(text: &str) -> bool {
    text.split("/*+").skip(1).any(|behind| {
        let word = behind.trim_start().split(|letter: char| !letter.is_alphanumeric() && letter != '_').next();
        word.is_some_and(|word| HINTS.iter().any(|hint| word.eq_ignore_ascii_case(hint)))
    })
}

/// `"schema"."table"`, `[dbo].[table]`, `pg_class`, `\copy`: how others quote and name.
fn is_foreign_name(pair: &[&str]) -> bool {
    let [first, second] = pair else { return false };
    first.starts_with('"') && *second == "."
        || *first == "." && second.starts_with('"')
        || *first == "]" && *second == "."
        || first.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("pg_"))
        || *first == "\\"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_tell_whose_a_script_is() {
        use SqlDialect::*;
        for (text, dialect) in [
            ("SELECT a FROM t JOIN u USING (parquet)", Any),
            ("CREATE TABLE t USING delta AS SELECT * FROM u", Spark),
            ("set spark.sql.shuffle.partitions=8;", Spark),
            ("SELECT /*+ broadcast(t) */ * FROM t", Spark),
            ("SELECT /*+ INDEX(t) */ * FROM t", Any),
            ("-- USING delta\nSELECT 'INSERT OVERWRITE' FROM t", Any),
            ("CREATE TABLE t (id SERIAL, a TEXT)", Other),
            ("CREATE TABLE t (id INT PRIMARY KEY) USING DELTA", Spark),
            ("SELECT a::int FROM t", Other),
            ("SELECT * FROM \"raw\".\"orders\"", Other),
            ("SELECT * FROM [dbo].[orders]", Other),
            ("SELECT * FROM {{ ref('orders') }}", Other),
            ("{% if x %}SELECT 1{% endif %}", Other),
            ("SELECT * FROM t WHERE d = '{{ ds }}'", Any),
            ("INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING", Other),
        ] {
            assert_eq!(sql_dialect(text), dialect, "{text}");
        }
    }
}
