//! `sparkls server`.

use std::process::ExitCode;

/// For who starts the server to see what it does.
const BY_HAND: &str = "\
sparkls server: waiting for an editor, which starts this command by itself and speaks LSP over stdin; Ctrl-C ends it.
By hand: `sparkls check` looks at the files here.";

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
    super::terminal::tell_that_input_is_read(BY_HAND);
    crate::lsp::serve()
}
