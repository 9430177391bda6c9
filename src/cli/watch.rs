//! `labscope watch`: follows a job, a pipeline or a merge request. The exit code is 0 if it succeeded, 1 if it failed, 2 if
//! it was canceled, and 3 for everything else.

use super::args::{Global, Watch};
use super::failure::{EXIT_FAILURE, EXIT_UNKNOWN, Failure};
use super::{NOT_SENT, async_runtime, load_config, open, server, write_stdout};
use crate::api::client::Client;
use crate::app::place_info::{self, Subject};
use crate::app::registry::places;
use crate::app::target;
use crate::panes::PANES;
use crate::parts::ci;
use crate::runtime::outcome::{self, Outcome};
use jiff::Zoned;
use std::time::Duration;

/// The exit code if what is watched was canceled.
const EXIT_CANCELED: u8 = 2;

/// Follows what the target names, and fails with the exit code of its outcome.
pub fn run(global: &Global, watch: &Watch) -> Result<(), Failure> {
    // The codes 1 and 2 are outcomes.
    match outcome(global, watch).map_err(|failure| Failure { code: EXIT_UNKNOWN, ..failure })? {
        Outcome::Success => Ok(()),
        Outcome::Failed => Err(Failure::code(EXIT_FAILURE)),
        Outcome::Canceled => Err(Failure::code(EXIT_CANCELED)),
        Outcome::Unknown => Err(Failure::code(EXIT_UNKNOWN)),
    }
}

fn outcome(global: &Global, watch: &Watch) -> Result<Outcome, Failure> {
    let config = load_config(global)?;
    let found = open::find(global, &config, Some(&watch.target))?
        .ok_or_else(|| Failure::usage(open::unknown_server(Some(&watch.target)).unwrap_or_else(server::no_server)))?;
    let places = places(PANES);
    let here = match &found.project {
        Some(project) => place_info::place_of(&places, Subject::Project).project(project.as_str()),
        None => place_info::root(&places),
    };
    let web_url = found.server.url.as_str();
    let place = match target::typed_at(&places, &here, &watch.target, web_url) {
        Some(place) => place,
        None => target::parse(&places, &watch.target, web_url).map_err(Failure::usage)?,
    };
    let followed = ci::followed(&place).ok_or_else(|| {
        // A number alone may be that of each.
        let number = watch.target.parse().unwrap_or(123u64);
        let project = found.project.as_deref().unwrap_or("group/project");
        Failure::usage(format!(
            "\"{}\" is not a job, pipeline or merge request; try {project}/-/jobs/{number}, \
             {project}/-/pipelines/{number} or {project}!{number}",
            watch.target
        ))
    })?;
    let (server, _) = server::server(global, &config, &found.server)?;
    if global.offline {
        return Err(Failure::failed(NOT_SENT));
    }
    let interval = watch.interval.map(|seconds| Duration::from_secs(seconds.into()));
    let tell = |line: &str| write_stdout(format!("{} {line}\n", Zoned::now().strftime("%H:%M:%S")).as_bytes());
    async_runtime()?.block_on(async { outcome::follow(&Client::new(server)?, &followed, interval, tell).await })
}
