//! A form that changes a thing: what the server has of it, and what somebody else made of that meanwhile.

use super::{Form, Named, State, Widget};
use crate::api::Endpoint;
use crate::app::action::Tone;
use crate::app::overlay::clash::{Change, Choice, Clash};
use crate::app::pane::{Cx, View};
use crate::store::Load;
use serde::Serialize;
use serde_json::Value;

/// Reads from the store what the server has, and how often it said what that is.
type Read = Box<dyn Fn(&View) -> Option<(usize, Named)>>;

/// What the server has, for a form that changes a thing.
pub(super) struct Current {
    pub load: Load,
    /// The reply that the fields hold.
    pub filled: Option<usize>,
    /// The values by field, and which reply they are of; `None` while there is none.
    pub read: Read,
    pub failed: Box<dyn Fn(&View) -> bool>,
}

impl Form {
    /// The form changes what `get` reads: fields begin with what stands under their names there, or with what `read`
    /// says; only what is changed is sent, and what somebody else changed meanwhile is shown before it is overwritten.
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
        let (load, again) = (Load::one(&get), get.clone());
        let current = Current {
            load,
            filled: None,
            read: Box::new(move |view| {
                let remote = view.store.get(&get);
                let (count, reply) = (remote.replies, remote.arc()?);
                let mut values = read(&reply);
                let whole = serde_json::to_value(&*reply).unwrap_or(Value::Null);
                for name in &names {
                    if values.iter().all(|(said, _)| said != name) {
                        values.push((name, whole.get(name).map(as_text).unwrap_or_default()));
                    }
                }
                Some((count, values))
            }),
            failed: Box::new(move |view| {
                let remote = view.store.get(&again);
                remote.error.is_some() && !remote.loading
            }),
        };
        self.current = Some(current);
        self.fill(view);
        self
    }

    /// Takes what the server has into the fields, once it is known, and again while nothing was typed; what was typed
    /// stays.
    pub(super) fn fill(&mut self, view: &View) {
        let Some(current) = &mut self.current else { return };
        let Some((count, values)) = (current.read)(view).filter(|(count, _)| current.filled != Some(*count)) else {
            return;
        };
        let first = current.filled.is_none();
        if !first && (!matches!(self.state, State::Typing) || self.fields.iter().any(super::Field::is_dirty)) {
            return;
        }
        current.filled = Some(count);
        for field in &mut self.fields {
            let Some((_, value)) = values.iter().find(|(name, _)| *name == field.name) else { continue };
            if !first && field.before == *value {
                continue;
            }
            let typed = field.is_dirty().then(|| field.input.clone());
            field.before(value.clone());
            if let Some(typed) = typed {
                field.input = typed;
            }
        }
        self.begin_where_it_was_left();
    }

    /// What was typed in an earlier session was typed into what the server had then.
    pub(super) fn begin_where_it_was_left(&mut self) {
        if self.current.as_ref().is_none_or(|current| current.filled.is_none()) {
            return;
        }
        for (name, before) in std::mem::take(&mut self.begun_on) {
            let field = self.fields.iter_mut().find(|field| field.name == name);
            if let (Some(field), Value::String(before)) = (field.filter(|field| field.is_dirty()), before) {
                field.before = before;
            }
        }
    }

    /// Compares what the server has now with what the form began with: sends it, or shows what somebody changed.
    pub(super) fn compare(&mut self, now: Named, cx: &mut Cx) {
        let mut changes = Vec::new();
        for field in &mut self.fields {
            let Some((_, theirs)) = now.iter().find(|(name, _)| *name == field.name) else { continue };
            if *theirs == field.before || matches!(field.widget, Widget::Secret | Widget::Picture) {
                continue;
            }
            // Both made the same of it.
            if field.input.text() == theirs {
                field.before(theirs.clone());
                continue;
            }
            let mine = (field.input.text() != field.before).then(|| field.input.text().to_owned());
            let (field, was) = (field.label.clone(), field.before.clone());
            changes.push(Change { field, was, now: Some(theirs.clone()), mine });
        }
        self.state = State::Typing;
        if changes.is_empty() {
            return self.send(cx);
        }
        self.state = State::Clashing(Clash::new(changes), now);
    }

    /// What is to become of what somebody else changed.
    pub(super) fn decide(&mut self, choice: Choice, cx: &mut Cx) {
        let State::Clashing(_, now) = std::mem::replace(&mut self.state, State::Typing) else { return };
        if choice == Choice::Back {
            return;
        }
        for field in &mut self.fields {
            let Some((_, theirs)) = now.iter().find(|(name, _)| *name == field.name) else { continue };
            if *theirs == field.before || matches!(field.widget, Widget::Secret | Widget::Picture) {
                continue;
            }
            let mine = field.input.text() != field.before;
            if mine && choice == Choice::Mine {
                field.before.clone_from(theirs);
            } else {
                field.before(theirs.clone());
                field.error = None;
            }
        }
        if choice == Choice::Mine {
            return self.send(cx);
        }
        self.keep(cx);
        let left = self.fields.iter().filter(|field| field.input.text() != field.before).count();
        cx.say(
            Tone::Info,
            match left {
                0 => "Theirs stands here now; of yours nothing is left to send.".to_owned(),
                1 => "Theirs stands here now; one field of yours is left to send.".to_owned(),
                n => format!("Theirs stands here now; {n} fields of yours are left to send."),
            },
        );
    }
}

/// A value of a reply as a field shows it.
fn as_text(value: &Value) -> String {
    match value {
        Value::Null | Value::Object(_) => String::new(),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(as_text).collect::<Vec<_>>().join(", "),
        Value::Number(number) => number.to_string(),
    }
}
