//! Commits and tags, parsed from and serialized to git's object format.
//!
//! libgit2 refuses a commit whose date or author it cannot parse, and with it the whole history that contains the
//! commit. Stock git shows such a commit with the date 1970-01-01; so does this module.

use super::{Git, lossy};
use crate::rejection::{PARTIAL, Rejection};
use encoding_rs::{Encoding, REPLACEMENT};
use git2::{Blob, Error, ErrorClass, ErrorCode, ObjectType, OdbObject, Oid, Time, Tree};
use jiff::Timestamp;
use system::panics;

/// Creates the error of an object that cannot be what it should be.
pub(super) fn damaged(why: String) -> Error {
    Error::new(ErrorCode::GenericError, ErrorClass::Object, why)
}

/// The way to get the missing objects.
const FETCH_ALL: &str = "git fetch --refetch --no-filter fetches all objects";

/// The maximum number of nested tags that are followed to a commit.
const MAX_TAG_DEPTH: usize = 32;

/// The characters that git does not allow in a signature.
pub(super) const INVALID_IN_SIGNATURE: [char; 4] = ['<', '>', '\n', '\0'];

#[derive(Clone, Debug, PartialEq)]
pub struct Commit {
    pub id: Oid,
    pub tree_id: Oid,
    /// The parents; none at the boundary of a shallow clone.
    pub parents: Vec<Oid>,
    pub author: Signature,
    pub committer: Signature,
    pub message: String,
}

/// The name and email address of an author or a committer, and a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    pub name: String,
    pub email: String,
    pub at: Time,
}

impl Signature {
    /// Parses `name <email> seconds offset`. Dates that cannot be parsed or represented become 1970-01-01.
    fn parse(line: &[u8], decode: &dyn Fn(&[u8]) -> String) -> Signature {
        let (start, end) = (memchr::memrchr(b'<', line), memchr::memrchr(b'>', line));
        let text = |bytes: Option<&[u8]>| {
            let text = decode(bytes.unwrap_or_default());
            text.trim_matches(|c: char| c <= ' ' || c == '<' || c == '>').to_owned()
        };
        let name = text(line.get(..start.unwrap_or(line.len())));
        let email = start.zip(end).and_then(|(start, end)| line.get(start..end));
        Signature { name, email: text(email), at: time(line) }
    }

    /// Formats the value of a header line of a commit or a tag.
    fn line(&self) -> String {
        let (minutes, sign) = (self.at.offset_minutes(), self.at.sign());
        let (hours, minutes) = (minutes.unsigned_abs() / 60, minutes.unsigned_abs() % 60);
        let clean = |text: &str| text.replace(INVALID_IN_SIGNATURE, "");
        let (name, email) = (clean(&self.name), clean(&self.email));
        format!("{name} <{email}> {} {sign}{hours:02}{minutes:02}", self.at.seconds())
    }
}

/// Parses the date after the email address of a signature.
fn time(line: &[u8]) -> Time {
    let rest = memchr::memrchr(b'>', line).and_then(|end| line.get(end + 1..)).unwrap_or_default();
    let rest = String::from_utf8_lossy(rest);
    let mut words = rest.split_ascii_whitespace();
    let seconds = words.next().and_then(|word| word.parse().ok());
    let seconds = seconds.filter(|seconds| Timestamp::from_second(*seconds).is_ok()).unwrap_or_default();
    Time::new(seconds, words.next().and_then(offset).unwrap_or_default())
}

/// Parses an offset such as `+0530` into minutes; `None` if it is out of range.
fn offset(word: &str) -> Option<i32> {
    let digits: i32 = word.strip_prefix(['+', '-'])?.parse().ok().filter(|digits| (0..=9_999).contains(digits))?;
    let (hours, minutes) = (digits / 100, digits % 100);
    let minutes = (hours <= 14 && minutes < 60).then_some(hours * 60 + minutes)?;
    Some(if word.starts_with('-') { -minutes } else { minutes })
}

/// The parts of a commit, as bytes.
pub(super) struct RawCommit<'a> {
    pub tree: Oid,
    pub parents: Vec<Oid>,
    author: &'a [u8],
    committer: &'a [u8],
    /// The name of the encoding of people and message; empty for UTF-8.
    encoding: &'a [u8],
    message: &'a [u8],
}

impl<'a> RawCommit<'a> {
    fn parse(bytes: &'a [u8]) -> Option<RawCommit<'a>> {
        let (head, message) = split(bytes);
        let value = |line: &'a [u8], name: &str| line.strip_prefix(name.as_bytes())?.strip_prefix(b" ");
        let mut lines = head.split(|byte| *byte == b'\n');
        let mut raw = RawCommit {
            tree: id_of(value(lines.next()?, "tree")?)?,
            parents: Vec::new(),
            author: &[],
            committer: &[],
            encoding: &[],
            message,
        };
        for line in lines {
            if let Some(parent) = value(line, "parent") {
                raw.parents.push(id_of(parent)?);
            } else if let Some(author) = value(line, "author").filter(|_| raw.author.is_empty()) {
                raw.author = author;
            } else if let Some(committer) = value(line, "committer").filter(|_| raw.committer.is_empty()) {
                raw.committer = committer;
            } else if let Some(encoding) = value(line, "encoding").filter(|_| raw.encoding.is_empty()) {
                raw.encoding = encoding;
            }
        }
        Some(raw)
    }

    /// Decodes text of the commit; as UTF-8 if its encoding is unknown.
    fn decode(&self, bytes: &[u8]) -> String {
        match Encoding::for_label(self.encoding).filter(|encoding| *encoding != REPLACEMENT) {
            Some(encoding) => encoding.decode_without_bom_handling(bytes).0.into_owned(),
            None => lossy(bytes),
        }
    }

    /// Returns the committer date, in seconds since 1970.
    pub fn seconds(&self) -> i64 {
        time(self.committer).seconds()
    }
}

/// Splits an object into its header, and the text without leading empty lines.
fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = memchr::memmem::find(bytes, b"\n\n").unwrap_or(bytes.len());
    let (head, text) = bytes.split_at_checked(end).unwrap_or((bytes, &[]));
    let start = text.iter().position(|byte| *byte != b'\n').unwrap_or(text.len());
    (head, text.get(start..).unwrap_or_default())
}

pub(super) fn id_of(hex: &[u8]) -> Option<Oid> {
    Oid::from_str(std::str::from_utf8(hex).ok().filter(|hex| hex.len() == 40)?).ok()
}

impl Commit {
    /// Returns the first paragraph of the message in one line.
    pub fn title(&self) -> String {
        let lines = self.message.lines().map(str::trim_end).take_while(|line| !line.is_empty());
        lines.map(str::trim_start).collect::<Vec<_>>().join(" ")
    }

    pub fn parent(&self) -> Option<Oid> {
        self.parents.first().copied()
    }
}

/// The maximum size of a commit or a tag in bytes.
const MAX_TEXT_BYTES: usize = 16 << 20;
/// The maximum size of a file that is read as a whole, in bytes.
const MAX_BLOB_BYTES: usize = 512 << 20;

impl Git {
    /// Returns the size in bytes and the type of an object without reading it as a whole.
    ///
    /// # Errors
    /// Fails if it does not exist, or is damaged.
    pub(super) fn header(&self, id: Oid) -> Result<(usize, ObjectType), Error> {
        if self.packs.is_endless(id) {
            return Err(damaged(format!("{id} is a delta of itself")));
        }
        let odb = self.repo.odb()?;
        // git2 panics if the type in a pack is none that git has.
        let header = panics::catch(|| odb.read_header(id));
        let header = header.unwrap_or_else(|_| Err(damaged(format!("{id} has an unknown type"))));
        let (size, kind) = header.map_err(|error| self.explain_missing(id, error))?;
        if self.verifies && size <= MAX_BLOB_BYTES {
            self.verify(id, &odb.read(id)?)?;
        }
        Ok((size, kind))
    }

    /// Checks the hash of an object, if objects are verified.
    fn verify(&self, id: Oid, object: &OdbObject<'_>) -> Result<(), Error> {
        match self.verifies && Oid::hash_object(object.kind(), object.data())? != id {
            true => Err(damaged(format!("{id} has the content of another object"))),
            false => Ok(()),
        }
    }

    /// Replaces the error of an object that does not exist, if the clone was made without some objects: it is not damaged
    /// then.
    pub(super) fn explain_missing(&self, id: Oid, error: Error) -> Error {
        if error.code() != ErrorCode::NotFound || !self.is_partial() {
            return error;
        }
        Error::new(ErrorCode::NotFound, ErrorClass::FetchHead, format!("{PARTIAL}: {id} is missing. {FETCH_ALL}"))
    }

    /// Returns whether the repository is a partial clone. git marks the remotes that have promised the objects that are
    /// missing, and the packs from them.
    fn is_partial(&self) -> bool {
        let is_promisor = |remote: &str| {
            let config = self.repo.config().and_then(|mut config| config.snapshot());
            config.is_ok_and(|config| config.get_bool(&format!("remote.{remote}.promisor")).unwrap_or(false))
        };
        let remotes = self.repo.remotes().ok();
        let named = remotes.iter().flat_map(|names| names.iter().flatten().flatten()).any(is_promisor);
        let packs = std::fs::read_dir(self.repo.commondir().join("objects/pack")).into_iter().flatten().flatten();
        named || packs.into_iter().any(|entry| entry.path().extension().is_some_and(|kind| kind == "promisor"))
    }

    /// Checks the size of an object before it is read.
    ///
    /// # Errors
    /// Fails with 413 if it is larger than `max` bytes.
    pub fn check_size(&self, id: Oid, max: usize) -> Result<(), Rejection> {
        let (size, _) = self.header(id)?;
        if size > max { Err(Rejection::too_large(&format!("the object {id} has {size} bytes"))) } else { Ok(()) }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Fails with 413 if it is too large, and with [`Rejection::damaged`] if it cannot be read.
    pub(super) fn read_blob(&self, id: Oid) -> Result<Blob<'_>, Rejection> {
        self.check_size(id, MAX_BLOB_BYTES)?;
        Ok(self.repo.find_blob(id)?)
    }

    /// Reads a commit.
    ///
    /// # Errors
    /// Fails if it does not exist, or is not a commit.
    pub fn find_commit(&self, id: Oid) -> Result<Commit, Error> {
        self.raw_commit(id, |raw| Commit {
            id,
            tree_id: raw.tree,
            author: Signature::parse(raw.author, &|bytes| raw.decode(bytes)),
            committer: Signature::parse(raw.committer, &|bytes| raw.decode(bytes)),
            message: raw.decode(raw.message),
            parents: raw.parents,
        })
    }

    /// Parses a commit and returns the result of `read`.
    pub(super) fn raw_commit<T>(&self, id: Oid, read: impl FnOnce(RawCommit<'_>) -> T) -> Result<T, Error> {
        let odb = self.repo.odb()?;
        let object = odb.read(id)?;
        self.verify(id, &object)?;
        let raw = Some(object.data()).filter(|_| object.kind() == ObjectType::Commit).and_then(RawCommit::parse);
        let mut raw = raw.ok_or_else(|| damaged(format!("{id} is not a commit")))?;
        if self.shallow.contains(&id) {
            raw.parents.clear();
        }
        Ok(read(raw))
    }

    pub fn has_commit(&self, id: Oid) -> bool {
        self.header(id).is_ok_and(|(_, kind)| kind == ObjectType::Commit)
    }

    /// Returns the committer date of a commit.
    pub fn committed_at(&self, id: Oid) -> Result<Timestamp, Error> {
        Ok(Timestamp::from_second(self.raw_commit(id, |raw| raw.seconds())?).unwrap_or_default())
    }

    pub fn tree(&self, commit: Oid) -> Result<Tree<'_>, Rejection> {
        self.folder(self.raw_commit(commit, |raw| raw.tree)?)
    }

    /// Returns the commit that an object is, or that a tag leads to; `None` for a tree or a blob.
    ///
    /// # Errors
    /// Fails if an object on the way is missing.
    pub fn peel(&self, id: Oid) -> Result<Option<Oid>, Error> {
        let (odb, mut at) = (self.repo.odb()?, id);
        for _ in 0..MAX_TAG_DEPTH {
            match self.header(at)? {
                (_, ObjectType::Commit) => return Ok(Some(at)),
                (size, ObjectType::Tag) if size <= MAX_TEXT_BYTES => {
                    let object = odb.read(at)?;
                    let target = object.data().strip_prefix(b"object ").and_then(|rest| id_of(rest.get(..40)?));
                    let Some(target) = target else { return Ok(None) };
                    at = target;
                }
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Returns the message of a tag and the date of its tagger; `None` if it is not a tag object.
    pub(super) fn annotation(&self, id: Oid) -> Result<Option<(String, Option<Time>)>, Error> {
        let odb = self.repo.odb()?;
        let object = odb.read(id)?;
        let (head, message) = split(object.data());
        let tagger = || head.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"tagger "));
        Ok((object.kind() == ObjectType::Tag).then(|| (lossy(message), tagger().map(time))))
    }

    pub(super) fn write_commit(
        &self,
        (author, committer): (&Signature, &Signature),
        message: &str,
        tree: Oid,
        parents: &[Oid],
    ) -> Result<Oid, Error> {
        let parents: String = parents.iter().map(|parent| format!("parent {parent}\n")).collect();
        let (author, committer) = (author.line(), committer.line());
        let text = format!("tree {tree}\n{parents}author {author}\ncommitter {committer}\n\n{message}");
        self.repo.odb()?.write(ObjectType::Commit, text.as_bytes())
    }

    /// Writes an annotated tag object.
    pub(super) fn write_tag(&self, name: &str, commit: Oid, by: &Signature, message: &str) -> Result<Oid, Error> {
        let text = format!("object {commit}\ntype commit\ntag {name}\ntagger {}\n\n{message}", by.line());
        self.repo.odb()?.write(ObjectType::Tag, text.as_bytes())
    }
}
