//! Texts that stand in many places of a run: names of operators and metrics, call sites, stacks.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use rustc_hash::FxHashSet;

/// A text that is held once, however many places it stands in; see [`SharedTexts`].
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Shared(Arc<str>);

impl Shared {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for Shared {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Shared {
    fn borrow(&self) -> &str {
        self
    }
}

impl From<&str> for Shared {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl PartialEq<&str> for Shared {
    fn eq(&self, other: &&str) -> bool {
        **self == **other
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl fmt::Display for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}

/// The texts met while a run is read.
#[derive(Debug, Clone, Default)]
pub struct SharedTexts(FxHashSet<Shared>);

impl SharedTexts {
    /// The one that says this.
    pub fn get(&mut self, text: &str) -> Shared {
        if let Some(known) = self.0.get(text) {
            return known.clone();
        }
        let shared = Shared::from(text);
        self.0.insert(shared.clone());
        shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_held_once() {
        let mut texts = SharedTexts::default();
        let (first, second, other) = (texts.get("Exchange"), texts.get("Exchange"), texts.get("Sort"));
        assert_eq!((&first, &*other), (&second, "Sort"));
        assert!(Arc::ptr_eq(&first.0, &second.0));
    }
}
