//! Secrets in the text of a job.

use crate::declare_rule;
use crate::pyspark::plan::{ActionKind, Literal, Operator, Source};
use crate::rules::{CodeContext, Finding, Severity};
use crate::text::Span;

declare_rule! {
    /// A password, key or token written as a literal, also in the URL or the properties of a JDBC connection.
    ///
    /// ## Why
    /// Whoever reads the repository, the event log or the Environment tab reads the secret, and it can't be changed without a release.
    ///
    /// ## Silent when
    /// - the value comes from the environment, a secret scope or a variable that the file doesn't tell;
    /// - it is a placeholder or a word that nobody takes for a secret (`password`, `changeme`, `<token>`, `${PASSWORD}`).
    ///
    /// ## Example
    /// ```python
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// reader = spark.read.format("jdbc").option("url", "jdbc:postgresql://db/shop").option("dbtable", "(select 1) t")
    /// rows = reader.option("password", "zq7-Kf29-pLw").load()  # finding
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// import os
    ///
    /// from pyspark.sql import SparkSession
    ///
    /// spark = SparkSession.builder.getOrCreate()
    /// reader = spark.read.format("jdbc").option("url", "jdbc:postgresql://db/shop").option("dbtable", "(select 1) t")
    /// rows = reader.option("password", os.environ["SHOP_PASSWORD"]).load()
    /// ```
    ///
    /// ## Sources
    /// - <https://spark.apache.org/docs/latest/security.html>
    pub SECRET_IN_CODE = {
        name: "secret-in-code", group: Correctness, severity: Information, confidence: Reasoned,
        since: "0.1.0", check: Code(check),
    }
}

/// A name and a value, and the call that holds them.
type Named<'a> = (&'a str, &'a str, Span);

fn check(cx: &mut CodeContext<'_>) {
    let mut found: Vec<(String, Span)> = Vec::new();
    for (name, value, call) in options(cx) {
        if is_secret(name) && is_value(value) {
            found.push((name.to_owned(), place(cx.shared.text, call, value)));
        } else if let Some(range) = secret_of_url(value) {
            found.push(("the JDBC URL".to_owned(), inside(cx.shared.text, call, value, range)));
        }
    }
    for setting in &cx.plan.settings {
        let Some(written) = setting.value.literal() else { continue };
        let is_url = secret_of_url(written).is_some();
        if (is_url || is_secret(&setting.key.to_ascii_lowercase()) && is_value(written))
            && !setting.value_span.is_empty()
        {
            found.push((setting.key.clone(), setting.value_span));
        }
    }
    found.sort_by_key(|(_, span)| *span);
    found.dedup_by_key(|(_, span)| *span);
    for (name, span) in found {
        let message = format!(
            "The secret for {name} stands in the code, where everyone who sees the repository or the job's settings reads it. Take it from the environment or a secret store."
        );
        let finding = Finding::new(cx.shared.rule, Severity::Information, span, message);
        cx.shared.report(finding);
    }
}

fn options<'a>(cx: &CodeContext<'a>) -> Vec<Named<'a>> {
    let plan = cx.plan;
    let mut all: Vec<Named<'a>> = Vec::new();
    let mut add = |options: &'a [(String, Literal)], call: Span| {
        for (name, value) in options {
            match value {
                Literal::Text(value) => all.push((name, value, call)),
                Literal::Dict(entries) => all.extend(entries.iter().filter_map(|entry| match entry {
                    (Literal::Text(name), Literal::Text(value)) => Some((name.as_str(), value.as_str(), call)),
                    _ => None,
                })),
                _ => {}
            }
        }
    };
    let mut sites = Vec::new();
    for node in &plan.nodes {
        if let (Operator::Source(Source::Read { options, .. }), Some(site)) = (&node.operator, &node.site) {
            add(options, site.call);
            sites.push(site);
        }
    }
    for action in &plan.actions {
        if let ActionKind::Write(write) = &action.kind {
            add(&write.options, action.site.call);
            sites.push(&action.site);
        }
    }
    for stream in &plan.streams {
        add(&stream.write.options, stream.site.call);
    }
    // `jdbc(url, table, properties={...})`, by position too.
    for site in sites.into_iter().filter(|site| site.method.of(cx.shared.text) == "jdbc") {
        for argument in &site.args {
            match &argument.value {
                Literal::Text(url) => all.push(("url", url, site.call)),
                Literal::Dict(entries) => all.extend(entries.iter().filter_map(|entry| match entry {
                    (Literal::Text(name), Literal::Text(value)) => Some((name.as_str(), value.as_str(), site.call)),
                    _ => None,
                })),
                _ => {}
            }
        }
    }
    all
}

/// Where a JDBC URL holds a password: `...;password=x`, `...?user=a&password=x`, `//user:x@host`, `thin:user/x@host`.
fn secret_of_url(url: &str) -> Option<std::ops::Range<usize>> {
    if !url.starts_with("jdbc:") {
        return None;
    }
    let place = |part: &str| {
        let start = part.as_ptr() as usize - url.as_ptr() as usize;
        start..start + part.len()
    };
    let parameters = url.split(['?', '&', ';', ',']).skip(1).filter_map(|pair| pair.split_once('='));
    let named = parameters.into_iter().find(|(name, value)| is_secret(name) && is_value(value)).map(|(_, value)| value);
    let login = url.split_once('@').map(|(before, _)| before);
    let by_login = login.and_then(|before| match before.split_once("//") {
        Some((_, login)) => login.split_once(':').map(|(_, secret)| secret),
        None => before.split_once("thin:").and_then(|(_, login)| login.split_once('/')).map(|(_, secret)| secret),
    });
    named.or(by_login.filter(|secret| is_value(secret))).map(place)
}

/// Where a part of a value is written; the value's place if its characters aren't those of the text.
fn inside(text: &str, call: Span, value: &str, range: std::ops::Range<usize>) -> Span {
    let whole = place(text, call, value);
    match whole.of(text) == value {
        true => Span::new(whole.start as usize + range.start, whole.start as usize + range.end),
        false => whole,
    }
}

/// Where the value is written in the call; where it comes from a variable, the call's last name.
fn place(text: &str, call: Span, value: &str) -> Span {
    let written = call.of(text);
    for quote in ['"', '\''] {
        if let Some(at) = written.find(&format!("{quote}{value}{quote}")) {
            let start = call.start as usize + at + 1;
            return Span::new(start, start + value.len());
        }
    }
    // A variable's value stands elsewhere, perhaps in one place.
    let elsewhere = |quote: char| text.match_indices(&format!("{quote}{value}{quote}")).map(|(at, _)| at + 1).collect();
    let places: Vec<Vec<usize>> = ['"', '\''].map(elsewhere).into();
    if let [start] = places.concat()[..] {
        return Span::new(start, start + value.len());
    }
    let end = written.rfind('(').unwrap_or(written.len());
    let name = written[..end].trim_end();
    let start = name.rfind('.').map_or(0, |at| at + 1);
    Span::new(call.start as usize + start, call.start as usize + name.len())
}

fn is_secret(name: &str) -> bool {
    const PARTS: [&str; 12] = [
        "password",
        "passwd",
        "pwd",
        "secret",
        "secret.key",
        "secretkey",
        "secret_key",
        "secretaccesskey",
        "token",
        "accountkey",
        "apikey",
        "api_key",
    ];
    let name = name.to_ascii_lowercase();
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_account_key = name.contains("fs.azure.account.key.") || name.ends_with(".secret.key");
    let is_about = [
        "provider",
        "file",
        "path",
        "endpoint",
        "enabled",
        "type",
        "scope",
        "timeout",
        "interval",
        "renewal",
        "tokenizer",
        "location",
        "expir",
        "class",
        "filesystems",
    ];
    let about = is_about.iter().any(|word| last.contains(word));
    is_account_key || !about && PARTS.iter().any(|part| last.ends_with(part))
}

/// Whether the text may be a secret: no placeholder, no word for one.
fn is_value(value: &str) -> bool {
    const WORDS: [&str; 18] = [
        "password",
        "passwd",
        "secret",
        "token",
        "changeme",
        "change_me",
        "example",
        "placeholder",
        "dummy",
        "your",
        "test",
        "xxx",
        "***",
        "redacted",
        "none",
        "null",
        "true",
        "false",
    ];
    let lower = value.to_ascii_lowercase();
    let template = ["<", "{", "$", "%(", "@"].iter().any(|mark| value.starts_with(mark))
        || value.contains("${")
        || value.contains("{{");
    value.len() >= 4 && !template && !value.contains(' ') && WORDS.iter().all(|word| !lower.contains(word))
}
