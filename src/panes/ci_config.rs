//! The CI configuration of a ref: its jobs by stage, the file as it is written with the server's messages at their lines,
//! and the configuration as the server merges it.

use crate::api::identity::GetMetadata;
use crate::api::lint::{Include, Lint, LintJob, LintProject, Need, Policy};
use crate::api::repository::GetRawFile;
use crate::api::{GitRef, Id, Raw};
use crate::app::clip::Clip;
use crate::app::command::Command;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pane::{Breadcrumb, Pane, PaneKind, Tabs};
use crate::app::permission;
use crate::app::place::Place;
use crate::app::pointer::Pointer;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::domain::ci_config::{defined_name, defines, line_of, rules_by_job};
use crate::parts::ci::ci_file;
use crate::parts::list::draw_error;
use crate::parts::repository::staging_area::{StagingArea, document};
use crate::parts::text::links::{self, TextOrigin};
use crate::parts::{forms, project};
use crate::store::{Canceled, Derive, Load, Remote, Want, Work};
use crate::ui::code::{self, Budget, Language, Spans, Text};
use crate::ui::doc::{self, DocLine, DocState};
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::{glyph, state, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::HashMap;
use std::sync::Arc;

/// The titles of the tabs.
const TABS: &[&str] = &["Jobs", "Written", "Merged"];
const JOBS: usize = 0;
const WRITTEN: usize = 1;
const MERGED: usize = 2;
/// The name of the file, if it is not known.
const FILE: &str = ".gitlab-ci.yml";
/// The maximum number of lines of a script that are shown with its job.
const MAX_COMMANDS: usize = 20;
/// The maximum number of lines of the rules of a job that are shown.
const MAX_RULES: usize = 20;
/// The estimated size of a row in bytes.
const ROW_BYTES: usize = 128;
/// The message in place of a file that was not read.
const NO_FILE: &str = "The file cannot be read.";
/// The maximum number of errors and warnings that are shown.
const MAX_MESSAGES: usize = 200;
/// The start of the error about a commit without a configuration.
const NO_CONTENT: &str = "Please provide content of";
/// The versions since which servers check the configuration of another commit than that of the default branch: first
/// under the name `sha`, then under `content_ref`.
const SINCE_SHA: (u32, u32) = (16, 5);
const SINCE_CONTENT_REF: (u32, u32) = (16, 10);

/// The CI configuration of a ref.
pub struct CiConfig {
    project: Id,
    git_ref: Option<GitRef>,
    tab: usize,
    docs: [DocState; 3],
    /// The key of the report that is shown.
    key: Option<String>,
}

/// A line of a tab.
enum Row {
    /// A line of the text, from 0.
    Code(usize),
    /// An error or a warning.
    Message(Line<'static>),
    Fact(Line<'static>),
    /// A fact with what Enter opens.
    Link(Line<'static>, LineTarget),
}

/// The target of a line of the jobs.
#[derive(Clone)]
enum LineTarget {
    /// The address of an included file.
    Address(String),
    /// The definition of a job.
    Job(String),
}

/// The lines of a tab.
#[derive(Default)]
struct TabSheet {
    text: Text,
    spans: Vec<Spans>,
    rows: Vec<Row>,
}

impl TabSheet {
    fn line<'a>(&'a self, at: usize, view: &View) -> DocLine<'a> {
        match self.rows.get(at) {
            Some(Row::Code(line)) => code::draw(&self.text, *line, self.spans.get(*line), view.theme),
            Some(Row::Message(line) | Row::Fact(line) | Row::Link(line, _)) => {
                DocLine { text: line.borrowed(), ..DocLine::default() }
            }
            None => DocLine::default(),
        }
    }
}

/// The tabs of a configuration.
struct Report {
    sheets: [TabSheet; 3],
}

/// The computation of a report.
struct MakeReport {
    key: String,
    /// The result of the check; `None` if the server refused it.
    lint: Option<Arc<Lint>>,
    written: Option<Arc<Raw>>,
    file: String,
    /// The branch that the server checked, if that is not the one that is shown.
    checked: Option<String>,
}

/// Returns a text with its colors, and the messages before the lines that they are about.
fn code_sheet(source: &str, messages: &[(String, Role)], canceled: Canceled<'_>) -> TabSheet {
    let text = Text::new(source.as_bytes().to_vec());
    let yaml = Language::detect(FILE, "");
    let lines = (0..text.len()).map(|line| text.line(line));
    let spans = yaml.map(|yaml| code::highlight_lines(yaml, lines, &Budget::new(canceled))).unwrap_or_default();
    let mut at_lines: Vec<(usize, usize)> = Vec::new();
    let mut rows = Vec::new();
    for (index, (message, role)) in messages.iter().enumerate() {
        match line_of(source, message).filter(|line| (1..=text.len()).contains(line)) {
            Some(line) => at_lines.push((line - 1, index)),
            None => rows.push(Row::Message(message_line(message, *role))),
        }
    }
    at_lines.sort_unstable();
    let mut next = at_lines.into_iter().peekable();
    for line in 0..text.len() {
        rows.push(Row::Code(line));
        while let Some((_, index)) = next.next_if(|(at, _)| *at == line) {
            rows.extend(messages.get(index).map(|(message, role)| Row::Message(message_line(message, *role))));
        }
    }
    TabSheet { text, spans, rows }
}

fn message_line(message: &str, role: Role) -> Line<'static> {
    let mark = if role == Role::Failed { glyph::wrong() } else { glyph::or_word("!", "warning:") };
    Line::new(format!("     {mark} {}", text::sanitize(&message.replace('\n', " "))), role)
}

/// Returns a policy in words; `None` if it is that of jobs without one.
fn policy_words(policy: &Policy) -> Option<String> {
    let Policy { refs, variables, changes } = policy;
    let is_usual = refs.as_deref().is_some_and(|refs| refs == ["branches", "tags"]);
    let refs = refs.as_ref().filter(|_| !is_usual || variables.is_some() || changes.is_some());
    let parts = [
        refs.map(|refs| refs.join(", ")),
        variables.as_ref().map(|conditions| format!("if {}", conditions.join(" or "))),
        changes.as_ref().map(|paths| format!("with changes of {}", paths.join(", "))),
    ];
    let words: Vec<String> = parts.into_iter().flatten().collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Returns the names of the jobs that a job needs.
fn need_words(needs: &[Need]) -> String {
    let name = |need: &Need| format!("{}{}", need.name, if need.optional { " (optional)" } else { "" });
    match needs {
        [] => "nothing: starts at once".to_owned(),
        needs => needs.iter().map(name).collect::<Vec<_>>().join(", "),
    }
}

/// Returns the facts about jobs, by stage in the order of their first job. `rules` are the lines with their rules.
fn job_rows(jobs: &[LintJob], rules: &HashMap<&str, Vec<&str>>) -> Vec<Row> {
    let mut stages: Vec<&str> = Vec::new();
    for job in jobs {
        if !stages.contains(&job.stage.as_str()) {
            stages.push(&job.stage);
        }
    }
    let mut rows = Vec::new();
    for stage in stages {
        rows.push(Row::Fact(Line::empty()));
        rows.push(Row::Fact(Line::new(text::sanitize(stage).into_owned(), Role::Title)));
        for job in jobs.iter().filter(|job| job.stage == stage) {
            let mut line = Line::new(format!("  {}", text::sanitize(&job.name)), Role::Label);
            if !matches!(job.when.as_str(), "" | "on_success") {
                line.push(format!("  {}", text::sanitize(&job.when)), Role::Warning);
            }
            if job.allow_failure {
                line.push("  allowed to fail", Role::Dim);
            }
            if let Some(environment) = job.environment.as_deref().filter(|name| !name.is_empty()) {
                line.push(format!("  to {}", text::sanitize(environment)), Role::Ref);
            }
            if !job.tag_list.is_empty() {
                line.push(format!("  on {}", text::sanitize(&job.tag_list.join(", "))), Role::Dim);
            }
            rows.push(Row::Link(line, LineTarget::Job(job.name.clone())));
            let mut fact = |label: &str, words: &str| {
                let label = Line::new(format!("      {label:<7}"), Role::Dim);
                rows.push(Row::Fact(label.and(text::sanitize(words).into_owned(), Role::Text)));
            };
            if let Some(needs) = &job.needs {
                fact("needs", &need_words(needs));
            }
            for (label, policy) in [("only", &job.only), ("except", &job.except)] {
                if let Some(words) = policy.as_ref().and_then(policy_words) {
                    fact(label, &words);
                }
            }
            let rules = rules.get(job.name.as_str()).or_else(|| rules.get(defined_name(&job.name)));
            let rules = rules.map(Vec::as_slice).unwrap_or_default();
            for (index, rule) in rules.iter().take(MAX_RULES).enumerate() {
                fact(if index == 0 { "rules" } else { "" }, rule);
            }
            if rules.len() > MAX_RULES {
                fact("", glyph::ellipsis());
            }
            let commands = job.before_script.iter().chain(&job.script).chain(&job.after_script);
            for command in commands.take(MAX_COMMANDS) {
                let first = command.lines().next().unwrap_or_default();
                rows.push(Row::Fact(Line::new(format!("      $ {}", text::sanitize(first)), Role::Dim)));
            }
        }
    }
    rows
}

/// Returns the line about an included file.
fn include_row(include: &Include) -> Row {
    let Include { r#type, location, context_project, blob, raw, extra } = include;
    let mut line = Line::new(format!("  {:<10}", text::sanitize(r#type)), Role::Dim)
        .and(text::sanitize(location).into_owned(), Role::Text);
    // Of a file in another project, the context is only where it is included.
    let project = extra.project.as_ref().or(context_project.as_ref().filter(|_| r#type == "local"));
    if let Some(project) = project {
        line.push(format!("  {}", text::sanitize(project)), Role::Dim);
    }
    if let Some(name) = &extra.r#ref {
        line.push(format!("  {}", text::sanitize(name)), Role::Ref);
    }
    match blob.as_ref().or(raw.as_ref()) {
        Some(address) => Row::Link(line, LineTarget::Address(address.clone())),
        None => Row::Fact(line),
    }
}

impl Derive for MakeReport {
    type Output = Report;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn run(&self, canceled: Canceled<'_>) -> Report {
        let is_shown = self.checked.is_none();
        let written = self.written.as_ref().map(|raw| String::from_utf8_lossy(&raw.bytes).into_owned());
        let sheet_of = |text: &Option<String>, messages: &[(String, Role)], why: &str| match text {
            Some(text) => code_sheet(text, messages, canceled),
            None => code_sheet("", &[(why.to_owned(), Role::Dim)], canceled),
        };
        let Some(lint) = &self.lint else {
            let written = sheet_of(&written, &[], NO_FILE);
            return Report { sheets: [TabSheet::default(), written, TabSheet::default()] };
        };
        let Lint { valid, errors, warnings, includes, jobs, merged_yaml, .. } = &**lint;
        let errors = errors.iter().map(|error| (error.clone(), Role::Failed));
        let warnings = warnings.iter().map(|warning| (warning.clone(), Role::Warning));
        let mut messages: Vec<(String, Role)> = errors.chain(warnings).collect();
        let left_out = messages.len().saturating_sub(MAX_MESSAGES);
        messages.truncate(MAX_MESSAGES);
        let (words, role) = if *valid { ("valid", Role::Success) } else { ("invalid", Role::Failed) };
        let file = text::sanitize(&self.file).into_owned();
        let mut rows = vec![Row::Fact(Line::new(format!("{file}: "), Role::Text).and(words, role))];
        if let Some(branch) = &self.checked {
            let words = format!(
                "This is the configuration of {}: this server checks only the default branch (others since GitLab {}.{}).",
                text::sanitize(branch),
                SINCE_SHA.0,
                SINCE_SHA.1
            );
            rows.insert(0, Row::Fact(Line::new(words, Role::Warning)));
        }
        for (message, role) in &messages {
            let line = written.as_ref().filter(|_| is_shown).and_then(|written| line_of(written, message));
            let at = line.map(|line| format!("line {line}: ")).unwrap_or_default();
            rows.push(Row::Message(message_line(&format!("{at}{message}"), *role)));
        }
        if left_out > 0 {
            let words = format!("     {}", text::count_noun(left_out as u64, "more message"));
            rows.push(Row::Fact(Line::new(words, Role::Dim)));
        }
        if !includes.is_empty() {
            rows.push(Row::Fact(Line::empty()));
            rows.push(Row::Fact(Line::new("Included", Role::Title)));
        }
        rows.extend(includes.iter().map(include_row));
        match jobs {
            Some(jobs) => {
                // What the server merges contains the rules of included files and extended jobs.
                let mut rules = written.as_deref().filter(|_| is_shown).map(rules_by_job).unwrap_or_default();
                rules.extend(merged_yaml.as_deref().map(rules_by_job).unwrap_or_default());
                rows.extend(job_rows(jobs, &rules));
            }
            None if *valid => rows.push(Row::Fact(Line::new("This server does not tell the jobs.", Role::Dim))),
            None => {}
        }
        let facts = TabSheet { text: Text::new(Vec::new()), spans: Vec::new(), rows };
        let written = sheet_of(&written, if is_shown { &messages } else { &[] }, NO_FILE);
        let merged = sheet_of(merged_yaml, &[], "The server did not merge it.");
        Report { sheets: [facts, written, merged] }
    }

    fn weight(&self, report: &Report) -> usize {
        let of = |sheet: &TabSheet| {
            sheet.text.bytes_len().saturating_mul(8).saturating_add(sheet.rows.len().saturating_mul(ROW_BYTES))
        };
        report.sheets.iter().map(of).fold(1 << 12, usize::saturating_add)
    }
}

impl CiConfig {
    /// Returns the ref, unless it is the default branch.
    fn other_ref(&self, view: &View) -> Option<&str> {
        let name = self.git_ref.as_ref().map(GitRef::short)?;
        (Some(name) != project::default_branch(view, &self.project)).then_some(name)
    }

    /// Returns the version of the server, if it is known.
    fn release(view: &View) -> Option<(u32, u32)> {
        view.store.get(&GetMetadata {}).value?.release()
    }

    /// Returns the request for the check; `None` while it depends on a version that is not known yet.
    fn lint(&self, view: &View) -> Option<LintProject> {
        let mut lint = LintProject { id: self.project.clone(), include_jobs: Some(true), ..LintProject::default() };
        let Some(name) = self.other_ref(view).map(str::to_owned) else { return Some(lint) };
        let version = view.store.get(&GetMetadata {});
        if version.value.is_none() && version.error.is_none() {
            return None;
        }
        match CiConfig::release(view) {
            Some(release) if release < SINCE_SHA => {}
            Some(release) if release < SINCE_CONTENT_REF => lint.sha = Some(name),
            _ => lint.content_ref = Some(name),
        }
        Some(lint)
    }

    /// Returns the branch that the server checks instead of the ref.
    fn checked<'a>(&self, view: &View<'a>) -> Option<&'a str> {
        let is_old = CiConfig::release(view).is_some_and(|release| release < SINCE_SHA);
        self.other_ref(view).filter(|_| is_old).and_then(|_| project::default_branch(view, &self.project))
    }

    /// Returns whether the commit has no configuration.
    fn is_missing(&self, view: &View) -> bool {
        let is_told = |lint: &Lint| lint.errors.iter().any(|error| error.starts_with(NO_CONTENT));
        self.result(view).is_some_and(|lint| !lint.valid && is_told(lint)) && self.checked(view).is_none()
    }

    /// Returns the staging area in which the file can be created, or the reason why it cannot.
    fn new_file(&self, view: &View) -> Result<StagingArea, Disabled> {
        if !self.is_missing(view) {
            return Err("the file exists; ‹.open› opens it".into());
        }
        if self.git_ref.as_ref().is_some_and(GitRef::is_sha) {
            return Err("this is a commit; open a branch".into());
        }
        let branch = project::branch_at(view, &self.project, self.git_ref.as_ref());
        let branch = branch.ok_or("this is no branch")?;
        StagingArea::of(view, &self.project, &branch).ok_or_else(|| "your account has not loaded yet".into())
    }

    fn create(&mut self, cx: &mut Cx) {
        let file = self.file(&cx.view);
        if let Some((staging_area, file)) = self.new_file(&cx.view).ok().zip(file) {
            document::open(staging_area, file, None, false, cx);
        }
    }

    fn file<'a>(&self, view: &View<'a>) -> Option<&'a str> {
        ci_file::path(view, &self.project)
    }

    fn written(&self, view: &View) -> Option<GetRawFile> {
        ci_file::written(view, &self.project, self.git_ref.as_ref().map(GitRef::short))
    }

    fn linted<'a>(&self, view: &View<'a>) -> Option<Remote<'a, Lint>> {
        self.lint(view).map(|lint| view.store.get(&lint))
    }

    fn result<'a>(&self, view: &View<'a>) -> Option<&'a Lint> {
        self.linted(view)?.value
    }

    /// Returns the key of the report, once both replies are there or one will not come.
    fn report_key(&self, view: &View) -> Option<String> {
        let lint = self.linted(view).filter(|lint| lint.value.is_some() || lint.error.is_some())?;
        let raw = self.written(view).map(|written| view.store.get(&written));
        let is_coming = raw.as_ref().is_some_and(|raw| raw.value.is_none() && raw.error.is_none());
        if is_coming || raw.is_none() && project::project(view, &self.project).is_none() {
            return None;
        }
        let since = raw.and_then(|raw| raw.since);
        let name = self.git_ref.as_ref().map_or("", GitRef::as_str);
        Some(format!("ci config {} {name} {:?} {since:?}", self.project, lint.since))
    }

    /// Returns the computation of the report with that key.
    fn make(&self, key: String, view: &View) -> Option<MakeReport> {
        let lint = self.linted(view)?.arc();
        let written = self.written(view).and_then(|written| view.store.get(&written).arc());
        let checked = self.checked(view).map(str::to_owned);
        Some(MakeReport { key, lint, written, file: self.file(view).unwrap_or(FILE).to_owned(), checked })
    }

    fn sheet<'a>(&self, view: &View<'a>) -> Option<&'a TabSheet> {
        view.store.result::<Report>(self.key.as_deref()?)?.sheets.get(self.tab)
    }

    fn len(&self, view: &View) -> usize {
        self.sheet(view).map_or(0, |sheet| sheet.rows.len())
    }

    fn doc(&mut self) -> Option<&mut DocState> {
        self.docs.get_mut(self.tab)
    }

    /// Returns the line of the file under the cursor, from 0.
    fn line(&self, view: &View) -> Option<usize> {
        let at = self.docs.get(self.tab)?.at(self.len(view));
        match self.sheet(view)?.rows.get(at)? {
            Row::Code(line) if self.tab == WRITTEN => Some(*line),
            _ => None,
        }
    }

    /// Opens what the line under the cursor leads to, or else the file.
    fn open_line(&mut self, cx: &mut Cx) {
        let view = cx.view;
        let link = self.sheet(&view).zip(self.docs.get(self.tab)).and_then(|(sheet, doc)| {
            match sheet.rows.get(doc.at(sheet.rows.len())) {
                Some(Row::Link(_, link)) => Some(link.clone()),
                _ => None,
            }
        });
        match link {
            Some(LineTarget::Address(address)) => _ = links::follow(&TextOrigin::default(), None, &address, cx),
            Some(LineTarget::Job(name)) => self.show_job(&name, cx),
            None => self.open_file(cx),
        }
    }

    /// Shows the definition of a job: as it is written, or else as it is merged from an included file.
    fn show_job(&mut self, name: &str, cx: &mut Cx) {
        let report = self.key.as_deref().and_then(|key| cx.view.store.result::<Report>(key));
        let defined = |tab: usize, name: &str| {
            let sheet = report?.sheets.get(tab)?;
            let is_defined = |row: &Row| matches!(row, Row::Code(line) if defines(sheet.text.line(*line), name));
            Some((tab, sheet.rows.iter().position(is_defined)?, sheet.rows.len()))
        };
        let names = [name, defined_name(name)];
        let Some((tab, row, rows)) =
            [WRITTEN, MERGED].into_iter().find_map(|tab| names.iter().find_map(|name| defined(tab, name)))
        else {
            return cx.say(Tone::Info, format!("The definition of {} was not found.", text::sanitize(name)));
        };
        self.tab = tab;
        if let Some(doc) = self.doc() {
            doc.goto(row, rows);
        }
    }

    fn open_file(&mut self, cx: &mut Cx) {
        let Some(file) = self.file(&cx.view) else {
            return cx.say(Tone::Warning, "The configuration is not in this repository.");
        };
        let mut place = Place::new("files").project(self.project.clone()).path(file);
        place.git_ref = self.git_ref.clone();
        place.line = self.line(&cx.view).and_then(|line| u32::try_from(line + 1).ok());
        cx.go(place);
    }

    fn run(&mut self, cx: &mut Cx) {
        let branch = project::default_branch(&cx.view, &self.project).map(GitRef::branch);
        let on = self.git_ref.clone().or(branch).unwrap_or_default();
        forms::pipeline::run(&self.project, &on).open(cx);
    }

    /// Moves to the next message, or to the previous one.
    fn go_to_message(&mut self, forward: bool, cx: &mut Cx) {
        let view = cx.view;
        let Some(sheet) = self.sheet(&view) else { return };
        let len = sheet.rows.len();
        let here = self.docs.get(self.tab).map_or(0, |doc| doc.at(len));
        let is_message = |at: &usize| matches!(sheet.rows.get(*at), Some(Row::Message(_)));
        let found = match forward {
            true => (here + 1..len).find(is_message),
            false => (0..here).rev().find(is_message),
        };
        match (found, self.docs.get_mut(self.tab)) {
            (Some(at), Some(doc)) => doc.goto(at, len),
            _ => cx.say(Tone::Info, "There are no more messages."),
        }
    }
}

impl PaneKind for CiConfig {
    const ID: &'static str = "ci";
    const COMMANDS: &'static [Command<CiConfig>] = &[
        Command::new("ci.open", &["Enter"], "Open selection", CiConfig::open_line).footer("open"),
        Command::new("ci.next_message", &["}"], "Next message", |pane: &mut CiConfig, cx| pane.go_to_message(true, cx))
            .footer("next message"),
        Command::new("ci.previous_message", &["{"], "Previous message", |pane: &mut CiConfig, cx| {
            pane.go_to_message(false, cx);
        }),
        Command::new("ci.edit", &["e"], "Create file in editor", CiConfig::create)
            .needs(permission::PUSH)
            .when(|pane, view| pane.new_file(view).map(|_| ())),
        Command::new("ci.run", &["+"], "Run pipeline…", CiConfig::run).footer("run").needs(permission::RUN),
    ];

    fn open(place: &Place, _view: &View) -> CiConfig {
        let named = place.tab.as_deref().and_then(|tab| TABS.iter().position(|title| title.eq_ignore_ascii_case(tab)));
        CiConfig {
            project: place.project.clone().unwrap_or_default(),
            git_ref: place.git_ref.clone(),
            tab: named.unwrap_or(JOBS),
            docs: std::array::from_fn(|_| DocState::new()),
            key: None,
        }
    }
}

impl Pane for CiConfig {
    fn place(&self) -> Place {
        let mut place = Place::new(Self::ID).project(self.project.clone());
        place.git_ref = self.git_ref.clone();
        place.tab = TABS.get(self.tab).filter(|_| self.tab != JOBS).map(|title| title.to_lowercase());
        place
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = project::breadcrumbs_at(view, &self.project, self.git_ref.as_ref());
        breadcrumbs.push(Breadcrumb::new("CI configuration", Role::Text));
        if let Some(lint) = self.result(view) {
            let (words, role) = match lint.valid {
                true => ("valid", Role::Success),
                false if self.is_missing(view) => ("no configuration", Role::Dim),
                false => ("invalid", Role::Failed),
            };
            breadcrumbs.push(Breadcrumb::new(words, role));
        }
        breadcrumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants = vec![project::want(&self.project)];
        if self.other_ref(view).is_some() {
            wants.push(Load::single(&GetMetadata {}).optional().into());
        }
        wants.extend(self.lint(view).map(|lint| Load::single(&lint).optional().into()));
        wants.extend(self.written(view).map(|written| Load::single(&written).optional().into()));
        let missing = self.report_key(view).filter(|key| view.store.is_result_missing(key));
        wants.extend(missing.and_then(|key| self.make(key, view)).map(|make| Work::new(make).into()));
        wants
    }

    fn changed(&mut self, cx: &mut Cx) {
        let key = self.report_key(&cx.view);
        if key.as_ref().is_some_and(|key| cx.view.store.result::<Report>(key).is_some()) {
            self.key = key;
        }
    }

    fn tabs(&self) -> Tabs {
        Tabs { titles: TABS, selected: self.tab }
    }

    fn select_tab(&mut self, index: usize, _cx: &mut Cx) {
        self.tab = index.min(MERGED);
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        let len = self.len(&cx.view);
        if let Some(doc) = self.doc() {
            motion.scroll(doc, len);
        }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        if let Pointer::Wheel { rows, .. } = pointer {
            self.motion(Motion::Wheel(rows), cx);
        }
    }

    fn url(&self, view: &View) -> Option<String> {
        let name = self.git_ref.as_ref().map(GitRef::short).or(project::default_branch(view, &self.project))?;
        Some(project::page(view, &self.project, &format!("/-/ci/editor?branch_name={}", project::path(name))))
    }

    fn copies(&self, view: &View) -> Vec<Clip> {
        let merged = self.result(view).and_then(|lint| lint.merged_yaml.clone());
        merged.into_iter().map(|merged| Clip::lines("merged configuration", merged)).collect()
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let lint = self.linted(view);
        if self.is_missing(view) {
            let name = self.git_ref.as_ref().map(GitRef::short).or(project::default_branch(view, &self.project));
            let (name, file) = (text::sanitize(name.unwrap_or("the default branch")), self.file(view).unwrap_or(FILE));
            let why = format!("No CI configuration: {name} has no file {}.", text::sanitize(file));
            return view.draw_empty(buf, area, &why, "‹.edit› creates it: a job is a name with a script below it");
        }
        let refused = lint.and_then(|lint| lint.error.filter(|_| lint.value.is_none()));
        if let Some(error) = refused.filter(|_| self.tab != WRITTEN) {
            return draw_error(view, area, buf, error);
        }
        let (Some(sheet), Some(doc_state)) = (self.sheet(view), self.docs.get(self.tab)) else {
            return state::skeleton(buf, area, view.theme);
        };
        let gutter = match sheet.text.is_empty() {
            true => 0,
            false => u16::try_from(code::gutter(&sheet.text)).unwrap_or(u16::MAX),
        };
        doc::draw(buf, area, view.theme, true, doc_state, sheet.rows.len(), gutter, &|at| sheet.line(at, view));
    }
}
