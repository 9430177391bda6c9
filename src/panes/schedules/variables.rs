//! The variables of a schedule. A value is shown only when the user asks for it, and only for a few seconds.

use crate::api::Id;
use crate::api::pipelines::PipelineVariable;
use crate::api::schedules::{DeleteScheduleVariable, GetSchedule, Schedule};
use crate::app::App;
use crate::app::action::Action;
use crate::app::context::Cx;
use crate::app::keymap::Key;
use crate::app::overlay::{AfterEvent, Overlay};
use crate::app::pointer::Pointer;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::forms;
use crate::parts::list::sheet::{Contents, Sheet};
use crate::parts::text::revealed::Revealed;
use crate::store::{Load, Want, Write};
use crate::ui::line::Line;
use crate::ui::table::{Size, TableColumn, TableRow};
use crate::ui::text;
use crate::ui::theme::Role;
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The variables of a schedule.
pub struct ScheduleVariables {
    schedule: GetSchedule,
    name: String,
    /// Whether the schedule belongs to the user, who may change them.
    is_own: bool,
    revealed: Revealed,
    sheet: Sheet,
}

impl ScheduleVariables {
    pub fn of(project: &Id, schedule: &Schedule, is_own: bool) -> ScheduleVariables {
        let name = text::sanitize(&schedule.description).into_owned();
        let schedule = GetSchedule { id: project.clone(), pipeline_schedule_id: schedule.id };
        ScheduleVariables { schedule, name, is_own, revealed: Revealed::default(), sheet: Sheet::default() }
    }

    /// Returns the variables; `None` if the user may not see them, or they are not loaded.
    fn variables<'a>(&self, view: &View<'a>) -> Option<&'a [PipelineVariable]> {
        view.store.get(&self.schedule).value?.variables.as_deref()
    }

    fn selected<'a>(&self, view: &View<'a>) -> Option<&'a PipelineVariable> {
        self.variables(view)?.get(self.sheet.selected())
    }

    fn delete(&self, variable: &PipelineVariable, cx: &mut Cx) {
        let GetSchedule { id, pipeline_schedule_id } = self.schedule.clone();
        let delete = DeleteScheduleVariable { id, pipeline_schedule_id, key: variable.key.clone() };
        let key = text::sanitize(&variable.key);
        let write = Write::new(&delete, format!("delete variable {key}"));
        let question = format!("Delete the variable {key} of the schedule {}? Its value is lost.", self.name);
        cx.act(App::confirm("Delete a variable", question, Action::Send(write)));
    }
}

impl Overlay for ScheduleVariables {
    fn wants(&self, _view: &View) -> Vec<Want> {
        vec![Load::single(&self.schedule).into()]
    }

    fn allows_popups(&self) -> bool {
        true
    }

    fn view(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let columns = [
            TableColumn::new("Key", Size::Fit { min: 8, max: 40 }),
            TableColumn::new("Value", Size::Fill { min: 10, weight: 1 }),
            TableColumn::new("Type", Size::Fit { min: 4, max: 4 }),
        ];
        let variables = self.variables(view).unwrap_or_default();
        let row = |at: usize| {
            let Some(variable) = variables.get(at) else { return TableRow::default() };
            let kind = if variable.variable_type == "file" { "file" } else { "" };
            TableRow::new(vec![
                Line::new(variable.key.clone(), Role::Label),
                self.revealed.cell(&variable.key, &variable.value, view.local_now),
                Line::new(kind, Role::Dim),
            ])
        };
        let change = if self.is_own { Role::Key } else { Role::Dim };
        let foot = Line::from([("+", change), (" new  ", Role::Dim), ("e", change), (" edit  ", Role::Dim)])
            .and("D", change)
            .and(" delete  ", Role::Dim)
            .and("v", Role::Key)
            .and(" show value (10 seconds)  ", Role::Dim)
            .and("Esc", Role::Key)
            .and(" close", Role::Dim);
        let loaded = view.store.get(&self.schedule);
        let empty = match (&loaded.value, loaded.error) {
            (_, Some(error)) => (error.title(), "‹refresh› retries"),
            (None, None) => ("Loading…", ""),
            (Some(schedule), None) if schedule.variables.is_none() => {
                ("You may not see the variables.", "Its owner and maintainers see them")
            }
            _ => ("This schedule has no variables.", "+ adds one"),
        };
        let title = format!("Variables of {}", self.name);
        let contents = Contents { title: &title, columns: &columns, len: variables.len(), row: &row, empty, foot };
        let line = self.sheet.draw(view, screen, buf, &contents);
        Line::new("Its pipelines get them in addition to those of the project.", Role::Dim).draw(buf, line, view.theme);
        None
    }

    fn key(&mut self, key: Key, cx: &mut Cx) -> AfterEvent {
        let (project, id) = (&self.schedule.id, self.schedule.pipeline_schedule_id);
        let len = self.variables(&cx.view).map_or(0, <[PipelineVariable]>::len);
        let selected = self.selected(&cx.view);
        match (key.code, key.ctrl) {
            (KeyCode::Esc | KeyCode::Char('q'), _) | (KeyCode::Char('c'), true) => return AfterEvent::Close,
            (KeyCode::Char('v'), false) => {
                if let Some(variable) = selected {
                    self.revealed.toggle(variable.key.clone(), cx.view.local_now);
                }
            }
            (KeyCode::Char('+' | 'e' | 'D') | KeyCode::Enter | KeyCode::Delete, false) if !self.is_own => {
                cx.say(Tone::Warning, "Only the owner of the schedule can change its variables.");
            }
            (KeyCode::Char('+'), false) => forms::schedule::create_variable(project, id).open(cx),
            (KeyCode::Char('e') | KeyCode::Enter, false) => {
                if let Some(variable) = selected {
                    let (project, get, key) = (project.clone(), self.schedule.clone(), variable.key.clone());
                    let edit =
                        move |variable: &PipelineVariable| forms::schedule::edit_variable(&project, id, variable);
                    let form = edit(variable).checked(vec![Load::single(&get)], move |view| {
                        let variables = view.store.get(&get).value?.variables.as_deref()?;
                        Some(variables.iter().find(|variable| variable.key == key).map(&edit))
                    });
                    form.open(cx);
                }
            }
            (KeyCode::Char('D') | KeyCode::Delete, false) => {
                if let Some(variable) = selected {
                    self.delete(variable, cx);
                }
            }
            _ => self.sheet.letter_key(key, len),
        }
        AfterEvent::KeepOpen
    }

    fn changed(&mut self, cx: &mut Cx) {
        self.revealed.expire(cx.view.local_now);
    }

    fn shows_secret(&self) -> bool {
        self.revealed.is_any()
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) -> AfterEvent {
        let len = self.variables(&cx.view).map_or(0, <[PipelineVariable]>::len);
        self.sheet.pointer(pointer, len)
    }
}
