//! The merge requests of a project, of a group or of all projects, with tabs by state, and the description of the
//! selected one.

use crate::api::Noteable;
use crate::api::merge_requests::MergeRequest;
use crate::api::{Id, Scope};
use crate::app::command::Commands;
use crate::app::custom::InputKind;
use crate::app::features::Feature;
use crate::app::overlay::prompt::Prompt;
use crate::app::pane::CommandInput;
use crate::app::permission::{self, Permission};
use crate::app::query;
use crate::app::session::CustomSection;
use crate::domain::stack;
use crate::parts::facts::description::Description;
use crate::parts::facts::profile;
use crate::parts::items::item_commands::{OpenItem, ShowsItem};
use crate::parts::items::merge_request_details::{self, MergeRequestDetails, ShownDetails};
use crate::parts::items::merge_request_query::MergeRequestQuery;
use crate::parts::items::merge_requests;
use crate::parts::items::{issues, last_seen, merge_state};
use crate::parts::list::ListLine;
use crate::parts::list::columns::ColumnState;
use crate::parts::list::prelude::*;
use crate::parts::list::scope;
use crate::parts::repository::apply_commits::{self, Operation};
use crate::parts::{forms, list, programs};
use crate::store::Rows;
use crate::ui::glyph;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

const STATES: &[&str] = &["opened", "merged", "closed", "all"];
/// The maximum number of loaded rows whose stacks are shown.
const MAX_STACKED_ROWS: usize = 1000;
/// The key of a query by which the loaded rows are narrowed.
const WAITING: &str = "waiting";
const TITLES: &[&str] = &["Open", "Merged", "Closed", "All"];

/// The merge requests of a project, of a group, or of all projects.
pub struct MergeRequestSource {
    scope: Option<Scope>,
    /// The marked merge requests as they were when marked, because another query may not list them.
    marked: Vec<(Id, MergeRequest)>,
    /// The details that are shown.
    shown: ShownDetails,
    /// The depth in its stack of each loaded merge request that is stacked on another one, by ID.
    depths: HashMap<u64, usize>,
}

/// The list of merge requests.
pub type MergeRequests = ListPane<MergeRequestSource>;

impl MergeRequestSource {
    fn list(&self, tab: usize, order: ServerOrder) -> MergeRequestQuery {
        let state = STATES.get(tab).copied().unwrap_or_default();
        MergeRequestQuery { scope: self.scope.clone(), state, order }
    }

    /// Returns the project, if the list belongs to one.
    fn project(&self) -> Option<&Id> {
        self.scope.as_ref().and_then(Scope::project)
    }

    fn project_of(&self, merge_request: &MergeRequest, view: &View) -> Id {
        self.project().cloned().unwrap_or_else(|| merge_requests::project(merge_request, view))
    }

    fn details<T>(&self, request: &MergeRequest, view: &View, of: impl FnOnce(&MergeRequestDetails<'_>) -> T) -> T {
        of(&MergeRequestDetails::new(view, &self.project_of(request, view), request, self.shown))
    }
}

impl MergeRequests {
    /// Saves the query as a section of Home.
    fn save_section(&mut self, typed: String, cx: &mut Cx) {
        let name = typed.trim().to_owned();
        if !name.is_empty() {
            let state = STATES.get(self.shown_tab()).copied().unwrap_or_default();
            let query = query::with(self.list.filter_text(), "state", state);
            let scope = self.source.scope.as_ref();
            let project = scope.and_then(Scope::project).map(Id::to_string);
            let group = scope.and_then(Scope::group).map(Id::to_string);
            cx.act(Action::SaveSection(CustomSection { name, query, project, group, is_shared: false }));
        }
    }

    /// Returns the marked merge requests with their projects, or the one under the cursor.
    fn targets(&self, view: &View) -> Vec<(Id, MergeRequest)> {
        let marked = self.list.state.marked();
        let with_project = |request: &MergeRequest| (self.source.project_of(request, view), request.clone());
        if marked.is_empty() {
            return self.current(view).map(with_project).into_iter().collect();
        }
        // Listed ones are taken from the list, because they are newer; marked ones that are not listed are still
        // included.
        let rows = self.rows(view);
        let of = |request: &&MergeRequest| marked.contains(&request.id.to_string());
        let mut chosen: Vec<_> = rows.iter().filter(of).map(with_project).collect();
        let listed: HashSet<u64> = chosen.iter().map(|(_, request)| request.id).collect();
        let others = self.source.marked.iter().filter(|(_, request)| of(&request) && !listed.contains(&request.id));
        chosen.extend(others.cloned());
        chosen
    }

    fn mark_merge_request(&mut self, request: &MergeRequest, cx: &mut Cx) {
        let project = self.source.project_of(request, &cx.view);
        self.source.marked.retain(|(_, known)| known.id != request.id);
        self.source.marked.push((project, request.clone()));
        self.mark(cx);
    }

    /// Returns the details to show: those of the chosen columns, else those that the width allows.
    fn shown(&self, view: &View) -> ShownDetails {
        let (columns, room) = (ColumnState::<MergeRequestSource>::of(view), ShownDetails::in_width(self.list.width()));
        let is_chosen = ColumnState::<MergeRequestSource>::is_chosen(view);
        let shows = |name: &str, fits: bool| (fits || is_chosen) && columns.shows(name);
        ShownDetails {
            labels: columns.shows("labels"),
            approvals: shows("approvals", room.approvals),
            threads: shows("threads", room.threads),
            size: shows("size", room.size),
            counted: room.counted,
            stages: shows("checks", room.stages),
            waiting: shows("waiting", room.waiting) || query::get(self.list.shown(), WAITING).is_some(),
        }
    }

    /// Returns the requests for the details of the visible rows.
    fn details(&self, view: &View) -> Vec<Want> {
        let seen = self.visible_rows(view).map(|request| (self.source.project_of(request, view), request));
        let seen: Vec<_> = seen.collect();
        let (shown, selected) = (self.source.shown, self.current(view));
        let details = seen
            .iter()
            .map(|(project, request)| MergeRequestDetails::new(view, project, request, shown).with_selected(selected));
        merge_request_details::wants(details)
    }

    /// Closes or reopens the marked merge requests, each with its own request.
    fn close_all(&mut self, cx: &mut Cx) {
        let mut chosen = self.targets(&cx.view);
        chosen.retain(|(_, request)| merge_requests::can_close_or_reopen(Some(request)).is_ok());
        if let [(project, request)] = chosen.as_slice() {
            return cx.act(merge_requests::ask_to_close_or_reopen(project, request));
        }
        let writes = chosen
            .iter()
            .map(|(project, request)| {
                (request.is_open(), request.title.as_str(), merge_requests::close_or_reopen(project, request))
            })
            .collect();
        let clear_marks = cx.here.then(|pane: &mut MergeRequests, _| _ = pane.list.state.clear_marks());
        cx.act(issues::close_or_reopen_all("merge requests", writes, clear_marks));
    }

    fn edit(&mut self, cx: &mut Cx) {
        let chosen = self.targets(&cx.view);
        match chosen.as_slice() {
            [(project, request)] => forms::merge_request::edit(project, request.iid, &cx.view).open(cx),
            _ => {
                self.list.state.clear_marks();
                forms::merge_request::edit_all(chosen, self.source.project()).open(cx);
            }
        }
    }

    /// Returns whether a merge request can be reverted or picked by what the list says of it, or why not.
    fn can_apply(&self, request: &MergeRequest, _: &View) -> Result<(), Disabled> {
        apply_commits::commits_of(Operation::Revert, request, [].iter()).map(|_| ())
    }

    /// Asks for the branch on which a merge request is picked or reverted.
    fn apply_to_branch(&self, operation: Operation, request: &MergeRequest, cx: &mut Cx) {
        let Ok(commits) = apply_commits::commits_of(operation, request, [].iter()) else { return };
        let target = Some(request.target_branch()).filter(|_| operation == Operation::Revert);
        apply_commits::ask(operation, &self.source.project_of(request, &cx.view), commits, target, cx);
    }

    fn open_tab(&self, request: &MergeRequest, tab: Option<&str>, cx: &mut Cx) {
        let place = Place::new("mr").project(self.source.project_of(request, &cx.view)).item(request.iid);
        cx.go(Place { tab: tab.map(str::to_owned), ..place });
    }
}

fn author(request: &MergeRequest) -> &str {
    request.author().map_or("", |user| &user.username)
}

impl ShowsItem for MergeRequests {
    const PEOPLE: &'static str = "Edit reviewers and assignees…";
    const EDIT_FIELDS: Permission = permission::EDIT_MERGE_REQUEST;

    fn item<'a>(&self, view: &View<'a>) -> Result<(Id, OpenItem<'a>), Disabled> {
        let request = self.need_row(view)?;
        Ok((self.source.project_of(request, view), OpenItem::MergeRequest(request)))
    }
}

impl ListSource for MergeRequestSource {
    type Row = MergeRequest;
    type Detail = TextDetail;
    // The states of the merge requests are shown before a description is.
    const LIST: ListInfo = ListInfo {
        tabs: ListTabs { titles: TITLES, words: Some(("state", STATES)) },
        order: Some(("updated", true)),
        saved_as: "merge requests",
        reads_project: false,
        ..ListInfo::new("mrs", "merge request", "merge requests").widths(&[(130, 10), (36, 3)])
    };
    const COLUMNS: &'static [Column<Self>] = &[
        Column::<Self>::glyph("state", |_, request, _| {
            let (mark, word, role) = merge_requests::state(request);
            Line::new(glyph::or_word(mark, word), role)
        }),
        Column::<Self>::fit("project", "Project", 6, 24, |source, request, view| match source.project() {
            Some(_) => Line::empty(),
            None => Line::new(source.project_of(request, view).to_string(), Role::Dim),
        })
        .cut_in_middle()
        .drop_order(1),
        Column::<Self>::fit("ID", "", 2, 8, |_, request, _| Line::new(format!("!{}", request.iid), Role::Dim))
            .right()
            .sorted(|request| request.iid.into()),
        Column::<Self>::fill("title", "Title", 28, |source, request, _| {
            let depth = source.depths.get(&request.id).copied().unwrap_or(0);
            let indent =
                if depth > 0 { format!("{}{} ", "  ".repeat(depth.min(8) - 1), glyph::reply()) } else { String::new() };
            Line::new(indent, Role::Dim)
                .and(if request.is_draft() { "draft " } else { "" }, Role::Warning)
                .and(merge_requests::title(request), Role::Text)
        })
        .sorted(|request| merge_requests::title(request).into()),
        Column::<Self>::fit("unread", "New", 7, 15, |_, request, view| {
            let since = last_seen::changes_since_seen(view, request);
            Line::new(since.map(|s| format!("{} {}", glyph::alive(), s.words())).unwrap_or_default(), Role::Accent)
        })
        .shrinks()
        .drop_order(1),
        Column::<Self>::fit("labels", "Labels", 3, 26, |source, request, view| {
            source.details(request, view, |details| details.labels())
        })
        .drop_order(7),
        Column::<Self>::fit("author", "Author", 3, 12, |_, request, _| Line::new(author(request), Role::User))
            .sorted(|request| author(request).into())
            .drop_order(2),
        Column::<Self>::fit("assignees", "Assignees", 3, 16, |_, request, _| profile::usernames(request.assignees()))
            .drop_order(8)
            .hidden(),
        Column::<Self>::fit("milestone", "Milestone", 3, 16, |_, request, _| {
            Line::new(request.milestone.as_ref().map_or("", |milestone| &milestone.title), Role::Dim)
        })
        .drop_order(8)
        .hidden(),
        Column::<Self>::fit("checks", "Checks", 1, 12, |source, request, view| {
            source.details(request, view, |details| details.checks())
        })
        .shrinks()
        .drop_order(2),
        Column::<Self>::fit("approvals", "Approvals", 3, 9, |source, request, view| {
            source.details(request, view, |details| details.approvals())
        })
        .shrinks()
        .drop_order(3),
        Column::<Self>::fit("threads", "Threads", 6, 9, |source, request, view| {
            source.details(request, view, |details| details.threads())
        })
        .shrinks()
        .drop_order(5),
        Column::<Self>::fit("merge", "Merge", 5, 19, |source, request, view| {
            source.details(request, view, |details| details.merge())
        })
        .shrinks()
        .drop_order(4),
        Column::<Self>::fit("waiting", "Waiting for", 2, 16, |source, request, view| {
            source.details(request, view, |details| details.waiting())
        })
        .drop_order(6),
        Column::<Self>::fit("size", "Size", 5, 22, |source, request, view| {
            source.details(request, view, |details| details.size())
        })
        .right()
        .drop_order(6),
        Column::<Self>::fit("comments", "Comments", 2, 12, |_, request, _| {
            let count = request.user_notes_count.filter(|count| *count > 0);
            Line::new(count.map(list::comment_count).unwrap_or_default(), Role::Dim)
        })
        .right()
        .sorted(|request| request.user_notes_count.into())
        .drop_order(9),
        Column::<Self>::fit("source", "Source", 8, 24, |_, request, _| Line::new(request.source_branch(), Role::Ref))
            .cut_in_middle()
            .sorted(|request| request.source_branch().into())
            .drop_order(10),
        Column::<Self>::fit("target", "Target", 4, 16, |_, request, _| match request.target_branch() {
            "" => Line::empty(),
            target => Line::new(format!("{} {target}", glyph::arrow()), Role::Dim),
        })
        .cut_in_middle()
        .sorted(|request| request.target_branch().into())
        .drop_order(11),
        Column::<Self>::fit("upvotes", "Votes", 2, 6, |_, request, _| {
            let votes = request.upvotes.filter(|votes| *votes > 0);
            Line::new(votes.map(|votes| votes.to_string()).unwrap_or_default(), Role::Dim)
        })
        .right()
        .sorted(|request| request.upvotes.into())
        .drop_order(7)
        .hidden(),
        Column::<Self>::age("created", "Created", |request| request.created_at.as_ref())
            .server("created_at")
            .drop_order(6)
            .hidden(),
        Column::<Self>::age("updated", "Updated", |request| {
            request.updated_at.as_ref().or(request.created_at.as_ref())
        })
        .server("updated_at")
        .drop_order(1),
    ];
    const TABLES: &'static [&'static [ListCommand<Self>]] = &[Self::COMMANDS, MergeRequests::ITEM];
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::row(
            "mrs.open",
            &["Enter"],
            "Open merge request",
            |pane: &mut MergeRequests, request: &MergeRequest, cx| {
                pane.open_tab(request, None, cx);
            },
        )
        .footer("open"),
        Command::row("mrs.changes", &["d"], "Open changes", |pane: &mut MergeRequests, request: &MergeRequest, cx| {
            pane.open_tab(request, Some("changes"), cx);
        })
        .footer("changes"),
        Command::row(
            "mrs.pipelines",
            &["J"],
            "Open pipelines",
            |pane: &mut MergeRequests, request: &MergeRequest, cx| {
                pane.open_tab(request, Some("pipelines"), cx);
            },
        ),
        Command::row("mrs.mark", &["Space"], "Toggle mark", MergeRequests::mark_merge_request).footer("mark"),
        Command::new("mrs.close", &["X"], "Close or reopen merge requests", |pane: &mut MergeRequests, cx| {
            pane.close_all(cx);
        })
        .needs(permission::EDIT_MERGE_REQUEST)
        .when(|pane, view| match pane.marks() {
            0 => merge_requests::can_close_or_reopen(pane.current(view)),
            _ => Ok(()),
        }),
        Command::new("mrs.create", &["+"], "Create merge request…", |pane: &mut MergeRequests, cx| {
            if let Some(project) = pane.source.project() {
                forms::merge_request::create(project, None, None, &cx.view).open(cx);
            }
        })
        .needs(permission::PUSH)
        .when(|pane, view| match pane.source.project() {
            Some(project) => Feature::MergeRequests.check(view.store, Some(project)),
            None => Err("select a project first".into()),
        }),
        MergeRequests::columns_command("mrs.columns"),
        Command::new("mrs.save", &["S"], "Save query to home…", |pane: &mut MergeRequests, cx| {
            let name = pane.list.filter_text().to_owned();
            cx.open(Prompt::ask(cx.here, "section name", name, MergeRequests::save_section).preselected());
        }),
        Command::new("mrs.edit", &["e", "E"], "Edit merge requests…", MergeRequests::edit)
            .needs(permission::EDIT_MERGE_REQUEST)
            .when(|pane, view| if pane.marks() == 0 { pane.has_row(view) } else { Ok(()) }),
        Command::row(
            "mrs.revert",
            &["Z"],
            "Revert merge request…",
            |pane: &mut MergeRequests, request: &MergeRequest, cx| {
                pane.apply_to_branch(Operation::Revert, request, cx);
            },
        )
        .needs(permission::PUSH)
        .when_row(MergeRequests::can_apply),
        Command::row(
            "mrs.pick",
            &["p"],
            "Cherry-pick to branch…",
            |pane: &mut MergeRequests, request: &MergeRequest, cx| {
                pane.apply_to_branch(Operation::CherryPick, request, cx);
            },
        )
        .needs(permission::PUSH)
        .when_row(MergeRequests::can_apply),
    ];

    fn command_input(&self, row: &MergeRequest, kind: InputKind, view: &View) -> Result<CommandInput, Disabled> {
        if kind != InputKind::MergeRequest {
            return Err(kind.missing());
        }
        let project = merge_requests::project(row, view);
        let about = programs::about(&project, row);
        let branch = Err("open the merge request first".into());
        Ok(programs::merge_request(Noteable::MergeRequest { project, iid: row.iid }, about, branch))
    }

    fn open(place: &Place, _view: &View) -> MergeRequestSource {
        MergeRequestSource {
            scope: scope::of(place),
            marked: Vec::new(),
            shown: ShownDetails::default(),
            depths: HashMap::new(),
        }
    }

    fn empty(&self, tab: usize) -> (&'static str, &'static str) {
        match tab {
            0 => ("No merge request is open.", "‹tab.2› shows the merged ones, ‹tab.4› all"),
            1 => ("No merge request is merged.", "‹tab.1› shows the open ones, ‹tab.4› all"),
            2 => ("No merge request is closed.", "‹tab.1› shows the open ones, ‹tab.4› all"),
            _ if self.project().is_some() => ("There are no merge requests here.", "‹mrs.create› creates one"),
            _ => ("There are no merge requests here.", "‹palette› opens another place"),
        }
    }

    fn query(&self, input: &Input<'_>, order: ServerOrder, view: &View) -> Option<ListQuery<MergeRequest>> {
        self.list(input.tab, order).query(input.filter, view)
    }

    fn rows<'a>(
        &self,
        _: &Input<'_>,
        query: Option<&ListQuery<MergeRequest>>,
        view: &View<'a>,
    ) -> Rows<'a, MergeRequest> {
        self.list(0, None).rows(query, view)
    }

    fn filter(&self, _: &Input<'_>) -> Filter<MergeRequest> {
        Filter::Query(self.list(0, None).grammar())
    }

    /// Lists what is stacked on a merge request below it, and keeps the rows that wait for whom the query names. A row
    /// whose reviewers are not known yet stays until it is visible and they are.
    fn arrange_rows(pane: &mut MergeRequests, rows: &Rows<'_, MergeRequest>, view: &View) {
        let Some(who) = query::get(pane.list.shown(), WAITING).filter(|who| !who.is_empty()) else {
            let tree = stack::tree(rows.iter().take(MAX_STACKED_ROWS));
            let of = |(index, depth): &(usize, usize)| Some((rows.get(*index)?.id, *depth));
            pane.source.depths = tree.iter().filter(|(_, depth)| *depth > 0).filter_map(of).collect();
            if pane.source.depths.is_empty() || rows.len() > MAX_STACKED_ROWS {
                return pane.list.narrow_to(rows, "", |_| true);
            }
            let lines = || tree.iter().map(|(index, _)| ListLine::Row(*index)).collect();
            return pane.list.arrange(rows, "stacks", lines);
        };
        pane.source.depths.clear();
        let source = &pane.source;
        let fits = |request: &MergeRequest| source.details(request, view, |details| details.may_wait_for(&who));
        pane.list.narrow_to(rows, &format!("{who} {}", view.store.generation()), fits);
    }

    fn polling(pane: &ListPane<Self>, view: &View) -> (u32, Option<Duration>) {
        (1, merge_state::recheck_after(&pane.rows(view)))
    }

    fn belongs_to(&self, request: &MergeRequest, view: &View) -> (Option<Id>, bool) {
        (Some(self.project_of(request, view)), view.is_me(request.owners()))
    }

    fn key(merge_request: &MergeRequest) -> String {
        merge_request.id.to_string()
    }

    fn wants(pane: &MergeRequests, view: &View) -> Vec<Want> {
        pane.source.list(0, None).projects_want(view).into_iter().chain(pane.details(view)).collect()
    }

    fn changed(pane: &mut MergeRequests, cx: &mut Cx) {
        pane.source.shown = pane.shown(&cx.view);
    }

    fn url(&self, _view: &View, merge_request: Option<&MergeRequest>) -> Option<String> {
        Some(merge_request?.web_url.clone()).filter(|url| !url.is_empty())
    }

    fn copies(&self, _view: &View, merge_request: &MergeRequest) -> Vec<Clip> {
        merge_requests::copies(merge_request)
    }
}

impl Describes<TextDetail> for MergeRequestSource {
    fn describe(&self, text: &mut TextDetail, view: &View, merge_request: &MergeRequest) {
        text.description(view, &Description::of_merge_request(merge_request, ""), "‹mrs.open› opens it");
    }
}
