//! The branch that is checked out in the clone: leads to its merge request, or to a new one.

use crate::app::action::Action;
use crate::app::command::Command;
use crate::app::context::Cx;
use crate::app::pane::{Breadcrumb, Pane, PaneKind};
use crate::app::place::Place;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::facts::{Details, Instead, LinkTarget};
use crate::parts::items::merge_requests;
use crate::parts::repository::this_branch::{self, Sync, ThisBranch};
use crate::store::Want;
use crate::ui::line::Line;
use crate::ui::text::{capitalize, sanitize};
use crate::ui::theme::Role;

/// The item of the place that creates a merge request where there is none.
pub const NEW: &str = "new";

/// The pane of the branch.
pub struct Branch {
    facts: Details,
    /// Whether a merge request is created as soon as it is known that there is none.
    creates: bool,
    /// Whether the form for a merge request opens once the branch is pushed.
    creates_after_push: bool,
}

impl Branch {
    /// Opens the form for a merge request, after a question whether to push what the server does not have.
    fn create(&mut self, branch: &ThisBranch, cx: &mut Cx) {
        self.creates = false;
        match branch.can_push(&cx.view) {
            Ok(()) => {
                self.creates_after_push = true;
                cx.act(branch.push());
            }
            Err(why) if branch.sync(&cx.view) == Sync::NotOnServer => {
                cx.say(Tone::Warning, format!("{} cannot be pushed: {why}.", sanitize(branch.name)));
            }
            Err(why) => {
                if branch.head.ahead > 0 && branch.sync(&cx.view) != Sync::Same {
                    cx.say(Tone::Warning, format!("{} was not pushed: {why}.", sanitize(branch.name)));
                }
                branch.create(&cx.view).open(cx);
            }
        }
    }

    fn lead_on(&mut self, branch: &ThisBranch, cx: &mut Cx) {
        let view = cx.view;
        let sync = branch.sync(&view);
        if let Some(request) = branch.request(&view).filter(|request| request.is_open()) {
            if !sync.words().is_empty() {
                cx.say(Tone::Warning, format!("{}: {}", sanitize(branch.name), sync.words()));
            }
            return cx.act(Action::Replace(
                Place::new("mr").project(merge_requests::project(request, &view)).item(request.iid),
            ));
        }
        if branch.can_create(&view).is_err() || sync == Sync::Unknown || !branch.is_current(&view) {
            return;
        }
        if self.creates {
            self.create(branch, cx);
        } else if self.creates_after_push && sync == Sync::Same {
            self.creates_after_push = false;
            branch.create(&view).open(cx);
        }
    }

    fn fill_facts(&mut self, branch: &ThisBranch, view: &View) {
        let facts = &mut self.facts;
        let files = Place::new("files").project(branch.project.clone());
        facts.field("branch", Line::new(branch.name.to_owned(), Role::Ref), None);
        facts.field("project", Line::new(branch.project.to_string(), Role::Link), Some(LinkTarget::Place(files)));
        let sync = branch.sync(view);
        let (words, role) = match sync {
            Sync::Unknown => ("loading".to_owned(), Role::Dim),
            Sync::Same => ("same commit as here".to_owned(), Role::Success),
            sync => (sync.words(), Role::Warning),
        };
        facts.field("server", Line::new(words, role), None);
        if let Some(request) = branch.request(view) {
            let (mark, state, role) = merge_requests::state(request);
            let place = Place::new("mr").project(merge_requests::project(request, view)).item(request.iid);
            let title = Line::new(format!("!{} ", request.iid), Role::Link)
                .and(merge_requests::title(request).to_owned(), Role::Text);
            let title = title.and(format!("  {mark} {state}"), role);
            facts.field("merge request", title, Some(LinkTarget::Place(place)));
        }
        facts.line(Line::empty());
        if branch.request(view).is_none_or(|request| !request.is_open()) {
            let (words, role) = match (branch.can_create(view), branch.error(view)) {
                (_, Some(error)) => (format!("{}: {}", error.title(), error.message()), Role::Failed),
                (Err(why), _) => (format!("No merge request: {why}."), Role::Dim),
                (Ok(()), _) => ("No merge request: ‹branch.create› creates one.".to_owned(), Role::Text),
            };
            facts.line(Line::new(view.with_keys(&words).into_owned(), role));
        }
        if branch.can_push(view).is_ok() {
            facts.line(Line::new(view.with_keys("‹branch.push› pushes the branch with git.").into_owned(), Role::Text));
        }
        if sync != Sync::Same && branch.head.ahead > 0 {
            facts.line(Line::empty());
            facts.line(Line::new("Not pushed", Role::Title));
            for title in &branch.head.titles {
                facts.line(Line::new(format!("  {title}"), Role::Text));
            }
            if let Some(more) = branch.head.ahead.checked_sub(branch.head.titles.len()).filter(|more| *more > 0) {
                facts.line(Line::new(format!("  and {more} more"), Role::Dim));
            }
        }
    }
}

impl PaneKind for Branch {
    const ID: &'static str = "branch";
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("branch.open", &["Enter"], "Open selection", |pane: &mut Self, cx| {
            pane.facts.enter(cx);
        })
        .footer("open"),
        Command::new("branch.create", &["+"], "Create merge request…", |pane: &mut Self, cx| {
            let view = cx.view;
            if let Ok(branch) = this_branch::current(&view) {
                pane.create(&branch, cx);
            }
        })
        .footer("create")
        .writes()
        .when(|_, view| this_branch::current(view)?.can_create(view)),
        Command::new("branch.push", &["P"], "Push branch…", |_: &mut Self, cx| {
            let view = cx.view;
            if let Ok(branch) = this_branch::current(&view) {
                cx.act(branch.push());
            }
        })
        .footer("push")
        .when(|_, view| this_branch::current(view)?.can_push(view)),
    ];

    fn open(place: &Place, _view: &View) -> Self {
        let creates = place.item.as_deref() == Some(NEW);
        Branch { facts: Details::default(), creates, creates_after_push: false }
    }
}

impl Pane for Branch {
    fn focused(&self) -> Option<&dyn Pane> {
        Some(&self.facts)
    }

    fn focused_mut(&mut self) -> Option<&mut dyn Pane> {
        Some(&mut self.facts)
    }

    fn place(&self) -> Place {
        Place::new(Self::ID)
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = vec![Breadcrumb::new("this branch", Role::Title)];
        if let Ok(branch) = this_branch::current(view) {
            breadcrumbs.push(Breadcrumb::new(sanitize(branch.name), Role::Ref));
        }
        breadcrumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        this_branch::current(view).map(|branch| branch.wants(view)).unwrap_or_default()
    }

    fn changed(&mut self, cx: &mut Cx) {
        self.facts.clear();
        let view = cx.view;
        let branch = this_branch::current(&view);
        self.facts.title(branch.as_ref().map_or("", |branch| branch.name), "");
        match &branch {
            Err(_) if view.session.clone.as_ref().is_some_and(|clone| clone.head.is_none()) => {
                self.facts.say_instead(Instead::Loading);
            }
            Err(why) => {
                let words = format!("{}.", capitalize(why.as_ref()));
                self.facts.say_instead(Instead::Empty(words, "‹refresh› reads it again"));
            }
            Ok(branch) => {
                self.fill_facts(branch, &view);
                self.lead_on(branch, cx);
            }
        }
    }

    fn url(&self, view: &View) -> Option<String> {
        let branch = this_branch::current(view).ok()?;
        let request = branch.request(view).map(|request| request.web_url.clone());
        request.or_else(|| Some(branch.known_project(view)?.web_url.clone())).filter(|url| !url.is_empty())
    }
}
