//! The language server: the only room that knows LSP types.
