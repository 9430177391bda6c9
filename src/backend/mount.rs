//! Mounts handlers by endpoint type, and does the work that is common to all requests.

use super::auth::{Credentials, authenticate, check_token};
use super::avatars;
use super::body::{self, Purpose};
use super::call::{Answer, Outcome, ReadCall, WriteCall};
use super::deliveries;
use super::engine::Engine;
use super::oauth;
use super::page::{self, Pagination};
use super::params::{self, Inputs};
use super::rejection::Rejection;
use super::stop::Stop;
use super::stream::Stream;
use super::views;
use super::world::World;
use crate::api::views::{Fields, Views};
use crate::api::{Endpoint, NoContent, Raw};
use crate::backend::ref_updates::RefUpdates;
use axum::Router;
use axum::body::Body;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{OriginalUri, Path, RawPathParams, Request, State};
use axum::http::{Extensions, HeaderMap, HeaderValue, Method, StatusCode, Version, header};
use axum::response::Response;
use axum::routing::{MethodFilter, get, on};
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{Predicate, SizeAbove};

/// The common prefix of all paths.
pub const ROOT: &str = "/api/v4";

/// The content type and the bytes of a response; `None` for no body.
type Rendered = Option<(String, Vec<u8>)>;

/// A response body: JSON, raw bytes, or nothing.
pub trait Render {
    /// Renders the body. `views` selects the fields of nested objects, `only` the fields of the rows if fewer than usual
    /// are requested.
    fn render(self, views: Views, only: Option<Fields>) -> Result<Rendered, Rejection>;
}

impl<T: Serialize> Render for T {
    fn render(self, views: Views, only: Option<Fields>) -> Result<Rendered, Rejection> {
        let bytes = serde_json::to_vec(&self).and_then(|bytes| views::narrow_all(bytes, views, only));
        Ok(Some(("application/json".into(), bytes.map_err(Rejection::internal_error)?)))
    }
}

impl Render for Raw {
    fn render(self, _: Views, _: Option<Fields>) -> Result<Rendered, Rejection> {
        Ok(Some((self.content_type.unwrap_or_else(|| "text/plain".into()), self.bytes)))
    }
}

impl Render for NoContent {
    fn render(self, _: Views, _: Option<Fields>) -> Result<Rendered, Rejection> {
        Ok(None)
    }
}

/// A read-only handler.
pub type ReadHandler<E> = for<'a> fn(&ReadCall<'a>, E) -> Outcome<<E as Endpoint>::Output>;
/// A handler that changes the world.
pub type WriteHandler<E> = for<'a> fn(&mut WriteCall<'a>, E) -> Outcome<<E as Endpoint>::Output>;

/// A handler whose response body is generated while it is sent.
pub type StreamHandler<E> = for<'a> fn(&ReadCall<'a>, E) -> Outcome<Stream>;

/// A type-erased handler: takes the request, returns the response.
type Handler = Arc<dyn Fn(&Engine, Incoming) -> Result<Response, Rejection> + Send + Sync>;

/// The values of the path parameters.
type PathParams = Result<RawPathParams, RawPathParamsRejection>;

/// A builder for the router.
#[derive(Default)]
pub struct Mount {
    router: Router<Arc<Engine>>,
    mounted: Vec<&'static str>,
    /// Whether to leave out endpoints that are not in the specification.
    only_specified: bool,
}

impl Mount {
    /// Creates a builder without routes; `only_specified` leaves out endpoints that are not in the specification.
    pub fn new(only_specified: bool) -> Mount {
        Mount { only_specified, ..Mount::default() }
    }

    /// Mounts a read-only handler. It runs on a snapshot and blocks nobody.
    pub fn read<E: Endpoint>(self, handler: ReadHandler<E>) -> Mount
    where
        E::Output: Render,
    {
        self.mount::<E>(Purpose::Fields, read_handler(handler, false))
    }

    /// Mounts a read-only handler that requires a signed-in caller; this is checked before the inputs are validated.
    pub fn read_signed_in<E: Endpoint>(self, handler: ReadHandler<E>) -> Mount
    where
        E::Output: Render,
    {
        self.mount::<E>(Purpose::Fields, read_handler(handler, true))
    }

    /// Also mounts a read-only handler for HEAD requests: the reply is 204, without a body or a content length.
    pub fn also_head<E: Endpoint>(mut self, handler: ReadHandler<E>) -> Mount
    where
        E::Output: Render,
    {
        let run = read_handler(handler, false);
        let run: Handler = Arc::new(move |engine, incoming| run(engine, incoming).map(|_| reply(204, None)));
        self.route(Method::HEAD, E::ROUTE, Purpose::Fields, run);
        self
    }

    /// Mounts a read-only handler at an additional path.
    pub fn also_read<E: Endpoint>(mut self, route: &str, handler: ReadHandler<E>) -> Mount
    where
        E::Output: Render,
    {
        self.route(E::METHOD, route, Purpose::Fields, read_handler(handler, false));
        self
    }

    /// Mounts a handler that writes. It requires a signed-in caller, and its changes are committed only if it succeeds.
    pub fn write<E: Endpoint>(self, handler: WriteHandler<E>) -> Mount
    where
        E::Output: Render,
    {
        self.mount::<E>(Purpose::Fields, write_handler(handler))
    }

    /// Mounts a handler that writes at an additional path, at which an input replaces a path parameter: `(parameter,
    /// input)`.
    pub fn also_write<E: Endpoint>(
        mut self,
        route: &str,
        (parameter, input): (&'static str, &'static str),
        handler: WriteHandler<E>,
    ) -> Mount
    where
        E::Output: Render,
    {
        let run = write_handler(handler);
        let run: Handler = Arc::new(move |engine, mut incoming| {
            // Without it, the handler rejects the request, after it has checked who is calling.
            if let Some(value) = incoming.inputs.get(input).cloned() {
                incoming.inputs.insert(parameter.to_owned(), value);
            }
            run(engine, incoming)
        });
        if !(self.only_specified && E::IS_UNSPECIFIED) {
            self.route(E::METHOD, route, Purpose::Fields, run);
        }
        self
    }

    /// Mounts a handler that writes and whose request body may contain files, with a larger size limit.
    pub fn write_files<E: Endpoint>(self, handler: WriteHandler<E>) -> Mount
    where
        E::Output: Render,
    {
        self.mount::<E>(Purpose::Files, write_handler(handler))
    }

    /// Mounts a read-only handler whose response is too large to be built in memory.
    pub fn stream<E: Endpoint<Output = Raw>>(self, handler: StreamHandler<E>) -> Mount {
        self.mount::<E>(Purpose::Fields, stream_handler(handler, false, Credentials::Users))
    }

    /// Mounts a streaming handler that requires a signed-in caller.
    pub fn stream_signed_in<E: Endpoint<Output = Raw>>(self, handler: StreamHandler<E>) -> Mount {
        self.mount::<E>(Purpose::Fields, stream_handler(handler, true, Credentials::Users))
    }

    /// Mounts a streaming handler that requires a signed-in caller and also accepts job tokens.
    pub fn stream_to_jobs<E: Endpoint<Output = Raw>>(self, handler: StreamHandler<E>) -> Mount {
        self.mount::<E>(Purpose::Fields, stream_handler(handler, true, Credentials::UsersAndJobs))
    }

    /// Mounts a streaming handler at an additional path that implies the value of one input.
    pub fn also_stream<E: Endpoint<Output = Raw>>(
        mut self,
        route: &str,
        (name, value): (&'static str, &'static str),
        handler: StreamHandler<E>,
    ) -> Mount {
        let run = stream_handler(handler, false, Credentials::Users);
        let run: Handler = Arc::new(move |engine, mut incoming| {
            incoming.inputs.insert(name.to_owned(), value.into());
            run(engine, incoming)
        });
        self.route(E::METHOD, route, Purpose::Fields, run);
        self
    }

    /// Mounts a streaming handler that also accepts job tokens at an additional path. The path parameters `name`,
    /// `name_2` and `name_3` are segments of one value whose slashes are not escaped.
    pub fn also_stream_to_jobs<E: Endpoint<Output = Raw>>(
        mut self,
        route: &str,
        name: &'static str,
        handler: StreamHandler<E>,
    ) -> Mount {
        let run = stream_handler(handler, true, Credentials::UsersAndJobs);
        let run: Handler = Arc::new(move |engine, mut incoming| {
            let parts = ["", "_2", "_3"].map(|part| incoming.inputs.remove(&format!("{name}{part}")));
            let parts: Vec<&str> = parts.iter().filter_map(|part| part.as_ref()?.as_str()).collect();
            incoming.inputs.insert(name.to_owned(), parts.join("/").into());
            run(engine, incoming)
        });
        self.route(E::METHOD, route, Purpose::Fields, run);
        self
    }

    fn mount<E: Endpoint>(mut self, purpose: Purpose, run: Handler) -> Mount {
        if !(self.only_specified && E::IS_UNSPECIFIED) {
            self.route(E::METHOD, E::ROUTE, purpose, run);
            self.mounted.push(E::NAME);
        }
        self
    }

    /// Adds a route. The handler has the same type for all endpoints: compiling a stack of HTTP layers for each would
    /// take minutes.
    fn route(&mut self, method: Method, route: &str, purpose: Purpose, run: Handler) {
        let method = MethodFilter::try_from(method).unwrap_or(MethodFilter::GET);
        let handler = async move |State(engine): State<Arc<Engine>>, path_params: PathParams, request: Request| {
            let run = run.clone();
            // A path parameter is not valid UTF-8 after decoding.
            let Ok(path_params) = path_params else { return error_response(Rejection::invalid("id")) };
            let path_params =
                path_params.iter().map(|(name, value)| (name.to_owned(), Value::String(value.to_owned()))).collect();
            // Dropped with the connection, which cancels work whose result nobody waits for.
            let stop = Stop::default();
            let _ends = stop.when_dropped();
            let answered = match Incoming::receive(&engine, request, purpose, stop.clone()).await {
                Ok((incoming, body)) => {
                    // Git and the disk block, and a large body takes long to parse, so handlers run on the blocking
                    // thread pool.
                    let work = tokio::task::spawn_blocking(move || run(&engine, incoming.with(body, path_params)?));
                    work.await.unwrap_or_else(|panic| Err(Rejection::internal_error(panic)))
                }
                Err(rejection) => Err(rejection),
            };
            answered.unwrap_or_else(error_response)
        };
        let router = std::mem::take(&mut self.router);
        self.router = router.route(&format!("{ROOT}{route}"), on(method, handler));
    }

    /// Returns the names of the mounted endpoints.
    pub fn mounted(&self) -> &[&'static str] {
        &self.mounted
    }

    /// Builds the router of the whole service.
    pub fn into_router(self, engine: Arc<Engine>) -> Router {
        let picture =
            async |State(engine): State<Arc<Engine>>, path: Path<(String, u64, String)>, headers: HeaderMap| {
                let Path((kind, id, filename)) = path;
                match avatars::find(&engine, &headers, (&kind, id, &filename)) {
                    Ok((content_type, bytes)) => reply(200, Some((content_type.to_owned(), bytes))),
                    Err(rejection) => error_response(rejection),
                }
            };
        let router = if self.only_specified { self.router } else { oauth::mount(self.router) };
        router
            .route(avatars::ROUTE, get(picture))
            .fallback(async || error_response(Rejection::error(404, "404 Not Found")))
            .method_not_allowed_fallback(async || error_response(Rejection::error(405, "405 Not Allowed")))
            .layer(
                CompressionLayer::new()
                    .quality(tower_http::CompressionLevel::Fastest)
                    .compress_when(SizeAbove::default().and(is_text)),
            )
            .with_state(engine)
    }
}

/// A read-only handler that parses its inputs and renders its answer.
type RunRead = dyn for<'a> Fn(&mut ReadCall<'a>) -> Result<Answer<Rendered>, Rejection> + Send + Sync;
/// A handler that parses its inputs, writes, and renders its answer.
type RunWrite = dyn for<'a> Fn(&mut WriteCall<'a>) -> Result<Answer<Rendered>, Rejection> + Send + Sync;
/// A streaming handler that parses its inputs.
type RunStream = dyn for<'a> Fn(&ReadCall<'a>) -> Outcome<Stream> + Send + Sync;

// Generic code is compiled for each endpoint, so these functions contain only what depends on it.

fn read_handler<E: Endpoint>(handler: ReadHandler<E>, needs_caller: bool) -> Handler
where
    E::Output: Render,
{
    let run = move |call: &mut ReadCall| {
        let inputs = params::read(&call.inputs)?;
        call.pagination = Pagination::from_inputs(&call.inputs)?;
        render::<E>(handler(call, inputs)?)
    };
    handle_read(E::METHOD, Box::new(run), needs_caller)
}

fn write_handler<E: Endpoint>(handler: WriteHandler<E>) -> Handler
where
    E::Output: Render,
{
    let run = move |call: &mut WriteCall| render::<E>(handler(call, params::read(&call.inputs)?)?);
    handle_write(E::METHOD, Box::new(run))
}

fn stream_handler<E: Endpoint<Output = Raw>>(
    handler: StreamHandler<E>,
    needs_caller: bool,
    credentials: Credentials,
) -> Handler {
    let run = move |call: &ReadCall| handler(call, params::read(&call.inputs)?);
    handle_stream(Box::new(run), needs_caller, credentials)
}

/// Renders the body of an answer.
fn render<E: Endpoint>(answer: Answer<E::Output>) -> Result<Answer<Rendered>, Rejection>
where
    E::Output: Render,
{
    let Answer { body, status, list_size, headers, body_override, only } = answer;
    let body = match body_override {
        Some(body_override) => body_override.render(E::VIEWS, None)?,
        None => body.render(E::VIEWS, only)?,
    };
    Ok(Answer { status, list_size, headers, ..Answer::new(body) })
}

fn handle_read(method: Method, run: Box<RunRead>, needs_caller: bool) -> Handler {
    let needs = if needs_caller { Needs::Caller } else { Needs::Nothing };
    Arc::new(move |engine, mut incoming| {
        engine.tick();
        let world = engine.snapshot();
        let mut call = incoming.call(engine, &world, needs, Credentials::Users)?;
        let answer = run(&mut call)?;
        Ok(incoming.respond(answer, &method, call.pagination, &call.base_url))
    })
}

fn handle_write(method: Method, run: Box<RunWrite>) -> Handler {
    Arc::new(move |engine, mut incoming| {
        let (response, events) = engine.write(|world| {
            let mut call = incoming.call(engine, world, Needs::Write, Credentials::Users)?;
            let answer = run(&mut call)?;
            let response = incoming.respond(answer, &method, call.pagination, &call.base_url);
            Ok(((response, call.events), call.ref_updates.take()))
        })?;
        deliveries::deliver_all(&engine.snapshot(), events);
        Ok(response)
    })
}

fn handle_stream(run: Box<RunStream>, needs_caller: bool, credentials: Credentials) -> Handler {
    let needs = if needs_caller { Needs::Caller } else { Needs::Nothing };
    Arc::new(move |engine, mut incoming| {
        engine.tick();
        let world = engine.snapshot();
        let call = incoming.call(engine, &world, needs, credentials)?;
        let Answer { body, status, headers, .. } = run(&call)?;
        let permit = engine.streams.admit(call.rights.user)?;
        let mut response = reply(status.unwrap_or(200), Some((body.content_type.clone(), Vec::new())));
        if let Some(length) = body.length {
            response.headers_mut().insert(header::CONTENT_LENGTH, length.into());
        }
        *response.body_mut() = body.body(permit);
        response.headers_mut().extend(headers);
        Ok(response)
    })
}

/// Returns whether a response is worth compressing: text is, an archive is already small.
fn is_text(_: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_part = headers.contains_key(header::CONTENT_RANGE);
    !is_part && (content_type.starts_with("text/") || content_type.starts_with("application/json"))
}

/// The authentication that a call requires.
#[derive(Clone, Copy, PartialEq)]
enum Needs {
    Nothing,
    /// A signed-in caller.
    Caller,
    /// A signed-in caller whose token has write access.
    Write,
}

/// A request that has been received.
struct Incoming {
    path: String,
    query: String,
    headers: HeaderMap,
    inputs: Inputs,
    stop: Stop,
}

impl Incoming {
    /// Reads the head and the body of a request.
    async fn receive(
        engine: &Engine,
        request: Request,
        purpose: Purpose,
        stop: Stop,
    ) -> Result<(Incoming, Vec<u8>), Rejection> {
        let (parts, body) = request.into_parts();
        let uri = parts.extensions.get::<OriginalUri>().map_or(&parts.uri, |OriginalUri(uri)| uri);
        let (path, query) = (uri.path().to_owned(), uri.query().unwrap_or_default().to_owned());
        let mut inputs = Inputs::new();
        params::add_pairs(&mut inputs, query.as_bytes())?;
        // The token of an unauthenticated caller may be in the body, so the body is read, with a smaller size limit.
        let rights = authenticate(&engine.snapshot(), &parts.headers, &inputs, Credentials::Users)?;
        let body = body::read(body, purpose.max_bytes(rights.user.is_some()), engine.limits.body).await?;
        Ok((Incoming { path, query, headers: parts.headers, inputs, stop }, body))
    }

    /// Adds the inputs from the body and the path parameters.
    fn with(mut self, body: Vec<u8>, path_params: Inputs) -> Result<Incoming, Rejection> {
        body::add(&mut self.inputs, &self.headers, &body)?;
        params::as_specified(&mut self.inputs);
        // Path parameters override other inputs of the same name.
        self.inputs.extend(path_params);
        Ok(self)
    }

    /// Authenticates the caller and moves the inputs into a [`Call`](super::call::Call). Authentication is checked
    /// before the inputs are validated.
    fn call<W: std::ops::Deref<Target = World>>(
        &mut self,
        engine: &Engine,
        world: W,
        needs: Needs,
        credentials: Credentials,
    ) -> Result<super::call::Call<W>, Rejection> {
        let rights = authenticate(&world, &self.headers, &self.inputs, credentials)?;
        if needs != Needs::Nothing && rights.user.is_none() {
            return Err(Rejection::unauthorized());
        }
        let now = engine.clock.now();
        check_token(&world, &rights, needs == Needs::Write, now)?;
        // Credentials are no longer needed, and endpoints do not know these inputs.
        let mut inputs = std::mem::take(&mut self.inputs);
        inputs.retain(|name, _| !matches!(name.as_str(), "sudo" | "private_token" | "access_token" | "job-token"));
        Ok(super::call::Call {
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

    /// Returns the response with an answer.
    fn respond(&self, answer: Answer<Rendered>, method: &Method, pagination: Pagination, base: &str) -> Response {
        let usual = match (method.as_str(), &answer.body) {
            (_, None) => 204,
            ("POST", _) => 201,
            _ => 200,
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
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
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
    if rejection.status == 503 {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}
