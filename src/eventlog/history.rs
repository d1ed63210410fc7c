//! A History Server: which applications it has, and their logs as it hands them out.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use reqwest::{Client, RequestBuilder, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::source::{self, refuse};
use super::{Given, Progress, Read, ReadError, Which, choose, place, rest, web};

/// Pages that a running application's UI has below its address.
const PAGES: [&str; 6] = ["jobs", "stages", "storage", "environment", "executors", "SQL"];

/// A server and what its address names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    /// Where its API starts, e.g. `http://host:18080`.
    base: String,
    application: Option<String>,
    attempt: Option<String>,
}

impl Address {
    /// The address of a server, if `url` looks like one: a page or a call of the API of an application, or a root.
    pub(super) fn of(url: &Url, which: &Which) -> Option<Self> {
        let parts: Vec<&str> = url.path_segments()?.filter(|part| !part.is_empty()).collect();
        let origin = url.origin().ascii_serialization();
        let address = |base: &[&str], rest: &[&str]| {
            let attempt = rest.get(1).filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
            Self {
                base: std::iter::once(origin.as_str()).chain(base.iter().copied()).collect::<Vec<_>>().join("/"),
                application: rest.first().map(|&id| id.to_owned()),
                attempt: attempt.map(|&attempt| attempt.to_owned()),
            }
        };
        if let Some(at) = parts.windows(3).position(|three| three == ["api", "v1", "applications"]) {
            return Some(address(&parts[..at], &parts[at + 3..]));
        }
        if let Some(at) = parts.iter().position(|&part| part == "history") {
            return Some(address(&parts[..at], &parts[at + 1..]));
        }
        // A page of a running application's own UI.
        if let [base @ .., page] = parts.as_slice()
            && PAGES.contains(page)
        {
            return Some(address(base, &[]));
        }
        let is_root = url.path().ends_with('/') || matches!(which, Which::Named { .. });
        is_root.then(|| address(&parts, &[]))
    }
}

/// How a server is asked.
#[derive(Debug)]
struct Server {
    base: String,
    client: Client,
}

/// One attempt of an application on a server.
#[derive(Debug)]
pub(super) struct Served {
    server: Arc<Server>,
    id: String,
    attempt: Option<String>,
    notes: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Application {
    id: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    attempts: Vec<Attempt>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attempt {
    attempt_id: Option<String>,
    /// Milliseconds; -1 where the server does not tell.
    #[serde(default = "untold")]
    start_time_epoch: i64,
    #[serde(default = "untold")]
    last_updated_epoch: i64,
}

fn untold() -> i64 {
    -1
}

impl Application {
    fn updated(&self) -> i64 {
        let times = self.attempts.iter().map(|attempt| attempt.last_updated_epoch.max(attempt.start_time_epoch));
        times.max().unwrap_or(-1)
    }

    /// Attempts, the last one last.
    fn attempts(&self) -> Vec<Option<&str>> {
        let mut attempts: Vec<&Attempt> = self.attempts.iter().collect();
        attempts.sort_by_key(|attempt| (attempt.start_time_epoch, attempt.attempt_id.clone()));
        attempts.into_iter().map(|attempt| attempt.attempt_id.as_deref()).collect()
    }
}

/// The logs on a server that are meant.
pub(super) fn find(address: &Address, which: &Which) -> Result<Vec<Served>, ReadError> {
    let place = PathBuf::from(&address.base);
    let client = web::client().map_err(|source| ReadError::Io { path: place.clone(), source })?;
    let server = Arc::new(Server { base: address.base.clone(), client });
    let named = match which {
        Which::Named { application, attempt } => Some((application.as_str(), attempt.as_deref())),
        _ => None,
    };
    if let Some(id) = &address.application {
        let application: Application = server.ask(&format!("/{id}")).map_err(|source| match source.kind() {
            ErrorKind::NotFound => refuse(&place, format!("there is no application {id} on this server")),
            _ => ReadError::Io { path: place.clone(), source },
        })?;
        let asked = named.filter(|(wanted, _)| *wanted == application.id || *wanted == application.name);
        if named.is_some() && asked.is_none() {
            return Err(refuse(&place, format!("the address is of application {id}, another one is named beside it")));
        }
        let attempt = address.attempt.as_deref().or(asked.and_then(|(_, attempt)| attempt));
        return server.served(&application, attempt, None).map(|served| vec![served]);
    }
    let mut applications: Vec<Application> =
        server.ask("").map_err(|source| ReadError::Io { path: place.clone(), source })?;
    applications.sort_by_key(|application| std::cmp::Reverse(application.updated()));
    if let Which::All = which {
        return Ok(applications.iter().flat_map(|application| server.all_of(application)).collect());
    }
    let (wanted, attempt) = named.unzip();
    let is_wanted =
        |application: &&Application| wanted.is_none_or(|wanted| application.id == wanted || application.name == wanted);
    let ids: Vec<&str> = applications.iter().map(|application| application.id.as_str()).collect();
    let Some(chosen) = applications.iter().find(is_wanted) else {
        return Err(refuse(
            &place,
            match wanted {
                Some(wanted) if !ids.is_empty() => {
                    format!("there is no application {wanted} on this server; it has {}", choose::shown(&ids))
                }
                _ => "this server has no application".to_owned(),
            },
        ));
    };
    let note = (wanted.is_none() && ids.len() > 1).then(|| choose::newest_note(ids.len()));
    server.served(chosen, attempt.flatten(), note).map(|served| vec![served])
}

impl Server {
    /// A call of the API below `applications`.
    fn request(&self, call: &str) -> RequestBuilder {
        let request = self.client.get(format!("{}/api/v1/applications{call}", self.base));
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        match (variable("SPARKLS_HISTORY_TOKEN"), variable("SPARKLS_HISTORY_USER")) {
            (Some(token), _) => request.bearer_auth(token),
            (None, Some(user)) => request.basic_auth(user, variable("SPARKLS_HISTORY_PASSWORD")),
            (None, None) => request,
        }
    }

    /// The JSON that a call is answered with.
    fn answer(&self, call: &str) -> io::Result<Vec<u8>> {
        let answer = web::send(self.request(call))?;
        if web::is_page(&answer) {
            return Err(no_server("it answers with a web page (HTML), perhaps to log in, instead of JSON"));
        }
        web::whole(answer)
    }

    fn ask<T: DeserializeOwned>(&self, call: &str) -> io::Result<T> {
        serde_json::from_slice(&self.answer(call)?).map_err(|_| no_server(NOT_ITS_API))
    }

    fn served(
        self: &Arc<Self>,
        application: &Application,
        attempt: Option<&str>,
        note: Option<String>,
    ) -> Result<Served, ReadError> {
        let attempts = application.attempts();
        let mut notes: Vec<String> = note.into_iter().collect();
        if let Some(attempt) = attempt
            && !attempts.contains(&Some(attempt))
        {
            let reason = format!("there is no attempt {attempt} of {} on this server", application.id);
            return Err(refuse(Path::new(&self.base), reason));
        }
        if attempt.is_none() && attempts.len() > 1 {
            notes.push(format!("{} attempts of the application; this is the last", attempts.len()));
        }
        let attempt = attempt.or_else(|| attempts.last().copied().flatten()).map(str::to_owned);
        Ok(Served { server: Arc::clone(self), id: application.id.clone(), attempt, notes })
    }

    fn all_of(self: &Arc<Self>, application: &Application) -> Vec<Served> {
        let served = |attempt: Option<&str>| Served {
            server: Arc::clone(self),
            id: application.id.clone(),
            attempt: attempt.map(str::to_owned),
            notes: Vec::new(),
        };
        application.attempts().into_iter().map(served).collect()
    }
}

/// What does not look like an answer of Spark's API.
pub(super) const NOT_ITS_API: &str = "its answer is not that of Spark's API";

/// The server is another one than it is taken for.
pub(super) fn no_server(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("no History Server: {what}"))
}

/// The answer to a call for a log.
enum Handed {
    /// An archive in a temporary file.
    Archive(File),
    /// None, and why not.
    Nothing(String),
}

impl Served {
    /// The address of its page.
    pub(super) fn name(&self) -> String {
        format!("{}/history/{}", self.server.base, self.call())
    }

    fn call(&self) -> String {
        match &self.attempt {
            Some(attempt) => format!("{}/{attempt}", self.id),
            None => self.id.clone(),
        }
    }

    /// Fetches the log; where the server hands out none, what it tells of the run through its REST API.
    pub(super) fn given(&self, progress: Progress<'_>) -> Result<Given, ReadError> {
        let path = PathBuf::from(self.name());
        let failed = |source| ReadError::Io { path: path.clone(), source };
        let why = match self.fetch(progress).map_err(failed)? {
            Handed::Archive(archive) => {
                let groups = source::groups(place::archived(&path, archive)?);
                // A live UI knows of no log and answers with an archive of no file.
                if !groups.is_empty() {
                    let mut source = choose::only(groups, &path)?;
                    source.notes.extend(self.notes.iter().cloned());
                    return Ok(Given::Log(source));
                }
                "its archive is empty".to_owned()
            }
            Handed::Nothing(why) => why,
        };
        let ask = |call: &str| self.server.answer(&format!("/{call}"));
        let application = rest::Address { id: &self.id, attempt: self.attempt.as_deref() };
        let told = rest::read(application, &ask, &why, progress);
        let mut run = told.map_err(|error| failed(neither(&why, &error)))?;
        run.coverage.notes.extend(self.notes.iter().cloned());
        Ok(Given::Told(Box::new(run)))
    }

    /// The archive that the server makes of the log. That it doesn't answer is an error.
    fn fetch(&self, progress: Progress<'_>) -> io::Result<Handed> {
        let answer = match web::answered(self.server.request(&format!("/{}/logs", self.call())))? {
            Ok(answer) if web::is_page(&answer) => {
                return Ok(Handed::Nothing("a web page (HTML) comes instead of it".to_owned()));
            }
            Ok(answer) => answer,
            Err(refused) => return Ok(Handed::Nothing(refused.to_string())),
        };
        let total = answer.content_length().unwrap_or(0);
        let mut stream = web::stream(answer)?;
        let mut file = tempfile::tempfile()?;
        let mut block = vec![0; 1 << 20];
        let mut done = 0;
        loop {
            let length = stream.read(&mut block)?;
            if length == 0 {
                return Ok(Handed::Archive(file));
            }
            if done == 0 && length >= 4 && !block.starts_with(b"PK") {
                return Ok(Handed::Nothing("what comes instead of it is no archive".to_owned()));
            }
            file.write_all(&block[..length])?;
            done += length as u64;
            if !progress(Read { done, total }) {
                return Err(ErrorKind::Interrupted.into());
            }
        }
    }
}

/// The error of a server that hands out neither the log nor what it knows.
fn neither(why: &str, error: &io::Error) -> io::Error {
    if error.kind() == ErrorKind::Interrupted {
        return ErrorKind::Interrupted.into();
    }
    let told = error.to_string();
    io::Error::new(
        error.kind(),
        if told == why {
            format!("the server hands out neither the event log nor a summary of it: {why}")
        } else {
            format!("the server does not hand out the event log: {why}; nor a summary of it: {told}")
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(url: &str) -> Option<(String, Option<String>, Option<String>)> {
        let address = Address::of(&Url::parse(url).unwrap(), &Which::Newest)?;
        Some((address.base, address.application, address.attempt))
    }

    #[test]
    fn addresses_of_servers() {
        let host = "http://host:18080";
        let of = |base: &str, id: Option<&str>, attempt: Option<&str>| {
            Some((base.to_owned(), id.map(str::to_owned), attempt.map(str::to_owned)))
        };
        assert_eq!(address(host), of(host, None, None));
        assert_eq!(address("http://host:18080/history/app-1/jobs/?x=1"), of(host, Some("app-1"), None));
        assert_eq!(address("http://host:18080/history/app-1/2/stages/"), of(host, Some("app-1"), Some("2")));
        assert_eq!(address("http://host:18080/api/v1/applications/app-1/2/logs"), of(host, Some("app-1"), Some("2")));
        let gateway = "https://host/gateway/spark";
        assert_eq!(address("https://host/gateway/spark/"), of(gateway, None, None));
        assert_eq!(address("https://host/gateway/spark/history/app-1"), of(gateway, Some("app-1"), None));
        let live = "http://driver:4040";
        assert_eq!(address("http://driver:4040/jobs/"), of(live, None, None));
        assert_eq!(address("http://driver:4040/SQL"), of(live, None, None));
        let proxied = "http://rm:8088/proxy/application_1_2";
        assert_eq!(address("http://rm:8088/proxy/application_1_2/"), of(proxied, None, None));
        assert_eq!(address("https://host/logs/app-1"), None);
    }
}
