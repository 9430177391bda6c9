//! Accepts connections, closes those that wait for their clients, and rejects requests that other websites forge (DNS rebinding).

use super::door::{Service, error_response};
use super::limits::Limits;
use super::rejection::Rejection;
use axum::Router;
use axum::body::HttpBody;
use axum::http::uri::Authority;
use axum::http::{Request, header};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::collections::HashMap;
use std::convert::Infallible;
use std::future::Future;
use std::io::{self, ErrorKind, IoSlice};
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::task::{AbortHandle, Id, JoinSet};
use tokio::time::{Sleep, sleep_until};

/// The pause after a connection could not be accepted, for example because the system is out of file descriptors.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_secs(1);

/// Serves requests until `stop` completes, and then until the requests in flight are answered.
pub async fn serve(listener: TcpListener, service: Service, limits: Limits, stop: impl Future<Output = ()>) {
    let is_local = listener.local_addr().is_ok_and(|address| is_loopback(address.ip()));
    let router = service.into_hyper();
    let closing = watch::Sender::new(());
    let gave_way = Arc::new(Notify::new());
    let mut connections = JoinSet::new();
    let mut open = OpenConnections::new();
    let mut stop = pin!(stop);
    loop {
        let is_full = open.len() >= limits.connections;
        // The next request of a client may be on its way.
        let longest = if is_full { longest_waiting(&open).map(|(since, _)| since + limits.stall) } else { None };
        let is_blocked = is_full && longest.is_none_or(|ready| ready > Instant::now());
        let tcp = tokio::select! {
            () = &mut stop => break,
            Some(ended) = connections.join_next_with_id() => {
                let id = ended.map_or_else(|error| error.id(), |(id, ())| id);
                open.remove(&id);
                continue;
            }
            () = gave_way.notified(), if is_blocked && longest.is_none() => continue,
            () = sleep_until(longest.unwrap_or_else(Instant::now).into()), if is_blocked && longest.is_some() => continue,
            accepted = listener.accept(), if !is_blocked => match accepted {
                Ok((tcp, _)) => tcp,
                Err(error) => {
                    let has_gone = matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset);
                    if !has_gone {
                        tracing::error!("no connection can be accepted: {error}");
                        tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
                    }
                    continue;
                }
            },
        };
        // Another one may wait for longer, or this one may have a request by now.
        let gives_way = longest.and_then(|_| longest_waiting(&open));
        if let Some((task, _)) = gives_way.and_then(|(_, id)| open.remove(&id)) {
            task.abort();
        }
        let watch = Arc::new(ConnectionWatch::new(gave_way.clone()));
        let serving = serve_connection(tcp, router.clone(), is_local, limits, closing.subscribe(), watch.clone());
        let task = connections.spawn(serving);
        open.insert(task.id(), (task, watch));
    }
    drop(listener);
    closing.send_replace(());
    while connections.join_next().await.is_some() {}
}

/// The connections that were not told to end.
type OpenConnections = HashMap<Id, (AbortHandle, Arc<ConnectionWatch>)>;

/// Returns the connection whose client is waited for the longest, and since when.
fn longest_waiting(open: &OpenConnections) -> Option<(Instant, Id)> {
    let waiting = open.iter().filter_map(|(id, (_, watch))| Some((watch.since()?, *id)));
    waiting.min_by_key(|(since, _)| *since)
}

/// The state of a connection: the server works for its client, or waits for it.
struct ConnectionWatch {
    state: Mutex<WatchState>,
    /// The signal that a connection has begun to wait.
    gave_way: Arc<Notify>,
}

struct WatchState {
    /// Whether a request has arrived whose reply has not been sent.
    is_working: bool,
    /// The time since when the client is waited for: for a request, for more of its body, or until it reads the reply.
    since: Option<Instant>,
}

impl ConnectionWatch {
    fn new(gave_way: Arc<Notify>) -> ConnectionWatch {
        ConnectionWatch { state: Mutex::new(WatchState { is_working: false, since: None }), gave_way }
    }

    fn state(&self) -> MutexGuard<'_, WatchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn since(&self) -> Option<Instant> {
        self.state().since
    }

    fn set_working(&self, is_working: bool) {
        *self.state() = WatchState { is_working, since: None };
    }

    /// Records whether the client is waited for. A request that has arrived but was not read
    /// yet does not count; the parts of one do not count apart.
    fn record<T>(&self, polled: &Poll<T>) {
        let mut state = self.state();
        match polled {
            Poll::Ready(_) if state.is_working => state.since = None,
            Poll::Pending if state.since.is_none() => {
                state.since = Some(Instant::now());
                self.gave_way.notify_one();
            }
            _ => {}
        }
    }
}

/// The work for a request; it lasts until its reply is sent.
struct RequestWork(Arc<ConnectionWatch>);

impl RequestWork {
    fn new(watch: &Arc<ConnectionWatch>) -> RequestWork {
        watch.set_working(true);
        RequestWork(watch.clone())
    }
}

impl Drop for RequestWork {
    fn drop(&mut self) {
        self.0.set_working(false);
    }
}

/// The body of a request or of a reply, of which a connection takes note.
struct WatchedBody<B> {
    body: B,
    /// The connection, for the body of a request.
    arrives: Option<Arc<ConnectionWatch>>,
    /// The work, for the body of a reply.
    _work: Option<RequestWork>,
}

impl<B: HttpBody + Unpin> HttpBody for WatchedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if let Some(watch) = &self.arrives {
            watch.record(&polled);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Serves the requests of one connection.
async fn serve_connection(
    tcp: TcpStream,
    router: TowerToHyperService<Router>,
    is_local: bool,
    limits: Limits,
    mut closing: watch::Receiver<()>,
    watch: Arc<ConnectionWatch>,
) {
    // Small replies go out at once instead of waiting for more data.
    let _ = tcp.set_nodelay(true);
    let tcp = WriteTimeout { tcp, timeout: limits.reply, timer: None, watch: watch.clone() };
    let service = service_fn(move |request: Request<Incoming>| {
        let work = RequestWork::new(&watch);
        let checked = if is_local { check_host(&request) } else { Ok(()) };
        let arrives = Some(watch.clone());
        let answer = checked.map(|()| router.call(request.map(|body| WatchedBody { body, arrives, _work: None })));
        async move {
            let response = match answer {
                Ok(answer) => answer.await?,
                Err(rejection) => error_response(rejection),
            };
            Ok::<_, Infallible>(response.map(|body| WatchedBody { body, arrives: None, _work: Some(work) }))
        }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(limits.head);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(tcp), service));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        _ = closing.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!("a connection ended: {error}");
    }
}

/// Checks that a request names this machine as its host. A website can point its own name to the address of this
/// machine and then read the server's replies; the browser still sends that name.
///
/// # Errors
/// Fails with 421 for any other host.
fn check_host<B>(request: &Request<B>) -> Result<(), Rejection> {
    let named = request.uri().authority().map(Authority::as_str).map(str::as_bytes);
    let hosts = request.headers().get_all(header::HOST).into_iter().map(|host| host.as_bytes());
    for host in named.into_iter().chain(hosts) {
        if !Authority::try_from(host).is_ok_and(|host| names_this_machine(&host)) {
            let host: String = String::from_utf8_lossy(host).chars().take(100).collect();
            let why = format!("this server accepts only localhost and 127.0.0.1 as host, not \"{host}\"");
            return Err(Rejection::message(421, format!("421 Misdirected Request: {why}")));
        }
    }
    Ok(())
}

/// Returns whether a host is `localhost` or a loopback address, with any port.
fn names_this_machine(host: &Authority) -> bool {
    let name = host.host();
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    address.parse().map_or_else(|_| name.eq_ignore_ascii_case("localhost"), is_loopback)
}

fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

/// A TCP stream whose writes time out if the client does not read for too long.
struct WriteTimeout {
    tcp: TcpStream,
    timeout: Duration,
    /// The timer of a pending write; it fires after `timeout`.
    timer: Option<Pin<Box<Sleep>>>,
    watch: Arc<ConnectionWatch>,
}

impl WriteTimeout {
    fn with_timeout(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        self.watch.record(&written);
        if written.is_ready() {
            self.timer = None;
            return written;
        }
        let timeout = self.timeout;
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
        timer.as_mut().poll(cx).map(|()| Err(ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for WriteTimeout {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.tcp).poll_read(cx, buffer);
        // While the server works, hyper reads to find out whether the client is still there.
        if !self.watch.state().is_working {
            self.watch.record(&read);
        }
        read
    }
}

impl AsyncWrite for WriteTimeout {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.tcp).poll_write(cx, bytes);
        self.with_timeout(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.tcp).poll_write_vectored(cx, slices);
        self.with_timeout(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(target: &str, hosts: &[&str]) -> Request<()> {
        let mut request = Request::get(target);
        for host in hosts {
            request = request.header("host", *host);
        }
        request.body(()).unwrap()
    }

    #[test]
    fn only_local_hosts_are_accepted() {
        for host in ["localhost", "LocalHost:8080", "127.0.0.1:1", "127.9.9.9", "[::1]:3000", "[::ffff:127.0.0.1]"] {
            assert_eq!(check_host(&request("/", &[host])), Ok(()), "{host}");
        }
        // HTTP/1.0 clients may send no host; browsers always do.
        assert_eq!(check_host(&request("/", &[])), Ok(()));
        for host in [
            "evil.example",
            "localhost.evil.example:80",
            "evil.example@evil.example",
            "localhost@evil.example",
            "127.0.0.1.evil.example",
            "2130706433",
            "192.168.1.1:8080",
            "[::2]",
            "::1",
            "",
            "a b",
        ] {
            let refused = check_host(&request("/", &[host])).unwrap_err();
            assert_eq!(refused.status, 421, "{host}");
            assert!(refused.body["message"].as_str().unwrap().ends_with(&format!("not \"{host}\"")), "{refused:?}");
        }
        assert!(check_host(&request("/", &["localhost", "evil.example"])).is_err());
        assert!(check_host(&request("http://evil.example/", &["localhost"])).is_err());
        assert_eq!(check_host(&request("http://localhost:1/", &["localhost"])), Ok(()));
    }
}
