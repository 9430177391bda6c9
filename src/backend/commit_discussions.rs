//! Threads of comments on commits: the same comments as the plain list, by thread.

use super::call::{Call, Outcome, ReadCall, WriteCall, ok};
use super::discussions::thread_of;
use super::mount::Mount;
use super::positions;
use super::presenters::time;
use super::records::{CommitComment, level};
use super::rejection::Rejection;
use super::world::World;
use api::discussions::Discussion;
use api::notes::{NewPosition, Note};
use api::{Id, NoContent};
use sha1::{Digest, Sha1};
use std::collections::BTreeMap;
use std::ops::Deref;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read::<ListCommitDiscussions>(list)
        .read::<GetCommitDiscussion>(get)
        .write::<CreateCommitDiscussion>(create)
        .write::<ReplyToCommitDiscussion>(reply)
        .read::<GetCommitDiscussionNote>(get_note)
        .write::<UpdateCommitDiscussionNote>(update)
        .write::<DeleteCommitDiscussionNote>(delete)
}

api::endpoints! {
    unspecified section "Discussions";

    /// Lists the threads of comments on a commit, oldest first.
    GET "/projects/{id}/repository/commits/{sha}/discussions" => Vec<Discussion>;
    struct ListCommitDiscussions { id: Id, sha: String }

    /// Gets a thread.
    GET "/projects/{id}/repository/commits/{sha}/discussions/{discussion_id}" => Discussion;
    struct GetCommitDiscussion { id: Id, sha: String, discussion_id: String }

    /// Starts a thread, also on lines of the diff.
    JSON POST "/projects/{id}/repository/commits/{sha}/discussions" => Discussion;
    struct CreateCommitDiscussion { id: Id, sha: String, body: String, position: Option<NewPosition> }

    /// Replies to a thread.
    POST "/projects/{id}/repository/commits/{sha}/discussions/{discussion_id}/notes" => Note;
    struct ReplyToCommitDiscussion { id: Id, sha: String, discussion_id: String, body: String }

    /// Gets a comment of a thread.
    GET "/projects/{id}/repository/commits/{sha}/discussions/{discussion_id}/notes/{note_id}" => Note;
    struct GetCommitDiscussionNote { id: Id, sha: String, discussion_id: String, note_id: u64 }

    /// Changes the text of a comment.
    PUT "/projects/{id}/repository/commits/{sha}/discussions/{discussion_id}/notes/{note_id}" => Note;
    struct UpdateCommitDiscussionNote { id: Id, sha: String, discussion_id: String, note_id: u64, body: String }

    /// Deletes a comment.
    DELETE "/projects/{id}/repository/commits/{sha}/discussions/{discussion_id}/notes/{note_id}" => NoContent;
    struct DeleteCommitDiscussionNote { id: Id, sha: String, discussion_id: String, note_id: u64 }
}

/// A commit that is commented on: the ID of its project, and its hash.
struct Target {
    project: u64,
    sha: String,
}

impl CommitComment {
    /// Returns the ID of the first comment of its thread.
    fn thread(&self) -> u64 {
        self.thread.unwrap_or(self.id)
    }

    /// Returns the type of the note in the API; `None` for a plain comment.
    fn note_type(&self) -> Option<&'static str> {
        match (&self.position, self.is_thread) {
            (Some(_), _) => Some("DiffNote"),
            (None, true) => Some("DiscussionNote"),
            (None, false) => None,
        }
    }
}

/// Returns the commit that an operation is about.
fn target<W: Deref<Target = World>>(call: &Call<W>, id: &Id, sha: &str) -> Result<Target, Rejection> {
    let (project, git) = call.repository(id)?;
    Ok(Target { project: project.id, sha: git.commit_at(Some(sha), "Commit")?.id.to_string() })
}

/// Returns the comments on a commit by thread, oldest first.
fn threads<'w>(world: &'w World, target: &Target) -> BTreeMap<u64, Vec<&'w CommitComment>> {
    let mut threads: BTreeMap<u64, Vec<&CommitComment>> = BTreeMap::new();
    let comments = world.commit_comments.iter();
    for comment in comments.filter(|comment| comment.project == target.project && comment.sha == target.sha) {
        threads.entry(comment.thread()).or_default().push(comment);
    }
    threads
}

fn discussion_id(target: &Target, thread: u64) -> String {
    let hash = Sha1::digest(format!("Commit/{}/{thread}", target.sha));
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn show_note<W: Deref<Target = World>>(call: &Call<W>, comment: &CommitComment) -> Note {
    Note {
        id: comment.id,
        body: comment.note.clone(),
        author: Some(call.user_with_email(comment.author)),
        created_at: Some(time(comment.created_at)),
        updated_at: Some(time(comment.updated_at.unwrap_or(comment.created_at))),
        noteable_type: "Commit".into(),
        r#type: comment.note_type().map(str::to_owned).into(),
        position: comment.position.clone(),
        resolvable: Some(false),
        commit_id: Some(comment.sha.clone()),
        project_id: Some(comment.project).into(),
        ..Note::default()
    }
}

fn show<W: Deref<Target = World>>(
    call: &Call<W>,
    target: &Target,
    thread: u64,
    comments: &[&CommitComment],
) -> Discussion {
    let individual_note = comments.iter().all(|comment| comment.note_type().is_none());
    let notes = comments.iter().map(|comment| show_note(call, comment)).collect();
    thread_of(call, discussion_id(target, thread), individual_note, notes)
}

/// Returns the thread with an ID of the API: the ID of its first comment.
fn find<W: Deref<Target = World>>(call: &Call<W>, target: &Target, id: &str) -> Result<u64, Rejection> {
    let mut all = threads(&call.world, target).into_keys();
    all.find(|thread| discussion_id(target, *thread) == id).ok_or_else(|| Rejection::not_found("Discussion"))
}

fn show_thread<W: Deref<Target = World>>(call: &Call<W>, target: &Target, thread: u64) -> Outcome<Discussion> {
    let mut threads = threads(&call.world, target);
    let comments = threads.remove(&thread).ok_or_else(|| Rejection::not_found("Discussion"))?;
    ok(show(call, target, thread, &comments))
}

fn list(call: &ReadCall, input: ListCommitDiscussions) -> Outcome<Vec<Discussion>> {
    let target = target(call, &input.id, &input.sha)?;
    let rows = threads(call.world, &target).into_iter().collect();
    call.page(rows, |(thread, comments)| show(call, &target, thread, &comments))
}

fn get(call: &ReadCall, input: GetCommitDiscussion) -> Outcome<Discussion> {
    let target = target(call, &input.id, &input.sha)?;
    show_thread(call, &target, find(call, &target, &input.discussion_id)?)
}

/// Adds a comment. Returns its ID.
fn add(call: &mut WriteCall, comment: CommitComment) -> Result<u64, Rejection> {
    if comment.note.trim().is_empty() {
        return Err(Rejection::bad_request("400 Bad request - Note {:note=>[\"can't be blank\"]}"));
    }
    let author = call.require_user()?.id;
    let created_at = call.now;
    Ok(call.world.commit_comments.add(CommitComment { author, created_at, is_thread: true, ..comment }))
}

fn create(call: &mut WriteCall, input: CreateCommitDiscussion) -> Outcome<Discussion> {
    let target = target(call, &input.id, &input.sha)?;
    let position = input.position.as_ref().map(positions::to_record).transpose()?;
    if let Some(position) = &position {
        positions::line_code(&call.repository(&input.id)?.1, position)?;
    }
    let place = position.as_ref().and_then(|place| match (place.new_line, place.old_line) {
        (Some(line), _) => Some((place.new_path.clone()?, line, "new")),
        (None, line) => Some((place.old_path.clone()?, line?, "old")),
    });
    let comment = CommitComment {
        project: target.project,
        sha: target.sha.clone(),
        note: input.body,
        path: place.as_ref().map(|(path, ..)| path.clone()),
        line: place.as_ref().map(|(_, line, _)| *line),
        line_type: place.as_ref().map(|(.., kind)| (*kind).to_owned()),
        position,
        ..CommitComment::default()
    };
    let id = add(call, comment)?;
    show_thread(call, &target, id)
}

fn reply(call: &mut WriteCall, input: ReplyToCommitDiscussion) -> Outcome<Note> {
    let target = target(call, &input.id, &input.sha)?;
    let thread = find(call, &target, &input.discussion_id)?;
    let first = call.world.commit_comments.get(thread).filter(|first| first.note_type().is_some());
    let Some(first) = first else {
        return Err(Rejection::bad_request("400 Bad request - Discussion can not be replied to."));
    };
    let comment = CommitComment { id: 0, note: input.body, thread: Some(thread), updated_at: None, ..first.clone() };
    let id = add(call, comment)?;
    ok(show_note(call, call.world.commit_comments.get(id).ok_or_else(Rejection::record_not_found)?))
}

/// Returns a comment of a thread.
fn note_of<'a, W: Deref<Target = World>>(
    call: &'a Call<W>,
    target: &Target,
    discussion: &str,
    note: u64,
) -> Result<&'a CommitComment, Rejection> {
    let thread = find(call, target, discussion)?;
    let found = call.world.commit_comments.get(note).filter(|comment| comment.thread() == thread);
    found.ok_or_else(|| Rejection::not_found("Note"))
}

fn get_note(call: &ReadCall, input: GetCommitDiscussionNote) -> Outcome<Note> {
    let target = target(call, &input.id, &input.sha)?;
    ok(show_note(call, note_of(call, &target, &input.discussion_id, input.note_id)?))
}

/// Returns the ID of a comment that the caller may change: their own, or any one for maintainers.
fn note_to_change(call: &WriteCall, id: &Id, sha: &str, discussion: &str, note: u64) -> Result<u64, Rejection> {
    let target = target(call, id, sha)?;
    let comment = note_of(call, &target, discussion, note)?;
    let level = call.rights.level(call.world, call.project(id)?);
    let may = call.rights.user == Some(comment.author) || level >= level::MAINTAINER;
    if may { Ok(comment.id) } else { Err(Rejection::forbidden()) }
}

fn update(call: &mut WriteCall, input: UpdateCommitDiscussionNote) -> Outcome<Note> {
    let id = note_to_change(call, &input.id, &input.sha, &input.discussion_id, input.note_id)?;
    if input.body.trim().is_empty() {
        return Err(Rejection::bad_request(serde_json::json!({ "note": ["can't be blank"] })));
    }
    let now = call.now;
    if let Some(comment) = call.world.commit_comments.get_mut(id) {
        comment.note = input.body;
        comment.updated_at = Some(now);
    }
    ok(show_note(call, call.world.commit_comments.get(id).ok_or_else(Rejection::record_not_found)?))
}

fn delete(call: &mut WriteCall, input: DeleteCommitDiscussionNote) -> Outcome<NoContent> {
    let id = note_to_change(call, &input.id, &input.sha, &input.discussion_id, input.note_id)?;
    call.world.commit_comments.remove(id);
    ok(NoContent)
}
