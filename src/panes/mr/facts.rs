//! The facts of a merge request, shown above its description or in the sidebar.

use super::merge_checks::MergeCheck;
use crate::api::decisions::{ApprovalRule, Approvals};
use crate::api::jobs::Job;
use crate::api::labels::Label;
use crate::api::merge_requests::{MergeRequest, Reviewer};
use crate::api::pipelines::resources::Pipeline;
use crate::api::users::User;
use crate::app::view::View;
use crate::parts::breadcrumbs;
use crate::parts::ci;
use crate::parts::facts::fact_lines::{self, FactLines};
use crate::parts::facts::sidebar;
use crate::parts::items::linked_items::{self, LinkedGroup};
use crate::parts::items::merge_requests;
use crate::parts::items::stack::Stack;
use crate::parts::items::{subscription, time_tracking};
use crate::parts::text::dates::{age, ago, date};
use crate::parts::text::label_colors;
use crate::store::Rows;
use crate::ui::doc::DocLine;
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::{glyph, text};

/// The width in columns of the labels of facts.
const LABEL_WIDTH: usize = 13;
/// The maximum number of participants and approvers listed.
const MAX_PARTICIPANTS: usize = 30;
/// The maximum number of approval rules listed.
const MAX_RULES: usize = 20;
/// The maximum number of files listed that were changed on both sides.
const MAX_COMMON_CHANGES: usize = 8;
/// The maximum number of lines of the title.
const MAX_TITLE_LINES: usize = 4;

/// The data that the lines are built from.
pub struct Facts<'a> {
    pub merge_request: &'a MergeRequest,
    pub pipeline: Option<&'a Pipeline>,
    pub jobs: Vec<&'a Job>,
    pub participants: Rows<'a, User>,
    pub approvals: Option<&'a Approvals>,
    pub approval_rules: &'a [ApprovalRule],
    pub checks: Vec<MergeCheck>,
    /// Files that the target branch changed as well, if there are conflicts.
    pub common_changes: &'a [String],
    /// The labels of the project, which define the colors.
    pub labels: Rows<'a, Label>,
    /// The review states of the reviewers, if the server provides them.
    pub reviewers: Rows<'a, Reviewer>,
    /// The merge requests below and above it.
    pub stack: Stack<'a>,
    /// The issues and merge requests that are linked to it.
    pub linked: [LinkedGroup<'a>; 4],
}

/// Adds the merge checks, one per line with its next step. Beside the text, there is room for those that pass; below it,
/// only the first of those that pass is added if there is no other.
fn checks(out: &mut FactLines, view: &View, checks: &[MergeCheck], all: bool) {
    let has_missing = checks.iter().any(MergeCheck::is_missing);
    let shown = |(index, check): &(usize, &MergeCheck)| all || check.is_missing() || (*index == 0 && !has_missing);
    for (index, check) in checks.iter().enumerate().filter(shown) {
        let next = check.next_step(view).map(|words| Line::new(words, Role::Dim));
        out.fact(if index == 0 { "Merge checks" } else { "" }, [check.line()].into_iter().chain(next).collect());
    }
}

/// Adds the jobs by stage, one per line.
fn jobs(out: &mut FactLines, view: &View, jobs: &[&Job]) {
    for stage in ci::stages(jobs.iter().copied().enumerate()) {
        for (index, run) in stage.jobs.iter().enumerate() {
            let Some(job) = jobs.get(run.index) else { continue };
            let (mark, role) = ci::sign(job);
            let label = if index == 0 { stage.name.as_str() } else { "" };
            let duration = ci::duration(job, view.now);
            let room = out.width.saturating_sub(LABEL_WIDTH + 2 + duration.len() + 1);
            out.line(
                Line::new(text::pad(label, LABEL_WIDTH), Role::Dim)
                    .and(format!("{mark} "), role)
                    .and(text::pad(&job.name, room), if run.is_retried { Role::Dim } else { Role::Text })
                    .and(format!(" {duration}"), Role::Dim),
            );
        }
    }
}

/// Returns the lines above the description, and those below it: the facts, unless they are in the sidebar.
pub fn lines(view: &View, facts: &Facts, width: usize) -> [Vec<DocLine<'static>>; 2] {
    let is_wide = sidebar::is_wide(view);
    let above = fact_lines::above(title(view, facts.merge_request, width), state(view, facts, !is_wide), width);
    let below = if is_wide { Vec::new() } else { fact_lines::below(about(view, facts, width, false)) };
    [above, below]
}

/// Returns the lines of the facts for the sidebar, with one line per job.
pub fn sidebar_lines(view: &View, facts: &Facts) -> Vec<DocLine<'static>> {
    about(view, facts, sidebar::FACT_WIDTH, true)
}

/// Returns whether the first line of the screen shows all of the title.
fn is_title_shown(view: &View, m: &MergeRequest) -> bool {
    breadcrumbs::shows_title(view, &merge_requests::project(m, view), merge_requests::title(m))
}

/// Returns the lines of the title; none if the first line of the screen shows all of it.
fn title(view: &View, m: &MergeRequest, width: usize) -> Vec<DocLine<'static>> {
    let is_shown = is_title_shown(view, m);
    let lines = if is_shown { Vec::new() } else { text::wrap(merge_requests::title(m), width, MAX_TITLE_LINES) };
    let line = |(index, words): (usize, String)| {
        let draft = if index == 0 && m.is_draft() { "draft " } else { "" };
        Line::new(draft, Role::Warning).and(words, Role::Title).into()
    };
    lines.into_iter().enumerate().map(line).collect()
}

/// Returns the state and the branches and, without a sidebar, what the merge waits for.
fn state(view: &View, facts: &Facts, with_merge: bool) -> Vec<Line<'static>> {
    let m = facts.merge_request;
    let (mark, word, role) = merge_requests::state(m);
    let mut pieces = vec![Line::new(format!("{mark} {word}"), role)];
    pieces.extend((is_title_shown(view, m) && m.is_draft()).then(|| Line::new("draft", Role::Warning)));
    if !m.source_branch().is_empty() {
        let branches =
            Line::new(m.source_branch().to_owned(), Role::Ref).and(format!(" {} ", glyph::arrow()), Role::Dim);
        pieces.push(branches.and(m.target_branch().to_owned(), Role::Ref));
    }
    pieces.extend(m.is_from_fork().then(|| Line::new("from a fork", Role::Dim)));
    if with_merge && m.is_open() {
        pieces.extend(facts.pipeline.map(|pipeline| {
            let (status, role) = glyph::labeled(pipeline.status.as_str());
            Line::new("pipeline ", Role::Dim).and(status, role)
        }));
        let missing = facts.checks.iter().filter(|check| check.is_missing()).count();
        pieces.extend(facts.checks.iter().take(missing.max(1)).map(MergeCheck::line));
    }
    pieces
}

fn about(view: &View, facts: &Facts, width: usize, in_sidebar: bool) -> Vec<DocLine<'static>> {
    let mut out = FactLines::new(width, LABEL_WIDTH);
    let m = facts.merge_request;
    let user = |name: &str| Line::new(name.to_owned(), Role::User);
    let mut author = m.author().map(|author| vec![user(&author.username)]).unwrap_or_default();
    for (word, time) in [("opened", m.created_at.as_ref()), ("updated", m.updated_at.as_ref())] {
        let when = age(view, time);
        if !when.is_empty() {
            author.push(Line::new(format!("{word} {}", ago(&when)), Role::Dim));
        }
    }
    out.fact("Author", author);
    let assignees = m.assignees().iter().map(|assignee| user(&assignee.username)).collect();
    out.fact("Assignees", assignees);
    let reviewer = |user: &User| {
        let state = facts.reviewers.iter().find(|reviewer| reviewer.user.id == user.id).map(|reviewer| &reviewer.state);
        let mut piece = Line::new(user.username.clone(), Role::User);
        piece.extend(state.and_then(|state| review_state(state)).map(|(words, role)| (format!(" {words}"), role)));
        piece
    };
    let reviewers = m.reviewers.iter().flatten().map(reviewer).collect();
    out.fact("Reviewers", reviewers);
    let approved = facts.approvals.map(|approvals| approved(approvals, m.is_open())).unwrap_or_default();
    out.fact("Approvals", approved);
    let rules = facts.approval_rules.iter().take(MAX_RULES).map(|rule| approval_rule(rule)).collect();
    out.fact("Rules", rules);
    // The author and the assignees are listed already.
    let named = |user: &&User| {
        m.author().is_none_or(|author| author.id != user.id) && m.assignees().iter().all(|named| named.id != user.id)
    };
    let others = facts.participants.iter().filter(named).take(MAX_PARTICIPANTS);
    let others = others.map(|participant| user(&participant.username)).collect();
    out.fact("Participants", others);
    out.text("Subscribed", subscription::word(m.subscribed).to_owned(), Role::Text);
    let labels = m.labels().iter().map(|label| label_colors::line(view, label.name(), &facts.labels)).collect();
    out.fact("Labels", labels);
    out.fact("Stack", stack(m, &facts.stack));
    for (label, items) in &facts.linked {
        let room = out.room();
        for (at, line) in linked_items::lines(items, m.project_id, view, room).into_iter().enumerate() {
            out.fact(if at == 0 { label } else { "" }, vec![line]);
        }
    }
    if let Some(milestone) = m.milestone.as_ref() {
        let words = vec![Line::new(milestone.title.clone(), Role::Text)];
        out.fact("Milestone", words);
    }
    out.text("Time spent", time_tracking::summary(m.time_stats.as_ref()), Role::Text);
    checks(&mut out, view, &facts.checks, in_sidebar);
    out.fact("Merge", merge(view, m));
    if *m.discussion_locked == Some(true) {
        let words = vec![Line::new("locked: only members can comment", Role::Warning)];
        out.fact("Discussion", words);
    }
    if !facts.common_changes.is_empty() {
        let mut pieces = vec![Line::new("changed on both sides:", Role::Dim)];
        let path = |path: &String| Line::new(path.clone(), Role::Text);
        pieces.extend(facts.common_changes.iter().take(MAX_COMMON_CHANGES).map(path));
        if let Some(more) = facts.common_changes.len().checked_sub(MAX_COMMON_CHANGES).filter(|more| *more > 0) {
            pieces.push(Line::new(format!("and {more} more"), Role::Dim));
        }
        out.fact("Conflicts", pieces);
    }
    if let Some(pipeline) = facts.pipeline {
        let (status, role) = glyph::labeled(pipeline.status.as_str());
        let mut pieces = vec![Line::new(status, role), Line::new(format!("#{}", pipeline.id), Role::Dim)];
        if in_sidebar {
            out.line(Line::empty());
            out.fact("Pipeline", pieces);
            jobs(&mut out, view, &facts.jobs);
            return out.lines;
        }
        for job in &facts.jobs {
            let (mark, role) = ci::sign(job);
            pieces.push(Line::new(format!("{mark} "), role).and(job.name.clone(), Role::Text));
        }
        out.fact("Pipeline", pieces);
    }
    out.lines
}

/// Returns the layers of the stack from the highest to the lowest, and the branch that it is merged into.
fn stack(m: &MergeRequest, stack: &Stack) -> Vec<Line<'static>> {
    if stack.is_empty() {
        return Vec::new();
    }
    let base = stack.below.last().map_or(m.target_branch(), |lowest| lowest.target_branch());
    let layer = |request: &MergeRequest, role| {
        Line::new(format!("!{}", request.iid), role).and(format!(" {}", glyph::arrow()), Role::Dim)
    };
    let below = stack.below.iter().map(|request| layer(request, Role::Link));
    let above = stack.above.iter().rev().map(|request| layer(request, Role::Link));
    let own = layer(m, Role::Title);
    above.chain([own]).chain(below).chain([Line::new(base.to_owned(), Role::Ref)]).collect()
}

/// Returns the text of a review state; unknown states as sent by the server, `None` if there is no review.
fn review_state(state: &str) -> Option<(String, Role)> {
    let (words, role) = match state {
        "" | "unreviewed" => return None,
        "review_started" => ("is reviewing".to_owned(), Role::Running),
        "reviewed" => ("has reviewed".to_owned(), Role::Dim),
        "requested_changes" => ("requested changes".to_owned(), Role::Failed),
        "approved" => ("approved".to_owned(), Role::Success),
        "unapproved" => ("revoked the approval".to_owned(), Role::Warning),
        other => (other.replace('_', " "), Role::Dim),
    };
    Some((words, role))
}

/// Returns the spans of an approval rule: its name and the number of given and required approvals.
fn approval_rule(rule: &ApprovalRule) -> Line<'static> {
    let (mark, role) = if rule.approved {
        (glyph::or_word(glyph::done(), "approved:"), Role::Success)
    } else {
        (glyph::or_word(glyph::hollow(), "not approved:"), Role::Warning)
    };
    let name = match rule.section.as_deref().filter(|section| !section.is_empty()) {
        Some(section) => format!("{section}: {}", rule.name),
        None => rule.name.clone(),
    };
    let count = match rule.approvals_required {
        0 => " optional".to_owned(),
        required if rule.approved_by.len() as u64 > required => {
            format!(" {} ({required} needed)", rule.approved_by.len())
        }
        required => format!(" {} of {required}", rule.approved_by.len()),
    };
    Line::new(format!("{mark} "), role).and(text::fit(&name, 40), Role::Text).and(count, Role::Dim)
}

/// Returns the approvers and, if it is open, the number of missing approvals if the server provides it.
fn approved(approvals: &Approvals, is_open: bool) -> Vec<Line<'static>> {
    let one = |user: &User| {
        Line::new(format!("{} ", glyph::or_word(glyph::done(), "approved by")), Role::Success)
            .and(user.username.clone(), Role::User)
    };
    let mut pieces: Vec<Line<'static>> = approvals.by().take(MAX_PARTICIPANTS).map(one).collect();
    if let Some(left) = approvals.approvals_left.filter(|left| *left > 0 && is_open) {
        pieces.push(Line::new(format!("{left} more needed"), Role::Warning));
    } else if pieces.is_empty() {
        pieces.push(Line::new("none", Role::Dim));
    }
    pieces
}

/// Returns how the merge request will be merged, or when it was merged or closed.
fn merge(view: &View, m: &MergeRequest) -> Vec<Line<'static>> {
    let mut pieces = Vec::new();
    let end = |by: Option<&crate::api::users::User>, at: Option<&crate::api::Time>, word: &str| {
        let when = age(view, at);
        let when = if when.is_empty() { String::new() } else { format!(" {}", ago(&when)) };
        match by {
            Some(user) => {
                Line::new(format!("{word} by "), Role::Text).and(user.username.clone(), Role::User).and(when, Role::Dim)
            }
            None => Line::new(format!("{word}{when}"), Role::Text),
        }
    };
    if let Some(at) = m.merged_at.as_ref() {
        pieces.push(end(m.merged_by.as_ref(), Some(at), "merged"));
        if let Some(sha) = m.merge_commit_sha.as_ref().filter(|sha| !sha.is_empty()) {
            pieces.push(Line::new("as ", Role::Dim).and(text::head(sha, 8), Role::Ref));
        }
    } else if let Some(at) = m.closed_at.as_ref() {
        pieces.push(end(m.closed_by.as_ref(), Some(at), "closed"));
    }
    if m.is_open() {
        if let Some(error) = m.merge_error.as_deref().filter(|error| !error.is_empty()) {
            pieces.push(Line::new(error.to_owned(), Role::Failed));
        }
        if let Some(at) = m.merge_after.as_ref().filter(|at| at.instant().is_none_or(|at| at > view.now)) {
            pieces.push(Line::new(format!("not before {}", date(at)), Role::Warning));
        }
        for (on, words) in [
            (m.merge_when_pipeline_succeeds, "merges when all checks pass"),
            (m.squash, "squashes commits"),
            (m.force_remove_source_branch, "deletes the source branch"),
        ] {
            if on == Some(true) {
                pieces.push(Line::new(words, Role::Dim));
            }
        }
    }
    pieces
}
