//! Selects the server from the options, the environment, the git remotes of the current folder, and the configuration.

use super::address::{display_name, parse_address};
use super::{Config, glab, remote, token};
use crate::api;
use url::Url;

/// A server, and the table of the configuration that decides everything about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownServer {
    /// The base URL of the web interface, with a trailing slash.
    pub url: Url,
    /// The name of its table in [`Config::hosts`].
    pub table: Option<String>,
    /// The same name, if an earlier table of the file has the same address: then what is stored for the server, such as
    /// tokens, replies and drafts, is kept apart.
    pub account: Option<String>,
}

impl KnownServer {
    /// Returns the server as requests name it.
    pub fn host(&self) -> api::Host {
        api::Host::with_account(self.url.as_str(), self.account.as_deref())
    }

    /// Returns the value of `--host` that selects the server, quoted for a shell if necessary: the name of its table, else
    /// its address.
    pub fn option(&self) -> String {
        let name = match &self.table {
            Some(name) => name.clone(),
            None if self.url.scheme() == "https" => display_name(&self.url),
            None => self.url.as_str().trim_end_matches('/').to_owned(),
        };
        let is_plain = name.chars().all(|c| c.is_alphanumeric() || "-._:/".contains(c));
        if is_plain { name } else { format!("'{}'", name.replace('\'', "'\\''")) }
    }

    /// Returns the key of what is stored for the server: its URL, with the account as its fragment.
    pub fn key(&self) -> String {
        let mut url = self.url.clone();
        url.set_fragment(self.account.as_deref());
        url.into()
    }
}

/// A server, and the project of the current folder if it is on that server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundHost {
    pub server: KnownServer,
    /// The source that named the server: an option, a variable, a git remote, or the configuration.
    pub origin: String,
    /// The full path of the project that the current folder is a clone of.
    pub project: Option<String>,
}

/// The sources from which the server is determined.
pub struct HostSources<'a> {
    /// `--host`.
    pub option: Option<&'a str>,
    /// Looks up an environment variable.
    pub var: &'a dyn Fn(&str) -> Option<String>,
    pub config: &'a Config,
    /// The remotes of the current clone, in the order in which they are tried.
    pub remotes: Vec<remote::Remote>,
}

/// Finds the server; returns `None` if no source names one.
///
/// # Errors
/// Returns the source that names an invalid server, and the reason.
pub fn find(sources: &HostSources) -> Result<Option<FoundHost>, String> {
    let named = [("--host", sources.option.map(str::to_owned))]
        .into_iter()
        .chain(["LABSCOPE_HOST", "GITLAB_HOST"].map(|name| (name, (sources.var)(name))))
        .find_map(|(origin, text)| Some((origin, text.filter(|t| !t.trim().is_empty())?)));
    if let Some((origin, text)) = named {
        let server = sources.config.server(text.trim()).map_err(|why| format!("{origin}: {why}"))?;
        let ssh_hosts = sources.config.ssh_hosts(&server);
        let project = sources.remotes.iter().find_map(|remote| remote.project_on(&server.url, &ssh_hosts));
        return Ok(Some(FoundHost { server, origin: origin.to_owned(), project }));
    }
    let servers = if sources.remotes.is_empty() { Vec::new() } else { known(sources.config) };
    let with_names = |server: KnownServer| (sources.config.ssh_hosts(&server), server);
    let servers: Vec<_> = servers.into_iter().map(with_names).collect();
    for remote in &sources.remotes {
        for (ssh_hosts, server) in &servers {
            if let Some(project) = remote.project_on(&server.url, ssh_hosts) {
                let origin = format!("the git remote {}", remote.name);
                return Ok(Some(FoundHost { server: server.clone(), origin, project: Some(project) }));
            }
        }
    }
    let origin = match &sources.config.host {
        Some(_) => "host in the configuration",
        None => "the stored tokens",
    };
    Ok(default(sources.config).map(|server| FoundHost { server, origin: origin.to_owned(), project: None }))
}

/// Returns the default server: `host` of the configuration, else the first server with a stored token.
pub fn default(config: &Config) -> Option<KnownServer> {
    match &config.host {
        Some(default) => config.server(default.get_ref()).ok(),
        None => token::servers(config).find_map(|host| parse_address(&host).ok()).map(|url| config.server_at(url)),
    }
}

/// Lists the servers known from the configuration, stored tokens and glab.
pub fn known(config: &Config) -> Vec<KnownServer> {
    let named = config.host.iter().filter_map(|host| config.server(host.get_ref()).ok());
    let listed = config.tables().into_iter().filter_map(|(name, _)| config.server(name).ok());
    let stored = token::servers(config).filter_map(|host| parse_address(&host).ok());
    let glab = glab::hosts().into_iter().map(|host| host.url);
    let mut all: Vec<KnownServer> = Vec::new();
    for server in named.chain(listed).chain(stored.chain(glab).map(|url| config.server_at(url))) {
        if !all.contains(&server) {
            all.push(server);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_named_host_decides_everything_and_an_address_the_default_or_first_one() {
        let read = |text: &str| Config::parse(Path::new("c.toml"), text.to_owned()).expect("reads");
        let tables = "[hosts.one]\nurl = \"h.example\"\n[hosts.bis]\nurl = \"https://h.example/\"\n";
        let config = read(tables);
        let key = |config: &Config, text: &str| config.server(text).map(|server| (server.table.clone(), server.key()));
        let is = |name: &str, key: &str| Ok((Some(name.to_owned()), key.to_owned()));
        assert_eq!(key(&config, "one"), is("one", "https://h.example/"));
        assert_eq!(key(&config, "bis"), is("bis", "https://h.example/#bis"));
        assert_eq!(key(&config, "h.example"), is("one", "https://h.example/"), "the first in the file");
        let option = |text: &str| config.server(text).map(|server| server.option()).unwrap_or_default();
        assert_eq!(["bis", "h.example", "other.example/gitlab"].map(option), ["bis", "one", "other.example/gitlab"]);
        assert_eq!(
            ["http://h.example:80/", "http://[::1]:8080"].map(option),
            ["http://h.example", "'http://[::1]:8080'"]
        );
        assert_eq!(key(&read(&format!("host = \"bis\"\n{tables}")), "h.example"), is("bis", "https://h.example/#bis"));
        let names: Vec<String> = known(&config).iter().map(|server| server.host().name().to_owned()).collect();
        assert!(names.starts_with(&["h.example".to_owned(), "h.example (bis)".to_owned()]), "{names:?}");
    }

    #[test]
    fn the_first_source_that_names_a_server_wins() {
        let text = "host = \"home\"\n[hosts.home]\nurl = \"https://home.example\"\n[hosts.work]\nurl = \"https://work.example\"";
        let config = Config::parse(Path::new("c.toml"), text.to_owned()).expect("reads");
        let remote = remote::Remote::parse("git@work.example:acme/web.git");
        let found = |option: Option<&str>, env: &[(&str, &str)], remote: Option<remote::Remote>| {
            let var = |name: &str| env.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
            let elsewhere = remote::Remote::parse("git@elsewhere.example:me/web.git");
            let remotes = elsewhere.into_iter().chain(remote).collect();
            let found = find(&HostSources { option, var: &var, config: &config, remotes }).expect("no mistake");
            found.map(|found| (found.server.url.to_string(), found.project))
        };
        let is = |host: &str, project: Option<&str>| Some((host.to_owned(), project.map(str::to_owned)));
        let env = [("LABSCOPE_HOST", "https://one.example"), ("GITLAB_HOST", "https://two.example")];
        assert_eq!(found(Some("work"), &env, None), is("https://work.example/", None));
        assert_eq!(found(None, &env, remote.clone()), is("https://one.example/", None));
        assert_eq!(found(None, &env[1..], None), is("https://two.example/", None));
        assert_eq!(found(None, &[], remote.clone()), is("https://work.example/", Some("acme/web")));
        assert_eq!(found(Some("work"), &[], remote), is("https://work.example/", Some("acme/web")));
        assert_eq!(found(None, &[], remote::Remote::parse("git@else.example:a/b")), is("https://home.example/", None));
    }
}
