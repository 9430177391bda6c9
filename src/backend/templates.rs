//! Description templates of a project: Markdown files in a folder of its default branch.

use super::call::{Outcome, ReadCall, ok};
use super::git::Git;
use super::mount::Mount;
use super::rejection::Rejection;
use api::Id;
use api::repository::EntryKind;

pub fn mount(mount: Mount) -> Mount {
    mount.read::<ListTemplates>(list).read::<GetTemplate>(get)
}

api::resource! {
    /// The name of a template.
    pub struct TemplateName {
        key: String,
        name: String,
    }
}

api::resource! {
    /// A template.
    pub struct Template {
        name: String,
        content: String,
    }
}

api::endpoints! {
    unspecified section "Templates";

    /// Lists the description templates of a project (since 13.3).
    GET "/projects/{id}/templates/{template_type}" => Vec<TemplateName>;
    struct ListTemplates {
        id: Id,
        /// `issues` or `merge_requests`.
        template_type: String,
    }

    /// Gets a description template (since 13.3).
    GET "/projects/{id}/templates/{template_type}/{name}" => Template;
    struct GetTemplate { id: Id, template_type: String, name: String }
}

/// The ending of the files.
const ENDING: &str = ".md";

/// Returns the folder of a type of templates.
fn folder(template_type: &str) -> Result<&'static str, Rejection> {
    match template_type {
        "issues" => Ok(".gitlab/issue_templates"),
        "merge_requests" => Ok(".gitlab/merge_request_templates"),
        _ => Err(Rejection::no_valid_value("type")),
    }
}

/// Returns the names of the templates in a folder, without their ending.
fn names(git: &Git, folder: &str) -> Result<Vec<String>, Rejection> {
    let Some(head) = git.default_head() else { return Ok(Vec::new()) };
    let listing = git.list(&git.tree(head)?, folder, false)?;
    let files = listing.entries.into_iter().filter(|entry| entry.r#type == EntryKind::Blob);
    Ok(files.filter_map(|entry| Some(entry.name.strip_suffix(ENDING)?.to_owned())).collect())
}

fn list(call: &ReadCall, input: ListTemplates) -> Outcome<Vec<TemplateName>> {
    let folder = folder(&input.template_type)?;
    let (_, git) = call.repository(&input.id)?;
    call.page(names(&git, folder)?, |name| TemplateName { key: name.clone(), name })
}

fn get(call: &ReadCall, input: GetTemplate) -> Outcome<Template> {
    let folder = folder(&input.template_type)?;
    let (_, git) = call.repository(&input.id)?;
    let missing = || Rejection::not_found("Template");
    // Only names of the list: others could be paths.
    let name = names(&git, folder)?.into_iter().find(|name| *name == input.name).ok_or_else(missing)?;
    let root = git.tree(git.default_head().ok_or_else(missing)?)?;
    let (_, bytes) = git.file(&root, &format!("{folder}/{name}{ENDING}"))?.ok_or_else(missing)?;
    ok(Template { name, content: super::git::lossy(&bytes) })
}
