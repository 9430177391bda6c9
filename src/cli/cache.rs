//! The replies that are kept on disk: the folder of each server and token, and `labscope cache clear`, which removes them.

use super::args::CacheCommand;
use super::failure::Failure;
use super::write_stdout;
use crate::api::endpoint::encode;
use crate::config::token::Token;
use crate::ui::text;
use secrecy::ExposeSecret;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The maximum number of nested folders whose files are counted: servers, and their tokens.
const MAX_DEPTH: usize = 2;

/// Returns the folder of all replies, which need not exist.
pub fn root() -> Option<PathBuf> {
    Some(dirs::cache_dir()?.join("labscope/replies"))
}

/// Runs a command for the kept replies.
pub fn run(command: CacheCommand) -> Result<(), Failure> {
    match command {
        CacheCommand::Clear => {
            let Some(root) = root() else { return Err(Failure::failed("there is no folder for caches")) };
            let size = size(&root, MAX_DEPTH);
            remove(&root).map_err(|e| Failure::failed(format!("cannot remove {}: {e}", root.display())))?;
            write_stdout(format!("Removed the kept replies ({}).\n", text::bytes(size)).as_bytes())
        }
    }
}

/// Removes the replies of a server to all tokens.
pub fn remove_server(key: &str) -> io::Result<()> {
    root().map_or(Ok(()), |root| remove(&root.join(encode(key))))
}

/// Returns the folder of all replies and its size in bytes, in words.
pub fn describe() -> Option<String> {
    let root = root()?;
    Some(format!("{} in {}; labscope cache clear removes them", text::bytes(size(&root, MAX_DEPTH)), root.display()))
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Returns the size of the files in a folder, and in `depth` levels of folders below it. Links are not followed.
fn size(folder: &Path, depth: usize) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(found) if found.is_dir() => depth.checked_sub(1).map_or(0, |depth| size(&entry.path(), depth)),
        Ok(found) => found.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

/// Returns the cache folder for the replies of a server. Each token has its own, because it may have access to
/// different data.
pub fn folder(key: &str, token: Option<&Token>) -> Option<PathBuf> {
    let mut hasher = DefaultHasher::new();
    // The access token of a sign-in changes every few hours, so its ID is used.
    let name = |token: &Token| match &token.sign_in {
        Some(sign_in) => sign_in.id.clone(),
        None => token.secret.expose_secret().to_owned(),
    };
    token.map(name).hash(&mut hasher);
    let server = root()?.join(encode(key));
    let folder = server.join(format!("{:016x}", hasher.finish()));
    remove_expired(&server, &folder, SystemTime::now());
    Some(folder)
}

/// The time for which the cache of another token is kept after the last write to it.
const MAX_AGE: Duration = Duration::from_secs(30 * 86_400);

/// Removes the caches of tokens that have not been used for longer than [`MAX_AGE`]. Entries that cannot be read are
/// skipped.
fn remove_expired(server: &Path, used: &Path, now: SystemTime) {
    for entry in fs::read_dir(server).into_iter().flatten().flatten() {
        let written = entry.metadata().ok().filter(|found| found.is_dir()).and_then(|found| found.modified().ok());
        let age = written.and_then(|written| now.duration_since(written).ok());
        if entry.path() != used && age.is_some_and(|age| age > MAX_AGE) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_of_unused_tokens_expire() {
        let server = tempfile::tempdir().expect("a folder");
        let at = |name: &str| server.path().join(name);
        for name in ["used", "other"] {
            fs::create_dir(at(name)).expect("created");
            fs::write(at(name).join("reply"), "x").expect("written");
        }
        remove_expired(server.path(), &at("used"), SystemTime::now());
        assert!(at("other").exists());
        remove_expired(server.path(), &at("used"), SystemTime::now() + MAX_AGE * 2);
        assert!(at("used").join("reply").exists() && !at("other").exists());
        remove_expired(&at("nowhere"), &at("used"), SystemTime::now());
    }
}
