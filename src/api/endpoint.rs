//! Endpoints as values: a struct defines the method, route, inputs and output of an operation in one place.

use crate::error::{Unreadable, error_message};
use crate::input::{Input, InputError, InputReader};
use crate::page::cursor_inputs;
use crate::types::Specified;
use crate::views::Views;
use crate::{Host, Topic};
use crate::{error_path, json};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
pub use reqwest::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::any::TypeId;
use std::fmt::Debug;
use std::hash::{Hash, Hasher};

/// The encoding of the inputs that are not in the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Body {
    /// In the query string: reads and deletions.
    Query,
    /// As a form: writes.
    Form,
    /// As a JSON object: writes whose inputs include objects.
    Json,
}

/// An operation of the API: a struct whose fields are its inputs, including those in the path.
///
/// A slot `{name}` of [`Endpoint::TAIL`] is replaced by the field of that name; `{*name}` is replaced by a path whose
/// slashes are kept. The other fields are sent as [`Endpoint::BODY`] specifies. Declared with
/// [`endpoints!`](crate::endpoints).
pub trait Endpoint: Clone + Debug + Send + Sync + 'static {
    /// The name of the struct, for documentation and tests.
    const NAME: &'static str;
    const METHOD: Method;
    /// The routes: one, or one for each kind of subject that has the operation.
    const ROUTES: &'static [Route];
    /// The part of the routes that follows the subject; the whole route if there is none.
    const TAIL: &'static str;
    /// The name of the field with the [`Subject`], if the operation has one.
    const SUBJECT: Option<&'static str>;
    /// The encoding of the inputs that are not in the path.
    const BODY: Body;
    /// The section of the specification that contains the operation.
    const SECTION: &'static str;
    /// The topic of this read, if any write outdates its reply.
    const TOPIC: Option<Topic>;
    /// The topics of the reads whose replies are outdated when this write has succeeded.
    const OUTDATES: &'static [Topic];
    /// The nested resources that a reply contains with fewer fields.
    const VIEWS: Views;
    /// The slot of the route that makes the reply immutable if its value is a full hash.
    const IMMUTABLE_BY: Option<&'static str>;
    /// All inputs except the subject, including those in the path, in the order of declaration.
    const INPUTS: &'static [Input];
    type Output: Reply;

    /// Returns the values of [`Endpoint::INPUTS`]; absent ones are null.
    fn values(&self) -> Vec<Value>;

    /// Reads the inputs. Those with a mistake have their defaults, and the reader has the mistakes.
    fn read(inputs: &mut InputReader) -> Self;

    /// Returns the operation with these inputs, one of which is the path of the subject.
    ///
    /// # Errors
    /// Fails with the first mistake.
    fn of(inputs: &Map<String, Value>) -> Result<Self, InputError> {
        let mut reader = InputReader::new(inputs);
        let endpoint = Self::read(&mut reader);
        reader.mistakes().into_iter().next().map_or(Ok(endpoint), Err)
    }

    /// Returns the path of the subject.
    fn subject(&self) -> Option<String> {
        None
    }

    /// Returns the route of this kind of subject.
    fn route(&self) -> &'static str {
        route_of(Self::ROUTES, Self::TAIL, self.subject().as_deref())
    }

    /// Returns the request as data; for a list, without a page.
    fn request(&self) -> Request {
        Request::new(self)
    }
}

/// A route of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The path below `/api/v4`, with its slots.
    pub path: &'static str,
    /// Whether the route is missing from the specification, as most routes of newer servers are.
    pub is_unspecified: bool,
}

/// Returns the route whose part before `tail` fits the path of the subject. A subject without the operation gets the first
/// route; its request is still sent to its own path, where the server says that there is nothing.
fn route_of(routes: &[Route], tail: &str, subject: Option<&str>) -> &'static str {
    let is_of_subject = |route: &&Route| {
        subject.zip(route.path.strip_suffix(tail)).is_none_or(|(subject, head)| fits(head, subject, |_| {}))
    };
    routes.iter().find(is_of_subject).or(routes.first()).map_or("", |route| route.path)
}

/// The description of an endpoint, for generated documentation and tests.
#[derive(Clone, Debug)]
pub struct EndpointDescription {
    /// [`Endpoint::NAME`].
    pub name: &'static str,
    /// [`Endpoint::METHOD`].
    pub method: Method,
    /// [`Endpoint::ROUTES`].
    pub routes: &'static [Route],
    /// [`Endpoint::SECTION`].
    pub section: &'static str,
    /// [`Endpoint::INPUTS`].
    pub inputs: &'static [Input],
    /// [`Endpoint::TOPIC`].
    pub topic: Option<Topic>,
    /// [`Endpoint::OUTDATES`].
    pub outdates: &'static [Topic],
}

/// The `Accept` header for JSON replies.
pub const JSON: &str = "application/json";

/// A body that an endpoint can return.
pub trait Reply: Sized + Send + Sync + 'static {
    /// The `Accept` header that requests this body.
    const ACCEPT: &'static str;
    /// Parses a successful reply; the error names the field that could not be parsed.
    fn read(body: &[u8], content_type: Option<&str>) -> Result<Self, Unreadable>;
    /// Writes the body as the local server sends it.
    ///
    /// # Errors
    /// Returns the error of the serializer.
    fn write(self) -> serde_json::Result<Written>;
    /// Removes the fields that are not in the specification.
    fn restrict(&mut self) {}
}

/// The body of a reply of the local server.
pub enum Written {
    /// JSON, whose fields depend on the view.
    Json(Vec<u8>),
    /// Anything else, as it is.
    Raw(Raw),
    /// No body.
    Nothing,
}

impl<T: DeserializeOwned + Serialize + Specified + Send + Sync + 'static> Reply for T {
    const ACCEPT: &'static str = JSON;
    fn read(body: &[u8], _: Option<&str>) -> Result<Self, Unreadable> {
        json::from_reply(body).map_err(|error| explain_body(body, &error))
    }
    fn write(self) -> serde_json::Result<Written> {
        serde_json::to_vec(&self).map(Written::Json)
    }
    fn restrict(&mut self) {
        self.restrict_to_specified();
    }
}

/// Describes a body that is not the expected JSON.
fn explain_body(body: &[u8], error: &serde_json::Error) -> Unreadable {
    let field = error_path::path_at(body, error.line(), error.column()).to_string();
    let error = Unreadable { field, reason: error.to_string() };
    let start = body.trim_ascii_start();
    let reason = match start.first() {
        None => "the reply is empty".to_owned(),
        Some(b'{' | b'[' | b'"') => return error,
        Some(_) if serde_json::from_slice::<serde::de::IgnoredAny>(start).is_ok() => return error,
        Some(first) => {
            let page = if *first == b'<' { "a web page, " } else { "" };
            format!("the reply is {page}not JSON: {}", error_message(body))
        }
    };
    Unreadable { field: ".".into(), reason }
}

/// Raw content: a blob, an archive, a trace, an artifact, the text of a snippet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Raw {
    /// The bytes as received.
    pub bytes: Vec<u8>,
    /// The `Content-Type` header, if the server sent one.
    pub content_type: Option<String>,
}

impl Reply for Raw {
    const ACCEPT: &'static str = "*/*";
    fn read(body: &[u8], content_type: Option<&str>) -> Result<Self, Unreadable> {
        Ok(Raw { bytes: body.to_vec(), content_type: content_type.map(str::to_owned) })
    }
    fn write(self) -> serde_json::Result<Written> {
        Ok(Written::Raw(self))
    }
}

/// A reply without a useful body: 204, or a message that is not meant for programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoContent;

impl Reply for NoContent {
    const ACCEPT: &'static str = JSON;
    fn read(_: &[u8], _: Option<&str>) -> Result<Self, Unreadable> {
        Ok(NoContent)
    }
    fn write(self) -> serde_json::Result<Written> {
        Ok(Written::Nothing)
    }
}

/// A request as data. It can be compared, so that the interface knows whether it is in flight, cached or stale.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Request {
    /// The server, if it is not the current one.
    pub host: Option<Host>,
    /// `GET`, `POST`, `PUT`, `PATCH` or `DELETE`.
    pub method: &'static str,
    /// The route that the path was created from, with its slots.
    pub route: &'static str,
    /// The path below `/api/v4`, with the slots filled in and encoded.
    pub path: String,
    /// The inputs that are not in the path; arrays as `name[]`, one pair per element.
    pub fields: Vec<(String, String)>,
    /// The JSON body, if the operation has one.
    pub json: Option<String>,
    /// Whether `fields` are sent as a form instead of in the query.
    pub form: bool,
    /// The page (from 1) and the number of entries per page, for one page of a list.
    pub page: Option<(u32, u32)>,
    /// The `Accept` header.
    pub accept: &'static str,
    /// [`Endpoint::TOPIC`].
    pub topic: Option<Topic>,
    /// The type that the reply is parsed as: two requests that differ only in it do not share a cached reply.
    pub output: TypeId,
}

impl Hash for Request {
    /// Hashes only what tells most requests apart: each frame looks up many.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.path.hash(state);
        self.page.hash(state);
        for (_, value) in &self.fields {
            value.hash(state);
        }
    }
}

/// The characters to encode in a path segment: everything but the unreserved characters of RFC 3986: IDs contain
/// slashes, and refs may contain anything.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Like [`SEGMENT`], for a path whose slashes stay.
const PATH: &AsciiSet = &SEGMENT.remove(b'/');

/// Percent-encodes a path segment, including slashes.
pub fn encode(segment: &str) -> String {
    utf8_percent_encode(segment, SEGMENT).to_string()
}

/// Decodes a percent-encoded segment; invalid UTF-8 becomes replacement characters.
pub fn decode(segment: &str) -> String {
    percent_decode_str(segment).decode_utf8_lossy().into_owned()
}

/// The properties that all requests of an endpoint share.
struct Shape {
    method: Method,
    routes: &'static [Route],
    tail: &'static str,
    body: Body,
    accept: &'static str,
    topic: Option<Topic>,
    inputs: &'static [Input],
    output: TypeId,
}

impl Request {
    pub fn new<E: Endpoint>(endpoint: &E) -> Request {
        let shape = const {
            &Shape {
                method: E::METHOD,
                routes: E::ROUTES,
                tail: E::TAIL,
                body: E::BODY,
                accept: E::Output::ACCEPT,
                topic: E::TOPIC,
                inputs: E::INPUTS,
                output: TypeId::of::<E::Output>(),
            }
        };
        Request::build(shape, endpoint.subject(), endpoint.values())
    }

    /// Implements [`Request::new`] for all endpoints. Each frame makes requests to look up their replies, so this must be
    /// fast.
    fn build(shape: &Shape, subject: Option<String>, values: Vec<Value>) -> Request {
        let route = route_of(shape.routes, shape.tail, subject.as_deref());
        let named = shape.inputs.iter().map(|input| input.name).zip(values);
        let mut inputs: Vec<(&str, Value)> = named.filter(|(_, value)| !value.is_null()).collect();
        let mut path = subject.unwrap_or_default();
        fill(&mut path, shape.tail, |slot| {
            let at = inputs.iter().position(|(input, _)| *input == slot);
            at.map(|at| scalar(inputs.swap_remove(at).1)).unwrap_or_default()
        });
        inputs.sort_unstable_by_key(|(name, _)| *name);
        let (fields, json) = match shape.body {
            Body::Json => {
                let object = inputs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
                (Vec::new(), Some(Value::Object(object).to_string()))
            }
            Body::Query | Body::Form => (pairs(inputs), None),
        };
        Request {
            host: None,
            method: method_name(&shape.method),
            route,
            path,
            fields,
            json,
            form: shape.body == Body::Form,
            page: None,
            accept: shape.accept,
            topic: shape.topic,
            output: shape.output,
        }
    }

    /// Directs the request to a server.
    pub fn at(mut self, host: Option<&Host>) -> Request {
        self.host = host.cloned();
        self
    }

    /// Changes the type that the reply is parsed as.
    pub fn read_as<T: 'static>(self) -> Request {
        Request { output: TypeId::of::<T>(), ..self }
    }

    /// Requests one page of the list.
    pub fn at_page(mut self, page: u32, per_page: u32) -> Request {
        self.page = Some((page, per_page));
        self
    }

    /// Requests one page of the list by the query of a server's link to it, with up to `per_page` rows. The link itself
    /// is not followed: behind a proxy, it may name a host that cannot be reached, and that must not get the token.
    pub fn at_link(mut self, query: &str, per_page: u32) -> Request {
        let inputs: Vec<(String, String)> = cursor_inputs(query).collect();
        self.fields.retain(|(name, _)| inputs.iter().all(|(other, _)| other != name));
        self.fields.extend(inputs);
        self.fields.push(("per_page".to_owned(), per_page.to_string()));
        self
    }

    /// Returns whether this is a read, which may be repeated without harm.
    pub fn is_read(&self) -> bool {
        self.method == "GET"
    }

    /// Returns the path and the query, including the page, but never the fields of a form, which may contain secrets.
    pub fn target(&self) -> String {
        let mut query: Vec<String> = Vec::new();
        if !self.form {
            query.extend(self.fields.iter().map(|(k, v)| format!("{}={}", encode_key(k), encode(v))));
        }
        if let Some((page, per_page)) = self.page {
            query.push(format!("page={page}"));
            query.push(format!("per_page={per_page}"));
        }
        if query.is_empty() { self.path.clone() } else { format!("{}?{}", self.path, query.join("&")) }
    }

    /// Returns the request line for errors and the log, without secrets: `GET /projects/1?page=2`.
    pub fn line(&self) -> String {
        mask(&format!("{} {}", self.method, self.target()))
    }
}

/// Inputs whose values must not appear in errors or logs.
const SECRETS: [&str; 6] = ["private_token", "job_token", "job-token", "access_token", "token", "password"];

/// Masks the values of secret inputs in the query of a request line.
pub fn mask(line: &str) -> String {
    let Some((path, query)) = line.split_once('?') else { return line.to_owned() };
    let shown = |pair: &str| match pair.split_once('=') {
        Some((key, _)) if SECRETS.iter().any(|secret| key.eq_ignore_ascii_case(secret)) => format!("{key}=***"),
        _ => pair.to_owned(),
    };
    format!("{path}?{}", query.split('&').map(shown).collect::<Vec<_>>().join("&"))
}

fn encode_key(key: &str) -> String {
    // Brackets are part of parameter names and stay readable in the request line.
    encode(key).replace("%5B", "[").replace("%5D", "]")
}

fn method_name(method: &Method) -> &'static str {
    match method.as_str() {
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        _ => "GET",
    }
}

/// Returns whether `path` is made from `route`; calls `read` with what is in its slots.
pub(crate) fn fits<'a>(route: &str, path: &'a str, mut read: impl FnMut(&'a str)) -> bool {
    // A set of characters is found faster than one, in such short texts.
    let (mut segments, mut names) = (path.split(['/']), route.split(['/']));
    let is_next = |name: &str| {
        let Some(segment) = segments.next() else { return false };
        let is_slot = name.starts_with('{');
        if is_slot {
            read(segment);
        }
        is_slot || name == segment
    };
    names.all(is_next) && segments.next().is_none()
}

/// Appends `route` to `path`, with the values of its slots, by name; the value of a slot `{*name}` keeps its slashes.
pub(crate) fn fill(path: &mut String, route: &str, mut value: impl FnMut(&str) -> String) {
    path.reserve(route.len() + 16);
    let mut rest = route;
    while let Some((text, slot)) = rest.split_once(['{']) {
        let (slot, after) = slot.split_once(['}']).unwrap_or((slot, ""));
        let (name, encoded) = slot.strip_prefix('*').map_or((slot, SEGMENT), |name| (name, PATH));
        path.push_str(text);
        path.extend(utf8_percent_encode(&value(name), encoded));
        rest = after;
    }
    path.push_str(rest);
}

fn scalar(value: Value) -> String {
    match value {
        Value::String(s) => s,
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn pairs(inputs: Vec<(&str, Value)>) -> Vec<(String, String)> {
    let mut out = Vec::new();
    for (name, value) in inputs {
        match value {
            Value::Array(items) => out.extend(items.into_iter().flat_map(|item| match item {
                // A repeated key starts the next object.
                Value::Object(map) => {
                    map.into_iter().map(|(key, item)| (format!("{name}[][{key}]"), scalar(item))).collect()
                }
                item => vec![(format!("{name}[]"), scalar(item))],
            })),
            Value::Object(map) => {
                out.extend(map.into_iter().map(|(key, item)| (format!("{name}[{key}]"), scalar(item))));
            }
            other => out.push((name.to_owned(), scalar(other))),
        }
    }
    out
}

/// Returns the name of an input on the wire: the field name without the `r#` of raw identifiers.
pub const fn input_name(field: &'static str) -> &'static str {
    match field.as_bytes() {
        [b'r', b'#', ..] => field.split_at(2).1,
        _ => field,
    }
}

/// Declares the endpoints of one area and lists them in `ALL`.
///
/// ```text
/// endpoints! {
///     section "Branches";
///     /// Protects a branch; idempotent.
///     PUT "/projects/{id}/repository/branches/{branch}/protect" => Branch,
///     outdates [Branches], views ["commit": COMMIT_OF_BRANCH];
///     struct ProtectBranch {
///         id: Id,
///         branch: String,
///         developers_can_push: Option<bool>,
///     }
/// }
/// ```
/// `GET` and `DELETE` send their inputs in the query, `POST` and `PUT` as a form, `JSON POST`, `JSON PUT` and
/// `JSON PATCH` as JSON. `about` names the [`Topic`] of a read, and `outdates` lists the topics of the reads that become
/// stale when the operation succeeds. `views` lists the fields of nested resources in the reply, and `immutable by sha`
/// marks the reply as immutable if that slot contains a full hash. Operations that are not in the specification are in
/// an `unspecified section`, or have `UNSPECIFIED` before their method. Every input that is not required is an
/// `Option`; all endpoints implement `Default`, so callers can use `..Default::default()`.
///
/// An operation that several kinds of objects have is declared once. `of` names the field with the object, its type, and
/// the kinds that have the operation; the route is what follows the object's own path. A kind whose route is not in the
/// specification is marked:
///
/// ```text
///     /// Lists the badges of a project or group.
///     GET "/badges" of scope: Scope [project, group: unspecified] => Vec<Badge>;
///     struct ListBadges { name: Option<String> }
/// ```
///
/// Inputs that several operations of an area share are declared once, before the first operation, and are included in
/// every struct that ends in `..`:
///
/// ```text
///     common { description: Option<String>, visibility: Option<String> }
///     struct CreateProject { name: String, .. }
/// ```
///
/// They also form a struct of their own, `Common`, into which each endpoint that has them can be converted.
#[macro_export]
macro_rules! endpoints {
    (section $($rest:tt)*) => {
        $crate::endpoints!(@section false $($rest)*);
    };
    (unspecified section $($rest:tt)*) => {
        $crate::endpoints!(@section true $($rest)*);
    };
    (
        @section $unspecified:literal $section:literal;
        common { $($(#[doc = $doc:literal])* $field:ident: $type:ty),* $(,)? }
        $($rest:tt)*
    ) => {
        /// The inputs that several endpoints of the area share.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Common { $($(#[doc = $doc])* pub $field: $type),* }

        $crate::endpoints!(@area $section $unspecified { $($(#[doc = $doc])* $field: $type),* } $($rest)*);
    };
    (@section $unspecified:literal $section:literal; $($rest:tt)*) => {
        $crate::endpoints!(@area $section $unspecified {} $($rest)*);
    };
    (
        @area $section:literal $unspecified:literal $common:tt
        $(
            $(#[$meta:meta])*
            $($verb:ident)+ $tail:literal
            $(of $subject:ident: $subject_type:ident [$($kind:ident $(: $flag:ident)?),* $(,)?])? => $output:ty
            $(, about $topic:ident)?
            $(, outdates [$($outdated:ident),* $(,)?])?
            $(, views [$($at:literal: $fields:ident),* $(,)?])?
            $(, immutable by $hash:ident)?;
            struct $name:ident $inputs:tt
        )*
    ) => {
        $(
            $crate::endpoints!(@struct [$(#[$meta])*] $name { $($subject: $subject_type)? } $common $inputs);
            $crate::endpoints!(@common $name $common $inputs);

            impl $crate::Endpoint for $name {
                const NAME: &'static str = stringify!($name);
                const METHOD: $crate::endpoint::Method = $crate::endpoints!(@method $($verb)+);
                const ROUTES: &'static [$crate::endpoint::Route] = $crate::endpoints!(
                    @routes ($unspecified || $crate::endpoints!(@unspecified $($verb)+)) $tail
                    $([$($kind $(: $flag)?),*])?
                );
                const TAIL: &'static str = $tail;
                const SUBJECT: Option<&'static str> = [$(Some(stringify!($subject)),)? None][0];
                const BODY: $crate::Body = $crate::endpoints!(@body $($verb)+);
                const SECTION: &'static str = $section;
                const TOPIC: Option<$crate::Topic> = [$(Some($crate::Topic::$topic),)? None][0];
                const OUTDATES: &'static [$crate::Topic] = &[$($($crate::Topic::$outdated),*)?];
                const VIEWS: $crate::views::Views = &[$($(($at, $fields)),*)?];
                const IMMUTABLE_BY: Option<&'static str> = [$(Some(stringify!($hash)),)? None][0];
                const INPUTS: &'static [$crate::input::Input] = $crate::endpoints!(@inputs $common $inputs);
                type Output = $output;

                fn values(&self) -> Vec<serde_json::Value> {
                    $crate::endpoints!(@values self $common $inputs)
                }

                #[allow(unused_variables, reason = "some operations have no inputs")]
                fn read(inputs: &mut $crate::input::InputReader) -> $name {
                    $crate::endpoints!(@read inputs $name { $($subject)? } $common $inputs)
                }

                $(fn subject(&self) -> Option<String> {
                    Some(self.$subject.to_string())
                })?
            }
        )*

        /// The endpoints of this area, in the order of the specification.
        pub const ALL: &[$crate::EndpointDescription] = &[
            $($crate::EndpointDescription {
                name: stringify!($name),
                method: $crate::endpoints!(@method $($verb)+),
                routes: <$name as $crate::Endpoint>::ROUTES,
                section: $section,
                inputs: <$name as $crate::Endpoint>::INPUTS,
                topic: <$name as $crate::Endpoint>::TOPIC,
                outdates: <$name as $crate::Endpoint>::OUTDATES,
            }),*
        ];
    };
    (
        @struct [$($meta:tt)*] $name:ident { $($subject:ident: $subject_type:ident)? } $common:tt
        { $($(#[doc = $doc:literal])* $field:ident: $type:ty),* $(,)? }
    ) => {
        $($meta)*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $(
                /// The object that the operation is about.
                pub $subject: $crate::$subject_type,
            )?
            $($(#[doc = $doc])* pub $field: $type),*
        }
    };
    (
        @struct $meta:tt $name:ident $subject:tt { $($common:tt)* }
        { $($(#[doc = $doc:literal])* $field:ident: $type:ty,)* .. }
    ) => {
        $crate::endpoints!(@struct $meta $name $subject {} { $($(#[doc = $doc])* $field: $type,)* $($common)* });
    };
    (
        @common $name:ident { $($(#[doc = $doc:literal])* $common:ident: $type:ty),* }
        { $($(#[doc = $own_doc:literal])* $field:ident: $own:ty,)* .. }
    ) => {
        impl From<$name> for Common {
            fn from(input: $name) -> Common {
                Common { $($common: input.$common),* }
            }
        }
    };
    (@common $name:ident $common:tt $inputs:tt) => {};
    (@inputs $common:tt { $($(#[doc = $doc:literal])* $field:ident: $type:ty),* $(,)? }) => {
        &[
            $($crate::input::Input {
                name: $crate::endpoint::input_name(stringify!($field)),
                kind: <$type as $crate::InputType>::KIND,
                required: <$type as $crate::InputType>::REQUIRED,
                help: concat!($($doc),*),
            }),*
        ]
    };
    (@inputs { $($common:tt)* } { $($(#[doc = $doc:literal])* $field:ident: $type:ty,)* .. }) => {
        $crate::endpoints!(@inputs {} { $($(#[doc = $doc])* $field: $type,)* $($common)* })
    };
    (@values $self:ident $common:tt { $($(#[doc = $doc:literal])* $field:ident: $type:ty),* $(,)? }) => {
        vec![$($crate::InputType::value(&$self.$field)),*]
    };
    (@values $self:ident { $($common:tt)* } { $($(#[doc = $doc:literal])* $field:ident: $type:ty,)* .. }) => {
        $crate::endpoints!(@values $self {} { $($(#[doc = $doc])* $field: $type,)* $($common)* })
    };
    (
        @read $inputs:ident $name:ident { $($subject:ident)? } $common:tt
        { $($(#[doc = $doc:literal])* $field:ident: $type:ty),* $(,)? }
    ) => {
        $name {
            $($subject: $inputs.subject(stringify!($subject)),)?
            $($field: $inputs.take($crate::endpoint::input_name(stringify!($field)))),*
        }
    };
    (
        @read $inputs:ident $name:ident $subject:tt { $($common:tt)* }
        { $($(#[doc = $doc:literal])* $field:ident: $type:ty,)* .. }
    ) => {
        $crate::endpoints!(@read $inputs $name $subject {} { $($(#[doc = $doc])* $field: $type,)* $($common)* })
    };
    (@routes $unspecified:tt $path:literal) => {
        &[$crate::endpoint::Route { path: $path, is_unspecified: $unspecified }]
    };
    (@routes $unspecified:tt $tail:literal [$($kind:ident $(: $flag:ident)?),*]) => {
        &[$($crate::endpoints!(@route $unspecified $tail $kind $($flag)?)),*]
    };
    (@route $unspecified:tt $tail:literal $kind:ident unspecified) => {
        $crate::endpoints!(@route true $tail $kind)
    };
    (@route $unspecified:tt $tail:literal $kind:ident) => {
        $crate::endpoint::Route {
            path: concat!($crate::subject_path!($kind), $tail),
            is_unspecified: $unspecified,
        }
    };
    (@unspecified UNSPECIFIED $($verb:ident)+) => { true };
    (@unspecified $($verb:ident)+) => { false };
    (@method UNSPECIFIED $($verb:ident)+) => { $crate::endpoints!(@method $($verb)+) };
    (@body UNSPECIFIED $($verb:ident)+) => { $crate::endpoints!(@body $($verb)+) };
    (@method GET) => { $crate::endpoint::Method::GET };
    (@method POST) => { $crate::endpoint::Method::POST };
    (@method PUT) => { $crate::endpoint::Method::PUT };
    (@method DELETE) => { $crate::endpoint::Method::DELETE };
    (@method JSON POST) => { $crate::endpoint::Method::POST };
    (@method JSON PUT) => { $crate::endpoint::Method::PUT };
    (@method JSON PATCH) => { $crate::endpoint::Method::PATCH };
    (@body GET) => { $crate::Body::Query };
    (@body DELETE) => { $crate::Body::Query };
    (@body POST) => { $crate::Body::Form };
    (@body PUT) => { $crate::Body::Form };
    (@body JSON POST) => { $crate::Body::Json };
    (@body JSON PUT) => { $crate::Body::Json };
    (@body JSON PATCH) => { $crate::Body::Json };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::branches::{ListBranches, ProtectBranch};

    #[test]
    fn slots_are_encoded_and_not_sent_in_the_query() {
        let request = ListBranches { id: "a/b".into(), search: Some("x y".into()) }.request().at_page(2, 50);
        assert_eq!(request.line(), "GET /projects/a%2Fb/repository/branches?search=x%20y&page=2&per_page=50");
    }

    #[test]
    fn a_write_sends_a_form_and_its_line_hides_the_fields() {
        let request = ProtectBranch {
            id: "7".into(),
            branch: "feature/rows".into(),
            developers_can_push: Some(true),
            developers_can_merge: None,
        }
        .request();
        assert_eq!(request.line(), "PUT /projects/7/repository/branches/feature%2Frows/protect");
        assert_eq!(request.fields, [("developers_can_push".to_string(), "true".to_string())]);
    }

    #[test]
    fn request_lines_mask_secrets() {
        let request = crate::jobs::GetArtifacts {
            id: 1_u64.into(),
            job_id: 2,
            job_token: Some("s3cret".into()),
            ..Default::default()
        }
        .request();
        assert_eq!(request.target(), "/projects/1/jobs/2/artifacts?job_token=s3cret");
        assert_eq!(request.line(), "GET /projects/1/jobs/2/artifacts?job_token=***");
    }

    #[test]
    fn raw_identifiers_lose_their_prefix() {
        let names: Vec<_> = crate::repository::ALL[0].inputs.iter().map(|input| input.name).collect();
        assert_eq!(names, ["id", "path", "ref", "recursive", "with_last_commit"]);
    }

    #[test]
    fn an_unreadable_reply_names_the_field() {
        let read = |body: &[u8]| <Vec<crate::branches::Branch>>::read(body, None);
        assert_eq!(read(br#"[{"name": 3}]"#).unwrap()[0].name, "3");
        assert_eq!(read(br#"{"name": 3}"#).unwrap_err().field, ".");
        assert_eq!(read(br#"[{"name": "a"}, {"name": x}]"#).unwrap_err().field, "[1].name");
    }
}
