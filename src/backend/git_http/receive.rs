//! Receives a push: checks it, moves its objects into the repository, and updates the refs with the records.

use super::push::{OBJECT_FORMAT, PushRequest, PushedRef};
use super::{GitReply, Service, is_invited, packets, process, project, request_options};
use crate::branches;
use crate::call::{Call, ReadCall, WriteCall};
use crate::ci::{Prepared, PushOptions};
use crate::door::GitRequest;
use crate::git::{Git, GitRef, is_ref_name, lossy};
use crate::records::{MergeRequest, Project, State, Variable, level};
use crate::ref_updates::QUARANTINE;
use crate::rejection::Rejection;
use crate::spool::Spooled;
use crate::store::repository_path;
use crate::tags;
use crate::world::World;
use api::endpoint::encode;
use git2::Oid;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::ops::Deref;
use std::path::Path;
use system::git::server;
use tempfile::TempDir;

/// The maximum number of branches for which a message names the address of a merge request.
const MAX_MESSAGES: usize = 10;

/// The refusal for callers below the developer level.
const NO_PUSH: &str = "You are not allowed to push code to this project.";
/// The number of refs of a push that start pipelines.
const MAX_PIPELINES: usize = 4;

/// The reason of a ref that is not updated because the push is refused.
const DECLINED: &str = "pre-receive hook declined";
/// The reason of a ref that is not updated because it is not what the client saw, or is locked.
const FAILED: &str = "failed to update ref";
/// The status of a rejection by a rule, which becomes a part of the report.
const DECLINED_STATUS: u16 = 403;
/// The number of refs that are updated in one write: meanwhile, nobody else can write.
const MAX_AT_ONCE: usize = 500;

/// Returns whether clients may push to a ref: the server has some for itself. Some file systems do not tell upper from
/// lower case there, and not all characters apart.
fn is_open(name: &str) -> bool {
    let Some(folder) = name.match_indices('/').nth(1).and_then(|(end, _)| name.get(..end)) else { return true };
    let mut own = server::INTERNAL_REFS.into_iter().chain(["refs/merge-requests", "refs/for"]);
    let is_own = own.any(|own| own.eq_ignore_ascii_case(folder));
    let is_disguised = |known: &str| folder != known && folder.eq_ignore_ascii_case(known);
    !is_own && folder.is_ascii() && !["refs/heads", "refs/tags"].into_iter().any(is_disguised)
}

/// Lists the refs of a repository for a client that is about to push, and the capabilities of the server.
pub fn list(git: &Git) -> Result<Vec<u8>, Rejection> {
    let agent = concat!("agent=labscope/", env!("CARGO_PKG_VERSION"));
    let capabilities =
        format!("report-status delete-refs side-band-64k quiet atomic ofs-delta push-options {OBJECT_FORMAT} {agent}");
    let mut out = Vec::new();
    let mut add = |id: Oid, name: &[u8]| {
        let capabilities = if out.is_empty() { format!("\0{capabilities}") } else { String::new() };
        packets::push(&mut out, &[id.to_string().as_bytes(), b" ", name, capabilities.as_bytes(), b"\n"].concat());
    };
    let mut is_empty = true;
    for reference in git.repo().references()? {
        let reference = reference?;
        let name = reference.name_bytes();
        if let Some(id) = reference.target().filter(|_| name.starts_with(b"refs/") && is_open(&lossy(name))) {
            add(id, name);
            is_empty = false;
        }
    }
    if is_empty {
        add(Oid::ZERO_SHA1, b"capabilities^{}");
    }
    out.extend_from_slice(packets::FLUSH);
    Ok(out)
}

/// The outcome of a push: a reason for each ref that was not updated, and messages for the user.
#[derive(Debug, Default)]
struct Report {
    /// The reason why the objects were not accepted.
    not_unpacked: Option<&'static str>,
    /// In the order of the refs in the push.
    reasons: Vec<Option<String>>,
    messages: String,
}

impl Report {
    /// Returns the report of a push that is refused as a whole.
    fn refused(push: &PushRequest, reason: &str, messages: String) -> Report {
        Report { not_unpacked: None, reasons: vec![Some(reason.to_owned()); push.refs.len()], messages }
    }

    /// Returns the report of a push that a rule of the project forbids.
    fn forbidden(push: &PushRequest, why: &str) -> Report {
        Report::refused(push, DECLINED, format!("GitLab: {why}\n"))
    }

    fn render(&self, push: &PushRequest) -> Vec<u8> {
        let mut out = Vec::new();
        if push.has_messages && !self.messages.is_empty() {
            packets::push_message(&mut out, &self.messages);
        }
        if push.wants_report {
            let mut report = Vec::new();
            packets::push(&mut report, format!("unpack {}\n", self.not_unpacked.unwrap_or("ok")).as_bytes());
            for (pushed, reason) in push.refs.iter().zip(&self.reasons) {
                let line = match reason {
                    Some(reason) => format!("ng {} {}\n", pushed.name, reason.replace('\n', " ")),
                    None => format!("ok {}\n", pushed.name),
                };
                packets::push(&mut report, line.as_bytes());
            }
            report.extend_from_slice(packets::FLUSH);
            if push.has_messages { packets::push_data(&mut out, &report) } else { out.extend(report) }
        }
        if push.has_messages {
            out.extend_from_slice(packets::FLUSH);
        }
        out
    }
}

/// Receives a push.
pub fn receive(request: &GitRequest, body: Spooled) -> Result<GitReply, Rejection> {
    let push =
        PushRequest::read(&body.file).map_err(|why| Rejection::message(400, format!("400 Bad Request: {why}")))?;
    // Before a large push, a client asks whether its credentials are accepted.
    let report = match push.refs.is_empty() {
        true => Vec::new(),
        false => receive_checked(request, &push, &body.file)?.render(&push),
    };
    Ok(GitReply::Whole("application/x-git-receive-pack-result", report))
}

fn receive_checked(request: &GitRequest, push: &PushRequest, body: &File) -> Result<Report, Rejection> {
    if push.is_atomic && push.refs.len() > MAX_AT_ONCE {
        let why = format!("An atomic push can update {MAX_AT_ONCE} refs at most. Push without --atomic.");
        return Ok(Report::forbidden(push, &why));
    }
    let (path, head, refusal) = request.read(|call| {
        let project = project(call, Service::Push)?;
        let refusal = repeated(push).or_else(|| refusal_of_any(call, project, None, &push.refs));
        let head = call.git(project)?.repo().find_reference("HEAD")?.symbolic_target_bytes().map(lossy);
        Ok((repository_path(&call.repositories, project.id), head, refusal))
    })?;
    if let Some(why) = refusal {
        return Ok(Report::forbidden(push, &why));
    }
    let quarantine = match push.has_pack() {
        true => match Quarantine::receive(request, &path, push, body)? {
            Ok(quarantine) => Some(quarantine),
            Err(report) => return Ok(report),
        },
        false => None,
    };
    let mut pipelines = request.read(|call| prepare(call, push, quarantine.as_ref()))?;
    // Deletions first: a ref may be in the way of a new one, such as `a` of `a/b`. Then the branch that an empty project
    // gets as its default.
    let rank = |pushed: &PushedRef| (pushed.after.is_some(), head.as_ref() != Some(&pushed.name));
    let mut order: Vec<usize> = (0..push.refs.len()).collect();
    order.sort_by_key(|at| push.refs.get(*at).map(rank));
    let mut report = Report::refused(push, FAILED, String::new());
    let mut kept = Vec::new();
    // In several writes, between which others can write.
    let steps: Vec<&[usize]> = order.chunks(MAX_AT_ONCE).collect();
    for (number, step) in steps.iter().enumerate() {
        let refs: Vec<&PushedRef> = step.iter().filter_map(|at| push.refs.get(*at)).collect();
        let written = request.write(|call| {
            let reasons = accept(call, push.is_atomic, &refs, quarantine.as_ref(), &mut pipelines)?;
            let is_kept =
                |(pushed, reason): &(&&PushedRef, &Option<String>)| reason.is_none() && pushed.after.is_some();
            let mut all_kept: Vec<&PushedRef> = kept.clone();
            all_kept.extend(refs.iter().zip(&reasons).filter(is_kept).map(|(pushed, _)| *pushed));
            let messages = if number + 1 == steps.len() { finish(call, push, &all_kept)? } else { String::new() };
            Ok((reasons, all_kept, messages))
        });
        match written {
            Ok((reasons, all_kept, messages)) => {
                kept = all_kept;
                report.messages.push_str(&messages);
                for (at, reason) in step.iter().zip(reasons) {
                    if let Some(of_ref) = report.reasons.get_mut(*at) {
                        *of_ref = reason;
                    }
                }
            }
            // The rules have changed, or the repository is locked.
            Err(why) if why.status == 409 => {}
            Err(why) if why.status == DECLINED_STATUS => {
                let text = why.body.get("message").and_then(Value::as_str).unwrap_or_default();
                report.messages = format!("GitLab: {text}\n");
                for at in step.iter() {
                    if let Some(of_ref) = report.reasons.get_mut(*at) {
                        *of_ref = Some(DECLINED.to_owned());
                    }
                }
            }
            Err(why) if number == 0 => return Err(why),
            Err(_) => break,
        }
    }
    Ok(report)
}

/// The objects of a push, in a folder of their own until they are accepted.
struct Quarantine {
    folder: TempDir,
}

impl Quarantine {
    /// Checks the pack of a push. Returns a report if it is not accepted.
    ///
    /// # Errors
    /// Fails with 408 if that takes too long, with 499 if the client disconnects, with 501 if git is not installed, and with
    /// 500 if the disk fails.
    fn receive(
        request: &GitRequest,
        path: &Path,
        push: &PushRequest,
        body: &File,
    ) -> Result<Result<Quarantine, Report>, Rejection> {
        let objects = path.join("objects");
        let folder = tempfile::Builder::new().prefix(QUARANTINE).tempdir_in(&objects);
        let folder = folder.map_err(Rejection::internal_error)?;
        let quarantine = Quarantine { folder };
        quarantine.prepare(&objects).map_err(Rejection::internal_error)?;
        push.seek_pack(body).map_err(Rejection::internal_error)?;
        let run = |command, input| process::run(command, input, request.limits().push, request.stop());
        let pack = body.try_clone().map_err(Rejection::internal_error)?;
        if let Err(errors) = run(server::index_pack(path, quarantine.path()), pack)? {
            let report = Report {
                not_unpacked: Some("index-pack abnormal exit"),
                ..Report::refused(push, "unpacker error", errors)
            };
            return Ok(Err(report));
        }
        let heads = heads(push).map_err(Rejection::internal_error)?;
        if let Err(errors) = run(server::check_connected(path, quarantine.path()), heads)? {
            return Ok(Err(Report::refused(push, "missing necessary objects", errors)));
        }
        Ok(Ok(quarantine))
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Creates the folder of packs, and makes the objects of the repository readable from here.
    fn prepare(&self, objects: &Path) -> io::Result<()> {
        for name in ["pack", "info"] {
            fs::create_dir(self.path().join(name))?;
        }
        let objects = objects.canonicalize()?;
        fs::write(self.path().join("info/alternates"), [objects.as_os_str().as_encoded_bytes(), b"\n"].concat())
    }

    /// Moves the objects into the repository, unless they are there already.
    fn release(&self) -> io::Result<()> {
        let target = self.path().join("../pack");
        fs::create_dir_all(&target)?;
        let entries = fs::read_dir(self.path().join("pack"))?;
        let mut files = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
        // An index comes last: it makes its pack visible.
        files.sort_by_key(|file| file.extension().is_some_and(|end| end == "idx"));
        for file in files {
            fs::rename(&file, target.join(file.file_name().unwrap_or_default()))?;
        }
        Ok(())
    }
}

/// Returns a file with the new objects of the refs, one on each line.
fn heads(push: &PushRequest) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    let lines: BTreeSet<String> = push.refs.iter().filter_map(|pushed| Some(format!("{}\n", pushed.after?))).collect();
    file.write_all(lines.into_iter().collect::<String>().as_bytes())?;
    file.rewind()?;
    Ok(file)
}

/// Opens the repository of a project, with the objects of a push.
fn open<W: Deref<Target = World>>(
    call: &Call<W>,
    project: &Project,
    quarantine: Option<&Quarantine>,
) -> Result<Git, Rejection> {
    let git = call.git(project)?;
    if let Some(quarantine) = quarantine {
        git.add_alternate(quarantine.path())
            .ok_or_else(|| Rejection::internal_error("the pushed objects are unreadable"))?;
    }
    Ok(git)
}

/// The pipelines that are started for each ref of a push, by its name.
type PreparedPipelines<'p> = BTreeMap<&'p str, Vec<Prepared>>;

/// Returns the variable of an option such as `ci.variable=KEY=value`; none without a key that variables can have.
fn variable(option: &str) -> Option<Variable> {
    let (key, value) = option.split_once('=')?;
    let is_key = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_key.then(|| Variable { key: key.to_owned(), value: value.to_owned(), is_file: false })
}

/// Prepares what takes long, while others may write: the new commits of the refs are found, and the CI configuration is
/// read.
fn prepare<'p>(
    call: &ReadCall,
    push: &'p PushRequest,
    quarantine: Option<&Quarantine>,
) -> Result<PreparedPipelines<'p>, Rejection> {
    let project = project(call, Service::Push)?;
    let git = open(call, project, quarantine)?;
    let options = PushOptions {
        skips: push.option("ci.skip").next().is_some(),
        variables: push.option("ci.variable").filter_map(variable).collect(),
        inputs: push.option("ci.input").filter_map(|option| option.split_once('=')).collect(),
    };
    let mut pipelines = PreparedPipelines::new();
    let named = push.refs.iter().filter(|pushed| pushed.branch().is_some() || pushed.tag().is_some());
    for (number, pushed) in named.enumerate() {
        // The commits of a new branch that the default branch has are not new.
        let before = pushed.before.or_else(|| git.default_head());
        if let Some((before, after)) = before.zip(pushed.after).filter(|_| pushed.branch().is_some()) {
            call.commits_between(&git, before, after);
        }
        if number < MAX_PIPELINES {
            let ends = (pushed.before, pushed.after);
            pipelines.insert(&pushed.name, call.prepare_push_pipelines(project.id, &git, &pushed.name, ends, &options));
        }
    }
    Ok(pipelines)
}

/// Updates some refs and the records. Returns the reason of each ref that is not updated. The objects that `quarantine` has
/// are moved into the repository.
///
/// # Errors
/// Fails with [`DECLINED_STATUS`] if a rule forbids it by now.
fn accept(
    call: &mut WriteCall,
    is_atomic: bool,
    refs: &[&PushedRef],
    quarantine: Option<&Quarantine>,
    pipelines: &mut PreparedPipelines,
) -> Result<Vec<Option<String>>, Rejection> {
    let project = project(call, Service::Push)?.clone();
    let git = open(call, &project, quarantine)?;
    // The rules may have changed while the objects arrived, and some need the objects.
    if let Some(why) = refusal_of_any(call, &project, Some(&git), refs.iter().copied()) {
        return Err(Rejection::message(DECLINED_STATUS, why));
    }
    let mut found = git.all_refs()?;
    let mut reasons: Vec<Option<String>> = Vec::new();
    for pushed in refs {
        let reason = obstacle(&git, &found, pushed);
        match pushed.after.filter(|_| reason.is_none()) {
            Some(after) => _ = found.insert(pushed.name.clone(), after),
            None if reason.is_none() => _ = found.remove(&pushed.name),
            None => {}
        }
        reasons.push(reason.map(str::to_owned));
    }
    if is_atomic && reasons.iter().any(Option::is_some) {
        reasons.iter_mut().for_each(|reason| _ = reason.get_or_insert_with(|| "atomic push failure".into()));
    }
    if let Some(quarantine) = quarantine {
        quarantine.release().map_err(Rejection::internal_error)?;
    }
    // Opened again, with the pack that has just been added.
    let git = call.git(&project)?;
    let updated: Vec<&PushedRef> =
        refs.iter().zip(&reasons).filter(|(_, reason)| reason.is_none()).map(|(pushed, _)| *pushed).collect();
    for pushed in &updated {
        match pushed.after {
            None => remove(call, &git, &project, pushed)?,
            Some(_) => git.set_ref(&pushed.name, pushed.before, pushed.after)?,
        }
    }
    if project.default_branch.is_none() {
        set_default_branch(call, &git, project.id, &updated)?;
    }
    branches::record_project_activity(call.world, project.id, call.now)?;
    for pushed in updated.iter().filter(|pushed| pushed.branch().is_some() || pushed.tag().is_some()) {
        call.record_ref_change(project.id, &git, &pushed.name, pushed.before, pushed.after);
        for prepared in pipelines.remove(pushed.name.as_str()).into_iter().flatten() {
            call.start_prepared(prepared);
        }
    }
    Ok(reasons)
}

/// Follows the options of a push whose refs `kept` were updated. Returns the messages for the user.
fn finish(call: &mut WriteCall, push: &PushRequest, kept: &[&PushedRef]) -> Result<String, Rejection> {
    let project = project(call, Service::Push)?.clone();
    let mistakes = request_options::apply(call, &project, kept, push);
    Ok(messages(call, &project, kept, push, &mistakes))
}

/// Removes a branch or a tag.
fn remove(call: &mut WriteCall, git: &Git, project: &Project, pushed: &PushedRef) -> Result<(), Rejection> {
    match (pushed.branch(), pushed.tag(), pushed.before) {
        (Some(name), _, Some(commit)) => {
            let head = GitRef { name: name.to_owned(), commit };
            branches::remove(call.world, git, &call.repositories, project.id, &head)
        }
        (_, Some(name), Some(_)) => tags::remove(call.world, git, project.id, name),
        (_, _, before) => git.set_ref(&pushed.name, before, None),
    }
}

/// Makes one of the first branches of a repository its default: the one that HEAD names, or else the first.
fn set_default_branch(call: &mut WriteCall, git: &Git, project: u64, kept: &[&PushedRef]) -> Result<(), Rejection> {
    let head = git.repo().find_reference("HEAD")?;
    let wanted = head.symbolic_target_bytes().unwrap_or_default();
    let is_wanted = |pushed: &&&PushedRef| pushed.name.as_bytes() == wanted;
    let mut branches = kept.iter().filter(|pushed| pushed.branch().is_some() && pushed.after.is_some());
    let first = branches.clone().find(is_wanted).or_else(|| branches.next());
    let Some(branch) = first.and_then(|pushed| pushed.branch()) else { return Ok(()) };
    git.set_head(branch)?;
    if let Some(project) = call.world.projects.get_mut(project) {
        project.default_branch = Some(branch.to_owned());
    }
    Ok(())
}

/// Returns why a ref cannot be updated although the push is allowed. `found` are all refs.
fn obstacle(git: &Git, found: &BTreeMap<String, Oid>, pushed: &PushedRef) -> Option<&'static str> {
    let now = found.get(&pushed.name).copied();
    match pushed.after {
        _ if now != pushed.before => Some(FAILED),
        None if now.is_none() => Some(FAILED),
        Some(_) if now.is_none() && has_conflicting_ref(found, &pushed.name) => Some(FAILED),
        Some(id) if pushed.branch().is_some() && !git.has_commit(id) => Some("cannot update a branch to a non-commit"),
        _ => None,
    }
}

/// Returns whether a ref `a` exists for a new ref `a/b`, or the other way round: they cannot coexist.
fn has_conflicting_ref(found: &BTreeMap<String, Oid>, name: &str) -> bool {
    let mut above = name.match_indices('/').filter_map(|(end, _)| name.get(..end));
    let below = format!("{name}/");
    above.any(|name| found.contains_key(name))
        || found.range(below.clone()..).next().is_some_and(|(next, _)| next.starts_with(&below))
}

/// Returns the reason for a push that updates a ref twice.
fn repeated(push: &PushRequest) -> Option<String> {
    let mut names = BTreeSet::new();
    let twice = push.refs.iter().find(|pushed| !names.insert(&pushed.name));
    twice.map(|pushed| format!("{} is updated more than once.", pushed.name))
}

fn refusal_of_any<'p, W>(
    call: &Call<W>,
    project: &Project,
    git: Option<&Git>,
    refs: impl IntoIterator<Item = &'p PushedRef>,
) -> Option<String>
where
    W: Deref<Target = World>,
{
    refs.into_iter().find_map(|pushed| refusal(call, project, git, pushed))
}

/// Returns the reason why a rule forbids the update of a ref. Some rules need the objects, which are in `git`.
fn refusal<W>(call: &Call<W>, project: &Project, git: Option<&Git>, pushed: &PushedRef) -> Option<String>
where
    W: Deref<Target = World>,
{
    if !pushed.name.starts_with("refs/") || !is_open(&pushed.name) {
        return Some(format!("You cannot push to {}.", pushed.name));
    }
    if !is_ref_name(&pushed.name) || pushed.name.split('/').nth(2).is_none_or(|name| name.starts_with('-')) {
        return Some(format!("{} is not a valid name.", pushed.name));
    }
    let refusal = match (pushed.branch(), pushed.tag()) {
        (Some(branch), _) => refusal_of_branch(call, project, git, branch, pushed),
        (_, Some(tag)) => refusal_of_tag(call, project, tag, pushed),
        // Others, such as notes.
        _ if call.rights.level(&call.world, project) < level::DEVELOPER => Some(NO_PUSH),
        _ => None,
    };
    refusal.map(str::to_owned)
}

fn refusal_of_branch<W>(
    call: &Call<W>,
    project: &Project,
    git: Option<&Git>,
    branch: &str,
    pushed: &PushedRef,
) -> Option<&'static str>
where
    W: Deref<Target = World>,
{
    let (rights, world) = (&call.rights, &*call.world);
    let is_deleted = pushed.after.is_none();
    if is_deleted && project.default_branch.as_deref() == Some(branch) {
        return Some("The default branch of a project cannot be deleted.");
    }
    if !is_deleted && begins_with_hash(branch) {
        return Some("You cannot create a branch with a SHA-1 or SHA-256 branch name.");
    }
    let may_push = rights.can_push_to(world, project, branch);
    if !project.is_protected(branch) {
        let may_push = may_push || is_invited(call, project, Some(branch));
        return (!may_push).then_some(NO_PUSH);
    }
    let is_forced = pushed.before.zip(pushed.after).zip(git);
    let is_forced = is_forced.is_some_and(|((before, after), git)| !git.history_contains(after, before));
    if is_forced && !project.protection(branch).all(|rule| rule.allow_force_push) {
        return Some("You are not allowed to force push code to a protected branch on this project.");
    }
    if is_deleted {
        return Some(match rights.level(world, project) >= level::MAINTAINER {
            true => "You can only delete protected branches using the web interface.",
            false => {
                "You are not allowed to delete protected branches from this project. Only a project maintainer or owner can \
                 delete a protected branch."
            }
        });
    }
    if may_push {
        return None;
    }
    let is_new = pushed.before.is_none() && project.default_branch.is_some();
    Some(match is_new {
        true if rights.can_merge_into(world, project, branch) => {
            "You can only create protected branches using the web interface and API."
        }
        true => "You are not allowed to create protected branches on this project.",
        false => "You are not allowed to push code to protected branches on this project.",
    })
}

fn refusal_of_tag<W>(call: &Call<W>, project: &Project, tag: &str, pushed: &PushedRef) -> Option<&'static str>
where
    W: Deref<Target = World>,
{
    if call.rights.level(&call.world, project) < level::DEVELOPER {
        return Some(NO_PUSH);
    }
    let (rights, world) = (&call.rights, &*call.world);
    if project.is_tag_protected(tag) {
        match (pushed.before, pushed.after) {
            (Some(_), Some(_)) => return Some("Protected tags cannot be updated."),
            (None, _) if !rights.can_create_tag(world, project, tag) => return Some(tags::NOT_CREATED),
            (None, _) => {}
            (_, None) if rights.level(world, project) >= level::MAINTAINER => {
                return Some("You can only delete protected tags using the web interface.");
            }
            (_, None) => {
                return Some(
                    "You are not allowed to delete protected tags from this project. Only a project maintainer or owner can \
                     delete a protected tag.",
                );
            }
        }
    }
    if pushed.before.is_none() && project.default_branch.as_deref() == Some(tag) {
        return Some("You cannot use default branch name to create a tag");
    }
    if pushed.after.is_some() && tag.starts_with("refs/tags/") {
        return Some("You cannot create a tag with a prohibited pattern.");
    }
    let is_hash = pushed.after.is_some() && begins_with_hash(tag);
    is_hash.then_some("You cannot create a tag with a SHA-1 or SHA-256 tag name.")
}

/// Returns whether a name is a hash, or begins with one that a hyphen or a slash ends.
fn begins_with_hash(name: &str) -> bool {
    let end = name.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(name.len());
    let (hash, rest) = name.split_at(end);
    matches!(hash.len(), 40 | 64) && (rest.is_empty() || rest.starts_with(['-', '/']))
}

/// Returns the messages about the merge requests of the pushed branches. `mistakes` are those of the options for them.
fn messages(
    call: &WriteCall,
    project: &Project,
    kept: &[&PushedRef],
    push: &PushRequest,
    mistakes: &[String],
) -> String {
    let url = call.project_url(project);
    let mut out = String::new();
    if !mistakes.is_empty() {
        let options: Vec<String> = push.options.iter().map(|option| format!("'{option}'")).collect();
        let (options, mistakes) = (options.join(" "), mistakes.join("\n\n"));
        let _ = write!(out, "\nWARNINGS:\nError encountered with push options {options}: {mistakes}\n");
    }
    let branches = kept.iter().filter(|pushed| pushed.after.is_some()).filter_map(|pushed| pushed.branch());
    let is_other = |branch: &&str| project.default_branch.as_deref().is_some_and(|default| default != *branch);
    for branch in branches.filter(is_other).take(MAX_MESSAGES) {
        if project.merge_requests_disabled || !project.printing_merge_requests_link_enabled {
            continue;
        }
        let of_branch = |mr: &&MergeRequest| {
            mr.state == State::Opened && mr.source_project == project.id && mr.source_branch == branch
        };
        let found = call.world.merge_requests.iter().find(of_branch);
        let target = found.and_then(|mr| Some((mr.iid, call.world.projects.get(mr.target_project)?)));
        let _ = match target {
            Some((iid, target)) => {
                write!(
                    out,
                    "\nView merge request for {branch}:\n  {}/-/merge_requests/{iid}\n",
                    call.project_url(target)
                )
            }
            None => write!(
                out,
                "\nTo create a merge request for {branch}, visit:\n  {url}/-/merge_requests/new?\
                 merge_request%5Bsource_branch%5D={}\n",
                encode(branch)
            ),
        };
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_begin_with_a_hash_are_found() {
        let (sha, sha256) = ("0a".repeat(20), "0a".repeat(32));
        for name in [sha.clone(), format!("{sha}-x"), format!("{sha}/x"), sha256] {
            assert!(begins_with_hash(&name), "{name}");
        }
        for name in ["", "main", &sha[1..], &format!("{sha}0"), &format!("{sha}x"), &format!("x{sha}")] {
            assert!(!begins_with_hash(name), "{name}");
        }
    }
}
