//! Loads threads and draft notes from a world file.

use super::{Loader, Result};
use crate::demo::schema::{ThreadForm, WorldFile};
use crate::git::Git;
use crate::positions;
use crate::records::*;
use crate::rejection::Rejection;
use crate::store::repository_path;
use crate::suggestions;
use api::notes::{NewLineRange, NewLineRangeEnd, NewPosition, Position};
use jiff::Timestamp;
use std::path::Path;

/// The object that threads are on.
struct Target<'a> {
    on: Noteable,
    created_at: Timestamp,
    /// The latest version of a merge request, and its repository.
    changes: Option<(Version, &'a Git)>,
}

impl Loader {
    /// Adds the threads of all merge requests and issues.
    pub(super) fn all_threads(&mut self, form: &WorldFile, repositories: &Path) -> Result<()> {
        for one in form.merge_requests.iter().filter(|one| !one.threads.is_empty() || !one.drafts.is_empty()) {
            let project = self.project_id(&one.project)?;
            let found = self.world.merge_requests.iter().find(|mr| mr.target_project == project && mr.iid == one.iid);
            let Some(mr) = found.cloned() else { continue };
            let fail = |why: String| format!("merge_requests.{}!{}.threads{why}", one.project, one.iid);
            let git = Git::open(&repository_path(repositories, project), None).map_err(|e| fail(message_of(e)))?;
            git.add_alternate(&repository_path(repositories, mr.source_project).join("objects"));
            let newest = self.world.versions_of(mr.id).next_back().cloned();
            let on = Noteable::MergeRequest(mr.id);
            let target = Target { on, created_at: mr.created_at, changes: newest.map(|newest| (newest, &git)) };
            let mut updated_at = mr.updated_at;
            for (i, thread) in one.threads.iter().enumerate() {
                let newest = self.thread(&target, thread).map_err(|why| fail(format!("[{i}].{why}")))?;
                updated_at = updated_at.max(newest);
            }
            for (i, draft) in one.drafts.iter().enumerate() {
                self.draft(&target, mr.id, draft).map_err(|why| fail(format!(" drafts[{i}].{why}")))?;
            }
            if let Some(mr) = self.world.merge_requests.get_mut(mr.id) {
                mr.updated_at = updated_at;
            }
        }
        for one in form.issues.iter().filter(|one| !one.threads.is_empty()) {
            let project = self.project_id(&one.project)?;
            let found = self.world.issues.iter().find(|issue| issue.project == project && issue.iid == one.iid);
            let Some((id, created_at)) = found.map(|issue| (issue.id, issue.created_at)) else { continue };
            let target = Target { on: Noteable::Issue(id), created_at, changes: None };
            for (i, thread) in one.threads.iter().enumerate() {
                let newest = self.thread(&target, thread);
                let newest = newest.map_err(|why| format!("issues.{}#{}.threads[{i}].{why}", one.project, one.iid))?;
                if let Some(issue) = self.world.issues.get_mut(id) {
                    issue.updated_at = issue.updated_at.max(newest);
                }
            }
        }
        Ok(())
    }

    /// Adds a thread. Returns the time of its last note.
    fn thread(&mut self, target: &Target<'_>, form: &ThreadForm) -> Result<Timestamp> {
        let parsed = parse_position(target, form)?;
        let resolved = form.resolved.as_ref().map(|(name, at)| {
            Ok::<_, String>((
                self.user_id("resolved", name)?,
                self.parse_time(at).map_err(|e| format!("resolved: {e}"))?,
            ))
        });
        let resolved = resolved.transpose()?;
        let (mut thread, mut newest) = (None, target.created_at);
        for (i, (author, at, body)) in form.notes.iter().enumerate() {
            let created_at = self.parse_time_after(at, target.created_at).map_err(|e| format!("notes[{i}]: {e}"))?;
            let id = self.world.notes.add(Note {
                on: target.on,
                body: body.trim_end().to_owned(),
                author: self.user_id(&format!("notes[{i}]"), author)?,
                created_at,
                updated_at: created_at,
                kind: if parsed.is_some() { NoteKind::Diff } else { NoteKind::Thread },
                thread,
                position: parsed.as_ref().map(|(position, _)| position.clone()),
                resolved_by: resolved.map(|(user, _)| user),
                resolved_at: resolved.map(|(_, at)| at),
                ..Note::default()
            });
            thread.get_or_insert(id);
            let git = target.changes.as_ref().map(|(_, git)| *git);
            let proposed =
                self.world.notes.get(id).zip(git).map(|(note, git)| suggestions::parse_suggestions(note, git));
            for suggestion in proposed.unwrap_or_default() {
                self.world.suggestions.add(suggestion);
            }
            newest = newest.max(created_at);
        }
        Ok(newest)
    }

    fn draft(&mut self, target: &Target<'_>, merge_request: u64, form: &ThreadForm) -> Result<()> {
        let (position, line_code) = parse_position(target, form)?.unzip();
        for (author, at, body) in &form.notes {
            self.world.draft_notes.add(DraftNote {
                merge_request,
                author: self.user_id("notes", author)?,
                note: body.trim_end().to_owned(),
                position: position.clone(),
                line_code: line_code.clone().flatten(),
                created_at: self.parse_time_after(at, target.created_at)?,
                ..DraftNote::default()
            });
        }
        Ok(())
    }
}

/// Returns the message of an error response.
fn message_of(rejection: Rejection) -> String {
    rejection.body.to_string()
}

/// Returns the position of a thread, and the code of its line; `None` if it has no position.
fn parse_position(target: &Target<'_>, form: &ThreadForm) -> Result<Option<(Position, Option<String>)>> {
    let Some(path) = &form.path else { return Ok(None) };
    let (version, git) = target.changes.as_ref().ok_or("path: the merge request has no diff")?;
    let is_line = form.line.is_some() || form.old_line.is_some();
    let mut new = NewPosition {
        position_type: if is_line { "text" } else { "file" }.into(),
        base_sha: version.base.clone(),
        start_sha: version.start.clone(),
        head_sha: version.head.clone(),
        old_path: form.old_path.as_ref().unwrap_or(path).clone(),
        new_path: path.clone(),
        old_line: form.old_line,
        new_line: form.line,
        ..NewPosition::default()
    };
    let convert = |new: &NewPosition| -> Result<(Position, Option<String>)> {
        let position = positions::to_record(new).map_err(message_of)?;
        let code = positions::line_code(git, &position).map_err(|why| format!("line: {}", message_of(why)))?;
        Ok((position, code))
    };
    let (_, last) = convert(&new)?;
    if let Some(from) = form.from {
        let (_, first) = convert(&NewPosition { new_line: Some(from), ..new.clone() })?;
        let end = |line_code: Option<String>| NewLineRangeEnd {
            line_code: line_code.unwrap_or_default(),
            r#type: Some("new".into()),
        };
        new.line_range = Some(NewLineRange { start: end(first), end: end(last) });
    }
    convert(&new).map(Some)
}
