//! Starts the program and its local server in a separate home.

use crate::home::{Home, send};
use serde_json::Value;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// Environment variables that would change the program's behavior.
const FOREIGN: &[&str] = &[
    "LABSCOPE_HOST",
    "LABSCOPE_TOKEN",
    "LABSCOPE_LOG",
    "GITLAB_HOST",
    "GITLAB_TOKEN",
    "GLAB_CONFIG_DIR",
    "NO_COLOR",
    "COLORTERM",
    "COLORFGBG",
    "WT_SESSION",
    "LC_CTYPE",
    "LANG",
];

impl Home {
    /// Returns a command for the program with these arguments, not started yet.
    pub fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_labscope"));
        command.args(arguments).current_dir(self.path("work")).envs(self.variables()).stdin(Stdio::null());
        for name in FOREIGN {
            command.env_remove(name);
        }
        command
    }
}

/// A local server in a separate process, killed on drop.
pub struct Served {
    child: Option<Child>,
    pub ready: Value,
}

impl Served {
    /// Starts `labscope serve` with additional options and waits until it is ready.
    pub fn start(home: &Home, options: &[&str]) -> Served {
        let ready = home.path("ready.json");
        let arguments: Vec<&OsStr> = ["serve".as_ref(), "--ready-file".as_ref(), ready.as_os_str()]
            .into_iter()
            .chain(options.iter().map(|option| OsStr::new(*option)))
            .collect();
        let mut child = home.command(&arguments).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut line = String::new();
        // The line arrives once the server is ready; if it fails to start, the pipe is closed.
        BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("a line");
        let text = std::fs::read_to_string(&ready).expect("the file is there before the line is");
        let served = Served { child: Some(child), ready: serde_json::from_str(&text).expect("JSON") };
        assert!(line.trim_end().ends_with(served.url()), "{line:?} names {}", served.url());
        served
    }

    /// Returns the server's address.
    pub fn url(&self) -> &str {
        self.ready["base_url"].as_str().expect("an address")
    }

    /// Returns the token of a user.
    pub fn token(&self, user: &str) -> &str {
        self.ready["tokens"][user].as_str().expect("a token")
    }

    /// Sends a signal to the server and returns its exit code.
    pub fn end(mut self, signal: &str) -> Option<i32> {
        let mut child = self.child.take().expect("it runs");
        send(signal, child.id());
        child.wait().expect("it ends").code()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
