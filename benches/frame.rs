//! What a frame costs: the same for a hundred rows and for a hundred thousand, in one run, as a ratio.

mod support;

use jiff::Timestamp;
use labscope::api::endpoint::Endpoint;
use labscope::api::projects::{ListProjects, Project};
use labscope::app::action::{Msg, Outcome};
use labscope::app::place::Place;
use labscope::app::{App, Setup};
use labscope::store::{Arrival, Ticket};
use labscope::ui::theme::{Background, Theme};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::hint::black_box;
use std::sync::Arc;
use support::{Table, key};

/// Rows of a page of a list.
const PAGE: usize = 100;

fn app(place: Place, size: (u16, u16)) -> App {
    App::new(Setup {
        registry: labscope::panes::PANES,
        bindings: labscope::app::bindings::Bindings::new(labscope::panes::PANES, &Default::default())
            .unwrap_or_default(),
        session: Default::default(),
        theme: Theme::for_background(Background::Dark),
        theme_is_chosen: true,
        drafts: Default::default(),
        place,
        now: Timestamp::UNIX_EPOCH,
        size,
    })
    .0
}

/// A list of projects of `rows` rows, at its middle.
fn projects(rows: usize, size: (u16, u16)) -> App {
    let mut app = app(Place::new("projects"), size);
    let request = ListProjects { order_by: Some("last_activity_at".into()), ..ListProjects::default() }.request();
    let pages = rows.div_ceil(PAGE);
    for page in 1..=pages {
        let values: Vec<Project> = (0..PAGE.min(rows))
            .map(|row| {
                let number = (page - 1) * PAGE + row;
                Project {
                    id: number as u64,
                    path_with_namespace: format!("group-{}/project-{number}", number % 17),
                    description: Some(Some(format!("Project number {number}, which does one thing well"))),
                    ..Project::default()
                }
            })
            .collect();
        let next = (page < pages).then_some(page as u32 + 1);
        let reply = Arrival { len: values.len(), value: Arc::new(values), next, total: Some(rows as u64) };
        if page == 1 {
            app.update(Msg::Arrived(Ticket::Load(request.clone(), 1), Ok(Outcome::Reply(reply))));
        } else {
            app.store.arrived(&request, page as u32, Ok(reply), Timestamp::UNIX_EPOCH);
        }
    }
    app.update(Msg::Resize(size.0, size.1));
    let mut buffer = Buffer::empty(Rect::new(0, 0, size.0, size.1));
    app.view(buffer.area, &mut buffer);
    for _ in 0..rows.min(PAGE * 1000) / 2 / 20 {
        app.update(Msg::Key(key("C-d")));
    }
    app
}

/// Microseconds of one key and the frame after it: the median of many, moving to and fro.
fn key_and_frame(app: &mut App, size: (u16, u16)) -> f64 {
    let area = Rect::new(0, 0, size.0, size.1);
    let mut buffer = Buffer::empty(area);
    let keys = [key("j"), key("j"), key("k"), key("PageDown"), key("PageUp"), key("k")];
    let mut at = 0;
    support::median(400, || {
        app.update(Msg::Key(keys[at % keys.len()]));
        at += 1;
        buffer.reset();
        black_box(app.view(area, &mut buffer));
    })
}

fn main() {
    let mut table = Table::new("a key and its frame", &["screen", "small µs", "large µs", "ratio", "limit"]);
    for size in [(80, 24), (160, 45)] {
        let name = format!("{}x{}", size.0, size.1);
        let (mut small, mut large) = (projects(100, size), projects(100_000, size));
        let pair = support::pair(|| key_and_frame(&mut small, size), || key_and_frame(&mut large, size));
        table.ratio(&format!("projects 100 · 100,000  {name}"), pair, 1.5);
    }
    table.print();
}
