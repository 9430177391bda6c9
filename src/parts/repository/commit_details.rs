//! The details of a commit, line by line, with the link target of each line.

use crate::api::commits::{Commit, CommitRef, CommitStatus};
use crate::api::merge_requests::MergeRequest;
use crate::api::{GitRef, Time};
use crate::app::place::Place;
use crate::app::view::View;
use crate::parts::facts::{Details, LinkTarget};
use crate::parts::repository::commit_view::CommitReads;
use crate::parts::text::dates::{age, date, time_ago};
use crate::parts::text::rendered_markdown;
use crate::store::Rows;
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::{glyph, text};

/// The maximum number of lines of a message that are reads.
const MAX_MESSAGE_LINES: usize = 2_000;

/// Writes the details in at most `width` columns; nothing while the commit is not loaded.
pub fn fill_facts(details: &mut Details, reads: &CommitReads, view: &View, width: usize) {
    details.clear();
    let Some(commit) = reads.commit(view).value else { return };
    let width = width.clamp(20, rendered_markdown::MAX_PROSE_WIDTH);
    details.prose(&commit.title, width, MAX_MESSAGE_LINES, Role::Title);
    if !commit.body().is_empty() {
        details.line(Line::empty());
        details.prose(&text::unwrapped(commit.body(), width), width, MAX_MESSAGE_LINES, Role::Text);
    }
    details.line(Line::empty());
    details.field("commit", Line::new(commit.id.clone(), Role::Ref), None);
    people(view, commit, details);
    for (index, parent) in commit.parent_ids.iter().enumerate() {
        let place = Place::new("commit").project(reads.project.clone()).item(parent);
        let name = if index == 0 { "parent" } else { "merged" };
        details.field(name, Line::new(parent.clone(), Role::Link), Some(LinkTarget::Place(place)));
    }
    if let Some(stats) = commit.stats.as_ref() {
        let pieces = Line::new(glyph::additions(text::count(stats.additions)), Role::Added)
            .and(format!(" {}", glyph::deletions(text::count(stats.deletions))), Role::Removed);
        details.field("lines", pieces, None);
    }
    if let Some(pipeline) = commit.last_pipeline.as_ref() {
        let status = glyph::labeled(pipeline.status.as_str());
        let place = Place::new("jobs").project(reads.project.clone()).item(pipeline.id);
        let pieces = Line::from(status).and(format!("  #{}", pipeline.id), Role::Link);
        details.field("pipeline", pieces, Some(LinkTarget::Place(place)));
    }
    signature(reads, view, details);
    merge_requests(reads, view, details);
    refs(reads, view, details);
    statuses(reads, view, details);
}

fn people(view: &View, commit: &Commit, details: &mut Details) {
    let person = |name: &str, mail: &str, when: Option<&Time>| {
        let stamp = when.map(|t| moment(view, t)).unwrap_or_default();
        Line::new(name.to_owned(), Role::User).and(format!(" <{mail}>  "), Role::Dim).and(stamp, Role::Dim)
    };
    details.field("author", person(&commit.author_name, &commit.author_email, commit.date()), None);
    if (&commit.committer_name, &commit.committer_email) != (&commit.author_name, &commit.author_email)
        || commit.committed_date != commit.authored_date
    {
        let when = commit.committed_date.as_ref();
        details.field("committer", person(&commit.committer_name, &commit.committer_email, when), None);
    }
}

fn signature(reads: &CommitReads, view: &View, details: &mut Details) {
    let reply = view.store.get(&reads.signature_query());
    let Some(signature) = reply.value else {
        if reply.error.is_some_and(crate::api::Error::is_missing) {
            details.field("signature", Line::new("none", Role::Dim), None);
        }
        return;
    };
    let status = signature.verification_status.as_str();
    let (mark, role) = match status {
        "verified" | "verified_system" => (glyph::status_glyph("success").0, Role::Success),
        "revoked_key" => (glyph::status_glyph("failed").0, Role::Failed),
        _ => (glyph::dot(), Role::Warning),
    };
    let mut pieces = Line::new(format!("{mark} {}", status.replace('_', " ")), role);
    let key = signature.gpg_key_primary_keyid.as_ref().map(|id| format!("key {id}"));
    let key = key.or_else(|| Some(signature.key.as_ref()?.title.clone()));
    let key = key.or_else(|| Some(signature.x509_certificate.as_ref()?.subject.clone()));
    for words in
        [Some(signature.signature_type.clone()), key, signature.gpg_key_user_name.clone()].into_iter().flatten()
    {
        if !words.is_empty() {
            pieces.push(format!("  {words}"), Role::Dim);
        }
    }
    details.field("signature", pieces, None);
}

fn merge_requests(reads: &CommitReads, view: &View, details: &mut Details) {
    let rows: Rows<'_, MergeRequest> = view.store.list(&reads.merge_requests_query());
    for (index, request) in rows.iter().enumerate() {
        let place = Place::new("mr").project(reads.project.clone()).item(request.iid);
        let state = request.state.as_str();
        let role = if state == "merged" { Role::Success } else { Role::Dim };
        let pieces = Line::new(format!("!{}", request.iid), Role::Link)
            .and(format!(" {}", request.title), Role::Text)
            .and(format!("  {state}"), role);
        let name = if index == 0 { "merge requests" } else { "" };
        details.field(name, pieces, Some(LinkTarget::Place(place)));
    }
}

fn refs(reads: &CommitReads, view: &View, details: &mut Details) {
    let rows: Rows<'_, CommitRef> = view.store.list(&reads.refs_query());
    for (index, found) in rows.iter().enumerate() {
        let place =
            Place::new("files").project(reads.project.clone()).at(GitRef::tag_if(found.r#type == "tag", &found.name));
        let sign = if found.r#type == "tag" { "tag" } else { glyph::branch() };
        let pieces = Line::new(format!("{sign} "), Role::Dim).and(found.name.clone(), Role::Ref);
        details.field(if index == 0 { "refs" } else { "" }, pieces, Some(LinkTarget::Place(place)));
    }
    if rows.has_more {
        details.field("", Line::new(format!("{} and more", glyph::ellipsis()), Role::Dim), None);
    }
}

fn statuses(reads: &CommitReads, view: &View, details: &mut Details) {
    let rows: Rows<'_, CommitStatus> = view.store.list(&reads.statuses_query());
    let widest = rows.iter().map(|status| text::width(&status.name)).max().unwrap_or(0).min(24);
    for (index, status) in rows.iter().enumerate() {
        let (mark, role) = glyph::status_glyph(status.status.as_str());
        let mut pieces = Line::new(format!("{mark} {:<9} ", status.status.as_str()), role)
            .and(text::pad(&status.name, widest), Role::Text);
        if status.allow_failure && status.status.as_str() == "failed" {
            pieces.push(" allowed to fail".to_owned(), Role::Dim);
        }
        if let Some(coverage) = status.coverage {
            pieces.push(format!("  {coverage:.1}% covered"), Role::Dim);
        }
        if let Some(words) = status.description.as_deref().filter(|words| !words.is_empty()) {
            pieces.push(format!("  {words}"), Role::Dim);
        }
        let when = status.finished_at.as_ref().or(status.started_at.as_ref()).or(status.created_at.as_ref());
        pieces.push(format!("  {}", time_ago(view, when)), Role::Dim);
        let page = status.target_url.as_deref().filter(|url| url.starts_with("https://") || url.starts_with("http://"));
        if let Some(page) = page {
            pieces.push(format!("  {page}"), Role::Link);
        }
        let link = page.map(|page| LinkTarget::Page(page.to_owned()));
        details.field(if index == 0 { "statuses" } else { "" }, pieces, link);
    }
    if rows.has_more {
        details.field("", Line::new(format!("{} and more", glyph::ellipsis()), Role::Dim), None);
    }
}

/// Returns a time as a date with its age, or the server's text if it is not a date.
fn moment(view: &View, time: &Time) -> String {
    match age(view, Some(time)) {
        age if age.is_empty() => date(time),
        age => format!("{} ({age})", date(time)),
    }
}
