//! Reads the body of a request with limits on its size, its duration, and the number of values in it.

use super::params::{self, Inputs, MAX_VALUES};
use super::rejection::Rejection;
use crate::system::files;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, header};
use flate2::write::GzDecoder;
use futures::StreamExt;
use serde_json::Value;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncSeekExt, AsyncWriteExt};

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
const MAX_DISCARDED_BYTES: usize = 128 << 20;

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

/// The number of compressed bytes that are unpacked at once: at most a thousand times as many are in memory then.
const UNPACKED_AT_ONCE: usize = 4 << 10;

/// Writes a whole body to an unnamed file in `folder`, unpacked if it is compressed, and returns the file at its start.
/// `limits` are the size in bytes, also of what is unpacked, and the time.
///
/// # Errors
/// Fails as [`read`] does, with 400 for invalid and with 415 for other compression, and with 500 if the disk does.
pub async fn spool(
    body: Body,
    headers: &HeaderMap,
    (max_bytes, within): (u64, Duration),
    folder: &Path,
) -> Result<File, Rejection> {
    let unpacker = match headers.get(header::CONTENT_ENCODING).map(HeaderValue::as_bytes) {
        None | Some(b"identity") => None,
        Some(b"gzip" | b"x-gzip") => Some(GzDecoder::new(Vec::new())),
        Some(_) => return Err(Rejection::message(415, "415 Unsupported Media Type: only gzip is supported")),
    };
    let file = tempfile::tempfile_in(folder).map_err(Rejection::internal_error)?;
    let spool = Spool { file: file.into(), written: 0, max_bytes, unpacker };
    tokio::time::timeout(within, spool.fill(body)).await.map_err(|_| too_late(within))?
}

/// The file that a body is written to.
struct Spool {
    file: tokio::fs::File,
    written: u64,
    max_bytes: u64,
    /// The decoder of a compressed body, with the bytes that it has unpacked.
    unpacker: Option<GzDecoder<Vec<u8>>>,
}

impl Spool {
    async fn fill(mut self, body: Body) -> Result<File, Rejection> {
        let mut chunks = body.into_data_stream();
        let mut arrived = 0_u64;
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|_| incomplete())?;
            arrived = arrived.saturating_add(chunk.len() as u64);
            let excess = arrived.max(self.written).saturating_sub(self.max_bytes);
            if excess > MAX_DISCARDED_BYTES as u64 {
                break;
            }
            if excess == 0 {
                self.add(&chunk).await?;
            }
        }
        let is_whole = arrived.max(self.written) <= self.max_bytes;
        if let Some(mut unpacker) = self.unpacker.take().filter(|_| is_whole) {
            unpacker.try_finish().map_err(not_packed)?;
            let rest = std::mem::take(unpacker.get_mut());
            self.write(&rest).await?;
        }
        if arrived.max(self.written) > self.max_bytes {
            return Err(Rejection::too_large(&format!(
                "the request exceeds the limit of {}",
                files::size(self.max_bytes)
            )));
        }
        self.file.flush().await.map_err(Rejection::internal_error)?;
        self.file.rewind().await.map_err(Rejection::internal_error)?;
        Ok(self.file.into_std().await)
    }

    async fn add(&mut self, bytes: &[u8]) -> Result<(), Rejection> {
        if self.unpacker.is_none() {
            return self.write(bytes).await;
        }
        for part in bytes.chunks(UNPACKED_AT_ONCE) {
            let Some(unpacker) = &mut self.unpacker else { break };
            unpacker.write_all(part).map_err(not_packed)?;
            let unpacked = std::mem::take(unpacker.get_mut());
            self.write(&unpacked).await?;
        }
        Ok(())
    }

    /// Writes bytes, unless there are too many.
    async fn write(&mut self, bytes: &[u8]) -> Result<(), Rejection> {
        self.written = self.written.saturating_add(bytes.len() as u64);
        if self.written > self.max_bytes {
            return Ok(());
        }
        self.file.write_all(bytes).await.map_err(Rejection::internal_error)
    }
}

fn not_packed(_: io::Error) -> Rejection {
    Rejection::message(400, "400 Bad Request: the request body is not compressed as its header says")
}

fn incomplete() -> Rejection {
    Rejection::message(400, "400 Bad Request: the request body is incomplete")
}

fn too_late(within: Duration) -> Rejection {
    let why = format!("408 Request Timeout: the body did not arrive within {} seconds", within.as_secs_f32());
    Rejection::message(408, why)
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
    use crate::api::commits::CreateCommit;
    use crate::cost::cost;

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
