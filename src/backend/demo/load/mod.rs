//! Converts a world file to records and repositories.

mod commits;
mod jobs;
mod reactions;
mod threads;
mod todos;

use super::archive::Archive;
use super::histories;
use super::history::{History, ScriptAuthor, replay};
use super::repository::{Refs, write};
use super::schema::*;
use crate::records::*;
use crate::runner::{self, PipelinePlan};
use crate::schedules;
use crate::world::World;
use api::releases::AssetLink;
use api::variables::ALL_ENVIRONMENTS;
use git2::Oid;
use jiff::{SignedDuration, Timestamp};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

/// Builds the records of a world, and its repositories as `<id>.git` under `repositories`.
///
/// `file` is the name of the world file in errors.
pub fn load(file: &str, form: &WorldFile, repositories: &Path) -> Result<World, WorldError> {
    let fail = |what: String| WorldError { file: file.to_owned(), what };
    let mut load = Loader {
        now: Timestamp::UNIX_EPOCH,
        world: World::default(),
        histories: HashMap::new(),
        merges: HashMap::new(),
        heads: HashMap::new(),
    };
    load.now = match &form.now {
        Some(text) => text.parse().map_err(|e| fail(format!("now: {e}")))?,
        None => "2026-11-20T16:00:00Z".parse().map_err(|e| fail(format!("now: {e}")))?,
    };
    load.all(form).map_err(fail)?;
    load.write_repositories(form, repositories).map_err(fail)?;
    // The positions of threads are validated against the repositories.
    load.all_threads(form, repositories).map_err(fail)?;
    load.all_reactions(form).map_err(fail)?;
    Ok(load.world)
}

type Result<T, E = String> = std::result::Result<T, E>;

/// The commits of a merge request.
struct Span {
    base: Oid,
    head: Oid,
    /// The merge commit and its time.
    merge: Option<(Oid, i64)>,
}

struct Loader {
    now: Timestamp,
    world: World,
    /// The histories by project ID.
    histories: HashMap<u64, Arc<History>>,
    /// The heads of merge requests by project ID, for refs that keep their commits reachable when branches are deleted.
    merges: HashMap<u64, Vec<(String, Oid)>>,
    /// The histories by name, so that a fork shares its origin's.
    heads: HashMap<String, Arc<History>>,
}

impl Loader {
    fn all(&mut self, form: &WorldFile) -> Result<()> {
        for user in &form.users {
            self.user(user).map_err(|e| format!("users.{}.{e}", user.username))?;
        }
        for group in &form.groups {
            self.group(group).map_err(|e| format!("groups.{}.{e}", group.path))?;
        }
        self.replay_histories(form)?;
        for project in &form.projects {
            self.project(project).map_err(|e| format!("projects.{}.{e}", project.path))?;
        }
        for milestone in &form.milestones {
            self.milestone(milestone).map_err(|e| format!("milestones.{}.{e}", milestone.title))?;
        }
        for request in &form.merge_requests {
            self.merge_request(request)
                .map_err(|e| format!("merge_requests.{}!{}.{e}", request.project, request.iid))?;
        }
        for issue in &form.issues {
            self.issue(issue).map_err(|e| format!("issues.{}#{}.{e}", issue.project, issue.iid))?;
        }
        for todo in &form.todos {
            self.todo(todo).map_err(|e| format!("todos.{}.{}.{e}", todo.user, todo.target))?;
        }
        for epic in &form.epics {
            self.epic(epic).map_err(|e| format!("epics.{}.{e}", epic.title))?;
        }
        for snippet in &form.snippets {
            self.snippet(snippet).map_err(|e| format!("snippets.{}.{e}", snippet.title))?;
        }
        for upload in &form.uploads {
            self.upload(upload).map_err(|e| format!("uploads.{}.{e}", upload.file_name))?;
        }
        for release in &form.releases {
            self.release(release).map_err(|e| format!("releases.{}.{e}", release.tag))?;
        }
        for one in &form.runners {
            self.runner(one).map_err(|e| format!("runners.{}.{e}", one.name))?;
        }
        for one in &form.artifacts {
            self.archive(one).map_err(|e| format!("artifacts.{}.{e}", one.name))?;
        }
        for one in &form.scripts {
            self.script(one).map_err(|e| format!("scripts.{}.{e}", one.name))?;
        }
        let mut pipelines: Vec<(Timestamp, PipelinePlan, &PipelineForm)> = Vec::new();
        for one in &form.pipelines {
            let plan = self.plan(one).map_err(|e| format!("pipelines.{}.{}.{e}", one.project, one.ref_name))?;
            pipelines.push((plan.at, plan, one));
        }
        // IDs ascend with time, whatever the order in the file.
        pipelines.sort_by_key(|(at, ..)| *at);
        for (_, plan, one) in pipelines {
            self.pipeline(form, one, &plan).map_err(|e| format!("pipelines.{}.{}.{e}", one.project, one.ref_name))?;
        }
        for one in &form.schedules {
            self.schedule(form, one).map_err(|e| format!("schedules.{}.{e}", one.project))?;
        }
        for one in &form.comments {
            self.comment(one).map_err(|e| format!("comments.{}.{}.{e}", one.project, one.ref_name))?;
        }
        for one in &form.statuses {
            self.commit_status(one).map_err(|e| format!("statuses.{}.{}.{e}", one.project, one.ref_name))?;
        }
        self.rest(form)
    }

    /// Parses a time: an age relative to `now`, a date, or a full timestamp.
    fn parse_time(&self, text: &str) -> Result<Timestamp> {
        if let Ok(time) = text.parse::<Timestamp>() {
            return Ok(time);
        }
        if let Ok(date) = text.parse::<jiff::civil::Date>() {
            let zoned = date.at(9, 30, 0, 0).to_zoned(jiff::tz::TimeZone::UTC).map_err(|e| e.to_string())?;
            return Ok(zoned.timestamp());
        }
        let age = age(text).ok_or_else(|| format!("`{text}` is neither a date nor an age such as 3d4h"))?;
        self.now.checked_sub(SignedDuration::from_secs(age)).map_err(|e| e.to_string())
    }

    /// Parses a time like [`Loader::parse_time`], or a duration after `other` such as `+2h`; if empty, returns half an
    /// hour after it.
    fn parse_time_after(&self, text: &str, other: Timestamp) -> Result<Timestamp> {
        if text.is_empty() {
            return Ok(runner::saturating_add(other, SignedDuration::from_mins(30)));
        }
        let Some(span) = text.strip_prefix('+') else { return self.parse_time(text) };
        Ok(runner::saturating_add(other, self.now.duration_since(self.parse_time(span)?)))
    }

    fn parse_time_or(&self, text: &Option<String>, key: &str, or: Timestamp) -> Result<Timestamp> {
        text.as_ref().map_or(Ok(or), |text| self.parse_time(text).map_err(|e| format!("{key}: {e}")))
    }

    fn user_id(&self, key: &str, username: &str) -> Result<u64> {
        self.world.user_named(username).map(|u| u.id).ok_or_else(|| format!("{key}: there is no user {username}"))
    }

    fn project_id(&self, path: &str) -> Result<u64> {
        self.world.project_at(path).map(|p| p.id).ok_or_else(|| format!("project: there is no project {path}"))
    }

    /// Returns the group or the project; `None` if neither is named.
    fn scope(&self, group: &Option<String>, project: &Option<String>) -> Result<Option<Scope>> {
        Ok(match (group, project) {
            (Some(path), _) => {
                let group = self.world.group_at(path);
                Some(Scope::Group(group.ok_or_else(|| format!("group: there is no group {path}"))?.id))
            }
            (None, Some(path)) => Some(Scope::Project(self.project_id(path)?)),
            (None, None) => None,
        })
    }

    fn milestone_id(&self, project: u64, title: &Option<String>) -> Result<Option<u64>> {
        let Some(title) = title else { return Ok(None) };
        let found = self.world.milestones.iter().find(|m| m.project == project && m.title == *title);
        found.map(|m| Some(m.id)).ok_or_else(|| format!("milestone: there is no milestone {title}"))
    }

    fn user(&mut self, form: &UserForm) -> Result<()> {
        if form.username.is_empty() {
            return Err("username: is missing".to_owned());
        }
        let created_at = self.parse_time_or(
            &form.created,
            "created",
            runner::saturating_add(self.now, -SignedDuration::from_hours(24 * 700)),
        )?;
        let seen =
            form.seen.as_ref().map(|text| self.parse_time(text).map_err(|e| format!("seen: {e}"))).transpose()?;
        let email = if form.email.is_empty() { format!("{}@acme.example", form.username) } else { form.email.clone() };
        let id = self.world.add_user(User {
            username: form.username.clone(),
            name: if form.name.is_empty() { form.username.clone() } else { form.name.clone() },
            email,
            blocked: form.blocked,
            admin: form.admin,
            external: form.external,
            bio: form.bio.clone(),
            location: form.location.clone(),
            organization: form.organization.clone(),
            website_url: form.website.clone(),
            messenger_id: form.messenger.clone(),
            network_profile: form.network.clone(),
            microblog_account: form.microblog.clone(),
            two_factor_enabled: form.two_factor,
            identities: form
                .identities
                .iter()
                .map(|(provider, uid)| Identity { provider: provider.clone(), extern_uid: uid.clone() })
                .collect(),
            custom_attributes: form.attributes.clone(),
            created_at,
            updated_at: created_at,
            confirmed_at: Some(created_at),
            last_sign_in_at: seen,
            current_sign_in_at: seen,
            last_activity_on: seen.map(|at| at.to_zoned(jiff::tz::TimeZone::UTC).date()),
            theme_id: 1,
            color_scheme_id: 2,
            projects_limit: 100,
            can_create_group: !form.external,
            ..User::default()
        });
        if let Some(secret) = &form.token {
            let expires = form.token_expires.as_ref();
            let expires_at = expires.map(|text| self.parse_time(text).map_err(|e| format!("token_expires: {e}")));
            self.world.tokens.add(Token {
                user: id,
                name: "world file".into(),
                secret: secret.clone(),
                created_at: self.now,
                scopes: form.token_scopes.clone(),
                expires_at: expires_at.transpose()?,
                ..Token::default()
            });
        }
        Ok(())
    }

    fn members(&mut self, place: Scope, members: &BTreeMap<String, String>, at: Timestamp) -> Result<()> {
        for (username, word) in members {
            let user = self.user_id("members", username)?;
            let level = level(word).map_err(|e| format!("members.{username}: {e}"))?;
            self.world.members.add(Member { place, user, level, created_at: at, ..Member::default() });
        }
        Ok(())
    }

    fn group(&mut self, form: &GroupForm) -> Result<()> {
        let created_at = self.parse_time_or(
            &form.created,
            "created",
            runner::saturating_add(self.now, -SignedDuration::from_hours(24 * 690)),
        )?;
        let (parent, path) = match form.path.rsplit_once('/') {
            None => (None, form.path.as_str()),
            Some((above, path)) => {
                let parent = self.world.group_at(above).ok_or_else(|| format!("path: there is no group {above}"))?;
                (Some(parent.id), path)
            }
        };
        let id = self.world.groups.add(Group {
            name: if form.name.is_empty() { path.to_owned() } else { form.name.clone() },
            path: path.to_owned(),
            parent,
            description: form.description.clone(),
            visibility: visibility(&form.visibility)?,
            lfs_enabled: true,
            request_access_enabled: true,
            created_at,
            custom_attributes: form.attributes.clone(),
            directory_links: form.directory_links.iter().map(directory_link).collect::<Result<_>>()?,
            ..Group::default()
        });
        self.labels(0, Some(id), &form.labels)?;
        self.members(Scope::Group(id), &form.members, created_at)
    }

    /// Replays all histories that projects refer to, in parallel.
    fn replay_histories(&mut self, form: &WorldFile) -> Result<()> {
        let authors: Vec<ScriptAuthor> = form
            .users
            .iter()
            .map(|user| ScriptAuthor {
                username: user.username.clone(),
                name: if user.name.is_empty() { user.username.clone() } else { user.name.clone() },
                email: if user.email.is_empty() {
                    format!("{}@acme.example", user.username)
                } else {
                    user.email.clone()
                },
                offset: user.offset,
            })
            .collect();
        let mut wanted: Vec<(String, String, Archive)> = Vec::new();
        for project in &form.projects {
            let name = project.history.clone().unwrap_or_else(|| project.path.clone());
            if wanted.iter().any(|(known, ..)| *known == name) {
                continue;
            }
            if let Some(history) = &project.history {
                let found = histories::named(history);
                let (script, archive) =
                    found.ok_or_else(|| format!("projects.{}.history: there is no history {history}", project.path))?;
                wanted.push((name, script.to_owned(), archive));
            } else if let Some(script) = &project.script {
                wanted.push((name, script.clone(), Archive::parse(&project.files)));
            }
        }
        let authors = &authors;
        let done: Vec<Result<(String, History)>> = std::thread::scope(|scope| {
            let tasks: Vec<_> = wanted
                .iter()
                .map(|(name, script, archive)| {
                    scope.spawn(move || match replay(script, archive, authors) {
                        Ok(history) => Ok((name.clone(), history)),
                        Err(e) => Err(format!("history {name}: {e}")),
                    })
                })
                .collect();
            tasks
                .into_iter()
                .map(|task| task.join().unwrap_or_else(|_| Err("a history could not be replayed".into())))
                .collect()
        });
        for one in done {
            let (name, history) = one?;
            self.heads.insert(name, Arc::new(history));
        }
        Ok(())
    }

    fn project(&mut self, form: &ProjectForm) -> Result<()> {
        let (above, path) = form.path.rsplit_once('/').ok_or("path: needs a group or a person before the slash")?;
        let namespace = match (self.world.group_at(above), self.world.user_named(above)) {
            (Some(group), _) => Namespace::Group(group.id),
            (None, Some(user)) => Namespace::User(user.id),
            (None, None) => return Err(format!("path: there is no group or person {above}")),
        };
        let creator = match (form.creator.as_str(), namespace) {
            ("", Namespace::User(id)) => id,
            ("", Namespace::Group(_)) => self.world.users.iter().find(|u| u.admin).map_or(0, |u| u.id),
            (name, _) => self.user_id("creator", name)?,
        };
        let history = self.heads.get(form.history.as_deref().unwrap_or(&form.path)).cloned();
        let newest = history.as_ref().and_then(|h| h.commits.last()).map(|c| c.time);
        let oldest = history.as_ref().and_then(|h| h.commits.first()).map(|c| c.time);
        let of = |time: Option<i64>| time.and_then(|t| Timestamp::from_second(t).ok()).unwrap_or(self.now);
        let created_at = self.parse_time_or(&form.created, "created", of(oldest))?;
        let last_activity_at = self.parse_time_or(&form.active, "active", of(newest).max(created_at))?;
        let stars = form.stars.iter().map(|name| self.user_id("stars", name)).collect::<Result<_>>()?;
        let forked_from = form.fork_of.as_ref().map(|path| self.project_id(path)).transpose()?;
        let shared = |(path, word): (&String, &String)| {
            let group = self.world.group_at(path).ok_or_else(|| format!("shared_with: there is no group {path}"))?.id;
            Ok(Share { group, level: level(word).map_err(|e| format!("shared_with.{path}: {e}"))? })
        };
        let shared_with = form.shared_with.iter().map(shared).collect::<Result<_>>()?;
        let protected =
            |(id, name): (u64, &String)| ProtectedBranch { id, name: name.clone(), ..ProtectedBranch::default() };
        let id = self.world.projects.add(Project {
            name: if form.name.is_empty() { path.to_owned() } else { form.name.clone() },
            path: path.to_owned(),
            namespace,
            description: form.description.clone(),
            default_branch: history.as_ref().map(|_| "main".to_owned()),
            visibility: visibility(&form.visibility)?,
            tag_list: form.topics.clone(),
            creator,
            created_at,
            last_activity_at,
            archived: form.archived,
            forked_from,
            stars,
            request_access_enabled: true,
            lfs_enabled: true,
            printing_merge_requests_link_enabled: true,
            runners_token: format!("rt-{path}"),
            protected_branches: (1..).zip(&form.protected).map(protected).collect(),
            shared_with,
            approvals_before_merge: form.approvals,
            merge_method: merge_method(&form.merge_method)?,
            only_allow_merge_if_pipeline_succeeds: form.pipelines_must_succeed,
            ci_config_path: form.ci_config_path.clone(),
            only_allow_merge_if_all_discussions_are_resolved: form.threads_must_be_resolved,
            custom_attributes: form.attributes.clone(),
            ..Project::default()
        });
        self.labels(id, None, &form.labels)?;
        if let Some(history) = history {
            self.histories.insert(id, history);
        }
        self.members(Scope::Project(id), &form.members, created_at)
    }

    fn labels(&mut self, project: u64, group: Option<u64>, labels: &[String]) -> Result<()> {
        for label in labels {
            let mut words = label.splitn(3, ' ');
            let (Some(name), Some(color)) = (words.next(), words.next()) else {
                return Err(format!("labels: `{label}` is not `name #rrggbb words`"));
            };
            let description = words.next().unwrap_or_default().to_owned();
            let (name, color) = (name.into(), color.into());
            self.world.labels.add(Label { project, group, name, color, description, ..Label::default() });
        }
        Ok(())
    }

    fn milestone(&mut self, form: &MilestoneForm) -> Result<()> {
        let (project, group) = match &form.group {
            Some(path) => {
                let group = self.world.group_at(path).ok_or_else(|| format!("group: there is no group {path}"))?;
                (0, Some(group.id))
            }
            None => (self.project_id(&form.project)?, None),
        };
        let created_at = self.parse_time(&form.created).map_err(|e| format!("created: {e}"))?;
        let same = |m: &&Milestone| (m.project, m.group) == (project, group);
        let iid = self.world.milestones.iter().filter(same).count() as u64 + 1;
        self.world.milestones.add(Milestone {
            id: 0,
            iid,
            project,
            group,
            title: form.title.clone(),
            description: form.description.clone(),
            state: if form.closed { MilestoneState::Closed } else { MilestoneState::Active },
            start_date: date("start", &form.start)?,
            due_date: date("due", &form.due)?,
            created_at,
            updated_at: created_at,
        });
        Ok(())
    }

    fn notes(&mut self, on: Noteable, notes: &[NoteForm], created: Timestamp) -> Result<Option<Timestamp>> {
        let mut newest = None;
        for (i, (author, at, body)) in notes.iter().enumerate() {
            let (system, author) = author.strip_prefix('*').map_or((false, author.as_str()), |author| (true, author));
            let created_at = self.parse_time_after(at, created).map_err(|e| format!("notes[{i}]: {e}"))?;
            let author = self.user_id(&format!("notes[{i}]"), author)?;
            let body = body.trim_end().to_owned();
            self.world.notes.add(Note {
                on,
                body,
                author,
                created_at,
                updated_at: created_at,
                system,
                ..Note::default()
            });
            newest = newest.max(Some(created_at));
        }
        Ok(newest)
    }

    fn merge_request(&mut self, form: &MergeRequestForm) -> Result<()> {
        let target_project = self.project_id(&form.project)?;
        let source_project = match &form.source_project {
            Some(path) => self.project_id(path).map_err(|e| format!("source_{e}"))?,
            None => target_project,
        };
        let state = match form.state.as_deref().unwrap_or("opened") {
            "opened" => State::Opened,
            "closed" => State::Closed,
            "merged" => State::Merged,
            other => return Err(format!("state: `{other}` is not one of opened, closed, merged")),
        };
        let target_branch = form.target.clone().unwrap_or_else(|| "main".into());
        let history = self.histories.get(&target_project).cloned().ok_or("project: has no repository")?;
        let Span { base, head, merge } = self.span(&history, form, &target_branch, state)?;
        let written = history.time(head).unwrap_or(self.now);
        let created_at = self.parse_time_after(&form.created, written).map_err(|e| format!("created: {e}"))?;
        let author = self.user_id("author", &form.author)?;
        let by = form.by.as_ref().map(|name| self.user_id("by", name)).transpose()?;
        let approval = |(name, at): &(String, String)| {
            Ok((
                self.user_id("approvals", name)?,
                self.parse_time_after(at, created_at).map_err(|e| format!("approvals: {e}"))?,
            ))
        };
        let reviewer = |(name, state, at): &(String, String, String)| -> Result<Reviewer> {
            Ok(Reviewer {
                user: self.user_id("reviewers", name)?,
                state: ReviewState::from_name(state).ok_or_else(|| format!("reviewers: unknown state `{state}`"))?,
                created_at: self.parse_time_after(at, created_at).map_err(|e| format!("reviewers: {e}"))?,
            })
        };
        let merge_params = |name: &String| -> Result<MergeParams> {
            let user = self.user_id("auto_merge", name)?;
            Ok(MergeParams { user, sha: head.to_string(), ..MergeParams::default() })
        };
        let merged_at = merge.and_then(|(_, time)| Timestamp::from_second(time).ok());
        let tip = history.branches.get(&target_branch).filter(|_| state == State::Opened);
        let start = tip.copied().unwrap_or(base);
        let record = MergeRequest {
            iid: form.iid,
            source_project,
            target_project,
            source_branch: form.source.clone(),
            target_branch,
            title: form.title.clone(),
            description: form.description.trim_end().to_owned(),
            state,
            author,
            assignee: form.assignee.as_ref().map(|name| self.user_id("assignee", name)).transpose()?,
            labels: form.labels.clone(),
            milestone: self.milestone_id(target_project, &form.milestone)?,
            created_at,
            merged_at,
            merged_by: by.filter(|_| state == State::Merged),
            closed_by: by.filter(|_| state == State::Closed),
            merge_commit_sha: merge.map(|(id, _)| id.to_string()),
            approvals: form.approvals.iter().map(approval).collect::<Result<_>>()?,
            reviewers: form.reviewers.iter().map(reviewer).collect::<Result<_>>()?,
            auto_merge: form.auto_merge.as_ref().map(merge_params).transpose()?,
            squash: form.squash,
            force_remove_source_branch: state == State::Merged,
            discussion_locked: form.locked.then_some(true),
            time: TimeSpent { estimate: form.estimate, spent: form.spent },
            range: (state != State::Opened).then(|| Range { base: base.to_string(), head: head.to_string() }),
            ..MergeRequest::default()
        };
        let id = self.world.merge_requests.add(record);
        let once = [(0, created_at)];
        let push = |(back, at): &(usize, String)| Ok((*back, self.parse_time(at).map_err(|e| format!("pushes: {e}"))?));
        let pushes: Vec<(usize, Timestamp)> = form.pushes.iter().map(push).collect::<Result<_>>()?;
        let mut pushed = None;
        for (back, created_at) in if pushes.is_empty() { &once[..] } else { &pushes } {
            let head = history
                .back(head, *back)
                .ok_or_else(|| format!("pushes: the history has fewer than {back} commits"))?;
            let before = pushed.replace(head);
            let new = history.first_parents(head).take_while(|commit| ![before, Some(base)].contains(&Some(commit.id)));
            self.world.pushes.add(Push {
                project: source_project,
                author,
                created_at: *created_at,
                name: format!("refs/heads/{}", form.source),
                before: before.map(|id| id.to_string()),
                after: Some(head.to_string()),
                commits: new.count() as u64,
                title: history.first_parents(head).next().map(|commit| commit.title.clone()),
                ..Push::default()
            });
            self.world.versions.add(Version {
                merge_request: id,
                base: base.to_string(),
                start: start.to_string(),
                head: head.to_string(),
                created_at: *created_at,
                ..Version::default()
            });
        }
        // `{head}` in a note stands for the head of the source branch, as in system notes.
        let short: String = head.to_string().chars().take(8).collect();
        let filled = |(author, at, body): &NoteForm| (author.clone(), at.clone(), body.replace("{head}", &short));
        let notes: Vec<NoteForm> = form.notes.iter().map(filled).collect();
        let newest = self.notes(Noteable::MergeRequest(id), &notes, created_at)?;
        let updated = newest.max(merged_at).unwrap_or(created_at);
        let updated_at = self.parse_time_or(&form.updated, "updated", updated)?.max(created_at);
        if let Some(request) = self.world.merge_requests.get_mut(id) {
            request.updated_at = updated_at;
            request.closed_at = (state == State::Closed).then_some(updated_at);
        }
        self.todos_of(Noteable::MergeRequest(id), by);
        for iid in &form.blocked_by {
            let mut others = self.world.merge_requests.iter();
            let blocking = others.find(|other| other.target_project == target_project && other.iid == *iid);
            let blocking = blocking.ok_or_else(|| format!("blocked_by: there is no !{iid} before it"))?.id;
            self.world.dependencies.add(Dependency { blocking, blocked: id, ..Dependency::default() });
        }
        let name = format!("refs/merge-requests/{}/head", form.iid);
        self.merges.entry(target_project).or_default().push((name, head));
        Ok(())
    }

    /// Returns the merge base and the head of a merge request, and the commit that merged it.
    fn span(&self, history: &History, form: &MergeRequestForm, target: &str, state: State) -> Result<Span> {
        if state == State::Merged {
            let title = format!("Merge branch '{}'", form.source);
            let merge = history.commits.iter().find(|c| c.title.starts_with(&title));
            let merge = merge.ok_or_else(|| format!("source: no commit `{title}`"))?;
            let [ours, theirs] = merge.parents.as_slice() else {
                return Err(format!("source: `{title}` is not a merge commit"));
            };
            let base = history.base(*ours, *theirs).ok_or("source: has no common ancestor with the target")?;
            return Ok(Span { base, head: *theirs, merge: Some((merge.id, merge.time)) });
        }
        let head = |name: &str| history.branches.get(name).copied();
        let source = head(&form.source).ok_or_else(|| format!("source: there is no branch {}", form.source))?;
        let target = head(target).ok_or_else(|| format!("target: there is no branch {target}"))?;
        let base = history.base(source, target).ok_or("source: has no common ancestor with the target")?;
        Ok(Span { base, head: source, merge: None })
    }

    fn issue(&mut self, form: &IssueForm) -> Result<()> {
        let project = self.project_id(&form.project)?;
        let created_at = self.parse_time(&form.created).map_err(|e| format!("created: {e}"))?;
        let closed = form.state.as_deref() == Some("closed");
        let id = self.world.issues.add(Issue {
            iid: form.iid,
            project,
            title: form.title.clone(),
            description: form.description.trim_end().to_owned(),
            state: if closed { State::Closed } else { State::Opened },
            author: self.user_id("author", &form.author)?,
            assignees: form.assignees.iter().map(|name| self.user_id("assignees", name)).collect::<Result<_>>()?,
            labels: form.labels.clone(),
            milestone: self.milestone_id(project, &form.milestone)?,
            created_at,
            due_date: date("due", &form.due)?,
            confidential: form.confidential,
            time: TimeSpent { estimate: form.estimate, spent: form.spent },
            ..Issue::default()
        });
        let updated_at =
            self.notes(Noteable::Issue(id), &form.notes, created_at)?.unwrap_or(created_at).max(created_at);
        if let Some(issue) = self.world.issues.get_mut(id) {
            issue.updated_at = updated_at;
            issue.closed_at = closed.then_some(updated_at);
        }
        self.todos_of(Noteable::Issue(id), None);
        for (kind, iid) in &form.links {
            let mut others = self.world.issues.iter();
            let other = others.find(|other| other.project == project && other.iid == *iid);
            let other = other.ok_or_else(|| format!("links: there is no #{iid} before it"))?.id;
            let (source, target, blocks) = match kind.as_str() {
                "relates_to" => (id, other, false),
                "blocks" => (id, other, true),
                "is_blocked_by" => (other, id, true),
                kind => return Err(format!("links: `{kind}` is not one of relates_to, blocks, is_blocked_by")),
            };
            self.world.issue_links.add(IssueLink { source, target, blocks, created_at, ..IssueLink::default() });
        }
        Ok(())
    }

    fn epic(&mut self, form: &EpicForm) -> Result<()> {
        let group =
            self.world.group_at(&form.group).ok_or_else(|| format!("group: there is no group {}", form.group))?.id;
        let created_at = self.parse_time(&form.created).map_err(|e| format!("created: {e}"))?;
        let iid = self.world.epics.iter().filter(|e| e.group == group).count() as u64 + 1;
        let id = self.world.epics.add(Epic {
            id: 0,
            iid,
            group,
            title: form.title.clone(),
            description: form.description.trim_end().to_owned(),
            author: self.user_id("author", &form.author)?,
            labels: form.labels.clone(),
            start_date: date("start", &form.start)?,
            end_date: date("end", &form.end)?,
            created_at,
            updated_at: created_at,
        });
        self.notes(Noteable::Epic(id), &form.notes, created_at).map(|_| ())
    }

    fn snippet(&mut self, form: &SnippetForm) -> Result<()> {
        let created_at = self.parse_time(&form.created).map_err(|e| format!("created: {e}"))?;
        let id = self.world.snippets.add(Snippet {
            project: self.project_id(&form.project)?,
            title: form.title.clone(),
            file_name: form.file_name.clone(),
            description: form.description.clone(),
            content: form.content.clone(),
            visibility: visibility(&form.visibility)?,
            author: self.user_id("author", &form.author)?,
            created_at,
            updated_at: created_at,
            user_agent: form.user_agent.clone().map(|agent| (agent, "203.0.113.7".to_owned())),
            ..Snippet::default()
        });
        self.notes(Noteable::Snippet(id), &form.notes, created_at).map(|_| ())
    }

    fn upload(&mut self, form: &UploadForm) -> Result<()> {
        self.world.uploads.add(Upload {
            project: self.project_id(&form.project)?,
            user: self.user_id("author", &form.author)?,
            secret: form.secret.clone(),
            filename: form.file_name.clone(),
            bytes: form.content.clone().into_bytes(),
            created_at: self.parse_time(&form.created).map_err(|e| format!("created: {e}"))?,
            ..Upload::default()
        });
        Ok(())
    }

    fn release(&mut self, form: &ReleaseForm) -> Result<()> {
        let project = self.project_id(&form.project)?;
        let history = self.histories.get(&project).ok_or("project: has no repository")?;
        let (_, commit) = history.tags.get(&form.tag).ok_or("tag: there is no such tag")?;
        let tagged = history.time(*commit).unwrap_or(self.now);
        let created_at = self.parse_time_after(&form.created, tagged).map_err(|e| format!("created: {e}"))?;
        let description = form.description.trim_end().to_owned();
        let author = form.author.as_ref().map(|author| self.user_id("author", author)).transpose()?;
        self.world.releases.add(Release {
            project,
            tag: form.tag.clone(),
            name: form.name.clone(),
            description,
            created_at,
            author,
            links: form.links.iter().zip(1..).map(asset_link).collect(),
            ..Release::default()
        });
        Ok(())
    }

    fn runner(&mut self, form: &RunnerForm) -> Result<()> {
        let contacted_at =
            form.contacted.as_ref().map(|text| self.parse_time(text).map_err(|e| format!("contacted: {e}")));
        let projects = form.projects.iter().map(|path| self.project_id(path)).collect::<Result<_>>()?;
        self.world.runners.add(Runner {
            description: form.name.clone(),
            name: form.version.as_ref().map(|_| "gitlab-runner".to_owned()),
            active: !form.paused,
            is_shared: form.shared,
            contacted_at: contacted_at.transpose()?,
            architecture: form.architecture.clone(),
            platform: form.platform.clone(),
            revision: form.version.as_ref().map(|_| "f100a208".to_owned()),
            version: form.version.clone(),
            token: format!("runner-{}", form.name),
            tag_list: form.tags.clone(),
            run_untagged: true,
            locked: form.locked,
            projects,
            ..Runner::default()
        });
        Ok(())
    }

    fn rest(&mut self, form: &WorldFile) -> Result<()> {
        for (i, one) in form.ssh_keys.iter().enumerate() {
            let user = self.user_id(&format!("ssh_keys[{i}].user"), &one.user)?;
            let created_at = self.parse_time(&one.created).map_err(|e| format!("ssh_keys[{i}].created: {e}"))?;
            let (title, key) = (one.title.clone(), one.key.clone());
            self.world.ssh_keys.add(SshKey { id: 0, user, title, key, created_at });
        }
        for (i, one) in form.gpg_keys.iter().enumerate() {
            let user = self.user_id(&format!("gpg_keys[{i}].user"), &one.user)?;
            let created_at = self.parse_time(&one.created).map_err(|e| format!("gpg_keys[{i}].created: {e}"))?;
            self.world.gpg_keys.add(GpgKey { id: 0, user, key: one.key.clone(), created_at });
        }
        for (i, one) in form.hooks.iter().enumerate() {
            self.world.hooks.add(Hook {
                url: one.url.clone(),
                token: one.token.clone(),
                push_events: one.push,
                tag_push_events: one.tag_push,
                merge_requests_events: one.merge_requests,
                enable_ssl_verification: true,
                created_at: self.parse_time(&one.created).map_err(|e| format!("hooks[{i}].created: {e}"))?,
                ..Hook::default()
            });
        }
        for (i, one) in form.licenses.iter().enumerate() {
            let licensee = [("Name", &one.name), ("Company", &one.company), ("Email", &one.email)];
            self.world.licenses.add(License {
                starts_at: date(&format!("licenses[{i}].starts"), &one.starts)?,
                expires_at: date(&format!("licenses[{i}].expires"), &one.expires)?,
                licensee: licensee.map(|(key, value)| (key.to_owned(), value.clone())).into(),
                user_limit: one.user_limit,
                add_ons: one.add_ons.clone(),
                ..License::default()
            });
        }
        for (i, one) in form.notifications.iter().enumerate() {
            let user = self.user_id(&format!("notifications[{i}].user"), &one.user)?;
            let place = self.scope(&one.group, &one.project).map_err(|e| format!("notifications[{i}].{e}"))?;
            let (level, email, events) = (one.level.clone(), one.email.clone(), one.events.clone());
            self.world.notification_settings.add(NotificationSetting { id: 0, user, place, level, email, events });
        }
        for (i, one) in form.cron_schedules.iter().enumerate() {
            let at = |e: String| format!("cron_schedules[{i}].{e}");
            let variable = |(key, value): (&String, &String)| Variable {
                key: key.clone(),
                value: value.clone(),
                ..Variable::default()
            };
            let mut schedule = PipelineSchedule {
                project: self.project_id(&one.project).map_err(at)?,
                description: one.description.clone(),
                ref_name: format!("refs/heads/{}", one.ref_name),
                cron: one.cron.clone(),
                cron_timezone: one.zone.clone().unwrap_or_else(|| "UTC".into()),
                active: !one.inactive,
                owner: self.user_id("owner", &one.owner).map_err(at)?,
                variables: one.variables.iter().map(variable).collect(),
                created_at: self.now,
                updated_at: self.now,
                ..PipelineSchedule::default()
            };
            schedule.next_run_at =
                schedules::next_run(&schedule, self.now).map_err(|why| at(format!("cron: {}", why.body)))?;
            self.world.pipeline_schedules.add(schedule);
        }
        for (i, one) in form.variables.iter().enumerate() {
            self.world.ci_variables.add(CiVariable {
                id: 0,
                place: self.scope(&one.group, &one.project).map_err(|e| format!("variables[{i}].{e}"))?,
                key: one.key.clone(),
                value: one.value.clone(),
                is_file: one.file,
                protected: one.protected,
                masked: one.masked || one.hidden,
                hidden: one.hidden,
                raw: one.raw,
                environment_scope: one.environment.clone().unwrap_or_else(|| ALL_ENVIRONMENTS.into()),
                description: one.description.clone(),
            });
        }
        Ok(())
    }

    /// Writes all repositories in parallel; those that share a history copy the pack of the first one.
    fn write_repositories(&self, form: &WorldFile, root: &Path) -> Result<()> {
        let empty = Arc::new(History::default());
        let history = |id: u64| self.histories.get(&id).unwrap_or(&empty);
        let folder = |id: u64| root.join(format!("{id}.git"));
        let first = |id: u64| {
            let shared = |other: &&Project| Arc::ptr_eq(history(other.id), history(id));
            self.world.projects.iter().find(shared).map_or(id, |project| project.id)
        };
        let (firsts, others): (Vec<_>, Vec<_>) =
            self.world.projects.iter().zip(&form.projects).partition(|(project, _)| first(project.id) == project.id);
        let write = |project: &Project, form: &ProjectForm| {
            let more = self.merges.get(&project.id).map(Vec::as_slice).unwrap_or_default();
            let refs = Refs { hidden: &form.hidden, only: &form.only, more };
            let from = Some(first(project.id)).filter(|first| *first != project.id).map(folder);
            write(history(project.id), &refs, &folder(project.id), from.as_deref())
                .map_err(|e| format!("projects.{}: {}", form.path, e.message()))
        };
        let write = &write;
        for round in [firsts, others] {
            let done: Vec<Result<()>> = std::thread::scope(|scope| {
                let start = |(project, form)| scope.spawn(move || write(project, form));
                let tasks: Vec<_> = round.into_iter().map(start).collect();
                let lost = || Err("a repository could not be written".into());
                tasks.into_iter().map(|task| task.join().unwrap_or_else(|_| lost())).collect()
            });
            done.into_iter().collect::<Result<()>>()?;
        }
        Ok(())
    }
}

/// Parses an age such as `3d4h` into seconds.
fn age(text: &str) -> Option<i64> {
    let mut seconds = 0_i64;
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| !c.is_ascii_digit()) {
        let (number, unit) = rest.split_at(at);
        let length = match unit.chars().next()? {
            's' => 1,
            'm' => 60,
            'h' => 3600,
            'd' => 86_400,
            'w' => 604_800,
            _ => return None,
        };
        seconds = seconds.saturating_add(number.parse::<i64>().ok()?.saturating_mul(length));
        rest = unit.get(1..)?;
    }
    (rest.is_empty() && !text.is_empty()).then_some(seconds)
}

fn level(word: &str) -> Result<u8> {
    match word {
        "guest" => Ok(level::GUEST),
        "reporter" => Ok(level::REPORTER),
        "developer" => Ok(level::DEVELOPER),
        "maintainer" => Ok(level::MAINTAINER),
        "owner" => Ok(level::OWNER),
        other => Err(format!("unknown level `{other}`")),
    }
}

fn asset_link(((name, url), id): (&(String, String), u64)) -> AssetLink {
    AssetLink { id, name: name.clone(), url: url.clone(), link_type: "other".into(), ..AssetLink::default() }
}

fn directory_link(form: &DirectoryLinkForm) -> Result<DirectoryLink> {
    let group_access = level(&form.level).map_err(|e| format!("directory_links.{}: {e}", form.cn))?;
    Ok(DirectoryLink { cn: form.cn.clone(), group_access, provider: form.provider.clone() })
}

fn visibility(word: &str) -> Result<Visibility> {
    match word {
        "" => Ok(Visibility::Private),
        word => Visibility::from_name(word)
            .ok_or_else(|| format!("visibility: `{word}` is not one of private, internal, public")),
    }
}

fn merge_method(word: &Option<String>) -> Result<MergeMethod> {
    let Some(word) = word else { return Ok(MergeMethod::default()) };
    MergeMethod::from_name(word).ok_or_else(|| format!("merge_method: `{word}` is not one of merge, rebase_merge, ff"))
}

fn status(word: &str) -> Result<Status> {
    Status::from_name(word).ok_or_else(|| format!("unknown status `{word}`"))
}

fn date(key: &str, text: &Option<String>) -> Result<Option<jiff::civil::Date>> {
    text.as_ref().map(|text| text.parse().map_err(|e| format!("{key}: {e}"))).transpose()
}
