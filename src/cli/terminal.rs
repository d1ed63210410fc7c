//! What the terminal is like, if there is one.

use std::io::{self, IsTerminal as _, Write as _};

use terminal_size::{Width, terminal_size_of};

/// Columns of the terminal that standard output goes to.
pub(super) fn columns() -> Option<usize> {
    terminal_size_of(io::stdout()).map(|(Width(columns), _)| columns.into())
}

/// Tells who sits before standard input that it is read, if nothing is sent into it.
pub(super) fn tell_that_input_is_read(what: &str) {
    if io::stdin().is_terminal() {
        // Nobody is left to tell if stderr is closed.
        let _ = writeln!(anstream::stderr(), "{what}");
    }
}
