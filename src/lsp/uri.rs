//! Addresses: compared decoded, published as the client wrote them.

use std::path::{Path, PathBuf};

use tower_lsp_server::ls_types::Uri;

/// What two spellings of one address have in common: `file:///c%3A/a` and `file:///C:/a` are one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key(String);

impl Key {
    pub(super) fn of(uri: &Uri) -> Self {
        let mut decoded = decode(uri.as_str());
        if let Some(drive) = drive(&decoded) {
            decoded.replace_range(drive..drive + 1, &decoded[drive..drive + 1].to_ascii_lowercase());
        }
        Self(decoded)
    }
}

/// Where the letter of a Windows drive stands in `file:///C:/…`.
fn drive(decoded: &str) -> Option<usize> {
    let path = decoded.strip_prefix("file:///")?.as_bytes();
    (path.len() >= 2 && path[0].is_ascii_alphabetic() && path[1] == b':').then_some("file:///".len())
}

/// Percent escapes replaced; what is no escape, or no UTF-8, stays.
fn decode(uri: &str) -> String {
    let bytes = uri.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = uri.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        match escaped.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(decoded).unwrap_or_else(|_| uri.to_owned())
}

/// The path of a `file:` address; for others (`untitled:`) the last part as a name, which lies in no folder.
pub(super) fn path(uri: &Uri) -> PathBuf {
    if is_file(uri)
        && let Some(path) = uri.to_file_path()
    {
        return path.into_owned();
    }
    let decoded = decode(uri.as_str());
    PathBuf::from(decoded.rsplit(['/', ':']).next().unwrap_or_default())
}

/// Whether the address is one of a file.
pub(super) fn is_file(uri: &Uri) -> bool {
    uri.scheme().as_str().eq_ignore_ascii_case("file")
}

/// The address of a path.
pub(super) fn of_path(path: &Path) -> Option<Uri> {
    path.is_absolute().then(|| Uri::from_file_path(path)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(text: &str) -> Uri {
        text.parse().unwrap()
    }

    #[test]
    fn spellings_of_one_file_are_one() {
        assert_eq!(Key::of(&uri("file:///c%3A/a%20b/x.py")), Key::of(&uri("file:///C:/a%20b/x.py")));
        assert_eq!(Key::of(&uri("file:///a/x%2By%40z.py")), Key::of(&uri("file:///a/x+y@z.py")));
        assert_ne!(Key::of(&uri("file:///a/X.py")), Key::of(&uri("file:///a/x.py")));
    }

    #[test]
    fn an_unsaved_document_has_a_name_and_no_folder() {
        assert_eq!(path(&uri("untitled:Untitled-1")), PathBuf::from("Untitled-1"));
        assert!(!path(&uri("untitled:Untitled-1")).is_absolute());
    }

    #[test]
    fn strange_escapes_do_no_harm() {
        for text in ["file:///a%zz", "file:///%", "file:///%f", "file:///%ff%fe", "untitled:%e2%98"] {
            if let Ok(uri) = text.parse() {
                let _ = (Key::of(&uri), path(&uri));
            }
        }
    }
}
