//! Commits of a ref, of a path or of all refs, newest first, with their graph; on a wide screen beside what the selected
//! one changed.

use crate::api::Id;
use crate::api::commits::{Commit, ListCommits};
use crate::app::action::{Action, Tone};
use crate::app::command::{Command, Disabled, Motion};
use crate::app::overlay::prompt::Prompt;
use crate::app::pane::{Breadcrumb, Cx, Needs, Pane, Pointer, SearchMode, View};
use crate::app::place::Place;
use crate::app::query;
use crate::domain::commit_query::LogQuery;
use crate::parts::commit_history::History;
use crate::parts::commit_view::CommitView;
use crate::parts::list::{self, Listing, age};
use crate::parts::ref_choices::Refs;
use crate::parts::ref_labels::Labels;
use crate::parts::{cherry_pick, forms, project};
use crate::store::{Load, Rows, Want};
use crate::ui::panels::{self, PanelRequest, Panels};
use crate::ui::table::{Cell, Column, Row, Size};
use crate::ui::theme::Role;
use crate::ui::{glyph, line, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

const LIST: usize = 0;
const BESIDE: usize = 1;
const ASKS: &[PanelRequest] = &[PanelRequest { min: 46, weight: 1 }, PanelRequest { min: 50, weight: 1 }];
/// How long the selection rests before what it changed is asked for.
const REST: Duration = Duration::from_millis(150);
/// Lanes of the graph on a narrow list, and on a wide one.
const LANES: (usize, usize) = (5, 10);
/// From this many columns a list has room for [`LANES`]`.1`.
const ROOMY: u16 = 110;

/// The log.
pub struct Commits {
    project: Id,
    git_ref: Option<String>,
    path: Option<String>,
    /// Of every branch and tag.
    all: bool,
    /// What is listed, and what is typed: another one until the server has answered that.
    shown: LogQuery,
    typed: LogQuery,
    list: Listing,
    history: History,
    labels: Labels,
    panels: Panels,
    beside: Option<CommitView>,
}

impl Commits {
    fn rows<'a>(&self, view: &View<'a>) -> Rows<'a, Commit> {
        view.store.list(&self.shown.asked)
    }

    /// Takes what is typed apart.
    fn read(&mut self, view: &View) {
        let log = ListCommits {
            ref_name: self.git_ref.clone().filter(|_| !self.all),
            path: self.path.clone(),
            all: self.all.then_some(true),
            ..LogQuery::of(&self.project)
        };
        self.typed = LogQuery::read(self.list.filter_text(), log, &self.typed.asked, view);
    }

    fn is_wide(view: &View) -> bool {
        view.size.0 >= panels::TWO
    }

    fn current<'a>(&self, view: &View<'a>) -> Option<&'a Commit> {
        self.list.selected(&self.rows(view))
    }

    /// Another list of commits.
    fn turn(&mut self, view: &View) {
        self.list.restart();
        self.history = History::default();
        self.read(view);
        self.shown = self.typed.clone();
    }

    /// Returns what is listed, in words.
    fn title(&self) -> &'static str {
        if self.all { "Commits of all refs" } else { "Commits" }
    }

    /// The marked commits, or the one under the cursor, the oldest first.
    fn picks(&self, view: &View) -> cherry_pick::PickedCommits {
        let marked = self.list.state.marked();
        if marked.is_empty() {
            return self.current(view).map(cherry_pick::pick_of).into_iter().collect();
        }
        let rows = self.rows(view);
        let mut picks: cherry_pick::PickedCommits =
            rows.iter().filter(|c| marked.contains(&c.id)).map(cherry_pick::pick_of).collect();
        picks.reverse();
        picks
    }

    fn has_commit(&self, view: &View) -> Result<(), Disabled> {
        list::need(self.current(view), &self.rows(view), "no commit is selected").map(|_| ())
    }

    fn enter(&mut self, cx: &mut Cx) {
        if self.panels.focus() == BESIDE
            && let Some(beside) = &mut self.beside
        {
            return beside.changes.enter();
        }
        if let Some(commit) = self.current(&cx.view) {
            // With the list it is in, so that the ones before and after it can be gone to.
            let place = Place::new("commit").project(self.project.clone()).item(&commit.id);
            cx.go(Place { git_ref: self.git_ref.clone(), path: self.path.clone(), ..place });
        }
    }

    fn files(&mut self, cx: &mut Cx) {
        if let Some(commit) = self.current(&cx.view) {
            let mut place = Place::new("files").project(self.project.clone()).at(commit.id.as_str());
            place.path = self.path.clone();
            cx.go(place);
        }
    }

    /// The commits to compare: two that are marked, or one that is marked and the selected one.
    fn pair(&self, view: &View) -> Option<(String, String)> {
        let current = self.current(view).map(|commit| commit.id.clone());
        let marked: Vec<&String> = self.list.state.marked().iter().collect();
        let rows = self.rows(view);
        match marked.as_slice() {
            [one] => Some(((*one).clone(), current.filter(|c| c != *one)?)),
            // The older one is the one to compare from.
            [a, b] => {
                let newer = rows.iter().map(|c| &c.id).find(|id| *id == *a || *id == *b)?;
                let older = if newer == *a { b } else { a };
                Some(((*older).clone(), newer.clone()))
            }
            _ => None,
        }
    }

    fn compare(&mut self, cx: &mut Cx) {
        if let Some((from, to)) = self.pair(&cx.view) {
            cx.go(Place::new("compare").project(self.project.clone()).item(format!("{from}...{to}")));
        }
    }

    fn draw_list(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let focused = self.panels.focus() == LIST;
        let activity = self.history.activity(view, 26).map(|(line, back)| format!("{line} {back}"));
        let body = panels::title(buf, area, view.theme, focused, self.title(), &activity.unwrap_or_default());
        let mut body = body;
        if let Some(mistake) = self.typed.mistake.as_deref().filter(|_| body.height > 2) {
            body.height -= 1;
            let at = Rect { y: body.bottom(), height: 1, ..body };
            line::draw(buf, at, &[(format!(" {mistake}"), view.theme.style(Role::Warning))]);
        }
        let rows = self.rows(view);
        let empty = match &self.path {
            Some(_) => ("No commit changed this path.", "R chooses another ref, p another path"),
            None => ("There are no commits yet.", "R chooses another ref"),
        };
        let lanes = if area.width < ROOMY { LANES.0 } else { LANES.1 };
        // A graph of some of the commits would tell of lines that are not there.
        let whole = self.shown.is_whole();
        let row = |index: usize, commit: &Commit| {
            let graph = if whole { self.history.cell(index, lanes) } else { Cell::empty() };
            self.row(view, commit, graph)
        };
        self.list.draw_indexed(view, body, buf, focused, &rows, COLUMNS, row, empty);
    }

    fn row(&self, view: &View, commit: &Commit, graph: Cell) -> Row {
        let mut title = self.labels.cell(&commit.id);
        if graph.spans.is_empty() && commit.is_merge() {
            title = title.and(format!("{} ", glyph::arrow()), Role::Dim);
        }
        Row::new(vec![
            Cell::from((text::head(commit.short(), 8), Role::Ref)),
            graph,
            title.and(commit.title.clone(), if commit.is_merge() { Role::Dim } else { Role::Text }),
            Cell::from((commit.author_name.clone(), Role::User)),
            Cell::from((age(view, commit.when()), Role::Dim)),
        ])
        .marked(self.list.state.is_marked(&commit.id))
    }
}

const COLUMNS: &[Column] = &[
    Column::new("", Size::Fixed(8)).priority(2),
    Column::new("", Size::Fit { min: 1, max: 2 * LANES.1 as u16 + 1 }),
    Column::new("", Size::Fill { min: 30, weight: 1 }),
    Column::new("", Size::Fit { min: 4, max: 16 }).priority(3),
    Column::new("", Size::Fixed(4)).right().priority(1),
];

impl Pane for Commits {
    const ID: &'static str = "commits";
    const TITLE: &'static str = "Commits of a ref or a path";
    const NEEDS: Needs = Needs::Project;
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("commits.open", &["Enter"], "Open commit", Self::enter).footer("open").when(Self::has_commit),
        Command::new("commits.files", &["F"], "Browse files at commit", Self::files)
            .footer("files")
            .when(Self::has_commit),
        Command::new("commits.ref", &["R"], "Switch branch or tag…", |pane: &mut Self, cx| {
            let free = |name: &str| Action::Answer("ref", name.to_owned());
            cx.act(Refs::pick_or("Commits of", "ref", &pane.project, &cx.view, free));
        })
        .footer("ref"),
        Command::new("commits.path", &["p"], "Filter by path…", |pane: &mut Self, cx| {
            let path = pane.path.clone().unwrap_or_default();
            cx.act(Action::Open(Box::new(Prompt::ask("path", "path", path))));
        })
        .footer("path"),
        Command::new("commits.all", &["A"], "Toggle commits of all refs", |pane: &mut Self, cx| {
            pane.all = !pane.all;
            pane.turn(&cx.view);
        })
        .footer("all"),
        Command::new("commits.author", &["u"], "Filter by author", |pane: &mut Self, cx| {
            if let Some(commit) = pane.current(&cx.view) {
                let text = query::with(pane.list.filter_text(), "author", &commit.author_name);
                pane.set_filter_text(&text, cx);
            }
        })
        .when(Self::has_commit),
        Command::new("commits.mark", &["Space"], "Toggle mark", |pane: &mut Self, cx| {
            if let Some(commit) = pane.current(&cx.view) {
                pane.list.state.toggle_mark(commit.id.as_str());
            }
            pane.list.motion(Motion::Down, pane.list.len(&pane.rows(&cx.view)));
        })
        .when(Self::has_commit),
        Command::new("commits.compare", &["="], "Compare commits", Self::compare).when(|pane, view| {
            let none = "mark two commits with Space, or one beside the selected";
            list::need(pane.pair(view), &pane.rows(view), none).map(|_| ())
        }),
        Command::new("commits.pick", &["P"], "Cherry-pick commits…", |pane: &mut Self, cx| {
            cx.act(cherry_pick::ask(&pane.project, &cx.view));
        })
        .writes()
        .when(Self::has_commit),
        Command::new("commits.branch", &["+"], "Create branch…", |pane: &mut Self, cx| {
            if let Some(commit) = pane.current(&cx.view) {
                forms::refs::create_branch(&pane.project, &commit.id).open(cx);
            }
        })
        .writes()
        .when(Self::has_commit),
        Command::new("commits.tag", &["T"], "Create tag…", |pane: &mut Self, cx| {
            if let Some(commit) = pane.current(&cx.view) {
                forms::refs::create_tag(&pane.project, &commit.id).open(cx);
            }
        })
        .writes()
        .when(Self::has_commit),
    ];

    fn open(place: &Place, view: &View) -> Self {
        let project = place.project.clone().unwrap_or_default();
        let mut pane = Commits {
            git_ref: place.git_ref.clone(),
            path: place.path.clone().filter(|p| !p.is_empty()),
            all: place.tab.as_deref() == Some("all"),
            list: Listing::default(),
            history: History::default(),
            labels: Labels::new(&project),
            project,
            panels: Panels::new(2),
            beside: None,
            shown: LogQuery::default(),
            typed: LogQuery::default(),
        };
        pane.turn(view);
        pane
    }

    fn place(&self) -> Place {
        let mut place = Place::new(Self::ID).project(self.project.clone());
        (place.git_ref, place.path) = (self.git_ref.clone(), self.path.clone());
        if self.all { place.tab("all") } else { place }
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = match self.all {
            true => project::breadcrumbs(view, &self.project),
            false => project::breadcrumbs_at(view, &self.project, self.git_ref.as_deref()),
        };
        breadcrumbs.push(Breadcrumb::new("commits", Role::Dim));
        breadcrumbs.extend(self.path.as_ref().map(|p| Breadcrumb::new(p.as_str(), Role::Title)));
        breadcrumbs.extend(self.list.breadcrumbs(&self.rows(view)));
        breadcrumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants = vec![
            project::want(&self.project),
            Load::list(&self.typed.asked, self.list.pages()).after(self.list.rest()).into(),
        ];
        wants.extend(self.labels.wants());
        wants.extend(self.history.wants());
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
        if self.shown != self.typed {
            self.list.answered(&cx.view.store.list(&self.typed.asked));
            if !self.list.is_behind() {
                self.shown = self.typed.clone();
                self.history = History::default();
            }
        }
        let rows = self.rows(&cx.view);
        self.history.sync(&cx.view, &rows);
        self.labels.sync(&cx.view);
        self.list.narrow_to(&rows, &self.shown.narrows(), |commit| self.shown.fits(commit));
        if self.list.sync(&rows, |commit| commit.id.clone()) {
            cx.say(Tone::Warning, "This history was rewritten: the selected commit is gone from it.");
        }
        let view = &cx.view;
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
        let screen = Rect::new(0, 0, view.size.0, 1);
        let place = self.panels.places(screen, ASKS).get(BESIDE).copied().flatten();
        if let Some(beside) = &mut self.beside {
            beside.changes.set_aside(aside);
            beside.changes.set_width(place.unwrap_or(screen).width);
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
            other => self.list.motion(other, self.list.len(&self.rows(&cx.view))),
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
        if self.list.pointer(pointer, self.list.len(&self.rows(&cx.view))) {
            self.enter(cx);
        }
    }

    fn panels(&mut self) -> Option<&mut Panels> {
        Some(&mut self.panels)
    }

    fn search_mode(&self) -> Option<SearchMode> {
        match (&self.beside, self.panels.focus()) {
            (Some(beside), BESIDE) => Some(beside.changes.search_mode()),
            _ => Some(SearchMode::Filter),
        }
    }

    fn grammar(&self) -> Option<query::Grammar> {
        (self.panels.focus() != BESIDE).then(|| LogQuery::grammar(&self.project))
    }

    fn filter_text(&self) -> String {
        match (&self.beside, self.panels.focus()) {
            (Some(beside), BESIDE) => beside.changes.filter_text(),
            _ => self.list.filter_text().to_owned(),
        }
    }

    fn set_filter_text(&mut self, text: &str, cx: &mut Cx) {
        if self.panels.focus() == BESIDE
            && let Some(beside) = &mut self.beside
        {
            return beside.changes.set_filter_text(text);
        }
        let here = self.current(&cx.view).map(|c| c.id.clone());
        self.list.seek(text, here);
        self.read(&cx.view);
    }

    fn seek_next(&mut self, forward: bool, cx: &mut Cx) {
        match (&mut self.beside, self.panels.focus()) {
            (Some(beside), BESIDE) => beside.changes.seek_next(forward),
            _ => self.list.motion(if forward { Motion::Down } else { Motion::Up }, self.list.len(&self.rows(&cx.view))),
        }
    }

    fn answer(&mut self, tag: &'static str, value: String, cx: &mut Cx) {
        match tag {
            "ref" => {
                self.git_ref = Some(value);
                self.all = false;
                self.turn(&cx.view);
            }
            "path" => {
                self.path = Some(value.trim_matches('/').to_owned()).filter(|p| !p.is_empty());
                self.turn(&cx.view);
            }
            forms::refs::MADE => cx.say(Tone::Good, format!("{value} was made.")),
            cherry_pick::TAG => cherry_pick::confirm(&self.project, self.picks(&cx.view), &value, cx),
            _ => {}
        }
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        if !Pane::filter_text(self).is_empty() {
            self.set_filter_text("", cx);
            return true;
        }
        if self.panels.focus() == LIST && !self.list.state.marked().is_empty() {
            self.list.state.clear_marks();
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
