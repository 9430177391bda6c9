//! Snippets of projects.

use super::call::{Answer, Call, Outcome, ReadCall, WriteCall, ok};
use super::mount::Mount;
use super::records::{self, Noteable, Project, Visibility, level};
use super::rejection::Rejection;
use super::world::World;
use crate::api::snippets::*;
use crate::api::{Id, NoContent, Raw};
use crate::backend::presenters::time;
use axum::http::header;
use serde_json::json;
use std::ops::Deref;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read::<ListSnippets>(list)
        .read::<GetSnippet>(get)
        .write_files::<CreateSnippet>(create)
        .write_files::<UpdateSnippet>(update)
        .write::<DeleteSnippet>(delete)
        .read::<GetSnippetText>(text)
        .read_signed_in::<GetUserAgentDetail>(user_agent)
}

impl<W: Deref<Target = World>> Call<W> {
    /// Converts a snippet to its API representation.
    pub fn show_snippet(&self, snippet: &records::Snippet) -> Snippet {
        let project = self.world.projects.get(snippet.project);
        let page = |project| self.project_page(project, &format!("snippets/{}", snippet.id));
        Snippet {
            id: snippet.id,
            title: snippet.title.clone(),
            file_name: Some(snippet.file_name.clone()),
            description: Some(snippet.description.clone()),
            author: Some(self.user_with_email(snippet.author)),
            updated_at: Some(time(snippet.updated_at)),
            created_at: Some(time(snippet.created_at)),
            web_url: project.map(page).unwrap_or_default(),
            ..Snippet::default()
        }
    }

    fn snippet(&self, id: &Id, snippet: u64) -> Result<(&Project, &records::Snippet), Rejection> {
        let project = self.project(id)?;
        let found = self.world.snippets.get(snippet).filter(|snippet| snippet.project == project.id);
        let seen = |snippet: &&records::Snippet| self.rights.can_see_snippet(&self.world, project, snippet);
        Ok((project, found.filter(seen).ok_or_else(|| Rejection::not_found("Snippet"))?))
    }

    /// Checks that the caller may change a snippet: their own, or any snippet for maintainers. Returns its ID.
    fn snippet_to_change(&self, id: &Id, snippet: u64) -> Result<u64, Rejection> {
        let caller = self.require_user()?.id;
        let (project, snippet) = self.snippet(id, snippet)?;
        let may = snippet.author == caller || self.rights.level(&self.world, project) >= level::MAINTAINER;
        if may && !project.archived { Ok(snippet.id) } else { Err(Rejection::forbidden()) }
    }
}

fn list(call: &ReadCall, input: ListSnippets) -> Outcome<Vec<Snippet>> {
    let project = call.project(&input.id)?;
    let seen = |snippet: &&records::Snippet| {
        snippet.project == project.id && call.rights.can_see_snippet(call.world, project, snippet)
    };
    call.page(call.world.snippets.iter().rev().filter(seen).collect(), |snippet| call.show_snippet(snippet))
}

fn get(call: &ReadCall, input: GetSnippet) -> Outcome<Snippet> {
    ok(call.show_snippet(call.snippet(&input.id, input.snippet_id)?.1))
}

fn visibility(word: &str) -> Result<Visibility, Rejection> {
    Visibility::from_name(word).ok_or_else(|| Rejection::no_valid_value("visibility"))
}

fn check(snippet: &records::Snippet) -> Result<(), Rejection> {
    let empty = |field: &str| Err(Rejection::bad_request(json!({ field: ["can't be blank"] })));
    if snippet.title.trim().is_empty() {
        return empty("title");
    }
    if snippet.content.is_empty() {
        return empty("content");
    }
    Ok(())
}

fn create(call: &mut WriteCall, input: CreateSnippet) -> Outcome<Snippet> {
    let visibility = visibility(&input.visibility)?;
    let project = call.project_as(&input.id, level::REPORTER)?;
    if project.snippets_disabled || project.archived {
        return Err(Rejection::forbidden());
    }
    let agent = call.headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok()).map(str::to_owned);
    let snippet = records::Snippet {
        id: 0,
        project: project.id,
        title: input.title,
        file_name: input.file_name,
        description: input.description.unwrap_or_default(),
        content: input.code,
        visibility,
        author: call.require_user()?.id,
        created_at: call.now,
        updated_at: call.now,
        user_agent: agent.map(|agent| (agent, "127.0.0.1".into())),
    };
    check(&snippet)?;
    let id = call.world.snippets.add(snippet);
    ok(call.show_snippet(call.world.snippets.get(id).ok_or_else(Rejection::record_not_found)?))
}

fn update(call: &mut WriteCall, input: UpdateSnippet) -> Outcome<Snippet> {
    let id = call.snippet_to_change(&input.id, input.snippet_id)?;
    let new = input.visibility.as_deref().map(visibility).transpose()?;
    let now = call.now;
    let Some(snippet) = call.world.snippets.get_mut(id) else { return Err(Rejection::not_found("Snippet")) };
    let set = |field: &mut String, value: Option<String>| *field = value.unwrap_or(std::mem::take(field));
    set(&mut snippet.title, input.title);
    set(&mut snippet.file_name, input.file_name);
    set(&mut snippet.description, input.description);
    set(&mut snippet.content, input.code.or(input.content));
    snippet.visibility = new.unwrap_or(snippet.visibility);
    snippet.updated_at = now;
    let snippet = snippet.clone();
    check(&snippet)?;
    ok(call.show_snippet(&snippet))
}

fn delete(call: &mut WriteCall, input: DeleteSnippet) -> Outcome<NoContent> {
    let id = call.snippet_to_change(&input.id, input.snippet_id)?;
    call.check_unmodified(call.snippet(&input.id, id)?.1.updated_at)?;
    call.world.snippets.remove(id);
    call.world.remove_notes(|note| note.on == Noteable::Snippet(id));
    ok(NoContent)
}

fn text(call: &ReadCall, input: GetSnippetText) -> Outcome<Raw> {
    let bytes = call.snippet(&input.id, input.snippet_id)?.1.content.clone().into_bytes();
    Ok(Answer::new(Raw { bytes, content_type: Some("text/plain".into()) }))
}

fn user_agent(call: &ReadCall, input: GetUserAgentDetail) -> Outcome<UserAgentDetail> {
    call.require_admin()?;
    let (_, snippet) = call.snippet(&input.id, input.snippet_id)?;
    let recorded = snippet.user_agent.clone().ok_or_else(|| Rejection::not_found("UserAgentDetail"))?;
    ok(UserAgentDetail { user_agent: recorded.0, ip_address: recorded.1, spam_check_submitted: false })
}
