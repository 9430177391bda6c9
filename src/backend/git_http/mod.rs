//! Git over HTTP: clients clone, fetch and push at the web addresses of projects.
//!
//! Stock git reads the repositories and checks what is pushed. Refs are updated by the server itself, together with the
//! records of the same write, as those of any other write are: git's own receive-pack would update them on its own.
//!
//! # A push
//!
//! 1. A git client lists the refs of a project. Its password is a token. The route finds the project, whose groups may
//!    be nested to any depth, and `project` checks the rights. A client without credentials learns of a project only
//!    if it is public.
//! 2. The request is written to an unnamed file, with limits of size and time, so that a slow client holds no lock, no
//!    thread and no process. Stock git fetches in the same way, and its answer is streamed.
//! 3. `git index-pack` checks the pack in a folder of its own, and `git rev-list` that no object is missing. They run
//!    without hooks, and without the user's configuration (`src/system/git/server.rs`).
//! 4. The write checks the rules for each ref again, moves the objects into the repository, and updates the refs like
//!    any other write (`src/backend/ref_updates.rs`): together with the records, and again after a crash.
//! 5. `record_ref_change` does what every change of a ref causes: versions of merge requests, the refs to fetch them,
//!    and events. Merge requests are merged whose commits arrive in their target branch.
//! 6. The push starts the pipelines of its commits (`src/backend/ci/`), as commits through the API do. The
//!    configuration is read within bounds, whatever its aliases, `extends` and references copy. Its jobs become plans
//!    like those of world files, and its commands become scripts: jobs show them, and none is run. A mistake becomes a
//!    failed pipeline with `yaml_errors`. Projects without a configuration have the pipelines of their world file.

mod packets;
mod process;
mod push;
mod receive;
mod request_options;

use super::auth::{Access, Caller, GIT_ACCESS_DENIED, Rights};
use super::body::Purpose;
use super::call::{Answer, Call, Outcome, ReadCall};
use super::door::{Checks, Door, GitHandler, GitRequest, Rendered, Run};
use super::limits::Limits;
use super::records::{Project, State, Visibility, level};
use super::rejection::Rejection;
use super::spool::Spooled;
use super::store::repository_path;
use super::world::World;
use axum::http::Method;
use process::ProcessOutput;
use serde_json::Value;
use std::ops::Deref;
use std::path::PathBuf;
use system::git::server;

/// The maximum size of a request to fetch, in bytes: it names a hundred thousand refs in five million.
const MAX_FETCH_BYTES: u64 = 16 << 20;
/// The input that names the operation.
const SERVICE: &str = "service";
/// The maximum length of the version that a client asks for.
const MAX_PROTOCOL: usize = 100;

/// Adds the routes of git clients. Their paths end with `.git`.
pub fn mount(door: &mut Door) {
    let checks = Checks { access: Access::of(Caller::GitClient), body: Purpose::Packets };
    let mut route = |method, tail, handler| door.project_route(method, tail, checks, Run::Git(handler));
    let no_body = |limits: &Limits| (0, limits.body);
    let list =
        GitHandler { check: |call| service(call).and_then(|service| check(call, service)), limits: no_body, run: list };
    let fetched = |limits: &Limits| (MAX_FETCH_BYTES, limits.body);
    let fetch = GitHandler { check: |call| check(call, Service::Fetch), limits: fetched, run: fetch };
    let pushed = |limits: &Limits| (limits.push_bytes, limits.push);
    let push = GitHandler { check: |call| check(call, Service::Push), limits: pushed, run: receive::receive };
    route(Method::GET, ".git/info/refs", list);
    route(Method::POST, ".git/git-upload-pack", fetch);
    route(Method::POST, ".git/git-receive-pack", push);
    let checks = Checks { access: Access::of(Caller::Unidentified), body: Purpose::Fields };
    let mut read = |method, tail, run: fn(&mut ReadCall) -> Outcome<Rendered>| {
        door.project_route(method, tail, checks, Run::Read(Box::new(run)));
    };
    read(Method::HEAD, ".git/info/refs", |_| Ok(Answer::new(None).status(403)));
    read(Method::GET, "/info/refs", redirect);
}

/// Redirects a client that left out `.git` in an address, before it is asked for credentials.
fn redirect(call: &mut ReadCall) -> Outcome<Rendered> {
    let text = |name: &str| call.inputs.get(name).and_then(Value::as_str).unwrap_or_default();
    let (path, service) = (text("project"), text(SERVICE));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_');
    let query = match service {
        "" => String::new(),
        "git-upload-pack" | "git-receive-pack" => format!("?{SERVICE}={service}"),
        _ => return Err(Rejection::error(404, "404 Not Found")),
    };
    if !path.chars().all(is_plain) {
        return Err(Rejection::error(404, "404 Not Found"));
    }
    let url = format!("{}/{path}.git/info/refs{query}", call.base_url);
    Ok(Answer::new(None).status(301).header("location", &url))
}

/// The operations of git clients.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Service {
    Fetch,
    Push,
}

/// Returns the operation that a client prepares.
fn service(call: &ReadCall) -> Result<Service, Rejection> {
    match call.inputs.get(SERVICE).and_then(Value::as_str) {
        Some("git-upload-pack") => Ok(Service::Fetch),
        Some("git-receive-pack") => Ok(Service::Push),
        // Clients of the time before there were operations are asked for credentials first, too.
        _ if call.rights.user.is_none() => Err(Rejection::message(401, GIT_ACCESS_DENIED)),
        _ => Err(Rejection::message(403, "The command you're trying to execute is not allowed.")),
    }
}

fn check(call: &ReadCall, service: Service) -> Result<(), Rejection> {
    project(call, service).map(drop)
}

/// Returns the project at the address of a request, if the caller may fetch from it or push to it.
///
/// # Errors
/// Fails with 401 if credentials are missing, with 404 if the project is not visible, and with 403 if the token or the
/// access level does not allow it.
fn project<W: Deref<Target = World>>(call: &Call<W>, service: Service) -> Result<&Project, Rejection> {
    let path = call.inputs.get("project").and_then(Value::as_str).unwrap_or_default();
    let found = call.world.project_at(path);
    if call.rights.user.is_none() {
        let is_open = |project: &&Project| service == Service::Fetch && call.rights.can_read_code(&call.world, project);
        // A project that does not exist is no different from one that needs credentials.
        return found.filter(is_open).ok_or_else(|| Rejection::message(401, GIT_ACCESS_DENIED));
    }
    let forbidden = |why: &str| Err(Rejection::message(403, why));
    if !token_covers(call, service) {
        return forbidden(match service {
            Service::Fetch => "You are not allowed to download code.",
            Service::Push => "You are not allowed to upload code.",
        });
    }
    let is_visible = |project: &&Project| {
        call.rights.can_see_project(&call.world, project) && is_visible_to_job(&call.world, &call.rights, project)
    };
    let Some(project) = found.filter(is_visible) else {
        let why = "The project you were looking for could not be found or you don't have permission to view it.";
        return Err(Rejection::message(404, why));
    };
    match service {
        Service::Fetch if !call.rights.can_read_code(&call.world, project) => {
            forbidden("You are not allowed to download code from this project.")
        }
        Service::Push if !can_push_code(call, project) => {
            forbidden("You are not allowed to push code to this project.")
        }
        Service::Push => match &project.local_origin {
            Some(origin) => forbidden(&format!(
                "This server shows the repository at {origin} and never writes to it. Push to that repository instead."
            )),
            None => Ok(project),
        },
        Service::Fetch => Ok(project),
    }
}

/// Returns whether the scopes of the caller's token allow an operation. The token of a job can only read.
fn token_covers<W: Deref<Target = World>>(call: &Call<W>, service: Service) -> bool {
    let scopes: &[&str] = match service {
        Service::Fetch => &["read_repository", "read_api"],
        Service::Push => &["write_repository"],
    };
    match call.rights.token.map(|token| call.world.tokens.get(token)) {
        Some(token) => token.is_some_and(|token| scopes.iter().any(|scope| token.covers(scope))),
        None => service == Service::Fetch,
    }
}

/// Returns whether the token of a job, if the caller has one, can read a project: its own, and those that are not private.
fn is_visible_to_job(world: &World, rights: &Rights, project: &Project) -> bool {
    let own = |job: u64| world.jobs.get(job).is_some_and(|job| job.project == project.id);
    project.visibility != Visibility::Private || rights.job.is_none_or(own)
}

/// Returns whether the caller may push to some branch of a project.
fn can_push_code<W: Deref<Target = World>>(call: &Call<W>, project: &Project) -> bool {
    let is_developer = call.rights.level(&call.world, project) >= level::DEVELOPER;
    !project.archived && (is_developer || is_invited(call, project, None))
}

/// Returns whether the author of a merge request from a branch of the project, or from any, lets those push who may merge
/// it.
fn is_invited<W: Deref<Target = World>>(call: &Call<W>, project: &Project, branch: Option<&str>) -> bool {
    let mut from_here = call.world.merge_requests.iter().filter(|mr| {
        mr.source_project == project.id
            && mr.state == State::Opened
            && mr.allow_maintainer_to_push
            && branch.is_none_or(|branch| branch == mr.source_branch)
    });
    from_here.any(|mr| call.can_merge(mr))
}

/// Returns the version of the protocol that a client asks for.
fn protocol<'c>(call: &'c ReadCall) -> Option<&'c str> {
    let text = call.headers.get("git-protocol")?.to_str().ok()?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '=' | ':' | '.' | '-' | '_');
    (text.len() <= MAX_PROTOCOL && text.chars().all(is_plain)).then_some(text)
}

/// A reply to a git client.
pub enum GitReply {
    /// A content type and bytes.
    Whole(&'static str, Vec<u8>),
    Output(Box<ProcessOutput>),
}

/// Lists the refs of a repository, or, since version 2 of the protocol, what the server can do.
fn list(request: &GitRequest, body: Spooled) -> Result<GitReply, Rejection> {
    let service = request.read(service)?;
    let mut head = Vec::new();
    if service == Service::Push {
        packets::push(&mut head, b"# service=git-receive-pack\n");
        head.extend_from_slice(packets::FLUSH);
        let refs = request.read(|call| receive::list(&call.git(project(call, service)?)?))?;
        head.extend(refs);
        return Ok(GitReply::Whole("application/x-git-receive-pack-advertisement", head));
    }
    let (path, protocol) = request.read(to_fetch)?;
    let is_second = protocol.as_ref().is_some_and(|protocol| protocol.split(':').any(|part| part == "version=2"));
    if !is_second {
        packets::push(&mut head, b"# service=git-upload-pack\n");
        head.extend_from_slice(packets::FLUSH);
    }
    let command = server::upload_pack(&path, true, protocol.as_deref());
    let output = ProcessOutput::start(command, body, "application/x-git-upload-pack-advertisement")?;
    Ok(GitReply::Output(Box::new(output.after(head))))
}

/// Sends what a client wants and does not have.
fn fetch(request: &GitRequest, body: Spooled) -> Result<GitReply, Rejection> {
    let (path, protocol) = request.read(to_fetch)?;
    let command = server::upload_pack(&path, false, protocol.as_deref());
    let output = ProcessOutput::start(command, body, "application/x-git-upload-pack-result")?;
    Ok(GitReply::Output(Box::new(output)))
}

/// Returns the folder of the repository to fetch from, and the version of the protocol that the client asks for.
fn to_fetch(call: &ReadCall) -> Result<(PathBuf, Option<String>), Rejection> {
    let project = project(call, Service::Fetch)?;
    // Opened for its checks: git itself waits for what is in the place of a file.
    call.git(project)?;
    Ok((repository_path(&call.repositories, project.id), protocol(call).map(str::to_owned)))
}
