//! A merge request: overview with comments, commits, changes and pipelines.

mod changes;
mod comment_actions;
mod commit_comments;
mod commits;
mod common_changes;
mod decisions;
mod facts;
mod merge_checks;
mod overview;
mod paired_commits;
mod pipelines;
mod reads;
mod suggestions;

use crate::api::Id;
use crate::api::merge_requests::MergeRequest;
use crate::app::App;
use crate::app::action::Action;
use crate::app::clip::Clip;
use crate::app::clone::{Checkout, Worktree};
use crate::app::command::{Command, Table};
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::custom::InputKind;
use crate::app::outbox::NoteableExt;
use crate::app::overlay::picker::{Item, Picker};
use crate::app::pane::{Breadcrumb, CodeHere, CommandInput, Pane, PaneKind, Tabs};
use crate::app::permission::{self, Permission};
use crate::app::place::Place;
use crate::app::view::View;
use crate::parts::breadcrumbs;
use crate::parts::comments::ShowsComments;
use crate::parts::items::item_commands::{OpenItem, ShowsItem};
use crate::parts::items::merge_requests;
use crate::parts::items::{last_seen, linked_items, merge_state};
use crate::parts::repository::apply_commits::Operation;
use crate::parts::repository::changed_files::Changes;
use crate::parts::repository::changed_files::keys::ShowsChanges;
use crate::parts::review::drafts::Drafts;
use crate::parts::{list, programs, review};
use crate::store::{Load, Want};
use crate::ui::text::{self, sanitize};
use crate::ui::theme::Role;
use changes::ChangesTab;
use commits::CommitsTab;
use overview::OverviewTab;
use paired_commits::PairedCommitsTab;
use pipelines::PipelinesTab;
use reads::MergeRequestReads;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The polling interval while the merge request is being rebased.
const REBASE_INTERVAL: Duration = Duration::from_secs(2);
/// The polling interval of an open merge request: others may push to it or comment on it.
const OPEN_INTERVAL: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Tab {
    #[default]
    Overview,
    Commits,
    Changes,
    Pipelines,
}

const TABS: &[Tab] = &[Tab::Overview, Tab::Commits, Tab::Changes, Tab::Pipelines];
const TITLES: &[&str] = &["Overview", "Commits", "Changes", "Pipelines"];

/// The reason why nothing can be opened.
const NOTHING_TO_OPEN: &str = "nothing under the cursor can be opened";

/// A merge request.
pub struct Mr {
    reads: MergeRequestReads,
    tab: Tab,
    overview: OverviewTab,
    commits: CommitsTab,
    /// The commits while changes since a review are shown.
    paired_commits: PairedCommitsTab,
    changes: ChangesTab,
    pipelines: PipelinesTab,
    /// The drafts of comments on it.
    drafts: Drafts,
    /// The number of notes in the last reply for the merge request.
    counted: Option<u64>,
}

impl Mr {
    /// Returns the shown tab.
    fn part(&self) -> &dyn Pane {
        match self.tab {
            Tab::Overview => &self.overview,
            Tab::Commits if self.paired_commits.is_shown() => &self.paired_commits,
            Tab::Commits => &self.commits,
            Tab::Changes => &self.changes,
            Tab::Pipelines => &self.pipelines,
        }
    }

    fn part_mut(&mut self) -> &mut dyn Pane {
        match self.tab {
            Tab::Overview => &mut self.overview,
            Tab::Commits if self.paired_commits.is_shown() => &mut self.paired_commits,
            Tab::Commits => &mut self.commits,
            Tab::Changes => &mut self.changes,
            Tab::Pipelines => &mut self.pipelines,
        }
    }

    /// Returns whether the item under the cursor can be opened, or why not.
    fn can_enter(&self, view: &View) -> Result<(), Disabled> {
        match self.tab {
            Tab::Overview => self.overview.can_enter(view),
            Tab::Commits if self.paired_commits.is_shown() => self.paired_commits.can_enter(),
            Tab::Commits => {
                list::need(self.commits.current(view), &self.commits.rows(view), NOTHING_TO_OPEN).map(|_| ())
            }
            Tab::Changes => Ok(()),
            Tab::Pipelines => self.pipelines.can_enter(view),
        }
    }

    /// Goes to the next or previous item.
    fn step(&mut self, forward: bool) {
        match self.tab {
            Tab::Overview => self.overview.conversation.step_note(forward),
            Tab::Changes => self.changes.changes.step_file(forward),
            Tab::Commits | Tab::Pipelines => {}
        }
    }

    /// Folds or unfolds the item under the cursor.
    fn fold(&mut self, cx: &Cx) {
        match self.tab {
            Tab::Overview => self.overview.fold(cx),
            Tab::Changes => self.changes.changes.fold(),
            Tab::Commits | Tab::Pipelines => {}
        }
    }

    fn show_overview(&mut self) {
        self.tab = Tab::Overview;
    }

    fn show_changes(&mut self) -> &mut ChangesTab {
        self.tab = Tab::Changes;
        &mut self.changes
    }

    /// Returns the changes if their tab is shown.
    fn shown_changes(&self) -> Result<&ChangesTab, Disabled> {
        if self.tab == Tab::Changes { Ok(&self.changes) } else { Err("only on the Changes tab".into()) }
    }

    fn checkout(&self, view: &View) -> Result<Checkout, Disabled> {
        let known = self.reads.known(view).ok_or("it has not loaded yet")?;
        merge_requests::check_out(view, &merge_requests::project(known, view), known)
    }

    /// Asks where to check out: in the clone, or in a working tree of its own beside it, which can be removed again.
    fn ask_to_check_out(&mut self, cx: &mut Cx) {
        let Ok(checkout) = self.checkout(&cx.view) else { return };
        let shown = |path: &Path| sanitize(&path.display().to_string()).into_owned();
        let folder = shown(&checkout.folder);
        let Some(path) = Worktree::path(&checkout.folder, self.reads.iid) else {
            // There is nothing beside the root of the disk.
            return cx.act(Action::CheckOut(checkout));
        };
        let beside = |order: fn(PathBuf) -> Worktree| {
            Action::CheckOut(Checkout { worktree: Some(order(path.clone())), ..checkout.clone() })
        };
        let question = format!("Remove {}? Its branch is kept. With changes in it, it stays.", shown(&path));
        let remove = App::confirm("Remove worktree", question, beside(Worktree::Remove));
        let why_not = match () {
            () if path == checkout.folder => Some("labscope works in it"),
            () if self.reads.known(&cx.view).is_some_and(MergeRequest::is_open) => {
                Some("the merge request is still open")
            }
            () => None,
        };
        let items = vec![
            Item::act("In this clone", Action::CheckOut(checkout.clone())).detail(folder),
            Item::act("In a worktree beside it", beside(Worktree::Use)).detail(shown(&path)),
            Item::act("Remove worktree…", remove).detail(shown(&path)).unless(why_not),
        ];
        cx.open(Picker::new(format!("Check out !{}", self.reads.iid), items));
    }

    /// Reloads the notes if the number of notes in the merge request changed.
    fn reload_changed_notes(&mut self, cx: &mut Cx) {
        let Some(known) = self.reads.known(&cx.view) else { return };
        let notes = self.reads.notes(&cx.view);
        let Some(count) = known.user_notes_count else { return };
        if *self.counted.get_or_insert(count) != count && notes.is_loaded && !notes.is_loading() {
            self.counted = Some(count);
            let load = self.reads.noteable().load_conversation(&cx.view, notes.pages());
            cx.act(Action::Reload(load.map(Want::from).into_iter().collect()));
        }
    }

    /// Returns the number of the merge request above or below in the stack, or why there is none.
    fn next_in_stack(&self, above: bool, view: &View) -> Result<u64, Disabled> {
        let stack = self.reads.stack(view);
        let next = if above { stack.above.first() } else { stack.below.first() };
        let none = if above { "no open merge request targets its branch" } else { "it targets no other one's branch" };
        next.map(|next| next.iid).ok_or_else(|| none.into())
    }

    /// Goes to the merge request above or below in the stack, with the same tab.
    fn walk_stack(&mut self, above: bool, cx: &mut Cx) {
        if let Ok(iid) = self.next_in_stack(above, &cx.view) {
            let place = Place::new("mr").project(self.reads.project.clone()).item(iid);
            let tab = TITLES.get(self.tab as usize).filter(|_| self.tab != Tab::Overview);
            cx.go(Place { tab: tab.map(|title| title.to_lowercase()), ..place });
        }
    }

    fn go_to_jobs(&mut self, cx: &mut Cx) {
        if let Some(pipeline) = self.reads.pipeline(&cx.view) {
            cx.go(self.reads.jobs_place(&cx.view, pipeline));
        }
    }
}

impl ShowsChanges for Mr {
    fn changes(&mut self) -> &mut Changes {
        &mut self.changes.changes
    }

    fn on_changes(&self, _: &View) -> Result<(), Disabled> {
        self.shown_changes()?.changes.need_loaded()
    }
}

const OPEN: Table<Mr> = &[Command::new("mr.open", &["Enter"], "Open selection", Mr::enter)
    .footer("open")
    .when(|pane, view| pane.can_enter(view))];

/// Suggestions, and submitting the review.
const REVIEW: Table<Mr> = &[
    Command::new("mr.suggest", &["i"], "Suggest a change…", |pane: &mut Mr, cx| {
        pane.changes.comment_here(true, cx);
    })
    .writes()
    .when(Mr::can_suggest),
    Command::new("mr.apply", &["Y"], "Apply suggestion…", |pane: &mut Mr, cx| pane.apply(cx))
        .footer("apply")
        .writes()
        .when(Mr::can_apply),
    Command::new("mr.apply_all", &[], "Apply all suggestions…", |pane: &mut Mr, cx| pane.apply_all(cx))
        .writes()
        .when(Mr::can_apply_all),
    Command::new("mr.send", &["S"], "Submit review…", |pane: &mut Mr, cx| pane.submit_review(cx))
        .footer("submit review")
        .writes()
        .when(Mr::can_submit_review),
    Command::new("mr.answer", &["M-e"], "Resolve changed threads…", |pane: &mut Mr, cx| pane.answer_threads(cx))
        .writes()
        .when(Mr::can_answer),
    Command::new("mr.list_threads", &[], "Open threads in editor", |pane: &mut Mr, cx| pane.list_threads(cx))
        .when(Mr::can_list_threads),
    Command::new("mr.withdraw", &[], "Withdraw request for changes", |pane: &mut Mr, cx| pane.withdraw(cx))
        .writes()
        .when(Mr::can_withdraw),
];

const STEPS: Table<Mr> = &[
    Command::new("mr.next", &["]"], "Next file or comment", |pane: &mut Mr, _| pane.step(true))
        .footer("next")
        .when(Mr::can_step),
    Command::new("mr.previous", &["["], "Previous file or comment", |pane: &mut Mr, _| pane.step(false))
        .when(Mr::can_step),
];

impl ShowsItem for Mr {
    const PEOPLE: &'static str = "Edit reviewers and assignees…";
    const EDIT_FIELDS: Permission = permission::EDIT_MERGE_REQUEST;

    fn item<'a>(&self, view: &View<'a>) -> Result<(Id, OpenItem<'a>), Disabled> {
        let known = self.reads.known(view).ok_or("it has not loaded yet")?;
        Ok((self.reads.project.clone(), OpenItem::MergeRequest(known)))
    }
}

impl PaneKind for Mr {
    const ID: &'static str = "mr";
    const TABLES: &'static [Table<Self>] = &[
        OPEN,
        Self::COMMENTS,
        Self::EDIT,
        Self::DELETE,
        REVIEW,
        Self::RESOLVE,
        Self::THREADS,
        STEPS,
        Self::CHANGES,
        Self::LINES,
        Self::READING,
        Self::COMMANDS,
        Self::ITEM,
    ];
    const COMMANDS: Table<Self> = &[
        Command::new("mr.request_review", &["@"], "Request review again…", |pane: &mut Self, cx| {
            let view = cx.view;
            if let Some(known) = pane.reads.known(&view) {
                review::request_review::form(&pane.reads.project, known, &view).open(cx);
            }
        })
        .needs(permission::EDIT_MERGE_REQUEST)
        .when(|pane, view| {
            pane.can_comment(view)?;
            review::request_review::can_request(view)?;
            pane.open_merge_request(view).map(|_| ())
        }),
        Command::new("mr.since", &["u"], "Toggle changes since review", |pane: &mut Self, cx| {
            pane.changes.toggle_since(cx);
        })
        .when(|pane, view| pane.shown_changes()?.can_toggle_since(view)),
        Command::new("mr.ends", &["U"], "Show full diff", |pane: &mut Self, cx| {
            pane.changes.compare_ends(cx);
        })
        .when(|pane, view| pane.shown_changes()?.can_compare_ends(view)),
        Command::new("mr.versions", &[], "Compare versions…", |pane: &mut Self, cx| {
            pane.changes.compare_versions(cx)
        })
        .when(|pane, view| pane.changes.can_compare_versions(view)),
        Command::new("mr.heads", &[], "Compare heads", |pane: &mut Self, _| pane.changes.compare_heads())
            .when(|pane, _| pane.shown_changes()?.can_compare_heads()),
        Command::new("mr.conflicts", &["M-m"], "Toggle side of conflicts", |pane: &mut Self, _| {
            pane.changes.toggle_conflicts();
        })
        .when(|pane, _| pane.shown_changes()?.can_toggle_conflicts()),
        Command::new("mr.reviewed", &["M-r"], "Toggle reviewed changes", |pane: &mut Self, _| {
            pane.changes.toggle_reviewed();
        })
        .when(|pane, _| pane.shown_changes()?.can_toggle_reviewed()),
        Command::new("mr.next_commit", &[")"], "Next commit", |pane: &mut Self, cx| pane.changes.step_commit(true, cx))
            .when(|pane, view| pane.shown_changes()?.can_step_commit(view)),
        Command::new("mr.previous_commit", &["("], "Previous commit", |pane: &mut Self, cx| {
            pane.changes.step_commit(false, cx);
        })
        .when(|pane, view| pane.shown_changes()?.can_step_commit(view)),
        Command::new("mr.commit", &[], "Open commit", |pane: &mut Self, cx| {
            let commit = Place::new("commit").project(pane.reads.project.clone());
            cx.go(Place { item: pane.changes.shown_sha().map(str::to_owned), ..commit });
        })
        .when(|pane, _| {
            let is_narrow = pane.shown_changes()?.shown_sha().is_some();
            if is_narrow { Ok(()) } else { Err("only while one commit is shown".into()) }
        }),
        Command::new("mr.stack_above", &[">"], "Next in stack", |pane: &mut Self, cx| pane.walk_stack(true, cx))
            .when(|pane, view| pane.next_in_stack(true, view).map(|_| ())),
        Command::new("mr.stack_below", &["<"], "Previous in stack", |pane: &mut Self, cx| pane.walk_stack(false, cx))
            .when(|pane, view| pane.next_in_stack(false, view).map(|_| ())),
        Command::new("mr.fold", &["-"], "Toggle file or thread fold", |pane: &mut Self, cx| pane.fold(cx))
            .when(Mr::can_step),
        Command::new("mr.jobs", &["J"], "Go to pipeline jobs", |pane: &mut Self, cx| pane.go_to_jobs(cx)).when(
            |pane, view| {
                pane.reads.known(view).ok_or("it has not loaded yet")?;
                let rows = view.store.list(&pane.reads.pipelines());
                list::need(pane.reads.pipeline(view), &rows, "it has no pipeline").map(|_| ())
            },
        ),
        Command::new("mr.change", &["E"], "Edit merge request…", Self::edit_whole)
            .needs(permission::EDIT_MERGE_REQUEST),
        Command::new("mr.close", &["X"], "Close or reopen merge request", |pane: &mut Self, cx| {
            if let Some(merge_request) = pane.reads.known(&cx.view) {
                cx.act(merge_requests::ask_to_close_or_reopen(&pane.reads.project, merge_request));
            }
        })
        .needs(permission::EDIT_MERGE_REQUEST)
        .when(|pane, view| merge_requests::can_close_or_reopen(pane.reads.known(view))),
        Command::new("mr.check_out", &["O"], "Check out branch…", Self::ask_to_check_out)
            .when(|pane, view| pane.checkout(view).map(|_| ())),
        Command::new("mr.approve", &["A"], "Approve or revoke approval", |pane: &mut Self, cx| pane.approve(cx))
            .footer("approve")
            .needs(permission::PARTICIPATE)
            .when(Mr::can_approve),
        Command::new("mr.merge", &["M"], "Merge or cancel auto-merge…", |pane: &mut Self, cx| pane.merge(cx))
            .footer("merge")
            .writes()
            .when(Mr::can_merge),
        Command::new("mr.rebase", &["B"], "Rebase source branch…", |pane: &mut Self, cx| pane.rebase(cx))
            .writes()
            .when(Mr::can_rebase),
        Command::new("mr.revert", &["Z"], "Revert merge request…", |pane: &mut Self, cx| {
            pane.apply_to_branch(Operation::Revert, cx);
        })
        .needs(permission::PUSH)
        .when(|pane, view| pane.merged_commits(Operation::Revert, view).map(|_| ())),
        Command::new("mr.pick", &["p"], "Cherry-pick to branch…", |pane: &mut Self, cx| {
            pane.apply_to_branch(Operation::CherryPick, cx);
        })
        .needs(permission::PUSH)
        .when(|pane, view| pane.merged_commits(Operation::CherryPick, view).map(|_| ())),
        Command::new("mr.linked", &["m"], "Open linked item…", |pane: &mut Self, cx| {
            let view = cx.view;
            if let Some(known) = pane.reads.known(&view) {
                linked_items::open(&pane.reads.linked().groups(&view), known.project_id, &pane.reads.project, cx);
            }
        })
        .when(|pane, view| linked_items::can_open(&pane.reads.linked().groups(view))),
        Command::new("mr.add_dependency", &["&"], "Add dependency…", |pane: &mut Self, cx| {
            pane.reads.linked().add(cx)
        })
        .needs(permission::EDIT_MERGE_REQUEST)
        .when(|pane, view| {
            pane.open_merge_request(view)?;
            pane.reads.linked().has_dependencies(view)
        }),
        Command::new("mr.remove_dependency", &[], "Remove dependency…", |pane: &mut Self, cx| {
            let view = cx.view;
            if let Some(known) = pane.reads.known(&view) {
                pane.reads.linked().remove(known.project_id, cx);
            }
        })
        .needs(permission::EDIT_MERGE_REQUEST)
        .when(|pane, view| pane.reads.linked().has_blocking(view)),
        Command::new("mr.draft", &["d"], "Mark as draft or ready", |pane: &mut Self, cx| pane.toggle_draft(cx))
            .needs(permission::EDIT_MERGE_REQUEST)
            .when(|pane, view| pane.open_merge_request(view).map(|_| ())),
    ];

    fn is_own(&self, view: &View) -> bool {
        self.reads.known(view).is_some_and(|known| view.is_me(known.owners()))
    }

    fn open(place: &Place, view: &View) -> Self {
        let named = |title: &&str| place.tab.as_deref().is_some_and(|tab| title.eq_ignore_ascii_case(tab));
        let tab = TITLES.iter().position(named).and_then(|index| TABS.get(index));
        let reads = MergeRequestReads::of(place).with_listed(view);
        Mr {
            tab: tab.copied().unwrap_or_default(),
            overview: OverviewTab::open(place, reads.clone()),
            reads,
            commits: CommitsTab::open(place, view),
            paired_commits: PairedCommitsTab::new(MergeRequestReads::of(place)),
            changes: ChangesTab::open(place),
            pipelines: PipelinesTab::new(MergeRequestReads::of(place)),
            drafts: Drafts::default(),
            counted: None,
        }
    }
}

impl Pane for Mr {
    fn focused(&self) -> Option<&dyn Pane> {
        Some(self.part())
    }

    fn focused_mut(&mut self) -> Option<&mut dyn Pane> {
        Some(self.part_mut())
    }

    fn footer_word(&self, id: &str, view: &View) -> Option<&'static str> {
        (id == "mr.approve" && self.reads.has_approved(view)).then_some("revoke")
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut out = breadcrumbs::project(Some(&self.reads.project));
        out.push(Breadcrumb::new(format!("!{}", self.reads.iid), Role::Text));
        // On a narrow screen, the title is cut.
        if self.tab == Tab::Overview {
            out.extend(self.overview.breadcrumbs(view));
        }
        if let Some(merge_request) = self.reads.shown(view) {
            out.push(Breadcrumb::new(merge_requests::title(merge_request), Role::Text));
            let (mark, word, role) = merge_requests::state(merge_request);
            out.push(Breadcrumb::new(format!("{mark} {word}"), role));
        }
        out
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let known = self.reads.known(view);
        // The merge request comes first: everything else depends on it, and if it is missing, it is requested only
        // once.
        let open = known.is_some_and(MergeRequest::is_open);
        let request = Load::single(&self.reads.merge_request());
        let recheck = known.filter(|known| merge_state::is_unchecked(known));
        let recheck = recheck.and_then(|_| view.store.get(&self.reads.merge_request()).recheck_after());
        let request = match (open, self.reads.is_live(view)) {
            _ if recheck.is_some() => request.refresh_after(recheck),
            _ if known.is_some_and(|known| known.rebase_in_progress == Some(true)) => {
                request.refresh_after(REBASE_INTERVAL)
            }
            (true, false) => request.refresh_after(OPEN_INTERVAL),
            _ => self.reads.polled(view, request),
        };
        let mut wants: Vec<Want> = vec![request.into()];
        wants.push(Load::single(&self.reads.approvals()).optional().into());
        if open && view.session.signed_in {
            // Drafts are stored by the path of the project.
            let drafts = self.reads.stored_noteable(view).list_draft_notes();
            wants.extend(drafts.map(|list| Load::list(&list, 1).optional().into()));
        }
        wants.extend(self.part().wants(view));
        wants
    }

    fn changed(&mut self, cx: &mut Cx) {
        let view = cx.view;
        self.drafts.sync(&self.reads.stored_noteable(&view), cx);
        self.reload_changed_notes(cx);
        self.paired_commits.set_versions(self.changes.paired_versions(&view));
        self.part_mut().changed(cx);
        if let Some(look) = self.reads.known(&view).and_then(|merge_request| last_seen::remember(&view, merge_request))
        {
            cx.act(look);
        }
        self.locate_threads(cx);
    }

    fn tabs(&self) -> Tabs {
        Tabs { titles: TITLES, selected: self.tab as usize }
    }

    fn tab_count(&self, index: usize, view: &View) -> Option<String> {
        match TABS.get(index)? {
            Tab::Overview => None,
            Tab::Commits => {
                let rows = view.store.list(&self.reads.commits());
                list::count(&rows, rows.len(), None)
            }
            Tab::Changes => {
                let count = self.reads.known(view)?.changes_count()?;
                // A server may list more files than it counts.
                let all = view.store.get(&self.reads.changes()).value.filter(|all| !all.is_overflowing());
                let listed = all.filter(|_| count.ends_with('+')).and_then(|all| all.changes.as_ref());
                Some(listed.map_or_else(|| count.to_owned(), |files| text::count(files.len() as u64)))
            }
            Tab::Pipelines => {
                let rows = view.store.list(&self.reads.pipelines());
                list::count(&rows, rows.len(), None)
            }
        }
    }

    fn select_tab(&mut self, index: usize, _cx: &mut Cx) {
        if let Some(tab) = TABS.get(index) {
            self.tab = *tab;
        }
    }

    fn code(&self, view: &View) -> CodeHere {
        CodeHere { thread: self.thread_line(view), ..self.part().code(view) }
    }

    fn command_input(&self, kind: InputKind, view: &View) -> Result<CommandInput, Disabled> {
        let known = self.reads.known(view).ok_or("it has not loaded yet")?;
        let (about, branch) = (programs::about(&self.reads.project, known), self.source(view));
        match kind {
            InputKind::Thread => programs::thread(self, branch, view),
            InputKind::Diff => Ok(programs::diff(self.shown_changes()?.for_program(about, branch, view)?)),
            InputKind::MergeRequest => Ok(programs::merge_request(self.reads.stored_noteable(view), about, branch)),
            InputKind::Trace | InputKind::Test => Err(kind.missing()),
        }
    }

    fn url(&self, view: &View) -> Option<String> {
        self.reads.shown(view).map(|m| m.web_url.clone()).filter(|url| !url.is_empty())
    }

    fn copies(&self, view: &View) -> Vec<Clip> {
        let mut copies = self.part().copies(view);
        let known = self.reads.shown(view);
        copies.extend(known.map(merge_requests::copies).unwrap_or_default());
        let merged = known.and_then(|known| known.merge_commit_sha.as_ref()).filter(|sha| !sha.is_empty());
        copies.extend(merged.map(|sha| Clip::line("merge commit SHA", sha.clone())));
        copies
    }
}
