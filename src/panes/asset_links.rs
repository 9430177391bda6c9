//! The asset links of a release: downloads, packages, images and runbooks.

use crate::api::Id;
use crate::api::releases::{AssetLink, DeleteAssetLink, ListAssetLinks};
use crate::app::App;
use crate::app::action::Action;
use crate::app::clip::Clip;
use crate::app::command::Command;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::pane::Breadcrumb;
use crate::app::place::Place;
use crate::app::place_info::Needs;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::columns::{Columns, Field, ServerOrder};
use crate::parts::list_pane::ListPane;
use crate::parts::list_source::{Filter, Input, ListCommand, ListSource, NoDetail};
use crate::parts::{forms, project};
use crate::store::{ListQuery, Want, Write};
use crate::ui::line::Line;
use crate::ui::table::{Column, Row, Size};
use crate::ui::text::sanitize;
use crate::ui::theme::Role;

const COLUMNS: Columns<AssetLink> = Columns {
    place: "asset links",
    fields: &[
        Field::new("name", Column::new("Name", Size::Fit { min: 12, max: 40 }))
            .loaded(|a: &AssetLink, b| a.name.to_lowercase().cmp(&b.name.to_lowercase())),
        Field::new("type", Column::new("Type", Size::Fit { min: 4, max: 10 }).drop_order(1))
            .loaded(|a, b| a.link_type.cmp(&b.link_type)),
        Field::new("URL", Column::new("URL", Size::Fill { min: 20, weight: 1 }).cut_in_middle()),
    ],
    order: None,
};

/// The asset links of a release.
pub struct AssetLinkSource {
    project: Id,
    tag: String,
}

/// The list of asset links.
pub type AssetLinks = ListPane<AssetLinkSource>;

impl AssetLinks {
    fn open_page(&mut self, cx: &mut Cx) {
        let Some(link) = self.current(&cx.view) else { return };
        match link.url.starts_with("https://") || link.url.starts_with("http://") {
            true => cx.act(Action::Browse(link.url.clone())),
            false => cx.say(Tone::Warning, "Only web pages are opened; ‹copy› copies the URL."),
        }
    }

    fn can_change(&self, view: &View) -> Result<(), Disabled> {
        forms::signed_in(view)?;
        self.has_row(view)
    }

    fn edit(&mut self, cx: &mut Cx) {
        if let Some(link) = self.current(&cx.view) {
            AssetLinks::open_form(forms::release::edit_link(&self.source.project, &self.source.tag, link), cx);
        }
    }

    fn delete(&mut self, cx: &mut Cx) {
        let Some(link) = self.current(&cx.view) else { return };
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
    const ID: &'static str = "asset_links";
    const TITLE: &'static str = "Asset links";
    const NEEDS: Needs = Needs::Item;
    const COLUMNS: Columns<AssetLink> = COLUMNS;
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::new("asset_links.open", &["Enter"], "Open link", AssetLinks::open_page)
            .footer("open")
            .when(AssetLinks::has_row),
        Command::new("asset_links.create", &["+"], "Add asset link…", |pane: &mut AssetLinks, cx| {
            AssetLinks::open_form(forms::release::add_link(&pane.source.project, &pane.source.tag), cx);
        })
        .writes()
        .footer("new")
        .when(|_, view| forms::signed_in(view)),
        Command::new("asset_links.edit", &["e"], "Edit asset link…", AssetLinks::edit)
            .writes()
            .footer("edit")
            .when(AssetLinks::can_change),
        Command::new("asset_links.delete", &["D"], "Delete asset link…", AssetLinks::delete)
            .writes()
            .footer("delete")
            .when(AssetLinks::can_change),
        AssetLinks::columns_command("asset_links.columns"),
    ];

    fn open(place: &Place, _view: &View) -> AssetLinkSource {
        let (project, tag) = (place.project.clone(), place.item.clone());
        AssetLinkSource { project: project.unwrap_or_default(), tag: tag.unwrap_or_default() }
    }

    fn place(&self) -> Place {
        Place::new(Self::ID).project(self.project.clone()).item(&self.tag)
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
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

    fn row(&self, _view: &View, _: usize, link: &AssetLink) -> Row<'static> {
        Row::new(vec![
            Line::new(link.name.clone(), Role::Text),
            Line::new(link.link_type.clone(), Role::Dim),
            Line::new(link.url.clone(), Role::Link),
        ])
    }

    fn empty(&self, input: &Input<'_>) -> (&'static str, &'static str) {
        match input.filter {
            "" => ("The release has no asset links.", "‹asset_links.create› adds one"),
            _ => ("No link matches the filter.", "‹seek› changes it, ‹escape› clears it"),
        }
    }

    fn enter(pane: &mut AssetLinks, cx: &mut Cx) {
        pane.open_page(cx);
    }

    fn wants(pane: &AssetLinks, _view: &View) -> Vec<Want> {
        vec![project::want(&pane.source.project)]
    }

    fn url(&self, view: &View, _: &AssetLink) -> Option<String> {
        let tag = crate::api::endpoint::encode(&self.tag);
        Some(project::page(view, &self.project, &format!("/-/releases/{tag}/edit")))
    }

    fn copies(&self, _view: &View, link: &AssetLink) -> Vec<Clip> {
        vec![Clip::line("URL", link.url.clone()), Clip::line("name", link.name.clone())]
    }
}
