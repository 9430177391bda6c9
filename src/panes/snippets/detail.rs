//! The panel beside the list of snippets: text, notes and details of the selected one.

use super::SnippetSource;
use super::text::SnippetText;
use crate::api::snippets::{GetUserAgentDetail, Snippet};
use crate::api::{Fault, Noteable};
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pane::SearchMode;
use crate::app::pointer::Pointer;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::dates::time_ago;
use crate::parts::facts::Details;
use crate::parts::links::{self, TextOrigin};
use crate::parts::list;
use crate::parts::list_source::{Detail, DetailContext, DetailSearch};
use crate::parts::notes::Notes;
use crate::store::{Load, Want};
use crate::ui::line::Line;
use crate::ui::panels;
use crate::ui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The titles of the tabs.
pub const TABS: &[&str] = &["Text", "Comments", "Details"];
const TEXT: usize = 0;
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

fn user_agent(source: &SnippetSource, snippet: &Snippet) -> GetUserAgentDetail {
    GetUserAgentDetail { id: source.project.clone(), snippet_id: snippet.id }
}

impl SnippetDetail {
    /// Shows the tab `tab`.
    pub fn show(&mut self, tab: usize) {
        self.tab = tab;
    }

    fn fill_facts(&mut self, source: &SnippetSource, snippet: &Snippet, view: &View, width: usize) {
        let details = &mut self.details;
        let author = snippet.author.as_ref().map(|author| format!("{} @{}", author.name, author.username));
        let fields = [
            ("Title", Some(snippet.title.clone()), Role::Title),
            ("File", snippet.file_name.clone(), Role::Text),
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
        for (index, file) in snippet.files.iter().flatten().enumerate() {
            details.field(if index == 0 { "Files" } else { "" }, Line::new(file.path.clone(), Role::Text), None);
        }
        if let Some(description) = snippet.description.as_deref().filter(|text| !text.is_empty()) {
            details.line(Line::empty());
            details.prose(description, width.saturating_sub(4).clamp(20, 100), 12, Role::Text);
        }
        let reply = view.store.get(&user_agent(source, snippet));
        if reply.value.is_some() || reply.error.is_some() {
            details.line(Line::empty());
        }
        if let Some(agent) = reply.value {
            let spam = if agent.spam_check_submitted { "submitted" } else { "not submitted" };
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

impl Detail<SnippetSource> for SnippetDetail {
    const PANELS: usize = 2;

    fn new() -> SnippetDetail {
        SnippetDetail { tab: TEXT, text: SnippetText::default(), notes: Notes::default(), details: Details::default() }
    }

    fn wants(&self, context: &DetailContext<'_, SnippetSource>, view: &View) -> Vec<Want> {
        match self.tab {
            NOTES => self.notes.wants(view),
            DETAILS => context
                .row
                .map(|snippet| Load::single(&user_agent(context.source, snippet)).into())
                .into_iter()
                .collect(),
            _ => self.text.wants(view),
        }
    }

    fn changed(&mut self, context: &DetailContext<'_, SnippetSource>, cx: &mut Cx) {
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

    fn motion(&mut self, _: &DetailContext<'_, SnippetSource>, motion: Motion, view: &View) -> bool {
        match self.tab {
            NOTES => !self.notes.motion(motion),
            TEXT => !self.text.blob.motion(motion, view),
            _ if motion == Motion::Left => true,
            _ => {
                self.details.motion(motion);
                false
            }
        }
    }

    fn pointer(&mut self, _: &DetailContext<'_, SnippetSource>, pointer: Pointer, cx: &mut Cx) {
        match (self.tab, pointer) {
            (DETAILS, pointer) => self.details.pointer(pointer, cx),
            (NOTES, Pointer::Wheel { rows, .. }) => _ = self.notes.motion(Motion::Wheel(rows)),
            (NOTES, Pointer::Press { column, row, .. }) => self.notes.click(column, row),
            (TEXT, pointer) => self.text.blob.pointer(pointer, &cx.view),
            _ => {}
        }
    }

    fn enter(&mut self, context: &DetailContext<'_, SnippetSource>, cx: &mut Cx) -> bool {
        match self.tab {
            DETAILS => self.details.enter(cx),
            NOTES if self.notes.can_enter(&cx.view).is_ok() => {
                self.notes.enter((Some(&context.source.project), None), cx);
                true
            }
            TEXT if self.text.blob.need_link(&cx.view).is_ok() => {
                let origin = TextOrigin { project: Some(context.source.project.clone()), ..TextOrigin::default() };
                match self.text.blob.links_here(&cx.view).as_slice() {
                    [link] => self.text.blob.follow(&origin, &link.address, cx),
                    several => links::open_comment(several, (origin.project.as_ref(), None), cx),
                }
                true
            }
            _ => false,
        }
    }

    fn search_mode(&self) -> DetailSearch {
        if self.tab == TEXT { DetailSearch::Own(SearchMode::Search) } else { DetailSearch::Nothing }
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

    fn draw(&self, context: &DetailContext<'_, SnippetSource>, view: &View, area: Rect, buf: &mut Buffer) {
        let (Some(snippet), focused) = (context.row, context.focused) else { return };
        let name = snippet.file_name.as_deref().filter(|name| !name.is_empty()).unwrap_or(&snippet.title);
        let facts = if self.tab == TEXT { self.text.blob.facts(view) } else { String::new() };
        let body = panels::title(buf, area, view.theme, focused, name, &facts);
        match self.tab {
            NOTES => self.notes.draw(view, body, buf, focused, "‹snippets.comment› adds one."),
            DETAILS => self.details.draw(view, body, buf, focused),
            _ => self.text.draw(view, body, buf, focused),
        }
    }
}
