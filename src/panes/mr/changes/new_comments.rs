//! New comments on lines of the changes of a merge request.

use super::ChangesTab;
use super::scope::Scope;
use super::since_review::Ends;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::outbox::{DraftThread, NoteableExt};
use crate::app::overlay::composer::rows_on_lines;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::panes::mr::Mr;
use crate::parts::programs::{Branch, ShownChanges};
use crate::parts::repository::changed_files::{CommentAnchor, ImagePoint};
use crate::parts::review::diff_comments::{position_of, quoted_position_of};
use crate::parts::review::drafts::CommentTarget;
use crate::parts::review::position::new_position;
use crate::parts::review::suggestions;
use crate::ui::text;
use serde_json::Value;

fn ask_for_point(path: &str, ImagePoint { width, height, x, y }: ImagePoint, cx: &mut Cx) {
    let label = format!("x, y in {} ({width} × {height}; empty: the whole file)", text::fit(path, 30));
    cx.ask(label, format!("{x}, {y}"), |pane: &mut Mr, typed, cx| {
        pane.changes.comment_on_point(typed.trim(), cx);
    });
}

impl ChangesTab {
    /// Returns whether a comment can be added to the lines under the cursor of the changes, or why not.
    pub fn can_comment_here(&self, view: &View) -> Result<(), Disabled> {
        self.can_comment_at(self.changes.anchor(), view)
    }

    /// Returns whether a suggestion can be made for these lines, or why not.
    pub fn can_suggest(&self, view: &View) -> Result<(), Disabled> {
        self.can_comment_at(self.changes.suggestion_anchor(), view)
    }

    fn can_comment_at(&self, anchor: Option<CommentAnchor>, view: &View) -> Result<(), Disabled> {
        let anchor = self.changes.need(anchor, "there is nothing under the cursor")?;
        let head = self.shown_head(view);
        if head.is_empty() {
            return Err("the head commit of these changes is unknown".into());
        }
        // When newer changes have arrived but are not laid out yet, the line numbers are those of the older ones.
        if !self.is_current(view) {
            return Err("the changes are still loading".into());
        }
        let position = position_of(&anchor, head);
        if position.old && !self.is_whole(view) && self.ends_of_scope(view).is_none() {
            return Err("switch to all changes (u) to comment on removed lines".into());
        }
        if position.note_header().is_none() {
            return Err("the file name contains characters that a comment cannot reference".into());
        }
        Ok(())
    }

    /// Returns the thread that a comment on these lines starts; `None` on servers without threads.
    fn new_thread(&self, anchor: &CommentAnchor, view: &View) -> Option<DraftThread> {
        if !self.reads.noteable().has_threads(view) {
            return None;
        }
        let refs = self.shown_refs(view)?;
        let position = Box::new(new_position(anchor, &refs)?);
        Some(DraftThread::New { position: Some(position), commit_id: self.shown_sha().map(str::to_owned) })
    }

    /// Returns the shown changes, for comments of a program on their lines; `about` is what it is told of the merge request.
    pub fn for_program(&self, about: Value, branch: Branch, view: &View) -> Result<ShownChanges, Disabled> {
        let head = self.shown_head(view);
        if head.is_empty() || !self.is_current(view) || !self.changes.has_all() {
            return Err("the changes are still loading".into());
        }
        if self.ends_of_scope(view).is_some() {
            return Err("only some of the changes are shown: ‹mr.since› shows all".into());
        }
        Ok(ShownChanges {
            on: self.reads.stored_noteable(view),
            head: head.to_owned(),
            refs: self.shown_refs(view).filter(|_| self.reads.noteable().has_threads(view)),
            commit_id: self.shown_sha().map(str::to_owned),
            files: self.changes.files().to_vec(),
            anchor: self.changes.anchor(),
            suggestion: self.changes.suggestion_anchor(),
            about,
            branch,
        })
    }

    /// Opens the composer for the marked lines, else for the line, file or image point under the cursor. `suggests`
    /// inserts the lines as a suggestion.
    pub fn comment_here(&mut self, suggests: bool, cx: &mut Cx) {
        let anchor = if suggests { self.changes.suggestion_anchor() } else { self.changes.anchor() };
        let Some(anchor) = anchor else { return };
        let point = self.changes.image_point().filter(|_| !suggests && self.reads.noteable().has_threads(&cx.view));
        match point {
            Some(point) => ask_for_point(&anchor.path, point, cx),
            None => self.comment_on(anchor, suggests, cx),
        }
    }

    /// Opens the composer for the typed point of an image, or for the whole image if none was typed.
    fn comment_on_point(&mut self, typed: &str, cx: &mut Cx) {
        let Some((anchor, image)) = self.changes.anchor().zip(self.changes.image_point()) else { return };
        let point = image.read(typed);
        if point.is_none() && !typed.is_empty() {
            let words = format!("The image has no such point: it is {} × {} pixels.", image.width, image.height);
            return cx.say(Tone::Warning, words);
        }
        self.comment_on(anchor.at_point(point), false, cx);
    }

    /// Returns the ends of the comparison whose changes since a review are shown.
    fn ends_of_scope(&self, view: &View) -> Option<Ends> {
        self.ends(view).filter(|_| matches!(self.scope, Scope::Since(_) | Scope::Versions { .. }))
    }

    /// Returns the anchor among all changes, if those since a review are shown. A file that has no changes now, or is shown
    /// with all of them, keeps its anchor.
    fn anchor_in_all_changes(&self, anchor: CommentAnchor, view: &View) -> CommentAnchor {
        let entries = self.ends_of_scope(view).and_then(|ends| self.entries_of(&ends.to, view));
        let all = entries.and_then(|entries| {
            let file = self.changes.current_file()?;
            let all = entries.parse_file(file.path(), file.source.is_deleted)?;
            (all.source.diff != file.source.diff).then_some(all)
        });
        match all {
            Some(all) => self.changes.anchor_in_all_changes(&anchor, &all),
            None => anchor,
        }
    }

    fn comment_on(&mut self, shown: CommentAnchor, suggests: bool, cx: &mut Cx) {
        let anchor = self.anchor_in_all_changes(shown.clone(), &cx.view);
        let position = quoted_position_of(self.changes.files(), (&anchor, &shown), self.shown_head(&cx.view));
        if suggests && (position.lines.is_none() || position.old) {
            return cx.say(Tone::Warning, "A suggestion replaces lines: mark some first.");
        }
        let above = position.lines.map_or(0, |(first, last)| last - first);
        self.changes.keep_cursor_above(rows_on_lines(cx.view.size.1));
        let on = self.reads.stored_noteable(&cx.view);
        let thread = self.new_thread(&anchor, &cx.view);
        if suggests {
            let text = shown.trailing_lines(self.changes.files(), usize::MAX);
            if text.len() != above as usize + 1 {
                let words = "Some of the marked lines are hidden: ‹mr.more› expands them.";
                return cx.say(Tone::Warning, words);
            }
            if text.iter().any(|line| line.contains(char::REPLACEMENT_CHARACTER)) {
                let words = "The lines contain bytes that are not UTF-8: a suggestion would replace them.";
                return cx.say(Tone::Warning, words);
            }
            let place = CommentTarget { position: Some(position), thread };
            self.drafts.suggest(on, place, &suggestions::block(&text, above), cx);
        } else {
            self.drafts.comment(on, CommentTarget { position: Some(position), thread }, "", cx);
        }
        self.changes.clear_selection();
    }
}
