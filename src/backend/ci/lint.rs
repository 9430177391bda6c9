//! Checks of CI configurations, without running them.

use super::config::{self, Context, Definition, Problem};
use super::files::{CommitFiles, Files};
use super::{NO_INPUTS, NewPipeline, config_path};
use crate::call::{Answer, Call, Outcome, ReadCall, WriteCall, ok};
use crate::git::Git;
use crate::mount::Mount;
use crate::pipelines;
use crate::presenters::path;
use crate::records::Project;
use crate::rejection::Rejection;
use crate::world::World;
use api::lint::{Include, IncludeExtra, Lint, LintContent, LintJob, LintProject, Need};
use domain::ci_config::Inputs;
use git2::Oid;
use std::ops::Deref;

/// The event that a trial of a configuration stands for.
const SOURCE: &str = "push";

pub fn mount(mount: Mount) -> Mount {
    mount.read::<LintProject>(lint_project).write_files::<LintContent>(lint_content)
}

/// The kind of check.
struct Check {
    is_trial: bool,
    includes_jobs: bool,
}

fn show_job(definition: Definition) -> LintJob {
    let (plan, [only, except]) = (definition.plan, definition.policies);
    let need = |name: String| Need { name, artifacts: true, optional: false };
    LintJob {
        name: plan.name,
        stage: plan.stage,
        before_script: definition.before_script,
        script: definition.script,
        after_script: definition.after_script,
        tag_list: plan.tag_list,
        environment: plan.environment,
        when: match plan.delay {
            _ if plan.manual => "manual",
            Some(_) => "delayed",
            None => plan.when.as_str(),
        }
        .into(),
        allow_failure: plan.allow_failure,
        only,
        except,
        needs: plan.needs.map(|needs| needs.into_iter().map(need).collect()),
    }
}

impl<W: Deref<Target = World>> Call<W> {
    /// Checks a configuration for a branch or tag at a commit.
    fn lint(
        &self,
        project: &Project,
        git: &Git,
        (name, commit): (&str, Oid),
        text: Option<String>,
        check: &Check,
    ) -> Lint {
        let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
            return Lint { errors: vec!["Please provide content of .gitlab-ci.yml".into()], ..Lint::default() };
        };
        let is_tag = git.branch_head(name).is_none() && git.tag(name).is_some();
        let new = NewPipeline {
            ref_name: name,
            is_tag,
            commit,
            base: None,
            source: SOURCE,
            variables: &[],
            inputs: NO_INPUTS,
        };
        let (variables, scoped) = self.ci_variables(project, git, &new, None);
        let inputs = Inputs::new();
        // Without a trial, it does not matter whether there are jobs for this very pipeline.
        let (ref_name, source, takes_all) = (name.to_owned(), SOURCE.into(), !check.is_trial);
        let context = Context { ref_name, is_tag, source, variables, scoped, inputs, takes_all };
        let files = CommitFiles { git, commit, base: None };
        let (definitions, errors) = match config::read(&text, &context, &files) {
            Ok(definitions) => (definitions, Vec::new()),
            Err(Problem::Filtered(_)) if !check.is_trial => (Vec::new(), Vec::new()),
            Err(problem) => (Vec::new(), vec![problem.text().to_owned()]),
        };
        let merged = config::merged(&text, &context.variables, &files);
        let include = |location: String| {
            let page = |kind: &str| Some(self.project_page(project, &format!("{kind}/{commit}/{}", path(&location))));
            let (blob, raw, context_project) = (page("blob"), page("raw"), Some(self.world.project_path(project)));
            let extra = IncludeExtra::default();
            Include { r#type: "local".into(), blob, raw, extra, context_project, location }
        };
        Lint {
            valid: errors.is_empty(),
            errors,
            merged_yaml: merged.text,
            includes: merged.paths.into_iter().map(include).collect(),
            jobs: check.includes_jobs.then(|| definitions.into_iter().map(show_job).collect()),
            ..Lint::default()
        }
    }
}

fn lint_project(call: &ReadCall, input: LintProject) -> Outcome<Lint> {
    let (project, git) = call.repository(&input.id)?;
    if input.content_ref.is_some() && input.sha.is_some() {
        return Err(Rejection::error(400, "sha, content_ref are mutually exclusive"));
    }
    // The name that servers before 16.10 had for the branch or tag of the pipeline on trial.
    let former: Option<String> = call.option("ref")?;
    if input.dry_run_ref.is_some() && former.is_some() {
        return Err(Rejection::error(400, "ref, dry_run_ref are mutually exclusive"));
    }
    let branch = project.default_branch.clone().ok_or_else(|| Rejection::not_found("Repository"))?;
    let name = input.content_ref.or(input.sha).filter(|name| !name.is_empty()).unwrap_or(branch);
    let commit = git.commit_at(Some(&name), "Commit")?.id;
    let text = CommitFiles { git: &git, commit, base: None }.read(config_path(project));
    let name = input.dry_run_ref.or(former).filter(|name| !name.is_empty()).unwrap_or(name);
    let check = Check { is_trial: input.dry_run == Some(true), includes_jobs: input.include_jobs == Some(true) };
    ok(call.lint(project, &git, (&name, commit), text, &check))
}

fn lint_content(call: &mut WriteCall, input: LintContent) -> Outcome<Lint> {
    let project = pipelines::authorize(call, &input.id)?;
    let git = call.git(&project)?;
    let branch = project.default_branch.clone().ok_or_else(|| Rejection::not_found("Repository"))?;
    let name = input.r#ref.filter(|name| !name.is_empty()).unwrap_or(branch);
    let commit = git.commit_at(Some(&name), "Commit")?.id;
    let check = Check { is_trial: input.dry_run == Some(true), includes_jobs: input.include_jobs == Some(true) };
    Ok(Answer::new(call.lint(&project, &git, (&name, commit), Some(input.content), &check)).status(200))
}
