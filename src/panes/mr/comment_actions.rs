//! The comments of a merge request, and submitting reviews.

use super::{Mr, Tab};
use crate::api::Noteable;
use crate::api::notes::Note;
use crate::app::action::Action;
use crate::app::clone::{CloneFolder, ThreadLine};
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::outbox::{Draft, DraftState, DraftThread, NoteableExt};
use crate::app::overlay::composer::rows_on_lines;
use crate::app::overlay::confirm::Confirm;
use crate::app::pane::PaneKind;
use crate::app::permission;
use crate::app::view::View;
use crate::parts::comments::{Comment, ShowsComments, Target, answer};
use crate::parts::items::merge_requests;
use crate::parts::repository::changed_files::keys::ShowsChanges;
use crate::parts::repository::this_branch;
use crate::parts::review::draft_list::DraftList;
use crate::parts::review::drafts::Drafts;
use crate::parts::review::publish::{self, Verdicts};
use crate::parts::review::threads;
use crate::parts::{forms, list};
use crate::ui::{glyph, text};
use std::collections::HashSet;

impl ShowsComments for Mr {
    const WHOLE: &'static str = "Comment on merge request…";
    const EDIT_TITLE: &'static str = "Edit merge request or comment…";

    fn comments_on(&self, view: &View) -> Result<Noteable, Disabled> {
        self.reads.shown(view).ok_or("it has not loaded yet")?;
        Ok(self.reads.noteable())
    }

    fn drafts_on(&self, view: &View) -> Result<Noteable, Disabled> {
        Ok(self.reads.stored_noteable(view))
    }

    fn can_edit_whole(&self, view: &View) -> Option<Result<(), Disabled>> {
        let can = || permission::EDIT_MERGE_REQUEST.check(view, Some(&self.reads.project), || self.is_own(view));
        self.shown_changes().is_err().then(can)
    }

    fn edit_whole(&mut self, cx: &mut Cx) {
        forms::merge_request::edit(&self.reads.project, self.reads.iid, &cx.view).open(cx);
    }

    fn drafts(&self) -> &Drafts {
        &self.drafts
    }

    fn target<'a>(&'a self, view: &View<'a>) -> Option<Target<'a>> {
        match self.tab {
            Tab::Overview => self.overview.target(view),
            Tab::Changes => self.changes.target(),
            Tab::Commits | Tab::Pipelines => None,
        }
    }

    fn can_comment_on_lines(&self, view: &View) -> Option<Result<(), Disabled>> {
        let changes = self.shown_changes().ok()?;
        let is_on_lines = changes.changes.has_selection() || self.target(view).is_none();
        is_on_lines.then(|| changes.can_comment_here(view))
    }

    fn comment_on_lines(&mut self, cx: &mut Cx) {
        self.changes.comment_here(false, cx);
    }

    fn make_room(&mut self, is_reply: bool, view: &View) {
        if is_reply && self.tab == Tab::Changes {
            self.changes().keep_cursor_above(rows_on_lines(view.size.1));
        }
    }

    fn can_step(&self, _: &View) -> Result<(), Disabled> {
        match self.tab {
            Tab::Overview | Tab::Changes => Ok(()),
            Tab::Commits | Tab::Pipelines => Err("only on the Overview and Changes tabs".into()),
        }
    }

    fn step_thread(&mut self, forward: bool) -> bool {
        match self.tab {
            Tab::Overview => self.overview.conversation.step_thread(forward),
            Tab::Changes => self.changes.step_thread(forward),
            Tab::Commits | Tab::Pipelines => false,
        }
    }

    fn clone_here<'a>(&self, view: &View<'a>) -> Option<&'a CloneFolder> {
        let (known, branch) = self.reads.known(view).zip(this_branch::current(view).ok())?;
        let is_target = branch.project.as_str().eq_ignore_ascii_case(merge_requests::project(known, view).as_str());
        let is_here = branch.head.remote_branch == known.source_branch() && is_target != known.is_from_fork();
        view.session.clone.as_ref().filter(|_| is_here)
    }
}

impl Mr {
    /// Returns the lines that the thread under the cursor is about.
    pub(super) fn thread_line(&self, view: &View) -> Option<ThreadLine> {
        let Some(Target::Comment(Comment { position: Some(position), discussion, .. })) = self.target(view) else {
            return None;
        };
        let of_thread = |note: &&Note| note.discussion_id.as_deref() == discussion && discussion.is_some();
        let of_notes = self.reads.notes(view).iter().find(of_thread).and_then(threads::line);
        of_notes.or_else(|| {
            let lines = position.lines.filter(|_| !position.old)?;
            let discussion = discussion.unwrap_or_default().to_owned();
            Some(ThreadLine { discussion, path: position.path, sha: position.sha, lines, removed_in: None })
        })
    }

    /// Returns the unresolved threads on lines, each with its first note.
    pub(super) fn thread_lines<'a>(&self, view: &View<'a>) -> Vec<(ThreadLine, &'a Note)> {
        let mut seen = HashSet::new();
        let line = |note: &'a Note| {
            let discussion = note.discussion_id.as_ref().filter(|_| note.resolved == Some(false))?;
            let line = threads::line(note).filter(|_| seen.insert(discussion.clone()))?;
            Some((line, note))
        };
        self.reads.notes(view).iter().filter_map(line).collect()
    }

    /// Finds the threads in the clone, unless that was done for these comments.
    pub(super) fn locate_threads(&self, cx: &mut Cx) {
        let Some(clone) = self.clone_here(&cx.view) else { return };
        let key = format!("{}!{} {}", self.reads.project, self.reads.iid, self.reads.notes(&cx.view).revision);
        if clone.threads_key != key {
            let lines = self.thread_lines(&cx.view).into_iter().map(|(line, _)| line).collect();
            cx.act(Action::LocateThreads(key, lines));
        }
    }

    /// Returns the threads whose lines a pushed commit changed and that nobody has answered with it, each with its answer.
    fn answerable(&self, view: &View) -> Result<Vec<(ThreadLine, String, String)>, Disabled> {
        self.can_comment(view)?;
        let clone = self.clone_here(view).ok_or("its branch is not checked out in the clone")?;
        let head = this_branch::current(view)?.head;
        if head.tracked != head.commit {
            return Err("the branch has commits that are not pushed: ‹go.branch› pushes them".into());
        }
        let replies = |id: &str| {
            let is_reply = |draft: &Draft| matches!(&draft.thread, Some(DraftThread::Reply { discussion, .. }) if discussion == id);
            self.drafts.drafts().iter().any(|(_, draft)| is_reply(draft))
        };
        let mut all = Vec::new();
        for (thread, _) in self.thread_lines(view) {
            let Some(answer) = answer(clone, &thread.discussion) else { continue };
            let of_thread = |note: &Note| note.discussion_id.as_ref() == Some(&thread.discussion);
            let is_answered = self.reads.notes(view).iter().any(|note| of_thread(note) && note.body.contains(&answer));
            if is_answered || replies(&thread.discussion) {
                continue;
            }
            let line = clone.line(&thread.discussion);
            let change = line.map(|line| format!("{} {} {}", line.before.trim(), glyph::arrow(), line.now.trim()));
            all.push((thread, answer, change.unwrap_or_default()));
        }
        if all.is_empty() { Err("no pushed commit changed the lines of an unresolved thread".into()) } else { Ok(all) }
    }

    pub(super) fn can_answer(&self, view: &View) -> Result<(), Disabled> {
        self.answerable(view).map(|_| ())
    }

    /// Offers the answers to all threads that the last push answers, as drafts of a review.
    pub(super) fn answer_threads(&mut self, cx: &mut Cx) {
        let Ok(all) = self.answerable(&cx.view) else { return };
        let on = self.reads.stored_noteable(&cx.view);
        let named = all.iter().map(|(thread, answer, change)| {
            let (path, line) = (text::sanitize(&thread.path).into_owned(), thread.lines.1);
            format!("{path}:{line}  {}  {}", text::sanitize(change), text::sanitize(answer))
        });
        let question =
            "Answer these threads in your review, and resolve them with it? Nothing is sent before you submit it.";
        let mut key = on.new_key(cx.view.drafts, cx.view.now);
        let named = named.collect();
        let mut actions = Vec::new();
        for (ThreadLine { discussion, .. }, text, _) in all {
            let thread = Some(DraftThread::Reply { discussion, resolved: true });
            let next = key.next();
            let draft = Draft { thread, text, state: DraftState::Kept, ..Draft::new(on.clone()) };
            actions.push(Action::SaveDraft(std::mem::replace(&mut key, next), Box::new(draft)));
        }
        actions.push(Action::OpenOverlay(Box::new(DraftList::new(on))));
        cx.open(Confirm::new("Resolve threads", question.to_owned(), Action::All(actions)).naming(named));
    }

    /// Opens the list of all unresolved threads in the editor, with their lines as they are in the clone.
    pub(super) fn list_threads(&mut self, cx: &mut Cx) {
        let view = cx.view;
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let row = |(thread, note): &(ThreadLine, &Note)| {
            let here = view.session.clone.as_ref().and_then(|clone| clone.line(&thread.discussion));
            let (path, line) = here.map_or((&thread.path, thread.lines.0), |here| (&here.path, here.line));
            let author = note.author.as_ref().map_or("somebody", |author| author.username.as_str());
            let words = text::sanitize(&one_line(threads::place(note).1)).into_owned();
            (path.clone(), line, format!("{author}: {words}"))
        };
        let mut rows: Vec<_> = self.thread_lines(&view).iter().map(row).collect();
        rows.sort();
        cx.act(Action::EditList(rows));
    }

    pub(super) fn can_list_threads(&self, view: &View) -> Result<(), Disabled> {
        let clone = view.session.clone.as_ref().ok_or("not in a clone of a project on this server")?;
        let project =
            self.reads.known(view).map(|known| merge_requests::project(known, view)).ok_or("it has not loaded yet")?;
        if !clone.remotes.iter().any(|remote| remote.project.eq_ignore_ascii_case(project.as_str())) {
            return Err(format!("not in a clone of {project}").into());
        }
        let first = self.thread_lines(view).first().map(|_| ());
        list::need(first, &self.reads.notes(view), "no unresolved thread is on a line")
    }

    /// Returns whether a suggestion can be made for these lines, or why not.
    pub(super) fn can_suggest(&self, view: &View) -> Result<(), Disabled> {
        self.can_comment(view)?;
        self.shown_changes()?.can_suggest(view)
    }

    /// Asks how to submit the review.
    pub(super) fn submit_review(&mut self, cx: &mut Cx) {
        let on = self.reads.stored_noteable(&cx.view);
        let view = cx.view;
        let approve = match self.reads.has_approved(&view) {
            true => Err("you have approved it already".into()),
            false => self.can_approve(&view),
        };
        let request_changes = self.can_request_changes(&view);
        let sha = self.reads.known(&view).and_then(|known| (*known.sha).clone());
        let has_requested = self.reads.has_requested_changes(&view);
        publish::submit(&on, &self.drafts, Verdicts { approve, request_changes, sha, has_requested }, cx);
    }

    /// Returns whether there is a review to submit: comments, or a verdict on an open merge request.
    pub(super) fn can_submit_review(&self, view: &View) -> Result<(), Disabled> {
        let drafts = self.drafts.can_send(view);
        if drafts.is_ok() || view.me().is_none() || self.open_merge_request(view).is_err() { drafts } else { Ok(()) }
    }

    /// Withdraws the user's request for changes.
    pub(super) fn withdraw(&mut self, cx: &mut Cx) {
        let on = self.reads.stored_noteable(&cx.view);
        publish::withdraw(&on, cx).into_iter().for_each(|action| cx.act(action));
    }
}
