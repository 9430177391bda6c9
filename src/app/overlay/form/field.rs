//! A field of a form: the texts that it accepts, the value that is sent, and the data needed from the server.

use super::picture;
use crate::complete::{Complete, Found};
use crate::dates;
use crate::overlay::markdown_input::TextContext;
use crate::view::View;
use api::input::{Input as Described, InputKind};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use store::Want;
use ui::input::Input;
use ui::text;

/// The kind of input of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Widget {
    /// A line of text, for which names may be offered.
    Line(Complete),
    /// Names separated by commas.
    Words(Complete),
    /// A name that stands for an ID: a user, a group, a milestone.
    Named(Complete),
    /// Several such names, separated by commas.
    Names(Complete),
    /// A whole number from 0.
    Number,
    /// A number with a fraction.
    Decimal,
    /// A date or a time.
    Date,
    /// Yes, no, or empty.
    YesNo,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Text of several lines.
    Long,
    /// The path of a local image, which is uploaded.
    Picture,
    /// A text that is never shown and never saved.
    Secret,
}

/// A function that validates a text beyond its type; the error is shown at the field.
pub type Validate = fn(&str) -> Result<(), String>;

/// A function that parses a text or a choice into the value to send; the error is shown at the field, and must not
/// repeat the text.
pub type Parse = Box<dyn Fn(&str) -> Result<Value, String>>;

/// The place of a value in a structured input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Within {
    /// The entry of an object with that key.
    Object(&'static str, String),
    /// An object with that key and the value, in a list.
    Pairs(&'static str, String),
}

impl Within {
    /// Adds a value to the inputs.
    pub fn insert(&self, value: Value, inputs: &mut Map<String, Value>) {
        match self {
            Within::Object(input, key) => {
                let all = inputs.entry(*input).or_insert_with(|| json!({}));
                all.as_object_mut().into_iter().for_each(|all| _ = all.insert(key.clone(), value.clone()));
            }
            Within::Pairs(input, key) => {
                let all = inputs.entry(*input).or_insert_with(|| json!([]));
                let pair = json!({ "key": key, "value": value });
                all.as_array_mut().into_iter().for_each(|all| all.push(pair.clone()));
            }
        }
    }
}

/// A field of a form.
pub struct Field {
    /// The name of the input.
    pub name: &'static str,
    /// The label before the field.
    pub label: String,
    /// A line of help.
    pub help: String,
    /// The value that the server assumes if the field is empty.
    pub default: String,
    /// The kind of input.
    pub widget: Widget,
    /// Whether it must be filled in.
    pub required: bool,
    /// Whether the operation needs the field even if it is unchanged.
    is_always_sent: bool,
    /// The line being typed; for [`Widget::Long`], the whole text.
    pub input: Input,
    /// The text when the form was opened, which is not saved as typed.
    pub initial: String,
    /// The value on the server: only a different one is sent.
    pub before: String,
    /// The error in the text, reported by the server or found here.
    pub error: Option<String>,
    /// A second input that gets the same value.
    pub twin: Option<&'static str>,
    /// Whether the text is saved on this machine until it is sent.
    pub is_kept: bool,
    /// Whether the text is masked, because it may be secret.
    pub is_hidden: bool,
    /// The letter that turns the field on and off with Alt, wherever the cursor is.
    pub switch: Option<char>,
    /// The reason why a switch cannot be turned on.
    pub disabled: Option<String>,
    /// The project of a long text in Markdown, in which names are completed and files attached.
    pub context: Option<TextContext>,
    check: Option<Validate>,
    parse: Option<Parse>,
    meaning: Option<fn(&str) -> String>,
    /// The input that the value is a part of, if it is not one itself.
    pub within: Option<Within>,
    kind: InputKind,
    /// The number of checks of the file, which may be another file each time.
    checks: u32,
}

impl Field {
    /// Creates the field of an input, of the kind that its type suggests.
    pub fn of(input: &Described) -> Field {
        let widget = match input.kind {
            InputKind::Number => Widget::Number,
            InputKind::Decimal => Widget::Decimal,
            InputKind::Bool => Widget::YesNo,
            InputKind::Time => Widget::Date,
            InputKind::List => Widget::Words(Complete::Nothing),
            InputKind::File => Widget::Picture,
            InputKind::Text | InputKind::Structured => Widget::Line(Complete::Nothing),
        };
        Field {
            name: input.name,
            label: label_of(input.name),
            help: help_text(input.help),
            default: String::new(),
            widget,
            required: input.required,
            is_always_sent: input.required,
            input: Input::default(),
            initial: String::new(),
            before: String::new(),
            error: None,
            twin: None,
            is_kept: true,
            is_hidden: false,
            switch: None,
            disabled: None,
            context: None,
            check: None,
            parse: None,
            meaning: None,
            within: None,
            kind: input.kind,
            checks: 0,
        }
    }

    /// Requests a new check before the form is sent: earlier findings about a local file may be outdated.
    pub fn recheck_file(&mut self) {
        self.checks += u32::from(self.widget == Widget::Picture);
    }

    /// Sets the label.
    pub fn label(&mut self, label: &str) -> &mut Field {
        self.label = text::capitalize(label);
        self
    }

    /// Makes the field a text of several lines in Markdown; names are completed and files attached in its context.
    pub fn markdown(&mut self, context: Option<TextContext>) -> &mut Field {
        self.context = context;
        self.widget(Widget::Long)
    }

    /// Sets the line of help.
    pub fn help(&mut self, help: &str) -> &mut Field {
        self.help = help.to_owned();
        self
    }

    /// Sets the value that the server assumes if the field stays empty; the first choice of a field that must not.
    pub fn default(&mut self, default: impl Into<String>) -> &mut Field {
        self.default = default.into();
        match self.widget {
            Widget::Choice(_) if self.required => self.text(self.default.clone()),
            _ => self,
        }
    }

    /// Sets the kind of input.
    pub fn widget(&mut self, widget: Widget) -> &mut Field {
        self.widget = widget;
        self
    }

    /// Sets whether the field must be filled in.
    pub fn required(&mut self, required: bool) -> &mut Field {
        self.required = required;
        self
    }

    /// Sets the initial text, which is sent like a typed one.
    pub fn text(&mut self, text: impl Into<String>) -> &mut Field {
        self.initial = text.into();
        self.input.set(self.initial.clone());
        self
    }

    /// Sets the value on the server, which is sent only if it is changed.
    pub fn before(&mut self, text: impl Into<String>) -> &mut Field {
        self.text(text);
        self.before = self.initial.clone();
        self
    }

    /// Sends the value even if only others are changed.
    pub fn always_sent(&mut self) -> &mut Field {
        self.is_always_sent = true;
        self
    }

    /// Also sends the value under a second name, because servers differ in the name.
    pub fn also(&mut self, twin: &'static str) -> &mut Field {
        self.twin = Some(twin);
        self
    }

    /// Validates the text with `check` while it is typed.
    pub fn check(&mut self, check: Validate) -> &mut Field {
        self.check = Some(check);
        self
    }

    /// Shows the meaning of the text beside it.
    pub fn explained(&mut self, meaning: fn(&str) -> String) -> &mut Field {
        self.meaning = Some(meaning);
        self
    }

    /// Sends the value that `parse` returns for the text.
    pub fn parsed(&mut self, parse: impl Fn(&str) -> Result<Value, String> + 'static) -> &mut Field {
        self.parse = Some(Box::new(parse));
        self
    }

    /// Makes the value a part of a structured input.
    pub fn within(&mut self, within: Within) -> &mut Field {
        self.within = Some(within);
        self
    }

    /// Lets Alt and this letter turn the field on and off, wherever the cursor is.
    pub fn switch(&mut self, letter: char) -> &mut Field {
        self.switch = Some(letter);
        self
    }

    /// Sets the reason why a switch cannot be turned on, if there is one.
    pub fn disabled(&mut self, reason: Option<String>) -> &mut Field {
        self.disabled = reason;
        self
    }

    /// Returns whether a switch is on.
    pub fn is_on(&self) -> bool {
        self.input.text() == "yes"
    }

    /// Marks the text as possibly secret: it is not saved, and not passed to other programs.
    pub fn not_saved(&mut self) -> &mut Field {
        self.is_kept = false;
        self
    }

    /// Masks the text until the user shows it, and marks it as [`Field::not_saved`].
    pub fn hidden(&mut self) -> &mut Field {
        self.is_hidden = true;
        self.not_saved()
    }

    /// Returns whether the text differs from the initial one.
    pub fn is_dirty(&self) -> bool {
        self.input.text() != self.initial
    }

    /// Returns whether the text differs from the value on the server.
    pub fn is_changed(&self) -> bool {
        self.input.text() != self.before
    }

    /// Returns whether its values are completed or chosen from a list.
    pub fn has_choices(&self) -> bool {
        *self.complete() != Complete::Nothing
    }

    /// Checks the text again, and shows the error.
    pub fn recheck(&mut self, view: &View) {
        self.error = self.verdict(view);
    }

    /// Returns the names that servers may use for the field in errors, each with its index `at`.
    pub fn aliases(&self, at: usize) -> Vec<(usize, String)> {
        let mut all = vec![(at, self.name.to_owned())];
        all.extend(self.twin.map(|twin| (at, twin.to_owned())));
        let label = self.label.to_lowercase();
        if label != self.name {
            all.push((at, label));
        }
        all
    }

    /// Returns the completion for the field.
    pub fn complete(&self) -> &Complete {
        match &self.widget {
            Widget::Line(complete) | Widget::Words(complete) | Widget::Named(complete) | Widget::Names(complete) => {
                complete
            }
            _ => &Complete::Nothing,
        }
    }

    /// Returns whether the field holds several names separated by commas.
    pub fn is_list(&self) -> bool {
        matches!(self.widget, Widget::Words(_) | Widget::Names(_))
    }

    /// Returns the names in the list.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.input.text().split(',').map(str::trim).filter(|name| !name.is_empty())
    }

    /// Returns the values of a field whose values are chosen from a list.
    pub fn chosen(&self) -> Vec<String> {
        match self.is_list() {
            true => self.names().map(str::to_owned).collect(),
            false => Some(self.input.text().to_owned()).filter(|text| !text.is_empty()).into_iter().collect(),
        }
    }

    /// Sets the values of a field whose values are chosen from a list.
    pub fn set_chosen(&mut self, values: &[String]) {
        self.input.set(values.join(", "));
    }

    /// Selects the next choice, or the previous one; the empty choice is among them if the field may be empty.
    pub fn turn(&mut self, forward: bool) {
        let mut words: Vec<&str> = match &self.widget {
            Widget::YesNo => vec!["yes", "no"],
            Widget::Choice(words) => words.to_vec(),
            _ => return,
        };
        if !self.required && self.before.is_empty() {
            words.insert(0, "");
        }
        let at = words.iter().position(|word| *word == self.input.text());
        let next = match (at, forward) {
            (None, _) => 0,
            (Some(at), true) => (at + 1) % words.len(),
            (Some(at), false) => (at + words.len() - 1) % words.len(),
        };
        self.input.set(words.get(next).copied().unwrap_or_default());
    }

    /// Selects the next choice that begins with `c`.
    pub fn turn_to(&mut self, c: char) {
        let words: &[&str] = match &self.widget {
            Widget::YesNo => &["yes", "no"],
            Widget::Choice(words) => words,
            _ => return,
        };
        let at = words.iter().position(|word| *word == self.input.text()).map_or(0, |at| at + 1);
        if let Some(word) =
            words.iter().cycle().skip(at).take(words.len()).find(|word| word.to_lowercase().starts_with(c))
        {
            self.input.set(*word);
        }
    }

    /// Returns the data needed from the server to resolve the text.
    pub fn wants(&self, view: &View) -> Vec<Want> {
        let typed = self.input.text().trim();
        match &self.widget {
            Widget::Picture if !typed.is_empty() && view.store.is_result_missing(&picture::key(typed, self.checks)) => {
                vec![picture::check(typed, self.checks)]
            }
            Widget::Named(complete) if self.is_changed() => complete.find_wants(self.input.text()),
            Widget::Names(complete) if self.is_changed() => {
                self.names().flat_map(|name| complete.find_wants(name)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns what is typed in words, such as a date; empty if it is clear.
    pub fn meaning(&self, view: &View) -> String {
        if let Some(meaning) = self.meaning {
            return meaning(self.input.text().trim());
        }
        let date = Some(self.input.text()).filter(|_| self.widget == Widget::Date);
        let date =
            date.and_then(|text| dates::meaning(&dates::parse_ahead(text, &view.local_time())?, &view.local_time()));
        date.unwrap_or_default()
    }

    /// Adds 1 to a number, or takes 1 away.
    pub fn step(&mut self, up: bool) {
        let number = self.input.text().trim().parse::<u64>().unwrap_or(0);
        let number = if up { number.saturating_add(1) } else { number.saturating_sub(1) };
        self.input.set(number.to_string());
    }

    /// Returns the error in the current text, as far as it can be checked here; a missing text is not an error yet.
    pub fn verdict(&self, view: &View) -> Option<String> {
        if self.input.text().trim().is_empty() {
            return None;
        }
        match self.value(view) {
            Ok(_) | Err(NoValue::Pending) => None,
            Err(NoValue::Wrong(why)) => Some(why),
        }
    }

    /// Returns the value to send; `None` if nothing is sent.
    pub fn value(&self, view: &View) -> Result<Option<Value>, NoValue> {
        let text = self.sent_text();
        let wrong = |why: &str| Err(NoValue::Wrong(why.to_owned()));
        if text.trim().is_empty() && self.required {
            return wrong("is required");
        }
        if self.is_changed() { self.typed_value(text, view) } else { Ok(None) }
    }

    /// Returns the text as it is sent: spaces and line breaks around it belong to long texts and secrets.
    fn sent_text(&self) -> &str {
        let typed = self.input.text();
        if matches!(self.widget, Widget::Long | Widget::Secret) { typed } else { typed.trim() }
    }

    /// Returns the value of an unchanged field that the operation needs nevertheless.
    pub fn unchanged_value(&self, view: &View) -> Option<Value> {
        let needed = self.is_always_sent && !self.is_changed();
        self.typed_value(self.sent_text(), view).ok().flatten().filter(|_| needed)
    }

    fn typed_value(&self, text: &str, view: &View) -> Result<Option<Value>, NoValue> {
        let wrong = |why: &str| Err(NoValue::Wrong(why.to_owned()));
        if text.trim().is_empty() {
            // The field was emptied: texts become empty, and an object known by its ID is removed with 0.
            return Ok(match self.widget {
                Widget::Line(_) | Widget::Long | Widget::Words(_) if self.kind == InputKind::Text => Some(json!("")),
                Widget::Words(_) => Some(json!([])),
                Widget::Named(_) => Some(json!(0)),
                Widget::Names(_) => Some(json!([0])),
                Widget::Date if self.kind == InputKind::Text => Some(json!("")),
                _ => None,
            });
        }
        if let Some(Err(why)) = self.check.map(|check| check(text)) {
            return Err(NoValue::Wrong(why));
        }
        let value = match &self.widget {
            Widget::Line(_) | Widget::Long | Widget::Secret => match &self.parse {
                Some(parse) => parse(text).map_err(NoValue::Wrong)?,
                None => json!(text),
            },
            Widget::Words(_) => {
                let words: Vec<&str> = self.names().collect();
                if self.kind == InputKind::List { json!(words) } else { json!(words.join(",")) }
            }
            Widget::Named(complete) => match complete.find(view, text) {
                Found::Id(id) => json!(id),
                Found::Missing => return Err(NoValue::Wrong(format!("there is no {}", noun(complete)))),
                Found::Pending => return Err(NoValue::Pending),
            },
            Widget::Names(complete) => {
                let mut ids = Vec::new();
                for name in self.names() {
                    match complete.find(view, name) {
                        Found::Id(id) => ids.push(id),
                        Found::Missing => {
                            return Err(NoValue::Wrong(format!("there is no {} {name}", noun(complete))));
                        }
                        Found::Pending => return Err(NoValue::Pending),
                    }
                }
                json!(ids)
            }
            Widget::Picture => match view.store.result::<Result<(), String>>(&picture::key(text, self.checks)) {
                Some(Ok(())) => json!(text),
                Some(Err(why)) => return Err(NoValue::Wrong(why.clone())),
                None => return Err(NoValue::Pending),
            },
            Widget::Number => match text.parse::<u64>() {
                Ok(number) => json!(number),
                Err(_) => return wrong("is not a whole number"),
            },
            Widget::Decimal => match text.parse::<f64>() {
                Ok(number) if number.is_finite() => json!(number),
                _ => return wrong("is not a number"),
            },
            Widget::Date => match dates::parse_ahead(text, &view.local_time()) {
                Some(moment) => json!(moment.to_string()),
                None => return wrong("is not a date: use 2026-12-24, 2w, fri or tomorrow"),
            },
            Widget::YesNo => match text {
                "yes" => json!(true),
                "no" => json!(false),
                _ => return wrong("must be yes or no"),
            },
            Widget::Choice(words) if words.contains(&text) => match &self.parse {
                Some(parse) => parse(text).map_err(NoValue::Wrong)?,
                None => json!(text),
            },
            Widget::Choice(words) => return Err(NoValue::Wrong(format!("must be one of {}", words.join(", ")))),
        };
        // The names of choices may stand for numbers, and numbers may be required as texts.
        Ok(Some(match (self.kind, &value) {
            (InputKind::Text, Value::Number(number)) => json!(number.to_string()),
            (InputKind::Number, Value::String(text)) => text.parse::<u64>().map_or(value, |number| json!(number)),
            _ => value,
        }))
    }
}

/// The reason why a field has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoValue {
    /// The text cannot be sent.
    Wrong(String),
    /// The server has not resolved the name yet.
    Pending,
}

fn noun(complete: &Complete) -> &'static str {
    match complete {
        Complete::Users(_) => "user with that name",
        Complete::Groups => "group with that path",
        Complete::Projects => "project with that path",
        Complete::Milestones(_) => "milestone with that title",
        _ => "such item",
    }
}

/// Returns the name of an input as people write it: `target_url` is "Target URL".
fn label_of(name: &str) -> String {
    let word = |word: &str| match word {
        "ci" | "id" | "ip" | "lfs" | "ssh" | "ssl" | "url" => word.to_uppercase(),
        _ => word.to_owned(),
    };
    text::capitalize(&name.trim_end_matches("_id").split('_').map(word).collect::<Vec<_>>().join(" "))
}

/// Returns the documentation of an input as a line for the user, without the markup of code and links.
fn help_text(help: &'static str) -> String {
    let help: Cow<'static, str> = help.trim().into();
    help.replace(['`', '[', ']'], "")
}
