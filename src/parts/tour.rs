//! The tour of the demo world.

use crate::app::tour::{At, Event, Hint, TourStep};

const RESOLVED: Event = Event::Sent("PUT", "/discussions/{discussion_id}");
const APPROVED: Event = Event::Sent("POST", "/approve");
const COMMITTED: Event = Event::Sent("POST", "/repository/commits");

const fn hint(at: At, says: &'static str) -> Hint {
    Hint { at, says }
}

/// The steps. Each text has room at 80 columns.
pub const DEMO: &[TourStep] = &[
    TourStep {
        title: "comment on a line",
        hints: &[
            hint(At::Tab("mr", "changes"), "‹move.down› to a line, ‹mr.comment› comments, C-s sends"),
            hint(At::Place("mr"), "‹tab.3› shows the changes"),
            hint(At::Place("home"), "‹move.down› to !42, ‹home.open› opens it"),
            hint(At::Anywhere, "‹go.home› goes home"),
        ],
        done: &[&[Event::Sent("POST", "/discussions")]],
    },
    TourStep {
        title: "resolve a thread and approve",
        hints: &[
            hint(At::After("mr", RESOLVED), "‹mr.approve› approves the merge request"),
            hint(At::Place("mr"), "‹mr.next_thread› goes to a thread, ‹mr.resolve› resolves it"),
            hint(At::Place("home"), "‹move.down› to !42, ‹home.open› opens it"),
            hint(At::Anywhere, "‹go.home› goes home"),
        ],
        done: &[&[RESOLVED], &[APPROVED]],
    },
    TourStep {
        title: "from a red job to its line",
        hints: &[
            hint(At::Place("job"), "‹job.next_error› goes to the error, ‹job.open› opens its line"),
            hint(At::Tab("jobs", "failed"), "‹jobs.open› opens a failed job"),
            hint(At::Place("jobs"), "‹tab.4› lists the failed jobs"),
            hint(At::Anywhere, "‹go.jobs› goes to the jobs"),
        ],
        done: &[&[Event::Ran("job.open"), Event::Went("job", "files")]],
    },
    TourStep {
        title: "compare with the last success",
        hints: &[
            hint(At::Place("job"), "‹job.compare› compares with the last success"),
            hint(At::Place("files"), "‹back› goes back to the job"),
            hint(At::Tab("jobs", "failed"), "‹jobs.open› opens a failed job"),
            hint(At::Place("jobs"), "‹tab.4› lists the failed jobs"),
            hint(At::Anywhere, "‹go.jobs› goes to the jobs"),
        ],
        done: &[&[Event::Ran("job.compare")]],
    },
    TourStep {
        title: "edit a file into a merge request",
        hints: &[
            hint(At::After("stage", COMMITTED), "‹stage.merge_request› creates a merge request, C-s sends it"),
            hint(At::Place("stage"), "‹stage.commit› commits: M-b names a new branch, C-s sends"),
            hint(At::After("files", Event::Ran("files.edit")), "C-s stages the text, ‹go.stage› shows what is staged"),
            hint(At::Place("files"), "‹files.find› finds README.md, ‹files.edit› edits it"),
            hint(At::Anywhere, "‹go.files› goes to the files"),
        ],
        done: &[&[Event::Sent("POST", "/merge_requests")]],
    },
    TourStep {
        title: "find anything",
        hints: &[hint(At::Anywhere, "‹anything› finds anything by name: type mouse, then Enter")],
        done: &[&[Event::Ran("anything"), Event::Went("", "")]],
    },
    TourStep {
        title: "find help",
        hints: &[hint(At::Anywhere, "‹help› lists the keys here; ‹palette› finds commands by name")],
        done: &[&[Event::Ran("help")]],
    },
];
