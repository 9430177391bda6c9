//! Cherry-picks one commit, or several in order, to a branch; stops at the first that fails.

use crate::api::commits::{CherryPick, Commit};
use crate::api::{GitRef, Id};
use crate::app::App;
use crate::app::action::{Action, FollowUp};
use crate::app::context::Cx;
use crate::app::place::Place;
use crate::app::tone::Tone;
use crate::parts::ref_choices::Refs;
use crate::store::Write;
use crate::ui::text::{head, sanitize};
use std::rc::Rc;

/// The maximum number of commits that a question names.
const MAX_LISTED: usize = 6;

/// The hashes and titles of the commits to cherry-pick, in the order in which they are applied.
pub type PickedCommits = Vec<(String, String)>;

/// Returns the hash and the title of a commit.
pub fn pick_of(commit: &Commit) -> (String, String) {
    (commit.id.clone(), commit.title.clone())
}

/// Asks for the branch to pick to, then for confirmation.
pub fn ask(project: &Id, picks: PickedCommits, cx: &mut Cx) {
    if picks.is_empty() {
        return cx.say(Tone::Info, "No commit is selected.");
    }
    let of = project.clone();
    Refs::pick("Cherry-pick to", project, cx, move |name| confirm(&of, &picks, GitRef::from(name).short()));
}

/// Returns a short name for the commits: `commit 1a2b3c4d`, `3 commits`.
fn count(picks: &[(String, String)]) -> String {
    match picks {
        [(sha, _)] => format!("commit {}", head(sha, 8)),
        many => format!("{} commits", many.len()),
    }
}

/// Returns the action that asks for confirmation before picking to `branch`, with the names of the first commits.
fn confirm(project: &Id, picks: &[(String, String)], branch: &str) -> Action {
    let mut names: Vec<String> = picks
        .iter()
        .take(MAX_LISTED)
        .map(|(sha, title)| format!("{} {}", head(sha, 8), head(&sanitize(title), 48)))
        .collect();
    if picks.len() > MAX_LISTED {
        names.push(format!("and {} more", picks.len() - MAX_LISTED));
    }
    let question = format!("Cherry-pick to {}, in this order: {}?", sanitize(branch), names.join("; "));
    let title = if picks.len() == 1 { "Cherry-pick a commit" } else { "Cherry-pick commits" };
    let send = next(project.clone(), picks.into(), branch.to_owned(), 0);
    App::confirm(title, question, send)
}

/// Returns the action that picks the commit at `at` and then those after it.
fn next(project: Id, picks: Rc<[(String, String)]>, branch: String, at: usize) -> Action {
    let Some((sha, _)) = picks.get(at) else {
        return Action::Say(Tone::Good, format!("Picked {} to {}", count(&picks), sanitize(&branch)));
    };
    let pick = CherryPick { id: project.clone(), sha: sha.clone(), branch: branch.clone() };
    let write = Write::new(&pick, format!("cherry-pick {} to {branch}", head(sha, 8)));
    let then: FollowUp = Rc::new(move |outcome, cx| match outcome {
        Ok(_) if at + 1 < picks.len() => cx.act(next(project.clone(), picks.clone(), branch.clone(), at + 1)),
        Ok(created) => {
            let created = created.downcast_ref::<Commit>();
            if let Some(commit) = created.filter(|commit| !commit.id.is_empty()) {
                cx.go(Place::new("commit").project(project.clone()).item(&commit.id));
            }
            cx.say(Tone::Good, format!("Picked {} to {}", count(&picks), sanitize(&branch)));
        }
        Err(error) => stopped(&project, &picks, &branch, at, &error.message(), cx),
    });
    Action::SendThen(None, write, then)
}

/// Reports how many commits were picked and why it stopped, and offers to open the commit that failed.
fn stopped(project: &Id, picks: &[(String, String)], branch: &str, at: usize, why: &str, cx: &mut Cx) {
    let (sha, title) = picks.get(at).cloned().unwrap_or_default();
    let done = match at {
        0 => "Nothing was picked".to_owned(),
        at => format!("{at} of {} were picked to {}", picks.len(), sanitize(branch)),
    };
    let rest = match picks.len() - at - 1 {
        0 => String::new(),
        1 => " The one after it was not tried.".to_owned(),
        many => format!(" The {many} after it were not tried."),
    };
    let question = format!(
        "{done}: {} {} was refused. {}{rest} Open the commit that was refused?",
        head(&sha, 8),
        head(&sanitize(&title), 48),
        sanitize(why)
    );
    let place = Place::new("commit").project(project.clone()).item(sha);
    cx.act(App::confirm("Cherry-pick stopped", question, Action::GoToPlace(place)));
}
