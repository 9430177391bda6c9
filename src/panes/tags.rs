//! The tags of a project, and the annotation and release notes of the selected one.

use crate::api::releases::{CreateRelease, UpdateRelease};
use crate::api::tags::{DeleteTag, GetTag, ListTags, Tag};
use crate::api::{GitRef, Id, RefKind};
use crate::app::overlay::batch;
use crate::app::overlay::composer::{Composer, Make};
use crate::app::overlay::markdown_input::TextContext;
use crate::app::permission;
use crate::parts::list;
use crate::parts::list::prelude::*;
use crate::parts::{forms, project};
use crate::store::{Canceled, Derive, Work};
use crate::ui::code::Budget;
use crate::ui::doc::DocLine;
use crate::ui::markdown::{self, Rendered};
use crate::ui::text::{self, sanitize};
use crate::ui::theme::{Role, Theme};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The maximum number of lines of an annotation.
const MAX_ANNOTATION_LINES: usize = 200;

/// The tags of a project.
pub struct TagSource {
    project: Id,
}

/// The list of tags.
pub type Tags = ListPane<TagSource>;

/// The text of a tag: its annotation, which is plain text, above its release notes, which are Markdown.
struct TagText {
    key: String,
    annotation: String,
    release: Option<String>,
    width: usize,
    theme: Theme,
}

impl Derive for TagText {
    type Output = Rendered;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn run(&self, canceled: Canceled<'_>) -> Rendered {
        self.render(&Budget::new(canceled))
    }

    fn preview(&self) -> Option<Rendered> {
        let has_code = self.release.as_ref().is_some_and(|release| markdown::has_code(release));
        has_code.then(|| self.render(&Budget::none()))
    }
}

impl TagText {
    fn render(&self, colors: &Budget) -> Rendered {
        let style = self.theme.style(if self.release.is_some() { Role::Dim } else { Role::Text });
        let plain = text::unwrapped(&self.annotation, self.width);
        let plain = plain.lines().flat_map(|line| match line {
            "" => vec![String::new()],
            line => text::wrap(line, self.width, MAX_ANNOTATION_LINES),
        });
        let mut lines: Vec<DocLine> = plain.take(MAX_ANNOTATION_LINES).map(|line| DocLine::new(line, style)).collect();
        if let Some(release) = &self.release {
            if !lines.is_empty() {
                lines.push(DocLine::default());
            }
            lines.extend(markdown::render(release, self.width, &self.theme, colors).lines);
        }
        lines.into()
    }
}

impl Tags {
    fn go(&self, tag: &Tag, pane: &str, cx: &mut Cx) {
        cx.go(Place::new(pane).project(self.source.project.clone()).at(GitRef::tag(&tag.name)));
    }

    fn commit(&mut self, tag: &Tag, cx: &mut Cx) {
        if let Some(commit) = &tag.commit {
            cx.go(Place::new("commit").project(self.source.project.clone()).item(&commit.id));
        }
    }

    fn delete(&mut self, tags: &[&Tag], cx: &mut Cx) {
        let id = &self.source.project;
        let write = |tag: &&Tag| {
            let delete = DeleteTag { id: id.clone(), tag_name: tag.name.clone() };
            Write::new(&delete, format!("delete tag {}", tag.name))
        };
        let writes = tags.iter().map(write).collect();
        let releases = tags.iter().filter(|tag| tag.release.is_some()).count();
        cx.act(match tags {
            [tag] => {
                let released = if releases > 0 { " Its release goes with it." } else { "" };
                let question = format!("Delete the tag {} of {id}?{released}", sanitize(&tag.name));
                batch::confirm("Delete a tag", question, Vec::new(), writes)
            }
            many => {
                let names = many.iter().map(|tag| tag.name.clone()).collect();
                let released = match releases {
                    0 => String::new(),
                    1 => " 1 release goes with them.".to_owned(),
                    releases => format!(" {releases} releases go with them."),
                };
                let question = format!("Delete these {} tags of {id}?{released}", many.len());
                batch::confirm("Delete tags", question, names, writes)
            }
        });
    }

    /// Returns the key of the draft of the release notes.
    fn release_key(&self, name: &str) -> String {
        forms::refs::release_key(&self.source.project, name)
    }

    /// Opens the composer for the release notes of the tag.
    fn release(&mut self, tag: &Tag, cx: &mut Cx) {
        let (id, name) = (self.source.project.clone(), tag.name.clone());
        let key = self.release_key(&name);
        let known = tag.release.as_ref().map(|release| release.description.clone().unwrap_or_default());
        let text = cx.view.drafts.plain(&key).map(str::to_owned).or_else(|| known.clone()).unwrap_or_default();
        let title = format!("Release {}", sanitize(&name));
        let get = GetTag { id: id.clone(), tag_name: name.clone() };
        let make: Make = Box::new(move |description, base| {
            let (id, tag_name, what) = (id.clone(), name.clone(), format!("release {name}"));
            let description = Some(description);
            match base {
                Some(_) => Write::new(&UpdateRelease { id, tag_name, description, ..Default::default() }, what),
                None => Write::new(&CreateRelease { id, tag_name, description, ..Default::default() }, what),
            }
        });
        let composer = Composer::new(title, key, &text, make).in_place_of(known, get, |tag| {
            tag.release.as_ref().map(|release| release.description.clone().unwrap_or_default())
        });
        let composer = composer.in_context(TextContext::project(&self.source.project), &cx.view);
        cx.open(composer);
    }

    /// Returns the tags to compare: two marked ones, the marked and the selected one, or the selected one with the next
    /// older one in the list.
    fn pair(&self, view: &View) -> Option<(String, String)> {
        if !self.list.state.marked().is_empty() {
            return self.marked_pair(view);
        }
        let rows = self.rows(view);
        let name = |index| self.list.at(&rows, index).map(|tag| tag.name.clone());
        let selected = self.list.state.selected();
        Some((name(selected + 1)?, name(selected)?))
    }

    fn compare(&mut self, cx: &mut Cx) {
        if let Some((from, to)) = self.pair(&cx.view) {
            let range = format!("{}...{}", GitRef::tag(&from).as_str(), GitRef::tag(&to).as_str());
            cx.go(Place::new("compare").project(self.source.project.clone()).item(range));
        }
    }
}

/// Returns the first line of the message. A lightweight tag has none; the title of its commit is shown dimmed instead.
fn message(tag: &Tag) -> Line<'_> {
    let message = tag.annotation().0.lines().next().map(str::trim_end);
    match (message, &tag.commit) {
        (Some(message), _) => Line::text(message),
        (None, Some(commit)) => Line::new(&commit.title, Role::Dim),
        (None, None) => Line::empty(),
    }
}

impl ListSource for TagSource {
    type Row = Tag;
    type Detail = TextDetail;
    const LIST: ListInfo = ListInfo {
        order: Some(("updated", true)),
        ref_kind: Some(RefKind::Tag),
        ..ListInfo::new("tags", "tag", "tags").widths(&[(48, 1), (40, 1)])
    };
    const COLUMNS: &'static [Column<Self>] = &[
        Column::<Self>::name("name", "Tag", 10, |_, tag, _| Line::new(&tag.name, Role::Ref))
            .cut_in_middle()
            .server("name"),
        Column::<Self>::fit("release", "", 0, 8, |_, tag, _| {
            Line::new(if tag.release.is_some() { "release" } else { "" }, Role::Success)
        })
        .sorted(|tag| SortKey::reversed(Some(tag.release.is_some().into())))
        .drop_order(1),
        Column::<Self>::fill("message", "Message", 24, |_, tag, _| message(tag)).drop_order(3),
        Column::<Self>::fit("author", "Author", 4, 16, |_, tag, _| {
            Line::new(tag.commit.as_ref().map_or("", |commit| &commit.author_name), Role::User)
        })
        .drop_order(4),
        Column::<Self>::fixed("SHA", "SHA", 8, |_, tag, _| {
            Line::new(tag.commit.as_ref().map_or("", |commit| commit.short()), Role::Dim)
        })
        .drop_order(5),
        Column::<Self>::age("updated", "Updated", |tag| {
            tag.created_at.as_ref().or_else(|| tag.commit.as_ref().and_then(|commit| commit.date()))
        })
        .server("updated")
        .drop_order(2),
    ];
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::row("tags.open", &["Enter"], "Browse files", |pane: &mut Tags, tag: &Tag, cx| {
            pane.go(tag, "files", cx)
        })
        .footer("files"),
        Command::row("tags.commits", &["H"], "Show commits", |pane: &mut Tags, tag: &Tag, cx| {
            pane.go(tag, "commits", cx)
        })
        .footer("commits"),
        Command::row("tags.commit", &["S"], "Open commit", Tags::commit).footer("commit"),
        Tags::columns_command("tags.columns"),
        Command::row("tags.release", &["e"], "Edit release…", Tags::release).needs(permission::PUSH).footer("release"),
        Tags::mark_command("tags.mark"),
        Command::new("tags.compare", &["="], "Compare tags", Tags::compare).footer("compare").when(|pane, view| {
            list::need(pane.pair(view), &pane.rows(view), "mark another one with Space").map(|_| ())
        }),
        Command::new("tags.create", &["+"], "Create tag…", |pane: &mut Tags, cx| {
            let default = project::default_branch(&cx.view, &pane.source.project).map(GitRef::branch);
            let at = default.unwrap_or_else(|| "HEAD".into());
            Tags::open_form(forms::refs::create_tag(&pane.source.project, &at), cx);
        })
        .needs(permission::PUSH),
        Command::rows("tags.delete", &["D"], "Delete tags…", Tags::delete).needs(permission::PUSH),
    ];

    fn open(place: &Place, _view: &View) -> TagSource {
        TagSource { project: place.project.clone().unwrap_or_default() }
    }

    fn empty(&self, _: usize) -> (&'static str, &'static str) {
        ("There are no tags yet.", "‹tags.create› creates one")
    }

    fn query(&self, input: &Input<'_>, order: ServerOrder, _view: &View) -> Option<ListQuery<Tag>> {
        let (order_by, sort) = order.map(|(word, way)| (word.to_owned(), way.to_owned())).unzip();
        let search = Some(input.filter.to_owned()).filter(|search| !search.is_empty());
        Some(ListQuery::new(&ListTags { id: self.project.clone(), search, order_by, sort }))
    }

    fn filter(&self, _: &Input<'_>) -> Filter<Tag> {
        Filter::Server
    }

    fn key(tag: &Tag) -> String {
        tag.name.clone()
    }

    fn url(&self, view: &View, tag: Option<&Tag>) -> Option<String> {
        Some(project::page(view, &self.project, &format!("/-/tags/{}", project::path(&tag?.name))))
    }

    fn copies(&self, _view: &View, tag: &Tag) -> Vec<Clip> {
        let mut copies = vec![Clip::line("name", tag.name.clone())];
        copies.extend(tag.commit.as_ref().map(|c| Clip::line("SHA", c.id.clone())));
        copies
    }
}

/// Returns the annotation of a tag, and the description of its release.
fn texts(tag: &Tag) -> (&str, Option<&str>) {
    (tag.annotation().0, tag.release.as_ref().map(|release| release.description.as_deref().unwrap_or_default()))
}

impl Describes<TextDetail> for TagSource {
    fn describe(&self, text: &mut TextDetail, view: &View, tag: &Tag) {
        let (annotation, release) = texts(tag);
        let kind = match release {
            Some(_) => "release",
            None if tag.annotation().1 => "signed",
            None if annotation.is_empty() => "lightweight",
            None => "annotated",
        };
        let kept = view.drafts.plain(&forms::refs::release_key(&self.project, &tag.name)).is_some();
        let note = if kept { format!("{kind}, {}", view.drafts.whereabouts()) } else { kind.to_owned() };
        let title = tag.commit.as_ref().map_or("", |commit| &commit.title);
        text.title(sanitize(&tag.name), note, (title, "No message; ‹tags.release› edits the release notes"));
        if annotation.is_empty() && release.is_none_or(str::is_empty) {
            return;
        }
        let mut hasher = DefaultHasher::new();
        (annotation, release).hash(&mut hasher);
        let (hash, theme) = (hasher.finish(), view.theme);
        let key = |width| format!("what a tag says {hash:x} in {width} columns, {}", theme.name);
        text.text(view, key, |key, width| {
            let (annotation, release) = (annotation.to_owned(), release.map(str::to_owned));
            Work::new(TagText { key, annotation, release, width, theme: theme.clone() })
        });
    }
}
