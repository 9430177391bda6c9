//! Expands diffs: hidden lines, and diffs that the server did not send. Both need whole versions of the file, which are
//! found by path in the tree of their commit.

use super::input::{AddContext, CompareVersions, Pictures, ReadText, text_key};
use super::{Changes, Revisions};
use crate::api::Raw;
use crate::api::repository::{GetRawBlob, ListTree, TreeEntry};
use crate::app::session::DiffDefaults;
use crate::app::view::View;
use crate::store::{Load, Want, Work};
use crate::ui::code::{self, Text};
use crate::ui::diff::{At, DiffDoc, Expansion, FileDiff, ImagePair, Inset, RowContent, Side};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The number of lines that are revealed at a time, above and below.
pub(super) const EXPANDED_LINES: u32 = 20;
/// The maximum number of pages of a folder that are searched for a file.
const MAX_PAGES: u32 = 50;
/// The maximum number of hunks of a file that get more unchanged lines around them by themselves.
const MAX_HUNKS: usize = 500;

/// A request to expand a file, waiting for whole versions of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpandRequest {
    file: usize,
    what: ExpandKind,
}

#[derive(Clone, Debug, PartialEq)]
enum ExpandKind {
    Lines {
        hunk: usize,
        more: Expansion,
    },
    /// More unchanged lines around all changes, as configured.
    Context,
    /// A diff that the server omitted; of a binary file, the old and the new size.
    Whole,
}

/// The state of expansions: what is done, and what is in progress.
#[derive(Default)]
pub(super) struct Expansions {
    /// The commits that whole files are read from.
    pub revisions: Option<Revisions>,
    pub request: Option<ExpandRequest>,
    /// The error message below the diff.
    pub error: Option<String>,
    /// The number of unchanged lines around changes.
    pub context: u32,
    /// The files that got it, or cannot.
    with_context: BTreeSet<usize>,
    /// The number of times a file was replaced by an expanded version.
    pub replaced: u32,
    /// The images that are being drawn, and those that are shown.
    pictures: Option<Pictures>,
    pub shown_pictures: Vec<(Inset, Arc<ImagePair>)>,
}

impl Expansions {
    /// Starts again with other files.
    pub fn restart(&mut self) {
        self.request = None;
        self.with_context.clear();
        self.shown_pictures.clear();
    }
}

/// The state of a version of a file.
enum FileVersion {
    Wanted(Vec<Want>),
    Known(Arc<Text>),
    /// The version is binary.
    Opaque(Arc<Raw>),
    Failed(String),
}

/// Returns the lines of a file at a commit, or the next requests for them.
fn version(view: &View, revisions: &Revisions, commit: &str, path: &str) -> FileVersion {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let list = ListTree {
        id: revisions.project.clone(),
        path: Some(folder.to_owned()).filter(|folder| !folder.is_empty()),
        r#ref: Some(commit.to_owned()),
        ..ListTree::default()
    };
    let rows = view.store.list(&list);
    let Some(entry) = rows.iter().find(|entry: &&TreeEntry| entry.name == name) else {
        if let Some(error) = rows.error {
            return FileVersion::Failed(error.message());
        }
        let short = commit.get(..8).unwrap_or(commit);
        if rows.is_loaded && !rows.has_more {
            return FileVersion::Failed(format!("{path} is not in {short}"));
        }
        if rows.is_loaded && !rows.has_next(MAX_PAGES) {
            return FileVersion::Failed(format!(
                "{path} is not among the first {} of its folder in {short}",
                rows.len()
            ));
        }
        return FileVersion::Wanted(vec![Load::list(&list, rows.pages_to_end(MAX_PAGES)).into()]);
    };
    let blob = GetRawBlob { id: revisions.project.clone(), sha: entry.id.clone() };
    let reply = view.store.get(&blob);
    let key = text_key(&entry.id);
    if let Some(text) = view.store.result::<Arc<Text>>(&key) {
        return FileVersion::Known(text.clone());
    }
    match (reply.arc(), reply.error) {
        (Some(raw), _) if code::is_binary(&raw.bytes) => FileVersion::Opaque(raw),
        (Some(raw), _) if view.store.is_result_missing(&key) => FileVersion::Wanted(vec![
            Load::single(&blob).into(),
            Work::new(ReadText { sha: entry.id.clone(), raw }).into(),
        ]),
        (Some(_), _) => FileVersion::Wanted(vec![Load::single(&blob).into()]),
        (None, Some(error)) => FileVersion::Failed(error.message()),
        (None, None) => FileVersion::Wanted(vec![Load::single(&blob).into()]),
    }
}

impl Changes {
    /// Expands the lines hidden at the cursor: on a bar those of the bar, elsewhere those around the hunk, and for a
    /// diff that the server omitted, all of it. Returns `false` if nothing is hidden.
    pub fn expand(&mut self, more: Option<Expansion>) -> bool {
        let Some(doc) = &self.doc else { return false };
        let Some(place) = doc.content(self.row()) else { return false };
        let Some(file) = doc.files().get(place.file()) else { return false };
        let hidden = |hunk: usize| file.hunks.get(hunk).is_some_and(|at| at.hidden != Some(0));
        let step = match place {
            RowContent::Hunk { hunk, .. } => {
                let few =
                    file.hunks.get(hunk).and_then(|at| at.hidden).is_some_and(|hidden| hidden <= 2 * EXPANDED_LINES);
                Some((hunk, if few { Expansion::All } else { Expansion::Both(EXPANDED_LINES) }))
            }
            // In the upper half of a hunk, expand above it first; in the lower half, below it.
            RowContent::Line { hunk, line, .. } => {
                let lines = file.hunks.get(hunk).map(|at| at.lines.clone()).unwrap_or_default();
                let upper = line < lines.start + lines.len() / 2;
                let near = if upper { [hunk, hunk + 1] } else { [hunk + 1, hunk] };
                near.into_iter().find(|at| hidden(*at)).map(|at| {
                    (at, if at == hunk { Expansion::Up(EXPANDED_LINES) } else { Expansion::Down(EXPANDED_LINES) })
                })
            }
            _ => None,
        };
        let what = match step {
            _ if file.lacks_diff() => ExpandKind::Whole,
            Some((hunk, step)) if hidden(hunk) => ExpandKind::Lines { hunk, more: more.unwrap_or(step) },
            _ => return false,
        };
        self.expansions.error = None;
        self.expansions.request = Some(ExpandRequest { file: place.file(), what });
        true
    }

    /// Expands everything that the bar under the cursor hides.
    pub(super) fn expand_all(&mut self) -> bool {
        let on_bar = match self.doc.as_ref().and_then(|doc| doc.content(self.row())) {
            Some(RowContent::Hunk { .. }) => true,
            Some(RowContent::Note { file }) => {
                let file = self.doc.as_ref().and_then(|doc| doc.files().get(file));
                file.is_some_and(|file| file.lacks_diff())
            }
            _ => false,
        };
        on_bar && self.expand(Some(Expansion::All))
    }

    /// Cancels the expansion that the user requested; returns whether there was one.
    pub(super) fn cancel_expansion(&mut self) -> bool {
        let is_own = self.expansions.request.as_ref().is_some_and(|request| request.what != ExpandKind::Context);
        is_own && self.expansions.request.take().is_some()
    }

    /// Returns the versions of the file to expand: the old one if it is needed, and the new one.
    fn versions(&self, view: &View) -> Option<Vec<FileVersion>> {
        let ask = self.expansions.request.as_ref()?;
        let file = self.doc.as_ref()?.files().get(ask.file)?;
        let Some(revisions) = &self.expansions.revisions else {
            return Some(vec![FileVersion::Failed("the base commit is unknown".into())]);
        };
        let source = &file.source;
        let new = || match source.is_deleted {
            true => FileVersion::Known(Arc::default()),
            false => version(view, revisions, &revisions.new, &source.new_path),
        };
        Some(match (&ask.what, &revisions.old) {
            (ExpandKind::Lines { .. } | ExpandKind::Context, _) => vec![new()],
            (ExpandKind::Whole, _) if source.is_new => vec![FileVersion::Known(Arc::default()), new()],
            (ExpandKind::Whole, Some(old)) => vec![version(view, revisions, old, &source.old_path), new()],
            (ExpandKind::Whole, None) => vec![FileVersion::Failed("the parent commit is unknown".into())],
        })
    }

    /// Requests more unchanged lines for a visible file, if more are configured than servers send.
    fn request_context(&mut self) {
        let Some(doc) = self.doc.as_ref().filter(|_| self.added_context() > 0) else { return };
        if self.expansions.request.is_some() || self.expansions.revisions.is_none() {
            return;
        }
        let has_hidden = |file: &FileDiff| {
            let is_whole = file.source.is_new || file.source.is_deleted || file.malformed || file.is_local;
            !is_whole && file.hunks.len() <= MAX_HUNKS && file.hunks.iter().any(|hunk| hunk.hidden != Some(0))
        };
        let shown = self.visible_rows(doc).filter_map(|row| match doc.content(row)? {
            RowContent::Hunk { file, .. } => Some(file),
            _ => None,
        });
        let lacks = |file: &usize| !self.expansions.with_context.contains(file);
        let file = shown.filter(lacks).find(|at| doc.files().get(*at).is_some_and(|file| has_hidden(file)));
        if let Some(file) = file {
            self.expansions.request = Some(ExpandRequest { file, what: ExpandKind::Context });
        }
    }

    /// Returns how many more unchanged lines than servers send are configured.
    fn added_context(&self) -> u32 {
        self.expansions.context.saturating_sub(*DiffDefaults::CONTEXT.start())
    }

    fn context_key(&self, file: usize) -> String {
        let revision = self.files().get(file).map_or(0, |file| file.revision);
        format!(
            "file {file} of {} at revision {revision} with {} lines around changes",
            self.source.identity, self.expansions.context
        )
    }

    fn compared_key(&self, file: usize) -> String {
        format!("file {file} of {} compared locally", self.source.identity)
    }

    pub(super) fn expansion_wants(&self, view: &View) -> Vec<Want> {
        let mut texts = Vec::new();
        let mut wants: Vec<Want> =
            self.expansions.pictures.iter().map(|request| Work::new(request.clone()).into()).collect();
        for version in self.versions(view).into_iter().flatten() {
            match version {
                FileVersion::Wanted(more) => wants.extend(more),
                FileVersion::Known(text) => texts.push(text),
                FileVersion::Opaque(_) => {}
                FileVersion::Failed(_) => return Vec::new(),
            }
        }
        if let (Some(ExpandRequest { file, what: ExpandKind::Whole }), [old, new]) =
            (&self.expansions.request, texts.as_slice())
            && let Some(diff) = self.doc.as_ref().and_then(|doc| doc.files().get(*file))
        {
            let (key, file) = (self.compared_key(*file), diff.clone());
            wants.push(Work::new(CompareVersions { key, file, old: old.clone(), new: new.clone() }).into());
        }
        if let (Some(ExpandRequest { file, what: ExpandKind::Context }), [new]) =
            (&self.expansions.request, texts.as_slice())
            && let Some(diff) = self.files().get(*file)
        {
            let (key, file, lines) = (self.context_key(*file), diff.clone(), self.added_context());
            wants.push(Work::new(AddContext { key, file, new: new.clone(), lines }).into());
        }
        wants
    }

    /// Completes the expansion after a store update, once everything it needs is loaded.
    pub(super) fn sync_expansion(&mut self, view: &View) {
        self.finish_expansion(view);
        self.request_context();
    }

    fn finish_expansion(&mut self, view: &View) {
        let Some(versions) = self.versions(view) else { return };
        let (mut texts, mut sizes, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
        for version in versions {
            match version {
                FileVersion::Wanted(_) => return,
                FileVersion::Known(text) => {
                    sizes.push(text.bytes_len() as u64);
                    texts.push(text);
                }
                FileVersion::Opaque(raw) => {
                    sizes.push(raw.bytes.len() as u64);
                    bytes.push((sizes.len(), raw));
                }
                FileVersion::Failed(why) => {
                    self.fail_expansion(format!("cannot expand: {why}"));
                    return;
                }
            }
        }
        let Some(ask) = self.expansions.request.clone() else { return };
        let Some(file) = self.doc.as_ref().map(DiffDoc::files).unwrap_or_default().get(ask.file).cloned() else {
            return;
        };
        let opaque = sizes.len() > texts.len();
        if opaque && matches!(ask.what, ExpandKind::Lines { .. } | ExpandKind::Context) {
            return self.fail_expansion("cannot expand: binary file".into());
        }
        let expanded = match ask.what {
            ExpandKind::Whole if opaque => {
                let [before, now] = sizes.as_slice() else { return };
                let of = |at: usize| bytes.iter().find(|(side, _)| *side == at).map(|(_, raw)| raw.clone());
                let key = format!("pictures of file {} of {}", ask.file, self.source.identity);
                let (width, theme) = (self.drawn.inset_columns.get().min(160) as u16, view.theme.clone());
                self.expansions.pictures = Some(Pictures { file: ask.file, key, old: of(1), new: of(2), width, theme });
                Some((Arc::new(file.with_sizes(*before, *now)), None))
            }
            ExpandKind::Lines { hunk, more } => {
                let Some(text) = texts.first() else { return };
                file.expanded(text, hunk, more).map(|(file, down, up)| (Arc::new(file), Some((hunk, down, up))))
            }
            ExpandKind::Context => match view.store.result::<Option<Arc<FileDiff>>>(&self.context_key(ask.file)) {
                Some(added) => {
                    self.expansions.with_context.insert(ask.file);
                    added.clone().map(|file| (file, None))
                }
                None => return,
            },
            ExpandKind::Whole => match view.store.result::<Arc<FileDiff>>(&self.compared_key(ask.file)) {
                Some(expanded) => Some((expanded.clone(), None)),
                None => return,
            },
        };
        match expanded {
            Some((expanded, expansion)) => {
                self.expansions.request = None;
                self.replace_file(ask.file, expanded, expansion);
            }
            None => self.fail_expansion("the file no longer matches the diff: ‹refresh› refreshes".into()),
        }
    }

    /// Ends an expansion with an error message, unless nobody asked for it.
    fn fail_expansion(&mut self, message: String) {
        match self.expansions.request.take() {
            Some(ExpandRequest { file, what: ExpandKind::Context }) => _ = self.expansions.with_context.insert(file),
            _ => self.expansions.error = Some(message),
        }
    }

    /// Inserts both versions of an image below the heading of its file, once they are drawn.
    pub(super) fn take_pictures(&mut self, view: &View) {
        let Some(request) = &self.expansions.pictures else { return };
        let Some(drawn) = view.store.result::<Arc<ImagePair>>(&request.key) else { return };
        let file = self.doc.as_ref().and_then(|doc| doc.files().get(request.file)).map(|file| file.key());
        if let Some(file) = file.filter(|_| !drawn.lines.is_empty()) {
            let key = format!("picture {} {}", file.path, file.is_deleted);
            let (at, lines) = (At::File, drawn.lines.clone());
            let inset = Inset { key, file, at, lines, ends_with_border: false, comments: 0, is_unresolved: false };
            self.expansions.shown_pictures.push((inset, drawn.clone()));
            self.set_all_insets();
        }
        self.expansions.pictures = None;
    }

    /// Replaces a file; the cursor keeps its line and its position on the screen.
    fn replace_file(&mut self, file: usize, expanded: Arc<FileDiff>, expansion: Option<(usize, u32, u32)>) {
        let Some(doc) = &mut self.doc else { return };
        let before = self.scroll.at(doc.len());
        let place = doc.content(before);
        // Comments, and the rows of other files, are found again as they are.
        let is_kept = |place: &RowContent| place.file() != file || matches!(place, RowContent::Inset { .. });
        let kept = place.filter(is_kept);
        let number = match place.filter(|_| kept.is_none()) {
            Some(RowContent::Line { file, line, .. }) => {
                let line = doc.files().get(file).and_then(|file| file.lines.get(line));
                line.and_then(|line| Some((line.side(), line.number(line.side())?)))
            }
            // The text below the bar stays in place, because expanded lines are read from the bottom up.
            Some(RowContent::Hunk { file, hunk }) => {
                let diff = doc.files().get(file);
                let first = diff.and_then(|diff| diff.lines.get(diff.hunks.get(hunk)?.lines.start));
                first.and_then(|line| Some((Side::New, line.new()?)))
            }
            _ => None,
        };
        let on_bar = kept.is_none() && matches!(place, Some(RowContent::Hunk { .. }));
        doc.replace(file, expanded, expansion);
        self.expansions.replaced += 1;
        self.search.found = None;
        let row = match kept {
            Some(place) => doc.row(place),
            None => number.and_then(|(side, number)| doc.row_of_line(file, number, side)),
        };
        let row = row.unwrap_or(before);
        let row = row.min(doc.len().saturating_sub(1));
        if on_bar {
            // The cursor keeps its line on the screen.
            self.scroll.set_cursor(before.min(doc.len().saturating_sub(1)));
        } else {
            self.scroll.set_cursor(row);
            self.scroll.set_top((self.scroll.top() + row).saturating_sub(before));
        }
        self.selection.start = None;
        self.follow_diff();
    }
}
