//! Changes of refs.

use super::Git;
use crate::backend::reject::Reject;
use git2::{Oid, Reference, Signature, Time};
use jiff::Timestamp;

/// Who makes a commit or a tag, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Author {
    pub name: String,
    pub email: String,
    pub at: Timestamp,
}

impl Author {
    pub(super) fn signature(&self) -> Result<Signature<'static>, Reject> {
        // Git allows no brackets and no empty names in a signature.
        let clean = |text: &str| text.chars().filter(|c| !matches!(c, '<' | '>' | '\n' | '\0')).collect::<String>();
        let name = Some(clean(&self.name)).filter(|name| !name.trim().is_empty()).unwrap_or_else(|| "nobody".into());
        Ok(Signature::new(&name, &clean(&self.email), &Time::new(self.at.as_second(), 0))?)
    }
}

impl Git {
    /// Makes a branch that starts at a branch, a tag or a hash.
    ///
    /// # Errors
    /// 400 for a name that git does not allow or that is taken, and for a start that does not exist.
    pub fn create_branch(&self, name: &str, start: &str) -> Result<Oid, Reject> {
        if name.starts_with('-') || !Reference::is_valid_name(&format!("refs/heads/{name}")) {
            return Err(Reject::bad("Branch name is invalid"));
        }
        if self.branch(name).is_some() {
            return Err(Reject::bad("Branch already exists"));
        }
        let commit = self.commit_at(Some(start), "Branch").map_err(|_| Reject::bad("Invalid reference name"))?;
        // A branch `a/b` and one called `a` cannot both be.
        self.repo.branch(name, &commit, false).map_err(|_| Reject::bad("Branch already exists"))?;
        Ok(commit.id())
    }

    /// Takes a branch away.
    pub fn delete_branch(&self, name: &str) -> Result<(), Reject> {
        // Not `Branch::delete`, which refuses the branch that HEAD names: who may delete what is decided elsewhere.
        Ok(self.repo.find_reference(&format!("refs/heads/{name}"))?.delete()?)
    }

    /// Makes a tag; with a message an annotated one.
    ///
    /// # Errors
    /// 405 with what is wrong: the name, that it exists, or the target.
    pub fn create_tag(&self, name: &str, target: &str, message: Option<&str>, by: &Author) -> Result<(), Reject> {
        let refuse = |why: String| Reject::message(405, why);
        if !git2::Tag::is_valid_name(name) {
            return Err(refuse("Tag name invalid".into()));
        }
        if self.tag(name).is_some() {
            return Err(refuse(format!("Tag {name} already exists")));
        }
        let Ok(commit) = self.commit_at(Some(target), "Commit") else {
            return Err(refuse(format!("Target {target} is invalid")));
        };
        match message.filter(|text| !text.trim().is_empty()) {
            Some(message) => self.repo.tag(name, commit.as_object(), &by.signature()?, message, false)?,
            None => self.repo.tag_lightweight(name, commit.as_object(), false)?,
        };
        Ok(())
    }

    /// Takes a tag away.
    pub fn delete_tag(&self, name: &str) -> Result<(), Reject> {
        Ok(self.repo.find_reference(&format!("refs/tags/{name}"))?.delete()?)
    }
}
