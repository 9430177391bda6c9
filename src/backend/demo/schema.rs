//! The format of world files, for `--world FILE` and the demo world itself.
//!
//! Records refer to one another by username, full path, title or name. Times are ages relative to [`WorldFile::now`]
//! (`3d`, `2h30m`, `40s`, `5w`) or dates (`2026-11-02`, `2026-11-02T10:00:00Z`). The time of a note can be relative to
//! its object (`+2h`), and the default for a merge request, a pipeline or a release is soon after its commit.

use serde::Deserialize;
use std::collections::BTreeMap;

/// Declares a part of the format: every key is optional, and unknown keys are errors.
macro_rules! form {
    ($(#[$meta:meta])* $name:ident { $($(#[$fmeta:meta])* $field:ident: $type:ty),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name { $($(#[$fmeta])* pub $field: $type),* }
    };
}

/// A text in the note to react to (empty for the object itself), the name of the emoji, and usernames.
pub type ReactionForm = (String, String, Vec<String>);

/// The author, time and text of a note. An author written as `*bo` makes it a system note about an action of bo.
pub type NoteForm = (String, String, String);

form! {
    /// A world, or a part of one.
    WorldFile {
        /// The reference time for ages.
        now: Option<String>,
        users: Vec<UserForm>,
        groups: Vec<GroupForm>,
        projects: Vec<ProjectForm>,
        merge_requests: Vec<MergeRequestForm>,
        issues: Vec<IssueForm>,
        milestones: Vec<MilestoneForm>,
        epics: Vec<EpicForm>,
        snippets: Vec<SnippetForm>,
        uploads: Vec<UploadForm>,
        releases: Vec<ReleaseForm>,
        runners: Vec<RunnerForm>,
        /// The artifacts of jobs.
        artifacts: Vec<ArtifactsForm>,
        scripts: Vec<ScriptForm>,
        templates: Vec<TemplateForm>,
        pipelines: Vec<PipelineForm>,
        schedules: Vec<ScheduleForm>,
        variables: Vec<VariableForm>,
        cron_schedules: Vec<CronScheduleForm>,
        comments: Vec<CommentForm>,
        statuses: Vec<StatusForm>,
        ssh_keys: Vec<KeyForm>,
        gpg_keys: Vec<KeyForm>,
        hooks: Vec<HookForm>,
        licenses: Vec<LicenseForm>,
        notifications: Vec<NotificationForm>,
        /// Items in addition to those that follow from assignments and mentions.
        todos: Vec<TodoForm>,
    }
}

form! {
    /// A user.
    UserForm {
        username: String,
        name: String,
        email: String,
        admin: bool,
        blocked: bool,
        external: bool,
        /// An access token with a known secret; without one, the server generates a token.
        token: Option<String>,
        /// The scopes of the token: `api`, `read_api`, …; empty means all.
        token_scopes: Vec<String>,
        /// The expiry time of the token.
        token_expires: Option<String>,
        /// The offset from UTC in minutes, east positive, for commits.
        offset: i32,
        bio: Option<String>,
        location: Option<String>,
        organization: String,
        website: String,
        /// The account names at a messaging service, a professional network and a microblogging service.
        messenger: String,
        network: String,
        microblog: String,
        two_factor: bool,
        /// The accounts by provider.
        identities: BTreeMap<String, String>,
        attributes: BTreeMap<String, String>,
        created: Option<String>,
        /// The time when the user was last seen.
        seen: Option<String>,
    }
}

form! {
    /// A group; its path determines the parent.
    GroupForm {
        path: String,
        name: String,
        description: String,
        visibility: String,
        created: Option<String>,
        /// The access levels of members by username: `guest`, `reporter`, `developer`, `maintainer`, `owner`.
        members: BTreeMap<String, String>,
        attributes: BTreeMap<String, String>,
        directory_links: Vec<DirectoryLinkForm>,
        /// Labels in the form `name #rrggbb description`.
        labels: Vec<String>,
    }
}

form! {
    /// A link of a group to an LDAP group.
    DirectoryLinkForm { cn: String, level: String, provider: String }
}

form! {
    /// A project; its path determines the group or user.
    ProjectForm {
        path: String,
        name: String,
        description: Option<String>,
        visibility: String,
        creator: String,
        created: Option<String>,
        active: Option<String>,
        /// The name of an embedded history; without one (and without `script`) the repository is empty.
        history: Option<String>,
        /// The script of a custom history; its files are in `files`.
        script: Option<String>,
        /// The files of `script`, as an archive (`-- PATH --`).
        files: String,
        /// The branches of the history to leave out.
        hidden: Vec<String>,
        /// The only branches to include.
        only: Vec<String>,
        fork_of: Option<String>,
        archived: bool,
        topics: Vec<String>,
        stars: Vec<String>,
        members: BTreeMap<String, String>,
        protected: Vec<String>,
        /// The path of the CI configuration, unless it is `.gitlab-ci.yml`.
        ci_config_path: Option<String>,
        /// The merge method: `merge`, `rebase_merge` or `ff`.
        merge_method: Option<String>,
        /// Whether merges require a successful pipeline.
        pipelines_must_succeed: bool,
        /// Whether merges require all threads to be resolved.
        threads_must_be_resolved: bool,
        /// Labels in the form `name #rrggbb description`.
        labels: Vec<String>,
        /// The access levels for groups that the project is shared with, by full path.
        shared_with: BTreeMap<String, String>,
        approvals: u64,
        attributes: BTreeMap<String, String>,
    }
}

form! {
    /// A merge request.
    MergeRequestForm {
        project: String,
        iid: u64,
        title: String,
        source: String,
        /// The fork that contains the source branch.
        source_project: Option<String>,
        target: Option<String>,
        description: String,
        /// The state: `opened`, `closed` or `merged`; the merge commit of a merged one is found in the history.
        state: Option<String>,
        author: String,
        assignee: Option<String>,
        /// The user who merged or closed it.
        by: Option<String>,
        labels: Vec<String>,
        milestone: Option<String>,
        created: String,
        updated: Option<String>,
        /// The pushes, if there were several: the number of commits before the head, and the time.
        pushes: Vec<(usize, String)>,
        squash: bool,
        /// Whether only members may comment.
        locked: bool,
        thumbs_up: Vec<String>,
        thumbs_down: Vec<String>,
        reactions: Vec<ReactionForm>,
        /// The users who approved it, and the times.
        approvals: Vec<(String, String)>,
        /// The user who enabled the automatic merge.
        auto_merge: Option<String>,
        /// The estimated and spent time, in seconds.
        estimate: u64,
        spent: u64,
        /// The reviewers: username, state and time.
        reviewers: Vec<(String, String, String)>,
        /// The numbers of earlier ones in the file that must be merged before it.
        blocked_by: Vec<u64>,
        notes: Vec<NoteForm>,
        threads: Vec<ThreadForm>,
        /// Draft notes.
        drafts: Vec<ThreadForm>,
    }
}

form! {
    /// A thread: on a line in the latest version if there is a path, and on several lines if there is also `from`.
    ThreadForm {
        path: Option<String>,
        /// The old path, if the file was renamed.
        old_path: Option<String>,
        /// The line number in the new file.
        line: Option<u32>,
        old_line: Option<u32>,
        /// The first of several lines, by its number in the new file.
        from: Option<u32>,
        /// The user who resolved it, and the time.
        resolved: Option<(String, String)>,
        notes: Vec<NoteForm>,
    }
}

form! {
    /// An issue.
    IssueForm {
        project: String,
        iid: u64,
        title: String,
        description: String,
        state: Option<String>,
        author: String,
        assignees: Vec<String>,
        labels: Vec<String>,
        milestone: Option<String>,
        created: String,
        due: Option<String>,
        confidential: bool,
        thumbs_up: Vec<String>,
        reactions: Vec<ReactionForm>,
        estimate: u64,
        spent: u64,
        /// The links to earlier issues in the file: `relates_to`, `blocks` or `is_blocked_by`, and the number.
        links: Vec<(String, u64)>,
        notes: Vec<NoteForm>,
        /// Threads without positions.
        threads: Vec<ThreadForm>,
    }
}

form! {
    /// A milestone of a project or a group.
    MilestoneForm {
        project: String,
        group: Option<String>,
        title: String,
        description: String,
        closed: bool,
        start: Option<String>,
        due: Option<String>,
        created: String,
    }
}

form! {
    /// An epic.
    EpicForm {
        group: String,
        title: String,
        description: String,
        author: String,
        labels: Vec<String>,
        start: Option<String>,
        end: Option<String>,
        created: String,
        notes: Vec<NoteForm>,
    }
}

form! {
    /// A file that was uploaded for a text.
    UploadForm {
        project: String,
        /// The part of its address before the file name: 32 hexadecimal digits.
        secret: String,
        file_name: String,
        content: String,
        author: String,
        created: String,
    }
}

form! {
    /// A snippet.
    SnippetForm {
        project: String,
        title: String,
        file_name: String,
        description: String,
        content: String,
        visibility: String,
        author: String,
        created: String,
        /// The user agent that it was created with, if recorded.
        user_agent: Option<String>,
        notes: Vec<NoteForm>,
        /// The reactions to its notes.
        reactions: Vec<ReactionForm>,
    }
}

form! {
    /// A release of a tag.
    ReleaseForm {
        project: String,
        tag: String,
        name: String,
        author: Option<String>,
        description: String,
        created: String,
        /// The names and URLs of downloads.
        links: Vec<(String, String)>,
    }
}

form! {
    /// A runner.
    RunnerForm {
        name: String,
        shared: bool,
        paused: bool,
        /// The time of the last contact; `None` means never.
        contacted: Option<String>,
        projects: Vec<String>,
        tags: Vec<String>,
        platform: Option<String>,
        architecture: Option<String>,
        version: Option<String>,
        locked: bool,
    }
}

form! {
    /// A set of artifacts of jobs, packed as a zip archive.
    ArtifactsForm {
        name: String,
        /// The time until they expire after the end of the job (`4w`); `None` means never.
        expires: Option<String>,
        files: Vec<FileForm>,
        /// Whether the archive is truncated, as after an interrupted upload.
        damaged: bool,
    }
}

form! {
    /// A file in an archive. The path is not checked: an archive may contain files that should not be unpacked.
    FileForm {
        path: String,
        text: String,
        /// The type of the report that the file is, too: `cobertura`, `codequality`.
        report: Option<String>,
        /// The rule that generates the content, from [`generate::bytes`](super::generate::bytes).
        rule: Option<String>,
        /// The number of zero bytes that make up the content instead: a file that is small only while compressed.
        zeros: Option<u64>,
        /// The target, if the file is a link.
        link: Option<String>,
    }
}

form! {
    /// The output, result and artifacts of a job; the format of `text` is described in [`script`](super::script).
    ScriptForm {
        name: String,
        text: String,
        status: Option<String>,
        coverage: Option<f64>,
        /// The name of a set of artifacts.
        artifacts: Option<String>,
    }
}

form! {
    /// A template for pipelines: its jobs, stage by stage.
    TemplateForm { name: String, jobs: Vec<JobForm> }
}

form! {
    /// A job of a template.
    JobForm {
        name: String,
        stage: String,
        script: Option<String>,
        /// The duration; by default that of the script.
        seconds: Option<u32>,
        manual: bool,
        allow_failure: bool,
        coverage: Option<f64>,
        environment: Option<String>,
        runner: Option<String>,
        tags: Vec<String>,
        /// The template of the pipeline that it starts, which makes it a trigger job.
        trigger: Option<String>,
    }
}

form! {
    /// A past pipeline.
    PipelineForm {
        project: String,
        ref_name: String,
        /// The number of commits before the head of the ref.
        back: usize,
        template: String,
        user: String,
        created: String,
        /// Outcomes by job, if not a success: `STATUS` or `STATUS SCRIPT`; `TRIGGER/JOB` is a job of the pipeline that
        /// a trigger job starts.
        outcome: BTreeMap<String, String>,
        /// The source: `web`, `schedule`, `api`; empty means `push`.
        source: String,
        /// The variables that it was started with.
        variables: BTreeMap<String, String>,
    }
}

form! {
    /// A schedule that starts pipelines one after the other while the server runs.
    ScheduleForm {
        project: String,
        /// The refs, used in turn.
        refs: Vec<String>,
        template: String,
        user: String,
        /// The seconds between the end of a pipeline and the start of the next one.
        pause: u32,
        /// The seconds for which the first pipeline appears to have been running when the server starts.
        head_start: u32,
    }
}

form! {
    /// A schedule of pipelines that users see.
    CronScheduleForm {
        project: String,
        description: String,
        ref_name: String,
        cron: String,
        /// The time zone; UTC by default.
        zone: Option<String>,
        owner: String,
        inactive: bool,
        variables: BTreeMap<String, String>,
    }
}

form! {
    /// A CI/CD variable of a project or a group, or of the instance.
    VariableForm {
        project: Option<String>,
        group: Option<String>,
        key: String,
        value: String,
        file: bool,
        protected: bool,
        masked: bool,
        hidden: bool,
        raw: bool,
        /// The name of an environment, or a pattern; all by default.
        environment: Option<String>,
        description: Option<String>,
    }
}

form! {
    /// A comment on a commit, possibly on a line of its diff.
    CommentForm {
        project: String,
        ref_name: String,
        /// The number of commits before the head of the ref.
        back: usize,
        author: String,
        created: String,
        note: String,
        path: Option<String>,
        line: Option<u64>,
        /// The side of the diff: `new` or `old`.
        line_type: Option<String>,
    }
}

form! {
    /// A commit status set by an external tool.
    StatusForm {
        project: String,
        ref_name: String,
        /// The number of commits before the head of the ref.
        back: usize,
        name: String,
        status: String,
        author: String,
        created: String,
        url: Option<String>,
        description: Option<String>,
        coverage: Option<f64>,
    }
}

form! {
    /// An SSH or GPG key.
    KeyForm { user: String, title: String, key: String, created: String }
}

form! {
    /// A system hook.
    HookForm { url: String, token: Option<String>, push: bool, tag_push: bool, merge_requests: bool, created: String }
}

form! {
    /// A license.
    LicenseForm {
        name: String,
        company: String,
        email: String,
        starts: Option<String>,
        expires: Option<String>,
        user_limit: Option<u64>,
        add_ons: BTreeMap<String, u64>,
    }
}

form! {
    /// A notification setting.
    NotificationForm {
        user: String,
        group: Option<String>,
        project: Option<String>,
        level: String,
        email: Option<String>,
        events: BTreeMap<String, bool>,
    }
}

form! {
    /// A to-do item, pending or done.
    TodoForm {
        user: String,
        author: String,
        /// The action: `review_requested`, `build_failed`, ….
        action: String,
        /// The target: `group/project!12` or `group/project#7`.
        target: String,
        created: String,
        done: bool,
    }
}

/// An error in a world file, with the file and the key.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {what}")]
pub struct WorldError {
    /// The path of the file, or the name of an embedded one.
    pub file: String,
    /// The location in the file, and a description.
    pub what: String,
}

impl WorldFile {
    /// Parses a world file; `file` is its name in errors.
    pub fn parse(file: &str, text: &str) -> Result<WorldFile, WorldError> {
        toml::from_str(text).map_err(|e| {
            let before = e.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            WorldError { file: format!("{file}:{line}"), what: e.message().to_owned() }
        })
    }

    /// Adds the records of another part.
    pub fn join(&mut self, other: WorldFile) {
        self.now = other.now.or(self.now.take());
        self.users.extend(other.users);
        self.groups.extend(other.groups);
        self.projects.extend(other.projects);
        self.merge_requests.extend(other.merge_requests);
        self.issues.extend(other.issues);
        self.milestones.extend(other.milestones);
        self.epics.extend(other.epics);
        self.snippets.extend(other.snippets);
        self.uploads.extend(other.uploads);
        self.releases.extend(other.releases);
        self.runners.extend(other.runners);
        self.artifacts.extend(other.artifacts);
        self.scripts.extend(other.scripts);
        self.templates.extend(other.templates);
        self.pipelines.extend(other.pipelines);
        self.schedules.extend(other.schedules);
        self.variables.extend(other.variables);
        self.cron_schedules.extend(other.cron_schedules);
        self.comments.extend(other.comments);
        self.statuses.extend(other.statuses);
        self.ssh_keys.extend(other.ssh_keys);
        self.gpg_keys.extend(other.gpg_keys);
        self.hooks.extend(other.hooks);
        self.licenses.extend(other.licenses);
        self.notifications.extend(other.notifications);
        self.todos.extend(other.todos);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_file_line_and_key() {
        let error = WorldFile::parse("mine.toml", "[[users]]\nusername = \"ada\"\n\n[[users]]\nusrname = \"bo\"\n");
        let text = error.unwrap_err().to_string();
        assert!(text.starts_with("mine.toml:5: ") && text.contains("usrname"), "{text}");
    }
}
