//! Local paths as typed by the user.

use std::path::PathBuf;

/// Returns the path for the typed text; `~` is expanded to the home directory, if known.
pub fn path(typed: &str) -> PathBuf {
    below(typed, dirs::home_dir())
}

fn below(typed: &str, home: Option<PathBuf>) -> PathBuf {
    let typed = typed.trim();
    match (typed.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        (None, Some(home)) if typed == "~" => home,
        _ => PathBuf::from(typed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_may_begin_at_home() {
        assert_eq!(below("~/a", Some("/h".into())), PathBuf::from("/h/a"));
        assert_eq!(below("~", Some("/h".into())), PathBuf::from("/h"));
        assert_eq!(below("a~/b", Some("/h".into())), PathBuf::from("a~/b"));
        assert_eq!(below("~/a", None), PathBuf::from("~/a"));
    }
}
