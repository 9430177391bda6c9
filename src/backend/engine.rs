//! The state of a running server: the newest world, the store behind it, and the clock.

use super::reject::Reject;
use super::store::Store;
use super::world::World;
use jiff::Timestamp;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock, TryLockError};

/// What time it is, to the server; tests set it.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// The machine's clock.
    pub fn system() -> Clock {
        Clock(Arc::new(Timestamp::now))
    }

    /// A clock that stands still, or moves as the test says.
    pub fn new(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Clock {
        Clock(Arc::new(now))
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        (self.0)()
    }
}

impl std::fmt::Debug for Clock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Clock")
    }
}

/// What moves by itself: called before each request with the time, it changes the world up to now.
pub type Advance = fn(&mut World, Timestamp);

/// One server's state, shared by all requests.
pub struct Engine {
    world: RwLock<World>,
    /// Who holds this may put a new world in place. `None`: nothing is kept.
    writer: Mutex<Option<Store>>,
    /// The folder of the bare repositories.
    pub repositories: PathBuf,
    /// The server's clock.
    pub clock: Clock,
    /// `http://127.0.0.1:PORT`, for requests that name no host.
    pub base_url: String,
    advance: Advance,
}

impl Engine {
    /// Takes over a world that is in the store already.
    pub fn new(
        world: World,
        store: Option<Store>,
        repositories: PathBuf,
        clock: Clock,
        base_url: String,
        advance: Advance,
    ) -> Engine {
        Engine { world: RwLock::new(world), writer: Mutex::new(store), repositories, clock, base_url, advance }
    }

    /// The world as it is now; it stays so for the reader, whatever is written meanwhile.
    pub fn snapshot(&self) -> World {
        self.world.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Lets pass what passes by itself: live jobs. Skipped while a write goes on, which does it first thing.
    pub fn tick(&self) {
        let store = match self.writer.try_lock() {
            Ok(store) => store,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        let mut world = self.snapshot();
        (self.advance)(&mut world, self.clock.now());
        if let Err(why) = self.keep(&store, world) {
            tracing::error!("live jobs could not be kept: {why}");
        }
    }

    /// Runs a write. Its changes count, in memory and on disk, only if it succeeds.
    pub fn write<T>(&self, run: impl FnOnce(&mut World) -> Result<T, Reject>) -> Result<T, Reject> {
        let store = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut world = self.snapshot();
        (self.advance)(&mut world, self.clock.now());
        let out = run(&mut world)?;
        self.keep(&store, world).map_err(Reject::failed)?;
        Ok(out)
    }

    fn keep(&self, store: &Option<Store>, mut world: World) -> Result<(), String> {
        let changes = world.take_changes();
        if changes.is_empty() {
            return Ok(());
        }
        if let Some(store) = store {
            store.commit(&changes)?;
        }
        *self.world.write().unwrap_or_else(PoisonError::into_inner) = world;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::records::User;

    fn engine(store: Option<Store>) -> Engine {
        let now = || Timestamp::UNIX_EPOCH;
        Engine::new(World::default(), store, PathBuf::new(), Clock::new(now), String::new(), |_, _| {})
    }

    #[test]
    fn a_write_that_fails_or_panics_leaves_nothing_and_the_next_works() {
        let engine = engine(None);
        let add = |world: &mut World| world.users.add(User::default());
        let refused = engine.write(|world| {
            add(world);
            Err::<(), _>(Reject::forbidden())
        });
        assert_eq!(refused.unwrap_err().status, 403);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _ = engine.write(|world| -> Result<(), Reject> {
                add(world);
                panic!("a mistake in a handler")
            });
        }));
        assert!(panicked.is_err());
        assert!(engine.snapshot().users.is_empty());
        engine.write(|world| Ok(add(world))).unwrap();
        assert_eq!(engine.snapshot().users.len(), 1);
    }

    #[test]
    fn a_write_is_on_disk_when_it_returns() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(Some(Store::open(folder.path()).unwrap().0));
        engine.write(|world| Ok(world.users.add(User::default()))).unwrap();
        drop(engine);
        assert_eq!(Store::open(folder.path()).unwrap().1.users.len(), 1);
    }
}
