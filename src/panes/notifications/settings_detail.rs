//! The notification settings beside the list, or alone for the global ones: the level and its events.

use super::{EVERYWHERE, NotificationSource, path, settings};
use crate::api::notifications::{GetNotifications, Level, NotificationSettings};
use crate::app::context::Cx;
use crate::app::view::View;
use crate::parts::facts::{Details, Instead};
use crate::parts::forms::notification as form;
use crate::parts::list::source::{Detail, DetailContext};
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::{glyph, text};

/// Returns the color of a level.
pub fn role(level: &Level) -> Role {
    match level {
        Level::Disabled => Role::Canceled,
        Level::Watch => Role::Success,
        Level::Custom => Role::Label,
        Level::Global => Role::Dim,
        _ => Role::Text,
    }
}

fn fill(facts: &mut Details, settings: &NotificationSettings, view: &View) {
    let level = &settings.level;
    facts.field("level", Line::new(level.to_string(), role(level)), None);
    facts.field("notifies", Line::new(form::meaning(level), Role::Text), None);
    if *level == Level::Global
        && let Some(global) = view.store.get(&GetNotifications {}).value
    {
        let words = format!("which is {}: {}", global.level, form::meaning(&global.level));
        for line in text::wrap(&words, 46, 3) {
            facts.field("", Line::new(line, Role::Dim), None);
        }
    }
    if let Some(address) = settings.notification_email.as_ref().filter(|address| !address.is_empty()) {
        facts.field("email", Line::new(address.clone(), Role::Text), None);
    }
    let events = settings.events.as_ref();
    for (index, (name, on)) in events.into_iter().flat_map(|events| &events.0).enumerate() {
        if index == 0 {
            facts.line(Line::empty());
        }
        let on = *on == Some(true);
        let (sign, signed) = if on {
            (glyph::or_word(glyph::done(), "on:"), Role::Success)
        } else {
            (glyph::or_word(glyph::off(), "off:"), Role::Dim)
        };
        let words = text::capitalize(&form::event(name));
        let pieces = Line::new(format!("{sign} "), signed).and(words, if on { Role::Text } else { Role::Dim });
        facts.field(if index == 0 { "events" } else { "" }, pieces, None);
    }
}

impl Detail<NotificationSource> for Details {
    fn show(&mut self, context: &DetailContext<'_, NotificationSource>, cx: &mut Cx) {
        self.clear();
        self.set_focused(context.focused);
        if context.row.is_none() && context.input.tab != EVERYWHERE {
            return;
        }
        // The list requests the settings of its rows.
        let settings = settings(&cx.view, context.row);
        self.title(context.row.map_or_else(|| "Everywhere".to_owned(), |row| path(&cx.view, row)), "");
        match (settings.value, settings.error) {
            (Some(settings), _) => fill(self, settings, &cx.view),
            (None, Some(error)) => self.say_instead(Instead::Failed(error.clone())),
            (None, None) => self.say_instead(Instead::Loading),
        }
    }
}
