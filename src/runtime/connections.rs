//! Connections to servers, one for each. They are set up by the first request and shared by all.

use super::cache::Cache;
use super::tasks;
use crate::api::client::Client;
use crate::api::commit_data::ReadClone;
use crate::api::{Error, Fault, Host};
use crate::app::action::Msg;
use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The time that cached replies get to reach the disk when the program ends.
const MAX_FINISH_WAIT: Duration = Duration::from_millis(200);

/// A function that creates the client of a server. Called on a worker thread, because it may read certificates, query a
/// keyring, or start the server.
pub type Connect = Box<dyn FnOnce() -> Result<Client, Error> + Send>;

/// A function that returns how to connect to a server.
pub type DialServer = Box<dyn Fn(&Host) -> Connection + Send>;

/// Returns a function that connects to no other server.
pub fn no_other_servers() -> DialServer {
    Box::new(|host| {
        let tried = format!("connect to {}", host.web_url());
        let fault = Fault::Offline("not the current server".into());
        Connection::new(Box::new(|| Err(Error { tried, fault })), None)
    })
}

/// The way to connect to a server, before the first request.
pub struct Connection {
    /// Creates the client.
    pub client: Connect,
    /// Returns the folder for cached replies, or `None` if nothing may be stored. Called on a worker thread, too, since
    /// the folder depends on the token.
    pub replies: Box<dyn FnOnce() -> Option<PathBuf> + Send>,
}

impl Connection {
    /// Creates a connection whose folder for replies is known.
    pub fn new(client: Connect, replies: Option<PathBuf>) -> Connection {
        Connection { client, replies: Box::new(move || replies) }
    }
}

/// The connection to a server: its client and its cache, each created on a worker thread when first needed.
///
/// Both are shared futures: a call that is canceled while the client is being created does not cancel it for others
/// waiting for it.
#[derive(Clone)]
pub struct ServerConnection {
    client: Shared<BoxFuture<'static, Result<Client, Error>>>,
    cache: Shared<BoxFuture<'static, Option<Arc<Mutex<Cache>>>>>,
    /// The last reported difference in milliseconds by which the server's clock is ahead of ours, or `None` if it is
    /// not reported.
    ahead: Option<Arc<AtomicI64>>,
    /// Reads what commits contain from the clone.
    pub clone_reader: Option<ReadClone>,
}

impl ServerConnection {
    fn new(connection: Connection) -> ServerConnection {
        let Connection { client, replies } = connection;
        let client = async { tasks::block(client).await.unwrap_or_else(|_| Err(gone("connect"))) };
        let cache = async {
            let open = move || replies().map(|folder| Arc::new(Mutex::new(Cache::new(folder))));
            tasks::block(open).await.ok().flatten()
        };
        ServerConnection {
            client: client.boxed().shared(),
            cache: cache.boxed().shared(),
            ahead: None,
            clone_reader: None,
        }
    }

    /// Enables reporting the server's clock, with the last reported difference kept in `ahead`.
    pub fn with_clock(self, ahead: Arc<AtomicI64>) -> ServerConnection {
        ServerConnection { ahead: Some(ahead), ..self }
    }

    /// Returns the difference to the server's clock if it changed since the last call.
    pub fn clock_change(&self) -> Option<Msg> {
        let reported = self.ahead.as_ref()?;
        let ahead = self.client.peek()?.as_ref().ok()?.clock().ahead();
        let millis = i64::try_from(ahead.as_millis()).unwrap_or_default();
        (reported.swap(millis, Ordering::Relaxed) != millis).then_some(Msg::ClockOffset(ahead))
    }

    /// Returns the client, once it is created.
    pub async fn client(&self) -> Result<Client, Error> {
        self.client.clone().await
    }

    /// Returns the cache, if replies are cached.
    pub async fn cache(&self) -> Option<Arc<Mutex<Cache>>> {
        self.cache.clone().await
    }
}

fn gone(tried: &str) -> Error {
    Error { tried: tried.to_owned(), fault: Fault::Offline("the connection could not be set up".into()) }
}

/// The connections to all servers that were used; clones share them. A token belongs to one connection and is sent only
/// to its server.
#[derive(Clone)]
pub struct Connections(Arc<Mutex<Inner>>);

struct Inner {
    open: HashMap<Host, ServerConnection>,
    dial: DialServer,
    clone_reader: Option<ReadClone>,
}

impl Connections {
    /// Creates connections to the servers that `dial` knows.
    pub fn new(dial: DialServer) -> Connections {
        Connections(Arc::new(Mutex::new(Inner { open: HashMap::new(), dial, clone_reader: None })))
    }

    /// Reads what commits contain from the clone, if it has them. A commit has the same content on every server.
    pub fn reading_clone(self, clone_reader: Option<ReadClone>) -> Connections {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone_reader = clone_reader;
        self
    }

    /// Adds a connection to `host` that is set up differently.
    pub fn with(self, host: Host, connection: Connection) -> Connections {
        let connection = ServerConnection::new(connection);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).open.insert(host, connection);
        self
    }

    pub fn to(&self, host: &Host) -> ServerConnection {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = match inner.open.get(host) {
            Some(connection) => connection.clone(),
            None => {
                let connection = ServerConnection::new((inner.dial)(host));
                inner.open.insert(host.clone(), connection.clone());
                connection
            }
        };
        ServerConnection { clone_reader: inner.clone_reader.clone(), ..connection }
    }

    /// Waits until all scheduled replies are on disk, but not for a disk that does not answer.
    pub async fn finish(&self) {
        let caches: Vec<_> = {
            let inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            inner.open.values().filter_map(|connection| connection.cache.peek().cloned().flatten()).collect()
        };
        let finish = move || {
            for cache in caches {
                cache.lock().unwrap_or_else(PoisonError::into_inner).finish();
            }
        };
        let _ = tokio::time::timeout(MAX_FINISH_WAIT, tasks::block(finish)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::client::Server;
    use tokio::sync::oneshot;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_call_that_is_canceled_while_connecting_leaves_the_connection_to_others() {
        let (began, begun) = oneshot::channel();
        let (release, released) = std::sync::mpsc::channel::<()>();
        let connect: Connect = Box::new(move || {
            let _ = began.send(());
            let _ = released.recv();
            Client::new(Server::new("http://127.0.0.1:9/".parse().expect("an address")))
        });
        let connection = ServerConnection::new(Connection::new(connect, None));
        let first = tokio::spawn({
            let connection = connection.clone();
            async move { connection.client().await }
        });
        begun.await.expect("connecting begins with the first call");
        first.abort();
        assert!(first.await.is_err_and(|e| e.is_cancelled()));
        release.send(()).expect("still connecting");
        assert!(connection.client().await.is_ok());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn nothing_is_set_up_before_it_is_needed_and_then_once() {
        use std::sync::atomic::AtomicUsize;
        let dialled = Arc::new(AtomicUsize::new(0));
        let count = dialled.clone();
        let connections = Connections::new(Box::new(move |host| {
            let (count, url) = (count.clone(), format!("{}/", host.web_url()));
            let connect = move || {
                count.fetch_add(1, Ordering::Relaxed);
                Client::new(Server::new(url.parse().expect("an address")))
            };
            Connection::new(Box::new(connect), None)
        }));
        let connection = connections.to(&Host::new("http://127.0.0.1:9"));
        assert_eq!(dialled.load(Ordering::Relaxed), 0);
        connection.client().await.expect("a client");
        connections.to(&Host::new("http://127.0.0.1:9/")).client().await.expect("the same client");
        assert_eq!(dialled.load(Ordering::Relaxed), 1);
        assert!(connection.cache().await.is_none());
        connections.finish().await;
    }
}
