//! Forms that edit an object: its current version on the server, and conflicts with changes that somebody else made in
//! the meantime.

use super::{Field, Form, NamedTexts, State, Widget};
use crate::action::Action;
use crate::context::Cx;
use crate::overlay::edit_conflict::{ConflictingChange, EditConflict, Resolution};
use crate::tone::Tone;
use crate::view::View;
use api::json;
use api::{Endpoint, Error};
use serde::Serialize;
use serde_json::{Map, Value};
use store::{Load, Want};

/// A function that reads the current version from the store: `None` if it is not known, and `Some(None)` if there is none
/// where the object was.
type ReadVersion = Box<dyn Fn(&View) -> Option<Option<NamedTexts>>>;

/// The words for a conflict without a current version.
const GONE: &str = "It is not in the list any more: changed or deleted by somebody else.";

/// Returns a text of a field as it may be shown.
fn shown(field: &Field, text: &str) -> String {
    if field.is_hidden { "****".to_owned() } else { text.to_owned() }
}

/// A function that counts the replies.
type CountReplies = Box<dyn Fn(&View) -> usize>;

/// The version on the server, for a form that changes an object.
pub(super) struct Current {
    pub loads: Vec<Load>,
    /// The number of the reply that the fields were filled from.
    pub filled: Option<usize>,
    /// A function that counts the replies, which is cheaper than reading one; `None` if the form was opened with the
    /// values.
    replies: Option<CountReplies>,
    /// The values by field; `None` while there is no reply.
    read: ReadVersion,
    /// The previous values of the saved fields, when they were typed into, by name.
    pub base_values: Map<String, Value>,
    pub replaced: Option<ReplacedText>,
}

/// Typed texts that were replaced by somebody else's version; or that version, while the typed texts are restored.
pub(super) struct ReplacedText {
    texts: NamedTexts,
    /// Whether the stored texts are somebody else's version.
    pub theirs: bool,
}

impl Current {
    /// Returns the version that `read` returns.
    fn new(loads: Vec<Load>, filled: Option<usize>, replies: Option<CountReplies>, read: ReadVersion) -> Current {
        Current { loads, filled, replies, read, base_values: Map::new(), replaced: None }
    }

    pub fn wants(&self) -> impl Iterator<Item = Want> {
        self.loads.iter().cloned().map(Want::from)
    }

    /// Returns the action that reads the version on the server again.
    pub fn reload(&self) -> Action {
        Action::Reload(self.wants().collect())
    }

    /// Returns whether the form is filled from the reply, and has to wait for it.
    pub fn fills(&self) -> bool {
        self.replies.is_some()
    }

    pub fn error<'a>(&self, view: &View<'a>) -> Option<&'a Error> {
        self.loads.iter().find_map(|load| view.store.error_of(&load.request))
    }
}

impl Form {
    /// Makes the form, which was opened with the values of an object that `loads` fetch, show a change that somebody else
    /// made in the meantime before it is overwritten: `now` returns the form of the current object, `Some(None)` if it is
    /// gone, and `None` if that is not known.
    pub fn checked(mut self, loads: Vec<Load>, now: impl Fn(&View) -> Option<Option<Form>> + 'static) -> Form {
        let values = |form: Form| form.fields.into_iter().map(|field| (field.name, field.before)).collect();
        let read: ReadVersion = Box::new(move |view| Some(now(view)?.map(values)));
        self.reads.current = Some(Current::new(loads, Some(0), None, read));
        self
    }

    /// Makes the fields start with the values of the same name in `object`. Only changes are sent.
    pub fn of_object(mut self, object: &impl Serialize) -> Form {
        let whole = json::to_object(object);
        for field in &mut self.fields {
            field.before(whole.get(field.name).map(as_text).unwrap_or_default());
        }
        self
    }

    /// Makes the form change what `get` fetches: the fields start with the values of the same name in the reply, or
    /// with those that `read` returns. Only changes are sent, and a change that somebody else made in the meantime is
    /// shown before it is overwritten.
    pub fn of_current<G: Endpoint>(
        mut self,
        view: &View,
        get: G,
        read: fn(&G::Output) -> Vec<(&'static str, String)>,
    ) -> Form
    where
        G::Output: Serialize,
    {
        let names: Vec<&'static str> = self.fields.iter().map(|field| field.name).collect();
        let (load, counted) = (Load::single(&get), get.clone());
        let replies: CountReplies = Box::new(move |view| view.store.get(&counted).replies);
        let read: ReadVersion = Box::new(move |view| {
            let reply = view.store.get(&get).arc()?;
            let mut values = read(&reply);
            let whole = json::to_object(&*reply);
            for name in &names {
                if values.iter().all(|(said, _)| said != name) {
                    values.push((name, whole.get(*name).map(as_text).unwrap_or_default()));
                }
            }
            Some(Some(values))
        });
        self.reads.current = Some(Current::new(vec![load], None, Some(replies), read));
        self.fill(view);
        self
    }

    /// Fills the fields from the server's version once it is known, and again as long as nothing was typed; typed texts
    /// are kept.
    pub(super) fn fill(&mut self, view: &View) {
        let Some(current) = &mut self.reads.current else { return };
        let first = current.filled.is_none();
        // A text that is open elsewhere is based on the version that would be replaced here, unseen.
        let open = self.focus.writing.is_some() || self.focus.external.is_some();
        if !first && (open || !matches!(self.state, State::Typing) || self.fields.iter().any(super::Field::is_dirty)) {
            return;
        }
        let Some(count) = current.replies.as_ref().map(|replies| replies(view)) else { return };
        let values = (current.filled != Some(count)).then(|| (current.read)(view)).flatten().flatten();
        let Some(values) = values else { return };
        current.filled = Some(count);
        for field in &mut self.fields {
            let Some((_, value)) = values.iter().find(|(name, _)| *name == field.name) else { continue };
            if !first && field.before == *value {
                continue;
            }
            let typed = field.is_dirty().then(|| (field.input.clone(), field.before.clone()));
            field.before(value.clone());
            if let Some((typed, before)) = typed {
                field.input = typed;
                // A long text that was typed before the current one was known was written without seeing what it
                // replaces.
                if field.widget == Widget::Long {
                    field.before = before;
                }
            }
        }
        self.restore_base_values();
    }

    /// Restores the previous values of texts that were typed in an earlier session, when the server had another
    /// version.
    pub(super) fn restore_base_values(&mut self) {
        let Some(current) = self.reads.current.as_mut().filter(|current| current.filled.is_some()) else { return };
        for (name, before) in std::mem::take(&mut current.base_values) {
            let field = self.fields.iter_mut().find(|field| field.name == name);
            if let (Some(field), Value::String(before)) = (field.filter(|field| field.is_dirty()), before) {
                field.before = before;
            }
        }
    }

    /// Compares the current version on the server, once it is known, with the one that the form started with.
    pub(super) fn check(&mut self, cx: &mut Cx) {
        let Some(current) = &self.reads.current else { return };
        if !current.loads.iter().all(|load| cx.view.store.are_fresh(&load.request, load.pages)) {
            return;
        }
        match (current.read)(&cx.view).filter(|_| current.error(&cx.view).is_none()) {
            Some(Some(now)) => self.compare(now, cx),
            Some(None) => self.show_gone(),
            // If the object cannot be fetched again, rely on the server's reply to the write.
            None => self.send(cx),
        }
    }

    /// Compares the current version on the server with the one that the form started with: sends the form, or shows the
    /// conflict.
    fn compare(&mut self, now: NamedTexts, cx: &mut Cx) {
        let mut changes = Vec::new();
        for field in &mut self.fields {
            let Some((_, theirs)) = now.iter().find(|(name, _)| *name == field.name) else { continue };
            if *theirs == field.before || matches!(field.widget, Widget::Secret | Widget::Picture) {
                continue;
            }
            // Both sides made the same change.
            if field.input.text() == theirs {
                field.before(theirs.clone());
                continue;
            }
            let mine = Some(field.input.text()).filter(|text| *text != field.before);
            let (was, now) = (shown(field, &field.before), Some(shown(field, theirs)));
            changes.push(ConflictingChange {
                field: field.label.clone(),
                was,
                now,
                mine: mine.map(|mine| shown(field, mine)),
            });
        }
        self.state = State::Typing;
        if changes.is_empty() {
            return self.send(cx);
        }
        self.state = State::Conflict(EditConflict::new(changes), now);
    }

    /// Shows what is typed before it is sent for an object that is not where it was.
    fn show_gone(&mut self) {
        let typed = self.fields.iter().filter(|field| field.is_changed());
        let change = |field: &Field| {
            let (was, mine) = (shown(field, &field.before), Some(shown(field, field.input.text())));
            ConflictingChange { field: field.label.clone(), was, now: None, mine }
        };
        self.state = State::Conflict(EditConflict::new(typed.map(change).collect()).saying(GONE), Vec::new());
    }

    /// Resolves the conflict with somebody else's changes.
    pub(super) fn decide(&mut self, choice: Resolution, cx: &mut Cx) {
        let State::Conflict(_, now) = std::mem::replace(&mut self.state, State::Typing) else { return };
        if choice == Resolution::Back || choice == Resolution::Theirs && now.is_empty() {
            return;
        }
        let mut replaced = Vec::new();
        for field in &mut self.fields {
            let Some((_, theirs)) = now.iter().find(|(name, _)| *name == field.name) else { continue };
            if *theirs == field.before || matches!(field.widget, Widget::Secret | Widget::Picture) {
                continue;
            }
            let mine = field.is_changed();
            if mine && choice == Resolution::Mine {
                field.before.clone_from(theirs);
            } else {
                if mine {
                    replaced.push((field.name, field.input.text().to_owned()));
                }
                field.before(theirs.clone());
                field.error = None;
            }
        }
        if choice == Resolution::Mine {
            return self.send(cx);
        }
        self.keep(cx);
        let left = self.fields.iter().filter(|field| field.is_changed()).count();
        let left = match left {
            0 => "nothing left to send".to_owned(),
            1 => "1 field left to send".to_owned(),
            n => format!("{n} fields left to send"),
        };
        let back = if replaced.is_empty() { "" } else { "; C-z restores yours" };
        if let Some(current) = self.reads.current.as_mut().filter(|_| !replaced.is_empty()) {
            current.replaced = Some(ReplacedText { texts: replaced, theirs: false });
        }
        cx.say(Tone::Info, format!("Showing their version, {left}{back}."));
    }

    /// Swaps the typed texts and the version that replaced them.
    pub(super) fn swap_replaced(&mut self, cx: &mut Cx) {
        let Some(replaced) = self.reads.current.as_mut().and_then(|current| current.replaced.as_mut()) else { return };
        for (name, text) in &mut replaced.texts {
            if let Some(field) = self.fields.iter_mut().find(|field| field.name == *name) {
                let stood = field.input.text().to_owned();
                field.input.set(std::mem::replace(text, stood));
                field.recheck(&cx.view);
            }
        }
        replaced.theirs = !replaced.theirs;
        let whose = if replaced.theirs { "Yours" } else { "Theirs" };
        self.changed_text(cx);
        cx.say(Tone::Info, format!("{whose} restored."));
    }
}

/// Returns a value of a reply as text for a field.
fn as_text(value: &Value) -> String {
    match value {
        Value::Null | Value::Object(_) => String::new(),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(as_text).collect::<Vec<_>>().join(", "),
        Value::Number(number) => number.to_string(),
    }
}
