//! Failed reads whose data would be missing without a word: the frame tells them in a line below the place, unless the place
//! itself shows the reason.

use super::App;
use super::features;
use super::reconcile;
use super::view::View;
use api::{Error, Fault, Request};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use store::{Load, Want};
use ui::text;
use ui::theme::Role;

/// Words for data whose routes use others.
const NAMES: &[(&str, &str)] = &[
    ("award_emoji", "reactions"),
    ("notes", "comments"),
    ("discussions", "threads"),
    ("tree", "files"),
    ("raw", "file"),
    ("trigger_jobs", "trigger jobs"),
    ("closed_by", "closing merge requests"),
    ("closes_issues", "issues that it closes"),
    ("blocks", "dependencies"),
    ("blockees", "dependents"),
    ("user", "your account"),
];

/// Returns the name of the data at a route, in the plural for lists: `Merge requests`.
fn name(route: &str) -> String {
    let mut segments = route.rsplit('/').filter(|segment| !segment.is_empty() && *segment != "-");
    let mut is_single = false;
    let last = segments.find(|segment| {
        let is_slot = segment.starts_with('{');
        is_single |= is_slot;
        !is_slot
    });
    let last = last.unwrap_or("data");
    let word = NAMES.iter().find(|(known, _)| *known == last).map_or(last, |(_, word)| *word);
    let word = word.replace('_', " ");
    let word = match (word.strip_suffix("ies"), word.strip_suffix("ches")) {
        _ if !is_single => word,
        (Some(stem), _) => format!("{stem}y"),
        (_, Some(stem)) => format!("{stem}ch"),
        _ => word.trim_end_matches('s').to_owned(),
    };
    text::capitalize(&word)
}

/// Returns whether the data of a failed read is missing: nothing is known of it, and it is not something that the server
/// does not have.
fn is_missing(load: &Load, error: &Error) -> bool {
    match error.fault {
        Fault::Unsupported(_) => false,
        Fault::Missing(_) => !load.is_optional,
        _ => true,
    }
}

impl App {
    /// Finds the failed reads among the wants, except for those that are `told` by overlays.
    pub(super) fn find_failed_reads(&mut self, wants: &[Want], told: &[Want]) {
        self.requests.failed.clear();
        // The details of the token are never shown.
        let token = reconcile::token_want();
        for want in wants.iter().filter(|want| **want != token && !told.contains(want)) {
            let Want::Load(load) = want else { continue };
            let Some(error) = self.store.error_of(&load.request) else { continue };
            let is_told = features::off(&self.store, error).is_some();
            if !is_told && !self.store.knows(&load.request, load.pages.min(1)) && is_missing(load, error) {
                self.requests.failed.push(load.request.clone());
            }
        }
    }

    /// Draws the first failed read that the place does not show, in the bottom row of `area`, which was kept free for it if
    /// the previous frame had one.
    pub(super) fn draw_failed_read(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let untold = self.untold(buf);
        self.frame.has_untold.set(untold.is_some());
        let Some((request, error)) = untold else { return };
        // The files themselves are listed without the commits then.
        let has_commits = request.fields.iter().any(|(input, _)| input == "with_last_commit");
        let name = if has_commits { "Last commits".to_owned() } else { name(request.route) };
        view.draw_error_line(area, buf, &format!("{name}: "), error);
    }

    /// Returns the first failed read that the frame shows nowhere. An error with the title, the message or the word of one
    /// on the screen counts as shown, so that a server that is away is told once.
    fn untold(&self, buf: &Buffer) -> Option<(&Request, &Error)> {
        let failed = self.requests.failed.iter().filter_map(|request| Some((request, self.store.error_of(request)?)));
        let mut failed = failed.peekable();
        failed.peek()?;
        let color = self.theme_state.theme.style(Role::Failed).fg;
        let rows = || buf.content.chunks(usize::from(buf.area.width).max(1));
        let screen: String = rows().flat_map(|row| row.iter().map(Cell::symbol).chain(["\n"])).collect();
        let colored = |cell: &Cell| color.is_none_or(|color| cell.fg == color);
        let symbol = |cell: &'_ Cell| if colored(cell) { cell.symbol().to_owned() } else { " ".to_owned() };
        let in_color: String = rows().flat_map(|row| row.iter().map(symbol).chain(["\n".to_owned()])).collect();
        let is_told = |error: &Error| {
            let message = error.message();
            screen.contains(error.title())
                || !message.is_empty() && screen.contains(&*text::sanitize(&message))
                || error.word().is_some_and(|word| in_color.contains(word))
        };
        failed.find(|(_, error)| !is_told(error))
    }
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn data_is_named_by_its_route() {
        for (route, words) in [
            ("/projects/{id}/merge_requests", "Merge requests"),
            ("/projects/{id}/merge_requests/{merge_request_iid}", "Merge request"),
            ("/projects/{id}/merge_requests/{merge_request_iid}/approvals", "Approvals"),
            ("/projects/{id}/issues/{issue_iid}/notes/{note_id}/award_emoji", "Reactions"),
            ("/projects/{id}/repository/branches/{branch}", "Branch"),
            ("/projects/{id}/-/search", "Search"),
            ("/user", "Your account"),
            ("/", "Data"),
        ] {
            assert_eq!(name(route), words, "{route}");
        }
    }
}
