//! Sessions with the server in one process, over a pipe in memory.

#![allow(clippy::unwrap_used, reason = "a test that can't go on has failed")]

#[path = "server/client.rs"]
mod client;

#[path = "server/actions.rs"]
mod actions;
#[path = "server/carriers.rs"]
mod carriers;
#[path = "server/completion.rs"]
mod completion;
#[path = "server/configuration.rs"]
mod configuration;
#[path = "server/diagnostics.rs"]
mod diagnostics;
#[path = "server/documents.rs"]
mod documents;
#[path = "server/knowledge.rs"]
mod knowledge;
#[path = "server/notebooks.rs"]
mod notebooks;
#[path = "server/order.rs"]
mod order;
#[path = "server/places.rs"]
mod places;
#[path = "server/protocol.rs"]
mod protocol;
#[path = "server/reliability.rs"]
mod reliability;
#[path = "server/runs.rs"]
mod runs;
#[path = "server/sql.rs"]
mod sql;
