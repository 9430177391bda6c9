//! `labscope doctor`: reports what labscope found and from where, what is wrong, and what to do about it. No secret is
//! part of the report.

mod environment;
mod report;

use super::appearance::Appearance;
use super::args::Global;
use super::auth::identity;
use super::failure::{EXIT_FAILURE, Failure};
use super::interface::{Preferences, query_mistake};
use super::{async_runtime, cache, load_config, open, server, write_stdout};
use crate::api::client::Client;
use crate::api::endpoint::{Method, encode};
use crate::api::error::missing_permissions;
use crate::api::identity::{GetMetadata, GetOwnToken};
use crate::api::permissions::{self, Row};
use crate::api::{Error, Fault};
use crate::config::host::{FoundHost, KnownServer};
use crate::config::{Config, project_file};
use environment::{Environment, has_program};
use jiff::Timestamp;
use report::{Check, Report};
use std::io::{self, IsTerminal};

/// Reads without parameters that only some servers support, with the words for them. The second list is below a project.
const FEATURES: &[(&str, &str)] = &[("to-dos", "todos"), ("details of tokens", "personal_access_tokens/self")];
const PROJECT_FEATURES: &[(&str, &str)] = &[
    ("pipelines", "pipelines"),
    ("releases", "releases"),
    ("environments", "environments"),
    ("protected branches", "protected_branches"),
];

/// Prints the report; fails with exit code 1 if something is wrong.
pub fn run(global: &Global, json: bool) -> Result<(), Failure> {
    let report = report(global)?;
    let text =
        if json { serde_json::to_string_pretty(&report).map_err(Failure::failed)? + "\n" } else { report.to_text() };
    write_stdout(text.as_bytes())?;
    if report.problem_count() > 0 { Err(Failure::code(EXIT_FAILURE)) } else { Ok(()) }
}

fn report(global: &Global) -> Result<Report, Failure> {
    let env = Environment { var: &server::var, has_program: &has_program };
    let mut configuration = Check::new("configuration");
    let read = load_config(global);
    let (is_read, config) = (read.is_ok(), read.unwrap_or_default());
    let found = server::search(global, &config);
    describe_configuration(&mut configuration, global, &config);
    if let Some(kept) = cache::describe() {
        configuration.fact("kept replies", kept);
    }
    let mut checks = vec![configuration, clone(&config, found.as_ref().ok().and_then(Option::as_ref))];
    let found = match found {
        Ok(Some(found)) => Some(found),
        Ok(None) if !is_read => {
            let mut check = Check::new("server");
            check.fact("address", "unknown, because the configuration was not read");
            checks.push(check);
            None
        }
        Ok(None) => {
            let mut check = Check::new("server");
            let host = server::clone_host().unwrap_or_else(|| "HOST".to_owned());
            let advice = format!("Sign in with labscope auth login --host {host}, or try labscope demo.");
            check.problem("No server is configured.", advice);
            checks.push(check);
            None
        }
        Err(failure) => {
            let mut check = Check::new("server");
            check.problem(failure.message, "Correct the address.");
            checks.push(check);
            None
        }
    };
    checks.push(environment::proxy(&env, found.as_ref().map(|found| &found.server.url)));
    if let Some(found) = &found {
        checks.extend(async_runtime()?.block_on(connection(global, &config, found)));
    }
    let size = io::stdout().is_terminal().then(|| crossterm::terminal::size().ok()).flatten();
    if let Ok(appearance) = Appearance::find(global, &config, server::var) {
        checks.push(environment::terminal(&env, &appearance, size));
    }
    checks.push(environment::programs(&env));
    let system = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    Ok(Report { labscope: env!("CARGO_PKG_VERSION"), system, checks })
}

fn describe_configuration(check: &mut Check, global: &Global, config: &Config) {
    let path = match &global.config {
        Some(path) => path.display().to_string(),
        None => config.path().display().to_string(),
    };
    if !path.is_empty() {
        let state = match std::path::Path::new(&path).exists() {
            true => "",
            false if global.config.is_some() => " (not there)",
            false => " (not there; none is needed)",
        };
        check.fact("file", path + state);
    }
    check.fact(
        "servers",
        match config.hosts.len() {
            0 => "none".to_owned(),
            _ => config.hosts.keys().cloned().collect::<Vec<_>>().join(", "),
        },
    );
    match Preferences::read(global).map(|preferences| preferences.bindings.hidden()) {
        Ok(Some(hidden)) => _ = check.fact("keys", hidden),
        Ok(None) => {}
        Err(failure) => {
            for mistake in failure.message.lines() {
                check.problem(mistake, "Correct the file, or choose another one with --config.");
            }
        }
    }
    for section in &config.sections {
        if let Some(why) = query_mistake(section) {
            let mistake = config.mistake(section.query.span(), "sections.query", &why);
            check.problem(mistake.to_string(), "Correct the file.");
        }
    }
}

/// Describes the clone in the current folder, and the project of each of its remotes on the server.
fn clone(config: &Config, found: Option<&FoundHost>) -> Check {
    let mut check = Check::new("clone");
    let clone = match server::clone() {
        Ok(clone) => clone,
        Err(why) => {
            check.problem(format!("The clone in this folder was not read: {why}."), "Repair or remove that file.");
            return check;
        }
    };
    if clone.remotes.is_empty() {
        check.fact("remotes", "none: the current folder is no clone, or has no remotes");
        return check;
    }
    for remote in &clone.remotes {
        let project = found.and_then(|found| remote.project_on(&found.server.url, &config.ssh_hosts(&found.server)));
        let words = project.map_or("not on this server".to_owned(), |project| format!("the project {project}"));
        check.fact("remote", format!("{}: {words} (on {})", remote.name, remote.host_words()));
    }
    if found.is_none_or(|found| found.project.is_none()) {
        let host = clone.host_option().unwrap_or_else(|| "HOST".to_owned());
        let advice = format!(
            "If it should be, add its server: labscope auth login --host {host}, or [hosts.NAME] in the configuration."
        );
        check.problem("No remote of this clone is on a server that labscope uses here.", advice);
    }
    let folder = found.and_then(|found| open::clone_folder(config, &found.server, clone));
    match open::project_file(folder.as_ref()) {
        Ok(Some(shared)) => {
            let words = open::ignored_words(&shared.ignored);
            check.fact("project file", words.unwrap_or_else(|| project_file::NAME.to_owned()));
            for section in &shared.sections {
                if let Some(why) = query_mistake(section) {
                    let at = format!("{}, key sections.query of \"{}\"", project_file::NAME, section.name);
                    check.problem(format!("{at}: {why}"), "Correct the file.");
                }
            }
        }
        Ok(None) => {}
        Err(why) => _ = check.fact("project file", why),
    }
    check
}

/// Describes the server, the certificates and the token, and asks the server.
async fn connection(global: &Global, config: &Config, found: &FoundHost) -> Vec<Check> {
    let (mut server_check, mut token_check) = (Check::new("server"), Check::new("token"));
    let known = &found.server;
    server_check.fact("address", known.url.as_str()).fact("from", found.origin.clone());
    if let Some(table) = &known.table {
        server_check.fact("table", format!("hosts.{table}"));
    }
    let certificates = certificates(global, config, known);
    let server = token(&mut token_check, global, config, known);
    if global.offline {
        server_check.fact("connection", "not tried because of --offline");
        return vec![certificates, server_check, token_check];
    }
    match Client::new(server) {
        Err(error) => report_error(&mut server_check, &error),
        Ok(client) => ask(&client, found, &mut server_check, &mut token_check).await,
    }
    vec![certificates, server_check, token_check]
}

fn certificates(global: &Global, config: &Config, known: &KnownServer) -> Check {
    let mut check = Check::new("certificates");
    let tls = server::anonymous(global, config, known).tls;
    check.fact(
        "trusted",
        match &tls.ca_cert {
            Some(path) => format!("those of the system, and {}", path.display()),
            None => "those of the system".to_owned(),
        },
    );
    if let Some(path) = &tls.client_cert {
        check.fact("presented", path.display().to_string());
    }
    for name in ["SSL_CERT_FILE", "SSL_CERT_DIR"] {
        if let Some(path) = server::var(name) {
            check.fact(name, path);
        }
    }
    check
}

/// Describes the source of the token, and returns the server with it.
fn token(check: &mut Check, global: &Global, config: &Config, known: &KnownServer) -> crate::api::Server {
    let advice = || format!("Sign in with labscope auth login --host {}.", known.option());
    match server::server(global, config, known) {
        Ok((server, Some(origin))) => {
            check.fact("from", origin);
            server
        }
        Ok((server, None)) => {
            let none = || format!("There is no token for {}.", known.host().name());
            check.problem(server::withheld(global, config, known).unwrap_or_else(none), advice());
            server
        }
        Err(failure) => {
            check.problem(failure.message, advice());
            server::anonymous(global, config, known)
        }
    }
}

/// Asks the server for its version, the user, the details of the token, and what it supports.
async fn ask(client: &Client, found: &FoundHost, server: &mut Check, token: &mut Check) {
    let has_token = client.server().token.is_some();
    match client.call(&GetMetadata {}).await {
        Ok(metadata) => {
            let edition = match metadata.enterprise {
                Some(true) => " (Enterprise Edition)",
                Some(false) => " (Community Edition)",
                None => "",
            };
            server.fact("version", metadata.version + edition);
        }
        Err(error) => match &error.fault {
            Fault::Unauthorized(_) | Fault::Denied(_) | Fault::Scope(_) | Fault::Permission(_) => {
                _ = server.fact("version", "shown only with a valid token")
            }
            Fault::Missing(_) | Fault::Unsupported(_) => {
                _ = server.fact("version", "older than 8.13, or no GitLab server")
            }
            _ => return report_error(server, &error),
        },
    }
    if !has_token {
        return;
    }
    match identity::username(client).await {
        Ok(username) => _ = token.fact("user", username),
        Err(error) => return report_error(token, &error),
    }
    let decoded = client.check_encoded_slashes().await.err();
    if let Some(error) = &decoded {
        report_error(server, error);
    }
    if describe_token(client, token).await {
        check_permissions(client, found, token).await;
    }
    let (mut supported, mut missing) = (Vec::new(), Vec::new());
    let project = found.project.as_deref().filter(|_| decoded.is_none()).map(encode);
    let below = |path: &str| project.as_ref().map(|project| format!("projects/{project}/{path}"));
    let of_project = PROJECT_FEATURES.iter().filter_map(|(name, path)| Some((*name, below(path)?)));
    for (name, path) in FEATURES.iter().map(|(name, path)| (*name, (*path).to_owned())).chain(of_project) {
        match client.raw(Method::GET, &path, &[("per_page".to_owned(), "1".to_owned())]).await {
            Ok(reply) if reply.status == 404 || reply.status == 405 => missing.push(name),
            Ok(_) => supported.push(name),
            // The connection was there a moment ago; the next lines are not worth another attempt.
            Err(error) => return report_error(server, &error),
        }
    }
    let list = |names: &[&str]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    server.fact("supports", list(&supported)).fact("lacks", list(&missing));
}

/// Tries a read of each kind of object, and reports those that a fine-grained token may not read.
async fn check_permissions(client: &Client, found: &FoundHost, check: &mut Check) {
    let project = found.project.as_deref().map(|project| format!("projects/{}", encode(project)));
    let path = |row: &Row| {
        let path = match row.route.strip_prefix("/projects/{id}") {
            Some(rest) => format!("{}{rest}", project.as_ref()?),
            None => row.route.trim_start_matches('/').to_owned(),
        };
        (!path.contains('{')).then_some(path)
    };
    let (mut readable, mut closed) = (Vec::new(), Vec::new());
    for row in permissions::rows().filter(|row| row.method == "GET") {
        let (kind, action) = row.parts();
        let is_tried = readable.contains(&kind) || closed.contains(&row.permission);
        // What only administrators may read tells nothing about the token.
        let is_for_all = action == "Read" && (row.access() != "instance" || kind == "Metadata");
        let Some(path) = path(&row).filter(|_| is_for_all && !is_tried) else { continue };
        match client.raw(Method::GET, &path, &[("per_page".to_owned(), "1".to_owned())]).await {
            Ok(reply) if reply.status == 403 && missing_permissions(&reply.body).is_some() => {
                closed.push(row.permission);
            }
            Ok(reply) if reply.status < 400 => readable.push(kind),
            Ok(_) => {}
            Err(error) => return report_error(check, &error),
        }
    }
    check.fact("can read", if readable.is_empty() { "nothing".to_owned() } else { readable.join(", ") });
    if project.is_none() {
        check.fact("not tried", "what is in projects: start labscope doctor in a clone to try it");
    }
    if !closed.is_empty() {
        let advice = "Create a token that has them, too; docs/configuration.md lists what labscope uses.";
        check.problem(format!("The token lacks permissions: {}.", closed.join(", ")), advice);
    }
}

/// Describes the scopes and the expiry of the token; returns whether it is a fine-grained one.
async fn describe_token(client: &Client, check: &mut Check) -> bool {
    let details = match client.call(&GetOwnToken {}).await {
        Ok(details) => details,
        Err(Error { fault: Fault::Permission(_), .. }) => {
            check.fact("scopes", "those of a fine-grained token");
            return true;
        }
        Err(_) => {
            check.fact("scopes", "unknown; reported by servers since 15.5");
            return false;
        }
    };
    check.fact("scopes", if details.scopes.is_empty() { "none".to_owned() } else { details.scopes.join(", ") });
    check.fact("expires", details.expires_at.as_ref().map_or("never".to_owned(), ToString::to_string));
    if let Some(scope) = details.missing_scope() {
        let (problem, purpose) = match details.reads_no_projects() {
            true => ("The token cannot read projects.", "read and change them"),
            false => ("The token can only read.", "change things"),
        };
        check.problem(problem, format!("To {purpose}, create a token with the scope {scope}."));
    }
    if let Some(when) = details.expires_soon(Timestamp::now()) {
        check.problem(format!("The token expires {when}."), "Create a new one, and store it with labscope auth login.");
    }
    details.is_fine_grained()
}

fn report_error(check: &mut Check, error: &Error) {
    // Advice that names a key is for the interface.
    let advice = if error.is_temporary() { "Check the network, the address and the proxy." } else { error.advice() };
    check.problem(format!("{}: {} ({}).", error.title(), error.message(), error.tried), advice);
}
