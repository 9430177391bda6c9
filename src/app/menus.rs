//! Overlays that the app itself opens: search prompt, palette, help, actions, texts to copy, all drafts.

use super::action::{Action, Effect};
use super::command::UNSUPPORTED;
use super::command_info::{Disabled, Info};
use super::exact_target::ExactTarget;
use super::outbox::Draft;
use super::overlay::composer::Composer;
use super::overlay::picker::{Item, Picker};
use super::overlay::prompt::Prompt;
use super::overlay::query::QueryLine;
use super::pane::SearchMode;
use super::place_info::{self, Needs, PlaceInfo, Subject};
use super::text_key::DraftKey;
use super::tone::Tone;
use super::{App, global, quick_open, synonyms};
use crate::clip::Clip;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::HashSet;
use std::rc::Rc;
use ui::{glyph, legend};

impl App {
    /// Opens the prompt of `/`; `by_place` if the place asks for the text, and not the user for the prompt.
    pub(super) fn open_search(&mut self, by_place: bool) {
        let Some(pane) = self.nav.top() else { return };
        let Some((mode, text)) = pane.search() else {
            // What is typed after `/` is never taken for commands.
            return self.overlays.push(Box::new(Prompt::seek("nothing to search here", String::new())));
        };
        let label = mode.word();
        self.with_pane(&mut Vec::new(), |pane, cx| pane.begin_search(&cx.view));
        self.overlays.push(match mode {
            SearchMode::Query(grammar) => Box::new(QueryLine::new(label, text, grammar)),
            _ if by_place => Box::new(Prompt::seek(label, text).opened_by_place()),
            // As in vim and less, another search begins anew.
            SearchMode::Expression => Box::new(Prompt::seek(label, text).preselected().expression()),
            SearchMode::Search => Box::new(Prompt::seek(label, text).preselected()),
            SearchMode::Filter => Box::new(Prompt::seek(label, text)),
        });
    }

    pub(super) fn open_copy_menu(&mut self, effects: &mut Vec<Effect>) {
        let mut copies = self.nav.top().map(|p| p.copies(&self.view_of())).unwrap_or_default();
        if let Some(url) = self.web_page() {
            copies.push(Clip::line("URL", url));
        }
        if copies.len() > 1 {
            let items = copies
                .into_iter()
                .map(|clip| Item::act(clip.name, Action::Copy(clip.clone())).detail(clip.text))
                .collect();
            self.overlays.push(Box::new(Picker::new("Copy", items)));
        } else if let Some(clip) = copies.pop() {
            self.act(Action::Copy(clip), effects);
        }
    }

    /// Returns a picker item for a command.
    pub(super) fn command_item(&self, id: &'static str, title: &'static str) -> Item {
        Item::act(title, Action::Run(id))
            .note(self.input.bindings.names().shown(id))
            .synonyms(synonyms::of(self.nav.registry, id))
    }

    /// Returns picker items for the commands of the current pane, and for the custom commands. One that does the same as a
    /// global command has its title, and the keys of both.
    pub(super) fn command_items(&self) -> Vec<Item> {
        let Some(pane) = self.nav.top() else { return Vec::new() };
        let view = self.view_of();
        let item = |info: Info| {
            let same = global::infos(self.nav.registry).filter(|global| global.title == info.title);
            let keys = std::iter::once(info.id).chain(same.map(|global| global.id));
            let keys: Vec<String> = keys.map(|id| self.input.bindings.names().shown(id)).collect();
            let item = self.command_item(info.id, info.title).note(keys.join(glyph::separator()));
            let item = item.group(if info.writes { "Change" } else { "View" });
            item.unless(pane.can(info.id, &view).and_then(Result::err).map(|why| view.with_keys(&why).into_owned()))
        };
        let custom = self.custom_commands().map(|command| {
            let item = self.command_item(command.id, command.title).group("Your commands");
            item.unless(self.custom_spec(command).err())
        });
        pane.commands().iter().copied().map(item).chain(custom).collect()
    }

    /// Returns picker items for the global commands, except those with the title of a command of the current pane.
    pub(super) fn global_items(&self) -> impl Iterator<Item = Item> {
        let own = self.nav.top().map(|pane| pane.commands()).unwrap_or_default();
        let others = global::infos(self.nav.registry).filter(|info| own.iter().all(|own| own.title != info.title));
        others.map(|info| {
            let item = self.command_item(info.id, info.title).group(global::group(self.nav.registry, info.id));
            item.unless(self.global_refusal(info.id))
        })
    }

    /// Returns the reason why a place cannot be opened from here.
    fn place_refusal(&self, info: &PlaceInfo) -> Option<Disabled> {
        if (info.is_refused)(&self.store) {
            return Some(UNSUPPORTED.into());
        }
        // Without a current project, the command asks for one.
        self.place_named(info).err().filter(|_| info.needs != Needs::Project).map(Disabled::Owned)
    }

    /// Returns the reason why a global command cannot be run here.
    pub(super) fn global_refusal(&self, id: &str) -> Option<Disabled> {
        let (pane, view) = (self.nav.top()?, self.view_of());
        if let Some(info) = self.nav.places.iter().find(|info| info.go.is_some_and(|go| go.id == id)) {
            return self.place_refusal(info);
        }
        if let Some(number) = id.strip_prefix("tab.").and_then(|number| number.parse::<usize>().ok()) {
            return match pane.tabs().titles.len() {
                0 => Some("there are no tabs here".into()),
                1 => Some("there is one tab here".into()),
                count if number > count => Some(format!("there are {count} tabs here").into()),
                _ => None,
            };
        }
        match id {
            "seek.next" | "seek.prev" if pane.search().is_none() => Some("there is nothing to search here".into()),
            "seek.code" => self.code_searches().err(),
            "clone.edit" => self.file_in_clone().err(),
            "forward" if self.nav.ahead.is_empty() => Some("no forward history".into()),
            "browse" if pane.url(&view).is_none() => Some("no web page for this item".into()),
            "copy" if pane.url(&view).is_none() && pane.copies(&view).is_empty() => {
                Some("there is nothing to copy here".into())
            }
            _ => None,
        }
    }

    pub(super) fn menu(&mut self) {
        let items = self.command_items();
        if items.is_empty() {
            return self.say(Tone::Info, "There are no actions here.".into());
        }
        self.overlays.push(Box::new(Picker::new("Actions", items).of_commands()));
    }

    pub(super) fn place_items(&self) -> Vec<Item> {
        self.nav
            .places
            .iter()
            .map(|info| {
                let item = Item::act(info.id, Action::GoToPane(info.id)).detail(info.title).group("Places");
                item.synonyms(info.synonyms).unless(self.place_refusal(info))
            })
            .collect()
    }

    pub(super) fn palette(&mut self) {
        let mut items = self.place_items();
        items.extend(self.web_page_items());
        items.extend(self.command_items());
        items.extend(self.global_items());
        // Also list the commands of other places, with the place to open first.
        let here = self.nav.id();
        for entry in self.nav.registry.iter().filter(|entry| entry.place.id != here) {
            for info in entry.listed_commands() {
                let why_not = format!("only in \"{}\"", entry.place.title);
                items.push(self.command_item(info.id, info.title).unless(Some(why_not)));
            }
        }
        let filtered = Rc::new(self.filtered_list());
        let free = {
            let filtered = filtered.clone();
            move |text: &str| filtered(text).map_or_else(|| Action::GoToTarget(text.to_owned()), |item| item.choice)
        };
        let page = place_info::place_of(&self.nav.places, Subject::Group);
        let groups: HashSet<String> = self.view_of().known_groups().map(|group| group.full_path.clone()).collect();
        let exact = move |typed: &str| {
            let group = groups
                .get(typed)
                .map(|path| Item::act(path, Action::GoToPlace(page.clone().group(path.as_str()))).note("group"));
            // Words without a key may be those of a command.
            group.or_else(|| filtered(typed).filter(|_| typed.contains(':')))
        };
        let picker = Picker::new("Command", items)
            .of_commands()
            .exact(self.exact_target().with_line_numbers().or(exact))
            .free(free, "a place, a command, or a target such as group/project!12");
        self.overlays.push(Box::new(picker));
    }

    /// Returns the lookup of the place that a typed text names exactly.
    fn exact_target(&self) -> ExactTarget {
        let (here, view) = (self.place(), self.view_of());
        let tree = quick_open::tree(&here);
        let here = if here.group.is_some() { here } else { self.place_in_project() };
        ExactTarget::new(here, tree, &view)
    }

    /// Returns the item of a list with the filter that is typed after its name: `mrs author:bo`.
    fn filtered_list(&self) -> impl Fn(&str) -> Option<Item> + 'static {
        let lists = self.nav.places.iter().filter(|info| info.is_list);
        let lists: Vec<_> = lists.filter_map(|info| Some((*info, self.place_named(info).ok()?))).collect();
        move |typed: &str| {
            let (name, words) = typed.trim().split_once(' ')?;
            let (info, place) = lists.iter().find(|(info, _)| info.id == name)?;
            let place = place.clone().query(words.trim());
            Some(Item::act(typed.trim(), Action::GoToPlace(place)).note(info.title))
        }
    }

    pub(super) fn quick_open(&mut self) {
        let commands = self.command_items().into_iter().chain(self.global_items());
        let (here, is_in_project) = (self.place_in_project(), self.place().project.is_some());
        let view = self.view_of();
        let outlined = self.nav.top().and_then(|pane| pane.code(&view).outlined);
        // In a file, `@` begins a function rather than the name of a user, who is found nevertheless.
        let exact = self.exact_target().with_symbols(outlined.is_some());
        let source =
            quick_open::QuickOpen::new(&here, is_in_project, commands, self.nav.registry, &view).outlining(outlined);
        let free = |text: &str| Action::GoToTarget(text.to_owned());
        let picker = Picker::of("Go to anything", Box::new(source), &view)
            .exact(exact)
            .free(free, "project, group, merge request, job, ref, file, user");
        self.overlays.push(Box::new(picker));
    }

    /// Lists the keys of the current place and the global ones, to find a command and run it.
    pub(super) fn help(&mut self) {
        let here = self.nav.id();
        let place = place_info::find(&self.nav.places, here).map_or("", |info| info.title);
        let mut items = self.command_items();
        items.extend(self.signs());
        items.extend(self.global_items());
        self.overlays.push(Box::new(Picker::new(format!("Keys: {place}"), items).of_keys()));
    }

    /// Returns picker items for the signs on the screen, with what they mean.
    fn signs(&self) -> Vec<Item> {
        if glyph::is_accessible() {
            return Vec::new();
        }
        let area = Rect::new(0, 0, self.frame.size.0, self.frame.size.1);
        let entries = legend::of(|| {
            let mut frame = Buffer::empty(area);
            self.view(area, &mut frame);
            frame
        });
        let item = |entry: legend::Entry| {
            let item = Item::act(entry.meaning, Action::All(Vec::new())).note(entry.sign);
            item.group("Signs on this screen").synonyms(&["legend", "signs", "symbols"])
        };
        entries.into_iter().map(item).collect()
    }

    /// Lists all saved comments. This is the way to the text of a draft whose place is gone or out of reach.
    pub(super) fn all_drafts(&mut self) {
        let mut drafts: Vec<(&DraftKey, &Draft)> = self.saved.drafts.drafts().collect();
        if drafts.is_empty() {
            return self.say(Tone::Info, "No drafts.".into());
        }
        drafts.sort_by_cached_key(|(key, draft)| (draft.on.name(), key.number()));
        let item = |(key, draft): (&DraftKey, &Draft)| {
            let place = draft.position.as_ref().map(|position| format!(" {}", position.label())).unwrap_or_default();
            let name = format!("{}{place}", draft.on.name());
            let words = draft.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned();
            if self.outbox.progress(key).is_some() {
                return Item::act(name, Action::Say(Tone::Warning, "This draft is being sent.".into())).detail(words);
            }
            let composer = Composer::comment(format!("Comment on {name}"), key.clone(), draft.clone());
            Item::act(name, Action::OpenOverlay(Box::new(composer))).detail(words)
        };
        let items = drafts.into_iter().map(item).collect();
        self.overlays.push(Box::new(Picker::new("All drafts", items)));
    }
}
