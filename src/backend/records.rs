//! What the backend remembers: one plain struct per kind of thing, as it is kept in memory and in the store.
//!
//! Records name one another by id. Absent fields take their defaults, so that a data folder of an older version loads.

use crate::api::notes::Position;
use crate::api::protected_branches::covers;
use crate::api::releases::AssetLink;
use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Declares a closed set of words of the wire.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum $name { $(#[serde(rename = $word)] $(#[$vmeta])* $variant),* }

        impl $name {
            /// Every value, in order.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// The word on the wire.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word),* }
            }

            /// The value of a word of the wire.
            pub fn from_word(word: &str) -> Option<$name> {
                match word { $($word => Some($name::$variant),)* _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// Who may see a project, a group or a snippet.
    Visibility { #[default] Private = "private", Internal = "internal", Public = "public" }
}

words! {
    /// Where a job, a pipeline or a commit status stands.
    Status {
        #[default] Created = "created",
        Pending = "pending",
        Running = "running",
        Failed = "failed",
        Success = "success",
        Canceled = "canceled",
        Skipped = "skipped",
        Manual = "manual",
    }
}

impl Status {
    /// Returns whether it has run its course.
    pub fn is_finished(self) -> bool {
        matches!(self, Status::Failed | Status::Success | Status::Canceled)
    }
}

words! {
    /// Where a merge request or an issue stands.
    State { #[default] Opened = "opened", Closed = "closed", Merged = "merged" }
}

words! {
    /// How a project merges: with a merge commit, with one onto the target's head alone, or by moving the target
    /// branch.
    MergeMethod { #[default] Merge = "merge", RebaseMerge = "rebase_merge", FastForward = "ff" }
}

words! {
    /// Where a milestone stands.
    MilestoneState { #[default] Active = "active", Closed = "closed" }
}

words! {
    /// Why somebody has something to do.
    TodoAction {
        #[default] Assigned = "assigned",
        ReviewRequested = "review_requested",
        Mentioned = "mentioned",
        DirectlyAddressed = "directly_addressed",
        BuildFailed = "build_failed",
        Marked = "marked",
        ApprovalRequired = "approval_required",
        Unmergeable = "unmergeable",
    }
}

words! {
    /// Which jobs a runner takes.
    RunnerAccess { #[default] NotProtected = "not_protected", RefProtected = "ref_protected" }
}

/// A row of a [`Table`](super::world::Table).
pub trait Record: Clone + Serialize + serde::de::DeserializeOwned {
    /// Its number, unique in its table and never used again.
    fn id(&self) -> u64;
    /// Gives it its number.
    fn set_id(&mut self, id: u64);
}

/// Declares a record: derives, and its id.
macro_rules! record {
    ($(#[$meta:meta])* $name:ident { $($(#[$fmeta:meta])* $field:ident: $type:ty),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct $name {
            /// Unique in its table; 0 until it is added.
            pub id: u64,
            $($(#[$fmeta])* pub $field: $type),*
        }

        impl Record for $name {
            fn id(&self) -> u64 { self.id }
            fn set_id(&mut self, id: u64) { self.id = id; }
        }
    };
}

/// Access levels of a member.
pub mod level {
    /// Sees.
    pub const GUEST: u8 = 10;
    /// Sees code.
    pub const REPORTER: u8 = 20;
    /// Pushes.
    pub const DEVELOPER: u8 = 30;
    /// Runs the project.
    pub const MAINTAINER: u8 = 40;
    /// Owns it.
    pub const OWNER: u8 = 50;
}

/// An account at a provider of sign-ins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    pub provider: String,
    pub extern_uid: String,
}

record! {
    /// A person.
    User {
        username: String,
        name: String,
        email: String,
        blocked: bool,
        admin: bool,
        /// Stands for all who are gone, and never signs in.
        is_ghost: bool,
        /// The number of the person's own namespace; numbers of groups and namespaces are one sequence
        /// ([`World::add_user`](super::world::World::add_user) draws it).
        namespace_id: u64,
        avatar_url: Option<String>,
        bio: Option<String>,
        location: Option<String>,
        /// Account name at a messaging service.
        messenger_id: String,
        /// Account name at a professional network.
        network_profile: String,
        /// Account name at a microblogging service.
        microblog_account: String,
        website_url: String,
        organization: String,
        created_at: Timestamp,
        updated_at: Timestamp,
        confirmed_at: Option<Timestamp>,
        last_sign_in_at: Option<Timestamp>,
        current_sign_in_at: Option<Timestamp>,
        last_activity_on: Option<Date>,
        theme_id: u64,
        color_scheme_id: u64,
        projects_limit: u64,
        can_create_group: bool,
        two_factor_enabled: bool,
        external: bool,
        shared_runners_minutes_limit: Option<u64>,
        identities: Vec<Identity>,
        custom_attributes: BTreeMap<String, String>,
    }
}

record! {
    /// A picture of a user or of a project.
    Avatar {
        user: Option<u64>,
        project: Option<u64>,
        filename: String,
        #[serde(with = "bytes")]
        bytes: Vec<u8>,
    }
}

record! {
    /// A credential of a user.
    Token {
        user: u64,
        name: String,
        secret: String,
        /// What it may do; everything, where none is named.
        scopes: Vec<String>,
        /// From when on it is refused.
        expires_at: Option<Timestamp>,
        /// What renews it, if it is of OAuth.
        refresh: Option<String>,
    }
}

record! {
    /// A device that waits for somebody to sign in for it.
    DeviceGrant {
        device_code: String,
        user_code: String,
        scope: String,
        /// Who did.
        user: Option<u64>,
        expires_at: Timestamp,
    }
}

/// What a directory says about who is in a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DirectoryLink {
    pub cn: String,
    pub group_access: u8,
    pub provider: String,
}

record! {
    /// A group of projects, perhaps inside another.
    Group {
        name: String,
        path: String,
        parent: Option<u64>,
        description: String,
        visibility: Visibility,
        lfs_enabled: bool,
        request_access_enabled: bool,
        membership_lock: bool,
        share_with_group_lock: bool,
        shared_runners_minutes_limit: Option<u64>,
        avatar_url: Option<String>,
        created_at: Timestamp,
        custom_attributes: BTreeMap<String, String>,
        directory_links: Vec<DirectoryLink>,
    }
}

/// What a person is a member of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Membership {
    Group(u64),
    Project(u64),
}

impl Default for Membership {
    fn default() -> Membership {
        Membership::Project(0)
    }
}

record! {
    /// A person's place in a group or a project.
    Member {
        place: Membership,
        user: u64,
        /// One of [`level`].
        level: u8,
        created_at: Timestamp,
        /// The day on which it ends.
        expires_at: Option<Date>,
    }
}

/// Whose a project is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Namespace {
    User(u64),
    Group(u64),
}

impl Default for Namespace {
    fn default() -> Namespace {
        Namespace::User(0)
    }
}

/// A group that a project is shared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Share {
    pub group: u64,
    pub level: u8,
}

/// A rule for branches: only maintainers push to them, unless it says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProtectedBranch {
    /// A branch, or a pattern with `*`.
    pub name: String,
    pub developers_can_push: bool,
    pub developers_can_merge: bool,
    pub nobody_can_push: bool,
    pub nobody_can_merge: bool,
    pub allow_force_push: bool,
}

impl ProtectedBranch {
    /// The level that pushing takes; 0 where nobody may.
    pub fn push_level(&self) -> u8 {
        match (self.developers_can_push, self.nobody_can_push) {
            (true, _) => level::DEVELOPER,
            (false, true) => 0,
            (false, false) => level::MAINTAINER,
        }
    }

    /// The level that merging takes; 0 where nobody may.
    pub fn merge_level(&self) -> u8 {
        match (self.developers_can_merge, self.nobody_can_merge) {
            (true, _) => level::DEVELOPER,
            (false, true) => 0,
            (false, false) => level::MAINTAINER,
        }
    }
}

impl Project {
    /// The rules that are about a branch.
    pub fn protection(&self, branch: &str) -> impl Iterator<Item = &ProtectedBranch> {
        self.protected_branches.iter().filter(move |rule| covers(&rule.name, branch))
    }

    /// Returns whether a branch is protected.
    pub fn is_protected(&self, branch: &str) -> bool {
        self.protection(branch).next().is_some()
    }
}

record! {
    /// A project; its repository is the folder `<id>.git` of the repositories.
    Project {
        name: String,
        path: String,
        namespace: Namespace,
        description: Option<String>,
        /// `None` while the repository is empty.
        default_branch: Option<String>,
        visibility: Visibility,
        tag_list: Vec<String>,
        creator: u64,
        created_at: Timestamp,
        last_activity_at: Timestamp,
        archived: bool,
        /// The project that it was forked from.
        forked_from: Option<u64>,
        /// Who starred it.
        stars: BTreeSet<u64>,
        /// Features that are switched off; all others are on.
        issues_disabled: bool,
        merge_requests_disabled: bool,
        jobs_disabled: bool,
        wiki_disabled: bool,
        snippets_disabled: bool,
        shared_runners_disabled: bool,
        public_jobs_disabled: bool,
        container_registry_enabled: bool,
        resolve_outdated_diff_discussions: bool,
        only_allow_merge_if_pipeline_succeeds: bool,
        only_allow_merge_if_all_discussions_are_resolved: bool,
        printing_merge_requests_link_enabled: bool,
        request_access_enabled: bool,
        lfs_enabled: bool,
        approvals_before_merge: u64,
        merge_method: MergeMethod,
        runners_token: String,
        import_url: Option<String>,
        ci_config_path: Option<String>,
        avatar_url: Option<String>,
        shared_with: Vec<Share>,
        protected_branches: Vec<ProtectedBranch>,
        /// The highest number that a merge request of it had: numbers are not given out again.
        last_request_iid: u64,
        /// The same of its pipelines.
        last_pipeline_iid: u64,
        /// The same of its issues.
        last_issue_iid: u64,
        custom_attributes: BTreeMap<String, String>,
    }
}

/// Time planned and spent, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimeSpent {
    pub estimate: u64,
    pub spent: u64,
}

/// Two ends of a diff, kept when the branches may go.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// The merge base at that time.
    pub base: String,
    /// The head of the source branch at that time.
    pub head: String,
}

/// A merge that somebody ordered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MergeOrder {
    pub user: u64,
    /// The head of the source branch that is to be merged.
    pub sha: String,
    /// The messages of the commits, where they are not the usual ones.
    pub merge_message: Option<String>,
    pub squash_message: Option<String>,
}

words! {
    /// How far a review is.
    ReviewState {
        #[default] Unreviewed = "unreviewed",
        Started = "review_started",
        Reviewed = "reviewed",
        RequestedChanges = "requested_changes",
        Approved = "approved",
        Unapproved = "unapproved",
    }
}

/// Somebody whose review is requested.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reviewer {
    pub user: u64,
    pub state: ReviewState,
    pub created_at: Timestamp,
}

record! {
    /// A request to merge one branch into another.
    MergeRequest {
        /// Its number in the target project.
        iid: u64,
        source_project: u64,
        target_project: u64,
        source_branch: String,
        target_branch: String,
        title: String,
        description: String,
        state: State,
        author: u64,
        /// The first of those who are to see it through.
        assignee: Option<u64>,
        /// The others.
        more_assignees: Vec<u64>,
        reviewers: Vec<Reviewer>,
        labels: Vec<String>,
        milestone: Option<u64>,
        created_at: Timestamp,
        updated_at: Timestamp,
        merged_at: Option<Timestamp>,
        merged_by: Option<u64>,
        closed_at: Option<Timestamp>,
        closed_by: Option<u64>,
        /// What it holds once merged or closed; while open, the branches say.
        range: Option<Range>,
        merge_commit_sha: Option<String>,
        /// What happens once the pipeline has succeeded.
        auto_merge: Option<MergeOrder>,
        /// Why the last merge or rebase failed.
        merge_error: Option<String>,
        /// Who approved it, and when.
        approvals: BTreeMap<u64, Timestamp>,
        should_remove_source_branch: Option<bool>,
        force_remove_source_branch: bool,
        squash: bool,
        discussion_locked: Option<bool>,
        approvals_before_merge: Option<u64>,
        allow_maintainer_to_push: bool,
        subscribers: BTreeSet<u64>,
        /// Reactions as earlier versions kept them: emoji to the people who gave it. Now they are [`Award`]s.
        reactions: BTreeMap<String, BTreeSet<u64>>,
        time: TimeSpent,
    }
}

impl MergeRequest {
    /// Those who are to see it through.
    pub fn assignees(&self) -> impl Iterator<Item = u64> {
        self.assignee.into_iter().chain(self.more_assignees.iter().copied())
    }

    /// Makes others see it through.
    pub fn set_assignees(&mut self, people: impl IntoIterator<Item = u64>) {
        let mut people = people.into_iter();
        self.assignee = people.next();
        self.more_assignees = people.collect();
    }

    /// Sets how far somebody's review is, if it was requested.
    pub fn set_review(&mut self, user: u64, state: ReviewState) {
        if let Some(reviewer) = self.reviewers.iter_mut().find(|reviewer| reviewer.user == user) {
            reviewer.state = state;
        }
    }
}

record! {
    /// What a merge request held after a push.
    Version {
        merge_request: u64,
        /// The merge base.
        base: String,
        /// The head of the target branch.
        start: String,
        /// The head of the source branch.
        head: String,
        created_at: Timestamp,
    }
}

record! {
    /// An issue.
    Issue {
        /// Its number in the project.
        iid: u64,
        project: u64,
        title: String,
        description: String,
        state: State,
        author: u64,
        assignees: Vec<u64>,
        labels: Vec<String>,
        milestone: Option<u64>,
        created_at: Timestamp,
        updated_at: Timestamp,
        closed_at: Option<Timestamp>,
        closed_by: Option<u64>,
        due_date: Option<Date>,
        confidential: bool,
        /// Empty: `issue`.
        issue_type: String,
        discussion_locked: Option<bool>,
        /// As those of a merge request.
        reactions: BTreeMap<String, BTreeSet<u64>>,
        time: TimeSpent,
    }
}

record! {
    /// A label of a project, or of a group.
    Label {
        /// 0 where it is of a group.
        project: u64,
        group: Option<u64>,
        name: String,
        color: String,
        description: String,
        priority: Option<u64>,
    }
}

record! {
    /// A milestone of a project, or of a group.
    Milestone {
        /// Its number in the project or group.
        iid: u64,
        /// 0 where it is of a group.
        project: u64,
        group: Option<u64>,
        title: String,
        description: String,
        state: MilestoneState,
        start_date: Option<Date>,
        due_date: Option<Date>,
        created_at: Timestamp,
        updated_at: Timestamp,
    }
}

record! {
    /// An epic of a group.
    Epic {
        /// Its number in the group.
        iid: u64,
        group: u64,
        title: String,
        description: String,
        author: u64,
        labels: Vec<String>,
        start_date: Option<Date>,
        end_date: Option<Date>,
        created_at: Timestamp,
        updated_at: Timestamp,
    }
}

/// What a note is written on, by the number of its record (never the number in the project).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Noteable {
    MergeRequest(u64),
    Issue(u64),
    Snippet(u64),
    Epic(u64),
}

impl Default for Noteable {
    fn default() -> Noteable {
        Noteable::MergeRequest(0)
    }
}

words! {
    /// A comment by itself, one that begins or answers a thread, and one in a thread on lines or on a file.
    NoteKind { #[default] Single = "single", Thread = "thread", Diff = "diff" }
}

record! {
    /// A comment, or what the system says happened.
    Note {
        on: Noteable,
        body: String,
        author: u64,
        created_at: Timestamp,
        updated_at: Timestamp,
        /// Written by the system: "closed", "changed title".
        system: bool,
        attachment: Option<String>,
        kind: NoteKind,
        /// The note that began the thread which this one answers; it may be gone.
        thread: Option<u64>,
        /// Of [`NoteKind::Diff`].
        position: Option<Position>,
        /// The commit that the position is of, where a single one is discussed.
        commit_id: Option<String>,
        resolved_by: Option<u64>,
        resolved_at: Option<Timestamp>,
    }
}

impl Note {
    /// The number of its thread: that of the note that began it.
    pub fn thread(&self) -> u64 {
        self.thread.unwrap_or(self.id)
    }

    /// Returns whether its thread can be resolved.
    pub fn is_resolvable(&self) -> bool {
        let can_be = matches!(self.on, Noteable::MergeRequest(_) | Noteable::Issue(_));
        can_be && !self.system && self.kind != NoteKind::Single
    }

    /// Returns whether it waits for somebody to resolve it.
    pub fn is_unresolved(&self) -> bool {
        self.is_resolvable() && self.resolved_at.is_none()
    }
}

record! {
    /// An emoji that somebody gave.
    Award {
        on: Noteable,
        /// The note that it was given to, where it is not the thing itself.
        note: Option<u64>,
        /// Without colons; `thumbsup` and `thumbsdown` are the votes.
        name: String,
        user: u64,
        created_at: Timestamp,
    }
}

record! {
    /// Lines that a note on lines proposes instead of them.
    Suggestion {
        note: u64,
        /// How many lines above and below its own it takes the place of.
        above: u64,
        below: u64,
        /// Where they were when it was written.
        from_line: u64,
        to_line: u64,
        from_content: String,
        to_content: String,
        is_applied: bool,
    }
}

record! {
    /// A comment of a review that is not published.
    DraftNote {
        merge_request: u64,
        author: u64,
        note: String,
        /// The thread that it answers.
        thread: Option<u64>,
        /// Whether publishing it resolves its thread.
        resolves: bool,
        position: Option<Position>,
        /// The commit that the position is of, where a single one is discussed.
        commit_id: Option<String>,
        line_code: Option<String>,
        created_at: Timestamp,
    }
}

record! {
    /// Something that waits for a person.
    Todo {
        /// Whom it waits for.
        user: u64,
        /// Who caused it.
        author: u64,
        action: TodoAction,
        on: Noteable,
        /// The note that caused it.
        note: Option<u64>,
        done: bool,
        created_at: Timestamp,
    }
}

record! {
    /// A snippet of a project.
    Snippet {
        project: u64,
        title: String,
        file_name: String,
        description: String,
        content: String,
        visibility: Visibility,
        author: u64,
        created_at: Timestamp,
        updated_at: Timestamp,
        /// What made it, if that was kept: user agent and address.
        user_agent: Option<(String, String)>,
    }
}

/// A variable that jobs of a pipeline know.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Variable {
    pub key: String,
    pub value: String,
    /// Whether jobs get a file that holds the value.
    pub is_file: bool,
}

record! {
    /// The jobs of one commit on one ref.
    Pipeline {
        project: u64,
        ref_name: String,
        tag: bool,
        sha: String,
        status: Status,
        user: Option<u64>,
        created_at: Timestamp,
        started_at: Option<Timestamp>,
        finished_at: Option<Timestamp>,
        /// Made by statuses from outside, without jobs.
        external: bool,
        /// What started it; empty: a push.
        source: String,
        /// What it was run with.
        variables: Vec<Variable>,
        /// Its number in the project; 0 in data of older versions.
        iid: u64,
    }
}

/// What a pipeline that another one of its project started is started by.
pub const PARENT: &str = "parent_pipeline";

impl Pipeline {
    /// Returns whether another pipeline of its project started it: lists leave it out, and it says nothing of its
    /// commit.
    pub fn is_child(&self) -> bool {
        self.source == PARENT
    }
}

record! {
    /// A job that starts another pipeline of its project. Its number is one of the sequence of jobs.
    Bridge {
        project: u64,
        pipeline: u64,
        name: String,
        stage: String,
        status: Status,
        user: Option<u64>,
        created_at: Timestamp,
        finished_at: Option<Timestamp>,
        /// A newer one of the name took its place.
        retried: bool,
        /// The pipeline that it started.
        downstream: Option<u64>,
        /// The jobs of that.
        jobs: Vec<Planned>,
    }
}

/// The files that a job left.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Artifacts {
    pub filename: String,
    /// Bytes of the archive.
    pub size: u64,
    pub expire_at: Option<Timestamp>,
    /// The [`Archive`] that holds them; jobs that leave the same share one.
    pub archive: u64,
}

record! {
    /// One job. What it printed follows from its script and its times: it is kept nowhere.
    Job {
        project: u64,
        pipeline: u64,
        name: String,
        stage: String,
        status: Status,
        ref_name: String,
        tag: bool,
        sha: String,
        user: Option<u64>,
        runner: Option<u64>,
        created_at: Timestamp,
        started_at: Option<Timestamp>,
        finished_at: Option<Timestamp>,
        erased_at: Option<Timestamp>,
        coverage: Option<f64>,
        allow_failure: bool,
        /// Waits for a person to start it.
        manual: bool,
        /// A newer job of the name took its place.
        retried: bool,
        tag_list: Vec<String>,
        artifacts: Option<Artifacts>,
        /// The environment that it deploys to, by name.
        environment: Option<String>,
        /// What plays when it runs here: the name of a [`Script`].
        script: Option<String>,
        /// When it began to wait for a runner; `None`: since it was made.
        queued_at: Option<Timestamp>,
    }
}

record! {
    /// What a job prints as time goes by, and how it ends.
    Script {
        name: String,
        /// In the form of [`script`](super::demo::script).
        text: String,
        /// How it ends.
        status: Status,
        coverage: Option<f64>,
        /// What it leaves: the number of an [`Archive`].
        archive: Option<u64>,
    }
}

/// A job that a [`Schedule`] makes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Planned {
    pub name: String,
    pub stage: String,
    pub script: Option<String>,
    pub manual: bool,
    pub allow_failure: bool,
    pub environment: Option<String>,
    pub runner: Option<u64>,
    pub tag_list: Vec<String>,
    /// The jobs of the pipeline that it starts; none: it is a job.
    pub triggers: Vec<Planned>,
}

record! {
    /// Pipelines that run by themselves, one after the other.
    Schedule {
        project: u64,
        user: u64,
        /// Refs in turn, with their commits.
        refs: Vec<(String, String)>,
        jobs: Vec<Planned>,
        /// Seconds between the end of one and the start of the next.
        pause: u32,
        /// Seconds that the first one is supposed to have been running.
        head_start: u32,
        /// How many were made.
        turn: u64,
        /// The newest.
        pipeline: Option<u64>,
    }
}

record! {
    /// A zip archive of files that jobs leave.
    Archive {
        name: String,
        #[serde(with = "bytes")]
        bytes: Vec<u8>,
        /// Seconds from the end of a job until it is gone; `None`: it stays.
        expires_in: Option<i64>,
    }
}

record! {
    /// A machine that runs jobs.
    Runner {
        description: String,
        name: Option<String>,
        active: bool,
        is_shared: bool,
        contacted_at: Option<Timestamp>,
        architecture: Option<String>,
        platform: Option<String>,
        revision: Option<String>,
        version: Option<String>,
        token: String,
        tag_list: Vec<String>,
        run_untagged: bool,
        locked: bool,
        access_level: RunnerAccess,
        projects: BTreeSet<u64>,
    }
}

record! {
    /// What a tag was released with.
    Release {
        project: u64,
        tag: String,
        /// That of the tag where it is empty.
        name: String,
        description: String,
        created_at: Timestamp,
        author: Option<u64>,
        /// What there is to download.
        #[serde(deserialize_with = "asset_links")]
        links: Vec<AssetLink>,
    }
}

/// Reads links; before they could be changed they were a name and an address.
fn asset_links<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<AssetLink>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Kept {
        Pair(String, String),
        Link(AssetLink),
    }
    let link = |(kept, id): (Kept, u64)| match kept {
        Kept::Pair(name, url) => AssetLink { id, name, url, link_type: "other".into() },
        Kept::Link(link) => link,
    };
    Ok(Vec::<Kept>::deserialize(deserializer)?.into_iter().zip(1..).map(link).collect())
}

record! {
    /// Where a project is deployed to.
    Environment { project: u64, name: String, external_url: Option<String>, is_stopped: bool }
}

record! {
    /// One deployment.
    Deployment {
        /// Its number in the project.
        iid: u64,
        project: u64,
        environment: u64,
        ref_name: String,
        sha: String,
        user: u64,
        job: Option<u64>,
        created_at: Timestamp,
    }
}

record! {
    /// A key for SSH.
    SshKey { user: u64, title: String, key: String, created_at: Timestamp }
}

record! {
    /// A key for signatures.
    GpgKey { user: u64, key: String, created_at: Timestamp }
}

record! {
    /// Who is told of what happens on the server.
    Hook {
        url: String,
        token: Option<String>,
        push_events: bool,
        tag_push_events: bool,
        merge_requests_events: bool,
        enable_ssl_verification: bool,
        created_at: Timestamp,
    }
}

record! {
    /// What a tool says about a commit.
    CommitStatus {
        project: u64,
        pipeline: u64,
        sha: String,
        ref_name: Option<String>,
        name: String,
        status: Status,
        target_url: Option<String>,
        description: Option<String>,
        coverage: Option<f64>,
        allow_failure: bool,
        author: u64,
        created_at: Timestamp,
        started_at: Option<Timestamp>,
        finished_at: Option<Timestamp>,
        /// A newer one of the name took its place.
        retried: bool,
    }
}

record! {
    /// A comment on a commit, perhaps on a line of its diff.
    CommitComment {
        project: u64,
        sha: String,
        note: String,
        author: u64,
        path: Option<String>,
        line: Option<u64>,
        /// `new` or `old`.
        line_type: Option<String>,
        created_at: Timestamp,
    }
}

record! {
    /// What a person wants to hear of.
    NotificationSetting {
        user: u64,
        /// `None`: everywhere.
        place: Option<Membership>,
        level: String,
        email: Option<String>,
        /// For the level `custom`: which events.
        events: BTreeMap<String, bool>,
    }
}

record! {
    /// A license of the server.
    License {
        starts_at: Option<Date>,
        expires_at: Option<Date>,
        /// `Name`, `Company`, `Email`.
        licensee: BTreeMap<String, String>,
        user_limit: Option<u64>,
        add_ons: BTreeMap<String, u64>,
    }
}

/// What a write does to repositories once its records are safe.
///
/// It is kept with the records and done after them, so that a server that was killed in between does it at its next
/// start: records and repositories never part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum RefUpdate {
    #[default]
    Nothing,
    /// A ref goes from one object to another; `None` is no ref.
    Ref { project: u64, name: String, from: Option<String>, to: Option<String> },
    /// HEAD names another branch.
    Head { project: u64, branch: String },
    /// The repository goes.
    Remove { project: u64 },
}

record! {
    /// A ref update of the latest write.
    Intent {
        /// Earlier versions wrote it under other names.
        #[serde(alias = "deed", alias = "job_action")]
        ref_update: RefUpdate,
    }
}

/// Bytes as Base64, so that a megabyte stays about a megabyte.
mod bytes {
    use base64::{Engine, engine::general_purpose::STANDARD};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(bytes: &[u8], s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&STANDARD.encode(bytes))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<u8>, D::Error> {
        STANDARD.decode(String::deserialize(d)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_earlier_version_meant_to_do_is_read_by_its_old_names() {
        let update = RefUpdate::Remove { project: 7 };
        for name in ["deed", "job_action", "ref_update"] {
            let text = serde_json::json!({"id": 1, name: &update}).to_string();
            let intent: Intent = serde_json::from_str(&text).unwrap();
            assert_eq!(intent.ref_update, update, "{name}");
        }
    }

    #[test]
    fn links_of_releases_are_read_as_an_earlier_version_kept_them() {
        let kept = |links: serde_json::Value| {
            let text = serde_json::json!({"id": 1, "links": links}).to_string();
            serde_json::from_str::<Release>(&text).unwrap()
        };
        let release = kept(serde_json::json!([["tar", "https://x/a.tar"], ["zip", "https://x/a.zip"]]));
        assert_eq!(
            release.links.iter().map(|link| (link.id, link.name.as_str())).collect::<Vec<_>>(),
            [(1, "tar"), (2, "zip")]
        );
        assert_eq!(kept(serde_json::to_value(&release.links).unwrap()).links, release.links);
    }
}
