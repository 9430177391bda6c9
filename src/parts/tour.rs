//! The tour of the demo world.

use crate::app::tour::{Event, Hint, Situation, TourStep};

const RESOLVED: Event = Event::Sent("PUT", "/discussions/{discussion_id}");
const APPROVED: Event = Event::Sent("POST", "/approve");
const COMMITTED: Event = Event::Sent("POST", "/repository/commits");

const fn hint(at: Situation, says: &'static str) -> Hint {
    Hint { at, says }
}

/// The steps. Each text has room at 80 columns.
pub const DEMO: &[TourStep] = &[
    TourStep {
        title: "comment on a line",
        hints: &[
            hint(Situation::Tab("mr", "changes"), "‹move.down› to a line, ‹mr.comment› comments, C-s sends"),
            hint(Situation::Place("mr"), "‹tab.3› shows the changes"),
            hint(Situation::Place("home"), "‹move.down› to !42, ‹home.open› opens it"),
            hint(Situation::Anywhere, "‹go.home› goes home"),
        ],
        done: &[&[Event::Sent("POST", "/discussions")]],
    },
    TourStep {
        title: "resolve a thread and approve",
        hints: &[
            hint(Situation::After("mr", RESOLVED), "‹mr.approve› approves the merge request"),
            hint(Situation::Place("mr"), "‹mr.next_thread› goes to a thread, ‹mr.resolve› resolves it"),
            hint(Situation::Place("home"), "‹move.down› to !42, ‹home.open› opens it"),
            hint(Situation::Anywhere, "‹go.home› goes home"),
        ],
        done: &[&[RESOLVED], &[APPROVED]],
    },
    TourStep {
        title: "from a red job to its line",
        hints: &[
            hint(Situation::Place("job"), "‹job.next_error› goes to the error, ‹job.open› opens its line"),
            hint(Situation::Tab("jobs", "failed"), "‹jobs.open› opens a failed job"),
            hint(Situation::Place("jobs"), "‹tab.4› lists the failed jobs"),
            hint(Situation::Anywhere, "‹go.jobs› goes to the jobs"),
        ],
        done: &[&[Event::Ran("job.open"), Event::Went("job", "files")]],
    },
    TourStep {
        title: "compare with the last success",
        hints: &[
            hint(Situation::Place("job"), "‹job.compare› compares with the last success"),
            hint(Situation::Place("files"), "‹back› goes back to the job"),
            hint(Situation::Tab("jobs", "failed"), "‹jobs.open› opens a failed job"),
            hint(Situation::Place("jobs"), "‹tab.4› lists the failed jobs"),
            hint(Situation::Anywhere, "‹go.jobs› goes to the jobs"),
        ],
        done: &[&[Event::Ran("job.compare")]],
    },
    TourStep {
        title: "edit a file into a merge request",
        hints: &[
            hint(Situation::After("stage", COMMITTED), "‹stage.merge_request› creates a merge request, C-s sends it"),
            hint(Situation::Place("stage"), "‹stage.commit› commits: M-b names a new branch, C-s sends"),
            hint(
                Situation::After("files", Event::Ran("files.edit")),
                "C-s stages the text, ‹go.stage› shows what is staged",
            ),
            hint(Situation::Place("files"), "‹files.find› finds README.md, ‹files.edit› edits it"),
            hint(Situation::Anywhere, "‹go.files› goes to the files"),
        ],
        done: &[&[Event::Sent("POST", "/merge_requests")]],
    },
    TourStep {
        title: "find anything",
        hints: &[hint(Situation::Anywhere, "‹anything› finds anything by name: type mouse, then Enter")],
        done: &[&[Event::Ran("anything"), Event::Went("", "")]],
    },
    TourStep {
        title: "find help",
        hints: &[hint(Situation::Anywhere, "‹help› lists the keys here; ‹palette› finds commands by name")],
        done: &[&[Event::Ran("help")]],
    },
];
