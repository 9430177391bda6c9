//! The pipelines of a project: filtering, running, retrying, canceling and deleting them.

use crate::api::pipelines::resources::Status;
use crate::api::pipelines::{CreatePipeline, ListPipelines, Pipeline};
use crate::api::{Error, GitRef, Id};
use crate::app::action::Action;
use crate::app::clip::Clip;
use crate::app::command::Command;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::pane::Breadcrumb;
use crate::app::place::Place;
use crate::app::place_info::Needs;
use crate::app::query::{self, Grammar, QueryResult};
use crate::app::view::View;
use crate::app::watch::Watched;
use crate::parts::ci::{self, POLL_INTERVAL};
use crate::parts::columns::{Columns, Field, ServerOrder};
use crate::parts::list::age;
use crate::parts::list_pane::ListPane;
use crate::parts::list_source::{Filter, Input, ListCommand, ListSource, NoDetail};
use crate::parts::pipeline_variables::PipelineVariables;
use crate::parts::pipelines::{self, PipelineAction};
use crate::parts::{forms, project, query_list};
use crate::store::{ListQuery, Load, Rows, Want};
use crate::ui::glyph;
use crate::ui::line::Line;
use crate::ui::table::{Column, Row, Size};
use crate::ui::theme::Role;
use serde_json::{Value, json};
use std::time::Duration;

/// The delay after the selection moved before the details of a pipeline are fetched.
const FETCH_DELAY: Duration = Duration::from_millis(120);
/// The server's scopes of the tabs; empty for all.
const SCOPES: &[&str] = &["", "running", "pending", "finished", "branches", "tags"];

const COLUMNS: Columns<Pipeline> = Columns {
    place: "pipelines",
    fields: &[
        Field::new("status", Column::new("Status", Size::Fit { min: 8, max: 18 })).server("status"),
        Field::new("ID", Column::new("ID", Size::Fit { min: 3, max: 12 }).right()).server("id").newest_first(),
        Field::new("ref", Column::new("Ref", Size::Fill { min: 14, weight: 1 }).cut_in_middle()).server("ref"),
        Field::new("source", Column::new("Source", Size::Fit { min: 4, max: 16 }).drop_order(3))
            .loaded(|a: &Pipeline, b| a.source.cmp(&b.source)),
        Field::new("SHA", Column::new("SHA", Size::Fixed(8)).drop_order(4)),
        Field::new("user", Column::new("User", Size::Fit { min: 4, max: 14 }).drop_order(5)),
        Field::new("duration", Column::new("Duration", Size::Fit { min: 6, max: 9 }).right().drop_order(2)),
        Field::new("created", Column::new("Created", Size::Fixed(7)).right().drop_order(1))
            .loaded(|a: &Pipeline, b| a.id.cmp(&b.id))
            .newest_first(),
        Field::new("updated", Column::new("Updated", Size::Fixed(7)).right().drop_order(6))
            .server("updated_at")
            .hidden()
            .newest_first(),
    ],
    order: Some(("ID", true)),
};

/// The pipelines of a project.
pub struct PipelineSource {
    project: Id,
}

/// The list of pipelines.
pub type Pipelines = ListPane<PipelineSource>;

/// Returns the index in [`SCOPES`] of the listed scope: the one named by the filter, else that of the tab.
fn scope(input: &Input<'_>) -> usize {
    let named = query::get(input.filter, "scope");
    named.and_then(|named| SCOPES.iter().position(|scope| *scope == named)).unwrap_or(input.tab)
}

fn contains_word(pipeline: &Pipeline, word: &str) -> bool {
    let texts = [pipelines::ref_name(pipeline), pipelines::source(pipeline), pipeline.name.clone().unwrap_or_default()];
    texts.iter().any(|text| text.to_lowercase().contains(word))
        || pipeline.sha.starts_with(word)
        || pipeline.id.to_string() == word.trim_start_matches('#')
}

impl PipelineSource {
    fn grammar(&self) -> Grammar {
        // Words without a key are searched in the loaded rows.
        Grammar::new(query::PIPELINES, Some("words"), Some(self.project.clone()))
    }

    /// Returns the details of a row, if they are loaded and still current: lists leave out the user and the duration.
    fn details<'a>(&self, view: &View<'a>, row: &'a Pipeline) -> &'a Pipeline {
        let known = pipelines::known(view, &self.project, row.id).value;
        known.filter(|known| known.status == row.status).unwrap_or(row)
    }
}

impl Pipelines {
    fn open_pipeline(&mut self, cx: &mut Cx) {
        if let Some(pipeline) = self.current(&cx.view) {
            cx.go(pipelines::place(&self.source.project, pipeline.id));
        }
    }

    fn run(&mut self, cx: &mut Cx) {
        let current = self.current(&cx.view).filter(|pipeline| !pipeline.r#ref.starts_with("refs/"));
        let on = current.map(|pipeline| GitRef::of_pipeline(&pipeline.r#ref, pipeline.tag));
        forms::pipeline::run(&self.source.project, &on.unwrap_or_default()).open(cx);
    }

    fn can_run(&self, view: &View) -> Result<(), Disabled> {
        forms::signed_in(view)?;
        match view.store.is_unsupported::<CreatePipeline>() {
            true => Err("this server cannot run pipelines".into()),
            false => Ok(()),
        }
    }

    fn can(&self, view: &View, action: PipelineAction) -> Result<(), Disabled> {
        let pipeline = self.need_row(view)?;
        action.check(pipeline.id, &pipeline.status)
    }

    fn act_on(&mut self, action: PipelineAction, cx: &mut Cx) {
        if let Some(pipeline) = self.current(&cx.view) {
            action.apply(&self.source.project, pipeline.id, &pipelines::ref_name(pipeline), cx);
        }
    }

    fn show_variables(&mut self, cx: &mut Cx) {
        if let Some(pipeline) = self.current(&cx.view) {
            let variables = PipelineVariables::of(&self.source.project, pipeline.id);
            cx.act(Action::OpenOverlay(Box::new(variables)));
        }
    }

    fn open_tests(&mut self, cx: &mut Cx) {
        if let Some(pipeline) = self.current(&cx.view) {
            cx.go(pipelines::tests(&self.source.project, pipeline.id));
        }
    }

    fn watch(&mut self, cx: &mut Cx) {
        if let Some(pipeline) = self.current(&cx.view) {
            let project = self.source.project.clone();
            cx.act(Action::Watch(Watched::Pipeline { project, id: pipeline.id }));
        }
    }

    fn open_commit(&mut self, cx: &mut Cx) {
        if let Some(pipeline) = self.current(&cx.view) {
            cx.go(Place::new("commit").project(self.source.project.clone()).item(&pipeline.sha));
        }
    }
}

impl ListSource for PipelineSource {
    type Row = Pipeline;
    type Detail = NoDetail;
    const ID: &'static str = "pipelines";
    const TITLE: &'static str = "Pipelines";
    const NEEDS: Needs = Needs::Project;
    const COLUMNS: Columns<Pipeline> = COLUMNS;
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::new("pipelines.open", &["Enter"], "Open pipeline", Pipelines::open_pipeline)
            .footer("jobs")
            .when(Pipelines::has_row),
        Command::new("pipelines.run", &["+"], "Run pipeline…", Pipelines::run)
            .writes()
            .footer("run")
            .when(Pipelines::can_run),
        Command::new("pipelines.retry", &["R"], "Retry failed jobs", |pane: &mut Pipelines, cx| {
            pane.act_on(PipelineAction::Retry, cx);
        })
        .writes()
        .footer("retry")
        .when(|pane, view| pane.can(view, PipelineAction::Retry)),
        Command::new("pipelines.cancel", &["X"], "Cancel pipeline…", |pane: &mut Pipelines, cx| {
            pane.act_on(PipelineAction::Cancel, cx);
        })
        .writes()
        .footer("cancel")
        .when(|pane, view| pane.can(view, PipelineAction::Cancel)),
        Command::new("pipelines.delete", &["Delete"], "Delete pipeline…", |pane: &mut Pipelines, cx| {
            pane.act_on(PipelineAction::Delete, cx);
        })
        .writes()
        .when(|pane, view| pane.can(view, PipelineAction::Delete)),
        Command::new("pipelines.variables", &["v"], "Show variables", Pipelines::show_variables)
            .when(Pipelines::has_row),
        Command::new("pipelines.tests", &["t"], "Open test report", Pipelines::open_tests).when(Pipelines::has_row),
        Command::new("pipelines.watch", &["w"], "Watch pipeline", Pipelines::watch).when(Pipelines::has_row),
        Command::new("pipelines.commit", &["S"], "Open commit", Pipelines::open_commit).when(Pipelines::has_row),
        Pipelines::columns_command("pipelines.columns"),
    ];

    fn open(place: &Place, _view: &View) -> PipelineSource {
        PipelineSource { project: place.project.clone().unwrap_or_default() }
    }

    fn place(&self) -> Place {
        Place::new(Self::ID).project(self.project.clone())
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = project::breadcrumbs(view, &self.project);
        breadcrumbs.push(Breadcrumb::new("pipelines", Role::Title));
        breadcrumbs
    }

    fn tabs(&self) -> &'static [&'static str] {
        &["All", "Running", "Pending", "Finished", "Branches", "Tags"]
    }

    fn shown_tab(&self, input: &Input<'_>) -> usize {
        scope(input)
    }

    fn select_tab(pane: &mut Pipelines, index: usize) {
        let Some(word) = SCOPES.get(index).filter(|_| index != scope(&pane.input())) else { return };
        let text = pane.list.filter_text().to_owned();
        match query::get(&text, "scope") {
            Some(_) => {
                pane.show_tab(index);
                pane.set_filter(&query::with(&text, "scope", word));
            }
            None => pane.set_tab(index),
        }
    }

    fn query(&self, input: &Input<'_>, order: ServerOrder, view: &View) -> Option<ListQuery<Pipeline>> {
        // Newest first is the server's default order.
        let order = order.filter(|order| *order != ("id", "desc"));
        let scope = SCOPES.get(input.tab).filter(|scope| !scope.is_empty());
        let given = query_list::given([
            ("id", json!(self.project.as_str())),
            ("scope", scope.map_or(Value::Null, |scope| json!(scope))),
            ("order_by", order.map_or(Value::Null, |(word, _)| json!(word))),
            ("sort", order.map_or(Value::Null, |(_, way)| json!(way))),
        ]);
        let (keyed, _) = query::keyed_and_plain(input.filter);
        let result: QueryResult<ListPipelines> = self.grammar().ask(&keyed, given, view);
        Some(ListQuery::new(&result.ready()?))
    }

    fn filter(&self, _: &Input<'_>) -> Filter<Pipeline> {
        Filter::Query(self.grammar())
    }

    fn poll_interval(pane: &Pipelines, view: &View) -> Option<Duration> {
        pane.rows(view).iter().any(|pipeline| pipeline.status.is_live()).then_some(POLL_INTERVAL)
    }

    fn arrange_rows(pane: &mut Pipelines, rows: &Rows<'_, Pipeline>, _view: &View) {
        let (_, words) = query::keyed_and_plain(pane.list.shown());
        let narrowed = words.join(" ");
        pane.list.narrow_to(rows, &narrowed, |pipeline| words.iter().all(|word| contains_word(pipeline, word)));
    }

    fn key(pipeline: &Pipeline) -> String {
        pipeline.id.to_string()
    }

    fn row(&self, view: &View, _: usize, row: &Pipeline) -> Row<'static> {
        let details = self.details(view, row);
        let is_errored = details.yaml_errors.as_deref().is_some_and(|errors| !errors.is_empty());
        let status = Line::from(glyph::labeled(row.status.as_str()));
        Row::new(vec![
            if is_errored { status.and(" YAML", Role::Failed) } else { status },
            Line::new(format!("#{}", row.id), Role::Dim),
            Line::new(pipelines::ref_name(row), Role::Ref)
                .and(row.name.as_ref().map(|name| format!("  {name}")).unwrap_or_default(), Role::Text),
            Line::new(pipelines::source(row), Role::Dim),
            Line::new(row.sha.get(..8).unwrap_or(&row.sha).to_owned(), Role::Ref),
            Line::new(details.user.as_ref().map(|user| user.username.clone()).unwrap_or_default(), Role::User),
            Line::new(pipelines::duration(details, view.now), Role::Text),
            Line::new(age(view, row.created_at.as_ref()), Role::Dim),
            Line::new(age(view, row.updated_at.as_ref()), Role::Dim),
        ])
        .dim(row.status == Status::Skipped)
    }

    fn empty(&self, input: &Input<'_>) -> (&'static str, &'static str) {
        match (input.filter.is_empty(), input.tab) {
            (false, _) => ("No pipeline matches the filter.", "‹seek› changes it, ‹escape› clears it"),
            (true, 0) => {
                ("There are no pipelines here.", "‹pipelines.run› runs one; a commit with a CI file starts one, too")
            }
            (true, _) => ("No pipeline is in that state.", "‹tab.1› shows all of them"),
        }
    }

    fn refused(&self, _: &Input<'_>, error: &Error) -> Option<(String, &'static str)> {
        pipelines::refused(error)
    }

    fn enter(pane: &mut Pipelines, cx: &mut Cx) {
        pane.open_pipeline(cx);
    }

    fn wants(pane: &Pipelines, view: &View) -> Vec<Want> {
        let mut wants: Vec<Want> = ci::want_path(&pane.source.project).into_iter().collect();
        if let Some(pipeline) = pane.current(view) {
            let load = Load::single(&pipelines::query(&pane.source.project, pipeline.id)).after(FETCH_DELAY);
            wants.push(if pipeline.status.is_live() { load.refresh_after(POLL_INTERVAL).into() } else { load.into() });
        }
        wants
    }

    fn url(&self, view: &View, pipeline: &Pipeline) -> Option<String> {
        let known = pipeline.web_url.clone().filter(|url| !url.is_empty());
        known.or_else(|| Some(project::page(view, &self.project, &format!("/-/pipelines/{}", pipeline.id))))
    }

    fn copies(&self, _view: &View, pipeline: &Pipeline) -> Vec<Clip> {
        vec![
            Clip::line("ID", pipeline.id.to_string()),
            Clip::line("ref", pipeline.r#ref.clone()),
            Clip::line("SHA", pipeline.sha.clone()),
        ]
    }
}
