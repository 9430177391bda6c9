//! Tags of a project with what they say and what they release.

use super::list::{Listing, age, trouble};
use super::project;
use crate::api::Id;
use crate::api::tags::{CreateTag, DeleteTag, ListTags, Tag};
use crate::app::App;
use crate::app::action::Action;
use crate::app::command::{Command, Motion, WhyNot};
use crate::app::overlay::prompt::Prompt;
use crate::app::pane::{Crumb, Cx, Needs, Pane, Pointer, Seek, View};
use crate::app::place::Place;
use crate::store::{Load, Rows, Want, Write};
use crate::ui::state;
use crate::ui::table::{self, Cell, Column, Row, Size};
use crate::ui::text::shown;
use crate::ui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Pages that are looked through for a filter.
const FILTERED_PAGES: u32 = 10;

/// The list of tags.
pub struct Tags {
    project: Id,
    list: Listing,
    by_name: bool,
    filter: String,
    /// The rows that fit the filter, and the revision of the list that they were found in.
    fitting: Option<(u64, Vec<usize>)>,
}

impl Tags {
    fn query(&self) -> ListTags {
        let order_by = self.by_name.then(|| "name".to_owned());
        ListTags { id: self.project.clone(), order_by, sort: None }
    }

    fn rows<'a>(&self, view: &View<'a>) -> Rows<'a, Tag> {
        view.store.list(&self.query())
    }

    /// The tag at a row of the screen.
    fn at<'a>(&self, rows: &Rows<'a, Tag>, index: usize) -> Option<&'a Tag> {
        match &self.fitting {
            Some((_, fitting)) => rows.get(*fitting.get(index)?),
            None => rows.get(index),
        }
    }

    fn current<'a>(&self, view: &View<'a>) -> Option<&'a Tag> {
        self.at(&self.rows(view), self.list.state.selected())
    }

    fn len(&self, view: &View) -> usize {
        self.fitting.as_ref().map_or_else(|| self.rows(view).len(), |(_, fitting)| fitting.len())
    }

    fn narrow(&mut self, rows: &Rows<Tag>) {
        if self.filter.is_empty() {
            self.fitting = None;
        } else if self.fitting.as_ref().is_none_or(|(revision, _)| *revision != rows.revision) {
            let words = self.filter.to_lowercase();
            let says = |text: &str| text.to_lowercase().contains(&words);
            let fits = |tag: &Tag| says(&tag.name) || tag.message.as_deref().is_some_and(says);
            let fitting = rows.iter().enumerate().filter(|(_, tag)| fits(tag)).map(|(index, _)| index).collect();
            self.fitting = Some((rows.revision, fitting));
        }
    }

    fn has_tag(&self, view: &View) -> Result<(), WhyNot> {
        self.current(view).map(|_| ()).ok_or_else(|| "no tag is selected".into())
    }

    fn go(&mut self, pane: &str, cx: &mut Cx) {
        if let Some(tag) = self.current(&cx.view) {
            cx.go(Place::new(pane).project(self.project.clone()).at(tag.name.as_str()));
        }
    }

    fn commit(&mut self, cx: &mut Cx) {
        if let Some(commit) = self.current(&cx.view).and_then(|t| t.commit.as_ref()) {
            cx.go(Place::new("commit").project(self.project.clone()).item(&commit.id));
        }
    }

    fn delete(&mut self, cx: &mut Cx) {
        let Some(tag) = self.current(&cx.view) else { return };
        let name = tag.name.clone();
        let delete = DeleteTag { id: self.project.clone(), tag_name: name.clone() };
        let released = if tag.release.is_some() { " Its release goes with it." } else { "" };
        let question = format!("Delete the tag {} of {}?{released}", shown(&name), self.project);
        let send = Action::Send(Write::new(&delete, format!("delete tag {name}")));
        cx.act(App::confirm("Delete a tag", question, send));
    }
}

fn row(view: &View, tag: &Tag) -> Row {
    let commit = tag.commit.as_ref();
    let message = tag.message.as_deref().and_then(|m| m.lines().next()).filter(|m| !m.is_empty());
    // A light tag says nothing itself: the title of its commit stands for it, quietly.
    let words = match (message, commit) {
        (Some(message), _) => Cell::from((message.to_owned(), Role::Text)),
        (None, Some(commit)) => Cell::from((commit.title.clone(), Role::Dim)),
        (None, None) => Cell::empty(),
    };
    let note = if tag.release.is_some() { "release" } else { "" };
    let made = tag.created_at.as_ref().or_else(|| commit.and_then(|c| c.when()));
    Row::new(vec![
        Cell::from((tag.name.clone(), Role::Ref)),
        Cell::from((note, Role::Success)),
        words,
        Cell::from((commit.map(|c| c.author_name.clone()).unwrap_or_default(), Role::User)),
        Cell::from((commit.map(|c| c.short().to_owned()).unwrap_or_default(), Role::Dim)),
        Cell::from((age(view, made), Role::Dim)),
    ])
}

impl Pane for Tags {
    const ID: &'static str = "tags";
    const TITLE: &'static str = "Tags of a project";
    const NEEDS: Needs = Needs::Project;
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("tags.open", &["Enter"], "Browse its files", |pane: &mut Self, cx| pane.go("files", cx))
            .footer("files")
            .when(Self::has_tag),
        Command::new("tags.commits", &["H"], "Commits up to it", |pane: &mut Self, cx| pane.go("commits", cx))
            .footer("commits")
            .when(Self::has_tag),
        Command::new("tags.commit", &["d"], "Its commit", Self::commit).footer("commit").when(Self::has_tag),
        Command::new("tags.order", &["s"], "Order by date or by name", |pane: &mut Self, _| {
            pane.by_name = !pane.by_name;
            pane.list.restart();
            pane.fitting = None;
        })
        .footer("order"),
        Command::new("tags.create", &["+"], "New tag", |_: &mut Self, cx| {
            cx.act(Action::Open(Box::new(Prompt::ask("new tag on the default branch", "tag", ""))));
        })
        .writes(),
        Command::new("tags.delete", &["D"], "Delete it", Self::delete).writes().when(Self::has_tag),
    ];

    fn open(place: &Place, _view: &View) -> Self {
        let project = place.project.clone().unwrap_or_default();
        let mut list = Listing::default();
        if let Some(name) = &place.git_ref {
            list.state.want(name.as_str());
        }
        Tags { project, list, by_name: false, filter: String::new(), fitting: None }
    }

    fn place(&self) -> Place {
        Place::new(Self::ID).project(self.project.clone())
    }

    fn crumbs(&self, view: &View) -> Vec<Crumb> {
        let mut crumbs = project::crumbs(view, &self.project);
        crumbs.push(Crumb::new(if self.by_name { "tags by name" } else { "tags" }, Role::Dim));
        if !self.filter.is_empty() {
            crumbs.push(Crumb::new(format!("/{}", self.filter), Role::Match));
        }
        crumbs.extend(project::count(&self.rows(view)));
        crumbs
    }

    fn wants(&self, _view: &View) -> Vec<Want> {
        let pages = if self.filter.is_empty() { self.list.pages() } else { self.list.pages().max(FILTERED_PAGES) };
        vec![project::want(&self.project), Load::list(&self.query(), pages).into()]
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let columns = [
            Column::new("", Size::Fit { min: 10, max: 30 }).middle(),
            Column::new("", Size::Fit { min: 0, max: 8 }).priority(1),
            Column::new("", Size::Fill { min: 28, weight: 1 }).priority(3),
            Column::new("", Size::Fit { min: 4, max: 16 }).priority(4),
            Column::new("", Size::Fixed(8)).priority(5),
            Column::new("", Size::Fixed(4)).right().priority(2),
        ];
        let rows = self.rows(view);
        if let Some((_, fitting)) = self.fitting.as_ref().filter(|_| !rows.is_empty()) {
            self.list.drawn_at(area);
            let body = trouble(view, area, buf, rows.error);
            if fitting.is_empty() {
                let why = if rows.loading { "Looking through older tags…" } else { "No tag fits the filter." };
                return state::empty(buf, body, view.theme, why, "/ changes it, Esc ends it");
            }
            return table::draw(buf, body, view.theme, true, &self.list.state, &columns, fitting.len(), |index| {
                self.at(&rows, index).map(|tag| row(view, tag)).unwrap_or_default()
            });
        }
        let empty = ("There are no tags yet.", "+ makes one");
        self.list.draw(view, area, buf, true, &rows, &columns, |t| row(view, t), empty);
    }

    fn changed(&mut self, cx: &mut Cx) {
        let rows = self.rows(&cx.view);
        self.narrow(&rows);
        match &self.fitting {
            Some((_, fitting)) => {
                let name = |index: usize| rows.get(*fitting.get(index)?).map(|tag| tag.name.clone());
                self.list.state.sync(fitting.len(), |index| name(index).unwrap_or_default());
            }
            None => self.list.sync(&rows, |tag| tag.name.clone()),
        }
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        match motion {
            Motion::Right => self.go("files", cx),
            Motion::Left => {}
            other => self.list.motion(other, self.len(&cx.view)),
        }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        if self.list.pointer(pointer, self.len(&cx.view)) {
            self.go("files", cx);
        }
    }

    fn seek(&self) -> Option<Seek> {
        Some(Seek::Filter)
    }

    fn sought(&self) -> String {
        self.filter.clone()
    }

    fn set_sought(&mut self, text: &str, cx: &mut Cx) {
        if self.filter != text {
            // Without a filter, the list goes on where one was.
            let here = self.current(&cx.view).map(|tag| tag.name.clone()).filter(|_| text.is_empty());
            self.filter = text.to_owned();
            self.fitting = None;
            self.list.restart_at(here);
            self.narrow(&self.rows(&cx.view));
        }
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        let filtered = !self.filter.is_empty();
        self.set_sought("", cx);
        filtered
    }

    fn answer(&mut self, tag: &'static str, value: String, cx: &mut Cx) {
        let name = value.trim();
        if tag == "tag" && !name.is_empty() {
            let from = project::default_branch(&cx.view, &self.project).unwrap_or("HEAD").to_owned();
            let create = CreateTag {
                id: self.project.clone(),
                tag_name: name.to_owned(),
                r#ref: from,
                message: None,
                release_description: None,
            };
            cx.act(Action::Send(Write::new(&create, format!("create tag {name}"))));
            self.list.state.want(name);
        }
    }

    fn url(&self, view: &View) -> Option<String> {
        let tag = self.current(view)?;
        Some(project::page(view, &self.project, &format!("/-/tags/{}", project::path(&tag.name))))
    }

    fn copies(&self, view: &View) -> Vec<(&'static str, String)> {
        let Some(tag) = self.current(view) else { return Vec::new() };
        let mut copies = vec![("name", tag.name.clone())];
        copies.extend(tag.commit.as_ref().map(|c| ("SHA", c.id.clone())));
        copies
    }
}
