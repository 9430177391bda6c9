//! `labscope api`: sends one raw request. The exit code is 0 for 2xx, 4 for 4xx, 5 for 5xx, and 1 for everything else.

use super::args::{Api, Global};
use super::failure::{EXIT_FAILURE, Failure};
use super::{NOT_SENT, api_path, async_runtime, json, load_config, server, write_stdout};
use crate::api::Reply;
use crate::api::client::{Client, Response};
use crate::api::endpoint::Method;
use crate::api::error::{Error, Fault, error_message, is_from_gitlab};
use crate::api::page::NextPage;
use crate::api::reply_limits::ReplyCounter;
use crate::system::files;
use futures::TryStreamExt;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use std::pin::pin;
use url::Url;

/// The default number of entries per page: the maximum that servers allow.
const PER_PAGE: &str = "100";
/// The maximum total size of all pages of a list, in bytes.
const MAX_BYTES: usize = 512 << 20;

/// Sends the request and prints the response.
pub fn run(global: &Global, api: &Api) -> Result<(), Failure> {
    // This command documents its own exit codes, so configuration errors must not use another one.
    call(global, api).map_err(|failure| match failure.code {
        super::failure::EXIT_USAGE => Failure { code: EXIT_FAILURE, ..failure },
        _ => failure,
    })
}

fn call(global: &Global, api: &Api) -> Result<(), Failure> {
    let config = load_config(global)?;
    if method(&api.path).is_ok() {
        return Err(Failure::usage(format!("There is no path after {}", api.path)));
    }
    let method = method(&api.method)?;
    let fields = api.fields.iter().map(|field| parse_field(field)).collect::<Result<Vec<_>, _>>()?;
    if api.paginate && method != Method::GET {
        return Err(Failure::usage("--paginate works only with GET"));
    }
    let found = server::require(global, &config)?;
    let (server, _) = server::server(global, &config, &found.server)?;
    let target = target_on(&server.base_url, &api.path)?;
    if global.offline {
        return Err(Failure::failed(NOT_SENT));
    }
    let runtime = async_runtime()?;
    let response = runtime.block_on(async {
        let client = Client::new(server)?;
        let target = api_path::complete(&config, &found, &client, &target).await?;
        match (api.paginate, &api.output) {
            (true, _) => all_pages(&client, &target, fields).await,
            (false, Some(path)) => {
                let sent = client.raw_into(method, &target, &fields, path).await;
                sent.map_err(|error| match error.fault {
                    Fault::Disk(why) => Failure::failed(format!("--output: {why}")),
                    _ => error.into(),
                })
            }
            (false, None) => Ok(client.raw(method, &target, &fields).await?),
        }
    })?;
    let success = (200..300).contains(&response.status);
    if api.paginate || api.output.is_none() || !success {
        write_body(&response.body, api.output.as_deref().filter(|_| success))?;
    }
    if success && api.paginate && response.page.next.as_ref().is_some_and(NextPage::is_named) {
        let why = "The list is incomplete: the server repeats a page or sends an empty one instead of the next page";
        return Err(Failure::failed(why));
    }
    if success {
        return Ok(());
    }
    let reason = error_message(&response.body);
    let said = reason.strip_prefix(&response.status.to_string()).unwrap_or(&reason).trim_start();
    let mut reason = if said.is_empty() { String::new() } else { format!(": {said}") };
    if response.status == 401 && is_from_gitlab(&response.body) {
        let withheld = server::withheld(global, &config, &found.server);
        let why = withheld.unwrap_or_else(|| "set a valid token, for example with labscope auth login".into());
        reason += &format!("; {why}");
    }
    let code = match response.status {
        400..500 => 4,
        500..600 => 5,
        _ => EXIT_FAILURE,
    };
    let message = format!("{} {} returned {}{reason}", api.method, masked(&api.path), response.status);
    Err(Failure { code, message })
}

fn method(text: &str) -> Result<Method, Failure> {
    [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::HEAD]
        .into_iter()
        .find(|method| method.as_str().eq_ignore_ascii_case(text))
        .ok_or_else(|| Failure::usage(format!("Invalid method \"{text}\"; use GET, POST, PUT, PATCH, DELETE or HEAD")))
}

fn parse_field(field: &str) -> Result<(String, String), Failure> {
    match field.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(Failure::usage(format!("-f needs key=value, not \"{field}\""))),
    }
}

/// Returns the part of a path or address after the one of the API. An address of another server is refused: its path
/// would be requested from this one.
fn target_on(base: &Url, path: &str) -> Result<String, Failure> {
    let Some(address) = Url::parse(path).ok().filter(|address| matches!(address.scheme(), "http" | "https")) else {
        return Ok(path.to_owned());
    };
    let api = format!("{}/api/v4/", base.path().trim_end_matches('/'));
    let below = path.split_once(&api).map(|(_, below)| below);
    match below.filter(|_| address.origin() == base.origin() && address.path().starts_with(&api)) {
        Some(below) => Ok(below.to_owned()),
        None => {
            let other = masked(address.as_str());
            let why = format!("{other} is not an address of the API of {base}; --host chooses another server");
            Err(Failure::usage(why))
        }
    }
}

fn masked(path: &str) -> String {
    crate::api::endpoint::mask(path)
}

/// Fetches all pages of a list. If a page fails, returns its response; if the first page is not a list, returns it
/// unchanged.
async fn all_pages(client: &Client, path: &str, mut fields: Vec<(String, String)>) -> Result<Response, Failure> {
    let in_path = |key: &str| path.contains(&format!("?{key}=")) || path.contains(&format!("&{key}="));
    if !in_path("per_page") && !fields.iter().any(|(key, _)| key == "per_page") {
        fields.push(("per_page".into(), PER_PAGE.into()));
    }
    let mut items: Vec<Box<RawValue>> = Vec::new();
    let mut bytes = 0;
    let mut last = None;
    let mut pages = pin!(client.all_raw(path, &fields));
    while let Some(response) = pages.try_next().await? {
        if !(200..300).contains(&response.status) {
            return Ok(response);
        }
        let too_large = |reason| Error { tried: format!("GET {}", masked(path)), fault: Fault::TooLarge(reason) };
        ReplyCounter::default().add(&response.body).map_err(too_large)?;
        bytes += response.body.len();
        if bytes > MAX_BYTES {
            return Err(too_large(format!("all pages together are larger than {} MB", MAX_BYTES >> 20)).into());
        }
        match serde_json::from_slice::<Vec<Box<RawValue>>>(&response.body) {
            Ok(list) => items.extend(list),
            Err(_) if last.is_none() && serde_json::from_slice::<IgnoredAny>(&response.body).is_ok() => {
                return Ok(response);
            }
            Err(_) => {
                let reason =
                    Vec::<serde_json::Value>::read(&response.body, None).err().map(|e| e.reason).unwrap_or_default();
                return Err(Failure::failed(format!("GET {} did not return a list: {reason}", masked(path))));
            }
        }
        last = Some(response);
    }
    let mut response = last.ok_or_else(|| Failure::failed("the server sent no page"))?;
    let all: Vec<&str> = items.iter().map(|item| item.get()).collect();
    response.body = format!("[{}]", all.join(",")).into();
    Ok(response)
}

fn write_body(body: &[u8], output: Option<&Path>) -> Result<(), Failure> {
    if let Some(path) = output {
        return files::write(path, body)
            .map_err(|e| Failure::failed(format!("--output: {} cannot be written: {e}", path.display())));
    }
    if body.is_empty() {
        return Ok(());
    }
    if io::stdout().is_terminal() {
        let mut out = BufWriter::new(io::stdout().lock());
        json::for_terminal(body, &mut out)?;
        return Ok(out.flush()?);
    }
    write_stdout(body)?;
    let is_json = matches!(body.first(), Some(b'{' | b'['));
    if is_json && !body.ends_with(b"\n") { write_stdout(b"\n") } else { Ok(()) }
}
