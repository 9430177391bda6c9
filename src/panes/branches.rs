//! The branches of a project: state, pipeline, and distance from the default branch; and actions on them.

use crate::api::branches::{
    Branch, DeleteBranch, DeleteMergedBranches, GetBranch, ListBranches, ProtectBranch, UnprotectBranch,
};
use crate::api::commits::Commit;
use crate::api::{Endpoint, Error, GitRef, Id, RefKind};
use crate::app::overlay::batch;
use crate::app::overlay::confirm::Confirm;
use crate::app::overlay::picker::{Item, Picker};
use crate::app::pane::Breadcrumb;
use crate::app::permission;
use crate::app::tone::Tone;
use crate::parts::ci::pipeline_marks::PipelineMarks;
use crate::parts::items::merge_requests;
use crate::parts::list::prelude::*;
use crate::parts::list::scope;
use crate::parts::repository::ahead_behind::{self, Divergence};
use crate::parts::{forms, list, project};
use crate::store::{Load, PER_PAGE};
use crate::ui::glyph;
use crate::ui::text::sanitize;

/// The maximum number of pages that are loaded to list the merged branches before they are deleted.
const MERGED_PAGES: u32 = 20;

/// Returns a text of the last commit; empty if the server left the commit out.
fn of_commit(branch: &Branch, of: impl Fn(&Commit) -> &str) -> &str {
    branch.commit.as_ref().map_or("", of)
}

/// Returns whether a branch is the default one, protected or merged, in words.
fn state(branch: &Branch, is_default: bool) -> Line<'static> {
    let may = match (branch.developers_can_push, branch.developers_can_merge) {
        (false, false) => "protected",
        (true, false) => "protected: push",
        (false, true) => "protected: merge",
        (true, true) => "protected: push, merge",
    };
    let words = [
        (is_default, "default", Role::Accent),
        (branch.protected, may, Role::Warning),
        (branch.merged && !is_default, "merged", Role::Dim),
    ];
    words.into_iter().filter(|(is, ..)| *is).fold(Line::empty(), |line, (_, word, role)| {
        let gap = if line.spans.is_empty() { "" } else { " " };
        line.and(format!("{gap}{word}"), role)
    })
}

/// The branches of a project.
pub struct BranchSource {
    project: Id,
    /// Whether all branches are being loaded, to ask for confirmation before the merged ones are deleted.
    is_confirming_delete_merged: bool,
    /// The branch for which the form for a merge request opens once it is loaded.
    creates_request_of: Option<String>,
    marks: PipelineMarks,
}

/// The list of branches.
pub type Branches = ListPane<BranchSource>;

/// The tab of the place that opens the form for a merge request of a branch.
const NEW_REQUEST: &str = "new merge request";

/// The protection levels of a branch: picker text, whether developers may push, and whether developers may merge.
const PROTECTIONS: &[(&str, bool, bool)] = &[
    ("Protect: only maintainers push and merge", false, false),
    ("Protect: developers may merge", false, true),
    ("Protect: developers may push", true, false),
    ("Protect: developers may push and merge", true, true),
];

impl BranchSource {
    fn list(&self, search: &str) -> ListBranches {
        ListBranches { id: self.project.clone(), search: Some(search.to_owned()).filter(|s| !s.is_empty()) }
    }

    fn is_default(&self, view: &View, branch: &Branch) -> bool {
        branch.default.unwrap_or_else(|| project::default_branch(view, &self.project) == Some(branch.name.as_str()))
    }

    /// Returns the SHA of the head commit of the default branch, if it is loaded: from the first page of the list, or
    /// alone.
    fn base<'a>(&self, view: &View<'a>) -> Option<&'a str> {
        let list = view.store.list(&self.list(""));
        let listed = list.iter().take(PER_PAGE as usize).find(|branch| branch.default == Some(true));
        let alone = || view.store.get(&self.base_query(view)?).value;
        listed.or_else(alone)?.commit.as_ref().map(|commit| commit.id.as_str())
    }

    /// Returns the branch compared to the default branch, which is not compared to itself.
    fn divergence<'a>(&'a self, branch: &'a Branch, view: &View<'a>) -> Option<Divergence<'a>> {
        let tip = branch.commit.as_ref().filter(|_| !self.is_default(view, branch))?;
        Some(Divergence { project: &self.project, base: self.base(view)?, tip: &tip.id, is_merged: branch.merged })
    }

    fn base_query(&self, view: &View) -> Option<GetBranch> {
        let branch = project::default_branch(view, &self.project)?.to_owned();
        Some(GetBranch { id: self.project.clone(), branch })
    }
}

impl Branches {
    fn is_not_default(&self, branch: &Branch, view: &View) -> Result<(), Disabled> {
        match self.source.is_default(view, branch) {
            true => Err(format!("the branch {} is the default one", sanitize(&branch.name)).into()),
            false => Ok(()),
        }
    }

    fn can_delete(&self, branch: &Branch, view: &View) -> Result<(), Disabled> {
        self.is_not_default(branch, view)?;
        if branch.protected {
            Err(format!("the branch {} is protected", sanitize(&branch.name)).into())
        } else {
            Ok(())
        }
    }

    fn go(&self, branch: &Branch, pane: &str, cx: &mut Cx) {
        cx.go(Place::new(pane).project(self.source.project.clone()).at(GitRef::branch(&branch.name)));
    }

    fn delete(&mut self, branches: &[&Branch], cx: &mut Cx) {
        let unmerged = branches.iter().filter(|branch| !branch.merged).count();
        let held = match (branches.len(), unmerged) {
            (1, 0) => "Its commits are in the default branch.".to_owned(),
            (1, _) => "It is not merged: its commits may be lost.".to_owned(),
            (_, 0) => "Their commits are in the default branch.".to_owned(),
            (_, unmerged) => format!("{unmerged} not merged: commits may be lost."),
        };
        let name = |branch: &&Branch| match branch.merged {
            true => branch.name.clone(),
            false => format!("{}, not merged", branch.name),
        };
        let id = &self.source.project;
        let write = |branch: &&Branch| {
            let delete = DeleteBranch { id: id.clone(), branch: branch.name.clone() };
            Write::new(&delete, format!("delete branch {}", branch.name))
        };
        let writes = branches.iter().map(write).collect();
        cx.act(match branches {
            [branch] => {
                let question = format!("Delete the branch {} of {id}? {held}", sanitize(&branch.name));
                batch::confirm("Delete a branch", question, Vec::new(), writes)
            }
            many => {
                let question = format!("Delete these {} branches of {id}? {held}", many.len());
                batch::confirm("Delete branches", question, many.iter().map(name).collect(), writes)
            }
        });
    }

    /// Returns the requests that count how far the visible branches are ahead of and behind the default branch.
    fn ahead_behind_wants(&self, view: &View) -> Vec<Want> {
        if self.visible_rows(view).next().is_none() {
            return Vec::new();
        }
        if self.source.base(view).is_some() {
            let counted = self.visible_rows(view).filter_map(|branch| self.source.divergence(branch, view));
            return ahead_behind::wants(view, counted);
        }
        // A missing default branch must not close the pane: the request is not repeated then.
        let query = self.source.base_query(view);
        let is_missing = |query: &GetBranch| view.store.error_of(&query.request()).is_some_and(Error::is_missing);
        query.filter(|query| !is_missing(query)).map(|query| Load::single(&query).into()).into_iter().collect()
    }

    fn delete_merged(&mut self, cx: &mut Cx) {
        self.source.is_confirming_delete_merged = true;
        // The server deletes the branches that are merged now, which may differ from the list as it was loaded. The
        // question must name the current ones.
        cx.act(Action::Reload(vec![Load::list(&self.source.list(""), MERGED_PAGES).into()]));
        cx.say(Tone::Info, "Looking for merged branches…");
    }

    /// Asks for confirmation to delete the merged branches, once all branches are loaded.
    fn confirm_delete_merged(&mut self, cx: &mut Cx) {
        let view = &{ cx.view };
        let rows = view.store.list(&self.source.list(""));
        if let Some(error) =
            rows.error.filter(|_| self.source.is_confirming_delete_merged && rows.is_settled(MERGED_PAGES))
        {
            self.source.is_confirming_delete_merged = false;
            return cx.say(Tone::Bad, format!("Could not list merged branches: {}.", error.message()));
        }
        if !self.source.is_confirming_delete_merged
            || !rows.is_loaded
            || !rows.is_settled(MERGED_PAGES)
            || rows.has_next(MERGED_PAGES)
        {
            return;
        }
        self.source.is_confirming_delete_merged = false;
        let merged = || rows.iter().filter(|branch| branch.merged && !self.source.is_default(view, branch));
        let going: Vec<String> = merged().filter(|b| !b.protected).map(|b| sanitize(&b.name).into_owned()).collect();
        let kept = merged().filter(|b| b.protected).count();
        let default = project::default_branch(view, &self.source.project).unwrap_or("the default branch");
        if going.is_empty() && !rows.has_more {
            let why = if kept > 0 { format!("{kept} protected") } else { "none are merged".to_owned() };
            return cx.say(Tone::Info, format!("No merged branch can be deleted: {why}."));
        }
        let count = match going.len() {
            1 => "1 branch".to_owned(),
            count => format!("{count} branches"),
        };
        let mut question = format!("Delete {count} of {} merged into {}?", self.source.project, sanitize(default));
        if kept > 0 {
            question.push_str(&format!(" Protected and kept: {kept}."));
        }
        if rows.has_more {
            question.push_str(" The server also deletes merged branches that are not loaded yet.");
        }
        let delete = DeleteMergedBranches { id: self.source.project.clone() };
        let send = Action::Send(Write::new(&delete, "delete merged branches"));
        cx.open(Confirm::new("Delete merged branches", question, send).naming(going));
    }

    fn protect(&mut self, branch: &Branch, cx: &mut Cx) {
        let (id, name) = (self.source.project.clone(), branch.name.clone());
        let mut items: Vec<Item> = PROTECTIONS
            .iter()
            .map(|(words, push, merge)| {
                let now =
                    branch.protected && (branch.developers_can_push, branch.developers_can_merge) == (*push, *merge);
                let (developers_can_push, developers_can_merge) = (Some(*push), Some(*merge));
                let (id, branch, what) = (id.clone(), name.clone(), format!("protect {name}"));
                let protect = ProtectBranch { id, branch, developers_can_push, developers_can_merge };
                Item::act(*words, Action::Send(Write::new(&protect, what))).note(if now { "now" } else { "" })
            })
            .collect();
        let unprotect = UnprotectBranch { id, branch: name.clone() };
        let unprotect = Action::Send(Write::new(&unprotect, format!("unprotect {name}")));
        items.push(Item::act("No protection", unprotect).note(if branch.protected { "" } else { "now" }));
        let title = format!("Protection of {}", sanitize(&branch.name));
        cx.open(Picker::new(title, items));
    }

    /// Returns the branches to compare: the marked one and the selected one, the two marked ones, or the default branch
    /// and the selected one.
    fn pair(&self, view: &View) -> Option<(String, String)> {
        let current = self.current(view).map(|branch| branch.name.clone());
        let marked: Vec<&String> = self.list.state.marked().iter().collect();
        let default = project::default_branch(view, &self.source.project);
        match marked.as_slice() {
            [] => {
                let default = default?.to_owned();
                Some((default.clone(), current.filter(|name| *name != default)?))
            }
            [one] => Some(((*one).clone(), current.filter(|name| name != *one)?)),
            [a, b] if Some(b.as_str()) == default => Some(((*b).clone(), (*a).clone())),
            [a, b] => Some(((*a).clone(), (*b).clone())),
            _ => None,
        }
    }

    fn create_request(&self, branch: &Branch, cx: &mut Cx) {
        forms::merge_request::create(&self.source.project, Some(&branch.name), None, &cx.view).open(cx);
    }

    fn compare(&mut self, cx: &mut Cx) {
        if let Some((from, to)) = self.pair(&cx.view) {
            let range = format!("{}...{}", GitRef::branch(&from).as_str(), GitRef::branch(&to).as_str());
            cx.go(Place::new("compare").project(self.source.project.clone()).item(range));
        }
    }
}

impl ListSource for BranchSource {
    type Row = Branch;
    type Detail = NoDetail;
    const LIST: ListInfo =
        ListInfo { ref_kind: Some(RefKind::Branch), ..ListInfo::new("branches", "branch", "branches") };
    const COLUMNS: &'static [Column<Self>] = &[
        Column::<Self>::name("name", "Branch", 12, |source, branch, view| {
            Line::new(&branch.name, if source.is_default(view, branch) { Role::Title } else { Role::Ref })
        })
        .cut_in_middle()
        .sorted(|branch| branch.name.as_str().into()),
        Column::<Self>::fit("state", "", 0, 30, |source, branch, view| state(branch, source.is_default(view, branch)))
            .sorted(|branch| SortKey::reversed(Some(2 * u64::from(branch.merged) + u64::from(branch.protected))))
            .drop_order(1),
        Column::<Self>::fit("pipeline", "Pipeline", 0, 12, |source, branch, _| source.marks.labeled_cell(&branch.name))
            .drop_order(3),
        Column::<Self>::fit("behind", "Behind", 0, 8, |source, branch, view| {
            source.divergence(branch, view).map(|divergence| divergence.behind(view)).unwrap_or_default()
        })
        .right()
        .drop_order(3),
        Column::<Self>::fit("ahead", "Ahead", 0, 8, |source, branch, view| {
            source.divergence(branch, view).map(|divergence| divergence.ahead(view)).unwrap_or_default()
        })
        .drop_order(3),
        Column::<Self>::fill("title", "Last commit", 24, |_, branch, _| Line::text(of_commit(branch, |c| &c.title)))
            .sorted(|branch| of_commit(branch, |commit| &commit.title).into())
            .drop_order(4),
        Column::<Self>::fit("author", "Author", 4, 16, |_, branch, _| {
            Line::new(of_commit(branch, |commit| &commit.author_name), Role::User)
        })
        .sorted(|branch| of_commit(branch, |commit| &commit.author_name).into())
        .drop_order(5),
        Column::<Self>::fixed("SHA", "SHA", 8, |_, branch, _| {
            Line::new(of_commit(branch, |commit| commit.short()), Role::Dim)
        })
        .drop_order(6),
        Column::<Self>::age("updated", "Updated", |branch| branch.commit.as_ref().and_then(|commit| commit.date()))
            .drop_order(2),
    ];
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::row("branches.open", &["Enter"], "Browse files", |pane: &mut Branches, branch: &Branch, cx| {
            pane.go(branch, "files", cx);
        })
        .footer("files"),
        Command::row("branches.commits", &["H"], "Show commits", |pane: &mut Branches, branch: &Branch, cx| {
            pane.go(branch, "commits", cx);
        })
        .footer("commits"),
        Command::new("branches.create", &["+"], "Create branch…", |pane: &mut Branches, cx| {
            let current = pane.current(&cx.view).map(|branch| branch.name.as_str());
            let from = current.or_else(|| project::default_branch(&cx.view, &pane.source.project));
            let from = from.map_or_else(|| "HEAD".into(), GitRef::branch);
            Branches::open_form(forms::refs::create_branch(&pane.source.project, &from), cx);
        })
        .needs(permission::PUSH)
        .footer("new"),
        Command::row("branches.mr", &["M"], "Create merge request…", |pane: &mut Branches, branch: &Branch, cx| {
            pane.create_request(branch, cx);
        })
        .needs(permission::PUSH)
        .when_row(Branches::is_not_default),
        Command::rows("branches.delete", &["D"], "Delete branches…", Branches::delete)
            .needs(permission::PUSH)
            .footer("delete")
            .when_row(Branches::can_delete),
        Branches::mark_command("branches.mark"),
        Command::new("branches.compare", &["="], "Compare branches", Branches::compare).footer("compare").when(
            |pane, view| {
                let many = pane.list.state.marked().len() > 2;
                let none = if many { "more than two are marked" } else { "mark another one with Space" };
                list::need(pane.pair(view), &pane.rows(view), none).map(|_| ())
            },
        ),
        Command::row("branches.protect", &["P"], "Change protection…", Branches::protect).needs(permission::SETTINGS),
        Command::new("branches.delete_merged", &["X"], "Delete merged branches…", Branches::delete_merged)
            .needs(permission::PUSH),
        Branches::columns_command("branches.columns"),
        Command::new("branches.tags", &["T"], "Go to tags", |pane: &mut Branches, cx| {
            cx.go(Place::new("tags").project(pane.source.project.clone()));
        }),
    ];

    fn open(place: &Place, _view: &View) -> BranchSource {
        let project = place.project.clone().unwrap_or_default();
        let creates_request_of = place.git_ref.as_ref().filter(|_| place.tab.as_deref() == Some(NEW_REQUEST));
        BranchSource {
            is_confirming_delete_merged: false,
            creates_request_of: creates_request_of.map(|name| name.short().to_owned()),
            marks: PipelineMarks::of_branches(&project),
            project,
        }
    }

    fn breadcrumbs(&self, place: &Place, view: &View) -> Vec<Breadcrumb> {
        let title = format!("{} branches", glyph::or_word(glyph::branch(), ""));
        scope::breadcrumbs(scope::of(place).as_ref(), view, &title)
    }

    fn empty(&self, _: usize) -> (&'static str, &'static str) {
        project::NO_BRANCHES
    }

    fn query(&self, input: &Input<'_>, _: ServerOrder, _view: &View) -> Option<ListQuery<Branch>> {
        Some(ListQuery::new(&self.list(input.filter)))
    }

    fn filter(&self, _: &Input<'_>) -> Filter<Branch> {
        Filter::Server
    }

    fn key(branch: &Branch) -> String {
        branch.name.clone()
    }

    fn wants(pane: &Branches, view: &View) -> Vec<Want> {
        let mut wants = Vec::new();
        if pane.source.is_confirming_delete_merged {
            wants.push(Load::list(&pane.source.list(""), MERGED_PAGES).into());
        }
        wants.extend(pane.ahead_behind_wants(view));
        wants.extend(pane.source.marks.want(view, pane.rows(view).pages()));
        wants
    }

    fn changed(pane: &mut Branches, cx: &mut Cx) {
        pane.confirm_delete_merged(cx);
        let name = pane.source.creates_request_of.as_deref();
        if let Some(branch) = pane.rows(&cx.view).iter().find(|branch| Some(branch.name.as_str()) == name) {
            if Branches::is_not_default(pane, branch, &cx.view).is_ok() && !cx.view.session.read_only {
                pane.create_request(branch, cx);
            }
            pane.source.creates_request_of = None;
        }
        pane.source.marks.sync(&cx.view);
    }

    fn handle_key(pane: &mut Branches, key: ListKey, _: &mut Cx) -> bool {
        key == ListKey::Escape && std::mem::take(&mut pane.source.is_confirming_delete_merged)
    }

    fn url(&self, view: &View, branch: Option<&Branch>) -> Option<String> {
        Some(project::page(view, &self.project, &project::page_at("tree", &GitRef::branch(&branch?.name), None)))
    }

    fn copies(&self, _view: &View, branch: &Branch) -> Vec<Clip> {
        let mut copies = vec![Clip::line("name", branch.name.clone())];
        copies.extend(branch.commit.as_ref().map(|c| Clip::line("SHA", c.id.clone())));
        copies.extend(
            merge_requests::switch_command(&branch.name).map(|command| Clip::line("checkout command", command)),
        );
        copies
    }
}
