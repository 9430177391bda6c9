//! Starts the interface: assembles app, panes, keys, theme and saved drafts, and runs them.
//!
//! Nothing delays the first frame: configuration, saved texts and the theme are small files. When the first request is
//! due, a worker reads the certificates and, in `demo` and `local`, creates the server. The server's address is bound
//! before that, so that the interface knows it. After the first frame, the terminal is asked for its background color
//! and for what it supports (`src/runtime/capabilities.rs`), and the answers are separated from the keys.

use super::args::Global;
use super::failure::Failure;
use super::server;
use crate::app::action::Msg;
use crate::app::bindings::Bindings;
use crate::app::custom::{CustomCommand, InputKind, ResultKind, Run, Show};
use crate::app::dates::show_local_times;
use crate::app::keymap::{parse_chord, refusal};
use crate::app::session::{CustomSection, DiffDefaults, Session, TraceSettings};
use crate::app::tone::Tone;
use crate::app::{App, Place, Setup};
use crate::backend;
use crate::cli::appearance::Appearance;
use crate::config::project_file::ProjectFile;
use crate::config::{Config, Mistake, commands, sections, templates};
use crate::domain::mistakes::did_you_mean;
use crate::panes::PANES;
use crate::parts::items::merge_request_query::MergeRequestQuery;
use crate::runtime::connections::{Connection, Connections, DialServer};
use crate::runtime::executor::Configure;
use crate::runtime::journal::SavedTexts;
use crate::runtime::sessions::OpenServer;
use crate::runtime::terminal::{self, Notify};
use crate::runtime::{self, Options, journal};
use crate::ui::diff::Layout;
use crate::ui::glyph;
use crate::ui::trace::Patterns;
use jiff::Timestamp;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Runtime;
use toml::Spanned;

/// The server and the place that the interface opens.
pub struct UiOptions {
    pub session: Session,
    /// The initial place.
    pub place: Place,
    /// The connection to its server.
    pub connection: Connection,
    /// Connects to other servers.
    pub dial: DialServer,
    /// Prepares switching to another server; `None` if there are no others.
    pub open: Option<OpenServer>,
    /// The folder for drafts; `None` if nothing may be written to disk.
    pub drafts: Option<PathBuf>,
    /// A warning to show first.
    pub warning: Option<String>,
    /// Whether the tour of the session starts at once.
    pub starts_tour: bool,
}

/// The user's preferences, validated before anything is started.
pub struct Preferences {
    pub config: Config,
    pub appearance: Appearance,
    pub bindings: Bindings,
    commands: Vec<CustomCommand>,
    trace_settings: TraceSettings,
    columns: BTreeMap<String, Vec<String>>,
    /// The sections that the project of the clone shares.
    shared_sections: Vec<sections::Section>,
    diff: DiffDefaults,
    refresh: Option<Duration>,
    notify: Notify,
    mouse: bool,
}

impl Preferences {
    /// Reads options, configuration and environment.
    ///
    /// # Errors
    /// Returns a failure for an invalid option or variable, and for all mistakes in the configuration.
    pub fn read(global: &Global) -> Result<Preferences, Failure> {
        let read = |config: &Config| Preferences::of(global, config);
        Config::load_checked(global.config.as_deref(), read).map_err(Failure::usage)
    }

    fn of(global: &Global, config: &Config) -> Result<Preferences, Mistake> {
        let commands = custom_commands(config)?;
        let notify = match &config.notify {
            Some(word) => Notify::named(word.get_ref()).map_err(|why| config.mistake(word.span(), "notify", &why))?,
            None => Notify::Bell,
        };
        Ok(Preferences {
            appearance: Appearance::find(global, config, server::var)?,
            trace_settings: trace_settings(config, &ProjectFile::default())?,
            columns: columns(config)?,
            shared_sections: Vec::new(),
            diff: diff_defaults(config)?,
            refresh: refresh(config)?,
            notify,
            mouse: !global.no_mouse && config.mouse.unwrap_or(true),
            bindings: bindings(config)?.with_custom(&commands).map_err(|(index, why)| {
                let key = config.commands.get(index).and_then(|command| command.key.as_ref());
                config.mistake(key.map(Spanned::span).unwrap_or_default(), "commands.key", &why)
            })?,
            commands,
            config: config.clone(),
        })
    }

    /// Adds what the project of the clone shares. What the user has set counts first.
    ///
    /// # Errors
    /// Returns a failure if the patterns cannot be combined with those of the user.
    pub fn share(&mut self, shared: ProjectFile) -> Result<(), Failure> {
        self.trace_settings = trace_settings(&self.config, &shared).map_err(Failure::usage)?;
        for (place, names) in shared.columns {
            self.columns.entry(place).or_insert(names);
        }
        let is_new = |section: &sections::Section| !self.config.sections.iter().any(|own| own.name == section.name);
        self.shared_sections = shared.sections.into_iter().filter(is_new).collect();
        Ok(())
    }
}

/// Checks that standard output is a terminal that can display the interface.
///
/// # Errors
/// Returns a failure if it is not a terminal, or a dumb one.
pub fn require_terminal() -> Result<(), Failure> {
    if !io::stdout().is_terminal() {
        return Err(Failure::failed(
            "the interface needs a terminal, and standard output is not one; use labscope api or labscope serve instead",
        ));
    }
    if std::env::var("TERM").is_ok_and(|term| term == "dumb") {
        return Err(Failure::failed("TERM is \"dumb\": the interface cannot be drawn on this terminal"));
    }
    Ok(())
}

/// Runs the interface until it ends.
pub fn run(preferences: Preferences, ui_options: UiOptions, runtime: &Runtime) -> Result<(), Failure> {
    let Preferences { config, appearance, bindings, diff, refresh, notify, mouse, .. } = preferences;
    let sections = sections(&config, &preferences.shared_sections);
    let columns = Arc::new(preferences.columns);
    let (trace_settings, commands) = (Arc::new(preferences.trace_settings), Arc::new(preferences.commands));
    let templates = Arc::new(config.folder().map(templates::read).unwrap_or_default());
    let session =
        Session { sections, columns, trace_settings, diff, refresh, commands, templates, ..ui_options.session };
    // Without a drafts folder nothing may be written to disk, so sections are not saved.
    let configure = ui_options.drafts.as_ref().map(|_| section_writer(config.path().to_path_buf()));
    show_local_times();
    glyph::set_alphabet(appearance.alphabet);
    let saved = ui_options.drafts.as_deref().map(journal::load).unwrap_or_default();
    let warning = damage_warning(&saved);
    let hidden = bindings.hidden();
    let here = session.host();
    let clone_reader = session.clone.as_ref().map(|clone| backend::clone_reader(clone.folder.clone()));
    let connections = Connections::new(ui_options.dial).with(here.clone(), ui_options.connection);
    let connections = connections.reading_clone(clone_reader);
    let (mut app, mut first) = App::new(Setup {
        registry: PANES,
        bindings,
        session,
        theme: appearance.theme,
        theme_is_chosen: appearance.is_theme_chosen,
        kept: saved.kept,
        shows_key_hints: true,
        place: ui_options.place,
        now: Timestamp::now(),
        size: terminal::size(),
    });
    if ui_options.starts_tour {
        app.start_tour();
    }
    for warning in hidden.into_iter().chain(ui_options.warning).chain(warning) {
        first.extend(app.update(Msg::Say(Tone::Warning, warning)));
    }
    let options = Options {
        connections,
        here,
        open: ui_options.open,
        mouse,
        query_background: appearance.query_background,
        drafts: ui_options.drafts,
        configure,
        notify,
    };
    let ended = runtime.block_on(runtime::run(app, first, options));
    ended.map_err(|e| Failure::failed(format!("cannot use the terminal: {e}")))
}

/// Returns a warning about drafts that could not be read, if there are any.
pub fn damage_warning(saved: &SavedTexts) -> Option<String> {
    let path = saved.damaged.first()?;
    let more = saved.damaged.len() - 1;
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    Some(format!("Cannot read draft {}{more}; the files are unchanged", path.display()))
}

fn sections(config: &Config, shared: &[sections::Section]) -> Vec<CustomSection> {
    let own = config.sections.iter().map(|section| custom_section(section, false));
    own.chain(shared.iter().map(|section| custom_section(section, true))).collect()
}

fn custom_section(section: &sections::Section, is_shared: bool) -> CustomSection {
    let sections::Section { name, query, project, group } = section.clone();
    CustomSection { name, query: query.into_inner(), project, group, is_shared }
}

/// Returns the mistake in the query of a section, as far as it is known without a server.
pub fn query_mistake(section: &sections::Section) -> Option<String> {
    let list = MergeRequestQuery::of(&custom_section(section, false));
    list.grammar().mistake(section.query.get_ref(), None).map(|mistake| mistake.to_string())
}

/// Reads the columns of lists from the configuration.
///
/// # Errors
/// Returns the first place that does not exist.
fn columns(config: &Config) -> Result<BTreeMap<String, Vec<String>>, Mistake> {
    let read = |(place, names): (&String, &toml::Spanned<Vec<String>>)| {
        if !PANES.iter().any(|entry| entry.place.id == place) {
            let why = no_place(place);
            return Err(config.mistake(names.span(), &format!("columns.{place}"), &why));
        }
        Ok((place.clone(), names.get_ref().clone()))
    };
    config.columns.iter().map(read).collect()
}

/// Returns the message for the name of a place that does not exist.
fn no_place(name: &str) -> String {
    let meant = did_you_mean(name, PANES.iter().map(|entry| entry.place.id));
    format!("there is no place \"{name}\"; {}", meant.unwrap_or_else(|| "`:` lists them".to_owned()))
}

/// Reads the custom commands. Their names are leaked, because the names of built-in commands are static as well.
///
/// # Errors
/// Returns the first mistake in the configuration.
fn custom_commands(config: &Config) -> Result<Vec<CustomCommand>, Mistake> {
    let mut all: Vec<CustomCommand> = Vec::new();
    for command in &config.commands {
        let mistake = |at, key: &str, why: &str| config.mistake(at, &format!("commands.{key}"), why);
        let name = command.name.get_ref().trim();
        if name.is_empty() || all.iter().any(|known| known.title == name) {
            return Err(mistake(command.name.span(), "name", "the name must be unique and not empty"));
        }
        let key = match &command.key {
            Some(key) => Some(parse_chord(key.get_ref()).ok_or_else(|| {
                let why = format!("invalid key \"{}\"; write it like \"M-w\" or \"g x\"", key.get_ref());
                mistake(key.span(), "key", &why)
            })?),
            None => None,
        };
        if let (Some(written), Some(why)) = (&command.key, key.as_deref().and_then(refusal)) {
            return Err(mistake(written.span(), "key", &why));
        }
        for place in &command.places {
            if !PANES.iter().any(|entry| entry.place.id == place.get_ref()) {
                return Err(mistake(place.span(), "places", &no_place(place.get_ref())));
            }
        }
        let run = match command.run.get_ref() {
            commands::Run::Program(words) => Run::Program(words.clone()),
            commands::Run::Shell(line) => Run::Shell(line.clone()),
        };
        run.check().map_err(|why| mistake(command.run.span(), "run", &why))?;
        let show = match command.show.as_ref().map(|show| (show.get_ref().as_str(), show.span())) {
            None | Some(("pane", _)) => Show::Pane,
            Some(("terminal", _)) => Show::Terminal,
            Some(("silent", _)) => Show::Silent,
            Some((_, at)) => return Err(mistake(at, "show", "one of pane, terminal, silent")),
        };
        let input = match &command.input {
            Some(input) => Some(named(InputKind::NAMES, input).map_err(|why| mistake(input.span(), "input", &why))?),
            None => None,
        };
        let shown = |result: &&Spanned<String>| result.get_ref() == "show";
        let result = match command.result.as_ref().filter(|result| !shown(result)) {
            Some(result) => {
                let kind = named(ResultKind::NAMES, result)
                    .map_err(|why| mistake(result.span(), "result", &format!("{why}, show")))?;
                if input.is_none_or(|input| !input.allows(kind)) {
                    let of = InputKind::NAMES.iter().filter(|(_, input)| input.allows(kind));
                    let names: Vec<&str> = of.map(|(name, _)| *name).collect();
                    let why = format!("\"{}\" needs an input of {}", result.get_ref(), names.join(", "));
                    return Err(mistake(result.span(), "result", &why));
                }
                Some(kind)
            }
            None => None,
        };
        let show = match (show, result) {
            (Show::Terminal, _) if input.is_some() => {
                let at = command.show.as_ref().map(Spanned::span).unwrap_or_default();
                return Err(mistake(at, "show", "a command with an input cannot have the terminal"));
            }
            (Show::Pane, Some(_)) => Show::PaneUntilDone,
            (show, _) => show,
        };
        all.push(CustomCommand {
            id: format!("custom.{name}").leak(),
            title: name.to_owned().leak(),
            key,
            places: command.places.iter().map(|place| place.get_ref().clone()).collect(),
            run,
            show,
            input,
            result,
        });
    }
    Ok(all)
}

/// Returns the value with that name in the configuration.
///
/// # Errors
/// Returns the names that there are.
fn named<T: Copy>(names: &[(&str, T)], word: &Spanned<String>) -> Result<T, String> {
    let known = names.iter().find(|(name, _)| name == word.get_ref());
    known
        .map(|(_, value)| *value)
        .ok_or_else(|| format!("one of {}", names.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")))
}

/// Returns the function that saves a section to the configuration file at `path`; concurrent calls are serialized.
fn section_writer(path: PathBuf) -> Configure {
    let path = Mutex::new(path);
    Arc::new(move |name: &str, section: Option<&CustomSection>| {
        let section = section.cloned().map(|CustomSection { name, query, project, group, .. }| sections::Section {
            name,
            query: Spanned::new(0..0, query),
            project,
            group,
        });
        let path = path.lock().unwrap_or_else(PoisonError::into_inner);
        sections::write(&path, name, section.as_ref())
    })
}

/// Reads the trace settings from the configuration, with the patterns that a project shares.
fn trace_settings(config: &Config, shared: &ProjectFile) -> Result<TraceSettings, Mistake> {
    let words = |all: &[toml::Spanned<String>], shared: &[String]| {
        all.iter().map(|one| one.get_ref()).chain(shared).cloned().collect::<Vec<_>>()
    };
    let trace = &config.trace;
    let (errors, warnings) = (words(&trace.errors, &shared.errors), words(&trace.warnings, &shared.warnings));
    let patterns = Patterns::new(&errors, &warnings).map_err(|(expression, why)| {
        let all =
            trace.errors.iter().map(|one| ("errors", one)).chain(trace.warnings.iter().map(|one| ("warnings", one)));
        let found = all.into_iter().find(|(_, one)| *one.get_ref() == expression);
        let (name, at) = found.map_or(("errors", 0..0), |(name, one)| (name, one.span()));
        config.mistake(at, &format!("trace.{name}"), &format!("invalid regular expression: {why}"))
    })?;
    let default = TraceSettings::default();
    let memory = trace.memory.map_or(default.memory, |megabytes| megabytes.saturating_mul(1 << 20));
    Ok(TraceSettings { patterns, memory })
}

/// Reads the display options of diffs from the configuration.
///
/// # Errors
/// Returns the first mistake in the configuration.
fn diff_defaults(config: &Config) -> Result<DiffDefaults, Mistake> {
    let mistake = |at, key: &str, why: &str| config.mistake(at, &format!("diff.{key}"), why);
    let layout = match config.diff.layout.as_ref().map(|layout| (layout.get_ref().as_str(), layout.span())) {
        None | Some(("auto", _)) => None,
        Some(("unified", _)) => Some(Layout::Unified),
        Some(("split", _)) => Some(Layout::Split),
        Some((_, at)) => return Err(mistake(at, "layout", "one of auto, unified, split")),
    };
    let context = match config.diff.context.as_ref().map(|lines| (*lines.get_ref(), lines.span())) {
        None => DiffDefaults::default().context,
        Some((lines, _)) if DiffDefaults::CONTEXT.contains(&lines) => lines,
        Some((_, at)) => return Err(mistake(at, "context", "a number from 3 to 200")),
    };
    Ok(DiffDefaults { layout, wraps: config.diff.wrap, context })
}

/// The seconds after which visible lists are read again by default, and the fewest that can be configured.
const REFRESH_SECONDS: u64 = 60;
const MIN_REFRESH_SECONDS: u64 = 10;

/// Reads the age at which visible lists are read again from the configuration.
///
/// # Errors
/// Returns the first mistake in the configuration.
fn refresh(config: &Config) -> Result<Option<Duration>, Mistake> {
    match config.refresh.as_ref().map(|seconds| (*seconds.get_ref(), seconds.span())) {
        None => Ok(Some(Duration::from_secs(REFRESH_SECONDS))),
        Some((0, _)) => Ok(None),
        Some((seconds, _)) if seconds >= MIN_REFRESH_SECONDS => Ok(Some(Duration::from_secs(seconds))),
        Some((_, at)) => Err(config.mistake(at, "refresh", "0, or at least 10 seconds")),
    }
}

/// Returns the default key bindings, with those of the configuration applied.
///
/// # Errors
/// Returns the first unknown command or invalid key.
pub fn bindings(config: &Config) -> Result<Bindings, Mistake> {
    let custom: HashMap<String, Vec<String>> =
        config.keys.iter().map(|(id, keys)| (id.clone(), keys.get_ref().0.clone())).collect();
    Bindings::new(PANES, &custom).map_err(|error| {
        let id = error.id();
        let at = config.keys.get(id).map(toml::Spanned::span).unwrap_or_default();
        let text = error.to_string();
        let why = text.split_once(": ").map_or(text.as_str(), |(_, why)| why);
        config.mistake(at, &format!("keys.\"{id}\""), why)
    })
}
