//! The pipelines of a project, with the title of their commit and their stages: filtering, running, retrying,
//! canceling and deleting them.

use crate::api::commits::GetCommit;
use crate::api::pipelines::resources::{Pipeline, Status};
use crate::api::pipelines::{CreatePipeline, ListPipelines};
use crate::api::{Error, GitRef, Id};
use crate::app::features::Feature;
use crate::app::permission;
use crate::app::query::{self, Grammar, QueryResult};
use crate::app::watch::Watched;
use crate::parts::ci::POLL_INTERVAL;
use crate::parts::ci::pipeline_stages::{self, PipelineSummary};
use crate::parts::ci::pipeline_variables::PipelineVariables;
use crate::parts::ci::pipelines::{self, PipelineAction};
use crate::parts::list::prelude::*;
use crate::parts::list::{query_list, request_limit};
use crate::parts::{forms, project};
use crate::store::{Load, Rows};
use crate::ui::glyph;
use serde_json::{Value, json};
use std::time::Duration;

/// The delay after the selection moved before the details of a pipeline are fetched.
const FETCH_DELAY: Duration = Duration::from_millis(120);
/// The server's scopes of the tabs; empty for all.
const SCOPES: &[&str] = &["", "running", "pending", "finished", "branches", "tags"];

/// The pipelines of a project.
pub struct PipelineSource {
    project: Id,
}

/// The list of pipelines.
pub type Pipelines = ListPane<PipelineSource>;

fn contains_word(pipeline: &Pipeline, word: &str) -> bool {
    let texts =
        [pipelines::ref_name(pipeline), pipelines::source(pipeline), (*pipeline.name).clone().unwrap_or_default()];
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

impl PipelineSource {
    /// Returns what is known of the jobs of a row.
    fn summary<'a>(&self, view: &View<'a>, row: &Pipeline) -> Option<&'a PipelineSummary> {
        pipeline_stages::known(view, &self.project, row)
    }

    /// Returns the name of a row, or the title of its commit.
    fn title<'a>(&self, view: &View<'a>, row: &'a Pipeline) -> &'a str {
        let of_commit = || view.store.get(&self.commit(row)).value.map(|commit| commit.title.as_str());
        self.known_title(view, row).or_else(of_commit).unwrap_or_default()
    }

    /// Returns the name of a row, or the title of its commit if its jobs tell it.
    fn known_title<'a>(&self, view: &View<'a>, row: &'a Pipeline) -> Option<&'a str> {
        let of_jobs = self.summary(view, row).map(|known| known.title.as_str());
        [row.name.as_deref(), of_jobs].into_iter().flatten().find(|title| !title.is_empty())
    }

    /// Returns whether a row has no jobs that tell its title, such as one with invalid YAML.
    fn lacks_title(&self, view: &View, row: &Pipeline) -> bool {
        self.summary(view, row).is_some() && self.known_title(view, row).is_none() && !row.sha.is_empty()
    }

    fn commit(&self, row: &Pipeline) -> GetCommit {
        GetCommit { id: self.project.clone(), sha: row.sha.clone(), stats: None }
    }

    fn username<'a>(&self, view: &View<'a>, row: &'a Pipeline) -> &'a str {
        let user = self.details(view, row).user.as_ref().map(|user| user.username.as_str());
        user.or(self.summary(view, row).map(|known| known.username.as_str())).unwrap_or_default()
    }
}

impl Pipelines {
    fn open_pipeline(&mut self, pipeline: &Pipeline, cx: &mut Cx) {
        cx.go(pipelines::place(&self.source.project, pipeline.id));
    }

    fn run(&mut self, cx: &mut Cx) {
        let current = self.current(&cx.view).filter(|pipeline| !pipeline.r#ref.starts_with("refs/"));
        let on = current.map(|pipeline| GitRef::of_pipeline(&pipeline.r#ref, pipeline.tag));
        forms::pipeline::run(&self.source.project, &on.unwrap_or_default()).open(cx);
    }

    fn can_run(&self, view: &View) -> Result<(), Disabled> {
        match view.store.is_unsupported::<CreatePipeline>() {
            true => Err("this server cannot run pipelines".into()),
            false => Feature::Ci.check(view.store, Some(&self.source.project)),
        }
    }

    fn act_on(&mut self, action: PipelineAction, pipeline: &Pipeline, cx: &mut Cx) {
        action.apply(&self.source.project, pipeline.id, &pipelines::ref_name(pipeline), cx);
    }

    fn show_variables(&mut self, pipeline: &Pipeline, cx: &mut Cx) {
        cx.open(PipelineVariables::of(&self.source.project, pipeline.id));
    }

    fn open_failures(&mut self, pipeline: &Pipeline, cx: &mut Cx) {
        cx.go(pipelines::place(&self.source.project, pipeline.id).tab("failed"));
    }

    fn open_tests(&mut self, pipeline: &Pipeline, cx: &mut Cx) {
        cx.go(pipelines::tests(&self.source.project, pipeline.id));
    }

    fn watch(&mut self, pipeline: &Pipeline, cx: &mut Cx) {
        cx.act(Action::Watch(Watched::Pipeline { project: self.source.project.clone(), id: pipeline.id }));
    }

    fn open_commit(&mut self, pipeline: &Pipeline, cx: &mut Cx) {
        cx.go(Place::new("commit").project(self.source.project.clone()).item(&pipeline.sha));
    }
}

impl ListSource for PipelineSource {
    type Row = Pipeline;
    type Detail = NoDetail;
    const LIST: ListInfo = ListInfo {
        tabs: ListTabs {
            titles: &["All", "Running", "Pending", "Finished", "Branches", "Tags"],
            words: Some(("scope", SCOPES)),
        },
        order: Some(("ID", true)),
        reads_project: false,
        ..ListInfo::new("pipelines", "pipeline", "pipelines")
    };
    const COLUMNS: &'static [Column<Self>] = &[
        Column::<Self>::fit("status", "", 1, 18, |_, pipeline, _| glyph::compact(pipeline.status.as_str()).into())
            .server("status"),
        Column::<Self>::fit("ID", "ID", 3, 12, |_, pipeline, _| Line::new(format!("#{}", pipeline.id), Role::Dim))
            .right()
            .server("id")
            .newest_first(),
        Column::<Self>::fit("ref", "Ref", 8, 30, |_, pipeline, _| Line::new(pipelines::ref_name(pipeline), Role::Ref))
            .cut_in_middle()
            .server("ref")
            .drop_order(3),
        Column::<Self>::fill("title", "Title", 14, |source, pipeline, view| {
            let has_errors =
                source.details(view, pipeline).yaml_errors.as_deref().is_some_and(|errors| !errors.is_empty());
            let mark = if has_errors { "invalid YAML " } else { "" };
            Line::new(mark, Role::Failed).and(source.title(view, pipeline), Role::Text)
        }),
        Column::<Self>::fit("stages", "Stages", 1, 12, |source, pipeline, view| {
            pipeline_stages::cell(view, &source.project, pipeline)
        })
        .drop_order(2),
        Column::<Self>::fit("user", "User", 3, 14, |source, pipeline, view| {
            Line::new(source.username(view, pipeline), Role::User)
        })
        .drop_order(4),
        Column::<Self>::fit("duration", "Duration", 6, 9, |source, pipeline, view| {
            let of_jobs = source.summary(view, pipeline).map(|known| known.times).unwrap_or_default();
            Line::text(pipelines::duration(source.details(view, pipeline), of_jobs, view.now))
        })
        .right()
        .drop_order(5),
        Column::<Self>::fit("source", "Source", 4, 16, |_, pipeline, _| {
            Line::new(pipelines::source(pipeline), Role::Dim)
        })
        .sorted(|pipeline| pipeline.source.as_ref().into())
        .drop_order(6),
        Column::<Self>::fixed("SHA", "SHA", 8, |_, pipeline, _| {
            Line::new(pipeline.sha.get(..8).unwrap_or(&pipeline.sha), Role::Ref)
        })
        .drop_order(7),
        Column::<Self>::age("created", "Created", |pipeline| pipeline.created_at.as_ref())
            .sorted(|pipeline| pipeline.id.into())
            .drop_order(1),
        Column::<Self>::age("updated", "Updated", |pipeline| pipeline.updated_at.as_ref())
            .server("updated_at")
            .drop_order(8)
            .hidden(),
    ];
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::row("pipelines.open", &["Enter"], "Open pipeline", Pipelines::open_pipeline).footer("jobs"),
        Command::new("pipelines.run", &["+"], "Run pipeline…", Pipelines::run)
            .needs(permission::RUN)
            .footer("run")
            .when(Pipelines::can_run),
        Command::row(
            "pipelines.retry",
            &["R"],
            "Retry failed jobs",
            |pane: &mut Pipelines, pipeline: &Pipeline, cx| {
                pane.act_on(PipelineAction::Retry, pipeline, cx);
            },
        )
        .needs(permission::RUN)
        .footer("retry")
        .when_row(|_, pipeline, _| PipelineAction::Retry.check(pipeline.id, &pipeline.status)),
        Command::row(
            "pipelines.cancel",
            &["X"],
            "Cancel pipeline…",
            |pane: &mut Pipelines, pipeline: &Pipeline, cx| {
                pane.act_on(PipelineAction::Cancel, pipeline, cx);
            },
        )
        .needs(permission::RUN)
        .footer("cancel")
        .when_row(|_, pipeline, _| PipelineAction::Cancel.check(pipeline.id, &pipeline.status)),
        Command::row(
            "pipelines.delete",
            &["Delete"],
            "Delete pipeline…",
            |pane: &mut Pipelines, pipeline: &Pipeline, cx| {
                pane.act_on(PipelineAction::Delete, pipeline, cx);
            },
        )
        .needs(permission::DELETE_PIPELINE)
        .when_row(|_, pipeline, _| PipelineAction::Delete.check(pipeline.id, &pipeline.status)),
        Command::row("pipelines.variables", &["v"], "Show variables", Pipelines::show_variables),
        Command::row("pipelines.tests", &["t"], "Open test report", Pipelines::open_tests),
        Command::row("pipelines.watch", &["w", "W"], "Watch pipeline", Pipelines::watch),
        Command::row("pipelines.commit", &["S"], "Open commit", Pipelines::open_commit),
        Command::row("pipelines.failures", &["d"], "Open failed jobs by error", Pipelines::open_failures).when_row(
            |_, pipeline, _| match pipeline.status {
                Status::Failed => Ok(()),
                _ => Err("only failed pipelines have failed jobs to compare".into()),
            },
        ),
        Pipelines::columns_command("pipelines.columns"),
    ];

    fn open(place: &Place, _view: &View) -> PipelineSource {
        PipelineSource { project: place.project.clone().unwrap_or_default() }
    }

    fn is_dim(&self, _: usize, pipeline: &Pipeline) -> bool {
        pipeline.status == Status::Skipped
    }

    fn empty(&self, tab: usize) -> (&'static str, &'static str) {
        match tab {
            0 => ("There are no pipelines here.", "‹pipelines.run› runs one; a commit with a CI file starts one, too"),
            _ => ("No pipeline is in that state.", "‹tab.1› shows all of them"),
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

    fn polling(pane: &Pipelines, view: &View) -> (u32, Option<Duration>) {
        (1, pane.rows(view).iter().any(|pipeline| pipeline.status.is_live()).then_some(POLL_INTERVAL))
    }

    fn arrange_rows(pane: &mut Pipelines, rows: &Rows<'_, Pipeline>, _view: &View) {
        let (_, words) = query::keyed_and_plain(pane.list.shown());
        let narrowed = words.join(" ");
        pane.list.narrow_to(rows, &narrowed, |pipeline| words.iter().all(|word| contains_word(pipeline, word)));
    }

    fn key(pipeline: &Pipeline) -> String {
        pipeline.id.to_string()
    }

    fn instead(&self, _: &Input<'_>, error: Option<&Error>, _: &View) -> Option<(String, Cow<'static, str>)> {
        pipelines::refused(error?).map(|(why, hint)| (why, hint.into()))
    }

    fn wants(pane: &Pipelines, view: &View) -> Vec<Want> {
        let mut wants: Vec<Want> = Vec::new();
        if let Some(pipeline) = pane.current(view) {
            let load = Load::single(&pipelines::query(&pane.source.project, pipeline.id)).after(FETCH_DELAY);
            wants.push(load.refresh_after(pipeline.status.is_live().then_some(POLL_INTERVAL)).into());
        }
        let jobs = pane.visible_rows(view).map(|pipeline| pipeline_stages::load(&pane.source.project, pipeline));
        wants.extend(request_limit::wants(jobs));
        let untitled = pane.visible_rows(view).filter(|pipeline| pane.source.lacks_title(view, pipeline));
        let commits = untitled.map(|pipeline| Load::single(&pane.source.commit(pipeline)));
        wants.extend(request_limit::wants(commits));
        wants
    }

    fn url(&self, view: &View, pipeline: Option<&Pipeline>) -> Option<String> {
        let pipeline = pipeline?;
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
