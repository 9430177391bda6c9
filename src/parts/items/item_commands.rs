//! The commands of a merge request or an issue, in its own place and in lists.

use crate::api::issues::{GetIssue, Issue};
use crate::api::merge_requests::{GetMergeRequest, MergeRequest};
use crate::api::subscriptions::Subscribe;
use crate::api::todos::CreateTodo;
use crate::api::{Id, Noteable};
use crate::app::action::Action;
use crate::app::command::{Command, Commands, Table};
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::overlay::form::Form;
use crate::app::permission::{EDIT_ISSUE, Permission};
use crate::app::view::View;
use crate::parts::forms;
use crate::parts::items::{subscription, time_tracking, todos};

/// The item that is open or under the cursor.
pub enum OpenItem<'a> {
    /// A merge request.
    MergeRequest(&'a MergeRequest),
    /// An issue.
    Issue(&'a Issue),
}

/// A place with a merge request or an issue, at least at times.
pub trait ShowsItem: Commands {
    /// The title of the command that edits its people.
    const PEOPLE: &'static str;
    /// The permission to change its fields.
    const EDIT_FIELDS: Permission;

    /// Returns the item with the ID of its project, or the reason why there is none.
    fn item<'a>(&self, view: &View<'a>) -> Result<(Id, OpenItem<'a>), Disabled>;

    /// Actions on an item besides reading it and writing about it.
    const ITEM: Table<Self, Self::Row> = &[
        Command::new(".labels", &["L"], "Edit labels…", |pane: &mut Self, cx| {
            open(pane, cx, |project, item, view| match item {
                OpenItem::MergeRequest(request) => forms::merge_request::labels(project, request.iid, view),
                OpenItem::Issue(issue) => forms::issue::labels(project, issue.iid, view),
            });
        })
        .needs(Self::EDIT_FIELDS)
        .of_one_row()
        .when(has_item),
        Command::new(".people", &["P"], Self::PEOPLE, |pane: &mut Self, cx| {
            open(pane, cx, |project, item, view| match item {
                OpenItem::MergeRequest(request) => forms::merge_request::people(project, request, view),
                OpenItem::Issue(issue) => forms::issue::assignees(project, issue.iid, view),
            });
        })
        .needs(Self::EDIT_FIELDS)
        .of_one_row()
        .when(has_item),
        Command::new(".subscribe", &["b"], "Subscribe or unsubscribe", |pane: &mut Self, cx| {
            let view = cx.view;
            if let Ok((project, item)) = pane.item(&view) {
                let subscribed = match &item {
                    OpenItem::MergeRequest(request) => {
                        let single = GetMergeRequest::new(project.clone(), request.iid);
                        view.store.get(&single).value.unwrap_or(request).subscribed
                    }
                    OpenItem::Issue(issue) => {
                        let single = GetIssue { id: project.clone(), issue_iid: issue.iid };
                        view.store.get(&single).value.unwrap_or(issue).subscribed
                    }
                };
                subscription::toggle(&noteable(project, &item), subscribed, cx);
            }
        })
        .sends::<Subscribe>()
        .of_one_row()
        .when(has_item),
        Command::new(".todo", &["T"], "Add to-do", |pane: &mut Self, cx| {
            if let Ok((project, item)) = pane.item(&cx.view) {
                cx.act(Action::Send(todos::add(&noteable(project, &item))));
            }
        })
        .sends::<CreateTodo>()
        .of_one_row()
        .when(has_item),
        Command::new(".time", &["H"], "Edit time tracking…", |pane: &mut Self, cx| {
            let view = cx.view;
            if let Ok((project, item)) = pane.item(&view) {
                let stats = match item {
                    OpenItem::MergeRequest(request) => request.time_stats.as_ref(),
                    OpenItem::Issue(issue) => issue.time_stats.as_ref(),
                };
                time_tracking::choose::<Self>(&noteable(project, &item), stats, cx);
            }
        })
        .needs(EDIT_ISSUE)
        .of_one_row()
        .when(has_item),
    ];
}

fn noteable(project: Id, item: &OpenItem) -> Noteable {
    match item {
        OpenItem::MergeRequest(request) => Noteable::MergeRequest { project, iid: request.iid },
        OpenItem::Issue(issue) => Noteable::Issue { project, iid: issue.iid },
    }
}

fn has_item<P: ShowsItem>(pane: &P, view: &View) -> Result<(), Disabled> {
    pane.item(view).map(|_| ())
}

fn open<P: ShowsItem>(pane: &P, cx: &mut Cx, form: impl FnOnce(&Id, &OpenItem, &View) -> Form) {
    let view = cx.view;
    if let Ok((project, item)) = pane.item(&view) {
        form(&project, &item, &view).open(cx);
    }
}
