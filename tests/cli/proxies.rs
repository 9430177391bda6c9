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

/// Asserts that a request fails with a message that contains `words` and no secret.
fn assert_fails(host: &str, variables: &[(&str, &str)], words: &str) {
    let ended = ask(host, variables);
    assert!(ended.code == Some(1) && ended.err.contains(words), "{words}: {ended:?}");
    assert!(["w0rd", "secret", "s3cret"].iter().all(|secret| !ended.err.contains(secret)), "{ended:?}");
}

#[test]
fn a_socks_proxy_resolves_the_name_of_the_server() {
    let proxy = start(socks);
    let address = |user: &str| format!("socks5h://{user}{proxy}");
    let known = address("me:pass%3Aw0rd@");
    let host = "http://git.example.invalid";
    for variable in ["ALL_PROXY", "all_proxy", "HTTP_PROXY", "http_proxy"] {
        let ended = ask(host, &[(variable, &known)]);
        assert!(ended.out.contains(r#""username":"git.example.invalid""#), "{variable}: {ended:?}");
    }
    let named = |reason: &str| reason.replace("THIS", &format!("the proxy {proxy} (set by ALL_PROXY)"));
    for (user, host, reason) in [
        ("me:wr0ng-secret@", host, "THIS does not accept the user and the password in ALL_PROXY"),
        ("", host, "THIS does not sign in with"),
        (
            "me:pass%3Aw0rd@",
            "http://other.example.invalid",
            "THIS cannot connect to other.example.invalid: host unreac",
        ),
    ] {
        assert_fails(host, &[("ALL_PROXY", &address(user))], &named(reason));
    }
    let local = known.replace("socks5h", "socks5");
    assert_fails(host, &[("ALL_PROXY", &local)], "cannot resolve host git.example.invalid; with socks5h://");
    assert_fails(
        host,
        &[("ALL_PROXY", &known), ("NO_PROXY", ".invalid")],
        "cannot resolve host git.example.invalid (GET",
    );
}

#[test]
fn a_proxy_that_refuses_says_why() {
    let proxy = start(closed);
    let (without, with) = (format!("http://{proxy}"), format!("http://me:secret@{proxy}"));
    let named = |reason: &str| reason.replace("THIS", &format!("the proxy {proxy} (set by ALL_PROXY)"));
    for host in ["http://git.example.invalid", "https://git.example.invalid"] {
        assert_fails(
            host,
            &[("ALL_PROXY", &without)],
            &named("THIS requires a user and a password; add them to ALL_PROX"),
        );
    }
    let refusal = named("THIS refuses to connect to git.example.invalid");
    assert_fails("https://git.example.invalid", &[("ALL_PROXY", &with)], &refusal);
    let ended = ask("http://git.example.invalid", &[("ALL_PROXY", &with)]);
    assert!(ended.out.contains(r#""username":"me""#), "{ended:?}");
    // This speaks HTTP, not SOCKS.
    let socks = [("ALL_PROXY", &*format!("socks5h://{proxy}"))];
    assert_fails("http://git.example.invalid", &socks, "(set by ALL_PROXY)");
}

#[test]
fn a_dead_proxy_is_named_with_its_variable() {
    for host in ["http://git.example.invalid", "https://git.example.invalid"] {
        let name = if host.starts_with("https") { "HTTPS_PROXY" } else { "http_proxy" };
        for (address, words) in [
            ("http://me:secret@127.0.0.1:9", "connection refused by the proxy 127.0.0.1:9 (set by "),
            ("127.0.0.1:9", "connection refused by the proxy 127.0.0.1:9 (set by "),
            ("socks5h://me:secret@127.0.0.1:9", "cannot connect to the proxy 127.0.0.1:9 (set by "),
            ("http://proxy.invalid:9", "cannot resolve the proxy proxy.invalid:9 (set by "),
            ("socks://me:secret@127.0.0.1:9", "the proxy in "),
        ] {
            assert_fails(host, &[(name, address)], &format!("{words}{name}"));
        }
    }
}
