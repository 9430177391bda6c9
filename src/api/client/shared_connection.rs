//! A server with HTTP/2 gets one connection, which all requests share: while one connects, the others wait for it instead
//! of connecting as well, also if nothing is known of the server yet. To a server that is known to have no HTTP/2, all
//! connect at once, as if this were not here.

use super::exchange::wait_before_retry;
use futures::FutureExt;
use futures::future::BoxFuture;
use hyper_util::client::legacy::connect::Connection;
use std::error::Error as StdError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::Mutex;
use tower::{Layer, Service};

type BoxError = Box<dyn StdError + Send + Sync>;

/// The time in which a request that waited gets the connection of another. The library hands it over at once, unless it
/// broke right away.
const HANDOVER: Duration = Duration::from_secs(1);

/// The knowledge about the connections to a server, which all of them share.
#[derive(Clone, Debug)]
pub(super) struct SharedConnection(Arc<State>);

#[derive(Debug)]
struct State {
    /// Whether the server has HTTP/2, or is expected to.
    is_http2: AtomicBool,
    /// Locked by the request that connects, while the server has HTTP/2.
    connecting: Mutex<()>,
    /// The number of connections that were opened.
    opened: AtomicU64,
}

impl SharedConnection {
    /// Creates the knowledge about a server to which there was no connection yet.
    pub fn new(expects_http2: bool) -> SharedConnection {
        let (connecting, opened) = Default::default();
        SharedConnection(Arc::new(State { is_http2: expects_http2.into(), connecting, opened }))
    }

    /// Returns whether the server has HTTP/2, or is expected to.
    pub fn is_http2(&self) -> bool {
        self.0.is_http2.load(Ordering::Relaxed)
    }

    /// Expects of a server what it had the last time.
    pub fn expect_http2(&self, had_http2: bool) {
        // What the server has now is known better.
        if self.opened() == 0 {
            self.0.is_http2.store(had_http2, Ordering::Relaxed);
        }
    }

    fn opened(&self) -> u64 {
        self.0.opened.load(Ordering::Relaxed)
    }

    /// Opens a connection, and records whether it has HTTP/2.
    async fn open<C: Connection, E>(&self, connect: impl Future<Output = Result<C, E>>) -> Result<C, E> {
        let connection = connect.await?;
        self.0.is_http2.store(connection.connected().is_negotiated_h2(), Ordering::Relaxed);
        self.0.opened.fetch_add(1, Ordering::Relaxed);
        Ok(connection)
    }

    /// Opens a connection, unless that of another request will do: then the library cancels this, or ignores the error.
    async fn open_or_share<C, E>(&self, connect: impl Future<Output = Result<C, E>>) -> Result<C, BoxError>
    where
        C: Connection,
        E: Into<BoxError>,
    {
        if self.is_http2() {
            let before = self.opened();
            let connecting = self.0.connecting.lock().await;
            if self.opened() == before && self.is_http2() {
                let outcome = self.open(connect).await.map_err(Into::into);
                if outcome.is_err() && before == 0 {
                    // The others would fail one after the other.
                    self.0.is_http2.store(false, Ordering::Relaxed);
                }
                return outcome;
            }
            drop(connecting);
            if self.is_http2() {
                wait_before_retry(HANDOVER).await;
                return Err("the connection broke".into());
            }
        }
        self.open(connect).await.map_err(Into::into)
    }
}

impl<S> Layer<S> for SharedConnection {
    type Service = Connector<S>;

    fn layer(&self, inner: S) -> Connector<S> {
        Connector { inner, shared: self.clone() }
    }
}

/// A service that opens connections.
#[derive(Clone, Debug)]
pub(super) struct Connector<S> {
    inner: S,
    shared: SharedConnection,
}

impl<S, T> Service<T> for Connector<S>
where
    S: Service<T, Response: Connection + Send, Error: Into<BoxError> + Send, Future: Send + 'static>,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<S::Response, BoxError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, target: T) -> Self::Future {
        // Nothing is sent before it is polled.
        let (connect, shared) = (self.inner.call(target), self.shared.clone());
        async move { shared.open_or_share(connect).await }.boxed()
    }
}
