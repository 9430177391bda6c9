//! The records of the backend: one plain struct per kind, as it is kept in memory and in the store.
//!
//! Records refer to one another by ID. Missing fields take their defaults, so that data folders of older versions load.

use api::notes::Position;
use api::protected_branches::covers;
use api::releases::AssetLink;
use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Declares an enum whose variants are strings in the API.
macro_rules! string_enum {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum $name { $(#[serde(rename = $word)] $(#[$vmeta])* $variant),* }

        impl $name {
            /// All variants, in order.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// Returns the string that the API uses.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word),* }
            }

            /// Parses a string of the API.
            pub fn from_name(name: &str) -> Option<$name> {
                match name { $($word => Some($name::$variant),)* _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

string_enum! {
    /// The visibility of a project, a group or a snippet.
    Visibility { #[default] Private = "private", Internal = "internal", Public = "public" }
}

string_enum! {
    /// The status of a job, a pipeline or a commit status.
    Status {
        #[default] Created = "created",
        Pending = "pending",
        Running = "running",
        Failed = "failed",
        Success = "success",
        Canceled = "canceled",
        Skipped = "skipped",
        Manual = "manual",
        Scheduled = "scheduled",
    }
}

impl Status {
    /// Returns whether it is final: failed, success or canceled.
    pub fn is_finished(self) -> bool {
        matches!(self, Status::Failed | Status::Success | Status::Canceled)
    }

    /// Returns whether it changes without anybody doing something.
    pub fn goes_on(self) -> bool {
        matches!(self, Status::Created | Status::Scheduled | Status::Pending | Status::Running)
    }
}

string_enum! {
    /// When a job runs: if no earlier one has failed, if one has, or in any case. Whether someone has to start it is apart.
    JobWhen { #[default] OnSuccess = "on_success", OnFailure = "on_failure", Always = "always" }
}

string_enum! {
    /// The state of a merge request or an issue.
    State { #[default] Opened = "opened", Closed = "closed", Merged = "merged" }
}

string_enum! {
    /// The merge method of a project: with a merge commit, with a merge commit only onto the head of the target branch,
    /// or by fast-forward.
    MergeMethod { #[default] Merge = "merge", RebaseMerge = "rebase_merge", FastForward = "ff" }
}

string_enum! {
    /// The state of a milestone.
    MilestoneState { #[default] Active = "active", Closed = "closed" }
}

string_enum! {
    /// The reason for a to-do item.
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

string_enum! {
    /// The access level of a runner: whether it runs only jobs of protected branches.
    RunnerAccess { #[default] NotProtected = "not_protected", RefProtected = "ref_protected" }
}

/// A row of a [`Table`](super::world::Table).
pub trait Record: Clone + Serialize + serde::de::DeserializeOwned {
    /// Returns the ID, which is unique in the table and never reused.
    fn id(&self) -> u64;
    fn set_id(&mut self, id: u64);
}

/// Declares a record: its derives, and its ID.
macro_rules! record {
    ($(#[$meta:meta])* $name:ident { $($(#[$fmeta:meta])* $field:ident: $type:ty),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct $name {
            /// The ID, unique in its table; 0 until the record is added.
            pub id: u64,
            $($(#[$fmeta])* pub $field: $type),*
        }

        impl Record for $name {
            fn id(&self) -> u64 { self.id }
            fn set_id(&mut self, id: u64) { self.id = id; }
        }
    };
}

/// The settings that were set, by name.
pub type Settings = BTreeMap<String, serde_json::Value>;

/// The access levels of members.
pub mod level {
    /// The level that allows managing issues, but not reading code.
    pub const PLANNER: u8 = 15;
    /// The level that allows viewing a project.
    pub const GUEST: u8 = 10;
    /// The level that also allows reading code.
    pub const REPORTER: u8 = 20;
    /// The level that also allows pushing.
    pub const DEVELOPER: u8 = 30;
    /// The level that also allows managing a project.
    pub const MAINTAINER: u8 = 40;
    /// The level that allows everything.
    pub const OWNER: u8 = 50;
}

/// An identity of a user at an authentication provider.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    pub provider: String,
    pub extern_uid: String,
}

record! {
    /// A user.
    User {
        username: String,
        name: String,
        email: String,
        blocked: bool,
        admin: bool,
        /// Whether the user stands in for all deleted users; it never signs in.
        is_ghost: bool,
        /// The ID of the user's namespace. Groups and namespaces share one ID sequence, and
        /// [`World::add_user`](super::world::World::add_user) assigns it.
        namespace_id: u64,
        avatar_url: Option<String>,
        bio: Option<String>,
        location: Option<String>,
        /// The account name at a messaging service.
        messenger_id: String,
        /// The account name at a professional network.
        network_profile: String,
        /// The account name at a microblogging service.
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
    /// An avatar of a user or of a project.
    Avatar {
        user: Option<u64>,
        project: Option<u64>,
        filename: String,
        #[serde(with = "bytes")]
        bytes: Vec<u8>,
    }
}

record! {
    /// An access token of a user.
    Token {
        user: u64,
        name: String,
        secret: String,
        /// The scopes; empty means all.
        scopes: Vec<String>,
        /// The permissions of a fine-grained token: `read_merge_request`.
        permissions: Vec<String>,
        /// The time from which the token is rejected.
        expires_at: Option<Timestamp>,
        /// The refresh token, if it is an OAuth token.
        refresh: Option<String>,
        /// The time from which an OAuth token can no longer be refreshed: the expiry of the token that authorized it.
        refresh_until: Option<Timestamp>,
        /// When the token was used to authorize a device with a wrong user code; only recent times are kept.
        wrong_codes: Vec<Timestamp>,
        /// The project or the group whose token it is; its user exists only for it.
        project: Option<u64>,
        group: Option<u64>,
        created_at: Timestamp,
        description: Option<String>,
    }
}

impl Token {
    /// Returns the project or the group whose token it is.
    pub fn place(&self) -> Option<Scope> {
        self.project.map(Scope::Project).or(self.group.map(Scope::Group))
    }
}

record! {
    /// A pending authorization of a device (OAuth device grant).
    DeviceGrant {
        device_code: String,
        user_code: String,
        scope: String,
        /// The user who authorized it.
        user: Option<u64>,
        expires_at: Timestamp,
        /// The expiry of the token that authorized it.
        token_expires_at: Option<Timestamp>,
        /// When the device last asked for its token.
        polled_at: Option<Timestamp>,
    }
}

/// A link from an LDAP group to a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DirectoryLink {
    pub cn: String,
    pub group_access: u8,
    pub provider: String,
}

record! {
    /// A group of projects, possibly a subgroup.
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
        settings: Settings,
        /// The highest IID of a deleted milestone; IIDs are never reused.
        last_milestone_iid: u64,
        /// Whether a merge must name the head commit.
        require_sha_for_merge: bool,
    }
}

/// The project or group that a member, label, milestone or setting belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Scope {
    Group(u64),
    Project(u64),
}

impl Default for Scope {
    fn default() -> Scope {
        Scope::Project(0)
    }
}

record! {
    /// A member of a group or a project.
    Member {
        place: Scope,
        user: u64,
        /// The access level, one of [`level`].
        level: u8,
        created_at: Timestamp,
        /// The day on which the membership ends.
        expires_at: Option<Date>,
    }
}

/// The namespace of a project: a user's or a group.
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

/// A rule for protected branches: only maintainers may push, unless it says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProtectedBranch {
    /// The ID in the project; 0 in data of older versions.
    pub id: u64,
    /// The name of a branch, or a pattern with `*`.
    pub name: String,
    pub developers_can_push: bool,
    pub developers_can_merge: bool,
    pub nobody_can_push: bool,
    pub nobody_can_merge: bool,
    pub allow_force_push: bool,
}

/// A rule for protected tags.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProtectedTag {
    /// The ID in the project.
    pub id: u64,
    /// The name of a tag, or a pattern with `*`.
    pub name: String,
    /// The access level required to create a tag; 0 if no one may.
    pub create_level: u8,
}

impl ProtectedBranch {
    /// Returns the access level required to push; 0 if no one may.
    pub fn push_level(&self) -> u8 {
        match (self.developers_can_push, self.nobody_can_push) {
            (true, _) => level::DEVELOPER,
            (false, true) => 0,
            (false, false) => level::MAINTAINER,
        }
    }

    /// Returns the access level required to merge; 0 if no one may.
    pub fn merge_level(&self) -> u8 {
        match (self.developers_can_merge, self.nobody_can_merge) {
            (true, _) => level::DEVELOPER,
            (false, true) => 0,
            (false, false) => level::MAINTAINER,
        }
    }
}

impl Project {
    /// Returns the rules that match a branch.
    pub fn protection(&self, branch: &str) -> impl Iterator<Item = &ProtectedBranch> {
        self.protected_branches.iter().filter(move |rule| covers(&rule.name, branch))
    }

    /// Adds a rule under a new ID, and returns it.
    pub fn protect(&mut self, rule: ProtectedBranch) -> ProtectedBranch {
        let last = self.protected_branches.iter().map(|known| known.id).max().unwrap_or(0);
        let rule = ProtectedBranch { id: last + 1, ..rule };
        self.protected_branches.push(rule.clone());
        rule
    }

    pub fn is_protected(&self, branch: &str) -> bool {
        self.protection(branch).next().is_some()
    }

    /// Returns the rules that match a tag.
    pub fn tag_protection(&self, tag: &str) -> impl Iterator<Item = &ProtectedTag> {
        self.protected_tags.iter().filter(move |rule| covers(&rule.name, tag))
    }

    pub fn is_tag_protected(&self, tag: &str) -> bool {
        self.tag_protection(tag).next().is_some()
    }
}

record! {
    /// A project; its repository is the folder `<id>.git` in the repositories folder.
    Project {
        name: String,
        path: String,
        namespace: Namespace,
        description: Option<String>,
        /// The default branch; `None` while the repository is empty.
        default_branch: Option<String>,
        visibility: Visibility,
        tag_list: Vec<String>,
        creator: u64,
        created_at: Timestamp,
        last_activity_at: Timestamp,
        archived: bool,
        /// The project that it was forked from.
        forked_from: Option<u64>,
        /// The users who starred it.
        stars: BTreeSet<u64>,
        /// Features that are disabled; all others are enabled.
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
        /// The repository on this machine that the project shows, if the server was started with it.
        local_origin: Option<String>,
        ci_config_path: Option<String>,
        avatar_url: Option<String>,
        shared_with: Vec<Share>,
        protected_branches: Vec<ProtectedBranch>,
        protected_tags: Vec<ProtectedTag>,
        /// The highest IID of a merge request so far; IIDs are never reused.
        last_request_iid: u64,
        /// The highest IID of a pipeline so far.
        last_pipeline_iid: u64,
        /// The highest IID of an issue so far.
        last_issue_iid: u64,
        /// The highest IID of a deleted milestone.
        last_milestone_iid: u64,
        custom_attributes: BTreeMap<String, String>,
        settings: Settings,
    }
}

/// The estimated and spent time, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimeSpent {
    pub estimate: u64,
    pub spent: u64,
}

/// The two ends of a diff, stored because the branches may be removed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// The merge base at that time.
    pub base: String,
    /// The head of the source branch at that time.
    pub head: String,
}

/// A requested merge, possibly to be done later.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MergeParams {
    pub user: u64,
    /// The head of the source branch to merge.
    pub sha: String,
    /// The commit messages, if they differ from the default.
    pub merge_message: Option<String>,
    pub squash_message: Option<String>,
}

string_enum! {
    /// The state of a review.
    ReviewState {
        #[default] Unreviewed = "unreviewed",
        Started = "review_started",
        Reviewed = "reviewed",
        RequestedChanges = "requested_changes",
        Approved = "approved",
        Unapproved = "unapproved",
    }
}

/// A user whose review is requested.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reviewer {
    pub user: u64,
    pub state: ReviewState,
    pub created_at: Timestamp,
}

record! {
    /// A merge request.
    MergeRequest {
        /// The IID in the target project.
        iid: u64,
        source_project: u64,
        target_project: u64,
        source_branch: String,
        target_branch: String,
        title: String,
        description: String,
        state: State,
        author: u64,
        /// The first assignee.
        assignee: Option<u64>,
        /// The other assignees.
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
        /// The diff range, fixed once it is merged or closed; while it is open, the range follows the branches.
        range: Option<Range>,
        merge_commit_sha: Option<String>,
        /// The commit that its commits were squashed to.
        squash_commit_sha: Option<String>,
        /// The merge that is to be done once the pipeline succeeds.
        auto_merge: Option<MergeParams>,
        /// The reason why the last merge or rebase failed.
        merge_error: Option<String>,
        /// The users who approved it, and the time of each approval.
        approvals: BTreeMap<u64, Timestamp>,
        should_remove_source_branch: Option<bool>,
        force_remove_source_branch: bool,
        squash: bool,
        discussion_locked: Option<bool>,
        approvals_before_merge: Option<u64>,
        allow_maintainer_to_push: bool,
        subscribers: BTreeSet<u64>,
        /// The reactions as earlier versions stored them, from emoji names to users; now stored as [`Award`]s.
        reactions: BTreeMap<String, BTreeSet<u64>>,
        time: TimeSpent,
    }
}

impl MergeRequest {
    pub fn assignees(&self) -> impl Iterator<Item = u64> {
        self.assignee.into_iter().chain(self.more_assignees.iter().copied())
    }

    pub fn set_assignees(&mut self, people: impl IntoIterator<Item = u64>) {
        let mut people = people.into_iter();
        self.assignee = people.next();
        self.more_assignees = people.collect();
    }

    pub fn is_reviewer(&self, user: u64) -> bool {
        self.reviewers.iter().any(|reviewer| reviewer.user == user)
    }

    /// Sets the state of a user's review, if it was requested.
    pub fn set_review(&mut self, user: u64, state: ReviewState) {
        if let Some(reviewer) = self.reviewers.iter_mut().find(|reviewer| reviewer.user == user) {
            reviewer.state = state;
        }
    }
}

record! {
    /// A push of a branch or a tag.
    Push {
        project: u64,
        author: u64,
        created_at: Timestamp,
        /// The full name of the ref.
        name: String,
        /// The commit before; none if the push created the ref.
        before: Option<String>,
        /// The commit after; none if the push deleted the ref.
        after: Option<String>,
        /// The number of pushed commits.
        commits: u64,
        /// The subject of the last commit.
        title: Option<String>,
    }
}

record! {
    /// A diff version of a merge request, recorded after a push.
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
        /// The IID in the project.
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
        /// The type of the issue; empty means `issue`.
        issue_type: String,
        discussion_locked: Option<bool>,
        subscribers: BTreeSet<u64>,
        /// The reactions as earlier versions stored them, as in [`MergeRequest`].
        reactions: BTreeMap<String, BTreeSet<u64>>,
        time: TimeSpent,
    }
}

record! {
    /// A link between two issues, by their IDs.
    IssueLink {
        source: u64,
        target: u64,
        /// Whether the source blocks the target, instead of being related to it.
        blocks: bool,
        created_at: Timestamp,
    }
}

record! {
    /// A merge request that must be merged before another one, by their IDs.
    Dependency {
        blocking: u64,
        blocked: u64,
    }
}

record! {
    /// A label of a project or a group.
    Label {
        /// The project; 0 for a label of a group.
        project: u64,
        group: Option<u64>,
        name: String,
        color: String,
        description: String,
        priority: Option<u64>,
        subscribers: BTreeSet<u64>,
    }
}

record! {
    /// A milestone of a project or a group.
    Milestone {
        /// The IID in the project or group.
        iid: u64,
        /// The project; 0 for a milestone of a group.
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
        /// The IID in the group.
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

/// The object that a note belongs to, by the ID of its record (never its IID).
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

string_enum! {
    /// The kind of a note: an individual note, part of a thread, or part of a diff thread on lines or a file.
    NoteKind { #[default] Single = "single", Thread = "thread", Diff = "diff" }
}

record! {
    /// A comment or a system note.
    Note {
        on: Noteable,
        body: String,
        author: u64,
        created_at: Timestamp,
        updated_at: Timestamp,
        /// Whether it was written by the system: "closed", "changed title".
        system: bool,
        /// Whether only members and those whom the object concerns may read it.
        internal: bool,
        attachment: Option<String>,
        kind: NoteKind,
        /// The first note of the thread that this one replies to; it may have been deleted.
        thread: Option<u64>,
        /// The position in the diff, for [`NoteKind::Diff`].
        position: Option<Position>,
        /// The commit of the position, if the thread is on a single commit.
        commit_id: Option<String>,
        resolved_by: Option<u64>,
        resolved_at: Option<Timestamp>,
    }
}

impl Note {
    /// Returns the ID of its thread, which is the ID of the thread's first note.
    pub fn thread(&self) -> u64 {
        self.thread.unwrap_or(self.id)
    }

    /// Returns whether its thread can be resolved.
    pub fn is_resolvable(&self) -> bool {
        let can_be = matches!(self.on, Noteable::MergeRequest(_) | Noteable::Issue(_));
        can_be && !self.system && self.kind != NoteKind::Single
    }

    /// Returns whether it can be resolved and is not.
    pub fn is_unresolved(&self) -> bool {
        self.is_resolvable() && self.resolved_at.is_none()
    }
}

record! {
    /// An emoji reaction.
    Award {
        on: Noteable,
        /// The note that it is on, if it is not on the object itself.
        note: Option<u64>,
        /// The name of the emoji without colons; `thumbsup` and `thumbsdown` are votes.
        name: String,
        user: u64,
        created_at: Timestamp,
    }
}

record! {
    /// A suggested change in a note on a diff.
    Suggestion {
        note: u64,
        /// The numbers of lines above and below the commented line that it replaces.
        above: u64,
        below: u64,
        /// The replaced lines at the time when the note was written.
        from_line: u64,
        to_line: u64,
        from_content: String,
        to_content: String,
        is_applied: bool,
    }
}

record! {
    /// A draft note of a review that has not been published.
    DraftNote {
        merge_request: u64,
        author: u64,
        note: String,
        /// The thread that it replies to.
        thread: Option<u64>,
        /// Whether publishing it resolves its thread.
        resolves: bool,
        position: Option<Position>,
        /// The commit of the position, if the thread is on a single commit.
        commit_id: Option<String>,
        line_code: Option<String>,
        created_at: Timestamp,
    }
}

record! {
    /// A to-do item.
    Todo {
        /// The user who has to act.
        user: u64,
        /// The user who caused it.
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
        /// The paths and texts of further files, in the order of their paths.
        more_files: Vec<(String, String)>,
        visibility: Visibility,
        author: u64,
        created_at: Timestamp,
        updated_at: Timestamp,
        /// The user agent and the IP address of its author, if they were recorded.
        user_agent: Option<(String, String)>,
    }
}

/// A CI/CD variable.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Variable {
    pub key: String,
    pub value: String,
    /// Whether jobs get a file with the value.
    pub is_file: bool,
}

record! {
    /// A CI/CD variable.
    CiVariable {
        /// The project or group; `None` for the instance.
        place: Option<Scope>,
        key: String,
        value: String,
        /// Whether jobs get a file with the value.
        is_file: bool,
        /// Whether only jobs of protected branches and tags get it.
        protected: bool,
        /// Whether its value is replaced in traces.
        masked: bool,
        /// Whether its value is never shown again.
        hidden: bool,
        raw: bool,
        /// The name of the environments whose jobs get it, or a pattern with `*`.
        environment_scope: String,
        description: Option<String>,
    }
}

record! {
    /// A token that starts pipelines of a project as its owner.
    PipelineTrigger {
        project: u64,
        owner: u64,
        token: String,
        description: String,
        created_at: Timestamp,
        updated_at: Timestamp,
        last_used: Option<Timestamp>,
    }
}

record! {
    /// A schedule of pipelines, as people create it.
    PipelineSchedule {
        project: u64,
        description: String,
        /// The full name of a branch or tag.
        ref_name: String,
        /// The times, in the format of cron.
        cron: String,
        /// The name of a time zone.
        cron_timezone: String,
        active: bool,
        owner: u64,
        variables: Vec<Variable>,
        /// The values of the inputs of the configuration.
        inputs: BTreeMap<String, serde_json::Value>,
        /// The time of the next pipeline; `None` while it is inactive.
        next_run_at: Option<Timestamp>,
        /// The IDs of its pipelines, oldest first.
        pipelines: Vec<u64>,
        created_at: Timestamp,
        updated_at: Timestamp,
    }
}

record! {
    /// A pipeline: the jobs of one commit on one ref.
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
        /// Whether it was created by external commit statuses and has no jobs.
        external: bool,
        /// The event that started it; empty means a push.
        source: String,
        /// The variables that it was started with.
        variables: Vec<Variable>,
        name: Option<String>,
        /// The IID in the project; 0 in data of older versions.
        iid: u64,
        /// The mistake in the CI configuration; the pipeline has no jobs then.
        yaml_errors: Option<String>,
    }
}

/// The source of a pipeline that was started by another pipeline of its project.
pub const PARENT_PIPELINE: &str = "parent_pipeline";

impl Pipeline {
    /// Returns whether it was started by another pipeline of its project. Child pipelines are left out of lists and do
    /// not affect the status of their commit.
    pub fn is_child(&self) -> bool {
        self.source == PARENT_PIPELINE
    }
}

record! {
    /// A trigger job, which starts a child pipeline in its project. Its ID is from the sequence of job IDs.
    Bridge {
        project: u64,
        pipeline: u64,
        name: String,
        stage: String,
        status: Status,
        user: Option<u64>,
        created_at: Timestamp,
        finished_at: Option<Timestamp>,
        /// Whether a newer one of the same name has replaced it.
        retried: bool,
        /// The pipeline that it started.
        downstream: Option<u64>,
        /// The jobs of the pipeline that it starts.
        jobs: Vec<Planned>,
    }
}

/// The artifacts of a job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Artifacts {
    pub filename: String,
    /// The size of the archive in bytes.
    pub size: u64,
    pub expire_at: Option<Timestamp>,
    /// The [`Archive`] with the files; jobs with the same artifacts share one.
    pub archive: u64,
}

record! {
    /// A job. Its trace is not stored: it follows from the script and the times of the job.
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
        /// Whether it waits for someone to start it.
        manual: bool,
        /// Whether later stages wait for it although it is manual.
        is_blocking: bool,
        when: JobWhen,
        /// The names of the jobs that it follows; `None` means all jobs of earlier stages.
        needs: Option<Vec<String>>,
        /// Whether a newer job of the same name has replaced it.
        retried: bool,
        tag_list: Vec<String>,
        artifacts: Option<Artifacts>,
        /// The name of the environment that it deploys to.
        environment: Option<String>,
        /// The name of the [`Script`] that it plays when it runs on this server.
        script: Option<String>,
        /// The time when it was queued for a runner; `None` means its creation.
        queued_at: Option<Timestamp>,
        /// The seconds that it waits once its stage has come.
        delay: Option<u64>,
        /// The time when that wait began.
        scheduled_at: Option<Timestamp>,
    }
}

record! {
    /// The timed output of a job, and its result.
    Script {
        name: String,
        /// The text, in the format of [`script`](super::demo::script).
        text: String,
        /// The final status of the job.
        status: Status,
        coverage: Option<f64>,
        /// The ID of the [`Archive`] with its artifacts.
        archive: Option<u64>,
    }
}

/// The definition of a job that a [`Schedule`] creates.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Planned {
    pub name: String,
    pub stage: String,
    pub script: Option<String>,
    pub manual: bool,
    pub is_blocking: bool,
    pub when: JobWhen,
    /// The seconds that it waits once its stage has come.
    pub delay: Option<u64>,
    pub needs: Option<Vec<String>>,
    pub allow_failure: bool,
    pub environment: Option<String>,
    pub runner: Option<u64>,
    pub tag_list: Vec<String>,
    /// The jobs of the pipeline that it triggers; if empty, it is an ordinary job.
    pub triggers: Vec<Planned>,
}

record! {
    /// A schedule that starts pipelines one after the other.
    Schedule {
        project: u64,
        user: u64,
        /// The refs and their commits, used in turn.
        refs: Vec<(String, String)>,
        jobs: Vec<Planned>,
        /// The seconds between the end of a pipeline and the start of the next one.
        pause: u32,
        /// The seconds for which the first pipeline appears to have been running.
        head_start: u32,
        /// The number of pipelines created so far.
        turn: u64,
        /// The latest pipeline.
        pipeline: Option<u64>,
    }
}

/// A report of a job, which can be downloaded by its type.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReportFile {
    /// The type of the artifact: `cobertura`, `codequality`.
    pub file_type: String,
    pub filename: String,
    /// The content, packed with gzip.
    #[serde(with = "bytes")]
    pub bytes: Vec<u8>,
}

record! {
    /// A zip archive of job artifacts.
    Archive {
        name: String,
        #[serde(with = "bytes")]
        bytes: Vec<u8>,
        /// The reports among them.
        reports: Vec<ReportFile>,
        /// The seconds from the end of a job until its artifacts expire; `None` means never.
        expires_in: Option<i64>,
    }
}

record! {
    /// A runner.
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
    /// A file that was attached to a text in a project.
    Upload {
        project: u64,
        user: u64,
        /// The part of its address that cannot be guessed.
        secret: String,
        filename: String,
        #[serde(with = "bytes")]
        bytes: Vec<u8>,
        created_at: Timestamp,
    }
}

record! {
    /// A release of a tag.
    Release {
        project: u64,
        tag: String,
        /// The name; if empty, the name of the tag.
        name: String,
        description: String,
        created_at: Timestamp,
        /// The release date, if it is not that of its creation.
        released_at: Option<Timestamp>,
        author: Option<u64>,
        milestones: Vec<u64>,
        /// The download links.
        #[serde(deserialize_with = "asset_links")]
        links: Vec<AssetLink>,
    }
}

impl Release {
    pub fn released_at(&self) -> Timestamp {
        self.released_at.unwrap_or(self.created_at)
    }
}

/// Deserializes asset links; earlier versions stored each as a pair of name and URL.
fn asset_links<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<AssetLink>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum StoredLink {
        Pair(String, String),
        Link(AssetLink),
    }
    let link = |(stored, id): (StoredLink, u64)| match stored {
        StoredLink::Pair(name, url) => AssetLink { id, name, url, link_type: "other".into(), ..AssetLink::default() },
        StoredLink::Link(link) => link,
    };
    Ok(Vec::<StoredLink>::deserialize(deserializer)?.into_iter().zip(1..).map(link).collect())
}

record! {
    /// A deployment environment of a project.
    Environment {
        project: u64,
        name: String,
        external_url: Option<String>,
        is_stopped: bool,
        /// The number of approvals that a deployment needs; 0 for an environment that is not protected.
        required_approvals: u64,
    }
}

/// An approval or a rejection of a deployment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Approval {
    pub user: u64,
    pub is_rejection: bool,
    pub comment: Option<String>,
    pub created_at: Timestamp,
}

record! {
    /// A deployment.
    Deployment {
        /// The IID in the project.
        iid: u64,
        project: u64,
        environment: u64,
        ref_name: String,
        sha: String,
        user: u64,
        job: Option<u64>,
        created_at: Timestamp,
        /// `blocked`, `created` or `failed`; empty for a deployment that succeeded.
        status: String,
        approvals: Vec<Approval>,
    }
}

impl Deployment {
    /// Returns whether the commit was deployed.
    pub fn is_success(&self) -> bool {
        self.status.is_empty()
    }
}

record! {
    /// An SSH key.
    SshKey { user: u64, title: String, key: String, created_at: Timestamp }
}

record! {
    /// A GPG key.
    GpgKey { user: u64, key: String, created_at: Timestamp }
}

record! {
    /// A system hook, which is notified of events on the server.
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
    /// A commit status set by an external tool.
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
        /// Whether a newer one of the same name has replaced it.
        retried: bool,
    }
}

record! {
    /// A comment on a commit, possibly on a line of its diff.
    CommitComment {
        project: u64,
        sha: String,
        note: String,
        author: u64,
        path: Option<String>,
        line: Option<u64>,
        /// The side of the diff: `new` or `old`.
        line_type: Option<String>,
        created_at: Timestamp,
        updated_at: Option<Timestamp>,
        /// The first comment of the thread that this one replies to; it may have been deleted.
        thread: Option<u64>,
        /// Whether it is part of a thread; plain comments cannot be replied to.
        is_thread: bool,
        position: Option<Position>,
    }
}

record! {
    /// A notification setting of a user.
    NotificationSetting {
        user: u64,
        /// The group or project; `None` for the global setting.
        place: Option<Scope>,
        level: String,
        email: Option<String>,
        /// The enabled events of the level `custom`.
        events: BTreeMap<String, bool>,
    }
}

record! {
    /// A license of the server.
    License {
        starts_at: Option<Date>,
        expires_at: Option<Date>,
        /// The licensee, with the keys `Name`, `Company` and `Email`.
        licensee: BTreeMap<String, String>,
        user_limit: Option<u64>,
        add_ons: BTreeMap<String, u64>,
    }
}

/// A change of a repository that a write makes after its records are committed.
///
/// The update is stored with the records and applied after them. A server that was killed in between applies it at the
/// next start, so that records and repositories stay consistent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum RefUpdate {
    #[default]
    Nothing,
    /// An update of a ref from one object to another; `None` means that the ref does not exist.
    Ref { project: u64, name: String, from: Option<String>, to: Option<String> },
    /// A change of HEAD to another branch.
    Head { project: u64, branch: String },
    /// The removal of the repository.
    Remove { project: u64 },
}

record! {
    /// A ref update of the latest write, to be applied after a crash.
    Intent {
        /// Earlier versions used other names.
        #[serde(alias = "deed", alias = "job_action")]
        ref_update: RefUpdate,
    }
}

/// Serializes bytes as Base64, so that a megabyte stays about a megabyte.
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
    fn intents_of_earlier_versions_are_read() {
        let update = RefUpdate::Remove { project: 7 };
        for name in ["deed", "job_action", "ref_update"] {
            let text = serde_json::json!({"id": 1, name: &update}).to_string();
            let intent: Intent = serde_json::from_str(&text).unwrap();
            assert_eq!(intent.ref_update, update, "{name}");
        }
    }

    #[test]
    fn release_links_of_earlier_versions_are_read() {
        let load = |links: serde_json::Value| {
            let text = serde_json::json!({"id": 1, "links": links}).to_string();
            serde_json::from_str::<Release>(&text).unwrap()
        };
        let release = load(serde_json::json!([["tar", "https://x/a.tar"], ["zip", "https://x/a.zip"]]));
        assert_eq!(
            release.links.iter().map(|link| (link.id, link.name.as_str())).collect::<Vec<_>>(),
            [(1, "tar"), (2, "zip")]
        );
        assert_eq!(load(serde_json::to_value(&release.links).unwrap()).links, release.links);
    }
}
