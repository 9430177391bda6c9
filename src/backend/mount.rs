//! Mounts handlers by endpoint type: parses their inputs and renders their answers.

use super::auth::{Access, Caller};
use super::body::Purpose;
use super::call::{Answer, Outcome, ReadCall, WriteCall};
use super::door::{Checks, Door, Rendered, Route, Run, Service};
use super::engine::Engine;
use super::modes::Modes;
use super::page::Pagination;
use super::params::{self, Inputs};
use super::rejection::Rejection;
use super::stream::Stream;
use super::views;
use api::endpoint::{Reply, Written};
use api::views::{Fields, Views};
use api::{Endpoint, Raw, permissions};
use axum::http::Method;
use std::sync::Arc;

/// The common prefix of the paths of the REST API.
pub const ROOT: &str = "/api/v4";

/// A read-only handler.
pub type ReadHandler<E> = for<'a> fn(&ReadCall<'a>, E) -> Outcome<<E as Endpoint>::Output>;
/// A handler that changes the world.
pub type WriteHandler<E> = for<'a> fn(&mut WriteCall<'a>, E) -> Outcome<<E as Endpoint>::Output>;

/// A handler whose response body is generated while it is sent.
pub type StreamHandler<E> = for<'a> fn(&ReadCall<'a>, E) -> Outcome<Stream>;

/// Changes the inputs of a request before they are parsed.
type Rewrite = dyn Fn(&mut Inputs) + Send + Sync;

/// A builder of the service.
#[derive(Default)]
pub struct Mount {
    door: Door,
    mounted: Vec<(&'static str, &'static str)>,
    /// Whether to leave out endpoints that are not in the specification.
    only_specified: bool,
}

impl Mount {
    /// Creates a builder without routes; `only_specified` leaves out endpoints that are not in the specification.
    pub fn new(only_specified: bool) -> Mount {
        Mount { only_specified, ..Mount::default() }
    }

    /// Mounts a read-only handler. It runs on a snapshot and blocks nobody.
    pub fn read<E: Endpoint>(self, handler: ReadHandler<E>) -> Mount {
        self.mount::<E>(Access::of(Caller::Anyone), Purpose::Fields, |head| read_handler(handler, head))
    }

    /// Mounts a read-only handler that requires a signed-in caller; this is checked before the inputs are validated.
    pub fn read_signed_in<E: Endpoint>(self, handler: ReadHandler<E>) -> Mount {
        self.mount::<E>(Access::of(Caller::Reader), Purpose::Fields, |head| read_handler(handler, head))
    }

    /// Also mounts a read-only handler for HEAD requests: the reply is 204, without a body or a content length.
    pub fn also_head<E: Endpoint>(mut self, handler: ReadHandler<E>) -> Mount {
        let run = move |call: &mut ReadCall| {
            handler(call, params::read(&call.inputs)?)?;
            Ok(Answer::new(None))
        };
        self.route(Method::HEAD, E::TAIL, Access::of(Caller::Anyone), Purpose::Fields, Run::Read(Box::new(run)));
        self
    }

    /// Mounts a read-only handler that requires a signed-in caller at an additional path, or at one for each kind of
    /// subject.
    pub fn also_read_signed_in<E: Endpoint>(mut self, tail: &str, handler: ReadHandler<E>) -> Mount {
        for head in heads::<E>() {
            let access = Access::of(Caller::Reader);
            self.route(E::METHOD, &format!("{head}{tail}"), access, Purpose::Fields, read_handler(handler, head));
        }
        self
    }

    /// Mounts a handler that writes. It requires a signed-in caller, and its changes are committed only if it succeeds.
    pub fn write<E: Endpoint>(self, handler: WriteHandler<E>) -> Mount {
        self.mount::<E>(Access::of(Caller::Writer), Purpose::Fields, |head| write_handler(handler, head, None))
    }

    /// Mounts a handler that writes at an additional path, or at one for each kind of subject. There, an input replaces a
    /// path parameter: `(parameter, input)`.
    pub fn also_write<E: Endpoint>(
        mut self,
        tail: &str,
        (parameter, input): (&'static str, &'static str),
        handler: WriteHandler<E>,
    ) -> Mount {
        let rewrite = move |inputs: &mut Inputs| {
            // Without it, the handler rejects the request, after it has checked who is calling.
            if let Some(value) = inputs.get(input).cloned() {
                inputs.insert(parameter.to_owned(), value);
            }
        };
        if !(self.only_specified && E::ROUTES.iter().all(|route| route.is_unspecified)) {
            for head in heads::<E>() {
                let run = write_handler(handler, head, Some(Box::new(rewrite)));
                self.route(E::METHOD, &format!("{head}{tail}"), Access::of(Caller::Writer), Purpose::Fields, run);
            }
        }
        self
    }

    /// Mounts a handler that writes and ignores credentials: one of its inputs proves who is calling.
    pub fn write_by_input<E: Endpoint>(self, handler: WriteHandler<E>) -> Mount {
        self.mount::<E>(Access::of(Caller::Unidentified), Purpose::Fields, |head| write_handler(handler, head, None))
    }

    /// Mounts a handler that ignores credentials at an additional path.
    pub fn also_write_by_input<E: Endpoint>(mut self, route: &str, handler: WriteHandler<E>) -> Mount {
        if !(self.only_specified && E::ROUTES.iter().all(|route| route.is_unspecified)) {
            let run = write_handler(handler, "", None);
            self.route(E::METHOD, route, Access::of(Caller::Unidentified), Purpose::Fields, run);
        }
        self
    }

    /// Mounts a handler that writes and whose request body may contain files, with a larger size limit.
    pub fn write_files<E: Endpoint>(self, handler: WriteHandler<E>) -> Mount {
        self.mount::<E>(Access::of(Caller::Writer), Purpose::Files, |head| write_handler(handler, head, None))
    }

    /// Mounts a read-only handler whose response is too large to be built in memory.
    pub fn stream<E: Endpoint<Output = Raw>>(self, handler: StreamHandler<E>) -> Mount {
        self.mount::<E>(Access::of(Caller::Anyone), Purpose::Fields, |head| stream_handler(handler, head, None))
    }

    /// Mounts a streaming handler that requires a signed-in caller.
    pub fn stream_signed_in<E: Endpoint<Output = Raw>>(self, handler: StreamHandler<E>) -> Mount {
        self.mount::<E>(Access::of(Caller::Reader), Purpose::Fields, |head| stream_handler(handler, head, None))
    }

    /// Mounts a streaming handler that requires a signed-in caller and also accepts job tokens.
    pub fn stream_to_jobs<E: Endpoint<Output = Raw>>(self, handler: StreamHandler<E>) -> Mount {
        let access = Access::of(Caller::Reader).and_jobs();
        self.mount::<E>(access, Purpose::Fields, |head| stream_handler(handler, head, None))
    }

    /// Mounts a streaming handler at an additional path that implies the value of one input.
    pub fn also_stream<E: Endpoint<Output = Raw>>(
        mut self,
        caller: Caller,
        route: &str,
        (name, value): (&'static str, &'static str),
        handler: StreamHandler<E>,
    ) -> Mount {
        let rewrite = move |inputs: &mut Inputs| {
            inputs.insert(name.to_owned(), value.into());
        };
        let run = stream_handler(handler, "", Some(Box::new(rewrite)));
        self.route(E::METHOD, route, Access::of(caller), Purpose::Fields, run);
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
        let rewrite = move |inputs: &mut Inputs| {
            let parts = ["", "_2", "_3"].map(|part| inputs.remove(&format!("{name}{part}")));
            let parts: Vec<&str> = parts.iter().filter_map(|part| part.as_ref()?.as_str()).collect();
            inputs.insert(name.to_owned(), parts.join("/").into());
        };
        let run = stream_handler(handler, "", Some(Box::new(rewrite)));
        self.route(E::METHOD, route, Access::of(Caller::Reader).and_jobs(), Purpose::Fields, run);
        self
    }

    /// Mounts a handler at each route of its endpoint. `run` gets the part of the route that names the subject.
    fn mount<E: Endpoint>(self, access: Access, body: Purpose, run: impl Fn(&'static str) -> Run) -> Mount {
        let run = |route: &'static api::Route| (E::NAME, E::METHOD, run(head::<E>(route)));
        self.mount_all(E::ROUTES, access, body, &run)
    }

    fn mount_all(
        mut self,
        routes: &'static [api::Route],
        access: Access,
        body: Purpose,
        run: &dyn Fn(&'static api::Route) -> (&'static str, Method, Run),
    ) -> Mount {
        let only_specified = self.only_specified;
        for route in routes.iter().filter(|route| !(only_specified && route.is_unspecified)) {
            let (name, method, run) = run(route);
            self.route(method, route.path, access, body, run);
            self.mounted.push((name, route.path));
        }
        self
    }

    fn route(&mut self, method: Method, route: &str, access: Access, body: Purpose, run: Run) {
        let access = Access { permission: permissions::of(method.as_str(), route), ..access };
        self.door.route(method, &format!("{ROOT}{route}"), Checks { access, body }, run);
    }

    /// Adds routes outside the REST API.
    pub fn outside_api(mut self, mount: impl FnOnce(&mut Door)) -> Mount {
        mount(&mut self.door);
        self
    }

    /// Returns the mounted endpoints: their names and paths.
    pub fn mounted(&self) -> &[(&'static str, &'static str)] {
        &self.mounted
    }

    /// Returns all routes with their checks.
    pub fn routes(&self) -> &[Route] {
        self.door.routes()
    }

    pub fn into_service(self, engine: Arc<Engine>, modes: Modes) -> Service {
        self.door.into_service(engine, modes)
    }
}

// Generic code is compiled for each endpoint, so these functions contain only what depends on it. `head` is the part of the
// route that names the subject; it is empty if the operation has none.

fn head<E: Endpoint>(route: &'static api::Route) -> &'static str {
    route.path.strip_suffix(E::TAIL).unwrap_or_default()
}

fn heads<E: Endpoint>() -> impl Iterator<Item = &'static str> {
    E::ROUTES.iter().map(head::<E>)
}

fn inputs<E: Endpoint>(inputs: &Inputs, head: &str) -> Result<E, Rejection> {
    params::read_about(inputs, E::SUBJECT.map(|_| head))
}

fn read_handler<E: Endpoint>(handler: ReadHandler<E>, head: &'static str) -> Run {
    Run::Read(Box::new(move |call| {
        let inputs = inputs(&call.inputs, head)?;
        call.pagination = Pagination::from_inputs(&call.inputs)?;
        render(handler(call, inputs)?, call.only_specified(), E::VIEWS, E::ROUTES)
    }))
}

fn write_handler<E: Endpoint>(handler: WriteHandler<E>, head: &'static str, rewrite: Option<Box<Rewrite>>) -> Run {
    Run::Write(Box::new(move |call| {
        if let Some(rewrite) = &rewrite {
            rewrite(&mut call.inputs);
        }
        if E::INPUTS.iter().any(|input| input.name == "code") {
            params::content_as_code(&mut call.inputs);
        }
        render(handler(call, inputs(&call.inputs, head)?)?, call.only_specified(), E::VIEWS, E::ROUTES)
    }))
}

fn stream_handler<E: Endpoint<Output = Raw>>(
    handler: StreamHandler<E>,
    head: &'static str,
    rewrite: Option<Box<Rewrite>>,
) -> Run {
    Run::Stream(Box::new(move |call| {
        if let Some(rewrite) = &rewrite {
            rewrite(&mut call.inputs);
        }
        handler(call, inputs(&call.inputs, head)?)
    }))
}

/// Writes the body of a reply, with the fields of nested objects that the specification has in `views`.
fn render<R: Reply>(
    answer: Answer<R>,
    only_specified: bool,
    views: Views,
    routes: &[api::Route],
) -> Result<Answer<Rendered>, Rejection> {
    let Answer { mut body, status, list_size, headers, body_override, only } = answer;
    if only_specified {
        body.restrict();
    }
    let (written, only) = match body_override {
        Some(body_override) => (body_override.write(), None),
        None => (body.write(), only),
    };
    // Where the specification has fewer fields in nested objects and in rows of short lists, current servers send all.
    let narrows = only_specified || routes.iter().all(|route| route.is_unspecified);
    let (views, only) = if narrows { (views, only) } else { (&[][..], None) };
    let body = rendered(written, views, only).map_err(Rejection::internal_error)?;
    Ok(Answer { status, list_size, headers, ..Answer::new(body) })
}

/// Selects the fields of a reply: `views` those of nested objects, `only` those of the rows if fewer than usual are
/// requested.
fn rendered(written: serde_json::Result<Written>, views: Views, only: Option<Fields>) -> serde_json::Result<Rendered> {
    Ok(match written? {
        Written::Json(bytes) => Some(("application/json".into(), views::narrow_all(bytes, views, only)?)),
        Written::Raw(raw) => Some((raw.content_type.unwrap_or_else(|| "text/plain".into()), raw.bytes)),
        Written::Nothing => None,
    })
}
