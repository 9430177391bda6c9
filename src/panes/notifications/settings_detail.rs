//! The notification settings beside the list, or alone for the global ones: the level and its events.

use super::{EVERYWHERE, NotificationSource, path, settings};
use crate::api::notifications::{GetNotifications, Level, NotificationSettings};
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pointer::Pointer;
use crate::app::view::View;
use crate::parts::facts::Details;
use crate::parts::forms::notification as form;
use crate::parts::list::draw_error;
use crate::parts::list_source::{Detail, DetailContext};
use crate::store::{Remote, Want};
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::{glyph, panels, state, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The state of the settings of one group or project, or of the global ones.
pub type Settings<'a> = Remote<'a, NotificationSettings>;

type Context<'a> = DetailContext<'a, NotificationSource>;

/// The settings as the detail panel of the list.
pub struct SettingsDetail {
    facts: Details,
}

/// Returns the settings to show; `None` without a row to show them of.
fn shown<'a>(context: &Context<'_>, view: &View<'a>) -> Option<Settings<'a>> {
    let has_any = context.row.is_some() || context.input.tab == EVERYWHERE;
    has_any.then(|| settings(view, context.row))
}

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

impl SettingsDetail {
    fn fill(&mut self, settings: &NotificationSettings, view: &View) {
        let facts = &mut self.facts;
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
            let words = match form::event(name) {
                "" => name.replace('_', " "),
                words => words.trim_end_matches('.').to_owned(),
            };
            let pieces = Line::new(format!("{sign} "), signed).and(words, if on { Role::Text } else { Role::Dim });
            facts.field(if index == 0 { "events" } else { "" }, pieces, None);
        }
    }
}

impl Detail<NotificationSource> for SettingsDetail {
    const PANELS: usize = 2;

    fn new() -> SettingsDetail {
        SettingsDetail { facts: Details::default() }
    }

    fn wants(&self, _: &Context<'_>, _: &View) -> Vec<Want> {
        // The list requests the settings of its rows.
        Vec::new()
    }

    fn changed(&mut self, context: &Context<'_>, cx: &mut Cx) {
        self.facts.clear();
        if let Some(settings) = shown(context, &cx.view).and_then(|settings| settings.value) {
            self.fill(settings, &cx.view);
        }
    }

    fn motion(&mut self, context: &Context<'_>, motion: Motion, _: &View) -> bool {
        let leaves = motion == Motion::Left && context.input.tab != EVERYWHERE;
        if !leaves {
            self.facts.motion(motion);
        }
        leaves
    }

    fn pointer(&mut self, _: &Context<'_>, pointer: Pointer, cx: &mut Cx) {
        self.facts.pointer(pointer, cx);
    }

    fn enter(&mut self, _: &Context<'_>, cx: &mut Cx) -> bool {
        self.facts.enter(cx)
    }

    fn draw(&self, context: &Context<'_>, view: &View, area: Rect, buf: &mut Buffer) {
        let Some(settings) = shown(context, view) else { return };
        let name = context.row.map_or_else(|| "Everywhere".to_owned(), |row| path(view, row));
        let body = panels::title(buf, area, view.theme, context.focused, &name, "");
        match (settings.value, settings.error) {
            (None, Some(error)) => draw_error(view, body, buf, error),
            (None, None) => state::skeleton(buf, body, view.theme),
            _ => self.facts.draw(view, body, buf, context.focused),
        }
    }
}
