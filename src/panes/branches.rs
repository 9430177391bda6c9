//! Branches of a project: how far they are from the default branch, what protects them, what became of them.

use crate::api::branches::{
    Branch, DeleteBranch, DeleteMergedBranches, GetBranch, ListBranches, ProtectBranch, UnprotectBranch,
};
use crate::api::commits::Commit;
use crate::api::{Endpoint, Id};
use crate::app::App;
use crate::app::action::{Action, Tone};
use crate::app::command::{Command, Disabled, Motion};
use crate::app::overlay::confirm::Confirm;
use crate::app::overlay::picker::{Item, Picker};
use crate::app::pane::{Breadcrumb, Cx, Needs, Pane, Pointer, SearchMode, View};
use crate::app::place::Place;
use crate::parts::columns::{Columns, Field};
use crate::parts::list::{Listing, age};
use crate::parts::{ahead_behind, forms, project, review};
use crate::store::{Load, Rows, Want, Write};
use crate::ui::glyph;
use crate::ui::table::{Cell, Column, Row, Size};
use crate::ui::text::shown;
use crate::ui::theme::Role;
use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Pages that are read to say which merged branches would go.
const SWEPT: u32 = 20;

const COLUMNS: Columns<Branch> = Columns {
    place: "branches",
    fields: &[
        Field::new("name", Column::new("branch", Size::Fit { min: 12, max: 40 }).middle())
            .loaded(|a, b| a.name.cmp(&b.name)),
        Field::new("state", Column::new("", Size::Fit { min: 0, max: 30 }).priority(1))
            .loaded(|a, b| (b.merged, b.protected).cmp(&(a.merged, a.protected))),
        Field::new("apart", Column::new("behind ahead", Size::Fit { min: 0, max: 17 }).priority(3)),
        Field::new("title", Column::new("last commit", Size::Fill { min: 8, weight: 1 }).priority(4))
            .loaded(|a, b| said(a, |c| &c.title).cmp(&said(b, |c| &c.title))),
        Field::new("author", Column::new("by", Size::Fit { min: 4, max: 16 }).priority(5))
            .loaded(|a, b| said(a, |c| &c.author_name).cmp(&said(b, |c| &c.author_name))),
        Field::new("SHA", Column::new("SHA", Size::Fixed(8)).priority(6)),
        Field::new("age", Column::new("when", Size::Fixed(4)).right().priority(2)).loaded(|a, b| when(a).cmp(&when(b))),
    ],
    order: None,
};

fn said(branch: &Branch, of: fn(&Commit) -> &String) -> Option<&str> {
    branch.commit.as_ref().map(|commit| of(commit).as_str())
}

fn when(branch: &Branch) -> Option<Timestamp> {
    branch.commit.as_ref()?.when()?.instant()
}

/// The list of branches.
pub struct Branches {
    project: Id,
    list: Listing,
    /// All branches are being read, to ask about those that are merged.
    sweeping: bool,
}

/// What may be done to a branch that is protected: what a picker says, and what it sends.
const PROTECTIONS: &[(&str, &str, bool, bool)] = &[
    ("Protect: maintainers alone push and merge", "", false, false),
    ("Protect: developers may merge", "merge", false, true),
    ("Protect: developers may push", "push", true, false),
    ("Protect: developers may push and merge", "push merge", true, true),
];
/// The answer that ends the protection.
const UNPROTECT: &str = "unprotect";

impl Branches {
    fn query(&self, search: &str) -> ListBranches {
        ListBranches { id: self.project.clone(), search: Some(search.to_owned()).filter(|s| !s.is_empty()) }
    }

    fn rows<'a>(&self, view: &View<'a>) -> Rows<'a, Branch> {
        view.store.list(&self.query(self.list.shown()))
    }

    fn current<'a>(&self, view: &View<'a>) -> Option<&'a Branch> {
        self.list.selected(&self.rows(view))
    }

    fn has_branch(&self, view: &View) -> Result<(), Disabled> {
        self.current(view).map(|_| ()).ok_or_else(|| "no branch is selected".into())
    }

    fn can_delete(&self, view: &View) -> Result<(), Disabled> {
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

    /// The commit at the head of the default branch, once it is known.
    fn base<'a>(&self, view: &View<'a>) -> Option<&'a str> {
        let head = view.store.get(&self.base_query(view)?).value?;
        head.commit.as_ref().map(|commit| commit.id.as_str())
    }

    fn base_query(&self, view: &View) -> Option<GetBranch> {
        let branch = project::default_branch(view, &self.project)?.to_owned();
        Some(GetBranch { id: self.project.clone(), branch })
    }

    /// What is needed to know how far the branches in sight are from the default branch.
    fn apart(&self, view: &View) -> Vec<Want> {
        let Some(query) = self.base_query(view) else { return Vec::new() };
        let Some(base) = self.base(view) else {
            // A default branch that nobody made is no reason to leave.
            let failed = view.store.error_of(&query.request()).is_some();
            return if failed { Vec::new() } else { vec![Load::one(&query).into()] };
        };
        let rows = self.rows(view);
        let top = self.list.state.top();
        let seen = (top..top + self.list.state.height()).map_while(|index| self.list.at(&rows, index));
        let tips = seen.filter_map(|branch| Some(branch.commit.as_ref()?.id.as_str())).filter(|tip| *tip != base);
        ahead_behind::wants(view, &self.project, base, tips)
    }

    fn delete_merged(&mut self, cx: &mut Cx) {
        self.sweeping = true;
        // The server deletes what is merged by now: what is asked names that, not what was merged when the list came.
        cx.act(Action::Renew(vec![Load::list(&self.query(""), SWEPT).into()]));
        cx.say(Tone::Info, "Looking for merged branches…");
    }

    /// Once all branches are known: asks about those that would go.
    fn sweep(&mut self, cx: &mut Cx) {
        let view = &{ cx.view };
        let rows = view.store.list(&self.query(""));
        if let Some(error) = rows.error.filter(|_| self.sweeping && rows.settled(SWEPT)) {
            self.sweeping = false;
            return cx.say(Tone::Bad, format!("Could not look for merged branches: {}.", error.said()));
        }
        if !self.sweeping || !rows.known || !rows.settled(SWEPT) || (rows.more && rows.pages() < SWEPT) {
            return;
        }
        self.sweeping = false;
        let merged = || rows.iter().filter(|branch| branch.merged && !self.is_default(view, branch));
        let going: Vec<String> = merged().filter(|b| !b.protected).map(|b| shown(&b.name).into_owned()).collect();
        let kept = merged().filter(|b| b.protected).count();
        let default = project::default_branch(view, &self.project).unwrap_or("the default branch");
        if going.is_empty() && !rows.more {
            let why = if kept > 0 { format!("{kept} protected") } else { "none is merged".to_owned() };
            return cx.say(Tone::Info, format!("No merged branch can be deleted: {why}."));
        }
        let count = match going.len() {
            1 => "1 branch".to_owned(),
            count => format!("{count} branches"),
        };
        let mut question = format!("Delete {count} of {} that {} holds?", self.project, shown(default));
        if kept > 0 {
            question.push_str(&format!(" {kept} protected stay."));
        }
        if rows.more {
            question.push_str(" The server also deletes merged ones that are not read yet.");
        }
        let delete = DeleteMergedBranches { id: self.project.clone() };
        let send = Action::Send(Write::new(&delete, "delete merged branches"));
        cx.act(Action::Open(Box::new(Confirm::new("Delete merged branches", question, send).naming(going))));
    }

    fn protect(&mut self, cx: &mut Cx) {
        let Some(branch) = self.current(&cx.view) else { return };
        let mut items: Vec<Item> = PROTECTIONS
            .iter()
            .map(|(words, answer, push, merge)| {
                let now =
                    branch.protected && (branch.developers_can_push, branch.developers_can_merge) == (*push, *merge);
                Item::answer(*words, *answer).note(if now { "now" } else { "" })
            })
            .collect();
        items.push(Item::answer("No protection", UNPROTECT).note(if branch.protected { "" } else { "now" }));
        let title = format!("Protection of {}", shown(&branch.name));
        cx.act(Action::Open(Box::new(Picker::new(title, "protect", items))));
    }

    fn set_protection(&mut self, answer: &str, cx: &mut Cx) {
        let Some(branch) = self.current(&cx.view) else { return };
        let (id, branch) = (self.project.clone(), branch.name.clone());
        let write = match PROTECTIONS.iter().find(|(_, word, ..)| *word == answer) {
            Some((_, _, push, merge)) => {
                let what = format!("protect {branch}");
                let (developers_can_push, developers_can_merge) = (Some(*push), Some(*merge));
                Write::new(&ProtectBranch { id, branch, developers_can_push, developers_can_merge }, what)
            }
            None => {
                let what = format!("unprotect {branch}");
                Write::new(&UnprotectBranch { id, branch }, what)
            }
        };
        cx.act(Action::Send(write));
    }

    /// The branches to compare: the marked one and the selected one, two marked ones, or the default branch and the
    /// selected one.
    fn pair(&self, view: &View) -> Option<(String, String)> {
        let current = self.current(view).map(|branch| branch.name.clone());
        let marked: Vec<&String> = self.list.state.marked().iter().collect();
        let default = project::default_branch(view, &self.project);
        match marked.as_slice() {
            [] => {
                let default = default?.to_owned();
                Some((default.clone(), current.filter(|name| *name != default)?))
            }
            [one] => Some(((*one).clone(), current.filter(|name| name != *one)?)),
            [a, b] if Some(b.as_str()) == default => Some(((*b).clone(), (*a).clone())),
            [a, b] => Some(((*a).clone(), (*b).clone())),
            _ => None,
        }
    }

    fn compare(&mut self, cx: &mut Cx) {
        if let Some((from, to)) = self.pair(&cx.view) {
            cx.go(Place::new("compare").project(self.project.clone()).item(format!("{from}...{to}")));
        }
    }

    fn row(&self, view: &View, branch: &Branch) -> Row {
        let default = self.is_default(view, branch);
        let commit = branch.commit.as_ref();
        let name = Cell::from((branch.name.clone(), if default { Role::Title } else { Role::Ref }));
        let mut note = Cell::empty();
        let may = match (branch.developers_can_push, branch.developers_can_merge) {
            (false, false) => "protected",
            (true, false) => "protected: push",
            (false, true) => "protected: merge",
            (true, true) => "protected: push, merge",
        };
        for (on, word, role) in [
            (default, "default", Role::Accent),
            (branch.protected, may, Role::Warning),
            (branch.merged && !default, "merged", Role::Dim),
        ] {
            if on {
                let gap = if note.spans.is_empty() { "" } else { " " };
                note = note.and(format!("{gap}{word}"), role);
            }
        }
        let apart = match (self.base(view), commit) {
            (Some(base), Some(commit)) if !default => ahead_behind::cell(view, &self.project, base, &commit.id),
            _ => Cell::empty(),
        };
        Row::new(vec![
            name,
            note,
            apart,
            Cell::from((commit.map(|c| c.title.clone()).unwrap_or_default(), Role::Text)),
            Cell::from((commit.map(|c| c.author_name.clone()).unwrap_or_default(), Role::User)),
            Cell::from((commit.map(|c| c.short().to_owned()).unwrap_or_default(), Role::Dim)),
            Cell::from((age(view, commit.and_then(|c| c.when())), Role::Dim)),
        ])
        .marked(self.list.state.is_marked(&branch.name))
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
        Command::new("branches.create", &["+"], "New branch from this one, or another", |pane: &mut Self, cx| {
            let default = project::default_branch(&cx.view, &pane.project).unwrap_or("HEAD");
            let from = pane.current(&cx.view).map_or(default, |branch| branch.name.as_str());
            forms::refs::create_branch(&pane.project, from).open(cx);
        })
        .writes()
        .footer("new"),
        Command::new("branches.mr", &["m"], "New merge request of it", |pane: &mut Self, cx| {
            if let Some(branch) = pane.current(&cx.view) {
                forms::merge_request::create(&pane.project, Some(&branch.name), None, &cx.view).open(cx);
            }
        })
        .writes()
        .when(|pane, view| match pane.current(view) {
            Some(branch) if pane.is_default(view, branch) => Err("it is the default branch".into()),
            Some(_) => Ok(()),
            None => Err("no branch is selected".into()),
        }),
        Command::new("branches.delete", &["D"], "Delete it", Self::delete)
            .writes()
            .footer("delete")
            .when(Self::can_delete),
        Command::new("branches.mark", &["Space"], "Mark it", |pane: &mut Self, cx| {
            if let Some(branch) = pane.current(&cx.view) {
                pane.list.state.toggle_mark(branch.name.as_str());
            }
            pane.list.motion(Motion::Down, pane.list.len(&pane.rows(&cx.view)));
        })
        .when(Self::has_branch),
        Command::new("branches.compare", &["="], "Compare: two marked ones, or it with the default one", Self::compare)
            .footer("compare")
            .when(|pane, view| match pane.pair(view) {
                Some(_) => Ok(()),
                None if pane.list.state.marked().len() > 2 => Err("more than two are marked".into()),
                None => Err("mark another one with Space".into()),
            }),
        Command::new("branches.protect", &["P"], "Protect it, or end its protection", Self::protect)
            .writes()
            .when(Self::has_branch),
        Command::new("branches.delete_merged", &["M"], "Delete all merged branches", Self::delete_merged).writes(),
        Command::new("branches.columns", &["|"], "Choose columns, and what sorts", |_: &mut Self, cx| COLUMNS.open(cx)),
        Command::new("branches.tags", &["T"], "Tags", |pane: &mut Self, cx| {
            cx.go(Place::new("tags").project(pane.project.clone()));
        }),
    ];

    fn open(place: &Place, _view: &View) -> Self {
        let project = place.project.clone().unwrap_or_default();
        let mut list = Listing::default();
        if let Some(name) = &place.git_ref {
            list.reveal(name.as_str());
        }
        Branches { project, list, sweeping: false }
    }

    fn place(&self) -> Place {
        Place::new(Self::ID).project(self.project.clone())
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = project::breadcrumbs(view, &self.project);
        breadcrumbs.push(Breadcrumb::new(format!("{} branches", glyph::branch()), Role::Dim));
        let rows = self.rows(view);
        breadcrumbs.extend(self.list.breadcrumbs(&rows));
        breadcrumbs.extend(COLUMNS.chosen(view).breadcrumb(&rows));
        breadcrumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let load = Load::list(&self.query(self.list.filter_text()), self.list.pages()).after(self.list.rest());
        let mut wants = vec![project::want(&self.project), load.into()];
        if self.sweeping {
            wants.push(Load::list(&self.query(""), SWEPT).into());
        }
        wants.extend(self.apart(view));
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let chosen = COLUMNS.chosen(view);
        let empty = if self.list.shown().is_empty() {
            ("There are no branches: the repository is empty.", "Push a first commit, then r looks again")
        } else {
            ("No branch fits the filter.", "/ changes it, Esc ends it")
        };
        self.list.draw(
            view,
            area,
            buf,
            true,
            &self.rows(view),
            &chosen.columns(),
            |b| chosen.row(self.row(view, b)),
            empty,
        );
    }

    fn changed(&mut self, cx: &mut Cx) {
        self.list.answered(&cx.view.store.list(&self.query(self.list.filter_text())));
        let rows = self.rows(&cx.view);
        COLUMNS.chosen(&cx.view).sort(&mut self.list, &rows);
        self.list.sync(&rows, |branch| branch.name.clone());
        self.sweep(cx);
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        match motion {
            Motion::Right => self.go("files", cx),
            Motion::Left => {}
            other => self.list.motion(other, self.list.len(&self.rows(&cx.view))),
        }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        if COLUMNS.pressed(&self.list, pointer, cx) {
            return;
        }
        if self.list.pointer(pointer, self.list.len(&self.rows(&cx.view))) {
            self.go("files", cx);
        }
    }

    fn search_mode(&self) -> Option<SearchMode> {
        Some(SearchMode::Filter)
    }

    fn filter_text(&self) -> String {
        self.list.filter_text().to_owned()
    }

    fn set_filter_text(&mut self, text: &str, cx: &mut Cx) {
        let here = self.current(&cx.view).map(|b| b.name.clone());
        self.list.seek(text, here);
    }

    fn answer(&mut self, tag: &'static str, value: String, cx: &mut Cx) {
        match tag {
            "protect" => self.set_protection(&value, cx),
            forms::refs::MADE => self.list.reveal_new(value),
            _ => {}
        }
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        let here = self.current(&cx.view).map(|b| b.name.clone());
        if self.list.clear_filter(here) {
            return true;
        }
        let marked = !self.list.state.marked().is_empty();
        self.list.state.clear_marks();
        marked || std::mem::take(&mut self.sweeping)
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
