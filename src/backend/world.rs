//! The records of the server: tables that are copied on write.
//!
//! A [`World`] is cheap to clone: clones share their tables until one of them changes. A request reads a snapshot and
//! holds no lock. A write works on a clone that replaces the current world only after the handler has succeeded and the
//! changes are in the store, so a failed or panicking handler leaves nothing half done.

use super::records::*;
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The records of one kind by ID. IDs increase and are never reused.
#[derive(Clone, Debug)]
pub struct Table<T> {
    /// Sorted by ID. A new ID is the largest, so that new rows are added at the end, unless the row has its own ID.
    rows: Arc<Vec<(u64, Arc<T>)>>,
    last: u64,
    /// The IDs of rows that were added, changed or removed since the last [`Table::take_changes`].
    changed: BTreeSet<u64>,
    /// The last ID that is recorded in the store.
    stored: u64,
}

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table { rows: Arc::default(), last: 0, changed: BTreeSet::new(), stored: 0 }
    }
}

impl<T: Record> Table<T> {
    pub fn get(&self, id: u64) -> Option<&T> {
        self.get_arc(id).map(Arc::as_ref)
    }

    /// Returns a shared pointer to the row with an ID.
    pub fn get_arc(&self, id: u64) -> Option<&Arc<T>> {
        self.rows.get(self.position(id).ok()?).map(|(_, row)| row)
    }

    /// Returns the position of the row with an ID, or the one at which it would be inserted.
    fn position(&self, id: u64) -> Result<usize, usize> {
        self.rows.binary_search_by_key(&id, |(id, _)| *id)
    }

    /// Adds a row, or replaces the one with this ID.
    fn insert(&mut self, id: u64, row: T) {
        self.last = self.last.max(id);
        let (at, row) = (self.position(id), Arc::new(row));
        let rows = Arc::make_mut(&mut self.rows);
        match at {
            Err(at) => rows.insert(at, (id, row)),
            Ok(at) => {
                if let Some((_, old)) = rows.get_mut(at) {
                    *old = row;
                }
            }
        }
    }

    /// Returns all rows, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + Clone {
        self.rows.iter().map(|(_, row)| row.as_ref())
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the next ID, which is never assigned again.
    pub fn next_id(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Adds a row under a new ID, or under its own if that is not 0 (a world with fixed IDs; a trigger job, whose ID is
    /// from the sequence of jobs). Returns the ID.
    pub fn add(&mut self, mut row: T) -> u64 {
        let id = if row.id() == 0 { self.next_id() } else { row.id() };
        row.set_id(id);
        self.insert(id, row);
        self.changed.insert(id);
        id
    }

    /// Returns a mutable reference to the row with an ID.
    pub fn get_mut(&mut self, id: u64) -> Option<&mut T> {
        // Checked first, so that a lookup of a missing row does not copy the table.
        let at = self.position(id).ok()?;
        self.changed.insert(id);
        Arc::make_mut(&mut self.rows).get_mut(at).map(|(_, row)| Arc::make_mut(row))
    }

    pub fn remove(&mut self, id: u64) -> Option<T> {
        let at = self.position(id).ok()?;
        self.changed.insert(id);
        Some(Arc::unwrap_or_clone(Arc::make_mut(&mut self.rows).remove(at).1))
    }

    /// Removes all rows for which `gone` returns true.
    pub fn remove_where(&mut self, gone: impl Fn(&T) -> bool) -> Vec<T> {
        // Checked first, so that a search without a result does not copy the table.
        if !self.iter().any(&gone) {
            return Vec::new();
        }
        let mut removed = Vec::new();
        Arc::make_mut(&mut self.rows).retain(|(id, row)| {
            let is_gone = gone(row);
            if is_gone {
                self.changed.insert(*id);
                removed.push(Arc::clone(row));
            }
            !is_gone
        });
        removed.into_iter().map(Arc::unwrap_or_clone).collect()
    }

    fn take_changes(&mut self, table: &'static str, out: &mut Vec<Change>) {
        if !self.is_changed() {
            return;
        }
        self.stored = self.last;
        for id in std::mem::take(&mut self.changed) {
            out.push(Change { table, id, row: self.row(id) });
        }
        out.push(Change { table: LAST_IDS, id: table_key(table), row: Some(self.last.to_le_bytes().to_vec()) });
    }

    /// Returns whether there is something to store; a drawn ID counts even if no row uses it.
    fn is_changed(&self) -> bool {
        !self.changed.is_empty() || self.last != self.stored
    }

    /// Returns a row in the format of the store.
    fn row(&self, id: u64) -> Option<Vec<u8>> {
        self.get(id).and_then(|row| serde_json::to_vec(row).ok())
    }

    fn load(&mut self, id: u64, row: &[u8]) -> Result<(), String> {
        let mut row: T = serde_json::from_slice(row).map_err(|e| format!("row {id} cannot be read: {e}"))?;
        row.set_id(id);
        self.insert(id, row);
        Ok(())
    }
}

/// The name of the store's table with the last ID of each table.
pub const LAST_IDS: &str = "last_ids";

/// A row to be written to or removed from the store.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub table: &'static str,
    pub id: u64,
    /// The row as JSON; `None` if it was removed.
    pub row: Option<Vec<u8>>,
}

fn table_key(table: &str) -> u64 {
    World::TABLES.iter().position(|name| *name == table).unwrap_or(usize::MAX) as u64
}

/// Declares the world with one field per table, and the functions that iterate over all tables for the store.
macro_rules! tables {
    ($($field:ident: $record:ty),* $(,)?) => {
        /// All records of the server.
        #[derive(Clone, Debug, Default)]
        pub struct World { $(pub $field: Table<$record>),* }

        impl World {
            /// The names of the tables. Add new ones at the end: the store identifies them by their position.
            pub const TABLES: &'static [&'static str] = &[$(stringify!($field)),*];

            /// Returns the changes since the last call, for the store.
            pub fn take_changes(&mut self) -> Vec<Change> {
                let mut out = Vec::new();
                $(self.$field.take_changes(stringify!($field), &mut out);)*
                out
            }

            /// Returns changes that revert `changes`, by restoring each row as it is in this world, which does not have
            /// them.
            pub fn undo(&self, changes: &[Change]) -> Vec<Change> {
                let row = |change: &Change| match change.table {
                    $(stringify!($field) => self.$field.row(change.id),)*
                    _ => None,
                };
                // The last IDs are kept: IDs that were assigned once are not assigned again.
                let rows = changes.iter().filter(|change| change.table != LAST_IDS);
                rows.map(|change| Change { row: row(change), ..change.clone() }).collect()
            }

            /// Loads a row from the store. Unknown tables are from a newer version and are ignored.
            pub fn load(&mut self, table: &str, id: u64, row: &[u8]) -> Result<(), String> {
                if table == LAST_IDS {
                    let last = row.try_into().map(u64::from_le_bytes).map_err(|_| "a damaged counter".to_string())?;
                    match World::TABLES.get(id as usize).copied() {
                        $(Some(stringify!($field)) => self.$field.last = self.$field.last.max(last),)*
                        _ => {}
                    }
                    return Ok(());
                }
                match table {
                    $(stringify!($field) => self.$field.load(id, row),)*
                    _ => Ok(()),
                }
            }
        }
    };
}

tables! {
    users: User,
    tokens: Token,
    groups: Group,
    members: Member,
    projects: Project,
    merge_requests: MergeRequest,
    issues: Issue,
    labels: Label,
    milestones: Milestone,
    epics: Epic,
    notes: Note,
    snippets: Snippet,
    pipelines: Pipeline,
    bridges: Bridge,
    jobs: Job,
    intents: Intent,
    archives: Archive,
    runners: Runner,
    releases: Release,
    environments: Environment,
    deployments: Deployment,
    ssh_keys: SshKey,
    gpg_keys: GpgKey,
    hooks: Hook,
    commit_statuses: CommitStatus,
    commit_comments: CommitComment,
    notification_settings: NotificationSetting,
    licenses: License,
    scripts: Script,
    schedules: Schedule,
    avatars: Avatar,
    versions: Version,
    draft_notes: DraftNote,
    suggestions: Suggestion,
    todos: Todo,
    awards: Award,
    device_grants: DeviceGrant,
    uploads: Upload,
    ci_variables: CiVariable,
    pipeline_schedules: PipelineSchedule,
    pushes: Push,
    issue_links: IssueLink,
    dependencies: Dependency,
    pipeline_triggers: PipelineTrigger,
}

impl World {
    /// Removes all notes for which `gone` returns true, with their suggestions, reactions and to-do items.
    pub fn remove_notes(&mut self, gone: impl Fn(&Note) -> bool) {
        let notes: BTreeSet<u64> = self.notes.remove_where(gone).iter().map(|note| note.id).collect();
        self.suggestions.remove_where(|suggestion| notes.contains(&suggestion.note));
        self.remove_awards_of_notes(&notes);
        self.todos.remove_where(|todo| todo.note.is_some_and(|note| notes.contains(&note)));
    }

    /// Adds a user and assigns the ID of the user's namespace.
    pub fn add_user(&mut self, mut user: User) -> u64 {
        if user.namespace_id == 0 {
            user.namespace_id = self.groups.next_id();
        }
        self.users.add(user)
    }

    /// Returns the user with a username, ignoring case.
    pub fn user_named(&self, username: &str) -> Option<&User> {
        self.users.iter().find(|user| user.username.eq_ignore_ascii_case(username))
    }

    /// Returns the full path of a group, such as `acme/web`. Stops at a cycle, which no write creates.
    pub fn group_path(&self, id: u64) -> String {
        self.group_chain(id).iter().rev().map(|group| group.path.as_str()).collect::<Vec<_>>().join("/")
    }

    /// Returns the full name of a group, such as `Acme / Web`.
    pub fn group_name(&self, id: u64) -> String {
        self.group_chain(id).iter().rev().map(|group| group.name.as_str()).collect::<Vec<_>>().join(" / ")
    }

    /// Returns a group and its ancestors, innermost first.
    pub fn group_chain(&self, id: u64) -> Vec<&Group> {
        let mut chain: Vec<&Group> = Vec::new();
        let mut next = self.groups.get(id);
        while let Some(group) = next {
            if chain.iter().any(|seen| seen.id == group.id) {
                break;
            }
            chain.push(group);
            next = group.parent.and_then(|parent| self.groups.get(parent));
        }
        chain
    }

    /// Returns the path of a namespace: `acme/web` or `ada`.
    pub fn namespace_path(&self, namespace: Namespace) -> String {
        match namespace {
            Namespace::User(id) => self.users.get(id).map(|user| user.username.clone()).unwrap_or_default(),
            Namespace::Group(id) => self.group_path(id),
        }
    }

    /// Returns the name of a namespace: `Acme / Web` or `Ada Lovelace`.
    pub fn namespace_name(&self, namespace: Namespace) -> String {
        match namespace {
            Namespace::User(id) => self.users.get(id).map(|user| user.name.clone()).unwrap_or_default(),
            Namespace::Group(id) => self.group_name(id),
        }
    }

    /// Returns the full path of a project, such as `acme/web/shop`.
    pub fn project_path(&self, project: &Project) -> String {
        format!("{}/{}", self.namespace_path(project.namespace), project.path)
    }

    /// Returns the project with a full path, ignoring case.
    pub fn project_at(&self, path: &str) -> Option<&Project> {
        let (_, last) = path.rsplit_once('/')?;
        self.projects
            .iter()
            .find(|p| p.path.eq_ignore_ascii_case(last) && self.project_path(p).eq_ignore_ascii_case(path))
    }

    /// Returns the group with a full path, ignoring case.
    pub fn group_at(&self, path: &str) -> Option<&Group> {
        let last = path.rsplit_once('/').map_or(path, |(_, last)| last);
        self.groups
            .iter()
            .find(|g| g.path.eq_ignore_ascii_case(last) && self.group_path(g.id).eq_ignore_ascii_case(path))
    }

    /// Returns the current jobs of a pipeline, without those that a retry has replaced.
    pub fn pipeline_jobs(&self, pipeline: u64) -> impl Iterator<Item = &Job> {
        self.jobs.iter().filter(move |job| job.pipeline == pipeline && !job.retried)
    }

    /// Returns the current trigger jobs of a pipeline, without those that a retry has replaced.
    pub fn pipeline_bridges(&self, pipeline: u64) -> impl Iterator<Item = &Bridge> {
        self.bridges.iter().filter(move |bridge| bridge.pipeline == pipeline && !bridge.retried)
    }

    /// Returns all pipelines except child pipelines.
    pub fn top_level_pipelines(&self) -> impl DoubleEndedIterator<Item = &Pipeline> {
        self.pipelines.iter().filter(|pipeline| !pipeline.is_child())
    }

    /// Adds a pipeline and assigns its IID.
    pub fn add_pipeline(&mut self, mut pipeline: Pipeline) -> u64 {
        let known = self.projects.get(pipeline.project).map(|project| project.last_pipeline_iid);
        let counted = || self.pipelines.iter().filter(|known| known.project == pipeline.project).count() as u64;
        // Data of older versions has no IIDs.
        let iid = known.filter(|last| *last > 0).unwrap_or_else(counted) + 1;
        pipeline.iid = iid;
        if let Some(project) = self.projects.get_mut(pipeline.project) {
            project.last_pipeline_iid = iid;
        }
        self.pipelines.add(pipeline)
    }

    /// Returns the time of the first deployment of a project to production at or after `since`.
    pub fn first_production_deployment(&self, project: u64, since: Timestamp) -> Option<Timestamp> {
        let is_production = |id: u64| self.environments.get(id).is_some_and(|place| place.name == "production");
        let mut deployments = self.deployments.iter().filter(|one| one.project == project && one.is_success());
        deployments.find(|one| one.created_at >= since && is_production(one.environment)).map(|one| one.created_at)
    }

    /// Computes a pipeline's status, start and end from its jobs.
    ///
    /// A failure counts unless it is allowed. Running or waiting jobs make the whole pipeline running or pending.
    /// Manual jobs count only if there are no others.
    pub fn update_pipeline_status(&mut self, id: u64) {
        let counts = |job: &Job| (job.status, job.allow_failure, job.started_at, job.finished_at);
        let triggers = self.pipeline_bridges(id).map(|one| (one.status, false, one.finished_at, one.finished_at));
        let jobs: Vec<_> = self.pipeline_jobs(id).map(counts).chain(triggers).collect();
        if jobs.is_empty() {
            return;
        }
        let any = |status: Status| jobs.iter().any(|(is, allow_failure, ..)| *is == status && !allow_failure);
        let every = |status: Status| jobs.iter().all(|(is, ..)| *is == status);
        let started_once = jobs.iter().any(|(status, ..)| status.is_finished());
        let live = jobs.iter().any(|(status, ..)| *status == Status::Running);
        let waiting = jobs.iter().any(|(status, ..)| matches!(status, Status::Pending | Status::Created));
        let is_held_up = self.pipeline_jobs(id).any(|job| job.status == Status::Manual && job.is_blocking);
        let is_queued = jobs.iter().any(|(status, ..)| *status == Status::Pending);
        let is_delayed = jobs.iter().any(|(status, ..)| *status == Status::Scheduled);
        let status = if is_held_up && !live && !is_queued && !any(Status::Failed) {
            Status::Manual
        } else if is_delayed && !live && !is_queued {
            Status::Scheduled
        } else if every(Status::Created) {
            Status::Created
        } else if every(Status::Skipped) {
            Status::Skipped
        } else if live || (waiting && started_once && !any(Status::Failed) && !any(Status::Canceled)) {
            Status::Running
        } else if any(Status::Failed) {
            Status::Failed
        } else if any(Status::Canceled) {
            Status::Canceled
        } else if waiting {
            Status::Pending
        } else if jobs.iter().all(|(status, ..)| matches!(status, Status::Manual | Status::Skipped)) {
            Status::Manual
        } else {
            Status::Success
        };
        let started_at = jobs.iter().filter_map(|(_, _, started, _)| *started).min();
        let finished_at =
            status.is_finished().then(|| jobs.iter().filter_map(|(.., finished)| *finished).max()).flatten();
        let wanted = (status, started_at, finished_at);
        let is_so = |p: &Pipeline| (p.status, p.started_at, p.finished_at) == wanted;
        if self.pipelines.get(id).is_none_or(is_so) {
            return;
        }
        if let Some(pipeline) = self.pipelines.get_mut(id) {
            (pipeline.status, pipeline.started_at, pipeline.finished_at) = wanted;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_never_reused_even_after_a_restart() {
        let mut world = World::default();
        let first = world.notes.add(Note::default());
        world.notes.remove(first);
        let mut again = World::default();
        for change in world.take_changes() {
            if let Some(row) = change.row {
                again.load(change.table, change.id, &row).unwrap();
            }
        }
        assert!(again.notes.is_empty());
        assert_eq!(again.notes.add(Note::default()), first + 1);
    }

    #[test]
    fn snapshots_do_not_see_later_changes() {
        let mut world = World::default();
        let id = world.users.add(User { name: "Ada".into(), ..User::default() });
        let snapshot = world.clone();
        world.users.get_mut(id).unwrap().name = "Grace".into();
        assert_eq!(snapshot.users.get(id).unwrap().name, "Ada");
    }

    #[test]
    fn first_production_deployment_is_found_per_project() {
        let mut world = World::default();
        let [production, staging] = ["production", "staging"]
            .map(|name| world.environments.add(Environment { name: name.into(), ..Environment::default() }));
        let at = |second| Timestamp::from_second(second).unwrap();
        for (project, environment, second) in
            [(1, production, 10), (1, staging, 20), (2, production, 25), (1, production, 30), (1, production, 40)]
        {
            let created_at = at(second);
            world.deployments.add(Deployment { project, environment, created_at, ..Deployment::default() });
        }
        assert_eq!(world.first_production_deployment(1, at(11)), Some(at(30)));
        assert_eq!(world.first_production_deployment(1, at(30)), Some(at(30)));
        assert_eq!(world.first_production_deployment(1, at(41)), None);
        assert_eq!(world.first_production_deployment(2, at(0)), Some(at(25)));
    }

    #[test]
    fn failed_pipeline_does_not_wait_for_later_stages() {
        let status = |jobs: &[Status]| {
            let mut world = World::default();
            let pipeline = world.pipelines.add(Pipeline::default());
            for status in jobs {
                world.jobs.add(Job { pipeline, status: *status, ..Job::default() });
            }
            world.update_pipeline_status(pipeline);
            world.pipelines.get(pipeline).unwrap().status
        };
        assert_eq!(status(&[Status::Success, Status::Created]), Status::Running);
        assert_eq!(status(&[Status::Failed, Status::Created]), Status::Failed);
        assert_eq!(status(&[Status::Canceled, Status::Created]), Status::Canceled);
        assert_eq!(status(&[Status::Failed, Status::Running]), Status::Running);
        assert_eq!(status(&[Status::Pending, Status::Created]), Status::Pending);
    }

    #[test]
    fn pipeline_status_follows_its_jobs() {
        let mut world = World::default();
        let pipeline = world.pipelines.add(Pipeline::default());
        let job = |status, allow_failure| Job { pipeline, status, allow_failure, ..Job::default() };
        let build = world.jobs.add(job(Status::Success, false));
        let lint = world.jobs.add(job(Status::Failed, true));
        let status = |world: &mut World| {
            world.update_pipeline_status(pipeline);
            world.pipelines.get(pipeline).unwrap().status
        };
        assert_eq!(status(&mut world), Status::Success, "a failure that is allowed does not count");
        world.jobs.get_mut(lint).unwrap().allow_failure = false;
        assert_eq!(status(&mut world), Status::Failed);
        world.jobs.get_mut(build).unwrap().status = Status::Running;
        assert_eq!(status(&mut world), Status::Running);
    }

    #[test]
    fn projects_are_found_by_full_path() {
        let mut world = World::default();
        let top = world.groups.add(Group { path: "acme".into(), ..Group::default() });
        let sub = world.groups.add(Group { path: "web".into(), parent: Some(top), ..Group::default() });
        let namespace = Namespace::Group(sub);
        let id = world.projects.add(Project { path: "shop".into(), namespace, ..Project::default() });
        assert_eq!(world.project_at("Acme/web/SHOP").map(|p| p.id), Some(id));
        assert_eq!(world.project_at("acme/shop"), None);
        assert_eq!(world.group_at("acme/web").map(|g| g.id), Some(sub));
    }
}
