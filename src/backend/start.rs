//! Starts and ends the server.

use super::demo::{self, Choice as WorldKind};
use super::engine::{Clock, Engine};
use super::git::{self, LocalError};
use super::limits::Limits;
use super::listener;
use super::records::*;
use super::store::{REPOSITORIES, Store, StoreError, repository_path};
use super::temporary::Temporary;
use super::world::World;
use super::{auth, routes};
use crate::backend::ref_updates;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// How long requests in flight may take when the server ends.
const GRACE: Duration = Duration::from_secs(2);
/// The group of the projects that stand for a person's own repositories.
const LOCAL_GROUP: &str = "local";

/// How to start a server.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The world to begin with, where the data folder holds none yet.
    pub world: WorldKind,
    /// Git repositories that become projects; they are read, never written.
    pub repos: Vec<PathBuf>,
    /// Where everything is kept; without it in a folder that goes when the server ends.
    pub data: Option<PathBuf>,
    pub clock: Clock,
    pub limits: Limits,
    /// Who the user of a new world is, instead of its own.
    pub person: Option<Person>,
    /// Whether to answer as a server of 10.6, which has what the specification describes and nothing else.
    pub only_specified: bool,
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
            person: None,
            only_specified: false,
        }
    }
}

/// The user of a world, as git names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// `user.name`.
    pub name: String,
    /// `user.email`; empty where it is not set.
    pub email: String,
}

/// Why a server does not start, as a sentence that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("{0} is in use; stop what listens there, or choose another port (0 takes a free one)")]
    AddressInUse(SocketAddr),
    #[error("cannot listen on {address}: {why}")]
    Listen { address: SocketAddr, why: String },
    #[error(transparent)]
    Data(#[from] StoreError),
    #[error(transparent)]
    Repository(#[from] LocalError),
    #[error("the world cannot be made: {0}")]
    World(String),
    #[error("the server's folder cannot be made: {0}")]
    Folder(String),
}

/// A running server. Dropping it ends it, and removes what it was not told to keep.
#[derive(Debug)]
pub struct Running {
    /// `http://127.0.0.1:PORT`.
    pub base_url: String,
    /// User name to token, of everyone who may sign in; `root` is an administrator.
    pub tokens: BTreeMap<String, String>,
    /// The user name that the interface signs in with: the first who is no administrator.
    pub user: String,
    /// A license text that the server accepts.
    pub license: String,
    /// The full path of the first project of [`Options::repos`].
    pub project: Option<String>,
    stop: oneshot::Sender<()>,
    served: JoinHandle<()>,
    /// Removed when the server is dropped; `None` under a data folder.
    temporary: Option<Temporary>,
}

impl Running {
    /// The token that the interface signs in with.
    pub fn token(&self) -> &str {
        self.tokens.get(&self.user).map_or("", String::as_str)
    }

    /// Ends the server: requests in flight are answered first, for two seconds at most.
    pub async fn stop(self) {
        let Running { stop, mut served, temporary, .. } = self;
        // Nobody listens any more if the server has ended by itself.
        let _ = stop.send(());
        if tokio::time::timeout(GRACE, &mut served).await.is_err() {
            served.abort();
        }
        drop(temporary);
    }
}

/// Takes an address, so that it is known before the server answers; connections wait until then.
///
/// # Errors
/// A sentence for an address that is in use or cannot be had.
pub fn listen(address: SocketAddr) -> Result<std::net::TcpListener, StartError> {
    std::net::TcpListener::bind(address).map_err(|error| match error.kind() {
        std::io::ErrorKind::AddrInUse => StartError::AddressInUse(address),
        _ => StartError::Listen { address, why: error.to_string() },
    })
}

/// Starts a server inside the running tokio runtime, and returns when it answers.
///
/// # Errors
/// A sentence each for an address in use, a data folder in use, a path that is no repository, a mistake in a world
/// file.
pub async fn start(options: Options) -> Result<Running, StartError> {
    start_on(listen(options.listen)?, options).await
}

/// The same on an address that was taken with [`listen`].
///
/// # Errors
/// As [`start`].
pub async fn start_on(listener: std::net::TcpListener, options: Options) -> Result<Running, StartError> {
    let address = options.listen;
    let failed = |error: std::io::Error| StartError::Listen { address, why: error.to_string() };
    listener.set_nonblocking(true).map_err(failed)?;
    let listener = TcpListener::from_std(listener).map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    let base_url = format!("http://{bound}");
    let (url, limits, only_specified) = (base_url.clone(), options.limits, options.only_specified);
    let prepared = tokio::task::spawn_blocking(move || prepare(options, url));
    let Prepared { engine, temporary, project } =
        prepared.await.map_err(|panic| StartError::World(panic.to_string()))??;

    let world = engine.snapshot();
    let tokens: BTreeMap<String, String> = world
        .tokens
        .iter()
        .filter(|token| token.refresh.is_none())
        .filter_map(|token| Some((world.users.get(token.user)?.username.clone(), token.secret.clone())))
        .collect();
    let user = person(&world).map(|user| user.username.clone()).unwrap_or_default();
    let license = super::license::sample(engine.clock.now());
    let router = routes::all(only_specified).into_router(Arc::new(engine));
    let (stop, stopped) = oneshot::channel::<()>();
    let served = tokio::spawn(listener::serve(listener, router, limits, async {
        let _ = stopped.await;
    }));
    Ok(Running { base_url, tokens, user, license, project, stop, served, temporary })
}

struct Prepared {
    engine: Engine,
    temporary: Option<Temporary>,
    project: Option<String>,
}

fn prepare(options: Options, base_url: String) -> Result<Prepared, StartError> {
    let folder = |error: std::io::Error| StartError::Folder(error.to_string());
    let (store, mut world, root, temporary) = match &options.data {
        Some(data) => {
            let (store, world) = Store::open(data)?;
            (Some(store), world, data.clone(), None)
        }
        None => {
            let made = Temporary::new().map_err(folder)?;
            (None, World::default(), made.path().to_path_buf(), Some(made))
        }
    };
    let repositories = root.join(REPOSITORIES);
    std::fs::create_dir_all(&repositories).map_err(folder)?;
    if store.is_some() {
        recover(&mut world, &repositories).map_err(folder)?;
        world.adopt_reactions();
    }
    if world.users.is_empty() {
        // A start that was killed may have left repositories that no record knows.
        clear(&repositories).map_err(folder)?;
        world = demo::build(&options.world, &repositories).map_err(|e| StartError::World(e.to_string()))?;
        if !world.users.iter().any(|user| user.admin && !user.blocked) {
            return Err(StartError::World("it has no user with admin = true".into()));
        }
        if let Some(person) = &options.person {
            rename(&mut world, person);
        }
    }
    let mut project = None;
    for path in &options.repos {
        let added = add_repository(&mut world, path, &repositories, &options.clock)?;
        project.get_or_insert(added);
    }
    give_tokens(&mut world)?;
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
    engine.only_specified = options.only_specified;
    // What began since the world was made is there for the first request, and for the second beside it.
    engine.tick();
    Ok(Prepared { engine, temporary, project })
}

/// Does what a server that was killed had promised and not done.
fn recover(world: &mut World, repositories: &Path) -> std::io::Result<()> {
    ref_updates::clean_up(repositories)?;
    for intent in world.intents.remove_where(|_| true) {
        // What was done before cannot be done again where somebody went on from there: then nothing is missing.
        if let Err(error) = ref_updates::apply(&intent.ref_update, repositories) {
            tracing::debug!("{:?}: {error}", intent.ref_update);
        }
    }
    Ok(())
}

/// Removes `<number>.git` folders, and nothing else that may be there.
fn clear(repositories: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(repositories)? {
        let entry = entry?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(".git")).map(str::parse::<u64>);
        if matches!(number, Some(Ok(_))) {
            std::fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// The person whose server it is.
fn person(world: &World) -> Option<&User> {
    let mut active = world.users.iter().filter(|user| !user.blocked && !user.is_ghost);
    active.clone().find(|user| !user.admin).or_else(|| active.next())
}

/// Gives the name of a person to the user whose server it is.
fn rename(world: &mut World, named: &Person) {
    let before_at = named.email.split('@').next().unwrap_or_default();
    let username = slug(if before_at.is_empty() { &named.name } else { before_at }).to_lowercase();
    let is_free = world.user_named(&username).is_none();
    let Some(id) = person(world).map(|user| user.id) else { return };
    if let Some(user) = world.users.get_mut(id) {
        user.name.clone_from(&named.name);
        if is_free {
            user.username = username;
        }
        if !named.email.is_empty() {
            user.email.clone_from(&named.email);
        }
    }
}

/// Returns who commits in the repository at `path`, as the configuration of git says.
pub fn local_person(path: &Path) -> Option<Person> {
    let (name, email) = git::identity(path)?;
    Some(Person { name, email })
}

/// Everybody who may sign in gets a token that cannot be guessed, unless they have one.
fn give_tokens(world: &mut World) -> Result<(), StartError> {
    let without: Vec<u64> = world
        .users
        .iter()
        .filter(|user| {
            !user.blocked
                && !user.is_ghost
                && !world.tokens.iter().any(|token| token.user == user.id && token.refresh.is_none())
        })
        .map(|user| user.id)
        .collect();
    for user in without {
        let secret = auth::secret().ok_or_else(|| StartError::World("the system gives no random numbers".into()))?;
        world.tokens.add(Token { user, name: "first start".into(), secret, ..Token::default() });
    }
    Ok(())
}

/// Adds the project of a person's repository, or finds it from an earlier start. Answers its full path.
fn add_repository(world: &mut World, path: &Path, repositories: &Path, clock: &Clock) -> Result<String, StartError> {
    let now = clock.now();
    let origin = path.canonicalize().map(|path| path.display().to_string()).ok();
    let known = world.projects.iter().find(|project| origin.is_some() && project.import_url == origin);
    if let Some((id, known)) = known.map(|known| (known.id, world.project_path(known))) {
        let remove = |git: &git::Git, head: &git::Head| super::branches::remove(world, git, repositories, id, head);
        git::refresh(path, &repository_path(repositories, id), remove)?;
        return Ok(known);
    }
    let owner = person(world).map(|user| user.id).unwrap_or_default();
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
            let place = Membership::Group(group);
            world.members.add(Member { place, user: owner, level: level::OWNER, created_at: now, ..Member::default() });
            group
        }
    };
    let id = world.projects.draw_id();
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
        import_url: origin,
        ..Project::default()
    });
    Ok(world.projects.get(id).map(|project| world.project_path(project)).unwrap_or_default())
}

/// The full path that the project of the repository at `path` has on a server of its own.
///
/// # Errors
/// A sentence each for a path that does not exist, that is in no repository, and for a repository that git refuses.
pub fn local_project(path: &Path) -> Result<String, StartError> {
    Ok(format!("{LOCAL_GROUP}/{}", slug(&git::name(path)?)))
}

/// A name as a part of a path.
fn slug(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' };
    let slug: String = name.chars().map(plain).collect();
    let slug = slug.trim_start_matches(['-', '.']).to_owned();
    if slug.is_empty() { "repository".to_owned() } else { slug }
}

/// A path for a project of that name that no other in the group has.
fn free_path(world: &World, group: u64, name: &str) -> String {
    let slug = slug(name);
    let namespace = Namespace::Group(group);
    let taken =
        |path: &str| world.projects.iter().any(|p| p.namespace == namespace && p.path.eq_ignore_ascii_case(path));
    let numbered = (2..).map(|n| format!("{slug}-{n}"));
    std::iter::once(slug.clone()).chain(numbered).find(|path| !taken(path)).unwrap_or(slug)
}
