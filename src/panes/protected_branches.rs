//! The protection rules of a project's branches, and the branches that match the selected rule.

use crate::api::branches::{Branch, ListBranches};
use crate::api::protected_branches::{DeleteProtectionRule, ListProtectionRules, ProtectionRule, covers};
use crate::api::{GitRef, Id, RefKind};
use crate::app::permission;
use crate::parts::facts::LinkTarget;
use crate::parts::forms::protection_rule::{self, allowed};
use crate::parts::list::prelude::*;
use crate::parts::project;
use crate::store::{Load, Rows};
use crate::ui::text::sanitize;

/// The maximum number of branches listed.
const MAX_LISTED: usize = 30;

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
    fn can_change(&self, rule: &ProtectionRule, _: &View) -> Result<(), Disabled> {
        match rule.inherited {
            Some(true) => Err("the rule comes from the group".into()),
            _ => Ok(()),
        }
    }

    fn edit(&mut self, rule: &ProtectionRule, cx: &mut Cx) {
        let project = self.source.project.clone();
        self.open_edit(rule, move |rule| protection_rule::edit(&project, rule), cx);
    }

    fn delete(&mut self, rule: &ProtectionRule, cx: &mut Cx) {
        let (id, name) = (self.source.project.clone(), rule.name.clone());
        let shown = sanitize(&name).into_owned();
        let question = format!("Stop protecting {shown} in {id}? Developers may push to it then.");
        let write = Write::new(&DeleteProtectionRule { id, name }, format!("unprotect {shown}"));
        cx.act(App::confirm("Unprotect branches", question, Action::Send(write)));
    }
}

impl ListSource for ProtectionSource {
    type Row = ProtectionRule;
    type Detail = Details;
    const LIST: ListInfo = ListInfo {
        ref_kind: Some(RefKind::Branch),
        ..ListInfo::new("protected_branches", "rule", "protected branches").widths(&[(44, 3), (36, 2)])
    };
    const COLUMNS: &'static [Column<Self>] = &[
        Column::<Self>::fill("name", "Branch or pattern", 14, |_, rule, _| Line::new(&rule.name, Role::Ref))
            .sorted(|rule| SortKey::caseless(&rule.name)),
        Column::<Self>::fit("push", "Push", 4, 26, |_, rule, _| Line::text(allowed(&rule.push_access_levels))),
        Column::<Self>::fit("merge", "Merge", 5, 26, |_, rule, _| Line::text(allowed(&rule.merge_access_levels)))
            .drop_order(1),
        Column::<Self>::fit("force", "Force push", 3, 10, |_, rule, _| {
            Line::new(if rule.allow_force_push == Some(true) { "allowed" } else { "" }, Role::Warning)
        })
        .drop_order(2),
    ];
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::row(
            "protected_branches.open",
            &["Enter"],
            "Show covered branches",
            |pane: &mut ProtectedBranches, _, cx| pane.open_details(cx),
        )
        .footer("branches"),
        Command::new("protected_branches.create", &["+"], "Protect branches…", |pane: &mut ProtectedBranches, cx| {
            ProtectedBranches::open_form(protection_rule::create(&pane.source.project), cx);
        })
        .needs(permission::SETTINGS)
        .footer("new"),
        Command::row("protected_branches.edit", &["e"], "Edit rule…", ProtectedBranches::edit)
            .needs(permission::SETTINGS)
            .footer("edit")
            .when_row(ProtectedBranches::can_change),
        Command::row("protected_branches.delete", &["D"], "Unprotect branches…", ProtectedBranches::delete)
            .needs(permission::SETTINGS)
            .footer("delete")
            .when_row(ProtectedBranches::can_change),
        ProtectedBranches::columns_command("protected_branches.columns"),
    ];

    fn open(place: &Place, _view: &View) -> ProtectionSource {
        ProtectionSource { project: place.project.clone().unwrap_or_default() }
    }

    fn empty(&self, _: usize) -> (&'static str, &'static str) {
        ("No branch is protected.", "‹protected_branches.create› protects some")
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

    fn wants(pane: &ProtectedBranches, _view: &View) -> Vec<Want> {
        vec![Load::list(&pane.source.branches(), 1).optional().into()]
    }

    fn url(&self, view: &View, _: Option<&ProtectionRule>) -> Option<String> {
        Some(project::page(view, &self.project, "/-/settings/repository"))
    }

    fn copies(&self, _view: &View, rule: &ProtectionRule) -> Vec<Clip> {
        vec![Clip::line("name", rule.name.clone())]
    }
}

impl Describes<Details> for ProtectionSource {
    fn describe(&self, facts: &mut Details, view: &View, rule: &ProtectionRule) {
        facts.title(rule.name.clone(), "");
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
