//! The keyring of the system, where there is one: Secret Service, Keychain, Credential Manager.

use keyring::{Entry, v1::Error};
use std::sync::mpsc;
use std::time::Duration;
use url::Url;

/// Under which name the system lists what is kept.
const SERVICE: &str = "labscope";
/// How long it may take: a keyring that is locked asks the person first.
const PATIENCE: Duration = Duration::from_secs(60);

/// Keeps the token for `url`.
///
/// # Errors
/// Why it cannot, in words; the token is not in them.
pub fn keep(url: &Url, token: &str) -> Result<(), String> {
    let token = token.to_owned();
    ask(url, move |entry| entry.set_password(&token))
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

/// Asks it, on a thread of its own: one that never answers must not hold the program for good.
fn ask<T: Send + 'static>(
    url: &Url,
    what: impl FnOnce(&Entry) -> keyring::v1::Result<T> + Send + 'static,
) -> Result<T, String> {
    let (name, (sender, answer)) = (url.to_string(), mpsc::channel());
    std::thread::spawn(move || {
        let outcome = Entry::new(SERVICE, &name).and_then(|entry| what(&entry));
        // The value of an error may hold the secret; its kind does not.
        let _ = sender.send(outcome.map_err(|error| match error {
            Error::NoDefaultStore => "there is none on this system".to_owned(),
            Error::NoStorageAccess(why) => format!("it is locked: {why}"),
            Error::PlatformFailure(why) => why.to_string(),
            Error::TooLong(..) => "the token is too long for it".to_owned(),
            _ => "it holds something else".to_owned(),
        }));
    });
    answer.recv_timeout(PATIENCE).unwrap_or_else(|_| Err("it does not answer".to_owned()))
}
