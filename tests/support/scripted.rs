//! A server that gives scripted answers and records the requests it receives.

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use futures::{StreamExt, stream};
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};
use url::Url;

/// A request that the server received.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The method and target: `GET /api/v4/projects?page=1`.
    pub line: String,
    pub headers: HeaderMap,
    pub body: String,
}

impl Asked {
    /// Returns a header as text, or an empty string if it is absent.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// One answer of the script.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    /// Whether to close the connection after the body although `content-length` promises more.
    cut: bool,
    /// Whether to send the body without its length.
    without_length: bool,
}

/// Returns an answer with a status and a body.
pub fn answer(status: u16, body: impl AsRef<[u8]>) -> Answer {
    Answer { status, body: body.as_ref().to_vec(), ..Answer::default() }
}

impl Answer {
    /// Adds a header.
    pub fn with(mut self, name: &'static str, value: &str) -> Answer {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// Sends the body without its length, as a server does that compresses it.
    pub fn without_length(mut self) -> Answer {
        self.without_length = true;
        self
    }

    /// Promises a longer body than is sent.
    pub fn cut(mut self) -> Answer {
        self.cut = true;
        self
    }
}

/// A function that answers requests.
type Mind = Box<dyn Fn(&Asked) -> Answer + Send + Sync>;

struct Script {
    mind: Mind,
    asked: Mutex<Vec<Asked>>,
}

/// A server on a free local port; it stops with the test's runtime.
pub struct Scripted {
    /// The root URL of the server.
    pub url: Url,
    script: Arc<Script>,
}

impl Scripted {
    /// Starts a server that gives `answers` one after the other, and 500 when there are no more.
    pub async fn start(answers: impl IntoIterator<Item = Answer>) -> Scripted {
        let answers: Mutex<VecDeque<Answer>> = Mutex::new(answers.into_iter().collect());
        Scripted::minded(move |_| {
            let next = answers.lock().expect("no test panics while it holds this").pop_front();
            next.unwrap_or_else(|| answer(500, "the script is over"))
        })
        .await
    }

    /// Starts a server that answers by request, for clients that send several requests at once.
    pub async fn minded(mind: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Scripted {
        let script = Arc::new(Script { mind: Box::new(mind), asked: Mutex::new(Vec::new()) });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("a bound socket has an address").port();
        let router = Router::new().fallback(reply).with_state(script.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        let url = Url::parse(&format!("http://127.0.0.1:{port}")).expect("an address is a URL");
        Scripted { url, script }
    }

    /// Returns all requests received so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.script.asked.lock().expect("no test panics while it holds this").clone()
    }
}

async fn reply(State(script): State<Arc<Script>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let body = to_bytes(body, 1 << 20).await.expect("a small body");
    let asked = Asked {
        line: format!("{} {}", head.method, head.uri),
        headers: head.headers,
        body: String::from_utf8_lossy(&body).into_owned(),
    };
    let next = (script.mind)(&asked);
    script.asked.lock().expect("no test panics while it holds this").push(asked);
    let mut builder = Response::builder().status(StatusCode::from_u16(next.status).expect("a status"));
    for (name, value) in &next.headers {
        let value = HeaderValue::from_str(value).expect("a header's value");
        builder = builder.header(HeaderName::from_static(name), value);
    }
    let body = if next.cut {
        builder = builder.header("content-length", next.body.len() + 10);
        let sent = stream::iter([Ok(Bytes::from(next.body))]);
        let broken = stream::once(async {
            // Lets the server send the body before the connection is closed.
            tokio::task::yield_now().await;
            Err(io::Error::from(io::ErrorKind::ConnectionReset))
        });
        Body::from_stream(sent.chain(broken))
    } else if next.without_length {
        Body::from_stream(stream::iter([Ok::<_, io::Error>(Bytes::from(next.body))]))
    } else {
        Body::from(next.body)
    };
    builder.body(body).expect("a whole answer")
}
