//! The ways to servers: one line to each, set up when something is first asked of it, and shared by all that ask.

use super::cache::Cache;
use crate::api::client::Client;
use crate::api::{Error, Fault, Host};
use crate::app::action::Msg;
use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Makes the client of a server. Called on a worker: it may read certificates, ask a keyring, start the server.
pub type Connect = Box<dyn FnOnce() -> Result<Client, Error> + Send>;

/// Says how a server is reached.
pub type DialServer = Box<dyn Fn(&Host) -> Connection + Send>;

/// Reaches no other server.
pub fn alone() -> DialServer {
    Box::new(|host| {
        let tried = format!("connect to {}", host.web_url());
        let fault = Fault::Offline("it is not the current server".into());
        Connection::new(Box::new(|| Err(Error { tried, fault })), None)
    })
}

/// How a server is reached, as long as nothing was asked of it.
pub struct Connection {
    /// Makes its client.
    pub client: Connect,
    /// Says where its replies are kept; `None` if nothing is to be left behind. Called on a worker, too: the folder
    /// depends on the token.
    pub replies: Box<dyn FnOnce() -> Option<PathBuf> + Send>,
}

impl Connection {
    /// A server whose replies are kept in a folder that is known.
    pub fn new(client: Connect, replies: Option<PathBuf>) -> Connection {
        Connection { client, replies: Box::new(move || replies) }
    }
}

/// The line to a server: its client and its kept replies, each made when it is first needed and on a worker.
///
/// Shared, so that whoever waits goes on with it: a call that is canceled while the client is made must not take it
/// from all others.
#[derive(Clone)]
pub struct ServerConnection {
    client: Shared<BoxFuture<'static, Result<Client, Error>>>,
    cache: Shared<BoxFuture<'static, Option<Arc<Mutex<Cache>>>>>,
    /// Milliseconds that the server's clock is ahead of ours, as was told; nothing where nobody is told.
    ahead: Option<Arc<AtomicI64>>,
}

impl ServerConnection {
    fn new(connection: Connection) -> ServerConnection {
        let Connection { client, replies } = connection;
        let client = async { tokio::task::spawn_blocking(client).await.unwrap_or_else(|_| Err(gone("connect"))) };
        let cache = async {
            let folder = tokio::task::spawn_blocking(replies).await.ok().flatten();
            folder.map(|folder| Arc::new(Mutex::new(Cache::new(folder))))
        };
        ServerConnection { client: client.boxed().shared(), cache: cache.boxed().shared(), ahead: None }
    }

    /// The same, whose clock is told to whoever keeps `ahead`.
    pub fn with_clock(self, ahead: Arc<AtomicI64>) -> ServerConnection {
        ServerConnection { ahead: Some(ahead), ..self }
    }

    /// Returns what was learnt of the server's clock since this was asked last.
    pub fn clock(&self) -> Option<Msg> {
        let reported = self.ahead.as_ref()?;
        let ahead = self.client.peek()?.as_ref().ok()?.clock().ahead();
        let millis = i64::try_from(ahead.as_millis()).unwrap_or_default();
        (reported.swap(millis, Ordering::Relaxed) != millis).then_some(Msg::Clock(ahead))
    }

    /// Its client, as soon as there is one.
    pub async fn client(&self) -> Result<Client, Error> {
        self.client.clone().await
    }

    /// Its replies from before, if they are kept.
    pub async fn cache(&self) -> Option<Arc<Mutex<Cache>>> {
        self.cache.clone().await
    }
}

fn gone(tried: &str) -> Error {
    Error { tried: tried.to_owned(), fault: Fault::Offline("the connection could not be set up".into()) }
}

/// The lines to all servers that something was asked of; clones share them. A token belongs to a line, and goes to the
/// server at its other end alone.
#[derive(Clone)]
pub struct Connections(Arc<Mutex<Book>>);

struct Book {
    open: HashMap<Host, ServerConnection>,
    dial: DialServer,
}

impl Connections {
    /// Lines to the servers that `dial` knows.
    pub fn new(dial: DialServer) -> Connections {
        Connections(Arc::new(Mutex::new(Book { open: HashMap::new(), dial })))
    }

    /// The same, with a line to `host` that is set up in its own way.
    pub fn with(self, host: Host, connection: Connection) -> Connections {
        let line = ServerConnection::new(connection);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).open.insert(host, line);
        self
    }

    /// The line to `host`.
    pub fn to(&self, host: &Host) -> ServerConnection {
        let mut book = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = book.open.get(host) {
            return line.clone();
        }
        let line = ServerConnection::new((book.dial)(host));
        book.open.insert(host.clone(), line.clone());
        line
    }

    /// Waits until replies that were to be kept are on disk.
    pub async fn finish(&self) {
        let caches: Vec<_> = {
            let book = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            book.open.values().filter_map(|line| line.cache.peek().cloned().flatten()).collect()
        };
        let finish = move || {
            for cache in caches {
                cache.lock().unwrap_or_else(PoisonError::into_inner).finish();
            }
        };
        let _ = tokio::task::spawn_blocking(finish).await;
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
        let line = ServerConnection::new(Connection::new(connect, None));
        let first = tokio::spawn({
            let line = line.clone();
            async move { line.client().await }
        });
        begun.await.expect("connecting begins with the first call");
        first.abort();
        assert!(first.await.is_err_and(|e| e.is_cancelled()));
        release.send(()).expect("still connecting");
        assert!(line.client().await.is_ok());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn nothing_is_set_up_before_it_is_needed_and_then_once() {
        use std::sync::atomic::AtomicUsize;
        let dialled = Arc::new(AtomicUsize::new(0));
        let count = dialled.clone();
        let lines = Connections::new(Box::new(move |host| {
            let (count, url) = (count.clone(), format!("{}/", host.web_url()));
            let connect = move || {
                count.fetch_add(1, Ordering::Relaxed);
                Client::new(Server::new(url.parse().expect("an address")))
            };
            Connection::new(Box::new(connect), None)
        }));
        let line = lines.to(&Host::new("http://127.0.0.1:9"));
        assert_eq!(dialled.load(Ordering::Relaxed), 0);
        line.client().await.expect("a client");
        lines.to(&Host::new("http://127.0.0.1:9/")).client().await.expect("the same client");
        assert_eq!(dialled.load(Ordering::Relaxed), 1);
        assert!(line.cache().await.is_none());
        lines.finish().await;
    }
}
