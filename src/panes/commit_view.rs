//! One commit with what it changed: shown whole in its own place, and beside the list of commits.

use super::changes::{Changes, Entries, Input};
use super::list::age;
use super::project;
use crate::api::commits::{
    Commit, CommitRef, CommitStatus, DiffEntry, GetCommit, GetCommitDiff, ListCommitRefs, ListCommitStatuses,
};
use crate::api::{Endpoint, Id, Known, Time};
use crate::app::pane::View;
use crate::app::place::Place;
use crate::store::{Load, Remote, Rows, Want};
use crate::ui::theme::Role;
use crate::ui::{glyph, line, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;
use std::time::Duration;

/// Pages of changed files that are asked for: more files than a person reads.
const PAGES: u32 = 20;

/// A commit: by a hash, a branch or a tag.
pub struct CommitView {
    pub project: Id,
    pub sha: String,
    pub changes: Changes,
    /// The files of all pages, and what they were made from.
    files: Option<(u64, Arc<Vec<DiffEntry>>)>,
    /// Waits until the selection rests.
    delay: Duration,
}

/// Pieces of a line with their roles.
pub type Pieces = Vec<(String, Role)>;

impl CommitView {
    /// Nothing of it is asked for yet.
    pub fn new(project: &Id, sha: &str, delay: Duration) -> CommitView {
        CommitView { project: project.clone(), sha: sha.to_owned(), changes: Changes::default(), files: None, delay }
    }

    fn query(&self) -> GetCommit {
        GetCommit { id: self.project.clone(), sha: self.sha.clone(), stats: None }
    }

    fn diff(&self) -> GetCommitDiff {
        GetCommitDiff { id: self.project.clone(), sha: self.sha.clone() }
    }

    fn diff_rows<'a>(&self, view: &View<'a>) -> Rows<'a, DiffEntry> {
        view.store.list(&self.diff())
    }

    /// Branches and tags that hold it.
    pub fn refs_query(&self) -> ListCommitRefs {
        ListCommitRefs { id: self.project.clone(), sha: self.sha.clone(), r#type: None }
    }

    /// What machines said of it.
    pub fn statuses_query(&self) -> ListCommitStatuses {
        ListCommitStatuses { id: self.project.clone(), sha: self.sha.clone(), ..ListCommitStatuses::default() }
    }

    /// The commit, as far as it is known.
    pub fn commit<'a>(&self, view: &View<'a>) -> Remote<'a, Commit> {
        view.store.get(&self.query())
    }

    /// The commit and its diff.
    pub fn wants(&self, view: &View) -> Vec<Want> {
        let pages = (self.diff_rows(view).pages() + 1).min(PAGES);
        let mut wants = vec![
            Load::one(&self.query()).after(self.delay).into(),
            Load::list(&self.diff(), pages).after(self.delay).into(),
        ];
        wants.extend(self.changes.wants(view, self.input().as_ref()));
        wants
    }

    /// The changed files under a name that is another one when they are.
    pub fn input(&self) -> Option<Input> {
        let (revision, files) = self.files.as_ref()?;
        let identity = format!("{} {revision}", self.diff().request().line());
        Some(Input { identity, entries: Entries::List(files.clone()) })
    }

    /// After an update: gathers the pages, and lets the changes take what was worked out.
    pub fn sync(&mut self, view: &View) {
        let rows = self.diff_rows(view);
        if rows.known && self.files.as_ref().is_none_or(|(revision, _)| *revision != rows.revision) {
            self.files = Some((rows.revision, Arc::new(rows.iter().cloned().collect())));
        }
        let input = self.input();
        self.changes.sync(view, input.as_ref());
    }

    /// Draws what was changed.
    pub fn draw_changes(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let error = self.diff_rows(view).error;
        self.changes.draw(view, area, buf, self.input().as_ref(), error);
    }

    /// Draws title, author and some of the message; gives what is left for the changes.
    pub fn draw_head(&self, view: &View, area: Rect, buf: &mut Buffer, body: usize) -> Rect {
        let Some(commit) = self.commit(view).value else {
            return Rect { y: area.y + area.height.min(2), height: area.height.saturating_sub(2), ..area };
        };
        let width = usize::from(area.width.saturating_sub(3));
        let mut lines: Vec<Pieces> = vec![vec![(commit.title.clone(), Role::Title)], self.facts(view, commit)];
        lines.extend(text::wrap(commit.body(), width.min(100), body).into_iter().map(|l| vec![(l, Role::Text)]));
        let lines = lines.into_iter().take(usize::from(area.height / 2));
        let mut y = area.y;
        for pieces in lines {
            draw_pieces(buf, view, Rect { x: area.x + 1, y, width: area.width.saturating_sub(2), height: 1 }, &pieces);
            y += 1;
        }
        Rect { y, height: area.bottom().saturating_sub(y), ..area }
    }

    /// Author, age, hash, how much, and what its pipeline came to.
    fn facts(&self, view: &View, commit: &Commit) -> Pieces {
        let mut facts: Pieces = vec![(commit.author_name.clone(), Role::User)];
        let mut fact = |words: String, role: Role| {
            facts.push((format!(" {} ", glyph::dot()), Role::Faint));
            facts.push((words, role));
        };
        let when = age(view, commit.when());
        if !when.is_empty() {
            fact(when, Role::Dim);
        }
        fact(commit.short().to_owned(), Role::Ref);
        if let Some(stats) = commit.stats.known() {
            fact(format!("+{}", text::count(stats.additions)), Role::Added);
            facts.push((format!(" −{}", text::count(stats.deletions)), Role::Removed));
        }
        if let Some(status) = commit.status.known().filter(|s| !s.is_empty()) {
            let (mark, role) = glyph::status(status);
            facts.push((format!(" {} ", glyph::dot()), Role::Faint));
            facts.push((format!("{mark} {status}"), role));
        }
        facts
    }

    /// Everything that is known of it, line by line, with the place that a line leads to.
    pub fn details(&self, view: &View, width: usize) -> Vec<(Pieces, Option<Place>)> {
        let Some(commit) = self.commit(view).value else { return Vec::new() };
        let mut lines: Vec<(Pieces, Option<Place>)> = Vec::new();
        let wrap = |words: &str| text::wrap(words, width.clamp(20, 100), 2000);
        lines.extend(wrap(&commit.title).into_iter().map(|l| (vec![(l, Role::Title)], None)));
        if !commit.body().is_empty() {
            lines.push((Vec::new(), None));
            lines.extend(wrap(commit.body()).into_iter().map(|l| (vec![(l, Role::Text)], None)));
        }
        lines.push((Vec::new(), None));
        let mut field = |name: &str, pieces: Pieces, place: Option<Place>| {
            let mut line = vec![(text::pad(name, 11), Role::Dim)];
            line.extend(pieces);
            lines.push((line, place));
        };
        field("commit", vec![(commit.id.clone(), Role::Ref)], None);
        let person = |name: &str, mail: &str, when: Option<&Time>| {
            let stamp = when.map(|t| moment(view, t)).unwrap_or_default();
            vec![(name.to_owned(), Role::User), (format!(" <{mail}>  "), Role::Dim), (stamp, Role::Dim)]
        };
        field("author", person(&commit.author_name, &commit.author_email, commit.when()), None);
        if (&commit.committer_name, &commit.committer_email) != (&commit.author_name, &commit.author_email)
            || commit.committed_date != commit.authored_date
        {
            let when = commit.committed_date.as_ref();
            field("committer", person(&commit.committer_name, &commit.committer_email, when), None);
        }
        for (index, parent) in commit.parent_ids.iter().enumerate() {
            let place = Place::new("commit").project(self.project.clone()).item(parent);
            let name = if index == 0 { "parent" } else { "merged" };
            field(name, vec![(parent.clone(), Role::Link)], Some(place));
        }
        if let Some(stats) = commit.stats.known() {
            let pieces = vec![
                (format!("+{}", text::count(stats.additions)), Role::Added),
                (format!(" −{}", text::count(stats.deletions)), Role::Removed),
            ];
            field("lines", pieces, None);
        }
        if let Some(pipeline) = commit.last_pipeline.known() {
            let (mark, role) = glyph::status(pipeline.status.as_str());
            let place = Place::new("jobs").project(self.project.clone()).item(pipeline.id);
            let pieces =
                vec![(format!("{mark} {}", pipeline.status), role), (format!("  #{}", pipeline.id), Role::Link)];
            field("pipeline", pieces, Some(place));
        }
        self.detail_refs(view, &mut field);
        self.detail_statuses(view, &mut field);
        lines
    }

    fn detail_refs(&self, view: &View, field: &mut impl FnMut(&str, Pieces, Option<Place>)) {
        let rows: Rows<'_, CommitRef> = view.store.list(&self.refs_query());
        for (index, found) in rows.iter().enumerate() {
            let place = Place::new("files").project(self.project.clone()).at(found.name.as_str());
            let sign = if found.r#type == "tag" { "tag" } else { glyph::branch() };
            let pieces = vec![(format!("{sign} "), Role::Dim), (found.name.clone(), Role::Ref)];
            field(if index == 0 { "held by" } else { "" }, pieces, Some(place));
        }
        if rows.more {
            field("", vec![(format!("{} and more", glyph::cut()), Role::Dim)], None);
        }
    }

    fn detail_statuses(&self, view: &View, field: &mut impl FnMut(&str, Pieces, Option<Place>)) {
        let rows: Rows<'_, CommitStatus> = view.store.list(&self.statuses_query());
        for (index, status) in rows.iter().enumerate() {
            let (mark, role) = glyph::status(status.status.as_str());
            let mut pieces =
                vec![(format!("{mark} {:<9} ", status.status.as_str()), role), (status.name.clone(), Role::Text)];
            if let Some(words) = &status.description {
                pieces.push((format!("  {words}"), Role::Dim));
            }
            field(if index == 0 { "statuses" } else { "" }, pieces, None);
        }
    }

    /// Its page, at the file under the cursor of the changes.
    pub fn url(&self, view: &View) -> String {
        let sha = self.commit(view).value.map_or(self.sha.as_str(), |c| &c.id);
        project::page(view, &self.project, &format!("/-/commit/{}", crate::api::endpoint::encode(sha)))
    }

    /// Hash, title and page of the file, to copy.
    pub fn copies(&self, view: &View) -> Vec<(&'static str, String)> {
        let Some(commit) = self.commit(view).value else { return vec![("SHA", self.sha.clone())] };
        let mut copies = vec![("SHA", commit.id.clone()), ("short SHA", commit.short().to_owned())];
        copies.push(("title", commit.title.clone()));
        copies.push(("message", commit.message.clone()));
        copies.extend(self.changes.spot().map(|spot| ("path", spot.path)));
        copies
    }
}

/// Draws the pieces of a line.
pub fn draw_pieces(buf: &mut Buffer, view: &View, area: Rect, pieces: &[(String, Role)]) {
    let spans: Vec<_> = pieces.iter().map(|(words, role)| (words.as_str(), view.theme.style(*role))).collect();
    line::draw(buf, area, &spans);
}

/// A time as a date with its age; the text of the server where it is no date.
fn moment(view: &View, time: &Time) -> String {
    match time.instant() {
        Some(instant) => {
            let date = instant.to_zoned(jiff::tz::TimeZone::UTC);
            format!("{} UTC ({})", date.strftime("%Y-%m-%d %H:%M"), age(view, Some(time)))
        }
        None => time.to_string(),
    }
}
