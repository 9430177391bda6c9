//! The status of a commit, as a machine would set it.

use crate::api::Id;
use crate::api::commits::{SetCommitStatus, StatusState};
use crate::app::complete::Complete;
use crate::app::overlay::form::{Form, Widget};

/// A status of the commit `sha`.
pub fn status(id: &Id, sha: &str) -> Form {
    let short = sha.get(..8).unwrap_or(sha);
    Form::of::<SetCommitStatus>(
        format!("Status of {short}"),
        format!("set a status of {short}"),
        format!("commit status {id} {sha}"),
    )
    .fixed("id", id)
    .fixed("sha", sha)
    .without(&["context"])
    .first(&["state", "name", "description", "target_url", "coverage", "ref"])
    .field("state", |field| _ = field.widget(Widget::Choice(StatusState::KNOWN)).default("success"))
    .field("name", |field| _ = field.default("default").help("What was run; the same name replaces its status."))
    .field("description", |field| _ = field.help("What came of it, in a few words."))
    .field("target_url", |field| {
        field.help("The page that tells more.").check(|url| {
            let web = url.is_empty() || url.starts_with("http://") || url.starts_with("https://");
            if web { Ok(()) } else { Err("must begin with http:// or https://".into()) }
        });
    })
    .field("coverage", |field| _ = field.widget(Widget::Decimal).help("Of the tests, in percent."))
    .field("ref", |field| {
        field.widget(Widget::Line(Complete::Refs(id.clone()))).help("Which branch or tag it was run for.");
    })
}
