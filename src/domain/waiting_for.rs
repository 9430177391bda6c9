//! The person or the pipeline that an open merge request waits for: decided from what lists of merge requests say, and from the
//! states of its reviewers where that does not suffice.

use crate::merge_status;
use api::merge_requests::{MergeRequest, Reviewer};

/// The state of a review that requested changes.
pub const REQUESTED_CHANGES: &str = "requested_changes";

/// The one who has to act next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitingFor {
    Me,
    Author,
    Reviewers,
    Pipeline,
}

impl WaitingFor {
    /// All words, as they are typed in queries; a query may name a user as well, such as `@bo`.
    pub const WORDS: &'static [&'static str] = &["me", "author", "reviewers", "pipeline"];

    pub fn word(self) -> &'static str {
        match self {
            WaitingFor::Me => "me",
            WaitingFor::Author => "author",
            WaitingFor::Reviewers => "reviewers",
            WaitingFor::Pipeline => "pipeline",
        }
    }
}

/// Returns the usernames of those that it waits for, other than the user; empty if it does not wait for a person, or that
/// is not known.
pub fn people<'a>(request: &'a MergeRequest, reviews: Reviews<'a>, who: WaitingFor) -> Vec<&'a str> {
    match who {
        WaitingFor::Me | WaitingFor::Pipeline => Vec::new(),
        WaitingFor::Author => request.author().map(|author| author.username.as_str()).into_iter().collect(),
        WaitingFor::Reviewers => {
            let asked = || request.reviewers.iter().flatten().map(|user| user.username.as_str());
            match reviews {
                Reviews::Known(states) => {
                    let waits = states.iter().filter(|reviewer| is_awaited(reviewer));
                    let waits: Vec<&str> = waits.map(|reviewer| reviewer.user.username.as_str()).collect();
                    // All have reviewed, and none has approved.
                    if waits.is_empty() { asked().collect() } else { waits }
                }
                Reviews::Unknown | Reviews::Untold => asked().collect(),
            }
        }
    }
}

fn is_awaited(reviewer: &Reviewer) -> bool {
    matches!(reviewer.state.as_str(), "unreviewed" | "review_started")
}

/// The answer to who a merge request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Merged or closed.
    Nobody,
    /// The states of its reviewers are needed to tell.
    Unknown,
    Known(WaitingFor),
}

/// The known states of the reviewers of a merge request.
#[derive(Clone, Copy, Debug)]
pub enum Reviews<'a> {
    /// No reply yet, or no request.
    Unknown,
    /// The server does not tell their states.
    Untold,
    Known(&'a [&'a Reviewer]),
}

/// Returns who a merge request waits for; `me` is the ID of the user.
pub fn answer(request: &MergeRequest, reviews: Reviews, me: Option<u64>) -> Answer {
    if !request.is_open() {
        return Answer::Nobody;
    }
    let is_me = |id: Option<u64>| id.is_some() && id == me;
    let author = || match is_me(request.author().map(|author| author.id)) {
        true => Answer::Known(WaitingFor::Me),
        false => Answer::Known(WaitingFor::Author),
    };
    let status = request.merge_status().unwrap_or_default();
    let of_author = ["ci_must_pass", "discussions_not_resolved", REQUESTED_CHANGES, "title_regex"];
    if request.is_draft()
        || request.has_conflicts == Some(true)
        || request.blocking_discussions_resolved == Some(false)
        || merge_status::is_blocked(status)
        || of_author.contains(&status)
    {
        return author();
    }
    if status == "ci_still_running" {
        return Answer::Known(WaitingFor::Pipeline);
    }
    let asked = request.reviewers.as_deref().unwrap_or_default();
    let reviewers = |mine: bool| Answer::Known(if mine { WaitingFor::Me } else { WaitingFor::Reviewers });
    match reviews {
        _ if asked.is_empty() && status == "not_approved" => reviewers(false),
        _ if asked.is_empty() => author(),
        Reviews::Unknown => Answer::Unknown,
        Reviews::Untold => reviewers(asked.iter().any(|user| is_me(Some(user.id)))),
        Reviews::Known(states) => {
            if states.iter().any(|reviewer| reviewer.state == REQUESTED_CHANGES) {
                author()
            } else if states
                .iter()
                .filter(|reviewer| is_awaited(reviewer))
                .any(|reviewer| is_me(Some(reviewer.user.id)))
            {
                reviewers(true)
            } else if states.iter().any(|reviewer| is_awaited(reviewer)) || status == "not_approved" {
                reviewers(false)
            } else {
                author()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(more: &str) -> MergeRequest {
        let json = format!(r#"{{"state": "opened", "author": {{"id": 2, "username": "bo"}}{more}}}"#);
        serde_json::from_str(&json).expect("a merge request")
    }

    fn of(more: &str, states: &[(u64, &str)], me: u64) -> Answer {
        let reviewer = |(id, state): &(u64, &str)| {
            let json = format!(r#"{{"user": {{"id": {id}, "username": "u{id}"}}, "state": "{state}"}}"#);
            serde_json::from_str::<Reviewer>(&json).expect("a reviewer")
        };
        let states: Vec<Reviewer> = states.iter().map(reviewer).collect();
        let states: Vec<&Reviewer> = states.iter().collect();
        answer(&request(more), Reviews::Known(&states), Some(me))
    }

    const ASKED: &str = r#", "reviewers": [{"id": 1, "username": "ada"}, {"id": 4, "username": "dora"}]"#;

    #[test]
    fn what_the_list_says_comes_first() {
        let list = |more: &str, me| answer(&request(more), Reviews::Unknown, Some(me));
        for (more, expected) in [
            (r#", "draft": true"#, WaitingFor::Author),
            (r#", "has_conflicts": true"#, WaitingFor::Author),
            (r#", "blocking_discussions_resolved": false"#, WaitingFor::Author),
            (r#", "detailed_merge_status": "ci_must_pass""#, WaitingFor::Author),
            (r#", "detailed_merge_status": "need_rebase""#, WaitingFor::Author),
            (r#", "detailed_merge_status": "ci_still_running""#, WaitingFor::Pipeline),
            (r#", "detailed_merge_status": "not_approved""#, WaitingFor::Reviewers),
            (r#", "detailed_merge_status": "mergeable""#, WaitingFor::Author),
        ] {
            assert_eq!(list(more, 1), Answer::Known(expected), "{more}");
        }
        assert_eq!(list(r#", "draft": true"#, 2), Answer::Known(WaitingFor::Me));
        assert_eq!(list(ASKED, 1), Answer::Unknown);
        assert_eq!(answer(&request(ASKED), Reviews::Untold, Some(1)), Answer::Known(WaitingFor::Me));
        let merged: MergeRequest = serde_json::from_str(r#"{"state": "merged"}"#).expect("a merge request");
        assert_eq!(answer(&merged, Reviews::Unknown, None), Answer::Nobody);
    }

    #[test]
    fn the_states_of_reviewers_decide_the_rest() {
        let me = Answer::Known(WaitingFor::Me);
        assert_eq!(of(ASKED, &[(1, "unreviewed"), (4, "approved")], 1), me);
        assert_eq!(of(ASKED, &[(1, "reviewed"), (4, "unreviewed")], 1), Answer::Known(WaitingFor::Reviewers));
        assert_eq!(of(ASKED, &[(1, "unreviewed"), (4, "requested_changes")], 1), Answer::Known(WaitingFor::Author));
        assert_eq!(of(ASKED, &[(1, "approved"), (4, "approved")], 2), me, "the author merges");
        let not_approved = format!(r#"{ASKED}, "detailed_merge_status": "not_approved""#);
        assert_eq!(of(&not_approved, &[(1, "reviewed"), (4, "reviewed")], 1), Answer::Known(WaitingFor::Reviewers));
    }
}
