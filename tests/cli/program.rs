//! Runs the program as a script would, in a temporary home.

use crate::home::Home;
pub use crate::served::Served;
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

/// The result of a command.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Home {
    /// Writes a file below the home directory.
    pub fn write(&self, below: &str, text: &str) -> PathBuf {
        let path = self.path(below);
        std::fs::write(&path, text).expect("written");
        path
    }

    /// Runs the program until it exits.
    pub fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Ended {
        ended(self.command(arguments).output().expect("it starts"))
    }

    /// Like [`Home::run`], with `input` on standard input.
    pub fn run_with<S: AsRef<OsStr>>(&self, arguments: &[S], input: &str) -> Ended {
        let mut command = self.command(arguments);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads");
        ended(child.wait_with_output().expect("it ends"))
    }
}

fn ended(output: Output) -> Ended {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Ended { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// Returns whether a file is readable by its owner only.
#[cfg(unix)]
pub fn is_private(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777 == 0o600
}
