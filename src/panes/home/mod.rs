//! The home pane: to-dos, merge requests to review and of the user, running jobs, and recent places and projects.

mod draw;
mod lines;
mod preview;
mod queries;
mod recents;

use crate::api::Host;
use crate::api::jobs::Job;
use crate::api::merge_requests::MergeRequest;
use crate::api::todos::Todo;
use crate::app::App;
use crate::app::action::Action;
use crate::app::clip::Clip;
use crate::app::clone::CloneHead;
use crate::app::command::Command;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pane::{Breadcrumb, Pane, PaneKind, SearchMode};
use crate::app::place::Place;
use crate::app::pointer::Pointer;
use crate::app::recent;
use crate::app::session::{CustomSection as Own, OtherServer};
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::ci;
use crate::parts::items::merge_request_details::{self, MergeRequestDetails, ShownDetails};
use crate::parts::items::todos;
use crate::parts::list::detail::TextDetail;
use crate::parts::repository::this_branch;
use crate::store::Want;
use crate::ui::drawn::Drawn;
use crate::ui::panels::{PanelRequest, Panels};
use crate::ui::table::ListState;
use crate::ui::theme::Role;
use crate::ui::{glyph, text};
use lines::{HomeLine, Section};
use queries::OwnQueries;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use recents::HomeRecents;
use std::collections::HashSet;

/// The inputs of the lines: the filter, whether the user is signed in, the other servers, the branch of the clone, and the
/// to-dos that were marked as done.
type Inputs = (String, bool, Vec<OtherServer>, Option<Result<CloneHead, String>>, u64);

/// The home pane.
pub struct Home {
    list: ListState,
    lines: Vec<HomeLine>,
    recents: HomeRecents,
    custom_queries: OwnQueries,
    /// The inputs that the lines were built from.
    inputs: Option<Inputs>,
    filter: String,
    /// The names that several projects in the lines have.
    ambiguous_names: HashSet<String>,
    /// Whether the user has moved the selection. Until then the first line is selected, regardless of the order in
    /// which replies arrive.
    chosen: bool,
    area: Drawn<Rect>,
    panels: Panels,
    /// The panel with the text of the selected line, the identity of that, and where it was drawn; empty on a narrow screen.
    preview: TextDetail,
    previewed: Option<String>,
    drawn_preview: Drawn<Rect>,
    /// Whether the cursor may stay on a heading, because the user went from section to section.
    on_heading: bool,
}

/// The list, and the preview of the selected line.
const PANEL_WIDTHS: &[PanelRequest] = &[PanelRequest { min: 125, weight: 5 }, PanelRequest { min: 50, weight: 3 }];

impl Home {
    /// Returns the widths of the panels. The preview gives way to the titles of the list.
    fn widths(&self, width: u16) -> Vec<PanelRequest> {
        self.panels.giving_way(width, PANEL_WIDTHS, 0, self.list.needed_width())
    }

    /// Returns whether a line is the heading of a section that has a list of its own.
    fn is_section_head(&self, view: &View, index: usize) -> bool {
        let heading = self.lines.get(index).copied().filter(|line| matches!(line, HomeLine::Heading(..)));
        heading.is_some_and(|line| self.section_place(view, line).is_some())
    }

    /// Moves the cursor to the heading of the next section that has a list of its own, or of the previous one.
    fn step_section(&mut self, forward: bool, cx: &mut Cx) {
        let at = self.list.selected();
        let is_heading = |index: &usize| self.is_section_head(&cx.view, *index);
        let found = match forward {
            true => (at + 1..self.lines.len()).find(is_heading),
            false => (0..at.min(self.lines.len())).rev().find(is_heading),
        };
        if let Some(index) = found {
            (self.chosen, self.on_heading) = (true, true);
            self.list.select(index, self.lines.len());
        }
    }

    fn current(&self) -> Option<HomeLine> {
        self.lines.get(self.list.selected()).copied()
    }

    /// Returns whether the cursor stops at a line. In accessible mode it stops at every line, so that headings are read
    /// out, too.
    fn is_stop(&self, index: usize) -> bool {
        match self.lines.get(index) {
            Some(_) if glyph::is_accessible() => true,
            Some(HomeLine::Heading(..)) => self.on_heading,
            None | Some(HomeLine::Unreachable(..) | HomeLine::Advice(..)) => false,
            // A custom section can be opened and removed even if it is empty, and the branch without a merge request leads
            // to a new one.
            Some(HomeLine::Nothing(section)) => matches!(section, Section::Custom(_) | Section::Branch),
            Some(
                HomeLine::Todo(_)
                | HomeLine::Request(..)
                | HomeLine::Job(..)
                | HomeLine::NotFound(_)
                | HomeLine::Place(_)
                | HomeLine::Project(_),
            ) => true,
        }
    }

    fn request<'a>(&self, view: &View<'a>, line: Option<HomeLine>) -> Option<&'a MergeRequest> {
        match line? {
            HomeLine::Request(section, at, row) => self.custom_queries.requests(view, section, at).get(row),
            _ => None,
        }
    }

    /// Returns the place that the selected line opens.
    fn target(&self, view: &View) -> Option<Place> {
        match self.current()? {
            HomeLine::Todo(_) => todos::place(self.todo(view)?, view),
            HomeLine::Request(section, at, row) => {
                let request = self.custom_queries.requests(view, section, at).get(row)?;
                Some(Place::new("mr").project(queries::path_of(view, at, request)).item(request.iid))
            }
            HomeLine::Job(..) => {
                let (path, job) = self.job(view)?;
                Some(Place::new("job").project(path).item(job.id))
            }
            HomeLine::Project(row) => {
                Some(Place::new("files").project(queries::projects(view).get(row)?.path_with_namespace.as_str()))
            }
            HomeLine::Place(index) => self.recents.visits.get(index).map(|visit| visit.place.clone()),
            HomeLine::Nothing(Section::Branch) => Some(Place::new("branch")),
            line @ HomeLine::Heading(..) => self.section_place(view, line),
            HomeLine::NotFound(_) | HomeLine::Nothing(_) | HomeLine::Advice(..) | HomeLine::Unreachable(..) => None,
        }
    }

    /// Returns why no merge request of the branch of the clone can be created; `None` if one can.
    fn refusal_to_create(view: &View) -> Option<Disabled> {
        this_branch::current(view).and_then(|branch| branch.can_create(view)).err()
    }

    fn todo<'a>(&self, view: &View<'a>) -> Option<&'a Todo> {
        match self.current()? {
            HomeLine::Todo(row) => todos::waiting(view).get(row),
            _ => None,
        }
    }

    fn job<'a>(&self, view: &View<'a>) -> Option<(String, &'a Job)> {
        let Some(HomeLine::Job(project, row)) = self.current() else { return None };
        let path = self.watched(project);
        let job = queries::running(view, path).get(row)?;
        Some((path.to_owned(), job))
    }

    fn go(&mut self, pane: Option<&str>, cx: &mut Cx) {
        let Some(place) = self.target(&cx.view) else { return };
        let place = match (pane, place.project.clone()) {
            (Some(pane), Some(project)) => Place::new(pane).project(project),
            _ => place,
        };
        match self.host(&cx.view) {
            Some(host) => cx.act(Action::SwitchServer(host.clone(), Some(place))),
            None => cx.go(place),
        }
    }

    /// Returns the server of the selected line, if it is not the current one.
    fn host<'a>(&self, view: &View<'a>) -> Option<&'a Host> {
        match self.current()? {
            HomeLine::Request(_, at, _) => queries::host(view, at),
            _ => None,
        }
    }

    /// Returns why a command is disabled: that a list is still loading, else `none`.
    fn why_not(&self, view: &View, none: &'static str) -> Disabled {
        let coming = |want: &Want| {
            matches!(want, Want::Load(load)
                if view.store.is_loading(&load.request) && !view.store.knows(&load.request, load.pages.min(1)))
        };
        let words = if self.wants(view).iter().any(coming) { "the list is still loading" } else { none };
        words.into()
    }

    fn has_thing(&self, view: &View) -> Result<(), Disabled> {
        if let Some(HomeLine::NotFound(_)) = self.current() {
            return Err("it no longer exists; ‹home.pin› unpins it".into());
        }
        self.target(view).map(|_| ()).ok_or_else(|| self.why_not(view, "nothing is selected"))
    }

    /// Returns the full path of the project of the selected line, which is what a pin stores.
    fn project(&self, view: &View) -> Option<String> {
        match self.current()? {
            HomeLine::NotFound(index) => Some(self.watched(index).to_owned()),
            _ if self.host(view).is_some() => None,
            _ => self.target(view)?.project.filter(|id| id.number().is_none()).map(|id| id.to_string()),
        }
    }

    fn has_project(&self, view: &View) -> Result<(), Disabled> {
        self.project(view).map(|_| ()).ok_or_else(|| self.why_not(view, "no project is selected"))
    }

    /// Returns the place that lists the section of a line.
    fn section_place(&self, view: &View, line: HomeLine) -> Option<Place> {
        let project = match line {
            HomeLine::Job(project, _) | HomeLine::NotFound(project) => Some(self.watched(project)),
            _ => self.recents.watched.first().map(String::as_str),
        };
        line.section().place(view, project)
    }

    fn open_section(&mut self, cx: &mut Cx) {
        if let Some(place) = self.current().and_then(|line| self.section_place(&cx.view, line)) {
            cx.go(place);
        }
    }

    fn has_section(&self, view: &View) -> Result<(), Disabled> {
        let place = self.current().and_then(|line| self.section_place(view, line));
        place.map(|_| ()).ok_or_else(|| "this section has no list of its own".into())
    }

    /// Returns the custom section under the cursor.
    fn own_section<'a>(&self, view: &View<'a>) -> Option<&'a Own> {
        match self.current()? {
            HomeLine::Request(Section::Custom(index), ..)
            | HomeLine::Heading(Section::Custom(index), _)
            | HomeLine::Nothing(Section::Custom(index)) => view.session.sections.get(index),
            _ => None,
        }
    }

    fn in_own_section(&self, view: &View) -> Result<(), Disabled> {
        match self.own_section(view) {
            Some(section) if section.is_shared => Err("the project of the clone shares it, in .labscope.toml".into()),
            Some(_) => Ok(()),
            None => Err("this is not a custom section".into()),
        }
    }
}

impl PaneKind for Home {
    const ID: &'static str = "home";
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("home.open", &["Enter"], "Open selection", |pane: &mut Self, cx| pane.go(None, cx))
            .footer("open")
            .when(Home::has_thing),
        Command::new("home.mrs", &["m"], "Go to project merge requests", |pane: &mut Self, cx| {
            pane.go(Some("mrs"), cx);
        })
        .footer("merge requests")
        .when(Home::has_thing),
        Command::new("home.jobs", &["J"], "Go to project jobs", |pane: &mut Self, cx| pane.go(Some("jobs"), cx))
            .footer("jobs")
            .when(Home::has_thing),
        Command::new("home.todos", &["w"], "Go to to-dos", |_: &mut Self, cx| cx.go(Place::new("todos"))),
        Command::new("home.done", &["x"], "Mark to-do as done", |pane: &mut Self, cx| {
            if let Some(todo) = pane.todo(&cx.view) {
                cx.act(todos::finish(&[todo], "home.undo"));
            }
        })
        .writes()
        .when(|pane, view| match pane.todo(view) {
            Some(_) => Ok(()),
            None => Err(pane.why_not(view, "no to-do is selected")),
        }),
        Command::new("home.undo", &["u"], "Restore to-do", |_: &mut Self, cx| cx.act(Action::TakeBack)).writes().when(
            |_, view| match view.waiting.can_take_back() {
                true => Ok(()),
                false => Err("nothing was marked as done in the last seconds".into()),
            },
        ),
        Command::new("home.create", &["M"], "Create merge request…", |_: &mut Self, cx| {
            cx.go(Place::new("branch").item("new"));
        })
        .writes()
        .when(|_, view| Home::refusal_to_create(view).map_or(Ok(()), Err)),
        Command::new("home.push", &["P"], "Push branch…", |_: &mut Self, cx| {
            let view = cx.view;
            if let Ok(branch) = this_branch::current(&view) {
                cx.act(branch.push());
            }
        })
        .when(|_, view| this_branch::current(view)?.can_push(view)),
        Command::new("home.files", &["f"], "Go to project files", |pane: &mut Self, cx| pane.go(Some("files"), cx))
            .when(Home::has_thing),
        Command::new("home.pin", &["p"], "Toggle pin", |pane: &mut Self, cx| {
            if let Some(path) = pane.project(&cx.view) {
                recent::toggle_pin(cx, &path);
            }
        })
        .when(Home::has_project),
        Command::new("home.section", &["+"], "Add section…", |_: &mut Self, cx| {
            cx.go(Place::new("mrs"));
            cx.say(Tone::Info, "‹seek› filters by a query, ‹mrs.save› saves it as a section");
        }),
        Command::new("home.list", &["s"], "Open section as list", Home::open_section)
            .footer("list")
            .when(Home::has_section),
        Command::new("home.next_section", &["}"], "Next section", |pane: &mut Self, cx| pane.step_section(true, cx)),
        Command::new("home.previous_section", &["{"], "Previous section", |pane: &mut Self, cx| {
            pane.step_section(false, cx);
        }),
        Command::new("home.drop", &["D"], "Remove section…", |pane: &mut Self, cx| {
            if let Some(section) = pane.own_section(&cx.view) {
                let question = format!("Remove the section \"{}\" ({})?", section.name, section.query);
                cx.act(App::confirm("Remove section", question, Action::RemoveSection(section.name.clone())));
            }
        })
        .when(Home::in_own_section),
    ];

    fn open(_place: &Place, view: &View) -> Self {
        let mut home = Home {
            list: ListState::default(),
            lines: Vec::new(),
            recents: HomeRecents::default(),
            custom_queries: OwnQueries::default(),
            inputs: None,
            filter: String::new(),
            ambiguous_names: HashSet::new(),
            chosen: false,
            area: Default::default(),
            panels: Panels::new(2),
            preview: TextDetail::default(),
            previewed: None,
            drawn_preview: Drawn::default(),
            on_heading: false,
        };
        home.rebuild_lines(view);
        home
    }
}

impl Pane for Home {
    fn place(&self) -> Place {
        Place::new(Self::ID)
    }

    fn breadcrumbs(&self, _view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = vec![Breadcrumb::new("home", Role::Title)];
        if !self.filter.is_empty() {
            breadcrumbs.push(Breadcrumb::new(format!("/{}", self.filter), Role::Match));
        }
        breadcrumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants = queries::wants(view, &self.custom_queries, &self.recents.watched);
        let (top, shown) = (self.list.top(), self.shown_details());
        let seen = self.lines.iter().skip(top).take(self.list.rows_on(view.size.1));
        let seen: Vec<_> = seen
            .filter_map(|line| match line {
                HomeLine::Request(section, None, row) => {
                    let request = self.custom_queries.requests(view, *section, None).get(*row)?;
                    Some((section.names_awaited(view), request))
                }
                _ => None,
            })
            .map(|(waiting, request)| {
                (ShownDetails { waiting, ..shown }, queries::path_of(view, None, request), request)
            })
            .collect();
        let selected = self.request(view, self.current());
        let details = seen.iter().map(|(shown, project, request)| {
            MergeRequestDetails::new(view, project, request, *shown).with_selected(selected)
        });
        wants.extend(merge_request_details::wants(details));
        wants.extend(self.preview.wants(view));
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.drawn_preview.set(Rect::default());
        let Some(preview) = self.preview_area(area) else { return self.draw(view, area, buf) };
        let places = self.panels.layout(area, &self.widths(area.width));
        self.draw(view, places.first().copied().flatten().unwrap_or(area), buf);
        self.drawn_preview.set(preview);
        self.preview.view(view, preview, buf);
        self.panels.draw_dividers(buf, view.theme);
    }

    fn changed(&mut self, cx: &mut Cx) {
        self.rebuild_lines(&cx.view);
        let len = self.lines.len();
        let mut list = std::mem::take(&mut self.list);
        if self.chosen {
            list.sync(len, |index| self.key(&cx.view, index));
        } else {
            list.first();
        }
        list.leave_headings(len, true, |index| self.is_stop(index));
        self.list = list;
        self.update_preview(&cx.view);
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        let (len, before) = (self.lines.len(), self.list.selected());
        if motion == Motion::Right {
            return self.go(None, cx);
        }
        (self.chosen, self.on_heading) = (true, false);
        match motion {
            Motion::Left => return,
            other => other.apply(&mut self.list, len),
        }
        let mut list = std::mem::take(&mut self.list);
        list.leave_headings(len, list.selected() >= before, |index| self.is_stop(index));
        self.list = list;
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        let area = self.area.get();
        match pointer {
            Pointer::Wheel { column, row, .. } if self.drawn_preview.get().contains((column, row).into()) => {
                self.preview.pointer(pointer, cx);
            }
            Pointer::Wheel { rows, .. } => self.motion(Motion::Wheel(rows), cx),
            Pointer::Press { column, row, double } if area.contains((column, row).into()) => {
                let index = self.list.row_at(row - area.y);
                let Some(index) = index else { return };
                if self.is_section_head(&cx.view, index) || self.is_stop(index) {
                    (self.chosen, self.on_heading) =
                        (true, matches!(self.lines.get(index), Some(HomeLine::Heading(..))));
                    self.list.select(index, self.lines.len());
                    if double {
                        self.go(None, cx);
                    }
                }
            }
            Pointer::Press { .. } | Pointer::Drag { .. } | Pointer::Release => {}
        }
    }

    fn search(&self) -> Option<(SearchMode, String)> {
        Some((SearchMode::Filter, self.filter.clone()))
    }

    fn set_filter_text(&mut self, text: &str, _cx: &mut Cx) {
        self.filter = text.to_owned();
        self.chosen = false;
    }

    fn escape(&mut self, _cx: &mut Cx) -> bool {
        let filtered = !self.filter.is_empty();
        self.filter.clear();
        filtered
    }

    fn url(&self, view: &View) -> Option<String> {
        match self.current()? {
            line @ HomeLine::Request(..) => self.request(view, Some(line)).map(|r| r.web_url.clone()),
            HomeLine::Job(..) => {
                let (path, job) = self.job(view)?;
                Some(ci::url(view, &path.as_str().into(), job))
            }
            HomeLine::Project(row) => queries::projects(view).get(row).map(|p| p.web_url.clone()),
            HomeLine::Todo(_) => self.todo(view).and_then(|todo| todo.target_url.clone()),
            HomeLine::NotFound(_)
            | HomeLine::Place(_)
            | HomeLine::Heading(..)
            | HomeLine::Nothing(_)
            | HomeLine::Advice(..)
            | HomeLine::Unreachable(..) => None,
        }
    }

    fn copies(&self, view: &View) -> Vec<Clip> {
        let Some(place) = self.target(view) else { return Vec::new() };
        let path = place.project.map(|p| p.to_string()).unwrap_or_default();
        match self.request(view, self.current()) {
            Some(request) => vec![
                Clip::line("reference", format!("{path}!{}", request.iid)),
                Clip::line("title", text::sanitize(&request.title).into_owned()),
                Clip::line("branch", request.source_branch().to_owned()),
            ],
            None if path.is_empty() => Vec::new(),
            None => vec![Clip::line("path", path)],
        }
    }

    fn ticks(&self, _view: &View) -> bool {
        self.lines.iter().any(|line| matches!(line, HomeLine::Job(..)))
    }
}
