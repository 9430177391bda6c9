//! The panel beside the list of snippets: text, notes and details of the selected one.

use super::SnippetSource;
use super::text::{SnippetText, path};
use crate::api::snippets::{GetUserAgentDetail, Snippet};
use crate::api::{Fault, Id, Noteable, Scope};
use crate::app::context::Cx;
use crate::app::pane::{Pane, Tabs};
use crate::app::view::View;
use crate::parts::comments::notes::Notes;
use crate::parts::facts::Details;
use crate::parts::facts::facts_markdown;
use crate::parts::list::source::{Detail, DetailContext};
use crate::parts::text::dates::time_ago;
use crate::store::{Load, Want};
use crate::ui::line::Line;
use crate::ui::panels;
use crate::ui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The titles of the tabs.
pub const TABS: &[&str] = &["Text", "Comments", "Details"];
/// The index of the text tab.
pub const TEXT: usize = 0;
/// The index of the notes tab.
pub const NOTES: usize = 1;
const DETAILS: usize = 2;

/// The detail panel of the selected snippet.
#[derive(Default)]
pub struct SnippetDetail {
    tab: usize,
    project: Id,
    /// The name of the shown file; `None` without a snippet.
    title: Option<String>,
    focused: bool,
    pub text: SnippetText,
    /// The notes on the snippet.
    pub notes: Notes,
    details: Details,
}

impl SnippetDetail {
    fn fill_facts(&mut self, source: &SnippetSource, snippet: &Snippet, view: &View, width: usize) {
        let details = &mut self.details;
        let author = snippet.author.as_ref().map(|author| format!("{} @{}", author.name, author.username));
        let fields = [
            ("Title", Some(snippet.title.clone()), Role::Title),
            ("File", snippet.file_name.clone().filter(|_| snippet.several_files().is_empty()), Role::Text),
            ("Visibility", snippet.visibility.clone(), Role::Text),
            ("Author", author, Role::User),
            ("Created", Some(time_ago(view, snippet.created_at.as_ref())), Role::Text),
            ("Updated", Some(time_ago(view, snippet.updated_at.as_ref())), Role::Text),
            ("URL", Some(snippet.web_url.clone()), Role::Link),
            ("Raw", snippet.raw_url.clone(), Role::Link),
        ];
        for (name, words, role) in fields {
            if let Some(words) = words.filter(|words| !words.is_empty()) {
                details.field(name, Line::new(words, role), None);
            }
        }
        for (index, file) in snippet.several_files().iter().enumerate() {
            details.field(if index == 0 { "Files" } else { "" }, Line::new(file.path.clone(), Role::Text), None);
        }
        let scope = Scope::Project(source.project.clone());
        facts_markdown::write(details, view, &scope, snippet.description.as_deref(), width);
        let agent = GetUserAgentDetail { id: source.project.clone(), snippet_id: snippet.id };
        details.want(Load::single(&agent));
        let reply = view.store.get(&agent);
        if reply.value.is_some() || reply.error.is_some() {
            details.line(Line::empty());
        }
        if let Some(agent) = reply.value {
            let spam = if agent.was_submitted() { "submitted" } else { "not submitted" };
            details.field("User agent", Line::new(agent.user_agent.clone(), Role::Text), None);
            details.field("IP address", Line::new(agent.ip_address.clone(), Role::Text), None);
            details.field("Spam check", Line::new(spam.to_owned(), Role::Text), None);
        } else if let Some(error) = reply.error {
            let words = format!("{}: {}", error.title(), error.message());
            details.field("User agent", Line::new(words, Role::Dim), None);
            if matches!(error.fault, Fault::Denied(_)) {
                details.field("", Line::new("Only for administrators".to_owned(), Role::Dim), None);
            }
        }
    }
}

impl Pane for SnippetDetail {
    fn focused(&self) -> Option<&dyn Pane> {
        Some(match self.tab {
            NOTES => &self.notes,
            DETAILS => &self.details,
            _ => &self.text.blob,
        })
    }

    fn focused_mut(&mut self) -> Option<&mut dyn Pane> {
        Some(match self.tab {
            NOTES => &mut self.notes,
            DETAILS => &mut self.details,
            _ => &mut self.text.blob,
        })
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        match self.tab {
            NOTES => self.notes.wants(view),
            DETAILS => self.details.wants(view),
            _ => self.text.wants(view),
        }
    }

    fn tabs(&self) -> Tabs {
        Tabs { titles: TABS, selected: self.tab }
    }

    fn tab_count(&self, index: usize, view: &View) -> Option<String> {
        if index == NOTES { self.notes.count(view) } else { None }
    }

    fn enter(&mut self, cx: &mut Cx) {
        let project = Some(&self.project);
        match self.tab {
            NOTES if self.notes.can_enter(&cx.view).is_ok() => self.notes.enter((project, None), cx),
            NOTES => {}
            DETAILS => _ = self.details.enter(cx),
            _ => self.text.enter(&self.project, cx),
        }
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let Some(title) = &self.title else { return };
        let facts = if self.tab == TEXT { self.text.blob.facts(view) } else { String::new() };
        let body = panels::title(buf, area, view.theme, self.focused, title, &facts);
        match self.tab {
            NOTES => self.notes.draw(view, body, buf, self.focused),
            DETAILS => self.details.draw(view, body, buf, self.focused),
            _ => self.text.draw(view, body, buf, self.focused),
        }
    }
}

impl Detail<SnippetSource> for SnippetDetail {
    fn show(&mut self, context: &DetailContext<'_, SnippetSource>, cx: &mut Cx) {
        let project = &context.source.project;
        (self.tab, self.focused) = (context.input.tab, context.focused);
        self.project.clone_from(project);
        if context.row_changed {
            let on = |snippet: &Snippet| Noteable::Snippet { project: project.clone(), id: snippet.id };
            self.notes.show(context.row.map(on));
        }
        self.text.show(project, context.row, &cx.view);
        self.title = context.row.map(|snippet| {
            let file = self.text.file(snippet);
            let name = path(snippet, file).unwrap_or(&snippet.title);
            match snippet.several_files().len() {
                0 => name.to_owned(),
                count => format!("{name} ({} of {count})", file + 1),
            }
        });
        self.details.clear();
        if let Some(snippet) = context.row {
            self.fill_facts(context.source, snippet, &cx.view, context.width);
        }
        // The notes are updated on every tab, because notes can be written and drafts listed from all of them.
        self.notes.changed(cx);
    }

    fn leaves(&self) -> bool {
        self.tab != TEXT || self.text.blob.is_at_left()
    }
}
