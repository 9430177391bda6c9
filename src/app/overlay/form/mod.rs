//! A form for the inputs of an operation: filled in with completion, saved while it is typed, sent once, and shown
//! again with the server's errors at the fields that they are about.

mod current;
pub mod field;
mod keys;
mod picture;
mod sending;
mod server;
mod show;

use super::{AfterEvent, Overlay, TextEntry};
use crate::action::Action;
use crate::context::Cx;
use crate::keymap::Key;
use crate::overlay::chooser::{Chooser, ValueKey};
use crate::overlay::edit_conflict::EditConflict;
use crate::overlay::markdown_input::upload::DraftFiles;
use crate::overlay::markdown_input::{Handled, MarkdownInput};
use crate::pointer::Pointer;
use crate::text_key;
use crate::tone::Tone;
use crate::uploads::Attachment;
use crate::view::View;
use api::client::Progress;
use api::input::{Input, InputKind};
use api::json;
use api::{Endpoint, Error};
use current::Current;
pub use field::{Field, NoValue, Widget, Within};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use sending::{MakeSubmission, Operation, OutcomeCheck, Submission};
use serde::Serialize;
use serde_json::{Map, Value};
use std::any::TypeId;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use store::{Load, Value as Answer, Want, Write};
use ui::form::FormLayout;
use ui::text;

/// The key of the fields' previous values in the saved texts; no input has that name.
const BASE_KEY: &str = "";

#[derive(Default)]
enum State {
    #[default]
    Typing,
    /// Checking whether somebody else changed the object in the meantime.
    Checking,
    /// Showing the conflict with somebody else's changes, with the current values on the server.
    Conflict(EditConflict, NamedTexts),
    /// Waiting for the server to resolve names.
    Resolving,
    /// Waiting for the number of the write, or for its reply.
    Sending(Option<u64>),
    /// Reading the object again after this error: the form may have been accepted.
    Verifying(Error),
    Failed(Error),
    /// The requested action is under way.
    Done,
}

/// Texts by the name of their field.
type NamedTexts = Vec<(&'static str, String)>;
/// A function that returns the data needed for proposals, given the current texts.
type Needed = Box<dyn Fn(&View, FieldTexts) -> Vec<Want>>;
/// A function that returns the proposed texts, given the current texts.
type Proposed = Box<dyn Fn(&View, FieldTexts) -> NamedTexts>;

/// A function that returns the fields that depend on data and on other fields, with a key that changes with them;
/// `None` while they are not known.
type MakeFields = Box<dyn Fn(&View, FieldTexts) -> Option<(String, Vec<Field>)>>;

/// Fields that depend on data and on the texts of other fields.
struct Dependent {
    wants: Needed,
    fields: MakeFields,
    /// The key of the fields that are there.
    key: Option<String>,
    /// The saved texts of the fields that are not there now, by label.
    absent: Map<String, Value>,
}

/// The texts of the fields of a form, by name.
#[derive(Clone, Copy)]
pub struct FieldTexts<'a>(&'a [Field]);

impl<'a> FieldTexts<'a> {
    /// Returns the text of the field `name`; empty if there is no such field.
    pub fn get(&self, name: &str) -> &'a str {
        self.whole(name).trim()
    }

    /// Returns the text of the field `name`; empty if it is the one on the server.
    pub fn changed(&self, name: &str) -> &'a str {
        let field = self.0.iter().find(|field| field.name == name && field.is_changed());
        field.map_or("", |field| field.input.text())
    }

    /// Returns the text of the field `name` with the space around it; empty if there is no such field.
    pub fn whole(&self, name: &str) -> &'a str {
        self.0.iter().find(|field| field.name == name).map_or("", |field| field.input.text())
    }
}

/// Proposals for fields that the user has not typed into.
struct Proposal {
    wants: Needed,
    texts: Proposed,
}

/// Returns the action for a value of a picker; `None` if the value has none.
type ActionOf = dyn Fn(&View, &str) -> Option<Action>;

/// An action for the selected value of the first field of a picker.
struct ValueAction {
    key: &'static str,
    what: &'static str,
    act: Rc<ActionOf>,
}

/// The part of a form that is shown.
#[derive(Default)]
enum Look {
    #[default]
    Fields,
    /// The text of the first field, with switches below it: their areas, by the index of their field.
    Letter(RefCell<Vec<(usize, Rect)>>),
    /// The selection of values. Nothing is saved as a draft.
    Picker(Option<ValueAction>),
}

/// The data that a form reads from the server.
#[derive(Default)]
struct Reads {
    current: Option<Current>,
    proposal: Option<Proposal>,
    dependent: Option<Dependent>,
}

/// The field that is filled in, and how.
#[derive(Default)]
struct Focus {
    field: usize,
    /// The selection of its values.
    choosing: Option<Chooser>,
    /// Its long text, while that is being written.
    writing: Option<MarkdownInput>,
    /// The field whose text is in the user's editor, and that text.
    external: Option<(usize, String)>,
}

/// A form for an operation of the server.
#[derive(Default)]
pub struct Form {
    operation: Operation,
    reads: Reads,
    fields: Vec<Field>,
    focus: Focus,
    look: Look,
    /// The files that are uploaded when the form is sent.
    attachments: Vec<Attachment>,
    files: DraftFiles,
    state: State,
    /// The error after which it may have been accepted: sending it again may take a confirmation, and a refusal may be of
    /// what is done already.
    uncertain: Option<Error>,
    layout: RefCell<FormLayout>,
}

impl Form {
    /// Creates a form with all inputs of `E`; `what` describes the operation: `create the project`. Texts are saved
    /// under `key`.
    pub fn of<E: Endpoint>(title: impl Into<String>, what: impl Into<String>, key: impl Into<String>) -> Form {
        let make = |inputs, what: &str| {
            let read = E::of(&inputs).map_err(|error| error.to_string());
            read.map(|endpoint| Submission::Write(Write::new(&endpoint, what)))
        };
        let mut form = Form::build(title.into(), what.into(), key.into(), E::INPUTS, Box::new(make));
        form.operation.reply = Some(TypeId::of::<E::Output>());
        form
    }

    /// Creates a form with inputs that belong to no operation: `act` returns the action for the filled-in values, or an
    /// error.
    pub fn acting(
        title: impl Into<String>,
        what: impl Into<String>,
        key: impl Into<String>,
        inputs: &[Input],
        act: impl Fn(Map<String, Value>) -> Result<Action, String> + 'static,
    ) -> Form {
        let make = move |inputs, _: &str| act(inputs).map(Submission::Act);
        Form::build(title.into(), what.into(), key.into(), inputs, Box::new(make))
    }

    fn build(title: String, what: String, key: String, inputs: &[Input], make: MakeSubmission) -> Form {
        let fields = inputs.iter().map(Field::of).collect();
        let operation = Operation { title, what, key, make: Some(make), ..Operation::default() };
        Form { fields, operation, ..Form::default() }
    }

    /// Sets an input that is sent as it is and not shown.
    pub fn fixed(mut self, name: &'static str, value: impl Serialize) -> Form {
        // The given values are words or numbers, which can always be represented as JSON.
        let value = json::to_value(&value).unwrap_or(Value::Null);
        self.fields.retain(|field| field.name != name);
        self.operation.fixed.insert(name.to_owned(), value);
        self
    }

    /// Adds a field that is not an input: its text is only for [`Form::propose`].
    pub fn aside(mut self, name: &'static str, more: impl FnOnce(&mut Field)) -> Form {
        let mut field = Field::of(&Input { name, kind: InputKind::Text, required: false, help: "" });
        more(&mut field);
        self.fields.push(field);
        self
    }

    /// Shows only the selection of the values of its fields, which have values to choose from.
    pub fn picker(self) -> Form {
        Form { look: Look::Picker(None), ..self }
    }

    /// Like [`Form::picker`], with a key that performs an action for the selected value of the first field: `act` returns
    /// it, or `None` for a value that has none. While a filter is typed, the key is a part of it.
    pub fn picker_with(
        self,
        key: &'static str,
        what: &'static str,
        act: impl Fn(&View, &str) -> Option<Action> + 'static,
    ) -> Form {
        Form { look: Look::Picker(Some(ValueAction { key, what, act: Rc::new(act) })), ..self }
    }

    /// Shows only the text of its first field, which is written at once, and the switches below it. Exactly one of the
    /// switches is on: at first the first one.
    pub fn letter(self) -> Form {
        let mut form = Form { look: Look::Letter(RefCell::default()), ..self };
        if let Some(first) = form.fields.iter_mut().find(|field| field.switch.is_some()) {
            first.text("yes");
        }
        form
    }

    /// Adds a fact above the fields: a name, and a text.
    pub fn fact(mut self, name: &'static str, text: impl Into<String>) -> Form {
        self.operation.facts.push((name, text.into()));
        self
    }

    /// Removes inputs.
    pub fn without(mut self, names: &[&str]) -> Form {
        self.fields.retain(|field| !names.contains(&field.name));
        self
    }

    /// Puts these fields first, in that order.
    pub fn first(mut self, names: &[&str]) -> Form {
        let place = |field: &Field| names.iter().position(|name| *name == field.name).unwrap_or(names.len());
        self.fields.sort_by_key(place);
        self
    }

    /// Configures a field, if the operation has it.
    pub fn field(mut self, name: &str, more: impl FnOnce(&mut Field)) -> Form {
        self.field_mut(name).map(more);
        self
    }

    fn field_mut(&mut self, name: &str) -> Option<&mut Field> {
        self.fields.iter_mut().find(|field| field.name == name)
    }

    /// Checks texts that depend on each other before they are sent.
    pub fn verify(mut self, verify: impl Fn(FieldTexts) -> Result<(), (&'static str, String)> + 'static) -> Form {
        self.operation.verify = Some(Box::new(verify));
        self
    }

    /// Proposes texts for fields that the user has not typed into, made from the data that `wants` requests, which may
    /// depend on the texts of other fields.
    pub fn propose(
        mut self,
        wants: impl Fn(&View, FieldTexts) -> Vec<Want> + 'static,
        texts: impl Fn(&View, FieldTexts) -> Vec<(&'static str, String)> + 'static,
    ) -> Form {
        self.reads.proposal = Some(Proposal { wants: Box::new(wants), texts: Box::new(texts) });
        self
    }

    /// Adds fields that depend on the data that `wants` requests, and on the texts of other fields.
    pub fn dependent(
        mut self,
        wants: impl Fn(&View, FieldTexts) -> Vec<Want> + 'static,
        fields: impl Fn(&View, FieldTexts) -> Option<(String, Vec<Field>)> + 'static,
    ) -> Form {
        self.reads.dependent =
            Some(Dependent { wants: Box::new(wants), fields: Box::new(fields), key: None, absent: Map::new() });
        self
    }

    /// Replaces the dependent fields if others are needed now. What was typed stays where the label is the same.
    fn take_dependent(&mut self, view: &View) {
        let Some(dependent) = &mut self.reads.dependent else { return };
        let Some((key, mut fields)) = (dependent.fields)(view, FieldTexts(&self.fields)) else { return };
        if dependent.key.as_ref() == Some(&key) {
            return;
        }
        dependent.key = Some(key);
        let focused = self.fields.get(self.focus.field).map(|field| field.label.clone());
        let (old, own): (Vec<Field>, Vec<Field>) =
            std::mem::take(&mut self.fields).into_iter().partition(|field| field.within.is_some());
        let typed = |field: &&Field| field.is_kept && field.is_dirty();
        dependent.absent.extend(old.iter().filter(typed).map(|field| (field.label.clone(), field.input.text().into())));
        for field in &mut fields {
            let secret = |known: &&Field| !known.is_kept && known.label == field.label && known.is_dirty();
            let text = match field.is_kept {
                true => dependent.absent.remove(&field.label).and_then(|text| text.as_str().map(str::to_owned)),
                false => old.iter().find(secret).map(|known| known.input.text().to_owned()),
            };
            text.into_iter().for_each(|text| field.input.set(text));
        }
        self.fields = own.into_iter().chain(fields).collect();
        let focus = self.fields.iter().position(|field| Some(&field.label) == focused.as_ref());
        self.focus.field = focus.unwrap_or(0);
        for field in self.fields.iter_mut().filter(|field| field.within.is_some()) {
            field.recheck(view);
        }
    }

    /// Sets the action to perform after the server has accepted the form, given its reply, a `T`.
    pub fn then<T: Send + Sync + 'static>(self, then: impl Fn(&T) -> Option<Action> + 'static) -> Form {
        self.after(move |reply: Arc<T>, _| then(&reply).into_iter().collect())
    }

    /// Reads an object again after the reply to the form was lost: if it `is_done`, the form was accepted, and the object
    /// counts as the reply.
    pub fn verified<G: Endpoint>(mut self, get: G, is_done: fn(&G::Output) -> bool) -> Form {
        let load = Load::single(&get);
        let accepted = Box::new(move |view: &View| {
            let reply = view.store.get(&get).arc().filter(|reply| is_done(reply))?;
            Some(reply as Answer)
        });
        self.operation.check = Some(OutcomeCheck { load, accepted });
        self
    }

    /// Sets further actions to perform after the server has accepted the form, given its reply, a `T`: for fields that
    /// some servers ignore silently.
    pub fn also<T: Send + Sync + 'static>(self, also: impl Fn(&T, FieldTexts) -> Vec<Action> + 'static) -> Form {
        self.after(move |reply: Arc<T>, texts| also(&reply, texts))
    }

    fn after<T: Send + Sync + 'static>(mut self, after: impl Fn(Arc<T>, FieldTexts) -> Vec<Action> + 'static) -> Form {
        debug_assert_eq!(
            self.operation.reply,
            Some(TypeId::of::<T>()),
            "\"{}\" has another reply",
            self.operation.title
        );
        let nothing = |_| Vec::new();
        let after = move |answer: &Answer, texts: FieldTexts| {
            answer.clone().downcast().map_or_else(nothing, |reply| after(reply, texts))
        };
        self.operation.after.push(Box::new(after));
        self
    }

    /// Opens the form, and continues with the server's reply, a `T`, in the current pane.
    pub fn open_then<P: 'static, T: Send + Sync + 'static>(
        self,
        cx: &mut Cx,
        then: impl Fn(&mut P, &T, &mut Cx) + Clone + 'static,
    ) {
        let here = cx.here;
        let form = self.after(move |reply: Arc<T>, _| {
            let then = then.clone();
            vec![here.then(move |pane, cx| then(pane, &reply, cx))]
        });
        form.open(cx);
    }

    /// Opens the form, with the texts typed into it before.
    pub fn open(mut self, cx: &mut Cx) {
        if let Err(why) = cx.view.can_write() {
            return cx.say(Tone::Warning, format!("{}: {why}", self.operation.title));
        }
        self.operation.key = text_key::of_form(&cx.view.session.server, &self.operation.key);
        if cx.view.sending.contains(&self.operation.key) {
            return cx.say(Tone::Warning, format!("{}: it is being sent; wait for the reply", self.operation.title));
        }
        self.resume(&cx.view);
        // The form changes the current state on the server, not the state when the object was last viewed.
        let again = self.reads.current.as_ref().filter(|current| current.fills()).map(Current::reload);
        cx.open(self);
        again.into_iter().for_each(|action| cx.act(action));
    }

    fn resume(&mut self, view: &View) {
        let kept = view.drafts.plain(&self.operation.key).filter(|_| !self.is_picker());
        let texts: Map<String, Value> = kept.and_then(|kept| serde_json::from_str(kept).ok()).unwrap_or_default();
        if let (Some(current), Some(Value::Object(base_values))) = (&mut self.reads.current, texts.get(BASE_KEY)) {
            current.base_values.clone_from(base_values);
        }
        for field in &mut self.fields {
            if let Some(Value::String(text)) = texts.get(field.name) {
                field.input.set(text.clone());
            }
        }
        self.files = DraftFiles::read(&self.operation.key, view);
        self.attachments = self.files.kept().to_vec();
        let is_own = |name: &String| name == BASE_KEY || self.fields.iter().any(|field| field.name == name);
        if let Some(dependent) = &mut self.reads.dependent {
            dependent.absent = texts.into_iter().filter(|(name, _)| !is_own(name)).collect();
        }
        self.restore_base_values();
        // Focus the most useful field: the first required one that is empty.
        let waits = |field: &Field| field.required && field.input.is_empty();
        self.go_to(self.fields.iter().position(waits).unwrap_or(0));
        self.validate(view);
        self.follow_choices(view);
        if self.is_letter() {
            self.open_text();
        }
    }

    /// Saves what is typed; returns whether that is anything.
    fn keep(&mut self, cx: &mut Cx) -> bool {
        // What is chosen again with few keys would be a surprise the next time.
        if self.is_picker() {
            return false;
        }
        let typed = |field: &&Field| field.is_dirty() && field.is_kept && field.widget != Widget::Secret;
        // Dependent fields have no names of their own.
        let name = |field: &Field| if field.within.is_some() { field.label.clone() } else { field.name.to_owned() };
        let mut texts: Map<String, Value> =
            self.fields.iter().filter(typed).map(|f| (name(f), f.input.text().into())).collect();
        texts.extend(self.reads.dependent.iter().flat_map(|dependent| dependent.absent.clone()));
        if self.reads.current.as_ref().is_some_and(|current| current.filled.is_some()) && !texts.is_empty() {
            let before = self.fields.iter().filter(typed).map(|f| (f.name.to_owned(), f.before.clone().into()));
            texts.insert(BASE_KEY.to_owned(), Value::Object(before.collect()));
        }
        let is_in_text = |attachment: &&Attachment| self.upload_of(attachment).is_some();
        let attachments = self.attachments.iter().filter(is_in_text).cloned().collect();
        self.files.keep(&self.operation.key, attachments, cx);
        let kept = (!texts.is_empty()).then(|| Value::Object(texts).to_string());
        let is_kept = kept.is_some();
        if kept.as_deref() != cx.view.drafts.plain(&self.operation.key) {
            cx.act(Action::SaveText(self.operation.key.clone(), kept));
        }
        is_kept
    }

    fn take_proposal(&mut self, view: &View) {
        let Some(proposal) = &self.reads.proposal else { return };
        for (name, text) in (proposal.texts)(view, FieldTexts(&self.fields)) {
            let field = self.fields.iter_mut().find(|field| field.name == name && !field.is_dirty());
            if let Some(field) = field.filter(|field| field.initial != text) {
                field.text(text);
                field.recheck(view);
            }
        }
    }

    fn focused(&self) -> Option<&Field> {
        self.fields.get(self.focus.field)
    }

    fn focused_mut(&mut self) -> Option<&mut Field> {
        self.fields.get_mut(self.focus.field)
    }

    /// Validates the typed texts; an empty field is not an error before the form is sent.
    fn validate(&mut self, view: &View) {
        for field in &mut self.fields {
            field.recheck(view);
        }
    }

    /// Updates the state after the text of a field changed.
    fn changed_text(&mut self, cx: &mut Cx) {
        if matches!(self.state, State::Failed(_) | State::Resolving | State::Checking) {
            self.state = State::Typing;
        }
        if let Some(field) = self.focused_mut() {
            field.recheck(&cx.view);
        }
        self.keep(cx);
    }

    fn go_to(&mut self, index: usize) {
        self.focus.field = index.min(self.fields.len().saturating_sub(1));
        self.focus.choosing = if self.is_picker() { self.chooser() } else { None };
    }

    fn go_by(&mut self, by: isize) {
        let len = self.fields.len().max(1);
        self.go_to((self.focus.field + len).saturating_add_signed(by) % len);
    }

    /// Returns the selection of the values of the focused field, if it has values to choose from.
    fn chooser(&self) -> Option<Chooser> {
        let field = self.focused().filter(|field| field.has_choices())?;
        let nothing = if field.default.is_empty() { "None".to_owned() } else { text::capitalize(&field.default) };
        let nothing = Some(nothing).filter(|_| !field.required);
        let chooser = Chooser::new(field.complete().clone(), field.is_list(), field.chosen(), nothing);
        let chooser = if self.fields.len() == 1 { chooser.alone() } else { chooser };
        Some(match self.value_action() {
            Some(action) => {
                let act = action.act.clone();
                let is_for = Rc::new(move |view: &View, value: &str| act(view, value).is_some());
                chooser.with_action(ValueKey { key: action.key, what: action.what, is_for })
            }
            None => chooser,
        })
    }

    /// Opens the selection of the values of the focused field, with this text as its filter.
    fn choose(&mut self, typed: &str, view: &View) {
        self.focus.choosing = self.chooser();
        if let Some(chooser) = &mut self.focus.choosing {
            chooser.type_text(typed, view);
        }
    }

    /// Lists the values that are known now, with those of the field marked.
    fn follow_choices(&mut self, view: &View) {
        if let (Some(chooser), Some(field)) = (&mut self.focus.choosing, self.fields.get(self.focus.field)) {
            let chosen = field.chosen();
            if chooser.values() != chosen {
                chooser.set_values(chosen);
            }
            chooser.refresh(view);
        }
    }

    /// Returns why the values that are set are not known, so that none can be chosen.
    fn unknown(&self, view: &View) -> Option<&'static str> {
        let current = self.reads.current.as_ref().filter(|current| current.filled.is_none())?;
        Some(match current.error(view) {
            Some(_) => "The current values could not be loaded.",
            None => "Still loading the current values.",
        })
    }

    /// Returns whether nothing can be typed, because the values that it would replace are not known.
    fn is_locked(&self, view: &View) -> bool {
        !self.is_picker() && self.unknown(view).is_some()
    }

    /// Returns the action for the values of the focused field.
    fn value_action(&self) -> Option<&ValueAction> {
        if let Look::Picker(action) = &self.look { action.as_ref().filter(|_| self.focus.field == 0) } else { None }
    }

    fn is_letter(&self) -> bool {
        matches!(self.look, Look::Letter(_))
    }

    fn is_picker(&self) -> bool {
        matches!(self.look, Look::Picker(_))
    }

    fn is_sending(&self) -> bool {
        matches!(self.state, State::Sending(_) | State::Verifying(_))
    }

    /// Returns whether sending it may do something twice, so that it takes a confirmation.
    fn may_repeat(&self) -> bool {
        self.uncertain.as_ref().is_some_and(Error::may_repeat)
    }

    fn leave(&mut self, cx: &mut Cx) -> AfterEvent {
        if self.is_picker() {
            return AfterEvent::Close;
        }
        let is_kept = self.keep(cx);
        if let State::Verifying(error) = &self.state {
            cx.say(Tone::Bad, self.without_secrets(error.with_advice(error.write_advice())));
            return AfterEvent::Close;
        }
        if matches!(self.state, State::Sending(Some(_))) {
            cx.say(Tone::Info, "Still sending; the reply is told wherever you are.");
            return AfterEvent::Close;
        }
        let lost = self.fields.iter().find(|field| !field.is_kept && field.is_dirty());
        match (lost, is_kept) {
            (Some(field), _) => {
                cx.say(Tone::Warning, format!("The field \"{}\" is not saved: enter it again.", field.label))
            }
            (None, true) => cx.say_draft_saved("the same command opens it again"),
            (None, false) => {}
        }
        AfterEvent::Close
    }
}

impl Overlay for Form {
    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants: Vec<Want> = self.fields.iter().flat_map(|field| field.wants(view)).collect();
        wants.extend(self.focus.choosing.iter().flat_map(|chooser| chooser.wants(view)));
        wants.extend(self.focus.writing.iter().flat_map(|input| input.wants(view)));
        wants.extend(self.reads.current.iter().flat_map(Current::wants));
        let check = self.operation.check.iter().filter(|_| matches!(self.state, State::Verifying(_)));
        wants.extend(check.map(|check| check.load.clone().into()));
        wants.extend(self.reads.proposal.iter().flat_map(|proposal| (proposal.wants)(view, FieldTexts(&self.fields))));
        wants.extend(
            self.reads.dependent.iter().flat_map(|dependent| (dependent.wants)(view, FieldTexts(&self.fields))),
        );
        wants
    }

    fn view(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        self.draw(view, screen, buf)
    }

    fn key(&mut self, key: Key, cx: &mut Cx) -> AfterEvent {
        self.take_key(key, cx)
    }

    fn text_entry(&self) -> TextEntry {
        let choice = |field: &Field| matches!(field.widget, Widget::YesNo | Widget::Choice(_) | Widget::Long);
        match self.focused() {
            _ if self.is_sending() || matches!(self.state, State::Conflict(..)) => TextEntry::None,
            _ if let Some(input) = &self.focus.writing => input.text_entry(),
            _ if self.focus.choosing.is_some() => TextEntry::Line,
            Some(field) if !choice(field) => TextEntry::Line,
            _ => TextEntry::None,
        }
    }

    fn paste(&mut self, text: &str, cx: &mut Cx) {
        self.take_paste(text, cx);
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) -> AfterEvent {
        self.take_pointer(pointer, cx)
    }

    fn changed(&mut self, cx: &mut Cx) {
        self.take_proposal(&cx.view);
        if matches!(self.state, State::Typing | State::Failed(_))
            && self.focus.writing.is_none()
            && self.focus.choosing.is_none()
        {
            self.take_dependent(&cx.view);
        }
        self.fill(&cx.view);
        self.follow_choices(&cx.view);
        if let Some(input) = &mut self.focus.writing {
            let handled = input.changed(cx);
            self.take_written(handled, cx);
        }
        match &self.state {
            State::Checking => self.check(cx),
            State::Resolving => self.send(cx),
            State::Verifying(_) => self.verify_outcome(cx),
            State::Typing => {
                for field in &mut self.fields {
                    // A name may be resolved only now.
                    if matches!(field.widget, Widget::Named(_) | Widget::Names(_) | Widget::Picture)
                        && field.is_dirty()
                        && field.error.is_none()
                    {
                        field.recheck(&cx.view);
                    }
                }
            }
            State::Sending(_) | State::Failed(_) | State::Conflict(..) | State::Done => {}
        }
    }

    fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    fn progress(&mut self, number: u64, progress: Progress) {
        if let Some(input) = &mut self.focus.writing {
            input.progress(number, progress);
        }
        self.files.progress(number, progress);
    }

    fn sending(&mut self, number: u64) {
        if self.focus.writing.as_mut().is_some_and(|input| input.sending(number)) {
            return;
        }
        if self.files.sending(number) {
            return;
        }
        if matches!(self.state, State::Sending(None)) {
            self.state = State::Sending(Some(number));
        }
    }

    fn sent(&mut self, number: u64, outcome: &Result<Answer, Error>, cx: &mut Cx) -> Option<AfterEvent> {
        let handled = self.focus.writing.as_mut().map_or(Handled::No, |input| input.sent(number, outcome));
        if self.take_written(handled, cx) {
            return Some(AfterEvent::KeepOpen);
        }
        if let Some((attachment, linked)) = self.files.sent(number, outcome) {
            self.uploaded(&attachment, linked, cx);
            return Some(AfterEvent::KeepOpen);
        }
        if !matches!(self.state, State::Sending(Some(n)) if n == number) {
            return None;
        }
        Some(self.answered(outcome, cx))
    }

    fn send_again(&mut self, cx: &mut Cx) {
        self.uncertain = None;
        self.send(cx);
    }

    fn edited(&mut self, text: String, cx: &mut Cx) -> AfterEvent {
        self.take_edited(&text, cx);
        AfterEvent::KeepOpen
    }
}
