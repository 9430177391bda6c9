//! The form of a world file: what `--world FILE` takes, and what the demo world itself is written in.
//!
//! Records name one another by username, full path, title or name. Moments are ages before [`WorldFile::now`]
//! (`3d`, `2h30m`, `40s`, `5w`) or dates (`2026-11-02`, `2026-11-02T10:00:00Z`). A note's may be an age after what it
//! is written on (`+2h`), and a merge request, a pipeline or a release without one follows its commit.

use serde::Deserialize;
use std::collections::BTreeMap;

/// Declares a part of the form: every key may be absent, an unknown one is a mistake.
macro_rules! form {
    ($(#[$meta:meta])* $name:ident { $($(#[$fmeta:meta])* $field:ident: $type:ty),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name { $($(#[$fmeta])* pub $field: $type),* }
    };
}

/// Words of the note that somebody reacts to, or nothing for the thing itself; the emoji's name; usernames.
pub type ReactionForm = (String, String, Vec<String>);

/// Author, moment, text. An author written `*bo` makes it a note of the system about what bo did.
pub type NoteForm = (String, String, String);

form! {
    /// A whole world, or a part of one.
    WorldFile {
        /// The moment that ages count from.
        now: Option<String>,
        users: Vec<UserForm>,
        groups: Vec<GroupForm>,
        projects: Vec<ProjectForm>,
        merge_requests: Vec<MergeRequestForm>,
        issues: Vec<IssueForm>,
        milestones: Vec<MilestoneForm>,
        epics: Vec<EpicForm>,
        snippets: Vec<SnippetForm>,
        releases: Vec<ReleaseForm>,
        runners: Vec<RunnerForm>,
        /// What jobs leave behind.
        artifacts: Vec<ArtifactsForm>,
        scripts: Vec<ScriptForm>,
        templates: Vec<TemplateForm>,
        pipelines: Vec<PipelineForm>,
        schedules: Vec<ScheduleForm>,
        comments: Vec<CommentForm>,
        statuses: Vec<StatusForm>,
        ssh_keys: Vec<KeyForm>,
        gpg_keys: Vec<KeyForm>,
        hooks: Vec<HookForm>,
        licenses: Vec<LicenseForm>,
        notifications: Vec<NotificationForm>,
        /// Beside those that follow from assignments and mentions.
        todos: Vec<TodoForm>,
    }
}

form! {
    /// A person.
    UserForm {
        username: String,
        name: String,
        email: String,
        admin: bool,
        blocked: bool,
        external: bool,
        /// A credential with a known secret; without one the server makes its own.
        token: Option<String>,
        /// What the token may do: `api`, `read_api`, …; everything, where none is named.
        token_scopes: Vec<String>,
        /// When the token expires.
        token_expires: Option<String>,
        /// Minutes east of UTC, for commits.
        offset: i32,
        bio: Option<String>,
        location: Option<String>,
        organization: String,
        website: String,
        /// Account names at a messaging service, a professional network and a microblogging service.
        messenger: String,
        network: String,
        microblog: String,
        two_factor: bool,
        /// Provider to account.
        identities: BTreeMap<String, String>,
        attributes: BTreeMap<String, String>,
        created: Option<String>,
        /// When the person was last seen.
        seen: Option<String>,
    }
}

form! {
    /// A group; its parent is what its path says.
    GroupForm {
        path: String,
        name: String,
        description: String,
        visibility: String,
        created: Option<String>,
        /// Username to `guest`, `reporter`, `developer`, `maintainer`, `owner`.
        members: BTreeMap<String, String>,
        attributes: BTreeMap<String, String>,
        directory_links: Vec<DirectoryLinkForm>,
        /// `name #rrggbb words`.
        labels: Vec<String>,
    }
}

form! {
    /// A link of a group to a directory.
    DirectoryLinkForm { cn: String, level: String, provider: String }
}

form! {
    /// A project; its group or person is what its path says.
    ProjectForm {
        path: String,
        name: String,
        description: Option<String>,
        visibility: String,
        creator: String,
        created: Option<String>,
        active: Option<String>,
        /// The name of a history; without one the repository is empty.
        history: Option<String>,
        /// A history written here; its files are in `files`.
        script: Option<String>,
        /// Files of `script`, as an archive (`-- PATH --`).
        files: String,
        /// Branches of the history that are not shown.
        hidden: Vec<String>,
        /// The only branches that are shown.
        only: Vec<String>,
        fork_of: Option<String>,
        archived: bool,
        topics: Vec<String>,
        stars: Vec<String>,
        members: BTreeMap<String, String>,
        protected: Vec<String>,
        /// `merge`, `rebase_merge` or `ff`.
        merge_method: Option<String>,
        /// Nothing is merged before its pipeline has succeeded.
        pipelines_must_succeed: bool,
        /// Nothing is merged before all its threads are resolved.
        threads_must_be_resolved: bool,
        /// `name #rrggbb description`.
        labels: Vec<String>,
        /// Full path of a group to the level that its members have here.
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
        /// The fork that the source branch is in.
        source_project: Option<String>,
        target: Option<String>,
        description: String,
        /// `opened`, `closed` or `merged`; merged ones are found in the history by their merge commit.
        state: Option<String>,
        author: String,
        assignee: Option<String>,
        /// Who merged or closed it.
        by: Option<String>,
        labels: Vec<String>,
        milestone: Option<String>,
        created: String,
        updated: Option<String>,
        /// Its pushes, where there were several: commits before the head, and when.
        pushes: Vec<(usize, String)>,
        squash: bool,
        /// Only members may comment.
        locked: bool,
        thumbs_up: Vec<String>,
        thumbs_down: Vec<String>,
        reactions: Vec<ReactionForm>,
        /// Who approved it, and when.
        approvals: Vec<(String, String)>,
        /// Who ordered that it is merged once its pipeline has succeeded.
        auto_merge: Option<String>,
        /// Seconds planned and spent.
        estimate: u64,
        spent: u64,
        /// Whose review is requested: username, state, and when.
        reviewers: Vec<(String, String, String)>,
        notes: Vec<NoteForm>,
        threads: Vec<ThreadForm>,
        /// Comments that are not published.
        drafts: Vec<ThreadForm>,
    }
}

form! {
    /// A thread: on a line of the newest version where a path is named, and on several where `from` is.
    ThreadForm {
        path: Option<String>,
        /// Where the file was renamed.
        old_path: Option<String>,
        /// Its number in the new file.
        line: Option<u32>,
        old_line: Option<u32>,
        /// The first of several lines, by its number in the new file.
        from: Option<u32>,
        /// Who resolved it, and when.
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
        notes: Vec<NoteForm>,
        /// Threads are on no lines here.
        threads: Vec<ThreadForm>,
    }
}

form! {
    /// A milestone of a project, or of a group.
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
        /// What it was sent with, if that was kept.
        user_agent: Option<String>,
        notes: Vec<NoteForm>,
        /// To its notes.
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
        /// Name and address of what there is to download.
        links: Vec<(String, String)>,
    }
}

form! {
    /// A runner.
    RunnerForm {
        name: String,
        shared: bool,
        paused: bool,
        /// When it was last heard of; never, without.
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
    /// A set of files that jobs leave behind, as one zip archive.
    ArtifactsForm {
        name: String,
        /// How long it is kept after the job has ended (`4w`); for good, without.
        expires: Option<String>,
        files: Vec<FileForm>,
        /// The archive ends in the middle, as after an upload that broke off.
        damaged: bool,
    }
}

form! {
    /// A file of an archive. Its path is taken as it is: an archive may hold what should not be unpacked.
    FileForm {
        path: String,
        text: String,
        /// Content by a rule of [`generate::bytes`](super::generate::bytes).
        rule: Option<String>,
        /// Bytes of zeros, instead: a file that is small only as long as it is packed.
        zeros: Option<u64>,
        /// The file is a link to there, instead.
        link: Option<String>,
    }
}

form! {
    /// What a job prints, how it ends, and what it leaves; `text` is described in [`script`](super::script).
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
    /// Jobs of a pipeline, stage by stage.
    TemplateForm { name: String, jobs: Vec<JobForm> }
}

form! {
    /// A job of a template.
    JobForm {
        name: String,
        stage: String,
        script: Option<String>,
        /// How long it took; as long as its script, without.
        seconds: Option<u32>,
        manual: bool,
        allow_failure: bool,
        coverage: Option<f64>,
        environment: Option<String>,
        runner: Option<String>,
        tags: Vec<String>,
        /// The template of the pipeline that it starts: then it is no job.
        trigger: Option<String>,
    }
}

form! {
    /// A pipeline of the past.
    PipelineForm {
        project: String,
        ref_name: String,
        /// Commits before the head of the ref.
        back: usize,
        template: String,
        user: String,
        created: String,
        /// Job to `STATUS` or `STATUS SCRIPT`, if it is not a success; `TRIGGER/JOB` names one of the pipeline that it
        /// starts.
        outcome: BTreeMap<String, String>,
        /// What started it: `push` without, `web`, `schedule`, `api`.
        source: String,
        /// What it was run with.
        variables: BTreeMap<String, String>,
    }
}

form! {
    /// Pipelines that run now, one after the other.
    ScheduleForm {
        project: String,
        /// Refs in turn.
        refs: Vec<String>,
        template: String,
        user: String,
        /// Seconds between the end of one and the start of the next.
        pause: u32,
        /// Seconds that the first has been running when the server starts.
        head_start: u32,
    }
}

form! {
    /// A comment on a commit, perhaps on a line of its diff.
    CommentForm {
        project: String,
        ref_name: String,
        /// Commits before the head of the ref.
        back: usize,
        author: String,
        created: String,
        note: String,
        path: Option<String>,
        line: Option<u64>,
        /// `new` or `old`.
        line_type: Option<String>,
    }
}

form! {
    /// What a tool outside says about a commit.
    StatusForm {
        project: String,
        ref_name: String,
        /// Commits before the head of the ref.
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
    /// What a person wants to hear of.
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
    /// Something that waits for a person, or did.
    TodoForm {
        user: String,
        author: String,
        /// `review_requested`, `build_failed`, ….
        action: String,
        /// `group/project!12` or `group/project#7`.
        target: String,
        created: String,
        done: bool,
    }
}

/// Why a world could not be made: the file, the key, and what is wrong there.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {what}")]
pub struct WorldError {
    /// The file, or the name of an embedded one.
    pub file: String,
    /// Where in it, and what is wrong.
    pub what: String,
}

impl WorldFile {
    /// Reads a world file; `file` is what errors call it.
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
        self.releases.extend(other.releases);
        self.runners.extend(other.runners);
        self.artifacts.extend(other.artifacts);
        self.scripts.extend(other.scripts);
        self.templates.extend(other.templates);
        self.pipelines.extend(other.pipelines);
        self.schedules.extend(other.schedules);
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
    fn a_mistake_names_file_line_and_key() {
        let error = WorldFile::parse("mine.toml", "[[users]]\nusername = \"ada\"\n\n[[users]]\nusrname = \"bo\"\n");
        let text = error.unwrap_err().to_string();
        assert!(text.starts_with("mine.toml:5: ") && text.contains("usrname"), "{text}");
    }
}
