//! The test report of a pipeline, as provided by the server: failed tests first, the output of each test, and which of
//! them failed in recent pipelines, too.

use crate::api::client::Priority;
use crate::api::pipelines::ListPipelines;
use crate::api::pipelines::resources::{Pipeline, Status};
use crate::api::test_reports::{GetTestReport, TestReport};
use crate::api::{GitRef, Id};
use crate::app::command::{Command, Table};
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::pane::{Breadcrumb, Pane, PaneKind};
use crate::app::place::Place;
use crate::app::view::View;
use crate::domain::junit::{Outcomes, Report};
use crate::parts::ci::test_report::{self, ReportContext, ShowsTests, TestReportView};
use crate::parts::ci::{pipelines, source_lookup};
use crate::parts::list::{self, draw_error};
use crate::parts::{ci, project};
use crate::store::{Load, Want};
use crate::ui::state;
use crate::ui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;

/// The number of earlier pipelines whose reports tell which tests are flaky.
const RECENT_PIPELINES: usize = 10;

/// The test report of a pipeline.
pub struct TestReportPane {
    project: Id,
    pipeline: u64,
    tests: TestReportView,
}

impl TestReportPane {
    /// Returns the request for the report. Its reply is converted to a [`Report`] in the background, when it is parsed.
    fn load(&self) -> Load {
        let load = Load::single(&GetTestReport { id: self.project.clone(), pipeline_id: self.pipeline });
        Load {
            request: load.request.read_as::<Arc<Report>>(),
            read: |body, kind| {
                <TestReport as crate::api::Reply>::read(body, kind)
                    .map(|report| (Arc::new(Arc::new(Report::from(report))) as _, 1))
            },
            ..load
        }
    }

    /// Returns the request for the recent pipelines, if a test failed.
    fn recent_pipelines(&self, view: &View) -> Option<ListPipelines> {
        let has_failure = self.report(view)?.cases.first()?.verdict.is_failure();
        let finished = Some("finished".to_owned());
        has_failure.then(|| ListPipelines { id: self.project.clone(), scope: finished, ..ListPipelines::default() })
    }

    /// Returns the requests for the reports of the pipelines before this one. Of each, only the outcomes are kept.
    fn recent_reports(&self, view: &View) -> Vec<Load> {
        let Some(list) = self.recent_pipelines(view) else { return Vec::new() };
        let ran = |pipeline: &&Pipeline| {
            pipeline.id < self.pipeline && matches!(pipeline.status, Status::Success | Status::Failed)
        };
        let pipelines = view.store.list(&list);
        let recent = pipelines.iter().filter(ran).take(RECENT_PIPELINES).map(|pipeline| {
            let load = Load::single(&GetTestReport { id: self.project.clone(), pipeline_id: pipeline.id }).optional();
            Load {
                request: load.request.read_as::<Arc<Outcomes>>(),
                priority: Priority::Columns,
                weight: Some(|value| value.downcast_ref::<Arc<Outcomes>>().map_or(0, |outcomes| outcomes.size())),
                read: |body, kind| {
                    <TestReport as crate::api::Reply>::read(body, kind)
                        .map(|report| (Arc::new(Arc::new(Outcomes::from(report))) as _, 1))
                },
                ..load
            }
        });
        recent.collect()
    }

    fn report<'a>(&self, view: &View<'a>) -> Option<&'a Arc<Report>> {
        view.store.read_as(&self.load().request)
    }
}

impl ShowsTests for TestReportPane {
    fn need_test(&self, view: &View) -> Result<(), Disabled> {
        match self.report(view) {
            None if view.store.error_of(&self.load().request).is_some() => Err("the report could not be loaded".into()),
            None => Err("the report is still loading".into()),
            Some(_) => self.tests.case().map(|_| ()).ok_or_else(|| "no test is selected".into()),
        }
    }

    fn tests_mut(&mut self) -> &mut TestReportView {
        &mut self.tests
    }
}

impl PaneKind for TestReportPane {
    const ID: &'static str = "tests";
    const TABLES: &'static [Table<Self>] = &[Self::TESTS, Self::COMMANDS];
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("tests.open", &["Enter"], "Open source of test", |pane: &mut Self, cx| pane.tests.open_case(cx))
            .footer("source")
            .when(Self::need_test),
        Command::new("tests.pipeline", &["p"], "Go to pipeline", |pane: &mut Self, cx| {
            cx.go(pipelines::place(&pane.project, pane.pipeline));
        })
        .footer("pipeline"),
    ];

    fn open(place: &Place, _view: &View) -> Self {
        let project = place.project.clone().unwrap_or_default();
        let pipeline = place.item.as_deref().and_then(|id| id.parse().ok()).unwrap_or_default();
        TestReportPane { tests: TestReportView::new(&project), project, pipeline }
    }
}

impl Pane for TestReportPane {
    fn focused(&self) -> Option<&dyn Pane> {
        Some(&self.tests)
    }

    fn focused_mut(&mut self) -> Option<&mut dyn Pane> {
        Some(&mut self.tests)
    }

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

    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants: Vec<Want> = vec![self.load().into()];
        wants.extend(ci::want_path(&self.project));
        wants.push(Load::single(&pipelines::query(&self.project, self.pipeline)).optional().into());
        wants.extend(self.recent_pipelines(view).map(|list| Load::list(&list, 1).optional().into()));
        wants.extend(self.recent_reports(view).into_iter().map(Want::from));
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.tests.hide();
        let load = self.load();
        match (self.report(view), view.store.error_of(&load.request)) {
            (Some(report), error) if !report.cases.is_empty() || report.broken.is_some() => {
                let area = list::draw_error_line(view, area, buf, error);
                self.tests.view(view, area, buf);
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

    fn changed(&mut self, cx: &mut Cx) {
        let pipeline = pipelines::known(&cx.view, &self.project, self.pipeline).value;
        let sha = pipeline.map(|pipeline| pipeline.sha.clone()).filter(|sha| !sha.is_empty());
        let recent = self.recent_reports(&cx.view).into_iter();
        let known = recent.filter_map(|load| cx.view.store.read_as::<Arc<Outcomes>>(&load.request).cloned());
        self.tests.show_recent(known.collect());
        let project_path = source_lookup::project_path(&cx.view, &self.project);
        let context = ReportContext { git_ref: sha.map(GitRef::from), project_path, artifacts: None };
        self.tests.show(self.report(&cx.view).cloned(), context);
    }

    fn url(&self, view: &View) -> Option<String> {
        Some(project::page(view, &self.project, &format!("/-/pipelines/{}/test_report", self.pipeline)))
    }
}
