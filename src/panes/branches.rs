//! Branches of a project, searched by the server as one types.

use super::list::{Listing, age};
use super::{project, refs, review};
use crate::api::Id;
use crate::api::branches::{Branch, DeleteBranch, DeleteMergedBranches, ListBranches, ProtectBranch, UnprotectBranch};
use crate::app::App;
use crate::app::action::Action;
use crate::app::command::{Command, Motion, WhyNot};
use crate::app::overlay::prompt::Prompt;
use crate::app::pane::{Crumb, Cx, Needs, Pane, Pointer, Seek, View};
use crate::app::place::Place;
use crate::store::{Load, Rows, Want, Write};
use crate::ui::glyph;
use crate::ui::table::{Cell, Column, Row, Size};
use crate::ui::text::shown;
use crate::ui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

/// The list of branches.
pub struct Branches {
    project: Id,
    search: String,
    list: Listing,
}

impl Branches {
    fn query(&self) -> ListBranches {
        ListBranches { id: self.project.clone(), search: Some(self.search.clone()).filter(|s| !s.is_empty()) }
    }

    fn rows<'a>(&self, view: &View<'a>) -> Rows<'a, Branch> {
        view.store.list(&self.query())
    }

    fn current<'a>(&self, view: &View<'a>) -> Option<&'a Branch> {
        self.list.selected(&self.rows(view))
    }

    fn has_branch(&self, view: &View) -> Result<(), WhyNot> {
        self.current(view).map(|_| ()).ok_or_else(|| "no branch is selected".into())
    }

    fn can_delete(&self, view: &View) -> Result<(), WhyNot> {
        match self.current(view) {
            None => Err("no branch is selected".into()),
            Some(branch) if self.is_default(view, branch) => Err("it is the default branch".into()),
            Some(branch) if branch.protected => Err("it is protected".into()),
            Some(_) => Ok(()),
        }
    }

    fn is_default(&self, view: &View, branch: &Branch) -> bool {
        branch.default.unwrap_or_else(|| project::default_branch(view, &self.project) == Some(branch.name.as_str()))
    }

    fn go(&mut self, pane: &str, cx: &mut Cx) {
        if let Some(branch) = self.current(&cx.view) {
            cx.go(Place::new(pane).project(self.project.clone()).at(branch.name.as_str()));
        }
    }

    fn delete(&mut self, cx: &mut Cx) {
        let Some(branch) = self.current(&cx.view) else { return };
        let name = branch.name.clone();
        let delete = DeleteBranch { id: self.project.clone(), branch: name.clone() };
        let held = if branch.merged {
            "Its commits are in the default branch."
        } else {
            "It is not merged: its commits may be lost."
        };
        let question = format!("Delete the branch {} of {}? {held}", shown(&name), self.project);
        let send = Action::Send(Write::new(&delete, format!("delete branch {name}")));
        cx.act(App::confirm("Delete a branch", question, send));
    }

    fn delete_merged(&mut self, cx: &mut Cx) {
        let delete = DeleteMergedBranches { id: self.project.clone() };
        let question = format!("Delete every merged branch of {} that is not protected?", self.project);
        let send = Action::Send(Write::new(&delete, "delete merged branches"));
        cx.act(App::confirm("Delete merged branches", question, send));
    }

    fn protect(&mut self, cx: &mut Cx) {
        let Some(branch) = self.current(&cx.view) else { return };
        let (id, branch, protected) = (self.project.clone(), branch.name.clone(), branch.protected);
        let write = if protected {
            let what = format!("unprotect {branch}");
            Write::new(&UnprotectBranch { id, branch }, what)
        } else {
            let what = format!("protect {branch}");
            Write::new(&ProtectBranch { id, branch, ..ProtectBranch::default() }, what)
        };
        cx.act(Action::Send(write));
    }

    fn row(&self, view: &View, branch: &Branch) -> Row {
        let default = self.is_default(view, branch);
        let commit = branch.commit.as_ref();
        let name = Cell::from((branch.name.clone(), if default { Role::Title } else { Role::Ref }));
        let mut note = Cell::empty();
        for (on, word, role) in [
            (default, "default", Role::Accent),
            (branch.protected, "protected", Role::Warning),
            (branch.merged && !default, "merged", Role::Dim),
        ] {
            if on {
                let gap = if note.spans.is_empty() { "" } else { " " };
                note = note.and(format!("{gap}{word}"), role);
            }
        }
        Row::new(vec![
            name,
            note,
            Cell::from((commit.map(|c| c.title.clone()).unwrap_or_default(), Role::Text)),
            Cell::from((commit.map(|c| c.author_name.clone()).unwrap_or_default(), Role::User)),
            Cell::from((commit.map(|c| c.short().to_owned()).unwrap_or_default(), Role::Dim)),
            Cell::from((age(view, commit.and_then(|c| c.when())), Role::Dim)),
        ])
    }
}

impl Pane for Branches {
    const ID: &'static str = "branches";
    const TITLE: &'static str = "Branches of a project";
    const NEEDS: Needs = Needs::Project;
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("branches.open", &["Enter"], "Browse its files", |pane: &mut Self, cx| pane.go("files", cx))
            .footer("files")
            .when(Self::has_branch),
        Command::new("branches.commits", &["H"], "Its commits", |pane: &mut Self, cx| pane.go("commits", cx))
            .footer("commits")
            .when(Self::has_branch),
        Command::new("branches.create", &["+"], "New branch from this one", |pane: &mut Self, cx| {
            if let Some(branch) = pane.current(&cx.view) {
                let label = format!("new branch from {}", shown(&branch.name));
                cx.act(Action::Open(Box::new(Prompt::ask(label, "branch", ""))));
            }
        })
        .writes()
        .footer("new")
        .when(Self::has_branch),
        Command::new("branches.delete", &["D"], "Delete it", Self::delete)
            .writes()
            .footer("delete")
            .when(Self::can_delete),
        Command::new("branches.protect", &["P"], "Protect it, or end its protection", Self::protect)
            .writes()
            .when(Self::has_branch),
        Command::new("branches.delete_merged", &["M"], "Delete all merged branches", Self::delete_merged).writes(),
        Command::new("branches.tags", &["T"], "Tags", |pane: &mut Self, cx| {
            cx.go(Place::new("tags").project(pane.project.clone()));
        }),
    ];

    fn open(place: &Place, _view: &View) -> Self {
        let project = place.project.clone().unwrap_or_default();
        let mut list = Listing::default();
        if let Some(name) = &place.git_ref {
            list.state.want(name.as_str());
        }
        Branches { project, search: String::new(), list }
    }

    fn place(&self) -> Place {
        Place::new(Self::ID).project(self.project.clone())
    }

    fn crumbs(&self, view: &View) -> Vec<Crumb> {
        let mut crumbs = project::crumbs(view, &self.project);
        crumbs.push(Crumb::new(format!("{} branches", glyph::branch()), Role::Dim));
        if !self.search.is_empty() {
            crumbs.push(Crumb::new(format!("/{}", self.search), Role::Match));
        }
        crumbs.extend(project::count(&self.rows(view)));
        crumbs
    }

    fn wants(&self, _view: &View) -> Vec<Want> {
        let delay = if self.search.is_empty() { Duration::ZERO } else { Duration::from_millis(120) };
        vec![project::want(&self.project), Load::list(&self.query(), self.list.pages()).after(delay).into()]
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let columns = [
            Column::new("", Size::Fit { min: 12, max: 40 }).middle(),
            Column::new("", Size::Fit { min: 0, max: 24 }).priority(1),
            Column::new("", Size::Fill { min: 28, weight: 1 }).priority(3),
            Column::new("", Size::Fit { min: 4, max: 16 }).priority(4),
            Column::new("", Size::Fixed(8)).priority(5),
            Column::new("", Size::Fixed(4)).right().priority(2),
        ];
        let empty = if self.search.is_empty() {
            ("There are no branches: the repository is empty.", "Push a first commit, then r looks again")
        } else {
            ("No branch fits the filter.", "/ changes it, Esc ends it")
        };
        self.list.draw(view, area, buf, true, &self.rows(view), &columns, |b| self.row(view, b), empty);
    }

    fn changed(&mut self, cx: &mut Cx) {
        let rows = self.rows(&cx.view);
        self.list.sync(&rows, |branch| branch.name.clone());
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        match motion {
            Motion::Right => self.go("files", cx),
            Motion::Left => {}
            other => self.list.motion(other, self.rows(&cx.view).len()),
        }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        if self.list.pointer(pointer, self.rows(&cx.view).len()) {
            self.go("files", cx);
        }
    }

    fn seek(&self) -> Option<Seek> {
        Some(Seek::Filter)
    }

    fn sought(&self) -> String {
        self.search.clone()
    }

    fn set_sought(&mut self, text: &str, cx: &mut Cx) {
        if self.search != text {
            // Without a filter, the list goes on where one was.
            let here = self.current(&cx.view).map(|b| b.name.clone()).filter(|_| text.is_empty());
            self.search = text.to_owned();
            self.list.restart_at(here);
        }
    }

    fn answer(&mut self, tag: &'static str, value: String, cx: &mut Cx) {
        if let ("branch", Some(from)) = (tag, self.current(&cx.view)) {
            let name = value.trim();
            refs::create_branch(&self.project, name, &from.name, cx);
            self.list.state.want(name);
        }
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        let filtered = !self.search.is_empty();
        self.set_sought("", cx);
        filtered
    }

    fn url(&self, view: &View) -> Option<String> {
        let branch = self.current(view)?;
        Some(project::page(view, &self.project, &format!("/-/tree/{}", project::path(&branch.name))))
    }

    fn copies(&self, view: &View) -> Vec<(&'static str, String)> {
        let Some(branch) = self.current(view) else { return Vec::new() };
        let mut copies = vec![("name", branch.name.clone())];
        copies.extend(branch.commit.as_ref().map(|c| ("SHA", c.id.clone())));
        copies.push(("checkout command", format!("git switch {}", review::operand(&branch.name))));
        copies
    }
}
