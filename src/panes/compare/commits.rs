//! The commits that only the compared ref has, as a tab of a comparison.

use crate::api::commits::Commit;
use crate::api::repository::Comparison;
use crate::api::{GitRef, Id};
use crate::app::clip::Clip;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pane::Pane;
use crate::app::place::Place;
use crate::app::pointer::Pointer;
use crate::app::view::View;
use crate::parts::commit_history::History;
use crate::parts::dates::age;
use crate::store::Want;
use crate::ui::drawn::Drawn;
use crate::ui::line::Line;
use crate::ui::table::{self, ListState, Size, TableColumn, TableRow};
use crate::ui::text;
use crate::ui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;

/// The maximum number of lanes of the graph.
const MAX_LANES: usize = 8;

const COLUMNS: &[TableColumn] = &[
    TableColumn::new("", Size::Fixed(8)).drop_order(2),
    TableColumn::new("", Size::Fit { min: 1, max: 2 * MAX_LANES as u16 + 1 }).drop_order(4),
    TableColumn::new("", Size::Fill { min: 30, weight: 1 }),
    TableColumn::new("", Size::Fit { min: 4, max: 16 }).drop_order(3),
    TableColumn::new("", Size::Fixed(4)).right().drop_order(1),
];

/// The commits of a comparison, newest first, with their graph.
pub struct CommitsTab {
    project: Id,
    /// The compared ref, so that the place of a commit can step through its history.
    to: Option<GitRef>,
    commits: Arc<Vec<Commit>>,
    /// Whether both sides are the same commit.
    is_same: bool,
    history: History,
    list: ListState,
    area: Drawn<Rect>,
}

impl CommitsTab {
    /// Creates the tab without commits.
    pub fn new(project: &Id, to: Option<&GitRef>) -> CommitsTab {
        CommitsTab {
            project: project.clone(),
            to: to.cloned(),
            commits: Arc::default(),
            is_same: false,
            history: History::default(),
            list: ListState::new(),
            area: Drawn::default(),
        }
    }

    /// Shows the commits of a comparison.
    pub fn show(&mut self, comparison: &Comparison) {
        // Servers send the oldest commit first; a log shows the newest first.
        self.commits = Arc::new(comparison.commits.iter().rev().cloned().collect());
        self.is_same = comparison.compare_same_ref;
    }

    fn current(&self) -> Option<&Commit> {
        self.commits.get(self.list.selected())
    }

    /// Forgets the clickable area, because the tab may not be drawn.
    pub fn hide(&self) {
        self.area.set(Rect::default());
    }
}

impl Pane for CommitsTab {
    fn wants(&self, _view: &View) -> Vec<Want> {
        self.history.wants().into_iter().collect()
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.area.set(area);
        if self.commits.is_empty() {
            let why = if self.is_same { "No differences." } else { "It has no commits." };
            return view.draw_empty(buf, area, why, "‹compare.swap› swaps the sides, ‹compare.ref› chooses another");
        }
        table::draw(buf, area, view.theme, true, &self.list, COLUMNS, self.commits.len(), &|index| {
            let Some(commit) = self.commits.get(index) else { return TableRow::default() };
            TableRow::new(vec![
                Line::new(text::head(commit.short(), 8), Role::Ref),
                self.history.cell(index, MAX_LANES),
                Line::new(commit.title.clone(), if commit.is_merge() { Role::Dim } else { Role::Text }),
                Line::new(commit.author_name.clone(), Role::User),
                Line::new(age(view, commit.date()), Role::Dim),
            ])
        });
    }

    fn changed(&mut self, cx: &mut Cx) {
        self.history.sync_page(&cx.view, &self.commits);
        let commits = &self.commits;
        self.list.sync(commits.len(), |index| commits.get(index).map(|c| c.id.clone()).unwrap_or_default());
    }

    fn enter(&mut self, cx: &mut Cx) {
        if let Some(commit) = self.current() {
            let place = Place::new("commit").project(self.project.clone()).item(&commit.id);
            cx.go(Place { git_ref: self.to.clone(), ..place });
        }
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        match motion {
            Motion::Right => self.enter(cx),
            Motion::Left => {}
            other => other.apply(&mut self.list, self.commits.len()),
        }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        match pointer {
            Pointer::Wheel { rows, .. } => self.motion(Motion::Wheel(rows), cx),
            Pointer::Press { column, row, double } => {
                let area = self.area.get();
                if area.contains((column, row).into())
                    && let Some(index) = self.list.row_at(row - area.y)
                {
                    self.list.select(index, self.commits.len());
                    if double {
                        self.enter(cx);
                    }
                }
            }
            Pointer::Drag { .. } | Pointer::Release => {}
        }
    }

    fn copies(&self, _view: &View) -> Vec<Clip> {
        self.current().map(|commit| Clip::line("SHA", commit.id.clone())).into_iter().collect()
    }
}
