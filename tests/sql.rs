//! SQL in Python: places are exact to the character, and no text of SQL breaks the reader or makes it slow.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use sparkls::pyspark::plan::{Operator, Source};
use sparkls::pyspark::{PythonFile, StaticPlan, sql_script};

fn plan(text: &str) -> Arc<StaticPlan> {
    PythonFile::parse(&Arc::from(text)).plan().clone()
}

/// The words that stand for the constructs of all texts of SQL in a file, in order.
fn words(code: &str) -> Vec<String> {
    let text = format!("from pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n{code}\n");
    let plan = plan(&text);
    let sites = plan.nodes.iter().filter_map(|node| node.site.as_ref()).filter(|site| site.is_sql());
    sites.map(|site| site.method.of(&text).to_owned()).collect()
}

/// The clauses of all texts of SQL in a file, in order.
fn clauses(code: &str) -> Vec<String> {
    let text = format!("from pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n{code}\n");
    let plan = plan(&text);
    let sites = plan.nodes.iter().filter_map(|node| node.site.as_ref()).filter(|site| site.is_sql());
    sites.map(|site| format!("{} | {}", site.call.of(&text), site.arguments.of(&text))).collect()
}

#[test]
fn a_clause_is_its_keyword_and_what_it_holds() {
    assert_eq!(
        clauses(
            "spark.sql('SELECT a, b FROM t LEFT OUTER JOIN u ON t.k = u.k WHERE a = 1 GROUP BY a, b ORDER BY a LIMIT 3')"
        ),
        [
            "t | ",
            "u | ",
            "LEFT OUTER JOIN u ON t.k = u.k | u ON t.k = u.k",
            "WHERE a = 1 | a = 1",
            "GROUP BY a, b | a, b",
            "ORDER BY a | a",
            "LIMIT 3 | 3",
        ]
    );
    assert_eq!(
        clauses("spark.sql('SELECT /*+ COALESCE(1) */ max(a) FROM t JOIN u USING (k) JOIN v USING (k)')"),
        [
            "t | ",
            "u | ",
            "JOIN u USING (k) | u USING (k)",
            "v | ",
            "JOIN v USING (k) | v USING (k)",
            "SELECT /*+ COALESCE(1) */ max(a) | max(a)",
            "COALESCE(1) | (1)",
        ]
    );
}

#[test]
fn places_lead_through_every_way_to_write_a_text() {
    let expected = ["t", "u", "JOIN", "WHERE", "SELECT", "LIMIT"];
    for code in [
        "spark.sql('SELECT * FROM t JOIN u USING (k) WHERE x > 1 LIMIT 3')",
        "spark.sql(r'SELECT * FROM t JOIN u USING (k) WHERE x > \"\\d\" LIMIT 3')",
        "spark.sql('\\tSELECT *\\n\\x20FROM t JOIN u USING (k) WHERE x > \"\\u00e9\" LIMIT 3')",
        "spark.sql('''\n  SELECT * -- é😀\n  FROM t\\\n  JOIN u USING (k) WHERE x > 1 LIMIT 3''')",
        "spark.sql('SELECT * ' \"FROM t JOIN u \" f'USING (k) WHERE {x} ' 'LIMIT 3')",
        "spark.sql(f'SELECT {{a}}, {x} FROM t JOIN u USING (k) WHERE {y} > {z!r} LIMIT 3'.replace('', ''))",
        "spark.sql('SELECT {} FROM t JOIN u USING (k) WHERE {x} LIMIT 3'.format(1, x=2))",
        "spark.sql('  SELECT * FROM t JOIN u USING (k) WHERE x > 1 LIMIT 3 '.strip())",
        "q = 'SELECT * FROM t '\nq += 'JOIN u USING (k) '\nspark.sql(q + 'WHERE x > 1 ' + 'LIMIT 3')",
        "q = f'''SELECT * FROM t JOIN u USING (k) WHERE x > {x} LIMIT 3'''\nspark.sql(q)",
    ] {
        let found = words(code);
        if code.contains("replace") {
            assert!(found.is_empty(), "{code}: {found:?}");
        } else {
            assert_eq!(found, expected, "{code}");
        }
    }
}

#[test]
fn a_name_that_is_no_text_of_the_query_stands_where_it_is_named() {
    assert_eq!(words("T = 't'\nspark.sql(f'SELECT * FROM {T} LIMIT 3')"), ["T", "SELECT", "LIMIT"]);
    assert_eq!(words("spark.sql(f'SELECT * FROM {t} LIMIT 3')"), ["t", "SELECT", "LIMIT"]);
}

#[test]
fn an_edit_elsewhere_keeps_the_query() {
    let text = "import pyspark\nspark.sql('SELECT * FROM a, b')\nx = 1\n";
    let file = PythonFile::parse(&Arc::from(text));
    let changed = text.replace("x = 1", "x = 12");
    let again = PythonFile::parse(&Arc::from(changed.as_str()));
    assert_eq!(format!("{:?}", file.plan().nodes), format!("{:?}", again.plan().nodes));
}

#[test]
fn a_script_is_one_statement_after_the_other() {
    let text =
        "-- days\nCREATE TEMP VIEW v AS SELECT ';' AS a FROM t, u;\nSELEC nothing;\nINSERT INTO x SELECT a FROM v\n";
    let plan = sql_script(text);
    let sites = plan.nodes.iter().filter_map(|node| node.site.as_ref());
    let words: Vec<&str> = sites.map(|site| site.method.of(text)).collect();
    assert_eq!(words, ["t", "u", ",", "SELECT", "SELECT"]);
    let [insert] = &plan.actions[..] else { panic!("{:?}", plan.actions) };
    assert_eq!(
        (insert.site.method.of(text), insert.site.statement.of(text).trim()),
        ("INSERT", "INSERT INTO x SELECT a FROM v")
    );
}

/// Reads a text of SQL, in time.
fn read(sql: &str) -> Arc<StaticPlan> {
    let start = Instant::now();
    let plan = plan(&format!("import pyspark\ndf = spark.sql('''{sql}''')\ndf.collect()\n"));
    assert!(start.elapsed() < Duration::from_secs(10), "{} bytes took {:?}", sql.len(), start.elapsed());
    let is_kept = |operator: &Operator| matches!(operator, Operator::Source(Source::Sql { .. }));
    assert!(plan.nodes.iter().any(|node| is_kept(&node.operator)), "{}", &sql[..sql.len().min(80)]);
    plan
}

#[test]
fn nothing_is_too_deep_or_too_long() {
    let many = 20_000;
    for sql in [
        format!("SELECT {}1{}", "(".repeat(many), ")".repeat(many)),
        format!("SELECT * FROM {}t{}", "(".repeat(many), ")".repeat(many)),
        format!("SELECT * FROM {}t{}", "(".repeat(40), ")".repeat(40)),
        format!("SELECT {}1{}", "(".repeat(45), ")".repeat(45)),
        format!("SELECT * FROM {}t{}", "(SELECT * FROM ".repeat(many), ")".repeat(many)),
        format!("SELECT * FROM {}t{}", "(SELECT * FROM ".repeat(40), ") x".repeat(40)),
        format!("SELECT {}1{}", "f(".repeat(45), ")".repeat(45)),
        format!("SELECT {}", "f(".repeat(many)),
        format!("SELECT * FROM t WHERE {}", vec!["a = 1"; many].join(" AND ")),
        format!("SELECT * FROM t WHERE {}", vec!["a = 1"; 300].join(" OR ")),
        format!("SELECT {}", vec!["a"; many].join(" + ")),
        format!("SELECT {}", "NOT ".repeat(many)),
        format!("SELECT {}1", "- ".repeat(many)),
        format!("SELECT * FROM t WHERE a IN ({})", vec!["1"; many].join(", ")),
        vec!["SELECT 1"; many / 4].join(" UNION ALL "),
        vec!["SELECT 1"; 300].join(" UNION "),
        format!("SELECT * FROM t {}", "JOIN u USING (k) ".repeat(2000)),
        format!("SELECT * FROM t{}", ", u".repeat(2000)),
        format!("SELECT * FROM t{}", " PIVOT (sum(a) FOR b IN (1))".repeat(2000)),
        format!("SELECT CASE {} END", "WHEN a THEN CASE ".repeat(many)),
        format!("SELECT a{} FROM t", ".b".repeat(many)),
        format!("SELECT a{} FROM t", "[0]".repeat(many)),
        format!("SELECT 'é{}' FROM t", "😀".repeat(many)),
        format!(
            "WITH {} SELECT * FROM c1",
            (0..500).map(|at| format!("c{at} AS (SELECT 1)")).collect::<Vec<_>>().join(", ")
        ),
        "SELECT \\'".to_owned(),
        "/*+ ".to_owned(),
        "SELECT /*+ BROADCAST( */ 1".to_owned(),
        "INSERT INTO".to_owned(),
        "CREATE TABLE AS SELECT".to_owned(),
        "INSERT OVERWRITE DIRECTORY SELECT 1".to_owned(),
        "CACHE TABLE".to_owned(),
        ")))) SELECT ((((".to_owned(),
        ";;;".to_owned(),
    ] {
        read(&sql);
    }
}

#[test]
fn every_beginning_of_a_statement_is_read() {
    let sql = "WITH a AS (SELECT /*+ BROADCAST(t), COALESCE(1) */ k, sum(v) OVER (PARTITION BY k ORDER BY `d é`) FROM t, u \
               WHERE x IN (SELECT 1) GROUP BY ALL) INSERT INTO b SELECT * FROM a TABLESAMPLE (5 ROWS) LIMIT 3";
    for (end, _) in sql.char_indices() {
        read(&sql[..end]);
        read(&format!("INSERT INTO x PARTITION (d) {}", &sql[..end]));
        read(&format!("CREATE TABLE x USING y AS {}", &sql[..end]));
        read(&sql[end..].replace('\'', ""));
    }
}
