//! The command line: commands, options, and what the help says of them.

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

const LONG_ABOUT: &str = "\
Browse repositories, review merge requests and watch job traces live, without leaving the terminal.

labscope speaks the REST API v4 (the GitLab v4 interface) with any server that has it, and brings a server of its own: \
`labscope demo` shows everything with no account and no network.";

const AFTER_HELP: &str = "\
TARGET is a web address of the server, or the part of it after the host:
  group/project                    the project's files
  group/project@REF:PATH:LINE      a file at a branch, tag or commit
  group/project!12                 a merge request
  group/project/-/jobs/123         a job and its trace
In a clone, without TARGET, the project of its git remote is opened.

The server:  --host, LABSCOPE_HOST, GITLAB_HOST, the git remote, the configuration's `host`.
The token:   --token-file, LABSCOPE_TOKEN, GITLAB_TOKEN, the host's token_file, `labscope auth login`, glab's file.

Exit codes:  0 done, 1 failed, 2 a mistake in the command line or the configuration.";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "labscope",
    version,
    about = "A terminal front end to source-hosting servers",
    long_about = LONG_ABOUT,
    after_help = AFTER_HELP,
    max_term_width = 100
)]
pub struct Cli {
    /// What to open: a web address, group/project, group/project!12, group/project@REF:PATH:LINE
    pub target: Option<String>,
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Options of every command.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// The server: a web address, or the name of a host of the configuration
    #[arg(long, global = true, value_name = "URL")]
    pub host: Option<String>,
    /// Read the token from the first line of this file
    #[arg(long, global = true, value_name = "F")]
    pub token_file: Option<PathBuf>,
    /// Use this configuration file
    #[arg(long, global = true, value_name = "F")]
    pub config: Option<PathBuf>,
    /// Look: dark, light, or a theme file in the configuration's folder
    #[arg(long, global = true, value_name = "NAME")]
    pub theme: Option<String>,
    /// Write what happens to this file; tokens never appear in it
    #[arg(long, global = true, value_name = "F")]
    pub log: Option<PathBuf>,
    /// Refuse everything that would change something on the server
    #[arg(long, global = true)]
    pub read_only: bool,
    /// Send nothing at all
    #[arg(long, global = true)]
    pub offline: bool,
    /// Leave the mouse to the terminal
    #[arg(long, global = true)]
    pub no_mouse: bool,
    /// Trust the authorities in this PEM file beside the system's
    #[arg(long, global = true, value_name = "F")]
    pub ca_cert: Option<PathBuf>,
}

/// What to do instead of opening a server.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Open the interface on a demo world of its own: nothing to configure, nothing left behind
    Demo {
        /// What to open in it
        target: Option<String>,
    },
    /// Open the interface on a git repository; it is read, never written
    Local {
        /// The repository, or a folder inside it
        #[arg(default_value = ".")]
        path: PathBuf,
        /// What to open in it: @REF, @REF:PATH:LINE, -/commits, or a whole target
        #[arg(long, value_name = "T", allow_hyphen_values = true)]
        target: Option<String>,
    },
    /// Run the local server alone, until SIGINT or SIGTERM
    Serve(Serve),
    /// Make one call and print the answer: exit code 0 for 2xx, 4 for 4xx, 5 for 5xx, 1 for everything else
    Api(Api),
    /// Keep a token for a server, in a file that only you can read
    Auth {
        #[command(subcommand)]
        what: Auth,
    },
    /// Print the table of keys
    Keys {
        /// As Markdown
        #[arg(long)]
        markdown: bool,
    },
    /// Print the completions of a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page
    Man,
}

/// Options of `labscope serve`.
#[derive(Debug, Args)]
pub struct Serve {
    /// Where to listen; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDRESS", value_parser = address)]
    pub listen: SocketAddr,
    /// When ready, write address and tokens to this file as JSON (mode 0600)
    #[arg(long, value_name = "F")]
    pub ready_file: Option<PathBuf>,
    /// What there is at first: demo, empty, or a world file [default: demo; empty with --repo]
    #[arg(long, value_name = "demo|empty|FILE")]
    pub world: Option<String>,
    /// Serve this git repository as a project; it is read, never written. May be repeated
    #[arg(long = "repo", value_name = "PATH")]
    pub repos: Vec<PathBuf>,
    /// Keep everything in this folder across restarts
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
}

/// Options of `labscope api`.
#[derive(Debug, Args)]
pub struct Api {
    /// GET, POST, PUT, PATCH, DELETE or HEAD
    pub method: String,
    /// The path below /api/v4, with or without a query: projects?search=web
    pub path: String,
    /// A field: in the query of a GET, in the form of anything else. May be repeated
    #[arg(short = 'f', long = "field", value_name = "KEY=VALUE")]
    pub fields: Vec<String>,
    /// Follow all pages of a list, and print one array
    #[arg(long)]
    pub paginate: bool,
    /// Write the answer's body to this file
    #[arg(long, short = 'o', value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// What to do with the token that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Subcommand)]
pub enum Auth {
    /// Read a token from the terminal or standard input, try it, and keep it
    ///
    /// It is kept in the keyring of the system. Where there is none, or the configuration says keyring = false, it is in
    /// tokens.toml beside the configuration, which only you can read (mode 0600).
    Login,
    /// Say which server and which token would be used, and who that is
    Status,
    /// Forget the token that is kept
    Logout,
}

/// An address to listen on: numbers, or the name of a host, `localhost:8080`.
fn address(text: &str) -> Result<SocketAddr, String> {
    let mut found = text.to_socket_addrs().map_err(|e| format!("it is no address as 127.0.0.1:8080: {e}"))?;
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
            assert!(matches!(cli.command, Some(Command::Demo { target: None })));
        }
    }

    #[test]
    fn a_place_of_the_repository_is_no_option() {
        let cli = Cli::parse_from(["labscope", "local", "--target", "-/commits", "."]);
        assert!(matches!(cli.command, Some(Command::Local { target: Some(target), .. }) if target == "-/commits"));
    }

    #[test]
    fn what_is_no_command_is_a_target() {
        let cli = Cli::parse_from(["labscope", "acme/web!12"]);
        assert_eq!(cli.target.as_deref(), Some("acme/web!12"));
        assert!(cli.command.is_none());
    }
}
