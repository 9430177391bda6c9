//! Links between issues.

use super::call::{Answer, Call, Outcome, ReadCall, WriteCall, ok};
use super::mount::Mount;
use super::records::{self, Noteable, level};
use super::rejection::Rejection;
use super::world::World;
use crate::presenters::time;
use api::Id;
use api::issue_links::*;
use api::issues::Issue;
use std::ops::Deref;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<ListLinkedIssues>(list)
        .read_signed_in::<GetIssueLink>(get)
        .write::<CreateIssueLink>(create)
        .write::<DeleteIssueLink>(delete)
}

api::endpoints! {
    unspecified section "Issue links";

    /// Gets a link (since 15.1).
    GET "/projects/{id}/issues/{issue_iid}/links/{issue_link_id}" => IssueLink;
    struct GetIssueLink { id: Id, issue_iid: u64, issue_link_id: u64 }
}

/// The type of a link, seen from one of its issues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkType {
    RelatesTo,
    Blocks,
    IsBlockedBy,
}

impl LinkType {
    fn word(self) -> &'static str {
        match self {
            LinkType::RelatesTo => "relates_to",
            LinkType::Blocks => "blocks",
            LinkType::IsBlockedBy => "is_blocked_by",
        }
    }

    /// Returns the words of the system note.
    fn note(self) -> &'static str {
        match self {
            LinkType::RelatesTo => "marked this issue as related to",
            LinkType::Blocks => "marked this issue as blocking",
            LinkType::IsBlockedBy => "marked this issue as blocked by",
        }
    }
}

/// Returns a link as seen from one of its issues: the other issue, and the type.
fn seen_from(link: &records::IssueLink, issue: u64) -> Option<(u64, LinkType)> {
    match (link.source == issue, link.target == issue, link.blocks) {
        (true, _, true) => Some((link.target, LinkType::Blocks)),
        (true, _, false) => Some((link.target, LinkType::RelatesTo)),
        (false, true, true) => Some((link.source, LinkType::IsBlockedBy)),
        (false, true, false) => Some((link.source, LinkType::RelatesTo)),
        (false, false, _) => None,
    }
}

fn list(call: &ReadCall, input: ListLinkedIssues) -> Outcome<Vec<Issue>> {
    let (_, issue) = call.issue(&input.id, input.issue_iid)?;
    let linked = call.world.issue_links.iter().filter_map(|link| {
        let (other, link_type) = seen_from(link, issue.id)?;
        let other = call.world.issues.get(other)?;
        let is_visible = call.can_see_project_with_id(other.project) && call.rights.can_read_issue(call.world, other);
        is_visible.then(|| Issue {
            issue_link_id: Some(link.id),
            link_type: Some(link_type.word().to_owned()),
            link_created_at: Some(time(link.created_at)),
            link_updated_at: Some(time(link.created_at)),
            ..call.show_issue(other, false)
        })
    });
    ok(linked.collect())
}

/// Returns the reference from one issue to another: `#5`, or `group/project#5`.
pub fn reference(call: &WriteCall, from: &records::Issue, to: &records::Issue) -> String {
    let project = call.world.projects.get(to.project).filter(|_| from.project != to.project);
    format!("{}#{}", project.map(|project| call.world.project_path(project)).unwrap_or_default(), to.iid)
}

fn check_role(call: &WriteCall, issue: &records::Issue) -> Result<(), Rejection> {
    let project = call.world.projects.get(issue.project).ok_or_else(Rejection::record_not_found)?;
    match call.rights.level(call.world, project) >= level::REPORTER {
        true => Ok(()),
        false => {
            let why = "Couldn't link issue. You must have at least the Reporter role in both projects.";
            Err(Rejection::message(403, why))
        }
    }
}

/// Links two issues; `link_type` is seen from the first. Returns the ID of the link.
///
/// # Errors
/// Fails with 403 without the role in both projects, 409 if they are linked already, and 422 if they are the same.
pub fn link(
    call: &mut WriteCall,
    from: &records::Issue,
    to: &records::Issue,
    link_type: LinkType,
) -> Result<u64, Rejection> {
    check_role(call, from)?;
    check_role(call, to)?;
    if from.id == to.id {
        let why = format!("#{} cannot be added: cannot be related to itself", to.iid);
        return Err(Rejection::message(422, why));
    }
    if call.world.issue_links.iter().any(|link| seen_from(link, from.id).is_some_and(|(other, _)| other == to.id)) {
        return Err(Rejection::conflict("Issue(s) already assigned"));
    }
    let (source, target) = if link_type == LinkType::IsBlockedBy { (to.id, from.id) } else { (from.id, to.id) };
    let blocks = link_type != LinkType::RelatesTo;
    let created_at = call.now;
    let id =
        call.world.issue_links.add(records::IssueLink { source, target, blocks, created_at, ..Default::default() });
    let opposite = match link_type {
        LinkType::RelatesTo => LinkType::RelatesTo,
        LinkType::Blocks => LinkType::IsBlockedBy,
        LinkType::IsBlockedBy => LinkType::Blocks,
    };
    for (on, other, link_type) in [(from, to, link_type), (to, from, opposite)] {
        let note = format!("{} {}", link_type.note(), reference(call, on, other));
        let user = call.require_user()?.id;
        call.add_system_note_on(Noteable::Issue(on.id), user, note);
    }
    Ok(id)
}

/// Removes a link, and says so at both issues.
///
/// # Errors
/// Fails with 403 without the role in both projects.
pub fn unlink(call: &mut WriteCall, link: &records::IssueLink) -> Result<(), Rejection> {
    let (source, target) = (call.world.issues.get(link.source).cloned(), call.world.issues.get(link.target).cloned());
    let (Some(source), Some(target)) = (source, target) else { return Err(Rejection::record_not_found()) };
    check_role(call, &source)?;
    check_role(call, &target)?;
    call.world.issue_links.remove(link.id);
    let user = call.require_user()?.id;
    for (on, other) in [(&source, &target), (&target, &source)] {
        let note = format!("removed the relation with {}", reference(call, on, other));
        call.add_system_note_on(Noteable::Issue(on.id), user, note);
    }
    Ok(())
}

/// Returns the link between two issues, if there is one.
pub fn between(call: &WriteCall, one: u64, other: u64) -> Option<records::IssueLink> {
    call.world.issue_links.iter().find(|link| seen_from(link, one).is_some_and(|(found, _)| found == other)).cloned()
}

fn show<W: Deref<Target = World>>(call: &Call<W>, link: &records::IssueLink) -> IssueLink {
    let issue = |id| call.world.issues.get(id).map(|issue| call.show_issue(issue, false));
    let link_type = if link.blocks { LinkType::Blocks } else { LinkType::RelatesTo };
    IssueLink {
        source_issue: issue(link.source),
        target_issue: issue(link.target),
        link_type: link_type.word().to_owned(),
    }
}

fn create(call: &mut WriteCall, input: CreateIssueLink) -> Outcome<IssueLink> {
    let from = call.issue(&input.id, input.issue_iid)?.1.clone();
    let link_type = match call.choice_or_first("link_type", input.link_type.as_deref(), LINK_TYPES)? {
        "blocks" => LinkType::Blocks,
        "is_blocked_by" => LinkType::IsBlockedBy,
        _ => LinkType::RelatesTo,
    };
    let to = match &input.target_project_id {
        Some(project) => project,
        None if call.inputs.contains_key("target_project_id") => &input.id,
        None => return Err(Rejection::error(400, "target_project_id is missing")),
    };
    let to = call.issue(to, input.target_issue_iid)?.1.clone();
    let id = link(call, &from, &to, link_type)?;
    let made = call.world.issue_links.get(id).ok_or_else(Rejection::record_not_found)?;
    ok(show(call, made))
}

/// Gets a link between two issues that the caller can both see.
fn get(call: &ReadCall, input: GetIssueLink) -> Outcome<IssueLink> {
    let issue = call.issue(&input.id, input.issue_iid)?.1.id;
    let none = Rejection::record_not_found;
    let link = call.world.issue_links.get(input.issue_link_id).ok_or_else(none)?;
    let other = seen_from(link, issue).and_then(|(other, _)| call.world.issues.get(other)).ok_or_else(none)?;
    let is_visible = call.can_see_project_with_id(other.project) && call.rights.can_read_issue(call.world, other);
    if is_visible { ok(show(call, link)) } else { Err(none()) }
}

fn delete(call: &mut WriteCall, input: DeleteIssueLink) -> Outcome<IssueLink> {
    let issue = call.issue(&input.id, input.issue_iid)?.1.id;
    let link = call.world.issue_links.get(input.issue_link_id).filter(|link| seen_from(link, issue).is_some());
    let link = link.cloned().ok_or_else(Rejection::record_not_found)?;
    let shown = show(call, &link);
    unlink(call, &link).map_err(|why| match why.status {
        403 => Rejection::message(404, "No Issue Link found"),
        _ => why,
    })?;
    Ok(Answer::new(shown).status(200))
}
