//! Snippets of projects.

use super::call::{Call, Outcome, ReadCall, WriteCall, ok};
use super::mount::Mount;
use super::records::{self, Noteable, Project, Visibility, level};
use super::rejection::Rejection;
use super::world::World;
use crate::presenters::time;
use api::endpoint::encode;
use api::snippets::*;
use api::{Id, NoContent, Raw};
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
        .read::<GetSnippetFile>(file_text)
        .read_signed_in::<GetUserAgentDetail>(user_agent)
        .read_signed_in::<ListPersonalSnippets>(list_personal)
        .read::<GetPersonalSnippet>(|call, e| ok(call.show_snippet(call.personal_snippet(e.snippet_id)?)))
        .read::<GetPersonalSnippetText>(|call, e| ok(raw(call.personal_snippet(e.snippet_id)?)))
        .write_files::<CreatePersonalSnippet>(create_personal)
        .write_files::<UpdatePersonalSnippet>(update_personal)
        .write::<DeletePersonalSnippet>(delete_personal)
}

api::endpoints! {
    unspecified section "Snippets";

    /// Lists the caller's snippets that belong to no project, newest first.
    GET "/snippets" => Vec<Snippet>;
    struct ListPersonalSnippets {}

    /// Gets a snippet that belongs to no project.
    GET "/snippets/{snippet_id}" => Snippet;
    struct GetPersonalSnippet { snippet_id: u64 }

    /// Gets the text of a snippet that belongs to no project.
    GET "/snippets/{snippet_id}/raw" => Raw;
    struct GetPersonalSnippetText { snippet_id: u64 }

    /// Creates a snippet that belongs to no project, with its text in `content` or in the first of `files`.
    POST "/snippets" => Snippet;
    struct CreatePersonalSnippet {
        title: String,
        file_name: Option<String>,
        content: Option<String>,
        files: Option<Vec<SnippetFile>>,
        description: Option<String>,
        /// `private` (default), `internal` or `public`.
        visibility: Option<String>,
    }

    /// Changes a snippet that belongs to no project.
    PUT "/snippets/{snippet_id}" => Snippet;
    struct UpdatePersonalSnippet {
        snippet_id: u64,
        title: Option<String>,
        file_name: Option<String>,
        content: Option<String>,
        description: Option<String>,
        visibility: Option<String>,
    }

    /// Deletes a snippet that belongs to no project.
    DELETE "/snippets/{snippet_id}" => NoContent;
    struct DeletePersonalSnippet { snippet_id: u64 }
}

api::input_object! {
    /// A file of a new snippet.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct SnippetFile {
        file_path: String,
        content: String,
    }
}

impl<W: Deref<Target = World>> Call<W> {
    /// Converts a snippet to its API representation.
    pub fn show_snippet(&self, snippet: &records::Snippet) -> Snippet {
        let project = self.world.projects.get(snippet.project);
        let page = format!("snippets/{}", snippet.id);
        let web_url = match project {
            Some(project) => self.project_page(project, &page),
            None => format!("{}/-/{page}", self.base_url),
        };
        let raw_url = format!("{web_url}/raw");
        let show = |(path, _): (&str, &str)| api::snippets::SnippetFile {
            path: path.to_owned(),
            raw_url: format!("{raw_url}/main/{}", encode(path)),
        };
        let files = Some(snippet.files().map(show).collect());
        Snippet {
            id: snippet.id,
            title: snippet.title.clone(),
            file_name: Some(snippet.file_name.clone()),
            description: Some(snippet.description.clone()),
            author: Some(self.user_with_email(snippet.author)),
            updated_at: Some(time(snippet.updated_at)),
            created_at: Some(time(snippet.created_at)),
            web_url,
            visibility: Some(snippet.visibility.as_str().into()),
            raw_url: Some(raw_url),
            files,
            imported: Some(false),
            imported_from: Some("none".into()),
            ..Snippet::default()
        }
    }

    fn snippet(&self, id: &Id, snippet: u64) -> Result<(&Project, &records::Snippet), Rejection> {
        let project = self.project(id)?;
        let found = self.world.snippets.get(snippet).filter(|snippet| snippet.project == project.id);
        let seen = |snippet: &&records::Snippet| self.rights.can_see_snippet(&self.world, project, snippet);
        Ok((project, found.filter(seen).ok_or_else(|| Rejection::not_found("Snippet"))?))
    }

    fn personal_snippet(&self, snippet: u64) -> Result<&records::Snippet, Rejection> {
        let found = self.world.snippets.get(snippet).filter(|snippet| snippet.project == 0);
        let seen = |snippet: &&records::Snippet| self.rights.can_see_personal_snippet(snippet);
        found.filter(seen).ok_or_else(|| Rejection::not_found("Snippet"))
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
    // Servers of the specification's version list them to everyone.
    if !call.only_specified() {
        call.require_user()?;
    }
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
        more_files: Vec::new(),
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
    let several = call.world.snippets.get(id).is_some_and(|snippet| !snippet.more_files.is_empty());
    if several && (input.file_name.is_some() || input.code.is_some()) {
        let why = "To update Snippets with multiple files, you must use the `files` parameter";
        return Err(Rejection::error(400, why));
    }
    let Some(snippet) = call.world.snippets.get_mut(id) else { return Err(Rejection::not_found("Snippet")) };
    let set = |field: &mut String, value: Option<String>| *field = value.unwrap_or(std::mem::take(field));
    set(&mut snippet.title, input.title);
    set(&mut snippet.file_name, input.file_name);
    set(&mut snippet.description, input.description);
    set(&mut snippet.content, input.code.or(input.content));
    for change in input.files.into_iter().flatten() {
        snippet.change_file(change)?;
    }
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
    ok(raw(call.snippet(&input.id, input.snippet_id)?.1))
}

fn raw(snippet: &records::Snippet) -> Raw {
    raw_text(&snippet.content)
}

fn raw_text(text: &str) -> Raw {
    Raw { bytes: text.as_bytes().to_vec(), content_type: Some("text/plain".into()) }
}

fn file_text(call: &ReadCall, input: GetSnippetFile) -> Outcome<Raw> {
    let (_, snippet) = call.snippet(&input.id, input.snippet_id)?;
    if !["main", "HEAD"].contains(&input.r#ref.as_str()) {
        return Err(Rejection::not_found("Reference"));
    }
    let found = snippet.files().find(|(path, _)| *path == input.file_path);
    ok(raw_text(found.ok_or_else(|| Rejection::not_found("File"))?.1))
}

impl records::Snippet {
    /// Iterates over the paths and texts of its files.
    fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        let more = self.more_files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
        std::iter::once((self.file_name.as_str(), self.content.as_str())).chain(more)
    }

    fn change_file(&mut self, change: FileChange) -> Result<(), Rejection> {
        let mut files: Vec<(String, String)> =
            self.files().map(|(path, text)| (path.to_owned(), text.to_owned())).collect();
        let at = files.iter().position(|(path, _)| *path == change.file_path);
        let text = change.content.unwrap_or_default();
        match (change.action.as_str(), at) {
            ("create", None) => files.push((change.file_path, text)),
            ("create", Some(_)) => {
                return Err(Rejection::bad_request("A file with this name already exists"));
            }
            ("delete", Some(at)) if files.len() > 1 => drop(files.remove(at)),
            ("update", Some(at)) if !text.is_empty() => {
                if let Some((_, content)) = files.get_mut(at) {
                    *content = text;
                }
            }
            ("update" | "delete", _) => return Err(Rejection::bad_request("A file with this name doesn't exist")),
            _ => return Err(Rejection::no_valid_value("files[0][action]")),
        }
        files.sort();
        let mut files = files.into_iter();
        (self.file_name, self.content) = files.next().unwrap_or_default();
        self.more_files = files.collect();
        Ok(())
    }
}

fn list_personal(call: &ReadCall, _: ListPersonalSnippets) -> Outcome<Vec<Snippet>> {
    let user = call.require_user()?.id;
    let own = |snippet: &&records::Snippet| snippet.project == 0 && snippet.author == user;
    call.page(call.world.snippets.iter().rev().filter(own).collect(), |snippet| call.show_snippet(snippet))
}

fn create_personal(call: &mut WriteCall, input: CreatePersonalSnippet) -> Outcome<Snippet> {
    let author = call.require_user()?;
    if author.external {
        return Err(Rejection::forbidden());
    }
    let author = author.id;
    let file = input.files.and_then(|files| files.into_iter().next());
    let (file_name, content) = match (file, input.content) {
        (Some(file), _) => (file.file_path, file.content),
        (None, Some(content)) => (input.file_name.unwrap_or_default(), content),
        (None, None) => {
            return Err(Rejection::error(400, "files, content are missing, exactly one parameter must be provided"));
        }
    };
    let snippet = records::Snippet {
        title: input.title,
        file_name,
        description: input.description.unwrap_or_default(),
        content,
        visibility: visibility(input.visibility.as_deref().unwrap_or("private"))?,
        author,
        created_at: call.now,
        updated_at: call.now,
        ..records::Snippet::default()
    };
    check(&snippet)?;
    let id = call.world.snippets.add(snippet);
    ok(call.show_snippet(call.world.snippets.get(id).ok_or_else(Rejection::record_not_found)?))
}

/// Returns a snippet that belongs to no project, if the caller may change it.
fn personal_to_change(call: &WriteCall, id: u64) -> Result<records::Snippet, Rejection> {
    let caller = call.require_user()?.id;
    let snippet = call.personal_snippet(id)?;
    if snippet.author == caller || call.rights.admin { Ok(snippet.clone()) } else { Err(Rejection::forbidden()) }
}

fn update_personal(call: &mut WriteCall, input: UpdatePersonalSnippet) -> Outcome<Snippet> {
    let mut snippet = personal_to_change(call, input.snippet_id)?;
    snippet.title = input.title.unwrap_or(snippet.title);
    snippet.file_name = input.file_name.unwrap_or(snippet.file_name);
    snippet.content = input.content.unwrap_or(snippet.content);
    snippet.description = input.description.unwrap_or(snippet.description);
    if let Some(word) = &input.visibility {
        snippet.visibility = visibility(word)?;
    }
    snippet.updated_at = call.now;
    check(&snippet)?;
    call.world.snippets.add(snippet.clone());
    ok(call.show_snippet(&snippet))
}

fn delete_personal(call: &mut WriteCall, input: DeletePersonalSnippet) -> Outcome<NoContent> {
    let records::Snippet { id, updated_at: at, .. } = personal_to_change(call, input.snippet_id)?;
    call.check_unmodified(at)?;
    call.world.snippets.remove(id);
    ok(NoContent)
}

fn user_agent(call: &ReadCall, input: GetUserAgentDetail) -> Outcome<UserAgentDetail> {
    call.require_admin()?;
    let (_, snippet) = call.snippet(&input.id, input.snippet_id)?;
    let recorded = snippet.user_agent.clone().ok_or_else(|| Rejection::not_found("UserAgentDetail"))?;
    let was_submitted = Some(false);
    ok(UserAgentDetail {
        user_agent: recorded.0,
        ip_address: recorded.1,
        spam_check_submitted: was_submitted,
        akismet_submitted: was_submitted,
    })
}
