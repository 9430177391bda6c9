//! The schedules of a project's pipelines: when each runs next, and what it runs.

mod variables;

use crate::api::pipelines::resources::Pipeline;
use crate::api::schedules::{
    DeleteSchedule, GetSchedule, ListSchedulePipelines, ListSchedules, PlaySchedule, Schedule, TakeOwnership,
    UpdateSchedule,
};
use crate::api::users::User;
use crate::api::{Error, Fault, GitRef, Id, Time};
use crate::app::dates::zone;
use crate::app::permission;
use crate::domain::cron::Cron;
use crate::parts::ci::pipelines;
use crate::parts::facts::{FETCH_DELAY, LinkTarget};
use crate::parts::forms::{self, schedule::input_text};
use crate::parts::list::prelude::*;
use crate::parts::project;
use crate::parts::text::dates::local_time;
use crate::store::{Load, Rows};
use crate::ui::{glyph, text};
use variables::ScheduleVariables;

/// The maximum number of pipelines that are shown beside a schedule.
const MAX_PIPELINES: usize = 5;
/// The server's names of the tabs; `None` for all.
const SCOPES: &[Option<&str>] = &[None, Some("active"), Some("inactive")];

/// The schedules of a project.
pub struct ScheduleSource {
    project: Id,
}

/// The list of schedules.
pub type Schedules = ListPane<ScheduleSource>;

/// Returns the times of a schedule in words, or its expression in a form that is not known here, after the time zone, which
/// is not cut off this way: the next run beside it may be in another one.
fn words(schedule: &Schedule) -> String {
    let words = Cron::parse(&schedule.cron).map_or_else(|| schedule.cron.clone(), |cron| cron.words());
    format!("{} {words}", schedule.cron_timezone).trim_start().to_owned()
}

/// Returns the state, with its role.
fn state(schedule: &Schedule) -> (&'static str, Role) {
    match (schedule.active, &schedule.next_run_at) {
        (false, _) => ("paused", Role::Dim),
        (true, Some(_)) => ("active", Role::Success),
        (true, None) => ("never fires", Role::Warning),
    }
}

/// Returns the time of the next run with its time zone, and how far away it is.
fn next_run(schedule: &Schedule, view: &View) -> String {
    let at = schedule.next_run_at.as_ref().filter(|_| schedule.active).and_then(Time::instant);
    let Some(at) = at else { return String::new() };
    let distance = match view.now.duration_since(at).as_secs() {
        0.. => "due".to_owned(),
        seconds => text::short_age(seconds),
    };
    let zone = at.to_zoned(zone()).strftime("%Z").to_string();
    format!("{} {zone} ({distance})", local_time(at))
}

fn username(owner: &Option<User>) -> &str {
    owner.as_ref().map_or("", |owner| owner.username.as_str())
}

impl ScheduleSource {
    fn one(&self, schedule: &Schedule) -> GetSchedule {
        GetSchedule { id: self.project.clone(), pipeline_schedule_id: schedule.id }
    }

    fn started(&self, schedule: &Schedule) -> ListSchedulePipelines {
        let (id, sort) = (self.project.clone(), Some("desc".to_owned()));
        ListSchedulePipelines { id, pipeline_schedule_id: schedule.id, sort }
    }

    /// Returns the schedule with its variables and inputs, which lists leave out, once they are loaded.
    fn details<'a>(&self, view: &View<'a>, schedule: &'a Schedule) -> &'a Schedule {
        view.store.get(&self.one(schedule)).value.unwrap_or(schedule)
    }
}

impl Schedules {
    fn create(&mut self, cx: &mut Cx) {
        let on = project::default_branch(&cx.view, &self.source.project).map(GitRef::branch).unwrap_or_default();
        Schedules::open_form(forms::schedule::create(&self.source.project, &on), cx);
    }

    fn edit(&mut self, schedule: &Schedule, cx: &mut Cx) {
        let project = self.source.project.clone();
        let get = self.source.one(schedule);
        let form = forms::schedule::edit(&project, self.source.details(&cx.view, schedule));
        let form = form.checked(vec![Load::single(&get)], move |view| {
            view.store.get(&get).value.map(|schedule| Some(forms::schedule::edit(&project, schedule)))
        });
        Schedules::open_form(form, cx);
    }

    /// Returns an error unless the schedule belongs to the user: only owners can change one.
    fn is_own(&self, schedule: &Schedule, view: &View) -> Result<(), Disabled> {
        let me = view.me().map_or("", |me| me.username.as_str());
        let owner = username(&schedule.owner);
        match owner.is_empty() || me.is_empty() || owner == me {
            true => Ok(()),
            false => {
                Err(format!("it belongs to @{}: take it over first (‹schedules.own›)", text::sanitize(owner)).into())
            }
        }
    }

    /// Returns an error unless the schedule can be edited: lists leave out its inputs.
    fn can_edit(&self, schedule: &Schedule, view: &View) -> Result<(), Disabled> {
        let details = view.store.get(&self.source.one(schedule));
        match details.value.is_some() || details.error.is_some() {
            true => self.is_own(schedule, view),
            false => self.is_own(schedule, view).and(Err("its inputs are still loading".into())),
        }
    }

    fn is_others(&self, schedule: &Schedule, view: &View) -> Result<(), Disabled> {
        match view.me().is_some_and(|me| me.username == username(&schedule.owner)) {
            true => Err("it is yours already".into()),
            false => Ok(()),
        }
    }

    fn pause(&mut self, schedule: &Schedule, cx: &mut Cx) {
        let (id, pipeline_schedule_id) = (self.source.project.clone(), schedule.id);
        let (verb, undo) = if schedule.active { ("pause", "resumes it") } else { ("resume", "pauses it again") };
        let update =
            UpdateSchedule { id, pipeline_schedule_id, active: Some(!schedule.active), ..UpdateSchedule::default() };
        let write = Write::new(&update, format!("{verb} schedule {}", text::sanitize(&schedule.description)));
        cx.act(Action::Send(write.undone_by("schedules.pause", undo)));
    }

    fn play(&mut self, schedule: &Schedule, cx: &mut Cx) {
        let (id, pipeline_schedule_id) = (self.source.project.clone(), schedule.id);
        let name = text::sanitize(&schedule.description);
        let write = Write::new(&PlaySchedule { id, pipeline_schedule_id }, format!("play schedule {name}"));
        let question = format!(
            "Run a pipeline of the schedule {name} on {} now? It runs with your rights.",
            text::sanitize(GitRef::from(schedule.r#ref.as_str()).short())
        );
        cx.act(App::confirm("Play schedule", question, Action::Send(write)));
    }

    fn take_ownership(&mut self, schedule: &Schedule, cx: &mut Cx) {
        let (id, pipeline_schedule_id) = (self.source.project.clone(), schedule.id);
        let name = text::sanitize(&schedule.description);
        let write = Write::new(&TakeOwnership { id, pipeline_schedule_id }, format!("take over schedule {name}"));
        let question = format!(
            "Take over the schedule {name} from @{}? Its pipelines then run with your rights.",
            text::sanitize(username(&schedule.owner))
        );
        cx.act(App::confirm("Take ownership", question, Action::Send(write)));
    }

    fn delete(&mut self, schedule: &Schedule, cx: &mut Cx) {
        let (id, pipeline_schedule_id) = (self.source.project.clone(), schedule.id);
        let name = text::sanitize(&schedule.description);
        let write = Write::new(&DeleteSchedule { id, pipeline_schedule_id }, format!("delete schedule {name}"));
        let question = format!("Delete the schedule {name} with its variables? Its pipelines stay.");
        cx.act(App::confirm("Delete a schedule", question, Action::Send(write)));
    }

    fn show_variables(&mut self, schedule: &Schedule, cx: &mut Cx) {
        let is_own = self.is_own(schedule, &cx.view).is_ok();
        cx.open(ScheduleVariables::of(&self.source.project, schedule, is_own));
    }
}

impl ListSource for ScheduleSource {
    type Row = Schedule;
    type Detail = Details;
    const LIST: ListInfo = ListInfo::new("schedules", "schedule", "schedules")
        .widths(&[(60, 2), (44, 1)])
        .tabs(&["All", "Active", "Paused"]);
    const COLUMNS: &'static [Column<Self>] = &[
        Column::<Self>::fit("state", "State", 6, 11, |_, schedule, _| {
            let (words, role) = state(schedule);
            Line::new(words, role)
        })
        .sorted(|schedule| state(schedule).0.into())
        .drop_order(3),
        Column::<Self>::fill("description", "Description", 14, |_, schedule, _| {
            Line::new(&schedule.description, Role::Text)
        })
        .sorted(|schedule| SortKey::caseless(&schedule.description)),
        Column::<Self>::fit("next", "Next run", 8, 33, |_, schedule, view| {
            Line::new(next_run(schedule, view), Role::Text)
        })
        .sorted(|schedule| schedule.next_run_at.as_ref().into())
        .drop_order(1),
        Column::<Self>::fit("when", "When", 8, 56, |_, schedule, _| Line::new(words(schedule), Role::Dim))
            .drop_order(4),
        Column::<Self>::fit("ref", "Ref", 4, 24, |_, schedule, _| {
            Line::new(GitRef::from(schedule.r#ref.as_str()).short().to_owned(), Role::Ref)
        })
        .drop_order(2),
        Column::<Self>::fit("owner", "Owner", 5, 16, |_, schedule, _| Line::new(username(&schedule.owner), Role::User))
            .drop_order(5),
    ];
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::new("schedules.open", &["Enter"], "Show details", Schedules::open_details).footer("details"),
        Command::new("schedules.create", &["+"], "Create schedule…", Schedules::create)
            .footer("new")
            .needs(permission::RUN),
        Command::row("schedules.edit", &["e"], "Edit schedule…", Schedules::edit)
            .footer("edit")
            .needs(permission::RUN)
            .when_row(Schedules::can_edit),
        Command::row("schedules.play", &["p"], "Play schedule…", Schedules::play)
            .footer("run now")
            .needs(permission::RUN),
        Command::row("schedules.pause", &["P"], "Toggle pause", Schedules::pause)
            .footer("pause")
            .needs(permission::RUN)
            .when_row(Schedules::is_own),
        Command::row("schedules.variables", &["v"], "Show variables", Schedules::show_variables).footer("variables"),
        Command::row("schedules.own", &["O"], "Change owner to yourself…", Schedules::take_ownership)
            .needs(permission::ADMINISTER_CI)
            .when_row(Schedules::is_others),
        Schedules::columns_command("schedules.columns"),
        Command::row("schedules.delete", &["D", "Delete"], "Delete schedule…", Schedules::delete)
            .footer("delete")
            .needs(permission::ADMINISTER_CI),
    ];

    fn open(place: &Place, _view: &View) -> ScheduleSource {
        ScheduleSource { project: place.project.clone().unwrap_or_default() }
    }

    fn is_dim(&self, _: usize, schedule: &Schedule) -> bool {
        !schedule.active
    }

    fn empty(&self, tab: usize) -> (&'static str, &'static str) {
        match tab {
            0 => ("There are no pipeline schedules.", "‹.create› creates one"),
            1 => ("No schedule is active.", "‹tab.1› shows all"),
            _ => ("No schedule is paused.", "‹tab.1› shows all"),
        }
    }

    fn query(&self, input: &Input<'_>, _: ServerOrder, _view: &View) -> Option<ListQuery<Schedule>> {
        let scope = SCOPES.get(input.tab).copied().flatten().map(str::to_owned);
        Some(ListQuery::new(&ListSchedules { id: self.project.clone(), scope }))
    }

    fn filter(&self, _: &Input<'_>) -> Filter<Schedule> {
        Filter::Loaded(|schedule, words| {
            let texts = [schedule.description.as_str(), schedule.r#ref.as_str(), username(&schedule.owner)];
            texts.iter().any(|text| text.to_lowercase().contains(words))
        })
    }

    fn belongs_to(&self, schedule: &Schedule, view: &View) -> (Option<Id>, bool) {
        (None, view.is_me(schedule.owner.as_ref().map(|owner| owner.id)))
    }

    fn key(schedule: &Schedule) -> String {
        schedule.id.to_string()
    }

    fn instead(&self, _: &Input<'_>, error: Option<&Error>, _: &View) -> Option<(String, Cow<'static, str>)> {
        let words = "This server has no pipeline schedules for you.".to_owned();
        matches!(error?.fault, Fault::Unsupported(_)).then_some((words, "‹go.pipelines› shows the pipelines".into()))
    }

    fn wants(pane: &Schedules, view: &View) -> Vec<Want> {
        let Some(schedule) = pane.current(view) else { return Vec::new() };
        // The form needs the inputs even where the details are not on the screen.
        let one = Load::single(&pane.source.one(schedule)).after(FETCH_DELAY);
        let started = Load::list(&pane.source.started(schedule), 1).after(FETCH_DELAY).optional();
        vec![one.into(), started.into()]
    }

    fn url(&self, view: &View, _: Option<&Self::Row>) -> Option<String> {
        Some(project::page(view, &self.project, "/-/pipeline_schedules"))
    }

    fn copies(&self, _view: &View, schedule: &Schedule) -> Vec<Clip> {
        vec![
            Clip::line("description", schedule.description.clone()),
            Clip::line("cron", schedule.cron.clone()),
            Clip::line("ID", schedule.id.to_string()),
        ]
    }
}

impl Describes<Details> for ScheduleSource {
    fn describe(&self, facts: &mut Details, view: &View, schedule: &Schedule) {
        facts.title(schedule.description.clone(), "");
        let schedule = self.details(view, schedule);
        let (words_of_state, role) = state(schedule);
        facts.field("state", Line::new(words_of_state, role), None);
        let next = Some(next_run(schedule, view)).filter(|next| !next.is_empty());
        facts.field("next run", Line::new(next.unwrap_or_else(|| "none".into()), Role::Text), None);
        facts.field("when", Line::new(words(schedule), Role::Text), None);
        facts.field("", Line::new(schedule.cron.clone(), Role::Dim), None);
        let git_ref = GitRef::from(schedule.r#ref.as_str());
        let place = Place { git_ref: Some(git_ref.clone()), ..Place::new("commits").project(self.project.clone()) };
        facts.field("ref", Line::new(git_ref.short().to_owned(), Role::Ref), Some(LinkTarget::Place(place)));
        facts.field("owner", Line::new(username(&schedule.owner).to_owned(), Role::User), None);
        for (index, input) in schedule.inputs.iter().flatten().enumerate() {
            let value = format!("{} = {}", input.name, input_text(&input.value).replace('\n', " "));
            facts.field(if index == 0 { "inputs" } else { "" }, Line::new(value, Role::Text), None);
        }
        for (index, variable) in schedule.variables.iter().flatten().enumerate() {
            // Values are shown only on request.
            facts.field(if index == 0 { "variables" } else { "" }, Line::new(variable.key.clone(), Role::Label), None);
        }
        let rows: Rows<'_, Pipeline> = view.store.list(&self.started(schedule));
        let mut started: Vec<&Pipeline> = rows.iter().collect();
        started.sort_by_key(|pipeline| std::cmp::Reverse(pipeline.id));
        if !started.is_empty() {
            facts.line(Line::empty());
            facts.line(Line::new("Latest pipelines", Role::TitleDim));
        }
        for pipeline in started.into_iter().take(MAX_PIPELINES) {
            let (status, role) = glyph::labeled(pipeline.status.as_str());
            let at = pipeline.created_at.as_ref().and_then(Time::instant).map(local_time).unwrap_or_default();
            let line = Line::new(format!("{status}  "), role).and(format!("#{}  {at}", pipeline.id), Role::Text);
            let target = LinkTarget::Place(pipelines::place(&self.project, pipeline.id));
            facts.field("", line, Some(target));
        }
    }
}
