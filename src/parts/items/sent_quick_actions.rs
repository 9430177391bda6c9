//! The quick actions of a description that was sent: servers execute them and cut them out without a word, so the reply
//! tells what became of them.

use crate::api::issues::Issue;
use crate::api::merge_requests::MergeRequest;
use crate::app::action::Action;
use crate::app::tone::Tone;
use crate::domain::quick_actions::{self, Command, On};
use crate::ui::text;

/// The parts of a reply that show the effect of quick actions.
pub struct QuickActionReply<'a> {
    name: String,
    on: On,
    description: &'a str,
    labels: Vec<&'a str>,
    assignees: Vec<&'a str>,
    reviewers: Vec<&'a str>,
    milestone: Option<&'a str>,
    has_due_date: bool,
    is_closed: bool,
}

/// The fate of a quick action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Applied,
    Refused,
    /// The reply does not tell.
    Sent,
    /// The description still contains it as text.
    Unknown,
}

impl<'a> From<&'a Issue> for QuickActionReply<'a> {
    fn from(issue: &'a Issue) -> QuickActionReply<'a> {
        QuickActionReply {
            name: format!("#{}", issue.iid),
            on: On::Issue,
            description: issue.description.as_deref().unwrap_or_default(),
            labels: issue.label_names(),
            assignees: issue.assignees().iter().map(|user| user.username.as_str()).collect(),
            reviewers: Vec::new(),
            milestone: issue.milestone.as_ref().map(|milestone| milestone.title.as_str()),
            has_due_date: issue.due_date.is_some(),
            is_closed: !issue.is_open(),
        }
    }
}

impl<'a> From<&'a MergeRequest> for QuickActionReply<'a> {
    fn from(request: &'a MergeRequest) -> QuickActionReply<'a> {
        QuickActionReply {
            name: format!("!{}", request.iid),
            on: On::MergeRequest,
            description: request.description.as_deref().unwrap_or_default(),
            labels: request.labels().iter().map(|label| label.name()).collect(),
            assignees: request.assignees().iter().map(|user| user.username.as_str()).collect(),
            reviewers: request.reviewers.iter().flatten().map(|user| user.username.as_str()).collect(),
            milestone: request.milestone.as_ref().map(|milestone| milestone.title.as_str()),
            has_due_date: false,
            is_closed: !request.is_open(),
        }
    }
}

impl QuickActionReply<'_> {
    fn outcome(&self, command: &Command) -> Outcome {
        let is_same = |other: Command| other.name.eq_ignore_ascii_case(command.name);
        if self.description.lines().filter_map(quick_actions::command_of).any(is_same) {
            return Outcome::Unknown;
        }
        let words = quick_actions::words(command.arguments);
        let names = |sign: char| words.iter().map(move |word| word.trim_start_matches(sign));
        let has = |all: &[&str], name: &str| all.iter().any(|known| known.eq_ignore_ascii_case(name));
        let has_people = |all: &[&str]| names('@').all(|name| has(all, name) || name == "me" && !all.is_empty());
        let is_applied = match quick_actions::find(command.name).map(|action| action.name) {
            Some("label") => names('~').all(|name| has(&self.labels, name)),
            Some("assign") => has_people(&self.assignees),
            Some("assign_reviewer") => has_people(&self.reviewers),
            Some("milestone") => self.milestone.is_some_and(|title| names('%').eq([title])),
            Some("due") => self.has_due_date,
            Some("close") => self.is_closed,
            _ => return Outcome::Sent,
        };
        if is_applied { Outcome::Applied } else { Outcome::Refused }
    }
}

/// Returns the message about the quick actions of a description that was sent, given the reply; none if it has none.
pub fn report(reply: QuickActionReply, sent: &str) -> Vec<Action> {
    let is_known = |name: &str| quick_actions::find(name).is_some_and(|action| action.is_on(reply.on));
    let commands = quick_actions::split(sent, is_known).1;
    let outcomes: Vec<(Outcome, &str)> =
        commands.iter().map(|command| (reply.outcome(command), command.name)).collect();
    let of = |wanted: Outcome| -> Option<String> {
        let names = outcomes.iter().filter(|(outcome, _)| *outcome == wanted).map(|(_, name)| format!("/{name}"));
        Some(names.collect::<Vec<_>>().join(", ")).filter(|names| !names.is_empty())
    };
    let (refused, unknown) = (of(Outcome::Refused), of(Outcome::Unknown));
    let tone = if refused.is_some() || unknown.is_some() { Tone::Warning } else { Tone::Good };
    let parts = [
        of(Outcome::Applied).map(|names| format!("Applied {names}.")),
        of(Outcome::Sent).map(|names| format!("Sent {names}.")),
        refused.map(|names| format!("The server did not apply {names}.")),
        unknown.map(|names| format!("The description shows {names} as text: the server does not know it here.")),
    ];
    let words: Vec<String> = parts.into_iter().flatten().collect();
    match words.is_empty() {
        true => Vec::new(),
        false => vec![Action::Say(tone, text::sanitize(&format!("{}: {}", reply.name, words.join(" "))).into_owned())],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reply_tells_what_became_of_each_quick_action() {
        let issue = serde_json::json!({"iid": 7, "title": "Rows", "state": "opened", "labels": ["Bug", "a b"],
            "description": "Text\n/due tomorrow", "assignees": [{"id": 1, "username": "ada"}]});
        let issue: Issue = serde_json::from_value(issue).expect("an issue");
        let said = |sent: &str| match report((&issue).into(), sent).as_slice() {
            [Action::Say(tone, words)] => Some((*tone, words.clone())),
            _ => None,
        };
        assert_eq!(said("Text\n```\n/close\n```\n/approve"), None, "no command of an issue");
        let good = said("/label ~bug ~\"a b\"\n/assign @ada").expect("a message");
        assert_eq!(good, (Tone::Good, "#7: Applied /label, /assign.".to_owned()));
        let bad = said("/todo\n/milestone %\"0.5\"\n/due tomorrow").expect("a message");
        let words = "#7: Sent /todo. The server did not apply /milestone. The description shows /due as text: the \
                     server does not know it here.";
        assert_eq!(bad, (Tone::Warning, words.to_owned()));
    }
}
