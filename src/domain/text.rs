//! Cuts text at character boundaries.

/// Returns at most `bytes` bytes of the start of `text`, cut at a character boundary.
pub fn head_bytes(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}
