//! Mistakes in what the user wrote: the name that was probably meant, and the messages of the TOML parser in plain words.

/// Returns the name that differs from `word` by one letter, or by two from a long word; `None` if there is none.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |name: &&str| strsim::osa_distance(word, name);
    // Short words resemble each other even if they are not typos.
    let most = if word.len() < 6 { 1 } else { 2 };
    names.into_iter().min_by_key(distance).filter(|name| distance(name) <= most)
}

/// Asks whether the nearest of some names was meant; `None` if there is none.
pub fn did_you_mean<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, names).map(|name| format!("did you mean \"{name}\"?"))
}

/// Returns a message of the TOML parser in plain words, in one line.
pub fn plain_words(message: &str) -> String {
    let message = message.trim();
    if let Some(names) = message.strip_prefix("unknown field ").or(message.strip_prefix("unknown variant ")) {
        let mut names = names.split('`').skip(1).step_by(2);
        let word = names.next().unwrap_or_default();
        let known: Vec<&str> = names.collect();
        let meant = did_you_mean(word, known.iter().copied());
        return format!("unknown; {}", meant.unwrap_or_else(|| format!("known are {}", known.join(", "))));
    }
    if let Some(name) = message.strip_prefix("missing field ") {
        return format!("{} is missing", name.trim_matches('`'));
    }
    let wrong = message.strip_prefix("invalid type: ").or(message.strip_prefix("invalid value: "));
    let Some((found, expected)) = wrong.and_then(|wrong| wrong.rsplit_once(", expected ")) else {
        return message.replace('\n', ", ");
    };
    let found = match (found.strip_prefix("string "), found.split_once('`')) {
        (Some(text), _) => text,
        (None, Some((_, value))) => value.trim_end_matches('`'),
        (None, None) if found == "map" => "a table",
        (None, None) => "a list",
    };
    let expected = match expected {
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "a table",
        "u32" | "u64" => "a whole number",
        other if other.starts_with("struct ") => "a table",
        other => other,
    };
    format!("expected {expected}, not {found}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_are_found_and_others_are_not() {
        let names = ["quit", "close", "palette"];
        assert_eq!(
            ["quitt", "palete", "paltte", "q", "help"].map(|word| nearest(word, names)),
            [Some("quit"), Some("palette"), Some("palette"), None, None]
        );
    }

    #[test]
    fn messages_of_the_parser_have_no_words_of_rust() {
        for (message, words) in [
            ("unknown field `hots`, expected `host` or `hosts`", "unknown; did you mean \"host\"?"),
            ("unknown variant `grey`, expected `dark` or `light`", "unknown; known are dark, light"),
            ("missing field `url`", "url is missing"),
            ("invalid type: string \"a, expected b\", expected u64", "expected a whole number, not \"a, expected b\""),
            ("invalid type: floating point `1.5`, expected a boolean", "expected true or false, not 1.5"),
            ("invalid type: map, expected a sequence", "expected a list, not a table"),
            ("invalid type: sequence, expected struct Host", "expected a table, not a list"),
            ("invalid string\nexpected `\"`, `'`", "invalid string, expected `\"`, `'`"),
        ] {
            assert_eq!(plain_words(message), words);
        }
    }
}
