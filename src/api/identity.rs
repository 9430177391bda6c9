//! Identity: the version of the server, and what the token may do. Not in the specification; see each operation for the
//! first version that has it.

use crate::api::Time;
use jiff::Timestamp;
use jiff::tz::TimeZone;

crate::resource! {
    /// The version of a server.
    pub struct Version {
        /// `18.9.0-ee`, `17.2.1-pre`: the front is `major.minor`.
        version: String,
        revision: String,
    }
    newer {
        /// The build, which does not say whether it is licensed.
        enterprise: bool,
    }
}

crate::resource! {
    /// A personal, project or group access token, or one of OAuth, without its secret.
    pub struct AccessToken {
        id: u64,
        name: String,
        revoked: bool,
        created_at: Option<Time>,
        /// `api`, `read_api`, `read_user`, ….
        scopes: Vec<String>,
        user_id: u64,
        active: bool,
        /// The date from whose first moment on (UTC) it is refused, for a token of OAuth the moment; `None` if it never
        /// expires.
        expires_at: Option<Time>,
    }
    newer {
        description: String,
        last_used_at: Time,
    }
}

/// The scopes that allow no change over the REST API; that of git is not part of it.
const READ_ONLY: &[&str] =
    &["read_api", "read_user", "read_repository", "write_repository", "read_registry", "write_registry"];

impl AccessToken {
    /// Returns the scope that the token lacks for changes; `None` if it has it, or has scopes that are not known here.
    pub fn missing_scope(&self) -> Option<&'static str> {
        let only_reads = self.scopes.iter().all(|scope| READ_ONLY.contains(&scope.as_str()));
        (only_reads && !self.scopes.is_empty()).then_some("api")
    }

    /// Returns when it is refused, if that is soon: within a week, or half an hour where it lives for hours anyway.
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

    /// Returns the minutes until it is refused, if that is a moment and no date, as for tokens of OAuth.
    pub fn minutes_left(&self, now: Timestamp) -> Option<i64> {
        let expiry = self.expires_at.as_ref().filter(|expiry| expiry.as_str().contains('T'))?;
        Some(expiry.instant()?.duration_since(now).as_mins())
    }

    /// Returns the days from the date of `now` (UTC) until the token is refused; `None` if it never is.
    pub fn days_left(&self, now: Timestamp) -> Option<i64> {
        let date = |at: Timestamp| at.to_zoned(TimeZone::UTC).date();
        let expiry = date(self.expires_at.as_ref()?.instant()?);
        Some(date(now).until(expiry).ok()?.get_days().into())
    }
}

crate::endpoints! {
    newer section "Identity";

    /// Returns the version; since 15.2. The client asks servers before that at `/version`.
    GET "/metadata" => Version;
    struct GetMetadata {}

    /// Returns the version; since 8.13.
    GET "/version" => Version;
    struct GetVersion {}

    /// Returns the token that the request carries; since 15.5. An OAuth token is refused with
    /// 400; the client then asks for that one at `/oauth/token/info`, outside of the REST API.
    GET "/personal_access_tokens/self" => AccessToken;
    struct GetOwnToken {}
}
