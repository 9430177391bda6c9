//! Forms for creating snippets and editing their properties. The text of an existing one is edited full screen.

use super::visibility;
use crate::api::Id;
use crate::api::snippets::{CreateSnippet, GetSnippet, Snippet, UpdateSnippet};
use crate::app::action::Action;
use crate::app::overlay::form::Form;
use crate::app::overlay::markdown_input::TextContext;
use crate::app::place::Place;
use crate::app::view::View;

/// Returns the form for a new snippet.
pub fn create(id: &Id) -> Form {
    let project = id.clone();
    let context = || Some(TextContext::project(id));
    let form =
        Form::of::<CreateSnippet>(format!("New snippet in {id}"), "create the snippet", format!("new snippet {id}"))
            .fixed("id", id)
            .without(&["content"])
            .first(&["title", "file_name", "code", "visibility", "description"])
            .field("file_name", |field| _ = field.help("Its extension sets the language: notes.md"))
            .field("code", |field| {
                _ = field.markdown(context()).help("The text; C-o edits it in $EDITOR.").also("content")
            })
            .field("description", |field| _ = field.markdown(context()))
            .then(move |created: &Snippet| {
                Some(Action::GoToPlace(Place::new("snippets").project(project.clone()).item(created.id)))
            });
    visibility(form).field("visibility", |field| _ = field.text("private"))
}

/// Returns the form that edits the title, file name, description and visibility of a snippet.
pub fn edit(id: &Id, snippet: &Snippet, view: &View) -> Form {
    let snippet_id = snippet.id;
    // The server refuses a name for a snippet with several files.
    let unchanged: &[&str] = if snippet.several_files().is_empty() {
        &["code", "content", "files"]
    } else {
        &["code", "content", "files", "file_name"]
    };
    let form = Form::of::<UpdateSnippet>(
        format!("Edit snippet ${snippet_id}"),
        format!("change snippet ${snippet_id}"),
        format!("snippet {id}${snippet_id}"),
    )
    .fixed("id", id)
    .fixed("snippet_id", snippet_id)
    .without(unchanged)
    .first(&["title", "file_name", "visibility", "description"])
    .field("title", |field| _ = field.required(true))
    .field("description", |field| _ = field.markdown(Some(TextContext::project(id))));
    let get = GetSnippet { id: id.clone(), snippet_id };
    visibility(form).of_current(view, get, |_| Vec::new())
}
