//! Which commit brought which lines of a file.

use super::call::{Outcome, Reading, ok};
use super::mount::Mount;
use super::reject::Reject;
use crate::api::repository::{BlameRange, GetBlame};
use git2::{BlameOptions, Sort};
use std::path::Path;

/// Commits of a history that is walked for it; of a longer one, clients compute it faster themselves, bit by bit.
const MOST_COMMITS: usize = 5_000;

pub fn mount(mount: Mount) -> Mount {
    mount.read::<GetBlame>(blame)
}

fn blame(call: &Reading, input: GetBlame) -> Outcome<Vec<BlameRange>> {
    let (_, git) = call.repository(&input.id)?;
    if input.r#ref.is_empty() {
        return Err(Reject::error(400, "ref is missing"));
    }
    let commit = git.commit_at(Some(&input.r#ref), "Commit")?;
    let missing = || Reject::not_found("File");
    let path = Path::new(&input.path);
    let entry = git.repo().find_tree(commit.tree_id)?.get_path(path).map_err(|_| missing())?;
    let blob = git.repo().find_blob(entry.id()).map_err(|_| missing())?;
    let mut walk = git.repo().revwalk()?;
    walk.set_sorting(Sort::NONE)?;
    walk.push(commit.id)?;
    if walk.take(MOST_COMMITS + 1).count() > MOST_COMMITS {
        return Err(Reject::bad("400 Bad request - the history is too long for blame here"));
    }
    let mut options = BlameOptions::new();
    let blame = git.repo().blame_file(path, Some(options.newest_commit(commit.id)))?;
    let text = String::from_utf8_lossy(blob.content());
    let mut lines = text.lines().map(str::to_owned);
    let mut ranges = Vec::new();
    for hunk in blame.iter() {
        let commit = git.show_known(hunk.final_commit_id(), &call.cache)?;
        let lines = lines.by_ref().take(hunk.lines_in_hunk()).collect();
        ranges.push(BlameRange { commit: Some(commit), lines });
    }
    ok(ranges)
}
