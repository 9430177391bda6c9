//! A comment that the server does not have yet: what it is on, what it says, and how far its sending has come. It is kept
//! as JSON under a key of its own from the first letter on.

use super::spot::Spot;
use crate::api::Id;
use crate::api::commits::{CommitComment, CreateCommitComment};
use crate::api::notes::{CreateMergeRequestNote, CreateSnippetNote, Note, UpdateMergeRequestNote, UpdateSnippetNote};
use crate::store::Write;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// What people comment on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thing {
    MergeRequest { project: Id, iid: u64 },
    Commit { project: Id, sha: String },
    Snippet { project: Id, id: u64 },
}

impl Thing {
    /// `acme/rocket-ui!42`, `acme/rocket-ui@9f3c2abd`.
    pub fn name(&self) -> String {
        match self {
            Thing::MergeRequest { project, iid } => format!("{project}!{iid}"),
            Thing::Commit { project, sha } => format!("{project}@{}", sha.get(..8).unwrap_or(sha)),
            Thing::Snippet { project, id } => format!("{project}${id}"),
        }
    }

    /// What the keys of its drafts begin with.
    fn prefix(&self) -> String {
        match self {
            Thing::MergeRequest { project, iid } => format!("draft {project}!{iid} "),
            Thing::Commit { project, sha } => format!("draft {project}@{sha} "),
            Thing::Snippet { project, id } => format!("draft {project}${id} "),
        }
    }

    /// Whether comments on it may wait for one another, to be sent together.
    pub fn is_reviewed(&self) -> bool {
        !matches!(self, Thing::Snippet { .. })
    }

    /// The key under which it is kept that a review of it is open.
    pub fn review_key(&self) -> String {
        format!("review of {}", self.prefix().trim_start_matches("draft ").trim_end())
    }

    /// A key for one more draft, behind those that are kept: the moment, and digits by chance, so that two programs never
    /// take the same.
    pub fn new_key(&self, kept: &HashMap<String, String>, now: Timestamp) -> String {
        let prefix = self.prefix();
        let numbers = kept.keys().filter_map(|key| key.strip_prefix(&prefix)?.parse::<u64>().ok());
        let chance = RandomState::new().build_hasher().finish() % 100_000;
        let number = u64::try_from(now.as_millisecond()).unwrap_or(0).saturating_mul(100_000).saturating_add(chance);
        format!("{prefix}{}", number.max(numbers.max().unwrap_or(0).saturating_add(1)))
    }

    /// The keys of its drafts among all that is kept, oldest first.
    pub fn keys(&self, kept: &HashMap<String, String>) -> Vec<String> {
        let prefix = self.prefix();
        let number = |key: &str| key.strip_prefix(&prefix).and_then(|number| number.parse::<u64>().ok());
        let mut keys: Vec<(u64, &String)> = kept.keys().filter_map(|key| Some((number(key)?, key))).collect();
        keys.sort_unstable();
        keys.into_iter().map(|(_, key)| key.clone()).collect()
    }
}

/// How far a draft has come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It was begun, and not sent.
    #[default]
    Begun,
    /// It waits for the others of its review.
    Kept,
    /// It went out, and no answer came yet. Before it, what [`super::Evidence`] counts stood at this.
    Sending { before: u64 },
    /// Nobody knows whether it arrived.
    Unknown { before: u64, why: String },
    /// It was refused, or did not arrive.
    Failed { why: String },
}

/// A comment on its way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    /// What it is on.
    pub on: Thing,
    /// Where in the changes.
    #[serde(default)]
    pub spot: Option<Spot>,
    /// The note that it changes, and what that begins with beside the text.
    #[serde(default)]
    pub edits: Option<(u64, String)>,
    /// What that note said when its change was begun.
    #[serde(default)]
    pub was: Option<String>,
    /// Markdown.
    pub text: String,
    #[serde(default)]
    pub state: State,
}

impl Draft {
    /// Nothing typed yet.
    pub fn new(on: Thing) -> Draft {
        Draft { on, spot: None, edits: None, was: None, text: String::new(), state: State::Begun }
    }

    /// What is kept under a key, where it is a draft.
    pub fn read(kept: &str) -> Option<Draft> {
        serde_json::from_str(kept).ok()
    }

    /// As it is kept.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// What the server is to keep.
    pub fn body(&self) -> String {
        match (&self.edits, &self.spot, &self.on) {
            (Some((_, head)), ..) => format!("{head}{}", self.text),
            (None, Some(spot), Thing::Commit { .. })
                if self.line().is_some() && spot.lines.is_some_and(|(a, b)| a == b) =>
            {
                self.text.clone()
            }
            (None, Some(spot), _) => format!("{}{}", spot.head().unwrap_or_default(), self.text),
            (None, None, _) => self.text.clone(),
        }
    }

    /// The line of the diff that a commit's comment is put on.
    fn line(&self) -> Option<u32> {
        self.spot.as_ref().and_then(Spot::line)
    }

    /// The call that sends it.
    pub fn write(&self) -> Write {
        match &self.on {
            Thing::MergeRequest { project, iid } => {
                let (id, merge_request_iid, body) = (project.clone(), *iid, self.body());
                match self.edits {
                    Some((note_id, _)) => {
                        let update = UpdateMergeRequestNote { id, merge_request_iid, note_id, body };
                        Write::new(&update, format!("edit a note on !{iid}"))
                    }
                    None => {
                        let create = CreateMergeRequestNote { id, merge_request_iid, body };
                        Write::new(&create, format!("comment on !{iid}"))
                    }
                }
            }
            Thing::Snippet { project, id: snippet } => {
                let (id, snippet_id, body) = (project.clone(), *snippet, self.body());
                match self.edits {
                    Some((note_id, _)) => {
                        let update = UpdateSnippetNote { id, snippet_id, note_id, body };
                        Write::new(&update, format!("edit a note on ${snippet}"))
                    }
                    None => {
                        let create = CreateSnippetNote { id, snippet_id, body };
                        Write::new(&create, format!("comment on ${snippet}"))
                    }
                }
            }
            Thing::Commit { project, sha } => {
                let line = self.line();
                let spot = self.spot.as_ref().filter(|_| line.is_some());
                let create = CreateCommitComment {
                    id: project.clone(),
                    sha: sha.clone(),
                    note: self.body(),
                    path: spot.map(|spot| spot.path.clone()),
                    line: line.map(u64::from),
                    line_type: spot.map(|spot| if spot.old { "old" } else { "new" }.to_owned()),
                };
                Write::new(&create, format!("comment on {}", sha.get(..8).unwrap_or(sha)))
            }
        }
    }

    /// Whether `note` is what it became.
    pub fn is(&self, note: &Note, me: u64) -> bool {
        note.author.as_ref().is_some_and(|author| author.id == me) && !note.system && same(&note.body, &self.body())
    }

    /// Whether `note` is the one that it changes, and says something else by now than when the change was begun.
    pub fn is_overtaken_by(&self, note: &Note) -> bool {
        let edited = self.edits.as_ref().is_some_and(|(edited, _)| *edited == note.id);
        edited && self.was.as_ref().is_some_and(|was| !same(&note.body, was) && !same(&note.body, &self.body()))
    }

    /// The same of a commit's comment, which has no number.
    pub fn is_comment(&self, comment: &CommitComment, me: u64) -> bool {
        let mine = comment.author.as_ref().is_some_and(|author| author.id == me);
        let line = self.line().map(u64::from);
        // A server that cannot put it on the line puts it on the commit.
        mine && same(&comment.note, &self.body()) && (comment.line.is_none() || comment.line == line)
    }

    /// Whether it may have reached the server without our knowing.
    pub fn is_uncertain(&self) -> bool {
        matches!(self.state, State::Sending { .. } | State::Unknown { .. })
    }
}

/// Whether a server that was sent `sent` may show `shown`: it trims ends, and takes lines out that are commands to it.
fn same(shown: &str, sent: &str) -> bool {
    let lines = |text: &str, all: bool| -> Vec<String> {
        let kept = text.lines().map(str::trim_end).filter(|line| all || !line.starts_with('/'));
        kept.map(str::to_owned).collect()
    };
    let shown = shown.trim();
    let whole = lines(sent.trim(), true).join("\n");
    lines(shown, true).join("\n") == whole || shown == lines(sent, false).join("\n").trim() && !shown.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thing() -> Thing {
        Thing::MergeRequest { project: "a/b".into(), iid: 4 }
    }

    #[test]
    fn a_draft_is_kept_and_read_whole() {
        let mut draft = Draft::new(thing());
        draft.text = "one\n\"two\"".into();
        draft.spot = Some(Spot { path: "a".into(), lines: Some((1, 2)), ..Spot::default() });
        draft.state = State::Unknown { before: 7, why: "cut".into() };
        assert_eq!(Draft::read(&draft.to_json()), Some(draft));
    }

    #[test]
    fn keys_of_one_thing_are_told_from_those_of_another() {
        let mut kept = HashMap::new();
        let first = thing().new_key(&kept, Timestamp::UNIX_EPOCH);
        kept.insert(first.clone(), String::new());
        kept.insert("draft a/b!41 9".into(), String::new());
        let second = thing().new_key(&kept, Timestamp::UNIX_EPOCH);
        assert_ne!(first, thing().new_key(&HashMap::new(), Timestamp::UNIX_EPOCH), "another program takes another one");
        kept.insert(second.clone(), String::new());
        assert_eq!(thing().keys(&kept), [first, second]);
    }

    #[test]
    fn a_note_is_known_again_though_the_server_trimmed_it() {
        assert!(same("Yes.", "Yes.  \n\n"));
        assert!(same("a\nb", "a\r\nb\r\n"));
        assert!(same("Done.", "Done.\n/label ~bug"));
        assert!(!same("", "/label ~bug"));
        assert!(!same("Yes", "Yes."));
    }

    #[test]
    fn a_line_of_a_commit_has_a_place_of_its_own_and_a_range_says_so_itself() {
        let sha = "9f3c2abd00112233445566778899aabbccddeeff";
        let mut draft = Draft::new(Thing::Commit { project: "a/b".into(), sha: sha.into() });
        draft.text = "Why?".into();
        draft.spot = Some(Spot { path: "x.rs".into(), sha: sha.into(), lines: Some((3, 3)), ..Spot::default() });
        assert_eq!(draft.body(), "Why?");
        let fields = draft.write().request.fields;
        assert!(fields.contains(&("line".into(), "3".into())) && fields.contains(&("path".into(), "x.rs".into())));
        draft.spot.as_mut().expect("it has one").lines = Some((1, 3));
        assert_eq!(Spot::read(&draft.body()).expect("a place").0.lines, Some((1, 3)));
    }
}
