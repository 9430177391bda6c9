//! The panel beside the list of snippets: text, notes and details of the selected one.

use super::SnippetSource;
use super::tab::{Context, SnippetTab, user_agent};
use super::text::{SnippetText, path};
use crate::api::snippets::Snippet;
use crate::api::{Fault, Noteable, Scope};
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pointer::Pointer;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::dates::time_ago;
use crate::parts::facts::Details;
use crate::parts::facts_markdown::FactsMarkdown;
use crate::parts::list;
use crate::parts::list_source::{Detail, DetailSearch};
use crate::parts::notes::Notes;
use crate::store::Want;
use crate::ui::line::Line;
use crate::ui::panels;
use crate::ui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::borrow::Cow;

/// The titles of the tabs.
pub const TABS: &[&str] = &["Text", "Comments", "Details"];
/// The index of the text tab.
pub const TEXT: usize = 0;
/// The index of the notes tab.
pub const NOTES: usize = 1;
const DETAILS: usize = 2;

/// The detail panel of the selected snippet.
pub struct SnippetDetail {
    tab: usize,
    pub text: SnippetText,
    /// The notes on the snippet.
    pub notes: Notes,
    details: Details,
}

impl SnippetDetail {
    /// Shows the tab `tab`.
    pub fn show(&mut self, tab: usize) {
        self.tab = tab;
    }

    /// Returns the shown tab.
    fn part(&self) -> &dyn SnippetTab {
        match self.tab {
            NOTES => &self.notes,
            DETAILS => &self.details,
            _ => &self.text,
        }
    }

    fn part_mut(&mut self) -> &mut dyn SnippetTab {
        match self.tab {
            NOTES => &mut self.notes,
            DETAILS => &mut self.details,
            _ => &mut self.text,
        }
    }

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
        if let Some(description) = description(source, snippet) {
            description.write(view, width, details);
        }
        let reply = view.store.get(&user_agent(source, snippet));
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

/// Returns the description of a snippet.
fn description<'a>(source: &SnippetSource, snippet: &'a Snippet) -> Option<FactsMarkdown<'a>> {
    FactsMarkdown::new(&Scope::Project(source.project.clone()), snippet.description.as_deref())
}

impl Detail<SnippetSource> for SnippetDetail {
    const PANELS: usize = 2;

    fn new() -> SnippetDetail {
        SnippetDetail { tab: TEXT, text: SnippetText::default(), notes: Notes::default(), details: Details::default() }
    }

    fn wants(&self, context: &Context<'_>, view: &View) -> Vec<Want> {
        let text = context.row.filter(|_| self.tab == DETAILS).and_then(|row| description(context.source, row));
        let work = text.and_then(|text| text.work(view, context.width));
        self.part().wants(context, view).into_iter().chain(work.map(Want::from)).collect()
    }

    fn changed(&mut self, context: &Context<'_>, cx: &mut Cx) {
        if context.row_changed {
            let project = context.source.project.clone();
            self.notes.show(context.row.map(|snippet| Noteable::Snippet { project, id: snippet.id }));
        }
        self.text.show(&context.source.project, context.row, &cx.view);
        self.details.clear();
        if let Some(snippet) = context.row {
            self.fill_facts(context.source, snippet, &cx.view, context.width);
        }
    }

    fn motion(&mut self, _: &Context<'_>, motion: Motion, view: &View) -> bool {
        self.part_mut().motion(motion, view)
    }

    fn pointer(&mut self, _: &Context<'_>, pointer: Pointer, cx: &mut Cx) {
        self.part_mut().pointer(pointer, cx);
    }

    fn enter(&mut self, context: &Context<'_>, cx: &mut Cx) -> bool {
        self.part_mut().enter(context, cx)
    }

    fn search_mode(&self) -> DetailSearch {
        self.part().search_mode()
    }

    fn search_text(&self) -> String {
        self.text.blob.query().to_owned()
    }

    fn search(&mut self, text: &str, view: &View) {
        self.text.blob.set_query(text, view);
    }

    fn next_match(&mut self, forward: bool, cx: &mut Cx) {
        if !self.text.blob.next_match(forward, &cx.view) {
            cx.say(Tone::Info, list::not_found(self.text.blob.query(), self.text.blob.is_searching(&cx.view)));
        }
    }

    fn draw(&self, context: &Context<'_>, view: &View, area: Rect, buf: &mut Buffer) {
        let (Some(snippet), focused) = (context.row, context.focused) else { return };
        let file = self.text.file(snippet);
        let name = path(snippet, file).unwrap_or(&snippet.title);
        let name = match snippet.several_files().len() {
            0 => Cow::Borrowed(name),
            count => Cow::Owned(format!("{name} ({} of {count})", file + 1)),
        };
        let body = panels::title(buf, area, view.theme, focused, &name, &self.part().facts(view));
        self.part().draw(view, body, buf, focused);
    }
}
