//! The text of what is selected, with its title, for a panel beside a list.

use crate::api::Time;
use crate::api::issues::Issue;
use crate::api::merge_requests::MergeRequest;
use crate::parts::items::merge_requests;
use std::borrow::Cow;

/// A text with its title.
pub struct Description<'a> {
    pub title: String,
    /// The username or name of the text's author.
    pub author: Cow<'a, str>,
    /// A key that changes with the text.
    pub identity: String,
    /// The text, as Markdown.
    pub text: Cow<'a, str>,
}

impl<'a> Description<'a> {
    /// Returns the description of a merge request; `server` names another server than the current one.
    pub fn of_merge_request(request: &'a MergeRequest, server: &str) -> Description<'a> {
        let changed = request.updated_at.as_ref().map_or("", Time::as_str);
        Description {
            title: format!("!{} {}", request.iid, merge_requests::title(request)),
            author: request.author().map_or("", |user| &user.username).into(),
            identity: format!("description of merge request {} at {changed} {server}", request.id),
            text: request.description.as_deref().unwrap_or_default().into(),
        }
    }

    /// Returns the description of an issue.
    pub fn of_issue(issue: &'a Issue) -> Description<'a> {
        let changed = issue.updated_at.as_ref().map_or("", Time::as_str);
        Description {
            title: format!("#{} {}", issue.iid, issue.title),
            author: issue.author.as_ref().map_or("", |user| &user.username).into(),
            identity: format!("description of issue {} at {changed}", issue.id),
            text: issue.description.as_deref().unwrap_or_default().into(),
        }
    }

    /// Returns the description, independent of what it was read from.
    pub fn into_owned(self) -> Description<'static> {
        let Description { title, author, identity, text } = self;
        Description { title, author: author.into_owned().into(), identity, text: text.into_owned().into() }
    }
}
