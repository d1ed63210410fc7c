//! `sparkls server`.

use std::process::ExitCode;

/// Start the language server on stdin and stdout.
///
/// An editor does this. Log lines go to stderr; `SPARKLS_LOG=debug` makes them finer.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Accepted because some editors add it; there is no other transport.
    #[arg(long)]
    stdio: bool,
}

pub(super) fn run(args: &Args) -> ExitCode {
    let Args { stdio: _ } = args;
    crate::lsp::serve()
}
