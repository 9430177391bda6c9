//! Size limits for JSON replies: a few bytes on the wire may expand to gigabytes in memory.

/// The maximum number of bytes of JSON in a reply.
const MAX_BYTES: usize = 64 << 20;
/// The maximum number of objects in a reply. A page of a list contains a hundred; each object may take two kilobytes in
/// memory, however short its JSON is.
const MAX_OBJECTS: usize = 100_000;
/// The maximum number of values of any kind in a reply.
const MAX_VALUES: usize = 4_000_000;

/// Counts the contents of a reply while it is received.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReplyCounter {
    bytes: usize,
    objects: usize,
    values: usize,
    in_string: bool,
    escaped: bool,
}

impl ReplyCounter {
    /// Counts another chunk of the reply.
    ///
    /// # Errors
    /// Returns the exceeded limit as a sentence without a final period.
    pub fn add(&mut self, chunk: &[u8]) -> Result<(), String> {
        self.bytes = self.bytes.saturating_add(chunk.len());
        let mut rest = chunk;
        while let Some(first) = rest.first() {
            let mut skip = 1;
            match (self.in_string, first) {
                (true, _) if self.escaped => self.escaped = false,
                (true, b'\\') => self.escaped = true,
                (true, b'"') => self.in_string = false,
                (true, _) => skip = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len()),
                (false, b'"') => self.in_string = true,
                (false, b'{') => {
                    self.objects += 1;
                    self.values += 1;
                }
                (false, b'[' | b',') => self.values += 1,
                (false, _) => {}
            }
            rest = rest.get(skip..).unwrap_or_default();
        }
        let is_more = |what: String| Err(format!("the reply contains more than {what}"));
        match self {
            _ if self.bytes > MAX_BYTES => is_more(format!("{} MB of JSON", MAX_BYTES >> 20)),
            _ if self.objects > MAX_OBJECTS => is_more(format!("{MAX_OBJECTS} objects")),
            _ if self.values > MAX_VALUES => is_more(format!("{MAX_VALUES} values")),
            _ => Ok(()),
        }
    }
}

/// Returns the number of objects in a body of JSON that is within the limits.
pub fn objects(body: &[u8]) -> usize {
    let mut counter = ReplyCounter::default();
    // Beyond the limits, the reply would have been refused.
    let _ = counter.add(body);
    counter.objects
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str, chunk: usize) -> Result<(), String> {
        let mut counter = ReplyCounter::default();
        text.as_bytes().chunks(chunk).try_for_each(|chunk| counter.add(chunk))
    }

    #[test]
    fn counting_is_independent_of_chunks() {
        let words = format!(r#"[{{"a":"{}"}}]"#, r#"{,[\"{\\"#.repeat(MAX_OBJECTS));
        let many = format!("[{}{{}}]", "{},".repeat(MAX_OBJECTS));
        for chunk in [1, 7, 4096, 1 << 20] {
            assert_eq!(count(&words, chunk), Ok(()), "brackets in a text are text");
            assert_eq!(count(&many, chunk), Err("the reply contains more than 100000 objects".into()));
        }
        assert_eq!(
            count(&format!("[{}1]", "1,".repeat(MAX_VALUES)), 4096),
            Err("the reply contains more than 4000000 values".into())
        );
        assert_eq!(count(&"[".repeat(MAX_VALUES + 1), 4096), Err("the reply contains more than 4000000 values".into()));
        assert_eq!(
            count(&" ".repeat(MAX_BYTES + 1), 1 << 20),
            Err("the reply contains more than 64 MB of JSON".into())
        );
    }
}
