//! The request of a push: the refs to update, and options. Its pack follows.

use super::packets::PacketLines;
use git2::Oid;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

/// The maximum number of refs in a push.
const MAX_REFS: usize = 20_000;
/// The maximum number of options.
const MAX_OPTIONS: usize = 100;

/// The prefix of the options for merge requests.
pub const MERGE_REQUEST: &str = "merge_request.";

/// A ref to update.
#[derive(Clone, Debug, PartialEq)]
pub struct PushedRef {
    /// The full name.
    pub name: String,
    /// The object that the client saw there; `None` if the ref did not exist.
    pub before: Option<Oid>,
    /// The new object; `None` deletes the ref.
    pub after: Option<Oid>,
}

impl PushedRef {
    pub fn branch(&self) -> Option<&str> {
        self.name.strip_prefix("refs/heads/")
    }

    pub fn tag(&self) -> Option<&str> {
        self.name.strip_prefix("refs/tags/")
    }
}

/// The request of a push, without its pack.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PushRequest {
    pub refs: Vec<PushedRef>,
    pub options: Vec<String>,
    /// Whether the client wants to know the outcome of each ref.
    pub wants_report: bool,
    /// Whether messages can be sent beside the report.
    pub has_messages: bool,
    /// Whether all refs are updated or none.
    pub is_atomic: bool,
    /// The position of the pack in the request.
    pack: u64,
}

impl PushRequest {
    /// Reads a request.
    ///
    /// # Errors
    /// Fails with the reason if it is not one that a git client sends.
    pub fn read(body: &File) -> Result<PushRequest, &'static str> {
        PushRequest::parse(BufReader::new(body))
    }

    fn parse(input: impl Read) -> Result<PushRequest, &'static str> {
        let broken = |_: io::Error| "the request breaks off, or is not one of git";
        let (mut lines, mut push) = (PacketLines::new(input), PushRequest::default());
        let mut capabilities = None;
        while let Some(line) = lines.next().map_err(broken)? {
            let (command, rest) = match line.iter().position(|byte| *byte == 0) {
                Some(end) => line.split_at(end),
                None => (line.as_slice(), &[][..]),
            };
            // The commits at which the history of the client ends: only what arrives counts.
            if command.starts_with(b"shallow ") {
                continue;
            }
            if capabilities.is_none() {
                capabilities = Some(String::from_utf8_lossy(rest).into_owned());
            }
            if push.refs.len() >= MAX_REFS {
                return Err("a push can update 20,000 refs at most; push them in several steps");
            }
            push.refs.push(pushed_ref(command).ok_or("a line of the request is not an update of a ref")?);
        }
        let capabilities = capabilities.unwrap_or_default();
        let has = |name: &str| capabilities.split(['\0', ' ']).any(|known| known == name);
        if capabilities.split(['\0', ' ']).any(|known| known.starts_with("object-format=") && known != OBJECT_FORMAT) {
            return Err("the repository has objects with SHA-1 names");
        }
        (push.wants_report, push.has_messages) = (has("report-status"), has("side-band-64k"));
        push.is_atomic = has("atomic");
        if has("push-options") {
            while let Some(option) = lines.next().map_err(broken)? {
                if push.options.len() >= MAX_OPTIONS {
                    return Err("a push can have 100 options at most");
                }
                push.options.push(String::from_utf8_lossy(&option).into_owned());
            }
        }
        push.pack = lines.taken;
        Ok(push)
    }

    /// Returns whether a pack follows the request.
    pub fn has_pack(&self) -> bool {
        self.refs.iter().any(|pushed| pushed.after.is_some())
    }

    /// Moves to the pack in the request.
    pub fn seek_pack(&self, mut body: &File) -> io::Result<()> {
        body.seek(SeekFrom::Start(self.pack)).map(drop)
    }

    /// Returns the values of an option, such as `merge_request.target=main`; that of an option without one is empty.
    /// `mr` stands for `merge_request`.
    pub fn option<'p>(&'p self, name: &str) -> impl Iterator<Item = &'p str> {
        self.options.iter().filter_map(move |option| {
            let (given, value) = option.split_once('=').unwrap_or((option, ""));
            let given = given.trim();
            let is_short =
                || given.strip_prefix("mr.").is_some_and(|key| name.strip_prefix(MERGE_REQUEST) == Some(key));
            (given == name || is_short()).then(|| value.trim())
        })
    }
}

/// The names of objects in repositories of this server.
pub const OBJECT_FORMAT: &str = "object-format=sha1";

/// Parses a line: the hash before, the hash after, and the name.
fn pushed_ref(line: &[u8]) -> Option<PushedRef> {
    let line = std::str::from_utf8(line).ok()?;
    let (before, rest) = line.split_once(' ')?;
    let (after, name) = rest.split_once(' ')?;
    let id = |text: &str| {
        Oid::from_str(text).ok().filter(|_| text.len() == 40).map(|id| Some(id).filter(|id| !id.is_zero()))
    };
    Some(PushedRef { name: name.to_owned(), before: id(before)?, after: id(after)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(lines: &[&str]) -> Result<PushRequest, &'static str> {
        let lines = lines.iter().map(|line| match *line {
            "" => "0000".to_owned(),
            line => format!("{:04x}{line}", line.len() + 4),
        });
        PushRequest::parse((lines.collect::<String>() + "PACK").as_bytes())
    }

    #[test]
    fn requests_of_git_are_read_and_others_are_refused() {
        let (zero, id) = ("0".repeat(40), "ab".repeat(20));
        let first = format!("{zero} {id} refs/heads/a\0 report-status side-band-64k push-options object-format=sha1");
        let second = format!("{id} {zero} refs/tags/b\n");
        let shallow = format!("shallow {id}");
        let (first, second) = (first.as_str(), second.as_str());
        let push = parse(&[&shallow, first, second, "", "ci.skip", "a.b=c=d", "mr.title = T", ""]).unwrap();
        let id_of = |text: &str| Some(Oid::from_str(text).unwrap());
        let [a, b] = &push.refs[..] else { panic!("{push:?}") };
        assert_eq!((a.branch(), a.before, a.after), (Some("a"), None, id_of(&id)));
        assert_eq!((b.tag(), b.before, b.after), (Some("b"), id_of(&id), None));
        assert!(push.wants_report && push.has_messages && !push.is_atomic && push.has_pack());
        assert_eq!((push.option("ci.skip").collect::<Vec<_>>(), push.option("a.b").next()), (vec![""], Some("c=d")));
        assert_eq!(push.option("merge_request.title").collect::<Vec<_>>(), ["T"]);
        assert_eq!(parse(&[""]).unwrap(), PushRequest { pack: 4, ..PushRequest::default() });
        let format = format!("{zero} {id} refs/heads/a\0object-format=sha256");
        let short = format!("{zero} {id}");
        for broken in [&["x"][..], &[first], &[&format, ""], &[&short, ""], &["a b c", ""]] {
            assert!(parse(broken).is_err(), "{broken:?}");
        }
        let many: Vec<&str> = std::iter::repeat_n(second, MAX_REFS + 1).chain([""]).collect();
        assert!(parse(&many).unwrap_err().contains("20,000"));
    }
}
