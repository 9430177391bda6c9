//! Drawing of the home list.

use super::{Home, HomeLine, Section};
use crate::api::merge_requests::MergeRequest;
use crate::api::{Fault, Id};
use crate::app::view::View;
use crate::panes::home::queries;
use crate::panes::home::queries::ServerIndex;
use crate::parts::items::merge_request_details::{MergeRequestDetails, ShownDetails};
use crate::parts::items::merge_requests;
use crate::parts::items::{last_seen, merge_state, todos};
use crate::parts::repository::this_branch;
use crate::parts::text::dates::age;
use crate::parts::{ci, list};
use crate::ui::glyph;
use crate::ui::line::Line;
use crate::ui::table::{self, Size, TableColumn, TableRow};
use crate::ui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

const REFERENCE: TableColumn = TableColumn::new("", Size::Fit { min: 2, max: 9 });
/// A name of usual length, or with the address of another server, is not cut, whatever the titles.
const PROJECT: TableColumn = TableColumn::new("", Size::Fit { min: 4, max: 28 }).cut_in_middle();
const TITLE: TableColumn = TableColumn::new("", Size::Fill { min: 20, weight: 1 });
const AUTHOR: TableColumn = TableColumn::new("Author", Size::Fit { min: 3, max: 14 }).drop_order(3);
const AGE: TableColumn = TableColumn::new("", Size::Fixed(4)).right().drop_order(1);

/// The columns of the sections, by [`Section::layout`].
const LAYOUTS: &[&[TableColumn]] = &[
    &[
        REFERENCE,
        PROJECT,
        TITLE,
        AUTHOR,
        TableColumn::new("Reason", Size::Fit { min: 6, max: 18 }).drop_order(2),
        TableColumn::new("State", Size::Fit { min: 4, max: 10 }).drop_order(4),
        AGE,
    ],
    &[
        REFERENCE,
        PROJECT,
        TITLE,
        TableColumn::new("New", Size::Fit { min: 7, max: 15 }).shrinks().drop_order(2),
        TableColumn::new("Labels", Size::Fit { min: 3, max: 26 }).drop_order(7),
        AUTHOR,
        TableColumn::new("Checks", Size::Fit { min: 1, max: 12 }).shrinks().drop_order(2),
        TableColumn::new("Approvals", Size::Fit { min: 3, max: 9 }).shrinks().drop_order(4),
        TableColumn::new("Threads", Size::Fit { min: 6, max: 9 }).shrinks().drop_order(5),
        TableColumn::new("Merge", Size::Fit { min: 5, max: 19 }).shrinks().drop_order(4),
        TableColumn::new("Waiting for", Size::Fit { min: 2, max: 16 }).drop_order(6),
        TableColumn::new("Size", Size::Fit { min: 5, max: 22 }).right().drop_order(6),
        AGE,
    ],
    &[
        REFERENCE,
        PROJECT,
        TITLE,
        TableColumn::new("User", Size::Fit { min: 3, max: 14 }).drop_order(3),
        TableColumn::new("Status", Size::Fit { min: 4, max: 12 }).drop_order(1),
        AGE,
    ],
    &[REFERENCE, PROJECT, TITLE],
    &[
        REFERENCE,
        TableColumn::new("", Size::Fit { min: 12, max: u16::MAX }).cut_in_middle(),
        TableColumn::new("", Size::Fill { min: 20, weight: 1 }).drop_order(3),
        TableColumn::new("", Size::Fit { min: 4, max: 8 }).drop_order(1),
        AGE,
    ],
];

/// The maximum number of merge requests whose approvals and threads are counted, with two requests for each.
const MAX_COUNTED: usize = 10;

impl Section {
    /// Returns the index of the columns in [`LAYOUTS`].
    fn layout(self) -> usize {
        match self {
            Section::Todos => 0,
            Section::Branch | Section::Review | Section::Assigned | Section::Mine | Section::Custom(_) => 1,
            Section::Running => 2,
            Section::Visited => 3,
            Section::Recent => 4,
        }
    }
}

impl Home {
    /// Draws the list, or an empty state.
    pub(super) fn draw(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.area.set(area);
        if self.lines.is_empty() {
            if self.filter.is_empty() {
                crate::ui::state::skeleton(buf, area, view.theme);
            } else {
                view.draw_empty(buf, area, "Nothing here matches the filter.", "‹escape› clears it");
            }
            return;
        }
        table::draw_sections(buf, area, view.theme, true, &self.list, LAYOUTS, self.lines.len(), &|index| {
            self.lines.get(index).map(|line| self.row(view, *line)).unwrap_or_default()
        });
    }

    fn row(&self, view: &View, line: HomeLine) -> TableRow<'static> {
        let row = match line {
            HomeLine::Heading(section, count) => {
                let mut cell = Line::new(section.title(view).to_owned(), Role::Title);
                if count > 0 && !matches!(section, Section::Recent | Section::Visited) {
                    cell = cell.and(format!(" {count}"), Role::Accent);
                }
                if let (Section::Branch, Ok(branch)) = (section, this_branch::current(view)) {
                    let words = branch.sync(view).words();
                    cell = cell.and(format!(" {}", branch.name), Role::Ref).and(format!("  {words}"), Role::Warning);
                }
                TableRow { cells: vec![cell.and(" ", Role::Dim)], heading: true, ..TableRow::default() }
            }
            HomeLine::Nothing(section) => {
                let words = match (self.custom_queries.mistake(section), self.error(view, section, None)) {
                    (Some(mistake), _) => (mistake.to_string(), Role::Failed),
                    (None, Some(error)) => (format!("{}: {}", error.title(), error.message()), Role::Failed),
                    (None, None) => {
                        let refusal = if section == Section::Branch { Home::refusal_to_create(view) } else { None };
                        let words = refusal.map_or_else(
                            || section.empty(&self.recents).to_owned(),
                            |why| format!("No merge request: {why}."),
                        );
                        (view.with_keys(&words).into_owned(), Role::Dim)
                    }
                };
                TableRow::new(vec![Line::empty(), Line::empty(), words.into()])
            }
            HomeLine::Advice(section, at) => {
                let advice = self.error(view, section, at).map(|error| list::advice(view, error)).unwrap_or_default();
                TableRow::new(vec![Line::empty(), Line::empty(), Line::new(advice, Role::Dim)])
            }
            HomeLine::Todo(row) => self.todo_row(view, row),
            HomeLine::Request(section, at, row) => match self.custom_queries.requests(view, section, at).get(row) {
                Some(merge_request) => self.request_row(view, at, merge_request),
                None => TableRow::default(),
            },
            HomeLine::Unreachable(section, at) => {
                let name = queries::host(view, at).map_or(view.session.server.as_str(), |host| host.name());
                let (message, role) = self.error_message(view, section, at);
                let name = Line::new(name.to_owned(), role);
                TableRow::new(vec![Line::empty(), name, Line::new(message, role)])
            }
            HomeLine::Job(project, row) => self.job_row(view, project, row),
            HomeLine::NotFound(project) => TableRow::new(vec![
                Line::new(glyph::pin(), Role::Accent),
                Line::new(self.watched(project).to_owned(), Role::Dim),
                Line::new("not found: renamed or deleted?", Role::Warning),
            ]),
            HomeLine::Place(index) => {
                let Some(visit) = self.recents.visits.get(index) else { return TableRow::default() };
                let within = visit.place.project.as_ref().or(visit.place.group.as_ref());
                TableRow::new(vec![
                    Line::new(visit.mark.clone(), Role::Ref),
                    Line::new(within.map(Id::to_string).unwrap_or_default(), Role::Dim),
                    Line::new(visit.words.clone(), Role::Text),
                ])
            }
            HomeLine::Project(row) => self.project_row(view, row),
        };
        // The messages of empty sections are in the column that is always there.
        let is_message = matches!(line, HomeLine::Nothing(_) | HomeLine::Advice(..) | HomeLine::Unreachable(..));
        row.layout(if is_message { Section::Visited } else { line.section() }.layout())
    }

    /// Returns the cell with the path of a project: its name alone if no other project here has the same one.
    fn project_cell(&self, path: &str) -> Line<'static> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let path = if self.ambiguous_names.contains(name) { path } else { name };
        Line::new(path.to_owned(), Role::Dim)
    }

    fn todo_row(&self, view: &View, row: usize) -> TableRow<'static> {
        let Some(todo) = todos::waiting(view).get(row) else { return TableRow::default() };
        let state = todo.target.as_ref().and_then(|target| target.state.as_deref());
        TableRow::new(vec![
            Line::new(todo.reference(), Role::Ref),
            self.project_cell(todo.container_path()),
            Line::new(todo.title().to_owned(), Role::Text),
            Line::new(todo.author.as_ref().map(|a| a.username.clone()).unwrap_or_default(), Role::User),
            Line::new(todos::reason(todo), Role::Accent),
            state.map_or_else(Line::empty, todos::state_cell),
            Line::new(age(view, todo.created_at.as_ref()), Role::Dim),
        ])
    }

    /// Returns the details of merge requests that are requested. The stages of checks are shown only as far as other places
    /// requested them.
    pub(super) fn shown_details(&self) -> ShownDetails {
        let in_width = ShownDetails::in_width(self.area.get().width);
        let mut rows = self.lines.iter().filter(|line| matches!(line, HomeLine::Request(_, None, _)));
        ShownDetails { counted: in_width.counted || rows.nth(MAX_COUNTED).is_none(), stages: false, ..in_width }
    }

    fn request_row(&self, view: &View, at: ServerIndex, request: &MergeRequest) -> TableRow<'static> {
        let project = queries::path_of(view, at, request);
        let path = match queries::host(view, at) {
            Some(host) => Line::new(format!("{} ", host.name()), Role::Dim).and(project.to_string(), Role::Text),
            None => self.project_cell(project.as_str()),
        };
        // The last-seen state is saved for the current server only, and so are the details.
        let changes_since = at.is_none().then(|| last_seen::changes_since_seen(view, request)).flatten();
        let unread = changes_since.map(|changes| format!("{} {}", glyph::alive(), changes.words()));
        let shown = if at.is_none() { self.shown_details() } else { ShownDetails::default() };
        let details = MergeRequestDetails::new(view, &project, request, shown);
        let mut title = Line::empty();
        if request.is_draft() {
            title = title.and("draft ", Role::Warning);
        }
        TableRow::new(vec![
            Line::new(format!("!{}", request.iid), Role::Ref),
            path,
            title.and(merge_requests::title(request).to_owned(), Role::Text),
            Line::new(unread.unwrap_or_default(), Role::Accent),
            details.labels(),
            Line::new(request.author().map(|a| a.username.clone()).unwrap_or_default(), Role::User),
            if at.is_none() { details.checks() } else { Line::empty() },
            details.approvals(),
            details.threads(),
            if at.is_none() { details.merge() } else { merge_state::of(request) },
            if at.is_none() { details.waiting() } else { Line::empty() },
            details.size(),
            Line::new(age(&clock(view, at), request.updated_at.as_ref()), Role::Dim),
        ])
    }

    fn job_row(&self, view: &View, project: usize, row: usize) -> TableRow<'static> {
        let path = self.watched(project);
        let Some(job) = queries::running(view, path).get(row) else { return TableRow::default() };
        let (sign, role) = ci::sign(job);
        TableRow::new(vec![
            Line::new(format!("#{}", job.id), Role::Ref),
            self.project_cell(path),
            Line::new(job.name.clone(), Role::Text).and(format!("  {}", job.r#ref), Role::Dim),
            Line::new(job.user.as_ref().map(|user| user.username.clone()).unwrap_or_default(), Role::User),
            Line::new(format!("{sign} {}", ci::duration(job, view.now)), role),
            Line::new(age(view, job.started_at.as_ref()), Role::Dim),
        ])
    }

    fn project_row(&self, view: &View, row: usize) -> TableRow<'static> {
        let Some(project) = queries::projects(view).get(row) else { return TableRow::default() };
        let archived = project.is_archived();
        let about = project.description().lines().next().unwrap_or_default().to_owned();
        let last = project.last_activity_at.as_ref();
        let pinned = self.recents.pinned && self.recents.watched.contains(&project.path_with_namespace);
        TableRow::new(vec![
            Line::new(if pinned { glyph::pin() } else { "" }, Role::Accent),
            Line::new(project.path_with_namespace.clone(), Role::Text),
            Line::new(about, Role::Dim),
            Line::new(if archived { "archived" } else { "" }, Role::Warning),
            Line::new(age(view, last), Role::Dim),
        ])
        .dim(archived)
    }

    /// Returns the message for a server that failed to answer. Errors that the user can fix are warnings.
    fn error_message(&self, view: &View, section: Section, at: ServerIndex) -> (String, Role) {
        let Some(error) = self.error(view, section, at) else {
            return (String::new(), Role::Dim);
        };
        let (what, role) = match &error.fault {
            Fault::Unauthorized(_) => ("rejects the token", Role::Warning),
            Fault::Denied(_) => ("refuses", Role::Warning),
            Fault::Tls(_) => ("is not trusted", Role::Warning),
            Fault::NeedsHttps(_) => ("is not encrypted", Role::Warning),
            Fault::Offline(_) | Fault::Timeout(_) | Fault::Cut(_) => ("did not answer", Role::Dim),
            _ => ("could not load your work", Role::Dim),
        };
        (format!("{what}: {}", error.message()), role)
    }
}

/// Returns the view with the clock to compute ages with: the local one for other servers, because their clock offset is
/// unknown.
fn clock<'a>(view: &View<'a>, at: ServerIndex) -> View<'a> {
    View { now: if at.is_some() { view.local_now } else { view.now }, ..*view }
}
