//! Checks of CI configurations, without running them. Not in the specification, although servers of that version have
//! some of it.

use crate::Id;

crate::resource! {
    /// The result of a check.
    pub struct Lint {
        valid: bool,
        errors: Vec<String>,
        warnings: Vec<String>,
        /// The configuration; null if there is none.
        merged_yaml: Option<String>,
        includes: Vec<Include>,
    }
    views {
        /// The jobs of a pipeline; only if they are asked for.
        jobs: Option<Vec<LintJob>>,
    }
}

crate::resource! {
    /// A file that the configuration includes.
    pub struct Include {
        /// `local`, `file`, `remote`, `template` or `component`.
        r#type: String,
        /// The path, or the address.
        location: String,
        /// The path of the project whose configuration includes it, which contains it if it is local.
        context_project: Option<String>,
        /// The address of the file in a repository.
        blob: Option<String>,
        /// The address of its text.
        raw: Option<String>,
        extra: IncludeExtra,
    }
}

crate::resource! {
    /// Where a file of another project is.
    pub struct IncludeExtra {}
    views {
        project: Option<String>,
        r#ref: Option<String>,
    }
}

crate::resource! {
    /// A job that another job needs.
    pub struct Need {
        name: String,
        artifacts: bool,
        optional: bool,
    }
}

crate::resource! {
    /// The pipelines that the keywords `only` and `except` name.
    pub struct Policy {
        refs: Option<Vec<String>>,
        variables: Option<Vec<String>>,
        changes: Option<Vec<String>>,
    }
}

crate::resource! {
    /// A job of a configuration. Its `rules` are in the configuration alone.
    pub struct LintJob {
        name: String,
        stage: String,
        before_script: Vec<String>,
        script: Vec<String>,
        after_script: Vec<String>,
        tag_list: Vec<String>,
        environment: Option<String>,
        when: String,
        allow_failure: bool,
        only: Option<Policy>,
        except: Option<Policy>,
        needs: Option<Vec<Need>>,
    }
}

crate::endpoints! {
    unspecified section "CI lint";

    /// Checks the configuration of a commit (since 13.5).
    GET "/projects/{id}/ci/lint" => Lint, about CiConfig;
    struct LintProject {
        id: Id,
        /// The commit, branch or tag with the configuration; the default branch if absent.
        content_ref: Option<String>,
        /// The same, under its former name.
        sha: Option<String>,
        /// Whether to create a pipeline on trial, which evaluates rules.
        dry_run: Option<bool>,
        /// The branch or tag of the pipeline on trial.
        dry_run_ref: Option<String>,
        include_jobs: Option<bool>,
    }

    /// Checks a configuration (since 13.6).
    JSON POST "/projects/{id}/ci/lint" => Lint;
    struct LintContent {
        id: Id,
        content: String,
        dry_run: Option<bool>,
        r#ref: Option<String>,
        include_jobs: Option<bool>,
    }
}
