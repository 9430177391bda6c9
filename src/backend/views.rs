//! Removes fields from replies.

use api::views::{Fields, Views};
use serde_json::Value;

/// The fields of a project in a simple list.
pub const SIMPLE_PROJECT: Fields = &["id", "web_url", "name", "path"];
/// The fields of a group in search results.
pub const BRIEF_GROUP: Fields = &["id", "name", "path", "description"];

/// Narrows the objects that `views` select in a JSON text, and the rows to the fields in `only`.
///
/// # Errors
/// Fails if the text is not JSON.
pub fn narrow_all(json: Vec<u8>, views: Views, only: Option<Fields>) -> serde_json::Result<Vec<u8>> {
    if views.is_empty() && only.is_none() {
        return Ok(json);
    }
    let mut value = serde_json::from_slice(&json)?;
    for (path, fields) in views.iter().copied().chain(only.map(|fields| ("", fields))) {
        narrow(&mut value, path, fields);
    }
    serde_json::to_vec(&value)
}

/// Removes all fields but `fields` from the object at `path`, or from each element if it is a list.
pub fn narrow(value: &mut Value, path: &str, fields: Fields) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| narrow(item, path, fields)),
        Value::Object(map) => match path.split_once('.').unwrap_or((path, "")) {
            ("", _) => map.retain(|name, _| fields.contains(&name.as_str())),
            (first, rest) => {
                if let Some(inner) = map.get_mut(first) {
                    narrow(inner, rest, fields);
                }
            }
        },
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn narrow_keeps_only_the_given_fields() {
        let mut value = json!([{"a": {"id": 1, "x": 2}, "id": 3}, {"a": null}, {}]);
        narrow(&mut value, "a", &["id"]);
        assert_eq!(value, json!([{"a": {"id": 1}, "id": 3}, {"a": null}, {}]));
        narrow(&mut value, "", &["a"]);
        assert_eq!(value, json!([{"a": {"id": 1}}, {"a": null}, {}]));
    }
}
