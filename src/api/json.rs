//! Converts between structs and JSON values.
//!
//! Serde compiles the code of a struct again for each format that it is read from or written to. These functions go
//! through JSON text, so that a struct is compiled for that format only. They replace `serde_json::to_value` and
//! `from_value`.

use crate::repair;
use serde::Serialize;
use serde::de::{DeserializeOwned, Error as _};
use serde_json::{Map, Result, Value};

/// Returns a struct as a value.
///
/// # Errors
/// Fails for a map whose keys cannot be text, and for values that are nested too deep.
pub fn to_value<T: Serialize + ?Sized>(of: &T) -> Result<Value> {
    serde_json::from_slice(&serde_json::to_vec(of)?)
}

/// Returns a struct as an object; empty if it is not one.
pub fn to_object<T: Serialize + ?Sized>(of: &T) -> Map<String, Value> {
    match to_value(of) {
        Ok(Value::Object(object)) => object,
        _ => Map::new(),
    }
}

/// Reads a struct from a value.
///
/// # Errors
/// Fails if the value does not fit the struct.
pub fn from_value<T: DeserializeOwned>(value: &Value) -> Result<T> {
    serde_json::from_slice(&serde_json::to_vec(value)?).map_err(without_position)
}

/// Reads a struct from a reply of a server. Fields of other types than expected are repaired, so that they do not make
/// everything else unreadable.
///
/// # Errors
/// Fails if the reply is not JSON, or as a whole of another type.
pub fn from_reply<T: DeserializeOwned>(body: &[u8]) -> Result<T> {
    let error = match serde_json::from_slice(body) {
        Ok(read) => return Ok(read),
        Err(error) => error,
    };
    let mut read = None;
    repair::parse_repaired(body, error, &mut |text| {
        read = Some(serde_json::from_slice(text)?);
        Ok(())
    })?;
    read.ok_or_else(|| serde_json::Error::custom("nothing was read"))
}

/// Reads a struct from a part of a reply, like [`from_reply`].
///
/// # Errors
/// Fails if the value is of another type than the struct.
pub fn from_part<T: DeserializeOwned>(value: &Value) -> Result<T> {
    from_reply(&serde_json::to_vec(value)?).map_err(without_position)
}

/// Removes the position, which refers to a text that the user has not written.
fn without_position(error: serde_json::Error) -> serde_json::Error {
    let text = error.to_string();
    serde_json::Error::custom(text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Debug, Deserialize, PartialEq, Serialize)]
    struct Thing {
        id: u64,
        name: Option<String>,
    }

    #[test]
    fn struct_and_value_are_converted_without_loss() {
        let thing = Thing { id: u64::MAX, name: Some("a \"b\" \u{7}".into()) };
        let value = to_value(&thing).unwrap();
        assert_eq!(value, json!({ "id": u64::MAX, "name": "a \"b\" \u{7}" }));
        assert_eq!(from_value::<Thing>(&value).unwrap(), thing);
        assert_eq!(Value::Object(to_object(&thing)), value);
        assert_eq!(to_object(&7), Map::new());
    }

    #[test]
    fn errors_have_no_position() {
        let error = from_value::<Thing>(&json!({ "id": "seven" })).unwrap_err();
        assert_eq!(error.to_string(), "invalid type: string \"seven\", expected u64");
    }
}
