//! A comparison of two refs: the commits that only one of them has, and the changes they made.

use crate::api::repository::{CompareRefs, Comparison};
use crate::api::{Endpoint, GitRef, Id, RefKind};
use crate::app::clip::Clip;
use crate::app::command::{Command, Table};
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::pane::{Breadcrumb, Pane, PaneKind, Tabs};
use crate::app::permission;
use crate::app::place::Place;
use crate::app::view::View;
use crate::parts::list::{at_least, draw_error, draw_error_line};
use crate::parts::repository::ahead_behind;
use crate::parts::repository::changed_files::keys::ShowsChanges;
use crate::parts::repository::changed_files::{ChangedFiles, Changes, Entries, Revisions};
use crate::parts::repository::commit_list::CommitList;
use crate::parts::repository::ref_choices::ask_ref;
use crate::parts::{forms, project};
use crate::store::{Load, Remote, Want};
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::{glyph, line, state, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Tab {
    #[default]
    Commits,
    Changes,
}

const TABS: &[Tab] = &[Tab::Commits, Tab::Changes];
const TITLES: &[&str] = &["Commits", "Changes"];

/// The comparison of two refs.
pub struct ComparePane {
    project: Id,
    /// The base of the comparison; `None` for the default branch.
    from: Option<GitRef>,
    /// The compared ref; `None` until one is chosen.
    to: Option<GitRef>,
    tab: Tab,
    commits: CommitList,
    changes: Changes,
    /// The reply that the commits and the changes come from.
    comparison: Option<Arc<Comparison>>,
}

/// Parses the sides of `A...B` or `A..B`; a single ref is the compared side.
fn sides(item: &str) -> (Option<GitRef>, Option<GitRef>) {
    let some = |side: &str| (!side.is_empty()).then(|| GitRef::from(side));
    match item.split_once("...").or_else(|| item.split_once("..")) {
        Some((from, to)) => (some(from), some(to)),
        None => (None, some(item)),
    }
}

impl ComparePane {
    fn from(&self, view: &View) -> Option<GitRef> {
        self.from.clone().or_else(|| project::default_branch(view, &self.project).map(GitRef::branch))
    }

    /// Returns both sides, if they are known.
    fn pair(&self, view: &View) -> Option<(GitRef, GitRef)> {
        Some((self.from(view)?, self.to.clone()?))
    }

    /// Returns whether the sides have the same name, so that only their kinds tell them apart.
    fn is_ambiguous(&self, view: &View) -> bool {
        self.pair(view).is_some_and(|(from, to)| from.short() == to.short())
    }

    /// Returns a side for display, with its kind if its name does not tell it from the other side.
    fn words(&self, view: &View, side: &GitRef) -> String {
        match side.kind() {
            Some(kind) if self.is_ambiguous(view) => format!("{} {}", kind.word(), side.short()),
            _ => side.display().to_owned(),
        }
    }

    fn query(&self, view: &View) -> Option<CompareRefs> {
        let (from, to) = self.pair(view)?;
        let (from, to) = (from.as_str().to_owned(), to.as_str().to_owned());
        Some(CompareRefs { id: self.project.clone(), from, to, straight: None })
    }

    fn reply<'a>(&self, view: &View<'a>) -> Option<Remote<'a, Comparison>> {
        self.query(view).map(|query| view.store.get(&query))
    }

    fn has_both_sides(&self, view: &View) -> Result<(), Disabled> {
        self.pair(view).map(|_| ()).ok_or_else(|| "choose both sides first: ‹compare.base› and ‹compare.ref›".into())
    }

    fn reset(&mut self) {
        self.commits = CommitList::new(&self.project, self.to.as_ref());
        self.changes = Changes::default();
        self.comparison = None;
    }

    fn swap(&mut self, cx: &mut Cx) {
        let from = self.from(&cx.view);
        self.from = std::mem::replace(&mut self.to, from);
        self.reset();
    }

    /// Returns the shown tab.
    fn part(&self) -> &dyn Pane {
        match self.tab {
            Tab::Commits => &self.commits,
            Tab::Changes => &self.changes,
        }
    }

    fn part_mut(&mut self) -> &mut dyn Pane {
        match self.tab {
            Tab::Commits => &mut self.commits,
            Tab::Changes => &mut self.changes,
        }
    }

    /// Opens the file under the cursor at the compared ref.
    fn file(&mut self, cx: &mut Cx) {
        let (Some(location), Some(to)) = (self.changes.location(), &self.to) else { return };
        let mut place = Place::new("files").project(self.project.clone()).at(to).path(location.path);
        place.line = location.line;
        cx.go(place);
    }

    /// Draws the head: the two sides with the number of commits ahead and behind, and a note about the comparison.
    /// Returns the remaining area.
    fn draw_head(&self, view: &View, area: Rect, buf: &mut Buffer) -> Rect {
        let row = |y: u16| Rect { x: area.x + 1, y: area.y + y, width: area.width.saturating_sub(2), height: 1 };
        let side = |name: Option<&GitRef>| match name {
            Some(name) => (text::fit_middle(&self.words(view, name), 40), Role::Ref),
            None => ("choose one".to_owned(), Role::Warning),
        };
        let (from, to) = (self.from(view), self.to.as_ref());
        let arrow = (format!(" {} ", glyph::arrow()), Role::Dim);
        let left = [side(from.as_ref()), arrow, side(to)];
        let mut right = Line::empty();
        if let (Some(from), Some(to), Some(comparison)) = (&from, to, &self.comparison) {
            // In accessible mode, the glyph would repeat the word after the number.
            let sign = |symbol: &str| if glyph::is_accessible() { String::new() } else { format!("{symbol} ") };
            let ahead = at_least(comparison.commits.len(), comparison.compare_timeout);
            right.push(format!("{}{ahead} ahead", sign(glyph::up())), Role::Added);
            if let Some((behind, has_more)) = ahead_behind::ahead(view, &self.project, to.as_str(), from.as_str()) {
                let behind = at_least(behind, has_more);
                right.push(format!("  {}{behind} behind", sign(glyph::down())), Role::Dim);
            }
        }
        line::pair(buf, row(0), view.theme, &left.into(), &right);
        let words = match (&self.comparison, self.pair(view)) {
            (Some(comparison), _) if comparison.compare_timeout => {
                Some(("Too much to compare: commits or changes are missing.".to_owned(), Role::Warning))
            }
            (Some(comparison), _) if comparison.compare_same_ref => {
                Some(("Both are the same commit.".to_owned(), Role::Dim))
            }
            (Some(_), Some((from, to))) => {
                let (from, to) = (self.words(view, &from), self.words(view, &to));
                Some((format!("Changes on {} since it diverged from {}", short(&to), short(&from)), Role::Dim))
            }
            _ => None,
        };
        if let Some((words, role)) = words {
            Line::new(words, role).draw(buf, row(1), view.theme);
        }
        let head = area.height.min(3);
        Rect { y: area.y + head, height: area.height - head, ..area }
    }
}

/// Shortens a ref name for use within a sentence.
fn short(name: &str) -> String {
    text::fit_middle(name, 32)
}

impl ShowsChanges for ComparePane {
    fn changes(&mut self) -> &mut Changes {
        &mut self.changes
    }

    fn on_changes(&self, _view: &View) -> Result<(), Disabled> {
        if self.tab == Tab::Changes { self.changes.need_loaded() } else { Err("the changes are not shown".into()) }
    }
}

impl PaneKind for ComparePane {
    const ID: &'static str = "compare";
    const TABLES: &'static [Table<Self>] = &[Self::COMMANDS, Self::FILES, Self::CHANGES, Self::READING, Self::FOLD];
    const COMMANDS: Table<Self> = &[
        Command::new("compare.open", &["Enter"], "Open selection", Self::enter).footer("open"),
        Command::new("compare.swap", &["S"], "Swap sides", Self::swap).footer("swap").when(Self::has_both_sides),
        Command::new("compare.ref", &["R"], "Change compared ref…", |pane: &mut Self, cx| {
            ask_ref("Compare", &pane.project, pane.to.as_ref(), cx, |pane: &mut Self, name, _| {
                pane.to = Some(name);
                pane.reset();
            });
        })
        .footer("ref"),
        Command::new("compare.base", &["B"], "Change base…", |pane: &mut Self, cx| {
            ask_ref("Compare with", &pane.project, pane.from.as_ref(), cx, |pane: &mut Self, name, _| {
                pane.from = Some(name);
                pane.reset();
            });
        })
        .footer("base"),
        Command::new("compare.mr", &["M"], "Create merge request…", |pane: &mut Self, cx| {
            if let Some((from, to)) = pane.pair(&cx.view) {
                forms::merge_request::create(&pane.project, Some(to.short()), Some(from.short()), &cx.view).open(cx);
            }
        })
        .needs(permission::PUSH)
        .footer("merge request")
        .when(|pane, view| {
            pane.has_both_sides(view)?;
            let is_tag = |side: &Option<GitRef>| side.as_ref().and_then(GitRef::kind) == Some(RefKind::Tag);
            if is_tag(&pane.from) || is_tag(&pane.to) { Err("tags cannot be merged".into()) } else { Ok(()) }
        }),
        Command::new("compare.file", &["f"], "Open file", Self::file).footer("file").when(|pane, view| {
            pane.on_changes(view)?;
            pane.changes.need(pane.changes.location(), "no file is selected").map(|_| ())
        }),
    ];

    fn open(place: &Place, _view: &View) -> Self {
        let (from, to) = place.item.as_deref().map(sides).unwrap_or_default();
        let (project, to) = (place.project.clone().unwrap_or_default(), to.or_else(|| place.git_ref.clone()));
        ComparePane {
            tab: if place.tab.as_deref() == Some("changes") { Tab::Changes } else { Tab::Commits },
            commits: CommitList::new(&project, to.as_ref()),
            project,
            from,
            to,
            changes: Changes::default(),
            comparison: None,
        }
    }
}

impl Pane for ComparePane {
    fn focused(&self) -> Option<&dyn Pane> {
        Some(self.part())
    }

    fn focused_mut(&mut self) -> Option<&mut dyn Pane> {
        Some(self.part_mut())
    }

    fn place(&self) -> Place {
        let mut place = Place::new(Self::ID).project(self.project.clone());
        if let Some(to) = &self.to {
            place = place.item(format!("{}...{}", self.from.as_ref().map_or("", GitRef::as_str), to.as_str()));
        }
        if self.tab == Tab::Changes { place.tab("changes") } else { place }
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = project::breadcrumbs(view, &self.project);
        breadcrumbs.push(Breadcrumb::new("compare", Role::Dim));
        breadcrumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants = vec![project::want(&self.project)];
        if let (Some(query), Some((from, to))) = (self.query(view), self.pair(view)) {
            wants.push(Load::single(&query).into());
            // The reverse comparison is less important: it is requested only after the first has arrived.
            if self.comparison.is_some() {
                wants.extend(ahead_behind::want(view, &self.project, to.as_str(), from.as_str()));
            }
        }
        wants.extend(self.part().wants(view));
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.commits.hide();
        let body = self.draw_head(view, area, buf);
        let Some(reply) = self.reply(view) else {
            let (why, hint) = match self.to {
                None => (
                    "Nothing to compare yet.",
                    "‹compare.ref› chooses a branch, tag or commit, ‹compare.base› what to compare it with",
                ),
                Some(_) => ("The default branch is unknown.", "‹compare.base› chooses what to compare with"),
            };
            return view.draw_empty(buf, body, why, hint);
        };
        if self.comparison.is_none() {
            return match reply.error {
                Some(error) => draw_error(view, body, buf, error),
                None => state::skeleton(buf, body, view.theme),
            };
        }
        let body = draw_error_line(view, body, buf, reply.error);
        self.part().view(view, body, buf);
    }

    fn changed(&mut self, cx: &mut Cx) {
        let view = &cx.view;
        let reply = self.reply(view);
        if let Some((reply, query)) = reply.zip(self.query(view))
            && let Some(arc) = reply.arc()
            && self.comparison.as_ref().is_none_or(|comparison| !Arc::ptr_eq(comparison, &arc))
        {
            let identity = format!("{} at {:?}", query.request().line(), reply.since);
            self.changes.set_input(Some(ChangedFiles { identity, entries: Entries::Comparison(arc.clone()) }));
            let name = |side: GitRef| side.as_str().to_owned();
            let (old, new) = (self.from(view).map(name), self.to.clone().map(name));
            let project = self.project.clone();
            self.changes.set_revisions(new.map(|new| Revisions { project, old, new }));
            // Servers send the oldest commit first; a log shows the newest first.
            self.commits.show(arc.commits.iter().rev().cloned().collect(), None);
            self.commits.empty = (
                if arc.compare_same_ref { "No differences." } else { "It has no commits." },
                "‹compare.swap› swaps the sides, ‹compare.ref› chooses another",
            );
            self.comparison = Some(arc);
        }
        if self.tab == Tab::Changes {
            if let (Some(from), Some(to)) = (self.from(view), &self.to) {
                let key = format!("{} from {} to {}", self.project, from.short(), to.short());
                self.changes.load_viewed_marks(view, &key);
            }
            self.changes.sync(view, None);
        }
        self.commits.changed(cx);
    }

    fn tabs(&self) -> Tabs {
        Tabs { titles: TITLES, selected: self.tab as usize }
    }

    fn tab_count(&self, index: usize, _view: &View) -> Option<String> {
        let comparison = self.comparison.as_ref()?;
        let count = match TABS.get(index)? {
            Tab::Commits => comparison.commits.len(),
            Tab::Changes => comparison.diffs.len(),
        };
        Some(at_least(count, comparison.compare_timeout))
    }

    fn select_tab(&mut self, index: usize, _cx: &mut Cx) {
        self.tab = TABS.get(index).copied().unwrap_or_default();
    }

    fn url(&self, view: &View) -> Option<String> {
        let (from, to) = self.pair(view)?;
        let sides = format!("{}...{}", project::path(from.short()), project::path(to.short()));
        Some(project::page(view, &self.project, &format!("/-/compare/{sides}")))
    }

    fn copies(&self, view: &View) -> Vec<Clip> {
        let mut copies = Vec::new();
        if let Some((from, to)) = self.pair(view) {
            let name = |side: &GitRef| match self.is_ambiguous(view) {
                true => side.as_str().to_owned(),
                false => side.short().to_owned(),
            };
            copies.push(Clip::line("range", format!("{}...{}", name(&from), name(&to))));
        }
        copies.extend(self.part().copies(view));
        copies
    }
}
