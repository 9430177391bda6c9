//! The protection rules of a project's branches, and the branches that match the selected rule.

use crate::api::branches::{Branch, ListBranches};
use crate::api::protected_branches::{DeleteProtectionRule, ListProtectionRules, ProtectionRule, covers};
use crate::api::{GitRef, Id, RefKind};
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
use crate::parts::facts::{Details, LinkTarget};
use crate::parts::forms::protection_rule::{self, allowed};
use crate::parts::list_detail::{FactsDetail, FactsSource};
use crate::parts::list_pane::ListPane;
use crate::parts::list_source::{Filter, Input, ListCommand, ListSource};
use crate::parts::{forms, project};
use crate::store::{ListQuery, Load, Rows, Want, Write};
use crate::ui::line::Line;
use crate::ui::panels::PanelRequest;
use crate::ui::table::{Column, Row, Size};
use crate::ui::text::sanitize;
use crate::ui::theme::Role;

/// The maximum number of branches listed.
const MAX_LISTED: usize = 30;

const COLUMNS: Columns<ProtectionRule> = Columns {
    place: "protected_branches",
    fields: &[
        Field::new("name", Column::new("Branch or pattern", Size::Fill { min: 14, weight: 1 }))
            .loaded(|a: &ProtectionRule, b| a.name.to_lowercase().cmp(&b.name.to_lowercase())),
        Field::new("push", Column::new("Push", Size::Fit { min: 4, max: 26 })),
        Field::new("merge", Column::new("Merge", Size::Fit { min: 5, max: 26 }).drop_order(1)),
        Field::new("force", Column::new("Force push", Size::Fit { min: 3, max: 10 }).drop_order(2)),
    ],
    order: None,
};

/// The protection rules of a project.
pub struct ProtectionSource {
    project: Id,
}

/// The list of protection rules.
pub type ProtectedBranches = ListPane<ProtectionSource>;

impl ProtectionSource {
    fn branches(&self) -> ListBranches {
        ListBranches { id: self.project.clone(), search: None }
    }
}

impl ProtectedBranches {
    fn open_selection(&mut self, cx: &mut Cx) {
        if !self.enter_detail(cx) {
            self.focus_detail();
        }
    }

    fn can_change(&self, view: &View) -> Result<(), Disabled> {
        forms::signed_in(view)?;
        match self.need_row(view)?.inherited {
            Some(true) => Err("the rule comes from the group".into()),
            _ => Ok(()),
        }
    }

    fn edit(&mut self, cx: &mut Cx) {
        if let Some(rule) = self.current(&cx.view) {
            ProtectedBranches::open_form(protection_rule::edit(&self.source.project, rule), cx);
        }
    }

    fn delete(&mut self, cx: &mut Cx) {
        let Some(rule) = self.current(&cx.view) else { return };
        let (id, name) = (self.source.project.clone(), rule.name.clone());
        let shown = sanitize(&name).into_owned();
        let question = format!("Stop protecting {shown} in {id}? Developers may push to it then.");
        let write = Write::new(&DeleteProtectionRule { id, name }, format!("unprotect {shown}"));
        cx.act(App::confirm("Unprotect branches", question, Action::Send(write)));
    }
}

impl ListSource for ProtectionSource {
    type Row = ProtectionRule;
    type Detail = FactsDetail;
    const ID: &'static str = "protected_branches";
    const TITLE: &'static str = "Protected branches";
    const NEEDS: Needs = Needs::Project;
    const REF_KIND: Option<RefKind> = Some(RefKind::Branch);
    const WIDTHS: &'static [PanelRequest] = &[PanelRequest { min: 44, weight: 3 }, PanelRequest { min: 36, weight: 2 }];
    const COLUMNS: Columns<ProtectionRule> = COLUMNS;
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::new("protected_branches.open", &["Enter"], "Show covered branches", ProtectedBranches::open_selection)
            .footer("branches")
            .when(ProtectedBranches::has_row),
        Command::new("protected_branches.create", &["+"], "Protect branches…", |pane: &mut ProtectedBranches, cx| {
            ProtectedBranches::open_form(protection_rule::create(&pane.source.project), cx);
        })
        .writes()
        .footer("new")
        .when(|_, view| forms::signed_in(view)),
        Command::new("protected_branches.edit", &["e"], "Edit rule…", ProtectedBranches::edit)
            .writes()
            .footer("edit")
            .when(ProtectedBranches::can_change),
        Command::new("protected_branches.delete", &["D"], "Unprotect branches…", ProtectedBranches::delete)
            .writes()
            .footer("delete")
            .when(ProtectedBranches::can_change),
        ProtectedBranches::columns_command("protected_branches.columns"),
    ];

    fn open(place: &Place, _view: &View) -> ProtectionSource {
        ProtectionSource { project: place.project.clone().unwrap_or_default() }
    }

    fn place(&self) -> Place {
        Place::new(Self::ID).project(self.project.clone())
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut out = project::breadcrumbs(view, &self.project);
        out.push(Breadcrumb::new("protected branches", Role::Text));
        out
    }

    fn query(&self, _: &Input<'_>, _: ServerOrder, _view: &View) -> Option<ListQuery<ProtectionRule>> {
        Some(ListQuery::new(&ListProtectionRules { id: self.project.clone() }))
    }

    fn filter(&self, _: &Input<'_>) -> Filter<ProtectionRule> {
        Filter::Loaded(|rule, words| rule.name.to_lowercase().contains(words))
    }

    fn key(rule: &ProtectionRule) -> String {
        rule.name.clone()
    }

    fn row(&self, _view: &View, _: usize, rule: &ProtectionRule) -> Row<'static> {
        let force = if rule.allow_force_push == Some(true) { "allowed" } else { "" };
        Row::new(vec![
            Line::new(rule.name.clone(), Role::Ref),
            Line::new(allowed(&rule.push_access_levels), Role::Text),
            Line::new(allowed(&rule.merge_access_levels), Role::Text),
            Line::new(force, Role::Warning),
        ])
    }

    fn empty(&self, input: &Input<'_>) -> (&'static str, &'static str) {
        match input.filter {
            "" => ("No branch is protected.", "‹protected_branches.create› protects some"),
            _ => ("No rule matches the filter.", "‹seek› changes it, ‹escape› clears it"),
        }
    }

    fn enter(pane: &mut ProtectedBranches, cx: &mut Cx) {
        pane.open_selection(cx);
    }

    fn wants(pane: &ProtectedBranches, _view: &View) -> Vec<Want> {
        vec![project::want(&pane.source.project), Load::list(&pane.source.branches(), 1).optional().into()]
    }

    fn url(&self, view: &View, _: &ProtectionRule) -> Option<String> {
        Some(project::page(view, &self.project, "/-/settings/repository"))
    }

    fn copies(&self, _view: &View, rule: &ProtectionRule) -> Vec<Clip> {
        vec![Clip::line("name", rule.name.clone())]
    }
}

impl FactsSource for ProtectionSource {
    fn facts_title(&self, rule: &ProtectionRule) -> String {
        rule.name.clone()
    }

    fn facts(&self, facts: &mut Details, view: &View, rule: &ProtectionRule) {
        facts.field("push", Line::new(allowed(&rule.push_access_levels), Role::Text), None);
        facts.field("merge", Line::new(allowed(&rule.merge_access_levels), Role::Text), None);
        if rule.allow_force_push == Some(true) {
            facts.field("force push", Line::new("allowed".to_owned(), Role::Warning), None);
        }
        if rule.code_owner_approval_required == Some(true) {
            facts.field("code owners", Line::new("must approve".to_owned(), Role::Text), None);
        }
        if rule.inherited == Some(true) {
            facts.field("from", Line::new("the group".to_owned(), Role::Dim), None);
        }
        let branches: Rows<'_, Branch> = view.store.list(&self.branches());
        if !branches.is_loaded {
            return;
        }
        facts.line(Line::empty());
        let covered: Vec<&Branch> = branches.iter().filter(|branch| covers(&rule.name, &branch.name)).collect();
        for (index, branch) in covered.iter().take(MAX_LISTED).enumerate() {
            let place = Place::new("files").project(self.project.clone()).at(GitRef::branch(&branch.name));
            let name = if index == 0 { "covers" } else { "" };
            facts.field(name, Line::new(branch.name.clone(), Role::Ref), Some(LinkTarget::Place(place)));
        }
        let more = if branches.has_more { " among the branches read so far" } else { "" };
        match covered.len() {
            0 => facts.field("covers", Line::new(format!("no branch{more}"), Role::Dim), None),
            count if count > MAX_LISTED => {
                facts.field("", Line::new(format!("{} more", count - MAX_LISTED), Role::Dim), None)
            }
            _ => {}
        }
    }
}
