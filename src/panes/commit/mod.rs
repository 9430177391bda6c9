//! A commit: its changes, its details and its comments.

mod changes;
mod details;

use crate::api::commits::ListCommits;
use crate::api::{GitRef, Noteable};
use crate::app::action::Action;
use crate::app::clip::Clip;
use crate::app::command::{Command, Table};
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::custom::InputKind;
use crate::app::pane::{Breadcrumb, CommandInput, Pane, PaneKind, Tabs};
use crate::app::permission;
use crate::app::place::Place;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::comments::{ShowsComments, Target};
use crate::parts::repository::apply_commits::{self, Operation};
use crate::parts::repository::changed_files::keys::ShowsChanges;
use crate::parts::repository::changed_files::{Changes, FileLocation};
use crate::parts::repository::commit_view::{CommitReads, CommitView};
use crate::parts::review::drafts::Drafts;
use crate::parts::{forms, list, programs, project};
use crate::store::{Load, Want};
use crate::ui::theme::Role;
use changes::{CommitChangesTab, MAX_COMMENT_PAGES};
use details::DetailsTab;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Tab {
    #[default]
    Changes,
    Details,
}

const TABS: &[Tab] = &[Tab::Changes, Tab::Details];
const TITLES: &[&str] = &["Changes", "Details"];

/// The maximum number of log pages that are loaded to find the next or previous commit.
const MAX_LOG_PAGES: u32 = 50;

/// A commit.
pub struct CommitPane {
    reads: CommitReads,
    /// The ref and the path of the log that the commit was opened from.
    git_ref: Option<GitRef>,
    path: Option<String>,
    /// The pending step to the next (`true`) or previous commit of the log, until that commit is loaded.
    pending_step: Option<bool>,
    tab: Tab,
    changes: CommitChangesTab,
    details: DetailsTab,
    /// The drafts of comments on this commit.
    drafts: Drafts,
}

impl CommitPane {
    /// Returns the shown tab.
    fn part(&self) -> &dyn Pane {
        match self.tab {
            Tab::Changes => &self.changes,
            Tab::Details => &self.details,
        }
    }

    fn part_mut(&mut self) -> &mut dyn Pane {
        match self.tab {
            Tab::Changes => &mut self.changes,
            Tab::Details => &mut self.details,
        }
    }

    /// Returns the changes if their tab is shown.
    fn shown_changes(&self) -> Result<&CommitChangesTab, Disabled> {
        if self.tab == Tab::Changes { Ok(&self.changes) } else { Err("the changes are not shown".into()) }
    }

    /// Returns the log that the commit was opened from.
    fn log(&self) -> ListCommits {
        ListCommits {
            id: self.reads.project.clone(),
            ref_name: self.git_ref.as_ref().map(|name| name.as_str().to_owned()),
            path: self.path.clone(),
            ..ListCommits::default()
        }
    }

    /// Goes to the next or previous commit of the log, once it is loaded.
    fn finish_step(&mut self, cx: &mut Cx) {
        let Some(forward) = self.pending_step else { return };
        let rows = cx.view.store.list(&self.log());
        let sha = self.reads.full_sha(&cx.view);
        let at = rows.iter().position(|commit| commit.id == sha);
        let next = at.and_then(|at| if forward { at.checked_add(1) } else { at.checked_sub(1) });
        if let Some(commit) = next.and_then(|next| rows.get(next)) {
            self.pending_step = None;
            let place = Place { item: Some(commit.id.clone()), ..Pane::place(self) };
            return cx.act(Action::Replace(place));
        }
        // The commit may be on a page that is not loaded yet: the step stays pending while there are more.
        let over = rows.error.is_some() || (rows.is_loaded && !rows.has_next(MAX_LOG_PAGES));
        if over || (at.is_some() && !forward) {
            self.pending_step = None;
            let words = match at {
                Some(_) if forward => "This is the oldest commit of the history.",
                Some(_) => "This is the newest commit of the history.",
                None => "This commit is not in the loaded history.",
            };
            cx.say(Tone::Info, words);
        }
    }

    fn step_commit(&mut self, forward: bool, cx: &mut Cx) {
        self.pending_step = Some(forward);
        self.finish_step(cx);
    }

    /// Handles `]` and `[`: goes to the next or previous file on the Changes tab, else to the next or previous commit.
    fn sibling(&mut self, forward: bool, cx: &mut Cx) {
        match self.tab {
            Tab::Changes => self.changes.shown.changes.step_file(forward),
            Tab::Details => self.step_commit(forward, cx),
        }
    }

    /// Moves to the next or the previous comment.
    fn step_comment(&mut self, forward: bool) {
        match self.tab {
            Tab::Changes => _ = self.changes.shown.changes.step_inset(forward, |_| true),
            Tab::Details => self.details.conversation.step_note(forward),
        }
    }

    fn is_loaded(&self, view: &View) -> Result<(), Disabled> {
        self.reads.commit(view).value.map(|_| ()).ok_or_else(|| "it has not loaded yet".into())
    }

    /// Asks for the branch on which the commit is picked or reverted.
    fn apply_to_branch(&mut self, operation: Operation, cx: &mut Cx) {
        let names = self.reads.commit(&cx.view).value.map(apply_commits::name_of).into_iter().collect();
        let default = project::default_branch(&cx.view, &self.reads.project).map(str::to_owned);
        let target = default.filter(|_| operation == Operation::Revert);
        apply_commits::ask(operation, &self.reads.project, names, target.as_deref(), cx);
    }

    fn file(&mut self, cx: &mut Cx) {
        let Some(location) = self.changes().location() else { return };
        let mut place = Place::new("files")
            .project(self.reads.project.clone())
            .at(self.reads.full_sha(&cx.view))
            .path(location.path);
        place.line = location.line;
        cx.go(place);
    }
}

impl ShowsChanges for CommitPane {
    fn changes(&mut self) -> &mut Changes {
        &mut self.changes.shown.changes
    }

    fn on_changes(&self, _view: &View) -> Result<(), Disabled> {
        self.shown_changes()?.shown.changes.need_loaded()
    }
}

impl ShowsComments for CommitPane {
    const WHOLE: &'static str = "Comment on commit…";

    fn comments_on(&self, view: &View) -> Result<Noteable, Disabled> {
        self.is_loaded(view)?;
        Ok(self.reads.noteable(view))
    }

    fn drafts(&self) -> &Drafts {
        &self.drafts
    }

    fn target<'a>(&'a self, view: &View<'a>) -> Option<Target<'a>> {
        match self.tab {
            Tab::Changes => self.changes.target(),
            Tab::Details => self.details.target(view),
        }
    }

    fn can_comment_on_lines(&self, view: &View) -> Option<Result<(), Disabled>> {
        let changes = self.shown_changes().ok().filter(|changes| changes.is_on_lines())?;
        Some(changes.can_comment_here(view))
    }

    fn comment_on_lines(&mut self, cx: &mut Cx) {
        self.changes.comment_here(cx);
    }
}

impl PaneKind for CommitPane {
    const ID: &'static str = "commit";
    const TABLES: &'static [Table<Self>] = &[
        Self::COMMENTS,
        Self::EDIT,
        Self::DELETE,
        Self::COMMANDS,
        Self::LINES,
        Self::CHANGES,
        Self::READING,
        Self::FOLD,
    ];
    const COMMANDS: Table<Self> = &[
        Command::new("commit.open", &["Enter"], "Open selection", Self::enter).footer("open"),
        Command::new("commit.send", &["S"], "Submit review…", |pane: &mut Self, cx| {
            let on = pane.reads.noteable(&cx.view);
            pane.drafts.send(&on, cx);
        })
        .footer("send review")
        .writes()
        .when(|pane, view| pane.drafts.can_send(view)),
        Command::new("commit.next_comment", &[";"], "Next thread or comment", |pane: &mut Self, _| {
            pane.step_comment(true);
        }),
        Command::new("commit.previous_comment", &[","], "Previous thread or comment", |pane: &mut Self, _| {
            pane.step_comment(false);
        }),
        Command::new("commit.next_file", &["]"], "Next file or page", |pane: &mut Self, cx| {
            pane.sibling(true, cx);
        })
        .footer("next file"),
        Command::new("commit.previous_file", &["["], "Previous file or page", |pane: &mut Self, cx| {
            pane.sibling(false, cx);
        }),
        Command::new("commit.next", &[")"], "Next commit in history", |pane: &mut Self, cx| {
            pane.step_commit(true, cx);
        })
        .footer("next commit"),
        Command::new("commit.previous", &["("], "Previous commit in history", |pane: &mut Self, cx| {
            pane.step_commit(false, cx);
        }),
        Command::new("commit.file", &["f"], "Open file at this commit", Self::file).footer("file").when(|pane, _| {
            let changes = &pane.shown_changes()?.shown.changes;
            changes.need(changes.location(), "no file is selected").map(|_| ())
        }),
        Command::new("commit.files", &["F"], "Browse files at this commit", |pane: &mut Self, cx| {
            let sha = pane.reads.full_sha(&cx.view);
            cx.go(Place::new("files").project(pane.reads.project.clone()).at(sha));
        }),
        Command::new("commit.pick", &["p"], "Cherry-pick to branch…", |pane: &mut Self, cx| {
            pane.apply_to_branch(Operation::CherryPick, cx);
        })
        .needs(permission::PUSH)
        .when(Self::is_loaded),
        Command::new("commit.revert", &["Z"], "Revert commit…", |pane: &mut Self, cx| {
            pane.apply_to_branch(Operation::Revert, cx);
        })
        .needs(permission::PUSH)
        .when(Self::is_loaded),
        Command::new("commit.status", &["t"], "Set commit status…", |pane: &mut Self, cx| {
            let sha = pane.reads.full_sha(&cx.view);
            forms::commit::status(&pane.reads.project, &sha).open(cx);
        })
        .needs(permission::RUN),
        Command::new("commit.jobs", &["J"], "Go to pipeline jobs", |pane: &mut Self, cx| {
            let sha = pane.reads.full_sha(&cx.view);
            cx.go(Place::new("jobs").project(pane.reads.project.clone()).query(format!("commit:{sha}")));
        }),
        Command::new("commit.parent", &["P"], "Go to parent commit", |pane: &mut Self, cx| {
            let parent = pane.reads.commit(&cx.view).value.and_then(|c| c.parent_ids.first().cloned());
            if let Some(parent) = parent {
                cx.act(Action::GoToPlace(Place::new("commit").project(pane.reads.project.clone()).item(parent)));
            }
        })
        .when(|pane, view| match pane.reads.commit(view).value {
            Some(commit) if commit.parent_ids.is_empty() => Err("it has no parent".into()),
            Some(_) => Ok(()),
            None => Err("it has not loaded yet".into()),
        }),
    ];

    fn open(place: &Place, _view: &View) -> Self {
        let project = place.project.clone().unwrap_or_default();
        let sha = place
            .item
            .clone()
            .or_else(|| Some(place.git_ref.as_ref()?.as_str().to_owned()))
            .unwrap_or_else(|| "HEAD".into());
        let reads = CommitReads::new(&project, &sha, Duration::ZERO);
        let mut shown = CommitView::new(reads.clone());
        if let Some(path) = place.path.clone() {
            shown.changes.show(FileLocation { path, line: place.line, old: false });
        }
        CommitPane {
            git_ref: place.git_ref.clone().filter(|_| place.item.is_some()),
            path: place.path.clone(),
            pending_step: None,
            tab: if place.tab.as_deref() == Some("details") { Tab::Details } else { Tab::Changes },
            changes: CommitChangesTab::new(shown),
            details: DetailsTab::new(reads.clone()),
            reads,
            drafts: Drafts::default(),
        }
    }
}

impl Pane for CommitPane {
    fn command_input(&self, kind: InputKind, view: &View) -> Result<CommandInput, Disabled> {
        let branch = Err("a commit has no branch".into());
        match kind {
            InputKind::Thread => programs::thread(self, branch, view),
            InputKind::Diff => Ok(programs::diff(self.shown_changes()?.for_program(branch, view)?)),
            _ => Err(kind.missing()),
        }
    }

    fn focused(&self) -> Option<&dyn Pane> {
        Some(self.part())
    }

    fn focused_mut(&mut self) -> Option<&mut dyn Pane> {
        Some(self.part_mut())
    }

    fn place(&self) -> Place {
        let place = Place::new(Self::ID).project(self.reads.project.clone()).item(&self.reads.sha);
        let place = Place { git_ref: self.git_ref.clone(), path: self.path.clone(), ..place };
        if self.tab == Tab::Details { place.tab("details") } else { place }
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = project::breadcrumbs(view, &self.reads.project);
        let commits = Place::new("commits").project(self.reads.project.clone());
        let short = self.reads.commit(view).value.map_or(project::short_sha(&self.reads.sha), |c| c.short());
        breadcrumbs.push(Breadcrumb::new("commit", Role::Dim).to(commits));
        breadcrumbs.push(Breadcrumb::new(short, Role::Ref));
        breadcrumbs.extend(self.part().breadcrumbs(view));
        breadcrumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants = vec![project::want(&self.reads.project)];
        wants.extend(self.changes.shown.wants(view));
        if let Some(list) = self.reads.comments_query(view) {
            let pages = view.store.list(&list).pages_to_end(MAX_COMMENT_PAGES);
            wants.push(Load::list(&list, pages).into());
        }
        wants.extend(self.part().wants(view));
        if self.pending_step.is_some() {
            let log = self.log();
            wants.push(Load::list(&log, view.store.list(&log).pages_to_end(MAX_LOG_PAGES)).into());
        }
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let commit = self.reads.commit(view);
        if let (None, Some(error)) = (commit.value, commit.error) {
            return list::draw_error(view, area, buf, error);
        }
        self.part().view(view, area, buf);
    }

    fn changed(&mut self, cx: &mut Cx) {
        self.changes.shown.sync(&cx.view);
        self.drafts.sync(&self.reads.noteable(&cx.view), cx);
        self.part_mut().changed(cx);
        self.finish_step(cx);
    }

    fn tabs(&self) -> Tabs {
        Tabs { titles: TITLES, selected: self.tab as usize }
    }

    fn select_tab(&mut self, index: usize, _cx: &mut Cx) {
        self.tab = TABS.get(index).copied().unwrap_or_default();
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        self.pending_step.take().is_some() || self.part_mut().escape(cx)
    }

    fn url(&self, view: &View) -> Option<String> {
        Some(self.reads.url(view))
    }

    fn copies(&self, view: &View) -> Vec<Clip> {
        self.changes.shown.copies(view)
    }
}
