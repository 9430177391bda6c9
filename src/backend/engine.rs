//! The state of a running server: the newest world, the store behind it, and the clock.

use super::cache::Cache;
use super::deeds;
use super::records::{Deed, Intent};
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
    /// What was worked out of repositories.
    pub cache: Arc<Cache>,
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
        let (world, writer, cache) = (RwLock::new(world), Mutex::new(store), Arc::default());
        Engine { world, writer, repositories, clock, base_url, cache, advance }
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
        match self.commit(&store, &mut world) {
            Ok(true) => self.publish(world),
            Ok(false) => {}
            Err(why) => tracing::error!("live jobs could not be kept: {why}"),
        }
    }

    /// Runs a write. Its changes count, in memory, on disk and in repositories, only if it succeeds.
    pub fn write<T>(&self, run: impl FnOnce(&mut World) -> Result<(T, Vec<Deed>), Reject>) -> Result<T, Reject> {
        let store = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut world = self.snapshot();
        (self.advance)(&mut world, self.clock.now());
        let (out, deeds) = run(&mut world)?;
        // Those of the write before have been done since.
        world.intents.remove_where(|_| true);
        for deed in &deeds {
            world.intents.add(Intent { deed: deed.clone(), ..Intent::default() });
        }
        self.commit(&store, &mut world).map_err(Reject::failed)?;
        let (last, first): (Vec<Deed>, Vec<Deed>) = deeds.into_iter().partition(|d| matches!(d, Deed::Remove { .. }));
        for deed in &first {
            deeds::apply(deed, &self.repositories)?;
        }
        self.publish(world);
        // Nobody can ask for what is gone any more.
        for deed in &last {
            deeds::apply(deed, &self.repositories)?;
        }
        Ok(out)
    }

    fn commit(&self, store: &Option<Store>, world: &mut World) -> Result<bool, String> {
        let changes = world.take_changes();
        if let Some(store) = store.as_ref().filter(|_| !changes.is_empty()) {
            store.commit(&changes)?;
        }
        Ok(!changes.is_empty())
    }

    fn publish(&self, world: World) {
        *self.world.write().unwrap_or_else(PoisonError::into_inner) = world;
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
            Err::<((), Vec<Deed>), _>(Reject::forbidden())
        });
        assert_eq!(refused.unwrap_err().status, 403);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _ = engine.write(|world| -> Result<((), Vec<Deed>), Reject> {
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
    fn a_write_is_on_disk_when_it_returns() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(Some(Store::open(folder.path()).unwrap().0));
        engine.write(|world| Ok((world.users.add(User::default()), Vec::new()))).unwrap();
        drop(engine);
        assert_eq!(Store::open(folder.path()).unwrap().1.users.len(), 1);
    }
}
