//! Compares literal texts with typed requests and resources.

use crate::dice::Dice;
use crate::mutate;
use crate::scripted::{Answer, Scripted, answer};
use labscope::api::{EndpointDescription, Error, Fault, Id, Noteable, Request, Scope, Time, json};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// Returns the ID of a project or group by its path.
pub fn acme() -> Id {
    "acme/ui".into()
}

/// Returns a project as the subject of an operation.
pub fn project() -> Scope {
    Scope::Project(acme())
}

/// Returns a group as the subject of an operation.
pub fn group() -> Scope {
    Scope::Group(acme())
}

/// Returns a merge request as the subject of an operation.
pub fn merge_request(project: impl Into<Id>, iid: u64) -> Noteable {
    Noteable::MergeRequest { project: project.into(), iid }
}

/// Returns an issue as the subject of an operation.
pub fn issue(project: impl Into<Id>, iid: u64) -> Noteable {
    Noteable::Issue { project: project.into(), iid }
}

/// Returns a snippet as the subject of an operation.
pub fn snippet(project: impl Into<Id>, id: u64) -> Noteable {
    Noteable::Snippet { project: project.into(), id }
}

/// Returns an epic as the subject of an operation.
pub fn epic(group: impl Into<Id>, id: u64) -> Noteable {
    Noteable::Epic { group: group.into(), id }
}

/// Returns a string as an optional input.
pub fn word(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// Returns a time as an optional input.
pub fn time() -> Option<Time> {
    Some("2018-01-01T00:00:00Z".into())
}

/// Declares the expected request of every endpoint of an area: method, path and query, and after a bar the form or the
/// JSON.
macro_rules! requests {
    ($($endpoint:ident { $($inputs:tt)* } => $text:literal;)*) => {
        #[test]
        fn requests_match_the_specification() {
            use labscope::api::Endpoint;
            let made = [$((<$endpoint as Endpoint>::NAME, $endpoint { $($inputs)* }.request(), $text)),*];
            crate::sample::check_requests(ALL, &made);
        }

        #[tokio::test]
        async fn replies_of_something_else_are_refused() {
            use labscope::api::Endpoint;
            crate::sample::check_refusals(&[$($endpoint { $($inputs)* }.request()),*]).await;
        }
    };
}

/// Decodes each sample as its type and encodes it again: no key and no value may be lost.
macro_rules! samples {
    ($($resource:ty => $text:literal;)*) => {
        #[test]
        fn samples_round_trip_without_loss() {
            $(crate::sample::check_sample::<$resource>(stringify!($resource), $text);)*
        }
    };
}

/// Checks the requests of an area; used by `requests!`.
pub fn check_requests(area: &[EndpointDescription], made: &[(&str, Request, &str)]) {
    for (name, request, text) in made {
        assert_eq!(&line(request), text, "{name}");
    }
    for endpoint in area {
        for route in endpoint.routes {
            let is_declared =
                made.iter().any(|(name, request, _)| *name == endpoint.name && request.route == route.path);
            assert!(is_declared, "no request of {} at {} is declared", endpoint.name, route.path);
        }
    }
}

/// The page of a sign-in.
const PAGE: &str = "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Sign in first</body></html>";

/// Checks that no read of an area believes a reply that is a web page, or about another object; used by `requests!`.
pub async fn check_refusals(made: &[Request]) {
    for request in made.iter().filter(|request| request.is_read()) {
        let is_json = request.accept == labscope::api::endpoint::JSON;
        let types: &[Option<&str>] = match is_json {
            true => &[Some("text/html"), Some("application/json"), None],
            false => &[Some("text/html; charset=utf-8"), Some("application/xhtml+xml"), None],
        };
        for kind in types {
            let page = answer(200, PAGE);
            let page = kind.map_or(page.clone(), |kind| page.with("content-type", kind));
            let why = refusal(request, page).await;
            assert!(
                why.contains("a web page, not ") && why.contains("Sign in; you may need to sign in again"),
                "{kind:?}: {why}"
            );
        }
        let (slot, value) = (last(request.route), last(&request.path));
        let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
        let is_full_sha = slot == "{sha}" && matches!(value.len(), 40 | 64);
        if is_json && slot.ends_with("id}") && is_number || is_full_sha {
            let other = json!({"id": 987_654_321, "iid": 987_654_321, "sha": "0".repeat(40)});
            let why = refusal(request, answer(200, other.to_string())).await;
            assert!(why.contains("another object") || why.contains("not the file"), "{why}");
        }
    }
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// Returns the reason why a reply to a request is refused.
async fn refusal(request: &Request, reply: Answer) -> String {
    let server = Scripted::start([reply]).await;
    match crate::client::client(&server).send(request).await {
        Err(Error { fault: Fault::Replaced(why), .. }) => why,
        other => panic!("{}: {other:?}", request.line()),
    }
}

fn line(request: &Request) -> String {
    let mut line = format!("{} {}", request.method, request.target());
    if request.form && !request.fields.is_empty() {
        let fields: Vec<String> = request.fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
        line = format!("{line} | {}", fields.join("&"));
    }
    if let Some(json) = &request.json {
        line = format!("{line} | {json}");
    }
    line
}

/// Checks a sample; used by `samples!`.
pub fn check_sample<T: Serialize + DeserializeOwned>(name: &str, text: &str) {
    let sample: Value = serde_json::from_str(text).unwrap_or_else(|e| panic!("the sample of {name}: {e}"));
    let read: T = serde_json::from_value(sample.clone()).unwrap_or_else(|e| panic!("{name} cannot be decoded: {e}"));
    let written = serde_json::to_value(read).unwrap_or_else(|e| panic!("{name} cannot be encoded: {e}"));
    lost(name, &sample, &written);
    for (what, changed) in variants(&sample) {
        let read: T = serde_json::from_value(changed).unwrap_or_else(|e| panic!("{name} with {what} is not read: {e}"));
        // An unexpected value in one field must not affect the others.
        if what.contains("quite_new") {
            let written = serde_json::to_value(read).unwrap_or_else(|e| panic!("{name} cannot be encoded: {e}"));
            lost(&format!("{name} with {what}"), &sample, &written);
        }
    }
    check_neighbors::<T>(name, &sample);
    // Broken input is decoded or rejected, and whatever was decoded can be encoded.
    let (seeds, words) = ([text.as_bytes().to_vec()], ["null", "{", "[", "\"", ",", "-1", "1e400", "\\ud800"]);
    let mut dice = Dice(text.len() as u64);
    for _ in 0..60 {
        let broken = mutate::input(&mut dice, &seeds, &words);
        if let Ok(read) = serde_json::from_slice::<T>(&broken) {
            serde_json::to_value(read).unwrap_or_else(|e| panic!("{name} cannot be encoded: {e}"));
        }
    }
}

/// Checks that one element of a list with a field of any other type changes neither its neighbors nor its other fields.
fn check_neighbors<T: Serialize + DeserializeOwned>(name: &str, sample: &Value) {
    let read = |list: Value, what: &str| -> Vec<Value> {
        let text = serde_json::to_vec(&list).expect("it can be encoded");
        let all = json::from_reply::<Vec<T>>(&text).unwrap_or_else(|e| panic!("{name} with {what} is not read: {e}"));
        all.iter().map(|one| serde_json::to_value(one).expect("it can be encoded")).collect()
    };
    let Value::Object(fields) = sample else { return };
    let usual = read(json!([sample]), "nothing odd").remove(0);
    let mut places = Vec::new();
    objects(sample, String::new(), &mut places);
    let of = |place: &String| sample.pointer(place).and_then(Value::as_object).expect("an object is there");
    let keys = |place: String| of(&place).keys().map(move |key| (place.clone(), key)).collect::<Vec<_>>();
    for (place, key) in places.into_iter().flat_map(keys) {
        for odd in
            [json!("x"), json!("7"), json!(-7), json!(1.5), json!(1e300), json!(true), json!({"a": {}}), json!([[1]])]
        {
            let what = format!("{key}: {odd} at {place:?}");
            let mut changed = sample.clone();
            changed.pointer_mut(&place).and_then(Value::as_object_mut).expect("an object").insert(key.clone(), odd);
            let all = read(json!([sample, changed, sample]), &what);
            assert!(all.len() == 3 && all[0] == usual && all[2] == usual, "{name} with {what}: {all:#?}");
            let top = place.split('/').nth(1).unwrap_or(key);
            for other in fields.keys().filter(|other| *other != top) {
                assert_eq!(all[1].get(other), usual.get(other), "{other} of {name} with {what}");
            }
        }
    }
}

/// Returns variants of a sample as servers produce them: at every depth, with a field set to null, a field removed, or
/// an unknown field added.
fn variants(sample: &Value) -> Vec<(String, Value)> {
    let mut places = Vec::new();
    objects(sample, String::new(), &mut places);
    let mut out = Vec::new();
    for place in places {
        let mut change = |what: String, with: &mut dyn FnMut(&mut Map<String, Value>)| {
            let mut changed = sample.clone();
            let object = changed.pointer_mut(&place).and_then(Value::as_object_mut).expect("an object is there");
            with(object);
            out.push((format!("{what} at {place:?}"), changed));
        };
        for strange in [json!({"deep": [{"er": {}}]}), json!([[1]]), json!("x"), json!(-1.5), json!(true), Value::Null]
        {
            change(format!("quite_new: {strange}"), &mut |object| {
                object.insert("quite_new".into(), strange.clone());
            });
        }
        change("nothing".into(), &mut Map::clear);
        change("nulls".into(), &mut |object| object.values_mut().for_each(|value| *value = Value::Null));
        let keys = sample.pointer(&place).and_then(Value::as_object).expect("an object is there").keys();
        for key in keys {
            change(format!("{key}: null"), &mut |object| {
                object.insert(key.clone(), Value::Null);
            });
            change(format!("no {key}"), &mut |object| {
                object.remove(key);
            });
        }
    }
    out
}

/// Collects the JSON pointers of all objects in a value.
fn objects(value: &Value, place: String, out: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                objects(value, format!("{place}/{}", key.replace('~', "~0").replace('/', "~1")), out);
            }
            out.push(place);
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                objects(item, format!("{place}/{index}"), out);
            }
        }
        _ => {}
    }
}

fn lost(place: &str, sample: &Value, written: &Value) {
    match (sample, written) {
        (Value::Object(sample), Value::Object(written)) => {
            for (key, value) in sample {
                let place = format!("{place}.{key}");
                lost(&place, value, written.get(key).unwrap_or_else(|| panic!("{place} is lost")));
            }
        }
        (Value::Array(sample), Value::Array(written)) => {
            assert_eq!(sample.len(), written.len(), "{place}");
            for (index, (sample, written)) in sample.iter().zip(written).enumerate() {
                lost(&format!("{place}[{index}]"), sample, written);
            }
        }
        // 12 and 12.0 are the same number.
        (Value::Number(sample), Value::Number(written)) => assert_eq!(sample.as_f64(), written.as_f64(), "{place}"),
        _ => assert_eq!(sample, written, "{place}"),
    }
}
