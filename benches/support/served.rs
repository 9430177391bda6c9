//! A local server in a separate process, a minimal HTTP connection to it, and plain git.

use labscope::api::client::{Client, Server};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use url::Url;

/// The path of the measured program.
pub const LABSCOPE: &str = env!("CARGO_BIN_EXE_labscope");

/// A server in a separate process, pinned to one core if `taskset` is available.
pub struct Process {
    child: Child,
    pub url: String,
    token: String,
}

impl Process {
    pub fn start(program: &str, arguments: &[&str], folder: &Path) -> Process {
        let pinned = Command::new("taskset").arg("--version").stdout(Stdio::null()).status().is_ok();
        let mut command = if pinned { Command::new("taskset") } else { Command::new(program) };
        if pinned {
            command.args(["-c", "0", program]);
        }
        let mut child =
            command.args(arguments).current_dir(folder).stdout(Stdio::piped()).spawn().expect("the server starts");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("a line");
        let url = line.split_whitespace().last().expect("an address").to_owned();
        let ready = fs::read(folder.join("ready.json")).unwrap_or_default();
        let ready: serde_json::Value = serde_json::from_slice(&ready).unwrap_or_default();
        Process { child, url, token: ready["tokens"]["root"].as_str().unwrap_or_default().to_owned() }
    }

    pub fn client(&self) -> Client {
        let url = Url::parse(&self.url).expect("an address");
        Client::new(Server { token: Some(self.token.clone().into()), ..Server::new(url) }).expect("a client")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A persistent connection with as little HTTP overhead as possible.
pub struct Connection {
    stream: BufReader<TcpStream>,
    request: Vec<u8>,
    pub body: Vec<u8>,
}

impl Connection {
    pub fn open(server: &Process, target: &str) -> Connection {
        let address = server.url.trim_start_matches("http://").trim_end_matches('/');
        let stream = TcpStream::connect(address).expect("it listens");
        stream.set_nodelay(true).expect("a socket");
        let token = &server.token;
        let request = format!("GET {target} HTTP/1.1\r\nHost: {address}\r\nPRIVATE-TOKEN: {token}\r\n\r\n").into();
        Connection { stream: BufReader::with_capacity(1 << 16, stream), request, body: Vec::new() }
    }

    /// Sends one request for `target`, which later calls of [`Connection::ask`] repeat.
    pub fn ask_for(&mut self, target: &str) {
        let text = String::from_utf8_lossy(&self.request);
        let (_, rest) = text.split_once(" HTTP/1.1").expect("a request");
        self.request = format!("GET {target} HTTP/1.1{rest}").into_bytes();
        self.ask();
    }

    /// Sends the request once and reads the reply into `body`.
    pub fn ask(&mut self) {
        self.stream.get_mut().write_all(&self.request).expect("sent");
        let (mut length, mut first, mut line) = (None, true, String::new());
        loop {
            line.clear();
            self.stream.read_line(&mut line).expect("a line");
            assert!(!first || line.contains(" 200 "), "{line}");
            first = false;
            let text = line.trim_end();
            if text.is_empty() {
                break;
            }
            if let Some((name, value)) = text.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse::<usize>().ok();
            }
        }
        self.body.resize(length.expect("a length"), 0);
        self.stream.read_exact(&mut self.body).expect("the body");
    }
}

/// Runs git with `input` on its standard input; returns the trimmed output.
pub fn git(folder: &Path, arguments: &[&str], input: &[u8]) -> String {
    let mut child = Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("git is there");
    child.stdin.take().expect("a pipe").write_all(input).expect("told");
    String::from_utf8(child.wait_with_output().expect("it ends").stdout).expect("text").trim().to_owned()
}
