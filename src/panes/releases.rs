//! The releases of a project, and the description and assets of the selected one.

use crate::api::releases::{DeleteRelease, ListReleases, Release};
use crate::api::{GitRef, Id, RefKind, Scope, Time};
use crate::app::permission;
use crate::parts::facts::LinkTarget;
use crate::parts::facts::facts_markdown;
use crate::parts::list::prelude::*;
use crate::parts::text::dates::{age, time_ago};
use crate::parts::{forms, project};
use crate::ui::text::sanitize;

fn date(release: &Release) -> Option<&Time> {
    release.released_at.as_ref().or(release.created_at.as_ref())
}

/// The releases of a project.
pub struct ReleaseSource {
    project: Id,
}

/// The list of releases.
pub type Releases = ListPane<ReleaseSource>;

impl Releases {
    fn open_selection(&mut self, release: &Release, cx: &mut Cx) {
        if !self.enter_detail(cx) {
            cx.go(Place::new("files").project(self.source.project.clone()).at(GitRef::tag(&release.tag_name)));
        }
    }

    fn edit(&mut self, release: &Release, cx: &mut Cx) {
        let project = self.source.project.clone();
        self.open_edit(release, move |release| forms::release::edit(&project, release), cx);
    }

    fn delete(&mut self, release: &Release, cx: &mut Cx) {
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
    type Detail = Details;
    const LIST: ListInfo = ListInfo {
        ref_kind: Some(RefKind::Tag),
        ..ListInfo::new("releases", "release", "releases").widths(&[(40, 2), (48, 3)])
    };
    const COLUMNS: &'static [Column<Self>] = &[
        Column::<Self>::fill("title", "Title", 14, |_, release, _| Line::text(release.title()))
            .weight(2)
            .sorted(|release| SortKey::caseless(release.title())),
        Column::<Self>::fit("tag", "Tag", 4, 24, |_, release, _| Line::new(&release.tag_name, Role::Ref))
            .sorted(|release| release.tag_name.as_str().into()),
        Column::<Self>::fit("author", "Author", 0, 16, |_, release, _| {
            Line::new(release.author.as_ref().map_or("", |author| &author.username), Role::User)
        })
        .drop_order(2),
        Column::<Self>::fixed("released", "Released", 8, |_, release, view| match release.upcoming_release {
            Some(true) => Line::new("upcoming", Role::Dim),
            _ => Line::new(age(view, date(release)), Role::Dim),
        })
        .right()
        .by_time(date)
        .newest_first()
        .drop_order(1),
    ];
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::row("releases.open", &["Enter"], "Open files of release", Releases::open_selection).footer("open"),
        Command::new("releases.create", &["+"], "Create release…", |pane: &mut Releases, cx| {
            Releases::open_form(forms::release::create(&pane.source.project), cx);
        })
        .needs(permission::PUSH)
        .footer("new"),
        Command::row("releases.edit", &["e"], "Edit release…", Releases::edit).needs(permission::PUSH).footer("edit"),
        Command::row("releases.delete", &["D"], "Delete release…", Releases::delete).needs(permission::PUSH),
        Command::row("releases.links", &["A"], "Open asset links", |pane: &mut Releases, release: &Release, cx| {
            cx.go(Place::new("asset_links").project(pane.source.project.clone()).item(&release.tag_name));
        })
        .footer("links"),
        Releases::columns_command("releases.columns"),
    ];

    fn open(place: &Place, _view: &View) -> ReleaseSource {
        ReleaseSource { project: place.project.clone().unwrap_or_default() }
    }

    fn empty(&self, _: usize) -> (&'static str, &'static str) {
        ("There are no releases yet.", "‹releases.create› creates one")
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

    fn url(&self, view: &View, release: Option<&Release>) -> Option<String> {
        let tag = crate::api::endpoint::encode(&release?.tag_name);
        Some(project::page(view, &self.project, &format!("/-/releases/{tag}")))
    }

    fn copies(&self, _view: &View, release: &Release) -> Vec<Clip> {
        vec![Clip::line("tag", release.tag_name.clone()), Clip::line("title", release.title().to_owned())]
    }
}

impl Describes<Details> for ReleaseSource {
    fn describe(&self, facts: &mut Details, view: &View, release: &Release) {
        facts.title(release.title().to_owned(), "");
        let files = Place::new("files").project(self.project.clone()).at(GitRef::tag(&release.tag_name));
        facts.field("tag", Line::new(release.tag_name.clone(), Role::Ref), Some(LinkTarget::Place(files)));
        let released = time_ago(view, date(release));
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
        let (scope, width) = (Scope::Project(self.project.clone()), facts.width());
        facts_markdown::write(facts, view, &scope, release.description.as_deref(), width);
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
