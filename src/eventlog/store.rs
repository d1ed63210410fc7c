//! Buckets of S3, Google Cloud Storage and Azure; credentials and endpoints come from the environment.

use std::fmt;
use std::io::{self, ErrorKind, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures::{StreamExt as _, TryStreamExt as _};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::{BackoffConfig, ClientConfigKey, ObjectMeta, ObjectStore, ObjectStoreExt as _, RetryConfig};
use reqwest::Url;

use super::ReadError;
use super::place::{At, Item, MAX_FILES, may_be_log};
use super::remote::{self, CONNECT_TIMEOUT, READ_TIMEOUT, runtime};

/// A path in a bucket.
pub(super) type Key = object_store::path::Path;

/// A bucket or container.
pub(super) struct Bucket {
    store: Box<dyn ObjectStore>,
    /// Its address, e.g. `s3://logs`.
    address: String,
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.address)
    }
}

/// What an address in a bucket stands for.
pub(super) enum Found {
    /// An object.
    File(Item),
    /// The objects below a prefix, by name.
    Folder(Vec<Item>),
}

/// Whether addresses of this scheme are those of buckets.
pub(super) fn is_bucket(scheme: &str) -> bool {
    matches!(scheme, "s3" | "s3a" | "s3n" | "gs" | "az" | "abfs" | "abfss" | "wasb" | "wasbs")
}

/// Finds what is at `address`.
pub(super) fn find(address: &str) -> Result<Found, ReadError> {
    let failed = |source| ReadError::Io { path: PathBuf::from(address), source };
    let (bucket, key) = open(address).map_err(failed)?;
    let bucket = Arc::new(bucket);
    if !address.ends_with('/') && !key.as_ref().is_empty() {
        match bucket.file(&key) {
            // A folder of a hierarchical store is an object without bytes.
            Ok(item) if item.size > 0 => return Ok(Found::File(item)),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
    }
    let files = bucket.list(&key).map_err(failed)?;
    if !files.is_empty() {
        return Ok(Found::Folder(files));
    }
    if let Some(renamed) = key.as_ref().strip_suffix(".inprogress") {
        return bucket.file(&Key::from(renamed)).map(Found::File).map_err(failed);
    }
    Err(failed(io::Error::new(ErrorKind::NotFound, "not found: no such object, and none below it")))
}

impl Bucket {
    fn item(self: &Arc<Self>, meta: ObjectMeta, name: &str) -> Item {
        Item {
            path: PathBuf::from(format!("{}/{}", self.address, meta.location)),
            name: name.to_owned(),
            size: meta.size,
            modified: Some(SystemTime::from(meta.last_modified)),
            at: At::Bucket(Arc::clone(self), meta.location),
        }
    }

    fn file(self: &Arc<Self>, key: &Key) -> io::Result<Item> {
        let meta = runtime()?.block_on(self.store.head(key)).map_err(|error| sentence(&error))?;
        let name = key.filename().unwrap_or_default().to_owned();
        Ok(self.item(meta, &name))
    }

    /// Objects that may be of a log, below a prefix.
    fn list(self: &Arc<Self>, prefix: &Key) -> io::Result<Vec<Item>> {
        let start = prefix.as_ref().len();
        let items = async {
            let objects = self.store.list(Some(prefix)).take(MAX_FILES);
            let of_logs = objects.try_filter_map(|meta| async move {
                let name = meta.location.as_ref().get(start..).unwrap_or_default().trim_start_matches('/').to_owned();
                Ok(may_be_log(&name).then_some((meta, name)))
            });
            of_logs.try_collect::<Vec<_>>().await
        };
        let mut found = runtime()?.block_on(items).map_err(|error| sentence(&error))?;
        found.sort_by(|a, b| a.1.cmp(&b.1));
        // Some writers mark a folder by an object of its name.
        let is_folder = |name: &str| {
            let within = format!("{name}/");
            let next = found.partition_point(|(_, other)| other.as_str() < within.as_str());
            found.get(next).is_some_and(|(_, other)| other.starts_with(&within))
        };
        let files = found.iter().filter(|(meta, name)| meta.size > 0 || !is_folder(name));
        Ok(files.map(|(meta, name)| self.item(meta.clone(), name)).collect())
    }

    /// Reads an object forward.
    pub(super) fn read(&self, key: &Key) -> io::Result<impl Read + use<>> {
        let answer = runtime()?.block_on(self.store.get(key)).map_err(|error| sentence(&error))?;
        remote::ahead(answer.into_stream().map_err(|error| sentence(&error)))
    }
}

fn open(address: &str) -> io::Result<(Bucket, Key)> {
    runtime()?;
    let invalid = |error: &dyn fmt::Display| io::Error::new(ErrorKind::InvalidInput, error.to_string());
    let url = Url::parse(address).map_err(|error| invalid(&error))?;
    let key = Key::from_url_path(url.path()).map_err(|error| invalid(&error))?;
    let store = build(&url, address).map_err(|error| sentence(&error))?;
    let (scheme, rest) = address.split_once("://").unwrap_or(("s3", address));
    let bucket = rest.split('/').next().unwrap_or(rest);
    Ok((Bucket { store, address: format!("{scheme}://{bucket}") }, key))
}

fn build(url: &Url, address: &str) -> object_store::Result<Box<dyn ObjectStore>> {
    let timeouts = [
        (ClientConfigKey::ConnectTimeout, CONNECT_TIMEOUT),
        (ClientConfigKey::ReadTimeout, READ_TIMEOUT),
        // Of a whole answer, which may be gigabytes.
        (ClientConfigKey::Timeout, Duration::from_secs(24 * 3600)),
    ]
    .map(|(key, time)| (key, format!("{} seconds", time.as_secs())));
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    Ok(match url.scheme() {
        "gs" => {
            let mut builder = GoogleCloudStorageBuilder::from_env().with_url(address).with_retry(few_retries());
            for (key, time) in timeouts {
                builder = builder.with_config(GoogleConfigKey::Client(key), time);
            }
            Box::new(builder.build()?)
        }
        "s3" | "s3a" | "s3n" => {
            let builder = AmazonS3Builder::from_env().with_url(format!("s3://{rest}"));
            let mut builder = builder.with_retry(few_retries());
            for (key, time) in timeouts {
                builder = builder.with_config(AmazonS3ConfigKey::Client(key), time);
            }
            Box::new(builder.build()?)
        }
        _ => {
            let rest = rest.replacen(".blob.core.windows.net", ".dfs.core.windows.net", 1);
            let builder = MicrosoftAzureBuilder::from_env().with_url(format!("abfss://{rest}"));
            let mut builder = builder.with_retry(few_retries());
            for (key, time) in timeouts {
                builder = builder.with_config(AzureConfigKey::Client(key), time);
            }
            Box::new(builder.build()?)
        }
    })
}

/// A server that is down is told as down, not stormed.
fn few_retries() -> RetryConfig {
    let backoff = BackoffConfig {
        init_backoff: Duration::from_millis(200),
        max_backoff: Duration::from_secs(2),
        ..BackoffConfig::default()
    };
    RetryConfig { backoff, max_retries: 2, ..RetryConfig::default() }
}

fn sentence(error: &object_store::Error) -> io::Error {
    use object_store::Error;
    match error {
        Error::NotFound { .. } => io::Error::new(ErrorKind::NotFound, "not found"),
        Error::Unauthenticated { .. } => remote::status_error(401).unwrap_or_else(|| remote::cause(error)),
        Error::PermissionDenied { .. } => remote::status_error(403).unwrap_or_else(|| remote::cause(error)),
        _ => remote::cause(error),
    }
}
