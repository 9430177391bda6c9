//! Downloads to files: asks for the path, passes the spec to the runtime, and reports the result.

use super::App;
use super::action::{Action, Effect};
use super::overlay::confirm::Confirm;
use super::overlay::prompt::Prompt;
use super::tone::Tone;
use super::transfer::{NewTransfer, TransferEvent, TransferSpec, TransferState};
use ui::text;

impl App {
    /// Asks for the path; suggests the folder of the last transfer.
    pub(super) fn transfer(&mut self, new: NewTransfer) {
        if self.session.offline {
            return self
                .say(Tone::Warning, format!("Could not save {}: labscope is offline.", text::sanitize(&new.name)));
        }
        let folder = self.transfers.list().last().and_then(|t| t.spec.path.rsplit_once('/'));
        let path = folder.map_or_else(|| new.name.clone(), |(folder, _)| format!("{folder}/{}", new.name));
        let label = if new.unpack.is_some() { "unpack into" } else { "save as" };
        let then =
            move |path: String| Action::StartTransfer(TransferSpec { download: new.clone(), path, replace: false });
        self.overlays.push(Box::new(Prompt::then(label, path, then)));
    }

    pub(super) fn transfer_to(&mut self, spec: TransferSpec, effects: &mut Vec<Effect>) {
        if spec.path.trim().is_empty() {
            return self.say(Tone::Warning, "Not saved: no name given.".into());
        }
        let number = self.transfers.begin(spec.clone());
        effects.push(Effect::Transfer(number, spec));
    }

    pub(super) fn restart_transfer(&mut self, number: u64, replace: bool, effects: &mut Vec<Effect>) {
        if let Some(spec) = self.transfers.restart(number, replace) {
            effects.push(Effect::Transfer(number, spec));
        }
    }

    pub(super) fn stop_transfer(&mut self, number: u64, effects: &mut Vec<Effect>) {
        if !self.transfers.stop(number) {
            return;
        }
        effects.push(Effect::StopTransfer(number));
        let Some(transfer) = self.transfers.get(number) else { return };
        let name = text::sanitize(&transfer.spec.download.name);
        let words = format!("Stopped saving {name} at {}; ‹transfers› resumes it.", transfer.facts(self.clock.now()));
        self.say(Tone::Info, words);
    }

    pub(super) fn forget_transfer(&mut self, number: u64, effects: &mut Vec<Effect>) {
        if let Some(transfer) = self.transfers.drop(number).filter(|t| t.state != TransferState::Done) {
            effects.push(Effect::ForgetTransfer(transfer.spec));
        }
    }

    /// Handles an event of a transfer.
    pub(super) fn on_transfer_event(&mut self, number: u64, event: &TransferEvent, effects: &mut Vec<Effect>) {
        let Some(transfer) = self.transfers.apply(number, event, self.clock.now()) else { return };
        let name = text::sanitize(&transfer.spec.download.name).into_owned();
        let path = text::sanitize(&transfer.spec.path).into_owned();
        match event {
            TransferEvent::Exists(_) => {
                let question = format!("{path} already exists. Replace it?");
                if self.server_switch.in_background {
                    self.say(Tone::Warning, format!("{path} already exists; switch back to this server to decide."));
                }
                let confirm = Confirm::new("Replace", question, Action::RestartTransfer(number, true));
                self.act_or_defer(Action::OpenOverlay(Box::new(confirm)), effects);
            }
            TransferEvent::Done { bytes, .. } => {
                self.say(Tone::Good, format!("Saved {path} ({})", text::bytes(*bytes)))
            }
            TransferEvent::Unpacked { unpacked, .. } => {
                let files = text::count(unpacked.files as u64);
                let s = if unpacked.files == 1 { "" } else { "s" };
                let words = format!("Unpacked {files} file{s} ({}) into {path}", text::bytes(unpacked.bytes));
                match unpacked.left_out.as_slice() {
                    [] => self.say(Tone::Good, words),
                    [first] => self.say(Tone::Warning, format!("{words}; skipped: {}", text::sanitize(first))),
                    [first, rest @ ..] => {
                        let words = format!("{words}; skipped: {} and {} more", text::sanitize(first), rest.len());
                        self.say(Tone::Warning, words);
                    }
                }
            }
            TransferEvent::Failed(why) => {
                let why = text::sanitize(why).into_owned();
                self.say(Tone::Bad, format!("Could not save {name}: {why}. ‹transfers› retries."));
            }
            TransferEvent::Began { .. } | TransferEvent::Received(_) | TransferEvent::Unpacking(_) => {}
        }
    }
}
