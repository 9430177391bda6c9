//! The changes of a merge request with the comments on their lines.

mod inline_comments;
mod line_reports;
mod new_comments;
mod scope;
mod since_review;
pub mod versions;

use super::Mr;
use super::reads::MergeRequestReads;
use crate::api::merge_requests::MergeRequest;
use crate::app::clip::Clip;
use crate::app::context::Cx;
use crate::app::outbox::DiffPosition;
use crate::app::pane::{CodeHere, Pane};
use crate::app::place::Place;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::comments::Target;
use crate::parts::repository::changed_files::{Changes, FileLocation};
use crate::parts::repository::commit_view::{draw_above, message_lines};
use crate::parts::review::diff_comments::DiffComments;
use crate::parts::review::drafts::Drafts;
use crate::parts::secondary;
use crate::parts::text::links;
use crate::store::Want;
use crate::ui::diff::FileDiff;
use crate::ui::line::Line;
use crate::ui::text::sanitize;
use crate::ui::theme::Role;
use line_reports::Reports;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use scope::{Scope, SeenHeads};
use since_review::SinceComparison;

pub use since_review::Ends;

/// The changes of a merge request.
pub struct ChangesTab {
    reads: MergeRequestReads,
    pub changes: Changes,
    scope: Scope,
    seen: SeenHeads,
    /// The comparison with the version that was reviewed, or that of the scope.
    since: SinceComparison,
    drafts: Drafts,
    /// The comments shown within the changes.
    diff_comments: DiffComments,
    /// The pipeline's reports about the lines.
    reports: Reports,
    /// The file of the thread that was opened in the changes, until it is known whether they contain it.
    opened_path: Option<String>,
}

impl ChangesTab {
    /// Opens the changes at the file and line that the place names.
    pub fn open(place: &Place) -> ChangesTab {
        let mut changes = Changes::default();
        if let Some(path) = &place.path {
            changes.show(FileLocation { path: path.clone(), line: place.line, old: false });
        }
        ChangesTab {
            reads: MergeRequestReads::of(place),
            changes,
            scope: Scope::default(),
            seen: SeenHeads::default(),
            since: SinceComparison::default(),
            drafts: Drafts::default(),
            diff_comments: DiffComments::default(),
            reports: Reports::default(),
            opened_path: None,
        }
    }

    /// Goes to the thread at a position; if it is not shown in the changes, to its line.
    pub fn show_thread(&mut self, position: DiffPosition) {
        if !self.diff_comments.go_to(&position, &mut self.changes) {
            self.opened_path = Some(position.path.clone());
            self.changes.show(FileLocation { line: position.line(), old: position.old, path: position.path });
        }
    }

    /// Returns to the overview if the changes do not contain the file of the thread that was opened in them.
    fn leave_if_missing(&mut self, cx: &mut Cx) {
        if !self.changes.shows_all() {
            return;
        }
        let Some(path) = self.opened_path.take() else { return };
        let is_empty = self.changes.input().is_some_and(|input| input.entries.is_empty());
        let is_there = |file: &FileDiff| file.path() == path || file.source.old_path == path;
        if !is_empty && self.changes.files().iter().any(|file| is_there(file)) {
            return;
        }
        cx.act(cx.here.then(|pane: &mut Mr, _| pane.show_overview()));
        let path = sanitize(&path);
        cx.say(
            Tone::Warning,
            match self.scope {
                Scope::All => format!("{path} is no longer among the changes."),
                _ => format!("{path} is not among the shown changes; ‹mr.since› shows all."),
            },
        );
    }

    /// Returns the comment or draft under the cursor.
    pub fn target(&self) -> Option<Target<'_>> {
        self.diff_comments.target(&self.changes)
    }

    /// Goes to the next or previous unresolved thread; returns `false` if there is none.
    pub fn step_thread(&mut self, forward: bool) -> bool {
        self.diff_comments.next_thread(forward, &mut self.changes)
    }
}

impl Pane for ChangesTab {
    fn focused(&self) -> Option<&dyn Pane> {
        Some(&self.changes)
    }

    fn focused_mut(&mut self) -> Option<&mut dyn Pane> {
        Some(&mut self.changes)
    }

    fn place(&self) -> Place {
        self.reads.place().tab("changes")
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants = self.scope_wants(view);
        wants.extend(self.changes.wants(view));
        wants.extend(self.inline_wants(view));
        wants.extend(self.report_wants(view));
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let is_loaded = self.changes.input().is_some();
        let all = self.scope == Scope::All;
        let overflows = all && view.store.get(&self.reads.changes()).value.is_some_and(MergeRequest::is_overflowing);
        let words = self.scope_words(view).or_else(|| {
            let why = match is_loaded {
                true if overflows => "The server left out files: the diff is too large.",
                false if all && self.can_try_ends(view) => "The server did not send the changes.",
                _ => return None,
            };
            Some(format!("{why} {}", view.with_keys("‹mr.ends› shows the full diff.")))
        });
        let mut head: Vec<Line> = words.map(|words| Line::new(words, Role::Warning)).into_iter().collect();
        if let Some(commit) = self.shown_commit(view) {
            head.push(Line::new(commit.title.clone(), Role::Title));
            head.extend(message_lines(commit, area));
        }
        let body = draw_above(view, area, buf, head);
        let body = match is_loaded {
            true => {
                let reports = self.report_reads(view);
                secondary::draw_line(view, body, buf, &[&self.inline_reads(view)[..], &reports].concat())
            }
            false => body,
        };
        self.changes.view(view, body, buf);
        self.diff_comments.draw_images(view, &self.changes, buf);
    }

    fn enter(&mut self, cx: &mut Cx) {
        if self.changes.is_in_list() {
            return self.changes.enter();
        }
        let links = self.diff_comments.links(&self.changes);
        if let Some(id) = self.diff_comments.draft(&self.changes) {
            self.drafts.open(id, cx);
        } else if !links.is_empty() {
            links::open_comment(&links, (Some(&self.reads.project), None), cx);
        } else if !self.diff_comments.toggle(&self.changes) {
            self.changes.enter();
        }
    }

    fn changed(&mut self, cx: &mut Cx) {
        let view = cx.view;
        self.drafts.read(&self.reads.stored_noteable(&view), &view);
        self.scope_sync(cx);
        self.changes.set_input(self.input(&view));
        self.changes.sync(&view, self.scope_error(&view));
        self.take_reports(&view);
        self.leave_if_missing(cx);
        self.sync_inline(cx);
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        self.changes.escape(cx) || self.leave_scope()
    }

    fn code(&self, view: &View) -> CodeHere {
        let position = self.changes.location().map(|at| (at.path, at.line.filter(|_| !at.old)));
        CodeHere { position, ..self.changes.code(view) }
    }

    fn copies(&self, view: &View) -> Vec<Clip> {
        self.changes.copies(view)
    }
}
