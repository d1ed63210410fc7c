//! The command line: one file per subcommand.

use std::process::ExitCode;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    crate::lsp::serve()
}
