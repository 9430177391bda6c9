//! The license of the server, for administrators: licensee, validity and used seats.

use crate::api::Time;
use crate::api::license::{AddLicense, GetLicense, License};
use crate::app::action::Action;
use crate::app::command::Command;
use crate::app::context::Cx;
use crate::app::overlay::confirm::Confirm;
use crate::app::overlay::prompt::{Accepted, Prompt};
use crate::app::pane::{Breadcrumb, Pane, PaneKind};
use crate::app::permission;
use crate::app::place::Place;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::facts::{Details, Instead};
use crate::parts::paths::{LocalPaths, ReadFile, file_key};
use crate::store::{Load, Want, Work, Write};
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::{chart, text};

/// The maximum size in bytes of a license file.
const MAX_LICENSE_BYTES: u64 = 256 * 1024;
/// The minimum length in bytes of a pasted license; a shorter text is the path of a file.
const MIN_LICENSE_BYTES: usize = 200;
/// The width in columns of the bar of used seats.
const BAR_WIDTH: usize = 30;
/// The number of days before expiry from which the remaining days are shown as a warning.
const WARNING_DAYS: i64 = 30;

/// The license pane.
#[derive(Default)]
pub struct LicensePane {
    facts: Details,
    reading: Option<String>,
    generation: u64,
}

fn take(text: &str) -> Accepted {
    if text.trim().len() >= MIN_LICENSE_BYTES { Accepted::Whole } else { Accepted::Text }
}

impl LicensePane {
    fn fill(&mut self, view: &View) {
        let reply = view.store.get(&GetLicense {});
        self.facts.clear();
        self.facts.title("License", "");
        let instead = match (permission::administrator(view), reply.value, reply.error) {
            (Err(why), ..) => Instead::Empty(format!("You cannot see the license: {why}."), ""),
            (_, Some(Some(license)), _) => return self.fill_facts(view, license),
            (_, Some(None), _) => Instead::Empty("No license is installed.".to_owned(), "‹license.add› installs one"),
            (_, None, Some(error)) if error.is_missing() => {
                Instead::Empty("This server's edition needs no license.".to_owned(), "")
            }
            (_, None, Some(error)) => Instead::Failed(error.clone()),
            (_, None, None) => Instead::Loading,
        };
        self.facts.say_instead(instead);
    }

    fn fill_facts(&mut self, view: &View, license: &License) {
        let facts = &mut self.facts;
        let licensee = license.licensee.clone().unwrap_or_default();
        for (name, words, role) in [
            ("licensee", licensee.name, Role::Title),
            ("company", licensee.company, Role::Text),
            ("email", licensee.email, Role::Text),
            ("plan", license.plan.clone(), Role::Text),
        ] {
            if let Some(words) = words.filter(|words| !words.is_empty()) {
                facts.field(name, Line::new(words, role), None);
            }
        }
        let date = |time: &Option<Time>| time.as_ref().map_or_else(|| "unknown".to_owned(), |time| time.0.clone());
        facts.field("from", Line::new(date(&license.starts_at), Role::Text), None);
        let days = license
            .expires_at
            .as_ref()
            .and_then(Time::instant)
            .map(|end| end.duration_since(view.now).as_hours().div_euclid(24));
        let mut until = Line::new(date(&license.expires_at), Role::Text);
        match days {
            Some(days) if days < 0 || license.expired == Some(true) => until.push("  expired", Role::Failed),
            Some(days) => {
                let role = if days < WARNING_DAYS { Role::Warning } else { Role::Dim };
                until.push(format!("  {} left", text::count_noun(days.unsigned_abs(), "day")), role);
            }
            None if license.expired == Some(true) => until.push("  expired", Role::Failed),
            None => {}
        }
        facts.field("until", until, None);
        let active = license.active_users.unwrap_or(0);
        match license.user_limit.filter(|limit| *limit > 0) {
            Some(limit) => {
                let share = active as f64 / limit as f64;
                let role = if active > limit { Role::Failed } else { Role::Chart };
                let words = format!(" {} of {}", text::count(active), text::count_noun(limit, "user"));
                facts.field(
                    "seats",
                    Line::new(chart::bar(share.min(1.0), BAR_WIDTH, "seats in use"), role).and(words, Role::Text),
                    None,
                );
            }
            None => facts.field(
                "seats",
                Line::new(format!("{}, no limit", text::count_noun(active, "user")), Role::Text),
                None,
            ),
        }
        for (index, (name, count)) in license.add_ons.0.iter().enumerate() {
            let pieces = Line::new(format!("{count} "), Role::Text).and(name.clone(), Role::Label);
            facts.field(if index == 0 { "add-ons" } else { "" }, pieces, None);
        }
    }

    fn ask(&mut self, cx: &mut Cx) {
        let prompt = Prompt::ask(cx.here, "license file (Tab completes) or pasted license", "~/", Self::read);
        cx.open(prompt.complete(Box::new(LocalPaths)).taking(take));
    }

    /// Offers to install the pasted license, or the one in the typed file.
    fn read(&mut self, typed: String, cx: &mut Cx) {
        if typed.trim().len() >= MIN_LICENSE_BYTES {
            Self::offer(&typed, cx);
        } else if !typed.trim().is_empty() {
            // Each reading of a file needs its own key, even if the path is the same.
            self.generation = (self.generation + 1).max(cx.view.now.as_millisecond().unsigned_abs());
            self.reading = Some(typed);
        }
    }

    /// Asks for confirmation to install `license`.
    fn offer(license: &str, cx: &mut Cx) {
        let license = license.trim().to_owned();
        if license.is_empty() {
            return cx.say(Tone::Warning, "It contains no license.");
        }
        let size = text::bytes(license.len() as u64);
        let question = format!("Install this license ({size})? It replaces the current one.");
        let write = Write::new(&AddLicense { license }, "install the license");
        cx.open(Confirm::new("Install a license", question, Action::Send(write)));
    }
}

impl PaneKind for LicensePane {
    const ID: &'static str = "license";
    const COMMANDS: &'static [Command<Self>] = &[Command::new("license.add", &["+"], "Add license…", Self::ask)
        .footer("install")
        .writes()
        .when(|_, view| permission::administrator(view))];

    fn open(_place: &Place, _view: &View) -> Self {
        LicensePane::default()
    }
}

impl Pane for LicensePane {
    fn focused(&self) -> Option<&dyn Pane> {
        Some(&self.facts)
    }

    fn focused_mut(&mut self) -> Option<&mut dyn Pane> {
        Some(&mut self.facts)
    }

    fn place(&self) -> Place {
        Place::new(Self::ID)
    }

    fn breadcrumbs(&self, _view: &View) -> Vec<Breadcrumb> {
        vec![Breadcrumb::new("license", Role::Title)]
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let may = permission::can_load_admin_data(view);
        let mut wants: Vec<Want> = may.then(|| Load::single(&GetLicense {}).into()).into_iter().collect();
        wants.extend(self.reading.clone().map(|typed| {
            Want::from(Work::new(ReadFile { typed, generation: self.generation, largest: MAX_LICENSE_BYTES }))
        }));
        wants
    }

    fn changed(&mut self, cx: &mut Cx) {
        if let Some(path) = &self.reading {
            let content = cx.view.store.result::<Result<Vec<u8>, String>>(&file_key(path, self.generation));
            match content {
                Some(Ok(bytes)) => match std::str::from_utf8(bytes) {
                    Ok(text) => LicensePane::offer(text, cx),
                    Err(_) => cx.say(Tone::Bad, "This is a binary file, not a license."),
                },
                Some(Err(why)) => cx.say(Tone::Bad, why.clone()),
                None => return self.fill(&cx.view),
            }
            self.reading = None;
        }
        self.fill(&cx.view);
    }

    fn url(&self, view: &View) -> Option<String> {
        Some(format!("{}/admin/license", view.session.web_url))
    }
}
