//! The loop between the wire and the service, and what the protocol asks of it: order, survival, the exit code.
//!
//! Every request is polled once, in the order of arrival, on the reader; what is not done by then goes on as a task of
//! its own. So a handler that changes the session before its first wait changes it in wire order, and a slow one holds
//! nobody back.

use std::collections::VecDeque;
use std::task::Poll;

use futures::future::BoxFuture;
use futures::{FutureExt, SinkExt, StreamExt};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, BufReader};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tower::Service;
use tower_lsp_server::jsonrpc::{Error, ErrorCode, Id, Request, Response};
use tower_lsp_server::{ClientSocket, ExitedError, LspService};

use super::framing;
use super::panics;
use super::server::Backend;

/// Serves until `exit` or the end of the input. 0 if `shutdown` came before, else 1.
pub(super) async fn serve<I, O>(input: I, mut output: O, service: LspService<Backend>, socket: ClientSocket) -> u8
where
    I: AsyncRead + Unpin + Send + 'static,
    O: AsyncWrite + Unpin + Send + 'static,
{
    let (mut from_server, mut to_server) = socket.split();
    let (sender, mut outgoing) = unbounded_channel::<Vec<u8>>();
    let writer = tokio::spawn(async move {
        while let Some(body) = outgoing.recv().await {
            if framing::write(&mut output, &body).await.is_err() {
                return;
            }
        }
    });
    let requests = Outgoing(sender.clone());
    let forwarder = tokio::spawn(async move {
        while let Some(request) = from_server.next().await {
            requests.send(&request);
        }
    });
    let mut dispatcher = Dispatcher { service, outgoing: Outgoing(sender), phase: Phase::Fresh, shut_down: false };
    let mut input = BufReader::with_capacity(1 << 16, input);
    loop {
        match framing::read(&mut input).await {
            Ok(Some(body)) => match Incoming::parse(&body) {
                Ok(Incoming::Request(request)) if request.method() == "exit" => break,
                Ok(Incoming::Request(request)) => dispatcher.take(request),
                Ok(Incoming::Response(response)) => {
                    let _ = to_server.send(response).await;
                }
                Err(answer) => dispatcher.outgoing.send(&answer),
            },
            Ok(None) => {
                if matches!(dispatcher.phase, Phase::Fresh) {
                    tracing::warn!("standard input ended before an editor said anything");
                }
                break;
            }
            Err(error) => {
                tracing::error!("the client's messages can't be told apart any more: {error}");
                break;
            }
        }
    }
    let code = u8::from(!dispatcher.shut_down);
    // Answers that are ready are still written; nobody waits for work that goes on.
    forwarder.abort();
    drop(dispatcher);
    let _ = tokio::time::timeout(std::time::Duration::from_millis(100), writer).await;
    code
}

/// A message of the client.
enum Incoming {
    Request(Request),
    Response(Response),
}

impl Incoming {
    /// The message, or the answer to what is none.
    fn parse(body: &[u8]) -> Result<Self, Box<Response>> {
        let refuse = |id, error| Box::new(Response::from_error(id, error));
        let message: Value = serde_json::from_slice(body).map_err(|_| refuse(Id::Null, Error::parse_error()))?;
        let id = match message.get("id") {
            Some(Value::String(text)) => Id::String(text.clone()),
            Some(Value::Number(number)) => number.as_i64().map_or(Id::Null, Id::Number),
            _ => Id::Null,
        };
        let invalid = |_| refuse(id, Error::invalid_request());
        if message.get("method").is_some() {
            serde_json::from_value(message).map(Incoming::Request).map_err(invalid)
        } else {
            serde_json::from_value(message).map(Incoming::Response).map_err(invalid)
        }
    }
}

/// The way to the writer.
struct Outgoing(UnboundedSender<Vec<u8>>);

impl Outgoing {
    fn send(&self, message: &impl serde::Serialize) {
        match serde_json::to_vec(message) {
            // The receiver is gone only when the client is.
            Ok(body) => drop(self.0.send(body)),
            Err(error) => tracing::error!("a message can't be written as JSON: {error}"),
        }
    }
}

/// How far the handshake is.
enum Phase {
    /// No `initialize` yet.
    Fresh,
    /// `initialize` was answered; what comes before `initialized` waits here.
    Greeted(VecDeque<Request>),
    /// `initialized`.
    Open,
}

struct Dispatcher {
    service: LspService<Backend>,
    outgoing: Outgoing,
    phase: Phase,
    shut_down: bool,
}

impl Dispatcher {
    /// Takes one message in wire order: now, or after `initialized`.
    fn take(&mut self, request: Request) {
        match (&mut self.phase, request.method()) {
            (Phase::Greeted(held), "initialized" | "shutdown") => {
                let held = std::mem::take(held);
                self.phase = Phase::Open;
                // What was held came before a `shutdown` but belongs after `initialized`.
                let (first, last) =
                    if request.method() == "shutdown" { (None, Some(request)) } else { (Some(request), None) };
                first.into_iter().chain(held).chain(last).for_each(|request| self.call(request));
            }
            (Phase::Greeted(held), "$/cancelRequest") => {
                let cancelled =
                    request.params().and_then(|params| serde_json::from_value::<Id>(params.get("id")?.clone()).ok());
                if let Some(index) =
                    held.iter().position(|waiting| waiting.id().is_some() && waiting.id() == cancelled.as_ref())
                    && let Some(id) = held.remove(index).and_then(|request| request.id().cloned())
                {
                    self.outgoing.send(&Response::from_error(id, Error::request_cancelled()));
                }
            }
            (Phase::Greeted(held), _) => held.push_back(request),
            (Phase::Fresh | Phase::Open, _) => self.call(request),
        }
    }

    /// Polls the handler once; what it waits for then goes on as a task.
    fn call(&mut self, request: Request) {
        let method = request.method().to_owned();
        let request = match method.as_str() {
            // Clients send null, nothing or `{}`.
            "shutdown" => {
                self.shut_down = true;
                let mut bare = Request::build("shutdown");
                if let Some(id) = request.id() {
                    bare = bare.id(id.clone());
                }
                bare.finish()
            }
            _ => request,
        };
        let mut handler = guarded(self.service.call(request.clone()), &request);
        match handler.as_mut().now_or_never() {
            Some(answer) => {
                if let Some(answer) = answer {
                    if method == "initialize" && answer.is_ok() && matches!(self.phase, Phase::Fresh) {
                        self.phase = Phase::Greeted(VecDeque::new());
                    }
                    self.outgoing.send(&answer);
                }
            }
            None => {
                let outgoing = Outgoing(self.outgoing.0.clone());
                tokio::spawn(async move {
                    if let Some(answer) = handler.await {
                        outgoing.send(&answer);
                    }
                });
            }
        }
    }
}

/// A handler whose panic is an answer.
fn guarded(
    mut handler: BoxFuture<'static, Result<Option<Response>, ExitedError>>,
    request: &Request,
) -> BoxFuture<'static, Option<Response>> {
    let id = request.id().cloned();
    let method = request.method().to_owned();
    let document = request.params().and_then(|params| Some(params.pointer("/textDocument/uri")?.as_str()?.to_owned()));
    std::future::poll_fn(move |cx| match panics::catch(|| handler.poll_unpin(cx)) {
        Ok(poll) => poll.map(|answer| answer.ok().flatten()),
        Err(_) => {
            panics::log(&method, document.as_deref(), None);
            let error = Error { code: ErrorCode::InternalError, message: panics::ANSWER.into(), data: None };
            Poll::Ready(id.clone().map(|id| Response::from_error(id, error)))
        }
    })
    .boxed()
}
