//! Forms for creating and editing releases and the links among their assets.

use crate::api::releases::{
    AssetLink, CreateAssetLink, CreateRelease, LINK_TYPES, Release, UpdateAssetLink, UpdateRelease,
};
use crate::api::{Endpoint, Id};
use crate::app::complete::Complete;
use crate::app::overlay::form::{Form, Widget};
use crate::app::overlay::markdown_input::TextContext;
use crate::ui::text::sanitize;

fn fields<E: Endpoint>(title: String, what: String, key: String, id: &Id) -> Form {
    let context = TextContext::project(id);
    Form::of::<E>(title, what, key).fixed("id", id).field("description", |field| _ = field.markdown(Some(context)))
}

/// Returns the form for a new release.
pub fn create(id: &Id) -> Form {
    let (what, key) = ("create the release".to_owned(), format!("new release {id}"));
    fields::<CreateRelease>(format!("New release in {id}"), what, key, id)
        .first(&["tag_name", "ref", "name", "description"])
        .field("tag_name", |field| _ = field.label("tag"))
        .field("ref", |field| {
            field.widget(Widget::Line(Complete::Refs(id.clone()))).default("none");
            field.help("A branch or commit, if the tag does not exist yet.");
        })
        .field("name", |field| _ = field.default("the tag"))
}

/// Returns the form that edits a release.
pub fn edit(id: &Id, release: &Release) -> Form {
    let tag = &release.tag_name;
    let (title, what) = (format!("Edit release {tag}"), format!("change release {tag}"));
    fields::<UpdateRelease>(title, what, format!("release {id} {tag}"), id)
        .fixed("tag_name", tag)
        .first(&["name", "description"])
        .field("name", |field| _ = field.before(release.title()))
        .field("description", |field| _ = field.before(release.description.clone().unwrap_or_default()))
}

fn check_url(text: &str) -> Result<(), String> {
    let fits = ["http://", "https://", "ftp://"].iter().any(|scheme| text.starts_with(scheme));
    if fits { Ok(()) } else { Err("must begin with https://, http:// or ftp://".into()) }
}

fn link_fields<E: Endpoint>(title: String, what: String, key: String, id: &Id, tag: &str) -> Form {
    Form::of::<E>(title, what, key)
        .fixed("id", id)
        .fixed("tag_name", tag)
        .first(&["name", "url", "link_type"])
        .field("name", |field| _ = field.required(true))
        .field("url", |field| _ = field.label("URL").help("").required(true).check(check_url))
        .field("link_type", |field| _ = field.label("type").help("").widget(Widget::Choice(LINK_TYPES)))
}

/// Returns the form for a new asset link of a release.
pub fn add_link(id: &Id, tag: &str) -> Form {
    let (title, what) = (format!("Add asset link to {}", sanitize(tag)), "add the asset link".to_owned());
    link_fields::<CreateAssetLink>(title, what, format!("new asset link {id} {tag}"), id, tag)
        .field("link_type", |field| _ = field.default("other"))
}

/// Returns the form that edits an asset link. All fields are sent, because servers replace an absent type with another.
pub fn edit_link(id: &Id, tag: &str, link: &AssetLink) -> Form {
    let name = sanitize(&link.name);
    let (title, what) = (format!("Edit asset link {name}"), format!("change the asset link {name}"));
    link_fields::<UpdateAssetLink>(title, what, format!("asset link {id} {tag} {}", link.id), id, tag)
        .fixed("link_id", link.id)
        .field("name", |field| _ = field.before(link.name.as_str()).always_sent())
        .field("url", |field| _ = field.before(link.url.as_str()).always_sent())
        .field("link_type", |field| _ = field.required(true).before(link.link_type.as_str()).always_sent())
}
