//! A merge request: overview with comments, commits, changes and pipelines.

mod comment_actions;
mod commits;
mod conversation;
mod decisions;
mod facts;
mod inline_comments;
mod pipelines;
mod reads;
mod scope;
mod suggestions;
mod versions;

use crate::api::jobs::Job;
use crate::api::merge_requests::{ListParticipants, MergeRequest};
use crate::app::action::Action;
use crate::app::clip::Clip;
use crate::app::clone::Checkout;
use crate::app::command::Command;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pane::{Breadcrumb, Pane, PaneKind, SearchMode, Tabs};
use crate::app::place::Place;
use crate::app::place_info::Needs;
use crate::app::pointer::Pointer;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::panes::mr::inline_comments::Comments;
use crate::parts::changed_files::keys::{self, ShowsChanges};
use crate::parts::changed_files::{Changes, FileLocation, Input};
use crate::parts::list::{self, draw_error};
use crate::parts::review::diff_comments::DiffComments;
use crate::parts::review::drafts::Drafts;
use crate::parts::review::threads;
use crate::parts::{breadcrumbs, forms, label_colors, last_seen, rendered_markdown, review, secondary, sidebar};
use crate::store::{Load, Want};
use crate::ui::diff::FileDiff;
use crate::ui::line::Line;
use crate::ui::panels::Panels;
use crate::ui::state;
use crate::ui::text::sanitize;
use crate::ui::theme::Role;
use commits::CommitsTab;
use conversation::{Content, Conversation, UnderCursor};
use decisions::CommonChanges;
use facts::Facts;
use pipelines::PipelinesTab;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use reads::Reads;
use scope::{Scope, SeenHeads};
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
const NAMES: &[&str] = &["overview", "commits", "changes", "pipelines"];
const TITLES: &[&str] = &["Overview", "Commits", "Changes", "Pipelines"];

/// A merge request.
pub struct Mr {
    reads: Reads,
    tab: Tab,
    conversation: Conversation,
    commits: CommitsTab,
    changes: Changes,
    scope: Scope,
    seen: SeenHeads,
    pipelines: PipelinesTab,
    /// The drafts of comments on it.
    drafts: Drafts,
    /// The comments shown within the changes.
    diff_comments: DiffComments,
    comments: Comments,
    common_changes: CommonChanges,
    /// The number of notes in the last reply for the merge request.
    counted: Option<u64>,
    /// The file of the thread that was opened in the changes, until it is known whether they contain it.
    opened_path: Option<String>,
}

impl Mr {
    fn participants_of(&self) -> ListParticipants {
        ListParticipants { id: self.reads.project.clone(), merge_request_iid: self.reads.iid }
    }

    fn content<'a>(&'a self, view: &View<'a>) -> Option<Content<'a>> {
        let merge_request = self.reads.known(view)?;
        let pipeline = self.reads.pipeline(view);
        let jobs: Vec<&Job> = match pipeline {
            // The list of jobs has the latest first; stages are derived from the first job on.
            Some(pipeline) => {
                let rows = view.store.list(&self.reads.jobs(view, pipeline));
                let mut jobs: Vec<&Job> = (0..rows.len().min(40)).filter_map(|index| rows.get(index)).collect();
                jobs.sort_by_key(|job| job.id);
                jobs
            }
            None => Vec::new(),
        };
        Some(Content {
            facts: Facts {
                merge_request,
                pipeline,
                jobs,
                participants: view.store.list(&self.participants_of()),
                approvals: self.approvals(view),
                approval_rules: self.approval_rules(view),
                common_changes: &self.common_changes.paths,
                labels: label_colors::known(view, &self.reads.project),
                reviewers: view.store.list(&self.reviewers_of()),
            },
            drafts: self.drafts.drafts(),
            identity: rendered_markdown::identity(merge_request.description.as_deref().unwrap_or_default()),
            on: self.reads.noteable(),
            versions: view.store.list(&self.versions_of()),
            notes: self.reads.notes(view),
            comments: &self.comments.notes,
            comments_revision: self.comments.revision,
        })
    }

    fn show_tab(&mut self, tab: Tab) {
        self.tab = tab;
    }

    /// Opens the item under the cursor.
    fn enter(&mut self, cx: &mut Cx) {
        match self.tab {
            Tab::Overview => {
                let notes = self.reads.notes(&cx.view);
                match self.conversation.at_cursor() {
                    _ if self.conversation.is_folded() => self.conversation.toggle(&notes),
                    UnderCursor::System => self.conversation.toggle(&notes),
                    UnderCursor::Draft(_) => self.edit(cx),
                    UnderCursor::Note(index) => {
                        let note = conversation::note_at(&notes, &self.comments.notes, index);
                        if let Some(position) = note.and_then(|note| threads::place(note).0) {
                            // Goes to the thread in the changes; if it is not shown there, to its line.
                            if !self.diff_comments.go_to(&position, &mut self.changes) {
                                self.opened_path = Some(position.path.clone());
                                self.changes.show(FileLocation {
                                    line: position.line(),
                                    old: position.old,
                                    path: position.path,
                                });
                            }
                            self.tab = Tab::Changes;
                        }
                    }
                    UnderCursor::Other => {}
                }
            }
            Tab::Commits => self.commits.enter(cx),
            Tab::Changes if self.diff_comments.draft(&self.changes).is_some() => self.edit(cx),
            Tab::Changes if self.diff_comments.toggle(&self.changes) => {}
            Tab::Changes => self.changes.enter(),
            Tab::Pipelines => self.pipelines.enter(cx),
        }
    }

    /// Returns to the overview if the changes do not contain the file of the thread that was opened in them.
    fn leave_if_missing(&mut self, input: Option<&Input>, cx: &mut Cx) {
        let Some(input) = input.filter(|input| input.entries.is_empty() || self.changes.shows_all(input)) else {
            return;
        };
        let Some(path) = self.opened_path.take() else { return };
        let is_there = |file: &FileDiff| file.path() == path || file.source.old_path == path;
        if self.tab != Tab::Changes
            || (!input.entries.is_empty() && self.changes.files().iter().any(|file| is_there(file)))
        {
            return;
        }
        self.tab = Tab::Overview;
        let path = sanitize(&path);
        cx.say(
            Tone::Warning,
            match self.scope {
                Scope::All => format!("{path} is no longer among the changes."),
                _ => format!("{path} is not among the shown changes; ‹mr.since› shows all."),
            },
        );
    }

    fn can_enter(&self, view: &View) -> Result<(), Disabled> {
        let none = "nothing under the cursor can be opened";
        match self.tab {
            Tab::Overview => {
                let notes = self.reads.notes(view);
                let there = match self.conversation.at_cursor() {
                    UnderCursor::System | UnderCursor::Draft(_) => true,
                    _ if self.conversation.is_folded() => true,
                    UnderCursor::Note(index) => {
                        let note = conversation::note_at(&notes, &self.comments.notes, index);
                        note.is_some_and(|note| threads::place(note).0.is_some())
                    }
                    UnderCursor::Other => false,
                };
                list::need(Some(()).filter(|()| there), &notes, none)
            }
            Tab::Commits => list::need(self.commits.current(view), &self.commits.rows(view), none).map(|_| ()),
            Tab::Changes => Ok(()),
            Tab::Pipelines => self.pipelines.can_enter(view),
        }
    }

    fn step(&mut self, forward: bool) {
        match self.tab {
            Tab::Overview => self.conversation.step_note(forward),
            Tab::Changes => self.changes.step_file(forward),
            Tab::Commits | Tab::Pipelines => {}
        }
    }

    /// Goes to the next or previous unresolved thread; if all are resolved, to the next or previous comment.
    fn step_comment(&mut self, forward: bool) {
        match self.tab {
            Tab::Overview => self.conversation.step_thread(forward),
            Tab::Changes => _ = self.diff_comments.next_thread(forward, &mut self.changes),
            Tab::Commits | Tab::Pipelines => {}
        }
    }

    fn fold(&mut self, cx: &mut Cx) {
        match self.tab {
            Tab::Overview => {
                let notes = self.reads.notes(&cx.view);
                self.conversation.toggle(&notes);
            }
            Tab::Changes => self.changes.fold(),
            Tab::Commits | Tab::Pipelines => {}
        }
    }

    fn checkout(&self, view: &View) -> Result<Checkout, Disabled> {
        let known = self.reads.known(view).ok_or("it has not loaded yet")?;
        review::check_out(view, &review::project(known, view), known)
    }

    fn has_steps(&self, _: &View) -> Result<(), Disabled> {
        match self.tab {
            Tab::Overview | Tab::Changes => Ok(()),
            Tab::Commits | Tab::Pipelines => Err("only on the Overview and Changes tabs".into()),
        }
    }

    /// Reloads the notes if the number of notes in the merge request changed.
    fn reload_changed_notes(&mut self, cx: &mut Cx) {
        let Some(known) = self.reads.known(&cx.view) else { return };
        let notes = self.reads.notes(&cx.view);
        let Some(count) = known.user_notes_count else { return };
        let before = self.counted.replace(count);
        if before.is_some_and(|before| before != count) && notes.is_loaded && !notes.is_loading {
            let load = self.reads.noteable().load_conversation(&cx.view, notes.pages());
            cx.act(Action::Reload(load.map(Want::from).into_iter().collect()));
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
        &mut self.changes
    }

    fn on_changes(&self, _: &View) -> Result<(), Disabled> {
        if self.tab == Tab::Changes { Ok(()) } else { Err("only on the Changes tab".into()) }
    }
}

impl PaneKind for Mr {
    const ID: &'static str = "mr";
    const TITLE: &'static str = "Merge request";
    const NEEDS: Needs = Needs::Item;
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("mr.open", &["Enter"], "Open selection", |pane: &mut Self, cx| pane.enter(cx))
            .footer("open")
            .when(Mr::can_enter),
        Command::new("mr.comment", &["c"], "Add comment…", |pane: &mut Self, cx| pane.comment(cx))
            .footer("note")
            .writes()
            .when(Mr::can_comment),
        Command::new("mr.comment_here", &["C"], "Comment on selected lines…", |pane: &mut Self, cx| {
            pane.comment_here(false, cx);
        })
        .footer("comment")
        .writes()
        .when(Mr::can_comment_here),
        Command::new("mr.suggest", &["i"], "Suggest a change…", |pane: &mut Self, cx| {
            pane.comment_here(true, cx);
        })
        .writes()
        .when(Mr::can_suggest),
        Command::new("mr.apply", &["Y"], "Apply suggestion…", |pane: &mut Self, cx| pane.apply(cx))
            .footer("apply")
            .writes()
            .when(Mr::can_apply),
        Command::new("mr.apply_all", &[], "Apply all suggestions…", |pane: &mut Self, cx| pane.apply_all(cx))
            .writes()
            .when(Mr::can_apply_all),
        Command::new("mr.labels", &["L"], "Edit labels…", |pane: &mut Self, cx| {
            forms::merge_request::labels(&pane.reads.project, pane.reads.iid, &cx.view).open(cx);
        })
        .writes()
        .when(Mr::can_comment),
        Command::new("mr.people", &["P"], "Edit reviewers and assignees…", |pane: &mut Self, cx| {
            let has_reviewers = pane.reads.known(&cx.view).is_some_and(|known| known.reviewers.is_some());
            let form = if has_reviewers { forms::merge_request::reviewers } else { forms::merge_request::assignee };
            form(&pane.reads.project, pane.reads.iid, &cx.view).open(cx);
        })
        .writes()
        .when(Mr::can_comment),
        Command::new("mr.reply", &["R"], "Reply to comment…", |pane: &mut Self, cx| pane.reply(cx))
            .footer("reply")
            .writes()
            .when(Mr::has_note),
        Command::new("mr.edit", &["e"], "Edit comment…", |pane: &mut Self, cx| pane.edit(cx))
            .writes()
            .when(Mr::can_edit_note),
        Command::new("mr.delete", &["D"], "Delete comment…", |pane: &mut Self, cx| pane.delete(cx))
            .writes()
            .when(Mr::can_edit_note),
        Command::new("mr.send", &["S"], "Submit review…", |pane: &mut Self, cx| pane.submit_review(cx))
            .footer("submit review")
            .writes()
            .when(|pane, view| pane.drafts.can_send(view)),
        Command::new("mr.resolve", &["t"], "Resolve or reopen thread", |pane: &mut Self, cx| pane.resolve(cx))
            .footer("resolve")
            .writes()
            .when(Mr::can_resolve),
        Command::new("mr.thread", &[], "Start thread…", |pane: &mut Self, cx| pane.start_thread(cx))
            .writes()
            .when(Mr::can_start_thread),
        Command::new("mr.react", &["*"], "React with emoji…", |pane: &mut Self, cx| {
            if let Ok(reactions) = pane.reactions(&cx.view) {
                reactions.choose(cx);
            }
        })
        .writes()
        .when(|pane, view| pane.reactions(view)?.check(view)),
        Command::new("mr.drafts", &["K"], "Show drafts…", |pane: &mut Self, cx| pane.list_drafts(cx)),
        Command::new("mr.next_comment", &[";"], "Next unresolved thread", |pane: &mut Self, _| {
            pane.step_comment(true);
        })
        .when(Mr::has_steps),
        Command::new("mr.previous_comment", &[","], "Previous unresolved thread", |pane: &mut Self, _| {
            pane.step_comment(false);
        })
        .when(Mr::has_steps),
        Command::new("mr.next", &["]"], "Next file or comment", |pane: &mut Self, _| pane.step(true))
            .footer("next")
            .when(Mr::has_steps),
        Command::new("mr.previous", &["["], "Previous file or comment", |pane: &mut Self, _| pane.step(false))
            .when(Mr::has_steps),
        Command::new("mr.next_hunk", &["}"], "Next hunk", |pane: &mut Self, _| pane.changes.step_hunk(true))
            .footer("hunk")
            .when(Mr::on_changes),
        Command::new("mr.previous_hunk", &["{"], "Previous hunk", |pane: &mut Self, _| {
            pane.changes.step_hunk(false);
        })
        .when(Mr::on_changes),
        Command::new("mr.mark", &["Space"], "Toggle line selection", |pane: &mut Self, _| {
            pane.changes.toggle_selection();
        })
        .when(Mr::on_changes),
        Command::new("mr.since", &["u"], "Toggle changes since last look", |pane: &mut Self, cx| {
            pane.toggle_since(cx);
        })
        .when(Mr::can_toggle_since),
        Command::new("mr.ends", &["U"], "Show full diff", |pane: &mut Self, cx| {
            pane.compare_ends(cx);
        })
        .when(Mr::can_compare_ends),
        Command::new("mr.versions", &[], "Compare versions…", |pane: &mut Self, cx| pane.compare_versions(cx))
            .when(Mr::can_compare_versions),
        Command::new("mr.next_commit", &[")"], "Next commit", |pane: &mut Self, cx| pane.step_commit(true, cx))
            .when(Mr::can_step_commit),
        Command::new("mr.previous_commit", &["("], "Previous commit", |pane: &mut Self, cx| {
            pane.step_commit(false, cx);
        })
        .when(Mr::can_step_commit),
        keys::layout("mr.layout"),
        keys::spaces("mr.spaces"),
        keys::wrap("mr.wrap"),
        keys::more("mr.more"),
        keys::more_up("mr.more_up"),
        keys::more_down("mr.more_down"),
        keys::viewed("mr.viewed"),
        keys::unviewed("mr.unviewed"),
        Command::new("mr.fold", &["-"], "Toggle file or thread fold", |pane: &mut Self, cx| pane.fold(cx))
            .when(Mr::has_steps),
        Command::new("mr.jobs", &["J"], "Go to pipeline jobs", |pane: &mut Self, cx| pane.go_to_jobs(cx)).when(
            |pane, view| {
                pane.reads.known(view).ok_or("it has not loaded yet")?;
                let rows = view.store.list(&pane.reads.pipelines());
                list::need(pane.reads.pipeline(view), &rows, "it has no pipeline").map(|_| ())
            },
        ),
        Command::new("mr.change", &["E"], "Edit merge request…", |pane: &mut Self, cx| {
            forms::merge_request::edit(&pane.reads.project, pane.reads.iid, &cx.view).open(cx);
        })
        .writes(),
        Command::new("mr.close", &["X"], "Close or reopen merge request", |pane: &mut Self, cx| {
            if let Some(merge_request) = pane.reads.known(&cx.view) {
                cx.act(review::close_or_reopen(&pane.reads.project, merge_request));
            }
        })
        .writes()
        .when(|pane, view| review::can_close_or_reopen(pane.reads.known(view))),
        Command::new("mr.check_out", &["O"], "Check out branch", |pane: &mut Self, cx| {
            if let Ok(checkout) = pane.checkout(&cx.view) {
                cx.act(Action::CheckOut(checkout));
            }
        })
        .when(|pane, view| pane.checkout(view).map(|_| ())),
        Command::new("mr.approve", &["A"], "Approve or revoke approval", |pane: &mut Self, cx| pane.approve(cx))
            .footer("approve")
            .writes()
            .when(Mr::can_approve),
        Command::new("mr.merge", &["M"], "Merge or cancel auto-merge…", |pane: &mut Self, cx| pane.merge(cx))
            .footer("merge")
            .writes()
            .when(Mr::can_merge),
        Command::new("mr.rebase", &["B"], "Rebase source branch…", |pane: &mut Self, cx| pane.rebase(cx))
            .writes()
            .when(Mr::can_rebase),
        Command::new("mr.draft", &[], "Mark as draft or ready", |pane: &mut Self, cx| pane.toggle_draft(cx))
            .writes()
            .when(|pane, view| pane.open_merge_request(view).map(|_| ())),
    ];

    fn open(place: &Place, view: &View) -> Self {
        let tab = place.tab.as_deref().and_then(|tab| NAMES.iter().position(|name| *name == tab));
        let tab = tab.and_then(|index| TABS.get(index)).copied().unwrap_or_default();
        let mut conversation = Conversation::default();
        conversation.want_note(place.note);
        let mut changes = Changes::default();
        if let Some(path) = &place.path {
            changes.show(FileLocation { path: path.clone(), line: place.line, old: false });
        }
        let reads = Reads::of(place);
        Mr {
            pipelines: PipelinesTab::new(reads.clone()),
            reads,
            tab,
            conversation,
            commits: CommitsTab::open(place, view),
            changes,
            scope: Scope::default(),
            seen: SeenHeads::default(),
            drafts: Drafts::default(),
            diff_comments: DiffComments::default(),
            comments: Comments::default(),
            common_changes: CommonChanges::default(),
            counted: None,
            opened_path: None,
        }
    }
}

impl Pane for Mr {
    fn focused(&self) -> Option<&dyn Pane> {
        match self.tab {
            Tab::Commits => Some(&self.commits),
            Tab::Pipelines => Some(&self.pipelines),
            Tab::Overview | Tab::Changes => None,
        }
    }

    fn focused_mut(&mut self) -> Option<&mut dyn Pane> {
        match self.tab {
            Tab::Commits => Some(&mut self.commits),
            Tab::Pipelines => Some(&mut self.pipelines),
            Tab::Overview | Tab::Changes => None,
        }
    }

    fn place(&self) -> Place {
        let place = self.reads.place();
        let name = NAMES.get(self.tab as usize).filter(|_| self.tab != Tab::Overview);
        Place { tab: name.map(|name| (*name).to_owned()), ..place }
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut out = breadcrumbs::project(Some(&self.reads.project));
        out.push(Breadcrumb::new(format!("!{}", self.reads.iid), Role::Text));
        if let Some(merge_request) = self.reads.known(view) {
            if self.tab != Tab::Overview {
                out.push(Breadcrumb::new(review::title(merge_request), Role::Text));
            }
            let (mark, word, role) = review::state(merge_request);
            out.push(Breadcrumb::new(format!("{mark} {word}"), role));
        }
        out
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let live = self.reads.is_live(view);
        let polled = |load: Load| self.reads.polled(view, load);
        // The merge request comes first: everything else depends on it, and if it is missing, it is requested only
        // once.
        let open = self.reads.known(view).is_some_and(MergeRequest::is_open);
        let request = Load::single(&self.reads.merge_request());
        let rebasing = self.reads.known(view).is_some_and(|known| known.rebase_in_progress == Some(true));
        let request = match (open, live) {
            _ if rebasing => request.refresh_after(REBASE_INTERVAL),
            (true, false) => request.refresh_after(OPEN_INTERVAL),
            _ => polled(request),
        };
        let mut wants: Vec<Want> = vec![request.into()];
        wants.push(Load::single(&self.approvals_of()).optional().into());
        if open && view.session.signed_in {
            // Drafts are stored by the path of the project.
            wants.extend(
                self.reads.stored_noteable(view).list_draft_notes().map(|list| Load::list(&list, 1).optional().into()),
            );
        }
        match self.tab {
            Tab::Overview => {
                wants.extend(self.reads.noteable().load_conversation(view, self.conversation.pages()).map(Want::from));
                wants.push(Load::list(&self.participants_of(), 1).optional().into());
                if self.reads.known(view).is_some_and(|known| !known.labels().is_empty()) {
                    wants.push(label_colors::load(&self.reads.project).optional().into());
                }
                if self
                    .reads
                    .known(view)
                    .is_some_and(|known| known.reviewers.as_ref().is_some_and(|all| !all.is_empty()))
                {
                    wants.push(Load::list(&self.reviewers_of(), 1).optional().into());
                }
                wants.extend(self.want_approval_rules(view));
                wants.extend(self.want_target_changes(view));
                wants.extend(self.conversation.is_any_outdated().then(|| self.want_versions()));
                // The commits are needed for the count in the title of their tab, and for their comments.
                wants.push(Load::list(&self.reads.commits(), 1).into());
                for list in self.comments_of(view) {
                    wants.push(Load::list(&list, 1).optional().into());
                }
                if self.reads.known(view).is_some_and(|m| m.pipeline().is_none()) {
                    wants.push(polled(Load::list(&self.reads.pipelines(), 1)).optional().into());
                }
                if let Some(pipeline) = self.reads.pipeline(view) {
                    wants.push(polled(Load::list(&self.reads.jobs(view, pipeline), 1)).optional().into());
                }
                if let Some(content) = self.content(view) {
                    wants.extend(self.conversation.works(view, &content).into_iter().map(Want::from));
                    wants.extend(self.conversation.reactions(view, &content));
                }
            }
            Tab::Changes => {
                wants.extend(self.scope_wants(view));
                wants.extend(self.changes.wants(view, self.input(view).as_ref()));
                wants.extend(self.inline_wants(view));
            }
            Tab::Commits | Tab::Pipelines => wants.extend(self.focused().into_iter().flat_map(|part| part.wants(view))),
        }
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        match self.tab {
            Tab::Overview => match self.content(view) {
                Some(content) => self.conversation.draw(view, area, buf, &content),
                None => match view.store.get(&self.reads.merge_request()).error {
                    Some(error) => draw_error(view, area, buf, error),
                    None => state::skeleton(buf, area, view.theme),
                },
            },
            Tab::Changes => {
                let input = self.input(view);
                let all = self.scope == Scope::All;
                let overflows = all && self.reads.known(view).is_some_and(MergeRequest::is_overflowing);
                let (note, body) =
                    if !all || overflows && input.is_some() { foot(area) } else { (Rect::default(), area) };
                let body = match input {
                    Some(_) => secondary::draw_line(view, body, buf, &self.inline_reads(view)),
                    None => body,
                };
                self.changes.draw(view, body, buf, input.as_ref(), self.scope_error(view));
                let left_out = "‹mr.ends› shows the full diff.";
                let words = self.scope_words(view).unwrap_or_else(|| {
                    format!(" The server left out files: the diff is too large. {}", view.with_keys(left_out))
                });
                Line::new(words, Role::Warning).draw(buf, note, view.theme);
            }
            Tab::Commits | Tab::Pipelines => {
                if let Some(part) = self.focused() {
                    part.view(view, area, buf);
                }
            }
        }
    }

    fn changed(&mut self, cx: &mut Cx) {
        let view = cx.view;
        let on = self.reads.stored_noteable(&view);
        self.drafts.sync(&on, cx);
        self.reload_changed_notes(cx);
        if self.tab == Tab::Overview {
            self.sync_comments(&view);
            self.sync_common_changes(&view);
            let mut conversation = std::mem::take(&mut self.conversation);
            if let Some(content) = self.content(&view) {
                conversation.sync(&view, &content);
            }
            self.conversation = conversation;
        }
        if let Some(part) = self.focused_mut() {
            part.changed(cx);
        }
        self.scope_sync(cx);
        let input = self.input(&view);
        self.changes.sync(&view, input.as_ref());
        self.leave_if_missing(input.as_ref(), cx);
        if let Some(look) = self.reads.known(&view).and_then(|merge_request| last_seen::remember(&view, merge_request))
        {
            cx.act(look);
        }
        if self.tab == Tab::Changes {
            self.sync_inline(cx);
        }
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        match self.tab {
            Tab::Overview => self.conversation.motion(motion),
            Tab::Changes => self.changes.motion(motion),
            Tab::Commits => self.commits.motion(motion, cx),
            Tab::Pipelines => self.pipelines.motion(motion, cx),
        }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        let open = match self.tab {
            Tab::Overview => match pointer {
                Pointer::Wheel { rows, .. } => {
                    self.conversation.motion(Motion::Wheel(rows));
                    false
                }
                Pointer::Press { row, double, .. } => {
                    self.conversation.click(row);
                    double
                }
                Pointer::Drag { .. } | Pointer::Release => false,
            },
            Tab::Changes => {
                self.changes.pointer(pointer);
                false
            }
            Tab::Commits | Tab::Pipelines => {
                if let Some(part) = self.focused_mut() {
                    part.pointer(pointer, cx);
                }
                false
            }
        };
        if open {
            self.enter(cx);
        }
    }

    fn ticks(&self, view: &View) -> bool {
        match self.tab {
            Tab::Overview => sidebar::is_wide(view) && self.reads.is_live(view),
            Tab::Pipelines => self.pipelines.ticks(view),
            Tab::Commits | Tab::Changes => false,
        }
    }

    fn panels(&mut self) -> Option<&mut Panels> {
        match self.tab {
            Tab::Changes => Some(self.changes.panels()),
            Tab::Pipelines => self.pipelines.panels(),
            Tab::Overview | Tab::Commits => None,
        }
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
            Tab::Changes => self.reads.known(view)?.changes_count().map(str::to_owned),
            Tab::Pipelines => {
                let rows = view.store.list(&self.reads.pipelines());
                list::count(&rows, rows.len(), None)
            }
        }
    }

    fn select_tab(&mut self, index: usize, _cx: &mut Cx) {
        if let Some(tab) = TABS.get(index) {
            self.show_tab(*tab);
        }
    }

    fn search_mode(&self) -> Option<SearchMode> {
        (self.tab == Tab::Changes).then(|| self.changes.search_mode())
    }

    fn filter_text(&self) -> String {
        self.changes.filter_text()
    }

    fn set_filter_text(&mut self, text: &str, _cx: &mut Cx) {
        self.changes.set_filter_text(text);
    }

    fn next_match(&mut self, forward: bool, _cx: &mut Cx) {
        if self.tab == Tab::Changes {
            self.changes.next_match(forward);
        }
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        match self.tab {
            Tab::Changes => self.changes.escape(&cx.view) || self.leave_scope(),
            Tab::Pipelines => self.pipelines.escape(cx),
            Tab::Overview | Tab::Commits => false,
        }
    }

    fn url(&self, view: &View) -> Option<String> {
        self.reads.known(view).map(|m| m.web_url.clone()).filter(|url| !url.is_empty())
    }

    fn position(&self, _view: &View) -> Option<(String, Option<u32>)> {
        let location = self.changes.location().filter(|_| self.tab == Tab::Changes)?;
        Some((location.path, location.line.filter(|_| !location.old)))
    }

    fn copies(&self, view: &View) -> Vec<Clip> {
        let mut copies = Vec::new();
        match self.tab {
            Tab::Overview => {
                let notes = self.reads.notes(view);
                let note = self
                    .conversation
                    .note()
                    .and_then(|index| conversation::note_at(&notes, &self.comments.notes, index));
                copies.extend(note.map(|note| Clip::lines("note", note.body.clone())));
            }
            Tab::Commits => copies.extend(self.commits.copies(view)),
            Tab::Changes => {
                copies.extend(self.changes.line_text().map(|text| Clip::code_line("line", text)));
                copies.extend(self.changes.location().map(|location| Clip::line("path", location.path)));
            }
            Tab::Pipelines => {}
        }
        let known = self.reads.known(view);
        copies.extend(known.map(review::copies).unwrap_or_default());
        let merged = known.and_then(|known| known.merge_commit_sha.as_ref()).filter(|sha| !sha.is_empty());
        copies.extend(merged.map(|sha| Clip::line("merge commit SHA", sha.clone())));
        copies
    }
}

/// Splits the last line from an area: returns that line, and the area above it.
fn foot(area: Rect) -> (Rect, Rect) {
    let height = area.height.saturating_sub(1);
    (Rect { y: area.y + height, height: area.height - height, ..area }, Rect { height, ..area })
}
