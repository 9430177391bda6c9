//! The upload of a file for a text: its progress, the key that stops it, and the files of a draft that are uploaded
//! before it is sent.

use crate::action::Action;
use crate::context::Cx;
use crate::keymap::Key;
use crate::local_paths;
use crate::tone::Tone;
use crate::uploads::{self, Attachment};
use crate::view::View;
use api::client::Progress;
use api::{Error, Id};
use crossterm::event::KeyCode;
use store::Value;
use ui::text;

/// The message for keys that would leave or send the text during an upload.
const BUSY: &str = "A file is still being uploaded; C-x stops it.";

/// A file that is being uploaded.
pub struct Upload {
    /// The typed path.
    pub typed: String,
    pub name: String,
    /// The number of the write, once it is known.
    number: Option<u64>,
    progress: Progress,
    pub is_stopped: bool,
    /// The pasted path that the link replaces.
    pub replaced: String,
}

impl Upload {
    /// Begins the upload of a file to a project.
    pub fn begin(project: &Id, typed: String, replaced: String, cx: &mut Cx) -> Upload {
        let path = local_paths::path(&typed);
        let name = uploads::name_of(&path);
        cx.act(Action::Send(uploads::write(project, path)));
        Upload { typed, name, number: None, progress: Progress::default(), is_stopped: false, replaced }
    }

    /// Returns whether the upload has a number.
    pub fn is(&self, number: u64) -> bool {
        self.number == Some(number)
    }

    /// Takes the number of the write that is being sent; returns `false` if it has one.
    pub fn sending(&mut self, number: u64) -> bool {
        let is_new = self.number.is_none();
        self.number.get_or_insert(number);
        is_new
    }

    pub fn progress(&mut self, number: u64, progress: Progress) {
        if self.is(number) {
            self.progress = progress;
        }
    }

    /// Handles the key that stops the upload, and those that would leave or send the text; returns `false` for others.
    pub fn key_pressed(&mut self, key: Key, cx: &mut Cx) -> bool {
        match (key.code, key.ctrl, key.alt) {
            (KeyCode::Char('x'), true, _) => {
                self.is_stopped = true;
                self.number.into_iter().for_each(|number| cx.act(Action::StopUpload(number)));
            }
            (KeyCode::Esc, ..) | (KeyCode::Char('c' | 's'), true, _) | (KeyCode::Char('s' | 'u'), false, true) => {
                cx.say(Tone::Warning, BUSY);
            }
            _ => return false,
        }
        true
    }

    /// Describes the progress, and the key that stops it.
    pub fn status(&self) -> String {
        let (done, name) = (text::bytes(self.progress.done), text::sanitize(&self.name));
        let words = match self.progress.total {
            Some(total) if self.progress.done < total => format!("uploading {name}: {done} of {}", text::bytes(total)),
            Some(_) => format!("uploading {name}: waiting for the server"),
            None => format!("uploading {name}"),
        };
        format!("{words}  C-x stops")
    }
}

/// The files of a draft: saved with it, and uploaded one after the other before it is sent. Its links are saved before
/// anything is sent.
#[derive(Default)]
pub struct DraftFiles {
    /// The files that are saved already.
    kept: Vec<Attachment>,
    uploading: Option<(Attachment, Upload)>,
}

impl DraftFiles {
    /// Reads the files of the draft that is saved under `key`.
    pub fn read(key: &str, view: &View) -> DraftFiles {
        DraftFiles { kept: view.drafts.files(key), uploading: None }
    }

    /// Returns the saved files.
    pub fn kept(&self) -> &[Attachment] {
        &self.kept
    }

    /// Saves the files whose marks are in the draft.
    pub fn keep(&mut self, key: &str, files: Vec<Attachment>, cx: &mut Cx) {
        if files != self.kept {
            self.kept.clone_from(&files);
            cx.act(Action::SaveFiles(key.to_owned(), files));
        }
    }

    /// Uploads a file of the draft.
    pub fn upload(&mut self, project: &Id, attachment: &Attachment, cx: &mut Cx) {
        let upload = Upload::begin(project, attachment.path.clone(), String::new(), cx);
        self.uploading = Some((attachment.clone(), upload));
    }

    fn running(&mut self) -> Option<&mut Upload> {
        self.uploading.as_mut().map(|(_, upload)| upload)
    }

    /// Describes the progress; `None` if nothing is uploaded.
    pub fn status(&self) -> Option<String> {
        self.uploading.as_ref().map(|(_, upload)| upload.status())
    }

    /// Handles a key while a file is uploaded: nothing else can be done with the draft. Returns `false` if none is.
    pub fn key_pressed(&mut self, key: Key, cx: &mut Cx) -> bool {
        self.running().map(|upload| upload.key_pressed(key, cx)).is_some()
    }

    /// Takes the number of the write that is being sent; returns `false` if it is not the upload.
    pub fn sending(&mut self, number: u64) -> bool {
        self.running().is_some_and(|upload| upload.sending(number))
    }

    pub fn progress(&mut self, number: u64, progress: Progress) {
        self.running().into_iter().for_each(|upload| upload.progress(number, progress));
    }

    /// Handles the end of a write: returns the file with its Markdown, or with the reason why it was not uploaded; `None`
    /// if the write is not the upload.
    pub fn sent(
        &mut self,
        number: u64,
        outcome: &Result<Value, Error>,
    ) -> Option<(Attachment, Result<String, String>)> {
        let (attachment, upload) = self.uploading.take_if(|(_, upload)| upload.is(number))?;
        let result = uploads::outcome(&upload.name, outcome);
        let stopped = |why: String| if upload.is_stopped { format!("Stopped attaching {}", upload.name) } else { why };
        Some((attachment, result.map_err(stopped)))
    }
}
