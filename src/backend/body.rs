//! Reads the body of a request with limits on its size, its duration, and the number of values in it.

use super::params::{self, Inputs, MAX_VALUES};
use super::rejection::Rejection;
use axum::body::Body;
use axum::http::{HeaderMap, header};
use futures::StreamExt;
use serde_json::Value;
use std::time::Duration;

/// The intended content of a request body, which determines its size limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Purpose {
    /// Packets of git's protocol, which are not parsed as fields. Their limits depend on the operation.
    Packets,
    /// Fields of records: titles, descriptions, comments.
    Fields,
    /// Fields and file contents.
    Files,
}

/// The size limit in bytes for a caller who is not identified by a header or the query: the body may contain the token,
/// and little else.
const MAX_ANONYMOUS_BYTES: usize = 1 << 20;
/// The number of excess bytes that are read and discarded, so that the client gets to read the error.
pub const MAX_DISCARDED_BYTES: usize = 128 << 20;

impl Purpose {
    /// Returns the size limit in bytes.
    pub fn max_bytes(self, is_signed_in: bool) -> usize {
        match self {
            _ if !is_signed_in => MAX_ANONYMOUS_BYTES,
            Purpose::Fields => 8 << 20,
            Purpose::Packets => 0,
            Purpose::Files => 64 << 20,
        }
    }
}

/// Reads a whole body.
///
/// # Errors
/// Fails with 413 for more than `max_bytes` bytes, 408 if it has not arrived in time, and 400 if it breaks off.
pub async fn read(body: Body, max_bytes: usize, within: Duration) -> Result<Vec<u8>, Rejection> {
    tokio::time::timeout(within, collect(body, max_bytes)).await.map_err(|_| too_late(within))?
}

async fn collect(body: Body, max_bytes: usize) -> Result<Vec<u8>, Rejection> {
    let mut chunks = body.into_data_stream();
    let (mut bytes, mut arrived) = (Vec::new(), 0_usize);
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| incomplete())?;
        arrived = arrived.saturating_add(chunk.len());
        if arrived <= max_bytes {
            bytes.extend_from_slice(&chunk);
        } else if arrived - max_bytes > MAX_DISCARDED_BYTES {
            break;
        } else {
            bytes = Vec::new();
        }
    }
    if arrived > max_bytes {
        return Err(Rejection::too_large(&format!("the request body exceeds the limit of {} MiB", max_bytes >> 20)));
    }
    Ok(bytes)
}

pub fn incomplete() -> Rejection {
    Rejection::message(400, "400 Bad Request: the request body is incomplete")
}

pub fn too_late(within: Duration) -> Rejection {
    let why = format!("408 Request Timeout: the body did not arrive within {} seconds", within.as_secs_f32());
    Rejection::message(408, why)
}

/// Returns the rejection for a body that stalled while others waited for its place.
pub fn stalled() -> Rejection {
    Rejection::message(408, "408 Request Timeout: the body stalled while others waited")
}

/// Parses the inputs in a body according to its content type; without one it is parsed as a form.
///
/// # Errors
/// Fails with 413 for more than [`MAX_VALUES`] values, and with 400 if it cannot be parsed.
pub fn add(inputs: &mut Inputs, headers: &HeaderMap, body: &[u8]) -> Result<(), Rejection> {
    if body.is_empty() {
        return Ok(());
    }
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if kind == "application/json" {
        // Count before parsing: a value takes up to a hundred times the memory of its text.
        if count_values(body) > MAX_VALUES {
            return Err(Rejection::too_many_values());
        }
        match serde_json::from_slice(body) {
            Ok(Value::Object(map)) => inputs.extend(map),
            Ok(_) => {}
            Err(_) => return Err(Rejection::error(400, "The request body is not valid JSON")),
        }
    } else if kind == "multipart/form-data" {
        params::add_multipart(inputs, content_type, body)?;
    } else {
        params::add_pairs(inputs, body)?;
    }
    Ok(())
}

/// Returns an upper bound of the number of values in a JSON text: each value but the outermost follows a comma or an
/// opening bracket.
fn count_values(json: &[u8]) -> usize {
    let (mut values, mut in_text, mut is_escaped) = (1, false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_text,
            b'"' => in_text = !in_text,
            b',' | b'[' | b'{' if !in_text => values += 1,
            _ => {}
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::cost;
    use api::commits::CreateCommit;

    fn count(value: &Value) -> usize {
        1 + match value {
            Value::Array(items) => items.iter().map(count).sum(),
            Value::Object(map) => map.values().map(count).sum(),
            _ => 0,
        }
    }

    #[test]
    fn value_count_is_an_upper_bound() {
        for text in [
            r#"1"#,
            r#""[{,""#,
            r#"[]"#,
            r#"[1]"#,
            r#"[[],{},[[]],{"a":[1,2,{"b":null}]}]"#,
            r#"{"a,[{":"\"[[,,","b\\":["\\","\\\"{"]}"#,
        ] {
            let value: Value = serde_json::from_str(text).unwrap();
            let found = count_values(text.as_bytes());
            assert!(found >= count(&value) && found <= 2 * count(&value), "{text}: {found}");
        }
    }

    fn parse(content_type: &str, body: &[u8]) -> Result<Inputs, Rejection> {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, content_type.parse().unwrap());
        let mut inputs = Inputs::new();
        add(&mut inputs, &headers, body)?;
        Ok(inputs)
    }

    fn typed(content_type: &str, body: &[u8]) -> Result<CreateCommit, Rejection> {
        params::read(&parse(content_type, body)?)
    }

    #[test]
    fn large_body_needs_a_small_multiple_of_its_length() {
        let length = 8 << 20;
        let body = format!(
            r#"{{"id":1,"branch":"b","commit_message":"m","actions":[{{"action":"create","file_path":"f","content":"{}"}}]}}"#,
            "x".repeat(length)
        );
        let (commit, cost) = cost(|| typed("application/json", body.as_bytes()).unwrap());
        assert_eq!(commit.actions.len(), 1);
        assert!(cost.peak < 3 * length, "{}", cost.peak);
    }

    #[test]
    fn many_small_values_need_no_more_memory_than_a_large_one() {
        let refused = format!(r#"{{"actions":[{}{{}}]}}"#, r#"{"":0},"#.repeat(2 << 20));
        let (answer, cost_of_refusal) = cost(|| typed("application/json", refused.as_bytes()).unwrap_err());
        assert_eq!(answer.status, 413);
        assert!(cost_of_refusal.peak < 1 << 20, "{}", cost_of_refusal.peak);
        let taken = format!(r#"{{"actions":[{}{{}}]}}"#, r#"{"":0},"#.repeat(MAX_VALUES / 2 - 3));
        let (answer, cost_of_reading) = cost(|| typed("application/json", taken.as_bytes()).unwrap_err());
        assert_eq!(answer.status, 400);
        assert!(cost_of_reading.peak < 64 << 20, "{}", cost_of_reading.peak);
        let boundary = "-".repeat(16 << 20);
        let (_, cost_of_boundaries) = cost(|| parse("multipart/form-data; boundary=", boundary.as_bytes()));
        assert!(cost_of_boundaries.peak < 1 << 20, "{}", cost_of_boundaries.peak);
    }

    #[test]
    fn too_many_values_are_rejected_in_every_format() {
        let refused = |content_type: &str, body: String| {
            let added = parse(content_type, body.as_bytes());
            added.err().map(|rejection| (rejection.status, rejection.body["message"].as_str().unwrap().to_owned()))
        };
        let json = |times: usize| format!("{{\"a\":[{}1]}}", "{\"b\":1},".repeat(times));
        let form = |times: usize| "a[][b]=&".repeat(times);
        let multipart = |times: usize| {
            let part = "--x\r\nContent-Disposition: form-data; name=\"a[]\"\r\n\r\n1\r\n".repeat(times);
            format!("{part}--x--\r\n")
        };
        let many = "413 Request Entity Too Large: the request exceeds the limit of 100000 values".to_owned();
        for (kind, body) in [
            ("application/json", &json as &dyn Fn(usize) -> String),
            ("application/x-www-form-urlencoded", &form),
            ("multipart/form-data; boundary=x", &multipart),
        ] {
            assert_eq!(refused(kind, body(20_000)), None, "{kind}");
            assert_eq!(refused(kind, body(100_000)), Some((413, many.clone())), "{kind}");
        }
    }
}
