//! Completion of names while typing: `@` users, `!` merge requests, `#` issues, `:` emoji; and at the start of a line, `/`
//! quick actions with their arguments.

use super::TextContext;
use crate::complete::{Candidate, Complete};
use crate::view::View;
use api::Scope;
use api::merge_requests::{ListParticipants, ListProjectMergeRequests};
use api::projects::ListProjectUsers;
use api::search::{Hit, SearchWithin};
use domain::emoji;
use domain::quick_actions::{self, ACTIONS, Arguments, On, QuickAction};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::HashSet;
use std::time::Duration;
use store::{Load, Want};
use ui::form::{self, FieldSuggestion};
use ui::glyph;

/// The maximum number of names in the list.
const MAX_NAMES: usize = 50;
/// The dates that are offered for a quick action.
const DATES: &[&str] = &["today", "tomorrow", "in 2 days", "in 1 week", "in 2 weeks"];
/// The maximum length of a name to complete, in characters.
const MAX_NAME_CHARS: usize = 40;

/// A completer for names of a project.
pub struct Completer {
    context: TextContext,
    /// The quick action whose argument is typed.
    action: Option<&'static QuickAction>,
    typed: String,
    names: Vec<Candidate>,
    selected: usize,
    /// The word for which the list was closed: it stays closed while that word is continued.
    closed: Option<String>,
}

impl Completer {
    pub fn new(context: TextContext) -> Completer {
        Completer { context, action: None, typed: String::new(), names: Vec::new(), selected: 0, closed: None }
    }

    /// Returns the candidates.
    pub fn names(&self) -> &[Candidate] {
        if self.closed.is_some() { &[] } else { &self.names }
    }

    /// Finds the candidates for the line up to the cursor; `is_whole` if `before` begins where the line does.
    pub fn take(&mut self, before: &str, is_whole: bool, view: &View) {
        let command = self.context.on.filter(|_| is_whole).and_then(|on| command(before, on));
        self.action = command.and_then(|(action, _)| action);
        let word = command.map(|(_, word)| word).or_else(|| word(before)).unwrap_or_default();
        if self.closed.as_ref().is_some_and(|closed| word.is_empty() || !word.starts_with(closed.as_str())) {
            self.closed = None;
        }
        if word != self.typed {
            self.typed = word.to_owned();
            self.selected = 0;
        }
        self.refresh(view);
    }

    /// Finds the candidates again, because more data may be known.
    pub fn refresh(&mut self, view: &View) {
        self.names = match (self.action, self.typed.strip_prefix('/').and(self.context.on)) {
            (Some(action), _) => self.find_arguments(action, view),
            (None, Some(on)) => find_actions(&self.typed, on),
            (None, None) => self.find(view),
        };
        // A name that is typed in full already need not be offered. After the argument of a quick action, Enter ends the
        // line.
        match self.action.is_some() && self.names.iter().any(|name| name.value == self.typed) {
            true => self.names.clear(),
            false => self.names.retain(|name| name.value != self.typed),
        }
        self.selected = self.selected.min(self.names.len().saturating_sub(1));
    }

    /// Moves the selection by `by` names.
    pub fn turn(&mut self, by: isize) {
        let last = self.names.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(by).min(last);
    }

    /// Returns the selected name, and the number of characters that it replaces.
    pub fn chosen(&self) -> Option<(&Candidate, usize)> {
        Some((self.names().get(self.selected)?, self.typed.chars().count()))
    }

    /// Closes the list for this word.
    pub fn close(&mut self) {
        self.closed = Some(self.typed.clone());
    }

    /// Returns the data needed for the word at the cursor.
    pub fn wants(&self, _view: &View) -> Vec<Want> {
        if let Some((complete, name)) = self.action.and_then(|action| self.arguments(action)) {
            return complete.wants(name);
        }
        let Some((sign, rest)) = self.split() else { return Vec::new() };
        let pause = Duration::from_millis(150);
        match sign {
            '@' => {
                let mut wants: Vec<Want> = vec![Load::list(&self.users(rest), 1).after(pause).into()];
                wants.extend(self.participants().map(|list| Load::list(&list, 1).into()));
                wants
            }
            '!' => vec![Load::list(&self.requests(rest), 1).after(pause).into()],
            '#' => self.issues(rest).map(|list| Load::list(&list, 1).after(pause).into()).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    fn split(&self) -> Option<(char, &str)> {
        let sign = self.typed.chars().next()?;
        Some((sign, self.typed.get(sign.len_utf8()..)?))
    }

    /// Returns the source of the arguments of a quick action that form fields share, and the name that is typed.
    fn arguments(&self, action: &QuickAction) -> Option<(Complete, &str)> {
        let project = || Some(self.context.project.clone());
        let (sign, complete) = match action.arguments {
            Arguments::People => ('@', Complete::Users(project())),
            Arguments::Labels => ('~', Complete::Labels(project())),
            Arguments::Milestone => ('%', Complete::Milestones(project())),
            Arguments::Branch => ('/', Complete::Branches(self.context.project.clone())),
            Arguments::Date => (' ', Complete::Words(DATES)),
            Arguments::Words(words) => (' ', Complete::Words(words)),
            Arguments::None | Arguments::Emoji | Arguments::Text(_) => return None,
        };
        Some((complete, self.typed.trim_start_matches(sign).trim_matches('"')))
    }

    /// Returns the arguments of a quick action that fit what is typed.
    fn find_arguments(&self, action: &QuickAction, view: &View) -> Vec<Candidate> {
        let Some((complete, typed)) = self.arguments(action) else { return self.find(view) };
        let sign = match action.arguments {
            Arguments::People => "@",
            Arguments::Labels => "~",
            Arguments::Milestone => "%",
            _ => "",
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '?' | '.' | '&' | '@' | '/');
        let name = |value: String| match sign.is_empty() || value.chars().all(is_plain) {
            true => format!("{sign}{value}"),
            false => format!("{sign}\"{value}\""),
        };
        let names = complete.items(view, typed).into_iter();
        let mut names: Vec<Candidate> =
            names.map(|item| Candidate { value: name(item.value), note: item.note }).collect();
        if sign == "@" && "me".starts_with(typed) {
            names.push(Candidate { value: "me".into(), note: "yourself".into() });
        }
        names.truncate(MAX_NAMES);
        names
    }

    fn participants(&self) -> Option<ListParticipants> {
        Some(ListParticipants { id: self.context.project.clone(), merge_request_iid: self.context.merge_request? })
    }

    fn users(&self, typed: &str) -> ListProjectUsers {
        ListProjectUsers {
            id: self.context.project.clone(),
            search: Some(typed.to_owned()).filter(|typed| !typed.is_empty()),
        }
    }

    fn requests(&self, typed: &str) -> ListProjectMergeRequests {
        // A number is searched for among the latest.
        let words = !typed.is_empty() && !typed.bytes().all(|b| b.is_ascii_digit());
        ListProjectMergeRequests {
            id: self.context.project.clone(),
            state: Some("all".into()),
            order_by: Some("updated_at".into()),
            search: words.then(|| typed.to_owned()),
            ..ListProjectMergeRequests::default()
        }
    }

    fn issues(&self, typed: &str) -> Option<SearchWithin> {
        let search = Some(typed.to_owned()).filter(|typed| !typed.is_empty())?;
        Some(SearchWithin { within: Scope::Project(self.context.project.clone()), scope: "issues".into(), search })
    }

    fn find(&self, view: &View) -> Vec<Candidate> {
        let Some((sign, typed)) = self.split() else { return Vec::new() };
        let typed = typed.to_lowercase();
        let fits = |words: &str| words.to_lowercase().contains(&typed);
        let mut names = Vec::new();
        let mut seen = HashSet::new();
        match sign {
            '@' => {
                let part = self.participants().map(|list| view.store.list(&list));
                // While the search is in flight, use what is known of the whole list.
                let members = [view.store.list(&self.users(&typed)), view.store.list(&self.users(""))];
                for user in part.iter().flat_map(|rows| rows.iter()).chain(members.iter().flat_map(|rows| rows.iter()))
                {
                    if (fits(&user.username) || fits(&user.name)) && seen.insert(user.id) {
                        names.push(Candidate { value: format!("@{}", user.username), note: user.name.clone() });
                    }
                }
                names.sort_by_key(|name| {
                    !name.value.get(1..).is_some_and(|name| name.to_lowercase().starts_with(&typed))
                });
            }
            '!' => {
                for list in [self.requests(&typed), self.requests("")] {
                    for request in view.store.list(&list).iter() {
                        let number = request.iid.to_string();
                        if (number.starts_with(&typed) || fits(&request.title)) && seen.insert(request.iid) {
                            names.push(Candidate { value: format!("!{number}"), note: request.title.clone() });
                        }
                    }
                }
            }
            '#' => {
                let rows = self.issues(&typed).map(|list| view.store.list(&list));
                for hit in rows.iter().flat_map(|rows| rows.iter()) {
                    if let Hit::Issue(issue) = hit {
                        names.push(Candidate { value: format!("#{}", issue.iid), note: issue.title.clone() });
                    }
                }
            }
            _ => {
                let found = emoji::all().iter().filter(|one| one.has_name_with(&typed));
                names
                    .extend(found.map(|one| Candidate { value: format!(":{}:", one.name), note: one.sign.to_owned() }));
                names.sort_by_key(|name| !name.value.get(1..).is_some_and(|name| name.starts_with(&typed)));
            }
        }
        names.truncate(MAX_NAMES);
        names
    }

    /// Draws the names next to the cursor at `at`, within `area`.
    pub fn draw(&self, view: &View, area: Rect, at: (u16, u16), buf: &mut Buffer) {
        let names = self.names().iter();
        let offers: Vec<FieldSuggestion> =
            names.map(|name| FieldSuggestion { value: &name.value, note: &name.note }).collect();
        let typed = self.typed.chars().count() as u16;
        let anchor = Rect { x: at.0.saturating_sub(typed), y: at.1, width: 1, height: 1 };
        form::draw_suggestions(buf, area, view.theme, anchor, &offers, self.selected);
        form::draw_inline_suggestion(buf, area, view.theme, at, &offers, self.selected);
    }
}

/// Returns the quick actions whose name fits what is typed, with their arguments and their effect.
fn find_actions(typed: &str, on: On) -> Vec<Candidate> {
    let typed = typed.trim_start_matches('/').to_ascii_lowercase();
    let of_object = ACTIONS.iter().filter(|action| action.is_on(on));
    let fits = |action: &&QuickAction| {
        action.name.contains(&typed) || action.aliases.iter().any(|name| name.starts_with(&typed))
    };
    let name = |action: &QuickAction| {
        let arguments = match action.arguments {
            Arguments::None => return action.about.to_owned(),
            Arguments::People => "@user",
            Arguments::Labels => "~label",
            Arguments::Milestone => "%milestone",
            Arguments::Branch => "branch",
            Arguments::Date => "date",
            Arguments::Emoji => ":emoji:",
            Arguments::Words(_) => "word",
            Arguments::Text(example) => example,
        };
        format!("{arguments}{}{}", glyph::separator(), action.about)
    };
    let mut names: Vec<Candidate> = of_object
        .filter(fits)
        .map(|action| Candidate { value: format!("/{}", action.name), note: name(action) })
        .collect();
    names.sort_by_key(|name| !name.value.get(1..).is_some_and(|name| name.starts_with(&typed)));
    names.truncate(MAX_NAMES);
    names
}

/// Returns the word of a quick action that is being typed at the end of a line: its name with the slash, or an argument
/// with its action.
fn command(before: &str, on: On) -> Option<(Option<&'static QuickAction>, &str)> {
    let name = before.strip_prefix('/')?;
    let Some(end) = name.find(char::is_whitespace) else {
        let is_name = name.len() <= MAX_NAME_CHARS && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        return is_name.then_some((None, before));
    };
    let action = quick_actions::find(name.get(..end)?).filter(|action| action.is_on(on))?;
    let arguments = name.get(end..)?.trim_start();
    // A date has blanks, and so does a quoted name.
    let mut is_quoted = false;
    let mut from = 0;
    for (at, c) in arguments.char_indices().filter(|_| action.arguments != Arguments::Date) {
        is_quoted ^= c == '"';
        if c.is_whitespace() && !is_quoted {
            from = at + c.len_utf8();
        }
    }
    let word = arguments.get(from..)?;
    (word.chars().count() <= MAX_NAME_CHARS).then_some((Some(action), word))
}

/// Returns the word at the end of a line that can be completed: a sign, and what was typed of the name.
fn word(before: &str) -> Option<&str> {
    let letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '+' | '/');
    let start = before.char_indices().rev().find(|(_, c)| !letter(*c));
    let (at, sign) = start?;
    let word = before.get(at..)?;
    let after = before.get(..at)?.chars().next_back();
    // A sign within a word does not count: in an address, or in a position in a file.
    let free = after.is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '[' | '"' | '\'' | '>' | '*' | '_' | ','));
    let enough = if sign == ':' { 2 } else { 0 };
    let length = word.chars().count() - 1;
    (matches!(sign, '@' | '!' | '#' | ':') && free && length >= enough && length <= MAX_NAME_CHARS).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quick_actions_are_completed_by_name_and_then_by_argument() {
        let parts =
            |line| command(line, On::MergeRequest).map(|(action, word)| (action.map(|action| action.name), word));
        assert_eq!(parts("/"), Some((None, "/")));
        assert_eq!(parts("/lab"), Some((None, "/lab")));
        assert_eq!(parts("/label "), Some((Some("label"), "")));
        assert_eq!(parts("/label ~a ~\"b c"), Some((Some("label"), "~\"b c")));
        assert_eq!(parts("/reviewer @a"), Some((Some("assign_reviewer"), "@a")));
        assert_eq!(command("/due in 2", On::Issue).map(|(_, word)| word), Some("in 2"));
        for none in ["", "see /", " /", "/usr/bin", "/due in 2", "/nothing x"] {
            assert_eq!(parts(none), None, "{none}");
        }
        let names: Vec<String> = find_actions("/un", On::Issue).into_iter().map(|name| name.value).collect();
        assert_eq!(names.first().map(String::as_str), Some("/unassign"));
        assert!(names.contains(&"/unlabel".into()) && !names.contains(&"/unapprove".into()), "{names:?}");
        let offers = find_actions("/labels", On::Issue);
        assert_eq!((offers[0].value.as_str(), offers[0].note.as_str()), ("/label", "~label · Add labels"));
    }

    #[test]
    fn signs_start_a_completion_at_word_starts() {
        assert_eq!(word("see @ad"), Some("@ad"));
        assert_eq!(word("@"), Some("@"));
        assert_eq!(word("(!4"), Some("!4"));
        assert_eq!(word(":smi"), Some(":smi"));
        for none in ["", "ada@host", "a:bc", "@ad ", "wow!", ": s", ":)", "x::ab"] {
            assert_eq!(word(none), None, "{none}");
        }
    }
}
