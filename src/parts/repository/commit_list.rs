//! A list of commits that are known as a whole: those of a comparison with their graph, or those of two versions of a merge
//! request with what happened to them.

use crate::api::commits::Commit;
use crate::api::{GitRef, Id};
use crate::app::clip::Clip;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pane::Pane;
use crate::app::place::Place;
use crate::app::pointer::Pointer;
use crate::app::view::View;
use crate::parts::repository::commit_history::History;
use crate::parts::text::dates::age;
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

/// Returns the columns. Marks say more than the graph, which gives way to the titles.
const fn columns(has_marks: bool) -> [TableColumn; 5] {
    let lanes = TableColumn::new("", Size::Fit { min: 1, max: 2 * MAX_LANES as u16 + 1 });
    [
        TableColumn::new("", Size::Fixed(8)).drop_order(2),
        if has_marks { TableColumn::new("", Size::Fit { min: 1, max: 16 }) } else { lanes.drop_order(4) },
        TableColumn::new("", Size::Fill { min: 30, weight: 1 }),
        TableColumn::new("", Size::Fit { min: 4, max: 16 }).drop_order(3),
        TableColumn::new("", Size::Fixed(4)).right().drop_order(1),
    ]
}

/// The mark of a commit.
#[derive(Clone, Debug, PartialEq)]
pub struct CommitMark {
    pub words: String,
    pub role: Role,
    /// Whether the commit is secondary, as if it is gone.
    pub is_dim: bool,
}

/// A list of commits, newest first.
pub struct CommitList {
    project: Id,
    /// The ref whose history the place of a commit can step through.
    to: Option<GitRef>,
    commits: Arc<Vec<Commit>>,
    /// The mark of each commit; without marks, the graph is shown.
    marks: Option<Vec<CommitMark>>,
    /// The reason why there are no commits, and what to do about it.
    pub empty: (&'static str, &'static str),
    history: History,
    list: ListState,
    area: Drawn<Rect>,
}

impl CommitList {
    /// Creates the list without commits.
    pub fn new(project: &Id, to: Option<&GitRef>) -> CommitList {
        CommitList {
            project: project.clone(),
            to: to.cloned(),
            commits: Arc::default(),
            marks: None,
            empty: Default::default(),
            history: History::default(),
            list: ListState::new(),
            area: Drawn::default(),
        }
    }

    /// Shows commits, with their graph if they have no marks.
    pub fn show(&mut self, commits: Vec<Commit>, marks: Option<Vec<CommitMark>>) {
        self.commits = Arc::new(commits);
        self.marks = marks;
    }

    /// Returns the index of the commit under the cursor.
    pub fn selected(&self) -> usize {
        self.list.selected()
    }

    pub fn current(&self) -> Option<&Commit> {
        self.commits.get(self.list.selected())
    }

    /// Forgets the clickable area, because the list may not be drawn.
    pub fn hide(&self) {
        self.area.set(Rect::default());
    }
}

impl Pane for CommitList {
    fn wants(&self, _view: &View) -> Vec<Want> {
        self.history.wants().into_iter().collect()
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.area.set(area);
        if self.commits.is_empty() {
            let (why, hint) = self.empty;
            return view.draw_empty(buf, area, why, hint);
        }
        let columns = columns(self.marks.is_some());
        table::draw(buf, area, view.theme, true, &self.list, &columns, self.commits.len(), &|index| {
            let Some(commit) = self.commits.get(index) else { return TableRow::default() };
            let mark = self.marks.as_ref().and_then(|marks| marks.get(index));
            let is_dim = mark.map_or(commit.is_merge(), |mark| mark.is_dim);
            TableRow::new(vec![
                Line::new(text::head(commit.short(), 8), Role::Ref),
                match mark {
                    Some(mark) => Line::new(mark.words.clone(), mark.role),
                    None => self.history.cell(index, MAX_LANES),
                },
                Line::new(commit.title.clone(), if is_dim { Role::Dim } else { Role::Text }),
                Line::new(commit.author_name.clone(), Role::User),
                Line::new(age(view, commit.date()), Role::Dim),
            ])
        });
    }

    fn changed(&mut self, cx: &mut Cx) {
        if self.marks.is_none() {
            self.history.sync_page(&cx.view, &self.commits);
        }
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
