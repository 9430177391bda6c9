//! Forms for CI/CD variables. Values are masked while they are typed, and never stored on this machine.

use crate::api::variables::{CreateVariable, UpdateVariable, Variable, VariableFilter};
use crate::api::{Endpoint, InputType, VariableOwner};
use crate::app::overlay::form::{Field, FieldTexts, Form, Widget};
use crate::domain::ci_variables;
use serde_json::{Value, json};

/// The names of the inputs in the order of the form.
const ORDER: [&str; 9] = [
    "key",
    "value",
    "environment_scope",
    "masked",
    "masked_and_hidden",
    "protected",
    "raw",
    "variable_type",
    "description",
];
/// The words for the type of a variable. The server calls the first one `env_var`.
const TYPES: &[&str] = &["variable", "file"];

/// Returns the owner of variables in words.
pub fn owner_name(owner: &VariableOwner) -> String {
    match owner {
        VariableOwner::Project(id) | VariableOwner::Group(id) => id.to_string(),
        VariableOwner::Instance => "the instance".to_owned(),
    }
}

/// Checks a key.
pub fn check_key(key: &str) -> Result<(), String> {
    ci_variables::why_no_key(key).map_or(Ok(()), |why| Err(why.into()))
}

/// Returns the word for the type of a variable.
pub fn type_word(is_file: bool) -> &'static str {
    TYPES[usize::from(is_file)]
}

/// Makes a field the type of a variable, with the words of the screen.
pub fn choose_type(field: &mut Field) {
    let parse = |word: &str| Ok(json!(if word == "file" { "file" } else { "env_var" }));
    field.label("type").widget(Widget::Choice(TYPES)).parsed(parse);
    field.help("file: jobs get the path of a file with the value.");
}

/// Parses whether references are expanded: the input says whether they are not.
pub fn expands(text: &str) -> Result<Value, String> {
    Ok(json!(text == "no"))
}

/// Checks that a value can be masked if it is to be.
pub fn verify(texts: FieldTexts) -> Result<(), (&'static str, String)> {
    let is_masked = texts.get("masked") == "yes" || texts.get("masked_and_hidden") == "yes";
    let value = texts.whole("value");
    match ci_variables::why_unmaskable(value, texts.get("raw") == "no").filter(|_| is_masked && !value.is_empty()) {
        Some(why) => Err(("value", why.to_owned())),
        None => Ok(()),
    }
}

fn fields<E: Endpoint>(owner: &VariableOwner, title: String, what: String, key: String) -> Form {
    let form = Form::of::<E>(title, what, key)
        .fixed("owner", owner.to_string())
        .first(&ORDER)
        .field("environment_scope", |field| {
            field.label("environment").help("The jobs that get it: a name, or a pattern such as review/*.");
        })
        .field("masked", |field| _ = field.help("Replaced by [MASKED] in traces."))
        .field("protected", |field| _ = field.help("Only for jobs of protected branches and tags."))
        .field("raw", |field| {
            field.label("expand references").widget(Widget::Choice(&["no", "yes"])).parsed(expands);
            field.help("yes: $OTHER in the value stands for another variable.").required(true);
        })
        .field("variable_type", choose_type)
        .verify(verify);
    match owner {
        VariableOwner::Instance => form.without(&["environment_scope"]),
        _ => form,
    }
}

/// Returns the form for a new variable.
pub fn create(owner: &VariableOwner) -> Form {
    let name = owner_name(owner);
    let title = format!("New variable of {name}");
    fields::<CreateVariable>(owner, title, "create the variable".into(), format!("new variable {name}"))
        .field("key", |field| _ = field.check(check_key).help("Letters, digits and _."))
        .field("value", |field| {
            field.widget(Widget::Long).hidden().required(false).default("empty");
            field.help("Not stored on this machine: forgotten if you leave with Esc.");
        })
        .field("environment_scope", |field| _ = field.default("* (all)"))
        .field("masked", |field| _ = field.default("no"))
        .field("masked_and_hidden", |field| {
            field.label("hidden").default("no").help("Masked, and never shown again, not even to you.");
        })
        .field("protected", |field| _ = field.default("no"))
        .field("raw", |field| _ = field.text("no"))
        .field("variable_type", |field| _ = field.default(TYPES[0]))
        .field("description", |field| _ = field.default("none"))
}

/// Returns the form that edits a variable. Fields that the server does not know are left out.
pub fn edit(owner: &VariableOwner, variable: &Variable) -> Form {
    let name = owner_name(owner);
    let title = format!("Edit variable {} of {name}", variable.key);
    let (what, key) = (format!("change variable {}", variable.key), format!("variable {name} {}", variable.key));
    let yes_no = |on: bool| if on { "yes" } else { "no" };
    let filter = variable.environment_scope.clone().map(|scope| VariableFilter { environment_scope: Some(scope) });
    let hidden = variable.is_hidden();
    let known = [
        ("raw", variable.raw.is_some()),
        ("environment_scope", variable.environment_scope.is_some()),
        ("description", variable.has_description()),
        ("masked", !hidden),
    ];
    let unknown: Vec<&str> = known.iter().filter(|(_, known)| !known).map(|(name, _)| *name).collect();
    let mut form = fields::<UpdateVariable>(owner, title, what, key).fixed("key", &variable.key);
    form = match filter {
        Some(filter) => form.fixed("filter", filter.value()),
        None => form.without(&["filter"]),
    };
    form.field("value", |field| {
        field.widget(Widget::Long).hidden();
        match &variable.value {
            Some(value) if !hidden => {
                field.before(value.0.as_str());
                field.help("A changed value is forgotten if you leave with Esc.");
            }
            _ => {
                field.default("unchanged");
                field.help("Hidden: type a new value to replace it; forgotten if you leave with Esc.");
            }
        }
    })
    .field("environment_scope", |field| _ = field.before(variable.scope()).required(true))
    .field("masked", |field| _ = field.before(yes_no(variable.masked)))
    .field("protected", |field| _ = field.before(yes_no(variable.protected)))
    .field("raw", |field| _ = field.before(yes_no(variable.raw == Some(false))))
    .field("variable_type", |field| _ = field.before(type_word(variable.is_file())))
    .field("description", |field| _ = field.before(variable.description.as_deref().unwrap_or_default()))
    .without(&unknown)
}
