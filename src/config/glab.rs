//! Reads servers and tokens from glab's configuration, so that they need not be configured twice.

use super::address::parse_address;
use crate::system::files;
use secrecy::SecretString;
use std::path::PathBuf;
use url::Url;

/// A server in glab's configuration.
#[derive(Clone, Debug)]
pub struct GlabHost {
    /// The name of its section: the host in remotes of clones.
    pub name: String,
    /// The base URL of the web interface.
    pub url: Url,
    /// The token, if the file contains it.
    pub token: Option<SecretString>,
    /// Whether the token is an OAuth token, which is sent in a different header.
    pub oauth: bool,
}

/// Lists the servers in glab's configuration; the list is empty if there is no such file.
pub fn hosts() -> Vec<GlabHost> {
    let own = std::env::var_os("GLAB_CONFIG_DIR").map(PathBuf::from);
    // glab uses ~/.config on every system.
    let xdg =
        std::env::var_os("XDG_CONFIG_HOME").filter(|v| !v.is_empty()).map(|dir| PathBuf::from(dir).join("glab-cli"));
    let home = dirs::home_dir().map(|home| home.join(".config/glab-cli"));
    let folder = own.or(xdg).or(home);
    let text = folder.and_then(|folder| files::read_text(&folder.join("config.yml"), files::MAX_SETTINGS).ok());
    text.map(|text| parse(&text)).unwrap_or_default()
}

/// Parses the `hosts:` section: indented host names, each followed by further indented `key: value` pairs. glab writes
/// no other YAML there.
pub fn parse(text: &str) -> Vec<GlabHost> {
    let mut sections: Vec<(&str, Vec<(&str, &str)>)> = Vec::new();
    let mut inside = false;
    let mut name_indent = None;
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        if indent == 0 {
            inside = trimmed == "hosts:";
            continue;
        }
        if !inside {
            continue;
        }
        if indent <= *name_indent.get_or_insert(indent) {
            sections.push((scalar(trimmed.strip_suffix(':').unwrap_or(trimmed)), Vec::new()));
        } else if let (Some((_, pairs)), Some((key, value))) = (sections.last_mut(), trimmed.split_once(':')) {
            pairs.push((key.trim(), scalar(value)));
        }
    }
    sections
        .into_iter()
        .filter_map(|(name, pairs)| {
            let get = |key: &str| pairs.iter().find(|(k, v)| *k == key && !v.is_empty()).map(|(_, v)| *v);
            let host = get("api_host").unwrap_or(name);
            let url = parse_address(&format!("{}://{host}", get("api_protocol").unwrap_or("https"))).ok()?;
            let token = get("token").map(|token| SecretString::from(token.to_owned()));
            Some(GlabHost { name: host_of(name).to_owned(), url, token, oauth: get("is_oauth2") == Some("true") })
        })
        .collect()
}

/// Returns the host of a section's name, without its port and path.
fn host_of(name: &str) -> &str {
    name.split(['/', ':']).next().unwrap_or(name)
}

/// Parses a plain or quoted scalar, without comments and without the `!!null` tag that glab may write before tokens.
fn scalar(text: &str) -> &str {
    let text = text.trim();
    let text = text.strip_prefix("!!null").map_or(text, str::trim_start);
    for quote in ['"', '\''] {
        if let Some((inner, _)) = text.strip_prefix(quote).and_then(|rest| rest.split_once(quote)) {
            return inner;
        }
    }
    text.split_once(" #").map_or(text, |(value, _)| value).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret;

    #[test]
    fn hosts_and_tokens_are_parsed() {
        let text = "# What protocol to use\ngit_protocol: ssh\nhosts:\n    gitlab.com:\n        # a comment\n        \
                    api_protocol: https\n        api_host: gitlab.com\n        token: !!null glpat-1 # mine\n    \
                    git.example.com:\n        token: \"two\"\n        is_oauth2: \"true\"\n    \"h:1\":\n        api_protocol: http\n        token:\n\
                    last_update_check_timestamp: 2026-01-01\n";
        let found: Vec<(String, Option<String>, bool)> = parse(text)
            .into_iter()
            .map(|host| (host.url.to_string(), host.token.map(|t| t.expose_secret().to_owned()), host.oauth))
            .collect();
        let is = |url: &str, token: Option<&str>, oauth| (url.to_owned(), token.map(str::to_owned), oauth);
        assert_eq!(
            found,
            [
                is("https://gitlab.com/", Some("glpat-1"), false),
                is("https://git.example.com/", Some("two"), true),
                is("http://h:1/", None, false)
            ]
        );
        assert!(parse("hosts:\n").is_empty() && parse("nonsense").is_empty());
    }
}
