//! The labels of a project or group: their colors, and how many issues and merge requests have them.

use crate::api::Scope;
use crate::api::labels::{DeleteLabel, Label, ListLabels, rgb};
use crate::app::App;
use crate::app::action::Action;
use crate::app::clip::Clip;
use crate::app::command::Command;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::pane::Breadcrumb;
use crate::app::place::Place;
use crate::app::place_info::Needs;
use crate::app::view::View;
use crate::parts::columns::{Columns, Field, ServerOrder};
use crate::parts::list_pane::ListPane;
use crate::parts::list_source::{Filter, Input, ListCommand, ListSource, NoDetail};
use crate::parts::{forms, scope};
use crate::store::{ListQuery, Rows, Want, Write};
use crate::ui::glyph;
use crate::ui::line::Line;
use crate::ui::table::{Column, Row, Size};
use crate::ui::text::sanitize;
use crate::ui::theme::Role;

const COLUMNS: Columns<Label> = Columns {
    place: "labels",
    fields: &[
        Field::new("swatch", Column::new("", Size::Fixed(2))),
        Field::new("name", Column::new("Label", Size::Fit { min: 10, max: 32 }))
            .loaded(|a: &Label, b| a.name.to_lowercase().cmp(&b.name.to_lowercase())),
        Field::new("description", Column::new("Description", Size::Fill { min: 24, weight: 1 }).drop_order(3)),
        Field::new("color", Column::new("Color", Size::Fixed(7)).drop_order(4))
            .loaded(|a: &Label, b| a.color.cmp(&b.color)),
        Field::new("open", Column::new("Open", Size::Fit { min: 4, max: 7 }).right().drop_order(1))
            .loaded(|a: &Label, b| a.open_issues_count.cmp(&b.open_issues_count))
            .newest_first(),
        Field::new("closed", Column::new("Closed", Size::Fit { min: 6, max: 7 }).right().drop_order(2))
            .loaded(|a: &Label, b| a.closed_issues_count.cmp(&b.closed_issues_count))
            .newest_first(),
        Field::new(
            "merge requests",
            Column::new("Merge requests", Size::Fit { min: 14, max: 14 }).right().drop_order(2),
        )
        .loaded(|a: &Label, b| a.open_merge_requests_count.cmp(&b.open_merge_requests_count))
        .newest_first(),
        Field::new("priority", Column::new("Priority", Size::Fit { min: 2, max: 8 }).right().drop_order(5))
            .loaded(|a: &Label, b| b.priority.cmp(&a.priority)),
        Field::new("group", Column::new("", Size::Fit { min: 0, max: 5 }).drop_order(6)),
    ],
    order: None,
};

/// The labels of a project or group.
pub struct LabelSource {
    scope: Option<Scope>,
}

/// The list of labels.
pub type Labels = ListPane<LabelSource>;

impl LabelSource {
    /// Returns whether a label of a project belongs to one of its groups.
    fn is_inherited(&self, label: &Label) -> bool {
        matches!(self.scope, Some(Scope::Project(_))) && label.is_project_label == Some(false)
    }
}

impl Labels {
    fn go(&mut self, pane: &str, cx: &mut Cx) {
        let Some(label) = self.current(&cx.view) else { return };
        let query = format!("label:\"{}\"", label.name.replace('"', ""));
        cx.go(scope::place(self.source.scope.as_ref(), pane).query(query));
    }

    fn create(&mut self, cx: &mut Cx) {
        if let Some(scope) = &self.source.scope {
            Labels::open_form(forms::label::create(scope), cx);
        }
    }

    fn can_change(&self, view: &View) -> Result<(), Disabled> {
        forms::signed_in(view)?;
        let label = self.need_row(view)?;
        if self.source.is_inherited(label) {
            Err("it belongs to a group above; change it there".into())
        } else {
            Ok(())
        }
    }

    fn edit(&mut self, cx: &mut Cx) {
        if let (Some(label), Some(scope)) = (self.current(&cx.view), &self.source.scope) {
            Labels::open_form(forms::label::edit(scope, label), cx);
        }
    }

    fn delete(&mut self, cx: &mut Cx) {
        let (Some(label), Some(scope)) = (self.current(&cx.view), self.source.scope.clone()) else { return };
        let question = format!(
            "Delete the label {} of {}? It is taken from all issues and merge requests. This cannot be undone.",
            sanitize(&label.name),
            scope.id()
        );
        let delete = DeleteLabel { scope, label_id: label.id.to_string(), name: Some(label.name.clone()) };
        let write = Write::new(&delete, format!("delete label {}", label.name));
        cx.act(App::confirm("Delete a label", question, Action::Send(write)));
    }
}

impl ListSource for LabelSource {
    type Row = Label;
    type Detail = NoDetail;
    const ID: &'static str = "labels";
    const TITLE: &'static str = "Labels";
    const NEEDS: Needs = Needs::Project;
    const COLUMNS: Columns<Label> = COLUMNS;
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::new("labels.open", &["Enter"], "Show issues with label", |pane: &mut Labels, cx| {
            pane.go("issues", cx)
        })
        .footer("issues")
        .when(Labels::has_row),
        Command::new("labels.mrs", &["m"], "Show merge requests with label", |pane: &mut Labels, cx| {
            pane.go("mrs", cx)
        })
        .footer("merge requests")
        .when(Labels::has_row),
        Command::new("labels.create", &["+"], "Create label…", Labels::create)
            .writes()
            .footer("new")
            .when(|_, view| forms::signed_in(view)),
        Command::new("labels.edit", &["e"], "Edit label…", Labels::edit)
            .writes()
            .footer("edit")
            .when(Labels::can_change),
        Command::new("labels.delete", &["D"], "Delete label…", Labels::delete).writes().when(Labels::can_change),
        Labels::columns_command("labels.columns"),
    ];

    fn open(place: &Place, _view: &View) -> LabelSource {
        LabelSource { scope: scope::of(place) }
    }

    fn place(&self) -> Place {
        scope::place(self.scope.as_ref(), Self::ID)
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        scope::breadcrumbs(self.scope.as_ref(), view, "labels")
    }

    fn query(&self, input: &Input<'_>, _: ServerOrder, _view: &View) -> Option<ListQuery<Label>> {
        let search = Some(input.filter.to_owned()).filter(|text| !text.is_empty());
        let (scope, with_counts) = (self.scope.clone()?, Some(true));
        Some(ListQuery::new(&ListLabels { scope, with_counts, search, ..ListLabels::default() }))
    }

    fn filter(&self, _: &Input<'_>) -> Filter<Label> {
        Filter::Server
    }

    /// Filters the rows locally, too, because servers before version 13.6 do not search.
    fn arrange_rows(pane: &mut Labels, rows: &Rows<'_, Label>, _view: &View) {
        let words = pane.list.shown().to_lowercase();
        pane.list.narrow_to(rows, &words, |label| {
            let description = label.description.as_deref().unwrap_or_default();
            label.name.to_lowercase().contains(&words) || description.to_lowercase().contains(&words)
        });
    }

    fn key(label: &Label) -> String {
        label.name.clone()
    }

    fn row(&self, _view: &View, _: usize, label: &Label) -> Row<'static> {
        let swatch = match rgb(&label.color) {
            Some(color) => Line::empty().tinted(glyph::full().repeat(2), color),
            None => Line::empty(),
        };
        let count = |count: Option<u64>| Line::new(count.map(|n| n.to_string()).unwrap_or_default(), Role::Text);
        Row::new(vec![
            swatch,
            Line::new(label.name.clone(), Role::Label),
            Line::new(label.description.clone().unwrap_or_default(), Role::Dim),
            Line::new(label.color.clone(), Role::Dim),
            count(label.open_issues_count),
            count(label.closed_issues_count),
            count(label.open_merge_requests_count),
            count(label.priority),
            Line::new(if self.is_inherited(label) { "group" } else { "" }, Role::Dim),
        ])
        .dim(label.archived == Some(true))
    }

    fn empty(&self, input: &Input<'_>) -> (&'static str, &'static str) {
        match input.filter {
            "" => ("There are no labels yet.", "‹labels.create› creates one"),
            _ => ("No label matches the filter.", "‹seek› changes it, ‹escape› clears it"),
        }
    }

    fn enter(pane: &mut Labels, cx: &mut Cx) {
        pane.go("issues", cx);
    }

    fn wants(pane: &Labels, _view: &View) -> Vec<Want> {
        scope::wants(pane.source.scope.as_ref())
    }

    fn url(&self, view: &View, _: &Label) -> Option<String> {
        scope::page(self.scope.as_ref(), view, "/-/labels")
    }

    fn copies(&self, _view: &View, label: &Label) -> Vec<Clip> {
        vec![
            Clip::line("name", label.name.clone()),
            Clip::line("color", label.color.clone()),
            Clip::line("ID", label.id.to_string()),
        ]
    }
}
