//! Stored OAuth sign-ins: a short-lived access token and the refresh token that renews it.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The remaining lifetime below which a token is renewed.
const RENEWAL_MARGIN: SignedDuration = SignedDuration::from_secs(60);

/// An access token and its refresh token.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignIn {
    pub access_token: String,
    pub refresh_token: String,
    /// The expiration time of the token, by the local clock; `None` if the server did not send it.
    pub expires_at: Option<Timestamp>,
    pub scope: String,
    /// The ID of the OAuth application that the user authorized.
    pub client_id: String,
    /// The ID of the sign-in, which stays the same when the tokens are renewed.
    pub id: String,
}

impl SignIn {
    /// Returns the sign-in with the tokens of a renewal.
    pub fn renewed(&self, access_token: String, refresh_token: String, expires_at: Option<Timestamp>) -> SignIn {
        // A server that sends no new refresh token keeps the old one valid.
        let refresh_token = if refresh_token.is_empty() { self.refresh_token.clone() } else { refresh_token };
        SignIn { access_token, refresh_token, expires_at, ..self.clone() }
    }

    /// Returns the ID of a sign-in that began with this token: a hash that does not reveal the token.
    pub fn id_of(token: &str) -> String {
        let mut hasher = DefaultHasher::new();
        token.hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    /// Parses the stored text; returns `None` for a plain token.
    pub fn parse(text: &str) -> Option<SignIn> {
        serde_json::from_str(text).ok()
    }

    /// Returns the text to store.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns whether the token stays valid for longer than the renewal margin.
    pub fn is_fresh(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|at| at.duration_since(now) > RENEWAL_MARGIN)
    }
}

impl fmt::Debug for SignIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignIn").field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sign_ins_round_trip_and_hide_secrets() {
        let at: Timestamp = "2026-11-23T12:00:00Z".parse().expect("a time");
        let sign_in = SignIn {
            access_token: "secret-1".into(),
            refresh_token: "secret-2".into(),
            expires_at: Some(at),
            scope: "api".into(),
            client_id: "app".into(),
            id: "1".into(),
        };
        assert_eq!(SignIn::parse(&sign_in.to_text()), Some(sign_in.clone()));
        assert_eq!(SignIn::parse("glpat-secret"), None);
        assert!(!format!("{sign_in:?}").contains("secret"));
        assert!(sign_in.is_fresh(at - SignedDuration::from_secs(61)));
        assert!(!sign_in.is_fresh(at - SignedDuration::from_secs(60)));
        let next = sign_in.renewed("new".into(), String::new(), None);
        assert_eq!((next.refresh_token.as_str(), next.id.as_str()), ("secret-2", "1"));
        assert!(next.is_fresh(at));
    }
}
