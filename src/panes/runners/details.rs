//! The facts of a runner, above the jobs that it does.

use crate::api::Known;
use crate::api::runners::Runner;
use crate::app::pane::View;
use crate::parts::list::{age, ago};
use crate::ui::theme::Role;
use crate::ui::{line, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Columns of the labels.
const LABEL: usize = 11;

/// Draws the facts that fit; gives what is left below them.
pub fn draw(view: &View, area: Rect, buf: &mut Buffer, runner: &Runner) -> Rect {
    let text_of = |field: &Option<Option<String>>| field.known().cloned().unwrap_or_default();
    let flag = |field: &Option<Option<bool>>, yes: &str, no: &str| match field.known() {
        Some(true) => yes.to_owned(),
        Some(false) => no.to_owned(),
        None => String::new(),
    };
    let (sign, word, role) = super::status(runner);
    let version = [text_of(&runner.version), text_of(&runner.revision)].join("  ");
    let machine = [text_of(&runner.platform), text_of(&runner.architecture)].join(" ");
    let projects: Vec<&str> =
        runner.projects.known().into_iter().flatten().map(|p| p.path_with_namespace.as_str()).collect();
    let contact = runner.contacted_at.known().map(|at| ago(&age(view, Some(at)))).unwrap_or_default();
    let takes = [
        flag(&runner.run_untagged, "jobs without tags, too", "only jobs with its tags"),
        flag(&runner.locked, "locked to its projects", ""),
        text_of(&runner.access_level).replace("not_protected", "").replace("ref_protected", "protected refs only"),
    ];
    let takes: Vec<&str> = takes.iter().map(String::as_str).filter(|words| !words.is_empty()).collect();
    let facts = [
        ("status", format!("{sign} {word}"), role),
        ("kind", super::kind(runner).to_owned(), Role::Text),
        ("tags", runner.tags().join(", "), Role::Label),
        ("takes", takes.join(", "), Role::Text),
        ("contact", contact, Role::Text),
        ("version", version.trim().to_owned(), Role::Text),
        ("machine", machine.trim().to_owned(), Role::Text),
        ("address", runner.ip_address.clone().unwrap_or_default(), Role::Text),
        ("projects", projects.join(", "), Role::Text),
        ("note", runner.maintenance_note.clone().unwrap_or_default(), Role::Warning),
    ];
    let theme = view.theme;
    let room = usize::from(area.width).saturating_sub(LABEL + 3).max(8);
    let mut y = area.y;
    for (label, words, role) in facts.iter().filter(|(_, words, _)| !words.is_empty()) {
        for (index, part) in text::wrap(words, room, 3).into_iter().enumerate() {
            if y >= area.bottom() {
                break;
            }
            let label = text::pad(if index == 0 { label } else { "" }, LABEL);
            let spans = [(label, theme.style(Role::Dim)), (part, theme.style(*role))];
            line::draw(buf, Rect { x: area.x + 2, y, width: area.width.saturating_sub(2), height: 1 }, &spans);
            y += 1;
        }
    }
    Rect { y, height: area.bottom().saturating_sub(y), ..area }
}
