//! The door of the server: the only way to add a route, and what is done for every request. A handler never sees a
//! request. It gets a call whose caller and token have been checked, so no route can leave out a check.

use super::auth::{Access, authenticate};
use super::body::{self, Purpose};
use super::call::{Answer, Call, Outcome, ReadCall, WriteCall};
use super::deliveries;
use super::engine::Engine;
use super::git_http::GitReply;
use super::limits::Limits;
use super::modes::{self, ModeState, Modes};
use super::page::{self, Pagination};
use super::params::{self, Inputs};
use super::range;
use super::rejection::Rejection;
use super::slots::Permit;
use super::spool::Spooled;
use super::stop::Stop;
use super::stream::Stream;
use super::world::World;
use crate::ref_updates::RefUpdates;
use axum::Router;
use axum::body::Body;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{OriginalUri, RawPathParams, Request, State};
use axum::http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version, header};
use axum::middleware;
use axum::response::Response;
use axum::routing::{MethodFilter, on};
use hyper_util::service::TowerToHyperService;
use percent_encoding::percent_decode_str;
use serde_json::Value;
use std::cell::OnceCell;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;
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

/// The rule for caches of replies with an entity tag.
const REVALIDATED: &str = "max-age=0, private, must-revalidate";

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
    /// Answers a git client.
    Git(GitHandler),
}

/// A handler that reads.
pub type RunRead = dyn for<'a> Fn(&mut ReadCall<'a>) -> Outcome<Rendered> + Send + Sync;
/// A handler that writes.
pub type RunWrite = dyn for<'a> Fn(&mut WriteCall<'a>) -> Outcome<Rendered> + Send + Sync;
/// A handler that streams its body.
pub type RunStream = dyn for<'a> Fn(&mut ReadCall<'a>) -> Outcome<Stream> + Send + Sync;

/// A handler of git's own protocol, whose bodies are too large for memory.
#[derive(Clone, Copy)]
pub struct GitHandler {
    /// Checks the caller before the body is read.
    pub check: for<'a> fn(&ReadCall<'a>) -> Result<(), Rejection>,
    /// The size limit of the body in bytes, and its time limit.
    pub limits: fn(&Limits) -> (u64, Duration),
    pub run: for<'a> fn(&GitRequest<'a>, Spooled) -> Result<GitReply, Rejection>,
}

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
    /// The routes below the web address of a project, which the router cannot express: groups nest to any depth.
    project_routes: Vec<ProjectRoute>,
}

/// A route below the web address of a project.
struct ProjectRoute {
    method: Method,
    /// The rest of the path. It may end with `/{*rest}`, which stands for any text.
    tail: &'static str,
    handler: Arc<Handler>,
}

/// The path of a project in the pattern of a route below its web address.
const PROJECT: &str = "/{*project}";
/// The end of a route that stands for any text.
const REST: &str = "{*rest}";

impl ProjectRoute {
    /// Returns the encoded path of the project and the rest of a path that the route matches.
    fn split<'p>(&self, path: &'p str) -> Option<(&'p str, &'p str)> {
        let path = path.strip_prefix('/')?;
        match self.tail.strip_suffix(REST) {
            Some(middle) => path.split_once(middle),
            None => Some((path.strip_suffix(self.tail)?, "")),
        }
    }
}

/// A handler with the checks of its route.
struct Handler {
    /// The method and the route, for the log: a concrete path may contain what others must not know.
    name: String,
    checks: Checks,
    run: Run,
    /// Whether a reply with a body has the status 201.
    is_post: bool,
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
        let handler = Handler::new(&method, path, checks, run);
        let filter = MethodFilter::try_from(method).unwrap_or(MethodFilter::GET);
        let serve = async move |State(engine): State<Arc<Engine>>, path_params: PathParams, request: Request| {
            // A path parameter is not valid UTF-8 after decoding.
            let Ok(path_params) = path_params else { return error_response(Rejection::invalid("id")) };
            let path_params =
                path_params.iter().map(|(name, value)| (name.to_owned(), Value::String(value.to_owned()))).collect();
            handler.clone().serve(engine, path_params, request).await
        };
        let router = std::mem::take(&mut self.router);
        self.router = router.route(path, on(filter, serve));
    }

    /// Adds a route below the web address of a project. Its handler finds the project's path in the input `project`, and
    /// the text that `{*rest}` stands for in `rest`.
    pub fn project_route(&mut self, method: Method, tail: &'static str, checks: Checks, run: Run) {
        self.routes.push(Route { method: method.clone(), path: format!("{PROJECT}{tail}"), checks });
        let handler = Handler::new(&method, &format!("{PROJECT}{tail}"), checks, run);
        self.project_routes.push(ProjectRoute { method, tail, handler });
    }

    /// Returns all routes with their checks.
    pub fn routes(&self) -> &[Route] {
        &self.routes
    }

    pub fn into_service(self, engine: Arc<Engine>, modes: Modes) -> Service {
        let clock = engine.clock.clone();
        let project_routes = Arc::new(self.project_routes);
        let below_projects = async move |State(engine): State<Arc<Engine>>, request: Request| {
            let project_routes = project_routes.clone();
            match find_below_project(&project_routes, &request) {
                Ok((handler, path_params)) => handler.serve(engine, path_params, request).await,
                Err(rejection) => {
                    let rejection = match is_gone(request.uri().path()) && engine.version != modes::Version::V10_6 {
                        true => Rejection::error(410, "API V3 is no longer supported. Use API V4 instead."),
                        false => rejection,
                    };
                    tracing::debug!("{} {:?} {}", request.method(), request.uri().path(), rejection.status);
                    error_response(rejection)
                }
            }
        };
        let router = self
            .router
            .fallback(below_projects)
            .method_not_allowed_fallback(async || error_response(not_allowed()))
            .layer(
                CompressionLayer::new()
                    .quality(tower_http::CompressionLevel::Fastest)
                    .compress_when(SizeAbove::default().and(is_text)),
            )
            .with_state(engine);
        if modes.is_transparent() {
            return Service(router);
        }
        let state = ModeState::new(modes, move || clock.now().as_second());
        Service(router.layer(middleware::from_fn_with_state(Arc::new(state), modes::apply)))
    }
}

fn not_allowed() -> Rejection {
    Rejection::error(405, "405 Not Allowed")
}

/// Returns whether a path is one of the former API.
fn is_gone(path: &str) -> bool {
    path.strip_prefix("/api/v3").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Finds the handler of a request below the web address of a project, and its path parameters.
fn find_below_project(routes: &[ProjectRoute], request: &Request) -> Result<(Arc<Handler>, Inputs), Rejection> {
    let path = request.uri().path();
    let mut found = routes.iter().filter_map(|route| Some((route, route.split(path)?))).peekable();
    if found.peek().is_none() {
        return Err(Rejection::error(404, "404 Not Found"));
    }
    let (route, (project, rest)) =
        found.find(|(route, _)| route.method == *request.method()).ok_or_else(not_allowed)?;
    let decode = |text: &str| Some(percent_decode_str(text).decode_utf8().ok()?.into_owned());
    let (project, rest) = decode(project).zip(decode(rest)).ok_or_else(|| Rejection::invalid("id"))?;
    let inputs = [("project", project), ("rest", rest)];
    let path_params = inputs.into_iter().map(|(name, value)| (name.to_owned(), Value::String(value))).collect();
    Ok((route.handler.clone(), path_params))
}

impl Handler {
    fn new(method: &Method, route: &str, checks: Checks, run: Run) -> Arc<Handler> {
        Arc::new(Handler { name: format!("{method} {route}"), checks, run, is_post: method == Method::POST })
    }

    /// Serves a request of the route, and logs its status.
    async fn serve(self: Arc<Handler>, engine: Arc<Engine>, path_params: Inputs, request: Request) -> Response {
        let response = self.clone().respond(engine, path_params, request).await;
        tracing::debug!("{} {}", self.name, response.status().as_u16());
        response
    }

    async fn respond(self: Arc<Handler>, engine: Arc<Engine>, path_params: Inputs, request: Request) -> Response {
        // Dropped with the connection, which cancels work whose result nobody waits for.
        let stop = Stop::default();
        let _ends = stop.when_dropped();
        if let Run::Git(git) = &self.run {
            let answered = self.exchange(*git, &engine, path_params, request, stop).await;
            return answered.unwrap_or_else(text_response);
        }
        let version = engine.version;
        let answered = match IncomingRequest::receive(&engine, request, self.checks, stop).await {
            Ok((incoming, body)) => {
                // Git and the disk block, and a large body takes long to parse, so handlers run on the blocking
                // thread pool.
                let work = tokio::task::spawn_blocking(move || {
                    incoming.with(body, path_params)?.answer(&engine, &self.run, self.is_post)
                });
                work.await.unwrap_or_else(|panic| Err(Rejection::internal_error(panic)))
            }
            Err(rejection) => Err(rejection),
        };
        answered.unwrap_or_else(|why| match version {
            modes::Version::V10_6 => error_response(why.as_specified()),
            _ => error_response(why),
        })
    }

    /// Serves a request of a git client. Its body is on disk before the handler runs, so that a slow client holds nothing
    /// but its connection.
    async fn exchange(
        &self,
        git: GitHandler,
        engine: &Arc<Engine>,
        path_params: Inputs,
        request: Request,
        stop: Stop,
    ) -> Result<Response, Rejection> {
        let (mut incoming, body) = IncomingRequest::head(request, self.checks, stop)?;
        incoming.inputs.extend(path_params);
        let user = {
            let world = engine.snapshot();
            let call = incoming.clone().call(engine, &world)?;
            (git.check)(&call)?;
            call.rights.user
        };
        let limits = (git.limits)(&engine.limits);
        let body = engine.spools.receive(user, body, &incoming.headers, limits, &engine.repositories).await?;
        let permit = engine.processes.wait(user).await;
        let silence = engine.limits.push;
        let engine = engine.clone();
        let work = tokio::task::spawn_blocking(move || {
            engine.tick();
            (git.run)(&GitRequest { engine: &engine, incoming }, body)
        });
        match work.await.unwrap_or_else(|panic| Err(Rejection::internal_error(panic)))? {
            GitReply::Whole(content_type, bytes) => Ok(reply(200, Some((content_type.to_owned(), bytes)))),
            GitReply::Output(output) => {
                let mut response = reply(200, Some((output.content_type.to_owned(), Vec::new())));
                *response.body_mut() = output.body(permit, silence).await?;
                Ok(response)
            }
        }
    }
}

/// A request of a git client, whose body is on disk.
pub struct GitRequest<'e> {
    engine: &'e Engine,
    incoming: IncomingRequest,
}

impl GitRequest<'_> {
    /// Returns the limits of the server.
    pub fn limits(&self) -> &Limits {
        &self.engine.limits
    }

    /// Returns the flag that is set when the client disconnects.
    pub fn stop(&self) -> &Stop {
        &self.incoming.stop
    }

    /// Reads a snapshot.
    pub fn read<T>(&self, run: impl FnOnce(&ReadCall) -> Result<T, Rejection>) -> Result<T, Rejection> {
        let world = self.engine.snapshot();
        run(&self.incoming.clone().call(self.engine, &world)?)
    }

    /// Changes the world, unless `run` fails.
    pub fn write<T>(&self, run: impl FnOnce(&mut WriteCall) -> Result<T, Rejection>) -> Result<T, Rejection> {
        self.incoming.clone().write(self.engine, |_, call| run(call))
    }
}

/// Returns whether a response is worth compressing: text is, an archive is already small.
fn is_text(_: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_part = headers.contains_key(header::CONTENT_RANGE);
    !is_part && (content_type.starts_with("text/") || content_type.starts_with("application/json"))
}

/// A request that has been received.
#[derive(Clone)]
struct IncomingRequest {
    path: String,
    query: String,
    headers: HeaderMap,
    inputs: Inputs,
    checks: Checks,
    stop: Stop,
}

impl IncomingRequest {
    /// Reads the head of a request.
    fn head(request: Request, checks: Checks, stop: Stop) -> Result<(IncomingRequest, Body), Rejection> {
        let (parts, body) = request.into_parts();
        let uri = parts.extensions.get::<OriginalUri>().map_or(&parts.uri, |OriginalUri(uri)| uri);
        let (path, query) = (uri.path().to_owned(), uri.query().unwrap_or_default().to_owned());
        let mut inputs = Inputs::new();
        params::add_pairs(&mut inputs, query.as_bytes())?;
        Ok((IncomingRequest { path, query, headers: parts.headers, inputs, checks, stop }, body))
    }

    /// Reads the head and the body of a request.
    async fn receive(
        engine: &Engine,
        request: Request,
        checks: Checks,
        stop: Stop,
    ) -> Result<(IncomingRequest, Vec<u8>), Rejection> {
        let (incoming, body) = IncomingRequest::head(request, checks, stop)?;
        // The token may be in the body, so the body of an anonymous caller is read, with smaller limits.
        let (world, now) = (engine.snapshot(), engine.clock.now());
        let rights = authenticate(&world, &incoming.headers, &incoming.inputs, checks.access, now)?;
        let is_signed_in = rights.user.is_some();
        let within = if is_signed_in { engine.limits.body } else { engine.limits.body.min(engine.limits.head) };
        let body = body::read(body, checks.body.max_bytes(is_signed_in), within).await?;
        Ok((incoming, body))
    }

    /// Adds the inputs from the body and the path parameters.
    fn with(mut self, body: Vec<u8>, path_params: Inputs) -> Result<IncomingRequest, Rejection> {
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
                let is_whole = answer.status.is_none() && !answer.headers.contains_key(header::ETAG);
                let body = answer.body.as_ref().filter(|_| is_whole && !is_post);
                let tag = body.and_then(|(_, bytes)| range::weak_etag(bytes));
                let response = self.respond(answer, is_post, call.pagination, &call.base_url);
                Ok(self.unless_known(response, tag))
            }
            Run::Write(run) => self.write(engine, |incoming, call| {
                let answer = run(call)?;
                Ok(incoming.respond(answer, is_post, call.pagination, &call.base_url))
            }),
            Run::Stream(run) => {
                engine.tick();
                let world = engine.snapshot();
                let mut call = self.call(engine, &world)?;
                let answer = run(&mut call)?;
                let permit = engine.streams.admit(call.rights.user)?;
                Ok(stream_response(answer, permit))
            }
            Run::Git(_) => Err(not_allowed()),
        }
    }

    /// Runs a write, and delivers its events.
    fn write<T>(
        &mut self,
        engine: &Engine,
        run: impl FnOnce(&IncomingRequest, &mut WriteCall) -> Result<T, Rejection>,
    ) -> Result<T, Rejection> {
        let (out, events) = engine.write(|world| {
            let mut call = self.call(engine, world)?;
            let out = run(self, &mut call)?;
            Ok(((out, call.events), call.ref_updates.take()))
        })?;
        deliveries::deliver_all(&engine.snapshot(), events);
        Ok(out)
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
            version: engine.version,
            forgets_heads: engine.forgets_heads,
            busy_runners: OnceCell::new(),
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

    /// Returns the response with its entity tag; without its body, as a 304, if the client has that already.
    fn unless_known(&self, mut response: Response, tag: Option<String>) -> Response {
        let Some((tag, value)) = tag.and_then(|tag| Some((HeaderValue::from_str(&tag).ok()?, tag))) else {
            return response;
        };
        response.headers_mut().insert(header::ETAG, tag);
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(REVALIDATED));
        if range::is_known(&self.headers, &value) {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            *response.body_mut() = Body::empty();
            response.headers_mut().remove(header::CONTENT_TYPE);
        }
        response
    }
}

fn reply(status: u16, body: Rendered) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.extend(COMMON_HEADERS.map(|(name, value)| (name, HeaderValue::from_static(value))));
    // A reply that nothing was modified has no body.
    if let Some((content_type, bytes)) = body.filter(|_| status != 304) {
        if let Ok(content_type) = HeaderValue::from_str(&content_type) {
            headers.insert(header::CONTENT_TYPE, content_type);
        }
        *response.body_mut() = Body::from(bytes);
    }
    response
}

/// Returns the response whose body is generated while it is sent.
fn stream_response(Answer { body, status, headers, .. }: Answer<Stream>, permit: Permit) -> Response {
    let mut response = reply(status.unwrap_or(200), Some((body.content_type.clone(), Vec::new())));
    if let Some(length) = body.length {
        response.headers_mut().insert(header::CONTENT_LENGTH, length.into());
    }
    *response.body_mut() = body.body(permit);
    response.headers_mut().extend(headers);
    response
}

/// Returns the response for a rejected request of a git client, which shows the text to its user.
fn text_response(rejection: Rejection) -> Response {
    let status = rejection.status;
    let texts = ["message", "error"].map(|name| rejection.body.get(name).and_then(Value::as_str));
    let text = texts.into_iter().flatten().next().unwrap_or_default().to_owned();
    let mut response = error_response(rejection);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    if status == 401 {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"GitLab\""));
    }
    *response.body_mut() = Body::from(text);
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
