//! The test report of a pipeline, as provided by the server: failed tests first, and the output of each test.

use crate::api::test_reports::{GetTestReport, TestReport};
use crate::api::{GitRef, Id};
use crate::app::clip::Clip;
use crate::app::command::Command;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pane::{Breadcrumb, Pane, PaneKind, SearchMode};
use crate::app::place::Place;
use crate::app::place_info::Needs;
use crate::app::pointer::Pointer;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::domain::junit::{Case, Report};
use crate::parts::list::{self, draw_error};
use crate::parts::{ci, pipelines, project, test_report};
use crate::store::{Load, Want};
use crate::ui::state;
use crate::ui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;

/// The test report of a pipeline.
pub struct TestReportPane {
    project: Id,
    pipeline: u64,
    table: test_report::Table,
    /// The search text.
    query: String,
}

impl TestReportPane {
    /// Returns the request for the report. Its reply is converted to a [`Report`] in the background, when it is parsed.
    fn load(&self) -> Load {
        let load = Load::single(&GetTestReport { id: self.project.clone(), pipeline_id: self.pipeline });
        Load {
            request: load.request.read_as::<Report>(),
            read: |body, kind| {
                <TestReport as crate::api::Reply>::read(body, kind)
                    .map(|report| (Arc::new(Report::from(report)) as _, 1))
            },
            ..load
        }
    }

    fn report<'a>(&self, view: &View<'a>) -> Option<&'a Report> {
        view.store.read_as(&self.load().request)
    }

    fn case<'a>(&self, view: &View<'a>) -> Option<&'a Case> {
        self.table.case(self.report(view)?)
    }

    fn has_case(&self, view: &View) -> Result<(), Disabled> {
        match self.report(view) {
            None if view.store.error_of(&self.load().request).is_some() => Err("the report could not be loaded".into()),
            None => Err("the report is still loading".into()),
            Some(_) => self.case(view).map(|_| ()).ok_or_else(|| "no test is selected".into()),
        }
    }

    fn open_case(&mut self, cx: &mut Cx) {
        let Some(case) = self.case(&cx.view) else { return };
        let sha = pipelines::known(&cx.view, &self.project, self.pipeline).value.map(|pipeline| pipeline.sha.clone());
        let sha = sha.filter(|sha| !sha.is_empty());
        if !test_report::open_source(case, &self.project, sha.map(GitRef::from), cx) {
            self.table.toggle_full_output();
        }
    }

    fn failed(&mut self, forward: bool, cx: &mut Cx) {
        if let Some(report) = self.report(&cx.view)
            && !self.table.next_failed(report, forward)
        {
            cx.say(Tone::Good, "No failed tests.");
        }
    }

    fn search(&mut self, forward: bool, from_here: bool, view: &View) -> bool {
        self.report(view).is_some_and(|report| self.table.next_match(report, &self.query, forward, from_here))
    }
}

impl PaneKind for TestReportPane {
    const ID: &'static str = "tests";
    const TITLE: &'static str = "Test report of a pipeline";
    const NEEDS: Needs = Needs::Item;
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("tests.open", &["Enter"], "Open source of test", Self::open_case)
            .footer("source")
            .when(Self::has_case),
        Command::new("tests.expand", &["x"], "Toggle full test output", |pane: &mut Self, _| {
            pane.table.toggle_full_output()
        })
        .footer("output")
        .when(Self::has_case),
        Command::new("tests.next_error", &["e"], "Next failed test", |pane: &mut Self, cx| pane.failed(true, cx))
            .footer("failed")
            .when(Self::has_case),
        Command::new("tests.previous_error", &["E"], "Previous failed test", |pane: &mut Self, cx| {
            pane.failed(false, cx);
        })
        .when(Self::has_case),
        Command::new("tests.pipeline", &["p"], "Open pipeline", |pane: &mut Self, cx| {
            cx.go(pipelines::place(&pane.project, pane.pipeline));
        })
        .footer("pipeline"),
    ];

    fn open(place: &Place, _view: &View) -> Self {
        TestReportPane {
            project: place.project.clone().unwrap_or_default(),
            pipeline: place.item.as_deref().and_then(|id| id.parse().ok()).unwrap_or_default(),
            table: test_report::Table::default(),
            query: String::new(),
        }
    }
}

impl Pane for TestReportPane {
    fn place(&self) -> Place {
        pipelines::tests(&self.project, self.pipeline)
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = project::breadcrumbs(view, &self.project);
        let name = format!("pipeline {}", self.pipeline);
        breadcrumbs.push(Breadcrumb::new(name, Role::Link).to(pipelines::place(&self.project, self.pipeline)));
        breadcrumbs.push(Breadcrumb::new("test report", Role::Title));
        breadcrumbs.extend(self.report(view).map(|report| Breadcrumb::new(test_report::summary(report), Role::Dim)));
        breadcrumbs
    }

    fn wants(&self, _view: &View) -> Vec<Want> {
        let mut wants: Vec<Want> = vec![self.load().into()];
        wants.extend(ci::want_path(&self.project));
        wants.push(Load::single(&pipelines::query(&self.project, self.pipeline)).optional().into());
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.table.hide();
        let load = self.load();
        match (self.report(view), view.store.error_of(&load.request)) {
            (Some(report), error) if !report.cases.is_empty() || report.broken.is_some() => {
                let area = list::draw_error_line(view, area, buf, error);
                self.table.draw(view, area, buf, true, report);
            }
            (_, Some(error)) => match test_report::refused(error) {
                Some((why, hint)) => view.draw_empty(buf, area, why, hint),
                None => draw_error(view, area, buf, error),
            },
            (Some(_), None) => {
                let why = "This pipeline has no test report.";
                view.draw_empty(
                    buf,
                    area,
                    why,
                    "Reports are there once a pipeline with `artifacts:reports:junit` has finished",
                );
            }
            (None, None) => state::skeleton(buf, area, view.theme),
        }
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        if let Some(report) = self.report(&cx.view) {
            self.table.motion(motion, report);
        }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        if let Some(report) = self.report(&cx.view)
            && self.table.pointer(pointer, report)
        {
            self.open_case(cx);
        }
    }

    fn search_mode(&self) -> Option<SearchMode> {
        Some(SearchMode::Search)
    }

    fn filter_text(&self) -> String {
        self.query.clone()
    }

    fn set_filter_text(&mut self, text: &str, cx: &mut Cx) {
        self.query = text.to_owned();
        if !text.is_empty() {
            self.search(true, true, &cx.view);
        }
    }

    fn next_match(&mut self, forward: bool, cx: &mut Cx) {
        if self.query.is_empty() {
            return cx.say(Tone::Info, "No search yet: ‹seek› starts one.");
        }
        if !self.search(forward, false, &cx.view) {
            cx.say(Tone::Info, list::not_found(&self.query, false));
        }
    }

    fn escape(&mut self, _cx: &mut Cx) -> bool {
        self.table.leave_full_output() || !std::mem::take(&mut self.query).is_empty()
    }

    fn url(&self, view: &View) -> Option<String> {
        Some(project::page(view, &self.project, &format!("/-/pipelines/{}/test_report", self.pipeline)))
    }

    fn copies(&self, view: &View) -> Vec<Clip> {
        self.case(view).map(|case| vec![Clip::line("the test's name", case.name.clone())]).unwrap_or_default()
    }
}
