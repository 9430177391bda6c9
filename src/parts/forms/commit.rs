//! The form for a commit status.

use crate::api::Id;
use crate::api::commits::{CommitStatusState, SetCommitStatus};
use crate::app::complete::Complete;
use crate::app::overlay::form::{Form, Widget};

/// Returns the form that sets a status of the commit `sha`.
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
    .field("state", |field| _ = field.widget(Widget::Choice(CommitStatusState::KNOWN)).default("success"))
    .field("name", |field| _ = field.default("default").help("What ran; a status of the same name is replaced."))
    .field("description", |field| _ = field.help("The result, in a few words."))
    .field("target_url", |field| {
        field.help("A page with details.").check(|url| {
            let web = url.is_empty() || url.starts_with("http://") || url.starts_with("https://");
            if web { Ok(()) } else { Err("must start with http:// or https://".into()) }
        });
    })
    .field("coverage", |field| _ = field.widget(Widget::Decimal).help("Test coverage, in percent."))
    .field("ref", |field| {
        field.widget(Widget::Line(Complete::Refs(id.clone()))).help("The branch or tag it ran for.");
    })
}
