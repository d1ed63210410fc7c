//! The command line: one file per subcommand.

pub(crate) mod progress;
pub mod report;

use std::process::ExitCode;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    crate::lsp::serve()
}
