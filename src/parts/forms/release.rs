//! A new release of a project, and the fields of one that exists.

use crate::api::releases::{CreateProjectRelease, ProjectRelease, UpdateProjectRelease};
use crate::api::{Endpoint, Id};
use crate::app::action::Action;
use crate::app::overlay::form::{Form, Widget};

/// The tag of the release that was made or changed, as the pane hears it.
pub struct NewRelease(pub String);

fn fields<E: Endpoint>(title: String, what: String, key: String, id: &Id) -> Form {
    Form::of::<E>(title, what, key)
        .fixed("id", id)
        .field("description", |field| _ = field.widget(Widget::Long))
        .then(|answer| Some(Action::answer(NewRelease(answer.downcast_ref::<ProjectRelease>()?.tag_name.clone()))))
}

/// A new release.
pub fn create(id: &Id) -> Form {
    let (what, key) = ("create the release".to_owned(), format!("new release {id}"));
    fields::<CreateProjectRelease>(format!("New release in {id}"), what, key, id)
        .first(&["tag_name", "ref", "name", "description"])
        .field("tag_name", |field| _ = field.label("tag"))
        .field("ref", |field| _ = field.default("none").help("A branch or commit, if the tag does not exist yet."))
        .field("name", |field| _ = field.default("the tag"))
}

/// The fields of a release.
pub fn edit(id: &Id, release: &ProjectRelease) -> Form {
    let tag = &release.tag_name;
    let (title, what) = (format!("Edit release {tag}"), format!("change release {tag}"));
    fields::<UpdateProjectRelease>(title, what, format!("release {id} {tag}"), id)
        .fixed("tag_name", tag)
        .first(&["name", "description"])
        .field("name", |field| _ = field.before(release.title()))
        .field("description", |field| _ = field.before(release.description.clone().unwrap_or_default()))
}
