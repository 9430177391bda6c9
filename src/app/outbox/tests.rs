//! Tests of the outbox against a server that behaves like a real one: it refuses, drops the connection, or does not
//! reply.

use super::*;
use crate::dice::Dice;
use crate::sample::length;
use api::error::SERVER;
use std::collections::BTreeMap;
use std::time::Duration;

/// The reaction of the server to a call.
#[derive(Clone)]
enum ServerBehavior {
    Takes,
    /// The server stores the comment, but does not reply.
    TakesInSilence(Fault),
    Fails(Fault),
}

/// A server, a disk and an outbox.
struct World {
    outbox: Outbox,
    /// The drafts on disk, by their numbers.
    disk: BTreeMap<u64, DraftState>,
    /// The comments that the server has, by the numbers of their drafts, in order; their IDs count from 1.
    server: Vec<u64>,
    script: VecDeque<ServerBehavior>,
    calls: Vec<u64>,
    looks: usize,
    said: Vec<String>,
    /// The claims of another process.
    elsewhere: BTreeMap<u64, Claimed>,
    /// The number of checks that fail, and the error.
    unseen: usize,
    look_fault: fn() -> Fault,
    now: Timestamp,
}

fn thing() -> Noteable {
    Noteable::MergeRequest { project: "a/b".into(), iid: 1 }
}

fn key(number: u64) -> DraftKey {
    DraftKey::new(thing(), number)
}

impl World {
    fn new(count: u64, script: impl IntoIterator<Item = ServerBehavior>) -> World {
        let disk = (0..count).map(|number| (number, DraftState::Kept)).collect();
        World {
            outbox: Outbox::default(),
            disk,
            server: vec![u64::MAX],
            script: script.into_iter().collect(),
            calls: Vec::new(),
            looks: 0,
            said: Vec::new(),
            elsewhere: BTreeMap::new(),
            unseen: 0,
            look_fault: broken,
            now: "2026-06-15T12:00:00Z".parse().expect("a time"),
        }
    }

    fn post_all(&mut self) -> &mut World {
        for number in self.disk.keys() {
            self.outbox.post(&key(*number), &Draft::new(thing()));
        }
        self
    }

    fn check_all_drafts(&mut self) -> &mut World {
        for (number, state) in self.disk.clone() {
            self.outbox.check(&key(number), &Draft { state, ..Draft::new(thing()) });
        }
        self
    }

    /// Carries out everything that there is to do, or at most `until` steps.
    fn run(&mut self, until: usize) -> &mut World {
        let mut steps: VecDeque<Step> = VecDeque::new();
        for _ in 0..until {
            let Some(step) = steps.pop_front() else {
                if let Some(wake) = self.outbox.wake() {
                    self.now = self.now.max(wake);
                }
                let begun = self.outbox.begin(self.now, |key| self.disk.contains_key(&key.number()));
                if begun.is_empty() {
                    break;
                }
                steps.extend(begun);
                continue;
            };
            match step {
                Step::Claim(key) => {
                    let claimed = match self.elsewhere.get(&key.number()) {
                        Some(claimed) => claimed.clone(),
                        None => Claimed::Ours(self.disk[&key.number()].clone()),
                    };
                    steps.extend(self.outbox.claimed(&key, claimed));
                }
                Step::Check(_) if self.unseen > 0 => {
                    self.unseen -= 1;
                    let Some(key) = self.outbox.checking().cloned() else { continue };
                    let error = Error { tried: "GET".into(), fault: (self.look_fault)() };
                    steps.extend(self.outbox.check_failed(&error, &self.disk[&key.number()].clone(), self.now));
                }
                Step::Keep(key, state) => _ = self.disk.insert(key.number(), state),
                Step::Drop(key) => _ = self.disk.remove(&key.number()),
                Step::Say(_, words) => self.said.push(words),
                Step::Conflict(key, now) => self.said.push(format!("{key} says {now} by now")),
                Step::Check(key) => {
                    self.looks += 1;
                    let state = self.disk[&key.number()].clone();
                    let before = state.before().map_or(self.server.len(), |before| before as usize);
                    let arrived = self.server.get(before..).unwrap_or_default().contains(&key.number());
                    let evidence = Evidence { mark: self.server.len() as u64, arrived, ..Evidence::default() };
                    steps.extend(self.outbox.checked(evidence, &state, self.now));
                }
                Step::Send(key) => {
                    // The state is on disk before the comment is sent.
                    assert!(matches!(self.disk[&key.number()], DraftState::Sending { .. }), "{key}");
                    self.calls.push(key.number());
                    let does = self.script.pop_front().unwrap_or(ServerBehavior::Takes);
                    if !matches!(does, ServerBehavior::Fails(_)) {
                        self.server.push(key.number());
                    }
                    let state = self.disk[&key.number()].clone();
                    let error = |fault| Error { tried: "POST".into(), fault };
                    let answered = match does {
                        ServerBehavior::Takes => self.outbox.answered(Ok(self.server.len() as u64), &state, self.now),
                        ServerBehavior::TakesInSilence(fault) | ServerBehavior::Fails(fault) => {
                            self.outbox.answered(Err(&error(fault)), &state, self.now)
                        }
                    };
                    steps.extend(answered);
                }
            }
        }
        self
    }

    fn all(&mut self) -> &mut World {
        self.run(usize::MAX)
    }

    /// Kills the program and starts it again.
    fn killed(&mut self) -> &mut World {
        self.outbox = Outbox::default();
        self
    }

    fn arrived(&self, number: u64) -> usize {
        self.server.iter().filter(|sent| **sent == number).count()
    }
}

fn refused() -> Fault {
    Fault::Refused(422, "no".into())
}

fn broken() -> Fault {
    Fault::Offline("the connection broke".into())
}

#[test]
fn published_drafts_are_told_only_if_the_server_dropped_them() {
    let published = |world: &mut World| {
        for (number, state) in world.disk.clone() {
            world.outbox.check_published(&key(number), &Draft { state, ..Draft::new(thing()) });
        }
    };
    let mut world = World::new(3, []);
    for state in world.disk.values_mut() {
        *state = DraftState::Unknown { before: 0, why: "the server published the review without this comment".into() };
    }
    world.server = vec![0, 2];
    published(&mut world);
    world.all();
    assert!(world.calls.is_empty(), "{:?}", world.calls);
    assert_eq!(world.disk.keys().copied().collect::<Vec<_>>(), [1]);
    assert_eq!(
        world.said,
        ["Sent 2 of 3 comments. Last error: the server published the review without this comment; it has not \
          arrived so far. The rest is saved."]
    );
    world.server.push(1);
    world.said.clear();
    world.disk.insert(1, DraftState::Unknown { before: 0, why: String::new() });
    published(&mut world);
    world.all();
    assert!(world.disk.is_empty() && world.said.is_empty(), "{:?}", world.said);
}

#[test]
fn ten_drafts_are_sent_in_order_after_one_check() {
    let mut world = World::new(10, []);
    world.post_all().all();
    assert_eq!(world.calls, (0..10).collect::<Vec<_>>());
    assert!(world.disk.is_empty());
    assert_eq!(world.looks, 1);
    assert_eq!(world.said, ["Sent 10 comments"]);
}

#[test]
fn refused_drafts_keep_the_reason_and_the_rest_is_sent() {
    let mut world = World::new(4, [ServerBehavior::Takes, ServerBehavior::Fails(refused())]);
    world.post_all().all();
    assert_eq!(world.calls.len(), 4);
    assert_eq!(world.disk.len(), 1);
    assert!(
        matches!(&world.disk[&1], DraftState::Failed { why, before: None } if why.contains("no")),
        "{:?}",
        world.disk
    );
    world.post_all().all();
    assert!(world.disk.is_empty());
    assert_eq!(world.arrived(1), 1);
}

#[test]
fn a_denied_comment_cancels_the_others_on_the_object() {
    let mut world = World::new(10, [ServerBehavior::Fails(Fault::Denied("403 Forbidden".into()))]);
    world.post_all().all();
    assert_eq!(world.calls, [0]);
    assert_eq!(world.disk.len(), 10);
    assert!(matches!(world.disk[&0], DraftState::Failed { .. }));
    assert_eq!(world.disk[&9], DraftState::Kept);
}

#[test]
fn a_requested_pause_delays_the_same_comment() {
    let mut world = World::new(2, [ServerBehavior::Fails(Fault::Limited(SERVER, Some(Duration::from_secs(42))))]);
    let began = world.now;
    world.post_all().all();
    assert_eq!(world.calls, [0, 0, 1]);
    assert_eq!(world.now.duration_since(began), SignedDuration::from_secs(42));
    assert_eq!((world.arrived(0), world.arrived(1), world.disk.len()), (1, 1, 0));
}

#[test]
fn retries_are_bounded_for_any_requested_pause() {
    let none = || ServerBehavior::Fails(Fault::Limited(SERVER, Some(Duration::ZERO)));
    let mut world = World::new(1, [none(), none(), none()]);
    let began = world.now;
    world.post_all().all();
    assert_eq!((world.calls.len(), world.arrived(0)), (4, 1));
    assert_eq!(world.now.duration_since(began), RETRY_DELAY * 3);
    let mut world = World::new(1, [ServerBehavior::Fails(Fault::Limited(SERVER, Some(Duration::MAX)))]);
    world.post_all().run(6);
    assert_eq!((world.calls.len(), world.outbox.wake()), (1, Some(jiff::Timestamp::MAX)));
}

#[test]
fn a_lost_reply_is_replaced_by_a_check() {
    for fault in
        [broken(), Fault::Timeout(Duration::from_secs(30)), Fault::Server(502, "bad".into()), Fault::Cut("".into())]
    {
        let mut world = World::new(3, [ServerBehavior::Takes, ServerBehavior::TakesInSilence(fault)]);
        world.post_all().all();
        assert_eq!(world.calls, [0, 1, 2]);
        assert!(world.disk.is_empty(), "{:?}", world.disk);
        assert_eq!(world.arrived(1), 1);
    }
}

#[test]
fn nobody_is_told_to_check_what_the_outbox_checks() {
    let mut world = World::new(1, [ServerBehavior::Fails(Fault::Replaced("a web page".into()))]);
    world.post_all().all();
    assert!(world.said[0].contains(": a web page; it has not arrived so far."), "{:?}", world.said);
    assert!(!world.said[0].contains("check"), "{:?}", world.said);
}

#[test]
fn missing_comments_are_resent_only_on_request_after_a_check() {
    let mut world = World::new(3, [ServerBehavior::Fails(broken())]);
    world.post_all().all();
    assert_eq!(world.calls, [0, 1, 2]);
    assert!(matches!(&world.disk[&0], DraftState::Failed { why, .. } if why.ends_with("; it has not arrived so far")));
    // The comment arrives late after all.
    world.server.push(0);
    world.post_all().all();
    assert_eq!((world.arrived(0), world.calls.len()), (1, 3));
    assert!(world.disk.is_empty());
}

/// Whatever the server does and wherever the program is killed, nothing is sent twice, and nothing is lost.
#[test]
fn no_comment_is_lost_or_duplicated_at_any_kill_point() {
    let scripts: [&[ServerBehavior]; 4] = [
        &[],
        &[
            ServerBehavior::TakesInSilence(broken()),
            ServerBehavior::Takes,
            ServerBehavior::Fails(Fault::Server(500, "no".into())),
        ],
        &[
            ServerBehavior::Fails(Fault::Limited(SERVER, None)),
            ServerBehavior::Fails(refused()),
            ServerBehavior::TakesInSilence(broken()),
        ],
        &[ServerBehavior::Fails(broken()), ServerBehavior::TakesInSilence(broken())],
    ];
    for script in scripts {
        for steps in 0..40 {
            let mut world = World::new(4, script.iter().cloned());
            world.post_all().run(steps);
            for _ in 0..4 {
                world.killed().post_all().all();
            }
            assert!(world.disk.is_empty(), "killed after {steps}: {:?}", world.disk);
            for number in 0..4 {
                assert_eq!(world.arrived(number), 1, "{number}, killed after {steps} of {:?}", world.calls);
            }
        }
    }
}

/// The same at random: several kills in a row, each after any number of steps, with any server.
#[test]
fn no_comment_is_lost_or_duplicated_in_random_kills() {
    for run in 0..length(1_000) {
        let mut dice = Dice(run as u64);
        let mut below = |most: usize| dice.below(most);
        let script = (0..below(8)).map(|_| match below(6) {
            0 => ServerBehavior::TakesInSilence(broken()),
            1 => ServerBehavior::TakesInSilence(Fault::Server(502, "no".into())),
            2 => ServerBehavior::Fails(broken()),
            3 => ServerBehavior::Fails(refused()),
            4 => ServerBehavior::Fails(Fault::Limited(SERVER, None)),
            _ => ServerBehavior::Takes,
        });
        let script: Vec<ServerBehavior> = script.collect();
        let count = 1 + below(5) as u64;
        let mut world = World::new(count, script);
        for _ in 0..1 + below(6) {
            world.unseen = below(3);
            world.look_fault = if below(2) == 0 { broken } else { refused };
            match below(3) {
                0 => world.killed().check_all_drafts(),
                _ => world.killed().post_all(),
            };
            world.run(below(30));
        }
        for number in 0..count {
            let sent = world.arrived(number);
            assert!(sent <= 1, "run {run}: {number} was sent {sent} times, by {:?}", world.calls);
            assert!(
                sent == 1 || world.disk.contains_key(&number),
                "run {run}: {number} is lost, after {:?}",
                world.calls
            );
        }
        // The server works again: everything left is sent, once.
        (world.unseen, world.script) = (0, VecDeque::new());
        for _ in 0..4 {
            world.killed().post_all().all();
        }
        assert!(world.disk.is_empty(), "run {run}: {:?} stays", world.disk);
        let sent: Vec<usize> = (0..count).map(|number| world.arrived(number)).collect();
        assert!(sent.iter().all(|times| *times == 1), "run {run}: sent {sent:?} times, by {:?}", world.calls);
    }
}

#[test]
fn a_restart_checks_uncertain_drafts_and_sends_nothing() {
    let mut world = World::new(2, []);
    world.disk.insert(1, DraftState::Sending { before: 1 });
    world.check_all_drafts().all();
    assert!(world.calls.is_empty());
    assert!(matches!(&world.disk[&1], DraftState::Failed { before: Some(1), .. }));
    // The server may still have been processing it the first time.
    assert_eq!((world.looks, world.disk.len()), (2, 2));
}

#[test]
fn uncertain_drafts_are_resolved_after_a_restart() {
    let unknown = || DraftState::Unknown { before: 1, why: "cut".into() };
    let failed = DraftState::Failed { why: "cut; it has not arrived so far".into(), before: Some(1) };
    let mut world = World::new(0, []);
    world.disk.extend([(0, unknown()), (1, unknown()), (2, DraftState::Sending { before: 1 }), (3, failed.clone())]);
    world.server.extend([0, 2]);
    world.killed().check_all_drafts().all();
    assert_eq!(world.disk.into_iter().collect::<Vec<_>>(), [(1, failed.clone()), (3, failed)]);
    assert!(world.calls.is_empty());
    assert_eq!(world.said, ["Sent 2 of 3 comments. Last error: cut; it has not arrived so far. The rest is saved."]);
}

#[test]
fn failed_checks_are_retried_after_temporary_errors() {
    let mut world = World::new(0, []);
    world.disk.insert(0, DraftState::Unknown { before: 1, why: "cut".into() });
    world.unseen = 10;
    world.killed().check_all_drafts().all();
    assert!(matches!(world.disk[&0], DraftState::Unknown { before: 1, .. }));
    world.unseen = 0;
    world.killed().check_all_drafts().all();
    assert!(matches!(world.disk[&0], DraftState::Failed { before: Some(1), .. }));
}

#[test]
fn drafts_claimed_by_another_process_are_not_sent() {
    let mut world = World::new(3, []);
    world.elsewhere.insert(0, Claimed::Elsewhere);
    world.elsewhere.insert(1, Claimed::Other);
    world.post_all().all();
    assert_eq!(world.calls, [2]);
    assert_eq!((&world.disk[&0], &world.disk[&1]), (&DraftState::Kept, &DraftState::Kept));
    assert!(world.said[0].contains("Sent 1 of 3 comments"), "{:?}", world.said);
}

#[test]
fn drafts_sent_by_another_process_are_found_and_dropped_ones_kept() {
    let mut world = World::new(2, []);
    world.elsewhere.insert(0, Claimed::Gone);
    world.elsewhere.insert(1, Claimed::Gone);
    world.server.push(0);
    world.post_all().all();
    assert!(world.calls.is_empty());
    assert!(world.outbox.has_sent(&key(0)) && !world.outbox.has_sent(&key(1)));
    assert!(matches!(&world.disk[&1], DraftState::Failed { why, .. } if why.contains("another labscope")));
}

#[test]
fn an_unreachable_server_ends_the_batch() {
    let mut world = World::new(3, []);
    world.unseen = 100;
    world.post_all().all();
    assert!(world.calls.is_empty());
    assert!(matches!(&world.disk[&0], DraftState::Failed { why, .. } if why.contains("the connection broke")));
    assert_eq!((&world.disk[&1], world.outbox.is_busy()), (&DraftState::Kept, false));
    // One check that fails with a temporary error is no reason to give up.
    let mut world = World::new(3, []);
    world.unseen = 1;
    world.post_all().all();
    assert_eq!(world.calls.len(), 3);
}

#[test]
fn unsent_drafts_can_be_stopped() {
    let mut world = World::new(2, []);
    world.post_all().run(2);
    assert!(world.outbox.checking().is_some());
    world.outbox.stop();
    assert!(!world.outbox.is_busy());
    world.all();
    assert_eq!((world.calls.len(), world.disk.len()), (0, 2));
}

#[test]
fn a_refusal_affects_only_its_object() {
    let mut world = World::new(3, [ServerBehavior::Fails(Fault::Denied("403 Forbidden".into()))]);
    let other = Noteable::MergeRequest { project: "a/b".into(), iid: 2 };
    for (number, on) in [(0, thing()), (1, thing()), (2, other)] {
        world.outbox.post(&DraftKey::new(on.clone(), number), &Draft::new(on));
    }
    world.all();
    assert_eq!(world.calls, [0, 2]);
    assert_eq!(world.disk.len(), 2);
}

#[test]
fn nothing_is_sent_during_a_pause() {
    let mut world = World::new(2, [ServerBehavior::Fails(Fault::Limited(SERVER, Some(Duration::from_secs(42))))]);
    // Claimed, checked, saved and sent: then the server asks for the pause.
    world.post_all().run(7);
    let (calls, wake) = (world.calls.len(), world.outbox.wake().expect("it waits"));
    let early = wake.checked_sub(SignedDuration::from_secs(1)).expect("a time");
    assert_eq!((calls, world.outbox.begin(early, |_| true)), (1, Vec::new()));
    assert_eq!(world.outbox.begin(wake, |_| true), [Step::Claim(key(0))]);
    assert_eq!(world.outbox.begin(wake, |_| true), [], "one after the other");
}

#[test]
fn late_claims_are_ignored() {
    let mut world = World::new(2, []);
    world.post_all().run(2);
    assert_eq!(world.outbox.checking(), Some(&key(0)));
    assert_eq!(world.outbox.claimed(&key(0), Claimed::Ours(DraftState::Kept)), []);
    assert_eq!(world.outbox.claimed(&key(1), Claimed::Ours(DraftState::Kept)), []);
    assert_eq!(world.outbox.checking(), Some(&key(0)));
}

#[test]
fn a_reply_without_an_id_requires_a_check() {
    let mut world = World::new(2, []);
    world.post_all();
    world.outbox.begin(world.now, |_| true);
    world.outbox.claimed(&key(0), Claimed::Ours(DraftState::Kept));
    world.outbox.checked(Evidence { mark: 1, ..Evidence::default() }, &DraftState::Kept, world.now);
    let sending = DraftState::Sending { before: 1 };
    assert_eq!(world.outbox.answered(Ok(0), &sending, world.now), [Step::Drop(key(0))]);
    // With a mark of 0, any older comment with the same text would be mistaken for this one.
    world.outbox.begin(world.now, |_| true);
    assert_eq!(world.outbox.claimed(&key(1), Claimed::Ours(DraftState::Kept)), [Step::Check(key(1))]);
}

#[test]
fn a_failing_check_is_tried_four_times() {
    let mut world = World::new(1, []);
    world.unseen = 100;
    world.post_all().all();
    assert_eq!(world.unseen, 96);
    assert_eq!(world.said.len(), 1, "{:?}", world.said);
}

#[test]
fn a_failed_draft_has_its_latest_reason() {
    let mut world = World::new(1, []);
    world.disk.insert(0, DraftState::Failed { why: "the first time".into(), before: Some(1) });
    world.unseen = 100;
    world.post_all().all();
    assert!(
        matches!(&world.disk[&0], DraftState::Failed { why, before: Some(1) } if why.contains("the connection broke"))
    );
    // A draft that was only looked for keeps its reason, and one that is still uncertain is reported.
    world.disk.insert(0, DraftState::Failed { why: "the first time".into(), before: Some(1) });
    world.disk.insert(1, DraftState::Sending { before: 1 });
    world.unseen = 100;
    world.killed().check_all_drafts().all();
    assert!(matches!(&world.disk[&0], DraftState::Failed { why, .. } if why == "the first time"));
    world.killed();
    world.disk.remove(&0);
    world.check_all_drafts().all();
    assert!(matches!(&world.disk[&1], DraftState::Unknown { before: 1, .. }), "{:?}", world.disk);
}

#[test]
fn edits_always_check_the_note_first() {
    let edit = Draft { edits: Some((7, String::new())), ..Draft::new(thing()) };
    let draft_note = Draft { draft_note: Some(DraftNoteChange::Create), ..Draft::new(thing()) };
    for draft in [edit, draft_note] {
        let mut world = World::new(1, []);
        world.disk.insert(1, DraftState::Kept);
        world.outbox.post(&key(0), &Draft::new(thing()));
        world.outbox.post(&key(1), &draft);
        world.all();
        assert_eq!((world.calls.len(), world.looks), (2, 2), "{draft:?}");
    }
}

#[test]
fn a_draft_posted_while_sending_is_queued_once() {
    let mut world = World::new(2, []);
    world.outbox.post(&key(0), &Draft::new(thing()));
    let begun = world.outbox.begin(world.now, |_| true);
    assert_eq!(begun, [Step::Claim(key(0))]);
    // A draft that is posted once more is in flight already.
    world.post_all();
    assert_eq!(world.outbox.progress(&key(0)), Some(Progress::Claiming));
    assert_eq!(world.outbox.progress(&key(1)), Some(Progress::Waiting));
    world.outbox.forget_claim(&key(1));
    assert_eq!(world.outbox.progress(&key(0)), Some(Progress::Claiming), "the other one was dropped");
    world.outbox.forget_claim(&key(0));
    world.all();
    assert_eq!(world.calls, [1], "what was dropped holds up nobody");
}
