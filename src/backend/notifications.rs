//! Notification settings: global, for a group, or for a project.

use super::call::{Call, Outcome, WriteCall, ok};
use super::mount::Mount;
use super::records::{NotificationSetting, Scope};
use super::rejection::Rejection;
use super::world::World;
use api::Endpoint;
use api::Named;
use api::notifications::*;
use std::collections::BTreeMap;
use std::ops::Deref;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<GetNotifications>(|call, _| ok(show(call, None)?))
        .write::<UpdateNotifications>(|call, input| {
            let email = input.notification_email.clone();
            update(call, None, input.level.clone(), email, events(&input))
        })
        .read_signed_in::<GetScopedNotifications>(|call, input| {
            call.require_user()?;
            ok(show(call, Some(call.scope(&input.scope)?))?)
        })
        .write::<UpdateScopedNotifications>(|call, input| {
            let place = call.scope(&input.scope)?;
            update(call, Some(place), input.level.clone(), None, events(&input))
        })
}

/// Returns the events that an input sets, by their API names.
fn events<E: Endpoint>(input: &E) -> BTreeMap<String, bool> {
    let inputs = E::INPUTS.iter().zip(input.values()).filter(|(input, _)| EVENTS.contains(&input.name));
    inputs.filter_map(|(input, value)| Some((input.name.to_owned(), value.as_bool()?))).collect()
}

fn show<W: Deref<Target = World>>(call: &Call<W>, place: Option<Scope>) -> Result<NotificationSettings, Rejection> {
    let user = call.require_user()?;
    let setting = call.world.notification_settings.iter().find(|s| s.user == user.id && s.place == place);
    let usual = if place.is_some() { "global" } else { "participating" };
    let level = setting.map(|setting| setting.level.as_str()).filter(|level| !level.is_empty()).unwrap_or(usual);
    let mut out = NotificationSettings { level: level.into(), ..NotificationSettings::default() };
    if place.is_none() {
        let email = setting.and_then(|setting| setting.email.clone()).unwrap_or_else(|| user.email.clone());
        out.notification_email = Some(email);
    }
    if level == "custom" {
        let is_on = |event: &str| {
            // Failed pipelines are enabled by default.
            let enabled = setting.and_then(|setting| setting.events.get(event).copied());
            enabled.unwrap_or(event == "failed_pipeline")
        };
        out.events = Some(Named(EVENTS.iter().map(|event| ((*event).to_owned(), Some(is_on(event)))).collect()));
    }
    Ok(out)
}

fn update(
    call: &mut WriteCall,
    place: Option<Scope>,
    level: Option<String>,
    email: Option<String>,
    events: BTreeMap<String, bool>,
) -> Outcome<NotificationSettings> {
    let user = call.require_user()?.clone();
    if let Some(level) = &level {
        let known = Level::KNOWN.contains(&level.as_str()) && (place.is_some() || level != "global");
        if !known {
            return Err(Rejection::bad_request(format!("'{level}' is not a valid level")));
        }
    }
    if email.as_ref().is_some_and(|email| *email != user.email) {
        return Err(Rejection::bad_request(serde_json::json!({ "notification_email": ["is not an email you own"] })));
    }
    let found = call.world.notification_settings.iter().find(|s| s.user == user.id && s.place == place);
    let id = match found.map(|setting| setting.id) {
        Some(id) => id,
        None => {
            let new = NotificationSetting { user: user.id, place, ..NotificationSetting::default() };
            call.world.notification_settings.add(new)
        }
    };
    if let Some(setting) = call.world.notification_settings.get_mut(id) {
        setting.level = level.unwrap_or(std::mem::take(&mut setting.level));
        setting.email = email.or(setting.email.take());
        setting.events.extend(events);
    }
    ok(show(call, place)?)
}
