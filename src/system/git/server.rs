//! The git commands of a server for the repositories that it serves. They run without a shell and without hooks, and obey
//! no configuration of the user.

use crate::programs::{self, Command};
use std::path::Path;

/// The folders of refs that belong to the server itself. Clients neither see nor push them.
pub const INTERNAL_REFS: [&str; 7] = [
    "refs/labscope",
    "refs/keep-around",
    "refs/pipelines",
    "refs/environments",
    "refs/remotes",
    "refs/replace",
    "refs/tmp",
];

/// The settings of `git upload-pack`: clients can fetch any commit by its hash, and parts of a repository.
const FETCH: [&str; 2] = ["uploadpack.allowAnySHA1InWant=true", "uploadpack.allowFilter=true"];

/// The settings that bound the memory of a process, which packs on one core: several run at the same time.
const BOUNDS: [&str; 5] = [
    "pack.threads=1",
    "pack.windowMemory=64m",
    "pack.deltaCacheSize=32m",
    "core.deltaBaseCacheLimit=32m",
    "core.bigFileThreshold=64m",
];

/// The settings for incoming objects: mistakes that the history of many projects has are accepted.
const STRICT: &str = "--strict=badTimezone=ignore,missingSpaceBeforeDate=ignore,zeroPaddedFilemode=ignore";

/// Returns a git command in the bare repository at `path`. It leads a process group of its own, which its children join.
fn git(path: &Path, settings: &[&str]) -> Command {
    let mut command = programs::command("git");
    command.env_clear();
    // Where git and its own programs are found.
    command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    for (name, value) in [
        ("LC_ALL", "C"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_TERMINAL_PROMPT", "0"),
        // A missing object is missing, also where the configuration names a server that may have it.
        ("GIT_NO_LAZY_FETCH", "1"),
        // An object is what its hash says.
        ("GIT_NO_REPLACE_OBJECTS", "1"),
    ] {
        command.env(name, value);
    }
    command.env("GIT_DIR", path).current_dir(path);
    for setting in ["core.hooksPath=/dev/null"].iter().chain(&BOUNDS).chain(settings) {
        command.args(["-c", setting]);
    }
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command
}

/// Returns the command that lists the refs of a repository for a client, or answers its request. `protocol` is the
/// version that the client asks for, as in `version=2`.
pub fn upload_pack(path: &Path, lists_refs: bool, protocol: Option<&str>) -> Command {
    let hidden = INTERNAL_REFS.map(|folder| format!("transfer.hideRefs={folder}"));
    let settings: Vec<&str> = FETCH.into_iter().chain(hidden.iter().map(String::as_str)).collect();
    let mut command = git(path, &settings);
    command.args(["upload-pack", "--stateless-rpc", "--strict"]);
    if lists_refs {
        command.arg("--advertise-refs");
    }
    command.envs(protocol.map(|protocol| ("GIT_PROTOCOL", protocol)));
    command.arg(path);
    command
}

/// Returns the command that checks a pack and adds it to the objects in the folder `objects`.
pub fn index_pack(path: &Path, objects: &Path) -> Command {
    let mut command = git(path, &[]);
    command.env("GIT_OBJECT_DIRECTORY", objects).args(["index-pack", "--stdin", "--fix-thin", STRICT]);
    command
}

/// Returns the command that fails if an object is missing that can be reached from one of the hashes in its input, but
/// not from a ref.
pub fn check_connected(path: &Path, objects: &Path) -> Command {
    let mut command = git(path, &[]);
    command.env("GIT_OBJECT_DIRECTORY", objects);
    command.args(["rev-list", "--objects", "--quiet", "--stdin", "--not", "--all"]);
    command
}
