//! CI/CD variables of a project, a group or the instance. A value is on the screen only when the user asks for it, and
//! only for a few seconds.

mod compare;
mod effective;
mod import;

use crate::api::input::Input as Described;
use crate::api::variables::{DeleteVariable, ListVariables, Variable, VariableFilter};
use crate::api::{Error, Fault, Id, InputKind, Scope, VariableOwner};
use crate::app::complete::Complete;
use crate::app::overlay::batch;
use crate::app::overlay::form::{Form, Widget};
use crate::app::pane::Breadcrumb;
use crate::app::permission;
use crate::parts::forms;
use crate::parts::forms::variable::owner_name;
use crate::parts::list::prelude::*;
use crate::parts::list::scope;
use crate::parts::text::revealed::Revealed;
use crate::store::{Load, Rows};
use crate::ui::text;
use compare::CompareVariables;
use effective::EffectiveVariables;
use serde_json::{Map, Value};

/// The maximum number of lines of a value that are shown.
const MAX_LINES: usize = 100;
/// The width at which the lines of a value are wrapped, in columns.
const VALUE_WIDTH: usize = 48;
/// The maximum number of pages of variables that are loaded to compare them: servers allow 8,000 in a project.
const MAX_PAGES: u32 = 80;

/// The variables of a project, a group or the instance.
pub struct VariableSource {
    owner: VariableOwner,
    revealed: Revealed,
}

/// The list of variables.
pub type Variables = ListPane<VariableSource>;

/// Returns the properties of a variable in words.
fn flags(variable: &Variable) -> Vec<&'static str> {
    let all = [
        (variable.is_file(), "file"),
        (variable.is_hidden(), "hidden"),
        (variable.masked && !variable.is_hidden(), "masked"),
        (variable.protected, "protected"),
        (variable.raw == Some(false), "expanded"),
    ];
    all.into_iter().filter(|(on, _)| *on).map(|(_, word)| word).collect()
}

/// Returns the filter that names a variable among those with the same key, if the server has environments for it.
fn filter(variable: &Variable) -> Option<VariableFilter> {
    variable.environment_scope.clone().map(|scope| VariableFilter { environment_scope: Some(scope) })
}

/// Returns the name of a variable, with its environment unless it is for all.
fn name(variable: &Variable) -> String {
    let key = text::sanitize(&variable.key);
    match variable.scope() {
        "*" => key.into_owned(),
        scope => format!("{key} ({})", text::sanitize(scope)),
    }
}

/// Returns the want that loads all variables of an owner.
fn want_all(owner: &VariableOwner, view: &View) -> Want {
    let list = ListVariables { owner: owner.clone() };
    Load::list(&list, view.store.list(&list).pages_to_end(MAX_PAGES)).optional().into()
}

/// Returns the loaded variables of an owner.
fn all<'a>(owner: &VariableOwner, view: &View<'a>) -> Rows<'a, Variable> {
    view.store.list(&ListVariables { owner: owner.clone() })
}

impl VariableSource {
    /// Returns the project or group that owns the variables.
    fn scope(&self) -> Option<Scope> {
        match &self.owner {
            VariableOwner::Project(id) => Some(Scope::Project(id.clone())),
            VariableOwner::Group(id) => Some(Scope::Group(id.clone())),
            VariableOwner::Instance => None,
        }
    }

    /// Returns the value as one line, or what stands for it.
    fn value_cell<'a>(&self, variable: &'a Variable, view: &View) -> Line<'a> {
        match &variable.value {
            Some(value) => self.revealed.cell(&VariableSource::key(variable), &value.0, view.local_now),
            None => Line::new("hidden", Role::Dim),
        }
    }
}

impl Variables {
    fn create(&mut self, cx: &mut Cx) {
        Variables::open_form(forms::variable::create(&self.source.owner), cx);
    }

    fn edit(&mut self, variable: &Variable, cx: &mut Cx) {
        let owner = self.source.owner.clone();
        self.open_edit(variable, move |variable| forms::variable::edit(&owner, variable), cx);
    }

    fn has_value(&self, variable: &Variable, _: &View) -> Result<(), Disabled> {
        match variable.value {
            Some(_) => Ok(()),
            None => Err("the value is hidden: the server never returns it".into()),
        }
    }

    fn reveal(&mut self, variable: &Variable, cx: &mut Cx) {
        self.source.revealed.toggle(VariableSource::key(variable), cx.view.local_now);
    }

    fn copy_value(&mut self, variable: &Variable, cx: &mut Cx) {
        if let Some(value) = &variable.value {
            cx.act(Action::Copy(Clip::lines("value (not shown)", value.0.clone())));
        }
    }

    fn delete(&mut self, targets: &[&Variable], cx: &mut Cx) {
        let owner = &self.source.owner;
        let names: Vec<String> = targets.iter().map(|variable| name(variable)).collect();
        let write = |variable: &&Variable| {
            let (key, filter) = (variable.key.clone(), filter(variable));
            let delete = DeleteVariable { owner: owner.clone(), key, filter };
            Write::new(&delete, format!("delete variable {}", name(variable)))
        };
        let writes: Vec<Write> = targets.iter().map(write).collect();
        let owner = owner_name(owner);
        let question = match writes.len() {
            1 => format!("Delete this variable of {owner}? Its value is lost."),
            many => format!("Delete these {many} variables of {owner}? Their values are lost."),
        };
        cx.act(batch::confirm("Delete variables", question, names, writes));
    }

    fn is_of_projects(&self, _: &View) -> Result<(), Disabled> {
        match self.source.owner {
            VariableOwner::Instance => Err("open the variables of a project or group".into()),
            _ => Ok(()),
        }
    }

    fn is_of_project(&self, _: &View) -> Result<(), Disabled> {
        match self.source.owner {
            VariableOwner::Project(_) => Ok(()),
            _ => Err("open the variables of a project".into()),
        }
    }

    fn show_effective(&mut self, cx: &mut Cx) {
        cx.open(EffectiveVariables::of(&self.source.owner));
    }

    /// Asks for another project, and compares its keys with those of this one.
    fn compare(&mut self, cx: &mut Cx) {
        let VariableOwner::Project(here) = self.source.owner.clone() else { return };
        let input = Described { name: "project", kind: InputKind::Text, required: true, help: "" };
        let act = move |inputs: Map<String, Value>| {
            let there = inputs.get("project").and_then(Value::as_str).unwrap_or_default();
            Ok(Action::OpenOverlay(Box::new(CompareVariables::of(&here, &Id::from(there)))))
        };
        Form::acting("Compare variables with", "compare variables", "compare variables", &[input], act)
            .field("project", |field| _ = field.widget(Widget::Line(Complete::Projects)))
            .picker()
            .open(cx);
    }
}

impl ListSource for VariableSource {
    type Row = Variable;
    type Detail = Details;
    const LIST: ListInfo = ListInfo::new("variables", "variable", "variables").widths(&[(50, 3), (44, 2)]);
    const COLUMNS: &'static [Column<Self>] = &[
        Column::<Self>::fit("key", "Key", 10, 40, |_, variable, _| Line::new(&variable.key, Role::Label))
            .sorted(|variable| SortKey::caseless(&variable.key)),
        Column::<Self>::fill("value", "Value", 10, |source, variable, view| source.value_cell(variable, view)),
        Column::<Self>::fit("environment", "Environment", 5, 24, |_, variable, _| {
            let role = if variable.scope() == "*" { Role::Dim } else { Role::Ref };
            Line::new(variable.scope(), role)
        })
        .sorted(|variable| SortKey::caseless(variable.scope()))
        .drop_order(2),
        Column::<Self>::fit("properties", "Properties", 0, 30, |_, variable, _| {
            Line::new(flags(variable).join(", "), Role::Dim)
        })
        .drop_order(3),
        Column::<Self>::fit("description", "Description", 0, 40, |_, variable, _| {
            Line::new(variable.description.as_deref().unwrap_or_default(), Role::Dim)
        })
        .drop_order(4),
    ];
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::new("variables.open", &["Enter"], "Show details", Variables::open_details).footer("details"),
        Command::row("variables.value", &["v"], "Toggle value (10 seconds)", Variables::reveal)
            .footer("show value")
            .when_row(Variables::has_value),
        Command::row("variables.copy", &["Y"], "Copy value (not shown)", Variables::copy_value)
            .footer("copy value")
            .when_row(Variables::has_value),
        Command::new("variables.create", &["+"], "Create variable…", Variables::create).footer("new").writes(),
        Command::row("variables.edit", &["e"], "Edit variable…", Variables::edit).footer("edit").writes(),
        Command::new("variables.import", &["i"], "Add several variables…", |pane: &mut Variables, cx| {
            import::form(&pane.source.owner).open(cx);
        })
        .footer("add several")
        .writes(),
        Command::new("variables.effective", &["E"], "Show effective variables", Variables::show_effective)
            .footer("effective")
            .when(Variables::is_of_projects),
        Command::new("variables.compare", &["d"], "Compare with project…", Variables::compare)
            .when(Variables::is_of_project),
        Variables::mark_command("variables.mark"),
        Variables::columns_command("variables.columns"),
        Command::rows("variables.delete", &["D", "Delete"], "Delete variables…", Variables::delete)
            .footer("delete")
            .writes(),
    ];

    fn open(place: &Place, _view: &View) -> VariableSource {
        let owner = scope::of(place).map_or(VariableOwner::Instance, VariableOwner::from);
        VariableSource { owner, revealed: Revealed::default() }
    }

    fn breadcrumbs(&self, place: &Place, view: &View) -> Vec<Breadcrumb> {
        let title = if self.owner == VariableOwner::Instance { "instance variables" } else { Self::LIST.names.1 };
        scope::breadcrumbs(scope::of(place).as_ref(), view, title)
    }

    fn empty(&self, _: usize) -> (&'static str, &'static str) {
        ("There are no CI/CD variables here.", "‹.create› creates one, ‹.import› adds several from KEY=value lines")
    }

    fn query(&self, _: &Input<'_>, _: ServerOrder, view: &View) -> Option<ListQuery<Variable>> {
        let may = self.owner != VariableOwner::Instance || permission::can_load_admin_data(view);
        may.then(|| ListQuery::new(&ListVariables { owner: self.owner.clone() }))
    }

    fn filter(&self, _: &Input<'_>) -> Filter<Variable> {
        // A value must not be guessed by searching for it.
        Filter::Loaded(|variable, words| {
            let texts = [Some(variable.key.as_str()), Some(variable.scope()), variable.description.as_deref()];
            texts.into_iter().flatten().any(|text| text.to_lowercase().contains(words))
        })
    }

    fn key(variable: &Variable) -> String {
        format!("{} {}", variable.key, variable.scope())
    }

    fn changed(pane: &mut Variables, cx: &mut Cx) {
        pane.source.revealed.expire(cx.view.local_now);
    }

    fn instead(&self, _: &Input<'_>, error: Option<&Error>, view: &View) -> Option<(String, Cow<'static, str>)> {
        let role = match self.owner {
            VariableOwner::Project(_) => "Maintainer",
            VariableOwner::Group(_) => "Owner",
            VariableOwner::Instance => {
                let why = permission::administrator(view).err()?;
                let words = format!("You cannot see the variables of the instance: {}.", view.with_keys(&why));
                return Some((words, "Open a project or a group first to see its variables".into()));
            }
        };
        let words = format!("Variables are shown to members with at least the role {role}.");
        let is_denied = matches!(error?.fault, Fault::Denied(_));
        is_denied.then_some((words, "Ask somebody who manages the members".into()))
    }

    fn url(&self, view: &View, _: Option<&Self::Row>) -> Option<String> {
        match self.owner {
            VariableOwner::Instance => Some(format!("{}/admin/application_settings/ci_cd", view.session.web_url)),
            _ => scope::page(self.scope().as_ref(), view, "/-/settings/ci_cd"),
        }
    }

    fn copies(&self, _view: &View, variable: &Variable) -> Vec<Clip> {
        let description = (*variable.description).clone().filter(|text| !text.is_empty());
        let mut copies =
            vec![Clip::line("key", variable.key.clone()), Clip::line("reference", format!("${}", variable.key))];
        copies.extend(description.map(|text| Clip::line("description", text)));
        copies
    }
}

impl Describes<Details> for VariableSource {
    fn describe(&self, facts: &mut Details, view: &View, variable: &Variable) {
        facts.title(name(variable), "");
        let on = |on: bool, yes: &'static str, no: &'static str| match on {
            true => Line::new(yes, Role::Text),
            false => Line::new(no, Role::Dim),
        };
        if let Some(scope) = &variable.environment_scope {
            facts.field("environment", Line::new(scope.clone(), Role::Ref), None);
        }
        let kind = on(variable.is_file(), "file: jobs get the path of a file with the value", "variable");
        facts.field("type", kind, None);
        facts.field("masked", on(variable.masked, "yes: replaced in traces", "no: traces may show it"), None);
        facts.field("protected", on(variable.protected, "only for protected branches and tags", "no"), None);
        if let Some(raw) = variable.raw {
            facts.field("references", on(!raw, "$OTHER in the value is expanded", "kept as they are"), None);
        }
        if let Some(words) = variable.description.as_ref().filter(|words| !words.is_empty()) {
            facts.field("description", Line::new(words.replace('\n', " "), Role::Text), None);
        }
        facts.line(Line::empty());
        let Some(value) = &variable.value else {
            return facts.line(Line::new("The value is hidden: the server never returns it.", Role::Dim));
        };
        let lines = value.0.split('\n').count();
        let lines = if lines > 1 { format!(", {lines} lines") } else { String::new() };
        facts.line(Line::new(format!("Value: {} characters{lines}", value.0.chars().count()), Role::TitleDim));
        if self.revealed.shows(&VariableSource::key(variable), view.local_now) {
            facts.prose(&value.0, VALUE_WIDTH, MAX_LINES, Role::Text);
            facts.mark_secret();
        } else {
            let words = view.with_keys("‹variables.value› shows it for ten seconds, ‹variables.copy› copies it unseen");
            facts.line(Line::new(words.into_owned(), Role::Dim));
        }
    }
}
