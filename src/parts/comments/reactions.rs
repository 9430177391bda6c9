//! Reactions to a note or to the object that it is on: loading, the line of counts, and the picker that adds or removes
//! them.

use crate::api::award_emoji::{AwardEmoji, CreateAward, DeleteAward, ListAwards};
use crate::api::{Awardable, Noteable};
use crate::app::action::Action;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::overlay::picker::{Item, Picker, Source};
use crate::app::view::View;
use crate::domain::emoji;
use crate::store::{Load, Rows, Want, Write};
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::{glyph, text};
use std::borrow::Cow;
use std::collections::HashSet;
use std::time::Duration;

/// The number of pages of reactions that are loaded.
const MAX_PAGES: u32 = 3;
/// The width of a name without an emoji character, in columns.
const NAME_WIDTH: usize = 24;
/// The delay before the reactions to a visible note are requested, to skip notes that are scrolled past.
const FETCH_DELAY: Duration = Duration::from_millis(250);
/// The emoji that are offered first: the most common ones.
const COMMON: &[&str] = &[
    "thumbsup",
    "thumbsdown",
    "heart",
    "tada",
    "rocket",
    "eyes",
    "laughing",
    "thinking",
    "confused",
    "clap",
    "white_check_mark",
    "100",
];

/// The reactions to an object or to a comment on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reactions(Awardable);

/// An emoji among the reactions.
struct Given<'a> {
    name: &'a str,
    count: usize,
    /// The ID of the user's own reaction.
    own: Option<u64>,
}

/// Returns the emoji character if it is known and can be drawn, or else the name between colons.
fn sign(name: &str) -> Cow<'static, str> {
    match emoji::find(name).filter(|_| !glyph::is_ascii()) {
        Some(found) => found.sign.into(),
        None => format!(":{}:", text::fit(name, NAME_WIDTH)).into(),
    }
}

impl Reactions {
    /// Creates the reactions to a comment on `on`, or to the object itself.
    pub fn to(on: Noteable, note: Option<u64>) -> Reactions {
        Reactions(Awardable { on, note })
    }

    fn load(&self, view: &View) -> Option<Load> {
        let has_reactions = match (&self.0.on, self.0.note) {
            (Noteable::MergeRequest { .. } | Noteable::Issue { .. }, _) | (Noteable::Snippet { .. }, Some(_)) => true,
            (Noteable::Snippet { .. }, None) | (Noteable::Commit { .. } | Noteable::Epic { .. }, _) => false,
        };
        if has_reactions { view.if_supported(&ListAwards { to: self.0.clone() }, MAX_PAGES) } else { None }
    }

    /// Returns the request for the reactions; `None` if the server does not support them.
    pub fn want(&self, view: &View) -> Option<Want> {
        let load = self.load(view)?;
        let delay = if self.0.note.is_some() { FETCH_DELAY } else { Duration::ZERO };
        Some(load.after(delay).optional().into())
    }

    fn rows<'a>(&self, view: &View<'a>) -> Rows<'a, AwardEmoji> {
        match self.load(view) {
            Some(load) => view.store.rows_of(&load.request),
            None => Rows::chain(Vec::new()),
        }
    }

    /// Returns the emoji among the reactions, in the order of their first use.
    fn given<'a>(&self, view: &View<'a>) -> Vec<Given<'a>> {
        let me = view.me().map(|me| me.id);
        let mut given: Vec<Given> = Vec::new();
        for award in self.rows(view).iter().filter(|award| !award.name.is_empty()) {
            let own = Some(award.id).filter(|_| me.is_some() && award.user.as_ref().map(|user| user.id) == me);
            match given.iter_mut().find(|known| known.name == award.name) {
                Some(known) => {
                    known.count += 1;
                    known.own = known.own.or(own);
                }
                None => given.push(Given { name: &award.name, count: 1, own }),
            }
        }
        given
    }

    /// Returns a line with the counts in at most `width` columns, with the user's own highlighted. Empty without
    /// reactions.
    pub fn line(&self, view: &View, width: usize) -> Line<'static> {
        let given = self.given(view);
        let mut spans = Line::empty();
        let mut used = 0;
        for (index, one) in given.iter().enumerate() {
            let (own, role) = if one.own.is_some() { (" you", Role::Accent) } else { ("", Role::Dim) };
            let others = one.count - usize::from(one.own.is_some());
            let count = match (one.own.is_some(), others) {
                (true, 0) => String::new(),
                (true, others) => format!(" +{}", text::count(others as u64)),
                (false, count) => format!(" {}", text::count(count as u64)),
            };
            let gap = if index > 0 { "   " } else { "" };
            let words = format!("{gap}{}{own}{count}", sign(one.name));
            used += text::width(&words);
            if used + 2 > width {
                spans.push(format!(" {}", glyph::ellipsis()), Role::Dim);
                break;
            }
            spans.push(words, role);
        }
        spans
    }

    /// Returns an error if the user cannot react.
    pub fn check(&self, view: &View) -> Result<(), Disabled> {
        if view.me().is_none() {
            return Err("your account has not loaded yet".into());
        }
        self.load(view).map(|_| ()).ok_or_else(|| "this server does not support reactions here".into())
    }

    /// Opens a picker for an emoji to add, or an own one to remove.
    pub fn choose(self, cx: &mut Cx) {
        let title = match self.0.note {
            Some(_) => format!("React to a comment on {}", self.0.on.short()),
            None => format!("React to {}", self.0.on.short()),
        };
        let picker = Picker::of(title, Box::new(Choices(self)), &cx.view);
        cx.open(picker);
    }

    /// Returns the write that adds an emoji, or removes the user's own reaction with that ID.
    fn write(&self, name: &str, own: Option<u64>) -> Write {
        let note = if self.0.note.is_some() { "a comment on " } else { "" };
        let on = format!("{note}{}", self.0.on.short());
        let to = self.0.clone();
        match own {
            None => {
                let create = CreateAward { to, name: name.to_owned() };
                Write::new(&create, format!("react with {} to {on}", sign(name)))
            }
            Some(award_id) => {
                let delete = DeleteAward { to, award_id };
                Write::new(&delete, format!("remove your {} from {on}", sign(name)))
            }
        }
    }
}

/// The emoji to choose from: those already given, the common ones, and all others once a text is typed.
struct Choices(Reactions);

impl Choices {
    /// Returns the typed text as the name of another emoji: between colons, or if no name or alias contains it.
    fn typed_name(typed: &str) -> Option<&str> {
        let typed = typed.trim();
        let bare = typed.strip_prefix(':').and_then(|rest| rest.strip_suffix(':'));
        let is_known = || emoji::all().iter().any(|one| one.has_name_with(typed));
        let name = bare.or_else(|| Some(typed).filter(|_| !is_known()))?;
        let fits = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '+');
        let name = emoji::find(name).map_or(name, |found| found.name);
        (!name.is_empty() && name.chars().all(fits)).then_some(name)
    }
}

impl Source for Choices {
    fn wants(&self, view: &View, _: &str) -> Vec<Want> {
        self.0.load(view).map(Want::from).into_iter().collect()
    }

    fn items(&self, view: &View, typed: &str) -> Vec<Item> {
        if self.loading(view, typed) {
            return Vec::new();
        }
        let given = self.0.given(view);
        let mut names: Vec<&str> = given.iter().map(|one| one.name).collect();
        let others = emoji::all().iter().map(|one| one.name).filter(|_| !typed.trim().is_empty());
        let mut seen: HashSet<&str> = names.iter().copied().collect();
        for name in COMMON.iter().copied().chain(others).chain(Self::typed_name(typed)) {
            if seen.insert(name) {
                names.push(name);
            }
        }
        let item = |name: &&str| {
            let known = given.iter().find(|one| one.name == *name);
            let own = known.and_then(|one| one.own);
            let emoji = emoji::find(name);
            let label = match emoji.filter(|_| !glyph::is_ascii()) {
                Some(emoji) => format!("{}  {name}", emoji.sign),
                None => format!(":{name}:"),
            };
            let aliases = emoji.map_or(&[][..], |emoji| &emoji.aliases);
            let detail = if own.is_some() { "yours: Enter removes it" } else { "" };
            let count = known.map(|one| text::count(one.count as u64)).unwrap_or_default();
            let write = self.0.write(name, own);
            Item::act(label, Action::Send(write)).detail(detail).note(count).synonyms(aliases)
        };
        names.iter().map(item).collect()
    }

    fn loading(&self, view: &View, _: &str) -> bool {
        let rows = self.0.rows(view);
        !rows.is_loaded && rows.error.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_can_be_typed() {
        for (typed, name) in [
            ("party_parrot", Some("party_parrot")),
            (":part:", Some("part")),
            ("rock", None),
            ("a b", None),
            (" ", None),
            ("::", None),
        ] {
            assert_eq!(Choices::typed_name(typed), name, "{typed:?}");
        }
    }

    #[test]
    fn the_common_emoji_are_known() {
        assert!(COMMON.iter().all(|name| emoji::find(name).is_some_and(|found| found.name == *name)));
    }
}
