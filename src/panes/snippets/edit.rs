//! Editing of a snippet's text: it is sent when saved, and kept locally until the server has received it.

use super::text::{self, TextRequest};
use crate::api::Id;
use crate::api::snippets::{FileChange, Snippet, UpdateSnippet};
use crate::app::action::Action;
use crate::app::context::Cx;
use crate::app::overlay::editor::{Document, Editor, Origin};
use crate::app::view::View;
use crate::store::{Load, Want, Write, digest};

/// The text of a snippet or of one of its files, as a document for the editor.
struct SnippetDocument {
    project: Id,
    snippet: u64,
    /// The request for the current text; `None` for a new file.
    get: Option<TextRequest>,
    name: String,
    key: String,
}

/// Returns a name of a text that changes with its content.
fn name_of(bytes: &[u8]) -> String {
    format!("text {:016x}", digest(bytes))
}

/// Opens a new file of a snippet in the built-in editor.
pub fn add_file(project: &Id, snippet: u64, name: String, cx: &mut Cx) {
    let key = format!("{} {project}${snippet} new {name}", cx.view.session.server);
    let document = SnippetDocument { project: project.clone(), snippet, get: None, name, key };
    cx.open(Editor::new(Box::new(document)));
}

/// Returns the write that changes one file of a snippet.
pub fn change_file(project: &Id, snippet_id: u64, action: &str, path: &str, content: Option<String>) -> Write {
    let change = FileChange { action: action.to_owned(), file_path: path.to_owned(), content };
    let (id, files) = (project.clone(), Some(vec![change]));
    let what = match action {
        "create" => format!("add {path} to snippet ${snippet_id}"),
        "delete" => format!("delete {path} of snippet ${snippet_id}"),
        _ => format!("change snippet ${snippet_id}"),
    };
    Write::new(&UpdateSnippet { id, snippet_id, files, ..UpdateSnippet::default() }, what)
}

/// Opens the text of a snippet, or of its file `file`, in the built-in editor, or in `$EDITOR` if `outside`.
pub fn open(project: &Id, snippet: &Snippet, file: usize, outside: bool, cx: &mut Cx) {
    let get = TextRequest::new(project, snippet, file);
    let name = text::path(snippet, file).unwrap_or(&snippet.title).to_owned();
    let file = if let TextRequest::File(_) = get { format!(" {name}") } else { String::new() };
    let key = format!("{} {project}${} text{file}", cx.view.session.server, snippet.id);
    let fresh = get.load().into();
    let document =
        Box::new(SnippetDocument { project: project.clone(), snippet: snippet.id, get: Some(get), name, key });
    let editor = if outside { Editor::external(document) } else { Editor::new(document) };
    cx.open(editor);
    // Reloads the text, so that the edit starts from the current version.
    cx.act(Action::Reload(vec![fresh]));
}

impl Document for SnippetDocument {
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
        Some(&self.project)
    }

    fn is_sent(&self) -> bool {
        true
    }

    fn wants(&self, _view: &View) -> Vec<Want> {
        self.check_load().into_iter().map(Want::from).collect()
    }

    fn read(&self, view: &View) -> Option<Result<Origin, String>> {
        let Some(get) = &self.get else { return Some(Ok(Origin { name: "new".into(), bytes: Vec::new() })) };
        let known = get.known(view);
        if !known.is_settled {
            return None;
        }
        if let Some(raw) = known.value {
            return Some(Ok(Origin { name: name_of(&raw.bytes), bytes: raw.bytes.clone() }));
        }
        known.error.map(|error| Err(error.with_advice(error.advice())))
    }

    fn check_load(&self) -> Option<Load> {
        self.get.as_ref().map(TextRequest::load)
    }

    fn save(&self, _origin: &str, text: String, cx: &mut Cx) -> Result<(), String> {
        if text.is_empty() {
            return Err(match self.get {
                Some(TextRequest::Only(_)) => "A snippet cannot be empty; ‹snippets.delete› deletes it.".into(),
                _ => "A file of a snippet cannot be empty.".into(),
            });
        }
        let (project, snippet_id) = (&self.project, self.snippet);
        let write = match self.get {
            None => change_file(project, snippet_id, "create", &self.name, Some(text)),
            Some(TextRequest::File(_)) => change_file(project, snippet_id, "update", &self.name, Some(text)),
            Some(TextRequest::Only(_)) => {
                let (id, code, content) = (project.clone(), Some(text.clone()), Some(text));
                let update = UpdateSnippet { id, snippet_id, code, content, ..UpdateSnippet::default() };
                Write::new(&update, format!("change snippet ${snippet_id}"))
            }
        };
        cx.act(Action::SendSaved(self.key.clone(), write));
        Ok(())
    }
}
