//! Mistakes in what the user wrote: the name that was probably meant.

/// Returns the name that differs from `word` by one letter, or by two from a long word; `None` if there is none.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |name: &&str| strsim::osa_distance(word, name);
    // Short words resemble each other even if they are not typos.
    let most = if word.len() < 6 { 1 } else { 2 };
    names.into_iter().min_by_key(distance).filter(|name| distance(name) <= most)
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
}
