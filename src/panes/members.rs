//! The members of a project or group with their roles.

use crate::api::members::{ListAllMembers, ListMembers, Member, RemoveMember};
use crate::api::{Id, Scope};
use crate::app::permission;
use crate::domain::roles;
use crate::parts::facts::profile;
use crate::parts::forms;
use crate::parts::list::pane::edited_row;
use crate::parts::list::prelude::*;
use crate::parts::list::scope;
use crate::parts::text::dates::day;
use crate::ui::text::sanitize;
use std::time::Duration;

/// The index of the tab of direct members.
const DIRECT: usize = 1;

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

    /// Returns the direct membership of a user, if it is loaded.
    fn direct_member<'a>(&self, user: u64, view: &View<'a>) -> Option<&'a Member> {
        view.store.rows(&self.direct(None)?).iter().find(|direct| direct.id == user)
    }

    /// Returns whether a member is inherited from a parent group; `false` while that is unknown.
    fn is_inherited(&self, member: &Member, view: &View) -> bool {
        let Some(rows) = self.direct(None).map(|query| view.store.rows(&query)) else { return false };
        rows.is_loaded && !rows.has_more && !rows.iter().any(|direct| direct.id == member.id)
    }
}

impl Members {
    fn open_user(&mut self, member: &Member, cx: &mut Cx) {
        cx.go(Place::new("user").item(member.username.as_str()));
    }

    fn can_change(&self, member: &Member, view: &View) -> Result<(), Disabled> {
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

    fn edit(&mut self, member: &Member, cx: &mut Cx) {
        if let Some(scope) = &self.source.scope {
            let (scope, view) = (scope.clone(), cx.view);
            // A row has the highest role of a user, and when that ends. Both may come from a group above.
            let direct = self.source.direct(None).zip(self.source.direct_member(member.id, &view));
            let edit = move |member: &Member| forms::member::edit(&scope, member);
            match direct {
                Some((query, direct)) => {
                    Members::open_form(edited_row(&query, direct, MemberSource::key, edit, &view), cx)
                }
                None => self.open_edit(member, edit, cx),
            }
        }
    }

    fn remove(&mut self, member: &Member, cx: &mut Cx) {
        let Some(scope) = self.source.scope.clone() else { return };
        let (user_id, name) = (member.id, sanitize(&member.username).into_owned());
        let question = format!("Remove {name} from {}? What {name} wrote stays.", scope.id());
        let write = Write::new(&RemoveMember { scope, user_id }, format!("remove {name}"));
        cx.act(App::confirm("Remove member", question, Action::Send(write)));
    }
}

impl ListSource for MemberSource {
    type Row = Member;
    type Detail = NoDetail;
    const LIST: ListInfo = ListInfo::new("members", "member", "members").tabs(&["All", "Direct"]);
    const COLUMNS: &'static [Column<Self>] = &[
        Column::<Self>::glyph("state", |_, member, _| {
            let (sign, _, role) = profile::state(&member.state);
            Line::new(sign, role)
        })
        .sorted(|member| member.state.as_str().into()),
        Column::<Self>::fill("name", "Name", 14, |_, member, _| Line::text(&member.name))
            .sorted(|member| SortKey::caseless(&member.name)),
        Column::<Self>::fit("username", "Username", 8, 24, |_, member, _| Line::new(&member.username, Role::User))
            .sorted(|member| SortKey::caseless(&member.username)),
        // The highest role comes first.
        Column::<Self>::fit("role", "Max role", 5, 14, |_, member, _| Line::text(roles::role(member.access_level)))
            .sorted(|member| SortKey::reversed(Some(member.access_level))),
        Column::<Self>::fixed("expires", "Expires", 10, |_, member, _| {
            Line::new(member.expires_at.as_ref().map(day).unwrap_or_default(), Role::Warning)
        })
        .by_time(|member| member.expires_at.as_ref())
        .newest_first()
        .drop_order(2),
        Column::<Self>::age("created", "Granted", |member| member.created_at.as_ref()).drop_order(3),
    ];
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::row("members.open", &["Enter"], "Open user", Members::open_user).footer("open"),
        Command::new("members.add", &["+"], "Add member…", Members::add).needs(permission::MEMBERS).footer("add"),
        Command::row("members.edit", &["e"], "Change role…", Members::edit)
            .needs(permission::MEMBERS)
            .footer("role")
            .when_row(Members::can_change),
        Command::row("members.remove", &["D"], "Remove member…", Members::remove)
            .needs(permission::MEMBERS)
            .when_row(Members::can_change),
        Members::columns_command("members.columns"),
    ];

    fn open(place: &Place, _view: &View) -> MemberSource {
        MemberSource { scope: scope::of(place) }
    }

    fn is_dim(&self, _: usize, member: &Member) -> bool {
        member.state != "active"
    }

    fn empty(&self, tab: usize) -> (&'static str, &'static str) {
        match tab {
            DIRECT => {
                ("There are no direct members.", "‹members.add› adds one, ‹tab.1› shows those of groups above, too")
            }
            _ => ("There are no members.", "‹members.add› adds one"),
        }
    }

    fn query(&self, input: &Input<'_>, _: ServerOrder, _view: &View) -> Option<ListQuery<Member>> {
        let query = Some(input.filter.to_owned()).filter(|text| !text.is_empty());
        if input.tab == DIRECT { self.direct(query) } else { self.all(query) }
    }

    fn filter(&self, _input: &Input<'_>) -> Filter<Member> {
        Filter::Server
    }

    fn belongs_to(&self, member: &Member, view: &View) -> (Option<Id>, bool) {
        (None, view.is_me([member.id]))
    }

    fn key(member: &Member) -> String {
        member.id.to_string()
    }

    fn wants(pane: &Members, _view: &View) -> Vec<Want> {
        // The direct members are needed to tell which ones are inherited.
        pane.source.direct(None).iter().flat_map(|query| query.wants(1, Duration::ZERO, None)).collect()
    }

    fn url(&self, view: &View, _: Option<&Member>) -> Option<String> {
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
