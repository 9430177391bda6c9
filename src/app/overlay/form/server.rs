//! Errors of a server about a form, assigned to its fields.

/// Returns the parts of `said` about a field of `names`: `name has already been taken; path is too long`,
/// `title is missing, ref is missing`, `400 (Bad request) "key" not given`.
pub fn by_field<'a>(said: &str, names: &[&'a str]) -> Vec<(&'a str, String)> {
    let mut found: Vec<(&'a str, String)> = Vec::new();
    // The status comes first, followed by a colon: `400: name is missing`.
    let words = match said.split_once(": ") {
        Some((status, words)) if status.bytes().all(|b| b.is_ascii_digit()) => words,
        _ => said,
    };
    for part in words.split("; ").flat_map(|part| part.split(", ")) {
        match names.iter().find_map(|name| Some((*name, about(part, name)?))) {
            Some((name, why)) => match found.iter_mut().find(|(n, _)| *n == name) {
                Some((_, whole)) => *whole = format!("{whole}, {why}"),
                None => found.push((name, why)),
            },
            // A part without a field belongs to the field before it: `name is too short, is taken`.
            None if words.contains("; ") || found.len() == 1 => {
                if let Some((_, whole)) = found.last_mut() {
                    *whole = format!("{whole}, {}", part.trim());
                }
            }
            None => {}
        }
    }
    found
}

/// Returns the error of the field `name` in `part`, if that begins with its name or contains it in quotes.
fn about(part: &str, name: &str) -> Option<String> {
    let part = part.trim();
    let spoken = name.replace('_', " ");
    let begins = |prefix: &str| {
        let head = part.get(..prefix.len())?;
        let rest = part.get(prefix.len()..)?;
        (head.eq_ignore_ascii_case(prefix) && rest.starts_with([' ', ':'])).then(|| rest.trim_start_matches([' ', ':']))
    };
    if let Some(rest) = begins(name).or_else(|| begins(&spoken)) {
        return Some(rest.to_owned());
    }
    let quoted = format!("\"{name}\"");
    part.contains(&quoted).then(|| part.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_errors_are_assigned_to_their_fields() {
        let names = ["name", "path", "source_branch", "title"];
        let said = |words: &str| by_field(words, &names);
        let pair = |name, why: &str| (name, why.to_owned());
        assert_eq!(
            said("400: name has already been taken; path is too short, is reserved"),
            [pair("name", "has already been taken"), pair("path", "is too short, is reserved")]
        );
        assert_eq!(
            said("400: name is missing, title is missing"),
            [pair("name", "is missing"), pair("title", "is missing")]
        );
        assert_eq!(said("Source branch does not exist"), [pair("source_branch", "does not exist")]);
        assert_eq!(
            said("400 (Bad request) \"title\" not given"),
            [pair("title", "400 (Bad request) \"title\" not given")]
        );
        assert!(said("names are nice").is_empty());
        assert!(said("409: Another open merge request already exists for this source branch: !5").is_empty());
    }
}
