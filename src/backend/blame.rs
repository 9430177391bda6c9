//! Blame: the commits that introduced the lines of a file.

use super::call::{Outcome, ReadCall, ok};
use super::mount::Mount;
use super::rejection::Rejection;
use crate::api::repository::{BlameRange, GetBlame};

pub fn mount(mount: Mount) -> Mount {
    mount.read::<GetBlame>(blame)
}

fn blame(call: &ReadCall, input: GetBlame) -> Outcome<Vec<BlameRange>> {
    let (_, git) = call.repository(&input.id)?;
    if input.r#ref.is_empty() {
        return Err(Rejection::error(400, "ref is missing"));
    }
    let commit = git.commit_at(Some(&input.r#ref), "Commit")?;
    let (_, bytes) =
        git.file(&git.folder(commit.tree_id)?, &input.path)?.ok_or_else(|| Rejection::not_found("File"))?;
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.lines().map(str::to_owned);
    let mut ranges = Vec::new();
    for (commit, count) in git.blame(commit.id, &input.path)? {
        let commit = git.show_cached(commit, &call.cache)?;
        ranges.push(BlameRange { commit: Some(commit), lines: lines.by_ref().take(count).collect() });
    }
    ok(ranges)
}
