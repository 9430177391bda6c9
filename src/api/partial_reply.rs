//! Cuts of long replies that are shown before all of them is there: `Load::in_parts` names the cut, the executor sends
//! `Msg::Partial`, and the store keeps it apart from replies, so that only code that asks for a part sees one.

/// Cuts the received bytes of a reply to a reply that can be read; `None` if there is nothing yet.
pub type CutReply = fn(Vec<u8>) -> Option<Vec<u8>>;

/// Keeps the complete lines of a text.
pub fn lines(mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    let end = memchr::memrchr(b'\n', &bytes)? + 1;
    bytes.truncate(end);
    Some(bytes)
}

/// Keeps the complete elements of the list in a JSON object, such as the files of a merge request, and what is before it.
pub fn elements(mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    let (mut open, mut in_text, mut is_escaped, mut end) = (Vec::new(), false, false, None);
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'{' | b'[' => open.push(*byte),
            b'}' | b']' => {
                open.pop();
                if open == *b"{[" {
                    end = Some(at + 1);
                }
            }
            _ => {}
        }
    }
    bytes.truncate(end?);
    bytes.extend_from_slice(b"]}");
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn only_complete_lines_are_kept() {
        assert_eq!(lines(b"one\ntwo\nthr".to_vec()), Some(b"one\ntwo\n".to_vec()));
        assert_eq!(lines("one\n\u{e9}".as_bytes()[..5].to_vec()), Some(b"one\n".to_vec()));
        assert_eq!(lines(b"one".to_vec()), None);
    }

    #[test]
    fn only_complete_elements_are_kept_wherever_the_reply_is_cut() {
        let whole = r#"{"title":"[{\"]}","people":[{"id":1}],"changes":[{"diff":"a\\","list":[{}]},{"diff":"}"},{"x":[]}],"n":1}"#;
        let mut found = 0;
        for end in 0..=whole.len() {
            let Some(cut) = elements(whole.as_bytes()[..end].to_vec()) else { continue };
            let value: Value = serde_json::from_slice(&cut).unwrap();
            let count = value["changes"].as_array().map_or(0, Vec::len);
            assert!(value["title"] == "[{\"]}" && count >= found, "{value}");
            found = count;
        }
        assert_eq!(found, 3);
        assert_eq!(elements(b"[]".to_vec()), None);
        assert_eq!(elements(b"}]{[\"".to_vec()), None);
    }
}
