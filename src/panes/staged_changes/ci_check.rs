//! A staged CI configuration is checked by the server before it is committed: a broken one says so first.

use super::StagedChanges;
use crate::api::lint::{Lint, LintContent};
use crate::app::action::{Action, FollowUp};
use crate::app::context::Cx;
use crate::app::overlay::confirm::Confirm;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::domain::ci_config::line_of;
use crate::parts::ci_file;
use crate::parts::staging_area::StagingArea;
use crate::store::Write;
use crate::ui::text::sanitize;
use std::rc::Rc;

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
        let here = cx.here;
        let then: FollowUp = Rc::new(move |outcome, cx| {
            let compose = here.then(|pane: &mut StagedChanges, cx| pane.commit(cx));
            let lint = outcome.as_ref().ok().and_then(|answer| answer.downcast_ref::<Lint>());
            // A server that cannot check it does not prevent the commit.
            let Some(lint) = lint.filter(|lint| !lint.valid) else { return cx.act(compose) };
            let error = |error: &String| {
                let line = line_of(&content, error).map(|line| format!("line {line}: ")).unwrap_or_default();
                format!("{line}{}", sanitize(&error.replace('\n', " ")))
            };
            let errors: Vec<String> = lint.errors.iter().map(error).collect();
            let question = "The server finds the CI configuration invalid: no pipeline would start. Commit it anyway?";
            cx.act(Action::OpenOverlay(Box::new(
                Confirm::new("Invalid CI configuration", question, compose).naming(errors),
            )));
        });
        cx.say(Tone::Info, "The server is checking the CI configuration…");
        cx.act(Action::SendThen(None, write, then));
    }
}
