//! Lookup of an SSH key and its owner by the key's ID, as found in server logs; for administrators.

use crate::api::users::{LookUpKey, SshKey};
use crate::app::action::Action;
use crate::app::clip::Clip;
use crate::app::command::Command;
use crate::app::context::Cx;
use crate::app::pane::{Breadcrumb, Pane, PaneKind};
use crate::app::permission;
use crate::app::place::Place;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::domain::public_key::{self, Family};
use crate::parts::facts::profile;
use crate::parts::facts::{Details, Instead, LinkTarget};
use crate::parts::text::dates::time_ago;
use crate::store::{Load, Want};
use crate::ui::line::Line;
use crate::ui::text::wrap;
use crate::ui::theme::Role;

/// The pane that looks up a key.
pub struct KeyLookup {
    number: Option<u64>,
    facts: Details,
    /// Whether the prompt for an ID was opened, or an ID was given.
    was_prompted: bool,
}

impl KeyLookup {
    fn query(&self) -> Option<LookUpKey> {
        self.number.map(|id| LookUpKey { id })
    }

    fn key<'a>(&self, view: &View<'a>) -> Option<&'a SshKey> {
        view.store.get(&self.query()?).value
    }

    fn ask(&mut self, cx: &mut Cx) {
        self.was_prompted = true;
        cx.ask("ID of the SSH key", "", |_: &mut Self, typed, cx| {
            let digits = typed.trim().trim_start_matches("key-").trim_start_matches('#');
            match digits.parse::<u64>() {
                Ok(number) => cx.act(Action::Replace(Place::new(Self::ID).item(number))),
                Err(_) if digits.is_empty() => {}
                Err(_) => cx.say(Tone::Warning, "The ID of a key is a number such as 17."),
            }
        });
    }

    fn fill(&mut self, view: &View) {
        let reply = self.query().map(|query| view.store.get(&query));
        let key = reply.as_ref().and_then(|reply| reply.value);
        self.facts.clear();
        self.facts.title(key.map_or("", |key| key.title.as_str()), "");
        let instead = match (permission::administrator(view), key, reply) {
            (Err(why), ..) => Instead::Empty(format!("You cannot look up SSH keys: {why}."), ":me shows your own keys"),
            (_, Some(key), _) => return self.fill_facts(view, key),
            (_, None, Some(reply)) => reply.error.map_or(Instead::Loading, |error| Instead::Failed(error.clone())),
            (_, None, None) => {
                let hint = "‹key.another› enters an ID; server logs show it as key-17";
                Instead::Empty("No key looked up yet.".to_owned(), hint)
            }
        };
        self.facts.say_instead(instead);
    }

    fn fill_facts(&mut self, view: &View, key: &SshKey) {
        let facts = &mut self.facts;
        facts.field("title", Line::new(key.title.clone(), Role::Title), None);
        match public_key::read(Family::Ssh, &key.key) {
            Ok(read) => {
                facts.field("kind", Line::new(read.kind, Role::Text), None);
                let link = Some(LinkTarget::Copy(Clip::line("fingerprint", read.fingerprint.clone())));
                facts.field("fingerprint", Line::new(read.fingerprint, Role::Ref), link);
            }
            Err(why) => facts.field("kind", Line::new(why, Role::Warning), None),
        }
        facts.field("added", Line::new(time_ago(view, key.created_at.as_ref()), Role::Text), None);
        if key.last_used_at.is_some() {
            facts.field("last used", Line::new(time_ago(view, key.last_used_at.as_ref()), Role::Text), None);
        }
        for (index, line) in wrap(&key.key, 64, 12).into_iter().enumerate() {
            let link = Some(LinkTarget::Copy(Clip::line("key", key.key.clone())));
            facts.field(if index == 0 { "key" } else { "" }, Line::new(line, Role::Dim), link);
        }
        facts.line(Line::empty());
        let Some(owner) = key.user.as_ref() else {
            return facts.field("owner", Line::new("unknown", Role::Warning), None);
        };
        let place = Place::new("user").item(owner.username.as_str()).tab("ssh");
        facts.field("owner", Line::new(format!("@{}", owner.username), Role::Link), Some(LinkTarget::Place(place)));
        profile::fill_facts(facts, view, owner, 64);
    }
}

impl PaneKind for KeyLookup {
    const ID: &'static str = "key";
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("key.owner", &["Enter"], "Open or copy selection", |pane: &mut Self, cx| {
            if pane.facts.enter(cx) {
                return;
            }
            let owner = pane.key(&cx.view).and_then(|key| key.user.as_ref()).map(|user| user.username.clone());
            match owner {
                Some(name) => cx.go(Place::new("user").item(name).tab("ssh")),
                None => pane.ask(cx),
            }
        })
        .footer("owner"),
        Command::new("key.another", &["K"], "Find SSH key by ID…", |pane: &mut Self, cx| pane.ask(cx))
            .footer("another ID")
            .when(|_, view| permission::administrator(view)),
    ];

    fn open(place: &Place, _view: &View) -> Self {
        let number = place.item.as_deref().and_then(|item| item.trim_start_matches('#').parse().ok());
        KeyLookup { number, facts: Details::default(), was_prompted: number.is_some() }
    }
}

impl Pane for KeyLookup {
    fn focused(&self) -> Option<&dyn Pane> {
        Some(&self.facts)
    }

    fn focused_mut(&mut self) -> Option<&mut dyn Pane> {
        Some(&mut self.facts)
    }

    fn place(&self) -> Place {
        Place { item: self.number.map(|id| id.to_string()), ..Place::new(Self::ID) }
    }

    fn breadcrumbs(&self, _view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = vec![Breadcrumb::new("SSH key", Role::Title)];
        breadcrumbs.extend(self.number.map(|id| Breadcrumb::new(format!("#{id}"), Role::Ref)));
        breadcrumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        // A request is sent only for administrators; the server would refuse others.
        let may = permission::can_load_admin_data(view);
        self.query().filter(|_| may).map(|query| Load::single(&query).into()).into_iter().collect()
    }

    fn changed(&mut self, cx: &mut Cx) {
        if !self.was_prompted && permission::can_load_admin_data(&cx.view) {
            self.ask(cx);
        }
        self.fill(&cx.view);
    }

    fn url(&self, view: &View) -> Option<String> {
        let owner = self.key(view)?.user.as_ref()?;
        Some(owner.web_url.clone()).filter(|url| !url.is_empty())
    }

    fn copies(&self, view: &View) -> Vec<Clip> {
        let Some(key) = self.key(view) else { return Vec::new() };
        let mut copies = vec![Clip::line("key", key.key.clone())];
        copies.extend(
            public_key::read(Family::Ssh, &key.key).ok().map(|read| Clip::line("fingerprint", read.fingerprint)),
        );
        copies
    }
}
