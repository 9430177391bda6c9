//! The subscription of the user to a merge request, issue or label.

use crate::api::labels::{Label, SubscribeToLabel, UnsubscribeFromLabel};
use crate::api::subscriptions::{Subscribe, Unsubscribe};
use crate::api::{Noteable, Scope};
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

/// Subscribes the user to a merge request or issue, or ends the subscription; asks which if the state is not known.
pub fn toggle(on: &Noteable, is_subscribed: Option<bool>, cx: &mut Cx) {
    let name = on.short();
    let subscribe = Write::new(&Subscribe { on: on.clone() }, format!("subscribe to {name}"));
    let unsubscribe = Write::new(&Unsubscribe { on: on.clone() }, format!("unsubscribe from {name}"));
    send(&name, is_subscribed, [subscribe, unsubscribe], cx);
}

/// Subscribes the user to a label, or ends the subscription, as [`toggle`] does.
pub fn toggle_label(scope: &Scope, label: &Label, cx: &mut Cx) {
    let (scope, label_id, name) = (scope.clone(), label.id.to_string(), format!("label {}", label.name));
    let subscribe = SubscribeToLabel { scope: scope.clone(), label_id: label_id.clone() };
    let unsubscribe = UnsubscribeFromLabel { scope, label_id };
    let subscribe = Write::new(&subscribe, format!("subscribe to {name}"));
    let unsubscribe = Write::new(&unsubscribe, format!("unsubscribe from {name}"));
    send(&name, label.subscribed, [subscribe, unsubscribe], cx);
}

fn send(name: &str, is_subscribed: Option<bool>, [subscribe, unsubscribe]: [Write; 2], cx: &mut Cx) {
    let [subscribe, unsubscribe] = [subscribe, unsubscribe].map(Action::Send);
    match is_subscribed {
        Some(true) => cx.act(unsubscribe),
        Some(false) => cx.act(subscribe),
        None => {
            let items = vec![Item::act("Subscribe", subscribe), Item::act("Unsubscribe", unsubscribe)];
            cx.open(Picker::new(format!("Notifications about {name}"), items));
        }
    }
}
