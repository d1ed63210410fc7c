//! `sparkls man`: manual pages, for packages.

use std::io::Write as _;
use std::path::PathBuf;

use clap::CommandFactory as _;
use clap_mangen::Man;

use super::{Cli, Exit};

/// Print the manual page, or write that of every command into a folder.
///
/// For example: sparkls man --to ~/.local/share/man/man1
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Write sparkls.1, sparkls-check.1 and so on into this folder.
    #[arg(long, value_name = "FOLDER")]
    to: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    let command = Cli::command();
    match &args.to {
        Some(folder) => {
            std::fs::create_dir_all(folder)
                .and_then(|()| clap_mangen::generate_to(command, folder))
                .map_err(|error| anyhow::anyhow!("{}: {error}", folder.display()))?;
        }
        None => {
            let mut page = Vec::new();
            Man::new(command).render(&mut page)?;
            std::io::stdout().write_all(&page)?;
        }
    }
    Ok(Exit::Clean)
}
