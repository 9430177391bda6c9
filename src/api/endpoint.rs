//! An endpoint is a value: one struct says method, route, inputs and output of an operation, once.

use crate::api::Host;
use crate::api::error::{Unreadable, words_of};
use crate::api::views::Views;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
pub use reqwest::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::any::TypeId;
use std::fmt::Debug;

/// How the inputs that are not in the path travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Body {
    /// In the query string: reads and deletions.
    Query,
    /// As form fields: writes.
    Form,
    /// As a JSON object: writes whose inputs are objects.
    Json,
}

/// One operation of the interface: a struct whose fields are its inputs, those in the path among them.
///
/// A slot `{name}` of [`Endpoint::ROUTE`] takes its value from the field of that name; `{*name}` takes a path whose
/// slashes stay. What is left travels as [`Endpoint::BODY`] says. Declared with [`endpoints!`](crate::endpoints).
pub trait Endpoint: Serialize + DeserializeOwned + Clone + Debug + Send + Sync + 'static {
    /// The name of the struct, as documentation and tests list it.
    const NAME: &'static str;
    /// The HTTP method.
    const METHOD: Method;
    /// The path below `/api/v4`, with its slots.
    const ROUTE: &'static str;
    /// How the inputs outside the path travel.
    const BODY: Body;
    /// The section of the specification that it comes from.
    const SECTION: &'static str;
    /// The routes whose replies a success of this write makes stale.
    const TOUCHES: &'static [&'static str];
    /// What an answer has less of the things in it.
    const VIEWS: Views;
    /// The slot of the route whose value settles the answer for good where it is a full hash.
    const IMMUTABLE_BY: Option<&'static str>;
    /// All inputs, those of the path among them, in the order of the declaration.
    const INPUTS: &'static [Input];
    /// Whether servers of today have it and the specification does not.
    const IS_NEWER: bool;
    /// What the server answers.
    type Output: Reply;

    /// The call as data, for page 1 of a list too.
    fn request(&self) -> Request {
        Request::new(self)
    }
}

/// What is known of an input: enough to make a field of a form, or a key of a query, from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its name on the wire.
    pub name: &'static str,
    /// What kind of value it takes.
    pub kind: InputKind,
    /// Whether the operation cannot do without it.
    pub required: bool,
    /// Its documentation.
    pub help: &'static str,
}

/// The kinds of values that inputs take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    Text,
    Number,
    Decimal,
    YesNo,
    Time,
    /// Several texts or numbers.
    List,
    /// A file, which goes as a part of its own.
    File,
    /// Pairs, actions: nothing that a line of text could be.
    Other,
}

/// A type that an input may have.
pub trait InputType {
    /// Its kind.
    const KIND: InputKind;
    /// Whether it must be given.
    const REQUIRED: bool = true;
}

macro_rules! input_types {
    ($($type:ty: $kind:ident),* $(,)?) => {
        $(impl InputType for $type { const KIND: InputKind = InputKind::$kind; })*
    };
}

input_types! {
    String: Text,
    super::Id: Text,
    u64: Number,
    f64: Decimal,
    bool: YesNo,
    super::Time: Time,
    super::types::File: File,
    Vec<String>: List,
    Vec<u64>: List,
    std::collections::BTreeMap<String, String>: Other,
}

impl<T: InputType> InputType for Option<T> {
    const KIND: InputKind = T::KIND;
    const REQUIRED: bool = false;
}

/// What the tables of the documentation and the tests know of an endpoint.
#[derive(Clone, Debug)]
pub struct Description {
    /// [`Endpoint::NAME`].
    pub name: &'static str,
    /// [`Endpoint::METHOD`].
    pub method: Method,
    /// [`Endpoint::ROUTE`].
    pub route: &'static str,
    /// [`Endpoint::SECTION`].
    pub section: &'static str,
    /// [`Endpoint::INPUTS`].
    pub inputs: &'static [Input],
    /// [`Endpoint::TOUCHES`].
    pub touches: &'static [&'static str],
    /// [`Endpoint::IS_NEWER`].
    pub is_newer: bool,
}

/// The `Accept` header of replies in JSON.
pub const JSON: &str = "application/json";

/// A body that an endpoint may answer with.
pub trait Reply: Sized + Send + Sync + 'static {
    /// The `Accept` header that asks for it.
    const ACCEPT: &'static str;
    /// Reads it from a successful reply; the error says which field could not be read.
    fn read(body: &[u8], content_type: Option<&str>) -> Result<Self, Unreadable>;
}

impl<T: DeserializeOwned + Send + Sync + 'static> Reply for T {
    const ACCEPT: &'static str = JSON;
    fn read(body: &[u8], _: Option<&str>) -> Result<Self, Unreadable> {
        serde_json::from_slice(body).map_err(|error| {
            let field = super::json_path::at(body, error.line(), error.column());
            explain(body, Unreadable { field, reason: error.to_string() })
        })
    }
}

/// Says what the body is where it is nothing that the interface answers with.
fn explain(body: &[u8], error: Unreadable) -> Unreadable {
    let start = body.trim_ascii_start();
    let reason = match start.first() {
        None => "the reply is empty".to_owned(),
        Some(b'<') => match words_of(body) {
            title if title.is_empty() => "the reply is a web page, not JSON".to_owned(),
            title => format!("the reply is a web page, not JSON: {title}"),
        },
        Some(b'{' | b'[' | b'"') => return error,
        Some(_) if serde_json::from_slice::<serde::de::IgnoredAny>(start).is_ok() => return error,
        Some(_) => format!("the reply is not JSON: {}", words_of(body)),
    };
    Unreadable { field: ".".into(), reason }
}

/// Raw content: a blob, an archive, a trace, an artifact, the text of a snippet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Raw {
    /// The bytes as they came.
    pub bytes: Vec<u8>,
    /// `Content-Type`, if the server named one.
    pub content_type: Option<String>,
}

impl Reply for Raw {
    const ACCEPT: &'static str = "*/*";
    fn read(body: &[u8], content_type: Option<&str>) -> Result<Self, Unreadable> {
        Ok(Raw { bytes: body.to_vec(), content_type: content_type.map(str::to_owned) })
    }
}

/// A reply whose body says nothing (204, or words of no use to a program).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nothing;

impl Reply for Nothing {
    const ACCEPT: &'static str = JSON;
    fn read(_: &[u8], _: Option<&str>) -> Result<Self, Unreadable> {
        Ok(Nothing)
    }
}

/// One call as data: comparable, so that the interface can tell whether it is in flight, known or stale.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Request {
    /// The server that is meant, if it is another than the one at hand.
    pub host: Option<Host>,
    /// `GET`, `POST`, `PUT`, `PATCH` or `DELETE`.
    pub method: &'static str,
    /// The route it was made from, with its slots.
    pub route: &'static str,
    /// The path below `/api/v4`, slots filled and encoded.
    pub path: String,
    /// Inputs outside the path; arrays as `name[]`, one pair an element.
    pub fields: Vec<(String, String)>,
    /// The JSON body, where the operation takes one.
    pub json: Option<String>,
    /// How `fields` travel.
    pub form: bool,
    /// Page (from 1) and entries a page, where one page of a list is meant.
    pub page: Option<(u32, u32)>,
    /// The `Accept` header.
    pub accept: &'static str,
    /// What the reply is read as: two readers of one call do not share what is known of it.
    pub output: TypeId,
}

/// Everything but the unreserved characters of RFC 3986 is encoded: ids hold slashes, refs hold anything.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Encodes one segment of a path, slashes too.
pub fn encode(segment: &str) -> String {
    utf8_percent_encode(segment, SEGMENT).to_string()
}

/// Decodes a segment; bytes that are not UTF-8 become replacement characters.
pub fn decode(segment: &str) -> String {
    percent_decode_str(segment).decode_utf8_lossy().into_owned()
}

impl Request {
    /// The request that `endpoint` stands for.
    pub fn new<E: Endpoint>(endpoint: &E) -> Request {
        // A struct of plain fields always serializes to an object; anything else would be a mistake in its declaration.
        let inputs = match serde_json::to_value(endpoint) {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        };
        let output = TypeId::of::<E::Output>();
        Request::of(method_name(&E::METHOD), E::ROUTE, E::BODY, E::Output::ACCEPT, output, inputs)
    }

    /// The part of [`Request::new`] that is the same for all endpoints.
    fn of(
        method: &'static str,
        route: &'static str,
        body: Body,
        accept: &'static str,
        output: TypeId,
        mut inputs: Map<String, Value>,
    ) -> Request {
        let path = fill(route, &mut inputs);
        inputs.retain(|_, value| !value.is_null());
        let (fields, json) = match body {
            Body::Json => (Vec::new(), Some(Value::Object(inputs).to_string())),
            Body::Query | Body::Form => (pairs(&inputs), None),
        };
        Request { host: None, method, route, path, fields, json, form: body == Body::Form, page: None, accept, output }
    }

    /// The same call to another server.
    pub fn at(mut self, host: Option<&Host>) -> Request {
        self.host = host.cloned();
        self
    }

    /// The same call, its reply read as a `T`.
    pub fn read_as<T: 'static>(self) -> Request {
        Request { output: TypeId::of::<T>(), ..self }
    }

    /// The same list, one page of it.
    pub fn at_page(mut self, page: u32, per_page: u32) -> Request {
        self.page = Some((page, per_page));
        self
    }

    /// Returns whether it only reads, so that it may be sent again without harm.
    pub fn is_read(&self) -> bool {
        self.method == "GET"
    }

    /// Path and query, with the page; never the fields of a form, which may hold secrets.
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

    /// `GET /projects/1?page=2`: what errors and the log say, without secrets.
    pub fn line(&self) -> String {
        mask(&format!("{} {}", self.method, self.target()))
    }
}

/// Inputs whose values nobody may read in an error or a log.
const SECRETS: [&str; 6] = ["private_token", "job_token", "job-token", "access_token", "token", "password"];

/// Replaces the values of secret inputs in the query of a request line.
pub fn mask(line: &str) -> String {
    let Some((path, query)) = line.split_once('?') else { return line.to_owned() };
    let shown = |pair: &str| match pair.split_once('=') {
        Some((key, _)) if SECRETS.iter().any(|secret| key.eq_ignore_ascii_case(secret)) => format!("{key}=***"),
        _ => pair.to_owned(),
    };
    format!("{path}?{}", query.split('&').map(shown).collect::<Vec<_>>().join("&"))
}

fn encode_key(key: &str) -> String {
    // Brackets are part of the interface's names and stay readable in the request line.
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

/// Takes the values of the slots of `route` out of `inputs` and puts them into the path.
fn fill(route: &str, inputs: &mut Map<String, Value>) -> String {
    let mut path = String::with_capacity(route.len() + 16);
    for segment in route.split('/').skip(1) {
        path.push('/');
        match segment.strip_prefix('{').and_then(|s| s.strip_suffix('}')) {
            None => path.push_str(segment),
            Some(slot) => {
                let (name, deep) = match slot.strip_prefix('*') {
                    Some(name) => (name, true),
                    None => (slot, false),
                };
                let value = inputs.remove(name).map(|v| scalar(&v)).unwrap_or_default();
                if deep {
                    path.push_str(&value.split('/').map(encode).collect::<Vec<_>>().join("/"));
                } else {
                    path.push_str(&encode(&value));
                }
            }
        }
    }
    path
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(s) => s.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn pairs(inputs: &Map<String, Value>) -> Vec<(String, String)> {
    let mut out = Vec::new();
    for (name, value) in inputs {
        match value {
            Value::Array(items) => out.extend(items.iter().flat_map(|item| match item {
                // A key that comes again begins the next object.
                Value::Object(map) => {
                    map.iter().map(|(key, item)| (format!("{name}[][{key}]"), scalar(item))).collect()
                }
                item => vec![(format!("{name}[]"), scalar(item))],
            })),
            Value::Object(map) => out.extend(map.iter().map(|(key, item)| (format!("{name}[{key}]"), scalar(item)))),
            other => out.push((name.clone(), scalar(other))),
        }
    }
    out
}

/// The name of an input on the wire: a raw identifier (`r#ref`) without its mark.
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
///     touches [ListBranches, GetBranch], views ["commit": COMMIT_OF_BRANCH];
///     struct ProtectBranch {
///         id: Id,
///         branch: String,
///         developers_can_push: Option<bool>,
///     }
/// }
/// ```
/// `GET` and `DELETE` send their inputs in the query, `POST` and `PUT` as a form, `JSON POST`, `JSON PUT` and `JSON PATCH`
/// as JSON.
/// `touches` names the reads that a success makes stale, `views` which fields the things inside the answer have, and
/// `immutable by sha` says that the answer stays the same forever where that slot holds a full hash.
/// Operations that the specification does not have are in a `newer section`, or have `NEWER` before their method.
/// Every input that is not required is an `Option`; structs with only optional inputs derive nothing special: write
/// `..Default::default()` at the call.
///
/// Inputs that several operations of an area share are written once, before the first operation, and stand where a
/// struct ends in `..`:
///
/// ```text
///     common { description: Option<String>, visibility: Option<String> }
///     struct CreateProject { name: String, .. }
/// ```
///
/// They are a struct of their own as well, `Common`, that each endpoint which has them can be turned into.
#[macro_export]
macro_rules! endpoints {
    (section $($rest:tt)*) => {
        $crate::endpoints!(@section false $($rest)*);
    };
    (newer section $($rest:tt)*) => {
        $crate::endpoints!(@section true $($rest)*);
    };
    (
        @section $newer:literal $section:literal;
        common { $($(#[doc = $doc:literal])* $field:ident: $type:ty),* $(,)? }
        $($rest:tt)*
    ) => {
        /// The inputs that several endpoints of the area have.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Common { $($(#[doc = $doc])* pub $field: $type),* }

        $crate::endpoints!(@area $section $newer { $($(#[doc = $doc])* $field: $type),* } $($rest)*);
    };
    (@section $newer:literal $section:literal; $($rest:tt)*) => {
        $crate::endpoints!(@area $section $newer {} $($rest)*);
    };
    (
        @area $section:literal $newer:literal $common:tt
        $(
            $(#[$meta:meta])*
            $($verb:ident)+ $route:literal => $output:ty
            $(, touches [$($touched:ty),* $(,)?])?
            $(, views [$($at:literal: $fields:ident),* $(,)?])?
            $(, immutable by $hash:ident)?;
            struct $name:ident $inputs:tt
        )*
    ) => {
        $(
            $crate::endpoints!(@struct [$(#[$meta])*] $name $common $inputs);
            $crate::endpoints!(@common $name $common $inputs);

            impl $crate::api::Endpoint for $name {
                const NAME: &'static str = stringify!($name);
                const METHOD: $crate::api::endpoint::Method = $crate::endpoints!(@method $($verb)+);
                const ROUTE: &'static str = $route;
                const BODY: $crate::api::Body = $crate::endpoints!(@body $($verb)+);
                const SECTION: &'static str = $section;
                const TOUCHES: &'static [&'static str] = &[$($(<$touched as $crate::api::Endpoint>::ROUTE),*)?];
                const VIEWS: $crate::api::views::Views = &[$($(($at, $fields)),*)?];
                const IMMUTABLE_BY: Option<&'static str> = [$(Some(stringify!($hash)),)? None][0];
                const INPUTS: &'static [$crate::api::endpoint::Input] = $crate::endpoints!(@inputs $common $inputs);
                const IS_NEWER: bool = $newer || $crate::endpoints!(@newer $($verb)+);
                type Output = $output;
            }
        )*

        /// The endpoints of this area, in the order of the specification.
        pub const ALL: &[$crate::api::Description] = &[
            $($crate::api::Description {
                name: stringify!($name),
                method: $crate::endpoints!(@method $($verb)+),
                route: $route,
                section: $section,
                inputs: <$name as $crate::api::Endpoint>::INPUTS,
                touches: <$name as $crate::api::Endpoint>::TOUCHES,
                is_newer: <$name as $crate::api::Endpoint>::IS_NEWER,
            }),*
        ];
    };
    (
        @struct [$($meta:tt)*] $name:ident $common:tt
        { $($(#[doc = $doc:literal])* $field:ident: $type:ty),* $(,)? }
    ) => {
        $($meta)*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct $name { $($(#[doc = $doc])* pub $field: $type),* }
    };
    (
        @struct $meta:tt $name:ident { $($common:tt)* }
        { $($(#[doc = $doc:literal])* $field:ident: $type:ty,)* .. }
    ) => {
        $crate::endpoints!(@struct $meta $name {} { $($(#[doc = $doc])* $field: $type,)* $($common)* });
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
            $($crate::api::endpoint::Input {
                name: $crate::api::endpoint::input_name(stringify!($field)),
                kind: <$type as $crate::api::endpoint::InputType>::KIND,
                required: <$type as $crate::api::endpoint::InputType>::REQUIRED,
                help: concat!($($doc),*),
            }),*
        ]
    };
    (@inputs { $($common:tt)* } { $($(#[doc = $doc:literal])* $field:ident: $type:ty,)* .. }) => {
        $crate::endpoints!(@inputs {} { $($(#[doc = $doc])* $field: $type,)* $($common)* })
    };
    (@newer NEWER $($verb:ident)+) => { true };
    (@newer $($verb:ident)+) => { false };
    (@method NEWER $($verb:ident)+) => { $crate::endpoints!(@method $($verb)+) };
    (@body NEWER $($verb:ident)+) => { $crate::endpoints!(@body $($verb)+) };
    (@method GET) => { $crate::api::endpoint::Method::GET };
    (@method POST) => { $crate::api::endpoint::Method::POST };
    (@method PUT) => { $crate::api::endpoint::Method::PUT };
    (@method DELETE) => { $crate::api::endpoint::Method::DELETE };
    (@method JSON POST) => { $crate::api::endpoint::Method::POST };
    (@method JSON PUT) => { $crate::api::endpoint::Method::PUT };
    (@method JSON PATCH) => { $crate::api::endpoint::Method::PATCH };
    (@body GET) => { $crate::api::Body::Query };
    (@body DELETE) => { $crate::api::Body::Query };
    (@body POST) => { $crate::api::Body::Form };
    (@body PUT) => { $crate::api::Body::Form };
    (@body JSON POST) => { $crate::api::Body::Json };
    (@body JSON PUT) => { $crate::api::Body::Json };
    (@body JSON PATCH) => { $crate::api::Body::Json };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::branches::{ListBranches, ProtectBranch};

    #[test]
    fn a_slot_is_encoded_and_leaves_the_query() {
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
    fn a_request_line_tells_no_secret() {
        let request =
            crate::api::jobs::GetArtifacts { id: 1_u64.into(), job_id: 2, job_token: Some("s3cret".into()) }.request();
        assert_eq!(request.target(), "/projects/1/jobs/2/artifacts?job_token=s3cret");
        assert_eq!(request.line(), "GET /projects/1/jobs/2/artifacts?job_token=***");
    }

    #[test]
    fn an_input_with_a_raw_name_travels_without_its_mark() {
        let names: Vec<_> = crate::api::repository::ALL[0].inputs.iter().map(|input| input.name).collect();
        assert_eq!(names, ["id", "path", "ref", "recursive"]);
    }

    #[test]
    fn an_unreadable_reply_names_the_field() {
        let error = <Vec<crate::api::branches::Branch>>::read(br#"[{"name": 3}]"#, None).unwrap_err();
        assert_eq!(error.field, "[0].name");
    }
}
