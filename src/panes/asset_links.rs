//! The asset links of a release: downloads, packages, images and runbooks.

use crate::api::Id;
use crate::api::releases::{AssetLink, DeleteAssetLink, ListAssetLinks};
use crate::app::pane::Breadcrumb;
use crate::app::permission;
use crate::app::tone::Tone;
use crate::parts::list::prelude::*;
use crate::parts::{forms, project};
use crate::ui::text::sanitize;

/// The asset links of a release.
pub struct AssetLinkSource {
    project: Id,
    tag: String,
}

/// The list of asset links.
pub type AssetLinks = ListPane<AssetLinkSource>;

impl AssetLinks {
    fn open_page(&mut self, link: &AssetLink, cx: &mut Cx) {
        match link.url.starts_with("https://") || link.url.starts_with("http://") {
            true => cx.act(Action::Browse(link.url.clone())),
            false => cx.say(Tone::Warning, "Only web pages are opened; ‹copy› copies the URL."),
        }
    }

    fn edit(&mut self, link: &AssetLink, cx: &mut Cx) {
        let (project, tag) = (self.source.project.clone(), self.source.tag.clone());
        self.open_edit(link, move |link| forms::release::edit_link(&project, &tag, link), cx);
    }

    fn delete(&mut self, link: &AssetLink, cx: &mut Cx) {
        let (id, tag_name, link_id) = (self.source.project.clone(), self.source.tag.clone(), link.id);
        let name = sanitize(&link.name).into_owned();
        let question = format!("Delete the link {name} of {}? What it leads to stays.", sanitize(&tag_name));
        let write = Write::new(&DeleteAssetLink { id, tag_name, link_id }, format!("delete asset link {name}"));
        cx.act(App::confirm("Delete asset link", question, Action::Send(write)));
    }
}

impl ListSource for AssetLinkSource {
    type Row = AssetLink;
    type Detail = NoDetail;
    const LIST: ListInfo = ListInfo { saved_as: "asset links", ..ListInfo::new("asset_links", "link", "asset links") };
    const COLUMNS: &'static [Column<Self>] = &[
        Column::<Self>::name("name", "Name", 12, |_, link, _| Line::text(&link.name))
            .sorted(|link| SortKey::caseless(&link.name)),
        Column::<Self>::fit("type", "Type", 4, 10, |_, link, _| Line::new(&link.link_type, Role::Dim))
            .sorted(|link| link.link_type.as_str().into())
            .drop_order(1),
        Column::<Self>::fill("URL", "URL", 20, |_, link, _| Line::new(&link.url, Role::Link)).cut_in_middle(),
    ];
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::row("asset_links.open", &["Enter"], "Open link", AssetLinks::open_page).footer("open"),
        Command::new("asset_links.create", &["+"], "Add asset link…", |pane: &mut AssetLinks, cx| {
            AssetLinks::open_form(forms::release::add_link(&pane.source.project, &pane.source.tag), cx);
        })
        .needs(permission::PUSH)
        .footer("new"),
        Command::row("asset_links.edit", &["e"], "Edit asset link…", AssetLinks::edit)
            .needs(permission::PUSH)
            .footer("edit"),
        Command::row("asset_links.delete", &["D"], "Delete asset link…", AssetLinks::delete)
            .needs(permission::PUSH)
            .footer("delete"),
        AssetLinks::columns_command("asset_links.columns"),
    ];

    fn open(place: &Place, _view: &View) -> AssetLinkSource {
        let (project, tag) = (place.project.clone(), place.item.clone());
        AssetLinkSource { project: project.unwrap_or_default(), tag: tag.unwrap_or_default() }
    }

    fn empty(&self, _: usize) -> (&'static str, &'static str) {
        ("The release has no asset links.", "‹asset_links.create› adds one")
    }

    fn place(&self, base: Place) -> Place {
        base.item(&self.tag)
    }

    fn breadcrumbs(&self, _: &Place, view: &View) -> Vec<Breadcrumb> {
        let mut out = project::breadcrumbs(view, &self.project);
        out.push(Breadcrumb::new(sanitize(&self.tag).into_owned(), Role::Ref));
        out.push(Breadcrumb::new("asset links", Role::Text));
        out
    }

    fn query(&self, _: &Input<'_>, _: ServerOrder, _view: &View) -> Option<ListQuery<AssetLink>> {
        Some(ListQuery::new(&ListAssetLinks { id: self.project.clone(), tag_name: self.tag.clone() }))
    }

    fn filter(&self, _: &Input<'_>) -> Filter<AssetLink> {
        Filter::Loaded(|link, words| link.name.to_lowercase().contains(words) || link.url.contains(words))
    }

    fn key(link: &AssetLink) -> String {
        link.id.to_string()
    }

    fn url(&self, view: &View, _: Option<&AssetLink>) -> Option<String> {
        let tag = crate::api::endpoint::encode(&self.tag);
        Some(project::page(view, &self.project, &format!("/-/releases/{tag}/edit")))
    }

    fn copies(&self, _view: &View, link: &AssetLink) -> Vec<Clip> {
        vec![Clip::line("URL", link.url.clone()), Clip::line("name", link.name.clone())]
    }
}
