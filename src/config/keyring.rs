//! Access to the system keyring, if there is one: Secret Service, Keychain, Credential Manager.

use keyring::{Entry, v1::Error};

/// The service name of the tokens in the keyring.
const SERVICE: &str = "labscope";

/// Stores the token stored under `key`.
///
/// # Errors
/// Returns the reason as a sentence, without the token.
pub fn store(key: &str, token: &str) -> Result<(), String> {
    with_entry(key, |entry| entry.set_password(token))
}

/// Returns the token stored under `key`, or `None` if the keyring has none.
///
/// # Errors
/// Returns the reason why the keyring cannot be read.
pub fn token(key: &str) -> Result<Option<String>, String> {
    with_entry(key, |entry| match entry.get_password() {
        Err(Error::NoEntry) => Ok(None),
        token => token.map(Some),
    })
}

/// Removes the token stored under `key`, if there is one.
///
/// # Errors
/// Returns the reason why it cannot be removed.
pub fn remove(key: &str) -> Result<(), String> {
    with_entry(key, |entry| match entry.delete_credential() {
        Err(Error::NoEntry) => Ok(()),
        done => done,
    })
}

/// Accesses the entry `key`. A locked keyring may prompt the user first, so this can block for a long time.
fn with_entry<T>(key: &str, what: impl FnOnce(&Entry) -> keyring::v1::Result<T>) -> Result<T, String> {
    // The error's payload may contain the secret; its kind does not.
    Entry::new(SERVICE, key).and_then(|entry| what(&entry)).map_err(|error| match error {
        Error::NoDefaultStore => "this system has no keyring".to_owned(),
        Error::NoStorageAccess(why) => format!("it is locked: {why}"),
        Error::PlatformFailure(why) => why.to_string(),
        Error::TooLong(..) => "the token is too long for it".to_owned(),
        _ => "its entry is not a token".to_owned(),
    })
}
