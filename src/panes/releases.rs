//! The releases of a project, and the description and assets of the selected one.

use crate::api::releases::{DeleteRelease, ListReleases, Release};
use crate::api::{GitRef, Id, RefKind, Time};
use crate::app::App;
use crate::app::action::Action;
use crate::app::clip::Clip;
use crate::app::command::Command;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::pane::Breadcrumb;
use crate::app::place::Place;
use crate::app::place_info::Needs;
use crate::app::view::View;
use crate::parts::columns::{Columns, Field, ServerOrder};
use crate::parts::facts::{Details, LinkTarget};
use crate::parts::list::{age, time_ago};
use crate::parts::list_detail::{FactsDetail, FactsSource};
use crate::parts::list_pane::ListPane;
use crate::parts::list_source::{Filter, Input, ListCommand, ListSource};
use crate::parts::{forms, project};
use crate::store::{ListQuery, Want, Write};
use crate::ui::line::Line;
use crate::ui::panels::PanelRequest;
use crate::ui::table::{Column, Row, Size};
use crate::ui::text::sanitize;
use crate::ui::theme::Role;

/// The width in columns and the maximum number of lines of a description.
const DESCRIPTION_WIDTH: usize = 60;
const MAX_DESCRIPTION_LINES: usize = 60;

const COLUMNS: Columns<Release> = Columns {
    place: "releases",
    fields: &[
        Field::new("title", Column::new("Title", Size::Fill { min: 14, weight: 2 }))
            .loaded(|a: &Release, b| a.title().to_lowercase().cmp(&b.title().to_lowercase())),
        Field::new("tag", Column::new("Tag", Size::Fit { min: 4, max: 24 }))
            .loaded(|a: &Release, b| a.tag_name.cmp(&b.tag_name)),
        Field::new("author", Column::new("Author", Size::Fit { min: 0, max: 16 }).drop_order(2)),
        Field::new("released", Column::new("Released", Size::Fixed(8)).right().drop_order(1))
            .loaded(|a: &Release, b| at(a).cmp(&at(b)))
            .newest_first(),
    ],
    order: None,
};

fn at(release: &Release) -> Option<jiff::Timestamp> {
    release.released_at.as_ref().or(release.created_at.as_ref()).and_then(Time::instant)
}

/// The releases of a project.
pub struct ReleaseSource {
    project: Id,
}

/// The list of releases.
pub type Releases = ListPane<ReleaseSource>;

impl Releases {
    fn open_selection(&mut self, cx: &mut Cx) {
        if !self.enter_detail(cx)
            && let Some(release) = self.current(&cx.view)
        {
            cx.go(Place::new("files").project(self.source.project.clone()).at(GitRef::tag(&release.tag_name)));
        }
    }

    fn can_change(&self, view: &View) -> Result<(), Disabled> {
        forms::signed_in(view)?;
        self.has_row(view)
    }

    fn edit(&mut self, cx: &mut Cx) {
        if let Some(release) = self.current(&cx.view) {
            Releases::open_form(forms::release::edit(&self.source.project, release), cx);
        }
    }

    fn delete(&mut self, cx: &mut Cx) {
        let Some(release) = self.current(&cx.view) else { return };
        let (id, tag_name) = (self.source.project.clone(), release.tag_name.clone());
        let question =
            format!("Delete the release {} of {id}? Its tag stays. This cannot be undone.", sanitize(release.title()));
        let what = format!("delete release {tag_name}");
        let write = Write::new(&DeleteRelease { id, tag_name }, what);
        cx.act(App::confirm("Delete a release", question, Action::Send(write)));
    }
}

impl ListSource for ReleaseSource {
    type Row = Release;
    type Detail = FactsDetail;
    const ID: &'static str = "releases";
    const TITLE: &'static str = "Releases";
    const NEEDS: Needs = Needs::Project;
    const REF_KIND: Option<RefKind> = Some(RefKind::Tag);
    const WIDTHS: &'static [PanelRequest] = &[PanelRequest { min: 40, weight: 2 }, PanelRequest { min: 48, weight: 3 }];
    const COLUMNS: Columns<Release> = COLUMNS;
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::new("releases.open", &["Enter"], "Open files of release", Releases::open_selection)
            .footer("open")
            .when(Releases::has_row),
        Command::new("releases.create", &["+"], "Create release…", |pane: &mut Releases, cx| {
            Releases::open_form(forms::release::create(&pane.source.project), cx);
        })
        .writes()
        .footer("new")
        .when(|_, view| forms::signed_in(view)),
        Command::new("releases.edit", &["e"], "Edit release…", Releases::edit)
            .writes()
            .footer("edit")
            .when(Releases::can_change),
        Command::new("releases.delete", &["D"], "Delete release…", Releases::delete)
            .writes()
            .when(Releases::can_change),
        Command::new("releases.links", &["A"], "Open asset links", |pane: &mut Releases, cx| {
            if let Some(release) = pane.current(&cx.view) {
                cx.go(Place::new("asset_links").project(pane.source.project.clone()).item(&release.tag_name));
            }
        })
        .footer("links")
        .when(Releases::has_row),
        Releases::columns_command("releases.columns"),
    ];

    fn open(place: &Place, _view: &View) -> ReleaseSource {
        ReleaseSource { project: place.project.clone().unwrap_or_default() }
    }

    fn place(&self) -> Place {
        Place::new(Self::ID).project(self.project.clone())
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut out = project::breadcrumbs(view, &self.project);
        out.push(Breadcrumb::new("releases", Role::Text));
        out
    }

    fn query(&self, _: &Input<'_>, _: ServerOrder, _view: &View) -> Option<ListQuery<Release>> {
        Some(ListQuery::new(&ListReleases { id: self.project.clone() }))
    }

    fn filter(&self, _: &Input<'_>) -> Filter<Release> {
        Filter::Loaded(|release, words| {
            release.title().to_lowercase().contains(words) || release.tag_name.to_lowercase().contains(words)
        })
    }

    fn key(release: &Release) -> String {
        release.tag_name.clone()
    }

    fn row(&self, view: &View, _: usize, release: &Release) -> Row<'static> {
        let author = release.author.as_ref().map(|author| author.username.clone()).unwrap_or_default();
        let when = age(view, release.released_at.as_ref().or(release.created_at.as_ref()));
        let when = if release.upcoming_release == Some(true) { "upcoming".to_owned() } else { when };
        Row::new(vec![
            Line::new(release.title().to_owned(), Role::Text),
            Line::new(release.tag_name.clone(), Role::Ref),
            Line::new(author, Role::User),
            Line::new(when, Role::Dim),
        ])
    }

    fn empty(&self, input: &Input<'_>) -> (&'static str, &'static str) {
        match input.filter {
            "" => ("There are no releases yet.", "‹releases.create› creates one"),
            _ => ("No release matches the filter.", "‹seek› changes it, ‹escape› clears it"),
        }
    }

    fn enter(pane: &mut Releases, cx: &mut Cx) {
        pane.open_selection(cx);
    }

    fn wants(pane: &Releases, _view: &View) -> Vec<Want> {
        vec![project::want(&pane.source.project)]
    }

    fn url(&self, view: &View, release: &Release) -> Option<String> {
        let tag = crate::api::endpoint::encode(&release.tag_name);
        Some(project::page(view, &self.project, &format!("/-/releases/{tag}")))
    }

    fn copies(&self, _view: &View, release: &Release) -> Vec<Clip> {
        vec![Clip::line("tag", release.tag_name.clone()), Clip::line("title", release.title().to_owned())]
    }
}

impl FactsSource for ReleaseSource {
    fn facts_title(&self, release: &Release) -> String {
        release.title().to_owned()
    }

    fn facts(&self, facts: &mut Details, view: &View, release: &Release) {
        let files = Place::new("files").project(self.project.clone()).at(GitRef::tag(&release.tag_name));
        facts.field("tag", Line::new(release.tag_name.clone(), Role::Ref), Some(LinkTarget::Place(files)));
        let released = time_ago(view, release.released_at.as_ref().or(release.created_at.as_ref()));
        if !released.is_empty() {
            facts.field("released", Line::new(released, Role::Text), None);
        }
        if let Some(author) = &release.author {
            facts.field("author", Line::new(author.username.clone(), Role::User), None);
        }
        for (index, milestone) in release.milestones.iter().flatten().enumerate() {
            let name = if index == 0 { "milestones" } else { "" };
            facts.field(name, Line::new(milestone.title.clone(), Role::Text), None);
        }
        let description = release.description.as_deref().unwrap_or_default();
        if !description.trim().is_empty() {
            facts.line(Line::empty());
            facts.prose(description, DESCRIPTION_WIDTH, MAX_DESCRIPTION_LINES, Role::Text);
        }
        let Some(assets) = &release.assets else { return };
        if !assets.links.is_empty() || !assets.sources.is_empty() {
            facts.line(Line::empty());
        }
        for (index, link) in assets.links.iter().enumerate() {
            let mut pieces = Line::new(link.name.clone(), Role::Link);
            if !matches!(link.link_type.as_str(), "" | "other") {
                pieces.push(format!("  {}", link.link_type), Role::Dim);
            }
            facts.field(if index == 0 { "assets" } else { "" }, pieces, LinkTarget::page(&link.url));
        }
        for (index, source) in assets.sources.iter().enumerate() {
            let pieces = Line::new(source.format.clone(), Role::Link);
            facts.field(if index == 0 { "source code" } else { "" }, pieces, LinkTarget::page(&source.url));
        }
    }
}
