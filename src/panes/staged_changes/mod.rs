//! The changes staged for a branch: their diffs, conflicts with the branch, and the commit.

mod check;
mod ci_check;
mod commit;
mod compare;
mod conflicts;

use crate::api::commits::DiffEntry;
use crate::api::projects::Project;
use crate::api::{GitRef, Id};
use crate::app::App;
use crate::app::action::Action;
use crate::app::clip::Clip;
use crate::app::command::{Command, Table};
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::overlay::picker::{Item, Picker};
use crate::app::pane::{Breadcrumb, Pane, PaneKind};
use crate::app::permission;
use crate::app::place::Place;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::repository::changed_files::keys::ShowsChanges;
use crate::parts::repository::changed_files::{ChangedFiles, Changes, Entries};
use crate::parts::repository::ref_choices;
use crate::parts::repository::staging_area::{ChangeKind, StagedChange, Staging, StagingArea, document, history};
use crate::parts::{forms, project};
use crate::store::{Load, Want};
use crate::ui::glyph;
use crate::ui::line::Line;
use crate::ui::text::{self, sanitize};
use crate::ui::theme::Role;
use check::{Check, Conflict};
use compare::{Pair, Versions};
use conflicts::Merging;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;

/// The changes staged for a branch.
pub struct StagedChanges {
    project: Id,
    git_ref: Option<GitRef>,
    /// The stored changes as they were last read, and the parsed result.
    raw: String,
    staging: Result<Staging, String>,
    /// The check of each change, in the order of the list.
    checks: Vec<Check>,
    versions: Versions,
    changes: Changes,
    /// Whether the state of the branch was requested again; before that, cached replies may be outdated.
    was_refreshed: bool,
    merging: Option<Merging>,
    /// The number of requested checks of the CI configuration.
    ci_checks: u32,
}

impl StagedChanges {
    fn branch(&self, view: &View) -> Option<String> {
        project::branch_at(view, &self.project, self.git_ref.as_ref())
    }

    fn staging_area(&self, view: &View) -> Option<StagingArea> {
        StagingArea::of(view, &self.project, &self.branch(view)?)
    }

    /// Returns the new branch of a commit whose reply was lost, which exists if the commit was made.
    fn created(&self, staging_area: &StagingArea) -> Option<StagingArea> {
        let staging = self.staging.as_ref().ok().filter(|staging| staging.may_be_done && staging.refused.is_some())?;
        let mut created = staging_area.clone();
        created.branch = staging.onto.clone()?;
        Some(created)
    }

    /// Returns the branch that the changes are compared with: a new one once it exists.
    fn compared(&self, view: &View, staging_area: StagingArea) -> StagingArea {
        let exists = |created: &StagingArea| view.store.get(&check::branch(created)).value.is_some();
        self.created(&staging_area).filter(exists).unwrap_or(staging_area)
    }

    fn list(&self) -> &[StagedChange] {
        self.staging.as_ref().map(|staging| staging.changes.as_slice()).unwrap_or_default()
    }

    /// Returns the change under the cursor and its index.
    fn current(&self) -> Option<(usize, &StagedChange)> {
        let path = self.changes.location().map(|location| location.path);
        let is_it =
            |change: &StagedChange| path.as_deref().is_none_or(|path| change.path == path || change.source() == path);
        self.list().iter().enumerate().find(|(_, change)| is_it(change))
    }

    fn conflict(&self) -> Option<(&StagedChange, &Conflict)> {
        let (index, change) = self.current()?;
        Some((change, self.checks.get(index)?.conflict.as_ref()?))
    }

    fn has_change(&self, _view: &View) -> Result<(), Disabled> {
        self.current().map(|_| ()).ok_or_else(|| "nothing is staged".into())
    }

    fn has_content(&self, view: &View) -> Result<(), Disabled> {
        self.has_change(view)?;
        match self.current() {
            Some((_, change)) if change.kind == ChangeKind::Delete => Err("the file is to be deleted".into()),
            Some((_, change)) if change.content.as_ref().is_some_and(|content| content.base64) => {
                Err("it is not text".into())
            }
            _ => Ok(()),
        }
    }

    fn edit(&mut self, outside: bool, cx: &mut Cx) {
        let (Some(staging_area), Some((_, change))) = (self.staging_area(&cx.view), self.current()) else { return };
        document::open(staging_area, &change.path, change.base.clone(), outside, cx);
    }

    fn drop_one(&mut self, cx: &mut Cx) {
        let Some((_, change)) = self.current() else { return };
        let question = match (change.kind, &change.content) {
            (ChangeKind::Delete, _) => format!("Discard the deletion of {}?", sanitize(&change.path)),
            (_, None) => format!("Discard the move of {}?", sanitize(change.source())),
            (_, Some(content)) => {
                let size = text::bytes(content.bytes);
                format!("Discard your changes to {} ({size})? They exist nowhere else.", sanitize(&change.path))
            }
        };
        let discard = Self::discard_change(&change.path, cx);
        cx.act(App::confirm("Discard staged change", question, discard));
    }

    /// Returns the action that discards the change of a path.
    fn discard_change(path: &str, cx: &Cx) -> Action {
        let path = path.to_owned();
        cx.here.then(move |pane: &mut Self, cx| {
            if let Some(staging_area) = pane.staging_area(&cx.view) {
                staging_area.update(cx, |staging| staging.changes.retain(|change| change.path != path));
            }
        })
    }

    fn drop_all(&mut self, cx: &mut Cx) {
        let (len, branch) = (self.list().len(), self.branch(&cx.view).unwrap_or_default());
        let question = format!("Discard all {len} changes staged for {}? They exist nowhere else.", sanitize(&branch));
        let discard_all = cx.here.then(|pane: &mut Self, cx| {
            if let Some(staging_area) = pane.staging_area(&cx.view) {
                staging_area.update(cx, |staging| staging.changes.clear());
            }
        });
        cx.act(App::confirm("Discard all changes", question, discard_all));
    }

    fn ask_branch(&mut self, cx: &mut Cx) {
        let onto = self.staging.as_ref().ok().and_then(|staging| staging.onto.clone()).unwrap_or_default();
        let branch = self.branch(&cx.view).unwrap_or_default();
        let label = format!("New branch from {0} (leave empty to commit to {0})", sanitize(&branch));
        cx.ask(label, onto, |pane: &mut Self, typed, cx| pane.set_branch(typed.trim(), cx));
    }

    /// Sets the new branch to commit to; an empty name stands for the current branch.
    fn set_branch(&mut self, name: &str, cx: &mut Cx) {
        let Some(staging_area) = self.staging_area(&cx.view) else { return };
        if let Some(why) = ref_choices::invalid_reason(name).filter(|_| !name.is_empty()) {
            return cx.say(Tone::Warning, format!("Invalid branch name \"{}\": {why}.", sanitize(name)));
        }
        staging_area.update(cx, |staging| {
            staging.onto = Some(name.to_owned()).filter(|name| !name.is_empty() && *name != staging_area.branch);
            staging.refused = None;
        });
    }

    fn ask_author(&mut self, cx: &mut Cx) {
        let known = self.staging.as_ref().ok().and_then(|staging| staging.author.clone());
        let text = known.map(|(name, mail)| format!("{name} <{mail}>")).unwrap_or_default();
        cx.ask("author, as Name <mail> (empty: you)", text, |pane: &mut Self, typed, cx| {
            let Some(staging_area) = pane.staging_area(&cx.view) else { return };
            match author(typed.trim()) {
                Ok(author) => staging_area.update(cx, |staging| staging.author = author),
                Err(why) => cx.say(Tone::Warning, why),
            }
        });
    }

    fn pick_branch(&mut self, cx: &mut Cx) {
        let branches = StagingArea::branches(&cx.view, &self.project);
        if branches.is_empty() {
            return cx.say(Tone::Info, "Nothing is staged for any branch of this project.");
        }
        let here = cx.here;
        let item = |branch: String| {
            let staging_area = StagingArea::of(&cx.view, &self.project, &branch);
            let len = staging_area
                .and_then(|staging_area| staging_area.read(&cx.view).ok())
                .map_or(0, |staging| staging.changes.len());
            let git_ref = GitRef::branch(&branch);
            let show = here.then(move |pane: &mut Self, _| {
                pane.git_ref = Some(git_ref);
                pane.was_refreshed = false;
                pane.changes.set_input(None);
            });
            Item::act(branch, show).note(format!("{len} staged"))
        };
        let items = branches.into_iter().map(item).collect();
        cx.open(Picker::new("Staged for", items));
    }

    fn next_side(&mut self, cx: &mut Cx) {
        self.versions = match self.versions {
            Versions::BranchToStaged => Versions::BaseToStaged,
            Versions::BaseToStaged => Versions::BaseToBranch,
            Versions::BaseToBranch => Versions::BranchToStaged,
        };
        let branch = self.branch(&cx.view).unwrap_or_default();
        let words = match self.versions {
            Versions::BranchToStaged => format!("From the current {branch} to yours."),
            Versions::BaseToStaged => "From the file as you opened it to yours.".into(),
            Versions::BaseToBranch => format!("From the file as you opened it to the current {branch}."),
        };
        cx.say(Tone::Info, sanitize(&words).into_owned());
    }

    fn pair<'a>(&'a self, staging_area: &'a StagingArea, index: usize, change: &'a StagedChange) -> Pair<'a> {
        let conflict = self.checks.get(index).and_then(|check| check.conflict.as_ref());
        // Other sides can be selected only if there is a conflict.
        let versions = if conflict.is_some() { self.versions } else { Versions::BranchToStaged };
        Pair::new(staging_area, change, conflict, versions)
    }

    /// Collects the diffs once all of them are computed.
    fn gather(&mut self, view: &View, staging_area: &StagingArea) {
        let pairs: Vec<Pair> =
            self.list().iter().enumerate().map(|(i, change)| self.pair(staging_area, i, change)).collect();
        let identity = pairs.iter().map(Pair::key).collect::<Vec<_>>().join("\n");
        if pairs.is_empty() {
            self.changes.set_input(None);
        } else if self.changes.input().is_none_or(|input| input.identity != identity) {
            let entries: Option<Vec<DiffEntry>> = pairs.iter().map(|pair| pair.diff(view)).collect();
            if let Some(entries) = entries {
                self.changes.set_input(Some(ChangedFiles { identity, entries: Entries::Compared(Arc::new(entries)) }));
            }
        }
    }

    /// Returns the lines above the changes.
    fn head(&self, view: &View, staging_area: &StagingArea) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        let Ok(staging) = &self.staging else { return lines };
        let len = staging.changes.len();
        let mut first = Line::new(
            format!("{} change{} for ", text::count(len as u64), if len == 1 { "" } else { "s" }),
            Role::Text,
        )
        .and(format!("{} {}", glyph::branch(), staging_area.branch), Role::Ref);
        if let Some(onto) = &staging.onto {
            first.push(format!(" {} new branch ", glyph::arrow()), Role::Dim);
            first.push(onto.clone(), Role::Ref);
        }
        if let Some((name, mail)) = &staging.author {
            first.push(" by ", Role::Dim);
            first.push(format!("{name} <{mail}>"), Role::User);
        }
        lines.push(first);
        if check::branch_is_missing(view, staging_area) {
            let words = format!("{} {} is no longer a branch of this project: ", glyph::wrong(), staging_area.branch);
            lines.push(
                Line::new(words, Role::Failed)
                    .and("your changes are kept; create the branch again or choose another one", Role::Text),
            );
        }
        if let Some(words) = staging.refused.as_ref().filter(|_| staging.may_be_done) {
            lines.push(
                Line::new(format!("{} The commit may have failed: ", glyph::warning()), Role::Warning)
                    .and(words.clone(), Role::Text),
            );
            let hint = format!(
                "  Changes that {} has by now are removed from this list; the others are not committed.",
                staging.onto.as_ref().unwrap_or(&staging_area.branch)
            );
            lines.push(Line::new(hint, Role::Dim));
        } else if let Some(words) = &staging.refused {
            lines.push(
                Line::new(format!("{} Not committed: ", glyph::wrong()), Role::Failed).and(words.clone(), Role::Text),
            );
            let hint = view.with_keys("  Everything is still here; ‹stage.onto› commits to a new branch.");
            lines.push(Line::new(hint.into_owned(), Role::Dim));
        }
        let conflicting = self.checks.iter().filter(|check| check.conflict.is_some()).count();
        if let Some((change, conflict)) = self.conflict() {
            let path = text::fit_middle(&change.path, 40);
            let mut words = Line::new(format!("{} {path} ", glyph::warning()), Role::Warning)
                .and(conflict.words(change.kind, &staging_area.branch), Role::Text);
            let ways = [
                ("stage.mine", "keep mine"),
                ("stage.theirs", "take theirs"),
                ("stage.merge", "merge"),
                ("stage.side", "show other side"),
            ];
            for (command, what) in ways {
                words.push(format!("  {} ", view.key_names.first(command)), Role::Key);
                words.push(what, Role::Dim);
            }
            lines.push(words);
        } else if conflicting > 0 {
            let words = format!("{} {conflicting} of them also changed on {}", glyph::warning(), staging_area.branch);
            lines.push(Line::new(words, Role::Warning));
        }
        lines
    }
}

impl ShowsChanges for StagedChanges {
    fn changes(&mut self) -> &mut Changes {
        &mut self.changes
    }

    fn on_changes(&self, view: &View) -> Result<(), Disabled> {
        self.has_change(view)
    }
}

impl PaneKind for StagedChanges {
    const ID: &'static str = "stage";
    const TABLES: &'static [Table<Self>] = &[Self::COMMANDS, Self::FILES, Self::CHANGES, Self::FOLD];
    const COMMANDS: Table<Self> = &[
        Command::new("stage.open", &["Enter"], "Open diff", |pane: &mut Self, _| pane.changes.enter())
            .footer("open")
            .when(Self::has_change),
        Command::new("stage.commit", &["S"], "Commit staged changes…", Self::commit_checked)
            .footer("commit")
            .needs(permission::PUSH)
            .when(Self::can_commit),
        Command::new("stage.edit", &["e"], "Edit change", |pane: &mut Self, cx| pane.edit(false, cx))
            .footer("edit")
            .when(Self::has_content),
        Command::new("stage.edit_outside", &["E"], "Edit change in $EDITOR", |pane: &mut Self, cx| {
            pane.edit(true, cx);
        })
        .when(Self::has_content),
        Command::new("stage.drop", &["D"], "Discard change…", Self::drop_one).footer("discard").when(Self::has_change),
        Command::new("stage.drop_all", &["X"], "Discard all changes…", Self::drop_all).when(Self::has_change),
        Command::new("stage.onto", &["B"], "Change target branch…", Self::ask_branch)
            .footer("branch")
            .when(Self::has_change),
        Command::new("stage.author", &["A"], "Change author…", Self::ask_author).when(Self::has_change),
        Command::new("stage.mine", &["K"], "Keep mine (conflict)", Self::keep_mine).when(Self::can_keep_mine),
        Command::new("stage.theirs", &["T"], "Keep theirs (conflict)", Self::take_theirs).when(Self::has_conflict),
        Command::new("stage.merge", &["m"], "Edit merged text (conflict)", Self::merge).when(Self::can_merge),
        Command::new("stage.side", &["v"], "Show other side (conflict)", Self::next_side).when(Self::has_conflict),
        Command::new("stage.ref", &["R"], "Switch branch…", Self::pick_branch),
        Command::new("stage.merge_request", &["M"], "Create merge request…", |pane: &mut Self, cx| {
            let branch = pane.branch(&cx.view);
            forms::merge_request::create(&pane.project, branch.as_deref(), None, &cx.view).open(cx);
        })
        .needs(permission::PUSH),
        Command::new("stage.file", &["f"], "Open file on branch", |pane: &mut Self, cx| {
            if let Some((_, change)) = pane.current() {
                let mut place = Place::new("files").project(pane.project.clone()).path(change.source());
                place.git_ref = pane.git_ref.clone();
                cx.go(place);
            }
        })
        .when(Self::has_change),
    ];

    fn open(place: &Place, _view: &View) -> Self {
        StagedChanges {
            project: place.project.clone().unwrap_or_default(),
            git_ref: place.git_ref.clone(),
            raw: String::new(),
            staging: Ok(Staging::default()),
            checks: Vec::new(),
            versions: Versions::default(),
            changes: Changes::default().start_in_list(),
            was_refreshed: false,
            merging: None,
            ci_checks: 0,
        }
    }
}

impl Pane for StagedChanges {
    fn focused(&self) -> Option<&dyn Pane> {
        Some(&self.changes)
    }

    fn focused_mut(&mut self) -> Option<&mut dyn Pane> {
        Some(&mut self.changes)
    }

    fn place(&self) -> Place {
        Place { git_ref: self.git_ref.clone(), ..Place::new(Self::ID).project(self.project.clone()) }
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = project::breadcrumbs_at(view, &self.project, self.git_ref.as_ref());
        breadcrumbs.push(Breadcrumb::new(format!("{} staged", glyph::draft()), Role::Dim));
        breadcrumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants = vec![project::want(&self.project)];
        let Some(staging_area) = self.staging_area(view).filter(|_| !self.list().is_empty()) else { return wants };
        wants.push(Load::single(&check::branch(&staging_area)).into());
        let created = self.created(&staging_area);
        wants.extend(created.map(|created| Load::single(&check::branch(&created)).optional().into()));
        let staging_area = self.compared(view, staging_area);
        for (index, change) in self.list().iter().enumerate() {
            wants.push(check::want(view, &staging_area, change.source()));
            if change.kind == ChangeKind::Move {
                wants.push(check::want(view, &staging_area, &change.path));
            }
            if change.kind != ChangeKind::Create || self.checks.get(index).is_some_and(|check| check.conflict.is_some())
            {
                wants
                    .push(Load::list(&history(&staging_area.project, &staging_area.branch, change.source()), 1).into());
            }
            // A move is committed with its content.
            if let (ChangeKind::Move, None, Some(base)) = (change.kind, &change.content, &change.base) {
                wants.push(compare::want_blob(&staging_area, base));
            }
            wants.extend(self.pair(&staging_area, index, change).wants(view));
        }
        wants.extend(self.done_pairs(view, &staging_area).flat_map(|pair| pair.wants(view)));
        wants.extend(self.merging.iter().flat_map(|merging| merging.wants(view, &staging_area)));
        wants.extend(self.changes.wants(view));
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        if let Err(why) = &self.staging {
            return view.draw_empty(buf, area, why, "A newer labscope can read it");
        }
        let Some(staging_area) = self.staging_area(view) else {
            let is_empty = project::project(view, &self.project).is_some_and(Project::is_empty);
            let (why, hint) = match (view.session.signed_in, self.branch(view)) {
                (false, _) => ("You are not signed in: nothing can be staged.", "labscope auth login"),
                (true, None) if is_empty => project::no_branches(view),
                (true, None) => ("The default branch is not known.", "‹refresh› asks the server again"),
                (true, Some(_)) => ("Your account has not loaded yet.", "‹refresh› asks the server again"),
            };
            return view.draw_empty(buf, area, why, hint);
        };
        if self.list().is_empty() {
            let why = format!("Nothing is staged for {}.", sanitize(&staging_area.branch));
            let others = StagingArea::branches(view, &self.project).len();
            let hint = match others {
                0 => {
                    "‹files.edit› on a file edits it, ‹files.add› adds one; changes are collected here until you commit"
                        .to_owned()
                }
                one => format!(
                    "‹stage.ref› shows what is staged for {one} other branch{}",
                    if one == 1 { "" } else { "es" }
                ),
            };
            return view.draw_empty(buf, area, &why, &hint);
        }
        let head = self.head(view, &staging_area);
        let rows = (head.len() as u16).min(area.height / 2);
        for (y, line) in (area.y..area.y + rows).zip(&head) {
            let at = Rect { x: area.x + 1, y, width: area.width.saturating_sub(2), height: 1 };
            line.draw(buf, at, view.theme);
        }
        let rest = Rect { y: area.y + rows, height: area.height - rows, ..area };
        self.changes.view(view, rest, buf);
    }

    fn changed(&mut self, cx: &mut Cx) {
        let Some(staging_area) = self.staging_area(&cx.view) else { return };
        let raw = staging_area.raw(&cx.view);
        if self.raw != raw {
            let refused = |staging: &Result<Staging, String>| staging.as_ref().is_ok_and(|s| s.refused.is_some());
            let before = refused(&self.staging);
            self.raw = raw.to_owned();
            self.staging = staging_area.read(&cx.view);
            // A refused commit means that the cached state of the branch is outdated.
            self.was_refreshed &= before || !refused(&self.staging);
        }
        if !self.was_refreshed && !self.list().is_empty() {
            self.was_refreshed = true;
            cx.act(Action::Refresh);
        }
        let staging_area = self.compared(&cx.view, staging_area);
        self.checks = self.list().iter().map(|change| check::check(&cx.view, &staging_area, change)).collect();
        self.gather(&cx.view, &staging_area);
        self.changes.sync(&cx.view, None);
        self.open_merged(&staging_area, cx);
        self.take_committed(&staging_area, cx);
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        self.merging.take().is_some() || self.changes.escape(cx)
    }

    fn url(&self, view: &View) -> Option<String> {
        let (branch, (_, change)) = (self.branch(view)?, self.current()?);
        let rest = format!("/-/blob/{}/{}", project::path(&branch), project::path(change.source()));
        Some(project::page(view, &self.project, &rest))
    }

    fn copies(&self, _view: &View) -> Vec<Clip> {
        self.current().map(|(_, change)| Clip::line("path", change.path.clone())).into_iter().collect()
    }
}

/// Parses `Name <mail>`; `None` if empty.
fn author(typed: &str) -> Result<Option<(String, String)>, String> {
    if typed.is_empty() {
        return Ok(None);
    }
    let parts = typed.strip_suffix('>').and_then(|rest| rest.split_once('<'));
    match parts.map(|(name, mail)| (name.trim(), mail.trim())) {
        Some((name, mail)) if !name.is_empty() && mail.contains('@') => Ok(Some((name.to_owned(), mail.to_owned()))),
        _ => Err(format!("\"{}\" is not of the form Name <mail>.", sanitize(typed))),
    }
}
