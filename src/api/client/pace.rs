//! The pace of the requests to a server: the pauses that it requests, the limits that it announces, and one attempt at a
//! time while it refuses requests for being too many, or is away.

use super::clock;
use super::exchange::{MAX_PAUSE, MAX_RETRIES, pause_after_refusal, until};
use crate::error::{Error, Fault, SERVER};
use jiff::Timestamp;
use reqwest::header::HeaderMap;
use std::collections::{BTreeSet, HashMap};
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// The pause after a request that was refused for being one too many, as a multiple of the delay before a retry.
const PAUSE_FACTOR: u32 = 8;
/// The maximum number of times that the pause without a request of the server doubles.
const MAX_DOUBLINGS: u32 = 2;
/// The shortest and the longest time between two requests to a server that refused some.
const MIN_INTERVAL: Duration = Duration::from_millis(50);
const MAX_INTERVAL: Duration = Duration::from_secs(1);
/// The number of replies after which the time between requests becomes shorter.
const REPLIES_PER_STEP: u32 = 10;
/// The longest time for which an announced limit is believed.
const MAX_RESET: Duration = Duration::from_secs(60 * 60);
/// The number of requests that an announced limit allows for each poll.
const REQUESTS_PER_POLL: u64 = 4;
/// The maximum number of limits that are known of a server.
const MAX_LIMITS: usize = 8;

/// The order in which requests are sent that must wait. Those with the same priority are sent in the order in which they
/// began to wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// The subject of a place, and what the user does.
    #[default]
    Page,
    /// Details of the selected row.
    Preview,
    /// Columns about the other rows.
    Columns,
}

/// The pace of the requests to a server, which all calls share.
#[derive(Debug)]
pub(super) struct Pace {
    /// The pause after the first failure to reach the server; it doubles with each further one.
    pause: Duration,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// The number of requests that have no reply yet.
    sent: u64,
    /// The end of the pause.
    paused_until: Option<Instant>,
    /// The number of failures since the last other reply, without those of requests that were sent together.
    failures: u32,
    /// The last failure, if the server is away; `None` if it refused requests for being too many.
    away: Option<Fault>,
    /// Whether a request tries whether the server fails still.
    is_trying: bool,
    /// The time between two requests.
    interval: Duration,
    /// The earliest time of the next request.
    next: Option<Instant>,
    /// The number of replies since `interval` changed.
    replies: u32,
    /// The number of replies in a row that were cut.
    cuts: u32,
    /// The announced limits, by their names.
    limits: HashMap<String, Limit>,
    /// The requests that wait, in their order.
    queue: BTreeSet<(Priority, u64)>,
    /// The number of requests that have ever waited.
    queued: u64,
}

/// The number of requests that a server still answers until the limit is reset.
#[derive(Debug)]
struct Limit {
    remaining: u64,
    reset: Instant,
}

/// The shortest pause that is reported.
const MIN_TOLD_PAUSE: Duration = Duration::from_secs(1);

/// The next step of a request.
enum Step {
    Send,
    WaitUntil(Instant),
    /// Wait until another request is answered.
    WaitForReply,
    /// Give up for the reason for which another request failed.
    Refuse(Fault),
}

/// The place of a request in the queue, which it leaves when this is dropped.
struct QueuePlace<'a> {
    pace: &'a Pace,
    place: (Priority, u64),
}

impl Drop for QueuePlace<'_> {
    fn drop(&mut self) {
        self.pace.state().queue.remove(&self.place);
        self.pace.changed.notify_waiters();
    }
}

/// The permission to send a request. Dropped when the reply begins or the request is canceled.
pub(super) struct Permit<'a> {
    pace: &'a Pace,
    is_attempt: bool,
}

impl Pace {
    /// Creates the pace for a server that has not failed; the first pause is `pause`, or longer if the server refuses
    /// requests for being too many, unless it requests another one.
    pub fn new(pause: Duration) -> Pace {
        Pace { pause, state: Mutex::default(), changed: Notify::new() }
    }

    /// Returns whether the server was away for so many attempts that a request that failed is not repeated.
    pub fn is_away(&self) -> bool {
        self.state().is_away_for_long()
    }

    /// Records whether a reply was cut, and returns the number of those in a row.
    pub fn count_cuts(&self, is_cut: bool) -> u32 {
        let mut state = self.state();
        state.cuts = if is_cut { state.cuts.saturating_add(1) } else { 0 };
        state.cuts
    }

    /// Waits until the server has refused requests for being too many, and returns the pause that follows.
    pub async fn limited(&self) -> Duration {
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            {
                let (state, now) = (self.state(), Instant::now());
                let rest = state.rest_of_pause(now);
                if state.failures > 0 && state.away.is_none() && rest >= MIN_TOLD_PAUSE {
                    return rest;
                }
            }
            changed.await;
        }
    }

    /// Returns the pause between two polls with which the announced limits last until they are reset.
    pub fn poll_pause(&self) -> Duration {
        let (state, now) = (self.state(), Instant::now());
        let pauses = state.limits.values().map(|limit| {
            let polls = u32::try_from(limit.remaining / REQUESTS_PER_POLL).unwrap_or(u32::MAX);
            limit.reset.saturating_duration_since(now) / polls.max(1)
        });
        pauses.max().unwrap_or_default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enqueue(&self, priority: Priority) -> QueuePlace<'_> {
        let mut state = self.state();
        state.queued += 1;
        let place = (priority, state.queued);
        state.queue.insert(place);
        QueuePlace { pace: self, place }
    }

    /// Waits until a request may be sent. If it cannot be sent for long, or if the attempt of another request has failed,
    /// the error is the reason. A write does not wait for attempts to reach the server.
    pub async fn permit(&self, priority: Priority, is_write: bool) -> Result<Permit<'_>, Fault> {
        let queued = self.enqueue(priority);
        // The number of failures when this request began to wait for the attempt of another.
        let mut before = None;
        loop {
            let mut changed = pin!(self.changed.notified());
            // From here on, no change is missed.
            changed.as_mut().enable();
            let step = {
                let mut state = self.state();
                let now = Instant::now();
                let has_failed = before.is_some_and(|before| state.failures > before);
                let step = match state.outcome_for_others(now).filter(|_| has_failed) {
                    _ if is_write && state.away.is_some() => Step::Send,
                    Some(fault) => Step::Refuse(fault),
                    None => match state.step(now) {
                        Step::Send if state.queue.first() != Some(&queued.place) => Step::WaitForReply,
                        step => step,
                    },
                };
                match step {
                    Step::Send => {
                        let is_attempt = state.begin(now);
                        return Ok(Permit { pace: self, is_attempt });
                    }
                    Step::WaitForReply if state.is_trying => before = Some(before.unwrap_or(state.failures)),
                    _ => {}
                }
                step
            };
            match step {
                Step::Send | Step::WaitForReply => changed.await,
                // Pauses also end early.
                Step::WaitUntil(at) => drop(tokio::time::timeout_at(at, changed).await),
                Step::Refuse(fault) => return Err(fault),
            }
        }
    }
}

impl State {
    fn rest_of_pause(&self, now: Instant) -> Duration {
        self.paused_until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now))
    }

    fn is_away_for_long(&self) -> bool {
        self.away.is_some() && self.failures > MAX_RETRIES
    }

    /// Returns the error for the requests that waited for an attempt that failed, or `None` if another one is to try:
    /// while a server is away, it may answer some requests and not others.
    fn outcome_for_others(&self, now: Instant) -> Option<Fault> {
        match &self.away {
            Some(fault) => self.is_away_for_long().then(|| fault.clone()),
            None => Some(Fault::Limited(SERVER, Some(self.rest_of_pause(now)))),
        }
    }

    fn step(&self, now: Instant) -> Step {
        let paused = self.paused_until.filter(|until| *until > now);
        if let Some(until) = paused {
            return Step::WaitUntil(until);
        }
        let used_up = self.limits.values().filter(|limit| limit.reset > now && limit.remaining <= self.sent);
        if let Some(reset) = used_up.map(|limit| limit.reset).max() {
            return match reset.duration_since(now) {
                // The replies say how many requests remain.
                _ if self.sent > 0 => Step::WaitForReply,
                rest if rest > MAX_PAUSE => Step::Refuse(Fault::Limited(SERVER, Some(rest))),
                _ => Step::WaitUntil(reset),
            };
        }
        match self.next.filter(|next| *next > now) {
            _ if self.is_trying => Step::WaitForReply,
            Some(next) => Step::WaitUntil(next),
            None => Step::Send,
        }
    }

    /// Records that a request is sent, and returns whether it is an attempt.
    fn begin(&mut self, now: Instant) -> bool {
        self.sent += 1;
        self.next = Some(now + self.interval);
        let is_attempt = self.failures > 0 && !self.is_trying;
        self.is_trying |= is_attempt;
        is_attempt
    }

    /// Records a failure: the server is `away`, or refuses requests for being too many. `requested` is the pause that it
    /// requests, else there is a `pause`.
    fn fail(&mut self, away: Option<Fault>, requested: Option<Duration>, pause: Duration, now: Instant) {
        // Requests that were sent together fail together.
        if self.rest_of_pause(now).is_zero() {
            if self.failures == 0 && away.is_none() {
                self.interval = (self.interval * 2).clamp(MIN_INTERVAL, MAX_INTERVAL);
            }
            self.failures = self.failures.saturating_add(1);
            self.replies = 0;
        }
        let pause = if away.is_none() { pause * PAUSE_FACTOR } else { pause };
        self.away = away;
        let pause = pause * 2_u32.pow(self.failures.saturating_sub(1).min(MAX_DOUBLINGS));
        // The callers decide about longer ones.
        if let Some(pause) = Some(requested.unwrap_or(pause)).filter(|pause| *pause <= MAX_PAUSE) {
            self.paused_until = self.paused_until.max(Some(now + pause));
        }
    }

    /// Records a reply that is no failure.
    fn accept(&mut self) {
        self.failures = 0;
        // A server that answers one request is not away, whatever it cannot answer.
        if self.away.take().is_some() {
            self.paused_until = None;
        }
        self.replies += 1;
        if self.replies >= REPLIES_PER_STEP {
            self.replies = 0;
            self.interval =
                Some(self.interval * 3 / 4).filter(|interval| *interval >= MIN_INTERVAL / 2).unwrap_or_default();
        }
    }

    /// Records the limit that a reply announces, if any.
    fn set_limit(&mut self, headers: &HeaderMap, now: Instant) {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
        let number = |name: &str| text(name).and_then(|number| number.parse::<i64>().ok());
        let (Some(remaining), Some(reset)) = (number("ratelimit-remaining"), number("ratelimit-reset")) else { return };
        let Ok(reset) = Timestamp::from_second(reset) else { return };
        // Both are by the clock of the server.
        let rest = until(reset, clock::date(headers).unwrap_or_else(Timestamp::now)).min(MAX_RESET);
        let name = text("ratelimit-name").unwrap_or_default();
        if self.limits.len() >= MAX_LIMITS && !self.limits.contains_key(name) {
            self.limits.clear();
        }
        let limit = Limit { remaining: u64::try_from(remaining).unwrap_or(0), reset: now + rest };
        self.limits.insert(name.to_owned(), limit);
    }
}

impl Permit<'_> {
    /// Records the status and the headers of the reply.
    pub fn record(&self, status: u16, headers: &HeaderMap) {
        let (mut state, now) = (self.pace.state(), Instant::now());
        let (requested, pause) = (pause_after_refusal(headers), self.pace.pause);
        match status {
            429 => state.fail(None, requested, pause, now),
            502..=504 => {
                let error = Error::from_status(String::new(), status, String::new(), None);
                state.fail(Some(error.fault), requested, pause, now);
            }
            _ => state.accept(),
        }
        state.set_limit(headers, now);
    }

    /// Records a reply of which another pace records the limits: this one is not slowed down by them.
    pub fn record_unlimited(&self, status: u16) {
        let status = if status == 429 { 200 } else { status };
        self.record(status, &HeaderMap::new());
    }

    /// Records that there was no reply, if that is because the server cannot be reached.
    pub fn record_error(&self, error: &Error) {
        if matches!(error.fault, Fault::Offline(_) | Fault::Timeout(_)) {
            self.pace.state().fail(Some(error.fault.clone()), None, self.pace.pause, Instant::now());
        }
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let mut state = self.pace.state();
        state.sent = state.sent.saturating_sub(1);
        state.is_trying &= !self.is_attempt;
        drop(state);
        self.pace.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::{HeaderName, HeaderValue};

    fn headers(all: &[(&'static str, &str)]) -> HeaderMap {
        all.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())).collect()
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn after_a_refusal_one_request_tries_and_the_others_share_its_outcome() {
        let pace = Pace::new(SECOND / 4);
        let began = Instant::now();
        let first = [
            pace.permit(Priority::Page, false).await.unwrap(),
            pace.permit(Priority::Page, false).await.unwrap(),
            pace.permit(Priority::Page, false).await.unwrap(),
        ];
        first.iter().for_each(|permit| permit.record(429, &headers(&[])));
        drop(first);
        let attempt = pace.permit(Priority::Page, false).await.unwrap();
        assert_eq!(began.elapsed(), 2 * SECOND);
        let waiting = pace.permit(Priority::Page, false);
        let outcome = async {
            tokio::time::sleep(SECOND).await;
            attempt.record(429, &headers(&[]));
            drop(attempt);
        };
        let (refused, ()) = tokio::join!(waiting, outcome);
        assert_eq!(refused.err(), Some(Fault::Limited(SERVER, Some(4 * SECOND))));
        // An attempt that is canceled leaves the next one to others.
        drop(pace.permit(Priority::Page, false).await.unwrap());
        let attempt = pace.permit(Priority::Page, false).await.unwrap();
        assert_eq!(began.elapsed(), 7 * SECOND + MIN_INTERVAL);
        attempt.record(200, &headers(&[]));
        drop(attempt);
        let more =
            [pace.permit(Priority::Page, false).await.unwrap(), pace.permit(Priority::Page, false).await.unwrap()];
        assert!(more.iter().all(|permit| !permit.is_attempt));
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_answers_ten_requests_a_second_refuses_few_of_a_hundred() {
        let pace = Pace::new(SECOND / 4);
        let (began, mut answered, mut refused) = (Instant::now(), Vec::new(), 0);
        while answered.len() < 100 {
            let permit = pace.permit(Priority::Page, false).await.unwrap();
            let lately = answered.iter().filter(|at: &&Instant| at.elapsed() < SECOND).count();
            match lately {
                10.. => {
                    refused += 1;
                    permit.record(429, &headers(&[("retry-after", "1")]));
                }
                _ => {
                    permit.record(200, &headers(&[]));
                    answered.push(Instant::now());
                }
            }
        }
        assert!(refused <= 8, "{refused}");
        assert!(began.elapsed() < 25 * SECOND, "{:?}", began.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn an_announced_limit_is_not_exceeded_whatever_the_local_clock() {
        let pace = Pace::new(SECOND / 4);
        // A day behind.
        let date = ("date", "Mon, 01 Jan 2018 00:00:05 GMT");
        let limit = |remaining: &'static str| {
            headers(&[date, ("ratelimit-remaining", remaining), ("ratelimit-reset", "1514764825")])
        };
        let began = Instant::now();
        let permit = pace.permit(Priority::Page, false).await.unwrap();
        permit.record(200, &limit("1"));
        drop(permit);
        let last = pace.permit(Priority::Page, false).await.unwrap();
        let (next, ()) = tokio::join!(pace.permit(Priority::Page, false), async {
            tokio::time::sleep(SECOND).await;
            last.record(200, &limit("0"));
            drop(last);
        });
        drop(next.unwrap());
        assert_eq!(began.elapsed(), 20 * SECOND + SECOND);
        // What takes longer is told.
        let permit = pace.permit(Priority::Page, false).await.unwrap();
        permit.record(200, &headers(&[date, ("ratelimit-remaining", "-1"), ("ratelimit-reset", "99999999999")]));
        drop(permit);
        assert_eq!(pace.permit(Priority::Page, false).await.err(), Some(Fault::Limited(SERVER, Some(MAX_RESET))));
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_is_told_while_it_lasts() {
        let pace = Pace::new(Duration::from_millis(10));
        let permit = pace.permit(Priority::Page, false).await.expect("a permit");
        let told = async { tokio::time::timeout(Duration::from_millis(1), pace.limited()).await.ok() };
        assert_eq!(told.await, None);
        permit.record(429, &headers(&[("retry-after", "4")]));
        drop(permit);
        assert_eq!(pace.limited().await.as_secs_f64().round(), 4.0);
        tokio::time::sleep(Duration::from_secs(4)).await;
        assert!(tokio::time::timeout(Duration::from_millis(1), pace.limited()).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_that_has_passed_is_none_and_a_long_one_is_not_waited_for() {
        let pace = Pace::new(SECOND / 4);
        let began = Instant::now();
        for requested in ["0", "86400", "Sun, 31 Dec 2017 00:00:05 GMT"] {
            let permit = pace.permit(Priority::Page, false).await.unwrap();
            permit.record(429, &headers(&[("retry-after", requested)]));
        }
        drop(pace.permit(Priority::Page, false).await.unwrap());
        // The pauses after the first and the third refusal. The callers decide what to do in a day.
        assert_eq!(began.elapsed().as_secs(), 2 + 8);
    }

    #[tokio::test(start_paused = true)]
    async fn while_the_server_is_away_a_few_requests_try_and_the_others_share_the_outcome() {
        let pace = Pace::new(SECOND / 4);
        let began = Instant::now();
        let burst =
            [pace.permit(Priority::Page, false).await.unwrap(), pace.permit(Priority::Page, false).await.unwrap()];
        burst.iter().for_each(|permit| permit.record(502, &headers(&[])));
        drop(burst);
        let sent = Mutex::new(Vec::new());
        let read = async || {
            let permit = pace.permit(Priority::Page, false).await?;
            sent.lock().unwrap().push(began.elapsed().as_millis());
            tokio::time::sleep(SECOND / 10).await;
            permit.record(503, &headers(&[]));
            Ok::<_, Fault>(())
        };
        let outcomes = futures::future::join_all((0..10).map(|_| read())).await;
        assert_eq!(sent.lock().unwrap().len(), 3);
        let refused: Vec<&Fault> = outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).collect();
        assert_eq!(refused, vec![&Fault::Server(503, "503 Service Unavailable".into()); 7]);
        assert!(pace.is_away() && began.elapsed() < 3 * SECOND, "{:?}", began.elapsed());
        // A write is sent at once. Later, one request is enough to find out.
        drop(pace.permit(Priority::Page, true).await.unwrap());
        let outcomes = futures::future::join_all((0..10).map(|_| read())).await;
        assert_eq!((sent.lock().unwrap().len(), outcomes.iter().filter(|outcome| outcome.is_err()).count()), (4, 9));
        let attempt = pace.permit(Priority::Page, false).await.unwrap();
        attempt.record(404, &headers(&[]));
        drop(attempt);
        let all =
            [pace.permit(Priority::Page, false).await.unwrap(), pace.permit(Priority::Page, false).await.unwrap()];
        assert!(!pace.is_away() && all.iter().all(|permit| !permit.is_attempt));
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_the_server_cannot_answer_leaves_the_others_alone() {
        let pace = Pace::new(SECOND / 4);
        let bad = async || {
            for _ in 0..4 {
                let Ok(permit) = pace.permit(Priority::Page, false).await else { return };
                tokio::time::sleep(SECOND / 10).await;
                permit.record(504, &headers(&[]));
                drop(permit);
                tokio::time::sleep(SECOND / 3).await;
            }
        };
        let good = async || {
            for _ in 0..50 {
                let permit = pace.permit(Priority::Page, false).await.expect("others are answered");
                tokio::time::sleep(SECOND / 10).await;
                permit.record(200, &headers(&[]));
            }
        };
        tokio::join!(bad(), good(), good(), good());
        assert!(!pace.is_away());
    }

    #[tokio::test(start_paused = true)]
    async fn what_waits_is_sent_by_priority_and_then_by_age() {
        let pace = Pace::new(SECOND / 4);
        let refused = pace.permit(Priority::Columns, false).await.unwrap();
        refused.record(429, &headers(&[]));
        drop(refused);
        let sent = Mutex::new(Vec::new());
        let send = async |name: &'static str, priority| {
            let permit = pace.permit(priority, false).await.unwrap();
            sent.lock().unwrap().push(name);
            permit.record(200, &headers(&[]));
        };
        let canceled = tokio::time::timeout(SECOND, send("canceled", Priority::Page));
        tokio::join!(
            send("column 1", Priority::Columns),
            send("column 2", Priority::Columns),
            async { assert!(canceled.await.is_err()) },
            send("preview", Priority::Preview),
            send("page", Priority::Page),
        );
        assert_eq!(*sent.lock().unwrap(), ["page", "preview", "column 1", "column 2"]);
    }
}
