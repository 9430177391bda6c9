//! Leaves only some fields in what is answered.

use crate::api::views::Fields;
use serde_json::Value;

/// A project in a simple listing.
pub const SIMPLE_PROJECT: Fields = &["id", "web_url", "name", "path"];
/// A group that was searched for.
pub const BRIEF_GROUP: Fields = &["id", "name", "path", "description"];

/// Leaves only `fields` in what is at `path`, in each element where there are several.
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
    fn only_the_fields_of_the_view_are_left() {
        let mut value = json!([{"a": {"id": 1, "x": 2}, "id": 3}, {"a": null}, {}]);
        narrow(&mut value, "a", &["id"]);
        assert_eq!(value, json!([{"a": {"id": 1}, "id": 3}, {"a": null}, {}]));
        narrow(&mut value, "", &["a"]);
        assert_eq!(value, json!([{"a": {"id": 1}}, {"a": null}, {}]));
    }
}
