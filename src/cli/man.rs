//! `sparkls man`: manual pages, for packages.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Command, CommandFactory as _};
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
    let mut command = Cli::command();
    command.build();
    match &args.to {
        Some(folder) => {
            write_all(&command, folder).with_context(|| folder.display().to_string())?;
        }
        None => std::io::stdout().write_all(&page(&command)?)?,
    }
    Ok(Exit::Clean)
}

fn write_all(command: &Command, folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let shown = command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help");
    for command in std::iter::once(command).chain(shown) {
        std::fs::write(folder.join(format!("{}.1", name(command))), page(command)?)?;
    }
    Ok(())
}

/// `sparkls`, `sparkls-check`.
fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

fn page(command: &Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    let source = concat!("sparkls ", env!("CARGO_PKG_VERSION"));
    Man::new(command.clone()).title(name(command)).source(source).render(&mut page)?;
    Ok(page)
}
