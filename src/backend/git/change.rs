//! Creation, updates and deletion of refs.

use super::Git;
use super::object::{INVALID_IN_SIGNATURE, Signature};
use crate::rejection::Rejection;
use git2::{Oid, Reference, Time};
use jiff::Timestamp;

/// The author of a commit or a tag, and its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Author {
    pub name: String,
    pub email: String,
    pub at: Timestamp,
}

impl Author {
    pub(super) fn signature(&self) -> Signature {
        // Git trims the characters that would break the parsing of the line from both ends. The rest must not be empty.
        let crud = |c: char| c <= ' ' || matches!(c, '.' | ',' | ':' | ';' | '"' | '\\' | '\'');
        let clean = |text: &str, instead: &str| {
            let text = text.replace(INVALID_IN_SIGNATURE, "");
            Some(text.trim_matches(crud)).filter(|text| !text.is_empty()).unwrap_or(instead).to_owned()
        };
        Signature {
            name: clean(&self.name, "nobody"),
            email: clean(&self.email, "nobody@localhost"),
            at: Time::new(self.at.as_second(), 0),
        }
    }
}

/// Returns whether a full ref name is valid: git allows it, it does not have the short name of something else, and the file
/// system can hold a file with that name and `.lock` appended.
pub fn is_ref_name(full: &str) -> bool {
    let short = ["refs/heads/", "refs/tags/"].iter().find_map(|folder| full.strip_prefix(folder));
    full.len() <= 1_000
        && !matches!(short, Some("HEAD" | "@"))
        && full.split('/').all(|part| part.len() <= 250)
        && !full.contains('\0')
        && Reference::is_valid_name(full)
}

impl Git {
    /// Creates a branch from a branch, a tag or a hash.
    ///
    /// # Errors
    /// Fails with 400 if the name is invalid or taken, or if the start does not exist.
    pub fn create_branch(&self, name: &str, start: &str) -> Result<Oid, Rejection> {
        if name.starts_with('-') || !is_ref_name(&format!("refs/heads/{name}")) {
            return Err(Rejection::bad_request("Branch name is invalid"));
        }
        if self.branch_head(name).is_some() {
            return Err(Rejection::bad_request("Branch already exists"));
        }
        let commit =
            self.commit_at(Some(start), "Branch").map_err(|_| Rejection::bad_request("Invalid reference name"))?;
        let full = format!("refs/heads/{name}");
        if self.has_conflicting_ref(&full) {
            return Err(Rejection::bad_request("Branch already exists"));
        }
        self.set_ref(&full, None, Some(commit.id))?;
        Ok(commit.id)
    }

    /// Returns whether a ref `a` exists for a new ref `a/b`, or the other way round: they cannot coexist.
    pub fn has_conflicting_ref(&self, full: &str) -> bool {
        let above = full.match_indices('/').skip(2).filter_map(|(at, _)| full.get(..at));
        let mut above = above.filter(|name| self.target(name).is_some());
        let below = || self.repo.references_glob(&format!("{full}/*")).is_ok_and(|mut refs| refs.next().is_some());
        above.next().is_some() || below()
    }

    /// Moves a branch from one commit to another.
    pub fn move_branch(&self, name: &str, from: Oid, to: Oid) -> Result<(), Rejection> {
        self.set_ref(&format!("refs/heads/{name}"), Some(from), Some(to))
    }

    pub fn delete_branch(&self, name: &str) -> Result<(), Rejection> {
        let full = format!("refs/heads/{name}");
        self.set_ref(&full, self.target(&full), None)
    }

    /// Creates a tag; with a message, an annotated one.
    ///
    /// # Errors
    /// Fails with 405 if the name is invalid or taken, or if the target does not exist.
    pub fn create_tag(&self, name: &str, target: &str, message: Option<&str>, by: &Author) -> Result<(), Rejection> {
        let refuse = |why: String| Rejection::message(405, why);
        if name.starts_with('-') || !is_ref_name(&format!("refs/tags/{name}")) {
            return Err(refuse("Tag name invalid".into()));
        }
        if self.tag(name).is_some() {
            return Err(refuse(format!("Tag {name} already exists")));
        }
        let Ok(commit) = self.commit_at(Some(target), "Commit") else {
            return Err(refuse(format!("Target {target} is invalid")));
        };
        let full = format!("refs/tags/{name}");
        if self.has_conflicting_ref(&full) {
            return Err(refuse(format!("Tag {name} already exists")));
        }
        let id = match message.filter(|text| !text.trim().is_empty()) {
            Some(message) => self.write_tag(name, commit.id, &by.signature(), message)?,
            None => commit.id,
        };
        self.set_ref(&full, None, Some(id))
    }

    pub fn delete_tag(&self, name: &str) -> Result<(), Rejection> {
        let full = format!("refs/tags/{name}");
        self.set_ref(&full, self.target(&full), None)
    }
}
