//! Suggestions: changes that a note on a diff proposes for its lines, and the commits that apply them.

use super::branches::record_project_activity;
use super::call::{Call, Outcome, WriteCall, ok};
use super::commits::non_blank;
use super::discussions;
use super::git::{Git, NewCommit};
use super::notes;
use super::records::{self, MergeRequest, NoteKind, Noteable, Project, State};
use super::rejection::Rejection;
use super::world::World;
use api::commits::CommitAction;
use api::discussions::{ApplySuggestion, ApplySuggestions};
use api::notes::Suggestion;
use domain::line_edits::{self, LineEdit};
use std::collections::BTreeMap;
use std::ops::Deref;

/// The maximum number of lines above and below the commented line that a suggestion may replace.
const MAX_LINES: u64 = 100;

/// A suggestion block in a note: the numbers of lines above and below, and the new text.
#[derive(Clone, Debug, PartialEq)]
struct Block {
    above: u64,
    below: u64,
    text: String,
}

/// Parses the suggestion blocks in a note: fenced blocks marked `suggestion` or `suggestion:-1+2`.
fn blocks(body: &str) -> Vec<Block> {
    let (mut blocks, mut lines) = (Vec::new(), body.lines());
    while let Some(line) = lines.next() {
        let line = line.trim_start();
        let fence = line.bytes().take_while(|b| *b == b'`').count();
        if fence < 3 {
            continue;
        }
        let ends = |line: &str| {
            let line = line.trim();
            line.len() >= fence && line.bytes().all(|b| b == b'`')
        };
        let inside: Vec<&str> = lines.by_ref().take_while(|line| !ends(line)).collect();
        let info = line.get(fence..).unwrap_or_default().trim();
        if let Some((above, below)) = info.strip_prefix("suggestion").and_then(range) {
            blocks.push(Block { above, below, text: inside.iter().flat_map(|line| [line, "\n"]).collect() });
        }
    }
    blocks
}

/// Parses `:-1+2`, which may be missing.
fn range(text: &str) -> Option<(u64, u64)> {
    if text.is_empty() {
        return Some((0, 0));
    }
    let (above, below) = text.strip_prefix(":-")?.split_once('+')?;
    let (above, below) = (above.parse().ok()?, below.parse().ok()?);
    (above <= MAX_LINES && below <= MAX_LINES).then_some((above, below))
}

/// Returns the lines `from` to `to` of a text, counted from 1, with their line endings.
fn extract_lines(text: &str, from: u64, to: u64) -> Option<String> {
    let (from, to) = (usize::try_from(from.checked_sub(1)?).ok()?, usize::try_from(to).ok()?);
    Some(line_edits::split(text).get(from..to)?.concat())
}

/// Returns the text that replaces the lines `from` to `to`: with the line endings of these lines.
fn replacement(text: &str, from: u64, to: u64, new: &str) -> Option<String> {
    let (from, to) = (usize::try_from(from.checked_sub(1)?).ok()?, usize::try_from(to).ok()?);
    let edit = LineEdit { lines: from..to, new: new.lines().collect() };
    Some(line_edits::new_text(&line_edits::split(text), &edit))
}

/// The lines that a suggestion replaces: the file, and the first and last line.
struct Span {
    path: String,
    from: u64,
    to: u64,
}

/// Returns the lines that a suggestion in a note replaces.
fn span(note: &records::Note, above: u64, below: u64, length: u64) -> Option<Span> {
    let position = note.position.as_ref()?;
    let line = position.new_line?;
    let path = position.new_path.clone()?;
    Some(Span { path, from: line.saturating_sub(above).max(1), to: (line + below).min(length) })
}

impl World {
    /// Returns the suggestions of a note, in order.
    fn suggestions_of(&self, note: u64) -> impl Iterator<Item = &records::Suggestion> {
        self.suggestions.iter().filter(move |suggestion| suggestion.note == note)
    }
}

/// Returns the content of a file at a commit; `None` if it is not UTF-8: a suggestion is, so that it would not fit.
fn text_at(git: &Git, sha: Option<&str>, path: &str) -> Option<String> {
    let commit = git2::Oid::from_str(sha?).ok()?;
    let (_, bytes) = git.file(&git.tree(commit).ok()?, path).ok()??;
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// Returns the suggestions in a note; `git` is the target's repository, with access to the commits of a fork.
pub fn parse_suggestions(note: &records::Note, git: &Git) -> Vec<records::Suggestion> {
    let blocks = blocks(&note.body);
    let Some(position) = note.position.as_ref().filter(|_| !blocks.is_empty()) else { return Vec::new() };
    let path = position.new_path.as_deref().unwrap_or_default();
    let Some(text) = text_at(git, position.head_sha.as_deref(), path) else { return Vec::new() };
    let length = line_edits::split(&text).len() as u64;
    let suggestion = |block: Block| {
        let span = span(note, block.above, block.below, length)?;
        let from = extract_lines(&text, span.from, span.to)?;
        Some(records::Suggestion {
            note: note.id,
            above: block.above,
            below: block.below,
            from_line: span.from,
            to_line: span.to,
            to_content: replacement(&text, span.from, span.to, &block.text)?,
            from_content: from,
            ..records::Suggestion::default()
        })
    };
    blocks.into_iter().filter_map(suggestion).collect()
}

/// Parses the suggestions of a note again, unless some have been applied.
pub fn refresh(call: &mut WriteCall, note: u64) {
    let Some(note) = call.world.notes.get(note).cloned() else { return };
    let Noteable::MergeRequest(mr) = note.on else { return };
    if note.kind != NoteKind::Diff || call.world.suggestions_of(note.id).any(|suggestion| suggestion.is_applied) {
        return;
    }
    call.world.suggestions.remove_where(|suggestion| suggestion.note == note.id);
    let Some((mr, git)) = call.world.merge_requests.get(mr).and_then(|mr| Some((mr, call.git_of(mr)?))) else { return };
    call.make_fork_commits_available(mr, &git);
    for suggestion in parse_suggestions(&note, &git) {
        call.world.suggestions.add(suggestion);
    }
}

/// A suggestion that can be applied, and the content of the file that it changes.
struct ApplicableSuggestion {
    span: Span,
    text: String,
}

impl<W: Deref<Target = World>> Call<W> {
    /// Opens the repository of the target project.
    fn git_of(&self, mr: &MergeRequest) -> Option<Git> {
        self.world.projects.get(mr.target_project).and_then(|project| self.git(project).ok())
    }

    /// Returns the suggestions of a note, if it can have any.
    pub fn show_suggestions(&self, note: &records::Note) -> Option<Vec<Suggestion>> {
        let Noteable::MergeRequest(mr) = note.on else { return None };
        if note.kind != NoteKind::Diff {
            return None;
        }
        let mut all = self.world.suggestions_of(note.id).peekable();
        let git = all.peek().and_then(|_| self.git_of(self.world.merge_requests.get(mr)?));
        let show = |suggestion: &records::Suggestion| {
            let ready = git.as_ref().map(|git| self.check_applicable(suggestion, git));
            let ready = ready.and_then(Result::ok);
            Suggestion {
                id: suggestion.id,
                from_line: ready.as_ref().map_or(suggestion.from_line, |ready| ready.span.from),
                to_line: ready.as_ref().map_or(suggestion.to_line, |ready| ready.span.to),
                appliable: ready.is_some(),
                applied: suggestion.is_applied,
                from_content: suggestion.from_content.clone(),
                to_content: suggestion.to_content.clone(),
            }
        };
        Some(all.map(show).collect())
    }

    /// Returns the current lines of a suggestion on the source branch. `git` is the target's repository.
    ///
    /// # Errors
    /// Fails with 400 and the reason why it cannot be applied.
    fn check_applicable(&self, suggestion: &records::Suggestion, git: &Git) -> Result<ApplicableSuggestion, Rejection> {
        let note = self.world.notes.get(suggestion.note).ok_or_else(not_found)?;
        let Noteable::MergeRequest(mr) = note.on else { return Err(not_found()) };
        let mr = self.world.merge_requests.get(mr).ok_or_else(not_found)?;
        let refuse = |why: &str| Err(Rejection::bad_request(why));
        if suggestion.is_applied {
            return refuse("This suggestion has already been applied.");
        }
        match mr.state {
            State::Opened => {}
            State::Merged => {
                return refuse("This merge request was merged. To apply this suggestion, edit this file directly.");
            }
            State::Closed => {
                return refuse("This merge request is closed. To apply this suggestion, edit this file directly.");
            }
        }
        let Some(head) = self.source_head(mr, Some(git)) else {
            return refuse("Can't apply as the source branch was deleted.");
        };
        self.make_fork_commits_available(mr, git);
        let changed = || {
            Rejection::bad_request(match suggestion.above + suggestion.below {
                0 => "Can't apply as this line was changed in a more recent version.",
                _ => "Can't apply as these lines were changed in a more recent version.",
            })
        };
        let position = note.position.as_ref().ok_or_else(changed)?;
        let head = head.to_string();
        let path = position.new_path.as_deref().unwrap_or_default();
        let text = text_at(git, Some(&head), path).filter(|_| position.head_sha.as_ref() == Some(&head));
        let text = text.ok_or_else(changed)?;
        let length = line_edits::split(&text).len() as u64;
        let span = span(note, suggestion.above, suggestion.below, length).ok_or_else(changed)?;
        let now = extract_lines(&text, span.from, span.to).ok_or_else(changed)?;
        if now != suggestion.from_content {
            return Err(changed());
        }
        if suggestion.from_content == suggestion.to_content {
            return refuse("This suggestion already matches its content.");
        }
        Ok(ApplicableSuggestion { span, text })
    }
}

fn not_found() -> Rejection {
    Rejection::message(404, "Suggestion is not applicable as the suggestion was not found.")
}

pub fn apply_one(call: &mut WriteCall, input: ApplySuggestion) -> Outcome<Suggestion> {
    let mut applied = apply(call, &[input.id], input.commit_message)?;
    ok(applied.pop().ok_or_else(not_found)?)
}

pub fn apply_all(call: &mut WriteCall, input: ApplySuggestions) -> Outcome<Vec<Suggestion>> {
    let mut ids = input.ids;
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() {
        return Err(Rejection::error(400, "ids is empty"));
    }
    ok(apply(call, &ids, input.commit_message)?)
}

/// A suggestion and its note.
type FoundSuggestion = (records::Suggestion, records::Note);

/// Returns suggestions, and the one merge request that they are on.
fn find(call: &WriteCall, ids: &[u64]) -> Result<(MergeRequest, Project, Vec<FoundSuggestion>), Rejection> {
    call.require_user()?;
    let mut found: Vec<FoundSuggestion> = Vec::new();
    for id in ids {
        let suggestion = call.world.suggestions.get(*id).ok_or_else(not_found)?;
        let note = call.world.notes.get(suggestion.note).ok_or_else(not_found)?;
        found.push((suggestion.clone(), note.clone()));
    }
    let on = found.first().map(|(_, note)| note.on).ok_or_else(not_found)?;
    if found.iter().any(|(_, note)| note.on != on) {
        return Err(Rejection::bad_request("Suggestions must all be on the same branch."));
    }
    let Noteable::MergeRequest(mr) = on else { return Err(not_found()) };
    let mr = call.world.merge_requests.get(mr).ok_or_else(not_found)?;
    let target = call.world.projects.get(mr.target_project).ok_or_else(not_found)?;
    if !call.rights.can_see_project(call.world, target) || !call.rights.can_read_code(call.world, target) {
        return Err(not_found());
    }
    let is_invited = mr.allow_maintainer_to_push && call.can_merge(mr);
    let source = call.world.projects.get(mr.source_project);
    let pushes = |source: &Project| is_invited || call.rights.can_push_to(call.world, source, &mr.source_branch);
    let source = source.filter(|source| pushes(source) && !source.archived).ok_or_else(Rejection::forbidden)?;
    Ok((mr.clone(), source.clone(), found))
}

/// Applies suggestions to the source branch in one commit. Returns their new representations.
fn apply(call: &mut WriteCall, ids: &[u64], message: Option<String>) -> Result<Vec<Suggestion>, Rejection> {
    let (mr, source, found) = find(call, ids)?;
    let target_git = call.git_of(&mr).ok_or_else(not_found)?;
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    let mut changes: BTreeMap<String, Vec<(u64, u64, &str)>> = BTreeMap::new();
    for (suggestion, _) in &found {
        let ApplicableSuggestion { span, text } = call.check_applicable(suggestion, &target_git)?;
        texts.entry(span.path.clone()).or_insert(text);
        changes.entry(span.path).or_default().push((span.from, span.to, &suggestion.to_content));
    }
    let mut actions = Vec::new();
    for (path, text) in texts {
        let mut changes = changes.remove(&path).unwrap_or_default();
        changes.sort_unstable();
        if changes.windows(2).any(|pair| matches!(pair, [(_, last, _), (first, ..)] if first <= last)) {
            return Err(Rejection::bad_request("Suggestions are not applicable as their lines cannot overlap."));
        }
        let edits = changes.iter().filter_map(|(first, last, new)| {
            let (first, last) = (usize::try_from(first.checked_sub(1)?).ok()?, usize::try_from(*last).ok()?);
            Some((first..last, *new))
        });
        let content = Some(line_edits::splice(&text, edits));
        let action = "update".to_owned();
        actions.push(CommitAction { action, file_path: path, content, ..CommitAction::default() });
    }
    let git = call.git(&source)?;
    let before = git.branch_head(&mr.source_branch);
    let user = call.require_user()?.id;
    let authors: std::collections::BTreeSet<u64> = found.iter().map(|(_, note)| note.author).collect();
    let author = authors.first().copied().filter(|_| authors.len() == 1).unwrap_or(user);
    let (count, files) = (found.len(), actions.len());
    let usual = || format!("Apply {count} suggestion(s) to {files} file(s)");
    let id = git.commit(&NewCommit {
        branch: &mr.source_branch,
        start_branch: None,
        message: &non_blank(message).unwrap_or_else(usual),
        author: call.commit_author(author),
        committer: call.commit_author(user),
        actions: &actions,
    })?;
    for (suggestion, _) in &found {
        if let Some(suggestion) = call.world.suggestions.get_mut(suggestion.id) {
            suggestion.is_applied = true;
        }
    }
    record_project_activity(call.world, source.id, call.now)?;
    call.record_push(source.id, &git, &format!("refs/heads/{}", mr.source_branch), before, Some(id));
    let target = notes::merge_request(call, &mr.target_project.into(), mr.iid)?;
    for (_, note) in &found {
        discussions::set_resolved(call, &target, note.thread(), true)?;
    }
    let mut applied = Vec::new();
    for (suggestion, note) in &found {
        let shown = call.show_suggestions(note).unwrap_or_default();
        applied.extend(shown.into_iter().find(|shown| shown.id == suggestion.id));
    }
    Ok(applied)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_parsed_with_their_ranges() {
        let body =
            "Like so:\n\n```suggestion:-1+2\na\n  b\n```\n\n```rust\n```suggestion\n```\n````suggestion\n```\n````\n";
        let block = |above, below, text: &str| Block { above, below, text: text.into() };
        assert_eq!(blocks(body), [block(1, 2, "a\n  b\n"), block(0, 0, "```\n")]);
        assert_eq!(blocks("```suggestion:-0+0\n```"), [block(0, 0, "")]);
        for other in ["```suggestions\n```", "```suggestion:+1\n```", "``suggestion\n``", "```suggestion:-999+0\n```"] {
            assert_eq!(blocks(other), [], "{other}");
        }
    }
}
