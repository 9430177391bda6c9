//! The variables that jobs of an environment get: those of the instance, the groups and the project, and which of
//! several with the same key counts.

use super::{all, flags, want_all};
use crate::api::variables::Variable;
use crate::api::{Id, VariableOwner};
use crate::app::context::Cx;
use crate::app::keymap::Key;
use crate::app::overlay::picker::edit;
use crate::app::overlay::{AfterEvent, Overlay, TextEntry};
use crate::app::pointer::Pointer;
use crate::app::view::View;
use crate::domain::ci_variables::{scope_fits, scope_rank};
use crate::parts::list::sheet::{Contents, Sheet};
use crate::parts::{forms, project};
use crate::store::Want;
use crate::ui::glyph;
use crate::ui::input::Input;
use crate::ui::line::Line;
use crate::ui::table::{Size, TableColumn, TableRow};
use crate::ui::text;
use crate::ui::theme::Role;
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The label of the input.
const LABEL: &str = "Environment ";

/// A variable that fits the environment.
struct Row {
    key: String,
    /// The owner in words.
    from: String,
    scope: String,
    flags: String,
    /// Whether another variable with the same key counts instead.
    is_overridden: bool,
}

/// The effective variables of a project or group.
pub struct EffectiveVariables {
    owner: VariableOwner,
    /// The name of the environment; empty for jobs without one.
    environment: Input,
    rows: Vec<Row>,
    /// The lists that could not be read, or are still loading.
    note: Line<'static>,
    sheet: Sheet,
}

/// Returns the owners whose variables a project or group gets, from the outermost one to itself.
fn owners(owner: &VariableOwner, view: &View) -> Vec<VariableOwner> {
    let path = match owner {
        VariableOwner::Project(id) => {
            let known = project::project(view, id).map(|known| known.path_with_namespace.clone());
            known.filter(|path| !path.is_empty()).unwrap_or_else(|| id.to_string())
        }
        VariableOwner::Group(id) => id.to_string(),
        VariableOwner::Instance => String::new(),
    };
    let groups = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
    let groups = groups.map(|group| VariableOwner::Group(Id::from(group)));
    // Servers say who is an administrator to administrators alone.
    let is_admin = view.me().is_some_and(|me| me.is_admin == Some(true));
    let instance = is_admin.then_some(VariableOwner::Instance);
    instance.into_iter().chain(groups).chain([owner.clone()]).collect()
}

/// Returns where variables come from, in words.
fn origin(owner: &VariableOwner) -> String {
    match owner {
        VariableOwner::Project(_) => "project".to_owned(),
        VariableOwner::Group(id) => format!("group {id}"),
        VariableOwner::Instance => "instance".to_owned(),
    }
}

/// Returns the variables that fit an environment, by key; of those with the same key, the one that counts comes first.
fn rows_of(all: &[(&VariableOwner, Vec<&Variable>)], environment: &str) -> Vec<Row> {
    let mut found: Vec<(usize, &Variable)> = Vec::new();
    for (level, (_, variables)) in all.iter().enumerate() {
        let fits = variables.iter().filter(|variable| scope_fits(variable.scope(), environment));
        found.extend(fits.map(|variable| (level, *variable)));
    }
    let rank = |variable: &Variable| scope_rank(variable.scope(), environment);
    found
        .sort_by(|(a_level, a), (b_level, b)| a.key.cmp(&b.key).then(b_level.cmp(a_level)).then(rank(b).cmp(&rank(a))));
    let mut rows: Vec<Row> = Vec::new();
    for (level, variable) in found {
        rows.push(Row {
            key: variable.key.clone(),
            from: all.get(level).map(|(owner, _)| origin(owner)).unwrap_or_default(),
            scope: variable.scope().to_owned(),
            flags: flags(variable).join(", "),
            is_overridden: rows.last().is_some_and(|last| last.key == variable.key),
        });
    }
    rows
}

impl EffectiveVariables {
    pub fn of(owner: &VariableOwner) -> EffectiveVariables {
        let (owner, environment) = (owner.clone(), Input::default());
        EffectiveVariables { owner, environment, rows: Vec::new(), note: Line::empty(), sheet: Sheet::default() }
    }

    fn refresh(&mut self, view: &View) {
        let owners = owners(&self.owner, view);
        let lists: Vec<_> = owners.iter().map(|owner| (owner, all(owner, view))).collect();
        let mut note = match owners.contains(&VariableOwner::Instance) {
            true => Line::empty(),
            false => Line::new("instance: for administrators  ", Role::Dim),
        };
        for (owner, rows) in &lists {
            if let Some(error) = rows.error {
                note.push(format!("{}: {}  ", origin(owner), error.title().to_lowercase()), Role::Warning);
            } else if !rows.is_loaded {
                note.push(format!("{}: loading…  ", origin(owner)), Role::Dim);
            }
        }
        let variables: Vec<_> = lists.iter().map(|(owner, rows)| (*owner, rows.iter().collect())).collect();
        (self.rows, self.note) = (rows_of(&variables, self.environment.text().trim()), note);
    }
}

impl Overlay for EffectiveVariables {
    fn wants(&self, view: &View) -> Vec<Want> {
        owners(&self.owner, view).iter().map(|owner| want_all(owner, view)).collect()
    }

    fn text_entry(&self) -> TextEntry {
        TextEntry::Line
    }

    fn paste(&mut self, text: &str, cx: &mut Cx) {
        self.environment.paste(text);
        self.refresh(&cx.view);
    }

    fn tells_failed_reads(&self) -> bool {
        true
    }

    fn view(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let columns = [
            TableColumn::new("Key", Size::Fit { min: 8, max: 40 }),
            TableColumn::new("From", Size::Fit { min: 8, max: 30 }),
            TableColumn::new("Environment", Size::Fit { min: 6, max: 24 }),
            TableColumn::new("Properties", Size::Fill { min: 10, weight: 1 }),
        ];
        let row = |at: usize| {
            let Some(row) = self.rows.get(at) else { return TableRow::default() };
            let mark =
                if row.is_overridden { format!("{} ", glyph::or_word("↳", "overridden")) } else { String::new() };
            let flags = if row.is_overridden { "overridden".to_owned() } else { row.flags.clone() };
            TableRow::new(vec![
                Line::new(mark, Role::Dim).and(row.key.clone(), Role::Label),
                Line::new(row.from.clone(), Role::Text),
                Line::new(row.scope.clone(), Role::Ref),
                Line::new(flags, Role::Dim),
            ])
            .dim(row.is_overridden)
        };
        let keys = [("↑↓", Role::Key), (" move   ", Role::Dim), ("Esc", Role::Key), (" close   ", Role::Dim)];
        let mut foot = Line::from(keys);
        foot.spans.extend(self.note.borrowed().spans);
        let title = format!("Effective variables of {}", text::sanitize(&forms::variable::owner_name(&self.owner)));
        let empty = ("No variable fits this environment.", "Esc closes this list");
        let contents = Contents { title: &title, columns: &columns, len: self.rows.len(), row: &row, empty, foot };
        let line = self.sheet.draw(view, screen, buf, &contents);
        let used = Line::new(LABEL, Role::Dim).draw(buf, line, view.theme).min(line.width);
        let at = Rect { x: line.x + used, width: line.width - used, ..line };
        self.environment.draw(buf, at, view.theme, true, "none: jobs without an environment; type its name")
    }

    fn key(&mut self, key: Key, cx: &mut Cx) -> AfterEvent {
        match (key.code, key.ctrl) {
            (KeyCode::Esc | KeyCode::Enter, _) | (KeyCode::Char('c'), true) => return AfterEvent::Close,
            _ if self.sheet.key(key, self.rows.len()) => {}
            _ => {
                edit(&mut self.environment, key);
                self.refresh(&cx.view);
            }
        }
        AfterEvent::KeepOpen
    }

    fn pointer(&mut self, pointer: Pointer, _cx: &mut Cx) -> AfterEvent {
        self.sheet.pointer(pointer, self.rows.len())
    }

    fn changed(&mut self, cx: &mut Cx) {
        self.refresh(&cx.view);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(key: &str, scope: &str) -> Variable {
        Variable { key: key.into(), environment_scope: Some(scope.into()), ..Variable::default() }
    }

    #[test]
    fn the_innermost_owner_counts_and_then_the_most_specific_environment() {
        let owners =
            [VariableOwner::Instance, VariableOwner::Group("acme".into()), VariableOwner::Project("acme/ui".into())];
        let [instance, group, project] = [
            vec![variable("A", "*"), variable("B", "*")],
            vec![variable("A", "production"), variable("C", "staging")],
            vec![variable("B", "*"), variable("B", "prod*"), variable("B", "production"), variable("B", "review/*")],
        ];
        let all = [
            (&owners[0], instance.iter().collect()),
            (&owners[1], group.iter().collect()),
            (&owners[2], project.iter().collect()),
        ];
        let shown = |environment: &str| -> Vec<String> {
            let row = |row: &Row| {
                let mark = if row.is_overridden { "- " } else { "" };
                format!("{mark}{} {} {}", row.key, row.from, row.scope)
            };
            rows_of(&all, environment).iter().map(row).collect()
        };
        assert_eq!(
            shown("production"),
            [
                "A group acme production",
                "- A instance *",
                "B project production",
                "- B project prod*",
                "- B project *",
                "- B instance *",
            ]
        );
        assert_eq!(shown(""), ["A instance *", "B project *", "- B instance *"]);
    }
}
