//! The server's license.
//!
//! No feature depends on it. A license is the Base64 encoding of a JSON object with `data`, `key` and `iv`, as GitLab
//! servers accept it; `data` is the Base64 encoding of the license itself, unencrypted, because it contains no secrets.

use super::call::{Outcome, ReadCall, WriteCall, ok};
use super::mount::Mount;
use super::records;
use super::rejection::Rejection;
use super::world::World;
use crate::presenters::date;
use api::Named;
use api::license::*;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::civil::Date;
use jiff::{Timestamp, tz::TimeZone};
use serde_json::json;

pub fn mount(mount: Mount) -> Mount {
    mount.read_signed_in::<GetLicense>(get).write::<AddLicense>(add)
}

fn show(world: &World, license: &records::License) -> License {
    let named = |key: &str| license.licensee.get(key).cloned();
    License {
        starts_at: date(license.starts_at),
        expires_at: date(license.expires_at),
        licensee: Some(Licensee { name: named("Name"), company: named("Company"), email: named("Email") }),
        user_limit: license.user_limit,
        active_users: Some(world.users.iter().filter(|user| !user.blocked).count() as u64),
        add_ons: Named(license.add_ons.clone()),
        ..License::default()
    }
}

fn get(call: &ReadCall, _: GetLicense) -> Outcome<Option<License>> {
    call.require_admin()?;
    ok(call.world.licenses.iter().next_back().map(|license| show(call.world, license)))
}

fn add(call: &mut WriteCall, input: AddLicense) -> Outcome<License> {
    call.require_admin()?;
    let license = read(&input.license).ok_or_else(|| Rejection::bad_request("The license key is invalid."))?;
    let today = call.now.to_zoned(TimeZone::UTC).date();
    if license.expires_at.is_some_and(|end| end < today) {
        return Err(Rejection::bad_request("This license has already expired."));
    }
    let active = call.world.users.iter().filter(|user| !user.blocked).count() as u64;
    if license.user_limit.is_some_and(|limit| active > limit) {
        return Err(Rejection::bad_request(format!(
            "This license allows fewer users than the {active} that are active."
        )));
    }
    call.world.licenses.add(license.clone());
    ok(show(call.world, &license))
}

fn read(text: &str) -> Option<records::License> {
    let compact: String = text.split_whitespace().collect();
    let envelope: serde_json::Value = serde_json::from_slice(&STANDARD.decode(compact).ok()?).ok()?;
    envelope.get("key")?.as_str()?;
    envelope.get("iv")?.as_str()?;
    let data = STANDARD.decode(envelope.get("data")?.as_str()?).ok()?;
    let mut license: records::License = serde_json::from_slice(&data).ok()?;
    license.id = 0;
    (license.starts_at.is_some() && !license.licensee.is_empty()).then_some(license)
}

/// Returns the text of a license that `POST /license` accepts and that is valid for ten years from `now`.
pub fn sample(now: Timestamp) -> String {
    let starts: Date = now.to_zoned(TimeZone::UTC).date();
    let data = json!({
        "starts_at": starts,
        "expires_at": starts.saturating_add(jiff::Span::new().years(10)),
        "licensee": { "Name": "Ada Sommer", "Company": "Acme Terminal Works", "Email": "ada@acme.example" },
        "user_limit": 10_000,
        "add_ons": {},
    });
    let data = STANDARD.encode(data.to_string());
    STANDARD.encode(json!({ "data": data, "key": "none", "iv": "none" }).to_string())
}
