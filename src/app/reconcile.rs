//! Compares what is wanted with what is cached and in flight, and starts or cancels the difference.

use super::action::Effect;
use super::context::Cx;
use super::frame::SILENT;
use super::navigation::OpenPane;
use super::tone::Tone;
use super::view::View;
use super::{App, place_info, target};
use api::client::Priority;
use api::endpoint::Request;
use api::error::{SERVER, STARTED_OFFLINE};
use api::identity::GetOwnToken;
use api::users::GetCurrentUser;
use api::{Fault, Id};
use jiff::{SignedDuration, Timestamp};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use store::{Freshness, KnownPart, Load, Task, TaskKey, Want, earliest};
use ui::glyph;

/// The time after which another attempt to reach the server is considered.
const NEXT_ATTEMPT: SignedDuration = SignedDuration::from_secs(10);

/// The reading of the branch that is checked out in the clone.
#[derive(Default)]
pub(super) struct HeadState {
    /// Whether it was read, or is being read, since it may have changed.
    pub is_current: bool,
    pub is_being_read: bool,
}

/// The requests in flight, and what is known about their results beside the store.
#[derive(Default)]
pub(super) struct Requests {
    pub in_flight: HashMap<TaskKey, Priority>,
    /// The time since when there has always been a request in flight.
    pub loading_since: Option<Timestamp>,
    /// The keys of paused streams.
    pub paused_streams: HashSet<TaskKey>,
    /// The age of the data of the place that is shown, as of when the wants were last compared.
    pub shown: Freshness,
    /// The requests of the last refresh whose data was known before, until the refresh completes or fails.
    pub refreshing: Vec<Request>,
    /// The failed reads of the place on top, in the order of its wants.
    pub failed: Vec<Request>,
    pub head: HeadState,
    /// The time at which the wants are compared again.
    pub wake: Option<Timestamp>,
}

/// Returns the error of every request under `--offline`.
pub fn offline() -> Fault {
    Fault::Offline(STARTED_OFFLINE.into())
}

/// Returns the wants of every place: the signed-in user, and the permissions of the token.
pub fn session_wants(view: &View) -> Vec<Want> {
    match view.session.signed_in {
        true => vec![Load::single(&GetCurrentUser::default()).into(), token_want()],
        false => Vec::new(),
    }
}

/// Returns the want for the details of the token, which are fetched once because they do not change.
pub fn token_want() -> Want {
    Load::single(&GetOwnToken {}).into()
}

impl App {
    /// Settles user input, or all messages of one turn of the loop: notifies panes of changes, then compares the wants
    /// with the store.
    pub(super) fn settle(&mut self, effects: &mut Vec<Effect>) {
        self.frame.is_unsettled = false;
        self.store.turn();
        self.claim(effects);
        self.deliver(effects);
        self.send_due(self.clock.now(), effects);
        self.notify_ended(effects);
        self.tell_todos(effects);
        self.warn_expiry();
        self.report_refresh();
        self.with_pane(effects, |pane, cx| pane.changed(cx));
        let mut overlays = std::mem::take(&mut self.overlays);
        let before = overlays.len();
        let mut cx = Cx::new(self.view_of(), self.nav.here());
        for overlay in &mut overlays {
            overlay.changed(&mut cx);
        }
        overlays.retain(|overlay| !overlay.is_done());
        let actions = cx.actions;
        self.set_overlays(overlays, before);
        for action in actions {
            self.act(action, effects);
        }
        while self.overlays.is_empty()
            && let Some(action) = self.input.deferred.pop_front()
        {
            self.act(action, effects);
        }
        self.replace_missing_place(effects);
        self.reconcile(effects);
        self.read_head(effects);
        self.check_refusal();
        self.advance_tour();
    }

    /// Records the requests that the user refreshes; a failure is reported for those whose data was known before.
    pub(super) fn track_refresh(&mut self, wants: &[Want]) {
        let requests = wants.iter().filter_map(|want| match want {
            Want::Load(load) => Some((&load.request, load.pages.min(1))),
            _ => None,
        });
        let known = requests
            .filter(|(request, page)| self.store.knows(request, *page) && self.store.error_of(request).is_none());
        self.requests.refreshing = known.map(|(request, _)| request.clone()).collect();
    }

    /// Reports why a refresh failed, as soon as any part of it does.
    fn report_refresh(&mut self) {
        let failed = self.requests.refreshing.iter().find_map(|request| self.store.error_of(request));
        if failed.is_none() && self.requests.refreshing.iter().any(|request| !self.store.is_fresh(request)) {
            return;
        }
        let words = failed.map(|error| format!("Could not refresh: {}", error.with_advice(error.advice())));
        self.requests.refreshing.clear();
        if let Some(words) = words {
            self.say(Tone::Bad, words);
        }
    }

    /// Warns once that the token expires soon.
    fn warn_expiry(&mut self) {
        if self.messages.has_warned_expiry {
            return;
        }
        let view = self.view_of();
        let Some(token) = view.token() else { return };
        let Some(when) = token.expires_soon(view.now) else { return };
        self.messages.has_warned_expiry = true;
        self.say(Tone::Warning, format!("Your token expires {when}. Create another: labscope auth login"));
    }

    /// Replaces a place that was named by a target and does not exist with the nearest one that does, and reports it.
    fn replace_missing_place(&mut self, effects: &mut Vec<Effect>) {
        if !self.nav.replace_if_missing || self.server_switch.in_background {
            return;
        }
        let Some(pane) = self.nav.top() else { return };
        let place = pane.place();
        let missing = self.place_wants().iter().find_map(|want| match want {
            Want::Load(load) if !load.is_optional && load.request.host.is_none() && place.needs(&load.request) => {
                self.store.error_of(&load.request).filter(|e| e.is_missing())
            }
            _ => None,
        });
        let (Some(_), Some(above)) = (missing, target::replacement(&self.nav.places, &place)) else { return };
        let is_part = place.item.is_some() || place.path.is_some() || place.git_ref.is_some();
        let within = place.project.as_ref().or(place.group.as_ref()).filter(|_| !is_part);
        let what = within.map_or_else(|| place_info::label(&self.nav.places, &place), Id::to_string);
        // One after the other is tried: the first is the one that was named.
        let what = self.nav.missing.take().unwrap_or(what);
        self.forget(effects);
        self.nav.panes.pop();
        // The first place of all is not near what was typed: rather stay.
        if self.nav.top().is_some() && above == place_info::root(&self.nav.places) {
            self.nav.replace_if_missing = false;
            self.mark_stale();
            return self.say(Tone::Warning, format!("Not found: {what}."));
        }
        // The path may be that of a group.
        let is_same = above.group.is_some() && above.group == place.project;
        self.open(above);
        if !is_same {
            self.say(Tone::Warning, format!("Not found: {what}. Showing the nearest existing place."));
        }
        (self.nav.replace_if_missing, self.nav.missing) = (true, Some(what));
    }

    fn reconcile(&mut self, effects: &mut Vec<Effect>) {
        let shown = self.place_wants();
        self.requests.shown = self.store.freshness(&shown);
        let wants = self.wants(shown);
        let view = self.view_of();
        let telling = self.overlays.iter().filter(|overlay| overlay.tells_failed_reads());
        let told: Vec<Want> = telling.flat_map(|overlay| overlay.wants(&view)).collect();
        self.find_failed_reads(&wants, &told);
        let mut wanted: HashSet<TaskKey> = HashSet::new();
        let mut wake = None;
        let mut is_trying = self.requests.in_flight.keys().any(|task| matches!(task, TaskKey::Load(..)));
        for want in wants {
            match want {
                Want::Load(load) => {
                    // Every page of a wanted list that is in flight stays in flight.
                    let is_of_load = |task: &TaskKey| matches!(task, TaskKey::Load(r, _) if *r == load.request);
                    for (task, priority) in self.requests.in_flight.iter_mut().filter(|(task, _)| is_of_load(task)) {
                        wanted.insert(task.clone());
                        if load.priority < *priority {
                            *priority = load.priority;
                            effects.push(Effect::MoveForward(task.clone()));
                        }
                    }
                    for _ in 0..load.concurrency {
                        let (page, due) = self.store.due(&load, self.clock.now());
                        wake = earliest(wake, due);
                        let Some(page) = page else { break };
                        if self.store.fail_unasked(&load.request, page, self.clock.now()) {
                            self.frame.dirty = true;
                            break;
                        }
                        // One request after the other tries whether the server answers again.
                        if self.store.waits_for_attempt(&load.request, page) {
                            if is_trying {
                                // The attempt may be canceled, and then nothing else would wake the loop.
                                wake = earliest(wake, self.clock.now().checked_add(NEXT_ATTEMPT).ok());
                                break;
                            }
                            is_trying = true;
                        }
                        let link = self.store.link_to(&load.request, page).cloned();
                        let known = self.store.known_reply(&load.request, page).cloned();
                        self.start(Task::Load { load: load.clone(), page, link, known }, &mut wanted, effects);
                    }
                }
                Want::Follow(follow) => {
                    if self.store.follows(&follow) {
                        self.store.open_stream(&follow);
                        let key = TaskKey::Follow(follow.request.clone());
                        let part = || self.store.known_part(&follow, self.clock.now());
                        let known =
                            if self.requests.in_flight.contains_key(&key) { KnownPart::default() } else { part() };
                        let full = self.store.is_full(&follow.request);
                        self.start(Task::Follow(*follow, known), &mut wanted, effects);
                        self.hold(key, full, effects);
                    }
                }
                Want::RangeRead(read) => {
                    if self.store.is_result_missing(&read.key) {
                        self.start(Task::RangeRead(read), &mut wanted, effects);
                    }
                }
                Want::Work(work) => {
                    if self.store.is_result_missing(&work.key) {
                        self.start(Task::Work(work), &mut wanted, effects);
                    }
                }
            }
        }
        let unwanted: Vec<TaskKey> = self.requests.in_flight.keys().filter(|t| !wanted.contains(t)).cloned().collect();
        for task in unwanted {
            self.requests.in_flight.remove(&task);
            self.requests.paused_streams.remove(&task);
            self.store.set_loading(&task, false);
            effects.push(Effect::Cancel(task));
        }
        let is_loading = self.requests_in_flight() > 0;
        self.requests.loading_since = is_loading.then(|| self.requests.loading_since.unwrap_or(self.clock.now()));
        let next = |step| self.clock.now().checked_add(SignedDuration::from_secs(step)).ok();
        self.requests.wake = match self.session.offline {
            true => self.shows_secret().then_some(1).and_then(next),
            false => earliest(earliest(wake, self.clock_step().and_then(next)), self.silent_from()),
        };
    }

    /// Returns the time since when requests have been waiting for a reply.
    pub(super) fn silent_since(&self) -> Option<Timestamp> {
        let heard = self.store.last_contact().max(self.store.wait_until());
        Some(self.requests.loading_since?.max(heard.unwrap_or(Timestamp::MIN)))
    }

    /// Returns the time from which the header will say that there is no reply, unless it does already.
    fn silent_from(&self) -> Option<Timestamp> {
        // In accessible mode, nothing changes by itself.
        let from = self.silent_since().filter(|_| !glyph::is_accessible())?.checked_add(SILENT).ok()?;
        (from > self.clock.now()).then_some(from)
    }

    fn start(&mut self, mut task: Task, wanted: &mut HashSet<TaskKey>, effects: &mut Vec<Effect>) {
        let key = task.key();
        wanted.insert(key.clone());
        if let Entry::Vacant(new) = self.requests.in_flight.entry(key.clone()) {
            new.insert(task.priority());
            // Nothing is passed by while the user does nothing.
            let idle =
                self.input.acted_at.map_or(Duration::MAX, |at| self.clock.now().duration_since(at).unsigned_abs());
            task.begin_earlier(idle);
            self.store.set_loading(&key, true);
            effects.push(Effect::Start(task));
        }
    }

    /// Pauses a stream when there is no room for its data, and resumes it when there is.
    fn hold(&mut self, task: TaskKey, full: bool, effects: &mut Vec<Effect>) {
        let changed = if full {
            self.requests.paused_streams.insert(task.clone())
        } else {
            self.requests.paused_streams.remove(&task)
        };
        if changed {
            effects.push(Effect::SetPaused(task, full));
        }
    }

    /// Returns whether the screen shows a secret, which must disappear in time.
    fn shows_secret(&self) -> bool {
        let is_in_place = self.nav.top().is_some_and(|pane| pane.shows_secret());
        is_in_place || self.overlays.iter().any(|overlay| overlay.shows_secret())
    }

    /// Returns the seconds after which what the screen shows of the time changes; `None` if it shows nothing that changes.
    pub(super) fn clock_step(&self) -> Option<i64> {
        if self.shows_secret() {
            return Some(1);
        }
        // In accessible mode, nothing changes by itself.
        if self.server_switch.in_background || glyph::is_accessible() {
            return None;
        }
        let view = self.view_of();
        // Data that could not be refreshed may be of something that ended long ago.
        let ticks = |pane: &OpenPane| pane.ticks(&view) && !self.requests.shown.is_outdated;
        if self.transfers.running().next().is_some() || self.nav.top().is_some_and(ticks) {
            return Some(1);
        }
        // Of hours to wait, only the minutes are shown.
        let limited = self.requests.failed.iter().map(|request| request.route).chain([SERVER]);
        let left = limited.filter_map(|route| self.store.time_to_wait(route, self.clock.now())).min()?.as_secs() as i64;
        Some(if left < 3_600 { 1 } else { left % 60 + 1 })
    }

    /// Returns the number of requests in flight, including writes.
    pub fn requests_in_flight(&self) -> usize {
        self.requests.in_flight.keys().filter(|t| matches!(t, TaskKey::Load(..))).count() + self.writes.len()
    }
}
