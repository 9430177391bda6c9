//! The script that installs a release, against a server on loopback: it checks what it downloads, says what it did, and
//! leaves nothing behind when something fails.

use crate::home::Home;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

/// The places of all installed files below the prefix.
const FILES: [&str; 7] = [
    "bin/labscope",
    "share/man/man1/labscope.1",
    "share/bash-completion/completions/labscope",
    "share/zsh/site-functions/_labscope",
    "share/fish/vendor_completions.d/labscope.fish",
    "share/doc/labscope/LICENSE",
    "share/doc/labscope/LICENSES-OF-CRATES.txt",
];

/// Returns the name of the archive for this machine, without its ending.
fn name() -> String {
    let system = if cfg!(target_os = "macos") { "apple-darwin" } else { "unknown-linux-gnu" };
    format!("labscope-1.2.3-{}-{system}", std::env::consts::ARCH)
}

/// Packs a release whose program is a script that ends with an exit code.
fn archive(program_exits_with: i32) -> Vec<u8> {
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    let program = format!("#!/bin/sh\necho labscope 1.2.3\nexit {program_exits_with}\n");
    let others =
        ["man/labscope.1", "completions/labscope.bash", "completions/labscope.zsh", "completions/labscope.fish"];
    let others = others.into_iter().chain(["LICENSE", "LICENSES-OF-CRATES.txt"]).map(|file| (file, file));
    for (file, text) in others.chain([("labscope", program.as_str())]) {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(if file == "labscope" { 0o755 } else { 0o644 });
        tar.append_data(&mut header, format!("{}/{file}", name()), text.as_bytes()).expect("packed");
    }
    tar.into_inner().and_then(GzEncoder::finish).expect("packed")
}

/// Serves files by name on loopback until the process ends; returns the address.
fn serve(files: HashMap<String, Vec<u8>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            let (mut head, mut byte) = (Vec::new(), [0]);
            while !head.ends_with(b"\r\n\r\n") && connection.read(&mut byte).is_ok_and(|read| read > 0) {
                head.extend(byte);
            }
            let head = String::from_utf8_lossy(&head);
            let path = head.split(' ').nth(1).unwrap_or_default().trim_start_matches('/');
            let (status, body) = files.get(path).map_or(("404 Not Found", &[][..]), |body| ("200 OK", body));
            let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            let _ = connection.write_all(head.as_bytes()).and_then(|()| connection.write_all(body));
        }
    });
    address
}

/// Serves a release with a checksum; returns its address.
fn release(archive: Vec<u8>, checksum_of: &[u8]) -> String {
    let sum: String = Sha256::digest(checksum_of).iter().map(|byte| format!("{byte:02x}")).collect();
    let sums = format!("{sum}  other.deb\n{sum}  {}.tar.gz\n", name());
    serve(HashMap::from([("SHA256SUMS".into(), sums.into_bytes()), (format!("{}.tar.gz", name()), archive)]))
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/packaging/install.sh")
}

/// Runs the script; returns whether it succeeded, and what it printed.
fn run(arguments: &[&str], home: Option<&Path>) -> (bool, String) {
    let mut command = Command::new("sh");
    command.arg(script()).args(arguments).env_remove("HOME").env_remove("http_proxy");
    command.envs(home.map(|home| ("HOME", home)));
    let output = command.output().expect("sh runs");
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

/// Returns all files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Returns whether there is a program that downloads. Without one, the script says so, and nothing else can be tested.
fn can_download() -> bool {
    let has = |name: &str| Command::new(name).arg("--version").output().is_ok();
    let can = has("curl") || has("wget");
    if !can {
        let (succeeded, text) = run(&["--from", "http://127.0.0.1:1", "--version", "1"], Some(Path::new("/nowhere")));
        assert!(!succeeded && text.contains("curl or wget is needed"), "{text}");
    }
    can
}

#[test]
fn a_release_is_installed_for_one_user_and_removed_again() {
    if !can_download() {
        return;
    }
    let home = Home::new();
    let folder = home.path("user");
    fs::create_dir(&folder).expect("created");
    let archive = archive(0);
    let from = release(archive.clone(), &archive);
    for version in ["1.2.3", "v1.2.3"] {
        // The second time replaces the first.
        let (succeeded, text) = run(&["--from", &from, "--version", version], Some(&folder));
        assert!(succeeded && text.contains("labscope demo") && text.contains("--remove"), "{text}");
        for file in FILES {
            assert!(folder.join(".local").join(file).is_file(), "{file}");
            assert!(text.contains(&format!("installed {}", folder.join(".local").join(file).display())), "{text}");
        }
    }
    let mine = folder.join(".local/bin/mine");
    fs::write(&mine, "").expect("written");
    let program = Command::new(folder.join(".local/bin/labscope")).arg("--version").output().expect("it runs");
    assert_eq!(program.stdout, b"labscope 1.2.3\n");
    let (succeeded, text) = run(&["--remove"], Some(&folder));
    assert!(succeeded && text.contains("drafts are kept"), "{text}");
    assert_eq!(files(&folder), [mine]);
    let (succeeded, text) = run(&["--remove"], Some(&folder));
    assert!(!succeeded && text.contains("nothing that this script installed"), "{text}");
}

#[test]
fn what_cannot_be_checked_downloaded_or_written_changes_nothing() {
    if !can_download() {
        return;
    }
    let home = Home::new();
    let whole = archive(0);
    let broken = archive(1);
    let cut = &whole[..whole.len() / 2];
    let cases = [
        ("another checksum", release(whole.clone(), b"something else"), "has the checksum"),
        ("no such file", serve(HashMap::from([("SHA256SUMS".into(), Vec::new())])), "cannot be downloaded"),
        ("nobody there", "http://127.0.0.1:1".to_owned(), "cannot be downloaded"),
        ("a damaged archive", release(cut.to_vec(), cut), "cannot be unpacked"),
        ("a program for another system", release(broken.clone(), &broken), "does not run on this system"),
    ];
    for (case, from, words) in cases {
        let folder = home.path(case);
        fs::create_dir_all(folder.join("bin")).expect("created");
        fs::write(folder.join("bin/labscope"), "the one before").expect("written");
        let prefix = folder.to_str().expect("UTF-8");
        let (succeeded, text) = run(&["--from", &from, "--version", "1.2.3", "--prefix", prefix], None);
        assert!(!succeeded && text.contains(words), "{case}: {text}");
        assert_eq!(files(&folder), [folder.join("bin/labscope")], "{case}");
        assert_eq!(fs::read_to_string(folder.join("bin/labscope")).expect("read"), "the one before", "{case}");
    }
    // A folder that cannot be written to, as on a full disk.
    let folder = home.path("full");
    fs::create_dir(&folder).expect("created");
    fs::write(folder.join("share"), "not a folder").expect("written");
    let from = release(whole.clone(), &whole);
    let prefix = folder.to_str().expect("UTF-8");
    let (succeeded, text) = run(&["--from", &from, "--version", "1.2.3", "--prefix", prefix], None);
    assert!(!succeeded && text.contains("nothing was changed"), "{text}");
    assert_eq!(files(&folder), [folder.join("share")]);
}

#[test]
fn mistakes_are_named() {
    for (arguments, words) in [
        (&["--from", "http://127.0.0.1:1", "--version", "1"][..], "HOME is not set"),
        (&["--prefix", "/nowhere"], "name the address of the release"),
        (&["--prefix", "/nowhere", "--from", "http://127.0.0.1:1"], "name the version"),
        (&["--prefix", "/nowhere", "--from", "http://127.0.0.1:1", "--version", "1/../2"], "is not a version"),
        (&["--version"], "needs a value"),
        (&["--force"], "--force is not known"),
    ] {
        let (succeeded, text) = run(arguments, None);
        assert!(!succeeded && text.contains(words), "{arguments:?}: {text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
    let (succeeded, text) = run(&["--help"], None);
    assert!(succeeded && text.contains("--remove") && !text.contains("set -eu"), "{text}");
}
