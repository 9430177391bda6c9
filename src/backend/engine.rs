//! The state of a running server: the current world, its store, and the clock.

use super::auth::Rights;
use super::cache::Cache;
use super::call::{Call, WriteCall};
use super::deliveries;
use super::limits::Limits;
use super::modes::Version;
use super::page::Pagination;
use super::params::Inputs;
use super::records::{Intent, RefUpdate};
use super::rejection::Rejection;
use super::slots::Slots;
use super::spool::Spools;
use super::stop::Stop;
use super::store::Store;

use super::world::{Change, World};
use crate::ref_updates::{self, RefUpdates};
use axum::http::HeaderMap;
use jiff::Timestamp;
use std::cell::OnceCell;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock, TryLockError};

/// The server's source of time; tests replace it.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    pub fn system() -> Clock {
        Clock(Arc::new(Timestamp::now))
    }

    /// Returns a clock that calls `now`, for tests.
    pub fn new(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Clock {
        Clock(Arc::new(now))
    }

    pub fn now(&self) -> Timestamp {
        (self.0)()
    }
}

impl std::fmt::Debug for Clock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Clock")
    }
}

/// A function that simulates the passage of time, as a write without a request: it brings the world up to date and
/// returns the time when the next change is due.
pub type Advance = for<'a> fn(&mut WriteCall<'a>) -> Option<Timestamp>;

/// The state of a server, shared by all requests.
pub struct Engine {
    world: RwLock<World>,
    /// The store, behind the lock that serializes writes. `None` if nothing is stored.
    writer: Mutex<Option<Store>>,
    /// The folder of the bare repositories.
    pub repositories: PathBuf,
    /// The server's clock.
    pub clock: Clock,
    /// The base URL, `http://127.0.0.1:PORT`, for requests that do not name a host.
    pub base_url: String,
    /// Values computed from repositories.
    pub cache: Arc<Cache>,
    /// The response bodies that are being streamed.
    pub streams: Arc<Slots>,
    /// The bodies of git clients that are on disk.
    pub spools: Arc<Spools>,
    /// The processes of git.
    pub processes: Arc<Slots>,
    /// The timeouts and concurrency limits.
    pub limits: Limits,
    /// The version that is emulated.
    pub version: Version,
    /// Whether commits that no ref has any more cannot be read.
    pub forgets_heads: bool,
    advance: Advance,
    /// The time before which [`Advance`] has nothing to do.
    quiet_until: Mutex<Option<Timestamp>>,
}

impl Engine {
    /// Creates an engine for a world that is already in the store.
    pub fn new(
        world: World,
        store: Option<Store>,
        repositories: PathBuf,
        clock: Clock,
        base_url: String,
        limits: Limits,
        advance: Advance,
    ) -> Engine {
        Engine {
            world: RwLock::new(world),
            writer: Mutex::new(store),
            repositories,
            clock,
            base_url,
            cache: Arc::default(),
            streams: Arc::new(Slots::new(limits.streams, limits.stall)),
            spools: Arc::new(Spools::new(&limits)),
            processes: Arc::new(Slots::new(limits.processes, limits.stall)),
            limits,
            version: Version::default(),
            forgets_heads: false,
            advance,
            quiet_until: Mutex::default(),
        }
    }

    /// Returns a snapshot of the current world; later writes do not affect it.
    pub fn snapshot(&self) -> World {
        self.world.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Applies the changes that are due, such as progress of jobs and merges that wait for them. Does nothing while a
    /// write is in progress, because each write starts with the same step.
    pub fn tick(&self) {
        if self.is_quiet(self.clock.now()) {
            return;
        }
        let store = match self.writer.try_lock() {
            Ok(store) => store,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        self.advance(&store);
    }

    fn is_quiet(&self, now: Timestamp) -> bool {
        self.quiet_until.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|until| now < until)
    }

    /// Applies the changes that are due, as a separate write.
    fn advance(&self, store: &Option<Store>) {
        let now = self.clock.now();
        if self.is_quiet(now) {
            return;
        }
        let mut world = self.snapshot();
        let mut call = Call {
            world: &mut world,
            rights: Rights::default(),
            now,
            base_url: self.base_url.clone(),
            inputs: Inputs::new(),
            pagination: Pagination { page: 1, per_page: 20 },
            headers: HeaderMap::new(),
            repositories: self.repositories.clone(),
            stop: Stop::default(),
            cache: self.cache.clone(),
            ref_updates: RefUpdates::default(),
            events: Vec::new(),
            version: self.version,
            forgets_heads: self.forgets_heads,
            busy_runners: OnceCell::new(),
        };
        let next = (self.advance)(&mut call).unwrap_or(Timestamp::MAX);
        let (ref_updates, events) = (call.ref_updates.take(), call.events);
        match self.commit(store, world, ref_updates, Some(next)) {
            Ok(()) if !events.is_empty() => deliveries::deliver_all(&self.snapshot(), events),
            Ok(()) => {}
            Err(why) => tracing::error!("scheduled changes failed: {}", why.body),
        }
    }

    /// Runs a write. Its changes to memory, disk and repositories are committed only if it succeeds.
    pub fn write<T>(
        &self,
        run: impl FnOnce(&mut World) -> Result<(T, Vec<RefUpdate>), Rejection>,
    ) -> Result<T, Rejection> {
        let store = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        self.advance(&store);
        let mut world = self.snapshot();
        let (out, ref_updates) = run(&mut world)?;
        self.commit(&store, world, ref_updates, None)?;
        Ok(out)
    }

    /// Commits a changed world to disk and memory, and applies its ref updates to the repositories.
    fn commit(
        &self,
        store: &Option<Store>,
        mut world: World,
        ref_updates: Vec<RefUpdate>,
        quiet_until: Option<Timestamp>,
    ) -> Result<(), Rejection> {
        let mut changes = world.take_changes();
        if changes.is_empty() && ref_updates.is_empty() {
            self.set_quiet_until(quiet_until);
            return Ok(());
        }
        // The intents of the previous write have been carried out.
        world.intents.remove_where(|_| true);
        for ref_update in &ref_updates {
            world.intents.add(Intent { ref_update: ref_update.clone(), ..Intent::default() });
        }
        changes.extend(world.take_changes());
        write_to_store(store, &changes).map_err(Rejection::internal_error)?;
        let (last, first): (Vec<RefUpdate>, Vec<RefUpdate>) =
            ref_updates.into_iter().partition(|d| matches!(d, RefUpdate::Remove { .. }));
        if let Err((tried, why)) = ref_updates::apply_all(&first, &self.repositories) {
            tracing::error!("updates of refs failed, reverting the write: {why}");
            // To revert what was not applied changes nothing.
            self.revert(store, &changes, first.iter().take(tried));
            return Err(Rejection::conflict("409 Conflict: Resource lock"));
        }
        self.publish(world, quiet_until);
        // No request can reach removed repositories any more, so a failure here does no harm.
        for ref_update in &last {
            if let Err(why) = ref_updates::apply(ref_update, &self.repositories) {
                tracing::warn!("{ref_update:?} failed: {why}");
            }
        }
        Ok(())
    }

    /// Reverts a write that is on disk and whose ref updates are partly applied, because a repository is locked or the
    /// disk is full. The world of that write was never published.
    fn revert<'d>(
        &self,
        store: &Option<Store>,
        changes: &[Change],
        done: impl DoubleEndedIterator<Item = &'d RefUpdate>,
    ) {
        for ref_update in done.rev() {
            if let Err(why) = ref_updates::apply(&ref_updates::inverse(ref_update), &self.repositories) {
                tracing::error!("{ref_update:?} could not be reverted: {why}");
            }
        }
        if let Err(why) = write_to_store(store, &self.snapshot().undo(changes)) {
            tracing::error!("a write could not be reverted and will be applied at the next start: {why}");
        }
    }

    /// Replaces the current world. [`Advance`] has nothing to do before `quiet_until`, if it is known.
    fn publish(&self, world: World, quiet_until: Option<Timestamp>) {
        *self.world.write().unwrap_or_else(PoisonError::into_inner) = world;
        self.set_quiet_until(quiet_until);
    }

    fn set_quiet_until(&self, until: Option<Timestamp>) {
        *self.quiet_until.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }
}

/// Writes changes to the store, if there is one.
fn write_to_store(store: &Option<Store>, changes: &[Change]) -> Result<(), String> {
    match store.as_ref().filter(|_| !changes.is_empty()) {
        Some(store) => store.commit(changes),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::User;

    fn engine(store: Option<Store>) -> Engine {
        let now = || Timestamp::UNIX_EPOCH;
        let (clock, limits) = (Clock::new(now), Limits::default());
        Engine::new(World::default(), store, PathBuf::new(), clock, String::new(), limits, |_| None)
    }

    #[test]
    fn failed_and_panicking_writes_change_nothing() {
        let engine = engine(None);
        let add = |world: &mut World| world.users.add(User::default());
        let refused = engine.write(|world| {
            add(world);
            Err::<((), Vec<RefUpdate>), _>(Rejection::forbidden())
        });
        assert_eq!(refused.unwrap_err().status, 403);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _ = engine.write(|world| -> Result<((), Vec<RefUpdate>), Rejection> {
                add(world);
                panic!("a mistake in a handler")
            });
        }));
        assert!(panicked.is_err());
        assert!(engine.snapshot().users.is_empty());
        engine.write(|world| Ok((add(world), Vec::new()))).unwrap();
        assert_eq!(engine.snapshot().users.len(), 1);
    }

    #[test]
    fn failed_ref_updates_revert_the_write() {
        let folder = tempfile::tempdir().unwrap();
        let repo = git2::Repository::init_bare(folder.path().join("1.git")).unwrap();
        let id = repo.blob(b"x").unwrap().to_string();
        let ref_update =
            |name: &str| RefUpdate::Ref { project: 1, name: name.into(), from: None, to: Some(id.clone()) };
        let mut engine = engine(Some(Store::open(folder.path()).unwrap().0));
        engine.repositories = folder.path().to_owned();
        let lock = folder.path().join("1.git/refs/heads/b.lock");
        std::fs::write(&lock, "of somebody else").unwrap();
        let write = |engine: &Engine| {
            let add = |world: &mut World| world.users.add(User::default());
            engine.write(|world| Ok((add(world), vec![ref_update("refs/heads/a"), ref_update("refs/heads/b")])))
        };
        assert_eq!(write(&engine).unwrap_err().status, 409);
        assert!(engine.snapshot().users.is_empty() && repo.references().unwrap().count() == 0);
        drop(engine.writer.lock().unwrap().take());
        let (store, world) = Store::open(folder.path()).unwrap();
        assert!(world.users.is_empty() && world.intents.is_empty());
        *engine.writer.lock().unwrap() = Some(store);
        std::fs::remove_file(&lock).unwrap();
        write(&engine).unwrap();
        assert!(engine.snapshot().users.len() == 1 && repo.references().unwrap().count() == 2);
    }

    #[test]
    fn writes_are_on_disk_when_they_return() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(Some(Store::open(folder.path()).unwrap().0));
        engine.write(|world| Ok((world.users.add(User::default()), Vec::new()))).unwrap();
        drop(engine);
        assert_eq!(Store::open(folder.path()).unwrap().1.users.len(), 1);
    }
}
