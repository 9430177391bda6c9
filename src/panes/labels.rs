//! The labels of a project or group: their colors, and how many issues and merge requests have them.

use crate::api::Scope;
use crate::api::labels::{DeleteLabel, Label, ListLabels, SubscribeToLabel, rgb};
use crate::app::permission;
use crate::parts::forms;
use crate::parts::items::subscription;
use crate::parts::list::pane::edited_row;
use crate::parts::list::prelude::*;
use crate::parts::list::scope;
use crate::store::Rows;
use crate::ui::glyph;
use crate::ui::text::sanitize;

fn count(count: Option<u64>) -> Line<'static> {
    Line::text(count.map(|count| count.to_string()).unwrap_or_default())
}

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
    fn go(&self, label: &Label, pane: &str, cx: &mut Cx) {
        let query = format!("label:\"{}\"", label.name.replace('"', ""));
        cx.go(scope::place(self.source.scope.as_ref(), pane).query(query));
    }

    fn create(&mut self, cx: &mut Cx) {
        if let Some(scope) = &self.source.scope {
            Labels::open_form(forms::label::create(scope), cx);
        }
    }

    fn can_change(&self, label: &Label, _: &View) -> Result<(), Disabled> {
        if self.source.is_inherited(label) {
            Err("it belongs to a group above; change it there".into())
        } else {
            Ok(())
        }
    }

    fn edit(&mut self, label: &Label, cx: &mut Cx) {
        if let Some(scope) = self.source.scope.clone() {
            let Some(query) = self.shown_query() else { return };
            // Somebody else may change the name, by which the list knows a label.
            let id = |label: &Label| label.id.to_string();
            let edit = move |label: &Label| forms::label::edit(&scope, label);
            Labels::open_form(edited_row(query, label, id, edit, &cx.view), cx);
        }
    }

    fn delete(&mut self, label: &Label, cx: &mut Cx) {
        let Some(scope) = self.source.scope.clone() else { return };
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
    const LIST: ListInfo = ListInfo::new("labels", "label", "labels");
    const COLUMNS: &'static [Column<Self>] = &[
        Column::<Self>::fixed("swatch", "", 2, |_, label, _| match rgb(&label.color) {
            Some(color) => Line::empty().tinted(glyph::full().repeat(2), color),
            None => Line::empty(),
        }),
        Column::<Self>::name("name", "Label", 10, |_, label, _| Line::new(&label.name, Role::Label))
            .sorted(|label| SortKey::caseless(&label.name)),
        Column::<Self>::fill("description", "Description", 24, |_, label, _| {
            Line::new(label.description.as_deref().unwrap_or_default(), Role::Dim)
        })
        .drop_order(3),
        Column::<Self>::fixed("color", "Color", 7, |_, label, _| Line::new(&label.color, Role::Dim))
            .sorted(|label| label.color.as_str().into())
            .drop_order(4),
        Column::<Self>::fit("open", "Open", 4, 7, |_, label, _| count(label.open_issues_count))
            .right()
            .sorted(|label| label.open_issues_count.into())
            .newest_first()
            .drop_order(1),
        Column::<Self>::fit("closed", "Closed", 6, 7, |_, label, _| count(label.closed_issues_count))
            .right()
            .sorted(|label| label.closed_issues_count.into())
            .newest_first()
            .drop_order(2),
        Column::<Self>::fit("merge requests", "Merge requests", 14, 14, |_, label, _| {
            count(label.open_merge_requests_count)
        })
        .right()
        .sorted(|label| label.open_merge_requests_count.into())
        .newest_first()
        .drop_order(2),
        Column::<Self>::fit("priority", "Priority", 2, 8, |_, label, _| count(label.priority))
            .right()
            .sorted(|label| SortKey::reversed(label.priority))
            .drop_order(5),
        Column::<Self>::fit("subscribed", "", 0, 10, |_, label, _| {
            Line::new(if label.subscribed == Some(true) { "subscribed" } else { "" }, Role::Dim)
        })
        .drop_order(6),
        Column::<Self>::fit("group", "", 0, 5, |source, label, _| {
            Line::new(if source.is_inherited(label) { "group" } else { "" }, Role::Dim)
        })
        .drop_order(6),
    ];
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::row("labels.open", &["Enter"], "Show issues with label", |pane: &mut Labels, label: &Label, cx| {
            pane.go(label, "issues", cx);
        })
        .footer("issues"),
        Command::row("labels.mrs", &["m"], "Show merge requests with label", |pane: &mut Labels, label: &Label, cx| {
            pane.go(label, "mrs", cx);
        })
        .footer("merge requests"),
        Command::new("labels.create", &["+"], "Create label…", Labels::create).needs(permission::PLAN).footer("new"),
        Command::row("labels.edit", &["e"], "Edit label…", Labels::edit)
            .needs(permission::PLAN)
            .footer("edit")
            .when_row(Labels::can_change),
        Command::row("labels.subscribe", &["b"], "Subscribe or unsubscribe", |pane: &mut Labels, label: &Label, cx| {
            if let Some(scope) = &pane.source.scope {
                subscription::toggle_label(scope, label, cx);
            }
        })
        .sends::<SubscribeToLabel>(),
        Command::row("labels.delete", &["D"], "Delete label…", Labels::delete)
            .needs(permission::PLAN)
            .when_row(Labels::can_change),
        Labels::columns_command("labels.columns"),
    ];

    fn open(place: &Place, _view: &View) -> LabelSource {
        LabelSource { scope: scope::of(place) }
    }

    fn is_dim(&self, _: usize, label: &Label) -> bool {
        label.archived == Some(true)
    }

    fn empty(&self, _: usize) -> (&'static str, &'static str) {
        ("There are no labels yet.", "‹labels.create› creates one")
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

    fn url(&self, view: &View, _: Option<&Label>) -> Option<String> {
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
