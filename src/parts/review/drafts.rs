//! What one is about to say of a merge request or a commit: drafts, the review that they make, and their sending.

use super::state_of;
use crate::app::App;
use crate::app::action::{Action, Tone};
use crate::app::command::Disabled;
use crate::app::outbox::{DiffPosition, Draft, Noteable, State};
use crate::app::overlay::composer::Composer;
use crate::app::pane::{Cx, View};
use crate::parts::review::draft_list::DraftList;
use crate::parts::review::suggestions;
use crate::parts::review::thread_layout::LaidOutDraft;
use crate::ui::text;
use std::collections::HashSet;

/// The drafts of a thing, as they were after the last update.
#[derive(Default)]
pub struct Drafts {
    drafts: Vec<(String, Draft)>,
    /// As they are kept, to see which are others now.
    raw: Vec<(String, String)>,
    /// How often they became others.
    revision: u64,
    /// Drafts that went out, of which it was asked already whether they arrived.
    resolved: HashSet<String>,
    /// What was said of drafts whose lines moved, so that it is said once.
    announced: HashSet<String>,
}

impl Drafts {
    /// The desk for another thing: without drafts, and with what was found out already.
    pub fn cleared(self) -> Drafts {
        Drafts { drafts: Vec::new(), raw: Vec::new(), ..self }
    }

    /// The drafts, oldest first, with their keys.
    pub fn drafts(&self) -> &[(String, Draft)] {
        &self.drafts
    }

    /// Another number whenever the drafts are others.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The drafts with how far they have come.
    pub fn drafted(&self, view: &View) -> Vec<LaidOutDraft> {
        let drafted = |(key, draft): &(String, Draft)| LaidOutDraft {
            key: key.clone(),
            // What is being typed is in the composer: the rows beside it are not made again with each letter.
            draft: match view.writing == Some(key) {
                true => Draft { text: String::new(), ..draft.clone() },
                false => draft.clone(),
            },
            state: state_of(view, key, draft),
        };
        self.drafts.iter().map(drafted).collect()
    }

    /// After an update: takes what is kept now, and finds out what became of drafts that nobody knows about.
    pub fn sync(&mut self, on: &Noteable, cx: &mut Cx) {
        let keys = on.keys(cx.view.drafts);
        let same = keys.len() == self.raw.len()
            && keys
                .iter()
                .zip(&self.raw)
                .all(|(key, (known, raw))| key == known && cx.view.drafts.get(key) == Some(raw));
        if !same {
            self.revision += 1;
            let raw = keys.into_iter().filter_map(|key| Some((key.clone(), cx.view.drafts.get(&key)?.clone())));
            self.raw = raw.collect();
            let read = |(key, raw): &(String, String)| Some((key.clone(), Draft::read(raw)?));
            self.drafts = self.raw.iter().filter_map(read).collect();
        }
        // It takes knowing who one is.
        if cx.view.me().is_none() || cx.view.session.offline {
            return;
        }
        let sent = self.drafts.iter().filter(|(_, draft)| draft.state.before().is_some()).map(|(key, _)| key);
        let new: Vec<String> = sent.filter(|key| !self.resolved.contains(*key)).cloned().collect();
        if !new.is_empty() {
            self.resolved.extend(new.iter().cloned());
            cx.act(Action::Resolve(new));
        }
    }

    /// Takes drafts along whose lines are elsewhere in newer changes, and says what became of them.
    pub fn follow(&mut self, moved: &[(String, DiffPosition)], parked: usize, head: &str, cx: &mut Cx) {
        let mut count = 0;
        for (key, spot) in moved {
            let Some((_, draft)) = self.drafts.iter().find(|(known, _)| known == key) else { continue };
            let at_rest = matches!(draft.state, State::Begun | State::Kept | State::Failed { before: None, .. });
            if at_rest && cx.view.outbox.progress(key).is_none() && draft.spot.as_ref() != Some(spot) {
                let draft = Draft { spot: Some(spot.clone()), ..draft.clone() };
                cx.act(Action::Keep(key.clone(), Some(draft.to_json())));
                count += 1;
            }
        }
        let drafts = |count: usize| if count == 1 { "1 draft".to_owned() } else { format!("{count} drafts") };
        let words = match (count, parked) {
            (0, 0) => return,
            (0, parked) => {
                format!("The changes were updated: the lines of {} no longer exist.", drafts(parked))
            }
            (moved, 0) => format!("The changes were updated: {} moved with their lines.", drafts(moved)),
            (moved, parked) => format!(
                "The changes were updated: {} moved with their lines; the lines of {} no longer exist.",
                drafts(moved),
                drafts(parked)
            ),
        };
        if self.announced.insert(format!("{head} {parked}")) || count > 0 {
            cx.say(Tone::Warning, words);
        }
    }

    /// Opens the composer on a thing, or a place in its changes. What was begun there goes on; `begin` is put behind it.
    pub fn comment(&self, on: Noteable, spot: Option<DiffPosition>, begin: &str, cx: &mut Cx) {
        self.begin(on, spot, begin, begin.len(), cx);
    }

    /// Opens the composer on a place with a suggestion, the cursor at the end of the lines that it suggests.
    pub fn suggest(&self, on: Noteable, spot: DiffPosition, block: &str, cx: &mut Cx) {
        self.begin(on, Some(spot), block, suggestions::end_of_lines(block), cx);
    }

    /// `caret` is where the cursor stands in `begin`.
    fn begin(&self, on: Noteable, spot: Option<DiffPosition>, begin: &str, caret: usize, cx: &mut Cx) {
        let place = |spot: &DiffPosition| (spot.path.clone(), spot.old, spot.lines, spot.removed);
        let fits = |(key, draft): &&(String, Draft)| {
            draft.edits.is_none()
                && !matches!(draft.state, State::Kept)
                && cx.view.outbox.progress(key).is_none()
                && draft.spot.as_ref().map(place) == spot.as_ref().map(place)
        };
        let (key, mut draft) = match self.drafts.iter().find(fits) {
            Some((key, draft)) => (key.clone(), draft.clone()),
            None => (on.new_key(cx.view.drafts, cx.view.now), Draft { spot, ..Draft::new(on) }),
        };
        let known = draft.text.find(begin.trim_end()).filter(|_| !begin.is_empty());
        let from = known.unwrap_or_else(|| {
            if !begin.is_empty() && !draft.text.is_empty() {
                draft.text.push_str("\n\n");
            }
            draft.text.push_str(begin);
            draft.text.len() - begin.len()
        });
        // What stands behind the cursor already is gone on with there.
        let at = if caret < begin.len() { from + caret } else { draft.text.len() };
        compose_at(key, draft, at, cx);
    }

    /// Opens the composer on a note that is there already; `head` is what it begins with beside its text.
    pub fn edit(&self, on: Noteable, note: u64, head: &str, body: &str, cx: &mut Cx) {
        let begun =
            self.drafts.iter().find(|(_, draft)| draft.edits.as_ref().is_some_and(|(edited, _)| *edited == note));
        let (key, draft) = match begun {
            Some((key, draft)) => (key.clone(), draft.clone()),
            None => {
                let (edits, base) = (Some((note, head.to_owned())), Some(format!("{head}{body}")));
                let key = on.new_key(cx.view.drafts, cx.view.now);
                (key, Draft { edits, base, text: body.to_owned(), ..Draft::new(on) })
            }
        };
        compose(key, draft, cx);
    }

    /// Opens a draft in the composer.
    pub fn open(&self, key: &str, cx: &mut Cx) {
        if let Some((key, draft)) = self.drafts.iter().find(|(known, _)| known == key) {
            compose(key.clone(), draft.clone(), cx);
        }
    }

    /// Asks whether a draft is to be dropped.
    pub fn ask_drop(&self, key: &str, cx: &mut Cx) {
        if let Some((key, draft)) = self.drafts.iter().find(|(known, _)| known == key) {
            cx.act(drop_of(key, draft));
        }
    }

    /// The drafts that sending the review sends: all that are not only begun.
    pub fn to_send(&self) -> Vec<String> {
        let ready = self.drafts.iter().filter(|(_, draft)| draft.state != State::Begun);
        ready.map(|(key, _)| key.clone()).collect()
    }

    /// Returns whether there is a review to send.
    pub fn can_send(&self, view: &View) -> Result<(), Disabled> {
        if view.me().is_none() {
            return Err("your account has not loaded yet".into());
        }
        match self.to_send().iter().filter(|key| view.outbox.progress(key).is_none()).count() {
            0 if self.drafts.is_empty() => Err("there is no draft".into()),
            0 => Err("no draft is ready: M-s in the composer adds one".into()),
            _ => Ok(()),
        }
    }

    /// Sends the review, and shows how that goes.
    pub fn send(&self, on: &Noteable, cx: &mut Cx) {
        cx.act(Action::Post(self.to_send()));
        self.list(on, cx);
    }

    /// Shows the drafts.
    pub fn list(&self, on: &Noteable, cx: &mut Cx) {
        cx.act(Action::Open(Box::new(DraftList::new(on.clone(), &cx.view))));
    }
}

/// Opens the composer on a draft, the cursor at its end.
pub fn compose(key: String, draft: Draft, cx: &mut Cx) {
    let end = draft.text.len();
    compose_at(key, draft, end, cx);
}

/// Opens the composer on a draft, the cursor at a byte of its text.
fn compose_at(key: String, draft: Draft, at: usize, cx: &mut Cx) {
    if cx.view.outbox.progress(&key).is_some() {
        return cx.say(Tone::Warning, "It is being sent.");
    }
    let name = draft.on.short();
    let title = match (&draft.edits, &draft.spot) {
        (Some(_), _) => format!("Edit a note on {name}"),
        (None, Some(spot)) => format!("Comment on {}", spot.label()),
        (None, None) => format!("Note on {name}"),
    };
    cx.act(Action::Open(Box::new(Composer::comment(title, key, draft).at(at))));
}

/// Asks before a draft is dropped.
pub fn drop_of(key: &str, draft: &Draft) -> Action {
    let excerpt = text::fit(draft.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default(), 80);
    let sent = if draft.is_uncertain() { " It may have arrived anyway." } else { "" };
    let question = format!("Delete the draft \"{}\"? This cannot be undone.{sent}", text::sanitize(&excerpt));
    App::confirm("Delete draft", question, Action::Keep(key.to_owned(), None))
}
