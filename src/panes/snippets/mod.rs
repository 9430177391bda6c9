//! The snippets of a project, and text, comments and details of the selected one.

mod detail;
mod edit;
mod text;

use crate::api::snippets::{DeleteSnippet, GetSnippet, ListSnippets, Snippet};
use crate::api::{Id, Noteable};
use crate::app::overlay::prompt::Prompt;
use crate::app::permission;
use crate::app::tone::Tone;
use crate::parts::comments::{self, ShowsComments, Target};
use crate::parts::forms::snippet as form;
use crate::parts::list::prelude::*;
use crate::parts::project;
use crate::parts::repository::blob::BlobView;
use crate::parts::repository::blob::keys::ShowsFile;
use crate::parts::review::drafts::Drafts;
use crate::store::Load;
use crate::ui::text::sanitize;
use detail::{NOTES, SnippetDetail, TEXT};
use text::TextRequest;

/// The snippets of a project.
pub struct SnippetSource {
    project: Id,
}

/// The list of snippets.
pub type Snippets = ListPane<SnippetSource>;

impl Snippets {
    fn on_note(&self) -> bool {
        self.tab() == NOTES && self.on_detail()
    }

    /// Returns whether `e` and `D` can act: on the note under the cursor if the notes have the focus, else on the
    /// snippet.
    fn can_change(&self, snippet: &Snippet, view: &View) -> Result<(), Disabled> {
        match self.on_note() {
            true => comments::can_edit(self, view),
            false => permission::EDIT_SNIPPET
                .check(view, Some(&self.source.project), || self.source.belongs_to(snippet, view).1),
        }
    }

    fn edit(&mut self, snippet: &Snippet, outside: bool, cx: &mut Cx) {
        match self.on_note() {
            true => comments::edit(self, cx),
            false => edit::open(&self.source.project, snippet, self.detail.text.file(snippet), outside, cx),
        }
    }

    fn edit_fields(&mut self, snippet: &Snippet, cx: &mut Cx) {
        form::edit(&self.source.project, snippet, &cx.view).open(cx);
    }

    /// Returns whether the snippet has several files.
    fn has_files(&self, snippet: &Snippet, _: &View) -> Result<(), Disabled> {
        if snippet.several_files().is_empty() { Err("the snippet has one file".into()) } else { Ok(()) }
    }

    fn next_file(&mut self, snippet: &Snippet, _: &mut Cx) {
        self.detail.text.next_file(snippet);
        self.set_tab(TEXT);
    }

    fn add_file(&mut self, snippet: &Snippet, cx: &mut Cx) {
        let (project, id) = (self.source.project.clone(), snippet.id);
        let prompt =
            Prompt::ask(cx.here, "file name", "", move |_: &mut Snippets, name: String, cx| match name.trim() {
                "" => cx.say(Tone::Warning, "A file needs a name."),
                name => edit::add_file(&project, id, name.to_owned(), cx),
            });
        cx.open(prompt);
    }

    fn delete_file(&mut self, snippet: &Snippet, cx: &mut Cx) {
        let Some(path) = text::path(snippet, self.detail.text.file(snippet)) else { return };
        let write = edit::change_file(&self.source.project, snippet.id, "delete", path, None);
        let question = format!("Delete the file {} of the snippet ${}?", sanitize(path), snippet.id);
        cx.act(App::confirm("Delete file of snippet", question, Action::Send(write)));
    }

    fn delete(&mut self, snippet: &Snippet, cx: &mut Cx) {
        if self.on_note() {
            return comments::delete(self, cx);
        }
        let (id, title) = (snippet.id, sanitize(&snippet.title));
        let delete = DeleteSnippet { id: self.source.project.clone(), snippet_id: id };
        let question = format!("Delete the snippet ${id} \"{title}\" with its comments? This cannot be undone.");
        let write = Write::new(&delete, format!("delete snippet ${id}"));
        cx.act(App::confirm("Delete snippet", question, Action::Send(write)));
    }
}

impl ShowsFile for Snippets {
    fn shown_file(&self, view: &View) -> Result<(&BlobView, bool), Disabled> {
        self.has_row(view)?;
        Ok((&self.detail.text.blob, self.detail.text.has_failed(view)))
    }

    fn shown_file_mut(&mut self) -> &mut BlobView {
        &mut self.detail.text.blob
    }
}

impl ShowsComments for Snippets {
    const WHOLE: &'static str = "Comment on snippet…";

    fn comments_on(&self, view: &View) -> Result<Noteable, Disabled> {
        self.has_row(view)?;
        self.detail.notes.on()
    }

    fn drafts(&self) -> &Drafts {
        self.detail.notes.drafts()
    }

    fn target<'a>(&'a self, view: &View<'a>) -> Option<Target<'a>> {
        if self.on_note() { self.detail.notes.target(view) } else { None }
    }

    fn make_room(&mut self, _: bool, _: &View) {
        self.set_tab(NOTES);
    }
}

impl ListSource for SnippetSource {
    type Row = Snippet;
    type Detail = SnippetDetail;
    const LIST: ListInfo = ListInfo::new("snippets", "snippet", "snippets").widths(&[(30, 2), (50, 5)]);
    const COLUMNS: &'static [Column<Self>] = &[
        Column::<Self>::fit("ID", "ID", 2, 7, |_, snippet, _| Line::new(format!("${}", snippet.id), Role::Ref))
            .sorted(|snippet| snippet.id.into()),
        Column::<Self>::fill("title", "Title", 18, |_, snippet, _| Line::text(&snippet.title))
            .sorted(|snippet| SortKey::caseless(&snippet.title)),
        Column::<Self>::fit("visibility", "Visibility", 0, 10, |_, snippet, _| {
            Line::new(snippet.visibility.as_deref().unwrap_or_default(), Role::Dim)
        })
        .sorted(|snippet| snippet.visibility.as_ref().into())
        .drop_order(2),
        Column::<Self>::age("updated", "Updated", |snippet| {
            snippet.updated_at.as_ref().or(snippet.created_at.as_ref())
        })
        .drop_order(1),
    ];
    const TABLES: &'static [&'static [ListCommand<Self>]] =
        &[Self::COMMANDS, Snippets::FILE, Snippets::COMMENTS, Snippets::THREADS];
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::row("snippets.open", &["Enter"], "Open snippet", |pane: &mut Snippets, _, cx| pane.open_details(cx))
            .footer("read"),
        Command::new("snippets.create", &["+"], "Create snippet…", |pane: &mut Snippets, cx| {
            form::create(&pane.source.project).open(cx);
        })
        .footer("new")
        .needs(permission::CREATE_SNIPPET),
        Command::row("snippets.edit", &["e"], "Edit text or comment", |pane: &mut Snippets, snippet: &Snippet, cx| {
            pane.edit(snippet, false, cx);
        })
        .footer("edit")
        .writes()
        .when_row(Snippets::can_change),
        Command::row(
            "snippets.edit_outside",
            &["E"],
            "Edit text in $EDITOR",
            |pane: &mut Snippets, snippet: &Snippet, cx| {
                pane.edit(snippet, true, cx);
            },
        )
        .writes()
        .when_row(Snippets::can_change),
        Command::row("snippets.fields", &["t"], "Edit title and visibility…", Snippets::edit_fields)
            .needs(permission::EDIT_SNIPPET),
        Command::row("snippets.next_file", &["f"], "Show next file of snippet", Snippets::next_file)
            .when_row(Snippets::has_files),
        Command::row("snippets.add_file", &[], "Add file to snippet…", Snippets::add_file)
            .needs(permission::EDIT_SNIPPET),
        Command::row("snippets.delete_file", &[], "Delete file of snippet…", Snippets::delete_file)
            .needs(permission::EDIT_SNIPPET)
            .when_row(Snippets::has_files),
        Snippets::columns_command("snippets.columns"),
        Command::row("snippets.delete", &["D"], "Delete snippet or comment…", Snippets::delete)
            .writes()
            .when_row(Snippets::can_change),
    ];

    fn open(place: &Place, _view: &View) -> SnippetSource {
        SnippetSource { project: place.project.clone().unwrap_or_default() }
    }

    fn empty(&self, _: usize) -> (&'static str, &'static str) {
        ("There are no snippets yet.", "‹snippets.create› creates one")
    }

    fn query(&self, _: &Input<'_>, _: ServerOrder, _view: &View) -> Option<ListQuery<Snippet>> {
        Some(ListQuery::new(&ListSnippets { id: self.project.clone() }))
    }

    fn filter(&self, _: &Input<'_>) -> Filter<Snippet> {
        Filter::Loaded(|snippet, words| {
            let has = |text: &str| text.to_lowercase().contains(words);
            has(&snippet.title) || snippet.file_name.as_deref().is_some_and(has)
        })
    }

    fn belongs_to(&self, snippet: &Snippet, view: &View) -> (Option<Id>, bool) {
        (None, view.is_me(snippet.author.as_ref().map(|author| author.id)))
    }

    fn key(snippet: &Snippet) -> String {
        snippet.id.to_string()
    }

    fn named_row(&self, key: &str) -> Option<Load> {
        Some(Load::single(&GetSnippet { id: self.project.clone(), snippet_id: key.parse().ok()? }))
    }

    fn url(&self, view: &View, snippet: Option<&Snippet>) -> Option<String> {
        let snippet = snippet?;
        let page = || project::page(view, &self.project, &format!("/-/snippets/{}", snippet.id));
        Some(Some(snippet.web_url.clone()).filter(|url| !url.is_empty()).unwrap_or_else(page))
    }

    fn copies(&self, view: &View, snippet: &Snippet) -> Vec<Clip> {
        let get = TextRequest::new(&self.project, snippet, 0);
        let text = get.known(view).value.and_then(|raw| String::from_utf8(raw.bytes.clone()).ok());
        let mut copies: Vec<Clip> = text.map(|text| Clip::lines("text", text)).into_iter().collect();
        copies.push(Clip::line("title", snippet.title.clone()));
        copies.extend(snippet.raw_url.clone().map(|url| Clip::line("raw URL", url)));
        copies
    }
}
