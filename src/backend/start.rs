//! Starts and stops the server.

use super::demo::{self, WorldKind};
use super::engine::{Clock, Engine};
use super::git::{self, LocalError};
use super::limits::Limits;
use super::listener;
use super::modes::{Modes, Version};
use super::records::*;
use super::store::{REPOSITORIES, Store, StoreError, repository_path};
use super::temp_folder::TempFolder;
use super::world::World;
use super::{auth, routes};
use crate::ref_updates;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use system::memory;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// The time that requests in flight get to finish when the server stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);
/// The path of the group that holds the projects of local repositories.
const LOCAL_GROUP: &str = "local";

#[derive(Clone, Debug)]
pub struct Options {
    /// The address to listen on; port 0 picks a free port.
    pub listen: SocketAddr,
    /// The initial world, used if the data folder does not contain one yet.
    pub world: WorldKind,
    /// Git repositories to serve as projects; they are read, never written.
    pub repos: Vec<PathBuf>,
    /// The data folder; if `None`, a temporary folder that is removed when the server stops.
    pub data: Option<PathBuf>,
    pub clock: Clock,
    pub limits: Limits,
    /// The name and email address to give to the user of a new world, instead of the generated ones.
    pub identity: Option<GitIdentity>,
    pub modes: Modes,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            world: WorldKind::Empty,
            repos: Vec::new(),
            data: None,
            clock: Clock::system(),
            limits: Limits::default(),
            identity: None,
            modes: Modes::default(),
        }
    }
}

/// The name and email address of a person, as git knows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitIdentity {
    /// The value of `user.name`.
    pub name: String,
    /// The value of `user.email`; empty if it is not set.
    pub email: String,
}

/// An error that prevents the server from starting; its message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("{0} is in use; stop the program that listens there, or choose another port (0 picks a free one)")]
    AddressInUse(SocketAddr),
    #[error("cannot listen on {address}: {why}")]
    Listen { address: SocketAddr, why: String },
    #[error(transparent)]
    Data(#[from] StoreError),
    #[error(transparent)]
    Repository(#[from] LocalError),
    #[error("cannot create the world: {0}")]
    World(String),
    #[error("cannot create the server's folder: {0}")]
    Folder(String),
}

/// A running server. Dropping it stops it and removes its temporary folder.
#[derive(Debug)]
pub struct RunningServer {
    /// The base URL, `http://127.0.0.1:PORT`.
    pub base_url: String,
    /// The access tokens of all users who can sign in, by username; `root` is an administrator.
    pub tokens: BTreeMap<String, String>,
    /// The username that the interface signs in with: the first user who is not an administrator.
    pub user: String,
    /// The text of a license that the server accepts.
    pub license: String,
    /// The full path of the first project of [`Options::repos`].
    pub project: Option<String>,
    stop: oneshot::Sender<()>,
    served: JoinHandle<()>,
    /// The temporary folder, removed when the server is dropped; `None` if there is a data folder.
    temp_folder: Option<TempFolder>,
}

impl RunningServer {
    /// Returns the token that the interface signs in with.
    pub fn token(&self) -> &str {
        self.tokens.get(&self.user).map_or("", String::as_str)
    }

    /// Stops the server. Requests in flight get two seconds to finish.
    pub async fn stop(self) {
        let RunningServer { stop, mut served, temp_folder, .. } = self;
        // Sending fails if the server has already stopped by itself.
        let _ = stop.send(());
        if tokio::time::timeout(SHUTDOWN_TIMEOUT, &mut served).await.is_err() {
            served.abort();
        }
        drop(temp_folder);
    }
}

/// Binds an address, so that it is known before the server answers; connections wait until then.
///
/// # Errors
/// Fails if the address is in use or cannot be bound.
pub fn listen(address: SocketAddr) -> Result<std::net::TcpListener, StartError> {
    std::net::TcpListener::bind(address).map_err(|error| match error.kind() {
        std::io::ErrorKind::AddrInUse => StartError::AddressInUse(address),
        _ => StartError::Listen { address, why: error.to_string() },
    })
}

/// Starts a server inside the running tokio runtime, and returns once it answers.
///
/// # Errors
/// Fails if the address or the data folder is in use, if a path is not a repository, or if the world file contains a
/// mistake.
pub async fn start(options: Options) -> Result<RunningServer, StartError> {
    start_on(listen(options.listen)?, options).await
}

/// Starts a server on an address that was bound with [`listen`].
///
/// # Errors
/// Fails as [`start`] does.
pub async fn start_on(listener: std::net::TcpListener, options: Options) -> Result<RunningServer, StartError> {
    let address = options.listen;
    let failed = |error: std::io::Error| StartError::Listen { address, why: error.to_string() };
    listener.set_nonblocking(true).map_err(failed)?;
    let listener = TcpListener::from_std(listener).map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    let base_url = format!("http://{bound}");
    let (url, limits, modes) = (base_url.clone(), options.limits, options.modes);
    let prepared = tokio::task::spawn_blocking(move || prepare(options, url));
    let PreparedServer { engine, temp_folder, project } =
        prepared.await.map_err(|panic| StartError::World(panic.to_string()))??;

    let world = engine.snapshot();
    let tokens = announced_tokens(&world, engine.clock.now());
    let user = main_user(&world).map(|user| user.username.clone()).unwrap_or_default();
    let license = super::license::sample(engine.clock.now());
    let service = routes::all(modes.version == Version::V10_6).into_service(Arc::new(engine), modes);
    let (stop, stopped) = oneshot::channel::<()>();
    let served = tokio::spawn(listener::serve(listener, service, limits, async {
        let _ = stopped.await;
    }));
    Ok(RunningServer { base_url, tokens, user, license, project, stop, served, temp_folder })
}

struct PreparedServer {
    engine: Engine,
    temp_folder: Option<TempFolder>,
    project: Option<String>,
}

fn prepare(options: Options, base_url: String) -> Result<PreparedServer, StartError> {
    let folder_error = |error: std::io::Error| StartError::Folder(error.to_string());
    let (store, mut world, root, temp_folder) = match &options.data {
        Some(data) => {
            // Git runs in the folders of repositories, where a relative path leads elsewhere.
            let data = std::path::absolute(data).map_err(folder_error)?;
            let (store, world) = Store::open(&data)?;
            (Some(store), world, data, None)
        }
        None => {
            let temp_folder = TempFolder::new().map_err(folder_error)?;
            (None, World::default(), temp_folder.path().to_path_buf(), Some(temp_folder))
        }
    };
    let repositories = root.join(REPOSITORIES);
    std::fs::create_dir_all(&repositories).map_err(folder_error)?;
    if store.is_some() {
        recover(&mut world, &repositories).map_err(folder_error)?;
        world.migrate_reactions();
    }
    if world.users.is_empty() {
        world = demo::build(&options.world, &repositories).map_err(|e| StartError::World(e.to_string()))?;
        if !world.users.iter().any(|user| user.admin && !user.blocked) {
            return Err(StartError::World("it has no user with admin = true".into()));
        }
        if let Some(identity) = &options.identity {
            rename_main_user(&mut world, identity);
        }
    }
    let mut project = None;
    for path in &options.repos {
        let added = add_repository(&mut world, path, &repositories, &options.clock)?;
        project.get_or_insert(added);
    }
    add_missing_tokens(&mut world, options.clock.now())?;
    if store.is_some() {
        super::versions::catch_up(&mut world, &repositories, options.clock.now());
    }
    if let Some(store) = &store {
        let why = |why| StoreError::Failed { folder: root.display().to_string(), why };
        store.commit(&world.take_changes()).map_err(why)?;
    }
    world.take_changes();
    let mut engine =
        Engine::new(world, store, repositories, options.clock, base_url, options.limits, super::decisions::advance);
    engine.version = options.modes.version;
    engine.forgets_heads = options.modes.forgets_heads;
    // Advance to the present before serving: otherwise only one of several concurrent first requests would see what has
    // become due since the world was built.
    engine.tick();
    // Building a world or copying refs needs many times the memory of the result.
    memory::trim();
    Ok(PreparedServer { engine, temp_folder, project })
}

/// Completes the ref updates that were recorded but not applied when the server was killed, and removes repositories
/// whose project was not recorded.
fn recover(world: &mut World, repositories: &Path) -> std::io::Result<()> {
    ref_updates::clean_up(repositories)?;
    for intent in world.intents.remove_where(|_| true) {
        // An update that was already applied fails if the ref has moved on since; nothing is missing then.
        if let Err(error) = ref_updates::apply(&intent.ref_update, repositories) {
            tracing::debug!("{:?}: {error}", intent.ref_update);
        }
    }
    for entry in std::fs::read_dir(repositories)? {
        let entry = entry?;
        let name = entry.file_name();
        let id = name.to_str().and_then(|name| name.strip_suffix(".git")?.parse().ok());
        if id.is_some_and(|id| world.projects.get(id).is_none()) {
            std::fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// Returns the main user: the first active one who is not an administrator, else the first active one.
fn main_user(world: &World) -> Option<&User> {
    let mut active = world.users.iter().filter(|user| !user.blocked && !user.is_ghost);
    active.clone().find(|user| !user.admin).or_else(|| active.next())
}

/// Gives the main user the name and email address of `identity`.
fn rename_main_user(world: &mut World, identity: &GitIdentity) {
    let before_at = identity.email.split('@').next().unwrap_or_default();
    let username = slug(if before_at.is_empty() { &identity.name } else { before_at }).to_lowercase();
    let is_free = world.user_named(&username).is_none();
    let Some(id) = main_user(world).map(|user| user.id) else { return };
    if let Some(user) = world.users.get_mut(id) {
        user.name.clone_from(&identity.name);
        if is_free {
            user.username = username;
        }
        if !identity.email.is_empty() {
            user.email.clone_from(&identity.email);
        }
    }
}

/// Returns the committer of the repository at `path`, according to its git configuration.
pub fn local_identity(path: &Path) -> Option<GitIdentity> {
    let (name, email) = git::identity(path)?;
    Some(GitIdentity { name, email })
}

/// Returns whether a user can sign in with a token: it is valid, and neither of a project or group nor from OAuth.
fn is_announced(token: &Token, now: Timestamp) -> bool {
    token.refresh.is_none() && token.place().is_none() && token.expires_at.is_none_or(|at| at > now)
}

/// Returns a token of each user, by username: the first one, but rather one that may do everything.
fn announced_tokens(world: &World, now: Timestamp) -> BTreeMap<String, String> {
    let mut tokens = BTreeMap::new();
    for is_full in [false, true] {
        let fits = |token: &&Token| token.covers("api") == is_full && is_announced(token, now);
        let named = |token: &Token| Some((world.users.get(token.user)?.username.clone(), token.secret.clone()));
        tokens.extend(world.tokens.iter().rev().filter(fits).filter_map(named));
    }
    tokens
}

/// Returns the start of the day on which a token of the first start expires.
fn expires_at(now: Timestamp) -> Option<Timestamp> {
    let date = now.to_zoned(TimeZone::UTC).date().checked_add(TOKEN_DAYS.days()).ok()?;
    Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

/// The number of days until the tokens of the first start expire. Current servers have no tokens without end.
const TOKEN_DAYS: i64 = 365;

/// Adds a random token for every user who can sign in and does not have one that is valid.
fn add_missing_tokens(world: &mut World, now: Timestamp) -> Result<(), StartError> {
    let without: Vec<u64> = world
        .users
        .iter()
        .filter(|user| {
            !user.blocked
                && !user.is_ghost
                && !world.tokens.iter().any(|token| token.user == user.id && is_announced(token, now))
        })
        .map(|user| user.id)
        .collect();
    for user in without {
        let secret = auth::access_token()
            .ok_or_else(|| StartError::World("cannot get random numbers from the system".into()))?;
        let (name, expires_at) = ("first start".into(), expires_at(now));
        world.tokens.add(Token { user, name, secret, created_at: now, expires_at, ..Token::default() });
    }
    Ok(())
}

/// Adds a project for the repository at `path`, or refreshes the one from an earlier start. Returns its full path.
fn add_repository(world: &mut World, path: &Path, repositories: &Path, clock: &Clock) -> Result<String, StartError> {
    let now = clock.now();
    let origin = path.canonicalize().map(|path| path.display().to_string()).ok();
    let known = world.projects.iter().find(|project| origin.is_some() && project.local_origin == origin);
    if let Some((id, known)) = known.map(|known| (known.id, world.project_path(known))) {
        let remove = |git: &git::Git, head: &git::GitRef| super::branches::remove(world, git, repositories, id, head);
        git::refresh(path, &repository_path(repositories, id), remove)?;
        return Ok(known);
    }
    let owner = main_user(world).map(|user| user.id).unwrap_or_default();
    let group = match world.group_at(LOCAL_GROUP) {
        Some(group) => group.id,
        None => {
            let group = world.groups.add(Group {
                name: "Local".into(),
                path: LOCAL_GROUP.into(),
                description: "Repositories on this machine".into(),
                visibility: Visibility::Internal,
                request_access_enabled: true,
                created_at: now,
                ..Group::default()
            });
            let place = Scope::Group(group);
            world.members.add(Member { place, user: owner, level: level::OWNER, created_at: now, ..Member::default() });
            group
        }
    };
    let id = world.projects.next_id();
    let adopted = git::adopt(path, &repository_path(repositories, id))?;
    let slug = free_path(world, group, &adopted.name);
    world.projects.add(Project {
        id,
        name: adopted.name,
        path: slug,
        namespace: Namespace::Group(group),
        description: origin.as_ref().map(|origin| format!("The repository at {origin}")),
        default_branch: adopted.default_branch,
        visibility: Visibility::Internal,
        creator: owner,
        created_at: now,
        last_activity_at: now,
        request_access_enabled: true,
        runners_token: auth::secret().unwrap_or_default(),
        local_origin: origin,
        ..Project::default()
    });
    Ok(world.projects.get(id).map(|project| world.project_path(project)).unwrap_or_default())
}

/// Returns the full path that an embedded server gives to the project of the repository at `path`.
///
/// # Errors
/// Fails if the path does not exist or is not inside a repository, or if git refuses the repository.
pub fn local_project(path: &Path) -> Result<String, StartError> {
    Ok(format!("{LOCAL_GROUP}/{}", slug(&git::name(path)?)))
}

/// Returns `name` with all characters that are not allowed in a path replaced.
fn slug(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' };
    let slug: String = name.chars().map(plain).collect();
    let slug = slug.trim_start_matches(['-', '.']).to_owned();
    if slug.is_empty() { "repository".to_owned() } else { slug }
}

/// Returns a path for a project of that name that is not taken in the group.
fn free_path(world: &World, group: u64, name: &str) -> String {
    let slug = slug(name);
    let namespace = Namespace::Group(group);
    let taken =
        |path: &str| world.projects.iter().any(|p| p.namespace == namespace && p.path.eq_ignore_ascii_case(path));
    let numbered = (2..).map(|n| format!("{slug}-{n}"));
    std::iter::once(slug.clone()).chain(numbered).find(|path| !taken(path)).unwrap_or(slug)
}
