//! Range and conditional requests (RFC 9110), so that an interrupted download can resume, and what a client has is not
//! sent again.

use super::call::Answer;
use super::stream::Stream;
use axum::http::{HeaderMap, header};
use git2::{ObjectType, Oid};
use std::io::{self, Write};

/// A requested byte range: from a first byte to an optional last byte, or the last bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum RequestedRange {
    From(u64, Option<u64>),
    Last(u64),
}

/// Returns the entity tag for a version of a body: equal texts mean equal bytes.
pub fn etag(of: &str) -> Option<String> {
    // A newer labscope version may pack archives differently.
    let text = format!("{of} {}", env!("CARGO_PKG_VERSION"));
    Oid::hash_object(ObjectType::Blob, text.as_bytes()).ok().map(|id| format!("\"{id}\""))
}

/// Returns the weak entity tag of a body, as Rack makes them for every reply of GitLab.
pub fn weak_etag(body: &[u8]) -> Option<String> {
    Oid::hash_object(ObjectType::Blob, body).ok().map(|id| format!("W/\"{id}\""))
}

/// Returns whether the client has the body with the entity tag `tag`, by its `If-None-Match`.
pub fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    let known = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    known.flat_map(|tags| tags.split(',')).any(|known| known.trim() == "*" || opaque(known) == opaque(tag))
}

/// Returns whether a request asks for a range, and its `If-Range`, if any, matches `tag`.
pub fn is_range_request(headers: &HeaderMap, tag: Option<&str>) -> bool {
    parse_range(headers, tag).is_some()
}

/// Parses the range of a request. Multiple ranges, and ranges of another version, are answered with the whole body.
fn parse_range(headers: &HeaderMap, tag: Option<&str>) -> Option<RequestedRange> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    if text(header::IF_RANGE).is_some_and(|known| Some(known) != tag) {
        return None;
    }
    let (first, last) = text(header::RANGE)?.strip_prefix("bytes=")?.split_once('-')?;
    let number = |text: &str| text.trim().parse::<u64>().ok();
    match (first.trim(), last.trim()) {
        ("", last) => Some(RequestedRange::Last(number(last)?)),
        (first, "") => Some(RequestedRange::From(number(first)?, None)),
        (first, last) => {
            Some(RequestedRange::From(number(first)?, Some(number(last)?))).filter(|_| number(first) <= number(last))
        }
    }
}

/// A writer that passes on the first bytes and then fails, to stop whoever writes to it.
struct LimitedWriter<'o> {
    out: &'o mut dyn Write,
    left: u64,
}

impl Write for LimitedWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.left == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let part = bytes.get(..usize::try_from(self.left).unwrap_or(usize::MAX)).unwrap_or(bytes);
        self.out.write_all(part)?;
        self.left -= part.len() as u64;
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A writer that skips the first bytes and counts all.
pub struct SkipWriter<'o> {
    pub out: &'o mut dyn Write,
    /// The number of bytes still to skip.
    pub left: u64,
    /// The number of bytes written, including skipped ones.
    pub written: u64,
}

impl Write for SkipWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let skip = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
        self.out.write_all(bytes.get(skip..).unwrap_or_default())?;
        self.left -= skip as u64;
        self.written += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Answers with the requested part of a body, or with all of it. A body of unknown length is always sent whole.
pub fn answer(stream: Stream, headers: &HeaderMap, tag: Option<&str>) -> Answer<Stream> {
    let Some(total) = stream.length else {
        return with_etag(Answer::new(stream), tag).header("accept-ranges", "bytes");
    };
    let (from, to) = match parse_range(headers, tag) {
        None => return with_etag(Answer::new(stream), tag).header("accept-ranges", "bytes"),
        Some(RequestedRange::From(from, to)) => (from, to.map_or(total, |to| to.saturating_add(1).min(total))),
        Some(RequestedRange::Last(last)) => (total.saturating_sub(last), total),
    };
    if from >= to {
        let empty = Stream::new(stream.content_type, Some(0), |_, _| Ok(()));
        return Answer::new(empty).status(416).header("content-range", &format!("bytes */{total}"));
    }
    let content_range = format!("bytes {from}-{}/{total}", to - 1);
    with_etag(Answer::new(part(stream, from, to)).status(206), tag)
        .header("content-range", &content_range)
        .header("accept-ranges", "bytes")
}

/// Returns the bytes of a stream from `from` up to but not including `to`, which must exist.
pub fn part(stream: Stream, from: u64, to: u64) -> Stream {
    let Stream { write, content_type, .. } = stream;
    let length = to.saturating_sub(from);
    Stream::new(content_type, Some(length), move |_, out| {
        let mut part = LimitedWriter { out, left: length };
        let written = write(from, &mut part);
        // The failure only cut off what follows the requested part.
        if part.left == 0 { Ok(()) } else { written }
    })
}

fn with_etag(answer: Answer<Stream>, tag: Option<&str>) -> Answer<Stream> {
    match tag {
        Some(tag) => answer.header("etag", tag),
        None => answer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(range: &str, if_range: &str) -> (u16, String, String) {
        let mut headers = HeaderMap::new();
        for (name, value) in [(header::RANGE, range), (header::IF_RANGE, if_range)] {
            if !value.is_empty() {
                headers.insert(name, value.parse().unwrap());
            }
        }
        let stream = Stream::new("text/plain", Some(10), |from, out| {
            let mut skip = SkipWriter { out, left: from, written: 0 };
            "0123456789".split("").try_for_each(|digit| skip.write_all(digit.as_bytes()))
        });
        let answer = answer(stream, &headers, Some("\"v1\""));
        let content_range =
            answer.headers.get("content-range").map(|v| v.to_str().unwrap().to_owned()).unwrap_or_default();
        let mut out = Vec::new();
        (answer.body.write)(0, &mut out).unwrap();
        assert_eq!(answer.body.length, Some(out.len() as u64));
        (answer.status.unwrap_or(200), content_range, String::from_utf8(out).unwrap())
    }

    #[test]
    fn ranges_apply_to_the_known_version_only() {
        let is = |range: &str, status: u16, content_range: &str, text: &str| {
            assert_eq!(part(range, ""), (status, content_range.to_owned(), text.to_owned()), "{range}");
        };
        is("", 200, "", "0123456789");
        is("bytes=7-", 206, "bytes 7-9/10", "789");
        is("bytes=2-3", 206, "bytes 2-3/10", "23");
        is("bytes=8-99", 206, "bytes 8-9/10", "89");
        is("bytes=-4", 206, "bytes 6-9/10", "6789");
        is("bytes=-99", 206, "bytes 0-9/10", "0123456789");
        is("bytes=10-", 416, "bytes */10", "");
        is("bytes=-0", 416, "bytes */10", "");
        for other in ["bytes=3-2", "bytes=a-", "lines=1-2", "bytes=1-2,4-5", "bytes=-"] {
            is(other, 200, "", "0123456789");
        }
        assert_eq!(part("bytes=7-", "\"v1\"").0, 206);
        assert_eq!(part("bytes=7-", "\"v2\"").2, "0123456789");
    }
}
