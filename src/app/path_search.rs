//! The search for files by path in a whole tree. It ranks in the background while the tree is still loading.

use super::overlay::picker::letters_of;
use super::view::View;
use api::repository::{EntryKind, ListTree, TreeEntry};
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher};
use std::cmp::Reverse;
use std::sync::Arc;
use store::{Canceled, Cut, Derive, Load, Rows, Value, Want, Work};
use ui::{glyph, text};

/// The maximum number of pages of the tree that are loaded: a million entries.
pub const MAX_PAGES: u32 = 10_000;
/// The maximum number of pages of the tree that are loaded between two actions of the user.
const MAX_UNASKED_PAGES: u32 = 500;
/// The maximum size of the loaded files in bytes, see [`weight`].
const MAX_BYTES: usize = 192 << 20;
/// The number of pages requested concurrently. A large tree has a thousand of them.
pub const CONCURRENT_PAGES: u32 = 6;
/// The maximum number of matches that are shown.
const MAX_MATCHES: usize = 500;
/// The maximum number of scored files in memory, of which there may be a million.
const MAX_SCORED: usize = 16 * MAX_MATCHES;
/// The score bonus of a recently opened file.
const RECENT_BONUS: u32 = 60;
/// The number of paths between two checks whether the ranking was canceled.
const CANCEL_CHECK_INTERVAL: usize = 4096;

/// The files of a page of the tree. Their texts are together in one allocation, because there may be a million files.
#[derive(Default)]
pub struct Files {
    /// The SHA and the path of each file, without a separator.
    text: Box<str>,
    /// The ends of the SHA and of the path of each file.
    ends: Box<[(u32, u32)]>,
}

impl From<Vec<TreeEntry>> for Files {
    fn from(entries: Vec<TreeEntry>) -> Files {
        let (mut text, mut ends) = (String::new(), Vec::new());
        for entry in entries.iter().filter(|entry| entry.r#type == EntryKind::Blob) {
            text.push_str(&entry.id);
            let sha = text.len();
            text.push_str(&entry.path);
            // A reply is far smaller than 4 GB.
            ends.extend(u32::try_from(sha).ok().zip(u32::try_from(text.len()).ok()));
        }
        Files { text: text.into(), ends: ends.into() }
    }
}

impl Files {
    /// Iterates over the SHAs and paths.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(_, path)| *path));
        let text = |from: u32, to: u32| self.text.get(from as usize..to as usize).unwrap_or_default();
        starts.zip(&self.ends).map(move |(start, (sha, path))| (text(start, *sha), text(*sha, *path)))
    }

    /// Returns the size in memory in bytes.
    fn size(&self) -> usize {
        size_of::<Files>() + self.text.len() + size_of_val(&*self.ends)
    }
}

/// Returns the size in memory of a page of the tree, in bytes.
fn weight(page: &Value) -> usize {
    let files = page.downcast_ref::<Vec<Files>>().map_or(0, |pages| pages.iter().map(Files::size).sum());
    files + PAGE_BYTES
}

/// The size in memory of a page besides its files, in bytes.
const PAGE_BYTES: usize = 256;

/// A matching file.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchingFile {
    pub path: String,
    pub sha: String,
    /// The indices of the matched characters.
    pub letters: Vec<u32>,
    /// Whether the file was opened recently.
    pub recent: bool,
}

/// The result of a ranking.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranked {
    pub best: Vec<MatchingFile>,
    /// The number of matching files.
    pub matched: usize,
    /// The number of all files.
    pub files: usize,
}

/// Returns the request for the files of a whole tree, up to `pages` pages.
pub fn tree(listing: &ListTree, pages: u32) -> Load {
    let load = Load::compact::<Files, _, _>(listing, pages, MAX_BYTES, weight).concurrency(CONCURRENT_PAGES);
    Load { max_unasked_pages: MAX_UNASKED_PAGES, ..load }
}

/// Ranks the files of a tree.
pub struct Rank {
    /// Identifies the loaded part of the tree.
    pub within: String,
    pub pages: Vec<Arc<Vec<Files>>>,
    /// The recently opened paths, newest first.
    pub recent: Arc<Vec<String>>,
    pub query: String,
}

/// A matching file with its rank: the score, the length of the path, the position in the tree, and the SHA and path.
type Scored<'a> = (Reverse<u32>, usize, usize, (&'a str, &'a str));

fn order((score, len, position, _): &Scored) -> (Reverse<u32>, usize, usize) {
    (*score, *len, *position)
}

/// Drops all but the best.
fn keep_best(scored: &mut Vec<Scored>) {
    if scored.len() > MAX_MATCHES {
        scored.select_nth_unstable_by_key(MAX_MATCHES, order);
        scored.truncate(MAX_MATCHES);
    }
}

impl Derive for Rank {
    type Output = Ranked;

    fn key(&self) -> String {
        rank_key(&self.within, &self.query)
    }

    fn weight(&self, ranked: &Ranked) -> usize {
        let size = |hit: &MatchingFile| {
            size_of::<MatchingFile>() + hit.path.len() + hit.sha.len() + size_of_val(&*hit.letters)
        };
        size_of::<Ranked>() + ranked.best.iter().map(size).sum::<usize>()
    }

    fn run(&self, canceled: Canceled<'_>) -> Ranked {
        let entries = || self.pages.iter().flat_map(|page| page.iter()).flat_map(Files::iter);
        let recent = |path: &str| self.recent.iter().position(|r| r == path);
        let hit = |(sha, path): (&str, &str), letters: Vec<u32>| MatchingFile {
            path: path.to_owned(),
            sha: sha.to_owned(),
            letters,
            recent: recent(path).is_some(),
        };
        let query = self.query.trim();
        if query.is_empty() {
            let files = entries().count();
            let mut first: Vec<(&str, &str)> = entries().filter(|(_, path)| recent(path).is_some()).collect();
            first.sort_by_key(|(_, path)| recent(path));
            let rest = entries().filter(|(_, path)| recent(path).is_none());
            let best = first.into_iter().chain(rest).take(MAX_MATCHES).map(|e| hit(e, Vec::new())).collect();
            return Ranked { best, matched: files, files };
        }
        let pattern = Pattern::parse(query, CaseMatching::Smart, Normalization::Smart);
        let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
        let mut buffer = Vec::new();
        let mut scored: Vec<Scored> = Vec::new();
        let (mut files, mut matched) = (0, 0);
        for entry in entries() {
            files += 1;
            if files % CANCEL_CHECK_INTERVAL == 0 && canceled() {
                return Ranked::default();
            }
            if let Some(score) = pattern.score(letters_of(entry.1, &mut buffer), &mut matcher) {
                let bonus = if recent(entry.1).is_some() { RECENT_BONUS } else { 0 };
                // A whole path comes first, whatever else its letters match.
                let score = if entry.1 == query { u32::MAX } else { score + bonus };
                scored.push((Reverse(score), entry.1.len(), files, entry));
                matched += 1;
                if scored.len() >= MAX_SCORED {
                    keep_best(&mut scored);
                }
            }
        }
        keep_best(&mut scored);
        scored.sort_unstable_by_key(order);
        let best = scored.into_iter().map(|(_, _, _, entry)| {
            let mut letters = Vec::new();
            pattern.indices(letters_of(entry.1, &mut buffer), &mut matcher, &mut letters);
            letters.sort_unstable();
            letters.dedup();
            hit(entry, letters)
        });
        Ranked { best: best.collect(), matched, files }
    }
}

/// Returns the key of a ranking.
fn rank_key(within: &str, query: &str) -> String {
    format!("rank {query} in {within}")
}

/// A search for files by path, while its text is being typed.
pub struct PathSearch {
    listing: ListTree,
    recent: Arc<Vec<String>>,
    pages: u32,
    /// The ranking in progress: the key of its tree, and the query. It is not restarted when a page arrives, because
    /// pages arrive faster than a ranking finishes.
    pending: Option<(String, String)>,
    ranked: Ranked,
    /// The query that the last ranking belongs to.
    ranked_for: String,
}

impl PathSearch {
    /// Creates a search in the tree of `listing`; the paths in `recent`, newest first, rank first.
    pub fn new(listing: ListTree, recent: Vec<String>) -> PathSearch {
        PathSearch {
            listing: ListTree { recursive: Some(true), ..listing },
            recent: Arc::new(recent),
            pages: 1,
            pending: None,
            ranked: Ranked::default(),
            ranked_for: String::new(),
        }
    }

    fn load(&self) -> Load {
        tree(&self.listing, self.pages)
    }

    /// Returns the files of the tree that are loaded so far.
    pub fn rows<'a>(&self, view: &View<'a>) -> Rows<'a, Files> {
        view.store.rows_of(&self.load().request)
    }

    /// Returns the last ranking: of the query, or of an earlier one while that is being ranked.
    pub fn ranked(&self) -> &Ranked {
        &self.ranked
    }

    /// Returns whether the last ranking is that of the query.
    pub fn is_ranked_for(&self, query: &str) -> bool {
        self.ranked_for == query
    }

    /// Takes a finished ranking, starts the next one, and requests more pages of the tree. Returns whether there is a new
    /// ranking.
    pub fn update(&mut self, view: &View, query: &str) -> bool {
        let rows = self.rows(view);
        if rows.has_next(MAX_PAGES) {
            self.pages = self.pages.max(rows.pages() + CONCURRENT_PAGES).min(MAX_PAGES);
        }
        let (mut is_ready, mut is_new) = (true, false);
        if let Some((within, pending)) = &self.pending {
            match view.store.result::<Ranked>(&rank_key(within, pending)) {
                Some(ranked) => {
                    is_new = self.ranked_for != *pending || self.ranked != *ranked;
                    self.ranked = ranked.clone();
                    self.ranked_for.clone_from(pending);
                }
                None => is_ready = pending != query,
            }
        }
        if is_ready && rows.is_loaded {
            let recent = self.recent.first().map(String::as_str).unwrap_or_default();
            let within = format!("{:?} {} after {recent}", self.listing, rows.revision);
            self.pending = Some((within, query.to_owned()));
        }
        is_new
    }

    /// Returns the data that the search needs: the tree, and its ranking.
    pub fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants: Vec<Want> = vec![self.load().into()];
        if let Some((within, query)) = &self.pending {
            let (within, query) = (within.clone(), query.clone());
            let pages = self.rows(view).shared();
            wants.push(Work::new(Rank { within, pages, recent: self.recent.clone(), query }).into());
        }
        wants
    }

    /// Returns how many files of the tree were read, in words, while others are missing.
    pub fn progress(&self, view: &View) -> Option<String> {
        let (rows, files) = (self.rows(view), self.ranked.files as u64);
        if let Some(why) = cut_words(&rows) {
            return Some(format!("{}+ files: {why}", text::count(files)));
        }
        let is_loading = rows.error.is_none() && (rows.has_next(MAX_PAGES) || !rows.is_loaded);
        is_loading.then(|| format!("{} read so far", text::count_noun(files, "file")))
    }

    /// Returns the number of matches and files in words, and whether the tree is incomplete.
    pub fn count(&self, view: &View, query: &str) -> String {
        let rows = self.rows(view);
        let (matched, files) = (text::count(self.ranked.matched as u64), text::count(self.ranked.files as u64));
        let of =
            |files: &str| if query.is_empty() { format!("{files} files") } else { format!("{matched} of {files}") };
        match cut_words(&rows) {
            Some(why) => format!("{}: {why}", of(&format!("{files}+"))),
            None if rows.error.is_none() && (rows.has_more || !rows.is_loaded) => {
                format!("{}{}the tree is still loading", of(&files), glyph::separator())
            }
            None => of(&files),
        }
    }
}

/// Returns why the end of the tree is missing, and what to do, in words.
fn cut_words(rows: &Rows<Files>) -> Option<&'static str> {
    let why = match rows.cut {
        Some(Cut::Paused) => "a key reads more, :PATH opens any",
        Some(Cut::Repeats) => "the server repeats pages, :PATH opens any",
        Some(Cut::Size) | None => "the tree is too large, :PATH opens any",
    };
    (rows.is_loaded && rows.is_cut(MAX_PAGES)).then_some(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(paths: &[&str], recent: &[&str], query: &str) -> Ranked {
        let entry = |path: &&str| TreeEntry { path: (*path).into(), r#type: EntryKind::Blob, ..TreeEntry::default() };
        let mut entries: Vec<TreeEntry> = paths.iter().map(entry).collect();
        entries.push(TreeEntry { path: "src".into(), r#type: EntryKind::Tree, ..TreeEntry::default() });
        let recent = Arc::new(recent.iter().map(|p| (*p).to_owned()).collect());
        Rank { within: "t".into(), pages: vec![Arc::new(vec![Files::from(entries)])], recent, query: query.into() }
            .run(&|| false)
    }

    fn paths(ranked: &Ranked) -> Vec<&str> {
        ranked.best.iter().map(|hit| hit.path.as_str()).collect()
    }

    #[test]
    fn the_best_match_comes_first_and_folders_are_skipped() {
        let all = ["docs/server.md", "src/main.rs", "src/render/frame.rs", "src/ui/frame_rate.rs"];
        let ranked = rank(&all, &[], "frame");
        assert_eq!(paths(&ranked), ["src/render/frame.rs", "src/ui/frame_rate.rs"]);
        assert_eq!((ranked.matched, ranked.files), (2, 4));
        assert_eq!(rank(&all, &[], "src").matched, 3);
        assert_eq!(rank(&all, &[], "zzz").matched, 0);
    }

    #[test]
    fn a_million_files_fit_in_memory() {
        let entry = |n: usize| TreeEntry {
            id: format!("{n:040x}"),
            name: format!("file_{n}.rs"),
            path: format!("a/folder/of/the/repository/with/a/long/name/file_{n}.rs"),
            r#type: EntryKind::Blob,
            mode: "100644".into(),
            last_commit: None,
        };
        let files = Files::from((0..100).map(entry).collect::<Vec<_>>());
        assert_eq!(files.iter().last(), Some((entry(99).id.as_str(), entry(99).path.as_str())));
        let page: Value = Arc::new(vec![files]);
        assert!(weight(&page) * MAX_PAGES as usize <= MAX_BYTES, "{}", weight(&page));
    }

    #[test]
    fn a_whole_path_ranks_first() {
        let all = ["a/src/x.rs", "src/x.rs", "src/x.rs.orig"];
        assert_eq!(paths(&rank(&all, &["a/src/x.rs"], "src/x.rs"))[0], "src/x.rs");
    }

    #[test]
    fn recent_files_rank_first() {
        let all = ["a/mod.rs", "b/mod.rs", "c/mod.rs"];
        assert_eq!(paths(&rank(&all, &["c/mod.rs", "b/mod.rs"], "")), ["c/mod.rs", "b/mod.rs", "a/mod.rs"]);
        assert_eq!(paths(&rank(&all, &["c/mod.rs"], "mod"))[0], "c/mod.rs");
    }
}
