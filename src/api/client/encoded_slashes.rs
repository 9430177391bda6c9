//! Proxies in front of a server that decode `%2F` in paths, as of projects: the server then finds no route for them.

use super::Client;
use super::exchange::{Call, is_web_page};
use crate::error::{Error, Fault, is_unknown_route};
use tokio::sync::OnceCell;

/// Whether `%2F` reaches the server, once that has been found out.
#[derive(Debug, Default)]
pub(super) struct EncodedSlashes(OnceCell<bool>);

const DECODED: &str = "a proxy decodes %2F, so nothing is found by its path; Apache needs AllowEncodedSlashes NoDecode, \
                       nginx a proxy_pass without a path";

impl Client {
    /// Asks once for a project by a path and by a number that no server has.
    ///
    /// # Errors
    /// Returns an error if the server has a route for the number only.
    pub async fn check_encoded_slashes(&self) -> Result<(), Error> {
        let by_path = Call::read("/projects/a%2Fb".into());
        let by_number = Call::read("/projects/0".into());
        let check = || async { Ok::<_, Error>(self.has_route(&by_path).await? || !self.has_route(&by_number).await?) };
        match self.encoded_slashes.0.get_or_try_init(check).await {
            Ok(false) => Err(by_path.error(Fault::Gateway(404, DECODED.into()))),
            _ => Ok(()),
        }
    }

    async fn has_route(&self, call: &Call) -> Result<bool, Error> {
        let token = self.token(call, None).await?;
        let reply = self.send_once(call, token.as_ref()).await?;
        let is_page = is_web_page(reply.headers());
        let reply = self.read_whole(reply, call).await?;
        Ok(reply.status != 404 || !is_page && !is_unknown_route(&reply.body))
    }
}
