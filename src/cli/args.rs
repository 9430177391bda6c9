//! The command line: commands, options and their help.

use crate::backend::Version;
use clap::{ArgAction, Args, Parser, Subcommand};
use clap_complete::Shell;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

const LONG_ABOUT: &str = "\
Browse repositories, review merge requests and watch job traces live, without leaving the terminal.

labscope works with any server that has the REST API v4 (the GitLab v4 interface). It also includes a server of its own: \
`labscope demo` lets you try everything without an account or a network.";

const AFTER_HELP: &str = "\
TARGET is a URL on the server, or the part of it after the host:
  group/project                    the project's files
  group/project@REF:PATH:LINE      a file at a branch, tag or commit
  group/project!12                 a merge request
  group/project/-/jobs/123         a job and its trace
Without TARGET, labscope opens the project of the git remote if you are in a clone.

The server comes from:  --host, LABSCOPE_HOST, GITLAB_HOST, the git remote, `host` in the configuration.
The token comes from:   --token-file, LABSCOPE_TOKEN, GITLAB_TOKEN, the host's token_file, `labscope auth login`, glab.

Exit codes:  0 success, 1 failure, 2 invalid command line or configuration.";

/// The command line.
#[derive(Debug, Parser)]
#[command(
    name = "labscope",
    version,
    about = "A terminal client for GitLab-compatible servers",
    long_about = LONG_ABOUT,
    after_help = AFTER_HELP,
    max_term_width = 100
)]
pub struct Cli {
    /// What to open: a URL, group/project, group/project!12, group/project@REF:PATH:LINE
    pub target: Option<String>,
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Options that every command accepts.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// The server: a URL, or the name of a host in the configuration
    #[arg(long, global = true, value_name = "URL")]
    pub host: Option<String>,
    /// Read the token from the first line of this file
    #[arg(long, global = true, value_name = "F")]
    pub token_file: Option<PathBuf>,
    /// Use this configuration file
    #[arg(long, global = true, value_name = "F")]
    pub config: Option<PathBuf>,
    /// Theme: dark, light, terminal, high-contrast, catppuccin-mocha, catppuccin-latte, gruvbox, nord, tokyo-night,
    /// solarized-light, or the name of a theme file in the configuration folder
    #[arg(long, global = true, value_name = "NAME")]
    pub theme: Option<String>,
    /// Append a log to this file; tokens never appear in it
    #[arg(long, global = true, value_name = "F")]
    pub log: Option<PathBuf>,
    /// Never change anything on the server
    #[arg(long, global = true)]
    pub read_only: bool,
    /// Never send a request
    #[arg(long, global = true)]
    pub offline: bool,
    /// Do not use the mouse
    #[arg(long, global = true)]
    pub no_mouse: bool,
    /// Adapt to screen readers and braille displays: the cursor on the selection, one panel at a time, words for
    /// symbols
    #[arg(long, global = true)]
    pub accessible: bool,
    /// Also trust the certificate authorities in this PEM file
    #[arg(long, global = true, value_name = "F")]
    pub ca_cert: Option<PathBuf>,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Try labscope with demo data; needs no configuration and leaves nothing behind
    Demo {
        /// What to open
        target: Option<String>,
        /// Sign in as this user; root is an administrator
        #[arg(long = "as", value_name = "USER")]
        user: Option<String>,
        /// Start a tour of seven steps, with what to press in the last line
        #[arg(long)]
        tour: bool,
    },
    /// Browse a local git repository; it is never modified
    Local {
        /// The repository, or a folder in it
        #[arg(default_value = ".")]
        path: PathBuf,
        /// What to open: @REF, @REF:PATH:LINE, -/commits, or a complete target
        #[arg(long, value_name = "T", allow_hyphen_values = true)]
        target: Option<String>,
    },
    /// Run only the local server, until SIGINT or SIGTERM
    Serve(Serve),
    /// Send one API request and print the response: exit code 0 for 2xx, 4 for 4xx, 5 for 5xx, 1 for everything else
    Api(Api),
    /// Follow a job, pipeline or merge request, with a line for each change: exit code 0 if it succeeds, 1 if it fails, 2
    /// if it is canceled
    ///
    /// A merge request ends with its latest pipeline, or when it is merged (0) or closed (2). With auto-merge, a pipeline
    /// that succeeds is not the end yet. A pipeline that is skipped or waits for a manual job counts as canceled.
    /// The exit code is 3 if the outcome is not known: the target is invalid, or the server refuses or cannot be reached.
    Watch(Watch),
    /// Print a line for a shell prompt or tmux: to-dos, reviews requested of you, failed pipelines of your merge requests
    ///
    /// It prints what is kept, at once and without the server. What is older than a minute is refreshed in the background,
    /// for all shells together at most once a minute. If nothing needs you, or nothing is known yet, it prints nothing.
    Status(Status),
    /// Open the merge request of the current branch of a clone, or the form for a new one
    ///
    /// If the server does not have the branch, labscope offers to push it with git first.
    Mr,
    /// Manage the token for a server
    Auth {
        #[command(subcommand)]
        command: AuthCommand,
    },
    /// Work with CI configurations
    Ci {
        #[command(subcommand)]
        command: CiCommand,
    },
    /// Manage the replies that are kept on disk
    Cache {
        #[command(subcommand)]
        command: CacheCommand,
    },
    /// Report what labscope found and from where, what is wrong, and what to do; exit code 1 if something is wrong
    Doctor {
        /// Print JSON, for bug reports; contains no secret
        #[arg(long)]
        json: bool,
    },
    /// Print all keys
    Keys {
        /// Print Markdown tables
        #[arg(long)]
        markdown: bool,
    },
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page
    Man,
}

/// The commands for the replies on disk.
#[derive(Clone, Copy, Debug, Subcommand)]
pub enum CacheCommand {
    /// Remove the replies of all servers; drafts and settings stay
    Clear,
}

/// The commands for CI configurations.
#[derive(Debug, Subcommand)]
pub enum CiCommand {
    /// Let the server check a CI configuration without running it: exit code 0 if it is valid, 1 if it is not,
    /// and 3 if it could not be checked
    Lint(CiLint),
}

/// Options of `labscope ci lint`.
#[derive(Debug, Args)]
pub struct CiLint {
    /// The file, or - for standard input [default: the one that the project names, or .gitlab-ci.yml]
    pub file: Option<PathBuf>,
    /// The project; that of the git remote if you are in a clone
    #[arg(long, value_name = "GROUP/PROJECT")]
    pub project: Option<String>,
    /// Check it for this branch or tag, with its rules
    #[arg(long, value_name = "REF")]
    pub r#ref: Option<String>,
    /// Print the configuration as the server merges it
    #[arg(long)]
    pub merged: bool,
}

/// Options of `labscope serve`.
#[derive(Debug, Args)]
pub struct Serve {
    /// The address to listen on; port 0 picks a free port
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDRESS", value_parser = parse_address)]
    pub listen: SocketAddr,
    /// When ready, write the address and the tokens to this file as JSON (mode 0600)
    #[arg(long, value_name = "F")]
    pub ready_file: Option<PathBuf>,
    /// The initial data: demo, empty, or a world file [default: demo; empty with --repo]
    #[arg(long, value_name = "demo|empty|FILE")]
    pub world: Option<String>,
    /// Serve this git repository as a project; it is never modified. May be repeated
    #[arg(long = "repo", value_name = "PATH")]
    pub repos: Vec<PathBuf>,
    /// Store all data in this folder and keep it across restarts
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Emulate a server of this version: 10.6 has no threads, approvals and other later features
    #[arg(long, value_name = "VERSION", value_parser = parse_version, default_value = "19")]
    pub api: Version,
    /// Whether a request for a part of a file or trace gets only that part
    #[arg(long, value_name = "on|off", value_parser = parse_switch, default_value = "on", action = ArgAction::Set)]
    pub range: bool,
    /// Do not tell how many entries and pages a list has
    #[arg(long)]
    pub no_totals: bool,
    /// Refuse requests with the same token beyond this number in a minute, with 429
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub rate_limit: Option<u32>,
    /// Refuse reads of diffs with the same token beyond this number in a minute, with 429
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub diff_limit: Option<u32>,
    /// Forget commits that no branch, tag or merge request has any more, as after git gc
    #[arg(long)]
    pub forget_heads: bool,
    /// Wait this long before handling each request
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pub latency: u32,
    /// Make this share of the requests fail, such as 0.05: with 500, 502, 503 or half a reply
    #[arg(long, value_name = "RATE", value_parser = parse_rate)]
    pub fail: Option<f64>,
    /// Choose the requests that fail: the same number chooses the same ones
    #[arg(long, value_name = "N", default_value_t = 0, requires = "fail")]
    pub seed: u64,
}

/// Options of `labscope watch`.
#[derive(Debug, Args)]
pub struct Watch {
    /// A job, pipeline or merge request: a URL, group/project/-/jobs/123, group/project!12; in a clone also !12
    pub target: String,
    /// Ask the server every so many seconds [default: 3 while it runs, otherwise 15]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u16).range(1..))]
    pub interval: Option<u16>,
}

/// Options of `labscope status`.
#[derive(Debug, Args)]
pub struct Status {
    /// Print this text instead, with values in place of {todos}, {reviews}, {failed} and {age}
    #[arg(long, value_name = "F")]
    pub format: Option<String>,
    /// Ask the server first, and wait for it
    #[arg(long)]
    pub refresh: bool,
}

/// Options of `labscope api`.
#[derive(Debug, Args)]
#[command(allow_missing_positional = true)]
pub struct Api {
    /// GET, POST, PUT, PATCH, DELETE or HEAD
    #[arg(default_value = "GET")]
    pub method: String,
    /// The path below /api/v4, with or without a query: projects?search=web, projects/group/project/issues
    ///
    /// In a clone, :id, :fullpath, :branch and :mr stand for the project, the branch that is checked out, and the number of
    /// its merge request: projects/:id/merge_requests/:mr
    pub path: String,
    /// A field, sent in the query of a GET or HEAD request, and in the form of any other. May be repeated
    #[arg(short = 'f', long = "field", value_name = "KEY=VALUE")]
    pub fields: Vec<String>,
    /// Follow all pages of a list and print one array
    #[arg(long)]
    pub paginate: bool,
    /// Write the response body to this file
    #[arg(long, short = 'o', value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// The subcommands of `labscope auth`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Subcommand)]
pub enum AuthCommand {
    /// Read a token from the terminal or standard input, verify it, and store it
    ///
    /// In a terminal, the server's page for creating a token is opened in the browser first.
    ///
    /// The token is stored in the system keyring. If there is none, or the configuration sets keyring = false, it is
    /// stored in tokens.toml in the configuration folder, which only you can read (mode 0600).
    Login {
        /// Sign in with a browser, on this or another device, instead of with a token
        ///
        /// The server shows a page on which you enter the code that is printed here. This needs client_id in the
        /// configuration of the host: the ID of an OAuth application on that server. The token is renewed
        /// automatically.
        #[arg(long)]
        device: bool,
    },
    /// Show the server and token in use, the signed-in user, and the scopes and expiry of the token
    Status,
    /// Remove the stored token, and the replies that are kept on disk
    Logout,
}

fn parse_version(text: &str) -> Result<Version, String> {
    let known = Version::NAMES.into_iter().find(|(name, _)| *name == text);
    known.map(|(_, version)| version).ok_or_else(|| {
        let names: Vec<&str> = Version::NAMES.iter().map(|(name, _)| *name).collect();
        format!("expected one of {}", names.join(", "))
    })
}

fn parse_switch(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("expected on or off".to_owned()),
    }
}

/// Parses a share from 0 to 1.
fn parse_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse::<f64>().ok().filter(|rate| (0.0..=1.0).contains(rate));
    rate.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

/// Parses an address to listen on: an IP address or a host name, and a port, as in `localhost:8080`.
fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let mut found = text.to_socket_addrs().map_err(|e| format!("expected an address such as 127.0.0.1:8080: {e}"))?;
    found.next().ok_or_else(|| "the host has no address".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn global_options_stand_before_and_after_the_command() {
        for line in [["labscope", "--theme", "light", "demo"], ["labscope", "demo", "--theme", "light"]] {
            let cli = Cli::parse_from(line);
            assert_eq!(cli.global.theme.as_deref(), Some("light"));
            assert!(matches!(cli.command, Some(Command::Demo { target: None, .. })));
        }
    }

    #[test]
    fn local_accepts_a_target_that_begins_with_a_hyphen() {
        let cli = Cli::parse_from(["labscope", "local", "--target", "-/commits", "."]);
        assert!(matches!(cli.command, Some(Command::Local { target: Some(target), .. }) if target == "-/commits"));
    }

    #[test]
    fn an_argument_that_is_not_a_command_is_a_target() {
        let cli = Cli::parse_from(["labscope", "acme/web!12"]);
        assert_eq!(cli.target.as_deref(), Some("acme/web!12"));
        assert!(cli.command.is_none());
    }
}
