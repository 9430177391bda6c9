//! The keys of saved texts and state: the only code that knows their form.

use super::state::StateFile;
use api::Noteable;
use std::fmt;

/// The prefix of the keys of comments.
const COMMENT: &str = "draft ";
/// The prefix of the keys of [`DiskKey::Account`].
const ACCOUNT: &str = "account ";
/// The text between the name of a state file and the account.
const OF_ACCOUNT: &str = " of @";

/// A key on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskKey<'a> {
    /// The name of the account that was signed in last on a server.
    Account { server: &'a str },
    /// A state file of an account, by its name; the account is empty if it is not known.
    State { file: &'a str, account: &'a str },
    /// A text of an account, by its own key; the account is empty if it is not known.
    Text { account: &'a str, key: &'a str },
}

impl<'a> DiskKey<'a> {
    /// Parses a key; `None` if it is none of these.
    pub fn parse(key: &'a str) -> Option<DiskKey<'a>> {
        if let Some(server) = key.strip_prefix(ACCOUNT) {
            return Some(DiskKey::Account { server });
        }
        if let Some((account, key)) = key.strip_prefix('@').and_then(|rest| rest.split_once(' ')) {
            return Some(DiskKey::Text { account, key });
        }
        let (file, account) = key.split_once(OF_ACCOUNT)?;
        StateFile::NAMES.contains(&file).then_some(DiskKey::State { file, account })
    }
}

impl fmt::Display for DiskKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DiskKey::Account { server } => write!(f, "{ACCOUNT}{server}"),
            DiskKey::State { file, account } => write!(f, "{file}{OF_ACCOUNT}{account}"),
            DiskKey::Text { account, key } => write!(f, "@{account} {key}"),
        }
    }
}

/// Returns the key of an account for the form `name` on a server.
pub(super) fn of_form(server: &str, name: &str) -> String {
    format!("{server} form {name}")
}

/// Returns the key of an account for the files that wait until the text under `key` is sent.
pub(super) fn of_files(key: &str) -> String {
    format!("files of {key}")
}

/// The identity of a saved draft: the object that it is a comment on, and a number that no other draft on it has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DraftKey {
    on: Noteable,
    number: u64,
}

impl DraftKey {
    pub fn new(on: Noteable, number: u64) -> DraftKey {
        DraftKey { on, number }
    }

    /// Parses the key of an account under which a draft on `on` is saved.
    pub fn parse(key: &str, on: &Noteable) -> Option<DraftKey> {
        let number = key.rsplit_once(' ')?.1.parse().ok()?;
        Some(DraftKey::new(on.clone(), number)).filter(|parsed| parsed.to_string() == key)
    }

    /// Returns the object of the comment.
    pub fn on(&self) -> &Noteable {
        &self.on
    }

    /// Returns the number, by which later drafts are sorted after earlier ones.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the key of another draft on the object, of the same review, sorted after this one.
    pub fn next(&self) -> DraftKey {
        DraftKey { on: self.on.clone(), number: self.number.saturating_add(1) }
    }
}

/// Writes the key of an account under which the draft is saved.
impl fmt::Display for DraftKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.on {
            Noteable::Commit { project, sha } => write!(f, "{COMMENT}{project}@{sha} {}", self.number),
            other => write!(f, "{COMMENT}{} {}", other.name(), self.number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use api::Id;

    /// A later version reads what an earlier one wrote.
    #[test]
    fn keys_on_disk_keep_their_form() {
        let text = |account, key| DiskKey::Text { account, key };
        for (on_disk, key) in [
            ("account https://git.example.org", DiskKey::Account { server: "https://git.example.org" }),
            ("settings of @ada", DiskKey::State { file: "settings", account: "ada" }),
            ("recents of @", DiskKey::State { file: "recents", account: "" }),
            ("@ada draft a/b!1 5", text("ada", "draft a/b!1 5")),
            ("@ demo form new project", text("", "demo form new project")),
        ] {
            assert_eq!((DiskKey::parse(on_disk), key.to_string()), (Some(key), on_disk.to_owned()));
        }
        assert_eq!(DiskKey::parse("http://h note a/b!12"), None);
        assert_eq!(DiskKey::parse("notes of @ada"), None);
        assert_eq!(of_form("demo", "new project"), "demo form new project");
    }

    #[test]
    fn the_keys_of_drafts_keep_their_form() {
        let project = || Id::from("a/b");
        let sha = "9f3c2abd9f3c2abd".to_owned();
        for (object, key) in [
            (Noteable::MergeRequest { project: project(), iid: 1 }, "draft a/b!1 5"),
            (Noteable::Issue { project: project(), iid: 1 }, "draft a/b#1 5"),
            (Noteable::Snippet { project: project(), id: 1 }, "draft a/b$1 5"),
            (Noteable::Commit { project: project(), sha }, "draft a/b@9f3c2abd9f3c2abd 5"),
            (Noteable::Epic { group: "a".into(), id: 1 }, "draft a&1 5"),
        ] {
            let draft = DraftKey::new(object.clone(), 5);
            assert_eq!((draft.to_string().as_str(), DraftKey::parse(key, &object)), (key, Some(draft)));
            for other in ["draft a/b!12 5", "draft a/b!1 05", "draft a/b!1 +5", "draft a/b!1"] {
                assert_eq!(DraftKey::parse(other, &object), None, "{other}");
            }
        }
    }
}
