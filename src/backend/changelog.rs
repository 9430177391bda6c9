//! Changelogs, generated from the trailers of commits: `Changelog: added`.

use super::call::{Answer, Call, Outcome, ReadCall, WriteCall, ok};
use super::commits;
use super::git::Git;
use super::merge_requests::MAX_COMMITS;
use super::mount::Mount;
use super::presenters::parse_time;
use super::records::{Project, State};
use super::rejection::Rejection;
use super::world::World;
use api::commits::{Commit, CommitAction, CreateCommit};
use api::{Id, Time};
use git2::Oid;
use jiff::tz::TimeZone;
use serde_json::Value;
use std::collections::BTreeSet;
use std::ops::Deref;

/// The default name of the trailer with the category of a change.
const TRAILER: &str = "Changelog";
/// The default name of the file.
const FILE: &str = "CHANGELOG.md";

pub fn mount(mount: Mount) -> Mount {
    mount.read::<GetChangelog>(get).write::<AddToChangelog>(add)
}

api::resource! {
    /// A section of a changelog.
    pub struct Changelog {
        /// The section in Markdown.
        notes: String,
    }
}

api::endpoints! {
    unspecified section "Changelogs";

    common {
        /// The version, as in `1.2.3`.
        version: String,
        /// The commit before the first one; by default that of the tag of the previous version.
        from: Option<String>,
        /// The last commit; by default the head of the default branch.
        to: Option<String>,
        date: Option<Time>,
        /// The name of the trailer (default: `Changelog`).
        trailer: Option<String>,
    }

    /// Generates the section of a version (since 14.6).
    GET "/projects/{id}/repository/changelog" => Changelog;
    struct GetChangelog { id: Id, .. }

    /// Generates the section of a version and adds it to a file in a commit (since 13.9).
    POST "/projects/{id}/repository/changelog" => Value;
    struct AddToChangelog {
        id: Id,
        /// The branch of the commit; the default branch if absent.
        branch: Option<String>,
        /// The path of the file (default: `CHANGELOG.md`).
        file: Option<String>,
        /// The message of the commit.
        message: Option<String>,
        ..
    }
}

/// Parses a version: its three numbers, and whether it is not a pre-release.
fn parse_version(text: &str) -> Option<([u64; 3], bool)> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let (numbers, rest) = text.split_at(text.find(['-', '+']).unwrap_or(text.len()));
    let parts: Vec<u64> = numbers.split('.').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    Some((parts.try_into().ok()?, rest.is_empty()))
}

/// Returns the value of a trailer in the last paragraph of a message.
fn trailer<'m>(message: &'m str, name: &str) -> Option<&'m str> {
    let (_, last) = message.trim_end().rsplit_once("\n\n")?;
    let value = |line: &'m str| line.split_once(':').filter(|(key, _)| *key == name).map(|(_, value)| value.trim());
    last.lines().rev().find_map(value).filter(|value| !value.is_empty())
}

impl<W: Deref<Target = World>> Call<W> {
    /// Returns the commit of the tag of the version before another one.
    fn previous_version(&self, git: &Git, version: [u64; 3]) -> Result<Oid, Rejection> {
        let tags = git.tags(&self.cache)?;
        let stable = tags.iter().filter_map(|tag| match parse_version(&tag.name)? {
            (numbers, true) if numbers < version => Some((numbers, tag.commit)),
            _ => None,
        });
        let previous = stable.max_by_key(|(numbers, _)| *numbers).map(|(_, commit)| commit);
        previous.ok_or_else(|| {
            failed("The commit start range is unspecified, and no previous tag could be found to use instead")
        })
    }

    /// Returns the section of a version.
    fn changelog(&self, project: &Project, git: &Git, input: Common) -> Result<String, Rejection> {
        let version = parse_version(&input.version).ok_or_else(|| Rejection::invalid("version"))?.0;
        let from = match input.from.filter(|name| !name.is_empty()) {
            Some(name) => git.commit_at(Some(&name), "Commit")?.id,
            None => self.previous_version(git, version)?,
        };
        let to = git.commit_at(input.to.as_deref().filter(|name| !name.is_empty()), "Commit")?.id;
        let date = parse_time("date", &input.date)?.unwrap_or(self.now).to_zoned(TimeZone::UTC).date();
        let name = input.trailer.filter(|name| !name.is_empty()).unwrap_or_else(|| TRAILER.into());
        let ids = git.between(from, to, MAX_COMMITS)?.0;
        let commits = ids.into_iter().map(|id| git.show(id)).collect::<Result<Vec<Commit>, Rejection>>()?;
        let reverts = |commit: &Commit| {
            let (_, rest) = commit.message.split_once("This reverts commit ")?;
            rest.get(..40).map(str::to_owned)
        };
        let reverted: BTreeSet<String> = commits.iter().filter_map(reverts).collect();
        let mut categories: Vec<(&str, Vec<&Commit>)> = Vec::new();
        for commit in commits.iter().filter(|commit| !reverted.contains(&commit.id)) {
            let Some(category) = trailer(&commit.message, &name) else { continue };
            match categories.iter_mut().find(|(known, _)| *known == category) {
                Some((_, commits)) => commits.push(commit),
                None => categories.push((category, vec![commit])),
            }
        }
        let mut text = format!("## {} ({date})\n\n", input.version.trim_start_matches('v'));
        if categories.is_empty() {
            text += "No changes.\n";
        }
        let sections: Vec<String> = categories
            .into_iter()
            .map(|(category, commits)| {
                let count = match commits.len() {
                    1 => "1 change".to_owned(),
                    count => format!("{count} changes"),
                };
                let entries: String = commits.into_iter().map(|commit| self.entry(project, git, commit)).collect();
                format!("### {category} ({count})\n\n{entries}")
            })
            .collect();
        Ok(text + &sections.join("\n"))
    }

    /// Returns the line of a commit, with the merge request that merged it.
    fn entry(&self, project: &Project, git: &Git, commit: &Commit) -> String {
        let path = self.world.project_path(project);
        let id = Oid::from_str(&commit.id).ok();
        let mut merged = self.world.merge_requests.iter().filter(|mr| {
            mr.target_project == project.id
                && mr.state == State::Merged
                && self.rights.can_read_code(&self.world, project)
        });
        let request = merged.find(|mr| {
            let ends = id.zip(self.diff_ends(mr, git));
            ends.is_some_and(|(id, ends)| git.history_contains(ends.head, id) && !git.history_contains(ends.base, id))
        });
        let request = request.map(|mr| format!(" ([merge request]({path}!{}))", mr.iid)).unwrap_or_default();
        format!("- [{}]({path}@{}){request}\n", commit.title, commit.id)
    }
}

fn failed(why: &str) -> Rejection {
    Rejection::message(422, format!("Failed to generate the changelog: {why}"))
}

fn get(call: &ReadCall, input: GetChangelog) -> Outcome<Changelog> {
    let (project, git) = call.repository(&input.id)?;
    ok(Changelog { notes: call.changelog(project, &git, input.into())? })
}

/// Inserts a section before that of the first lower version, or at the end.
fn insert(file: &str, section: &str, version: [u64; 3]) -> String {
    let is_lower = |line: &str| {
        let name = line.strip_prefix("## ").and_then(|rest| rest.split_whitespace().next());
        name.and_then(parse_version).is_some_and(|(numbers, _)| numbers < version)
    };
    let mut at = 0;
    for line in file.split_inclusive('\n') {
        if is_lower(line) {
            break;
        }
        at += line.len();
    }
    let (before, after) = file.split_at_checked(at).unwrap_or((file, ""));
    let (before, after) = (before.trim_end(), after.trim_start());
    [before, section.trim_end(), after].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
        + if after.is_empty() { "\n" } else { "" }
}

fn add(call: &mut WriteCall, input: AddToChangelog) -> Outcome<Value> {
    let (project, git) = call.repository(&input.id)?;
    let project = project.clone();
    let branch = input.branch.clone().filter(|name| !name.is_empty()).or_else(|| project.default_branch.clone());
    let branch = branch.unwrap_or_else(|| "main".into());
    if !call.rights.can_push_to(call.world, &project, &branch) {
        return Err(Rejection::forbidden_because("You are not allowed to commit a changelog on this branch"));
    }
    let path = input.file.clone().unwrap_or_else(|| FILE.into());
    let message = input.message.clone().unwrap_or_else(|| format!("Add changelog for version {}", input.version));
    let version = parse_version(&input.version).ok_or_else(|| Rejection::invalid("version"))?.0;
    let section = call.changelog(&project, &git, input.into())?;
    let head = git.commit_at(Some(&branch), "Branch")?;
    let known = git.file(&git.folder(head.tree_id)?, &path)?.map(|(_, bytes)| bytes);
    let text = insert(&String::from_utf8_lossy(known.as_deref().unwrap_or_default()), &section, version);
    let action = CommitAction {
        action: if known.is_some() { "update" } else { "create" }.into(),
        file_path: path,
        content: Some(text),
        ..CommitAction::default()
    };
    let (id, actions) = (project.id.into(), vec![action]);
    commits::create(call, CreateCommit { id, branch, commit_message: message, actions, ..CreateCommit::default() })?;
    Ok(Answer::new(Value::from(200)).status(200))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailers_are_in_the_last_paragraph() {
        let of = |message: &'static str| trailer(message, "Changelog");
        assert_eq!(of("Title\n\nText\n\nChangelog: added\nSigned-off-by: A <a@b.c>\n"), Some("added"));
        assert_eq!(of("Title\n\nChangelog: added\n\nText"), None);
        assert_eq!(of("Changelog: added"), None, "a title");
        assert_eq!(of("Title\n\nChangelog:"), None);
    }

    #[test]
    fn sections_are_sorted_by_version() {
        let file = "# Changes\n\n## 2.0.0 (2026-01-02)\n\nb\n\n## 1.0.0 (2026-01-01)\n\na\n";
        let new = "## 1.1.0 (2026-01-03)\n\nNo changes.\n";
        let expected = "# Changes\n\n## 2.0.0 (2026-01-02)\n\nb\n\n## 1.1.0 (2026-01-03)\n\nNo changes.\n\n## 1.0.0 (2026-01-01)\n\na\n";
        assert_eq!(insert(file, new, [1, 1, 0]), expected);
        assert_eq!(insert("", new, [1, 1, 0]), new);
        assert_eq!(insert("# Changes\n", new, [1, 1, 0]), format!("# Changes\n\n{new}"));
    }

    #[test]
    fn versions_have_three_numbers() {
        assert_eq!(parse_version("v1.20.3"), Some(([1, 20, 3], true)));
        assert_eq!(parse_version("1.2.3-rc1"), Some(([1, 2, 3], false)));
        for text in ["", "1.2", "1.2.3.4", "a.b.c", "1..2"] {
            assert_eq!(parse_version(text), None, "{text}");
        }
    }
}
