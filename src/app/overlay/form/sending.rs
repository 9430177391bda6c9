//! Submitting a form: validation, the request, and the server's errors at their fields.

use super::{Field, FieldTexts, Form, NoValue, State, Widget, server};
use crate::action::Action;
use crate::context::Cx;
use crate::local_paths;
use crate::overlay::{AfterEvent, confirm};
use crate::past_tense;
use crate::tone::Tone;
use crate::uploads::Attachment;
use crate::view::View;
use api::{Error, Id};
use serde_json::{Map, Value};
use std::any::TypeId;
use store::{Load, Value as Answer, Write};
use ui::text;

/// The result of a form that was filled in.
pub(super) enum Submission {
    Write(Write),
    Act(Action),
}

pub(super) type MakeSubmission = Box<dyn Fn(Map<String, Value>, &str) -> Result<Submission, String>>;

/// A function that checks texts that depend on each other; the error names the field at which the reason is shown.
type Verify = Box<dyn Fn(FieldTexts) -> Result<(), (&'static str, String)>>;

/// A function that returns the actions to perform after the server has accepted what was typed, given its reply.
type AfterSubmit = Box<dyn Fn(&Answer, FieldTexts) -> Vec<Action>>;

/// A function that returns an object as the reply to the form, if the form was accepted.
type ReadAccepted = Box<dyn Fn(&View) -> Option<Answer>>;

/// A check of whether the form was accepted although the reply to it was lost.
pub(super) struct OutcomeCheck {
    pub load: Load,
    pub accepted: ReadAccepted,
}

/// The operation of a form: what is sent, and what happens after that.
#[derive(Default)]
pub(super) struct Operation {
    pub title: String,
    /// A description, as in "could not {what}".
    pub what: String,
    /// The key under which the texts are saved until the server has them.
    pub key: String,
    /// The facts shown above the fields: properties of the object that the form does not change.
    pub facts: Vec<(&'static str, String)>,
    /// The inputs that are sent as they are and not shown.
    pub fixed: Map<String, Value>,
    pub make: Option<MakeSubmission>,
    pub verify: Option<Verify>,
    /// The type of the server's reply; `None` if nothing is sent.
    pub reply: Option<TypeId>,
    pub after: Vec<AfterSubmit>,
    pub check: Option<OutcomeCheck>,
}

impl Form {
    pub(super) fn submit(&mut self, cx: &mut Cx) {
        if self.is_sending() || matches!(self.state, State::Checking) {
            return;
        }
        self.keep(cx);
        self.fields.iter_mut().for_each(Field::recheck_file);
        match &self.reads.current {
            // What is not changed overwrites nothing.
            Some(current) if current.fills() || self.fields.iter().any(|f| f.is_changed()) => {
                self.state = State::Checking;
                cx.act(current.reload());
            }
            _ => self.send(cx),
        }
    }

    /// Submits the form if every field has a valid value.
    pub(super) fn send(&mut self, cx: &mut Cx) {
        let mut inputs = self.operation.fixed.clone();
        // Files are sent as parts of a multipart body.
        let mut files = Vec::new();
        // Parts of inputs are added to the inputs themselves.
        let mut parts = Vec::new();
        let mut is_pending = false;
        let mut first_invalid = None;
        for (index, field) in self.fields.iter_mut().enumerate() {
            field.error = None;
            match field.value(&cx.view) {
                Ok(Some(Value::String(path))) if field.widget == Widget::Picture => {
                    files.push((field.name, local_paths::path(&path)));
                }
                Ok(Some(value)) if let Some(within) = &field.within => parts.push((within.clone(), value)),
                Ok(Some(value)) => {
                    if let Some(twin) = field.twin {
                        inputs.insert(twin.to_owned(), value.clone());
                    }
                    inputs.insert(field.name.to_owned(), value);
                }
                Ok(None) => {}
                Err(NoValue::Pending) => is_pending = true,
                Err(NoValue::Wrong(why)) => {
                    field.error = Some(why);
                    first_invalid = first_invalid.or(Some(index));
                }
            }
        }
        let verified = self.operation.verify.as_ref().map_or(Ok(()), |verify| verify(FieldTexts(&self.fields)));
        if let Err((name, why)) = verified
            && let Some((index, field)) = self.fields.iter_mut().enumerate().find(|(_, field)| field.name == name)
        {
            field.error = field.error.take().or(Some(why));
            first_invalid = first_invalid.or(Some(index));
        }
        if let Some(index) = first_invalid {
            self.state = State::Typing;
            return self.go_to(index);
        }
        if is_pending {
            self.state = State::Resolving;
            return;
        }
        if self.upload_next(cx) {
            return;
        }
        for (within, value) in parts {
            within.insert(value, &mut inputs);
        }
        // Of an existing object, only differences are sent.
        if self.reads.current.is_some() && inputs.len() == self.operation.fixed.len() && files.is_empty() {
            self.state = State::Typing;
            return cx.say(Tone::Info, "No changes.");
        }
        for field in &self.fields {
            inputs.extend(field.unchanged_value(&cx.view).map(|value| (field.name.to_owned(), value)));
        }
        let Some(make) = &self.operation.make else { return };
        match make(inputs, &self.operation.what) {
            Ok(Submission::Write(_)) if self.may_repeat() => {
                if !matches!(self.state, State::Failed(_)) {
                    self.state = State::Typing;
                }
                cx.open(confirm::send_again(&self.operation.title));
            }
            Ok(Submission::Write(write)) => {
                let write = Write { files, ..write };
                self.state = State::Sending(None);
                cx.act(Action::SendSaved(self.operation.key.clone(), write));
            }
            Ok(Submission::Act(action)) => {
                self.state = State::Done;
                cx.act(Action::SaveText(self.operation.key.clone(), None));
                cx.act(action);
            }
            Err(why) => {
                self.state = State::Typing;
                cx.say(Tone::Bad, why);
            }
        }
    }

    /// Returns the field whose text contains the mark of a file, and the project to upload the file to.
    pub(super) fn upload_of(&self, attachment: &Attachment) -> Option<(usize, &Id)> {
        self.fields.iter().enumerate().find_map(|(index, field)| {
            let context = field.context.as_ref().filter(|_| field.input.text().contains(&attachment.mark))?;
            Some((index, &context.project))
        })
    }

    /// Uploads the next file whose mark is in a text; returns `false` if there is none.
    fn upload_next(&mut self, cx: &mut Cx) -> bool {
        let next = self.attachments.iter().find_map(|attachment| Some((attachment, self.upload_of(attachment)?.1)));
        let Some((attachment, project)) = next else { return false };
        self.files.upload(&project.clone(), &attachment.clone(), cx);
        self.state = State::Sending(None);
        true
    }

    /// Handles the end of an upload: the link to the file is in the draft before the form is sent. Without it, nothing is
    /// sent.
    pub(super) fn uploaded(&mut self, attachment: &Attachment, linked: Result<String, String>, cx: &mut Cx) {
        self.state = State::Typing;
        match linked {
            Ok(markdown) => {
                for field in self.fields.iter_mut().filter(|field| field.context.is_some()) {
                    field.input.set(field.input.text().replace(&attachment.mark, &markdown));
                }
                self.attachments.retain(|other| other != attachment);
                self.keep(cx);
                self.show_text();
                self.send(cx);
            }
            Err(why) => {
                // A letter does not show the errors of its fields.
                if self.is_letter() {
                    cx.say(Tone::Bad, format!("{}.", text::sanitize(&why)));
                }
                let Some(index) = self.upload_of(attachment).map(|(index, _)| index) else { return };
                if let Some(field) = self.fields.get_mut(index) {
                    field.error = Some(why);
                }
                self.go_to(index);
            }
        }
    }

    /// Masks the values of secret fields, which a server may repeat in its errors.
    pub(super) fn without_secrets(&self, words: String) -> String {
        let is_secret = |field: &Field| field.widget == Widget::Secret || field.is_hidden;
        let secret = |field: &&Field| is_secret(field) && !field.input.is_empty();
        self.fields.iter().filter(secret).fold(words, |words, field| words.replace(field.input.text(), "****"))
    }

    /// Handles the reply to the form's write: closes the form, or shows the errors at their fields.
    pub(super) fn answered(&mut self, outcome: &Result<Answer, Error>, cx: &mut Cx) -> AfterEvent {
        match outcome {
            Ok(answer) => {
                // What the form itself reports is said after what the place does.
                let actions =
                    self.operation.after.iter().rev().flat_map(|after| after(answer, FieldTexts(&self.fields)));
                actions.for_each(|action| cx.act(action));
                AfterEvent::Close
            }
            Err(error) => {
                // Servers name a field by its input, by an alias, or by its label.
                let names: Vec<(usize, String)> =
                    self.fields.iter().enumerate().flat_map(|(at, f)| f.aliases(at)).collect();
                let known: Vec<&str> = names.iter().map(|(_, name)| name.as_str()).collect();
                let mut first = None;
                for (called, why) in server::by_field(&error.message(), &known) {
                    let at = names.iter().find(|(_, name)| name == called).map(|(at, _)| *at);
                    let why = self.without_secrets(why);
                    if let Some((at, field)) = at.and_then(|at| Some((at, self.fields.get_mut(at)?))) {
                        field.error = Some(why);
                        first = first.min(Some(at)).or(Some(at));
                    }
                }
                if let Some(index) = first {
                    self.go_to(index);
                }
                if error.may_have_succeeded() {
                    self.uncertain = Some(error.clone());
                }
                self.state = match self.operation.check.as_ref().filter(|_| self.uncertain.is_some()) {
                    Some(check) => {
                        cx.act(Action::Reload(vec![check.load.clone().into()]));
                        State::Verifying(error.clone())
                    }
                    None => State::Failed(error.clone()),
                };
                AfterEvent::KeepOpen
            }
        }
    }

    /// Finds out whether the form was accepted although its reply was lost, once the object has been read again.
    pub(super) fn verify_outcome(&mut self, cx: &mut Cx) {
        let (Some(check), State::Verifying(error)) = (&self.operation.check, &self.state) else { return };
        if !cx.view.store.is_fresh(&check.load.request) {
            return;
        }
        let has_failed = cx.view.store.error_of(&check.load.request).is_some();
        let accepted = (check.accepted)(&cx.view).filter(|_| !has_failed);
        match accepted {
            Some(answer) => {
                self.state = State::Done;
                cx.act(Action::SaveText(self.operation.key.clone(), None));
                cx.say(Tone::Good, past_tense::outcome(&self.operation.what, &answer));
                self.answered(&Ok(answer), cx);
            }
            None => self.state = State::Failed(error.clone()),
        }
    }
}
