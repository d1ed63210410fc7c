//! Hosts and secrets as they are spelled in logs.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::LazyLock;

use regex::Regex;

/// What Spark itself puts in the place of a secret.
pub(super) const REDACTED: &str = "*********(redacted)";

/// Spark's default `spark.redaction.regex`, with the separators of access keys that vendors use.
static SECRET: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)secret|password|token|access[._-]?key").ok());

fn is_secret(text: &str) -> bool {
    // A pattern that can't be built would hide nothing: then hide everything.
    SECRET.as_ref().is_none_or(|secret| secret.is_match(text))
}

/// The value of a setting, or the sign for a secret if its key or its value looks like one.
pub(super) fn redact(key: &str, value: String) -> String {
    if is_secret(key) || is_secret(&value) { REDACTED.to_owned() } else { value }
}

/// A command line with the values of secret `key=value` words hidden.
pub(super) fn redact_command(command: &str) -> String {
    let words = command.split(' ').map(|word| match word.split_once('=') {
        Some((key, value)) if is_secret(key) || is_secret(value) => format!("{key}={REDACTED}"),
        _ => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// One spelling for one host: no port, no brackets, no zone, no final dot, lower case, IPv6 in its short form.
pub(super) fn host(written: &str) -> String {
    let text = written.trim();
    let text = text.strip_prefix("[").and_then(|rest| rest.split_once(']')).map_or(text, |(inside, _)| inside);
    // Java prints resolved addresses as `name/10.0.0.1` and unresolved ones as `/10.0.0.1`.
    let text = match text.split_once('/') {
        Some(("", address)) => address,
        Some((name, _)) => name,
        None => text,
    };
    let text = match text.split_once(':') {
        Some((name, port)) if !port.contains(':') => name,
        _ => text,
    };
    let address = text.split('%').next().unwrap_or(text);
    if let Ok(address) = address.parse::<Ipv6Addr>() {
        return IpAddr::V6(address).to_canonical().to_string();
    }
    text.trim_end_matches('.').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_host() {
        for spelling in ["worker1", "WORKER1", "worker1:7337", "worker1.", "worker1/10.0.0.1", "worker1/10.0.0.1:7337"]
        {
            assert_eq!(host(spelling), "worker1", "{spelling}");
        }
        for spelling in ["10.0.0.1", "/10.0.0.1:35123", "10.0.0.1:1", "::ffff:10.0.0.1"] {
            assert_eq!(host(spelling), "10.0.0.1", "{spelling}");
        }
        for spelling in ["fe80::1", "[fe80::1]", "[FE80:0:0:0:0:0:0:1]:7337", "fe80::1%eth0"] {
            assert_eq!(host(spelling), "fe80::1", "{spelling}");
        }
        assert_ne!(host("worker1.a"), host("worker1.b"));
    }

    #[test]
    fn secrets_are_hidden_by_key_and_by_value() {
        for key in ["spark.hadoop.fs.s3a.secret.key", "fs.s3a.access.key", "spark.authToken", "javax.PASSWORD"] {
            assert_eq!(redact(key, "x".into()), REDACTED, "{key}");
        }
        assert_eq!(redact("spark.driver.extraJavaOptions", "-Dpassword=x".into()), REDACTED);
        assert_eq!(redact("spark.executor.memory", "2g".into()), "2g");
        assert_eq!(
            redact_command("SparkSubmit --conf spark.a.secret=x job.py"),
            format!("SparkSubmit --conf spark.a.secret={REDACTED} job.py")
        );
    }
}
