//! The facts of a user, shared by the list of users, a user's place, and the owner of a key.

use crate::api::Time;
use crate::api::users::{Profile, User};
use crate::app::clip::Clip;
use crate::app::view::View;
use crate::parts::facts::{Details, LinkTarget};
use crate::parts::text::dates::{day, time_ago};
use crate::ui::glyph;
use crate::ui::line::Line;
use crate::ui::text;
use crate::ui::theme::Role;

/// Columns left of the text about a user: the longest name of a fact, and the spaces around it.
const NAME_WIDTH: usize = 17;

/// Returns the glyph, name and role of an account's state. Servers have more states than the specification names.
pub fn state(word: &str) -> (&'static str, String, Role) {
    let (sign, role) = match word {
        "active" => (glyph::alive(), Role::Success),
        "blocked" | "banned" | "ldap_blocked" => (glyph::wrong(), Role::Failed),
        "deactivated" => (glyph::off(), Role::Canceled),
        _ => (glyph::dot(), Role::Warning),
    };
    (glyph::or_word(sign, ""), word.replace('_', " "), role)
}

/// Returns the cell with the names of several users.
pub fn usernames(users: &[User]) -> Line<'static> {
    let names: Vec<&str> = users.iter().map(|user| user.username.as_str()).collect();
    Line::new(names.join(" "), Role::User)
}

/// Returns the special properties of an account, in words.
pub fn badges(user: &Profile) -> Vec<&'static str> {
    let is = |flag: &Option<bool>| *flag == Some(true);
    let all = [
        (is(&user.is_admin), "administrator"),
        (is(&user.external), "external"),
        (user.bot == Some(true), "bot"),
        (user.locked == Some(true), "locked"),
    ];
    all.into_iter().filter(|(on, _)| *on).map(|(_, word)| word).collect()
}

/// Returns the identity providers of an account.
pub fn identity_providers(user: &Profile) -> String {
    let providers = user.identities.iter().flatten().map(|identity| identity.provider.as_str());
    providers.collect::<Vec<_>>().join(", ")
}

/// Returns a time as its day and its age.
fn moment(view: &View, time: Option<&Time>) -> String {
    let Some(time) = time else { return String::new() };
    let day = day(time);
    match time_ago(view, Some(time)) {
        value if value.is_empty() => day,
        value => format!("{day}  {value}"),
    }
}

/// Writes the facts of `user`.
pub fn fill_facts(facts: &mut Details, view: &View, user: &Profile, width: usize) {
    let (sign, word, role) = state(&user.state);
    facts.field("name", Line::new(user.name.clone(), Role::Title), None);
    facts.field("user", Line::new(format!("@{}", user.username), Role::User), None);
    let mut value = Line::new(format!("{sign} {word}"), role);
    value.extend(badges(user).into_iter().map(|badge| (format!("{}{badge}", glyph::separator()), Role::Warning)));
    facts.field("state", value, None);
    let bio =
        user.bio.as_ref().map(|bio| text::wrap(bio, width.saturating_sub(NAME_WIDTH).max(20), 4)).unwrap_or_default();
    for (index, line) in bio.into_iter().enumerate() {
        facts.field(if index == 0 { "about" } else { "" }, Line::new(line, Role::Text), None);
    }
    let words = |field: &Option<String>| field.clone().unwrap_or_default();
    for (name, words) in [
        ("job", (*user.job_title).clone().unwrap_or_default()),
        ("pronouns", (*user.pronouns).clone().unwrap_or_default()),
        ("organization", words(&user.organization)),
        ("location", words(&user.location)),
        ("local time", (*user.local_time).clone().unwrap_or_default()),
        ("Skype", user.messenger().unwrap_or_default().to_owned()),
        ("LinkedIn", user.network().unwrap_or_default().to_owned()),
        ("X/Mastodon", user.microblog().unwrap_or_default().to_owned()),
    ] {
        if !words.is_empty() {
            facts.field(name, Line::new(words, Role::Text), None);
        }
    }
    let email = words(&user.email);
    let email = if email.is_empty() { (*user.public_email).clone().unwrap_or_default() } else { email };
    if !email.is_empty() {
        facts.field(
            "email",
            Line::new(email.clone(), Role::Text),
            Some(LinkTarget::Copy(Clip::line("email address", email))),
        );
    }
    let site = words(&user.website_url);
    if !site.is_empty() {
        facts.field("website", Line::new(site.clone(), Role::Link), Some(LinkTarget::Page(site)));
    }
    write_account(facts, view, user);
}

/// Writes the dates, limits, identities and ID of the account. Servers send most of them only to the user and to
/// administrators.
fn write_account(facts: &mut Details, view: &View, user: &Profile) {
    for (name, time) in [
        ("Member since", &user.created_at),
        ("confirmed", &user.confirmed_at),
        // The field `last_sign_in_at` is the one before.
        ("last sign-in", &user.current_sign_in_at),
        ("active", &user.last_activity_on),
    ] {
        let value = moment(view, time.as_ref());
        if !value.is_empty() {
            facts.field(name, Line::new(value, Role::Text), None);
        }
    }
    let yes = |flag: &Option<bool>| flag.map(|on| if on { "yes" } else { "no" });
    if let Some(on) = yes(&user.two_factor_enabled) {
        let role = if on == "yes" { Role::Success } else { Role::Warning };
        facts.field("two-factor", Line::new(on.to_owned(), role), None);
    }
    if let Some(limit) = user.projects_limit.as_ref() {
        facts.field("projects limit", Line::new(text::count(*limit), Role::Text), None);
    }
    if let Some(on) = yes(&user.can_create_group) {
        facts.field("create groups", Line::new(on.to_owned(), Role::Text), None);
    }
    if let Some(minutes) = user.shared_runners_minutes_limit.as_ref() {
        facts.field("minutes", Line::new(format!("{} on shared runners", text::count(*minutes)), Role::Text), None);
    }
    for (index, identity) in user.identities.iter().flatten().enumerate() {
        let name = if index == 0 { "identities" } else { "" };
        let pieces =
            Line::new(identity.provider.clone(), Role::Text).and(format!("  {}", identity.extern_uid), Role::Dim);
        facts.field(name, pieces, None);
    }
    for (index, attribute) in user.custom_attributes.iter().flatten().enumerate() {
        let name = if index == 0 { "attributes" } else { "" };
        let pieces = Line::new(format!("{} ", attribute.key), Role::Label).and(attribute.value.clone(), Role::Text);
        facts.field(name, pieces, None);
    }
    facts.field(
        "ID",
        Line::new(user.id.to_string(), Role::Dim),
        Some(LinkTarget::Copy(Clip::line("ID", user.id.to_string()))),
    );
}
