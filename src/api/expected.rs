//! Checks of replies before they are believed: content that is named by its hash has that hash, an object is the one that
//! was requested, an archive is one, and none of them is a web page, such as that of a sign-in.

use crate::endpoint::{JSON, Request, decode};
use crate::error::{Fault, error_message};
use crate::repository::Blob;
use serde::Deserialize;
use serde_json::Value;
use sha1::{Digest, Sha1};
use sha2::Sha256;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The maximum number of bytes that are searched for the beginning of a web page.
const MAX_BEGINNING: usize = 1024;
/// The size of the pieces in which a file is hashed, in bytes.
const PIECE: usize = 64 * 1024;

/// The content that a request expects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ExpectedReply {
    /// Anything: the user typed the request.
    #[default]
    Anything,
    /// JSON. If it is an object, its field of this name has this value, or is missing.
    Json(Option<(&'static str, String)>),
    /// The commit with this full ID.
    Commit(String),
    /// The git blob with this ID, as JSON.
    EncodedBlob(String),
    /// The content of the git blob with this ID.
    Blob(String),
    /// The text of a trace.
    Trace,
    /// An archive of a format, by its name and its first bytes.
    Archive(&'static str, &'static [u8]),
    /// Any other content, whose type is not known.
    AnyFile,
}

use ExpectedReply::*;

impl ExpectedReply {
    pub fn of(request: &Request) -> ExpectedReply {
        if !request.is_read() {
            return if request.accept == JSON { Json(None) } else { AnyFile };
        }
        let (slot, value) = (last(request.route), decode(last(&request.path)));
        if request.accept == JSON {
            return match slot {
                "{sha}" if request.route.ends_with("/blobs/{sha}") => EncodedBlob(value),
                "{sha}" if is_full_id(&value) => Commit(value),
                slot if slot.ends_with("iid}") => Json(Some(("iid", value))),
                slot if slot.ends_with("id}") && is_number(&value) => Json(Some(("id", value))),
                _ => Json(None),
            };
        }
        match request.route {
            route if route.ends_with("/blobs/{sha}/raw") => {
                let mut parts = request.path.rsplit('/');
                Blob(decode(parts.nth(1).unwrap_or_default()))
            }
            route if route.ends_with("/trace") => Trace,
            route if route.ends_with("/repository/archive") => archive(request),
            // Reports are packed in their own way, and older servers send the archive instead.
            _ if request.fields.iter().any(|(name, _)| name == "file_type") => AnyFile,
            route if route.ends_with("/artifacts") || route.ends_with("/artifacts/{ref_name}/download") => ZIP,
            _ => AnyFile,
        }
    }

    /// Checks a whole reply.
    ///
    /// # Errors
    /// Returns [`Fault::Replaced`] if it is something else.
    pub fn check(&self, body: &[u8], content_type: Option<&str>) -> Result<(), Fault> {
        match self {
            Json(_) | Commit(_) | EncodedBlob(_) if body.trim_ascii_start().first() == Some(&b'<') => {
                Err(self.web_page(body))
            }
            Json(None) | Anything => Ok(()),
            Json(Some((name, value))) => check_name(body, name, value, false),
            Commit(id) => check_name(body, "id", id, true),
            EncodedBlob(id) => {
                let content = serde_json::from_slice::<Blob>(body).ok().and_then(|blob| blob.bytes());
                check_blob(id, content.as_deref().unwrap_or_default())
            }
            Blob(id) => check_blob(id, body).map_err(|fault| match is_page(body) {
                true => self.web_page(body),
                false => fault,
            }),
            Trace | AnyFile | Archive(..) => self.check_beginning(body, content_type),
        }
    }

    /// Checks the first bytes of a reply, as far as they tell that it is something else.
    pub fn check_beginning(&self, bytes: &[u8], content_type: Option<&str>) -> Result<(), Fault> {
        let is_plain = content_type.is_some_and(|kind| kind.starts_with("text/plain"));
        match self {
            Archive(_, magic) if bytes.starts_with(magic.get(..bytes.len()).unwrap_or(magic)) => Ok(()),
            Archive(..) | Trace | AnyFile
                if is_page(bytes) && !is_plain && (content_type.is_none() || *self != AnyFile) =>
            {
                Err(self.web_page(bytes))
            }
            Archive(format, _) => Err(Fault::Replaced(format!("the reply is not a {format} archive"))),
            _ => Ok(()),
        }
    }

    /// Checks a whole reply that was written to a file. The cost is proportional to its size.
    pub fn check_file(&self, path: &Path) -> Result<(), Fault> {
        let read = || -> io::Result<Result<(), Fault>> {
            let mut file = File::open(path)?;
            match self {
                Blob(id) => {
                    let size = file.metadata()?.len();
                    Ok(same_blob(id, &blob_id(id, size, &mut file)?, size))
                }
                Archive(_, magic) => {
                    let mut beginning = Vec::new();
                    file.take(MAX_BEGINNING as u64).read_to_end(&mut beginning)?;
                    // An empty file begins like every other.
                    let is_short = beginning.len() < magic.len();
                    let beginning = if is_short { b"\0" } else { beginning.as_slice() };
                    Ok(self.check_beginning(beginning, None))
                }
                _ => Ok(Ok(())),
            }
        };
        read().unwrap_or_else(|error| Err(Fault::Disk(format!("{} cannot be read: {error}", path.display()))))
    }

    /// Returns whether the content of a reply is used as it is, so that nothing else would notice a web page.
    pub fn is_content(&self) -> bool {
        matches!(self, Anything | Blob(_) | Trace | Archive(..) | AnyFile)
    }

    /// Returns the fault of a reply that is a web page.
    pub fn web_page(&self, page: &[u8]) -> Fault {
        let expected = match self {
            Anything | Json(_) | Commit(_) | EncodedBlob(_) => "JSON",
            Trace => "the trace",
            Archive(..) => "the archive",
            Blob(_) | AnyFile => "the file",
        };
        let title =
            Some(error_message(page)).filter(|title| page.trim_ascii_start().starts_with(b"<") && !title.is_empty());
        let title = title.map_or_else(String::new, |title| format!(": {title}"));
        Fault::Replaced(format!("the reply is a web page, not {expected}{title}; you may need to sign in again"))
    }
}

const ZIP: ExpectedReply = Archive("zip", b"PK");

/// Returns the last segment of a path.
fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether a text is the full ID of an object, by SHA-1 or SHA-256.
pub fn is_full_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn archive(request: &Request) -> ExpectedReply {
    let format = request.fields.iter().find(|(name, _)| name == "format").map_or("tar.gz", |(_, format)| format);
    match format {
        "tar.gz" | "tgz" | "gz" => Archive("tar.gz", b"\x1f\x8b"),
        "tar.bz2" | "tbz" | "tbz2" | "tb2" | "bz2" => Archive("tar.bz2", b"BZh"),
        "zip" => ZIP,
        // A tar file begins with the name of its first entry.
        _ => Archive("tar", b""),
    }
}

/// Returns whether content begins like a web page.
fn is_page(content: &[u8]) -> bool {
    let start = content.get(..MAX_BEGINNING).unwrap_or(content);
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
    let begins = |tag: &[u8]| start.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag));
    begins(b"<!doctype html") || begins(b"<html")
}

/// The fields by which an object is requested.
#[derive(Default, Deserialize)]
#[serde(default)]
struct IdFields {
    id: Option<Value>,
    iid: Option<Value>,
}

/// Checks that an object has a value under a name; a list has none.
fn check_name(body: &[u8], name: &str, value: &str, is_required: bool) -> Result<(), Fault> {
    // What cannot be read is reported by its reader.
    let Ok(IdFields { id, iid }) = serde_json::from_slice(body) else { return Ok(()) };
    let found = match if name == "iid" { iid } else { id } {
        Some(Value::String(text)) => text,
        None | Some(Value::Null) => String::new(),
        Some(other) => other.to_string(),
    };
    match found.eq_ignore_ascii_case(value) || found.is_empty() && !is_required {
        true => Ok(()),
        false if found.is_empty() => {
            Err(Fault::Replaced(format!("the reply is not the object with the {name} {value}")))
        }
        false => Err(Fault::Replaced(format!(
            "the reply is about another object: its {name} is {}, not {value}",
            error_message(found.as_bytes())
        ))),
    }
}

/// Checks that content is that of the blob with an ID.
fn check_blob(id: &str, content: &[u8]) -> Result<(), Fault> {
    let size = content.len() as u64;
    // Reading from memory does not fail.
    let found = blob_id(id, size, &mut &*content).unwrap_or_default();
    same_blob(id, &found, size)
}

fn same_blob(id: &str, found: &str, size: u64) -> Result<(), Fault> {
    if id.eq_ignore_ascii_case(found) {
        return Ok(());
    }
    Err(Fault::Replaced(match is_full_id(id) {
        true => format!("the reply is not the file: its {size} bytes have the SHA {found}, not {id}"),
        false => format!("the reply cannot be checked: {} is not the full SHA of a file", error_message(id.as_bytes())),
    }))
}

/// Returns the ID that git gives a blob with this content, by the hash function of `like`.
fn blob_id(like: &str, size: u64, content: &mut dyn Read) -> io::Result<String> {
    if like.len() == 64 { hash::<Sha256>(size, content) } else { hash::<Sha1>(size, content) }
}

fn hash<D: Digest>(size: u64, content: &mut dyn Read) -> io::Result<String> {
    let mut hasher = D::new();
    hasher.update(format!("blob {size}\0"));
    let mut piece = vec![0; PIECE];
    loop {
        match content.read(&mut piece)? {
            0 => break,
            read => hasher.update(piece.get(..read).unwrap_or_default()),
        }
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endpoint;
    use crate::commits::GetCommit;
    use crate::issues::GetIssue;
    use crate::jobs::{GetArtifacts, GetTrace};
    use crate::repository::{GetArchive, GetBlob, GetRawBlob, GetRawFile};

    /// The IDs of a blob with the text `hello` and a line break, by `git hash-object` in repositories of both formats.
    const HELLO: [&str; 2] = [
        "ce013625030ba8dba906f756967f9e9ca394464a",
        "2cf8d83d9ee29543b34a87727421fdecb7e3f3a183d337639025de576db9ebb4",
    ];
    const PAGE: &str = "\n<!DOCTYPE html><html><head><title>Sign in</title></head></html>";

    fn raw(sha: &str) -> ExpectedReply {
        ExpectedReply::of(&GetRawBlob { id: 1.into(), sha: sha.into() }.request())
    }

    fn reason(checked: Result<(), Fault>) -> String {
        match checked {
            Err(Fault::Replaced(reason)) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn only_the_content_of_a_blob_is_believed() {
        for id in HELLO {
            assert_eq!(raw(id).check(b"hello\n", None), Ok(()));
            assert_eq!(raw(&id.to_uppercase()).check(b"hello\n", None), Ok(()));
            for other in ["hello", "hello\n\n", "", "Hello\n"] {
                let why = reason(raw(id).check(other.as_bytes(), None));
                assert!(why.starts_with("the reply is not the file") && why.contains(id), "{why}");
            }
            let why = reason(raw(id).check(PAGE.as_bytes(), Some("text/plain")));
            assert_eq!(why, "the reply is a web page, not the file: Sign in; you may need to sign in again");
            let blob = ExpectedReply::of(&GetBlob { id: 1.into(), sha: id.into() }.request());
            let encoded = |text: &str| serde_json::to_vec(&crate::repository::Blob::new(id, text.as_bytes())).unwrap();
            assert_eq!(blob.check(&encoded("hello\n"), None), Ok(()));
            reason(blob.check(&encoded("hello"), None));
        }
        // The empty blob, which a cut reply looks like.
        assert_eq!(raw("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391").check(b"", None), Ok(()));
        let why = reason(raw("abc").check(b"hello\n", None));
        assert!(why.contains("abc is not the full SHA"), "{why}");
    }

    #[test]
    fn a_blob_in_a_file_is_checked_as_well() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "hello\n").expect("written");
        assert_eq!(raw(HELLO[0]).check_file(file.path()), Ok(()));
        std::fs::write(file.path(), "hell").expect("written");
        reason(raw(HELLO[0]).check_file(file.path()));
        let zip = ExpectedReply::of(&GetArtifacts { id: 1.into(), job_id: 2, ..GetArtifacts::default() }.request());
        let report = GetArtifacts { file_type: Some("cobertura".into()), ..GetArtifacts::default() };
        let report = ExpectedReply::of(&report.request());
        for (content, is_archive) in [("PK\u{5}\u{6}", true), ("{}", false), ("", false), ("P", false)] {
            std::fs::write(file.path(), content).expect("written");
            assert_eq!(zip.check_file(file.path()).is_ok(), is_archive, "{content}");
            assert_eq!(report.check_file(file.path()), Ok(()), "{content}");
        }
    }

    #[test]
    fn an_object_is_the_one_that_was_requested() {
        let issue = ExpectedReply::of(&GetIssue { id: 1.into(), issue_iid: 7 }.request());
        for body in [r#"{"id": 9, "iid": 7}"#, r#"{"iid": "7"}"#, r#"{"title": "a"}"#, "[]", r#"{"iid": null}"#] {
            assert_eq!(issue.check(body.as_bytes(), None), Ok(()), "{body}");
        }
        assert_eq!(
            reason(issue.check(br#"{"iid": 8}"#, None)),
            "the reply is about another object: its iid is 8, not 7"
        );
        let commit = |sha: &str| ExpectedReply::of(&GetCommit { id: 1.into(), sha: sha.into(), stats: None }.request());
        let body = format!(r#"{{"id": "{}"}}"#, HELLO[0]);
        assert_eq!(commit(HELLO[0]).check(body.as_bytes(), None), Ok(()));
        assert_eq!(commit("main").check(body.as_bytes(), None), Ok(()));
        reason(commit(HELLO[1]).check(body.as_bytes(), None));
        // Without its ID, it could be any object.
        reason(commit(HELLO[0]).check(b"{}", None));
    }

    #[test]
    fn a_web_page_is_no_content() {
        let trace = ExpectedReply::of(&GetTrace { id: 1.into(), job_id: 2 }.request());
        let zip = GetArchive { id: 1.into(), format: Some("zip".into()), ..GetArchive::default() };
        let (zip, tar) = (ExpectedReply::of(&zip.request()), ExpectedReply::of(&GetArchive::default().request()));
        let file =
            ExpectedReply::of(&GetRawFile { id: 1.into(), path: "a.txt".into(), ..GetRawFile::default() }.request());
        for (expected, name) in [(&trace, "trace"), (&zip, "archive"), (&tar, "archive"), (&file, "file")] {
            let why = reason(expected.check(PAGE.as_bytes(), None));
            assert_eq!(why, format!("the reply is a web page, not the {name}: Sign in; you may need to sign in again"));
        }
        assert_eq!(reason(zip.check(b"{}", None)), "the reply is not a zip archive");
        assert_eq!(zip.check(b"PK\x03\x04", None), Ok(()));
        assert_eq!(tar.check(b"\x1f", None), Ok(()));
        // Content that is said to be plain text may begin like that.
        for expected in [&trace, &file] {
            assert_eq!(expected.check(PAGE.as_bytes(), Some("text/plain; charset=utf-8")), Ok(()));
        }
    }
}
