//! A test report as a table, with failures first. The details of the selected test are shown below it, or in its place.

use crate::api::test_reports::TestTotals;
use crate::api::{Error, Fault, GitRef, Id};
use crate::app::clip::Clip;
use crate::app::command::{Command, Commands, Table};
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::custom::InputKind;
use crate::app::motion::Motion;
use crate::app::pane::{CommandInput, Pane, SearchMode};
use crate::app::place::Place;
use crate::app::pointer::Pointer;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::domain::junit::{Case, ESCAPE_CHARACTER, Outcomes, Report, Verdict};
use crate::domain::source_location::SourceLocation;
use crate::parts::ci::source_lookup;
use crate::parts::list;
use crate::store::Want;
use crate::ui::ansi::{self, SgrState};
use crate::ui::doc::{self, DocLine, DocState};
use crate::ui::drawn::Drawn;
use crate::ui::layers::blend;
use crate::ui::line::Line;
use crate::ui::table::{self, ListState, Size, TableColumn, TableRow};
use crate::ui::theme::{Role, Theme};
use crate::ui::{glyph, popup, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use serde_json::json;
use std::borrow::Cow;
use std::sync::Arc;

/// The maximum number of attached files that the details name.
const MAX_NAMED_FILES: usize = 3;

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

/// The project and the commit of a report.
#[derive(Clone, Debug, Default)]
pub struct ReportContext {
    /// The commit or ref at which the sources of tests are opened.
    pub git_ref: Option<GitRef>,
    /// The full path of the project.
    pub project_path: String,
    /// The artifacts with the report and the files that its tests attach.
    pub artifacts: Option<Place>,
}

/// A place that shows a test report.
pub trait ShowsTests: Commands {
    /// Returns the reason why no test is selected, if none is.
    fn need_test(&self, view: &View) -> Result<(), Disabled>;
    /// Returns the report, to move in it.
    fn tests_mut(&mut self) -> &mut TestReportView;

    /// The way from test to test, and what is shown of one.
    const TESTS: Table<Self, Self::Row> = &[
        Command::new(".expand", &["x"], "Toggle full test output", |pane: &mut Self, _| {
            pane.tests_mut().toggle_full_output();
        })
        .footer("output")
        .when(Self::need_test),
        Command::new(".next_error", &["e"], "Next failed test", |pane: &mut Self, cx| {
            pane.tests_mut().next_failed(true, cx);
        })
        .footer("failed")
        .when(Self::need_test),
        Command::new(".previous_error", &["E"], "Previous failed test", |pane: &mut Self, cx| {
            pane.tests_mut().next_failed(false, cx);
        })
        .when(Self::need_test),
    ];
}

/// A test report, as a part that can have the focus.
#[derive(Default)]
pub struct TestReportView {
    project: Id,
    report: Option<Arc<Report>>,
    /// The reports of recent pipelines, if they are known.
    recent: Vec<Arc<Outcomes>>,
    context: ReportContext,
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
        Verdict::Failed | Verdict::Error | Verdict::SuiteError => {
            (glyph::or_word(glyph::wrong(), "failed"), Role::Failed)
        }
        Verdict::Flaky => (glyph::or_word(glyph::warning(), "flaky"), Role::Warning),
        Verdict::Skipped => glyph::status("skipped"),
        Verdict::Passed => (glyph::or_word(glyph::done(), "passed"), Role::Success),
    }
}

/// Returns the word for a verdict that a command gets.
fn status(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Failed => "failed",
        Verdict::Error | Verdict::SuiteError => "error",
        Verdict::Flaky => "flaky",
        Verdict::Skipped => "skipped",
        Verdict::Passed => "passed",
    }
}

/// Returns the summary of a report, in one line.
pub fn summary(report: &Report) -> String {
    let count = |verdict: Verdict| report.count(verdict) as u64;
    let (suites, flaky, reruns) = (count(Verdict::SuiteError), count(Verdict::Flaky), report.reruns() as u64);
    let others = [
        (suites, text::count_noun(suites, "suite error")),
        (flaky, format!("{} flaky", text::count(flaky))),
        (reruns, text::count_noun(reruns, "rerun")),
    ];
    let failed = count(Verdict::Failed) + count(Verdict::Error);
    let totals = TestTotals {
        time: report.time(),
        count: report.tests() as u64,
        failed,
        skipped: count(Verdict::Skipped),
        ..TestTotals::default()
    };
    facts(&totals, others.into_iter().filter(|(count, _)| *count > 0).map(|(_, words)| words), failed + suites == 0)
}

/// Returns the placeholder if the server has no test reports.
pub fn refused(error: &Error) -> Option<(&'static str, &'static str)> {
    let why = "This server has no test reports of pipelines.";
    matches!(error.fault, Fault::Unsupported(_)).then_some((why, "A job's artifacts (A) may contain the report"))
}

/// Returns the summary for totals, in one line.
pub fn totals(totals: &TestTotals) -> String {
    facts(totals, std::iter::empty(), totals.failed.saturating_add(totals.error) == 0)
}

fn facts(totals: &TestTotals, others: impl Iterator<Item = String>, has_passed: bool) -> String {
    let failed = totals.failed.saturating_add(totals.error);
    let mut facts = vec![text::count_noun(totals.count, "test")];
    let counted = [(failed, "failed"), (totals.skipped, "skipped")].into_iter().filter(|(count, _)| *count > 0);
    facts.extend(counted.map(|(count, word)| format!("{} {word}", text::count(count))));
    facts.extend(others);
    if has_passed && totals.count > 0 {
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

impl TestReportView {
    /// Creates the view without a report.
    pub fn new(project: &Id) -> TestReportView {
        TestReportView { project: project.clone(), ..TestReportView::default() }
    }

    /// Shows a report; the cursor stays on its row.
    pub fn show(&mut self, report: Option<Arc<Report>>, context: ReportContext) {
        (self.report, self.context) = (report, context);
    }

    /// Shows which failed tests failed in recent pipelines, too.
    pub fn show_recent(&mut self, recent: Vec<Arc<Outcomes>>) {
        self.recent = recent;
    }

    /// Returns how a test did in other runs, and in recent pipelines.
    fn history(&self, case: &Case) -> (String, Role) {
        if case.verdict == Verdict::Flaky {
            return (format!("flaky: failed {} of {}", case.reruns, case.reruns + 1), Role::Warning);
        }
        if !case.verdict.is_failure() {
            return (String::new(), Role::Dim);
        }
        let ran: Vec<bool> = self.recent.iter().filter_map(|outcomes| outcomes.failed(case)).collect();
        let failed = ran.iter().filter(|failed| **failed).count();
        match (failed, ran.len(), &case.recent_failures) {
            (0, _, Some(told)) => {
                let times =
                    if told.count == 1 { "once".to_owned() } else { format!("{} times", text::count(told.count)) };
                (format!("failed {times} on {}", text::sanitize(&told.base_branch)), Role::Dim)
            }
            _ if case.reruns > 0 => (format!("failed all {} runs", case.reruns + 1), Role::Dim),
            (_, 0, _) if self.recent.is_empty() => (String::new(), Role::Dim),
            (_, 0, _) => ("new test".into(), Role::Dim),
            (0, ..) => ("new failure".into(), Role::Failed),
            (failed, ran, _) if failed == ran => (format!("failed in all of the last {ran}"), Role::Dim),
            (failed, ran, _) => (format!("flaky: {failed} of the last {ran}"), Role::Warning),
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

    /// Returns the source locations of a test that may be in the repository.
    fn locations(&self, case: &Case) -> Vec<SourceLocation> {
        let may_exist = |location: &SourceLocation| !location.paths(&self.context.project_path).is_empty();
        case.source_locations().into_iter().filter(may_exist).collect()
    }

    /// Returns the attached files of a test, in the artifacts of its job.
    fn attachments(&self, case: &Case) -> Vec<(String, Place)> {
        let of_job = |job: u64| Place::new("artifacts").project(self.project.clone()).item(job);
        let artifacts = case.attachment_job.map(of_job).or_else(|| self.context.artifacts.clone());
        let Some(artifacts) = artifacts else { return Vec::new() };
        let file = |path: &String| (text::sanitize(path).into_owned(), artifacts.clone().path(path.clone()));
        case.attachments.iter().map(file).collect()
    }

    /// Opens the source or the attached file of the selected test. If it names none, toggles its full output.
    pub fn open_case(&mut self, cx: &mut Cx) {
        let Some(case) = self.case() else { return };
        let (locations, files) = (self.locations(case), self.attachments(case));
        if locations.is_empty() && files.is_empty() {
            return self.toggle_full_output();
        }
        source_lookup::open(&self.project, self.context.git_ref.clone(), locations, files, cx);
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
    fn lines<'a>(&self, case: &'a Case) -> Vec<(Cow<'a, str>, Role)> {
        let mut lines = Vec::new();
        let location = self.locations(case).into_iter().next().map(|location| {
            let path = location.paths(&self.context.project_path).pop().filter(|_| !location.is_suffix());
            source_lookup::label(&path.unwrap_or(location.path), location.line)
        });
        let files = self.attachments(case).into_iter().map(|(label, _)| label).take(MAX_NAMED_FILES);
        lines.extend(
            location.into_iter().chain(files).map(|label| (format!("{} {label}", glyph::enter()).into(), Role::Link)),
        );
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
        // The table keeps at least half of the height; the details take what they need of the rest. In accessible mode, they
        // are shown only instead of it, as they would change with the cursor.
        let below = if lines.is_empty() || area.height < 8 || glyph::is_accessible() {
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
    fn command_input(&self, kind: InputKind, _view: &View) -> Result<CommandInput, Disabled> {
        let case = self.case().filter(|_| kind == InputKind::Test).ok_or_else(|| kind.missing())?;
        let location = self.locations(case).into_iter().next();
        let json = json!({
            "project": self.context.project_path, "ref": self.context.git_ref.as_ref().map(|name| name.short()),
            "name": case.name, "class": case.class, "suite": case.suite, "status": status(case.verdict),
            "time": case.time, "path": location.as_ref().map(|location| location.path.as_str()),
            "line": location.as_ref().and_then(|location| location.line),
            "message": case.message, "text": case.text, "output": case.output,
        });
        Ok(CommandInput::only(move || json))
    }

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

    fn search(&self) -> Option<(SearchMode, String)> {
        Some((SearchMode::Search, self.query.clone()))
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
    lines: &[(Cow<'_, str>, Role)],
) {
    doc::draw(buf, area, theme, focused, state, lines.len(), 1, &|index| match lines.get(index) {
        Some((words, role)) => colored(words, theme.style(*role), theme),
        None => DocLine::default(),
    });
}

/// Returns a line with its escape sequences drawn as colors.
fn colored<'a>(words: &'a str, style: Style, theme: &Theme) -> DocLine<'a> {
    if !words.contains(ESCAPE_CHARACTER) {
        return DocLine::new(words, style);
    }
    let line = ansi::parse_line(&mut SgrState::default(), words.as_bytes());
    let spans = blend(&line.text, style, &[&line.layer(theme)]).spans;
    spans.into_iter().map(|span| (span.text.into_owned(), span.paint)).collect::<Line>().into()
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
