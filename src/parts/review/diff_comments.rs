//! Comments in a diff: updates the rows inserted into the diff, and finds the comment under the cursor.

use super::comment_images::CommentImages;
use super::threads::{CommitComments, DiffThread, ThreadComment};
use crate::api::notes::Note;
use crate::api::{Id, Noteable};
use crate::app::context::Cx;
use crate::app::outbox::DiffPosition;
use crate::app::view::View;
use crate::parts::comments::reactions::Reactions;
use crate::parts::comments::{self, Target};
use crate::parts::repository::changed_files::{Changes, CommentAnchor};
use crate::parts::review::drafts::{DraftId, Drafts};
use crate::parts::review::thread_layout::{
    DisplayState, InsetPart, LaidOutDraft, LayoutInput, RenderedThreads, ThreadLayout, text_width,
};
use crate::parts::text::links::{self, Link, TextOrigin};
use crate::store::Want;
use crate::ui::diff::{FileDiff, Side};
use ratatui::buffer::Buffer;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// The maximum number of visible notes whose reactions are loaded.
const MAX_REACTION_LOADS: usize = 16;
/// The maximum number of notes whose reactions are shown, because each one causes a new layout.
const MAX_REACTIONS: usize = 500;

/// The rows of comments in a diff.
#[derive(Default)]
pub struct DiffComments {
    /// The folds that are open, and the reactions and images that are loaded.
    pub shown: DisplayState,
    images: CommentImages,
    layout: Option<(String, Arc<ThreadLayout>)>,
    rendered: Option<Arc<RenderedThreads>>,
}

/// The comments on changes, and the commits that they refer to.
pub struct CommentedChanges {
    /// The identity of the notes and comments; it changes whenever they do.
    pub key: String,
    /// The project that links and images are relative to.
    pub project: Id,
    pub notes: Vec<Arc<Vec<Note>>>,
    pub comments: Vec<CommitComments>,
    /// The SHA of the head of the shown changes.
    pub head: String,
    /// The SHA of the head of all changes.
    pub current: String,
    /// Whether the old lines are those before all of the changes.
    pub whole: bool,
    /// The head SHAs and the numbers of the versions, as far as they are known.
    pub versions: Vec<(String, usize)>,
}

impl CommentedChanges {
    fn origin(&self) -> TextOrigin {
        TextOrigin { project: Some(self.project.clone()), ..TextOrigin::default() }
    }

    /// Returns the input of the layout of the comments in `changes`.
    fn source<'a>(
        &'a self,
        view: &View,
        changes: &'a Changes,
        drafts: &'a [LaidOutDraft],
        shown: &'a DisplayState,
    ) -> LayoutInput<'a> {
        LayoutInput {
            comments_key: &self.key,
            notes: &self.notes,
            comments: &self.comments,
            drafts,
            changes: changes.all_files_name(),
            files: changes.files(),
            head: &self.head,
            current: &self.current,
            whole: self.whole,
            complete: changes.has_all(),
            shown,
            versions: &self.versions,
            width: width(view, changes),
        }
    }
}

impl DiffComments {
    /// Returns the next computation for the rows of the comments, and the requests for their images.
    pub fn wants(&self, commented: &CommentedChanges, changes: &Changes, drafts: &Drafts, view: &View) -> Vec<Want> {
        let mut wants = commented.source(view, changes, &drafts.drafted(view), &self.shown).wants(view);
        if let Some((layout, rendered)) = self.laid_out() {
            let width = text_width(width(view, changes));
            wants.extend(self.images.wants(view, &commented.origin(), (changes, layout, rendered), width));
        }
        wants
    }

    /// Returns the shown layout of the comments, and the comments.
    fn laid_out(&self) -> Option<(&ThreadLayout, &RenderedThreads)> {
        Some((&self.layout.as_ref()?.1, self.rendered.as_ref()?))
    }

    /// Draws the images of the comments over their rows, after the diff.
    pub fn draw_images(&self, view: &View, changes: &Changes, buf: &mut Buffer) {
        if let Some((layout, rendered)) = self.laid_out() {
            self.images.draw(view, buf, (changes, layout, rendered));
        }
    }

    /// Takes a finished layout after a store update: inserts its rows into the diff, and moves the drafts whose lines
    /// moved.
    pub fn sync(&mut self, commented: &CommentedChanges, changes: &mut Changes, drafts: &mut Drafts, cx: &mut Cx) {
        let view = cx.view;
        if let (Some((_, layout)), Some(rendered)) = (&self.layout, &self.rendered) {
            let (shown, width) = ((&*changes, &**layout, &**rendered), text_width(width(&view, changes)));
            self.images.sync(&view, &commented.origin(), shown, width, &mut self.shown.illustrations);
        }
        let drafted = drafts.drafted(&view);
        let source = commented.source(&view, changes, &drafted, &self.shown);
        let key = source.lay_key(&view);
        if self.layout.as_ref().is_some_and(|(known, _)| *known == key) {
            return;
        }
        let Some(layout) = view.store.result::<Arc<ThreadLayout>>(&key).cloned() else { return };
        self.rendered = source.rendered(&view).cloned();
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        drafts.follow(&layout.moved, layout.orphaned.len(), &commented.head, cx);
        changes.set_insets(hasher.finish() | 1, || layout.insets.clone());
        self.layout = Some((key, layout));
    }

    /// Returns the IDs of the visible notes.
    fn visible_notes(&self, changes: &Changes) -> Vec<u64> {
        let Some((layout, rendered)) = self.laid_out() else { return Vec::new() };
        let note = |part: &InsetPart| match part {
            InsetPart::Comment(thread, comment) => rendered.threads.get(*thread)?.comments.get(*comment)?.note,
            InsetPart::Draft(_) => None,
        };
        let parts = changes.visible_insets().into_iter().flat_map(|inset| layout.parts(&inset.key));
        parts.filter_map(note).take(MAX_REACTION_LOADS).collect()
    }

    /// Returns the requests for the reactions to the visible notes, which are on `on`.
    pub fn reactions(&self, view: &View, changes: &Changes, on: &Noteable) -> Vec<Want> {
        let notes = self.visible_notes(changes).into_iter();
        notes.filter_map(|note| Reactions::to(on.clone(), Some(note)).want(view)).collect()
    }

    /// Updates the reactions of the visible notes after a store update.
    pub fn sync_reactions(&mut self, view: &View, changes: &Changes, on: &Noteable) {
        for note in self.visible_notes(changes) {
            let line = Reactions::to(on.clone(), Some(note)).line(view, width(view, changes).saturating_sub(4));
            if line.is_empty() {
                self.shown.reactions.remove(&note);
            } else if self.shown.reactions.len() < MAX_REACTIONS || self.shown.reactions.contains_key(&note) {
                self.shown.reactions.insert(note, line);
            }
        }
    }

    /// Returns the number of the user's threads whose lines changed since the review.
    pub fn changed_since(&self) -> usize {
        self.layout.as_ref().map_or(0, |(_, layout)| layout.changed_since.len())
    }

    /// Returns whether a thread is on an older version of the changes.
    pub fn has_outdated(&self) -> bool {
        self.layout.as_ref().is_some_and(|(_, layout)| layout.has_outdated)
    }

    /// Returns the comment or draft that the row under the cursor belongs to.
    pub fn part(&self, changes: &Changes) -> Option<&InsetPart> {
        let (inset, row) = changes.inset()?;
        self.layout.as_ref()?.1.part(&inset.key, row)
    }

    /// Returns the comment under the cursor, with its thread.
    pub fn comment(&self, changes: &Changes) -> Option<(&DiffThread, &ThreadComment)> {
        let InsetPart::Comment(thread, comment) = self.part(changes)? else { return None };
        let thread = self.rendered.as_ref()?.threads.get(*thread)?;
        Some((thread, thread.comments.get(*comment)?))
    }

    /// Returns what is under the cursor.
    pub fn target<'a>(&'a self, changes: &'a Changes) -> Option<Target<'a>> {
        if let Some(id) = self.draft(changes) {
            return Some(Target::Draft(id));
        }
        let (thread, comment) = self.comment(changes)?;
        Some(Target::Comment(comments::Comment {
            note: comment.note,
            author: comment.author.as_ref(),
            position: Some(thread.position.clone()),
            head: &comment.head,
            body: &comment.body,
            discussion: thread.discussion.as_deref(),
            suggestions: &comment.suggestions,
        }))
    }

    /// Moves to the next or the previous unresolved thread; returns `false` if there is none. Where threads cannot be
    /// resolved, it moves to the next or previous one. Threads whose lines changed since a review come first.
    pub fn next_thread(&self, forward: bool, changes: &mut Changes) -> bool {
        let changed_since = self.layout.as_ref().map(|(_, layout)| &layout.changed_since);
        if changed_since.is_some_and(|keys| changes.step_inset(forward, |key| keys.contains(key))) {
            return true;
        }
        match self.layout.as_ref().filter(|(_, layout)| layout.has_resolvable) {
            Some((_, layout)) => changes.step_inset(forward, |key| layout.unresolved.contains(key)),
            None => changes.step_inset(forward, |_| true),
        }
    }

    /// Returns the draft under the cursor.
    pub fn draft(&self, changes: &Changes) -> Option<&DraftId> {
        match self.part(changes)? {
            InsetPart::Draft(id) => Some(id),
            InsetPart::Comment(..) => None,
        }
    }

    /// Returns the links of the row under the cursor.
    pub fn links(&self, changes: &Changes) -> Vec<Link> {
        let line = changes.inset().and_then(|(inset, row)| inset.lines.get(row));
        line.map(links::of_line).unwrap_or_default()
    }

    /// Opens or closes the fold under the cursor; returns `false` if there is none.
    pub fn toggle(&mut self, changes: &Changes) -> bool {
        let Some((inset, _)) = changes.inset() else { return false };
        let folds = self.layout.as_ref().is_some_and(|(_, layout)| layout.folds.contains(&inset.key));
        if folds && !self.shown.open.remove(&inset.key) {
            self.shown.open.insert(inset.key.clone());
        }
        folds
    }

    /// Moves to the thread at a position; returns `false` if it is not in the diff.
    pub fn go_to(&self, position: &DiffPosition, changes: &mut Changes) -> bool {
        let Some((layout, rendered)) = self.laid_out() else { return false };
        let inset = layout.insets.iter().find(|inset| match layout.part(&inset.key, 0) {
            Some(InsetPart::Comment(thread, _)) => {
                rendered.threads.get(*thread).is_some_and(|thread| thread.position.has_same_end(position))
            }
            _ => false,
        });
        inset.is_some_and(|inset| changes.go_to_inset(&inset.key))
    }
}

/// Returns the position of a new comment on the anchor, at the commit `sha`, without a quote of the lines.
pub fn position_of(anchor: &CommentAnchor, sha: &str) -> DiffPosition {
    let old = anchor.side == Side::Old && anchor.lines.is_some();
    DiffPosition {
        path: if old { &anchor.old_path } else { &anchor.path }.clone(),
        sha: sha.to_owned(),
        old,
        lines: anchor.lines.as_ref().map(|lines| (*lines.start(), *lines.end())),
        removed: anchor.removed_lines.as_ref().map(|lines| (*lines.start(), *lines.end())),
        ..DiffPosition::default()
    }
}

/// Like [`position_of`], with a quote of the last lines that are `shown` at the anchor.
pub fn quoted_position_of(
    files: &[Arc<FileDiff>],
    (anchor, shown): (&CommentAnchor, &CommentAnchor),
    sha: &str,
) -> DiffPosition {
    DiffPosition {
        quote: DiffPosition::quotable_lines(&shown.trailing_lines(files, DiffPosition::MAX_QUOTED_LINES)),
        ..position_of(anchor, sha)
    }
}

/// Returns the width for the rows of comments; 0 before the diff was drawn.
pub fn width(view: &View, changes: &Changes) -> usize {
    changes.inset_width().min(usize::from(view.size.0))
}
