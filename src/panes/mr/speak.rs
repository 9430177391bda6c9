//! Writing, changing and deleting notes of a merge request.

use super::{Mr, Tab};
use crate::api::notes::{CreateMergeRequestNote, DeleteMergeRequestNote, Note, UpdateMergeRequestNote};
use crate::app::App;
use crate::app::action::Action;
use crate::app::command::WhyNot;
use crate::app::overlay::composer::{Composer, Make};
use crate::app::pane::{Cx, View};
use crate::store::Write;
use crate::ui::text;

impl Mr {
    /// The note under the cursor that a person wrote.
    fn note<'a>(&self, view: &View<'a>) -> Option<&'a Note> {
        if self.tab != Tab::Overview {
            return None;
        }
        let notes = self.notes(view);
        self.talk.note().and_then(|index| notes.get(index)).filter(|note| !note.system)
    }

    /// The key under which a text is kept until the server has it.
    fn draft(&self, view: &View, what: &str) -> String {
        format!("{} {}!{} {what}", view.session.server, self.project, self.iid)
    }

    pub(super) fn can_speak(&self, view: &View) -> Result<(), WhyNot> {
        if !view.session.signed_in {
            return Err("you are not signed in".into());
        }
        self.known(view).map(|_| ()).ok_or_else(|| "it is not known yet".into())
    }

    pub(super) fn has_note(&self, view: &View) -> Result<(), WhyNot> {
        self.can_speak(view)?;
        self.note(view).map(|_| ()).ok_or_else(|| "there is no note under the cursor".into())
    }

    pub(super) fn has_own_note(&self, view: &View) -> Result<(), WhyNot> {
        self.has_note(view)?;
        let me = view.me().map(|me| me.id);
        let author = self.note(view).and_then(|note| note.author.as_ref()).map(|author| author.id);
        if author.is_some() && author == me { Ok(()) } else { Err("somebody else wrote this note".into()) }
    }

    /// Opens the composer, with what was kept and what is quoted.
    pub(super) fn comment(&mut self, quote: Option<&str>, cx: &mut Cx) {
        let key = self.draft(&cx.view, "note");
        let mut text = cx.view.drafts.get(&key).cloned().unwrap_or_default();
        if let Some(quote) = quote.filter(|quote| !text.contains(quote.trim_end())) {
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str(quote);
        }
        // The note that comes is gone to, wherever it was written from.
        self.tab = Tab::Overview;
        let sent = self.talk.sent();
        let (id, merge_request_iid) = (self.project.clone(), self.iid);
        let make: Make = Box::new(move |body| {
            sent.set(true);
            let note = CreateMergeRequestNote { id: id.clone(), merge_request_iid, body };
            Write::new(&note, format!("comment on !{merge_request_iid}"))
        });
        let title = format!("Note on !{}", self.iid);
        cx.act(Action::Open(Box::new(Composer::new(title, key, &text, make))));
    }

    pub(super) fn reply(&mut self, cx: &mut Cx) {
        let Some(note) = self.note(&cx.view) else { return };
        let author = note.author.as_ref().map(|author| format!("@{} ", author.username)).unwrap_or_default();
        let quoted: Vec<String> = note.body.lines().map(|line| format!("> {line}")).collect();
        let quote = format!("{}\n\n{author}", quoted.join("\n"));
        self.comment(Some(&quote), cx);
    }

    pub(super) fn edit(&mut self, cx: &mut Cx) {
        let Some(note) = self.note(&cx.view) else { return };
        let note_id = note.id;
        let key = self.draft(&cx.view, &format!("note {note_id}"));
        let text = cx.view.drafts.get(&key).unwrap_or(&note.body).clone();
        let (id, merge_request_iid) = (self.project.clone(), self.iid);
        let make: Make = Box::new(move |body| {
            let update = UpdateMergeRequestNote { id: id.clone(), merge_request_iid, note_id, body };
            Write::new(&update, format!("edit a note on !{merge_request_iid}"))
        });
        cx.act(Action::Open(Box::new(Composer::new(format!("Edit a note on !{}", self.iid), key, &text, make))));
    }

    pub(super) fn delete(&mut self, cx: &mut Cx) {
        let Some(note) = self.note(&cx.view) else { return };
        let said = text::fit(note.body.lines().next().unwrap_or_default(), 80);
        let delete = DeleteMergeRequestNote { id: self.project.clone(), merge_request_iid: self.iid, note_id: note.id };
        let write = Write::new(&delete, format!("delete a note on !{}", self.iid));
        let question = format!("Delete your note \"{said}\"? It cannot be brought back.");
        cx.act(App::confirm("Delete a note", question, Action::Send(write)));
    }
}
