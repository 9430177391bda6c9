//! A commit: what it changed, and everything that is known of it.

use super::commit_view::{CommitView, Pieces};
use super::{list, project};
use crate::app::action::{Action, Tone};
use crate::app::command::{Command, Motion, WhyNot};
use crate::app::pane::{Crumb, Cx, Needs, Pane, Pointer, Seek, Tabs, View};
use crate::app::place::Place;
use crate::store::{Load, Want};
use crate::ui::doc::{self, DocLine, DocState};
use crate::ui::panels::Panels;
use crate::ui::state;
use crate::ui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::Cell;
use std::time::Duration;

const CHANGES: usize = 0;
const DETAILS: usize = 1;
const TITLES: &[&str] = &["Changes", "Details"];
/// Lines of the message above the changes.
const BODY: usize = 5;

/// One commit.
pub struct CommitPane {
    shown: CommitView,
    tab: usize,
    scroll: DocState,
    lines: Vec<(Pieces, Option<Place>)>,
    area: Cell<Rect>,
}

impl CommitPane {
    fn enter(&mut self, cx: &mut Cx) {
        if self.tab == CHANGES {
            return self.shown.changes.enter();
        }
        let at = self.scroll.at(self.lines.len());
        match self.lines.get(at).and_then(|(_, place)| place.clone()) {
            Some(place) => cx.go(place),
            None => cx.say(Tone::Info, "Parents, refs and the pipeline can be opened."),
        }
    }

    fn has_changes(&self, _view: &View) -> Result<(), WhyNot> {
        if self.tab == CHANGES { Ok(()) } else { Err("the changes are not shown".into()) }
    }

    fn file(&mut self, cx: &mut Cx) {
        let Some(spot) = self.shown.changes.spot() else { return };
        let mut place = Place::new("files").project(self.shown.project.clone()).at(self.sha(&cx.view)).path(spot.path);
        place.line = spot.line;
        cx.go(place);
    }

    fn sha(&self, view: &View) -> String {
        self.shown.commit(view).value.map_or_else(|| self.shown.sha.clone(), |c| c.id.clone())
    }
}

impl Pane for CommitPane {
    const ID: &'static str = "commit";
    const TITLE: &'static str = "A commit";
    const NEEDS: Needs = Needs::Item;
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("commit.open", &["Enter"], "Open the diff of the file, or what the line names", Self::enter)
            .footer("open"),
        Command::new("commit.next_file", &["]"], "Next file", |pane: &mut Self, _| pane.shown.changes.turn_file(true))
            .footer("next file")
            .when(Self::has_changes),
        Command::new("commit.previous_file", &["["], "Previous file", |pane: &mut Self, _| {
            pane.shown.changes.turn_file(false);
        })
        .when(Self::has_changes),
        Command::new("commit.next_hunk", &["}"], "Next hunk", |pane: &mut Self, _| pane.shown.changes.turn_hunk(true))
            .footer("next hunk")
            .when(Self::has_changes),
        Command::new("commit.previous_hunk", &["{"], "Previous hunk", |pane: &mut Self, _| {
            pane.shown.changes.turn_hunk(false);
        })
        .when(Self::has_changes),
        Command::new("commit.fold", &["-"], "Fold or unfold the file", |pane: &mut Self, _| pane.shown.changes.fold())
            .when(Self::has_changes),
        Command::new("commit.file", &["f"], "The file as it was then", Self::file).footer("file").when(|pane, view| {
            pane.has_changes(view)?;
            pane.shown.changes.spot().map(|_| ()).ok_or_else(|| "no file is selected".into())
        }),
        Command::new("commit.files", &["F"], "All files as they were then", |pane: &mut Self, cx| {
            let sha = pane.sha(&cx.view);
            cx.go(Place::new("files").project(pane.shown.project.clone()).at(sha));
        }),
        Command::new("commit.parent", &["p"], "Its parent", |pane: &mut Self, cx| {
            let parent = pane.shown.commit(&cx.view).value.and_then(|c| c.parent_ids.first().cloned());
            if let Some(parent) = parent {
                cx.act(Action::Go(Place::new("commit").project(pane.shown.project.clone()).item(parent)));
            }
        })
        .when(|pane, view| match pane.shown.commit(view).value {
            Some(commit) if commit.parent_ids.is_empty() => Err("it has no parent".into()),
            Some(_) => Ok(()),
            None => Err("it is not known yet".into()),
        }),
    ];

    fn open(place: &Place, _view: &View) -> Self {
        let project = place.project.clone().unwrap_or_default();
        let sha = place.item.clone().or_else(|| place.git_ref.clone()).unwrap_or_else(|| "HEAD".into());
        let tab = usize::from(place.tab.as_deref() == Some("details"));
        CommitPane {
            shown: CommitView::new(&project, &sha, Duration::ZERO),
            tab,
            scroll: DocState::new(),
            lines: Vec::new(),
            area: Cell::default(),
        }
    }

    fn place(&self) -> Place {
        let place = Place::new(Self::ID).project(self.shown.project.clone()).item(&self.shown.sha);
        if self.tab == DETAILS { place.tab("details") } else { place }
    }

    fn crumbs(&self, view: &View) -> Vec<Crumb> {
        let mut crumbs = project::crumbs(view, &self.shown.project);
        let short = self.shown.commit(view).value.map_or(project::short_ref(&self.shown.sha), |c| c.short());
        crumbs.push(Crumb::new("commit", Role::Dim));
        crumbs.push(Crumb::new(short, Role::Ref));
        crumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants = vec![project::want(&self.shown.project)];
        wants.extend(self.shown.wants(view));
        if self.tab == DETAILS {
            wants.push(Load::list(&self.shown.refs_query(), 1).into());
            wants.push(Load::list(&self.shown.statuses_query(), 1).into());
        }
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let commit = self.shown.commit(view);
        if let (None, Some(error)) = (commit.value, commit.error) {
            return list::failure(view, area, buf, error);
        }
        if self.tab == CHANGES {
            let body = if area.height >= 30 { BODY } else { 0 };
            let rest = self.shown.draw_head(view, area, buf, body);
            return self.shown.draw_changes(view, rest, buf);
        }
        self.area.set(area);
        if self.lines.is_empty() {
            return state::skeleton(buf, area, view.theme);
        }
        doc::draw(buf, area, view.theme, true, &self.scroll, self.lines.len(), 1, |index| {
            let pieces = self.lines.get(index).map(|(pieces, _)| pieces.as_slice()).unwrap_or_default();
            let spans = pieces.iter().map(|(words, role)| (words.as_str().into(), view.theme.style(*role))).collect();
            DocLine { spans, ..DocLine::default() }
        });
    }

    fn changed(&mut self, cx: &mut Cx) {
        self.shown.sync(&cx.view);
        if self.tab == DETAILS {
            self.lines = self.shown.details(&cx.view, usize::from(cx.view.size.0).saturating_sub(4));
        }
    }

    fn motion(&mut self, motion: Motion, _cx: &mut Cx) {
        if self.tab == CHANGES {
            return self.shown.changes.motion(motion);
        }
        let len = self.lines.len();
        match motion {
            Motion::Wheel(rows) => self.scroll.scroll_by(rows.into(), len),
            Motion::First => self.scroll.first(),
            Motion::Last => self.scroll.last(len),
            Motion::Left => self.scroll.left_by(-(doc::SIDEWAYS as isize)),
            Motion::Right => self.scroll.left_by(doc::SIDEWAYS as isize),
            other => {
                if let Some(rows) = other.rows(self.scroll.height.get()) {
                    self.scroll.move_by(rows, len);
                }
            }
        }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        if self.tab == CHANGES {
            return self.shown.changes.pointer(pointer);
        }
        let len = self.lines.len();
        match pointer {
            Pointer::Wheel { rows, .. } => self.scroll.scroll_by(rows.into(), len),
            Pointer::Press { row, double, .. } => {
                if let Some(line) = row.checked_sub(self.area.get().y).and_then(|y| self.scroll.line_at(y, len)) {
                    self.scroll.goto(line, len);
                    if double {
                        self.enter(cx);
                    }
                }
            }
            Pointer::Drag { .. } | Pointer::Release => {}
        }
    }

    fn panels(&mut self) -> Option<&mut Panels> {
        (self.tab == CHANGES).then(|| self.shown.changes.panels())
    }

    fn tabs(&self) -> Tabs {
        Tabs { titles: TITLES, selected: self.tab }
    }

    fn select_tab(&mut self, index: usize, _cx: &mut Cx) {
        self.tab = index;
    }

    fn seek(&self) -> Option<Seek> {
        (self.tab == CHANGES).then(|| self.shown.changes.seek())
    }

    fn sought(&self) -> String {
        self.shown.changes.sought()
    }

    fn set_sought(&mut self, text: &str, _cx: &mut Cx) {
        let input = self.shown.input();
        self.shown.changes.set_sought(text, input.as_ref());
    }

    fn seek_next(&mut self, forward: bool, _cx: &mut Cx) {
        self.shown.changes.seek_next(forward);
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        let input = self.shown.input();
        self.tab == CHANGES && self.shown.changes.escape(&cx.view, input.as_ref())
    }

    fn url(&self, view: &View) -> Option<String> {
        Some(self.shown.url(view))
    }

    fn copies(&self, view: &View) -> Vec<(&'static str, String)> {
        self.shown.copies(view)
    }
}
