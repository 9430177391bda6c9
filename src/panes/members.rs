//! Members of a project, with the role of each.

use crate::api::projects::{ListAllMembers, ListMembers, Member};
use crate::api::{Id, Time};
use crate::app::command::Command;
use crate::app::pane::{Breadcrumb, Cx, Needs, View};
use crate::app::place::Place;
use crate::parts::columns::{Columns, Field, ServerOrder};
use crate::parts::list::{age, day};
use crate::parts::list_pane::ListPane;
use crate::parts::list_source::{Filter, Input, ListSource, NoDetail};
use crate::parts::{people, profile, project};
use crate::store::{ListQuery, Want};
use crate::ui::table::{Cell, Column, Row, Size};
use crate::ui::theme::Role;
use jiff::Timestamp;

/// The tab of those who are members of the project itself.
const DIRECT: usize = 1;

const COLUMNS: Columns<Member> = Columns {
    place: "members",
    fields: &[
        Field::new("state", Column::new("", Size::Fixed(1))).loaded(|a: &Member, b| a.state.cmp(&b.state)),
        Field::new("name", Column::new("Name", Size::Fill { min: 14, weight: 1 }))
            .loaded(|a: &Member, b| a.name.to_lowercase().cmp(&b.name.to_lowercase())),
        Field::new("username", Column::new("Username", Size::Fit { min: 8, max: 24 }))
            .loaded(|a: &Member, b| a.username.to_lowercase().cmp(&b.username.to_lowercase())),
        Field::new("role", Column::new("Max role", Size::Fit { min: 5, max: 14 }))
            .loaded(|a: &Member, b| b.access_level.cmp(&a.access_level)),
        Field::new("expires", Column::new("Expires", Size::Fixed(10)).priority(2))
            .loaded(|a: &Member, b| at(a.expires_at.as_ref()).cmp(&at(b.expires_at.as_ref())))
            .newest_first(),
        Field::new("created", Column::new("Granted", Size::Fixed(7)).right().priority(3))
            .loaded(|a: &Member, b| at(a.created_at.as_ref()).cmp(&at(b.created_at.as_ref())))
            .newest_first(),
    ],
    order: None,
};

fn at(time: Option<&Time>) -> Option<Timestamp> {
    time.and_then(Time::instant)
}

/// The members of a project.
pub struct MemberSource {
    project: Id,
}

/// The list of members.
pub type Members = ListPane<MemberSource>;

impl Members {
    fn open_user(&mut self, cx: &mut Cx) {
        if let Some(member) = self.current(&cx.view) {
            cx.go(Place::new("user").item(member.username.as_str()));
        }
    }
}

impl ListSource for MemberSource {
    type Row = Member;
    type Detail = NoDetail;
    const ID: &'static str = "members";
    const TITLE: &'static str = "Members of a project";
    const NEEDS: Needs = Needs::Project;
    const COLUMNS: Columns<Member> = COLUMNS;
    const COMMANDS: &'static [Command<Members>] = &[
        Command::new("members.open", &["Enter"], "Open user", Members::open_user).footer("open").when(Members::has_row),
        Members::columns_command("members.columns"),
    ];

    fn open(place: &Place, _view: &View) -> MemberSource {
        MemberSource { project: place.project.clone().unwrap_or_default() }
    }

    fn place(&self) -> Place {
        Place::new(Self::ID).project(self.project.clone())
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = project::breadcrumbs(view, &self.project);
        breadcrumbs.push(Breadcrumb::new("members", Role::Dim));
        breadcrumbs
    }

    fn tabs(&self) -> &'static [&'static str] {
        &["All", "Direct"]
    }

    fn query(&self, input: &Input<'_>, _: ServerOrder, _view: &View) -> Option<ListQuery<Member>> {
        let (id, query) = (self.project.clone(), Some(input.filter.to_owned()).filter(|text| !text.is_empty()));
        Some(match input.tab {
            DIRECT => ListQuery::new(&ListMembers { id, query }),
            _ => ListQuery::new(&ListAllMembers { id, query }),
        })
    }

    fn filter(&self, _input: &Input<'_>) -> Filter<Member> {
        Filter::Server
    }

    fn key(member: &Member) -> String {
        member.id.to_string()
    }

    fn row(&self, view: &View, _: usize, member: &Member) -> Row {
        let (sign, _, role) = profile::state(&member.state);
        Row::new(vec![
            Cell::from((sign, role)),
            Cell::from((member.name.clone(), Role::Text)),
            Cell::from((member.username.clone(), Role::User)),
            Cell::from((people::role(member.access_level), Role::Text)),
            Cell::from((member.expires_at.as_ref().map(day).unwrap_or_default(), Role::Warning)),
            Cell::from((age(view, member.created_at.as_ref()), Role::Dim)),
        ])
        .dim(member.state != "active")
    }

    fn empty(&self, input: &Input<'_>) -> (&'static str, &'static str) {
        match (input.filter, input.tab) {
            ("", DIRECT) => ("The project has no direct members.", "1 shows those of its groups, too"),
            ("", _) => ("The project has no members.", "2 shows direct members"),
            _ => ("No member matches the filter.", "/ changes it, Esc clears it"),
        }
    }

    fn enter(pane: &mut Members, cx: &mut Cx) {
        pane.open_user(cx);
    }

    fn wants(pane: &Members, _view: &View) -> Vec<Want> {
        vec![project::want(&pane.source.project)]
    }

    fn url(&self, view: &View, _: &Member) -> Option<String> {
        Some(project::page(view, &self.project, "/-/project_members"))
    }

    fn copies(&self, _view: &View, member: &Member) -> Vec<(&'static str, String)> {
        vec![("username", member.username.clone()), ("name", member.name.clone()), ("ID", member.id.to_string())]
    }
}
