//! Pipelines from the CI configuration of a commit: after pushes, for merge requests, and on request.

mod config;
mod expression;
mod files;
pub mod lint;

pub use config::MERGE_REQUEST;

use super::call::{Call, WriteCall};
use super::git::Git;
use super::records::{CiVariable, MergeRequest, Pipeline, Planned, Project, Scope, Script, State, Status, Variable};
use super::runner::{self, PipelinePlan};
use super::world::World;
use api::variables::ALL_ENVIRONMENTS;
use config::{Context, Definition, Problem, ScopedVariable};
use domain::ci_config::{self, Inputs};
use expression::Variables;
use files::{CommitFiles, Files};
use git2::{ObjectType, Oid};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Deref;

/// The file with the configuration, unless the project names another.
const FILE: &str = ".gitlab-ci.yml";
/// The text in a commit message, in brackets, that asks for no pipeline.
const SKIPS: [&str; 2] = ["ci skip", "skip ci"];

/// No values of inputs: their defaults count.
pub static NO_INPUTS: &Inputs = &Inputs::new();

/// A pipeline to be created.
#[derive(Clone, Debug)]
pub struct NewPipeline<'n> {
    /// The branch or tag.
    pub ref_name: &'n str,
    pub is_tag: bool,
    pub commit: Oid,
    /// The commit since which files count as changed; without one, all do.
    pub base: Option<Oid>,
    /// The event that starts it, such as `push` or `api`.
    pub source: &'n str,
    /// The variables that it is started with.
    pub variables: &'n [Variable],
    /// The values of the inputs of the configuration.
    pub inputs: &'n Inputs,
}

/// The push options for pipelines.
#[derive(Clone, Debug, Default)]
pub struct PushOptions<'p> {
    /// Whether the pipelines have no jobs.
    pub skips: bool,
    pub variables: Vec<Variable>,
    /// The values of the inputs of the configuration, as they were typed.
    pub inputs: BTreeMap<&'p str, &'p str>,
}

/// A pipeline whose jobs were read from the CI configuration, and which is not started yet. Reading takes long, so a push
/// prepares its pipelines before it changes anything.
pub struct Prepared {
    plan: PipelinePlan,
    /// Whether it is the pipeline of a merge request.
    of_request: bool,
    /// Whether the pusher or the message of the commit asks for no jobs.
    is_skipped: bool,
    definitions: Result<Vec<Definition>, Problem>,
    /// The variables that it is started with.
    variables: Vec<Variable>,
}

impl Problem {
    /// Returns the reason for users.
    pub fn text(&self) -> &str {
        match self {
            Problem::Invalid(why) => why,
            Problem::Filtered(why) => why,
        }
    }
}

/// Returns the path of the CI configuration of a project.
fn config_path(project: &Project) -> &str {
    let is_path = |path: &&str| !path.is_empty() && !path.contains('@') && !path.contains("://");
    project.ci_config_path.as_deref().filter(is_path).unwrap_or(FILE)
}

impl<W: Deref<Target = World>> Call<W> {
    /// Returns whether a commit has a CI configuration.
    pub fn is_configured(&self, project: &Project, git: &Git, commit: Oid) -> bool {
        CommitFiles { git, commit, base: None }.read(config_path(project)).is_some()
    }

    /// Returns the jobs that the CI configuration of a commit has for a pipeline; `None` if there is none.
    fn definitions(
        &self,
        project: &Project,
        git: &Git,
        new: &NewPipeline,
        mr: Option<&MergeRequest>,
    ) -> Option<Result<Vec<Definition>, Problem>> {
        let files = CommitFiles { git, commit: new.commit, base: new.base };
        let text = files.read(config_path(project))?;
        let (variables, scoped) = self.ci_variables(project, git, new, mr);
        let context = Context {
            ref_name: new.ref_name.to_owned(),
            is_tag: new.is_tag,
            source: new.source.to_owned(),
            variables,
            scoped,
            inputs: new.inputs.clone(),
            takes_all: false,
        };
        Some(config::read(&text, &context, &files))
    }

    /// Returns the variables that every pipeline has, and those of some environments.
    fn ci_variables(
        &self,
        project: &Project,
        git: &Git,
        new: &NewPipeline,
        mr: Option<&MergeRequest>,
    ) -> (Variables, Vec<ScopedVariable>) {
        let sha = new.commit.to_string();
        let message = git.find_commit(new.commit).map(|commit| commit.message).unwrap_or_default();
        let user = self.rights.user.and_then(|id| self.world.users.get(id));
        let mut variables = Variables::new();
        let mut set = |name: &str, value: &str| _ = variables.insert(name.to_owned(), value.to_owned());
        set("CI", "true");
        set("GITLAB_CI", "true");
        set("CI_PIPELINE_SOURCE", new.source);
        set("CI_COMMIT_SHA", &sha);
        set("CI_COMMIT_SHORT_SHA", sha.get(..8).unwrap_or(&sha));
        set("CI_COMMIT_REF_NAME", new.ref_name);
        set("CI_COMMIT_REF_SLUG", &slug(new.ref_name));
        set("CI_COMMIT_MESSAGE", &message);
        set("CI_COMMIT_TITLE", message.lines().next().unwrap_or_default());
        set("CI_DEFAULT_BRANCH", project.default_branch.as_deref().unwrap_or_default());
        set("CI_PROJECT_ID", &project.id.to_string());
        set("CI_PROJECT_NAME", &project.path);
        set("CI_PROJECT_PATH", &self.world.project_path(project));
        set("CI_PROJECT_NAMESPACE", &self.world.namespace_path(project.namespace));
        set("CI_PROJECT_URL", &self.project_url(project));
        set("CI_SERVER_URL", &self.base_url);
        let is_protected = match new.is_tag {
            true => project.is_tag_protected(new.ref_name),
            false => project.is_protected(new.ref_name),
        };
        if is_protected {
            set("CI_COMMIT_REF_PROTECTED", "true");
        }
        if let Some(user) = user {
            set("GITLAB_USER_LOGIN", &user.username);
            set("GITLAB_USER_NAME", &user.name);
            set("GITLAB_USER_EMAIL", &user.email);
        }
        match mr {
            Some(mr) => {
                set("CI_MERGE_REQUEST_IID", &mr.iid.to_string());
                set("CI_MERGE_REQUEST_TITLE", &mr.title);
                set("CI_MERGE_REQUEST_LABELS", &mr.labels.join(","));
                set("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", &mr.source_branch);
                set("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", &mr.target_branch);
                set("CI_MERGE_REQUEST_EVENT_TYPE", "detached");
            }
            None => set(if new.is_tag { "CI_COMMIT_TAG" } else { "CI_COMMIT_BRANCH" }, new.ref_name),
        }
        let is_of_branch = |mr: &&MergeRequest| {
            mr.state == State::Opened && mr.source_project == project.id && mr.source_branch == new.ref_name
        };
        let open = self.world.merge_requests.iter().filter(is_of_branch).filter_map(|mr| {
            Some(format!("{}!{}", self.world.project_path(self.world.projects.get(mr.target_project)?), mr.iid))
        });
        let open: Vec<String> = open.collect();
        if !open.is_empty() && !new.is_tag {
            set("CI_OPEN_MERGE_REQUESTS", &open.join(","));
        }
        // Those of inner groups override those of outer ones, and those of the project all of them. Those of an
        // environment are for its jobs alone.
        let mut scoped: Vec<ScopedVariable> = Vec::new();
        let groups = self.world.groups_above(project).into_iter().rev().map(|id| Some(Scope::Group(id)));
        let places = [None].into_iter().chain(groups).chain([Some(Scope::Project(project.id))]);
        for (level, place) in places.enumerate() {
            let is_given = |row: &&CiVariable| row.place == place && (!row.protected || is_protected);
            let (all, some): (Vec<&CiVariable>, Vec<&CiVariable>) = self
                .world
                .ci_variables
                .iter()
                .filter(is_given)
                .partition(|row| row.environment_scope == ALL_ENVIRONMENTS);
            for row in all {
                set(&row.key, &row.value);
                scoped.retain(|outer| outer.key != row.key);
            }
            scoped.extend(some.into_iter().map(|row| ScopedVariable {
                scope: row.environment_scope.clone(),
                key: row.key.clone(),
                value: row.value.clone(),
                level,
            }));
        }
        for variable in new.variables {
            set(&variable.key, &variable.value);
            scoped.retain(|outer| outer.key != variable.key);
        }
        (variables, scoped)
    }
}

/// Returns a name as a part of a host name.
fn slug(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let slug: String = name.chars().map(plain).take(63).collect();
    slug.trim_matches('-').to_owned()
}

impl<W: Deref<Target = World>> Call<W> {
    /// Prepares the pipelines that a push of a branch or a tag, given by its full name, causes: its own, and those of the
    /// merge requests from the branch, for which no variables and inputs count.
    pub fn prepare_push_pipelines(
        &self,
        project: u64,
        git: &Git,
        ref_name: &str,
        (before, after): (Option<Oid>, Option<Oid>),
        options: &PushOptions,
    ) -> Vec<Prepared> {
        let Some(project) = self.world.projects.get(project) else { return Vec::new() };
        let commit = after.and_then(|id| git.peel(id).ok()?);
        let (branch, tag) = (ref_name.strip_prefix("refs/heads/"), ref_name.strip_prefix("refs/tags/"));
        let Some((commit, name)) = commit.zip(branch.or(tag)) else { return Vec::new() };
        let (is_tag, source) = (tag.is_some(), "push");
        let base = before.filter(|_| !is_tag);
        let new = NewPipeline { ref_name: name, is_tag, commit, base, source, variables: &[], inputs: NO_INPUTS };
        let inputs = match options.inputs.is_empty() {
            true => Inputs::new(),
            false => CommitFiles { git, commit, base }
                .read(config_path(project))
                .map(|text| ci_config::typed_inputs(&text, &options.inputs))
                .unwrap_or_default(),
        };
        let with_options = NewPipeline { variables: &options.variables, inputs: &inputs, ..new.clone() };
        let own = self.prepare(project, git, &with_options, None, options.skips);
        let is_of_branch = |mr: &&MergeRequest| {
            mr.state == State::Opened && mr.source_project == project.id && Some(&*mr.source_branch) == branch
        };
        let of_requests = self.world.merge_requests.iter().filter(is_of_branch).filter_map(|mr| {
            let base = self.merge_request_base(mr, git, commit);
            let new = NewPipeline { source: MERGE_REQUEST, base, ..new.clone() };
            self.prepare(project, git, &new, Some(mr), options.skips)
        });
        own.into_iter().chain(of_requests).collect()
    }

    /// Returns the commit at which the branch of a merge request starts, if its target is in the same repository.
    fn merge_request_base(&self, mr: &MergeRequest, git: &Git, head: Oid) -> Option<Oid> {
        let target = git.branch_head(&mr.target_branch).filter(|_| mr.target_project == mr.source_project)?;
        git.merge_base(target, head).ok()?
    }

    /// Prepares a pipeline if the CI configuration has one.
    fn prepare(
        &self,
        project: &Project,
        git: &Git,
        new: &NewPipeline,
        mr: Option<&MergeRequest>,
        skips: bool,
    ) -> Option<Prepared> {
        let user = self.rights.user?;
        if project.jobs_disabled || project.archived {
            return None;
        }
        let definitions = self.definitions(project, git, new, mr)?;
        let plan = PipelinePlan {
            project: project.id,
            user,
            ref_name: mr.map_or_else(|| new.ref_name.to_owned(), merge_request_ref),
            sha: new.commit.to_string(),
            tag: new.is_tag,
            at: self.now,
            // An empty source is a push.
            source: if new.source == "push" { String::new() } else { new.source.to_owned() },
        };
        let message = git.find_commit(new.commit).map(|commit| commit.message.to_lowercase()).unwrap_or_default();
        let is_skipped = skips || SKIPS.iter().any(|words| message.contains(&format!("[{words}]")));
        Some(Prepared { plan, of_request: mr.is_some(), is_skipped, definitions, variables: new.variables.to_vec() })
    }
}

impl WriteCall<'_> {
    /// Returns the jobs that the CI configuration of a commit has for a pipeline; `None` if there is none.
    pub fn configured_jobs(
        &mut self,
        project: &Project,
        git: &Git,
        new: &NewPipeline,
    ) -> Option<Result<Vec<Planned>, String>> {
        let definitions = self.definitions(project, git, new, None)?;
        Some(definitions.map(|all| plans(self.world, all)).map_err(|problem| problem.text().to_owned()))
    }

    /// Starts the pipeline of a merge request, if the CI configuration of its head has jobs for one. Returns its ID.
    pub fn start_merge_request_pipeline(&mut self, mr: &MergeRequest) -> Option<u64> {
        let project = self.world.projects.get(mr.source_project)?.clone();
        let git = self.git(&project).ok()?;
        let commit = git.branch_head(&mr.source_branch)?;
        let (ref_name, source) = (&*mr.source_branch, MERGE_REQUEST);
        let base = self.merge_request_base(mr, &git, commit);
        let new = NewPipeline { ref_name, is_tag: false, commit, base, source, variables: &[], inputs: NO_INPUTS };
        let prepared = self.prepare(&project, &git, &new, Some(mr), false)?;
        self.start_prepared(prepared)
    }

    /// Starts a pipeline that was prepared. A mistake in the configuration becomes a failed pipeline. Returns its ID.
    pub fn start_prepared(&mut self, prepared: Prepared) -> Option<u64> {
        let Prepared { plan, of_request, is_skipped, definitions, variables } = prepared;
        let plan = PipelinePlan { at: self.now, ..plan };
        let without_jobs = |status: Status, yaml_errors: Option<String>| Pipeline {
            project: plan.project,
            ref_name: plan.ref_name.clone(),
            tag: plan.tag,
            sha: plan.sha.clone(),
            status,
            user: Some(plan.user),
            created_at: plan.at,
            source: plan.source.clone(),
            yaml_errors,
            ..Pipeline::default()
        };
        match definitions {
            // A mistake is told once, by the pipeline of the branch.
            Err(Problem::Invalid(why)) if !of_request => {
                Some(self.world.add_pipeline(without_jobs(Status::Failed, Some(why))))
            }
            Err(_) => None,
            Ok(_) if is_skipped => Some(self.world.add_pipeline(without_jobs(Status::Skipped, None))),
            Ok(definitions) => {
                let jobs = plans(self.world, definitions);
                let id = runner::start(self.world, &plan, &jobs);
                if let Some(pipeline) = self.world.pipelines.get_mut(id) {
                    pipeline.variables = variables;
                }
                Some(id)
            }
        }
    }
}

/// Returns the ref of the pipelines of a merge request.
pub fn merge_request_ref(mr: &MergeRequest) -> String {
    format!("refs/merge-requests/{}/head", mr.iid)
}

/// Returns the plans of jobs, whose traces are added to the world.
fn plans(world: &mut World, definitions: Vec<Definition>) -> Vec<Planned> {
    let plan = |definition: Definition| {
        let (text, status) = trace(&definition);
        let hash = Oid::hash_object(ObjectType::Blob, text.as_bytes()).unwrap_or(Oid::ZERO_SHA1);
        let name = format!("ci {hash}");
        if definition.child.is_empty() && !world.scripts.iter().any(|script| script.name == name) {
            world.scripts.add(Script { name: name.clone(), text, status, ..Script::default() });
        }
        Planned { script: Some(name), triggers: plans(world, definition.child), ..definition.plan }
    };
    definitions.into_iter().map(plan).collect()
}

/// Returns the trace of a job in the format of scripts, and its outcome: commands are shown, not run, but those that can only
/// fail do.
fn trace(definition: &Definition) -> (String, Status) {
    // Text of the configuration is shown as it is.
    let plain = |text: &str| text.replace('\\', "\\x5c").replace('{', "\\x7b").replace('\r', "");
    let mut out = String::from(
        "@0.2 \\e[0KRunning with gitlab-runner on {runner}\\e[0;m\n\
         @section get_sources Getting source from Git repository\n\
         @0.5 \\e[32;1mFetching changes...\\e[0;m\n\
         Checking out {short} as detached HEAD (ref is {ref})...\n\
         @end get_sources\n\
         @section step_script Executing \"step_script\" stage of the job script\n",
    );
    let mut failure = None;
    for command in definition.commands() {
        let mut lines = command.trim_end().lines();
        let first = lines.next().unwrap_or_default();
        let more = if lines.next().is_some() { " # collapsed multi-line command" } else { "" };
        let _ = writeln!(out, "@1 \\e[32;1m$ {}{more}\\e[0;m", plain(first));
        failure = exit_code(first);
        if failure.is_some() {
            break;
        }
    }
    out += "@end step_script\n";
    if let Some(code) = failure {
        let _ = writeln!(out, "@0.2 \\e[31;1mERROR: Job failed: exit code {code}\\e[0;m");
        return (out, Status::Failed);
    }
    if !definition.artifacts.is_empty() {
        out += "@section upload_artifacts_on_success Uploading artifacts for successful job\n";
        out += "@0.2 \\e[32;1mUploading artifacts...\\e[0;m\n";
        for path in &definition.artifacts {
            let _ = writeln!(out, "@0.1 {}: not uploaded, because no command is run here", plain(path));
        }
        out += "@end upload_artifacts_on_success\n";
    }
    out += "@0.2 \\e[32;1mJob succeeded\\e[0;m";
    (out, Status::Success)
}

/// Returns the exit code of a command that can only fail.
fn exit_code(command: &str) -> Option<u8> {
    match command.trim() {
        "false" => Some(1),
        other => other.strip_prefix("exit ")?.trim().parse().ok().filter(|code| *code > 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_show_commands_as_they_are_written() {
        let definition = |commands: &[&str]| Definition {
            script: commands.iter().map(|command| (*command).to_owned()).collect(),
            artifacts: vec!["out/{a}".into()],
            ..Definition::default()
        };
        let (text, status) = trace(&definition(&["echo {id} \\e[31m", "two\nlines", "exit 0"]));
        assert!(text.contains("$ echo \\x7bid} \\x5ce[31m\\e[0;m\n"), "{text}");
        assert!(text.contains("$ two # collapsed multi-line command") && text.contains("out/\\x7ba}: "), "{text}");
        assert_eq!(status, Status::Success);
        let (text, status) = trace(&definition(&["true", "exit 3", "never"]));
        assert!(text.ends_with("ERROR: Job failed: exit code 3\\e[0;m\n") && !text.contains("never"), "{text}");
        assert_eq!(status, Status::Failed);
    }
}
