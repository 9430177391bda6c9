//! Saving the text of the editor: the current version is checked first, so that nobody's text is replaced unseen.

use super::{Editor, State, readable};
use crate::action::Action;
use crate::clip::Clip;
use crate::context::Cx;
use crate::overlay::AfterEvent;
use crate::overlay::edit_conflict::{ConflictingChange, EditConflict, Resolution};
use crate::uploads::Attachment;

/// A text that is being saved.
pub(super) enum Saving {
    /// Checking whether somebody else changed the document in the meantime; with the origin of the text, and the text.
    Checking { origin: String, text: String },
    /// Uploading the files of the text, with its origin.
    Uploading { origin: String, text: String },
    /// Showing that somebody else did; with the name and the text of the current version.
    Conflict { conflict: Box<EditConflict>, text: String, now: Option<(String, String)> },
}

impl Editor {
    /// Saves the text, after checking the current version if the document requires that.
    pub(super) fn check_and_save(&mut self, origin: String, text: String, cx: &mut Cx) -> AfterEvent {
        match self.document.check_load() {
            Some(load) => {
                self.saving = Some(Saving::Checking { origin, text });
                cx.act(Action::Reload(vec![load.into()]));
                AfterEvent::KeepOpen
            }
            None => self.save(&origin, text, cx),
        }
    }

    /// Handles the end of the upload of a file: its link is in the draft before the text is saved. Without it, nothing is.
    pub(super) fn uploaded(
        &mut self,
        attachment: &Attachment,
        linked: Result<String, String>,
        cx: &mut Cx,
    ) -> AfterEvent {
        let Some(Saving::Uploading { origin, text }) = self.saving.take() else { return AfterEvent::KeepOpen };
        let markdown = match linked {
            Ok(markdown) => markdown,
            Err(why) => {
                self.attacher.fail(format!("Not sent. {why}. Your text is saved."));
                return AfterEvent::KeepOpen;
            }
        };
        self.attacher.forget_attachment(attachment);
        let text = text.replace(&attachment.mark, &markdown);
        match &mut self.state {
            State::Here(buffer) => buffer.replace(&text),
            State::External { text: shown, .. } => shown.clone_from(&text),
            State::Reading | State::Refused(_) => {}
        }
        self.keep(cx);
        self.save(&origin, text, cx)
    }

    /// Saves the text once the current version is known, or shows the conflict with it.
    pub(super) fn checked(&mut self, cx: &mut Cx) -> AfterEvent {
        let Some(Saving::Checking { origin, text }) = &self.saving else { return AfterEvent::KeepOpen };
        let fresh = self.document.check_load().is_none_or(|load| cx.view.store.is_fresh(&load.request));
        let Some(read) = self.document.read(&cx.view).filter(|_| fresh) else { return AfterEvent::KeepOpen };
        let (origin, text) = (origin.clone(), text.clone());
        self.saving = None;
        let now = match read {
            Ok(now) if now.name == origin || now.bytes == text.as_bytes() => return self.save(&now.name, text, cx),
            Ok(now) => readable(now).ok(),
            // If the document cannot be fetched again, rely on the server's reply to the write.
            Err(_) => return self.save(&origin, text, cx),
        };
        let theirs = now.as_ref().map_or("(no text)", |(_, text)| text.as_str()).to_owned();
        let was = match &self.state {
            State::Here(buffer) if buffer.original() != theirs => buffer.original().to_owned(),
            // A draft of an earlier session is saved, but not the text that it was made from.
            _ => "(not saved)".to_owned(),
        };
        let change = ConflictingChange { field: "text".into(), was, now: Some(theirs), mine: Some(text.clone()) };
        self.saving = Some(Saving::Conflict { conflict: Box::new(EditConflict::new(vec![change])), text, now });
        AfterEvent::KeepOpen
    }

    /// Resolves the conflict with somebody else's change.
    pub(super) fn decide(&mut self, choice: Resolution, cx: &mut Cx) -> AfterEvent {
        let Some(Saving::Conflict { text: mine, now, .. }) = self.saving.take() else { return AfterEvent::KeepOpen };
        match (choice, now, &mut self.state) {
            (Resolution::Mine, now, state) => {
                let name = now.map_or_else(String::new, |(name, _)| name);
                if let State::Here(buffer) = state {
                    buffer.origin.clone_from(&name);
                }
                self.save(&name, mine, cx)
            }
            (Resolution::Theirs, Some((name, theirs)), State::Here(buffer)) => {
                buffer.replace(&theirs);
                buffer.rebase(name, theirs);
                self.keep(cx);
                self.note = Some("Showing their version; C-z restores yours.".into());
                AfterEvent::KeepOpen
            }
            // There is no text area here to restore the text to, so it goes to the clipboard.
            (Resolution::Theirs, _, State::External { .. }) => {
                cx.act(Action::SaveText(self.document.key().to_owned(), None));
                cx.act(Action::Copy(Clip::lines("your text (theirs was kept)", mine)));
                AfterEvent::Close
            }
            (_, _, State::External { .. }) => self.close(cx),
            _ => AfterEvent::KeepOpen,
        }
    }
}
