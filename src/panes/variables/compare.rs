//! The keys of two projects side by side: which are missing on either side, and which differ. Values are compared, but
//! never shown.

use super::{all, flags, want_all};
use crate::api::variables::Variable;
use crate::api::{Id, VariableOwner};
use crate::app::context::Cx;
use crate::app::keymap::Key;
use crate::app::overlay::{AfterEvent, Overlay};
use crate::app::pointer::Pointer;
use crate::app::view::View;
use crate::parts::list::sheet::{Contents, Sheet};
use crate::store::Want;
use crate::ui::line::Line;
use crate::ui::table::{Size, TableColumn, TableRow};
use crate::ui::text;
use crate::ui::theme::Role;
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::BTreeMap;

/// The outcome of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    OnlyHere,
    OnlyThere,
    /// The values differ.
    Value,
    /// The values are equal, but not the properties.
    Properties,
    /// A value is hidden.
    Unknown,
    Same,
}

impl Outcome {
    fn of(here: Option<&Variable>, there: Option<&Variable>) -> Outcome {
        match (here, there) {
            (Some(_), None) => Outcome::OnlyHere,
            (None, Some(_)) => Outcome::OnlyThere,
            (Some(a), Some(b)) => match (&a.value, &b.value) {
                (Some(a), Some(b)) if a != b => Outcome::Value,
                _ if flags(a) != flags(b) => Outcome::Properties,
                (Some(_), Some(_)) => Outcome::Same,
                _ => Outcome::Unknown,
            },
            (None, None) => Outcome::Same,
        }
    }

    fn words(self) -> (&'static str, Role) {
        match self {
            Outcome::OnlyHere => ("only here", Role::Warning),
            Outcome::OnlyThere => ("missing here", Role::Failed),
            Outcome::Value => ("values differ", Role::Warning),
            Outcome::Properties => ("properties differ", Role::Warning),
            Outcome::Unknown => ("hidden value: unknown", Role::Dim),
            Outcome::Same => ("same", Role::Dim),
        }
    }
}

struct Row {
    key: String,
    scope: String,
    outcome: Outcome,
    /// The properties on both sides.
    flags: [String; 2],
}

/// A comparison of the variables of two projects.
pub struct CompareVariables {
    owners: [VariableOwner; 2],
    names: [String; 2],
    rows: Vec<Row>,
    /// The number of variables that are the same.
    same: usize,
    shows_same: bool,
    /// The lists that could not be read, or are still loading.
    note: Option<String>,
    sheet: Sheet,
}

fn rows_of(here: &[&Variable], there: &[&Variable]) -> Vec<Row> {
    let mut pairs: BTreeMap<(&str, &str), [Option<&Variable>; 2]> = BTreeMap::new();
    for (side, variables) in [here, there].into_iter().enumerate() {
        for variable in variables {
            let pair = pairs.entry((variable.key.as_str(), variable.scope())).or_default();
            pair.get_mut(side).into_iter().for_each(|slot| *slot = Some(variable));
        }
    }
    let row = |((key, scope), pair): ((&str, &str), [Option<&Variable>; 2])| Row {
        key: key.to_owned(),
        scope: scope.to_owned(),
        outcome: Outcome::of(pair[0], pair[1]),
        flags: pair.map(|variable| variable.map(|variable| flags(variable).join(", ")).unwrap_or_default()),
    };
    pairs.into_iter().map(row).collect()
}

impl CompareVariables {
    pub fn of(here: &Id, there: &Id) -> CompareVariables {
        let owners = [here, there].map(|id| VariableOwner::Project(id.clone()));
        let names = [here, there].map(|id| text::sanitize(id.as_str()).into_owned());
        let (rows, sheet) = (Vec::new(), Sheet::default());
        CompareVariables { owners, names, rows, same: 0, shows_same: false, note: None, sheet }
    }

    fn refresh(&mut self, view: &View) {
        let lists = [&self.owners[0], &self.owners[1]].map(|owner| all(owner, view));
        self.note = lists.iter().zip(&self.names).find_map(|(rows, name)| match rows.error {
            Some(error) => Some(format!("{name}: {}", error.title().to_lowercase())),
            None if !rows.is_loaded || rows.is_loading() => Some(format!("{name}: loading…")),
            None => None,
        });
        // Without one of the lists, everything would seem to be missing.
        self.rows = match self.note {
            Some(_) => Vec::new(),
            None => {
                let [here, there] = lists.map(|rows| rows.iter().collect::<Vec<_>>());
                rows_of(&here, &there)
            }
        };
        self.same = self.rows.iter().filter(|row| row.outcome == Outcome::Same).count();
        if !self.shows_same {
            self.rows.retain(|row| row.outcome != Outcome::Same);
        }
    }
}

impl Overlay for CompareVariables {
    fn wants(&self, view: &View) -> Vec<Want> {
        self.owners.iter().map(|owner| want_all(owner, view)).collect()
    }

    fn allows_popups(&self) -> bool {
        true
    }

    fn tells_failed_reads(&self) -> bool {
        true
    }

    fn view(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let columns = [
            TableColumn::new("Key", Size::Fit { min: 8, max: 40 }),
            TableColumn::new("Environment", Size::Fit { min: 5, max: 20 }),
            TableColumn::new("Comparison", Size::Fit { min: 9, max: 21 }),
            TableColumn::new("Here", Size::Fill { min: 6, weight: 1 }),
            TableColumn::new("There", Size::Fill { min: 6, weight: 1 }),
        ];
        let row = |at: usize| {
            let Some(row) = self.rows.get(at) else { return TableRow::default() };
            let (words, role) = row.outcome.words();
            TableRow::new(vec![
                Line::new(row.key.clone(), Role::Label),
                Line::new(row.scope.clone(), Role::Ref),
                Line::new(words, role),
                Line::new(row.flags[0].clone(), Role::Dim),
                Line::new(row.flags[1].clone(), Role::Dim),
            ])
        };
        let words = if self.shows_same { " hide equal ones   " } else { " show equal ones   " };
        let foot = Line::from([("e", Role::Key), (words, Role::Dim), ("Esc", Role::Key), (" close", Role::Dim)])
            .and(format!("   {} equal", self.same), Role::Dim);
        let [here, there] = &self.names;
        let title = format!("Variables of {here} and {there}");
        let why = self.note.as_deref().unwrap_or("The variables of both projects are the same.");
        let empty = (why, "Values are compared, and never shown");
        let contents = Contents { title: &title, columns: &columns, len: self.rows.len(), row: &row, empty, foot };
        let line = self.sheet.draw(view, screen, buf, &contents);
        Line::new(format!("Here: {here}   There: {there}"), Role::Dim).draw(buf, line, view.theme);
        None
    }

    fn key(&mut self, key: Key, cx: &mut Cx) -> AfterEvent {
        match (key.code, key.ctrl) {
            (KeyCode::Esc | KeyCode::Enter | KeyCode::Char('q'), _) | (KeyCode::Char('c'), true) => {
                return AfterEvent::Close;
            }
            (KeyCode::Char('e'), false) => {
                self.shows_same = !self.shows_same;
                self.refresh(&cx.view);
            }
            _ => self.sheet.letter_key(key, self.rows.len()),
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

    #[test]
    fn variables_are_compared_by_key_and_environment() {
        let variable = |key: &str, scope: &str, value: Option<&str>, masked: bool| Variable {
            key: key.into(),
            environment_scope: Some(scope.into()),
            value: value.map(Into::into),
            masked,
            ..Variable::default()
        };
        let here = [
            variable("A", "*", Some("1"), false),
            variable("B", "*", Some("1"), false),
            variable("C", "*", Some("1"), false),
            variable("D", "*", None, true),
            variable("E", "production", Some("1"), false),
        ];
        let there = [
            variable("A", "*", Some("1"), false),
            variable("B", "*", Some("2"), false),
            variable("C", "*", Some("1"), true),
            variable("D", "*", None, true),
            variable("E", "*", Some("1"), false),
        ];
        let rows = rows_of(&here.iter().collect::<Vec<_>>(), &there.iter().collect::<Vec<_>>());
        let shown: Vec<_> = rows.iter().map(|row| (row.key.as_str(), row.scope.as_str(), row.outcome)).collect();
        assert_eq!(
            shown,
            [
                ("A", "*", Outcome::Same),
                ("B", "*", Outcome::Value),
                ("C", "*", Outcome::Properties),
                ("D", "*", Outcome::Unknown),
                ("E", "*", Outcome::OnlyThere),
                ("E", "production", Outcome::OnlyHere),
            ]
        );
    }
}
