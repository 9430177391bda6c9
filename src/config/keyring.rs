//! The keyring of the system, where there is one: Secret Service, Keychain, Credential Manager.

use keyring::{Entry, v1::Error};
use url::Url;

/// Under which name the system lists what is kept.
const SERVICE: &str = "labscope";

/// Keeps the token for `url`.
///
/// # Errors
/// Why it cannot, in words; the token is not in them.
pub fn keep(url: &Url, token: &str) -> Result<(), String> {
    ask(url, |entry| entry.set_password(token))
}

/// The token for `url`; `None` where it has none.
///
/// # Errors
/// Why it cannot be asked, in words.
pub fn token(url: &Url) -> Result<Option<String>, String> {
    ask(url, |entry| match entry.get_password() {
        Err(Error::NoEntry) => Ok(None),
        token => token.map(Some),
    })
}

/// Forgets the token for `url`.
///
/// # Errors
/// Why it cannot, in words.
pub fn forget(url: &Url) -> Result<(), String> {
    ask(url, |entry| match entry.delete_credential() {
        Err(Error::NoEntry) => Ok(()),
        done => done,
    })
}

/// Asks it; one that is locked asks the person first, and that takes as long as it takes.
fn ask<T>(url: &Url, what: impl FnOnce(&Entry) -> keyring::v1::Result<T>) -> Result<T, String> {
    // The value of an error may hold the secret; its kind does not.
    Entry::new(SERVICE, url.as_str()).and_then(|entry| what(&entry)).map_err(|error| match error {
        Error::NoDefaultStore => "there is none on this system".to_owned(),
        Error::NoStorageAccess(why) => format!("it is locked: {why}"),
        Error::PlatformFailure(why) => why.to_string(),
        Error::TooLong(..) => "the token is too long for it".to_owned(),
        _ => "it holds something else".to_owned(),
    })
}
