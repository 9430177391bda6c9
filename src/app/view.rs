//! The state that panes and overlays can read.

use super::command_info::Disabled;
use super::custom::Runs;
use super::dates::zone;
use super::hits::Hits;
use super::key_names::KeyNames;
use super::outbox::Outbox;
use super::place_info::PlaceInfo;
use super::session::Session;
use super::state::{Recents, Seen, Settings};
use super::text_key::DraftKey;
use super::texts::TypedTexts;
use super::transfer::Transfers;
use super::waiting_writes::WaitingWrites;
use api::groups::{Group, GroupOrProject};
use api::identity::{AccessToken, GetOwnToken};
use api::projects::Project;
use api::users::{GetCurrentUser, Profile};
use api::{Endpoint, Error, Fault, Reply};
use jiff::{Timestamp, Zoned};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::borrow::Cow;
use std::collections::HashSet;
use std::time::Duration;
use store::{Load, Store};
use ui::image::Images;
use ui::line::Line;
use ui::theme::{Role, Theme};
use ui::{glyph, state, text};

/// The reason why nothing can be changed in `labscope local`, and what to do about it.
const READ_ONLY_LOCAL: &str = "labscope local only reads the repository: change it with git";
/// The same for a server that was opened with `--read-only`.
const READ_ONLY: &str = "labscope is read-only: start it without --read-only to change things";

/// The state that panes and overlays can read.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The places that can be opened.
    pub places: &'a [PlaceInfo],
    /// The keys of the commands.
    pub key_names: &'a KeyNames,
    /// The ID of the pane on top.
    pub pane: &'static str,
    /// The cache of server data.
    pub store: &'a Store,
    /// The theme, which gives each role its style.
    pub theme: &'a Theme,
    /// The time of this update by the server's clock, to compute the age of what the server dates.
    pub now: Timestamp,
    /// The time of this update by the local clock, for local events.
    pub local_now: Timestamp,
    /// The session with the server.
    pub session: &'a Session,
    /// The texts saved until the server has them, by key: those of this server and account.
    pub drafts: &'a TypedTexts,
    /// The settings of the user.
    pub settings: &'a Settings,
    /// The recent places and projects.
    pub recents: &'a Recents,
    /// The record of what the user has seen.
    pub seen: &'a Seen,
    /// The drafts that are being sent.
    pub outbox: &'a Outbox,
    /// The writes that wait.
    pub waiting: &'a WaitingWrites,
    /// The keys of the saved texts that are being sent.
    pub sending: &'a HashSet<String>,
    /// The images, drawn by the terminal's own means if it has any.
    pub images: &'a Images,
    /// The current and past transfers.
    pub transfers: &'a Transfers,
    /// The custom commands that were started.
    pub runs: &'a Runs,
    /// The key of the saved text that is being typed in an overlay.
    pub writing: Option<&'a DraftKey>,
    /// The width and height of the screen.
    pub size: (u16, u16),
    /// The collector of clickable areas, filled by drawing code.
    pub hits: &'a Hits,
}

impl<'a> View<'a> {
    /// Replaces each command ID in angle quotes by its key, see [`KeyNames::fill`].
    pub fn with_keys<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.key_names.fill(text, self.pane)
    }

    /// Returns the local time, in the time zone in which times are shown.
    pub fn local_time(&self) -> Zoned {
        self.local_now.to_zoned(zone())
    }

    /// Returns the age at which what is on the screen is read again; `None` if it is not, as in accessible mode.
    pub fn refresh_after(&self) -> Option<Duration> {
        self.session.refresh.filter(|_| !glyph::is_accessible())
    }

    /// Explains that an area is empty, and what to do; `hint` may name commands, see [`View::with_keys`].
    pub fn draw_empty(&self, buf: &mut Buffer, area: Rect, why: &str, hint: &str) {
        state::empty(buf, area, self.theme, why, &self.with_keys(hint));
    }

    /// Returns an error with the time that is left of what the server asked to wait.
    pub fn as_of_now<'e>(&self, error: &'e Error) -> Cow<'e, Error> {
        let Fault::Limited(route, Some(_)) = error.fault else { return Cow::Borrowed(error) };
        match self.store.time_to_wait(route, self.local_now) {
            left @ Some(_) => Cow::Owned(Error { fault: Fault::Limited(route, left), ..error.clone() }),
            None => Cow::Borrowed(error),
        }
    }

    /// Draws an error in the bottom line of an area; `prefix` names what failed.
    pub fn draw_error_line(&self, area: Rect, buf: &mut Buffer, prefix: &str, error: &Error) {
        let at = Rect { y: area.bottom().saturating_sub(1), height: 1, ..area };
        let room = usize::from(area.width);
        let title = format!(" {prefix}{}", error.title());
        let whole = format!("{title}: {}", text::sanitize(&self.as_of_now(error).message()));
        // What to do is more useful than the end of the message, and than asking again for what is not shown.
        let advice = format!("{}{}", glyph::separator(), error.advice().trim_end_matches('.'));
        let helps = error.is_withheld() && !error.advice().is_empty();
        let fits = |words: &&String| helps && text::width(words) + text::width(&advice) <= room;
        let (words, hint) = match [&whole, &title].into_iter().find(fits) {
            Some(words) => (words, advice.as_str()),
            None if error.is_by_choice() => (&whole, ""),
            None => (&whole, &*format!("{}{}", glyph::separator(), self.with_keys("‹refresh› retries"))),
        };
        let words = text::fit(words, room.saturating_sub(text::width(hint)));
        Line::new(format!("{words}{hint}"), Role::Failed).draw(buf, at, self.theme);
    }

    /// Returns the load for a list, unless the server has reported that it does not support it.
    pub fn if_supported<T, E>(&self, list: &E, pages: u32) -> Option<Load>
    where
        T: Send + Sync + 'static,
        E: Endpoint<Output = Vec<T>>,
        Vec<T>: Reply,
    {
        (!self.store.is_unsupported_route(list.route())).then(|| Load::list(list, pages))
    }

    /// Returns whether labscope was started to change things; the error is the reason why not.
    pub fn accepts_changes(&self) -> Result<(), Disabled> {
        match self.session.read_only {
            true if self.session.server == "local" => Err(READ_ONLY_LOCAL.into()),
            true => Err(READ_ONLY.into()),
            false if self.session.offline => Err("labscope is offline".into()),
            false => Ok(()),
        }
    }

    /// Returns whether anything can be changed on the server; the error is the reason why not.
    pub fn can_write(&self) -> Result<(), Disabled> {
        self.accepts_changes()?;
        if !self.session.signed_in {
            return Err("you are not signed in".into());
        }
        match self.token().and_then(AccessToken::missing_scope) {
            Some(scope) => Err(format!("the token lacks the scope {scope}").into()),
            None => Ok(()),
        }
    }

    /// Returns the full path of a project of the current server.
    pub fn full_path<'p>(&self, project: &'p Project) -> Cow<'p, str> {
        project.full_path(&self.session.web_url)
    }

    /// Iterates over all loaded projects.
    pub fn known_projects(&self) -> impl Iterator<Item = &'a Project> + use<'a> {
        let listed = self.store.known::<GroupOrProject>().filter_map(|(_, row)| row.project());
        self.store.known::<Project>().map(|(_, project)| project).chain(listed)
    }

    /// Iterates over all loaded groups.
    pub fn known_groups(&self) -> impl Iterator<Item = &'a Group> + use<'a> {
        let listed = self.store.known::<GroupOrProject>().filter_map(|(_, row)| row.group());
        self.store.known::<Group>().map(|(_, group)| group).chain(listed)
    }

    /// Returns the server's details of the token, if it provides them.
    pub fn token(&self) -> Option<&AccessToken> {
        self.store.get(&GetOwnToken {}).value
    }

    /// Returns whether one of `users` is the signed-in user.
    pub fn is_me(&self, users: impl IntoIterator<Item = u64>) -> bool {
        self.me().is_some_and(|me| users.into_iter().any(|id| id == me.id))
    }

    /// Returns the signed-in user, once known.
    pub fn me(&self) -> Option<&Profile> {
        let me = self.store.get(&GetCurrentUser::default()).value;
        me.filter(|me| !me.username.is_empty())
    }
}
