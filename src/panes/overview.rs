//! A project at a glance: its facts, clone URLs, activity and contributors, and its README.

use crate::api::commits::{Commit, ListCommits};
use crate::api::projects::{GetLanguages, GetProject, Project, StarProject, UnstarProject};
use crate::api::repository::{Contributor, GetRawBlob, ListContributors, ListTree, TreeEntry};
use crate::api::{GitRef, Id};
use crate::app::action::Action;
use crate::app::clip::Clip;
use crate::app::command::Command;
use crate::app::complete::Complete;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::overlay::value_picker::ValuePicker;
use crate::app::pane::{Breadcrumb, Pane, PaneKind};
use crate::app::permission;
use crate::app::place::Place;
use crate::app::pointer::Pointer;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::ci::POLL_INTERVAL;
use crate::parts::facts::{Details, LinkTarget};
use crate::parts::items::merge_requests;
use crate::parts::list::draw_error;
use crate::parts::repository::commit_history::History;
use crate::parts::text::dates::time_ago;
use crate::parts::text::inline_images::{self, InlineImages};
use crate::parts::text::links::{self, TextOrigin};
use crate::parts::text::rendered_markdown;
use crate::parts::{forms, project};
use crate::store::{Load, Rows, Want, Write};
use crate::ui::doc::{self, DocState};
use crate::ui::drawn::Drawn;
use crate::ui::line::Line;
use crate::ui::markdown::Rendered;
use crate::ui::panels::{self, PanelRequest, Panels};
use crate::ui::theme::Role;
use crate::ui::{chart, glyph, state, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

const FACTS: usize = 0;
const README: usize = 1;
const PANEL_WIDTHS: &[PanelRequest] = &[PanelRequest { min: 46, weight: 2 }, PanelRequest { min: 48, weight: 3 }];
/// The maximum number of pages of commits loaded for the activity chart of the last year.
const ACTIVITY_PAGES: u32 = 10;
/// The number of commits, without merges, that servers count for the list of contributors.
const COUNTED_COMMITS: u64 = 2_000;
/// The maximum number of contributors listed; the others are counted.
const MAX_CONTRIBUTORS: usize = 20;
/// The maximum number of languages listed; the others are counted.
const MAX_LANGUAGES: usize = 5;
/// The width in columns of the bars of contributors.
const BAR_WIDTH: usize = 16;
/// The maximum size in bytes of a README that is rendered.
const MAX_README_BYTES: usize = 200 * 1024;

/// The overview of a project.
pub struct Overview {
    project: Id,
    panels: Panels,
    facts: Details,
    history: History,
    readme: DocState,
    images: InlineImages,
    /// The key of the last rendering of the README: shown until a newer one is ready.
    shown: Option<String>,
    readme_area: Drawn<Rect>,
}

impl Overview {
    /// Returns the request for the project with its statistics.
    fn query(&self) -> GetProject {
        GetProject { statistics: Some(true), ..GetProject::new(&self.project) }
    }

    fn log(&self) -> ListCommits {
        ListCommits { id: self.project.clone(), ..ListCommits::default() }
    }

    fn contributors(&self) -> ListContributors {
        let (order_by, sort) = (Some("commits".to_owned()), Some("desc".to_owned()));
        ListContributors { id: self.project.clone(), order_by, sort }
    }

    fn languages(&self) -> GetLanguages {
        GetLanguages { id: self.project.clone() }
    }

    fn root(&self) -> ListTree {
        ListTree { id: self.project.clone(), ..ListTree::default() }
    }

    /// Returns the README in the root, if any.
    fn readme<'a>(&self, view: &View<'a>) -> Option<&'a TreeEntry> {
        let files = || view.store.list(&self.root()).iter().filter(|entry| !entry.is_folder());
        let named = |name: &str| files().find(|entry| entry.name.eq_ignore_ascii_case(name));
        ["readme.md", "readme.markdown", "readme", "readme.txt"]
            .iter()
            .find_map(|name| named(name))
            .or_else(|| files().find(|entry| entry.name.to_lowercase().starts_with("readme.")))
    }

    fn text_of(&self, readme: &TreeEntry) -> GetRawBlob {
        GetRawBlob { id: self.project.clone(), sha: readme.id.clone() }
    }

    /// Returns the key of the rendered README.
    fn readme_key(&self, view: &View, readme: &TreeEntry) -> String {
        let identity = format!("introduction {} {:?}", readme.id, self.images.rows());
        rendered_markdown::key(view, &identity, self.readme_width(view))
    }

    /// Returns the commit of the README's images: the latest one.
    fn image_origin(&self, view: &View) -> Option<TextOrigin> {
        let commit = view.store.list(&self.log()).get(0)?;
        Some(TextOrigin::of_file(&self.project, Some(commit.id.clone().into()), ""))
    }

    /// Returns the width of the README text in columns; 0 if it is hidden. The panels fill the screen between the lines
    /// of the frame.
    fn readme_width(&self, view: &View) -> usize {
        let places = self.panels.areas(Rect::new(0, 0, view.size.0, view.size.1), PANEL_WIDTHS);
        let width = places.get(README).copied().flatten().map_or(0, |place| usize::from(place.width));
        width.saturating_sub(4).min(rendered_markdown::MAX_PROSE_WIDTH)
    }

    /// Returns the rendering work for the README, unless it is done.
    fn rendering(&self, view: &View) -> Option<Want> {
        let width = self.readme_width(view);
        let readme = self.readme(view).filter(|_| width > 0)?;
        let key = self.readme_key(view, readme);
        if !view.store.is_result_missing(&key) {
            return None;
        }
        let raw = view.store.get(&self.text_of(readme)).value?;
        let bytes = raw.bytes.get(..MAX_README_BYTES).unwrap_or(&raw.bytes);
        let text = String::from_utf8_lossy(bytes);
        let name = readme.name.to_lowercase();
        let markdown = name.ends_with(".md") || name.ends_with(".markdown");
        let text = if markdown { text.into_owned() } else { format!("````\n{text}\n````") };
        Some(rendered_markdown::render_images(view, key, text, width, self.images.rows()).into())
    }

    fn fill_facts(&mut self, view: &View) {
        let Some(project) = view.store.get(&self.query()).value else { return };
        self.facts.clear();
        let places = self.panels.areas(Rect::new(0, 0, view.size.0, view.size.1), PANEL_WIDTHS);
        let width = places.get(FACTS).copied().flatten().map_or(80, |place| usize::from(place.width)).saturating_sub(4);
        if !project.description().is_empty() {
            self.facts.prose(project.description(), width.clamp(20, rendered_markdown::MAX_PROSE_WIDTH), 6, Role::Text);
            self.facts.line(Line::empty());
        }
        self.write_what(view, project);
        self.write_where(project);
        self.write_how_much(project);
        self.write_languages(view);
        self.write_who(view);
    }

    fn write_what(&mut self, view: &View, project: &Project) {
        let mut kind = Line::new(project.visibility().map_or("", |v| v.as_str()).to_owned(), Role::Text);
        if project.archived == Some(true) {
            kind.push(format!("{}archived", glyph::separator()), Role::Warning);
        }
        self.facts.field("visibility", kind, None);
        let marked = project.marked_for_deletion_on.as_ref().or(project.marked_for_deletion_at.as_ref());
        if let Some(day) = marked {
            self.facts.field("deletion", Line::new(format!("marked on {day}"), Role::Failed), None);
        }
        if let Some((words, role)) = project::import_words(project) {
            let words = if is_coming(project) { format!("{} {words}", glyph::alive()) } else { words };
            self.facts.field("import", Line::new(words, role), None);
        }
        if let Some(branch) = project.default_branch() {
            let place = Place::new("files").project(self.project.clone()).at(GitRef::branch(branch));
            let pieces = Line::new(format!("{} {branch}", glyph::branch()), Role::Ref);
            self.facts.field("default branch", pieces, Some(LinkTarget::Place(place)));
        }
        if !project.topics().is_empty() {
            self.facts.field("topics", Line::new(project.topics().join("  "), Role::Label), None);
        }
        if let Some(origin) = &project.forked_from_project {
            let place = Place::new(Self::ID).project(origin.path_with_namespace.as_str());
            let pieces = Line::new(origin.path_with_namespace.clone(), Role::Link);
            self.facts.field("fork of", pieces, Some(LinkTarget::Place(place)));
        }
        let created = time_ago(view, project.created_at.as_ref());
        if !created.is_empty() {
            self.facts.field("created", Line::new(created, Role::Text), None);
        }
        let counts = [
            (project.star_count.as_ref(), "star", "stars"),
            (project.forks_count.as_ref(), "fork", "forks"),
            (project.open_issues_count.as_ref(), "open issue", "open issues"),
        ];
        let counts_text: Vec<String> = counts
            .iter()
            .filter_map(|(count, one, many)| {
                let count = **count.as_ref()?;
                Some(format!("{} {}", text::count(count), if count == 1 { one } else { many }))
            })
            .collect();
        if !counts_text.is_empty() {
            self.facts.field("", Line::new(counts_text.join(glyph::separator()), Role::Dim), None);
        }
    }

    /// Writes the clone URLs. Enter copies the clone command.
    fn write_where(&mut self, project: &Project) {
        for (name, copied, url) in [
            ("HTTP", "clone command (HTTP)", project.http_url_to_repo.as_ref()),
            ("SSH", "clone command (SSH)", project.ssh_url_to_repo.as_ref()),
        ] {
            if let Some(url) = url.filter(|url| !url.is_empty()) {
                let command = format!("git clone {}", merge_requests::operand(url));
                self.facts.field(
                    name,
                    Line::new(url.clone(), Role::Link),
                    Some(LinkTarget::Copy(Clip::line(copied, command))),
                );
            }
        }
    }

    fn write_how_much(&mut self, project: &Project) {
        let Some(sizes) = project.statistics.as_ref() else { return };
        let commits = Line::new(text::count(sizes.commit_count), Role::Text);
        let place = Place::new("commits").project(self.project.clone());
        self.facts.field("commits", commits, Some(LinkTarget::Place(place)));
        let parts = [
            ("repository", sizes.repository_size),
            ("LFS", sizes.lfs_objects_size),
            ("artifacts", sizes.job_artifacts_size),
        ];
        let mut pieces = Line::new(text::bytes(sizes.storage_size), Role::Text);
        for (name, size) in parts.into_iter().filter(|(_, size)| *size > 0) {
            pieces.push(format!("{}{name} {}", glyph::separator(), text::bytes(size)), Role::Dim);
        }
        self.facts.field("storage", pieces, None);
    }

    /// Writes the share of each language, one per line.
    fn write_languages(&mut self, view: &View) {
        let Some(languages) = view.store.get(&self.languages()).value else { return };
        let mut shares: Vec<(&str, f64)> = languages.iter().map(|(name, share)| (name.as_str(), *share)).collect();
        shares.retain(|(_, share)| share.is_finite() && *share > 0.0);
        shares.sort_by(|a, b| b.1.total_cmp(&a.1));
        for (index, (name, share)) in shares.iter().take(MAX_LANGUAGES).enumerate() {
            let pieces =
                Line::new(chart::stroke((share / 100.0).min(1.0), BAR_WIDTH / 2, "share of a language"), Role::Chart)
                    .and(format!("{:>5.1}% ", share.min(100.0)), Role::Text)
                    .and((*name).to_owned(), Role::Label);
            self.facts.field(if index == 0 { "languages" } else { "" }, pieces, None);
        }
        if let Some(rest) = shares.len().checked_sub(MAX_LANGUAGES).filter(|rest| *rest > 0) {
            self.facts.field("", Line::new(format!("{rest} more"), Role::Dim), None);
        }
    }

    fn star(&mut self, starred: bool, cx: &mut Cx) {
        let id = self.project.clone();
        cx.act(Action::Send(match starred {
            true => Write::new(&StarProject { id: id.clone() }, format!("star {id}")),
            false => Write::new(&UnstarProject { id: id.clone() }, format!("unstar {id}")),
        }));
    }

    fn write_who(&mut self, view: &View) {
        let log: Rows<'_, Commit> = view.store.list(&self.log());
        if let Some(last) = log.get(0) {
            self.facts.line(Line::empty());
            let place = Place::new("commit").project(self.project.clone()).item(&last.id);
            let pieces = Line::new(text::head(last.short(), 8), Role::Ref).and(format!(" {}", last.title), Role::Text);
            self.facts.field("latest commit", pieces, Some(LinkTarget::Place(place)));
            let who = Line::new(last.author_name.clone(), Role::User)
                .and(format!("  {}", time_ago(view, last.date())), Role::Dim);
            self.facts.field("", who, None);
        }
        if let Some((line, back)) = self.history.activity(view, 30) {
            let back = format!("  {back}{}", if log.is_cut(ACTIVITY_PAGES) { "+" } else { "" });
            self.facts.field("activity", Line::new(line, Role::Chart).and(back, Role::Dim), None);
        }
        let people: Rows<'_, Contributor> = view.store.list(&self.contributors());
        // Beside the README, there is little room for names, so the bars are shorter.
        let beside = (panels::TWO_PANELS_WIDTH..130).contains(&view.size.0);
        let most = people.iter().map(|person| person.commits).max().unwrap_or(0).max(1);
        let mut label = "contributors";
        if !people.is_empty() {
            self.facts.line(Line::empty());
        }
        let counted: u64 = people.iter().map(|person| person.commits).fold(0, u64::saturating_add);
        if counted >= COUNTED_COMMITS || people.has_more {
            let limit = format!("of the latest {} commits", text::count(COUNTED_COMMITS));
            self.facts.field(std::mem::take(&mut label), Line::new(limit, Role::Dim), None);
        }
        for person in people.iter().take(MAX_CONTRIBUTORS) {
            let (share, room) = (person.commits as f64 / most as f64, if beside { BAR_WIDTH / 2 } else { BAR_WIDTH });
            let bar = chart::stroke(share, room, "commits, compared with the first person");
            let mut pieces = Line::new(bar, Role::Chart)
                .and(format!("{:>6} ", text::count(person.commits)), Role::Text)
                .and(person.name.clone(), Role::User);
            // Current server versions do not count lines.
            if person.additions > 0 || person.deletions > 0 {
                pieces.push(format!("  {}", glyph::additions(text::count(person.additions))), Role::Added);
                pieces.push(format!(" {}", glyph::deletions(text::count(person.deletions))), Role::Removed);
            }
            self.facts.field(std::mem::take(&mut label), pieces, None);
        }
        let rest = people.len().saturating_sub(MAX_CONTRIBUTORS);
        if rest > 0 || people.has_more {
            let more = format!("{}{} more", text::count(rest as u64), if people.has_more { "+" } else { "" });
            self.facts.field("", Line::new(more, Role::Dim), None);
        }
    }

    fn rendered<'a>(&self, view: &View<'a>) -> Option<&'a Rendered> {
        let key = self.readme_key(view, self.readme(view)?);
        view.store.result(&key).or_else(|| view.store.result(self.shown.as_deref()?))
    }

    /// Keeps the rendered README until a newer one is there, and the same text under the cursor when images arrive.
    fn update_readme(&mut self, view: &View) {
        if let (Some(origin), Some(rendered)) = (self.image_origin(view), self.rendered(view)) {
            self.images.changed(view, &origin, rendered);
        }
        let key = self.readme(view).map(|readme| self.readme_key(view, readme));
        let Some(key) = key.filter(|key| self.shown.as_ref() != Some(key)) else { return };
        let Some(rendered) = view.store.result::<Rendered>(&key) else { return };
        let before = self.shown.replace(key).and_then(|key| view.store.result::<Rendered>(&key));
        if let Some(before) = before {
            inline_images::keep_position(&mut self.readme, before, rendered);
        }
    }

    fn move_readme(&mut self, motion: Motion, view: &View) {
        let len = self.rendered(view).map_or(0, |rendered| rendered.lines.len());
        match motion {
            Motion::Left => self.panels.set_focus(FACTS),
            other => other.scroll(&mut self.readme, len),
        }
    }

    /// Opens a link of the README's line under the cursor; without one, the files.
    fn open_link(&mut self, cx: &mut Cx) {
        let rendered = self.rendered(&cx.view);
        let line = rendered.and_then(|rendered| rendered.lines.get(self.readme.at(rendered.lines.len())));
        match line.map(links::of_line).filter(|links| !links.is_empty()) {
            Some(links) => links::open(links, self, cx, Self::follow_link),
            None => cx.go(Place::new("files").project(self.project.clone())),
        }
    }

    /// Opens the address of a link of the README.
    fn follow_link(&mut self, address: &str, cx: &mut Cx) {
        let rendered = self.rendered(&cx.view);
        let origin = TextOrigin { project: Some(self.project.clone()), ..TextOrigin::default() };
        if let Some(line) = links::follow(&origin, rendered, address, cx) {
            self.readme.goto(line, rendered.map_or(0, |rendered| rendered.lines.len()));
            self.readme.set_top(line);
        }
    }

    /// Handles a click on the README: moves the cursor there; a double click opens a link.
    fn press_readme(&mut self, (column, row): (u16, u16), double: bool, cx: &mut Cx) {
        let Some(rendered) = self.rendered(&cx.view) else { return };
        let (area, len) = (self.readme_area.get(), rendered.lines.len());
        let Some(line) = self.readme.line_at(row - area.y, len) else { return };
        self.readme.goto(line, len);
        // The first column of the text is that of the cursor.
        let column = usize::from(column - area.x).checked_sub(1).map(|column| column + self.readme.left);
        let link = column.and_then(|column| links::at_column(rendered.lines.get(line)?, column));
        if let Some(link) = link.filter(|_| double) {
            self.follow_link(&link.address, cx);
        }
    }

    fn draw_readme(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let focused = self.panels.focus() == README;
        let readme = self.readme(view);
        let title = readme.map_or("README", |readme| readme.name.as_str());
        let body = panels::title(buf, area, view.theme, focused, title, "");
        let body = Rect { x: body.x + 1, width: body.width.saturating_sub(1), ..body };
        self.readme_area.set(body);
        let root = view.store.list(&self.root());
        let Some(readme) = readme else {
            return match (root.error, root.is_loaded) {
                (None, false) => state::skeleton(buf, body, view.theme),
                (Some(error), false) if !error.is_missing() => draw_error(view, body, buf, error),
                (_, true) if !root.is_empty() => view.draw_empty(buf, body, "No README.", "‹go.files› shows its files"),
                _ => match view.store.get(&self.query()).value.and_then(project::import_words) {
                    Some((words, _)) => view.draw_empty(buf, body, &words, "‹refresh› refreshes"),
                    None => {
                        let (why, next) = project::no_branches(view);
                        view.draw_empty(buf, body, why, next);
                    }
                },
            };
        };
        if let Some(rendered) = self.rendered(view) {
            doc::draw(buf, body, view.theme, focused, &self.readme, rendered.lines.len(), 0, &|index| {
                rendered.lines.get(index).map(doc::DocLine::borrowed).unwrap_or_default()
            });
            return self.images.draw(view, body, buf, &self.readme, 0, rendered);
        }
        match view.store.get(&self.text_of(readme)).error {
            Some(error) => draw_error(view, body, buf, error),
            None => state::skeleton(buf, body, view.theme),
        }
    }
}

/// Returns whether the repository of a fork or an imported project is still being copied.
fn is_coming(project: &Project) -> bool {
    matches!(project.import_status.as_deref(), Some("scheduled" | "started"))
}

impl PaneKind for Overview {
    const ID: &'static str = "overview";
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("overview.open", &["Enter"], "Open or copy selection", |pane: &mut Self, cx| {
            if pane.panels.focus() == README {
                return pane.open_link(cx);
            }
            if !pane.facts.enter(cx) {
                cx.say(Tone::Info, "The branch, the latest commit, the history and the clone commands can be opened.");
            }
        })
        .footer("open"),
        Command::new("overview.files", &["f"], "Go to files", |pane: &mut Self, cx| {
            cx.go(Place::new("files").project(pane.project.clone()));
        })
        .footer("files"),
        Command::new("overview.commits", &["H"], "Go to commits", |pane: &mut Self, cx| {
            cx.go(Place::new("commits").project(pane.project.clone()));
        })
        .footer("commits"),
        Command::new("overview.mrs", &["m"], "Go to merge requests", |pane: &mut Self, cx| {
            cx.go(Place::new("mrs").project(pane.project.clone()));
        })
        .footer("merge requests"),
        Command::new("overview.users", &["u"], "Show members", |pane: &mut Self, cx| {
            let title = format!("Members of {}", text::sanitize(pane.project.as_str()));
            let users = Complete::Users(Some(pane.project.clone()));
            let picker = ValuePicker::new(title, users, None, &cx.view, |username| {
                Action::GoToPlace(Place::new("user").item(username))
            });
            cx.open(picker);
        })
        .footer("members"),
        Command::new("overview.edit", &["e"], "Edit project…", |pane: &mut Self, cx| {
            forms::project::edit(&pane.project, &cx.view).open(cx);
        })
        .needs(permission::SETTINGS),
        Command::new("overview.star", &["*"], "Star project", |pane: &mut Self, cx| pane.star(true, cx)).writes(),
        Command::new("overview.unstar", &["M-*"], "Unstar project", |pane: &mut Self, cx| pane.star(false, cx))
            .writes(),
        Command::new("overview.fork", &["F"], "Fork project…", |pane: &mut Self, cx| {
            forms::project::fork(&pane.project).open(cx);
        })
        .writes(),
        Command::new("overview.environments", &["E"], "Go to environments", |pane: &mut Self, cx| {
            cx.go(Place::new("environments").project(pane.project.clone()));
        }),
        Command::new("overview.notifications", &["w"], "Open notification settings", |pane: &mut Self, cx| {
            cx.go(Place::new("notifications").project(pane.project.clone()));
        }),
    ];

    fn open(place: &Place, _view: &View) -> Self {
        Overview {
            project: place.project.clone().unwrap_or_default(),
            panels: Panels::new(2),
            facts: Details::default(),
            history: History::default(),
            readme: DocState::new(),
            images: InlineImages::default(),
            shown: None,
            readme_area: Drawn::default(),
        }
    }
}

impl Pane for Overview {
    fn place(&self) -> Place {
        Place::new(Self::ID).project(self.project.clone())
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = project::breadcrumbs(view, &self.project);
        breadcrumbs.push(Breadcrumb::new("overview", Role::Dim));
        breadcrumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let load = Load::single(&self.query());
        let comes = view.store.get(&self.query()).value.is_some_and(is_coming);
        let load = load.refresh_after(comes.then_some(POLL_INTERVAL));
        let mut wants = vec![project::want(&self.project), load.into()];
        let log = view.store.list(&self.log());
        let old = |commit: &Commit| {
            let when = commit.date().and_then(crate::api::Time::instant);
            when.is_some_and(|when| view.now.duration_since(when).as_hours() > 366 * 24)
        };
        let last = log.len().checked_sub(1).and_then(|last| log.get(last));
        let pages = if last.is_some_and(old) { log.pages() } else { log.pages_to_end(ACTIVITY_PAGES) };
        wants.push(Load::list(&self.log(), pages).optional().into());
        wants.push(Load::list(&self.contributors(), 1).optional().into());
        wants.push(Load::single(&self.languages()).optional().into());
        wants.push(Load::list(&self.root(), 1).optional().into());
        wants.extend(self.readme(view).map(|readme| Load::single(&self.text_of(readme)).optional().into()));
        wants.extend(self.history.wants());
        wants.extend(self.rendering(view));
        if let Some(origin) = self.image_origin(view) {
            wants.extend(self.images.wants(view, &origin, self.rendered(view)));
        }
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.facts.hide();
        self.readme_area.set(Rect::default());
        let places = self.panels.layout(area, PANEL_WIDTHS);
        if let Some(place) = places.get(FACTS).copied().flatten() {
            let focused = self.panels.focus() == FACTS;
            let reply = view.store.get(&self.query());
            let name = reply.value.map_or("", |project| project.name.as_str());
            let body = panels::title(buf, place, view.theme, focused, name, "");
            match reply.error {
                Some(error) if reply.value.is_none() => draw_error(view, body, buf, error),
                _ if self.facts.is_empty() => state::skeleton(buf, body, view.theme),
                _ => self.facts.draw(view, body, buf, focused),
            }
        }
        if let Some(place) = places.get(README).copied().flatten() {
            self.draw_readme(view, place, buf);
        }
        self.panels.draw_dividers(buf, view.theme);
    }

    fn changed(&mut self, cx: &mut Cx) {
        let view = &cx.view;
        self.history.sync(view, &view.store.list(&self.log()));
        self.update_readme(view);
        self.fill_facts(view);
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        match self.panels.focus() {
            README => self.move_readme(motion, &cx.view),
            _ => self.facts.motion(motion, cx),
        }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        let (Pointer::Press { column, row, .. } | Pointer::Wheel { column, row, .. }) = pointer else { return };
        let press = matches!(pointer, Pointer::Press { .. });
        if self.readme_area.get().contains((column, row).into()) {
            match pointer {
                Pointer::Wheel { rows, .. } => self.move_readme(Motion::Wheel(rows), &cx.view),
                Pointer::Press { double, .. } => {
                    self.panels.set_focus(README);
                    self.press_readme((column, row), double, cx);
                }
                _ => {}
            }
        } else if self.facts.contains(column, row) {
            if press {
                self.panels.set_focus(FACTS);
            }
            self.facts.pointer(pointer, cx);
        }
    }

    fn panels(&mut self) -> Option<&mut Panels> {
        Some(&mut self.panels)
    }

    fn escape(&mut self, _cx: &mut Cx) -> bool {
        let reading = self.panels.focus() == README;
        self.panels.set_focus(FACTS);
        reading
    }

    fn url(&self, view: &View) -> Option<String> {
        Some(project::page(view, &self.project, ""))
    }

    fn copies(&self, view: &View) -> Vec<Clip> {
        let Some(project) = project::project(view, &self.project) else { return Vec::new() };
        let mut copies = vec![Clip::line("path", project.path_with_namespace.clone())];
        for (name, url) in
            [("clone URL (HTTP)", &project.http_url_to_repo), ("clone URL (SSH)", &project.ssh_url_to_repo)]
        {
            copies.extend(
                url.as_ref().map(|url| Clip::line(name, format!("git clone {}", merge_requests::operand(url)))),
            );
        }
        copies
    }
}
