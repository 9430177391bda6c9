//! Commits of a ref or a path, newest first; on a wide screen beside what the selected one changed.

use super::commit_view::CommitView;
use super::list::{Listing, age};
use super::project;
use super::refs::Refs;
use crate::api::Id;
use crate::api::commits::{Commit, ListCommits};
use crate::app::action::Action;
use crate::app::command::{Command, Motion, WhyNot};
use crate::app::overlay::prompt::Prompt;
use crate::app::pane::{Crumb, Cx, Needs, Pane, Pointer, Seek, View};
use crate::app::place::Place;
use crate::store::{Load, Rows, Want};
use crate::ui::panels::{self, Ask, Panels};
use crate::ui::table::{self, Cell, Column, Row, Size};
use crate::ui::theme::Role;
use crate::ui::{glyph, state, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

const LIST: usize = 0;
const BESIDE: usize = 1;
const ASKS: &[Ask] = &[Ask { min: 46, weight: 1 }, Ask { min: 50, weight: 1 }];
/// How long the selection rests before what it changed is asked for.
const REST: Duration = Duration::from_millis(150);
/// Rows among which a filter looks; the crumbs say so where there are more.
const FILTERED: usize = 5_000;

/// The log.
pub struct Commits {
    project: Id,
    git_ref: Option<String>,
    path: Option<String>,
    list: Listing,
    filter: String,
    /// Rows that fit the filter, and what they were found in; `None` while nothing is filtered.
    fitting: Option<(u64, Vec<usize>)>,
    panels: Panels,
    beside: Option<CommitView>,
}

impl Commits {
    fn query(&self) -> ListCommits {
        ListCommits {
            id: self.project.clone(),
            ref_name: self.git_ref.clone(),
            path: self.path.clone(),
            ..ListCommits::default()
        }
    }

    fn rows<'a>(&self, view: &View<'a>) -> Rows<'a, Commit> {
        view.store.list(&self.query())
    }

    fn is_wide(view: &View) -> bool {
        view.size.0 >= panels::TWO
    }

    fn len(&self, view: &View) -> usize {
        self.fitting.as_ref().map_or_else(|| self.rows(view).len(), |(_, rows)| rows.len())
    }

    /// The commit at a row of the screen.
    fn at<'a>(&self, rows: &Rows<'a, Commit>, index: usize) -> Option<&'a Commit> {
        match &self.fitting {
            Some((_, fitting)) => rows.get(*fitting.get(index)?),
            None => rows.get(index),
        }
    }

    fn current<'a>(&self, view: &View<'a>) -> Option<&'a Commit> {
        self.at(&self.rows(view), self.list.state.selected())
    }

    fn has_commit(&self, view: &View) -> Result<(), WhyNot> {
        self.current(view).map(|_| ()).ok_or_else(|| "no commit is selected".into())
    }

    fn enter(&mut self, cx: &mut Cx) {
        if self.panels.focus() == BESIDE
            && let Some(beside) = &mut self.beside
        {
            return beside.changes.enter();
        }
        if let Some(commit) = self.current(&cx.view) {
            cx.go(Place::new("commit").project(self.project.clone()).item(&commit.id));
        }
    }

    fn files(&mut self, cx: &mut Cx) {
        if let Some(commit) = self.current(&cx.view) {
            let mut place = Place::new("files").project(self.project.clone()).at(commit.id.as_str());
            place.path = self.path.clone();
            cx.go(place);
        }
    }

    fn narrow(&mut self, view: &View) {
        let rows = self.rows(view);
        if self.filter.is_empty() {
            self.fitting = None;
            return;
        }
        if self.fitting.as_ref().is_some_and(|(revision, _)| *revision == rows.revision) {
            return;
        }
        let words = self.filter.to_lowercase();
        let fits = |c: &Commit| {
            c.title.to_lowercase().contains(&words)
                || c.author_name.to_lowercase().contains(&words)
                || c.id.starts_with(&words)
        };
        let fitting = rows.iter().take(FILTERED).enumerate().filter(|(_, c)| fits(c)).map(|(i, _)| i).collect();
        self.fitting = Some((rows.revision, fitting));
    }

    fn draw_list(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let focused = self.panels.focus() == LIST;
        let rows = self.rows(view);
        if let Some((_, fitting)) = &self.fitting
            && rows.known
        {
            self.list.drawn_at(area);
            if fitting.is_empty() {
                let hint = if rows.more {
                    "Only the commits read so far are filtered; / changes it, Esc ends it"
                } else {
                    "/ changes it, Esc ends it"
                };
                return state::empty(buf, area, view.theme, "No commit fits the filter.", hint);
            }
            return table::draw(buf, area, view.theme, focused, &self.list.state, COLUMNS, fitting.len(), |index| {
                self.at(&rows, index).map(|c| row(view, c)).unwrap_or_default()
            });
        }
        let empty = match &self.path {
            Some(_) => ("No commit changed this path.", "R chooses another ref, p another path"),
            None => ("There are no commits yet.", "R chooses another ref"),
        };
        self.list.draw(view, area, buf, focused, &rows, COLUMNS, |c| row(view, c), empty);
    }
}

const COLUMNS: &[Column] = &[
    Column::new("", Size::Fixed(8)).priority(2),
    Column::new("", Size::Fill { min: 34, weight: 1 }),
    Column::new("", Size::Fit { min: 4, max: 16 }).priority(3),
    Column::new("", Size::Fixed(4)).right().priority(1),
];

fn row(view: &View, commit: &Commit) -> Row {
    let title = if commit.is_merge() {
        Cell::from((format!("{} ", glyph::arrow()), Role::Dim)).and(commit.title.clone(), Role::Text)
    } else {
        Cell::from((commit.title.clone(), Role::Text))
    };
    Row::new(vec![
        Cell::from((text::head(commit.short(), 8), Role::Ref)),
        title,
        Cell::from((commit.author_name.clone(), Role::User)),
        Cell::from((age(view, commit.when()), Role::Dim)),
    ])
}

impl Pane for Commits {
    const ID: &'static str = "commits";
    const TITLE: &'static str = "Commits of a ref or a path";
    const NEEDS: Needs = Needs::Project;
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("commits.open", &["Enter"], "Open the commit", Self::enter).footer("open").when(Self::has_commit),
        Command::new("commits.files", &["F"], "Files as they were then", Self::files)
            .footer("files")
            .when(Self::has_commit),
        Command::new("commits.ref", &["R"], "Another branch or tag", |pane: &mut Self, cx| {
            cx.act(Refs::pick("Commits of", "ref", &pane.project, &cx.view));
        })
        .footer("ref"),
        Command::new("commits.path", &["p"], "Only those that changed a path", |pane: &mut Self, cx| {
            let path = pane.path.clone().unwrap_or_default();
            cx.act(Action::Open(Box::new(Prompt::ask("path", "path", path))));
        })
        .footer("path"),
        Command::new("commits.branch", &["+"], "New branch from this commit", |_: &mut Self, cx| {
            cx.act(Action::Open(Box::new(Prompt::ask("new branch", "branch", ""))));
        })
        .writes()
        .when(Self::has_commit),
    ];

    fn open(place: &Place, _view: &View) -> Self {
        Commits {
            project: place.project.clone().unwrap_or_default(),
            git_ref: place.git_ref.clone(),
            path: place.path.clone().filter(|p| !p.is_empty()),
            list: Listing::default(),
            filter: String::new(),
            fitting: None,
            panels: Panels::new(2),
            beside: None,
        }
    }

    fn place(&self) -> Place {
        let mut place = Place::new(Self::ID).project(self.project.clone());
        (place.git_ref, place.path) = (self.git_ref.clone(), self.path.clone());
        place
    }

    fn crumbs(&self, view: &View) -> Vec<Crumb> {
        let mut crumbs = project::crumbs_at(view, &self.project, self.git_ref.as_deref());
        crumbs.push(Crumb::new("commits", Role::Dim));
        crumbs.extend(self.path.as_ref().map(|p| Crumb::new(p.as_str(), Role::Title)));
        if !self.filter.is_empty() {
            crumbs.push(Crumb::new(format!("/{}", self.filter), Role::Match));
        }
        let rows = self.rows(view);
        if rows.known {
            let more = if rows.more { "+" } else { "" };
            let known = format!("{}{more}", text::count(rows.len() as u64));
            let count = match &self.fitting {
                Some((_, fitting)) => format!("{} of {known}", text::count(fitting.len() as u64)),
                None => known,
            };
            crumbs.push(Crumb::new(count, Role::Dim));
        }
        crumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants = vec![project::want(&self.project), Load::list(&self.query(), self.list.pages()).into()];
        if let Some(beside) = self.beside.as_ref().filter(|_| Self::is_wide(view)) {
            wants.extend(beside.wants(view));
        }
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        // Where it is not drawn, nothing of it can be pressed.
        self.list.drawn_at(Rect::default());
        // A narrow screen has the list alone: the commit has a place of its own.
        if !Self::is_wide(view) {
            return self.draw_list(view, area, buf);
        }
        let places = self.panels.layout(area, ASKS);
        if let Some(area) = places.get(LIST).copied().flatten() {
            self.draw_list(view, area, buf);
        }
        if let (Some(area), Some(beside)) = (places.get(BESIDE).copied().flatten(), &self.beside) {
            let rest = beside.draw_head(view, area, buf, usize::from(area.height / 5));
            beside.draw_changes(view, rest, buf);
        }
        self.panels.rules(buf, view.theme);
    }

    fn changed(&mut self, cx: &mut Cx) {
        let view = &cx.view;
        self.narrow(view);
        let rows = self.rows(view);
        match &self.fitting {
            Some((_, fitting)) => {
                let key = |i: usize| fitting.get(i).and_then(|i| rows.get(*i)).map(|c| c.id.clone());
                self.list.state.sync(fitting.len(), |i| key(i).unwrap_or_default());
            }
            None => self.list.sync(&rows, |commit| commit.id.clone()),
        }
        if !Self::is_wide(view) {
            self.panels.set_focus(LIST);
            return;
        }
        let selected = self.current(view).map(|c| c.id.as_str());
        if let Some(sha) = selected.filter(|sha| self.beside.as_ref().is_none_or(|b| b.sha != *sha)) {
            let mut beside = CommitView::new(&self.project, sha, REST);
            beside.changes.panels().set_focus(1);
            self.beside = Some(beside);
        }
        let aside = self.panels.focus() == LIST;
        if let Some(beside) = &mut self.beside {
            beside.changes.set_aside(aside);
            beside.sync(view);
        }
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        if self.panels.focus() == BESIDE
            && let Some(beside) = &mut self.beside
        {
            return beside.changes.motion(motion);
        }
        match motion {
            Motion::Right => self.enter(cx),
            Motion::Left => {}
            other => self.list.motion(other, self.len(&cx.view)),
        }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        if let Pointer::Press { column, row, .. } | Pointer::Wheel { column, row, .. } = pointer
            && !self.list.holds(column, row)
        {
            if let (Some(beside), true) = (&mut self.beside, Self::is_wide(&cx.view)) {
                beside.changes.pointer(pointer);
                if matches!(pointer, Pointer::Press { .. }) {
                    self.panels.set_focus(BESIDE);
                }
            }
            return;
        }
        if matches!(pointer, Pointer::Press { .. }) {
            self.panels.set_focus(LIST);
        }
        if self.list.pointer(pointer, self.len(&cx.view)) {
            self.enter(cx);
        }
    }

    fn panels(&mut self) -> Option<&mut Panels> {
        Some(&mut self.panels)
    }

    fn seek(&self) -> Option<Seek> {
        match (&self.beside, self.panels.focus()) {
            (Some(beside), BESIDE) => Some(beside.changes.seek()),
            _ => Some(Seek::Filter),
        }
    }

    fn sought(&self) -> String {
        match (&self.beside, self.panels.focus()) {
            (Some(beside), BESIDE) => beside.changes.sought(),
            _ => self.filter.clone(),
        }
    }

    fn set_sought(&mut self, text: &str, cx: &mut Cx) {
        if self.panels.focus() == BESIDE
            && let Some(beside) = &mut self.beside
        {
            let input = beside.input();
            return beside.changes.set_sought(text, input.as_ref());
        }
        if self.filter != text {
            // Without a filter, the list goes on where one was.
            let here = self.current(&cx.view).map(|c| c.id.clone()).filter(|_| text.is_empty());
            self.filter = text.to_owned();
            self.fitting = None;
            self.list.state.first();
            self.narrow(&cx.view);
            if let Some(id) = here {
                self.list.state.want(id);
            }
        }
    }

    fn seek_next(&mut self, forward: bool, cx: &mut Cx) {
        match (&mut self.beside, self.panels.focus()) {
            (Some(beside), BESIDE) => beside.changes.seek_next(forward),
            _ => self.list.motion(if forward { Motion::Down } else { Motion::Up }, self.len(&cx.view)),
        }
    }

    fn answer(&mut self, tag: &'static str, value: String, cx: &mut Cx) {
        match tag {
            "ref" => {
                self.git_ref = Some(value);
                self.list.restart();
                self.fitting = None;
            }
            "path" => {
                self.path = Some(value.trim_matches('/').to_owned()).filter(|p| !p.is_empty());
                self.list.restart();
                self.fitting = None;
            }
            "branch" => {
                if let Some(commit) = self.current(&cx.view) {
                    super::refs::create_branch(&self.project, value.trim(), &commit.id, cx);
                }
            }
            _ => {}
        }
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        if !Pane::sought(self).is_empty() {
            self.set_sought("", cx);
            return true;
        }
        let beside = self.panels.focus() == BESIDE;
        self.panels.set_focus(LIST);
        beside
    }

    fn url(&self, view: &View) -> Option<String> {
        let commit = self.current(view)?;
        Some(project::page(view, &self.project, &format!("/-/commit/{}", commit.id)))
    }

    fn copies(&self, view: &View) -> Vec<(&'static str, String)> {
        let Some(commit) = self.current(view) else { return Vec::new() };
        vec![
            ("SHA", commit.id.clone()),
            ("short SHA", commit.short().to_owned()),
            ("title", commit.title.clone()),
            ("author", format!("{} <{}>", commit.author_name, commit.author_email)),
        ]
    }
}
