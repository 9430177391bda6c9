//! A staged CI configuration is checked by the server before it is committed: a broken one says so first.

use super::StagedChanges;
use crate::api::lint::LintContent;
use crate::app::action::{Action, follow_up};
use crate::app::context::Cx;
use crate::app::overlay::confirm::Confirm;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::domain::ci_config::line_of;
use crate::parts::ci::ci_file;
use crate::parts::project;
use crate::parts::repository::staging_area::StagingArea;
use crate::store::Write;
use crate::ui::text::{sanitize, wrap};

/// The width at which errors are wrapped, in columns, and the maximum number of lines of each.
const ERROR_WIDTH: usize = 54;
const MAX_LINES: usize = 4;

impl StagedChanges {
    /// Returns the staged text of the CI configuration.
    fn staged_ci_config(&self, view: &View, staging_area: &StagingArea) -> Option<String> {
        let file = ci_file::path(view, &staging_area.project)?;
        let change = self.staging.as_ref().ok()?.changes.iter().find(|change| change.path == file)?;
        let content = change.content.as_ref().filter(|content| !content.base64)?;
        staging_area.text(view, content).map(str::to_owned)
    }

    /// Opens the composer for the commit message, once the CI configuration is checked if it is among the changes.
    pub(super) fn commit_checked(&mut self, cx: &mut Cx) {
        let staging_area = self.staging_area(&cx.view);
        let staged = staging_area.as_ref().and_then(|area| Some((area, self.staged_ci_config(&cx.view, area)?)));
        let Some((staging_area, content)) = staged.filter(|_| !cx.view.store.is_unsupported::<LintContent>()) else {
            return self.commit(cx);
        };
        let lint = LintContent { id: staging_area.project.clone(), content: content.clone(), ..LintContent::default() };
        let write = Write::new(&lint, "check the CI configuration");
        let staged = self.staging.as_ref().map(|staging| staging.changes.as_slice()).unwrap_or_default();
        let staged: Vec<String> = staged.iter().map(|change| change.path.clone()).collect();
        let is_default = project::default_branch(&cx.view, &staging_area.project) == Some(&*staging_area.branch);
        self.ci_checks += 1;
        let (here, number) = (cx.here, self.ci_checks);
        let then = follow_up::<LintContent>(move |outcome, cx| {
            // A server that cannot check it does not prevent the commit.
            let errors = outcome.ok().filter(|lint| !lint.valid).map(|lint| lint.errors.as_slice()).unwrap_or_default();
            // The server looks for included files on the default branch, without those that are staged.
            let is_elsewhere = |error: &&String| {
                missing_file(error).is_some_and(|path| !is_default || staged.iter().any(|known| known == path))
            };
            let error = |error: &String| {
                let line = line_of(&content, error).map(|line| format!("line {line}: ")).unwrap_or_default();
                format!("{line}{}", sanitize(&error.replace('\n', " ")))
            };
            let errors: Vec<String> = errors.iter().filter(|error| !is_elsewhere(error)).map(error).collect();
            cx.act(here.then(move |pane: &mut StagedChanges, cx| pane.ci_checked(number, errors, cx)));
        });
        cx.say(Tone::Info, "The server is checking the CI configuration…");
        cx.act(Action::SendThen(None, write, then));
    }

    /// Continues after the check `number` with the composer, or with a question if there are errors.
    fn ci_checked(&mut self, number: u32, errors: Vec<String>, cx: &mut Cx) {
        // Whoever asks twice is answered once.
        if number != self.ci_checks {
            return;
        }
        if errors.is_empty() {
            return self.commit(cx);
        }
        let compose = cx.here.then(|pane: &mut StagedChanges, cx| pane.commit(cx));
        let question = "The server finds the CI configuration invalid: no pipeline would start. Commit it anyway?";
        // An item of a question is one line.
        let errors = errors.iter().flat_map(|error| wrap(error, ERROR_WIDTH, MAX_LINES)).collect();
        cx.open(Confirm::new("Invalid CI configuration", question, compose).naming(errors));
    }
}

/// Returns the path of the included file that an error says does not exist.
fn missing_file(error: &str) -> Option<&str> {
    let (_, rest) = error.split_once("ocal file `")?;
    let (path, rest) = rest.split_once('`')?;
    rest.trim_start().starts_with("does not exist").then(|| path.trim_start_matches('/'))
}
