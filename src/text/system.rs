//! What the system says when a file can't be used, as people read it.

use std::io;

/// The words of an error, without the number that Rust puts behind those of the system.
pub fn plainly(error: &io::Error) -> String {
    let words = error.to_string();
    match error.raw_os_error() {
        Some(number) => words.trim_end_matches(&format!(" (os error {number})")).trim_end_matches('.').to_owned(),
        None => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_left_out() {
        let missing = std::fs::metadata("/nowhere/at/all").unwrap_err();
        assert!(missing.to_string().contains("os error"), "{missing}");
        assert!(!plainly(&missing).contains("os error"), "{}", plainly(&missing));
        assert_eq!(plainly(&io::Error::other("not found (404)")), "not found (404)");
    }
}
