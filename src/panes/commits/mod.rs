//! Commits of a ref, of a path or of all refs, newest first, with their graph; on a wide screen with the changes of the
//! selected commit.

mod line_history;
mod log_query;

use crate::api::branches::Branch;
use crate::api::commits::{Commit, ListCommits};
use crate::api::tags::Tag;
use crate::api::{GitRef, Id};
use crate::app::complete::Complete;
use crate::app::overlay::value_picker::ValuePicker;
use crate::app::pane::{Breadcrumb, Pane};
use crate::app::permission;
use crate::app::query;
use crate::app::tone::Tone;
use crate::parts::ci::pipeline_marks::PipelineMarks;
use crate::parts::list::prelude::*;
use crate::parts::list::source::{Detail, DetailContext, Side};
use crate::parts::list::{self, ListLine};
use crate::parts::repository::apply_commits::{self, Operation};
use crate::parts::repository::changed_files::FileLocation;
use crate::parts::repository::commit_history::History;
use crate::parts::repository::commit_view::{CommitReads, CommitView};
use crate::parts::repository::ref_choices::ask_ref;
use crate::parts::repository::ref_labels::Labels;
use crate::parts::repository::ref_split::{self, Reading, RefSplit};
use crate::parts::{forms, project};
use crate::store::Rows;
use crate::ui::panels;
use crate::ui::{glyph, text};
use line_history::LineHistory;
use log_query::LogQuery;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::HashSet;
use std::time::Duration;

/// The delay after the selection moved before the changes of the selected commit are fetched.
const FETCH_DELAY: Duration = Duration::from_millis(150);
/// The maximum number of lanes of the graph on a narrow list and on a wide one.
const MAX_LANES: (usize, usize) = (5, 10);
/// The width in columns from which a list is wide enough for `MAX_LANES.1`.
const WIDE: usize = 110;

/// A log: of a ref, of a path, or of every branch and tag.
pub struct CommitSource {
    project: Id,
    git_ref: Option<GitRef>,
    path: Option<String>,
    /// The ref and path of a web address, until it is known where the ref ends.
    split: Option<RefSplit>,
    all: bool,
    /// The query of the rows that are shown; the history is reset when it changes.
    shown: LogQuery,
    /// The history of the lines that the query names.
    lines: Option<LineHistory>,
    history: History,
    labels: Labels,
    marks: PipelineMarks,
    /// The maximum number of lanes of the graph.
    lanes: usize,
    /// Whether authors are shown by their initials, because there is little room.
    has_short_names: bool,
}

/// The list of commits.
pub type Commits = ListPane<CommitSource>;

impl CommitSource {
    /// Returns the part of the graph beside the commit at `index`. A graph of only some of the commits would show edges
    /// that do not exist.
    fn graph(&self, index: usize) -> Line<'static> {
        if self.shown.is_whole() { self.history.cell(index, self.lanes) } else { Line::empty() }
    }

    /// Returns the branch or tag whose commits are listed, by its short name; `None` for all refs or a SHA.
    fn marked_ref<'a>(&'a self, view: &View<'a>) -> Option<&'a str> {
        match &self.git_ref {
            _ if self.all => None,
            Some(name) => (!name.is_sha()).then(|| name.short()),
            None => project::default_branch(view, &self.project),
        }
    }

    /// Returns whether the listed ref is known. Without an explicit ref this requires the default branch to be loaded.
    fn knows_ref(&self, view: &View) -> bool {
        self.all || self.git_ref.is_some() || project::default_branch(view, &self.project).is_some()
    }

    /// Returns where the listed path or lines are in the changes of a commit.
    fn location(&self, commit: &Commit) -> Option<FileLocation> {
        let of_lines = self.lines.as_ref().and_then(|lines| lines.location(&commit.id).cloned());
        of_lines.or_else(|| Some(FileLocation { path: self.path.clone()?, line: None, old: false }))
    }

    /// Parses the typed query.
    fn read(&self, text: &str, view: &View) -> Option<LogQuery> {
        let log = ListCommits {
            ref_name: self.git_ref.as_ref().filter(|_| !self.all).map(|name| name.as_str().to_owned()),
            path: self.path.clone(),
            all: self.all.then_some(true),
            ..LogQuery::for_project(&self.project)
        };
        LogQuery::read(text, log, view)
    }
}

/// Returns the action that reports a new branch or tag.
fn created(name: &str) -> Action {
    Action::Say(Tone::Good, format!("Created {name}."))
}

impl Commits {
    /// Decides where the ref of a web address ends, once the refs are known; if that is still ambiguous, asks.
    fn decide_split(&mut self, cx: &mut Cx) {
        let Some(existing) = self.source.split.as_ref().and_then(|split| split.existing(&cx.view)) else { return };
        self.source.split = None;
        match existing.first() {
            Some(reading) => self.read_as(reading.clone()),
            None => self.list.restart(),
        }
        if existing.len() > 1 {
            ref_split::ask(existing, cx, Self::read_as);
        }
    }

    /// Lists the commits of the ref and path of a web address.
    fn read_as(&mut self, reading: Reading) {
        (self.source.git_ref, self.source.path) = (Some(reading.git_ref), reading.path);
        self.list.restart();
    }

    /// Asks for the branch to which the commits are picked, the oldest one first.
    fn pick(&mut self, commits: &[&Commit], cx: &mut Cx) {
        let commits = commits.iter().rev().map(|commit| apply_commits::name_of(commit)).collect();
        apply_commits::ask(Operation::CherryPick, &self.source.project, commits, None, cx);
    }

    /// Asks for the branch on which the commits are reverted, the newest one first.
    fn revert(&mut self, commits: &[&Commit], cx: &mut Cx) {
        let commits = commits.iter().map(|commit| apply_commits::name_of(commit)).collect();
        let listed = self.source.marked_ref(&cx.view).map(str::to_owned);
        apply_commits::ask(Operation::Revert, &self.source.project, commits, listed.as_deref(), cx);
    }

    fn open_commit(&mut self, commit: &Commit, cx: &mut Cx) {
        if self.on_detail() {
            self.enter_detail(cx);
            return;
        }
        // The place keeps the ref and path of the list, so that the commit pane can step to the next and previous
        // commits.
        let place = Place::new("commit").project(self.source.project.clone()).item(&commit.id);
        let (path, line) = self.source.location(commit).map(|at| (Some(at.path), at.line)).unwrap_or_default();
        cx.go(Place { git_ref: self.source.git_ref.clone(), path, line, ..place });
    }

    fn files(&mut self, commit: &Commit, cx: &mut Cx) {
        let mut place = Place::new("files").project(self.source.project.clone()).at(commit.id.as_str());
        place.path = self.source.path.clone();
        cx.go(place);
    }

    fn compare(&mut self, cx: &mut Cx) {
        if let Some((from, to)) = self.marked_pair(&cx.view) {
            cx.go(Place::new("compare").project(self.source.project.clone()).item(format!("{from}...{to}")));
        }
    }
}

impl ListSource for CommitSource {
    type Row = Commit;
    type Detail = CommitDetail;
    const LIST: ListInfo = ListInfo::new("commits", "commit", "commits").widths(&[(80, 1), (50, 1)]);
    const COLUMNS: &'static [Column<Self>] = &[
        Column::<Self>::fixed("SHA", "", 8, |_, commit, _| Line::new(text::head(commit.short(), 8), Role::Ref))
            .drop_order(3),
        Column::<Self>::at("graph", Size::Fit { min: 1, max: 2 * MAX_LANES.1 as u16 + 1 }, |source, index, _, _| {
            source.graph(index)
        }),
        Column::<Self>::at("title", Size::Fill { min: 30, weight: 1 }, |source, index, commit, _| {
            let mut title = source.labels.cell(&commit.id);
            if commit.is_merge() && source.graph(index).spans.is_empty() {
                title = title.and(format!("{} ", glyph::arrow()), Role::Dim);
            }
            title.and(&commit.title, if commit.is_merge() { Role::Dim } else { Role::Text })
        }),
        Column::<Self>::fit("pipeline", "", 0, 1, |source, commit, _| source.marks.glyph_cell(&commit.id))
            .drop_order(1),
        Column::<Self>::fit("author", "", 2, 16, |source, commit, _| match source.has_short_names {
            true => Line::new(text::initials(&commit.author_name), Role::User),
            false => Line::new(&commit.author_name, Role::User),
        })
        .drop_order(2),
        Column::<Self>::age("created", "", |commit| commit.date()).drop_order(1),
    ];
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::row("commits.open", &["Enter"], "Open commit", Commits::open_commit).footer("open"),
        Command::row("commits.files", &["F"], "Browse files at commit", Commits::files).footer("files"),
        Command::new("commits.ref", &["R"], "Switch branch or tag…", |pane: &mut Commits, cx| {
            let current = pane.source.git_ref.as_ref();
            ask_ref("Commits of", &pane.source.project, current, cx, |pane: &mut Commits, name, _| {
                pane.source.git_ref = Some(name);
                pane.source.all = false;
                pane.list.restart();
            });
        })
        .footer("ref"),
        Command::new("commits.path", &["P"], "Filter by path…", |pane: &mut Commits, cx| {
            let (here, known) = (cx.here, (pane.source.path.clone(), "All files"));
            let paths = Complete::Paths(pane.source.project.clone());
            let picker = ValuePicker::or_none("Commits of a path", paths, known, &cx.view, move |path| {
                let path = Some(path.trim_matches('/').to_owned()).filter(|path| !path.is_empty());
                here.then(move |pane: &mut Commits, _| {
                    pane.source.path = path.clone();
                    pane.list.restart();
                })
            });
            cx.open(picker.hinting("Type a path"));
        })
        .footer("path"),
        Command::new("commits.all", &["A"], "Toggle commits of all refs", |pane: &mut Commits, _| {
            pane.source.all = !pane.source.all;
            pane.list.restart();
        })
        .footer("all"),
        Command::row("commits.author", &["u"], "Filter by author", |pane: &mut Commits, commit: &Commit, _| {
            let text = query::with(pane.list.filter_text(), "author", &commit.author_name);
            pane.list.set_filter(&text, Some(commit.id.clone()));
        }),
        Commits::mark_command("commits.mark"),
        Command::new("commits.compare", &["="], "Compare commits", Commits::compare).when(|pane, view| {
            let none = "mark two commits with Space, or one beside the selected";
            list::need(pane.marked_pair(view), &pane.rows(view), none).map(|_| ())
        }),
        Command::rows("commits.pick", &["p"], "Cherry-pick commits…", Commits::pick).needs(permission::PUSH),
        Command::rows("commits.revert", &["Z"], "Revert commits…", Commits::revert).needs(permission::PUSH),
        Command::row("commits.branch", &["B"], "Create branch…", |pane: &mut Commits, commit: &Commit, cx| {
            let form = forms::refs::create_branch(&pane.source.project, &GitRef::from(&commit.id));
            form.then(|branch: &Branch| Some(created(&branch.name))).open(cx);
        })
        .needs(permission::PUSH),
        Command::row("commits.tag", &["T"], "Create tag…", |pane: &mut Commits, commit: &Commit, cx| {
            let form = forms::refs::create_tag(&pane.source.project, &GitRef::from(&commit.id));
            form.then(|tag: &Tag| Some(created(&tag.name))).open(cx);
        })
        .needs(permission::PUSH),
    ];

    fn open(place: &Place, _view: &View) -> CommitSource {
        let project = place.project.clone().unwrap_or_default();
        CommitSource {
            git_ref: place.git_ref.clone(),
            path: place.path.clone().filter(|p| !p.is_empty()),
            split: RefSplit::of(place),
            all: place.tab.as_deref() == Some("all"),
            shown: LogQuery::default(),
            lines: None,
            history: History::default(),
            labels: Labels::new(&project),
            marks: PipelineMarks::of_commits(&project, None),
            lanes: MAX_LANES.0,
            has_short_names: true,
            project,
        }
    }

    fn empty(&self, _: usize) -> (&'static str, &'static str) {
        match &self.path {
            Some(_) => {
                ("No commit changed this path.", "‹commits.ref› chooses another ref, ‹commits.path› another path")
            }
            None => ("There are no commits yet.", "‹commits.ref› chooses another ref"),
        }
    }

    fn place(&self, base: Place) -> Place {
        let (git_ref, path) = (self.git_ref.clone(), self.path.clone());
        let place = Place { git_ref, path, is_joined: self.split.is_some(), ..base };
        if self.all { place.tab("all") } else { place }
    }

    fn breadcrumbs(&self, _: &Place, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = match self.all {
            true => project::breadcrumbs(view, &self.project),
            false => project::breadcrumbs_at(view, &self.project, self.git_ref.as_ref()),
        };
        breadcrumbs.push(Breadcrumb::new("commits", Role::Dim));
        breadcrumbs.extend(self.path.as_ref().map(|p| Breadcrumb::new(p.as_str(), Role::Title)));
        breadcrumbs
    }

    fn query(&self, input: &Input<'_>, _: ServerOrder, view: &View) -> Option<ListQuery<Commit>> {
        match self.split {
            Some(_) => None,
            None => {
                let log = self.read(input.filter, view)?;
                let lines = self.lines.as_ref().filter(|_| log == self.shown);
                Some(lines.map_or_else(|| ListQuery::new(&log.request), LineHistory::query))
            }
        }
    }

    fn filter(&self, _: &Input<'_>) -> Filter<Commit> {
        Filter::Query(LogQuery::grammar(&self.project))
    }

    fn only_side(&self, _: &Input<'_>, view: &View) -> Option<Side> {
        (view.size.0 < panels::TWO_PANELS_WIDTH).then_some(Side::List)
    }

    fn arrange_rows(pane: &mut Commits, rows: &Rows<'_, Commit>, view: &View) {
        let source = &mut pane.source;
        if let Some(shown) = source.read(pane.list.shown(), view).filter(|shown| *shown != source.shown) {
            source.lines = shown.lines.clone().map(|lines| LineHistory::new(&shown.request, lines));
            source.shown = shown;
            source.history = History::default();
        }
        source.history.sync(view, rows);
        let shown = source.git_ref.clone().filter(|shown| !shown.is_sha());
        let default = project::default_branch(view, &source.project).map(GitRef::from);
        let default = default.filter(|default| shown.as_ref().is_none_or(|shown| shown.short() != default.short()));
        source.labels.sync(view, shown.into_iter().chain(default));
        // A list of the pipelines of one branch reaches further back than a list of all pipelines.
        let git_ref = source.marked_ref(view).map(str::to_owned);
        if !source.marks.is_for_ref(git_ref.as_deref()) {
            source.marks = PipelineMarks::of_commits(&source.project, git_ref.as_deref());
        }
        source.marks.sync(view);
        let Some(lines) = &mut source.lines else {
            return pane.list.narrow_to(rows, &source.shown.filter_key(), |commit| source.shown.matches(commit));
        };
        // A renamed file continues the log of its path.
        if lines.sync(view) {
            pane.resolve(view);
            return Self::arrange_rows(pane, &pane.rows(view), view);
        }
        let key = format!("{} that changed lines, {} so far", source.shown.filter_key(), lines.count());
        pane.list.arrange(rows, &key, || {
            // A path that a file got back is in the log of both times: the lines are followed in the later log.
            let mut shown = HashSet::new();
            let is_found = |commit: &Commit| lines.location(&commit.id).is_some() && source.shown.matches(commit);
            let mut fits = |commit: &Commit| is_found(commit) && shown.insert(commit.id.clone());
            let is_kept = |index: &usize| rows.get(*index).is_some_and(&mut fits);
            let mut kept: Vec<ListLine> = (0..rows.len()).rev().filter(is_kept).map(ListLine::Row).collect();
            kept.reverse();
            kept
        });
    }

    fn key(commit: &Commit) -> String {
        commit.id.clone()
    }

    fn heading(&self, _: &Input<'_>, view: &View) -> (String, String) {
        let title = if self.all { "Commits of all refs" } else { "Commits" };
        if let Some(lines) = &self.lines {
            return lines.heading(title);
        }
        let labels = self.labels.note(view);
        let width = if labels.is_some() { 12 } else { 26 };
        let activity = self.history.activity(view, width).map(|(line, back)| format!("{line} {back}"));
        (title.to_owned(), labels.into_iter().chain(activity).collect::<Vec<_>>().join(glyph::separator()))
    }

    fn wants(pane: &Commits, view: &View) -> Vec<Want> {
        let source = &pane.source;
        if let Some(split) = &source.split {
            return split.wants(view);
        }
        (source.labels.wants())
            .chain(source.history.wants())
            .chain(source.lines.iter().flat_map(|lines| lines.wants(view)))
            .chain(source.marks.want(view, pane.rows(view).pages()).filter(|_| source.knows_ref(view)))
            .collect()
    }

    fn changed(pane: &mut Commits, cx: &mut Cx) {
        if pane.has_lost_row() {
            cx.say(Tone::Warning, "This history was rewritten: the selected commit is no longer part of it.");
        }
        pane.decide_split(cx);
        let is_narrow = pane.list_width(&cx.view) < WIDE;
        pane.source.lanes = if is_narrow { MAX_LANES.0 } else { MAX_LANES.1 };
        pane.source.has_short_names = is_narrow && !glyph::is_accessible();
    }

    fn url(&self, view: &View, commit: Option<&Commit>) -> Option<String> {
        Some(project::page(view, &self.project, &format!("/-/commit/{}", commit?.id)))
    }

    fn copies(&self, _view: &View, commit: &Commit) -> Vec<Clip> {
        vec![
            Clip::line("SHA", commit.id.clone()),
            Clip::line("short SHA", commit.short().to_owned()),
            Clip::line("title", commit.title.clone()),
            Clip::line("author", format!("{} <{}>", commit.author_name, commit.author_email)),
        ]
    }
}

/// The changes of the selected commit, shown on wide screens only; on narrow ones they have their own pane.
#[derive(Default)]
pub struct CommitDetail {
    commit: Option<CommitView>,
}

impl Pane for CommitDetail {
    fn focused(&self) -> Option<&dyn Pane> {
        Some(&self.commit.as_ref()?.changes)
    }

    fn focused_mut(&mut self) -> Option<&mut dyn Pane> {
        Some(&mut self.commit.as_mut()?.changes)
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        self.commit.iter().flat_map(|commit| commit.wants(view)).collect()
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        if let Some(commit) = &self.commit {
            let rest = commit.draw_head(view, area, buf);
            commit.changes.view(view, rest, buf);
        }
    }
}

impl Detail<CommitSource> for CommitDetail {
    fn show(&mut self, context: &DetailContext<'_, CommitSource>, cx: &mut Cx) {
        if context.width == 0 {
            return;
        }
        if let Some(row) =
            context.row.filter(|row| self.commit.as_ref().is_none_or(|commit| commit.reads.sha != row.id))
        {
            let reads = CommitReads::new(&context.source.project, &row.id, FETCH_DELAY);
            let commit = self.commit.insert(CommitView::new(reads));
            // The history of a file is about its changes, wherever they are in the commit.
            if let Some(location) = context.source.location(row) {
                commit.changes.show(location);
            }
        }
        if let Some(commit) = &mut self.commit {
            commit.changes.put_beside(context.width, !context.focused);
            commit.sync(&cx.view);
        }
    }

    fn leaves(&self) -> bool {
        false
    }
}
