//! Reads git's commit-graph file (`objects/info/commit-graph`, or a chain of such files), which has the properties of
//! commits that walks need. Without one, only speed is lost: the same data is in the commits themselves.
//!
//! gix-commitgraph reads such files, too, but neither their corrected dates, without which walks read far more commits,
//! nor the lower layers of an incomplete chain. It maps the files into memory, so one that is truncated while it is
//! used would end the server. It would add eight crates.

use super::pack_index;
use super::refs::FileFingerprint;
use git2::Oid;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use system::files;

/// The maximum number of repositories whose files are cached.
const MAX_CACHED: usize = 8;
/// The maximum number of bytes that are read per repository; a commit takes about 60.
const MAX_BYTES: u64 = 512 << 20;
/// The maximum number of parents that a commit has in the file; git itself writes at most 16.
const MAX_PARENTS: usize = 65_536;
/// The maximum number of files in a chain.
const MAX_LAYERS: usize = 64;
/// The maximum number of alternate object folders that are searched.
const MAX_ALTERNATES: usize = 5;
/// The generation of a commit that is in no file: it may be a descendant of any other.
pub(super) const UNKNOWN: u64 = u64::MAX;
/// The value that means no parent.
const NONE: u32 = 0x7000_0000;
/// A flag with several meanings: in place of the second parent, the parents are in the edge list; in the edge list, the
/// last entry; in a date, it is in the list of overflowing dates.
const FLAG: u32 = 0x8000_0000;

/// The commit-graph of a repository.
#[derive(Debug)]
pub(super) struct CommitGraph {
    /// The layers, oldest first; a commit's parents are in its own layer or in an earlier one.
    layers: Vec<GraphLayer>,
    /// Whether generations are corrected dates, so that walks by generation and by date hardly differ.
    is_dated: bool,
}

#[derive(Debug)]
struct GraphLayer {
    /// The number of commits in earlier layers.
    start: u32,
    count: u32,
    /// For each byte, the number of commits whose ID starts with it or a smaller one.
    fanout: Vec<u8>,
    ids: Vec<u8>,
    commits: Vec<u8>,
    edges: Vec<u8>,
    dates: Vec<u8>,
    overflow_dates: Vec<u8>,
}

/// A commit as recorded in the file.
pub(super) struct GraphCommit {
    pub id: Oid,
    pub tree: Oid,
    /// The committer date, in seconds since 1970.
    pub seconds: i64,
    /// The generation, greater than that of each parent.
    pub generation: u64,
}

/// A cache entry: the fingerprints of a repository's files, and their content.
struct CacheEntry {
    objects: PathBuf,
    fingerprints: [Option<FileFingerprint>; 2],
    graph: Option<Arc<CommitGraph>>,
}

/// The most recently used repositories; the latest is last.
static CACHE: Mutex<Vec<CacheEntry>> = Mutex::new(Vec::new());

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at.checked_mul(4)?..)?.get(..4)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at.checked_mul(8)?..)?.get(..8)?;
    Some(u64::from_be_bytes(bytes.try_into().ok()?))
}

fn id(bytes: &[u8]) -> Option<Oid> {
    Oid::from_bytes(bytes.get(..20)?).ok()
}

impl CommitGraph {
    /// Returns the commit-graph of an object folder or of one of its alternates. The files are read again only when
    /// they have changed.
    pub fn of(objects: &Path) -> Option<Arc<CommitGraph>> {
        let folders = pack_index::object_folders(objects).ok()?;
        folders.iter().take(MAX_ALTERNATES).find_map(|folder| CommitGraph::load_cached(folder))
    }

    fn load_cached(objects: &Path) -> Option<Arc<CommitGraph>> {
        let names = [objects.join("info/commit-graph"), objects.join("info/commit-graphs/commit-graph-chain")];
        let fingerprints = names.each_ref().map(|name| FileFingerprint::of(&fs::metadata(name).ok()?).ok());
        if fingerprints.iter().all(Option::is_none) {
            return None;
        }
        let cache = || CACHE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = cache().iter().find(|entry| entry.objects == objects && entry.fingerprints == fingerprints)
        {
            return entry.graph.clone();
        }
        let graph = CommitGraph::read(&names).map(Arc::new);
        let mut all = cache();
        all.retain(|entry| entry.objects != objects);
        if all.len() >= MAX_CACHED {
            all.remove(0);
        }
        all.push(CacheEntry { objects: objects.to_owned(), fingerprints, graph: graph.clone() });
        graph
    }

    /// Reads the single file, or the chain if there is none.
    fn read([one, chain]: &[PathBuf; 2]) -> Option<CommitGraph> {
        let mut bytes_left = MAX_BYTES;
        if let Some(layer) = GraphLayer::read(one, 0, &mut bytes_left) {
            return Some(CommitGraph::new(vec![layer]));
        }
        let names = String::from_utf8(pack_index::read_small(chain).ok()?).ok()?;
        let mut layers: Vec<GraphLayer> = Vec::new();
        for name in names.lines() {
            let is_name = name.len() == 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
            let start = layers.last().map_or(Some(0), |last| last.start.checked_add(last.count))?;
            let file = chain.with_file_name(format!("graph-{name}.graph"));
            // The lower layers of a chain are complete without those above.
            let layer = is_name.then(|| GraphLayer::read(&file, start, &mut bytes_left)).flatten();
            let Some(layer) = layer.filter(|_| layers.len() < MAX_LAYERS) else { break };
            layers.push(layer);
        }
        (!layers.is_empty()).then(|| CommitGraph::new(layers))
    }

    fn new(layers: Vec<GraphLayer>) -> CommitGraph {
        let is_dated = layers.iter().all(|layer| layer.dates.len() / 4 == layer.count as usize);
        CommitGraph { layers, is_dated }
    }

    /// Returns the layer of a place, and the index in it.
    fn layer(&self, place: u32) -> Option<(&GraphLayer, usize)> {
        let layer = self.layers.iter().rev().find(|layer| layer.start <= place)?;
        let at = place - layer.start;
        (at < layer.count).then_some((layer, at as usize))
    }

    /// Returns the place of a commit.
    pub fn find(&self, id: Oid) -> Option<u32> {
        self.layers.iter().rev().find_map(|layer| layer.find(id.as_bytes())?.checked_add(layer.start))
    }

    pub fn commit(&self, place: u32) -> Option<GraphCommit> {
        let (layer, at) = self.layer(place)?;
        let commit = layer.commit(at)?;
        let (high, low) = (number(commit, 7)?, number(commit, 8)?);
        let seconds = (u64::from(high & 3) << 32) | u64::from(low);
        let level = u64::from(high >> 2);
        let generation = if self.is_dated { seconds.checked_add(layer.generation_offset(at)?)? } else { level };
        // Git before 2.19 wrote files without generations.
        let generation = if level == 0 { UNKNOWN } else { generation };
        Some(GraphCommit {
            id: id(layer.ids.get(at.checked_mul(20)?..)?)?,
            tree: id(commit)?,
            seconds: seconds.try_into().ok()?,
            generation,
        })
    }

    pub fn parents(&self, place: u32) -> Option<Vec<u32>> {
        let (layer, at) = self.layer(place)?;
        let commit = layer.commit(at)?;
        let (first, second) = (number(commit, 5)?, number(commit, 6)?);
        let mut parents: Vec<u32> = [first].into_iter().filter(|parent| *parent != NONE).collect();
        if second & FLAG == 0 {
            parents.extend([second].into_iter().filter(|parent| *parent != NONE));
            return Some(parents);
        }
        let mut at = (second & !FLAG) as usize;
        loop {
            let edge = number(&layer.edges, at)?;
            parents.push(edge & !FLAG);
            if parents.len() > MAX_PARENTS {
                return None;
            }
            if edge & FLAG != 0 {
                return Some(parents);
            }
            at = at.checked_add(1)?;
        }
    }
}

impl GraphLayer {
    fn read(path: &Path, start: u32, bytes_left: &mut u64) -> Option<GraphLayer> {
        let mut file = files::open_regular(path).ok()?;
        let mut head = [0; 8];
        file.read_exact(&mut head).ok()?;
        // Version 1, with 20-byte hashes.
        let [b'C', b'G', b'P', b'H', 1, 1, chunks, _] = head else { return None };
        let mut table = vec![0; (usize::from(chunks) + 1) * 12];
        file.read_exact(&mut table).ok()?;
        let entry = |at: usize| {
            let entry = table.get(at * 12..)?.get(..12)?;
            Some((entry.get(..4)?.to_vec(), u64::from_be_bytes(entry.get(4..)?.try_into().ok()?)))
        };
        // Returns the bytes of a chunk; none if it is missing.
        let mut chunk = |name: &[u8]| -> Option<Vec<u8>> {
            let Some(at) = (0..usize::from(chunks)).find(|at| entry(*at).is_some_and(|(found, _)| found == name))
            else {
                return Some(Vec::new());
            };
            let (from, to) = (entry(at)?.1, entry(at + 1)?.1);
            let size = to.checked_sub(from)?;
            *bytes_left = bytes_left.checked_sub(size)?;
            file.seek(SeekFrom::Start(from)).ok()?;
            let mut bytes = Vec::new();
            (&mut file).take(size).read_to_end(&mut bytes).ok()?;
            (bytes.len() as u64 == size).then_some(bytes)
        };
        let (fanout, ids, commits) = (chunk(b"OIDF")?, chunk(b"OIDL")?, chunk(b"CDAT")?);
        let (edges, dates, overflow_dates) = (chunk(b"EDGE")?, chunk(b"GDA2")?, chunk(b"GDO2")?);
        let count = number(&fanout, 255)?;
        start.checked_add(count)?;
        let is_complete = ids.len() / 20 == count as usize && commits.len() / 36 == count as usize;
        is_complete.then_some(GraphLayer { start, count, fanout, ids, commits, edges, dates, overflow_dates })
    }

    /// Returns the index of a commit in this layer.
    fn find(&self, id: &[u8]) -> Option<u32> {
        let first = usize::from(*id.first()?);
        let (mut low, mut high) = (0, number(&self.fanout, first)? as usize);
        if let Some(before) = first.checked_sub(1) {
            low = number(&self.fanout, before)? as usize;
        }
        while low < high {
            let middle = low + (high - low) / 2;
            match self.ids.get(middle.checked_mul(20)?..)?.get(..20)?.cmp(id) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return middle.try_into().ok(),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// Returns the record of a commit: tree, two parents, topological level and date.
    fn commit(&self, at: usize) -> Option<&[u8]> {
        self.commits.get(at.checked_mul(36)?..)?.get(..36)
    }

    /// Returns the difference between a commit's generation and its date.
    fn generation_offset(&self, at: usize) -> Option<u64> {
        match number(&self.dates, at)? {
            far if far & FLAG != 0 => long(&self.overflow_dates, (far & !FLAG) as usize),
            near => Some(near.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::tests::has_git;
    use std::process::Command;

    /// Reads all commits and their parents.
    fn read(names: &[PathBuf; 2]) -> Option<Vec<(GraphCommit, Vec<u32>)>> {
        let graph = CommitGraph::read(names)?;
        let commit = |place: u32| {
            let found = graph.commit(place)?;
            assert!(graph.find(found.id).is_none_or(|found| found < 100));
            Some((found, graph.parents(place)?))
        };
        Some((0..100).map_while(commit).collect())
    }

    #[test]
    fn damaged_files_do_not_panic() {
        if !has_git() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let git = |arguments: &[&str]| {
            let mut command = Command::new("git");
            command.current_dir(folder.path()).args(["-c", "user.name=Ada", "-c", "user.email=ada@x"]).args(arguments);
            let done = command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
            assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
            String::from_utf8(done.stdout).unwrap().trim().to_owned()
        };
        git(&["init", "-q", "--bare"]);
        let tree = git(&["hash-object", "-w", "-t", "tree", "/dev/null"]);
        let mut all: Vec<String> = Vec::new();
        for n in 0..8 {
            // The last commit has six parents.
            let parents = if n == 7 { all.get(1..).unwrap() } else { all.get(..n.min(1)).unwrap() };
            let parents: Vec<&str> = parents.iter().flat_map(|parent| ["-p", parent]).collect();
            let message = n.to_string();
            all.push(git(&[&["commit-tree", "-m", &message], parents.as_slice(), &[&tree]].concat()));
        }
        git(&["update-ref", "refs/heads/main", all.last().unwrap()]);
        git(&["commit-graph", "write", "--reachable"]);
        let info = folder.path().join("objects/info");
        let names = [info.join("commit-graph"), info.join("nothing")];
        let whole = read(&names).unwrap();
        assert_eq!((whole.len(), whole.iter().map(|(_, parents)| parents.len()).max()), (8, Some(6)));
        for (commit, parents) in &whole {
            assert!(commit.tree.to_string() == tree && commit.seconds > 1_700_000_000);
            assert!(parents.iter().all(|parent| whole[*parent as usize].0.generation < commit.generation));
        }

        let bytes = fs::read(&names[0]).unwrap();
        let place = info.join("damaged");
        let damaged = [place.clone(), info.join("nothing")];
        for at in 0..bytes.len() {
            fs::write(&place, &bytes[..at]).unwrap();
            read(&damaged);
            for bits in [0xff, 0x80, 1] {
                let mut bytes = bytes.clone();
                bytes[at] ^= bits;
                fs::write(&place, bytes).unwrap();
                read(&damaged);
            }
        }
    }
}
