//! The layout of threads and drafts as rows of a diff, computed off the event loop: comments are rendered once, and
//! laid out again whenever the drafts or the changes are updated.

use super::suggestions;
use super::thread_frame::{self, COLUMNS, CommentRows, ThreadState};
use super::threads::{self, ChangedPaths, CommitComments, DiffThread, ThreadComment, ThreadPosition};
use crate::api::notes::Note;
use crate::app::clone::CloneFolder;
use crate::app::outbox::{DiffPosition, Draft, DraftThread};
use crate::app::view::View;
use crate::parts::review::drafts::DraftId;
use crate::parts::text::{dates, rendered_markdown};
use crate::store::{Canceled, Derive, Want, Work};
use crate::ui::code::Budget;
use crate::ui::diff::{At, FileDiff, Inset, Kind};
use crate::ui::doc::DocLine;
use crate::ui::line::Line;
use crate::ui::markdown::{self, TextImage};
use crate::ui::theme::{Role, Theme};
use crate::ui::{glyph, text};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// The maximum width of text, in columns: longer lines are hard to read.
const MAX_WIDTH: usize = 100;
/// The maximum number of rows of a comment; the overview shows all of it.
const MAX_ROWS: usize = 60;
/// The maximum number of bytes of a comment that are rendered.
const MAX_COMMENT_BYTES: usize = 16 * 1024;

/// The display state of the threads beyond their text.
#[derive(Clone, Default)]
pub struct DisplayState {
    /// The keys of the open folds.
    pub open: BTreeSet<String>,
    /// The reactions to notes, as far as they are loaded.
    pub reactions: BTreeMap<u64, Line<'static>>,
    /// The comments with images, as far as these are loaded, by the identity of their texts.
    pub illustrations: BTreeMap<String, Illustration>,
}

/// The threads with their rendered comments.
pub struct RenderedThreads {
    pub threads: Vec<DiffThread>,
    bodies: Vec<Vec<RenderedComment>>,
}

/// The rendered text of a comment.
#[derive(Default)]
pub struct RenderedComment {
    pub plain: ShownLines,
    /// The images of the text, if it has any.
    pub images: Option<TextWithImages>,
}

/// A text that has images.
pub struct TextWithImages {
    /// The identity of the text.
    pub identity: String,
    pub text: String,
    /// Whether only the start of the comment is rendered.
    pub is_head: bool,
    /// The text rendered without its images.
    pub plain: markdown::Rendered,
}

/// A comment rendered with its images.
#[derive(Clone)]
pub struct Illustration {
    /// The name of the rendering, which changes with the images.
    pub version: String,
    pub shown: ShownLines,
}

/// The lines of a comment that are shown in a diff.
#[derive(Clone, Default)]
pub struct ShownLines {
    lines: Arc<Vec<DocLine<'static>>>,
    /// The number of lines of the text; a line below it may say that there is more.
    pub of_text: usize,
}

impl ShownLines {
    /// Takes the first lines of a rendering, which cut no image; `is_head` if the comment is longer than what is
    /// rendered.
    pub fn new(rendered: &markdown::Rendered, is_head: bool, theme: &Theme) -> ShownLines {
        let is_cut = |image: &&TextImage| image.line < MAX_ROWS && image.line + usize::from(image.rows) > MAX_ROWS;
        let end = rendered.images.iter().find(is_cut).map_or(MAX_ROWS, |image| image.line);
        let mut lines = rendered.lines.get(..end).unwrap_or(&rendered.lines).to_vec();
        let of_text = lines.len();
        if is_head || of_text < rendered.lines.len() {
            let words = format!("{} more on the Overview tab", glyph::ellipsis());
            lines.push(DocLine::new(words, theme.style(Role::Dim)));
        }
        ShownLines { lines: Arc::new(lines), of_text }
    }
}

impl DisplayState {
    /// Returns the shown lines of a comment, with its images if they are there.
    fn lines<'a>(&'a self, body: &'a RenderedComment) -> &'a ShownLines {
        let images = body.images.as_ref().and_then(|images| self.illustrations.get(&images.identity));
        images.map_or(&body.plain, |images| &images.shown)
    }
}

/// Returns the width of the text of comments in rows of `width` columns.
pub fn text_width(width: usize) -> usize {
    width.saturating_sub(COLUMNS).min(MAX_WIDTH)
}

impl RenderedThreads {
    /// Returns the rendered text of a comment, by the index of its thread and its index in it.
    pub fn body(&self, thread: usize, comment: usize) -> Option<&RenderedComment> {
        self.bodies.get(thread)?.get(comment)
    }
}

/// A computation that collects and renders the comments with a position.
struct RenderComments {
    key: String,
    notes: Vec<Arc<Vec<Note>>>,
    comments: Vec<CommitComments>,
    width: usize,
    theme: Theme,
}

impl Derive for RenderComments {
    type Output = Arc<RenderedThreads>;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn run(&self, canceled: Canceled<'_>) -> Arc<RenderedThreads> {
        self.render(&Budget::new(canceled), canceled)
    }

    fn preview(&self) -> Option<Arc<RenderedThreads>> {
        let notes = self.notes.iter().flat_map(|page| page.iter()).map(|note| note.body.as_str());
        let comments = self.comments.iter().flat_map(|(_, pages)| pages).flat_map(|page| page.iter());
        let has_code = notes.chain(comments.map(|comment| comment.note.as_str())).any(markdown::has_code);
        has_code.then(|| self.render(&Budget::none(), &|| false))
    }
}

impl RenderComments {
    fn render(&self, colors: &Budget, canceled: Canceled<'_>) -> Arc<RenderedThreads> {
        let threads = threads::group_comments(&self.notes, &self.comments);
        let width = text_width(self.width);
        let body = |thread: &DiffThread, comment: &ThreadComment| {
            if canceled() {
                return RenderedComment::default();
            }
            let head = text::head_bytes(&comment.body, MAX_COMMENT_BYTES);
            let is_head = head.len() < comment.body.len();
            let text = suggestions::with_replaced_lines(head, &comment.suggestions, &thread.position.quote);
            let plain = markdown::render(&text, width, &self.theme, colors);
            let shown = ShownLines::new(&plain, is_head, &self.theme);
            let images = (!plain.images.is_empty()).then(|| {
                let identity = format!("comment in a diff, {}", rendered_markdown::identity(&text));
                TextWithImages { identity, text: text.into_owned(), is_head, plain }
            });
            RenderedComment { plain: shown, images }
        };
        let bodies = |thread: &DiffThread| thread.comments.iter().map(|comment| body(thread, comment)).collect();
        let bodies = threads.iter().map(bodies).collect();
        Arc::new(RenderedThreads { threads, bodies })
    }
}

/// A draft for the layout: its identity, content and state.
#[derive(Clone)]
pub struct LaidOutDraft {
    pub id: DraftId,
    pub draft: Draft,
    pub state: (String, Role),
}

/// The comment or draft that a row of an inset belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InsetPart {
    /// A comment, by the index of its thread and its index in it.
    Comment(usize, usize),
    /// A draft, by its key.
    Draft(DraftId),
}

/// The rows for the diff, and the comments and drafts they belong to.
#[derive(Default)]
pub struct ThreadLayout {
    pub insets: Vec<Inset>,
    /// The first row of each part, by the key of the inset.
    parts: HashMap<String, Vec<(usize, InsetPart)>>,
    /// The keys of the insets that can be folded.
    pub folds: BTreeSet<String>,
    /// The keys of the insets with unresolved threads.
    pub unresolved: BTreeSet<String>,
    /// The keys of the user's unresolved threads whose lines changed since the review that the changes follow.
    pub changed_since: BTreeSet<String>,
    /// Whether any thread can be resolved.
    pub has_resolvable: bool,
    /// The drafts whose lines have moved, by key.
    pub moved: Vec<(DraftId, DiffPosition)>,
    /// The keys of the drafts whose lines no longer exist.
    pub orphaned: HashSet<DraftId>,
    /// Whether a thread on the server is on an older version of the changes.
    pub has_outdated: bool,
    /// The comments with images, by the key of the inset.
    pub with_images: HashMap<String, Vec<CommentWithImages>>,
    /// The comments that are laid out with their images, by the identity of their texts.
    pub illustrations: BTreeMap<String, Illustration>,
}

/// A laid out comment that has images.
pub struct CommentWithImages {
    /// The index of the thread, and the index of the comment in it.
    pub thread: usize,
    pub comment: usize,
    /// The row of the inset where the text starts.
    pub first_row: usize,
}

impl ThreadLayout {
    /// Returns the comment or draft that a row of an inset belongs to.
    pub fn part(&self, inset: &str, row: usize) -> Option<&InsetPart> {
        let parts = self.parts.get(inset)?;
        let at = parts.partition_point(|(first, _)| *first <= row).checked_sub(1)?;
        parts.get(at).map(|(_, part)| part)
    }

    /// Returns the comments and drafts that an inset contains.
    pub fn parts(&self, inset: &str) -> impl Iterator<Item = &InsetPart> {
        self.parts.get(inset).into_iter().flatten().map(|(_, part)| part)
    }
}

/// A computation that lays out threads and drafts on the changes.
struct ThreadLayoutWork {
    key: String,
    rendered: Arc<RenderedThreads>,
    drafts: Vec<LaidOutDraft>,
    files: Vec<Arc<FileDiff>>,
    head: String,
    current: String,
    whole: bool,
    complete: bool,
    shown: DisplayState,
    versions: Vec<(String, usize)>,
    width: usize,
    now: Timestamp,
    /// The ID of the user.
    me: Option<u64>,
    /// The clone, if the lines of threads were read in it.
    clone: Option<CloneFolder>,
}

/// The input of the layout.
pub struct LayoutInput<'a> {
    /// The identity of the notes and comments; it changes whenever they do.
    pub comments_key: &'a str,
    pub notes: &'a [Arc<Vec<Note>>],
    pub comments: &'a [CommitComments],
    pub drafts: &'a [LaidOutDraft],
    /// The identity of the changes.
    pub changes: String,
    pub files: &'a [Arc<FileDiff>],
    /// The SHA of the head of the shown changes.
    pub head: &'a str,
    /// The SHA of the head of all changes.
    pub current: &'a str,
    /// Whether the old lines are those before all of the changes.
    pub whole: bool,
    /// Whether all files are parsed, which is needed to tell which drafts have lost their lines.
    pub complete: bool,
    pub shown: &'a DisplayState,
    /// The head SHAs and the numbers of the versions, as far as they are known.
    pub versions: &'a [(String, usize)],
    pub width: usize,
}

impl LayoutInput<'_> {
    fn read_key(&self, view: &View) -> String {
        format!("threads of {} in {} columns, {}", self.comments_key, self.width, view.theme.name)
    }

    /// Returns the key of the layout.
    pub fn lay_key(&self, view: &View) -> String {
        let mut hasher = DefaultHasher::new();
        for drafted in self.drafts {
            (&drafted.id, drafted.draft.to_json(), &drafted.state.0).hash(&mut hasher);
        }
        let DisplayState { open, reactions, illustrations } = self.shown;
        (&self.changes, self.head, self.current, self.whole, self.complete).hash(&mut hasher);
        (open, self.files.len(), &self.versions, view.me().map(|me| me.id)).hash(&mut hasher);
        // The comments are laid out again when the colors of their code are there.
        view.store.is_result_missing(&self.read_key(view)).hash(&mut hasher);
        for (note, words) in
            reactions.iter().flat_map(|(note, line)| line.spans.iter().map(move |span| (note, &span.text)))
        {
            (note, words).hash(&mut hasher);
        }
        illustrations.values().for_each(|illustration| illustration.version.hash(&mut hasher));
        view.session.clone.as_ref().and_then(CloneFolder::lines).hash(&mut hasher);
        format!("{}, laid out {:016x}", self.read_key(view), hasher.finish())
    }

    /// Returns the next computation for the layout.
    pub fn wants(&self, view: &View) -> Vec<Want> {
        let (read, lay) = (self.read_key(view), self.lay_key(view));
        if self.width == 0 {
            return Vec::new();
        }
        let rendered = view.store.result::<Arc<RenderedThreads>>(&read).filter(|_| view.store.is_result_missing(&lay));
        let render = || RenderComments {
            key: read.clone(),
            notes: self.notes.to_vec(),
            comments: self.comments.to_vec(),
            width: self.width,
            theme: view.theme.clone(),
        };
        let render = view.store.is_result_missing(&read).then(|| Work::new(render()));
        let lay_out = rendered.map(|rendered| {
            Work::new(ThreadLayoutWork {
                key: lay,
                rendered: rendered.clone(),
                drafts: self.drafts.to_vec(),
                files: self.files.to_vec(),
                head: self.head.to_owned(),
                current: self.current.to_owned(),
                whole: self.whole,
                complete: self.complete,
                shown: self.shown.clone(),
                versions: self.versions.to_vec(),
                width: self.width,
                now: view.now,
                me: view.me().map(|me| me.id),
                clone: view.session.clone.clone().filter(|clone| clone.lines().is_some()),
            })
        });
        render.into_iter().chain(lay_out).map(Want::from).collect()
    }

    /// Returns the rendered comments, once they are ready.
    pub fn rendered<'a>(&self, view: &View<'a>) -> Option<&'a Arc<RenderedThreads>> {
        view.store.result(&self.read_key(view))
    }
}

impl Derive for ThreadLayoutWork {
    type Output = Arc<ThreadLayout>;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn run(&self, canceled: Canceled<'_>) -> Arc<ThreadLayout> {
        let changed_paths = ChangedPaths::new(&self.files, &self.head, &self.current, self.whole);
        let mut layout = ThreadLayout { illustrations: self.shown.illustrations.clone(), ..ThreadLayout::default() };
        let mut with_thread: BTreeSet<usize> = BTreeSet::new();
        for (index, thread) in self.rendered.threads.iter().enumerate() {
            if canceled() {
                break;
            }
            let thread_position = changed_paths.find(&thread.position);
            let Some(file) = changed_paths.file(&thread.position) else { continue };
            let own = |(_, drafted): &(usize, &LaidOutDraft)| match &drafted.draft.thread {
                Some(DraftThread::Reply { discussion, .. }) => thread.discussion.as_ref() == Some(discussion),
                Some(DraftThread::New { .. }) => false,
                None => drafted.draft.position.as_ref().is_some_and(|position| position.has_same_end(&thread.position)),
            };
            let drafts: Vec<(usize, &LaidOutDraft)> = self.drafts.iter().enumerate().filter(own).collect();
            with_thread.extend(drafts.iter().map(|(at, _)| *at));
            let drafts: Vec<&LaidOutDraft> = drafts.into_iter().map(|(_, drafted)| drafted).collect();
            self.thread(&mut layout, index, thread, (file, thread_position), &drafts);
        }
        for (index, drafted) in self.drafts.iter().enumerate() {
            let Some(position) = drafted.draft.position.as_ref() else { continue };
            let thread_position = changed_paths.find(position);
            match thread_position {
                ThreadPosition::At(At::Line(side, line))
                    if self.whole && !self.head.is_empty() && position.sha != self.head =>
                {
                    let count = position.lines.map_or(0, |(first, last)| last.saturating_sub(first));
                    let first = line.saturating_sub(count).max(1);
                    let (before, after) = changed_paths.around(&position.path, side, first, line);
                    // The numbers of removed lines are unknown, because the old file may be another one now.
                    let (sha, lines) = (self.head.clone(), Some((first, line)));
                    let moved = DiffPosition { sha, lines, removed: None, before, after, ..position.clone() };
                    layout.moved.push((drafted.id.clone(), moved));
                }
                ThreadPosition::Outdated | ThreadPosition::Gone if self.whole && self.complete => {
                    _ = layout.orphaned.insert(drafted.id.clone())
                }
                _ => {}
            }
            let at = match thread_position {
                ThreadPosition::At(at) => at,
                ThreadPosition::Hidden | ThreadPosition::Outdated => At::File,
                ThreadPosition::Gone => continue,
            };
            let Some(file) = changed_paths.file(position) else { continue };
            if !with_thread.contains(&index) {
                let frame = ThreadState::default().frame();
                let mut lines = vec![frame.top(self.draft_heading(drafted, thread_position)).into()];
                if thread_position == ThreadPosition::Outdated {
                    let code = thread_frame::quoted(position);
                    lines.extend(code.iter().map(|line| frame.code(&code, line)));
                }
                lines.extend(self.draft_body(drafted).into_iter().map(|line| frame.row(line)));
                lines.push(frame.bottom());
                let key = format!("draft {}", drafted.id);
                layout.parts.insert(key.clone(), vec![(0, InsetPart::Draft(drafted.id.clone()))]);
                layout.insets.push(Inset {
                    key,
                    file: file.key(),
                    at,
                    lines: Arc::new(lines),
                    ends_with_border: true,
                    comments: 0,
                    is_unresolved: false,
                });
            }
        }
        Arc::new(layout)
    }
}

impl ThreadLayoutWork {
    fn thread(
        &self,
        layout: &mut ThreadLayout,
        index: usize,
        thread: &DiffThread,
        (file, thread_position): (&FileDiff, ThreadPosition),
        drafts: &[&LaidOutDraft],
    ) {
        let at = if let ThreadPosition::At(at) = thread_position { at } else { At::File };
        let outdated = thread_position == ThreadPosition::Outdated;
        let position = &thread.position;
        let id = thread.discussion.as_deref().unwrap_or_default();
        let key = format!("thread {id} {} {} {:?} {}", position.path, position.old, position.lines, position.sha);
        let resolved = thread.resolved.unwrap_or_else(|| thread.comments.iter().any(|comment| comment.is_resolved));
        layout.has_outdated |= outdated && thread.discussion.is_some() && !thread.is_on_commit;
        layout.has_resolvable |= thread.resolved.is_some();
        let is_unresolved = thread.resolved == Some(false);
        if is_unresolved {
            layout.unresolved.insert(key.clone());
        }
        let author = thread.comments.first().and_then(|comment| comment.author.as_ref()).map(|author| author.id);
        let is_added = |at: At| match at {
            At::Line(side, number) => {
                file.lines.iter().any(|line| line.kind == Kind::Added && line.number(side) == Some(number))
            }
            At::File => false,
        };
        let has_changed = match thread_position {
            ThreadPosition::At(at) => is_added(at),
            ThreadPosition::Outdated => true,
            ThreadPosition::Hidden | ThreadPosition::Gone => false,
        };
        let follows_review = file.since.is_some() && !file.is_reviewed();
        let changed_since = is_unresolved && follows_review && has_changed && author.is_some() && author == self.me;
        if changed_since {
            layout.changed_since.insert(key.clone());
        }
        let state = ThreadState {
            resolved: thread.resolved.or(resolved.then_some(true)),
            resolver: thread.resolver.as_deref(),
            comments: thread.comments.len(),
        };
        let mut facts = self.facts(thread, thread_position);
        let clone = self.clone.as_ref();
        facts.extend(clone.and_then(|clone| threads::in_clone(clone, thread.discussion.as_deref(), position)));
        facts.extend(changed_since.then(|| ("changed since".to_owned(), Role::Warning)));
        let folds = outdated || resolved;
        let is_folded = folds && !self.shown.open.contains(&key) && drafts.is_empty();
        let mut parts = vec![(0, InsetPart::Comment(index, 0))];
        let mut lines = Vec::new();
        if folds {
            layout.folds.insert(key.clone());
        }
        if is_folded {
            let first = thread.comments.first();
            let author = first.and_then(|comment| comment.author.as_ref());
            let body = first.map_or("", |comment| comment.body.as_str());
            lines.push(state.folded(facts, author, body, self.width.min(MAX_WIDTH + COLUMNS)).into());
        } else {
            let frame = state.frame();
            lines.push(state.top(facts).into());
            if outdated {
                let code = thread_frame::quoted(position);
                lines.extend(code.iter().map(|line| frame.code(&code, line)));
            }
            for (at, comment) in thread.comments.iter().enumerate() {
                if at > 0 {
                    parts.push((lines.len(), InsetPart::Comment(index, at)));
                }
                let body = self.rendered.body(index, at);
                if body.is_some_and(|body| body.images.is_some()) {
                    let comment = CommentWithImages { thread: index, comment: at, first_row: lines.len() + 1 };
                    layout.with_images.entry(key.clone()).or_default().push(comment);
                }
                let body = body.map(|body| self.shown.lines(body));
                let rows = CommentRows {
                    heading: self.heading(comment),
                    is_reply: at > 0,
                    body: body.map(|body| body.lines.as_slice()).unwrap_or_default(),
                    width: self.text_width() + COLUMNS / 2,
                };
                lines.extend((0..rows.height()).map(|row| frame.row(rows.row(row))));
                let reactions = comment.note.and_then(|note| self.shown.reactions.get(&note));
                lines.extend(reactions.map(|spans| frame.row(spans.clone().into())));
            }
            for drafted in drafts {
                parts.push((lines.len(), InsetPart::Draft(drafted.id.clone())));
                let mut heading = Line::new(format!("{} ", glyph::reply()), Role::Dim);
                heading.extend(self.draft_heading(drafted, ThreadPosition::At(at)));
                lines.push(frame.row(heading.into()));
                lines.extend(self.draft_body(drafted).into_iter().map(|line| frame.row(line)));
            }
            lines.push(frame.bottom());
        }
        layout.parts.insert(key.clone(), parts);
        layout.insets.push(Inset {
            key,
            file: file.key(),
            at,
            lines: Arc::new(lines),
            ends_with_border: !is_folded,
            comments: thread.comments.len(),
            is_unresolved,
        });
    }

    /// Returns the width of the text of comments, in columns.
    fn text_width(&self) -> usize {
        text_width(self.width)
    }

    fn heading(&self, comment: &ThreadComment) -> Line<'static> {
        let when = comment.at.as_ref().and_then(crate::api::Time::instant);
        let age = when.map(|when| text::short_age(self.now.duration_since(when).as_secs()));
        let age = age.map(dates::compact_age).unwrap_or_default();
        thread_frame::heading(comment.author.as_ref(), &age, &[(comment.is_edited, "edited")])
    }

    /// Returns where a line is that is not shown: the diff of one commit does not have all lines of the diff.
    fn hidden(&self) -> &'static str {
        if self.whole { "outside the diff" } else { "not in these changes" }
    }

    /// Returns the facts about the location of a thread: the lines, unless it is only the one above.
    fn facts(&self, thread: &DiffThread, thread_position: ThreadPosition) -> Vec<(String, Role)> {
        let position = &thread.position;
        let label = || (position.label(), Role::Link);
        match (position.lines, thread.point) {
            _ if thread_position == ThreadPosition::Outdated => {
                let short = position.sha.get(..8).unwrap_or(&position.sha);
                let version = self.versions.iter().find(|(sha, _)| *sha == position.sha);
                let of = version.map_or_else(|| format!("at {short}"), |(_, number)| format!("version {number}"));
                let why = match thread.is_on_commit {
                    true => (format!("on one commit, {of}"), Role::Dim),
                    false => (format!("outdated, {of}"), Role::Warning),
                };
                vec![label(), why]
            }
            _ if thread_position == ThreadPosition::Hidden => {
                vec![label(), (self.hidden().to_owned(), Role::Dim)]
            }
            (None, Some((x, y))) => vec![(format!("the image at {x}, {y}"), Role::Dim)],
            (None, None) => vec![("the file".to_owned(), Role::Dim)],
            (Some(_), _) => range(position).map(|words| (words, Role::Dim)).into_iter().collect(),
        }
    }

    fn draft_heading(&self, drafted: &LaidOutDraft, thread_position: ThreadPosition) -> Line<'static> {
        let (words, role) = &drafted.state;
        let mut spans = Line::new(format!("{} {words}", glyph::draft()), *role);
        let Some(position) = &drafted.draft.position else { return spans };
        let label = position.label();
        let fact = match thread_position {
            ThreadPosition::Outdated if self.whole => Some((format!("{label} no longer exists"), Role::Warning)),
            ThreadPosition::Outdated => Some((format!("{label} is not in these changes"), Role::Warning)),
            ThreadPosition::Hidden => Some((format!("{label}, {}", self.hidden()), Role::Dim)),
            _ => range(position).map(|words| (words, Role::Dim)),
        };
        spans.extend(fact.map(|(words, role)| (format!("  {words}"), role)));
        spans
    }

    fn draft_body(&self, drafted: &LaidOutDraft) -> Vec<DocLine<'static>> {
        let lines = text::head_bytes(&drafted.draft.text, MAX_COMMENT_BYTES).lines();
        let wrapped = lines.flat_map(|line| text::wrap(line, self.text_width(), MAX_ROWS)).take(MAX_ROWS);
        wrapped.map(|line| DocLine::new(line, Role::Text)).collect()
    }
}

/// Returns the lines that are meant, unless it is only the one above.
fn range(position: &DiffPosition) -> Option<String> {
    let from_to = |(first, last): (u32, u32)| {
        if first < last { format!("lines {first} to {last}") } else { format!("line {last}") }
    };
    let (lines, removed) = (position.lines?, position.removed);
    let old = removed.map(|removed| format!(" and old {}", from_to(removed))).unwrap_or_default();
    (lines.0 < lines.1 || removed.is_some()).then(|| format!("{}{old}", from_to(lines)))
}
