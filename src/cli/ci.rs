//! `labscope ci lint`: lets the server check a CI configuration. The exit code is 0 if it is valid, 1 if it is not, and 3
//! if it could not be checked.

use super::args::{CiCommand, CiLint, Global};
use super::failure::{EXIT_FAILURE, EXIT_UNKNOWN, Failure};
use super::{NOT_SENT, async_runtime, load_config, server, write_stdout};
use crate::api::Id;
use crate::api::client::Client;
use crate::api::lint::{Lint, LintContent};
use crate::api::projects::{GetProject, Project};
use crate::domain::ci_config::line_of;
use crate::parts::ci::ci_file::FILE;
use crate::system::files;
use crate::ui::text::sanitize;
use serde_json::json;
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The maximum size of a configuration in bytes: more than servers accept.
const MAX_BYTES: u64 = 4 << 20;

/// Runs a command for CI configurations.
pub fn run(global: &Global, command: CiCommand) -> Result<(), Failure> {
    let CiCommand::Lint(lint) = command;
    let is_valid = check(global, lint).map_err(|failure| match failure.code {
        // This code means that the configuration is invalid.
        EXIT_FAILURE => Failure { code: EXIT_UNKNOWN, ..failure },
        _ => failure,
    })?;
    if is_valid { Ok(()) } else { Err(Failure::code(EXIT_FAILURE)) }
}

/// Reads a file, or standard input for `-`.
fn read(path: &Path) -> Result<String, Failure> {
    let failed = |why: &dyn std::fmt::Display| Failure::failed(format!("{} cannot be read: {why}", path.display()));
    let bytes = if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
        bytes
    } else {
        files::read(path, MAX_BYTES).map_err(|error| failed(&error))?
    };
    if bytes.len() as u64 > MAX_BYTES {
        return Err(failed(&format!("it is larger than {} MB", MAX_BYTES >> 20)));
    }
    String::from_utf8(bytes).map_err(|_| failed(&"it is not UTF-8 text"))
}

/// Returns the configuration of a project, and its name. A file outside of the repository is included, as GitLab does it.
fn configured(project: &Project) -> Result<(String, PathBuf), Failure> {
    let path = project.ci_config_path.as_deref().filter(|path| !path.is_empty()).unwrap_or(FILE);
    let include = match path.split_once('@') {
        _ if path.contains("://") => json!({ "remote": path }),
        Some((file, of)) => match of.split_once(':') {
            Some((project, git_ref)) => json!({ "project": project, "file": file, "ref": git_ref }),
            None => json!({ "project": of, "file": file }),
        },
        None => {
            let root = server::clone().ok().and_then(|clone| clone.work_tree).unwrap_or_default();
            let (file, here) = (root.join(path), std::env::current_dir()?);
            return Ok((read(&file)?, file.strip_prefix(here).map(Path::to_path_buf).unwrap_or(file)));
        }
    };
    Ok((json!({ "include": include }).to_string(), path.into()))
}

/// Returns whether the configuration is valid.
fn check(global: &Global, lint: CiLint) -> Result<bool, Failure> {
    let given = lint.file.map(|file| Ok::<_, Failure>((read(&file)?, file))).transpose()?;
    let config = load_config(global)?;
    let found = server::require(global, &config)?;
    let Some(project) = lint.project.or(found.project) else {
        return Err(Failure::usage("name the project with --project, or run this in a clone of it"));
    };
    let (server, _) = server::server(global, &config, &found.server)?;
    if global.offline {
        return Err(Failure::failed(NOT_SENT));
    }
    let (runtime, client) = (async_runtime()?, Client::new(server)?);
    let id = Id::from(project.as_str());
    let (content, file) = match given {
        Some(given) => given,
        None => configured(&runtime.block_on(client.call(&GetProject::new(&id)))?)?,
    };
    let dry_run = lint.r#ref.is_some().then_some(true);
    let request = LintContent { id, content: content.clone(), dry_run, r#ref: lint.r#ref, include_jobs: None };
    let result: Lint = runtime.block_on(client.call(&request))?;
    let file = file.display().to_string();
    let mut out = String::new();
    for (kind, messages) in [("error", &result.errors), ("warning", &result.warnings)] {
        for message in messages {
            let line = line_of(&content, message).map(|line| format!(":{line}")).unwrap_or_default();
            let _ = writeln!(out, "{}{line}: {kind}: {}", sanitize(&file), sanitize(&message.replace('\n', " ")));
        }
    }
    if result.valid && lint.merged {
        out += &sanitize_lines(result.merged_yaml.as_deref().unwrap_or_default());
    } else if result.valid {
        let _ = writeln!(out, "{}: valid", sanitize(&file));
    }
    write_stdout(out.as_bytes())?;
    Ok(result.valid)
}

/// Returns a text whose lines cannot control the terminal.
fn sanitize_lines(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", sanitize(line))).collect()
}
