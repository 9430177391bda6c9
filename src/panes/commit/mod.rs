//! A commit: its changes, its details and its comments.

mod comment_actions;

use crate::api::GitRef;
use crate::api::commits::ListCommits;
use crate::app::action::Action;
use crate::app::clip::Clip;
use crate::app::command::Command;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::pane::{Breadcrumb, Pane, PaneKind, Tabs};
use crate::app::place::Place;
use crate::app::place_info::Needs;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::changed_files::keys::{self, ShowsChanges};
use crate::parts::changed_files::{Changes, FileLocation};
use crate::parts::commit_view::CommitView;
use crate::parts::facts::Details;
use crate::parts::review::diff_comments::DiffComments;
use crate::parts::review::drafts::Drafts;
use crate::parts::{cherry_pick, commit_details, forms, list, project, secondary};
use crate::store::{Load, Want};
use crate::ui::state;
use crate::ui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

const CHANGES: usize = 0;
const DETAILS: usize = 1;
const TITLES: &[&str] = &["Changes", "Details"];
/// The maximum number of lines of the message above the changes.
const MAX_MESSAGE_LINES: usize = 5;

/// The maximum number of log pages that are loaded to find the next or previous commit.
const MAX_LOG_PAGES: u32 = 50;

/// A commit.
pub struct CommitPane {
    shown: CommitView,
    /// The ref and the path of the log that the commit was opened from.
    git_ref: Option<GitRef>,
    path: Option<String>,
    /// The pending step to the next (`true`) or previous commit of the log, until that commit is loaded.
    pending_step: Option<bool>,
    tab: usize,
    details: Details,
    /// The drafts of comments on this commit.
    drafts: Drafts,
    /// The comments shown within the changes.
    diff_comments: DiffComments,
}

impl CommitPane {
    fn enter(&mut self, cx: &mut Cx) {
        if self.tab == CHANGES {
            if let Some(key) = self.diff_comments.draft(&self.shown.changes).map(str::to_owned) {
                return self.drafts.open(&key, cx);
            }
            if self.diff_comments.toggle(&self.shown.changes) {
                return;
            }
            return self.shown.changes.enter();
        }
        if !self.details.enter(cx) {
            cx.say(Tone::Info, "Parents, refs, the pipeline and pages of statuses can be opened.");
        }
    }

    /// Returns the log that the commit was opened from.
    fn log(&self) -> ListCommits {
        ListCommits {
            id: self.shown.project.clone(),
            ref_name: self.git_ref.as_ref().map(|name| name.as_str().to_owned()),
            path: self.path.clone(),
            ..ListCommits::default()
        }
    }

    /// Goes to the next or previous commit of the log, once it is loaded.
    fn finish_step(&mut self, cx: &mut Cx) {
        let Some(forward) = self.pending_step else { return };
        let rows = cx.view.store.list(&self.log());
        let sha = self.sha(&cx.view);
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
            CHANGES => self.shown.changes.step_file(forward),
            _ => self.step_commit(forward, cx),
        }
    }

    fn file(&mut self, cx: &mut Cx) {
        let Some(location) = self.shown.changes.location() else { return };
        let mut place =
            Place::new("files").project(self.shown.project.clone()).at(self.sha(&cx.view)).path(location.path);
        place.line = location.line;
        cx.go(place);
    }

    fn sha(&self, view: &View) -> String {
        self.shown.commit(view).value.map_or_else(|| self.shown.sha.clone(), |c| c.id.clone())
    }
}

impl ShowsChanges for CommitPane {
    fn changes(&mut self) -> &mut Changes {
        &mut self.shown.changes
    }

    fn on_changes(&self, _view: &View) -> Result<(), Disabled> {
        if self.tab == CHANGES { Ok(()) } else { Err("the changes are not shown".into()) }
    }
}

impl PaneKind for CommitPane {
    const ID: &'static str = "commit";
    const TITLE: &'static str = "Commit";
    const NEEDS: Needs = Needs::Item;
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("commit.open", &["Enter"], "Open selection", Self::enter).footer("open"),
        Command::new("commit.comment", &["c"], "Add comment…", |pane: &mut Self, cx| pane.comment(cx))
            .footer("comment")
            .writes()
            .when(Self::can_comment),
        Command::new("commit.comment_here", &["C"], "Comment on selected lines…", |pane: &mut Self, cx| {
            pane.comment_here(cx);
        })
        .writes()
        .when(Self::can_comment_here),
        Command::new("commit.reply", &["R"], "Reply with quote…", |pane: &mut Self, cx| pane.reply(cx))
            .writes()
            .when(Self::has_comment),
        Command::new("commit.edit", &["e"], "Edit draft…", |pane: &mut Self, cx| pane.edit(cx)).when(Self::has_draft),
        Command::new("commit.delete", &["D"], "Delete draft…", |pane: &mut Self, cx| pane.drop_draft(cx))
            .when(Self::has_draft),
        Command::new("commit.send", &["S"], "Submit review…", |pane: &mut Self, cx| {
            let on = pane.noteable(&cx.view);
            pane.drafts.send(&on, cx);
        })
        .footer("send review")
        .writes()
        .when(|pane, view| pane.drafts.can_send(view)),
        Command::new("commit.drafts", &["K"], "Show drafts…", |pane: &mut Self, cx| {
            let on = pane.noteable(&cx.view);
            pane.drafts.list(&on, cx);
        })
        .when(Self::can_comment),
        Command::new("commit.mark", &["Space"], "Toggle line selection", |pane: &mut Self, _| {
            pane.shown.changes.toggle_selection();
        })
        .when(Self::on_changes),
        Command::new("commit.next_comment", &[";"], "Next comment", |pane: &mut Self, _| {
            pane.shown.changes.step_inset(true, |_| true);
        })
        .when(Self::on_changes),
        Command::new("commit.previous_comment", &[","], "Previous comment", |pane: &mut Self, _| {
            pane.shown.changes.step_inset(false, |_| true);
        })
        .when(Self::on_changes),
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
        Command::new("commit.next_hunk", &["}"], "Next hunk", |pane: &mut Self, _| pane.shown.changes.step_hunk(true))
            .footer("next hunk")
            .when(Self::on_changes),
        Command::new("commit.previous_hunk", &["{"], "Previous hunk", |pane: &mut Self, _| {
            pane.shown.changes.step_hunk(false);
        })
        .when(Self::on_changes),
        keys::layout("commit.layout"),
        keys::spaces("commit.spaces"),
        keys::wrap("commit.wrap"),
        keys::more("commit.more"),
        keys::more_up("commit.more_up"),
        keys::more_down("commit.more_down"),
        keys::viewed("commit.viewed"),
        keys::unviewed("commit.unviewed"),
        Command::new("commit.fold", &["-"], "Toggle file fold", |pane: &mut Self, _| pane.shown.changes.fold())
            .when(Self::on_changes),
        Command::new("commit.file", &["f"], "Open file at this commit", Self::file).footer("file").when(
            |pane, view| {
                pane.on_changes(view)?;
                pane.shown.changes.need(pane.shown.changes.location(), "no file is selected").map(|_| ())
            },
        ),
        Command::new("commit.files", &["F"], "Browse files at this commit", |pane: &mut Self, cx| {
            let sha = pane.sha(&cx.view);
            cx.go(Place::new("files").project(pane.shown.project.clone()).at(sha));
        }),
        Command::new("commit.pick", &["P"], "Cherry-pick to branch…", |pane: &mut Self, cx| {
            let picks = pane.shown.commit(&cx.view).value.map(cherry_pick::pick_of).into_iter().collect();
            cherry_pick::ask(&pane.shown.project, picks, cx);
        })
        .writes()
        .when(|pane, view| pane.shown.commit(view).value.map(|_| ()).ok_or_else(|| "it has not loaded yet".into())),
        Command::new("commit.status", &["t"], "Set commit status…", |pane: &mut Self, cx| {
            let sha = pane.sha(&cx.view);
            forms::commit::status(&pane.shown.project, &sha).open(cx);
        })
        .writes()
        .when(|_, view| forms::signed_in(view)),
        Command::new("commit.jobs", &["J"], "Go to pipeline jobs", |pane: &mut Self, cx| {
            let sha = pane.sha(&cx.view);
            cx.go(Place::new("jobs").project(pane.shown.project.clone()).query(format!("commit:{sha}")));
        }),
        Command::new("commit.parent", &["p"], "Go to parent commit", |pane: &mut Self, cx| {
            let parent = pane.shown.commit(&cx.view).value.and_then(|c| c.parent_ids.first().cloned());
            if let Some(parent) = parent {
                cx.act(Action::GoToPlace(Place::new("commit").project(pane.shown.project.clone()).item(parent)));
            }
        })
        .when(|pane, view| match pane.shown.commit(view).value {
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
        let tab = usize::from(place.tab.as_deref() == Some("details"));
        let mut shown = CommitView::new(&project, &sha, Duration::ZERO);
        if let Some(path) = place.path.clone() {
            shown.changes.show(FileLocation { path, line: place.line, old: false });
        }
        CommitPane {
            shown,
            git_ref: place.git_ref.clone().filter(|_| place.item.is_some()),
            path: place.path.clone(),
            pending_step: None,
            tab,
            details: Details::default(),
            drafts: Drafts::default(),
            diff_comments: DiffComments::default(),
        }
    }
}

impl Pane for CommitPane {
    fn focused(&self) -> Option<&dyn Pane> {
        match self.tab {
            CHANGES => Some(&self.shown.changes),
            _ => Some(&self.details),
        }
    }

    fn focused_mut(&mut self) -> Option<&mut dyn Pane> {
        match self.tab {
            CHANGES => Some(&mut self.shown.changes),
            _ => Some(&mut self.details),
        }
    }

    fn place(&self) -> Place {
        let place = Place::new(Self::ID).project(self.shown.project.clone()).item(&self.shown.sha);
        let place = Place { git_ref: self.git_ref.clone(), path: self.path.clone(), ..place };
        if self.tab == DETAILS { place.tab("details") } else { place }
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = project::breadcrumbs(view, &self.shown.project);
        let commits = Place::new("commits").project(self.shown.project.clone());
        let short = self.shown.commit(view).value.map_or(project::short_sha(&self.shown.sha), |c| c.short());
        breadcrumbs.push(Breadcrumb::new("commit", Role::Dim).to(commits));
        breadcrumbs.push(Breadcrumb::new(short, Role::Ref));
        breadcrumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants = vec![project::want(&self.shown.project)];
        wants.extend(self.shown.wants(view));
        wants.extend(self.comment_wants(view));
        if self.tab == DETAILS {
            wants.push(Load::list(&self.shown.refs_query(), 1).into());
            wants.push(Load::list(&self.shown.statuses_query(), 1).into());
            wants.push(Load::list(&self.shown.merge_requests_query(), 1).optional().into());
            wants.push(Load::single(&self.shown.signature_query()).optional().into());
        }
        if self.pending_step.is_some() {
            let log = self.log();
            wants.push(Load::list(&log, view.store.list(&log).pages_to_end(MAX_LOG_PAGES)).into());
        }
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let commit = self.shown.commit(view);
        if let (None, Some(error)) = (commit.value, commit.error) {
            return list::draw_error(view, area, buf, error);
        }
        if self.tab == CHANGES {
            let body = if area.height >= 30 { MAX_MESSAGE_LINES } else { 0 };
            let rest = self.shown.draw_head(view, area, buf, body);
            let rest = secondary::draw_line(view, rest, buf, &self.changes_reads(view));
            return self.shown.changes.view(view, rest, buf);
        }
        match self.details.is_empty() {
            true => state::skeleton(buf, area, view.theme),
            false => self.details.draw(view, area, buf, true),
        }
    }

    fn changed(&mut self, cx: &mut Cx) {
        self.shown.sync(&cx.view);
        self.sync_comments(cx);
        if self.tab == DETAILS {
            let width = usize::from(cx.view.size.0).saturating_sub(4);
            commit_details::fill_facts(&mut self.details, &self.shown, &cx.view, width);
            for pieces in self.comment_lines(&cx.view, width) {
                self.details.line(pieces);
            }
        }
        self.finish_step(cx);
    }

    fn tabs(&self) -> Tabs {
        Tabs { titles: TITLES, selected: self.tab }
    }

    fn select_tab(&mut self, index: usize, _cx: &mut Cx) {
        self.tab = index;
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        self.pending_step.take().is_some() || self.focused_mut().is_some_and(|part| part.escape(cx))
    }

    fn url(&self, view: &View) -> Option<String> {
        Some(self.shown.url(view))
    }

    fn copies(&self, view: &View) -> Vec<Clip> {
        self.shown.copies(view)
    }
}
