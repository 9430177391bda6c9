//! Declarations of a CI configuration for those who start a pipeline: inputs with their types, and variables with a
//! description. Includes are not read: the server merges them.

use super::yaml::{self, Node};
use regex::Regex;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

/// The maximum number of inputs of a configuration.
pub const MAX_INPUTS: usize = 20;
/// The maximum number of variables of a configuration that are offered.
pub const MAX_VARIABLES: usize = 30;
/// The values of inputs, by name.
pub type Inputs = BTreeMap<String, Value>;

/// The type of an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InputType {
    #[default]
    Text,
    Number,
    Bool,
    List,
}

impl InputType {
    pub fn word(self) -> &'static str {
        match self {
            InputType::Text => "string",
            InputType::Number => "number",
            InputType::Bool => "boolean",
            InputType::List => "array",
        }
    }
}

/// An input that a configuration declares.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InputSpec {
    pub name: String,
    pub kind: InputType,
    /// The default; without one, the input is required.
    pub default: Option<Value>,
    /// The allowed values; empty if all are.
    pub options: Vec<String>,
    pub description: String,
    /// The expression that the value must match.
    regex: Option<String>,
}

/// A variable that a configuration describes, so that it can be filled in before a pipeline is started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VariableSpec {
    pub key: String,
    pub value: String,
    pub options: Vec<String>,
    pub description: String,
}

/// The declarations of a configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Declared {
    pub inputs: Vec<InputSpec>,
    pub variables: Vec<VariableSpec>,
}

/// Returns the header of a configuration with `spec`, and the configuration itself.
pub fn split(text: &str) -> (&str, &str) {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let is_separator = line.trim_end() == "---";
        if is_separator && text.get(..at).is_some_and(|head| head.lines().any(is_content)) {
            let (head, rest) = text.split_at(at);
            let body = rest.get(line.len()..).unwrap_or_default();
            let has_spec = head.lines().any(|line| line.starts_with("spec:"));
            return if has_spec { (head, body) } else { ("", text) };
        }
        at += line.len();
    }
    ("", text)
}

/// Returns whether a line is neither empty nor a comment nor the start of a document.
fn is_content(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with('#') && line != "---"
}

/// Reads the inputs that a configuration declares.
///
/// # Errors
/// Fails with a reason if the header is invalid.
pub fn inputs(header: &str) -> Result<Vec<InputSpec>, String> {
    let root = yaml::parse(header)?;
    let declared = root.get("spec").and_then(|spec| spec.get("inputs"));
    let all = declared.and_then(Node::as_map).into_iter().flatten();
    all.take(MAX_INPUTS).map(|(name, node)| input(name, node)).collect()
}

fn input(name: &str, node: &Node) -> Result<InputSpec, String> {
    let text = |key: &str| node.get(key).and_then(Node::to_text);
    let kind = match text("type").as_deref() {
        None | Some("string") => InputType::Text,
        Some("number") => InputType::Number,
        Some("boolean") => InputType::Bool,
        Some("array") => InputType::List,
        Some(_) => return Err(format!("header:spec:inputs:{name} input type unknown value")),
    };
    let default = match node.get("default") {
        None | Some(Node::Null) => None,
        Some(node) => Some(value_of(node, kind)),
    };
    Ok(InputSpec {
        name: name.to_owned(),
        kind,
        default,
        options: node.get("options").and_then(Node::texts).unwrap_or_default(),
        description: text("description").unwrap_or_default(),
        regex: text("regex"),
    })
}

/// Returns the values that an `include` gives to the inputs of a configuration.
pub fn given_inputs(node: Option<&Node>, text: &str) -> Inputs {
    let specs = inputs(split(text).0).unwrap_or_default();
    let given = |(name, node): &(String, Node)| {
        let kind = specs.iter().find(|spec| spec.name == *name).map_or(InputType::Text, |spec| spec.kind);
        (name.clone(), value_of(node, kind))
    };
    node.and_then(Node::as_map).into_iter().flatten().map(given).collect()
}

/// Returns typed values of inputs in the types that a configuration declares. Those that it does not declare, or does not
/// allow, remain texts, so that it refuses them.
pub fn typed_inputs(text: &str, given: &BTreeMap<&str, &str>) -> Inputs {
    let specs = inputs(split(text).0).unwrap_or_default();
    let value = |name: &str, text: &str| {
        let spec = specs.iter().find(|spec| spec.name == name);
        spec.and_then(|spec| spec.parse(text).ok()).unwrap_or_else(|| json!(text))
    };
    given.iter().map(|(name, text)| ((*name).to_owned(), value(name, text))).collect()
}

/// Returns a value of the configuration as JSON.
fn value_of(node: &Node, kind: InputType) -> Value {
    match (node, kind) {
        (Node::Text(text), InputType::Number) => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
        (Node::Text(text), _) => json!(text),
        (Node::Bool(value), InputType::Text) => json!(value.to_string()),
        (Node::Bool(value), _) => json!(value),
        (Node::List(items), _) => Value::Array(items.iter().map(|item| value_of(item, InputType::Text)).collect()),
        (Node::Map(map), _) => {
            Value::Object(map.iter().map(|(key, value)| (key.clone(), value_of(value, InputType::Text))).collect())
        }
        (Node::Null | Node::Reference(_), _) => Value::Null,
    }
}

impl InputSpec {
    /// Parses a value as it is typed.
    ///
    /// # Errors
    /// Fails with a reason if the input does not allow it.
    pub fn parse(&self, text: &str) -> Result<Value, String> {
        let value = match self.kind {
            InputType::Text => json!(text),
            InputType::Number => match serde_json::from_str::<Value>(text.trim()) {
                Ok(value) if value.is_number() => value,
                _ => return Err("is not a number".into()),
            },
            InputType::Bool => match text.trim() {
                "true" | "yes" => json!(true),
                "false" | "no" => json!(false),
                _ => return Err("must be true or false".into()),
            },
            InputType::List => match serde_json::from_str::<Value>(text.trim()) {
                Ok(value) if value.is_array() => value,
                _ => return Err("is not a list: use [\"a\", \"b\"]".into()),
            },
        };
        self.check(&value).map(|()| value)
    }

    /// Returns a value that stands for one that is given later.
    pub fn placeholder(&self) -> Option<Value> {
        Some(match (self.options.first(), self.kind) {
            (Some(option), InputType::Text) => json!(option),
            (_, InputType::Text) => json!(self.name),
            (Some(option), InputType::Number) => serde_json::from_str(option).ok()?,
            (None, InputType::Number) => json!(0),
            (_, InputType::Bool) => json!(false),
            (_, InputType::List) => json!([]),
        })
    }

    /// Checks a value.
    ///
    /// # Errors
    /// Fails with a reason if the input does not allow it.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        let fits = match self.kind {
            InputType::Text => value.is_string(),
            InputType::Number => value.is_number(),
            InputType::Bool => value.is_boolean(),
            InputType::List => value.is_array(),
        };
        if !fits {
            return Err(format!("provided value is not a {}", self.kind.word()));
        }
        let text = text_of(value);
        if !self.options.is_empty() && !self.options.contains(&text) {
            return Err(format!("must be one of {}", self.options.join(", ")));
        }
        // An expression that is not known here is left to the server.
        let pattern = self
            .regex
            .as_deref()
            .map(|regex| regex.strip_prefix('/').and_then(|r| r.strip_suffix('/')).unwrap_or(regex));
        match pattern.and_then(|pattern| Regex::new(pattern).ok()) {
            Some(regex) if !regex.is_match(&text) => Err(format!("does not match {}", regex.as_str())),
            _ => Ok(()),
        }
    }
}

/// Returns a value as it is inserted into the configuration.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Inserts the values of inputs into a configuration: `$[[ inputs.name ]]`.
///
/// # Errors
/// Fails with the server's words if a value is missing or not allowed, or if the result is too large.
pub fn interpolate(text: &str, given: &Inputs) -> Result<String, String> {
    let (header, body) = split(text);
    let specs = inputs(header)?;
    let mut values: BTreeMap<&str, String> = BTreeMap::new();
    for spec in &specs {
        let Some(value) = given.get(&spec.name).or(spec.default.as_ref()) else {
            return Err(format!("`{}` input: required value has not been provided", spec.name));
        };
        spec.check(value).map_err(|why| format!("`{}` input: {why}", spec.name))?;
        values.insert(&spec.name, text_of(value));
    }
    if let Some(unknown) = given.keys().find(|name| specs.iter().all(|spec| spec.name != **name)) {
        return Err(format!(
            "Given inputs not defined in the `spec` section of the included configuration file: {unknown}"
        ));
    }
    let (mut out, mut rest) = (String::new(), body);
    while let Some((before, after)) = rest.split_once("$[[") {
        out.push_str(before);
        let (inside, next) = after.split_once("]]").ok_or("an interpolation block is not closed")?;
        let name = inside.split('|').next().unwrap_or_default().trim();
        // Values of a matrix are inserted when the jobs that a job needs are looked for.
        if name.starts_with("matrix.") {
            out.extend(["$[[", inside, "]]"]);
            rest = next;
            continue;
        }
        let value = name.strip_prefix("inputs.").and_then(|name| values.get(name));
        out.push_str(value.ok_or_else(|| format!("unknown interpolation key: `{name}`"))?);
        if out.len() > yaml::MAX_BYTES {
            return Err(yaml::TOO_BIG.into());
        }
        rest = next;
    }
    out.push_str(rest);
    Ok(out)
}

/// Reads what a configuration declares. What cannot be read declares nothing: the server tells what is wrong with it.
pub fn declared(text: &str) -> Declared {
    if text.len() > yaml::MAX_BYTES {
        return Declared::default();
    }
    let (header, body) = split(text);
    let root = yaml::parse(body).unwrap_or(Node::Null);
    let all = root.get("variables").and_then(Node::as_map).into_iter().flatten();
    let variable = |(key, node): &(String, Node)| {
        let description = node.get("description").and_then(Node::to_text);
        let options = node.get("options").and_then(Node::texts).unwrap_or_default();
        (description.is_some() || !options.is_empty()).then(|| VariableSpec {
            key: key.clone(),
            value: node.get("value").and_then(Node::to_text).unwrap_or_default(),
            options,
            description: description.unwrap_or_default(),
        })
    };
    Declared {
        inputs: inputs(header).unwrap_or_default(),
        variables: all.filter_map(variable).take(MAX_VARIABLES).collect(),
    }
}

/// Returns the key of a line of a map and the rest of the line.
fn key_of(line: &str) -> Option<(&str, &str)> {
    let quoted = ['"', '\''].into_iter().find_map(|quote| line.strip_prefix(quote)?.split_once(quote));
    let (key, rest) = match quoted {
        Some((key, rest)) => (key, rest.trim_start().strip_prefix(':')?),
        None => match line.split_once(": ") {
            Some((key, rest)) => (key, rest),
            None => (line.trim_end().strip_suffix(':')?, ""),
        },
    };
    // Servers of version 13 wrote keys as symbols.
    Some((key.trim_start_matches(':'), rest.trim()))
}

/// Returns whether a line begins the definition of a job.
pub fn defines(line: &str, job: &str) -> bool {
    !line.starts_with([' ', '\t', '#']) && key_of(line).is_some_and(|(key, _)| key == job)
}

/// Returns the name under which a job is defined: `parallel` makes several jobs of one, named `test 1/3` or
/// `test: [linux, debug]`.
pub fn defined_name(job: &str) -> &str {
    let is_count = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let numbered = job
        .rsplit_once(' ')
        .filter(|(_, part)| part.split_once('/').is_some_and(|(at, count)| is_count(at) && is_count(count)));
    match (job.split_once(": ["), numbered) {
        (Some((name, rest)), _) if rest.ends_with(']') => name,
        (_, Some((name, _))) => name,
        _ => job,
    }
}

/// Returns the lines with the rules of each job as they are written, without their common indentation. Nothing is
/// expanded: an alias stays an alias.
pub fn rules_by_job(text: &str) -> HashMap<&str, Vec<&str>> {
    let mut rules: HashMap<&str, Vec<&str>> = HashMap::new();
    // The indentation of the keys of the job, and of the key `rules`.
    let (mut job, mut keys_at, mut rules_at): (Option<&str>, Option<usize>, Option<usize>) = (None, None, None);
    for line in text.lines() {
        let content = line.trim_start();
        let indent = line.len() - content.len();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let is_item = indent > 0 && content.starts_with('-');
        if indent == 0 {
            (job, keys_at, rules_at) = (key_of(line).map(|(key, _)| key), None, None);
        } else if rules_at.is_some_and(|at| indent > at || indent == at && is_item) {
            rules.entry(job.unwrap_or_default()).or_default().push(line);
        } else {
            rules_at = None;
            if *keys_at.get_or_insert(indent) == indent
                && let Some((job, ("rules", rest))) = job.zip(key_of(content))
            {
                rules_at = Some(indent);
                rules.entry(job).or_default().extend((!rest.is_empty()).then_some(rest));
            }
        }
    }
    for lines in rules.values_mut() {
        let indent = |line: &&str| line.len() - line.trim_start().len();
        let common = lines.iter().map(indent).min().unwrap_or_default();
        lines.iter_mut().for_each(|line| *line = line.get(common..).unwrap_or(line));
    }
    rules
}

/// Returns the line that an error of the server is about, from 1: servers name jobs and keys, but no lines.
pub fn line_of(text: &str, error: &str) -> Option<usize> {
    if let Some((_, after)) = error.split_once(" line ") {
        let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
        return digits.parse().ok();
    }
    // `Local file `x` does not exist!`
    if let Some(path) = error.split('`').nth(1).filter(|path| path.contains(['/', '.'])) {
        return text.lines().position(|line| line.contains(path)).map(|at| at + 1);
    }
    let path = error.strip_prefix("jobs:").map_or(error, |path| path);
    let mut words = path.split([':', ' ']).filter(|word| !word.is_empty());
    let first = words.next()?;
    let begins = |line: &str, key: &str| {
        let key_of = line.trim_start().trim_start_matches("- ");
        let bare = key_of.trim_start_matches(['"', '\'']);
        bare.strip_prefix(key).is_some_and(|rest| rest.trim_start_matches(['"', '\'']).starts_with(':'))
    };
    let is_top = |line: &str| !line.starts_with([' ', '\t', '#', '-']);
    let top = text.lines().position(|line| is_top(line) && begins(line, first))?;
    // The last key that is named within the block of the first one.
    let last: Vec<&str> = match error.split_once("unknown keys: ") {
        Some((_, keys)) => keys.split(',').map(str::trim).take(1).collect(),
        None => words.take_while(|word| !matches!(*word, "config" | "job")).collect(),
    };
    let inside = text.lines().enumerate().skip(top + 1).take_while(|(_, line)| line.is_empty() || !is_top(line));
    let found = inside.filter(|(_, line)| last.iter().any(|key| begins(line, key))).map(|(at, _)| at).next();
    Some(found.unwrap_or(top) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# comment\nspec:\n  inputs:\n    stage:\n      options: [blue, green]\n      default: blue\n      \
        description: Where\n    count:\n      type: number\n    quick:\n      type: boolean\n      default: false\n    \
        tags:\n      type: array\n      default: [a, b]\n    version:\n      regex: /^v\\d+$/\n      default: v1\n---\n\
        variables:\n  LEVEL:\n    value: info\n    description: How much\n    options: [info, debug]\n  PLAIN: x\n\
        job:\n  script: deploy $[[ inputs.stage ]] $[[inputs.count | truncate(0,2)]] $[[ inputs.tags ]]\n";

    #[test]
    fn inputs_and_described_variables_are_declared() {
        let declared = declared(TEXT);
        let names: Vec<&str> = declared.inputs.iter().map(|input| input.name.as_str()).collect();
        assert_eq!(names, ["stage", "count", "quick", "tags", "version"]);
        let [stage, count, quick, tags, version] = &declared.inputs[..] else { panic!("five") };
        assert_eq!((stage.default.clone(), stage.description.as_str()), (Some(json!("blue")), "Where"));
        assert_eq!((count.kind, count.default.clone()), (InputType::Number, None));
        assert_eq!((quick.default.clone(), tags.default.clone()), (Some(json!(false)), Some(json!(["a", "b"]))));
        assert!(stage.parse("red").is_err() && count.parse("x").is_err() && quick.parse("maybe").is_err());
        assert!(version.parse("1").is_err() && tags.parse("a").is_err());
        assert_eq!(count.parse(" 3 ").unwrap(), json!(3));
        assert_eq!(declared.variables.len(), 1);
        assert_eq!(declared.variables[0].options, ["info", "debug"]);
    }

    #[test]
    fn values_are_inserted_and_missing_ones_are_told() {
        let given = Inputs::from([("count".to_owned(), json!(3))]);
        let text = interpolate(TEXT, &given).unwrap();
        assert!(text.contains("deploy blue 3 [\"a\",\"b\"]"), "{text}");
        assert_eq!(
            interpolate(TEXT, &Inputs::new()).unwrap_err(),
            "`count` input: required value has not been provided"
        );
        let wrong = Inputs::from([("count".to_owned(), json!("3"))]);
        assert_eq!(interpolate(TEXT, &wrong).unwrap_err(), "`count` input: provided value is not a number");
        let unknown = Inputs::from([("x".to_owned(), json!(1))]);
        assert!(interpolate("job:\n  script: x\n", &unknown).unwrap_err().contains("not defined"));
        assert!(interpolate("a: $[[ inputs.b ]]", &Inputs::new()).unwrap_err().contains("`inputs.b`"));
    }

    #[test]
    fn errors_are_about_lines() {
        let text = "include:\n  - local: ci/x.yml\nstages: [a]\npack:\n  stage: b\n  scrpt: make\n\n\"lint it\":\n  script: x\n";
        for (error, line) in [
            ("jobs:pack config contains unknown keys: scrpt", Some(6)),
            ("pack job: chosen stage b does not exist; available stages are a", Some(4)),
            ("jobs:pack:stage config should be a string", Some(5)),
            ("Local file `ci/x.yml` does not exist!", Some(2)),
            ("(<unknown>): did not find expected key at line 7 column 3", Some(7)),
            ("jobs:gone config should be a hash", None),
            ("stages config should be an array of strings", Some(3)),
            ("", None),
        ] {
            assert_eq!(line_of(text, error), line, "{error}");
        }
    }

    #[test]
    fn rules_are_taken_as_they_are_written() {
        let text = "variables:\n  rules: no\n:old:\n  :rules: *main\n\"a: b\":\n  script:\n    - |\n      rules:\n        - x\n  \
                    rules:\n  - if: $A\n    # why\n    when: manual\n\n  - *main\n  stage: x\n'test:unit':\n    rules:\n        \
                    - !reference [.base, rules]\nlast: {script: x, rules: [{if: $B}]}\n";
        let rules = rules_by_job(text);
        assert_eq!(rules["a: b"], ["- if: $A", "  when: manual", "- *main"]);
        assert_eq!(rules["test:unit"], ["- !reference [.base, rules]"]);
        assert_eq!((&rules["old"][..], rules.get("last")), (&["*main"][..], None));
        for (job, name) in
            [("test 1/3", "test"), ("test: [a, b]", "test"), ("a: [b", "a: [b"), ("x 1/", "x 1/"), ("1/2", "1/2")]
        {
            assert_eq!(defined_name(job), name);
        }
        assert!(defines("\"a: b\":", "a: b") && defines("test: {script: x}", "test") && defines(":test:", "test"));
        assert!(!defines(" test:", "test") && !defines("test2:", "test") && !defines("# test:", "test"));
        assert!(!rules_by_job("  rules: x\n- rules:\n    - a\n\u{1f600}:\n\u{a0}rules:\n").contains_key(""));
    }

    #[test]
    fn other_documents_are_left_as_they_are() {
        for text in ["---\njob:\n  script: x\n", "job:\n  script: x\n---\nmore: y\n", "", "spec:\n  inputs:\n"] {
            assert_eq!(split(text), ("", text));
        }
        // A short text may stand for a large one.
        let bomb = format!("a: &a [x]\n{}", (0..40).map(|i| format!("k{i}: &b{i} [*a, *a]\n")).collect::<String>());
        assert_eq!(declared(&bomb), Declared::default());
        assert_eq!(declared(&"x".repeat(3 << 20)), Declared::default());
        let doubled = format!(
            "spec:\n  inputs:\n    a:\n      default: {}\n---\nb: {}",
            "y".repeat(1 << 19),
            "$[[ inputs.a ]]".repeat(9)
        );
        assert_eq!(interpolate(&doubled, &Inputs::new()).unwrap_err(), yaml::TOO_BIG);
    }
}
