//! System hooks, for administrators: the events that trigger each hook, and the reply to a test of it.

use crate::api::Error;
use crate::api::hooks::{DeleteHook, Hook, HookTest, ListHooks, TestHook};
use crate::app::action::{Action, follow_up};
use crate::app::overlay::batch;
use crate::app::permission;
use crate::app::tone::Tone;
use crate::parts::facts::LinkTarget;
use crate::parts::forms;
use crate::parts::list::prelude::*;
use crate::parts::text::dates::{date, time_ago};
use crate::ui::{glyph, text};
use std::collections::HashMap;

/// The reply to a test of a hook, or why it failed: names, values and roles.
type TestFacts = Vec<(&'static str, String, Role)>;

/// The system hooks of a server.
pub struct HookSource {
    /// The results of the last test of each hook, by its ID.
    tests: HashMap<u64, TestFacts>,
}

/// The list of system hooks.
pub type Hooks = ListPane<HookSource>;

/// Returns the names of the events that trigger a hook.
fn events(hook: &Hook) -> Vec<&'static str> {
    let all =
        [(hook.push_events, "pushes"), (hook.tag_push_events, "tags"), (hook.merge_requests_events, "merge requests")];
    all.into_iter().filter(|(on, _)| *on).map(|(_, name)| name).collect()
}

/// Returns the facts of a reply to a test.
fn facts_of(test: &HookTest) -> TestFacts {
    let facts = [
        ("event", test.event_name.clone()),
        ("name", test.name.clone()),
        ("path", test.path.clone()),
        ("owner", test.owner_name.clone()),
        ("email", test.owner_email.clone()),
        ("project", test.project_id.map(|id| id.to_string())),
    ];
    let undelivered = test
        .url
        .is_some()
        .then(|| ("", "This server returns the hook itself: it does not deliver tests.".to_owned(), Role::Warning));
    let rows = facts.into_iter().filter_map(|(name, words)| Some((name, words?.replace('\n', " "), Role::Text)));
    undelivered.into_iter().chain(rows).collect()
}

impl Hooks {
    fn can_change(&self, view: &View) -> Result<(), Disabled> {
        permission::administrator(view)?;
        if !permission::can_load_admin_data(view) {
            return Err("your account has not loaded yet".into());
        }
        Ok(())
    }

    fn test(&mut self, hook: &Hook, cx: &mut Cx) {
        let (id, here) = (hook.id, cx.here);
        let write = Write::new(&TestHook { id }, format!("test the hook {}", hook.url));
        let then = follow_up::<TestHook>(move |outcome, cx| {
            let facts = match outcome {
                Ok(test) => facts_of(test),
                Err(error) => vec![("", format!("{}: {}", error.title(), error.message()), Role::Warning)],
            };
            cx.act(here.then(move |pane: &mut Hooks, _| {
                pane.source.tests.insert(id, facts);
                pane.focus_detail();
            }));
        });
        cx.say(Tone::Info, "The server is delivering a sample…");
        cx.act(Action::SendThen(None, write, then));
    }

    fn delete(&mut self, targets: &[&Hook], cx: &mut Cx) {
        let names: Vec<String> = targets.iter().map(|hook| hook.url.clone()).collect();
        let write = |hook: &&Hook| Write::new(&DeleteHook { id: hook.id }, format!("remove the hook {}", hook.url));
        let writes: Vec<Write> = targets.iter().map(write).collect();
        let question = match writes.len() {
            1 => "Remove this hook? It receives no more events.".to_owned(),
            many => format!("Remove these {many} hooks? They receive no more events."),
        };
        cx.act(batch::confirm("Remove hooks", question, names, writes));
    }
}

/// Returns the words for a hook that is not delivered to, because deliveries failed.
fn disabled(hook: &Hook) -> Option<&'static str> {
    match hook.alert_status.as_deref()? {
        "disabled" => Some("disabled"),
        "temporarily_disabled" => Some("temporarily disabled"),
        _ => None,
    }
}

impl ListSource for HookSource {
    type Row = Hook;
    type Detail = Details;
    const LIST: ListInfo = ListInfo::new("hooks", "hook", "system hooks").widths(&[(50, 3), (44, 2)]);
    const COLUMNS: &'static [Column<Self>] = &[
        Column::<Self>::fill("URL", "URL", 24, |_, hook, _| Line::new(&hook.url, Role::Link))
            .cut_in_middle()
            .sorted(|hook| hook.url.as_str().into()),
        Column::<Self>::fit("triggers", "Triggers", 0, 28, |_, hook, _| {
            let triggers = events(hook);
            let triggers = if triggers.is_empty() { "other events".to_owned() } else { triggers.join(", ") };
            let disabled = disabled(hook).map(|words| format!("{words}{}", glyph::separator()));
            Line::new(disabled.unwrap_or_default(), Role::Failed).and(triggers, Role::Dim)
        })
        .drop_order(2),
        Column::<Self>::age("created", "Created", |hook| hook.created_at.as_ref()).drop_order(1),
    ];
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::new("hooks.open", &["Enter"], "Show details", Hooks::open_details).footer("details"),
        Command::new("hooks.create", &["+"], "Add hook…", |_: &mut Hooks, cx| {
            Hooks::open_form(forms::hook::create(), cx)
        })
        .footer("new")
        .writes()
        .when(|_, view| permission::administrator(view)),
        Command::row("hooks.test", &["t"], "Test hook", Hooks::test).footer("test").writes().when(Hooks::can_change),
        Hooks::mark_command("hooks.mark").when(Hooks::can_change),
        Hooks::columns_command("hooks.columns"),
        Command::rows("hooks.delete", &["D", "Delete"], "Remove hooks…", Hooks::delete)
            .footer("remove")
            .writes()
            .when(Hooks::can_change),
    ];

    fn open(_place: &Place, _view: &View) -> HookSource {
        HookSource { tests: HashMap::new() }
    }

    fn place(&self, _: Place) -> Place {
        Place::new(Self::LIST.id)
    }

    fn empty(&self, _: usize) -> (&'static str, &'static str) {
        ("This server has no system hooks.", "‹hooks.create› adds one")
    }

    fn query(&self, _: &Input<'_>, _: ServerOrder, view: &View) -> Option<ListQuery<Hook>> {
        permission::can_load_admin_data(view).then(|| ListQuery::new(&ListHooks {}))
    }

    fn filter(&self, _: &Input<'_>) -> Filter<Hook> {
        Filter::Loaded(|hook, words| hook.url.to_lowercase().contains(words))
    }

    fn key(hook: &Hook) -> String {
        hook.id.to_string()
    }

    fn instead(&self, _: &Input<'_>, _: Option<&Error>, view: &View) -> Option<(String, Cow<'static, str>)> {
        let why = permission::administrator(view).err()?;
        let words = format!("You cannot see the system hooks: {why}.");
        Some((words, "Ask an administrator to add one".into()))
    }

    fn url(&self, view: &View, _: Option<&Hook>) -> Option<String> {
        Some(format!("{}/admin/hooks", view.session.web_url))
    }

    fn copies(&self, _view: &View, hook: &Hook) -> Vec<Clip> {
        vec![Clip::line("hook URL", hook.url.clone())]
    }
}

impl Describes<Details> for HookSource {
    fn describe(&self, facts: &mut Details, view: &View, hook: &Hook) {
        facts.title(format!("hook #{}", hook.id), "");
        facts.field(
            "URL",
            Line::new(hook.url.clone(), Role::Link),
            Some(LinkTarget::Copy(Clip::line("URL", hook.url.clone()))),
        );
        for (name, words) in [("name", &hook.name), ("about", &hook.description)] {
            if let Some(words) = words.as_ref().filter(|words| !words.is_empty()) {
                facts.field(name, Line::new(words.clone(), Role::Text), None);
            }
        }
        if let Some(words) = disabled(hook) {
            facts.field("status", Line::new(format!("{words}: deliveries failed"), Role::Failed), None);
            let until = hook.disabled_until.as_ref().map(|at| format!("until {}", date(at)));
            if let Some(until) = until {
                facts.field("", Line::new(until, Role::Failed), None);
            }
        }
        let rows = [
            ("pushes", hook.push_events),
            ("tags", hook.tag_push_events),
            ("merge requests", hook.merge_requests_events),
        ];
        for (index, (what, on)) in rows.into_iter().enumerate() {
            let (sign, role) = if on {
                (glyph::or_word(glyph::done(), "on:"), Role::Success)
            } else {
                (glyph::or_word(glyph::off(), "off:"), Role::Dim)
            };
            let pieces =
                Line::new(format!("{sign} "), role).and(what.to_owned(), if on { Role::Text } else { Role::Dim });
            facts.field(if index == 0 { "triggers" } else { "" }, pieces, None);
        }
        let (words, role) = match hook.enable_ssl_verification {
            true => ("checked", Role::Text),
            false => ("disabled", Role::Warning),
        };
        facts.field("certificate", Line::new(words, role), None);
        facts.field("secret", Line::new("never shown by the server", Role::Dim), None);
        facts.field("added", Line::new(time_ago(view, hook.created_at.as_ref()), Role::Text), None);
        facts.field("ID", Line::new(hook.id.to_string(), Role::Dim), None);
        facts.line(Line::empty());
        match self.tests.get(&hook.id) {
            None => facts.line(Line::new("t delivers a sample and shows it", Role::Dim)),
            Some(test) => {
                facts.line(Line::new("Last test", Role::TitleDim));
                for (name, words, role) in test {
                    for (index, line) in text::wrap(words, 30, 4).into_iter().enumerate() {
                        facts.field(if index == 0 { name } else { "" }, Line::new(line, *role), None);
                    }
                }
            }
        }
    }
}
