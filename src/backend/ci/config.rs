//! Reads a CI configuration: which jobs a pipeline has, in which order they run, and what they print.

use super::expression::{Variables, evaluate, expand, pattern};
use super::files::{Files, Matcher};
use crate::records::{JobWhen, Planned};
use api::lint::Policy;
use domain::ci_config::{self, Inputs};
use domain::ci_variables::{scope_fits, scope_rank};
use domain::yaml::{self, Map, Node};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of files that one configuration includes.
const MAX_FILES: usize = 50;
/// The maximum size of all files of a configuration in bytes.
const MAX_BYTES: usize = 2 * yaml::MAX_BYTES;
/// The maximum number of values of a configuration, with those that `extends` and references copy.
const MAX_VALUES: usize = 200_000;
/// The maximum depth of `extends`, and of references in references.
const MAX_DEPTH: usize = 10;
/// The maximum number of jobs of a pipeline.
const MAX_JOBS: usize = 500;
/// The maximum number of jobs that one definition is multiplied to.
const MAX_PARALLEL: usize = 200;

/// The keys beside jobs.
const GLOBAL_KEYS: [&str; 13] = [
    "default",
    "include",
    "stages",
    "types",
    "variables",
    "workflow",
    "image",
    "services",
    "before_script",
    "after_script",
    "cache",
    "spec",
    "$schema",
];
/// The keys of a job.
const JOB_KEYS: [&str; 39] = [
    "script",
    "run",
    "trigger",
    "stage",
    "before_script",
    "after_script",
    "rules",
    "only",
    "except",
    "when",
    "allow_failure",
    "variables",
    "needs",
    "dependencies",
    "tags",
    "environment",
    "artifacts",
    "cache",
    "image",
    "services",
    "extends",
    "coverage",
    "retry",
    "timeout",
    "parallel",
    "start_in",
    "resource_group",
    "interruptible",
    "release",
    "secrets",
    "id_tokens",
    "inherit",
    "hooks",
    "identity",
    "pages",
    "publish",
    "type",
    "dast_configuration",
    "manual_confirmation",
];

/// The pipeline that a configuration is read for.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// The branch or tag; for a merge request, its source branch.
    pub ref_name: String,
    pub is_tag: bool,
    /// The event, such as `push` or `merge_request_event`.
    pub source: String,
    pub variables: Variables,
    /// The variables of some environments, from the outermost group to the project.
    pub scoped: Vec<ScopedVariable>,
    /// The values of the inputs of the configuration.
    pub inputs: Inputs,
    /// Whether all jobs are read, whatever rules say about the pipeline.
    pub takes_all: bool,
}

/// A variable that jobs of some environments have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScopedVariable {
    pub scope: String,
    pub key: String,
    pub value: String,
    /// The depth of its group, or a higher number for the project.
    pub level: usize,
}

/// A job that a configuration defines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Definition {
    pub plan: Planned,
    /// The commands before those of the job itself.
    pub before_script: Vec<String>,
    pub script: Vec<String>,
    pub after_script: Vec<String>,
    /// The keywords `only` and `except`.
    pub policies: [Option<Policy>; 2],
    /// The paths of its artifacts.
    pub artifacts: Vec<String>,
    /// The jobs of the child pipeline that it starts.
    pub child: Vec<Definition>,
}

impl Definition {
    /// Returns all commands in order.
    pub fn commands(&self) -> impl Iterator<Item = &String> {
        self.before_script.iter().chain(&self.script).chain(&self.after_script)
    }
}

/// The reason why a configuration has no pipeline.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// The configuration is invalid.
    Invalid(String),
    /// Its rules exclude the pipeline.
    Filtered(&'static str),
}

impl From<String> for Problem {
    fn from(why: String) -> Problem {
        Problem::Invalid(why)
    }
}

type Result<T, E = Problem> = std::result::Result<T, E>;

fn invalid<T>(why: impl Into<String>) -> Result<T> {
    Err(Problem::Invalid(why.into()))
}

/// Returns the jobs of the pipeline that the configuration `text` has in a context, stage by stage.
///
/// # Errors
/// Fails if the configuration is invalid or excludes the pipeline.
pub fn read(text: &str, context: &Context, files: &dyn Files) -> Result<Vec<Definition>> {
    Reader::of(files).read(text, context)
}

/// A configuration with those that it includes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MergedConfig {
    /// The whole as text; `None` if it cannot be read.
    pub text: Option<String>,
    /// The paths of the included files.
    pub paths: Vec<String>,
}

/// Merges a configuration with those that it includes. The defaults of its inputs count, or their names without one.
pub fn merged(text: &str, variables: &Variables, files: &dyn Files) -> MergedConfig {
    let reader = Reader::of(files);
    let (header, _) = ci_config::split(text);
    let specs = ci_config::inputs(header).unwrap_or_default();
    let placeholder = |spec: ci_config::InputSpec| Some((spec.name.clone(), spec.placeholder()?));
    let inputs: Inputs = specs.into_iter().filter(|spec| spec.default.is_none()).filter_map(placeholder).collect();
    let node = reader.parse(text, None, &inputs, variables).and_then(|node| match node {
        Node::Map(root) => Ok(Node::Map(reader.extend(root)?)),
        other => Ok(other),
    });
    let text = node.ok().map(|node| yaml::emit(&node)).or_else(|| Some(text.to_owned()));
    MergedConfig { text, paths: reader.paths.take() }
}

/// Reads a configuration with the files that it includes, within bounds.
struct Reader<'r> {
    files: &'r dyn Files,
    matcher: Matcher<'r>,
    /// The number of included files.
    included: Cell<usize>,
    paths: RefCell<Vec<String>>,
    bytes: Cell<usize>,
    values: Cell<usize>,
}

impl<'r> Reader<'r> {
    fn of(files: &'r dyn Files) -> Reader<'r> {
        let (included, bytes, values) = (Cell::default(), Cell::default(), Cell::default());
        Reader { files, matcher: Matcher::new(files), included, paths: RefCell::default(), bytes, values }
    }

    fn read(&self, text: &str, context: &Context) -> Result<Vec<Definition>> {
        let Node::Map(root) = self.parse(text, None, &context.inputs, &context.variables)? else {
            return invalid("Invalid configuration format");
        };
        let root = self.extend(root)?;
        let root = self.resolve(&Node::Map(root.clone()), &root, 0)?;
        let Node::Map(root) = root else { return invalid("Invalid configuration format") };
        Pipeline::new(&root, context, self)?.jobs()
    }

    fn count_include(&self) -> Result<()> {
        self.included.update(|included| included + 1);
        match self.included.get() > MAX_FILES {
            true => invalid(format!("Maximum of {MAX_FILES} nested includes are allowed!")),
            false => Ok(()),
        }
    }

    /// Returns the paths that an `include` names, several for one with wildcards: all but `own`, the file that includes.
    fn located(&self, path: &str, own: Option<&str>) -> Result<Vec<String>> {
        if !path.contains('*') {
            return Ok(vec![path.to_owned()]);
        }
        self.count_include()?;
        let mut found = self.matcher.matching(path.trim_start_matches('/'));
        found.retain(|found| Some(found.as_str()) != own);
        Ok(found)
    }

    /// Returns the content of a local file.
    fn local(&self, path: &str) -> Result<String> {
        self.count_include()?;
        self.paths.borrow_mut().push(path.trim_start_matches('/').to_owned());
        let text = self.files.read(path.trim_start_matches('/'));
        Ok(text.ok_or_else(|| format!("Local file `{path}` does not exist!"))?)
    }

    /// Parses a configuration and those that it includes, whose values it overrides. `own` is its path if it is included
    /// itself, and `variables` are those that the rules of an `include` can ask for.
    fn parse(&self, text: &str, own: Option<&str>, inputs: &Inputs, variables: &Variables) -> Result<Node> {
        let text = &ci_config::interpolate(text, inputs)?;
        self.bytes.update(|bytes| bytes.saturating_add(text.len()));
        if self.bytes.get() > MAX_BYTES {
            return invalid(yaml::TOO_BIG);
        }
        let node = yaml::parse(text)?;
        let Node::Map(mut map) = node else { return Ok(node) };
        let Some(at) = map.iter().position(|(key, _)| key == "include") else { return Ok(Node::Map(map)) };
        let (_, include) = map.remove(at);
        let includes = if let Node::List(list) = include { list } else { vec![include] };
        let mut out = Map::new();
        for include in includes {
            if let Some(rules) = include.get("rules").filter(|rules| **rules != Node::Null)
                && self.rules("include", rules, variables)?.is_none_or(|decision| decision.is_never())
            {
                continue;
            }
            let path = match &include {
                Node::Text(path) if !path.contains("://") => path.clone(),
                other => match other.get("local").and_then(Node::as_text) {
                    Some(path) => path.to_owned(),
                    None => {
                        let kinds = ["component", "project", "remote", "template"];
                        let kind = kinds.into_iter().find(|kind| other.get(kind).is_some()).unwrap_or("remote");
                        return invalid(format!("This server can include only local files, not include:{kind}"));
                    }
                },
            };
            for path in self.located(&path, own)? {
                let text = self.local(&path)?;
                let inputs = ci_config::given_inputs(include.get("inputs"), &text);
                match self.parse(&text, Some(path.trim_start_matches('/')), &inputs, variables)? {
                    Node::Map(included) => out = merge(out, included),
                    Node::Null => {}
                    _ => return invalid(format!("Included file `{path}` does not have valid YAML syntax!")),
                }
            }
        }
        Ok(Node::Map(merge(out, map)))
    }

    /// Returns the decision of the first rule that matches.
    fn rules(&self, what: &str, rules: &Node, variables: &Variables) -> Result<Option<Decision>> {
        let mut all = Vec::new();
        flatten(rules, &mut all);
        for rule in all {
            if rule.as_map().is_none() {
                return invalid(format!("{what}:rules:rule config should be a hash"));
            }
            let is_true = match rule.get("if").map(|condition| condition.to_text().unwrap_or_default()) {
                Some(condition) => evaluate(&condition, variables)
                    .ok_or_else(|| format!("{what}:rules:rule if invalid expression syntax"))?,
                None => true,
            };
            if !is_true || !self.files_match(rule, variables) {
                continue;
            }
            let allow_failure = match rule.get("allow_failure") {
                Some(Node::Bool(allowed)) => Some(*allowed),
                _ => None,
            };
            let text = |key: &str| rule.get(key).and_then(Node::to_text);
            return Ok(Some(Decision {
                when: text("when"),
                start_in: text("start_in"),
                allow_failure,
                variables: variables_of(rule.get("variables"))?,
                by_rule: true,
            }));
        }
        Ok(None)
    }

    /// Returns whether the files of the commit are those that a rule asks for.
    fn files_match(&self, rule: &Node, variables: &Variables) -> bool {
        let patterns = |key: &str| rule.get(key).and_then(|node| node.get("paths").unwrap_or(node).texts());
        patterns("changes").is_none_or(|patterns| self.matcher.is_changed(&patterns, variables))
            && patterns("exists").is_none_or(|patterns| self.matcher.exists(&patterns, variables))
    }

    /// Adds the values of the jobs that jobs extend.
    fn extend(&self, root: Map) -> Result<Map> {
        let mut out = Map::new();
        for (name, node) in &root {
            let node = match node {
                Node::Map(job) if node.get("extends").is_some() => {
                    Node::Map(self.extended(name, job, &root, &mut Vec::new())?)
                }
                other => other.clone(),
            };
            out.push((name.clone(), node));
        }
        Ok(out)
    }

    fn extended(&self, name: &str, job: &Map, root: &Map, above: &mut Vec<String>) -> Result<Map> {
        self.count(job.len())?;
        let Some((_, bases)) = job.iter().find(|(key, _)| key == "extends") else { return Ok(job.clone()) };
        let bases = bases
            .texts()
            .ok_or_else(|| format!("jobs:{name}:extends config should be an array of strings or a string"))?;
        if above.iter().any(|known| known == name) {
            return invalid(format!("{name}: circular dependency detected in `extends`"));
        }
        if above.len() >= MAX_DEPTH {
            return invalid(format!("{name}: nesting too deep in `extends`"));
        }
        above.push(name.to_owned());
        let mut out = Map::new();
        for base in bases {
            let found = root.iter().find(|(known, _)| *known == base).and_then(|(_, node)| node.as_map());
            let Some(found) = found else { return invalid(format!("{name}: unknown keys in `extends` ({base})")) };
            out = merge(out, self.extended(&base, found, root, above)?);
            self.count(out.len())?;
        }
        above.pop();
        Ok(merge(out, job.clone()))
    }

    /// Replaces references by the values that they name.
    fn resolve(&self, node: &Node, root: &Map, depth: usize) -> Result<Node> {
        self.count(1)?;
        match node {
            Node::List(list) => {
                let items = list.iter().map(|item| self.resolve(item, root, depth)).collect::<Result<_>>()?;
                Ok(Node::List(items))
            }
            Node::Map(map) => {
                let entry = |(key, value): &(String, Node)| Ok((key.clone(), self.resolve(value, root, depth)?));
                Ok(Node::Map(map.iter().map(entry).collect::<Result<_>>()?))
            }
            Node::Reference(path) => {
                let text = format!("{:?}", path).replace('"', "");
                if depth >= MAX_DEPTH {
                    return invalid(format!("!reference {text} is nested too deeply"));
                }
                let first = path.first().and_then(|key| root.iter().find(|(known, _)| known == key));
                let found = path.iter().skip(1).try_fold(first.map(|(_, node)| node), |node, key| Some(node?.get(key)));
                match found.flatten() {
                    Some(found) => self.resolve(found, root, depth + 1),
                    None => invalid(format!("!reference {text} could not be found")),
                }
            }
            other => Ok(other.clone()),
        }
    }

    fn count(&self, values: usize) -> Result<()> {
        self.values.update(|known| known.saturating_add(values));
        if self.values.get() > MAX_VALUES { invalid(yaml::TOO_BIG) } else { Ok(()) }
    }
}

/// Merges two maps; where both have a value that is no map, that of `over` counts.
fn merge(base: Map, over: Map) -> Map {
    let mut out = base;
    for (key, value) in over {
        match (out.iter_mut().find(|(known, _)| *known == key), value) {
            (Some((_, Node::Map(known))), Node::Map(value)) => *known = merge(std::mem::take(known), value),
            (Some((_, known)), value) => *known = value,
            (None, value) => out.push((key, value)),
        }
    }
    out
}

/// A configuration that is turned into jobs.
struct Pipeline<'p> {
    root: &'p Map,
    context: &'p Context,
    stages: Vec<String>,
    /// The variables of all jobs.
    variables: Variables,
    reader: &'p Reader<'p>,
}

/// The decision of rules about a job.
#[derive(Clone, Debug, Default)]
struct Decision {
    when: Option<String>,
    /// The pause before a job that is delayed.
    start_in: Option<String>,
    allow_failure: Option<bool>,
    variables: Variables,
    by_rule: bool,
}

impl Decision {
    fn is_never(&self) -> bool {
        self.when.as_deref() == Some("never")
    }
}

impl<'p> Pipeline<'p> {
    fn new(root: &'p Map, context: &'p Context, reader: &'p Reader<'p>) -> Result<Pipeline<'p>> {
        let get = |key: &str| root.iter().find(|(known, _)| known == key).map(|(_, node)| node);
        let stages = match get("stages").or(get("types")) {
            None | Some(Node::Null) => ["build", "test", "deploy"].map(str::to_owned).to_vec(),
            Some(node) => node.texts().ok_or_else(|| "stages config should be an array of strings".to_owned())?,
        };
        let mut all = vec![".pre".to_owned()];
        all.extend(stages.into_iter().filter(|stage| !matches!(stage.as_str(), ".pre" | ".post")));
        all.push(".post".to_owned());
        let mut variables = variables_of(get("variables"))?;
        variables.extend(context.variables.clone());
        let mut pipeline = Pipeline { root, context, stages: all, variables, reader };
        let rules = get("workflow").and_then(|workflow| workflow.get("rules")).filter(|_| !context.takes_all);
        if let Some(rules) = rules {
            let decided = reader.rules("workflow", rules, &pipeline.variables)?;
            match decided.filter(|decision| !decision.is_never()) {
                Some(decision) => pipeline.variables.extend(decision.variables),
                None => return Err(Problem::Filtered("Pipeline filtered out by workflow rules.")),
            }
        }
        Ok(pipeline)
    }

    fn get(&self, key: &str) -> Option<&'p Node> {
        self.root.iter().find(|(known, _)| known == key).map(|(_, node)| node)
    }

    /// Returns the value of a job, or else the default for all jobs.
    fn value(&self, job: &'p Node, key: &str) -> Option<&'p Node> {
        let inherits = job.get("inherit").and_then(|inherit| inherit.get("default")) != Some(&Node::Bool(false));
        let default = || self.get("default").and_then(|default| default.get(key)).or_else(|| self.get(key));
        let found = job.get(key).or_else(|| inherits.then(default).flatten());
        found.filter(|node| **node != Node::Null)
    }

    fn jobs(&self) -> Result<Vec<Definition>> {
        let is_job = |name: &str| !GLOBAL_KEYS.contains(&name) && !name.starts_with('.');
        let mut out: Vec<(usize, Definition)> = Vec::new();
        let mut visible = 0;
        for (name, node) in self.root.iter().filter(|(name, _)| is_job(name)) {
            visible += 1;
            if node.as_map().is_none() {
                return invalid(format!("jobs {name} config should be a hash"));
            }
            let rank = self.check(name, node)?;
            if let Some(decision) = self.decide(name, node)? {
                let definitions = self.define(name, node, &decision)?;
                out.extend(definitions.into_iter().map(|definition| (rank, definition)));
            }
            if out.len() > MAX_JOBS {
                return invalid(format!("Pipeline has too many jobs! Requested: {}, Limit: {MAX_JOBS}", out.len()));
            }
        }
        if visible == 0 {
            return invalid("jobs config should contain at least one visible job");
        }
        out.sort_by_key(|(rank, _)| *rank);
        let mut out: Vec<Definition> = out.into_iter().map(|(_, definition)| definition).collect();
        // Jobs of `.pre` and `.post` alone are no pipeline.
        if out.iter().all(|definition| matches!(definition.plan.stage.as_str(), ".pre" | ".post")) {
            return Err(Problem::Filtered(
                "Pipeline will not run for the selected trigger. The rules configuration prevented any jobs from being \
                 added to the pipeline.",
            ));
        }
        self.check_needs(&mut out)?;
        Ok(out)
    }

    /// Checks the keys of a job. Returns the position of its stage.
    fn check(&self, name: &str, job: &Node) -> Result<usize> {
        let unknown: Vec<&str> = job
            .as_map()
            .into_iter()
            .flatten()
            .map(|(key, _)| key.as_str())
            .filter(|key| !JOB_KEYS.contains(key))
            .collect();
        if !unknown.is_empty() {
            return invalid(format!("jobs:{name} config contains unknown keys: {}", unknown.join(", ")));
        }
        if ["script", "run", "trigger"].iter().all(|key| job.get(key).is_none_or(|node| *node == Node::Null)) {
            return invalid(format!("jobs:{name} config should implement the script:, run:, or trigger: keyword"));
        }
        let stage = self.stage(job);
        let rank = self.stages.iter().position(|known| *known == stage);
        let all = self.stages.join(", ");
        let rank =
            rank.ok_or_else(|| format!("{name} job: chosen stage {stage} does not exist; available stages are {all}"))?;
        // Whether the job is part of the pipeline does not matter.
        let needs = job.get("needs").map(|needs| self.needs(name, needs, &[])).transpose()?;
        for need in needs.iter().flatten() {
            let need = need.trim_start_matches('?');
            let other = self.get(ci_config::defined_name(need)).map(|other| self.stage(other));
            if other.is_some_and(|stage| self.stages.iter().position(|known| *known == stage) > Some(rank)) {
                return invalid(format!("{name} job: need {need} is not defined in current or prior stages"));
            }
        }
        Ok(rank)
    }

    fn stage(&self, job: &Node) -> String {
        job.get("stage").or(job.get("type")).and_then(Node::to_text).unwrap_or_else(|| "test".into())
    }

    /// Returns how a job is added to the pipeline; `None` if it is not.
    fn decide(&self, name: &str, job: &Node) -> Result<Option<Decision>> {
        let mut variables = self.variables.clone();
        variables.extend(variables_of(job.get("variables"))?);
        self.add_scoped(job, &mut variables);
        if let Some(rules) = job.get("rules").filter(|rules| **rules != Node::Null) {
            let decided = self.reader.rules(&format!("jobs:{name}"), rules, &variables)?;
            if self.context.takes_all {
                return Ok(Some(Decision { by_rule: true, ..Decision::default() }));
            }
            return Ok(decided.filter(|decision| !decision.is_never()));
        }
        let only = match job.get("only").filter(|only| **only != Node::Null) {
            Some(only) => self.policy_matches(name, "only", only, &variables)?,
            None => self.context.source != MERGE_REQUEST,
        };
        let except = match job.get("except").filter(|except| **except != Node::Null) {
            Some(except) => self.policy_matches(name, "except", except, &variables)?,
            None => false,
        };
        let is_never = job.get("when").and_then(Node::as_text) == Some("never");
        Ok((self.context.takes_all || only && !except && !is_never).then(Decision::default))
    }

    /// Adds the variables of the environment of a job.
    fn add_scoped(&self, job: &Node, variables: &mut Variables) {
        let Some(environment) = environment_of(job).map(|name| expand(&name, variables)) else { return };
        let fits = |variable: &&ScopedVariable| scope_fits(&variable.scope, &environment);
        let mut fitting: Vec<&ScopedVariable> = self.context.scoped.iter().filter(fits).collect();
        fitting.sort_by_key(|variable| (variable.level, scope_rank(&variable.scope, &environment)));
        variables.extend(fitting.into_iter().map(|variable| (variable.key.clone(), variable.value.clone())));
    }

    /// Returns whether an `only` or `except` matches the pipeline.
    fn policy_matches(&self, name: &str, key: &str, policy: &Node, variables: &Variables) -> Result<bool> {
        let wrong = || format!("jobs:{name}:{key} config should be an array of strings or regular expressions");
        let (refs, conditions) = match policy {
            Node::Map(_) => (policy.get("refs"), policy.get("variables")),
            other => (Some(other), None),
        };
        let by_ref = match refs {
            Some(refs) => refs.texts().ok_or_else(wrong)?.iter().any(|text| self.ref_matches(text)),
            None => key == "except" && conditions.is_none() || key == "only" && self.context.source != MERGE_REQUEST,
        };
        let by_condition = match conditions {
            Some(conditions) => {
                let mut any = false;
                for condition in conditions.texts().ok_or_else(wrong)? {
                    any |= evaluate(&condition, variables)
                        .ok_or_else(|| format!("jobs:{name}:{key} variables invalid expression syntax"))?;
                }
                Some(any)
            }
            None => None,
        };
        Ok(match (key, by_condition) {
            ("only", by_condition) => by_ref && by_condition.unwrap_or(true),
            (_, by_condition) => by_ref || by_condition.unwrap_or(false),
        })
    }

    fn ref_matches(&self, text: &str) -> bool {
        let Context { ref_name, is_tag, source, .. } = self.context;
        let is_request = source == MERGE_REQUEST;
        match text.split('@').next().unwrap_or(text) {
            "branches" => !is_tag && !is_request,
            "tags" => *is_tag,
            "merge_requests" => is_request,
            "pushes" => source == "push",
            "schedules" => source == "schedule",
            "triggers" => source == "trigger",
            word @ ("api" | "web" | "chat" | "external" | "pipelines") => source == word.trim_end_matches('s'),
            _ if is_request => false,
            _ if text.starts_with('/') => pattern(text).is_some_and(|pattern| pattern.is_match(ref_name)),
            name => name == ref_name,
        }
    }

    /// Returns the definitions of a job, several if it is parallel.
    fn define(&self, name: &str, job: &'p Node, decision: &Decision) -> Result<Vec<Definition>> {
        let mut variables = self.variables.clone();
        variables.extend(variables_of(job.get("variables"))?);
        variables.extend(decision.variables.clone());
        let commands = |key: &str| match self.value(job, key) {
            None => Ok(Vec::new()),
            Some(node) => node.texts().ok_or_else(|| {
                format!("jobs:{name}:{key} config should be a string or a nested array of strings up to 10 levels deep")
            }),
        };
        let when = decision.when.clone().or_else(|| job.get("when").and_then(Node::to_text));
        let when = when.as_deref().unwrap_or("on_success");
        if !matches!(when, "on_success" | "on_failure" | "always" | "manual" | "delayed") {
            return invalid(format!(
                "jobs:{name} when should be one of: on_success, on_failure, always, manual, delayed, never"
            ));
        }
        let manual = when == "manual";
        let of_job = match job.get("allow_failure") {
            Some(Node::Bool(allowed)) => Some(*allowed),
            Some(Node::Map(_)) => Some(true),
            _ => None,
        };
        // A manual job of a rule holds the pipeline up, and any other does not, unless they say so.
        let allow_failure = decision.allow_failure.or(of_job).unwrap_or(manual && !decision.by_rule);
        let start_in = decision.start_in.clone().or_else(|| job.get("start_in").and_then(Node::to_text));
        let delay = start_in.filter(|_| when == "delayed").and_then(|text| seconds_of(&text));
        if when == "delayed" && delay.is_none() {
            return invalid(format!("jobs:{name} start in should be a duration"));
        }
        let texts = |node: Option<&Node>| node.and_then(Node::texts).unwrap_or_default();
        let environment = environment_of(job);
        let plan = Planned {
            name: name.to_owned(),
            stage: self.stage(job),
            manual,
            is_blocking: manual && !allow_failure,
            when: JobWhen::from_name(when).unwrap_or_default(),
            delay,
            allow_failure,
            environment: environment.map(|name| expand(&name, &variables)),
            tag_list: texts(self.value(job, "tags")).iter().map(|tag| expand(tag, &variables)).collect(),
            ..Planned::default()
        };
        let artifacts = texts(self.value(job, "artifacts").and_then(|artifacts| artifacts.get("paths")));
        let definition = Definition {
            plan,
            before_script: commands("before_script")?,
            script: commands("script")?,
            after_script: commands("after_script")?,
            policies: [policy(job, "only"), policy(job, "except")],
            artifacts,
            child: self.child(name, job, &variables)?,
        };
        let one = |(full_name, matrix): (String, Row)| {
            let needs = job.get("needs").map(|needs| self.needs(name, needs, &matrix)).transpose()?;
            Ok(Definition { plan: Planned { name: full_name, needs, ..definition.plan.clone() }, ..definition.clone() })
        };
        self.names(name, job)?.into_iter().map(one).collect()
    }

    /// Returns the names of the jobs that a parallel job becomes, with their values of its matrix.
    fn names(&self, name: &str, job: &Node) -> Result<Vec<(String, Row)>> {
        let too_many = || Problem::Invalid(format!("jobs:{name}:parallel config must be between 1 and {MAX_PARALLEL}"));
        match job.get("parallel") {
            None | Some(Node::Null) => Ok(vec![(name.to_owned(), Row::new())]),
            Some(Node::Text(count)) => {
                let count: usize = count.parse().map_err(|_| too_many())?;
                if !(1..=MAX_PARALLEL).contains(&count) {
                    return Err(too_many());
                }
                Ok((1..=count).map(|number| (format!("{name} {number}/{count}"), Row::new())).collect())
            }
            Some(node) => {
                let rows = combinations(node).ok_or_else(too_many)?;
                Ok(rows.into_iter().map(|row| (name_in_matrix(name, &row), row)).collect())
            }
        }
    }

    /// Returns the names of the jobs that a job needs, which has the values `matrix`. A name with a question mark in front is
    /// optional.
    fn needs(&self, name: &str, needs: &Node, matrix: &[(String, String)]) -> Result<Vec<String>> {
        let wrong = || Problem::Invalid(format!("jobs:{name}:needs config should be an array of jobs"));
        let list = match needs {
            Node::List(list) => list.clone(),
            Node::Null => Vec::new(),
            other => vec![other.clone()],
        };
        let mut out = Vec::new();
        for need in list {
            match &need {
                Node::Map(_) if need.get("job").is_none() && need.get("pipeline").is_some() => {}
                Node::Map(_) => {
                    let job = need.get("job").and_then(Node::to_text).ok_or_else(wrong)?;
                    let is_optional = need.get("optional") == Some(&Node::Bool(true));
                    // Jobs of other projects have ended before.
                    if need.get("project").is_some() || need.get("pipeline").is_some() {
                        continue;
                    }
                    let jobs = match need.get("parallel").filter(|parallel| **parallel != Node::Null) {
                        Some(parallel) => {
                            let rows = combinations(&with_matrix(parallel, matrix)).ok_or_else(wrong)?;
                            rows.iter().map(|row| name_in_matrix(&job, row)).collect()
                        }
                        None => vec![job],
                    };
                    self.reader.count(jobs.len())?;
                    out.extend(jobs.into_iter().map(|job| if is_optional { format!("?{job}") } else { job }));
                }
                other => out.push(other.to_text().ok_or_else(wrong)?),
            }
        }
        Ok(out)
    }

    /// Checks that all needed jobs exist and none needs itself, and names parallel ones in full.
    fn check_needs(&self, jobs: &mut [Definition]) -> Result<()> {
        let names: Vec<String> = jobs.iter().map(|job| job.plan.name.clone()).collect();
        let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for job in &mut *jobs {
            let Some(needs) = &mut job.plan.needs else { continue };
            let mut found = Vec::new();
            for need in needs.iter() {
                let (need, is_optional) = need.strip_prefix('?').map_or((need.as_str(), false), |need| (need, true));
                let of_parallel = |name: &&String| {
                    name.strip_prefix(need)
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with(": [") || is_share(rest))
                };
                let before = found.len();
                found.extend(names.iter().filter(of_parallel).cloned());
                if found.len() == before && !is_optional {
                    let own = &job.plan.name;
                    return invalid(if self.get(need).is_some() {
                        format!(
                            "'{own}' job needs '{need}' job, but '{need}' does not exist in the pipeline. This might be \
                             because of the only, except, or rules keywords. To need a job that sometimes does not exist \
                             in the pipeline, use needs:optional."
                        )
                    } else {
                        format!("{own} job: undefined need: {need}")
                    });
                }
            }
            edges.insert(job.plan.name.clone(), found.iter().cloned().collect());
            *needs = found;
        }
        // Jobs whose needs are all among those that can run can run, too; the others need each other.
        loop {
            let before = edges.len();
            let waiting: BTreeSet<String> = edges.keys().cloned().collect();
            edges.retain(|_, needs| needs.iter().any(|need| waiting.contains(need)));
            if edges.is_empty() {
                return Ok(());
            }
            if edges.len() == before {
                return invalid("The pipeline has circular dependencies: topological sort failed");
            }
        }
    }

    /// Returns the jobs of the child pipeline that a trigger job starts.
    fn child(&self, name: &str, job: &Node, variables: &Variables) -> Result<Vec<Definition>> {
        let Some(trigger) = job.get("trigger").filter(|trigger| **trigger != Node::Null) else { return Ok(Vec::new()) };
        let include = trigger.get("include");
        let first = if let Some(Node::List(list)) = include { list.first() } else { include };
        let path = first.and_then(|node| node.as_text().or_else(|| node.get("local")?.as_text()));
        let Some(path) = path.filter(|_| self.context.source != CHILD) else {
            return invalid(format!("jobs:{name}:trigger this server can start only child pipelines: include: local"));
        };
        let text = self.reader.local(path)?;
        let inputs = ci_config::given_inputs(first.and_then(|node| node.get("inputs")), &text);
        let mut context =
            Context { source: CHILD.into(), variables: variables.clone(), inputs, ..self.context.clone() };
        context.variables.insert("CI_PIPELINE_SOURCE".into(), CHILD.into());
        self.reader.read(&text, &context)
    }
}

/// The source of pipelines of merge requests.
pub const MERGE_REQUEST: &str = "merge_request_event";
/// The source of child pipelines.
const CHILD: &str = crate::records::PARENT_PIPELINE;

/// The values of one of the jobs that a matrix makes, by their names.
type Row = Vec<(String, String)>;

/// Returns the values of the jobs that the matrix in `parallel` makes; `None` if it is wrong or makes too many.
fn combinations(parallel: &Node) -> Option<Vec<Row>> {
    let Some(Node::List(rows)) = parallel.get("matrix") else { return None };
    let mut all = Vec::new();
    for row in rows {
        let mut some = vec![Row::new()];
        for (key, values) in row.as_map()? {
            let values = values.texts()?;
            if some.len().saturating_mul(values.len()) > MAX_PARALLEL {
                return None;
            }
            let with = |known: &Row| -> Vec<Row> {
                let add = |value: &String| [known.clone(), vec![(key.clone(), value.clone())]].concat();
                values.iter().map(add).collect()
            };
            some = some.iter().flat_map(with).collect();
        }
        all.extend(some);
    }
    (!all.is_empty() && all.len() <= MAX_PARALLEL).then_some(all)
}

/// Returns the name of one of the jobs that a matrix makes: `test: [linux, debug]`.
fn name_in_matrix(name: &str, row: &[(String, String)]) -> String {
    let values: Vec<&str> = row.iter().map(|(_, value)| value.as_str()).collect();
    format!("{name}: [{}]", values.join(", "))
}

/// Inserts values of a matrix for `$[[ matrix.NAME ]]` (GitLab 18.6). Names that it does not have are left as they are.
fn with_matrix(node: &Node, matrix: &[(String, String)]) -> Node {
    match node {
        Node::Text(text) => {
            let inside = text.strip_prefix("$[[").and_then(|text| text.strip_suffix("]]"));
            let name = inside.and_then(|inside| inside.trim().strip_prefix("matrix."));
            let value = name.and_then(|name| matrix.iter().find(|(known, _)| known == name));
            Node::Text(value.map_or_else(|| text.clone(), |(_, value)| value.clone()))
        }
        Node::List(items) => Node::List(items.iter().map(|item| with_matrix(item, matrix)).collect()),
        Node::Map(map) => Node::Map(map.iter().map(|(key, value)| (key.clone(), with_matrix(value, matrix))).collect()),
        other => other.clone(),
    }
}

/// Returns the seconds of a pause as it is written: `30 minutes`, `1 day 2 hours`, `5`.
fn seconds_of(text: &str) -> Option<u64> {
    let words: Vec<&str> = text.split_whitespace().filter(|word| *word != "and").collect();
    let mut sum = 0_u64;
    for pair in words.chunks(2) {
        let count: u64 = pair.first()?.parse().ok()?;
        let unit = match pair.get(1).unwrap_or(&"seconds").trim_end_matches(['s', ',']) {
            "second" | "sec" => 1,
            "minute" | "min" => 60,
            "hour" | "hr" => 3_600,
            "day" => 86_400,
            "week" => 604_800,
            _ => return None,
        };
        sum = sum.checked_add(count.checked_mul(unit)?)?;
    }
    // The longest pause is a week.
    (sum > 0 && sum <= 604_800).then_some(sum)
}

/// Returns whether a text is the end of the name of a parallel job, such as ` 1/3`.
fn is_share(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let share = text.strip_prefix(' ').and_then(|share| share.split_once('/'));
    share.is_some_and(|(number, count)| digits(number) && digits(count))
}

/// Returns the name of the environment of a job, as it is written.
fn environment_of(job: &Node) -> Option<String> {
    job.get("environment").and_then(|node| node.to_text().or_else(|| node.get("name")?.to_text()))
}

/// Returns a policy of a job. A job without policies and rules has that of all branches and tags.
fn policy(job: &Node, key: &str) -> Option<Policy> {
    let texts = |node: &Node, key: &str| node.get(key).and_then(Node::texts);
    match job.get(key).filter(|node| **node != Node::Null) {
        Some(node @ Node::Map(_)) => Some(Policy {
            refs: texts(node, "refs"),
            variables: texts(node, "variables"),
            changes: texts(node, "changes"),
        }),
        Some(node) => Some(Policy { refs: node.texts(), ..Policy::default() }),
        None if key == "only" && job.get("rules").is_none() => {
            Some(Policy { refs: Some(["branches", "tags"].map(str::to_owned).into()), ..Policy::default() })
        }
        None => None,
    }
}

/// Collects the rules of a list, whose lists may be nested.
fn flatten<'n>(node: &'n Node, out: &mut Vec<&'n Node>) {
    match node {
        Node::List(list) => list.iter().for_each(|item| flatten(item, out)),
        other => out.push(other),
    }
}

/// Returns variables by name; their values are texts, or maps with a `value`.
fn variables_of(node: Option<&Node>) -> Result<Variables> {
    let wrong = || Problem::Invalid("variables config should be a hash of key value pairs".into());
    let Some(node) = node.filter(|node| **node != Node::Null) else { return Ok(Variables::new()) };
    let entry = |(name, value): &(String, Node)| {
        let text = match value {
            Node::Map(_) => value.get("value").map_or(Some(String::new()), Node::to_text),
            Node::Null => Some(String::new()),
            other => other.to_text(),
        };
        Ok((name.clone(), text.ok_or_else(wrong)?))
    };
    node.as_map().ok_or_else(wrong)?.iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(ref_name: &str, source: &str) -> Context {
        let is_tag = ref_name.starts_with('v');
        let name = if source == MERGE_REQUEST {
            ""
        } else if is_tag {
            "CI_COMMIT_TAG"
        } else {
            "CI_COMMIT_BRANCH"
        };
        let mut variables: Variables = [(name.to_owned(), ref_name.to_owned())].into();
        variables.insert("CI_PIPELINE_SOURCE".into(), source.into());
        Context { ref_name: ref_name.into(), is_tag, source: source.into(), variables, ..Context::default() }
    }

    impl<F: Fn(&str) -> Option<String>> Files for F {
        fn read(&self, path: &str) -> Option<String> {
            self(path)
        }

        fn paths(&self) -> Vec<String> {
            ["Dockerfile", "parts/a.yml", "parts/b.yml", "parts/deep/c.yaml", "src/main.rs"].map(str::to_owned).into()
        }

        fn changed(&self) -> Option<Vec<String>> {
            Some(vec!["src/main.rs".to_owned()])
        }
    }

    fn commands(definition: &Definition) -> Vec<&str> {
        definition.commands().map(String::as_str).collect()
    }

    fn read_all(text: &str, context: &Context) -> Result<Vec<Definition>> {
        read(text, context, &|path: &str| match path {
            "ci/more.yml" => {
                Some("stages: [build, test]\nincluded:\n  script: make\nown:\n  script: never\n  tags: [a]".into())
            }
            "ci/circle.yml" => Some("include: ci/circle.yml".into()),
            "parts/a.yml" => Some("include: parts/a*.yml\na: { script: x }".into()),
            "parts/b.yml" => Some("b: { script: x }".into()),
            "parts/deep/c.yaml" => Some("c: { script: x }".into()),
            "ci/child.yml" => Some(
                "inner:\n  script: echo inner\n  rules:\n    - if: $CI_PIPELINE_SOURCE == 'parent_pipeline'".into(),
            ),
            _ => None,
        })
    }

    fn names(text: &str, context: &Context) -> Vec<String> {
        match read_all(text, context) {
            Ok(jobs) => jobs.into_iter().map(|job| job.plan.name).collect(),
            Err(Problem::Filtered(_)) => Vec::new(),
            Err(Problem::Invalid(why)) => panic!("{why}"),
        }
    }

    #[test]
    fn jobs_are_ordered_by_stage_and_inherit_values() {
        let text = "
stages: [build, check]
default:
  before_script: [setup]
  tags: [linux]
variables: { WHERE: here }
.base:
  script:
    - echo base
    - [nested, [deeper]]
  artifacts: { paths: [out/, report.xml] }
lint:
  stage: check
  extends: .base
  script: !reference [.base, script]
  needs: []
compile:
  stage: build
  script: make
  environment: { name: review/$WHERE }
first:
  stage: .pre
  inherit: { default: false }
  script: echo first
";
        let jobs = read_all(text, &on("main", "push")).unwrap();
        let of = |at: usize| (&*jobs[at].plan.name, &*jobs[at].plan.stage);
        assert_eq!([of(0), of(1), of(2)], [("first", ".pre"), ("compile", "build"), ("lint", "check")]);
        assert_eq!(commands(&jobs[0]), ["echo first"]);
        assert_eq!(
            (&*jobs[1].plan.tag_list, jobs[1].plan.environment.as_deref()),
            (&["linux".to_owned()][..], Some("review/here"))
        );
        assert_eq!(commands(&jobs[2]), ["setup", "echo base", "nested", "deeper"]);
        assert_eq!(
            (&*jobs[2].artifacts, jobs[2].plan.needs.as_deref()),
            (&["out/".to_owned(), "report.xml".into()][..], Some(&[][..]))
        );
    }

    #[test]
    fn rules_and_policies_choose_the_jobs() {
        let text = "
always: { script: a }
branch: { script: a, rules: [{ if: $CI_COMMIT_BRANCH == 'main' }] }
request: { script: a, rules: [{ if: $CI_PIPELINE_SOURCE == 'merge_request_event' }, { when: never }] }
old: { script: a, only: [tags] }
requests: { script: a, only: { refs: [merge_requests] } }
pattern: { script: a, only: [/^feature/], except: [feature/no] }
condition: { script: a, only: { variables: [$CI_COMMIT_BRANCH =~ /^f/] } }
manual: { script: a, rules: [{ if: $CI_COMMIT_TAG, when: manual }] }
";
        for (context, expected) in [
            (on("main", "push"), "always branch"),
            (on("v1", "push"), "always old manual"),
            (on("feature/a", "push"), "always pattern condition"),
            (on("feature/no", "push"), "always condition"),
            (on("main", MERGE_REQUEST), "request requests"),
        ] {
            assert_eq!(names(text, &context).join(" "), expected, "{context:?}");
        }
        let jobs = read_all(text, &on("v1", "push")).unwrap();
        assert!(jobs[2].plan.manual && jobs[2].plan.is_blocking && !jobs[2].plan.allow_failure);
        let jobs = read_all("a: { script: b, when: manual }\nc: { script: d, when: on_failure }", &on("main", "push"))
            .unwrap();
        assert!(jobs[0].plan.manual && !jobs[0].plan.is_blocking && jobs[0].plan.allow_failure);
        assert_eq!(jobs[1].plan.when, JobWhen::OnFailure);
        let workflow = "workflow: { rules: [{ if: $CI_COMMIT_TAG, when: never }, { when: always }] }\na: { script: b }";
        assert_eq!(names(workflow, &on("main", "push")), ["a"]);
        assert!(names(workflow, &on("v1", "push")).is_empty());
    }

    #[test]
    fn files_are_included_and_jobs_are_multiplied() {
        let text = "
include: [{ local: /ci/more.yml }]
own: { script: mine, parallel: 2 }
matrix:
  script: a
  parallel: { matrix: [{ A: [x, y], B: z }] }
last: { script: b, needs: [own, { job: gone, optional: true }] }
child: { trigger: { include: ci/child.yml } }
";
        let jobs = read_all(text, &on("main", "push")).unwrap();
        let names: Vec<&str> = jobs.iter().map(|job| &*job.plan.name).collect();
        assert_eq!(names, ["included", "own 1/2", "own 2/2", "matrix: [x, z]", "matrix: [y, z]", "last", "child"]);
        assert_eq!((commands(&jobs[1]), &*jobs[1].plan.tag_list), (vec!["mine"], &["a".to_owned()][..]));
        assert_eq!(jobs[5].plan.needs.as_deref().unwrap(), ["own 1/2", "own 2/2"]);
        assert_eq!(jobs[6].child[0].plan.name, "inner");
    }

    /// GitLab 19: `External::Mapper::LocationExpander` and `Repository#search_files_by_wildcard_path`.
    #[test]
    fn files_are_included_by_wildcards_and_by_rules() {
        let on_main = on("main", "push");
        // A file that fits its own pattern is not included by itself.
        for (path, expected) in
            [("/parts/*.yml", "b a own"), ("parts/**/*.{yml,yaml}", "b a c own"), ("none/*.yml", "own")]
        {
            let mut found = names(&format!("include: {{ local: '{path}' }}\nown: {{ script: x }}"), &on_main);
            let mut expected: Vec<&str> = expected.split(' ').collect();
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected, "{path}");
        }
        // `lib/gitlab/ci/config/external/rules.rb`
        for (rules, is_included) in [
            ("[{ if: $CI_COMMIT_BRANCH == 'main' }]", true),
            ("[{ if: $CI_COMMIT_TAG }]", false),
            ("[{ if: $CI_COMMIT_BRANCH, when: never }, { when: always }]", false),
            ("[{ exists: [Dockerfile] }]", true),
            ("[{ exists: [Makefile] }]", false),
            ("[{ changes: [src/*] }]", true),
        ] {
            let text = format!("include: [{{ local: ci/more.yml, rules: {rules} }}]\nown: {{ script: x }}");
            assert_eq!(names(&text, &on_main).contains(&"included".to_owned()), is_included, "{rules}");
        }
    }

    /// GitLab 18.6: `needs:parallel:matrix` with `$[[ matrix.NAME ]]`.
    #[test]
    fn a_job_of_a_matrix_needs_the_job_with_the_same_values() {
        let text = "
build: { stage: build, script: a, parallel: { matrix: [{ OS: [linux, mac], ARCH: [arm, x86] }] } }
test:
  script: b
  parallel: { matrix: [{ OS: [linux, mac], ARCH: arm }] }
  needs: [{ job: build, parallel: { matrix: [{ OS: ['$[[ matrix.OS ]]'], ARCH: '$[[ matrix.ARCH ]]' }] } }]
some:
  script: $[[ matrix.OS ]]
  needs: [{ job: build, parallel: { matrix: [{ OS: linux, ARCH: [arm, x86] }] } }]
";
        let jobs = read_all(text, &on("main", "push")).unwrap();
        let needs = |name: &str| {
            jobs.iter().find(|job| job.plan.name == name).and_then(|job| job.plan.needs.clone()).unwrap().join("; ")
        };
        assert_eq!(needs("test: [linux, arm]"), "build: [linux, arm]");
        assert_eq!(needs("test: [mac, arm]"), "build: [mac, arm]");
        assert_eq!(needs("some"), "build: [linux, arm]; build: [linux, x86]");
        let wrong = text.replace("$[[ matrix.ARCH ]]", "$[[ matrix.NONE ]]");
        let Err(Problem::Invalid(why)) = read_all(&wrong, &on("main", "push")) else { panic!() };
        assert!(why.contains("build: [linux, $[[ matrix.NONE ]]]"), "{why}");
    }

    #[test]
    fn a_delayed_job_waits_for_as_long_as_it_says() {
        let delay = |job: &str| match read_all(&format!("a: {job}"), &on("main", "push")) {
            Ok(jobs) => Ok(jobs[0].plan.delay),
            Err(problem) => Err(problem.text().to_owned()),
        };
        for (start_in, seconds) in [
            ("'5'", 5),
            ("30 minutes", 1_800),
            ("1 day", 86_400),
            ("1 hour 30 mins", 5_400),
            ("1 week", 604_800),
            ("2 hours and 5 seconds", 7_205),
        ] {
            assert_eq!(delay(&format!("{{ script: x, when: delayed, start_in: {start_in} }}")), Ok(Some(seconds)));
        }
        let by_rule = "{ script: x, rules: [{ if: $CI_COMMIT_BRANCH, when: delayed, start_in: 1 minute }] }";
        assert_eq!((delay(by_rule), delay("{ script: x }")), (Ok(Some(60)), Ok(None)));
        for wrong in ["{ script: x, when: delayed }", "{ script: x, when: delayed, start_in: soon }"] {
            assert_eq!(delay(wrong), Err("jobs:a start in should be a duration".into()));
        }
    }

    #[test]
    fn mistakes_are_told_as_gitlab_does() {
        for (text, why) in [
            ("", "Invalid configuration format"),
            ("- a", "Invalid configuration format"),
            ("stages: [a]", "jobs config should contain at least one visible job"),
            (".hidden: { script: a }", "jobs config should contain at least one visible job"),
            ("a: b", "jobs a config should be a hash"),
            ("a: { stage: test }", "jobs:a config should implement the script:, run:, or trigger: keyword"),
            ("a: { script: b, colour: red }", "jobs:a config contains unknown keys: colour"),
            (
                "a: { script: b, stage: c }",
                "a job: chosen stage c does not exist; available stages are .pre, build, test, deploy, .post",
            ),
            ("a: { script: b, extends: c }", "a: unknown keys in `extends` (c)"),
            ("a: { script: b, extends: a }", "a: circular dependency detected in `extends`"),
            ("a: { script: b, needs: [c] }", "a job: undefined need: c"),
            (
                "a: { script: b, needs: [c] }\nc: { stage: deploy, script: d, only: [tags] }",
                "a job: need c is not defined in current or prior stages",
            ),
            ("a: { script: b, needs: [c] }\nc: { script: d, only: [tags] }", "'a' job needs 'c' job, but"),
            ("a: { script: b, needs: [c] }\nc: { script: d, needs: [a] }", "The pipeline has circular dependencies"),
            ("a: { script: b, rules: [{ if: $A = 1 }] }", "jobs:a:rules:rule if invalid expression syntax"),
            ("a: { script: b, when: later }", "jobs:a when should be one of: on_success"),
            ("a: { script: { b: c } }", "jobs:a:script config should be a string or a nested array"),
            ("a: { script: b, parallel: 1000 }", "jobs:a:parallel config must be between 1 and 200"),
            ("include: gone.yml", "Local file `gone.yml` does not exist!"),
            ("include: { remote: 'https://x' }", "This server can include only local files, not include:remote"),
            ("include: [https://x/a.yml]", "This server can include only local files, not include:remote"),
            ("include: { project: a/b, file: c }", "This server can include only local files, not include:project"),
            ("include: ci/circle.yml", "Maximum of 50 nested includes are allowed!"),
            ("a: { script: !reference [b, c] }", "!reference [b, c] could not be found"),
            ("a: { script: !reference [a, script] }", "!reference [a, script] is nested too deeply"),
            ("a: { script: b, variables: [c] }", "variables config should be a hash of key value pairs"),
            ("a: { trigger: other/project }", "jobs:a:trigger this server can start only child pipelines"),
            ("a:\n\t- b", "(<unknown>): "),
        ] {
            match read_all(text, &on("main", "push")) {
                Err(Problem::Invalid(got)) => assert!(got.starts_with(why), "{text}: {got}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn rules_ask_for_files_and_for_variables_of_environments() {
        let names = |text: &str, context: &Context| -> Vec<String> {
            read_all(text, context).unwrap().into_iter().map(|job| job.plan.name).collect()
        };
        let text = "a: { script: x, rules: [{ changes: ['src/**/*.rs'] }] }\nb: { script: x, rules: [{ changes: { paths: \
                    ['docs/*'] } }] }\nc: { script: x, rules: [{ exists: [Dockerfile] }] }\nd: { script: x, rules: [{ \
                    exists: ['**/Makefile'] }] }\n";
        assert_eq!(names(text, &on("main", "push")), ["a", "c"]);
        let scoped = |scope: &str, value: &str, level: usize| ScopedVariable {
            scope: scope.into(),
            key: "MODE".into(),
            value: value.into(),
            level,
        };
        let scoped = vec![scoped("prod*", "deep", 1), scoped("production", "outer", 0), scoped("review/*", "quick", 2)];
        let context = Context { scoped, ..on("main", "push") };
        let text = "a: { script: x, environment: production, rules: [{ if: $MODE == 'deep' }] }\nb: { script: x, rules: [{ \
                    if: $MODE }] }\nc: { script: x, environment: { name: review/a }, rules: [{ if: $MODE == 'quick' }] }\n";
        assert_eq!(names(text, &context), ["a", "c"]);
    }

    #[test]
    fn included_files_get_inputs() {
        let included = |_: &str| {
            Some(
                "spec:\n  inputs:\n    stage:\n    count:\n      type: number\n      default: 1\n---\n$[[ inputs.stage \
                 ]]-job: { script: 'run $[[ inputs.count ]]' }\n"
                    .to_owned(),
            )
        };
        let text = "include: { local: ci/x.yml, inputs: { stage: deep, count: 3 } }";
        let jobs = read(text, &on("main", "push"), &included).unwrap();
        assert_eq!((jobs[0].plan.name.as_str(), commands(&jobs[0])), ("deep-job", vec!["run 3"]));
        let missing = read("include: ci/x.yml", &on("main", "push"), &included).unwrap_err();
        let why = "`stage` input: required value has not been provided";
        assert_eq!(missing, Problem::Invalid(why.into()));
    }

    #[test]
    fn multiplied_configurations_end() {
        let mut text = "a0: { script: x }\n".to_owned();
        for n in 0..9 {
            text += &format!("a{}: {{ extends: [{}] }}\n", n + 1, vec![format!("a{n}"); 200].join(", "));
        }
        let references = (1..9).map(|n| {
            format!("r{n}: {{ script: [{}] }}\n", vec![format!("!reference [r{}, script]", n - 1); 30].join(", "))
        });
        let references = "r0: { script: x }\n".to_owned() + &references.collect::<String>();
        for bomb in [text, references] {
            let read = read_all(&bomb, &on("main", "push"));
            assert_eq!(read.unwrap_err(), Problem::Invalid("The parsed YAML is too big".into()));
        }
    }
}
