//! Local paths as typed by the user, and the names that continue them.

use std::path::PathBuf;
use store::{Canceled, Derive, Store};

/// The maximum number of files of a folder that are read.
const MAX_FILES: usize = 5000;

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

/// Splits a typed path into its folder, with the slash, and the start of a name in it.
pub fn split(typed: &str) -> (&str, &str) {
    typed.split_at(typed.rfind('/').map_or(0, |slash| slash + 1))
}

/// The names in a local folder; those of folders end with a slash.
pub struct ListFolder {
    /// The folder of a typed path.
    pub folder: String,
    /// The time that tells one reading of the folder from another, in seconds.
    pub at: i64,
}

impl ListFolder {
    /// Lists the names that continue the path that begins with `start` in the folder, once they are read.
    pub fn names<'a>(&self, store: &'a Store, start: &'a str) -> impl Iterator<Item = &'a String> + use<'a> {
        let all = store.result::<Vec<String>>(&self.key()).into_iter().flatten();
        all.filter(move |name| name.starts_with(start) && (!name.starts_with('.') || start.starts_with('.')))
    }
}

impl Derive for ListFolder {
    type Output = Vec<String>;

    fn key(&self) -> String {
        format!("files of {} at {}", self.folder, self.at)
    }

    fn run(&self, canceled: Canceled<'_>) -> Vec<String> {
        let folder = path(if self.folder.is_empty() { "." } else { &self.folder });
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let name = |entry: std::fs::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            Some(if entry.path().is_dir() { format!("{name}/") } else { name })
        };
        let mut names: Vec<String> = entries.take_while(|_| !canceled()).take(MAX_FILES).filter_map(name).collect();
        names.sort_by_key(|name| name.to_lowercase());
        names
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
