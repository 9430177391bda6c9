//! Names of git refs: full (`refs/tags/v1`) if it is known whether they are branches or tags, else short (`v1`).
//!
//! A tag may have the name of a branch. A `GitRef` is a full name (`refs/tags/v1`) if its kind is known, and else what
//! the user typed. Requests have the full name, and users see the short one. Pipelines, jobs and merge requests take
//! short names. If a server does not find a full name, but has the ref under its short name, the client sends short
//! names from then on (`src/api/client/full_refs.rs`).
//!
//! A web address joins the ref and the path with a slash (`tree/a/b/c`). `src/parts/repository/ref_split.rs` looks up the
//! branches and tags that it may mean, and asks if several exist.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The kinds of refs that have short names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefKind {
    Branch,
    Tag,
}

impl RefKind {
    const ALL: [RefKind; 2] = [RefKind::Branch, RefKind::Tag];

    /// Returns the folder of the refs of this kind: `refs/tags/`.
    pub const fn prefix(self) -> &'static str {
        match self {
            RefKind::Branch => "refs/heads/",
            RefKind::Tag => "refs/tags/",
        }
    }

    /// Returns the value of `ref_type` in web addresses.
    pub const fn ref_type(self) -> &'static str {
        match self {
            RefKind::Branch => "heads",
            RefKind::Tag => "tags",
        }
    }

    /// Returns the kind with that value of `ref_type`.
    pub fn from_ref_type(word: &str) -> Option<RefKind> {
        RefKind::ALL.into_iter().find(|kind| kind.ref_type().eq_ignore_ascii_case(word))
    }

    /// Returns the name of the kind, as shown to the user.
    pub const fn word(self) -> &'static str {
        match self {
            RefKind::Branch => "branch",
            RefKind::Tag => "tag",
        }
    }
}

/// A branch, a tag or a commit. A tag can have the name of a branch; only their full names tell them apart, so a ref of
/// a known kind is requested by its full name. Users see the short one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GitRef(String);

impl GitRef {
    /// Creates the name of a ref of a known kind from its short name.
    pub fn of(kind: RefKind, name: &str) -> GitRef {
        GitRef(format!("{}{name}", kind.prefix()))
    }

    /// Creates the name of a branch from its short name.
    pub fn branch(name: &str) -> GitRef {
        GitRef::of(RefKind::Branch, name)
    }

    /// Creates the name of a tag from its short name.
    pub fn tag(name: &str) -> GitRef {
        GitRef::of(RefKind::Tag, name)
    }

    /// Creates the name of a tag or a branch.
    pub fn tag_if(is_tag: bool, name: &str) -> GitRef {
        GitRef::of(if is_tag { RefKind::Tag } else { RefKind::Branch }, name)
    }

    /// Creates the name of the ref of a pipeline or job, which is short except for `refs/merge-requests/1/head`.
    /// `is_tag` states whether it is a tag, if the server sent that.
    pub fn of_pipeline(name: &str, is_tag: Option<bool>) -> GitRef {
        match is_tag {
            Some(is_tag) if !name.starts_with("refs/") => GitRef::tag_if(is_tag, name),
            _ => GitRef::from(name),
        }
    }

    /// Returns the name as it is requested.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn split(&self) -> Option<(RefKind, &str)> {
        RefKind::ALL.into_iter().find_map(|kind| Some((kind, self.0.strip_prefix(kind.prefix())?)))
    }

    pub fn kind(&self) -> Option<RefKind> {
        self.split().map(|(kind, _)| kind)
    }

    /// Returns the short name, which some operations require: those of pipelines, jobs and merge requests.
    pub fn short(&self) -> &str {
        self.split().map_or(&*self.0, |(_, name)| name)
    }

    /// Returns the short name if this may be a branch.
    pub fn branch_name(&self) -> Option<&str> {
        (self.kind() != Some(RefKind::Tag)).then(|| self.short())
    }

    /// Returns whether this is the full SHA of a commit.
    pub fn is_sha(&self) -> bool {
        self.0.len() == 40 && self.0.bytes().all(|byte| byte.is_ascii_hexdigit())
    }

    /// Returns the name for display: short, with eight digits of a SHA.
    pub fn display(&self) -> &str {
        if self.is_sha() { self.0.get(..8).unwrap_or(&self.0) } else { self.short() }
    }

    /// Returns the name for display, as in [`GitRef::display`], with the word "tag" before that of a tag.
    pub fn label(&self) -> Cow<'_, str> {
        match self.kind() {
            Some(RefKind::Tag) => Cow::Owned(format!("tag {}", self.short())),
            _ => Cow::Borrowed(self.display()),
        }
    }
}

/// Shortens both sides of `A...B`.
pub fn short_range(range: &str) -> String {
    range.split("...").map(|side| GitRef::from(side).short().to_owned()).collect::<Vec<_>>().join("...")
}

impl From<&str> for GitRef {
    fn from(name: &str) -> GitRef {
        GitRef(name.to_owned())
    }
}

impl From<&String> for GitRef {
    fn from(name: &String) -> GitRef {
        GitRef(name.clone())
    }
}

impl From<String> for GitRef {
    fn from(name: String) -> GitRef {
        GitRef(name)
    }
}

impl From<&GitRef> for GitRef {
    fn from(name: &GitRef) -> GitRef {
        name.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_name_states_the_kind_and_is_shown_short() {
        let tag = GitRef::tag("release/1");
        assert_eq!((tag.as_str(), tag.short(), tag.kind()), ("refs/tags/release/1", "release/1", Some(RefKind::Tag)));
        assert_eq!((tag.display(), &*tag.label(), tag.branch_name()), ("release/1", "tag release/1", None));
        let branch = GitRef::from("refs/heads/main");
        assert_eq!(
            (branch.kind(), &*branch.label(), branch.branch_name()),
            (Some(RefKind::Branch), "main", Some("main"))
        );
        // A branch may have a name that looks like a full one.
        assert_eq!(GitRef::branch("refs/tags/v1").short(), "refs/tags/v1");
        for name in ["main", "tags/v1", "refs/merge-requests/1/head", "HEAD"] {
            assert_eq!((GitRef::from(name).kind(), GitRef::from(name).short()), (None, name), "{name}");
        }
        let sha = GitRef::from("0123456789abcdef0123456789abcdef01234567");
        assert_eq!((sha.display(), sha.short().len()), ("01234567", 40));
        assert_eq!(short_range("refs/tags/v1...refs/heads/a/b"), "v1...a/b");
    }

    #[test]
    fn web_addresses_name_kinds() {
        assert_eq!(RefKind::from_ref_type("tags"), Some(RefKind::Tag));
        assert_eq!(RefKind::from_ref_type("HEADS"), Some(RefKind::Branch));
        assert_eq!(RefKind::from_ref_type("wikis"), None);
    }
}
