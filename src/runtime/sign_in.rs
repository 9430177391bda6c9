//! Signing in on another device: waits until the user has done so, and renews the resulting token.

use super::tasks;
use crate::api::client::{Client, DeviceCode, Grant, Poll, TokenSource};
use crate::api::{Error, Fault};
use futures::FutureExt;
use secrecy::SecretString;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The increase of the pause when the server is polled too often.
const SLOW_DOWN_STEP: Duration = Duration::from_secs(5);

/// Waits until the user has signed in for `code`.
///
/// # Errors
///
/// Returns an error if the code expires, the request is denied, or the server fails.
pub async fn wait(client: &Client, client_id: &str, code: &DeviceCode) -> Result<Grant, Error> {
    let end = Instant::now() + code.lifetime();
    let mut pause = code.interval();
    let refused = |why: &str| Error { tried: "POST /oauth/token".into(), fault: Fault::Unauthorized(why.into()) };
    while Instant::now() < end {
        tokio::time::sleep(pause).await;
        match client.poll_device(client_id, &code.device_code).await {
            Ok(Poll::Granted(grant)) => return Ok(grant),
            Ok(Poll::Pending) => {}
            Ok(Poll::SlowDown) => pause += SLOW_DOWN_STEP,
            Ok(Poll::Expired) => break,
            Ok(Poll::Denied) => return Err(refused("the sign-in was denied")),
            Err(error) if error.is_temporary() => {}
            Err(error) => return Err(error),
        }
    }
    Err(refused("the sign-in timed out"))
}

/// Creates a source of tokens. `renew` runs on a worker thread, and to completion even if the caller that needs the
/// token is canceled.
pub fn token_source(
    renew: impl Fn(Option<SecretString>) -> Result<SecretString, Error> + Send + Sync + 'static,
) -> TokenSource {
    let renew = Arc::new(renew);
    TokenSource::new(move |refused| {
        let renew = renew.clone();
        let work = async { tasks::block(move || renew(refused)).await.unwrap_or_else(|_| Err(gone())) };
        work.boxed()
    })
}

fn gone() -> Error {
    Error { tried: "renew the token".into(), fault: Fault::Offline("the token could not be renewed".into()) }
}
