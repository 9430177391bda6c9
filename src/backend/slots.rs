//! Slots for what only a number of callers can do at once: streamed replies, bodies that arrive, processes of git. One
//! caller gets half of them at most, and whoever keeps the server waiting gives way to others.

use super::rejection::Rejection;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// The minimum pause before a waiting caller looks for a slot that gives way.
const MIN_PAUSE: Duration = Duration::from_millis(10);

/// A number of slots, and those who wait for one.
pub struct Slots {
    max: usize,
    stall: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    taken: Vec<Arc<TakenSlot>>,
    /// The callers who wait, in the order of their arrival.
    queue: Vec<Arc<Waiter>>,
}

/// A slot that is taken.
struct TakenSlot {
    /// The user it is for; `None` for all anonymous callers together.
    caller: Option<u64>,
    /// The time since when the server has been waiting for the client.
    stalled: Mutex<Option<Instant>>,
    /// A signal that the slot was given to somebody else.
    cut: Notify,
}

/// A caller who waits for a slot.
struct Waiter {
    caller: Option<u64>,
    woken: Notify,
}

/// Permission to use a slot, which is freed when this is dropped.
pub struct Permit {
    slot: Arc<TakenSlot>,
    slots: Arc<Slots>,
}

/// A place in the queue, which is left when this is dropped.
struct QueuePlace<'s> {
    waiter: Arc<Waiter>,
    slots: &'s Arc<Slots>,
}

impl State {
    fn count(&self, caller: Option<u64>) -> usize {
        self.taken.iter().filter(|slot| slot.caller == caller).count()
    }
}

impl Slots {
    /// Creates `max` slots. One whose client has let the server wait for `stall` can be given to another caller.
    pub fn new(max: usize, stall: Duration) -> Slots {
        Slots { max: max.max(1), stall, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how a caller can get a slot: a free one, or that of another client at a position.
    ///
    /// That of the client that has let the server wait for the longest time, an anonymous one first.
    fn way(&self, state: &State, caller: Option<u64>) -> Option<Option<usize>> {
        let has_enough = state.count(caller) * 2 >= self.max;
        if !has_enough && state.taken.len() < self.max {
            return Some(None);
        }
        let gives_way = |slot: &TakenSlot| !has_enough || slot.caller == caller;
        let rivals = state.taken.iter().enumerate().filter(|(_, slot)| gives_way(slot));
        let stalled = rivals.filter_map(|(at, slot)| Some((slot.caller.is_some(), (*slot.stalled())?, at)));
        stalled.filter(|(_, since, _)| since.elapsed() >= self.stall).min().map(|(.., at)| Some(at))
    }

    /// Takes a slot, if there is a way.
    fn take(self: &Arc<Self>, state: &mut State, caller: Option<u64>) -> Option<Permit> {
        if let Some(at) = self.way(state, caller)? {
            state.taken.swap_remove(at).cut.notify_one();
        }
        let slot = Arc::new(TakenSlot { caller, stalled: Mutex::default(), cut: Notify::new() });
        state.taken.push(slot.clone());
        Some(Permit { slot, slots: self.clone() })
    }

    /// Takes a slot for a caller.
    ///
    /// # Errors
    /// Fails with 503 if none is free.
    pub fn admit(self: &Arc<Self>, caller: Option<u64>) -> Result<Permit, Rejection> {
        self.take(&mut self.state(), caller).ok_or_else(Rejection::busy)
    }

    /// Waits for a slot. Next is who has the fewest, and of those who came first: anonymous callers, who count as one, do
    /// not keep others waiting.
    pub async fn wait(self: &Arc<Self>, caller: Option<u64>) -> Permit {
        let waiter = Arc::new(Waiter { caller, woken: Notify::new() });
        self.state().queue.push(waiter.clone());
        let place = QueuePlace { waiter, slots: self };
        loop {
            if let Some(permit) = place.take() {
                return permit;
            }
            // Nothing tells when a client has let the server wait for too long.
            _ = tokio::time::timeout(self.stall.max(MIN_PAUSE), place.waiter.woken.notified()).await;
        }
    }

    /// Returns the one in the queue who gets the next slot, if there is a way.
    fn next<'s>(&self, state: &'s State) -> Option<&'s Arc<Waiter>> {
        let can_take = |waiter: &&Arc<Waiter>| self.way(state, waiter.caller).is_some();
        state.queue.iter().filter(can_take).min_by_key(|waiter| state.count(waiter.caller))
    }

    fn wake(&self, state: &State) {
        if let Some(next) = self.next(state) {
            next.woken.notify_one();
        }
    }
}

impl TakenSlot {
    fn stalled(&self) -> MutexGuard<'_, Option<Instant>> {
        self.stalled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueuePlace<'_> {
    /// Takes a slot if it is this one's turn.
    fn take(&self) -> Option<Permit> {
        let state = &mut *self.slots.state();
        let next = self.slots.next(state)?;
        if Arc::ptr_eq(next, &self.waiter) {
            return self.slots.take(state, self.waiter.caller);
        }
        next.woken.notify_one();
        None
    }
}

impl Drop for QueuePlace<'_> {
    fn drop(&mut self) {
        let mut state = self.slots.state();
        state.queue.retain(|waiter| !Arc::ptr_eq(waiter, &self.waiter));
        self.slots.wake(&state);
    }
}

impl Permit {
    pub fn caller(&self) -> Option<u64> {
        self.slot.caller
    }

    /// Waits for the client. Returns `None` if the slot was given to somebody else.
    pub async fn waiting<T>(&self, client: impl Future<Output = T>) -> Option<T> {
        *self.slot.stalled() = Some(Instant::now());
        let done = tokio::select! {
            done = client => Some(done),
            () = self.slot.cut.notified() => None,
        };
        *self.slot.stalled() = None;
        done
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.slots.state();
        state.taken.retain(|slot| !Arc::ptr_eq(slot, &self.slot));
        self.slots.wake(&state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::pending;

    const NEVER: Duration = Duration::from_secs(3_600);
    const ADA: Option<u64> = Some(1);
    const BO: Option<u64> = Some(2);

    #[tokio::test]
    async fn the_next_slot_is_for_who_has_the_fewest() {
        let slots = Arc::new(Slots::new(4, NEVER));
        let mut taken = Vec::from([slots.wait(None).await, slots.wait(None).await]);
        assert!(slots.admit(None).is_err(), "all anonymous callers together get half");
        taken.extend([slots.wait(ADA).await, slots.wait(ADA).await]);
        let (sender, mut order) = tokio::sync::mpsc::unbounded_channel();
        for caller in [None, None, ADA, BO] {
            let (slots, sender) = (slots.clone(), sender.clone());
            tokio::spawn(async move { sender.send((caller, slots.wait(caller).await)) });
            tokio::task::yield_now().await;
        }
        tokio::task::yield_now().await;
        // Anonymous callers came first, but have more.
        for (freed, next) in [(0, BO), (1, None), (1, ADA)] {
            drop(taken.remove(freed));
            let (caller, permit) = order.recv().await.unwrap();
            assert_eq!(caller, next);
            taken.push(permit);
        }
    }

    #[tokio::test]
    async fn who_keeps_the_server_waiting_gives_way_and_who_leaves_frees_the_queue() {
        let slots = Arc::new(Slots::new(2, Duration::ZERO));
        let stall = |permit: Permit| tokio::spawn(async move { permit.waiting(pending::<()>()).await.is_none() });
        let (anonymous, ada) = (stall(slots.wait(None).await), stall(slots.wait(ADA).await));
        tokio::task::yield_now().await;
        // The anonymous one first, although both let the server wait.
        let bo = slots.wait(BO).await;
        assert!(anonymous.await.unwrap() && !ada.is_finished());
        let again = slots.wait(None).await;
        assert!(ada.await.unwrap());
        let mut left = Box::pin(slots.wait(ADA));
        assert!(futures::poll!(left.as_mut()).is_pending(), "those that work stay");
        drop(left);
        assert!(slots.state().queue.is_empty());
        drop((again, bo));
        assert!(slots.state().taken.is_empty());
    }
}
