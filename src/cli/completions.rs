//! `sparkls completions`.

use std::io::Write as _;

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::{Cli, Exit};

/// Print a completion script for a shell.
///
/// For example: sparkls completions bash > ~/.local/share/bash-completion/completions/sparkls
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The shell.
    shell: Shell,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "sparkls", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(Exit::Clean)
}
