//! The jobs and pipelines being watched: polled while they run, whatever place is open; the user is notified when they
//! end.

use super::App;
use super::action::Effect;
use super::tone::Tone;
use super::view::View;
use super::watch::{Ending, Watched};
use store::Want;

impl App {
    /// Starts watching a job or pipeline, or stops watching it.
    pub(super) fn watch(&mut self, watched: Watched) {
        let name = watched.name();
        if let Some(at) = self.watched.iter().position(|known| *known == watched) {
            self.watched.remove(at);
            return self.say(Tone::Info, format!("Stopped watching {name}."));
        }
        if let Some(end) = watched.end(&self.view_of()) {
            return self.say(Tone::Info, format!("Nothing to watch: {}.", end.words));
        }
        self.watched.push(watched);
        self.say(Tone::Good, format!("Watching {name}. You'll be notified when it finishes."));
    }

    /// Returns the wants for the status of everything that is watched.
    pub(super) fn watch_wants(&self, view: &View) -> Vec<Want> {
        self.watched.iter().filter_map(|watched| watched.want(view)).collect()
    }

    /// Notifies the user of what has ended since.
    pub(super) fn notify_ended(&mut self, effects: &mut Vec<Effect>) {
        let mut ended: Vec<(usize, Ending)> = Vec::new();
        let view = self.view_of();
        for (at, watched) in self.watched.iter().enumerate() {
            let gone = watched.want(&view).and_then(|want| match want {
                Want::Load(load) => view.store.error_of(&load.request).filter(|error| !error.is_temporary()),
                _ => None,
            });
            match (watched.end(&view), gone) {
                (Some(end), _) => ended.push((at, end)),
                (None, Some(error)) => {
                    let words = format!("Stopped watching {}: {}", watched.name(), error.message());
                    ended.push((at, Ending { tone: Tone::Warning, words }));
                }
                (None, None) => {}
            }
        }
        for (at, end) in ended.into_iter().rev() {
            self.watched.remove(at);
            effects.push(Effect::Notify(end.words.clone()));
            self.say(end.tone, format!("{}.", end.words));
        }
    }
}
