//! The version of the server, and the details of the token. Not in the specification; each operation names the first
//! version that supports it.

use crate::{Nullable, Time};
use jiff::Timestamp;
use jiff::tz::TimeZone;

crate::resource! {
    /// The version of a server.
    pub struct Metadata {
        /// The version, as in `18.9.0-ee` or `17.2.1-pre`: it starts with `major.minor`.
        version: String,
        revision: String,
    }
    unspecified {
        /// Whether the server runs the enterprise edition, with or without a license.
        enterprise: Option<bool>,
    }
    served {
        kas: Option<AgentServer>,
    }
}

impl Metadata {
    /// Returns the major and the minor version, if they can be read.
    pub fn release(&self) -> Option<(u32, u32)> {
        let mut parts = self.version.split(['.', '-']).map(|part| part.parse().ok());
        Some((parts.next()??, parts.next()??))
    }
}

crate::resource! {
    /// The server for agents in Kubernetes clusters.
    pub struct AgentServer {
        enabled: bool,
    }
    served {
        #[serde(rename = "externalUrl")]
        external_url: Nullable<String>,
        #[serde(rename = "externalK8sProxyUrl")]
        external_k8s_proxy_url: Nullable<String>,
        version: Nullable<String>,
    }
}

crate::resource! {
    /// A personal, project or group access token, or an OAuth token, without its secret.
    pub struct AccessToken {
        id: u64,
        name: String,
        revoked: bool,
        created_at: Option<Time>,
        /// The scopes: `api`, `read_api`, `read_user`, ….
        scopes: Vec<String>,
        user_id: u64,
        active: bool,
        /// The expiration date: the token is refused from midnight UTC of that day. For OAuth tokens, the exact time.
        /// `None` if the token never expires.
        expires_at: Option<Time>,
    }
    unspecified {
        description: Nullable<String>,
        last_used_at: Nullable<Time>,
    }
}

/// The scopes that allow no writes over the REST API. Write scopes for git and the registry are not relevant to it.
const READ_ONLY: &[&str] =
    &["read_api", "read_user", "read_repository", "write_repository", "read_registry", "write_registry"];

impl AccessToken {
    /// Returns the scope that the token needs for writes; `None` if it can write, or if it has unknown scopes.
    pub fn missing_scope(&self) -> Option<&'static str> {
        let only_reads = self.scopes.iter().all(|scope| READ_ONLY.contains(&scope.as_str()));
        (only_reads && !self.scopes.is_empty()).then_some("api")
    }

    /// Returns whether the token cannot read projects either, only the account, or repositories over git.
    pub fn reads_no_projects(&self) -> bool {
        self.missing_scope().is_some() && !self.scopes.iter().any(|scope| scope == "read_api")
    }

    /// Returns whether the token has permissions for kinds of objects instead of scopes (since 19.2).
    pub fn is_fine_grained(&self) -> bool {
        self.scopes.iter().any(|scope| scope == "granular")
    }

    /// Returns the expiry if it is soon: within a week, or within 30 minutes for tokens that live only for hours.
    pub fn expires_soon(&self, now: Timestamp) -> Option<String> {
        if let Some(minutes) = self.minutes_left(now) {
            return (minutes <= 30).then(|| format!("in {} min", minutes.max(0)));
        }
        let date = self.expires_at.as_ref()?;
        match self.days_left(now)? {
            ..=0 => Some(format!("today ({date})")),
            1 => Some(format!("tomorrow ({date})")),
            days @ 2..=7 => Some(format!("in {days} days ({date})")),
            _ => None,
        }
    }

    /// Returns the minutes until the token expires, if the expiry is an exact time and not a date, as for OAuth tokens.
    pub fn minutes_left(&self, now: Timestamp) -> Option<i64> {
        let expiry = self.expires_at.as_ref().filter(|expiry| expiry.as_str().contains('T'))?;
        Some(expiry.instant()?.duration_since(now).as_mins())
    }

    /// Returns the days from the date of `now` (UTC) until the token expires; `None` if it never does.
    pub fn days_left(&self, now: Timestamp) -> Option<i64> {
        let date = |at: Timestamp| at.to_zoned(TimeZone::UTC).date();
        let expiry = date(self.expires_at.as_ref()?.instant()?);
        Some(date(now).until(expiry).ok()?.get_days().into())
    }
}

crate::endpoints! {
    unspecified section "Identity";

    /// Gets the version (since 15.2). For older servers, the client requests `/version` instead.
    GET "/metadata" => Metadata;
    struct GetMetadata {}

    /// Gets the version (since 8.13).
    GET "/version" => Metadata;
    struct GetVersion {}

    /// Gets the token of the request (since 15.5). Servers refuse OAuth tokens with 400; the client then requests
    /// `/oauth/token/info`, which is outside the REST API.
    GET "/personal_access_tokens/self" => AccessToken;
    struct GetOwnToken {}
}
