//! Positions as the Language Server Protocol counts them, without its types.

/// What a column counts, as agreed with the editor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units, the protocol's default.
    #[default]
    Utf16,
    /// Characters (Unicode scalar values); what the command line prints, plus one.
    Utf32,
}

/// A zero-based line and column; the column's unit is an [`Encoding`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Position {
    /// Line, from 0.
    pub line: u32,
    /// Column in units of the encoding, from 0.
    pub column: u32,
}
