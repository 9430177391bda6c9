//! Several variables at once, from lines of `KEY=value` or a dotenv file: a form, then a preview without values, then the
//! writes one after the other.

use super::{all, filter, want_all};
use crate::api::input::Input as Described;
use crate::api::local_file::{self, Unreadable};
use crate::api::variables::{CreateVariable, SecretText, UpdateVariable, Variable};
use crate::api::{InputKind, VariableOwner};
use crate::app::action::Action;
use crate::app::context::Cx;
use crate::app::keymap::Key;
use crate::app::local_paths;
use crate::app::overlay::batch::Batch;
use crate::app::overlay::form::{FieldTexts, Form, Widget};
use crate::app::overlay::{AfterEvent, Overlay};
use crate::app::pointer::Pointer;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::domain::ci_variables::why_unmaskable;
use crate::domain::dotenv::{self, DotenvVariable, Mistake};
use crate::parts::forms::variable::{expands, owner_name};
use crate::parts::list::sheet::{Contents, Sheet};
use crate::store::{Canceled, Derive, Want, Work, Write};
use crate::ui::line::Line;
use crate::ui::table::{Size, TableColumn, TableRow};
use crate::ui::theme::Role;
use crate::ui::{glyph, text};
use crossterm::event::KeyCode;
use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::{Map, Value};

const INPUTS: [Described; 6] = [
    Described { name: "lines", kind: InputKind::Text, required: false, help: "" },
    Described { name: "file", kind: InputKind::Text, required: false, help: "" },
    Described { name: "environment_scope", kind: InputKind::Text, required: false, help: "" },
    Described { name: "masked", kind: InputKind::Bool, required: false, help: "" },
    Described { name: "protected", kind: InputKind::Bool, required: false, help: "" },
    Described { name: "raw", kind: InputKind::Bool, required: false, help: "" },
];

/// Returns the form for several variables.
pub fn form(owner: &VariableOwner) -> Form {
    let of = owner.clone();
    let name = owner_name(owner);
    let act = move |inputs: Map<String, Value>| Ok(Action::OpenOverlay(Box::new(Import::of(of.clone(), &inputs))));
    let title = format!("Add variables to {name}");
    let form = Form::acting(title, "preview", format!("variables of {name}"), &INPUTS, act)
        .field("lines", |field| {
            field.label("KEY=value").widget(Widget::Long).hidden().default("none");
            field.help("One per line. Not stored on this machine: forgotten if you leave with Esc.");
        })
        .field("file", |field| _ = field.label("or dotenv file").help("The path of a local file.").default("none"))
        .field("environment_scope", |field| {
            field.label("environment").help("A name, or a pattern such as review/*.").default("* (all)");
        })
        .field("masked", |field| _ = field.help("Replaced by [MASKED] in traces.").default("no"))
        .field("protected", |field| _ = field.help("Only for protected branches and tags.").default("no"))
        .field("raw", |field| {
            field.label("expand references").widget(Widget::Choice(&["no", "yes"])).parsed(expands);
            field.help("yes: $OTHER in a value stands for another variable.").required(true).text("no");
        })
        .verify(|texts: FieldTexts| match (texts.get("lines").is_empty(), texts.get("file").is_empty()) {
            (true, true) => Err(("lines", "is required, or a file".into())),
            (false, false) => Err(("file", "leave it empty, or the lines".into())),
            _ => Ok(()),
        });
    if *owner == VariableOwner::Instance { form.without(&["environment_scope"]) } else { form }
}

/// A file to read, and when: it may change in between.
struct EnvFile(String, Timestamp);

impl Derive for EnvFile {
    type Output = Result<Parsed, String>;

    fn key(&self) -> String {
        format!("dotenv {}\t{}", self.0, self.1)
    }

    fn run(&self, _: Canceled<'_>) -> Self::Output {
        let limit = dotenv::MAX_BYTES as u64;
        let bytes = local_file::read_named(&local_paths::path(&self.0), limit).map_err(|why| match why {
            Unreadable::Failed(error) => format!("{} cannot be read: {error}", self.0),
            Unreadable::NotAFile => format!("{} is not a file.", self.0),
            Unreadable::TooLarge(_) => format!("{} is larger than {} KB.", self.0, limit >> 10),
        })?;
        let text = String::from_utf8(bytes).map_err(|_| format!("{} is not UTF-8 text.", self.0))?;
        Ok(dotenv::parse(&text))
    }
}

/// The variables of a text, and its mistakes.
type Parsed = (Vec<DotenvVariable>, Vec<Mistake>);

/// The reason why nothing is read, or what is read.
enum Source {
    Text(Parsed),
    /// A file, and the time of the preview once that is known.
    File(String, Option<Timestamp>),
}

/// The effect on a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ImportEffect {
    New,
    Changed,
    Same,
    Refused(&'static str),
}

struct Row {
    /// The number of the line.
    line: usize,
    key: String,
    /// The value, for the request.
    value: SecretText,
    effect: ImportEffect,
}

/// The preview of the variables that are added.
pub struct Import {
    owner: VariableOwner,
    source: Source,
    scope: Option<String>,
    masked: Option<bool>,
    protected: Option<bool>,
    raw: bool,
    rows: Vec<Row>,
    /// The reason why there is no preview yet.
    note: Option<String>,
    sheet: Sheet,
}

impl Import {
    fn of(owner: VariableOwner, inputs: &Map<String, Value>) -> Import {
        let text = |name: &str| inputs.get(name).and_then(Value::as_str).unwrap_or_default();
        let on = |name: &str| inputs.get(name).and_then(Value::as_bool);
        let source = match text("file") {
            "" => Source::Text(dotenv::parse(text("lines"))),
            path => Source::File(path.to_owned(), None),
        };
        let scope = Some(text("environment_scope").to_owned()).filter(|scope| !scope.is_empty());
        Import {
            owner,
            source,
            scope,
            masked: on("masked"),
            protected: on("protected"),
            raw: on("raw") == Some(true),
            rows: Vec::new(),
            note: None,
            sheet: Sheet::default(),
        }
    }

    fn effect(&self, variable: &DotenvVariable, known: Option<&Variable>) -> ImportEffect {
        if let Some(why) = why_unmaskable(&variable.value, self.raw).filter(|_| self.masked == Some(true)) {
            return ImportEffect::Refused(why);
        }
        match known {
            None => ImportEffect::New,
            Some(known) if known.value.as_ref().is_some_and(|value| value.0 == variable.value) => ImportEffect::Same,
            Some(_) => ImportEffect::Changed,
        }
    }

    fn scope(&self) -> &str {
        self.scope.as_deref().unwrap_or("*")
    }

    fn refresh(&mut self, view: &View) {
        let known = all(&self.owner, view);
        let parsed = match &self.source {
            Source::Text(parsed) => Ok(parsed),
            Source::File(path, at) => {
                let file = at.map(|at| EnvFile(path.clone(), at).key());
                match file.and_then(|key| view.store.result::<Result<Parsed, String>>(&key)) {
                    Some(Ok(parsed)) => Ok(parsed),
                    Some(Err(why)) => Err(why.clone()),
                    None => Err("Reading the file…".to_owned()),
                }
            }
        };
        let loaded = match known.error {
            Some(error) => Err(format!("The existing variables could not be loaded: {}.", error.message())),
            None if !known.is_loaded || known.is_loading() => Err("Loading the existing variables…".to_owned()),
            None => Ok(()),
        };
        match parsed.and_then(|parsed| loaded.map(|()| parsed)) {
            Err(why) => (self.rows, self.note) = (Vec::new(), Some(why)),
            Ok((variables, mistakes)) => {
                let row = |variable: &DotenvVariable| {
                    let fits = |known: &&Variable| known.key == variable.key && known.scope() == self.scope();
                    Row {
                        line: variable.line,
                        key: variable.key.clone(),
                        value: SecretText(variable.value.clone()),
                        effect: self.effect(variable, known.iter().find(fits)),
                    }
                };
                let wrong = |(line, why): &Mistake| Row {
                    line: *line,
                    key: String::new(),
                    value: SecretText::default(),
                    effect: ImportEffect::Refused(why),
                };
                let mut rows: Vec<Row> = mistakes.iter().map(wrong).chain(variables.iter().map(row)).collect();
                rows.sort_by_key(|row| row.line);
                (self.rows, self.note) = (rows, None);
            }
        }
    }

    fn write(&self, row: &Row, view: &View) -> Option<Write> {
        let owner = self.owner.clone();
        let (key, value) = (row.key.clone(), row.value.clone());
        match row.effect {
            ImportEffect::New => {
                let create = CreateVariable {
                    owner,
                    key,
                    value,
                    protected: self.protected,
                    masked: self.masked,
                    raw: Some(self.raw),
                    environment_scope: self.scope.clone(),
                    ..CreateVariable::default()
                };
                Some(Write::new(&create, format!("create variable {}", row.key)))
            }
            ImportEffect::Changed => {
                let fits = |known: &&Variable| known.key == row.key && known.scope() == self.scope();
                let known = all(&self.owner, view).iter().find(fits)?;
                // The masking of a hidden variable cannot be changed.
                let masked = self.masked.filter(|_| !known.is_hidden());
                let (raw, protected) = (known.raw.map(|_| self.raw), self.protected);
                let (value, filter) = (Some(value), filter(known));
                let update =
                    UpdateVariable { owner, key, value, protected, masked, raw, filter, ..UpdateVariable::default() };
                Some(Write::new(&update, format!("change variable {}", row.key)))
            }
            ImportEffect::Same | ImportEffect::Refused(_) => None,
        }
    }

    fn count(&self, of: fn(ImportEffect) -> bool) -> usize {
        self.rows.iter().filter(|row| of(row.effect)).count()
    }

    fn is_ready(&self) -> bool {
        self.count(|effect| matches!(effect, ImportEffect::New | ImportEffect::Changed)) > 0
    }
}

impl Overlay for Import {
    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants = vec![want_all(&self.owner, view)];
        if let Source::File(path, Some(at)) = &self.source {
            let file = EnvFile(path.clone(), *at);
            if view.store.is_result_missing(&file.key()) {
                wants.push(Work::new(file).into());
            }
        }
        wants
    }

    fn view(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let columns = [
            TableColumn::new("Line", Size::Fit { min: 4, max: 6 }),
            TableColumn::new("Key", Size::Fit { min: 8, max: 40 }),
            TableColumn::new("Value", Size::Fit { min: 12, max: 20 }),
            TableColumn::new("Effect", Size::Fill { min: 12, weight: 1 }),
        ];
        let row = |at: usize| {
            let Some(row) = self.rows.get(at) else { return TableRow::default() };
            let (words, role) = match row.effect {
                ImportEffect::New => ("new", Role::Added),
                ImportEffect::Changed => ("replaces the value", Role::Warning),
                ImportEffect::Same => ("same value: left as it is", Role::Dim),
                ImportEffect::Refused(why) => (why, Role::Failed),
            };
            let mark = if matches!(row.effect, ImportEffect::Refused(_)) {
                format!("{} ", glyph::wrong())
            } else {
                String::new()
            };
            let length = match row.key.is_empty() {
                true => String::new(),
                false => format!("{} characters", row.value.0.chars().count()),
            };
            TableRow::new(vec![
                Line::new(row.line.to_string(), Role::Dim),
                Line::new(row.key.clone(), Role::Label),
                Line::new(length, Role::Dim),
                Line::new(format!("{mark}{words}"), role),
            ])
        };
        let enter = if self.is_ready() { Role::Key } else { Role::Dim };
        let foot =
            Line::from([("C-s", enter), (" add them   ", Role::Dim), ("Esc", Role::Key), (" cancel", Role::Dim)]);
        let why = self.note.as_deref().unwrap_or("There are no variables in the text.");
        let title = format!("Add variables to {}", text::sanitize(&owner_name(&self.owner)));
        let empty = (why, "Esc closes this preview");
        let contents = Contents { title: &title, columns: &columns, len: self.rows.len(), row: &row, empty, foot };
        let line = self.sheet.draw(view, screen, buf, &contents);
        let refused = self.count(|effect| matches!(effect, ImportEffect::Refused(_)));
        let (new, changed) =
            (self.count(|effect| effect == ImportEffect::New), self.count(|effect| effect == ImportEffect::Changed));
        let mut words = Line::new(format!("{new} new, {changed} changed"), Role::Text);
        if refused > 0 {
            words.push(format!(", {refused} refused and left out"), Role::Failed);
        }
        words.push(format!("   environment {}", self.scope()), Role::Dim);
        words.draw(buf, line, view.theme);
        None
    }

    fn key(&mut self, key: Key, cx: &mut Cx) -> AfterEvent {
        match (key.code, key.ctrl) {
            (KeyCode::Esc, _) | (KeyCode::Char('c'), true) => {
                cx.say(Tone::Info, "Nothing was added; the values are forgotten.");
                return AfterEvent::Close;
            }
            (KeyCode::Char('s'), true) if self.is_ready() => {
                let writes = self.rows.iter().filter_map(|row| self.write(row, &cx.view)).collect();
                cx.open(Batch::new("Add variables", writes));
                return AfterEvent::Close;
            }
            _ => self.sheet.letter_key(key, self.rows.len()),
        }
        AfterEvent::KeepOpen
    }

    fn pointer(&mut self, pointer: Pointer, _cx: &mut Cx) -> AfterEvent {
        self.sheet.pointer(pointer, self.rows.len())
    }

    fn changed(&mut self, cx: &mut Cx) {
        if let Source::File(_, at) = &mut self.source {
            at.get_or_insert(cx.view.local_now);
        }
        self.refresh(&cx.view);
    }
}
