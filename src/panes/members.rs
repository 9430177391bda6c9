//! The members of a project or group with their roles.

use crate::api::members::{ListAllMembers, ListMembers, Member, RemoveMember};
use crate::api::{Scope, Time};
use crate::app::App;
use crate::app::action::Action;
use crate::app::clip::Clip;
use crate::app::command::Command;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::pane::Breadcrumb;
use crate::app::place::Place;
use crate::app::place_info::Needs;
use crate::app::view::View;
use crate::parts::columns::{Columns, Field, ServerOrder};
use crate::parts::list::{age, day};
use crate::parts::list_pane::ListPane;
use crate::parts::list_source::{Filter, Input, ListCommand, ListSource, NoDetail};
use crate::parts::{forms, people, profile, scope};
use crate::store::{ListQuery, Want, Write};
use crate::ui::line::Line;
use crate::ui::table::{Column, Row, Size};
use crate::ui::text::sanitize;
use crate::ui::theme::Role;
use jiff::Timestamp;
use std::time::Duration;

/// The index of the tab of direct members.
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
        Field::new("expires", Column::new("Expires", Size::Fixed(10)).drop_order(2))
            .loaded(|a: &Member, b| at(a.expires_at.as_ref()).cmp(&at(b.expires_at.as_ref())))
            .newest_first(),
        Field::new("created", Column::new("Granted", Size::Fixed(7)).right().drop_order(3))
            .loaded(|a: &Member, b| at(a.created_at.as_ref()).cmp(&at(b.created_at.as_ref())))
            .newest_first(),
    ],
    order: None,
};

fn at(time: Option<&Time>) -> Option<Timestamp> {
    time.and_then(Time::instant)
}

/// The members of a project or group.
pub struct MemberSource {
    scope: Option<Scope>,
}

/// The list of members.
pub type Members = ListPane<MemberSource>;

impl MemberSource {
    fn direct(&self, query: Option<String>) -> Option<ListQuery<Member>> {
        Some(ListQuery::new(&ListMembers { scope: self.scope.clone()?, query }))
    }

    fn all(&self, query: Option<String>) -> Option<ListQuery<Member>> {
        Some(ListQuery::new(&ListAllMembers { scope: self.scope.clone()?, query }))
    }

    /// Returns whether a member is inherited from a parent group; `false` while that is unknown.
    fn is_inherited(&self, member: &Member, view: &View) -> bool {
        let Some(rows) = self.direct(None).map(|query| view.store.rows(&query)) else { return false };
        rows.is_loaded && !rows.has_more && !rows.iter().any(|direct| direct.id == member.id)
    }
}

impl Members {
    fn open_user(&mut self, cx: &mut Cx) {
        if let Some(member) = self.current(&cx.view) {
            cx.go(Place::new("user").item(member.username.as_str()));
        }
    }

    fn can_change(&self, view: &View) -> Result<(), Disabled> {
        forms::signed_in(view)?;
        let member = self.need_row(view)?;
        match self.source.is_inherited(member, view) {
            true => Err("the role comes from a group above; change it there".into()),
            false => Ok(()),
        }
    }

    fn add(&mut self, cx: &mut Cx) {
        if let Some(scope) = &self.source.scope {
            Members::open_form(forms::member::add(scope), cx);
        }
    }

    fn edit(&mut self, cx: &mut Cx) {
        if let (Some(scope), Some(member)) = (&self.source.scope, self.current(&cx.view)) {
            Members::open_form(forms::member::edit(scope, member), cx);
        }
    }

    fn remove(&mut self, cx: &mut Cx) {
        let (Some(member), Some(scope)) = (self.current(&cx.view), self.source.scope.clone()) else { return };
        let (user_id, name) = (member.id, sanitize(&member.username).into_owned());
        let question = format!("Remove {name} from {}? What {name} wrote stays.", scope.id());
        let write = Write::new(&RemoveMember { scope, user_id }, format!("remove {name}"));
        cx.act(App::confirm("Remove member", question, Action::Send(write)));
    }
}

impl ListSource for MemberSource {
    type Row = Member;
    type Detail = NoDetail;
    const ID: &'static str = "members";
    const TITLE: &'static str = "Members";
    const NEEDS: Needs = Needs::Project;
    const COLUMNS: Columns<Member> = COLUMNS;
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::new("members.open", &["Enter"], "Open user", Members::open_user).footer("open").when(Members::has_row),
        Command::new("members.add", &["+"], "Add member…", Members::add)
            .writes()
            .footer("add")
            .when(|_, view| forms::signed_in(view)),
        Command::new("members.edit", &["e"], "Change role…", Members::edit)
            .writes()
            .footer("role")
            .when(Members::can_change),
        Command::new("members.remove", &["D"], "Remove member…", Members::remove).writes().when(Members::can_change),
        Members::columns_command("members.columns"),
    ];

    fn open(place: &Place, _view: &View) -> MemberSource {
        MemberSource { scope: scope::of(place) }
    }

    fn place(&self) -> Place {
        scope::place(self.scope.as_ref(), Self::ID)
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        scope::breadcrumbs(self.scope.as_ref(), view, "members")
    }

    fn tabs(&self) -> &'static [&'static str] {
        &["All", "Direct"]
    }

    fn query(&self, input: &Input<'_>, _: ServerOrder, _view: &View) -> Option<ListQuery<Member>> {
        let query = Some(input.filter.to_owned()).filter(|text| !text.is_empty());
        if input.tab == DIRECT { self.direct(query) } else { self.all(query) }
    }

    fn filter(&self, _input: &Input<'_>) -> Filter<Member> {
        Filter::Server
    }

    fn key(member: &Member) -> String {
        member.id.to_string()
    }

    fn row(&self, view: &View, _: usize, member: &Member) -> Row<'static> {
        let (sign, _, role) = profile::state(&member.state);
        Row::new(vec![
            Line::new(sign, role),
            Line::new(member.name.clone(), Role::Text),
            Line::new(member.username.clone(), Role::User),
            Line::new(people::role(member.access_level), Role::Text),
            Line::new(member.expires_at.as_ref().map(day).unwrap_or_default(), Role::Warning),
            Line::new(age(view, member.created_at.as_ref()), Role::Dim),
        ])
        .dim(member.state != "active")
    }

    fn empty(&self, input: &Input<'_>) -> (&'static str, &'static str) {
        match (input.filter, input.tab) {
            ("", DIRECT) => {
                ("There are no direct members.", "‹members.add› adds one, ‹tab.1› shows those of groups above, too")
            }
            ("", _) => ("There are no members.", "‹members.add› adds one"),
            _ => ("No member matches the filter.", "‹seek› changes it, ‹escape› clears it"),
        }
    }

    fn enter(pane: &mut Members, cx: &mut Cx) {
        pane.open_user(cx);
    }

    fn wants(pane: &Members, _view: &View) -> Vec<Want> {
        let mut wants = scope::wants(pane.source.scope.as_ref());
        // The direct members are needed to tell which ones are inherited.
        wants.extend(pane.source.direct(None).iter().flat_map(|query| query.wants(1, Duration::ZERO, None)));
        wants
    }

    fn url(&self, view: &View, _: &Member) -> Option<String> {
        let page = match self.scope {
            Some(Scope::Group(_)) => "/-/group_members",
            _ => "/-/project_members",
        };
        scope::page(self.scope.as_ref(), view, page)
    }

    fn copies(&self, _view: &View, member: &Member) -> Vec<Clip> {
        vec![
            Clip::line("username", member.username.clone()),
            Clip::line("name", member.name.clone()),
            Clip::line("ID", member.id.to_string()),
        ]
    }
}
