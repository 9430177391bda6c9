//! SSH and GPG keys of users.

use super::call::{Call, Outcome, ReadCall, WriteCall, ok};
use super::mount::Mount;
use super::records;
use super::rejection::Rejection;
use super::users;
use super::world::World;
use crate::presenters::time;
use api::NoContent;
use api::users::*;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use std::ops::Deref;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<ListKeys>(|call, _| list(call, call.require_user()?.id))
        .read_signed_in::<ListUserKeys>(of_user)
        .read_signed_in::<GetKey>(|call, input| get(call, call.require_user()?.id, input.key_id))
        .write::<AddKey>(|call, input| {
            let user = call.require_user()?.id;
            add(call, user, input.title, input.key)
        })
        .write::<AddUserKey>(|call, input| {
            let user = other_user(call, input.id)?;
            add(call, user, input.title, input.key)
        })
        .write::<DeleteKey>(|call, input| {
            let user = call.require_user()?.id;
            delete(call, user, input.key_id)
        })
        .write::<DeleteUserKey>(|call, input| {
            let user = other_user(call, input.id)?;
            delete(call, user, input.key_id)
        })
        .read_signed_in::<LookUpKey>(look_up)
        .read_signed_in::<ListGpgKeys>(|call, _| list_gpg(call, call.require_user()?.id))
        .read_signed_in::<GetGpgKey>(|call, input| get_gpg(call, call.require_user()?.id, input.key_id))
        .write::<AddGpgKey>(add_gpg)
        .write::<DeleteGpgKey>(delete_gpg)
        .read_signed_in::<ListUserGpgKeys>(|call, input| list_gpg(call, shown_user(call, input.id)?))
        .read_signed_in::<GetUserGpgKey>(|call, input| get_gpg(call, shown_user(call, input.id)?, input.key_id))
}

/// Returns the ID of another user, for administrators.
fn other_user<W: Deref<Target = World>>(call: &Call<W>, id: u64) -> Result<u64, Rejection> {
    call.require_admin()?;
    call.world.users.get(id).map(|user| user.id).ok_or_else(|| Rejection::not_found("User"))
}

/// Returns the ID of another user whose keys may be read: in the specification by administrators, now by everyone.
fn shown_user(call: &ReadCall, id: u64) -> Result<u64, Rejection> {
    if call.only_specified() {
        return other_user(call, id);
    }
    call.world.users.get(id).map(|user| user.id).ok_or_else(|| Rejection::not_found("User"))
}

fn show(key: &records::SshKey) -> SshKey {
    SshKey {
        id: key.id,
        title: key.title.clone(),
        key: key.key.clone(),
        created_at: Some(time(key.created_at)),
        expires_at: None.into(),
        last_used_at: None.into(),
        usage_type: Some("auth_and_signing".into()),
        ..SshKey::default()
    }
}

fn list(call: &ReadCall, user: u64) -> Outcome<Vec<SshKey>> {
    call.page(call.world.ssh_keys.iter().filter(|key| key.user == user).collect(), show)
}

fn of_user(call: &ReadCall, input: ListUserKeys) -> Outcome<Vec<SshKey>> {
    if call.only_specified() {
        call.require_admin()?;
    }
    list(call, users::named(call.world, &input.id)?.id)
}

fn get(call: &ReadCall, user: u64, id: u64) -> Outcome<SshKey> {
    let key = call.world.ssh_keys.get(id).filter(|key| key.user == user);
    ok(show(key.ok_or_else(|| Rejection::not_found("Key"))?))
}

fn look_up(call: &ReadCall, input: LookUpKey) -> Outcome<SshKey> {
    call.require_admin()?;
    let key = call.world.ssh_keys.get(input.id).ok_or_else(|| Rejection::not_found("Key"))?;
    let user = call.world.users.get(key.user).map(|user| call.full_profile(user));
    ok(SshKey { user: user.map(Box::new), ..show(key) })
}

/// Returns the type and the body of a public key, without the comment; two keys are equal if these are.
fn type_and_body(key: &str) -> Option<(&str, &str)> {
    let mut words = key.split_whitespace();
    let (kind, body) = (words.next()?, words.next()?);
    let kinds =
        ["ssh-rsa", "ssh-dss", "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521"];
    let bytes = STANDARD.decode(body).ok()?;
    // The body repeats the type, after its length.
    let length = bytes.get(..4)?.iter().fold(0usize, |n, byte| n << 8 | usize::from(*byte));
    let named = bytes.get(4..4usize.checked_add(length)?)?;
    (kinds.contains(&kind) && named == kind.as_bytes()).then_some((kind, body))
}

fn add(call: &mut WriteCall, user: u64, title: String, key: String) -> Outcome<SshKey> {
    let key = key.trim().to_owned();
    let Some(parts) = type_and_body(&key) else {
        let why = json!({ "key": ["is invalid"], "fingerprint": ["cannot be generated"] });
        return Err(Rejection::bad_request(why));
    };
    if title.trim().is_empty() {
        return Err(Rejection::bad_request(json!({ "title": ["can't be blank"] })));
    }
    if call.world.ssh_keys.iter().any(|known| type_and_body(&known.key) == Some(parts)) {
        let taken = ["has already been taken"];
        return Err(Rejection::bad_request(json!({ "fingerprint": taken, "key": taken })));
    }
    let new = records::SshKey { id: 0, user, title, key, created_at: call.now };
    let id = call.world.ssh_keys.add(new);
    ok(show(call.world.ssh_keys.get(id).ok_or_else(Rejection::record_not_found)?))
}

fn delete(call: &mut WriteCall, user: u64, id: u64) -> Outcome<NoContent> {
    let key = call.world.ssh_keys.get(id).filter(|key| key.user == user);
    let id = key.ok_or_else(|| Rejection::not_found("Key"))?.id;
    call.world.ssh_keys.remove(id);
    ok(NoContent)
}

fn show_gpg(key: &records::GpgKey) -> GpgKey {
    GpgKey { id: key.id, key: key.key.clone(), created_at: Some(time(key.created_at)) }
}

fn list_gpg(call: &ReadCall, user: u64) -> Outcome<Vec<GpgKey>> {
    call.page(call.world.gpg_keys.iter().filter(|key| key.user == user).collect(), show_gpg)
}

fn get_gpg(call: &ReadCall, user: u64, id: u64) -> Outcome<GpgKey> {
    let key = call.world.gpg_keys.get(id).filter(|key| key.user == user);
    ok(show_gpg(key.ok_or_else(|| Rejection::not_found("GPG Key"))?))
}

fn add_gpg(call: &mut WriteCall, input: AddGpgKey) -> Outcome<GpgKey> {
    let user = call.require_user()?.id;
    let key = input.key.trim().to_owned();
    let armored =
        key.starts_with("-----BEGIN PGP PUBLIC KEY BLOCK-----") && key.ends_with("-----END PGP PUBLIC KEY BLOCK-----");
    if !armored {
        return Err(Rejection::bad_request(json!({ "key": ["is invalid"] })));
    }
    if call.world.gpg_keys.iter().any(|known| known.key == key) {
        return Err(Rejection::bad_request(json!({ "key": ["has already been taken"] })));
    }
    let id = call.world.gpg_keys.add(records::GpgKey { id: 0, user, key, created_at: call.now });
    ok(show_gpg(call.world.gpg_keys.get(id).ok_or_else(Rejection::record_not_found)?))
}

fn delete_gpg(call: &mut WriteCall, input: DeleteGpgKey) -> Outcome<NoContent> {
    let user = call.require_user()?.id;
    let key = call.world.gpg_keys.get(input.key_id).filter(|key| key.user == user);
    let id = key.ok_or_else(|| Rejection::not_found("GPG Key"))?.id;
    call.world.gpg_keys.remove(id);
    ok(NoContent)
}
