//! Proxies of the environment: every error names the proxy, the variable that sets it and the reason, and no password.

use crate::home::Home;
use crate::program::Ended;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

/// Starts a proxy that handles each connection with `handle`. Returns its host and port.
fn start(handle: impl Fn(TcpStream) -> Option<()> + Send + Sync + Copy + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let place = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || handle(stream));
        }
    });
    place
}

fn take<const N: usize>(stream: &mut TcpStream) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

/// Reads the head of a request.
fn head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.extend(take::<1>(stream)?);
    }
    String::from_utf8(head).ok()
}

fn reply(stream: &mut TcpStream, status: &str, body: &str) -> Option<()> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}");
    write!(stream, "{head}\r\nconnection: close\r\n\r\n{body}").ok()
}

/// A SOCKS proxy for the user `me`, which has the server `git.example.invalid` behind it: it describes the user by the
/// address that was requested.
fn socks(mut stream: TcpStream) -> Option<()> {
    let [5, count] = take(&mut stream)? else { return None };
    let mut methods = vec![0; usize::from(count)];
    stream.read_exact(&mut methods).ok()?;
    if !methods.contains(&2) {
        return stream.write_all(&[5, 0xff]).ok();
    }
    stream.write_all(&[5, 2]).ok()?;
    let text = |stream: &mut TcpStream| {
        let [length] = take(stream)?;
        let mut bytes = vec![0; usize::from(length)];
        stream.read_exact(&mut bytes).ok()?;
        String::from_utf8(bytes).ok()
    };
    let [1] = take(&mut stream)? else { return None };
    let (user, password) = (text(&mut stream)?, text(&mut stream)?);
    let is_known = user == "me" && password == "pass:w0rd";
    stream.write_all(&[1, u8::from(!is_known)]).ok()?;
    let [5, 1, 0, 3] = take(&mut stream)? else { return None };
    let name = text(&mut stream)?;
    let [_, _] = take(&mut stream)?;
    let status = if name == "git.example.invalid" { 0 } else { 4 };
    stream.write_all(&[5, status, 0, 1, 0, 0, 0, 0, 0, 0]).ok()?;
    head(&mut stream)?;
    reply(&mut stream, "200 OK", &format!(r#"{{"id":1,"username":"{name}"}}"#))
}

/// An HTTP proxy that requires a user and a password.
fn closed(mut stream: TcpStream) -> Option<()> {
    match head(&mut stream)? {
        head if head.to_lowercase().contains("proxy-authorization: basic bwu6c2vjcmv0") => {
            let is_tunnel = head.starts_with("CONNECT ");
            reply(&mut stream, if is_tunnel { "403 Forbidden" } else { "200 OK" }, r#"{"id":1,"username":"me"}"#)
        }
        _ => reply(&mut stream, "407 Proxy Authentication Required", ""),
    }
}

/// Requests the user from a server, with variables.
fn ask(host: &str, variables: &[(&str, &str)]) -> Ended {
    let home = Home::new();
    let mut command = home.command(&["--host", host, "api", "GET", "user"]);
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "REQUEST_METHOD"] {
        command.env_remove(name).env_remove(name.to_lowercase());
    }
    command.envs(variables.iter().copied()).env("LABSCOPE_TOKEN", "s3cret-token");
    let output = command.output().expect("it starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Ended { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// A request that must fail: the server, the variables, and a part of the message.
struct Failure {
    host: &'static str,
    variables: Vec<(&'static str, String)>,
    words: String,
}

impl Failure {
    fn of(host: &'static str, variable: &'static str, proxy: &str, words: impl Into<String>) -> Failure {
        Failure { host, variables: vec![(variable, proxy.to_owned())], words: words.into() }
    }

    /// Asserts that the request fails with its message, which contains no secret.
    fn check(&self) {
        let variables: Vec<_> = self.variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let ended = ask(self.host, &variables);
        assert!(ended.code == Some(1) && ended.err.contains(&self.words), "{}: {ended:?}", self.words);
        assert!(["w0rd", "secret", "s3cret"].iter().all(|secret| !ended.err.contains(secret)), "{ended:?}");
    }
}

/// Checks all at once, because labscope pauses between its tries.
fn check(failures: Vec<Failure>) {
    std::thread::scope(|scope| {
        for failure in &failures {
            scope.spawn(move || failure.check());
        }
    });
}

/// Returns how messages name a proxy that `ALL_PROXY` sets, followed by `reason`.
fn named(proxy: &str, reason: &str) -> String {
    format!("the proxy {proxy} (set by ALL_PROXY) {reason}")
}

const HTTP: &str = "http://git.example.invalid";
const HTTPS: &str = "https://git.example.invalid";

#[test]
fn a_socks_proxy_resolves_the_name_of_the_server() {
    let proxy = start(socks);
    let address = |user: &str| format!("socks5h://{user}{proxy}");
    let known = address("me:pass%3Aw0rd@");
    for variable in ["ALL_PROXY", "all_proxy", "HTTP_PROXY", "http_proxy"] {
        let ended = ask(HTTP, &[(variable, &known)]);
        assert!(ended.out.contains(r#""username":"git.example.invalid""#), "{variable}: {ended:?}");
    }
    let unresolved = "cannot resolve host git.example.invalid";
    let mut direct = Failure::of(HTTP, "ALL_PROXY", &known, format!("{unresolved} (GET"));
    direct.variables.push(("NO_PROXY", ".invalid".to_owned()));
    let wrong = named(&proxy, "does not accept the user and the password in ALL_PROXY");
    let unreachable = named(&proxy, "cannot connect to other.example.invalid: host unreachable");
    check(vec![
        Failure::of(HTTP, "ALL_PROXY", &address("me:wr0ng-secret@"), wrong),
        Failure::of(HTTP, "ALL_PROXY", &address(""), named(&proxy, "does not sign in with")),
        Failure::of("http://other.example.invalid", "ALL_PROXY", &known, unreachable),
        Failure::of(HTTP, "ALL_PROXY", &known.replace("socks5h", "socks5"), format!("{unresolved}; with socks5h://")),
        direct,
    ]);
}

#[test]
fn a_proxy_that_refuses_says_why() {
    let proxy = start(closed);
    let (without, with) = (format!("http://{proxy}"), format!("http://me:secret@{proxy}"));
    let needs = named(&proxy, "requires a user and a password; add them to ALL_PROXY");
    check(vec![
        Failure::of(HTTP, "ALL_PROXY", &without, needs.clone()),
        Failure::of(HTTPS, "ALL_PROXY", &without, needs),
        Failure::of(HTTPS, "ALL_PROXY", &with, named(&proxy, "refuses to connect to git.example.invalid")),
        // This proxy speaks HTTP, not SOCKS.
        Failure::of(HTTP, "ALL_PROXY", &format!("socks5h://{proxy}"), named(&proxy, "")),
    ]);
    let ended = ask(HTTP, &[("ALL_PROXY", &with)]);
    assert!(ended.out.contains(r#""username":"me""#), "{ended:?}");
}

#[test]
fn a_dead_proxy_is_named_with_its_variable() {
    let cases = [
        ("http://me:secret@127.0.0.1:9", "connection refused by the proxy 127.0.0.1:9 (set by "),
        ("127.0.0.1:9", "connection refused by the proxy 127.0.0.1:9 (set by "),
        ("socks5h://me:secret@127.0.0.1:9", "cannot connect to the proxy 127.0.0.1:9 (set by "),
        ("http://proxy.invalid:9", "cannot resolve the proxy proxy.invalid:9 (set by "),
        ("socks://me:secret@127.0.0.1:9", "the proxy in "),
    ];
    let of =
        |host, variable| cases.map(|(proxy, words)| Failure::of(host, variable, proxy, format!("{words}{variable}")));
    check([of(HTTP, "http_proxy"), of(HTTPS, "HTTPS_PROXY")].into_iter().flatten().collect());
}
