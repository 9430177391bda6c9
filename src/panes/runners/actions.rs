//! Actions on runners: editing, pausing, enabling and disabling them for projects, and removing them.

use super::{Runners, Scope, kind};
use crate::api::Id;
use crate::api::runners::{DeleteRunner, DisableRunner, EnableRunner, GetRunner, ListRunners, Runner, UpdateRunner};
use crate::app::App;
use crate::app::action::Action;
use crate::app::command_info::Disabled;
use crate::app::complete::Complete;
use crate::app::context::Cx;
use crate::app::overlay::form::{Form, Widget};
use crate::app::overlay::picker::{Item, Picker, Source};
use crate::app::view::View;
use crate::store::{Load, Want, Write};
use crate::ui::text;

/// Returns the name of a runner as used in messages.
fn name(runner: &Runner) -> String {
    format!("runner #{} {}", runner.id, text::sanitize(&runner.label()))
}

/// Returns the paths of the projects that a runner is enabled in, as far as they are visible.
fn projects(runner: &Runner) -> Vec<&str> {
    runner.projects.iter().flatten().map(|project| project.path_with_namespace.as_str()).collect()
}

impl Runners {
    pub(super) fn update(&self, cx: &mut Cx, what: &str, change: impl FnOnce(UpdateRunner) -> UpdateRunner) {
        if let Some(runner) = self.current(&cx.view) {
            let update = change(UpdateRunner { id: runner.id, ..UpdateRunner::default() });
            cx.act(Action::Send(Write::new(&update, format!("{what} {}", name(runner)))));
        }
    }

    pub(super) fn pause(&mut self, runner: &Runner, cx: &mut Cx) {
        let paused = runner.is_paused();
        let (what, undo) = if paused { ("resume", "pauses it again") } else { ("pause", "lets it take jobs again") };
        let update = UpdateRunner { id: runner.id, active: Some(paused), ..UpdateRunner::default() };
        let write = Write::new(&update, format!("{what} {}", name(runner)));
        cx.act(Action::Send(write.undone_by("runners.pause", undo)));
    }

    /// Opens a form with all editable fields of a runner.
    pub(super) fn edit(&mut self, runner: &Runner, cx: &mut Cx) {
        let (id, title) = (runner.id, name(runner));
        Form::of::<UpdateRunner>(format!("Edit {title}"), format!("change {title}"), format!("runner {id}"))
            .fixed("id", id)
            .first(&["description", "tag_list", "run_untagged", "locked", "access_level", "active"])
            .field("tag_list", |field| {
                _ = field
                    .label("tags")
                    .help("Separated by commas. A job with tags runs only on runners that have all of them.");
            })
            .field("run_untagged", |field| _ = field.label("untagged jobs").help("Also run jobs without tags."))
            .field("locked", |field| _ = field.help("No further project can enable it."))
            .field("access_level", |field| {
                field
                    .label("access")
                    .widget(Widget::Choice(&["not_protected", "ref_protected"]))
                    .help("ref_protected: runs only jobs of protected branches and tags.");
            })
            .field("active", |field| _ = field.help("no: the runner is paused."))
            .of_current(&cx.view, GetRunner { id }, |_| Vec::new())
            .open(cx);
    }

    pub(super) fn remove(&mut self, runner: &Runner, cx: &mut Cx) {
        let name = name(runner);
        let serves = match projects(runner).as_slice() {
            [] => String::new(),
            [one] => format!(" It is removed from {}.", text::sanitize(one)),
            many => format!(" It is removed from {} projects.", many.len()),
        };
        let write = Write::new(&DeleteRunner { id: runner.id }, format!("remove {name}"));
        let question = format!("Remove {name}? It runs no more jobs, and must be registered again to be used.{serves}");
        cx.act(App::confirm("Remove", question, Action::Send(write)));
    }

    /// Enables a runner in a project: on the tab of a project, opens a picker of the available runners; else asks for
    /// the project to enable the selected runner in.
    pub(super) fn enable(&mut self, cx: &mut Cx) {
        if let (Scope::Project, Some(project)) = (self.scope(), self.source.project.clone()) {
            let title = format!("Enable in {}", text::sanitize(project.as_str()));
            let picker = Picker::of(title, Box::new(AvailableRunners { project }), &cx.view);
            return cx.open(picker);
        }
        let Some(runner) = self.current(&cx.view) else { return };
        let name = name(runner);
        let key = format!("enable runner {}", runner.id);
        let project = self.source.project.as_ref().map_or("", Id::as_str).to_owned();
        Form::of::<EnableRunner>(format!("Enable {name}"), format!("enable {name}"), key)
            .fixed("runner_id", runner.id)
            .field("id", |field| {
                field.label("project").widget(Widget::Line(Complete::Projects)).help("").text(project);
            })
            .picker()
            .open(cx);
    }

    pub(super) fn can_enable(&self, view: &View) -> Result<(), Disabled> {
        if self.scope() == Scope::Project {
            return Ok(());
        }
        match self.need_row(view)? {
            runner if runner.is_shared => {
                Err("an instance runner serves every project that has instance runners on".into())
            }
            runner if runner.locked == Some(true) => {
                Err(view.with_keys("it is locked to its projects; ‹runners.edit› unlocks it").into_owned().into())
            }
            _ => Ok(()),
        }
    }

    /// Disables the selected runner in the current project, else in one of its projects that is chosen.
    pub(super) fn disable(&mut self, cx: &mut Cx) {
        let Some(runner) = self.current(&cx.view) else { return };
        let served: Vec<String> = projects(runner).into_iter().map(str::to_owned).collect();
        let stop = |project: &str| {
            let name = name(runner);
            let write = DisableRunner { id: project.into(), runner_id: runner.id };
            let write = Write::new(&write, format!("disable {name} in {}", text::sanitize(project)));
            let write = write.undone_by("runners.enable", "enables it again");
            let question = format!("Disable {name} in {}? Its jobs go to other runners.", text::sanitize(project));
            App::confirm("Disable", question, Action::Send(write))
        };
        match (self.source.project.as_ref().filter(|_| self.scope() == Scope::Project), served.as_slice()) {
            (Some(project), _) => {
                let ask = stop(project.as_str());
                cx.act(ask);
            }
            (None, all) => {
                let items = all.iter().map(|project| Item::act(project.clone(), stop(project))).collect();
                cx.open(Picker::new("Disable in", items));
            }
        }
    }

    pub(super) fn can_disable(&self, view: &View) -> Result<(), Disabled> {
        let runner = self.need_row(view)?;
        if kind(runner) != "project" {
            return Err("an instance runner serves all; the project's settings switch instance runners off".into());
        }
        match projects(runner).as_slice() {
            [only] => {
                let instead = view.with_keys("‹runners.remove› removes it instead");
                Err(format!("it serves {} alone; {instead}", text::sanitize(only)).into())
            }
            [] if self.scope() != Scope::Project => Err("it is not known which projects it serves".into()),
            _ => Ok(()),
        }
    }
}

/// The runners that can be enabled in a project.
struct AvailableRunners {
    project: Id,
}

impl Source for AvailableRunners {
    fn wants(&self, view: &View, _typed: &str) -> Vec<Want> {
        let mut wants: Vec<Want> = vec![Load::list(&ListRunners::default(), 1).into()];
        // The list does not include the projects of a runner, so the details are loaded.
        let all = view.store.list(&ListRunners::default());
        wants.extend(all.iter().take(50).map(|runner| Load::single(&GetRunner { id: runner.id }).into()));
        wants
    }

    fn items(&self, view: &View, _typed: &str) -> Vec<Item> {
        let all = view.store.list(&ListRunners::default());
        let item = |listed: &Runner| {
            let runner = super::detailed(view, listed);
            let served = runner.projects.iter().flatten();
            let serves = served.into_iter().any(|one| self.project.names(one.id, &one.path_with_namespace));
            let write = EnableRunner { id: self.project.clone(), runner_id: runner.id };
            let what = format!("enable {} in {}", name(runner), text::sanitize(self.project.as_str()));
            let mut item = Item::act(runner.label(), Action::Send(Write::new(&write, what)))
                .detail(runner.tags().join(" "))
                .note(format!("#{}", runner.id));
            item.why_not = if serves {
                Some("it serves this project already".into())
            } else if runner.locked == Some(true) {
                Some("it is locked to its projects".into())
            } else {
                None
            };
            item
        };
        all.iter().map(item).collect()
    }
}
