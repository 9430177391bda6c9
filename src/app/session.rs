//! The session with a server, and the configuration that applies to it.

use super::clone::CloneFolder;
use super::custom::CustomCommand;
use super::tour::TourStep;
use api::Host;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;
use ui::diff::Layout;
use ui::trace::Patterns;

/// A session with a server: its address, its restrictions, and the configuration that applies to it.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// A short name for the server: `demo`, `local`, or its host.
    pub server: String,
    /// The root of its web pages, without a trailing slash.
    pub web_url: String,
    /// The name of the account, if several are configured for the server and this is not the first one.
    pub account: Option<String>,
    /// Whether writes are refused before they are sent.
    pub read_only: bool,
    /// Whether no request is ever sent.
    pub offline: bool,
    /// Whether there is a token.
    pub signed_in: bool,
    /// The custom sections of the home place, in order.
    pub sections: Vec<CustomSection>,
    /// The configured columns of lists, by the place.
    pub columns: Arc<BTreeMap<String, Vec<String>>>,
    /// The settings for reading job traces.
    pub trace_settings: Arc<TraceSettings>,
    /// The configured display options of diffs.
    pub diff: DiffDefaults,
    /// The age at which lists on the screen are read again; `None` for never.
    pub refresh: Option<Duration>,
    /// The custom commands, in order.
    pub commands: Arc<Vec<CustomCommand>>,
    /// The user's templates for texts, by name.
    pub templates: Arc<BTreeMap<String, String>>,
    /// The steps of the tour of this server; empty if it has none.
    pub tour: &'static [TourStep],
    /// The other known servers, in order.
    pub others: Vec<OtherServer>,
    /// The clone that labscope was started in, if it has remotes on this server.
    pub clone: Option<CloneFolder>,
}

impl Session {
    /// Returns the server as requests name it.
    pub fn host(&self) -> Host {
        Host::with_account(&self.web_url, self.account.as_deref())
    }
}

/// A server other than the current one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherServer {
    pub host: Host,
    /// Whether there is a token.
    pub signed_in: bool,
    /// Whether the home place asks it for items that wait for the user.
    pub at_home: bool,
}

/// The settings for reading job traces.
#[derive(Clone, Debug)]
pub struct TraceSettings {
    /// The patterns for errors and warnings.
    pub patterns: Patterns,
    /// The number of bytes of one trace kept in memory; the rest is written to disk.
    pub memory: u64,
}

impl Default for TraceSettings {
    fn default() -> TraceSettings {
        TraceSettings { patterns: Patterns::default(), memory: 64 << 20 }
    }
}

/// The configured display options of diffs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffDefaults {
    /// The layout until the user chooses one; `None` to let the width decide.
    pub layout: Option<Layout>,
    /// Whether long lines are wrapped until the user decides; `None` to wrap only those that are side by side.
    pub wraps: Option<bool>,
    /// The number of unchanged lines around changes.
    pub context: u32,
}

impl DiffDefaults {
    /// The allowed numbers of unchanged lines around changes. Servers send the smallest.
    pub const CONTEXT: RangeInclusive<u32> = 3..=200;
}

impl Default for DiffDefaults {
    fn default() -> DiffDefaults {
        DiffDefaults { layout: None, wraps: None, context: *DiffDefaults::CONTEXT.start() }
    }
}

/// A custom section of the home place: a named query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CustomSection {
    pub name: String,
    /// The query for merge requests.
    pub query: String,
    /// The project that the query is restricted to.
    pub project: Option<String>,
    /// The group whose projects the query is restricted to.
    pub group: Option<String>,
    /// Whether it comes from the project of the clone: it is only for its server, and not in the configuration.
    pub is_shared: bool,
}
