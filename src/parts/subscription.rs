//! The subscription of the user to a merge request or issue.

use crate::api::Noteable;
use crate::api::subscriptions::{Subscribe, Unsubscribe};
use crate::app::action::Action;
use crate::app::context::Cx;
use crate::app::overlay::picker::{Item, Picker};
use crate::store::Write;

/// Returns the state as the value of a fact; empty if it is not known.
pub fn word(is_subscribed: Option<bool>) -> &'static str {
    match is_subscribed {
        Some(true) => "yes",
        Some(false) => "no",
        None => "",
    }
}

/// Subscribes the user, or ends the subscription; asks which if the state is not known.
pub fn toggle(on: &Noteable, is_subscribed: Option<bool>, cx: &mut Cx) {
    let name = on.short();
    let subscribe = Action::Send(Write::new(&Subscribe { on: on.clone() }, format!("subscribe to {name}")));
    let unsubscribe = Action::Send(Write::new(&Unsubscribe { on: on.clone() }, format!("unsubscribe from {name}")));
    match is_subscribed {
        Some(true) => cx.act(unsubscribe),
        Some(false) => cx.act(subscribe),
        None => {
            let items = vec![Item::act("Subscribe", subscribe), Item::act("Unsubscribe", unsubscribe)];
            cx.open(Picker::new(format!("Notifications about {name}"), items));
        }
    }
}
