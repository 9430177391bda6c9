//! The door of the server: the only way to add a route, and what is done for every request. A handler never sees a
//! request. It gets a call whose caller and token have been checked, so no route can leave out a check.

use super::auth::{Access, authenticate};
use super::body::{self, Purpose};
use super::call::{Answer, Call, Outcome, ReadCall, WriteCall};
use super::deliveries;
use super::engine::Engine;
use super::page::{self, Pagination};
use super::params::{self, Inputs};
use super::rejection::Rejection;
use super::stop::Stop;
use super::stream::Stream;
use super::world::World;
use crate::backend::ref_updates::RefUpdates;
use axum::Router;
use axum::body::Body;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{OriginalUri, RawPathParams, Request, State};
use axum::http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version, header};
use axum::response::Response;
use axum::routing::{MethodFilter, on};
use hyper_util::service::TowerToHyperService;
use serde_json::Value;
use std::ops::Deref;
use std::sync::Arc;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{Predicate, SizeAbove};

/// The headers of every reply. No reply may be framed, run a script, load anything, or tell its address to others; the
/// page of the device sign-in submits its form to this server.
const COMMON_HEADERS: [(HeaderName, &str); 5] = [
    (header::CACHE_CONTROL, "no-cache"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    ),
];

/// The content type and the bytes of a response; `None` for no body.
pub type Rendered = Option<(String, Vec<u8>)>;

/// A handler of a route.
pub enum Run {
    /// Reads a snapshot, and blocks nobody.
    Read(Box<RunRead>),
    /// Changes the world. The changes are committed if it returns an answer, and discarded if it fails.
    Write(Box<RunWrite>),
    /// Reads, and generates the body while it is sent.
    Stream(Box<RunStream>),
}

/// A handler that reads.
pub type RunRead = dyn for<'a> Fn(&mut ReadCall<'a>) -> Outcome<Rendered> + Send + Sync;
/// A handler that writes.
pub type RunWrite = dyn for<'a> Fn(&mut WriteCall<'a>) -> Outcome<Rendered> + Send + Sync;
/// A handler that streams its body.
pub type RunStream = dyn for<'a> Fn(&mut ReadCall<'a>) -> Outcome<Stream> + Send + Sync;

/// The checks that the door makes before it calls the handler of a route.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Checks {
    /// The callers that are accepted.
    pub access: Access,
    /// The kind of body, which decides its size limit.
    pub body: Purpose,
}

/// A route with its checks.
#[derive(Clone, Debug)]
pub struct Route {
    pub method: Method,
    pub path: String,
    pub checks: Checks,
}

type PathParams = Result<RawPathParams, RawPathParamsRejection>;

#[derive(Default)]
pub struct Door {
    router: Router<Arc<Engine>>,
    routes: Vec<Route>,
}

/// The service with all routes, which only a [`Door`] can create.
#[derive(Clone)]
pub struct Service(Router);

impl Service {
    /// Returns the service in the form that a connection needs.
    pub fn into_hyper(self) -> TowerToHyperService<Router> {
        TowerToHyperService::new(self.0)
    }
}

impl Door {
    /// Adds a route. The handler has the same type for all routes: compiling a stack of HTTP layers for each would take
    /// minutes.
    pub fn route(&mut self, method: Method, path: &str, checks: Checks, run: Run) {
        self.routes.push(Route { method: method.clone(), path: path.to_owned(), checks });
        let is_post = method == Method::POST;
        let filter = MethodFilter::try_from(method).unwrap_or(MethodFilter::GET);
        let run = Arc::new(run);
        let handler = async move |State(engine): State<Arc<Engine>>, path_params: PathParams, request: Request| {
            let run = run.clone();
            // A path parameter is not valid UTF-8 after decoding.
            let Ok(path_params) = path_params else { return error_response(Rejection::invalid("id")) };
            let path_params =
                path_params.iter().map(|(name, value)| (name.to_owned(), Value::String(value.to_owned()))).collect();
            // Dropped with the connection, which cancels work whose result nobody waits for.
            let stop = Stop::default();
            let _ends = stop.when_dropped();
            let answered = match Incoming::receive(&engine, request, checks, stop.clone()).await {
                Ok((incoming, body)) => {
                    // Git and the disk block, and a large body takes long to parse, so handlers run on the blocking
                    // thread pool.
                    let work = tokio::task::spawn_blocking(move || {
                        incoming.with(body, path_params)?.answer(&engine, &run, is_post)
                    });
                    work.await.unwrap_or_else(|panic| Err(Rejection::internal_error(panic)))
                }
                Err(rejection) => Err(rejection),
            };
            answered.unwrap_or_else(error_response)
        };
        let router = std::mem::take(&mut self.router);
        self.router = router.route(path, on(filter, handler));
    }

    /// Returns all routes with their checks.
    pub fn routes(&self) -> &[Route] {
        &self.routes
    }

    pub fn into_service(self, engine: Arc<Engine>) -> Service {
        let router = self
            .router
            .fallback(async || error_response(Rejection::error(404, "404 Not Found")))
            .method_not_allowed_fallback(async || error_response(Rejection::error(405, "405 Not Allowed")))
            .layer(
                CompressionLayer::new()
                    .quality(tower_http::CompressionLevel::Fastest)
                    .compress_when(SizeAbove::default().and(is_text)),
            )
            .with_state(engine);
        Service(router)
    }
}

/// Returns whether a response is worth compressing: text is, an archive is already small.
fn is_text(_: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_part = headers.contains_key(header::CONTENT_RANGE);
    !is_part && (content_type.starts_with("text/") || content_type.starts_with("application/json"))
}

/// A request that has been received.
struct Incoming {
    path: String,
    query: String,
    headers: HeaderMap,
    inputs: Inputs,
    checks: Checks,
    stop: Stop,
}

impl Incoming {
    /// Reads the head and the body of a request.
    async fn receive(
        engine: &Engine,
        request: Request,
        checks: Checks,
        stop: Stop,
    ) -> Result<(Incoming, Vec<u8>), Rejection> {
        let (parts, body) = request.into_parts();
        let uri = parts.extensions.get::<OriginalUri>().map_or(&parts.uri, |OriginalUri(uri)| uri);
        let (path, query) = (uri.path().to_owned(), uri.query().unwrap_or_default().to_owned());
        let mut inputs = Inputs::new();
        params::add_pairs(&mut inputs, query.as_bytes())?;
        // The token may be in the body, so the body of an anonymous caller is read, with smaller limits.
        let (world, now) = (engine.snapshot(), engine.clock.now());
        let rights = authenticate(&world, &parts.headers, &inputs, checks.access, now)?;
        let is_signed_in = rights.user.is_some();
        let within = if is_signed_in { engine.limits.body } else { engine.limits.body.min(engine.limits.head) };
        let body = body::read(body, checks.body.max_bytes(is_signed_in), within).await?;
        Ok((Incoming { path, query, headers: parts.headers, inputs, checks, stop }, body))
    }

    /// Adds the inputs from the body and the path parameters.
    fn with(mut self, body: Vec<u8>, path_params: Inputs) -> Result<Incoming, Rejection> {
        body::add(&mut self.inputs, &self.headers, &body)?;
        params::as_specified(&mut self.inputs);
        // Path parameters override other inputs of the same name.
        self.inputs.extend(path_params);
        Ok(self)
    }

    /// Calls the handler of the route, and returns the response with its answer.
    fn answer(mut self, engine: &Engine, run: &Run, is_post: bool) -> Result<Response, Rejection> {
        match run {
            Run::Read(run) => {
                engine.tick();
                let world = engine.snapshot();
                let mut call = self.call(engine, &world)?;
                let answer = run(&mut call)?;
                Ok(self.respond(answer, is_post, call.pagination, &call.base_url))
            }
            Run::Write(run) => {
                let (response, events) = engine.write(|world| {
                    let mut call = self.call(engine, world)?;
                    let answer = run(&mut call)?;
                    let response = self.respond(answer, is_post, call.pagination, &call.base_url);
                    Ok(((response, call.events), call.ref_updates.take()))
                })?;
                deliveries::deliver_all(&engine.snapshot(), events);
                Ok(response)
            }
            Run::Stream(run) => {
                engine.tick();
                let world = engine.snapshot();
                let mut call = self.call(engine, &world)?;
                let Answer { body, status, headers, .. } = run(&mut call)?;
                let permit = engine.streams.admit(call.rights.user)?;
                let mut response = reply(status.unwrap_or(200), Some((body.content_type.clone(), Vec::new())));
                if let Some(length) = body.length {
                    response.headers_mut().insert(header::CONTENT_LENGTH, length.into());
                }
                *response.body_mut() = body.body(permit);
                response.headers_mut().extend(headers);
                Ok(response)
            }
        }
    }

    /// Authenticates the caller and moves the inputs into a [`Call`]. This comes before the inputs are validated.
    fn call<W: Deref<Target = World>>(&mut self, engine: &Engine, world: W) -> Result<Call<W>, Rejection> {
        let now = engine.clock.now();
        let rights = authenticate(&world, &self.headers, &self.inputs, self.checks.access, now)?;
        if self.checks.access.needs_user() && rights.user.is_none() {
            return Err(Rejection::unauthorized());
        }
        // Credentials are no longer needed, and endpoints do not know these inputs.
        let mut inputs = std::mem::take(&mut self.inputs);
        inputs.retain(|name, _| !matches!(name.as_str(), "sudo" | "private_token" | "access_token" | "job-token"));
        Ok(Call {
            world,
            rights,
            now,
            base_url: self.base_url().unwrap_or_else(|| engine.base_url.clone()),
            inputs,
            pagination: Pagination { page: 1, per_page: 20 },
            headers: self.headers.clone(),
            repositories: engine.repositories.clone(),
            stop: self.stop.clone(),
            cache: engine.cache.clone(),
            ref_updates: RefUpdates::default(),
            events: Vec::new(),
            only_specified: engine.only_specified,
        })
    }

    /// Returns the base URL as the caller addressed the server, so that links work through a forwarded port.
    fn base_url(&self) -> Option<String> {
        let host = self.headers.get(header::HOST)?.to_str().ok()?;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']' | '_');
        (!host.is_empty() && host.chars().all(plain)).then(|| format!("http://{host}"))
    }

    fn respond(&self, answer: Answer<Rendered>, is_post: bool, pagination: Pagination, base: &str) -> Response {
        let usual = match &answer.body {
            None => 204,
            Some(_) if is_post => 201,
            Some(_) => 200,
        };
        let mut response = reply(answer.status.unwrap_or(usual), answer.body);
        if let Some(list_size) = answer.list_size {
            let url = format!("{base}{}", self.path);
            response.headers_mut().extend(page::headers(pagination, list_size, &url, &self.query));
        }
        response.headers_mut().extend(answer.headers);
        response
    }
}

fn reply(status: u16, body: Rendered) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.extend(COMMON_HEADERS.map(|(name, value)| (name, HeaderValue::from_static(value))));
    if let Some((content_type, bytes)) = body {
        if let Ok(content_type) = HeaderValue::from_str(&content_type) {
            headers.insert(header::CONTENT_TYPE, content_type);
        }
        *response.body_mut() = Body::from(bytes);
    }
    response
}

/// Returns the response for a rejected request.
pub fn error_response(rejection: Rejection) -> Response {
    let bytes = serde_json::to_vec(&rejection.body).unwrap_or_default();
    let mut response = reply(rejection.status, Some(("application/json".into(), bytes)));
    if rejection.body.get("error").is_some_and(|error| error == "invalid_token") {
        let scheme = HeaderValue::from_static("Bearer realm=\"Protected by OAuth 2.0\", error=\"invalid_token\"");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
    }
    if matches!(rejection.status, 429 | 503) {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}
