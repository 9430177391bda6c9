//! Comments, in every place that shows some: the commands and what they do are here, a place says what is under its
//! cursor.

pub mod conversation;
pub mod notes;
pub mod reactions;

use crate::api::Noteable;
use crate::api::notes::{Note, Suggestion};
use crate::api::users::User;
use crate::app::App;
use crate::app::action::Action;
use crate::app::clone::CloneFolder;
use crate::app::command::{Command, Commands, Table};
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::outbox::{DiffPosition, DraftThread, NoteableExt};
use crate::app::permission;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::comments::conversation::{NO_NEXT_THREAD, NO_PREVIOUS_THREAD};
use crate::parts::comments::reactions::Reactions;
use crate::parts::list;
use crate::parts::review::commit_notes::COMMIT_NOTEABLE_TYPE;
use crate::parts::review::drafts::{CommentTarget, DraftId, Drafts};
use crate::parts::review::{quoted_reply, threads};
use crate::ui::text;

/// The item under the cursor, of a conversation or of the threads in a diff. It is built for one check or key, and not stored.
#[allow(clippy::large_enum_variant)]
pub enum Target<'a> {
    /// A note, or a comment on a commit.
    Comment(Comment<'a>),
    /// A draft.
    Draft(&'a DraftId),
    /// System notes.
    System,
}

/// A comment under the cursor.
#[derive(Default)]
pub struct Comment<'a> {
    /// The ID of the note; `None` for a comment on a commit, which has none.
    pub note: Option<u64>,
    /// The author, if known.
    pub author: Option<&'a User>,
    /// The lines that it is about; `None` if it is about the whole.
    pub position: Option<DiffPosition>,
    /// The line in front of the text that names the position, on some servers.
    pub head: &'a str,
    /// The text.
    pub body: &'a str,
    /// The ID of its thread, on servers with threads.
    pub discussion: Option<&'a str>,
    /// The suggestions in the text that the server knows.
    pub suggestions: &'a [Suggestion],
}

impl<'a> Comment<'a> {
    /// Returns what a note says.
    pub fn of(note: &'a Note) -> Comment<'a> {
        let (position, body) = threads::place(note);
        Comment {
            // The ID of a comment on a commit is not the ID of a note.
            note: Some(note.id).filter(|_| note.noteable_type != COMMIT_NOTEABLE_TYPE),
            author: note.author.as_ref(),
            position,
            head: note.body.strip_suffix(body).unwrap_or_default(),
            body,
            discussion: note.discussion_id.as_deref(),
            suggestions: note.suggestions.as_deref().unwrap_or_default(),
        }
    }
}

/// A place that shows the comments on one object.
pub trait ShowsComments: Commands {
    /// The title of the command that comments on the whole object.
    const WHOLE: &'static str;
    /// The title of the command that edits what is under the cursor.
    const EDIT_TITLE: &'static str = "Edit comment…";

    /// Returns the object, or the reason why nothing can be said about it.
    fn comments_on(&self, view: &View) -> Result<Noteable, Disabled>;
    /// Returns the object as drafts are stored for it.
    fn drafts_on(&self, view: &View) -> Result<Noteable, Disabled> {
        self.comments_on(view)
    }
    /// Returns the drafts on the object.
    fn drafts(&self) -> &Drafts;
    /// Returns what is under the cursor.
    fn target<'a>(&'a self, view: &View<'a>) -> Option<Target<'a>>;
    /// Returns whether the lines under the cursor can be commented on; `None` if a comment here is not about lines.
    fn can_comment_on_lines(&self, _view: &View) -> Option<Result<(), Disabled>> {
        None
    }
    /// Opens the composer for the lines under the cursor.
    fn comment_on_lines(&mut self, _cx: &mut Cx) {}
    /// Prepares for the composer, which covers a part of the place; `is_reply` if it is about the row under the cursor.
    fn make_room(&mut self, _is_reply: bool, _view: &View) {}
    /// Returns whether the whole object can be edited, or why not; `None` if only comments are edited here.
    fn can_edit_whole(&self, _view: &View) -> Option<Result<(), Disabled>> {
        None
    }
    /// Opens the form of the whole object.
    fn edit_whole(&mut self, _cx: &mut Cx) {}
    /// Returns whether there are threads to step through, or why not.
    fn can_step(&self, _view: &View) -> Result<(), Disabled> {
        Ok(())
    }
    /// Goes to the next or the previous unresolved thread; returns `false` if there is none.
    fn step_thread(&mut self, _forward: bool) -> bool {
        false
    }
    /// Returns the clone, if the branch of this merge request is checked out there.
    fn clone_here<'a>(&self, _view: &View<'a>) -> Option<&'a CloneFolder> {
        None
    }

    /// Writing comments.
    const COMMENTS: Table<Self, Self::Row> = &[
        Command::new(".comment", &["c"], "Comment here…", comment_here::<Self>)
            .footer("comment")
            .writes()
            .when(can_comment_here),
        Command::new(".comment_whole", &["C"], Self::WHOLE, comment::<Self>).writes().when(Self::can_comment),
        Command::new(".reply", &["R"], "Reply to comment…", reply::<Self>).footer("reply").writes().when(has_comment),
        Command::new(".drafts", &["K"], "Show drafts…", |pane: &mut Self, cx| {
            if let Ok(on) = pane.drafts_on(&cx.view) {
                pane.drafts().list(&on, cx);
            }
        })
        .when(|pane, _| if pane.drafts().drafts().is_empty() { Err("there are no drafts".into()) } else { Ok(()) }),
    ];

    /// Editing the comment under the cursor or else the whole, where `e` has no other meaning.
    const EDIT: Table<Self, Self::Row> =
        &[Command::new(".edit", &["e"], Self::EDIT_TITLE, edit::<Self>).writes().when(can_edit)];

    /// Deleting the comment under the cursor.
    const DELETE: Table<Self, Self::Row> =
        &[Command::new(".delete", &["D"], "Delete comment…", delete::<Self>).writes().when(can_delete)];

    /// Threads and reactions, of objects that have them.
    const THREADS: Table<Self, Self::Row> = &[
        Command::new(".thread", &[], "Start thread…", |pane: &mut Self, cx| {
            let thread = Some(DraftThread::New { position: None, commit_id: None });
            begin(pane, CommentTarget { position: None, thread }, "", false, cx);
        })
        .writes()
        .when(|pane, view| {
            pane.can_comment(view)?;
            has_threads(pane, view)
        }),
        Command::new(".react", &["*"], "React with emoji…", |pane: &mut Self, cx| {
            if let Ok(reactions) = reactions(pane, &cx.view) {
                reactions.choose(cx);
            }
        })
        .writes()
        .when(|pane, view| {
            pane.can_comment(view)?;
            reactions(pane, view)?.check(view)
        }),
    ];

    /// Working off threads that can be resolved.
    const RESOLVE: Table<Self, Self::Row> = &[
        Command::new(".resolve", &["t"], "Resolve or reopen thread", |pane: &mut Self, cx| {
            let Some((discussion, Some(resolved))) = thread(pane, &cx.view) else { return };
            let write = pane.comments_on(&cx.view).ok().and_then(|on| on.resolve(discussion, !resolved));
            write.into_iter().for_each(|write| cx.act(Action::Send(write)));
        })
        .footer("resolve")
        .writes()
        .when(can_resolve),
        Command::new(".next_thread", &[";"], "Next unresolved thread", |pane: &mut Self, cx| {
            if !pane.step_thread(true) {
                cx.say(Tone::Info, NO_NEXT_THREAD);
            }
        })
        .when(Self::can_step),
        Command::new(".previous_thread", &[","], "Previous unresolved thread", |pane: &mut Self, cx| {
            if !pane.step_thread(false) {
                cx.say(Tone::Info, NO_PREVIOUS_THREAD);
            }
        })
        .when(Self::can_step),
    ];

    /// Returns an error unless something can be said about the object.
    fn can_comment(&self, view: &View) -> Result<(), Disabled> {
        self.comments_on(view)?;
        permission::PARTICIPATE.check(view, self.acts_in(view).as_ref(), || false)
    }
}

fn can_comment_here<P: ShowsComments>(pane: &P, view: &View) -> Result<(), Disabled> {
    pane.can_comment(view)?;
    pane.can_comment_on_lines(view).unwrap_or(Ok(()))
}

/// Opens the composer for the lines or the draft under the cursor, for a reply to the comment there, or else for the
/// whole.
fn comment_here<P: ShowsComments>(pane: &mut P, cx: &mut Cx) {
    let view = cx.view;
    if pane.can_comment_on_lines(&view).is_some() {
        return pane.comment_on_lines(cx);
    }
    match pane.target(&view) {
        Some(Target::Draft(id)) => pane.drafts().open(id, cx),
        Some(Target::Comment(_)) => reply(pane, cx),
        Some(Target::System) | None => comment(pane, cx),
    }
}

fn comment<P: ShowsComments>(pane: &mut P, cx: &mut Cx) {
    begin(pane, CommentTarget::default(), "", false, cx);
}

/// Opens the composer for the thread of the comment under the cursor, or with a quote if there are no threads.
fn reply<P: ShowsComments>(pane: &mut P, cx: &mut Cx) {
    if let Some((place, text)) = reply_target(pane, &cx.view) {
        let done = match &place.thread {
            Some(DraftThread::Reply { discussion, .. }) => {
                pane.clone_here(&cx.view).and_then(|c| answer(c, discussion))
            }
            _ => None,
        };
        begin(pane, place, &done.unwrap_or(text), true, cx);
    }
}

/// Returns the beginning of an answer to a thread: the commit of the clone that changed its lines.
pub fn answer(clone: &CloneFolder, discussion: &str) -> Option<String> {
    let (sha, title) = clone.line(discussion)?.commit.as_ref()?;
    Some(format!("Done in {}: {title}", text::head(sha, 8)))
}

/// Returns the target of a reply to the comment under the cursor, and the text that it begins with.
pub fn reply_target<P: ShowsComments>(pane: &P, view: &View) -> Option<(CommentTarget, String)> {
    let thread = thread(pane, view);
    let Some(Target::Comment(Comment { author, position, body, .. })) = pane.target(view) else { return None };
    Some(match thread {
        Some((discussion, resolved)) => {
            let resolved = resolved == Some(true);
            (CommentTarget { position, thread: Some(DraftThread::Reply { discussion, resolved }) }, String::new())
        }
        None => {
            // A reply quotes the comment, which quotes the lines already. If the position cannot be written into a
            // note, the reply is about the whole.
            let position = position.map(|position| DiffPosition { quote: Vec::new(), ..position });
            let position = position.filter(|position| position.note_header().is_some());
            (position.into(), quoted_reply(body, author))
        }
    })
}

fn begin<P: ShowsComments>(pane: &mut P, place: CommentTarget, text: &str, is_reply: bool, cx: &mut Cx) {
    let view = cx.view;
    if let Ok(on) = pane.drafts_on(&view) {
        pane.make_room(is_reply, &view);
        pane.drafts().comment(on, place, text, cx);
    }
}

/// Returns an error unless a comment is under the cursor.
pub fn has_comment<P: ShowsComments>(pane: &P, view: &View) -> Result<(), Disabled> {
    pane.can_comment(view)?;
    let comment = pane.target(view).filter(|target| matches!(target, Target::Comment(_)));
    list::need(comment, &pane.comments_on(view)?.conversation(view), "select a comment first").map(|_| ())
}

/// Returns whether the whole object is edited, because no comment is under the cursor, or why it cannot be.
fn edits_whole<P: ShowsComments>(pane: &P, view: &View) -> Option<Result<(), Disabled>> {
    let is_comment = matches!(pane.target(view), Some(Target::Draft(_) | Target::Comment(_)));
    pane.can_edit_whole(view).filter(|_| !is_comment)
}

/// Returns an error unless the user's own comment, a draft, or a comment on lines that are in the clone is under the cursor,
/// or the whole can be edited.
pub fn can_edit<P: ShowsComments>(pane: &P, view: &View) -> Result<(), Disabled> {
    if let Some(can) = edits_whole(pane, view) {
        return can;
    }
    let is_in_clone =
        matches!(pane.target(view), Some(Target::Comment(Comment { note: Some(_), position: Some(_), .. })));
    if is_in_clone && pane.clone_here(view).is_some() { pane.can_comment(view) } else { can_delete(pane, view) }
}

/// Returns an error unless the user's own comment or a draft is under the cursor.
fn can_delete<P: ShowsComments>(pane: &P, view: &View) -> Result<(), Disabled> {
    let (can, me) = (pane.can_comment(view), view.me().map(|me| me.id));
    match pane.target(view) {
        Some(Target::Draft(_)) => Ok(()),
        _ if can.is_err() => can,
        Some(Target::Comment(Comment { note: None, .. })) => Err("the comments of a commit cannot be changed".into()),
        Some(Target::Comment(comment)) if me.is_some() && comment.author.map(|author| author.id) == me => Ok(()),
        Some(Target::Comment(_)) => Err("somebody else wrote this comment".into()),
        Some(Target::System) | None => has_comment(pane, view),
    }
}

/// Opens the comment or draft under the cursor in the composer, the line of somebody else's thread in the clone, or the form
/// of the whole.
pub fn edit<P: ShowsComments>(pane: &mut P, cx: &mut Cx) {
    let view = cx.view;
    if edits_whole(pane, &view).is_some() {
        return pane.edit_whole(cx);
    }
    let me = view.me().map(|me| me.id);
    match (pane.target(&view), pane.drafts_on(&view)) {
        (Some(Target::Draft(id)), _) => pane.drafts().open(id, cx),
        // The author works off what others say about lines.
        (Some(Target::Comment(comment)), _) if comment.author.map(|author| author.id) != me => {
            cx.act(Action::EditInClone)
        }
        (Some(Target::Comment(Comment { note: Some(note), head, body, .. })), Ok(on)) => {
            pane.drafts().edit(on, note, head, body, cx);
        }
        _ => {}
    }
}

/// Deletes the comment or draft under the cursor, after a confirmation.
pub fn delete<P: ShowsComments>(pane: &mut P, cx: &mut Cx) {
    let view = cx.view;
    match (pane.target(&view), pane.comments_on(&view)) {
        (Some(Target::Draft(id)), _) => pane.drafts().confirm_delete(id, cx),
        (Some(Target::Comment(Comment { note: Some(note), body, .. })), Ok(on)) => {
            let Some(write) = on.delete(note) else { return };
            let excerpt = text::fit(body.lines().next().unwrap_or_default(), 80);
            let question = format!("Delete your comment \"{}\"? This cannot be undone.", text::sanitize(&excerpt));
            cx.act(App::confirm("Delete comment", question, Action::Send(write)));
        }
        _ => {}
    }
}

fn has_threads<P: ShowsComments>(pane: &P, view: &View) -> Result<(), Disabled> {
    if pane.comments_on(view)?.has_threads(view) { Ok(()) } else { Err("this server has no threads".into()) }
}

/// Returns the ID of the thread under the cursor and, if it is resolvable, whether it is resolved.
fn thread<P: ShowsComments>(pane: &P, view: &View) -> Option<(String, Option<bool>)> {
    let Some(Target::Comment(Comment { discussion: Some(id), .. })) = pane.target(view) else { return None };
    let notes = pane.comments_on(view).ok()?.conversation(view);
    let is_other = |note: &&Note| note.discussion_id.as_deref() != Some(id);
    // The notes of a thread follow each other.
    let of_thread = notes.iter().skip_while(is_other).take_while(|note| !is_other(note));
    Some((id.to_owned(), threads::is_resolved(of_thread)))
}

fn can_resolve<P: ShowsComments>(pane: &P, view: &View) -> Result<(), Disabled> {
    has_threads(pane, view)?;
    pane.can_comment(view)?;
    match thread(pane, view) {
        Some((id, Some(_))) => may_resolve(pane, &id, view),
        Some((_, None)) => Err("this thread cannot be resolved".into()),
        None => {
            let notes = pane.comments_on(view)?.conversation(view);
            list::need(None, &notes, "there is no thread under the cursor")
        }
    }
}

/// Returns an error if only others may resolve a thread of a merge request: developers, its author and that of the merge
/// request.
fn may_resolve<P: ShowsComments>(pane: &P, id: &str, view: &View) -> Result<(), Disabled> {
    let on = pane.comments_on(view)?;
    if !matches!(on, Noteable::MergeRequest { .. }) {
        return Ok(());
    }
    let is_own = || {
        let notes = on.conversation(view);
        let first = notes.iter().find(|note| note.discussion_id.as_deref() == Some(id));
        pane.acts_on_own(view) || view.is_me(first.and_then(|note| note.author.as_ref()).map(|author| author.id))
    };
    permission::EDIT_MERGE_REQUEST.check(view, pane.acts_in(view).as_ref(), is_own)
}

/// Returns the reactions to the note under the cursor, else to the object itself.
fn reactions<P: ShowsComments>(pane: &P, view: &View) -> Result<Reactions, Disabled> {
    let on = pane.comments_on(view)?;
    match pane.target(view) {
        None => Ok(Reactions::to(on, None)),
        Some(Target::Comment(Comment { note: Some(note), .. })) => Ok(Reactions::to(on, Some(note))),
        Some(Target::Comment(_)) => Err("comments of a commit have no reactions".into()),
        Some(Target::Draft(_)) => Err("this draft has not been sent yet".into()),
        Some(Target::System) => Err("system notes cannot have reactions".into()),
    }
}
