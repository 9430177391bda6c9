//! Drawing of the home list.

use super::{Home, Line, Section};
use crate::api::merge_requests::MergeRequest;
use crate::api::{Fault, Id};
use crate::app::view::View;
use crate::panes::home::queries;
use crate::panes::home::queries::OtherServer;
use crate::parts::dates::age;
use crate::parts::merge_request_details::{Details, Shown};
use crate::parts::{ci, last_seen, merge_state, todos};
use crate::ui::line;
use crate::ui::table::{self, Size, TableColumn, TableRow};
use crate::ui::theme::Role;
use crate::ui::{glyph, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

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
        // The first column needs more room if it also shows the server.
        let several =
            self.lines.iter().any(|line| matches!(line, Line::Request(_, Some(_), _) | Line::Unreachable(..)));
        let max = match (view.size.0 < 100, several) {
            (true, false) => 16,
            (true, true) => 25,
            (false, false) => 32,
            (false, true) => 48,
        };
        let columns = [
            TableColumn::new("", Size::Fit { min: 12, max }).cut_in_middle().drop_order(1),
            TableColumn::new("", Size::Fit { min: 2, max: 9 }).right(),
            TableColumn::new("", Size::Fill { min: 24, weight: 1 }),
            TableColumn::new("", Size::Fit { min: 3, max: 14 }).drop_order(3),
            TableColumn::new("", Size::Fit { min: 3, max: 22 }).drop_order(7),
            TableColumn::new("", Size::Fit { min: 6, max: 22 }).right().drop_order(6),
            TableColumn::new("", Size::Fit { min: 3, max: 8 }).right().drop_order(4),
            TableColumn::new("", Size::Fit { min: 8, max: 12 }).right().drop_order(4),
            TableColumn::new("", Size::Fit { min: 6, max: 18 }).right().drop_order(2),
            TableColumn::new("", Size::Fit { min: 1, max: 1 }),
            TableColumn::new("", Size::Fixed(4)).right().drop_order(2),
        ];
        table::draw(buf, area, view.theme, true, &self.list, &columns, self.lines.len(), &|index| {
            self.lines.get(index).map(|line| self.row(view, *line)).unwrap_or_default()
        });
    }

    fn row(&self, view: &View, line: Line) -> TableRow<'static> {
        match line {
            Line::Heading(section, count) => {
                let mut cell = line::Line::new(section.title(view).to_owned(), Role::TitleDim);
                if count > 0 && !matches!(section, Section::Recent | Section::Visited) {
                    cell = cell.and(format!(" {count}"), Role::Accent);
                }
                TableRow { cells: vec![cell.and(" ", Role::Dim)], heading: true, ..TableRow::default() }
            }
            Line::Nothing(section) => {
                let error = match section {
                    Section::Review | Section::Assigned | Section::Mine | Section::Custom(_) => {
                        self.custom_queries.requests(view, section, None).error
                    }
                    Section::Todos => todos::waiting(view).error,
                    Section::Running | Section::Visited | Section::Recent => queries::projects(view).error,
                };
                let words = match error {
                    Some(error) => (format!("{}: {}", error.title(), error.message()), Role::Failed),
                    None => (view.with_keys(section.empty(&self.recents)).into_owned(), Role::Dim),
                };
                TableRow::new(vec![line::Line::empty(), line::Line::empty(), line::Line::from(words)])
            }
            Line::Todo(row) => todo(view, row),
            Line::Request(section, at, row) => match self.custom_queries.requests(view, section, at).get(row) {
                Some(merge_request) => request(view, at, merge_request, self.area.get().width),
                None => TableRow::default(),
            },
            Line::Unreachable(section, at) => {
                let name = queries::host(view, at).map_or(view.session.server.as_str(), |host| host.name());
                let message = self.error_message(view, section, at);
                TableRow::new(vec![
                    line::Line::new(name.to_owned(), message.1),
                    line::Line::empty(),
                    line::Line::from(message),
                ])
            }
            Line::Job(project, row) => {
                let path = self.watched(project).to_owned();
                let Some(job) = queries::running(view, &path).get(row) else { return TableRow::default() };
                let by = job.user.as_ref().map(|user| user.username.clone()).unwrap_or_default();
                let (sign, role) = ci::sign(job);
                without_details(
                    [
                        line::Line::new(path, Role::Dim),
                        line::Line::new(format!("#{}", job.id), Role::Ref),
                        line::Line::new(job.name.clone(), Role::Text).and(format!("  {}", job.r#ref), Role::Dim),
                        line::Line::new(by, Role::User),
                    ],
                    [
                        line::Line::new(ci::duration(job, view.now), role),
                        line::Line::new(sign, role),
                        line::Line::new(age(view, job.started_at.as_ref()), Role::Dim),
                    ],
                )
            }
            Line::NotFound(project) => TableRow::new(vec![
                line::Line::new(self.watched(project).to_owned(), Role::Dim),
                line::Line::new(glyph::pin(), Role::Accent),
                line::Line::new("not found: renamed or deleted?", Role::Warning),
            ]),
            Line::Place(index) => {
                let Some(visit) = self.recents.visits.get(index) else { return TableRow::default() };
                let within = visit.place.project.as_ref().or(visit.place.group.as_ref());
                TableRow::new(vec![
                    line::Line::new(within.map(Id::to_string).unwrap_or_default(), Role::Dim),
                    line::Line::new(visit.mark.clone(), Role::Ref),
                    line::Line::new(visit.words.clone(), Role::Text),
                ])
            }
            Line::Project(row) => self.project_row(view, row),
        }
    }

    fn project_row(&self, view: &View, row: usize) -> TableRow<'static> {
        let Some(project) = queries::projects(view).get(row) else { return TableRow::default() };
        let archived = project.is_archived();
        let about = project.description().lines().next().unwrap_or_default().to_owned();
        let last = project.last_activity_at.as_ref();
        let pinned = self.recents.pinned && self.recents.watched.contains(&project.path_with_namespace);
        without_details(
            [
                line::Line::new(project.path_with_namespace.clone(), Role::Text),
                line::Line::new(if pinned { glyph::pin() } else { "" }, Role::Accent),
                line::Line::new(about, Role::Dim),
                line::Line::empty(),
            ],
            [
                line::Line::new(if archived { "archived" } else { "" }, Role::Warning),
                line::Line::empty(),
                line::Line::new(age(view, last), Role::Dim),
            ],
        )
        .dim(archived)
    }

    /// Returns the message for a server that failed to answer. Errors that the user can fix are warnings.
    fn error_message(&self, view: &View, section: Section, at: OtherServer) -> (String, Role) {
        let Some(error) = self.custom_queries.requests(view, section, at).error else {
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

/// Returns a row with empty cells for labels, size, approvals and threads, which only merge requests have.
fn without_details(start: [line::Line<'static>; 4], end: [line::Line<'static>; 3]) -> TableRow<'static> {
    let details = std::iter::repeat_with(line::Line::empty).take(4);
    TableRow::new(start.into_iter().chain(details).chain(end).collect())
}

fn todo(view: &View, row: usize) -> TableRow<'static> {
    let Some(todo) = todos::waiting(view).get(row) else { return TableRow::default() };
    let state = todo.target.as_ref().and_then(|target| target.state.as_deref());
    without_details(
        [
            line::Line::new(todo.container_path().to_owned(), Role::Dim),
            line::Line::new(todo.reference(), Role::Ref),
            line::Line::new(todo.title().to_owned(), Role::Text),
            line::Line::new(todo.author.as_ref().map(|a| a.username.clone()).unwrap_or_default(), Role::User),
        ],
        [
            line::Line::new(todos::reason(todo), Role::Accent),
            line::Line::from(state.map_or(("", Role::Dim), glyph::status)),
            line::Line::new(age(view, todo.created_at.as_ref()), Role::Dim),
        ],
    )
}

fn request(view: &View, at: OtherServer, request: &MergeRequest, width: u16) -> TableRow<'static> {
    let project = queries::path_of(view, at, request);
    let path = project.to_string();
    let path = match queries::host(view, at) {
        Some(host) => line::Line::new(format!("{} ", host.name()), Role::Dim).and(path, Role::Text),
        None => line::Line::new(path, Role::Dim),
    };
    // The last-seen state is saved for the current server only.
    let changes_since = at.is_none().then(|| last_seen::changes_since_seen(view, request)).flatten();
    let shown = if at.is_none() { Shown::in_width(width) } else { Shown::default() };
    let details = Details::new(view, &project, request, shown);
    let mut title = line::Line::empty();
    if merge_state::has_conflicts(request) {
        title = title.and("conflicts ", Role::Failed);
    }
    if request.is_draft() && !request.title.to_lowercase().contains("draft") {
        title = title.and("draft ", Role::Warning);
    }
    let notes = request.user_notes_count.filter(|n| *n > 0);
    TableRow::new(vec![
        path,
        line::Line::new(format!("!{}", request.iid), Role::Ref),
        title.and(request.title.clone(), Role::Text),
        line::Line::new(request.author().map(|a| a.username.clone()).unwrap_or_default(), Role::User),
        details.labels(),
        details.size(),
        details.approvals(),
        details.threads(),
        match changes_since {
            Some(changes_since) => {
                line::Line::new(format!("{} {}", glyph::alive(), changes_since.words()), Role::Accent)
            }
            None => line::Line::new(notes.map(|n| text::count_noun(n, "comment")).unwrap_or_default(), Role::Dim),
        },
        details.pipeline(),
        line::Line::new(age(&clock(view, at), request.updated_at.as_ref()), Role::Dim),
    ])
}

/// Returns the view with the clock to compute ages with: the local one for other servers, because their clock offset is
/// unknown.
fn clock<'a>(view: &View<'a>, at: OtherServer) -> View<'a> {
    View { now: if at.is_some() { view.local_now } else { view.now }, ..*view }
}
