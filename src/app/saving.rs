//! Saving to files, as the app sees it: asks where, hands it to the runtime, and says what became of it.

use super::App;
use super::action::{Action, Effect, Tone};
use super::overlay::confirm::Confirm;
use super::overlay::prompt::Prompt;
use super::transfer::{News, Order, Save, State};
use crate::ui::text;

impl App {
    /// Asks where; offers the folder of the last one.
    pub(super) fn save(&mut self, save: Save) {
        if self.session.offline {
            return self
                .say(Tone::Warning, format!("Could not save {}: labscope is offline.", text::shown(&save.name)));
        }
        let folder = self.transfers.list().last().and_then(|t| t.order.path.rsplit_once('/'));
        let path = folder.map_or_else(|| save.name.clone(), |(folder, _)| format!("{folder}/{}", save.name));
        let then = move |path: String| Action::SaveTo(Order { save: save.clone(), path, replace: false });
        self.overlays.push(Box::new(Prompt::then("save as", path, then)));
    }

    pub(super) fn save_to(&mut self, order: Order, effects: &mut Vec<Effect>) {
        if order.path.trim().is_empty() {
            return self.say(Tone::Warning, "Nothing is saved: no name was given.".into());
        }
        let number = self.transfers.begin(order.clone());
        effects.push(Effect::Save(number, order));
    }

    pub(super) fn save_again(&mut self, number: u64, replace: bool, effects: &mut Vec<Effect>) {
        if let Some(order) = self.transfers.again(number, replace) {
            effects.push(Effect::Save(number, order));
        }
    }

    pub(super) fn stop_save(&mut self, number: u64, effects: &mut Vec<Effect>) {
        if !self.transfers.stop(number) {
            return;
        }
        effects.push(Effect::StopSave(number));
        let Some(transfer) = self.transfers.get(number) else { return };
        let name = text::shown(&transfer.order.save.name);
        let list = self.bindings.first("transfers");
        let words = format!("Stopped saving {name} at {}; {list} goes on with it.", transfer.facts(self.now));
        self.say(Tone::Info, words);
    }

    pub(super) fn forget_save(&mut self, number: u64, effects: &mut Vec<Effect>) {
        if let Some(transfer) = self.transfers.drop(number).filter(|t| t.state != State::Done) {
            effects.push(Effect::ForgetSave(transfer.order));
        }
    }

    /// Takes news of a save in.
    pub(super) fn transferred(&mut self, number: u64, news: &News, effects: &mut Vec<Effect>) {
        let Some(transfer) = self.transfers.hear(number, news, self.now) else { return };
        let name = text::shown(&transfer.order.save.name).into_owned();
        let path = text::shown(&transfer.order.path).into_owned();
        match news {
            News::Exists(_) => {
                let question = format!("{path} is there already. Replace it?");
                let confirm = Confirm::new("Replace", question, Action::SaveAgain(number, true));
                self.act_behind(Action::Open(Box::new(confirm)), effects);
            }
            News::Done { bytes, .. } => self.say(Tone::Good, format!("Saved {path} ({})", text::bytes(*bytes))),
            News::Failed(why) => {
                let list = self.bindings.first("transfers").to_owned();
                let why = text::shown(why).into_owned();
                self.say(Tone::Bad, format!("Could not save {name}: {why}. {list} tries again."));
            }
            News::Began { .. } | News::Held(_) => {}
        }
    }
}
