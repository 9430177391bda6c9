//! Editing of a snippet's text: it is sent when saved, and kept locally until the server has received it.

use crate::api::Id;
use crate::api::snippets::{GetSnippetText, Snippet, UpdateSnippet};
use crate::app::action::Action;
use crate::app::context::Cx;
use crate::app::overlay::editor::{Document, Editor, Origin};
use crate::app::view::View;
use crate::store::{Load, Want, Write, digest};

/// The text of a snippet, as a document for the editor.
struct SnippetText {
    get: GetSnippetText,
    name: String,
    key: String,
}

/// Returns a name of a text that changes with its content.
fn name_of(bytes: &[u8]) -> String {
    format!("text {:016x}", digest(bytes))
}

/// Opens the text of a snippet in the built-in editor, or in `$EDITOR` if `outside`.
pub fn open(project: &Id, snippet: &Snippet, outside: bool, cx: &mut Cx) {
    let get = GetSnippetText { id: project.clone(), snippet_id: snippet.id };
    let name = snippet.file_name.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| snippet.title.clone());
    let key = format!("{} {project}${} text", cx.view.session.server, snippet.id);
    let fresh = Load::single(&get).into();
    let document = Box::new(SnippetText { get, name, key });
    let editor = if outside { Editor::external(document) } else { Editor::new(document) };
    cx.act(Action::OpenOverlay(Box::new(editor)));
    // Reloads the text, so that the edit starts from the current version.
    cx.act(Action::Reload(vec![fresh]));
}

impl Document for SnippetText {
    fn path(&self) -> &str {
        &self.name
    }

    fn key(&self) -> &str {
        &self.key
    }

    fn verb(&self) -> &'static str {
        "send"
    }

    fn uploads_to(&self) -> Option<&Id> {
        Some(&self.get.id)
    }

    fn is_sent(&self) -> bool {
        true
    }

    fn wants(&self, _view: &View) -> Vec<Want> {
        vec![Load::single(&self.get).into()]
    }

    fn read(&self, view: &View) -> Option<Result<Origin, String>> {
        let known = view.store.get(&self.get);
        if !known.is_settled {
            return None;
        }
        if let Some(raw) = known.value {
            return Some(Ok(Origin { name: name_of(&raw.bytes), bytes: raw.bytes.clone() }));
        }
        known.error.map(|error| Err(error.with_advice(error.advice())))
    }

    fn check_load(&self) -> Option<Load> {
        Some(Load::single(&self.get))
    }

    fn save(&self, _origin: &str, text: String, cx: &mut Cx) -> Result<(), String> {
        if text.is_empty() {
            return Err("A snippet cannot be empty; ‹snippets.delete› deletes it.".into());
        }
        let update = UpdateSnippet {
            id: self.get.id.clone(),
            snippet_id: self.get.snippet_id,
            code: Some(text.clone()),
            content: Some(text),
            ..UpdateSnippet::default()
        };
        let write = Write::new(&update, format!("change snippet ${}", self.get.snippet_id));
        cx.act(Action::SendSaved(self.key.clone(), write));
        Ok(())
    }
}
