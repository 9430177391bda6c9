//! Opens the interface: puts together app, panes, keys, look and kept texts, and lets the runtime run it.

use super::args::Global;
use super::configuration;
use super::failure::Failure;
use crate::api::Host;
use crate::app::action::{Msg, Tone};
use crate::app::bindings::{BindingError, Bindings};
use crate::app::pane::{Reading, Section, Session};
use crate::app::{App, Place, Setup};
use crate::cli::appearance::Appearance;
use crate::config::{Config, sections};
use crate::panes::PANES;
use crate::runtime::connections::{Connection, Connections, DialServer};
use crate::runtime::executor::Configure;
use crate::runtime::journal::KeptTexts;
use crate::runtime::sessions::OpenServer;
use crate::runtime::terminal::Notify;
use crate::runtime::{self, Options, journal};
use crate::ui::glyph;
use crate::ui::trace::Patterns;
use jiff::Timestamp;
use std::collections::HashMap;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::Runtime;

/// What the interface is opened on.
pub struct Opening {
    pub session: Session,
    /// Where to begin.
    pub place: Place,
    /// How its server is reached.
    pub connection: Connection,
    /// How the others are.
    pub dial: DialServer,
    /// What the others are opened on; `None` where there are none.
    pub open: Option<OpenServer>,
    /// The folder of texts that are kept; `None` where nothing is to be left behind.
    pub drafts: Option<PathBuf>,
}

/// How a person wants the interface, read and found right before anything is started.
pub struct Preferences {
    pub config: Config,
    look: Appearance,
    bindings: Bindings,
    reading: Reading,
    notify: Notify,
    mouse: bool,
}

impl Preferences {
    /// Reads options, configuration and environment.
    ///
    /// # Errors
    /// Mistakes in them, and an output that is no terminal.
    pub fn read(global: &Global) -> Result<Preferences, Failure> {
        let config = configuration(global)?;
        let look = Appearance::find(global, &config, |name| std::env::var(name).ok())?;
        let bindings = bindings(&config)?;
        let reading = reading(&config)?;
        let notify = match &config.notify {
            Some(word) => Notify::named(word.get_ref())
                .map_err(|why| Failure::usage(config.mistake(word.span(), "notify", &why)))?,
            None => Notify::Bell,
        };
        let mouse = !global.no_mouse && config.mouse.unwrap_or(true);
        Ok(Preferences { config, look, bindings, reading, notify, mouse })
    }
}

/// Refuses to open the interface where nobody could see it.
pub fn need_terminal() -> Result<(), Failure> {
    if !io::stdout().is_terminal() {
        return Err(Failure::failed(
            "the interface needs a terminal, and the output is none; labscope api and labscope serve do without",
        ));
    }
    if std::env::var("TERM").is_ok_and(|term| term == "dumb") {
        return Err(Failure::failed("the terminal calls itself \"dumb\" (TERM), so that nothing can be drawn on it"));
    }
    Ok(())
}

/// Runs the interface until it ends.
pub fn run(manner: Preferences, opening: Opening, threads: &Runtime) -> Result<(), Failure> {
    let Preferences { config, look, bindings, reading, notify, mouse } = manner;
    let session = Session { sections: sections(&config), reading: Arc::new(reading), ..opening.session };
    // Where nothing is to be left behind, sections live as long as the interface.
    let configure = opening.drafts.as_ref().map(|_| configure(config.path().to_path_buf()));
    glyph::set_ascii(look.ascii);
    let kept = opening.drafts.as_deref().map(journal::load).unwrap_or_default();
    let damage = damage(&kept);
    let here = Host::new(&session.web_url);
    let lines = Connections::new(opening.dial).with(here.clone(), opening.connection);
    let (mut app, mut first) = App::new(Setup {
        registry: PANES,
        bindings,
        session,
        theme: look.theme,
        theme_is_chosen: look.chosen,
        kept: kept.kept,
        place: opening.place,
        now: Timestamp::now(),
        size: crossterm::terminal::size().unwrap_or((80, 24)),
    });
    if let Some(words) = damage {
        first.extend(app.update(Msg::Say(Tone::Warning, words)));
    }
    let options = Options {
        lines,
        here,
        open: opening.open,
        mouse,
        depth: look.depth,
        ask_background: look.ask,
        drafts: opening.drafts,
        configure,
        notify,
    };
    let ended = threads.block_on(runtime::run(app, first, options));
    ended.map_err(|e| Failure::failed(format!("the terminal cannot be used: {e}")))
}

/// What there is to say about kept texts.
pub fn damage(kept: &KeptTexts) -> Option<String> {
    let path = kept.damaged.first()?;
    let more = kept.damaged.len() - 1;
    let more = if more == 0 { String::new() } else { format!(", nor can {more} more beside it") };
    Some(format!("A kept text cannot be read{more}, and was left alone: {}", path.display()))
}

fn sections(config: &Config) -> Vec<Section> {
    let section = |known: &sections::Section| {
        let sections::Section { name, query, project, group } = known.clone();
        Section { name, query, project, group }
    };
    config.sections.iter().map(section).collect()
}

/// Writes sections into the file that they came from, one after the other.
fn configure(path: PathBuf) -> Configure {
    let path = Mutex::new(path);
    Arc::new(move |name: &str, section: Option<&Section>| {
        let section = section.cloned().map(|Section { name, query, project, group }| sections::Section {
            name,
            query,
            project,
            group,
        });
        let path = path.lock().unwrap_or_else(PoisonError::into_inner);
        sections::write(&path, name, section.as_ref())
    })
}

/// How traces are read, as the configuration says.
fn reading(config: &Config) -> Result<Reading, Failure> {
    let words = |all: &[toml::Spanned<String>]| all.iter().map(|one| one.get_ref().clone()).collect::<Vec<_>>();
    let trace = &config.trace;
    let patterns = Patterns::new(&words(&trace.errors), &words(&trace.warnings)).map_err(|(expression, why)| {
        let all =
            trace.errors.iter().map(|one| ("errors", one)).chain(trace.warnings.iter().map(|one| ("warnings", one)));
        let found = all.into_iter().find(|(_, one)| *one.get_ref() == expression);
        let (name, at) = found.map_or(("errors", 0..0), |(name, one)| (name, one.span()));
        Failure::usage(config.mistake(at, &format!("trace.{name}"), &format!("no expression that can be read: {why}")))
    })?;
    let usual = Reading::default();
    let memory = trace.memory.map_or(usual.memory, |megabytes| megabytes.saturating_mul(1 << 20));
    Ok(Reading { patterns, memory })
}

/// The keys of the table, with those of the configuration in their stead.
pub fn bindings(config: &Config) -> Result<Bindings, Failure> {
    let own: HashMap<String, Vec<String>> =
        config.keys.iter().map(|(id, keys)| (id.clone(), keys.get_ref().clone())).collect();
    Bindings::new(PANES, &own).map_err(|error| {
        let (BindingError::Unknown(id) | BindingError::NotAKey(id, _)) = &error;
        let at = config.keys.get(id).map(toml::Spanned::span).unwrap_or_default();
        let text = error.to_string();
        let why = text.split_once(": ").map_or(text.as_str(), |(_, why)| why);
        Failure::usage(config.mistake(at, &format!("keys.\"{id}\""), why))
    })
}
