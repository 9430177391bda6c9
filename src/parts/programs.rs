//! The inputs of custom commands from places, and the drafts that their output becomes.
//!
//! The fields are documented in docs/configuration.md. Everything that a program prints is a draft with its name, or a staged
//! change: a person reads and sends it. Lines that would be quick actions become text.

use crate::api::merge_requests::{DiffRefs, MergeRequest};
use crate::api::{Id, Noteable};
use crate::app::action::Action;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::custom::ResultKind;
use crate::app::outbox::{Draft, DraftState, DraftThread, NoteableExt};
use crate::app::pane::CommandInput;
use crate::app::view::View;
use crate::domain::quick_actions;
use crate::parts::comments::{Comment, ShowsComments, Target, reply_target};
use crate::parts::repository::changed_files::CommentAnchor;
use crate::parts::repository::staging_area::{Base, StagedFile, StagingArea};
use crate::parts::review::diff_comments::quoted_position_of;
use crate::parts::review::drafts::CommentTarget;
use crate::parts::review::position::new_position;
use crate::parts::review::{suggestions, threads};
use crate::ui::diff::{FileDiff, Side};
use crate::ui::text;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// The maximum number of bytes of diffs in an input; the rest is left out.
const MAX_DIFFS: usize = 2 << 20;
/// The maximum number of drafts of a review.
const MAX_DRAFTS: usize = 200;

/// The branch that staged changes are for, or the reason why there is none.
pub type Branch = Result<(Id, String), Disabled>;

/// A comment of a review, as a program prints it.
#[derive(Deserialize)]
struct ReviewLine {
    path: Option<String>,
    /// The first line, if there are several.
    first: Option<u32>,
    line: Option<u32>,
    /// Whether the lines are those before the change.
    #[serde(default)]
    old: bool,
    #[serde(default)]
    body: String,
    /// The text that is suggested for the lines.
    suggestion: Option<String>,
}

/// A file to be staged, as a program prints it.
#[derive(Deserialize)]
struct StagedLine {
    path: String,
    content: String,
    /// Whether the branch does not have the file yet.
    #[serde(default)]
    new: bool,
}

/// The shown changes of a merge request or a commit, for comments on their lines.
pub struct ShownChanges {
    pub on: Noteable,
    /// The commit that the new line numbers refer to.
    pub head: String,
    /// The ends of the changes, if comments on them are threads.
    pub refs: Option<DiffRefs>,
    /// The commit, if it is shown alone.
    pub commit_id: Option<String>,
    pub files: Vec<Arc<FileDiff>>,
    /// The lines under the cursor, and those that a suggestion would replace.
    pub anchor: Option<CommentAnchor>,
    pub suggestion: Option<CommentAnchor>,
    /// The fields of the input about the object.
    pub about: Value,
    pub branch: Branch,
}

impl ShownChanges {
    /// Returns the target of a comment on lines.
    fn target(&self, anchor: &CommentAnchor) -> CommentTarget {
        let position = Some(quoted_position_of(&self.files, (anchor, anchor), &self.head));
        let of_refs = self.refs.as_ref().and_then(|refs| new_position(anchor, refs));
        let thread = of_refs
            .map(|position| DraftThread::New { position: Some(Box::new(position)), commit_id: self.commit_id.clone() });
        CommentTarget { position, thread }
    }

    fn json(&self) -> Value {
        let mut left = MAX_DIFFS;
        let mut file = |file: &Arc<FileDiff>| {
            let source = &file.source;
            let fits = source.diff.len() <= left && !file.is_withheld();
            left = left.saturating_sub(source.diff.len());
            json!({
                "path": file.path(), "old_path": source.old_path, "new": source.is_new, "renamed": source.is_renamed,
                "deleted": source.is_deleted, "diff": fits.then_some(&source.diff),
            })
        };
        let files: Vec<Value> = self.files.iter().map(&mut file).collect();
        let cursor = self.anchor.as_ref().map(|anchor| {
            json!({
                "path": anchor.path, "old": anchor.side == Side::Old,
                "first": anchor.lines.as_ref().map(|lines| *lines.start()),
                "line": anchor.lines.as_ref().map(|lines| *lines.end()),
                "text": anchor.trailing_lines(&self.files, usize::MAX),
            })
        });
        let mut whole = self.about.clone();
        if let Some(fields) = whole.as_object_mut() {
            fields.insert("head_sha".to_owned(), self.head.clone().into());
            fields.insert("cursor".to_owned(), cursor.unwrap_or_default());
            fields.insert("files".to_owned(), files.into());
        }
        whole
    }

    /// Returns the target and the text of a comment of a review. Without such lines it becomes a general comment that names
    /// them.
    fn place(&self, said: ReviewLine) -> (CommentTarget, String) {
        let ReviewLine { path, first, line, old, body, suggestion } = said;
        let body = quick_actions::as_text(body.trim_end());
        let side = if old { Side::Old } else { Side::New };
        let range = line.map(|line| first.filter(|first| *first < line).unwrap_or(line)..=line);
        let anchor = match (&path, range) {
            (Some(path), Some(lines)) => CommentAnchor::at_lines(&self.files, path, side, lines),
            (Some(path), None) => CommentAnchor::of_file(&self.files, path),
            (None, _) => return (CommentTarget::default(), body),
        };
        let suggested = suggestion.and_then(|lines| {
            let lines_of = anchor.as_ref().filter(|anchor| anchor.side == Side::New)?.lines.clone()?;
            suggestion_block(&lines, lines_of.end() - lines_of.start()).ok()
        });
        let text = [suggested.unwrap_or_default(), body].concat();
        match anchor.map(|anchor| self.target(&anchor)) {
            // Without threads, the position is a line of the text, which not every path can be in.
            Some(target)
                if target.thread.is_some() || target.position.as_ref().is_some_and(|at| at.note_header().is_some()) =>
            {
                (target, text)
            }
            _ => {
                let name = path.unwrap_or_default().replace(['`', '\n'], " ");
                let line = line.map(|line| format!(":{line}")).unwrap_or_default();
                (CommentTarget::default(), format!("`{name}{line}` (not among the changes)\n\n{text}"))
            }
        }
    }
}

/// Returns the input of a command that reads the shown changes.
pub fn diff(changes: ShownChanges) -> CommandInput {
    let changes = Rc::new(changes);
    let shown = changes.clone();
    let take = move |kind: ResultKind, program: &str, output: &str, cx: &mut Cx| match kind {
        ResultKind::Review => {
            let (lines, broken) = lines_of::<ReviewLine>(output)?;
            let all: Vec<_> = lines.into_iter().map(|line| changes.place(line)).collect();
            Ok(format!("{}{broken}", save(&changes.on, program, all, cx)))
        }
        ResultKind::Suggestion => {
            let lines = |anchor: &&CommentAnchor| anchor.side == Side::New && anchor.lines.is_some();
            let anchor = changes.suggestion.as_ref().filter(lines).ok_or("was for no lines: select some")?;
            let above = anchor.lines.as_ref().map_or(0, |lines| lines.end() - lines.start());
            let block = suggestion_block(output, above)?;
            Ok(save(&changes.on, program, vec![(changes.target(anchor), block)], cx))
        }
        ResultKind::Comment => {
            let target = changes.anchor.as_ref().map(|anchor| changes.target(anchor)).unwrap_or_default();
            Ok(save(&changes.on, program, vec![(target, quick_actions::as_text(output.trim_end()))], cx))
        }
        ResultKind::Staged => stage(&changes.branch, output, cx),
    };
    CommandInput::new(move || shown.json(), take)
}

/// Returns what an input says of a merge request.
pub fn about(project: &Id, request: &MergeRequest) -> Value {
    json!({
        "project": project.to_string(), "iid": request.iid, "title": request.title,
        "description": request.description, "state": request.state.as_str(),
        "author": request.author.as_ref().map(|author| author.username.as_str()),
        "labels": request.labels, "source_branch": request.source_branch(),
        "target_branch": request.target_branch(), "sha": *request.sha, "url": request.web_url,
    })
}

/// Returns the input of a command that reads a merge request.
pub fn merge_request(on: Noteable, about: Value, branch: Branch) -> CommandInput {
    let take = move |kind: ResultKind, program: &str, output: &str, cx: &mut Cx| match kind {
        ResultKind::Staged => stage(&branch, output, cx),
        _ => {
            let text = quick_actions::as_text(output.trim_end());
            Ok(save(&on, program, vec![(CommentTarget::default(), text)], cx))
        }
    };
    CommandInput::new(move || about, take)
}

/// Returns the input of a command that reads the comment under the cursor, with its thread.
///
/// # Errors
/// Returns the reason if there is none.
pub fn thread<P: ShowsComments>(pane: &P, branch: Branch, view: &View) -> Result<CommandInput, Disabled> {
    let on = pane.comments_on(view)?;
    let target = pane.target(view);
    let Some(Target::Comment(Comment { discussion, position, body, author, .. })) = target else {
        return Err("there is no comment under the cursor".into());
    };
    let (reply, quote) = reply_target(pane, view).ok_or("there is no comment under the cursor")?;
    let drafts_on = pane.drafts_on(view)?;
    let notes = on.conversation(view);
    let of_thread = notes.iter().filter(|note| discussion.is_some() && note.discussion_id.as_deref() == discussion);
    let mut said: Vec<Value> = of_thread
        .map(|note| {
            json!({
                "author": note.author.as_ref().map(|author| author.username.as_str()),
                "created_at": note.created_at.as_ref().map(ToString::to_string), "body": threads::place(note).1,
            })
        })
        .collect();
    if said.is_empty() {
        said.push(json!({"author": author.map(|author| author.username.as_str()), "body": body}));
    }
    let lines = position.as_ref().and_then(|position| position.lines);
    let json = json!({
        "on": drafts_on.name(), "id": discussion, "path": position.as_ref().map(|position| position.path.as_str()),
        "first": lines.map(|lines| lines.0), "line": lines.map(|lines| lines.1),
        "old": position.as_ref().is_some_and(|position| position.old),
        "sha": position.as_ref().map(|position| position.sha.as_str()),
        "text": position.as_ref().map(|position| position.quote.as_slice()), "notes": said,
    });
    let above = lines.filter(|_| position.as_ref().is_some_and(|position| !position.old)).map(|(a, b)| b - a);
    let take = move |kind: ResultKind, program: &str, output: &str, cx: &mut Cx| {
        let text = match kind {
            ResultKind::Staged => return stage(&branch, output, cx),
            ResultKind::Suggestion => suggestion_block(output, above.ok_or("was for no lines of the new file")?)?,
            _ => format!("{quote}{}", quick_actions::as_text(output.trim_end())),
        };
        Ok(save(&drafts_on, program, vec![(reply.clone(), text)], cx))
    };
    Ok(CommandInput::new(move || json, take))
}

/// Returns the input of a command whose output can be staged for a branch.
pub fn only_staged(json: impl FnOnce() -> Value + 'static, branch: Branch) -> CommandInput {
    let take = move |_: ResultKind, _: &str, output: &str, cx: &mut Cx| stage(&branch, output, cx);
    CommandInput::new(json, take)
}

/// Returns a suggestion of these lines; `above` of the lines that it replaces precede the commented one.
fn suggestion_block(output: &str, above: u32) -> Result<String, String> {
    let lines: Vec<String> = output.strip_suffix('\n').unwrap_or(output).split('\n').map(str::to_owned).collect();
    let block = suggestions::block(&lines, above);
    // A server ends the block at the first three backticks, and would run the commands below them.
    let is_command = |line: &String| quick_actions::command_of(line.trim_start()).is_some();
    if block.starts_with("````") && lines.iter().any(is_command) {
        return Err("suggested lines of which the server could run one as a quick action".to_owned());
    }
    Ok(block)
}

/// Parses lines of JSON; returns what could be read, and a sentence about the first line that could not.
fn lines_of<T: for<'a> Deserialize<'a>>(output: &str) -> Result<(Vec<T>, String), String> {
    let (mut read, mut broken) = (Vec::new(), String::new());
    for (at, line) in output.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str(line) {
            Ok(_) if read.len() >= MAX_DRAFTS => broken = format!(". Only the first {MAX_DRAFTS} lines are used"),
            Ok(one) => read.push(one),
            Err(why) if broken.is_empty() => broken = format!(". Line {} of the output is ignored: {why}", at + 1),
            Err(_) => {}
        }
    }
    if read.is_empty() { Err(format!("printed nothing that could be used{broken}")) } else { Ok((read, broken)) }
}

/// Saves drafts of a program; returns a message about them.
fn save(on: &Noteable, program: &str, all: Vec<(CommentTarget, String)>, cx: &mut Cx) -> String {
    let (mut key, count) = (on.new_key(cx.view.drafts, cx.view.now), all.len());
    for (CommentTarget { position, thread }, text) in all {
        let program = Some(program.to_owned());
        let draft = Draft { position, thread, text, program, state: DraftState::Kept, ..Draft::new(on.clone()) };
        let next = key.next();
        cx.act(Action::SaveDraft(std::mem::replace(&mut key, next), Box::new(draft)));
    }
    format!("{program}: {} on {}. ‹drafts› lists them", text::count_noun(count as u64, "draft"), on.short())
}

/// Stages the files that a program printed; returns a message about them.
fn stage(branch: &Branch, output: &str, cx: &mut Cx) -> Result<String, String> {
    let (project, branch) = branch.as_ref().map_err(|why| format!("printed changes for no branch: {why}"))?;
    let area = StagingArea::of(&cx.view, project, branch).ok_or("printed changes before your account was known")?;
    let (lines, broken) = lines_of::<StagedLine>(output)?;
    let is_inside =
        |path: &str| !path.is_empty() && path.split('/').all(|part| !matches!(part, "" | "." | ".." | ".git"));
    if let Some(StagedLine { path, .. }) = lines.iter().find(|line| !is_inside(&line.path)) {
        return Err(format!("named a path outside of the repository: {}", text::sanitize(path)));
    }
    // The last text of a file counts.
    let files: BTreeMap<String, (Option<Base>, StagedFile)> = lines
        .into_iter()
        .map(|StagedLine { path, content, new }| (path, ((!new).then(Base::default), StagedFile::Text(content))))
        .collect();
    let count = text::count_noun(files.len() as u64, "file");
    area.put_all(files, cx)?;
    Ok(format!("{count} staged for {}. ‹go.stage› shows what would be committed{broken}", text::sanitize(branch)))
}
