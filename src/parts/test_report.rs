//! A test report as a table, with failures first. The details of the selected test are shown below it, or in its place.

use crate::api::test_reports::TestTotals;
use crate::api::{Error, Fault, GitRef, Id};
use crate::app::action::Action;
use crate::app::clip::Clip;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::overlay::picker::{Item, Picker};
use crate::app::pane::{Pane, SearchMode};
use crate::app::place::Place;
use crate::app::pointer::Pointer;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::domain::junit::{Case, Outcomes, Report, SourceLocation, Verdict};
use crate::parts::list;
use crate::store::Want;
use crate::ui::doc::{self, DocLine, DocState};
use crate::ui::drawn::Drawn;
use crate::ui::line::Line;
use crate::ui::table::{self, ListState, Size, TableColumn, TableRow};
use crate::ui::theme::{Role, Theme};
use crate::ui::{glyph, popup, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;

/// Returns the columns of the table. Names get more room than messages, which are shown in full below.
fn columns(width: u16) -> [TableColumn; 6] {
    [
        TableColumn::new("", Size::Fixed(1)),
        TableColumn::new("Test", Size::Fill { min: 16, weight: 3 }),
        TableColumn::new("Class", Size::Fit { min: 6, max: 28 }).cut_in_middle().drop_order(4),
        TableColumn::new("", Size::Fit { min: 0, max: 26 }).drop_order(1),
        TableColumn::new("Message", Size::Fit { min: 8, max: (width / 3).clamp(20, 60) }).drop_order(2),
        TableColumn::new("Time", Size::Fit { min: 4, max: 8 }).right().drop_order(3),
    ]
}

/// A test report, as a part that can have the focus.
#[derive(Default)]
pub struct TestReportView {
    project: Id,
    report: Option<Arc<Report>>,
    /// The reports of recent pipelines, if they are known.
    recent: Vec<Arc<Outcomes>>,
    /// The commit or ref at which the sources of tests are opened.
    git_ref: Option<GitRef>,
    /// The search text.
    query: String,
    list: ListState,
    output_scroll: DocState,
    /// Whether the details of a test replace the table.
    shows_full_output: bool,
    area: Drawn<Rect>,
}

/// Returns the glyph and the role of a verdict.
pub fn sign(verdict: Verdict) -> (&'static str, Role) {
    match verdict {
        Verdict::Failed | Verdict::Error => (glyph::or_word(glyph::wrong(), "failed"), Role::Failed),
        Verdict::Skipped => glyph::status("skipped"),
        Verdict::Passed => (glyph::or_word(glyph::done(), "passed"), Role::Success),
    }
}

/// Returns the summary of a report, in one line.
pub fn summary(report: &Report) -> String {
    let count = |verdict: Verdict| report.count(verdict) as u64;
    totals(&TestTotals {
        time: report.time(),
        count: report.cases.len() as u64,
        failed: count(Verdict::Failed),
        error: count(Verdict::Error),
        skipped: count(Verdict::Skipped),
        ..TestTotals::default()
    })
}

/// Returns the placeholder if the server has no test reports.
pub fn refused(error: &Error) -> Option<(&'static str, &'static str)> {
    let why = "This server has no test reports of pipelines.";
    matches!(error.fault, Fault::Unsupported(_)).then_some((why, "A job's artifacts (A) may contain the report"))
}

/// Returns the summary for totals, in one line.
pub fn totals(totals: &TestTotals) -> String {
    let failed = totals.failed.saturating_add(totals.error);
    let mut facts = vec![text::count_noun(totals.count, "test")];
    for (count, word) in [(failed, "failed"), (totals.skipped, "skipped")] {
        if count > 0 {
            facts.push(format!("{} {word}", text::count(count)));
        }
    }
    if failed == 0 && totals.count > 0 {
        facts.push("all passed".into());
    }
    if totals.time > 0.0 {
        facts.push(seconds(totals.time));
    }
    facts.join(glyph::separator())
}

/// Formats the duration of a test, which is often less than a second.
fn seconds(time: f64) -> String {
    match time {
        ..0.000_5 => "0s".into(),
        ..1.0 => format!("{:.0}ms", time * 1000.0),
        ..60.0 => format!("{time:.1}s"),
        _ => text::duration(time),
    }
}

/// Opens the source location that a test names, or a picker for several; returns `false` if it names none.
fn open_source(case: &Case, project: &Id, git_ref: Option<GitRef>, cx: &mut Cx) -> bool {
    let place = |location: &SourceLocation| Place {
        git_ref: git_ref.clone(),
        line: location.line,
        ..Place::new("files").project(project.clone()).path(location.path.clone())
    };
    let locations = case.source_locations();
    match locations.as_slice() {
        [] => return false,
        [one] => cx.go(place(one)),
        many => {
            let items = many.iter().map(|location| {
                let line = location.line.map_or_else(String::new, |line| format!(":{line}"));
                Item::act(format!("{}{line}", location.path), Action::GoToPlace(place(location)))
            });
            cx.act(Action::OpenOverlay(Box::new(Picker::new("Open source location", items.collect()))));
        }
    }
    true
}

impl TestReportView {
    /// Creates the view without a report.
    pub fn new(project: &Id) -> TestReportView {
        TestReportView { project: project.clone(), ..TestReportView::default() }
    }

    /// Shows a report; the cursor stays on its row.
    pub fn show(&mut self, report: Option<Arc<Report>>, git_ref: Option<GitRef>) {
        (self.report, self.git_ref) = (report, git_ref);
    }

    /// Shows which failed tests failed in recent pipelines, too.
    pub fn show_recent(&mut self, recent: Vec<Arc<Outcomes>>) {
        self.recent = recent;
    }

    /// Returns how a failed test did in recent pipelines.
    fn history(&self, case: &Case) -> (String, Role) {
        if !case.verdict.is_failure() || self.recent.is_empty() {
            return (String::new(), Role::Dim);
        }
        let ran: Vec<bool> = self.recent.iter().filter_map(|outcomes| outcomes.failed(case)).collect();
        let failed = ran.iter().filter(|failed| **failed).count();
        match (failed, ran.len()) {
            (_, 0) => ("new test".into(), Role::Dim),
            (0, _) => ("new failure".into(), Role::Failed),
            (failed, ran) if failed == ran => (format!("failed in all of the last {ran}"), Role::Dim),
            (failed, ran) => (format!("flaky: {failed} of the last {ran}"), Role::Warning),
        }
    }

    /// Returns the shown report.
    pub fn report(&self) -> Option<&Arc<Report>> {
        self.report.as_ref()
    }

    /// Returns to the first row, for another report that is searched for the same text.
    pub fn restart(&mut self) {
        *self = TestReportView { query: std::mem::take(&mut self.query), ..TestReportView::new(&self.project) };
    }

    /// Returns the selected test.
    pub fn case(&self) -> Option<&Case> {
        self.report.as_ref()?.cases.get(self.list.selected())
    }

    fn len(&self) -> usize {
        self.report.as_ref().map_or(0, |report| report.cases.len())
    }

    /// Opens the source of the selected test. If it names none, toggles its full output.
    pub fn open_case(&mut self, cx: &mut Cx) {
        let Some(case) = self.case() else { return };
        if !open_source(case, &self.project, self.git_ref.clone(), cx) {
            self.toggle_full_output();
        }
    }

    /// Toggles between the table and the details of the test.
    pub fn toggle_full_output(&mut self) {
        self.shows_full_output = !self.shows_full_output;
        self.output_scroll = DocState::default();
    }

    /// Moves to the next or the previous failed test.
    pub fn next_failed(&mut self, forward: bool, cx: &mut Cx) {
        let Some(report) = &self.report else { return };
        let failed = report.cases.partition_point(|case| case.verdict.is_failure());
        let Some(last) = failed.checked_sub(1) else { return cx.say(Tone::Good, "No failed tests.") };
        let at = self.list.selected();
        self.select(match forward {
            true if at < last => at + 1,
            true => 0,
            false => at.checked_sub(1).map_or(last, |before| before.min(last)),
        });
    }

    /// Moves to the next or the previous test whose name, suite, class or message contains the search text; returns
    /// `false` if there is none.
    fn find(&mut self, forward: bool, from_here: bool) -> bool {
        let words = self.query.to_lowercase();
        let len = self.len();
        let at = self.list.selected().min(len);
        let fits = |index: &usize| {
            self.report.as_ref().and_then(|report| report.cases.get(*index)).is_some_and(|case| {
                [&case.name, &case.suite, &case.class, &case.message]
                    .iter()
                    .any(|text| text.to_lowercase().contains(&words))
            })
        };
        let found = match forward {
            true => (at + usize::from(!from_here)..len).chain(0..at).find(fits),
            false => (0..at).rev().chain((at..len).rev()).find(fits),
        };
        if let Some(index) = found {
            self.select(index);
        }
        found.is_some()
    }

    fn select(&mut self, index: usize) {
        let len = self.len();
        self.list.select(index, len);
        self.output_scroll = DocState::default();
    }

    /// Moves the cursor, or scrolls the details; returns `false` if a motion to the left would leave the table.
    pub fn motion(&mut self, motion: Motion) -> bool {
        let len = self.len();
        let lines = self.case().map_or(0, |case| self.lines(case).len());
        match motion {
            Motion::Left if self.shows_full_output && self.output_scroll.left > 0 => {
                self.output_scroll.scroll_columns_by(-(doc::SCROLL_COLUMNS as isize))
            }
            Motion::Left if self.shows_full_output => self.shows_full_output = false,
            Motion::Left => return false,
            Motion::Right if self.shows_full_output => {
                self.output_scroll.scroll_columns_by(doc::SCROLL_COLUMNS as isize)
            }
            Motion::Right => {}
            Motion::First if self.shows_full_output => self.output_scroll.first(),
            Motion::Last if self.shows_full_output => self.output_scroll.last(lines),
            Motion::Wheel(rows) if self.shows_full_output => self.output_scroll.scroll_by(rows.into(), lines),
            other if self.shows_full_output => {
                if let Some(rows) = other.rows(self.output_scroll.height()) {
                    self.output_scroll.move_by(rows, lines);
                }
            }
            other => {
                let before = self.list.selected();
                other.apply(&mut self.list, len);
                if self.list.selected() != before {
                    self.output_scroll = DocState::default();
                }
            }
        }
        true
    }

    /// Returns whether the table was last drawn at that cell.
    pub fn contains(&self, column: u16, row: u16) -> bool {
        self.area.get().contains((column, row).into())
    }

    /// Forgets the clickable area, because the table is not drawn.
    pub fn hide(&self) {
        self.area.set(Rect::default());
    }

    /// Returns the lines of a test's details with their roles.
    fn lines<'a>(&self, case: &'a Case) -> Vec<(std::borrow::Cow<'a, str>, Role)> {
        let mut lines = Vec::new();
        for SourceLocation { path, line } in case.source_locations().into_iter().take(1) {
            let line = line.map_or_else(String::new, |line| format!(":{line}"));
            lines.push((format!("{} {path}{line}", glyph::enter()).into(), Role::Link));
        }
        let message = if case.text.is_empty() { &case.message } else { &case.text };
        let role = if case.verdict.is_failure() { Role::Text } else { Role::Dim };
        lines.extend(message.lines().map(|line| (line.into(), role)));
        if !case.output.is_empty() {
            lines.push(("output".into(), Role::TitleDim));
            lines.extend(case.output.lines().map(|line| (line.into(), Role::Dim)));
        }
        lines
    }

    /// Draws the table and the details of the selected test.
    pub fn draw(&self, view: &View, area: Rect, buf: &mut Buffer, focused: bool) {
        let (Some(report), theme) = (&self.report, view.theme) else { return };
        let mut area = area;
        if let Some(why) = report.broken.as_ref().filter(|_| area.height > 3) {
            let words = format!(" {} Incomplete: {}", glyph::warning(), text::sanitize(why));
            Line::new(words, Role::Warning).draw(buf, Rect { height: 1, ..area }, theme);
            area = Rect { y: area.y + 1, height: area.height - 1, ..area };
        }
        let lines = self.case().map(|case| self.lines(case)).unwrap_or_default();
        if self.shows_full_output {
            self.area.set(area);
            return draw_lines(buf, area, theme, focused, &self.output_scroll, &lines);
        }
        // The table keeps at least half of the height; the details take what they need of the rest.
        let below = if lines.is_empty() || area.height < 8 {
            0
        } else {
            popup::saturating_rows(lines.len() + 1).min(area.height / 2)
        };
        let top = Rect { height: area.height - below, ..area };
        self.area.set(top);
        table::draw(buf, top, theme, focused, &self.list, &columns(top.width), report.cases.len(), &|index| {
            report.cases.get(index).map(|case| row(case, self.history(case))).unwrap_or_default()
        });
        if below > 0 {
            let area = Rect { y: top.bottom(), height: below, ..area };
            let name = self.case().map_or("", |case| case.name.as_str());
            let body = crate::ui::panels::title(buf, area, theme, false, name, "");
            let still = DocState { cursor_line: false, ..DocState::default() };
            draw_lines(buf, body, theme, false, &still, &lines);
        }
    }
}

impl Pane for TestReportView {
    fn wants(&self, _view: &View) -> Vec<Want> {
        Vec::new()
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.draw(view, area, buf, true);
    }

    fn motion(&mut self, motion: Motion, _cx: &mut Cx) {
        TestReportView::motion(self, motion);
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        match pointer {
            Pointer::Wheel { rows, .. } => _ = TestReportView::motion(self, Motion::Wheel(rows)),
            Pointer::Press { row, double, .. } if !self.shows_full_output => {
                let index = row.checked_sub(self.area.get().y).and_then(|y| self.list.row_at(y));
                let Some(index) = index.filter(|_| self.report.is_some()) else { return };
                self.select(index);
                if double {
                    self.open_case(cx);
                }
            }
            _ => {}
        }
    }

    fn search_mode(&self) -> Option<SearchMode> {
        Some(SearchMode::Search)
    }

    fn filter_text(&self) -> String {
        self.query.clone()
    }

    fn set_filter_text(&mut self, text: &str, _cx: &mut Cx) {
        self.query = text.to_owned();
        if !text.is_empty() {
            self.find(true, true);
        }
    }

    fn next_match(&mut self, forward: bool, cx: &mut Cx) {
        if self.query.is_empty() {
            return cx.say(Tone::Info, "No search yet: ‹seek› starts one.");
        }
        if !self.find(forward, false) {
            cx.say(Tone::Info, list::not_found(&self.query, false));
        }
    }

    fn escape(&mut self, _cx: &mut Cx) -> bool {
        std::mem::take(&mut self.shows_full_output) || !std::mem::take(&mut self.query).is_empty()
    }

    fn copies(&self, _view: &View) -> Vec<Clip> {
        self.case().map(|case| Clip::line("the test's name", case.name.clone())).into_iter().collect()
    }
}

fn draw_lines(
    buf: &mut Buffer,
    area: Rect,
    theme: &Theme,
    focused: bool,
    state: &DocState,
    lines: &[(std::borrow::Cow<'_, str>, Role)],
) {
    doc::draw(buf, area, theme, focused, state, lines.len(), 1, &|index| match lines.get(index) {
        Some((words, role)) => DocLine::new(words.as_ref(), theme.style(*role)),
        None => DocLine::default(),
    });
}

fn row(case: &Case, history: (String, Role)) -> TableRow<'static> {
    let (sign, role) = sign(case.verdict);
    let name = if case.verdict == Verdict::Passed { Role::Dim } else { Role::Text };
    let message_role = if case.verdict.is_failure() { Role::Text } else { Role::Dim };
    TableRow::new(vec![
        (sign, role).into(),
        (case.name.clone(), name).into(),
        (case.scope(), Role::Dim).into(),
        history.into(),
        (case.message.clone(), message_role).into(),
        (case.time.map(seconds).unwrap_or_default(), Role::Dim).into(),
    ])
}
