//! JSON values taken as they come: Spark's versions and vendors write numbers as text, nulls and objects in the same place.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::run::{Shared, SharedTexts};

/// A whole number, if the value is one in any spelling.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Number(pub(super) Option<i64>);

/// A text, if the value is one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Text<'a>(pub(super) Option<Cow<'a, str>>);

/// A flag; anything but `true` is `false`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Flag(pub(super) bool);

impl Number {
    /// The number within `u32`; negative ones are 0, as a duration or a size below 0 is.
    pub(super) fn clamped(self) -> Option<u32> {
        self.0.map(clamp_u32)
    }
}

impl Text<'_> {
    /// The text as an own string.
    pub(super) fn owned(self) -> Option<String> {
        self.0.map(Cow::into_owned)
    }

    /// The text as one that others share; empty if there is none.
    pub(super) fn shared(&self, texts: &mut SharedTexts) -> Shared {
        self.0.as_deref().map(|text| texts.get(text)).unwrap_or_default()
    }

    /// The text; empty if there is none.
    pub(super) fn or_empty(self) -> String {
        self.owned().unwrap_or_default()
    }
}

/// `value` within `u32`.
pub(super) fn clamp_u32(value: i64) -> u32 {
    u32::try_from(value.max(0)).unwrap_or(u32::MAX)
}

/// `value` without a sign.
pub(super) fn clamp_u64(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

struct NumberVisitor;

impl<'de> Visitor<'de> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_i64<E>(self, value: i64) -> Result<Number, E> {
        Ok(Number(Some(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Number, E> {
        Ok(Number(Some(i64::try_from(value).unwrap_or(i64::MAX))))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Number, E> {
        // `as` saturates; a number with a fraction or beyond i64 is still a measurement.
        Ok(Number(value.is_finite().then_some(value as i64)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Number, E> {
        Ok(Number(value.trim().parse().ok()))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Number, E> {
        Ok(Number(None))
    }

    fn visit_unit<E>(self) -> Result<Number, E> {
        Ok(Number(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Number, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Number(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Number, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Number(None))
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Borrowed(value))))
    }

    fn visit_str<E>(self, value: &str) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Owned(value.to_owned()))))
    }

    fn visit_string<E>(self, value: String) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Owned(value))))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Owned(value.to_string()))))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Owned(value.to_string()))))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Owned(value.to_string()))))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Borrowed(if value { "true" } else { "false" }))))
    }

    fn visit_unit<E>(self) -> Result<Text<'de>, E> {
        Ok(Text(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Text<'de>, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Text(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Text<'de>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Text(None))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text::deserialize(deserializer)?;
        Ok(Self(text.0.as_deref() == Some("true")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_in_many_spellings() {
        let read = |json: &str| serde_json::from_str::<Number>(json).unwrap().0;
        assert_eq!(read("12"), Some(12));
        assert_eq!(read("\"12\""), Some(12));
        assert_eq!(read("-1"), Some(-1));
        assert_eq!(read("1.0"), Some(1));
        for strange in ["null", "[]", "[1,{\"a\":2}]", "{\"a\":[]}", "\"1 ms\"", "true"] {
            assert_eq!(read(strange), None, "{strange}");
        }
    }

    #[test]
    fn texts_are_kept_and_the_rest_is_none() {
        let read = |json: &'static str| serde_json::from_str::<Text<'static>>(json).unwrap().owned();
        assert_eq!(read(r#""a\nb""#).as_deref(), Some("a\nb"));
        assert_eq!(read("7").as_deref(), Some("7"));
        assert_eq!(read("null"), None);
        assert_eq!(read("{\"a\":1}"), None);
    }
}
