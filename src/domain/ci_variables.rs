//! Rules for CI/CD variables: which environments a variable is for, which of several counts, and which values can be
//! masked in traces.

/// The minimum length of a value that can be masked, in characters.
const MIN_MASKED: usize = 8;
/// The maximum length of a key, in characters.
pub const MAX_KEY: usize = 255;

/// Returns why a text is no key of a variable.
pub fn why_no_key(key: &str) -> Option<&'static str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match key {
        "" => Some("is missing"),
        _ if !key.chars().all(is_plain) => Some("can contain only letters, digits and _"),
        _ if key.len() > MAX_KEY => Some("is longer than 255 characters"),
        _ => None,
    }
}

/// Returns why a value cannot be masked: short ones, and those with spaces or more than one line, cannot be found in a
/// trace. `raw` if references to other variables in it are kept as they are.
pub fn why_unmaskable(value: &str, raw: bool) -> Option<&'static str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_+=/@:.~-".contains(c);
    if value.contains(['\n', '\r']) {
        Some("has several lines: it cannot be masked")
    } else if value.contains(char::is_whitespace) {
        Some("contains spaces: it cannot be masked")
    } else if value.chars().count() < MIN_MASKED {
        Some("is shorter than 8 characters: it cannot be masked")
    } else if !raw && !value.chars().all(is_plain) {
        Some("cannot be masked: other signs than letters, digits and _+=/@:.~- need \"expand references: no\"")
    } else {
        None
    }
}

/// Returns whether jobs of an environment get a variable with a scope: a name, or a pattern with `*`. Jobs without an
/// environment, whose name is empty, get those for all environments.
pub fn scope_fits(scope: &str, environment: &str) -> bool {
    if environment.is_empty() {
        return scope == "*";
    }
    let mut parts = scope.split('*');
    let Some(mut rest) = parts.next().and_then(|first| environment.strip_prefix(first)) else { return false };
    let mut is_open = false;
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
        is_open = true;
    }
    // What follows the last `*` must be at the end.
    rest.is_empty() || is_open && scope.rsplit('*').next().is_some_and(|last| environment.ends_with(last))
}

/// Returns the rank of a scope among those that fit an environment: the highest one counts.
pub fn scope_rank(scope: &str, environment: &str) -> (bool, usize) {
    (scope == environment, scope.chars().filter(|c| *c != '*').count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_names_or_patterns() {
        for (scope, environment) in [
            ("*", ""),
            ("*", "production"),
            ("production", "production"),
            ("review/*", "review/a/b"),
            ("review/*", "review/"),
            ("*/eu", "prod/eu"),
            ("a*b*c", "a1b2c3c"),
            ("a*a", "aa"),
        ] {
            assert!(scope_fits(scope, environment), "{scope} {environment}");
        }
        for (scope, environment) in [
            ("production", ""),
            ("", "production"),
            ("production", "production2"),
            ("review/*", "preview/a"),
            ("*/eu", "prod/eu2"),
            ("a*a", "a"),
        ] {
            assert!(!scope_fits(scope, environment), "{scope} {environment}");
        }
        let mut scopes = ["*", "review/a", "review/*", "*/a"];
        scopes.sort_by_key(|scope| scope_rank(scope, "review/a"));
        assert_eq!(scopes, ["*", "*/a", "review/*", "review/a"]);
    }

    #[test]
    fn values_that_cannot_be_found_in_a_trace_cannot_be_masked() {
        assert_eq!(why_unmaskable("0123456789", false), None);
        assert_eq!(why_unmaskable("p$ss#w0rd", true), None);
        for (value, raw) in [("short", true), ("with a space", true), ("0123456789\n", true), ("p$ss#w0rd", false)] {
            assert!(why_unmaskable(value, raw).is_some(), "{value}");
        }
        assert!(why_no_key("A_1").is_none() && why_no_key("A-1").is_some() && why_no_key("").is_some());
        assert!(why_no_key(&"A".repeat(256)).is_some());
    }
}
