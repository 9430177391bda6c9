//! The merge checks of a merge request: the condition of each, whether it passes, and the command that lets it pass. A
//! server names only the first check that does not; others follow from the other facts that it sends.

use super::Mr;
use super::reads::MergeRequestReads;
use crate::api::merge_requests::MergeRequest;
use crate::app::action::Action;
use crate::app::context::{Cx, Here};
use crate::app::overlay::picker::{Item, Picker, Source};
use crate::app::view::View;
use crate::domain::merge_status::{self, Fix, Obstacle};
use crate::domain::waiting_for::REQUESTED_CHANGES;
use crate::parts::items::merge_requests;
use crate::store::Want;
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::{glyph, text};
use std::borrow::Cow;

/// The state of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckState {
    Passed,
    /// A check that may pass by itself.
    Running,
    Failed,
    /// A fact that blocks nothing.
    Note,
}

/// A merge check.
#[derive(Clone, Debug, PartialEq)]
pub struct MergeCheck {
    pub state: CheckState,
    /// Whether it must pass before auto-merge can be set.
    pub blocks_auto_merge: bool,
    /// A sentence without a full stop.
    pub condition: String,
    /// The ID of the command that lets it pass, and what its key does; `None` if there is nothing to do.
    pub fix: Option<(&'static str, Cow<'static, str>)>,
}

impl MergeCheck {
    fn new(status: &str, state: CheckState) -> MergeCheck {
        let (condition, obstacle, (command, does)) = merge_status::check(status);
        let fix = (state == CheckState::Failed).then(|| (command, does.into()));
        MergeCheck {
            state,
            blocks_auto_merge: obstacle == Obstacle::Blocked,
            condition: text::capitalize(&condition),
            fix,
        }
    }

    fn fixed_by(mut self, (command, does): Fix) -> MergeCheck {
        self.fix = self.fix.map(|_| (command, does.into()));
        self
    }

    /// Returns the sign and the condition.
    pub fn line(&self) -> Line<'static> {
        let (sign, role) = match self.state {
            CheckState::Passed => (glyph::or_word(glyph::done(), "passed:"), Role::Success),
            CheckState::Running => (glyph::or_word(glyph::busy(), "running:"), Role::Running),
            CheckState::Failed => (glyph::or_word(glyph::wrong(), "not passed:"), Role::Failed),
            CheckState::Note => (glyph::warning(), Role::Warning),
        };
        let words = if self.state == CheckState::Passed { Role::Dim } else { Role::Text };
        Line::new(format!("{sign} "), role).and(self.condition.clone(), words)
    }

    /// Returns the key of the command that lets it pass, and what that does.
    pub fn next_step(&self, view: &View) -> Option<String> {
        let (command, does) = self.fix.as_ref()?;
        Some(view.with_keys(&format!("‹{command}› {does}")).into_owned())
    }

    /// Returns whether it does not pass yet.
    pub fn is_missing(&self) -> bool {
        matches!(self.state, CheckState::Failed | CheckState::Running)
    }
}

impl MergeRequestReads {
    /// Returns the merge checks, those that do not pass first; empty until the merge request has loaded or if it is not open.
    pub fn merge_checks(&self, view: &View) -> Vec<MergeCheck> {
        let Some(known) = self.known(view).filter(|known| known.is_open()) else { return Vec::new() };
        if known.rebase_in_progress == Some(true) {
            return vec![MergeCheck {
                condition: "Is being rebased".into(),
                ..MergeCheck::new("need_rebase", CheckState::Running)
            }];
        }
        let status = match known.merge_status().unwrap_or_default() {
            "cannot_be_merged" => "conflict",
            status => status,
        };
        let obstacle = merge_status::obstacle(status);
        // Until it is checked, a server says that there are no conflicts.
        let conflicts = known.has_conflicts.filter(|conflicts| *conflicts || obstacle != Obstacle::Unchecked);
        let given = self.given_approvals(view).filter(|given| given.approvals_required.is_some_and(|count| count > 0));
        let facts = [
            ("draft_status", Some(!known.is_draft())),
            ("conflict", conflicts.map(|conflicts| !conflicts)),
            // `true` may mean that the project does not require it (GitLab, `MergeRequest#mergeable_discussions_state?`).
            ("discussions_not_resolved", known.blocking_discussions_resolved.filter(|resolved| !resolved)),
            ("not_approved", given.and_then(|given| given.approvals_left).map(|left| left == 0)),
            (REQUESTED_CHANGES, None),
        ];
        let requested: Vec<&str> = self.changes_requested_by(view).iter().map(|user| user.username.as_str()).collect();
        let requested = (!requested.is_empty()).then(|| format!("{} requested changes", requested.join(" and ")));
        let mut checks = Vec::new();
        for (name, passes) in facts {
            let state = match passes {
                _ if name == status => CheckState::Failed,
                Some(true) => CheckState::Passed,
                // The server has checked everything, so it does not require what does not pass.
                Some(false) if status == "mergeable" => continue,
                Some(false) => CheckState::Failed,
                None => continue,
            };
            let check = MergeCheck::new(name, state);
            let check = match name {
                "conflict" => self.conflict_check(known, view, check),
                "not_approved" if !self.may_approve(view) => check.fixed_by(("mr.people", "asks for reviewers")),
                REQUESTED_CHANGES => {
                    let check = MergeCheck { condition: requested.clone().unwrap_or(check.condition), ..check };
                    if self.has_requested_changes(view) {
                        check.fixed_by(("mr.withdraw", "withdraws yours"))
                    } else {
                        check
                    }
                }
                _ => check,
            };
            // What the server names comes first.
            let at = if name == status { 0 } else { checks.len() };
            checks.insert(at, check);
        }
        match (status, obstacle) {
            ("", _) => {}
            (_, Obstacle::Nothing) if checks.iter().any(MergeCheck::is_missing) => {}
            (_, Obstacle::Nothing) => checks.insert(0, MergeCheck::new(status, CheckState::Passed)),
            ("ci_still_running", _) | (_, Obstacle::Unchecked) => {
                checks.insert(0, MergeCheck::new(status, CheckState::Running))
            }
            _ if facts.iter().any(|(name, _)| *name == status) => {}
            _ => checks.insert(0, MergeCheck::new(status, CheckState::Failed)),
        }
        if let Some(condition) = requested.filter(|_| status != REQUESTED_CHANGES) {
            checks.push(MergeCheck { condition, ..MergeCheck::new(REQUESTED_CHANGES, CheckState::Note) });
        }
        checks.sort_by_key(|check| !check.is_missing());
        checks
    }

    fn may_approve(&self, view: &View) -> bool {
        self.given_approvals(view).is_none_or(|given| given.user_can_approve != Some(false) && !given.is_mine())
    }

    /// Returns the check of conflicts with the next step: the clone in the current folder, or else the web page.
    fn conflict_check(&self, known: &MergeRequest, view: &View, check: MergeCheck) -> MergeCheck {
        if check.state != CheckState::Failed {
            return check;
        }
        let fix = match merge_requests::check_out(view, &merge_requests::project(known, view), known) {
            Ok(checkout) => {
                let pull = format!("git pull --no-rebase {}", merge_requests::operand(&checkout.remote.name));
                let target = merge_requests::operand(known.target_branch());
                (
                    "mr.check_out",
                    format!("checks out the branch here; then {pull} {target}, resolve them and push").into(),
                )
            }
            Err(_) => ("browse", "opens the page that resolves them".into()),
        };
        MergeCheck { fix: Some(fix), ..check }
    }
}

/// The source of the checks that do not pass, as they are on the server meanwhile.
struct MissingChecks {
    reads: MergeRequestReads,
    here: Here,
}

impl MissingChecks {
    /// Returns the action that opens the merge form.
    fn merge(&self) -> Action {
        self.here.then(|pane: &mut Mr, cx| pane.open_merge_form(cx))
    }
}

impl Source for MissingChecks {
    fn wants(&self, _: &View, _: &str) -> Vec<Want> {
        // The place below wants all that is needed.
        Vec::new()
    }

    fn items(&self, view: &View, _: &str) -> Vec<Item> {
        let checks = self.reads.merge_checks(view);
        let is_blocked = checks.iter().any(|check| check.state == CheckState::Failed && check.blocks_auto_merge);
        let item = |check: MergeCheck| {
            let (command, does) = check.fix.unwrap_or(("refresh", "asks again".into()));
            Item::act(check.condition, Action::Run(command)).detail(does).note(view.key_names.first(command))
        };
        let mut items: Vec<Item> = checks.into_iter().filter(MergeCheck::is_missing).map(item).collect();
        if !is_blocked {
            items.push(Item::act("Merge when all checks pass…", self.merge()));
        }
        items
    }

    fn decided(&self, view: &View) -> Option<Action> {
        let is_missing = self.reads.merge_checks(view).iter().any(|check| check.state == CheckState::Failed);
        (!is_missing).then(|| self.merge())
    }
}

impl Mr {
    /// Lists the checks that do not pass; Enter runs the command that lets one pass. Once all pass, because an outdated
    /// state was shown or somebody else acted, the merge form opens.
    pub(super) fn open_merge_checks(&self, cx: &mut Cx) {
        let source = MissingChecks { reads: self.reads.clone(), here: cx.here };
        let picker = Picker::of(format!("Merge checks of !{} not passed", self.reads.iid), Box::new(source), &cx.view);
        cx.open(picker);
    }
}
