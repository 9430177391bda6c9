//! The activity of a project or of a user: their events, the latest first.

use crate::api::Feed;
use crate::api::endpoint::encode;
use crate::api::events::{Event, ListEvents};
use crate::app::tone::Tone;
use crate::parts::list::prelude::*;
use crate::parts::project;
use crate::ui::{markdown, text};

/// The events of a project or of the user.
pub struct EventSource {
    feed: Feed,
}

/// The list of events.
pub type Activity = ListPane<EventSource>;

/// Returns what the event was about, such as `!12 Add a parser`.
fn target(event: &Event) -> String {
    if let Some(push) = &event.push_data {
        let title = push.commit_title.as_deref().unwrap_or_default();
        let others = match push.commit_count.saturating_sub(1) {
            0 => String::new(),
            others => format!(" and {}", text::count_noun(others, "other commit")),
        };
        return format!("{} {title}{others}", push.r#ref.as_deref().unwrap_or_default());
    }
    let (kind, number) = noteable(event);
    let sign = match kind {
        "MergeRequest" => "!",
        "Issue" | "WorkItem" => "#",
        "Snippet" | "ProjectSnippet" => "$",
        _ => "",
    };
    let number = number.filter(|_| !sign.is_empty()).map(|number| format!("{sign}{number} ")).unwrap_or_default();
    format!("{number}{}", event.target_title.as_deref().unwrap_or_default())
}

/// Returns the type and number of the object that the event was about; of the commented object for a comment.
fn noteable(event: &Event) -> (&str, Option<u64>) {
    match &event.note {
        Some(note) => (&note.noteable_type, note.noteable_iid),
        None => (event.target_type.as_deref().unwrap_or_default(), event.target_iid),
    }
}

impl EventSource {
    fn place_of(&self, event: &Event) -> Option<Place> {
        let project = match (&self.feed, event.project_id) {
            (Feed::Project(id), _) => id.clone(),
            (_, id) => id?.into(),
        };
        let place = |pane: &str| Place::new(pane).project(project.clone());
        if let Some(push) = &event.push_data {
            let list = if push.ref_type == "tag" { "tags" } else { "branches" };
            return Some(match (&push.commit_from, &push.commit_to) {
                (Some(from), Some(to)) if push.commit_count > 1 => place("compare").item(format!("{from}...{to}")),
                (_, Some(sha)) if push.action != "removed" => place("commit").item(sha),
                _ => place(list),
            });
        }
        let (kind, number) = noteable(event);
        let pane = match kind {
            "MergeRequest" => "mr",
            "Issue" | "WorkItem" => "issue",
            _ => return None,
        };
        Some(place(pane).item(number?))
    }
}

/// Returns the first line of the comment of an event; empty without a comment.
fn first_line(event: &Event) -> String {
    event.note.as_ref().map(|note| markdown::one_line(&note.body)).unwrap_or_default()
}

impl Activity {
    fn open_target(&mut self, event: &Event, cx: &mut Cx) {
        match self.source.place_of(event) {
            Some(place) => cx.go(place),
            None => cx.say(Tone::Warning, "labscope cannot show what this was about."),
        }
    }
}

impl ListSource for EventSource {
    type Row = Event;
    type Detail = NoDetail;
    const LIST: ListInfo = ListInfo::new("activity", "event", "activity");
    const COLUMNS: &'static [Column<Self>] = &[
        Column::<Self>::fit("author", "Author", 4, 18, |_, event, _| Line::new(event.author_name(), Role::User))
            .sorted(|event| event.author_name().into()),
        Column::<Self>::fit("action", "Action", 6, 16, |_, event, _| Line::new(&event.action_name, Role::Dim))
            .sorted(|event| event.action_name.as_str().into()),
        // A comment follows its target, so that it gets all the room that the target leaves.
        Column::<Self>::fill("target", "Target", 20, |_, event, _| {
            let target = Line::text(target(event));
            match first_line(event).as_str() {
                "" => target,
                comment => target.and("  ", Role::Text).and(comment.to_owned(), Role::Dim),
            }
        }),
        Column::<Self>::age("created", "Created", |event| event.created_at.as_ref()),
    ];
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::row("activity.open", &["Enter"], "Open target", Activity::open_target).footer("open"),
        Activity::columns_command("activity.columns"),
    ];

    fn open(place: &Place, _view: &View) -> EventSource {
        let user = place.item.as_deref().map(|name| Feed::User(name.trim_start_matches('@').into()));
        EventSource { feed: place.project.clone().map(Feed::Project).or(user).unwrap_or_default() }
    }

    fn place(&self, base: Place) -> Place {
        if let Feed::User(name) = &self.feed { base.item(name) } else { base }
    }

    fn query(&self, _: &Input<'_>, _: ServerOrder, _view: &View) -> Option<ListQuery<Event>> {
        Some(ListQuery::new(&ListEvents { on: self.feed.clone(), ..ListEvents::default() }))
    }

    fn filter(&self, _: &Input<'_>) -> Filter<Event> {
        Filter::Loaded(|event, words| {
            let texts = [event.author_name(), &event.action_name, &target(event)];
            texts.iter().any(|text| text.to_lowercase().contains(words))
        })
    }

    fn key(event: &Event) -> String {
        event.id.to_string()
    }

    fn empty(&self, _: usize) -> (&'static str, &'static str) {
        ("Nothing has happened here yet.", "‹palette› opens another place")
    }

    fn url(&self, view: &View, _: Option<&Event>) -> Option<String> {
        let of = |page: &str| Some(format!("{}/{page}", view.session.web_url));
        match &self.feed {
            Feed::Project(id) => Some(project::page(view, id, "/activity")),
            Feed::User(name) => of(&format!("users/{}/activity", encode(name.as_str()))),
            Feed::Own => of("dashboard/activity"),
        }
    }

    fn copies(&self, _view: &View, event: &Event) -> Vec<Clip> {
        vec![Clip::line("target", target(event))]
    }
}
