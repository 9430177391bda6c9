//! The columns of the list of runners.

use super::{age, kind, status};
use crate::api::runners::Runner;
use crate::app::view::View;
use crate::parts::columns::{Columns, Field};
use crate::ui::line::Line;
use crate::ui::table::{Column, Row, Size};
use crate::ui::theme::Role;

/// The columns. The list reply omits most fields, so columns that need the details cannot be sorted.
pub(super) const COLUMNS: Columns<Runner> = Columns {
    place: "runners",
    fields: &[
        Field::new("status", Column::new("", Size::Fit { min: 8, max: 16 }))
            .loaded(|a: &Runner, b| status(a).1.cmp(&status(b).1)),
        Field::new("name", Column::new("Runner", Size::Fill { min: 16, weight: 1 }))
            .loaded(|a: &Runner, b| a.label().to_lowercase().cmp(&b.label().to_lowercase())),
        Field::new("tags", Column::new("Tags", Size::Fit { min: 4, max: 22 }).drop_order(3)),
        Field::new("type", Column::new("Type", Size::Fit { min: 6, max: 8 }).drop_order(2))
            .loaded(|a: &Runner, b| kind(a).cmp(kind(b))),
        Field::new("version", Column::new("Version", Size::Fit { min: 5, max: 9 }).drop_order(4)),
        Field::new("platform", Column::new("Platform", Size::Fit { min: 0, max: 16 }).drop_order(6)).hidden(),
        Field::new("address", Column::new("IP address", Size::Fit { min: 0, max: 24 }).cut_in_middle().drop_order(6))
            .loaded(|a: &Runner, b| a.ip_address.cmp(&b.ip_address))
            .hidden(),
        Field::new("configuration", Column::new("Configuration", Size::Fit { min: 0, max: 24 }).drop_order(6)).hidden(),
        Field::new("ID", Column::new("ID", Size::Fit { min: 2, max: 6 }).right().drop_order(5))
            .loaded(|a: &Runner, b| a.id.cmp(&b.id)),
        Field::new("last contact", Column::new("Contact", Size::Fit { min: 4, max: 7 }).right().drop_order(1)),
    ],
    order: None,
};

/// Returns a row of the list.
pub(super) fn row(view: &View, runner: &Runner) -> Row<'static> {
    let (sign, word, role) = status(runner);
    let version = runner.version.as_deref().unwrap_or_default().to_owned();
    let platform: Vec<&str> =
        [&runner.platform, &runner.architecture].into_iter().filter_map(|what| what.as_deref()).collect();
    let mut takes = Vec::new();
    takes.extend((runner.run_untagged == Some(true)).then_some("untagged"));
    takes.extend((runner.locked == Some(true)).then_some("locked"));
    takes.extend((runner.access_level.as_ref().is_some_and(|level| level == "ref_protected")).then_some("protected"));
    Row::new(vec![
        Line::new(format!("{sign} {word}"), role),
        Line::new(runner.label(), Role::Text),
        Line::new(runner.tags().join(" "), Role::Label),
        Line::new(kind(runner), Role::Dim),
        Line::new(version, Role::Dim),
        Line::new(platform.join("/"), Role::Dim),
        Line::new(runner.ip_address.clone().unwrap_or_default(), Role::Dim),
        Line::new(takes.join(", "), Role::Dim),
        Line::new(format!("#{}", runner.id), Role::Dim),
        Line::new(age(view, runner), Role::Dim),
    ])
    .dim(runner.is_paused())
}
