//! Addresses of servers: their spellings, and their display names.

use url::Url;

/// Parses a server address: `git.example.com`, `http://127.0.0.1:8080`, `https://example.com/gitlab/`.
///
/// # Errors
/// Returns the reason why the address is invalid.
pub fn parse_address(text: &str) -> Result<Url, String> {
    let text = text.trim();
    let full = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
    let invalid = |why: &str| format!("invalid server address \"{text}\": {why}");
    let mut url = Url::parse(&full).map_err(|e| invalid(&e.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(invalid("it must begin with https:// or http://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("a server address must not contain a user or a password; use --token-file".to_owned());
    }
    url.set_query(None);
    url.set_fragment(None);
    let path = url.path().trim_end_matches('/');
    let path = ["/api/v4", "/api/v3"].iter().find_map(|api| path.strip_suffix(api)).unwrap_or(path);
    let path = format!("{}/", path.trim_end_matches('/'));
    url.set_path(&path);
    Ok(url)
}

/// Returns the display name of a server: `git.example.com:8080/gitlab`.
pub fn display_name(url: &Url) -> String {
    let text = url.as_str();
    let text = text.split_once("://").map_or(text, |(_, rest)| rest);
    text.trim_end_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_come_in_many_spellings() {
        for (text, url) in [
            ("git.example.com", "https://git.example.com/"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/"),
            ("https://example.com/gitlab/api/v4/", "https://example.com/gitlab/"),
            ("https://example.com/api/v3", "https://example.com/"),
            ("localhost:3000", "https://localhost:3000/"),
        ] {
            assert_eq!(parse_address(text).expect(text).as_str(), url);
        }
        for text in ["", "ftp://x", "two words", "https://me:secret@host"] {
            let why = parse_address(text).expect_err(text);
            assert!(!why.contains("secret"), "{why}");
        }
        assert_eq!(display_name(&parse_address("http://h:1/gitlab/").expect("reads")), "h:1/gitlab");
    }
}
