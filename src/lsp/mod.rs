//! The language server: the only room that knows LSP types.
//!
//! Bytes become messages in `transport`, messages reach the handlers of `server` in the order of the wire, handlers take
//! an immutable `document::Snapshot` and hand the work to `work`; one file each answers one kind of question.

mod actions;
mod adoption;
mod capabilities;
mod cells;
mod commands;
mod completion;
mod configuration;
mod convert;
mod diagnostics;
mod document;
mod framing;
mod hints;
mod hover;
mod lenses;
mod log;
mod measured;
mod pages;
mod panics;
mod places;
mod process;
mod projects;
mod publish;
mod runs;
mod server;
mod session;
mod status;
mod symbols;
mod transport;
mod upgrade;
mod uri;
mod watch;
mod work;

use std::process::ExitCode;

use tokio::io::{AsyncRead, AsyncWrite};

/// Workers beside the reader: requests are answered there.
const WORKERS: usize = 2;
/// Parsers and serialisers recurse to a bounded depth; this is ample for it.
const STACK_BYTES: usize = 8 << 20;

/// Serves one editor on this process's standard input and output, and ends the process's work with the exit code that
/// the protocol asks for: 0 after `shutdown`, else 1.
pub fn serve() -> ExitCode {
    log::begin();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .thread_stack_size(STACK_BYTES)
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!("the server can't start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let code = runtime.block_on(run(tokio::io::stdin(), tokio::io::stdout()));
    // The runtime's own end would wait for a read of standard input that may never return.
    std::process::exit(code.into())
}

/// Serves one editor on any pair of streams until it says `exit` or the input ends; the result is the exit code.
pub async fn run<I, O>(input: I, output: O) -> u8
where
    I: AsyncRead + Unpin + Send + 'static,
    O: AsyncWrite + Unpin + Send + 'static,
{
    panics::watch();
    let (service, socket) = server::service();
    transport::serve(input, output, service, socket).await
}
