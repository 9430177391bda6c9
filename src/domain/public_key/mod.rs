//! Parses public keys: the type and the fingerprint of a key, and the detection of private keys, which must never be
//! sent.

mod gpg;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use sha2::{Digest, Sha256};

/// The maximum size of a text that is parsed, in bytes: no public key is longer.
pub const MAX_KEY_BYTES: u64 = 256 * 1024;

/// The family of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    Ssh,
    Gpg,
}

impl Family {
    /// Returns the display name of the family.
    pub fn name(self) -> &'static str {
        match self {
            Family::Ssh => "SSH key",
            Family::Gpg => "GPG key",
        }
    }
}

/// A parsed public key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey {
    pub family: Family,
    /// The type and the size of the key: `ED25519`, `RSA, 4096 bits`.
    pub kind: String,
    /// The fingerprint in the format of `ssh-keygen` or `gpg`.
    pub fingerprint: String,
    /// The comment of an SSH key, or the first user ID of a GPG key.
    pub comment: String,
    /// The text that is sent to the server.
    pub text: String,
}

/// The error message for a private key.
pub const PRIVATE: &str = "This is a private key; nothing was sent or kept. Give its public half (.pub).";

/// Returns whether a text contains a private key, or the start of one.
pub fn is_private(text: &str) -> bool {
    let marks = ["PRIVATE KEY", "PuTTY-User-Key-File", "AGE-SECRET-KEY"];
    // The body of a private OpenSSH key without its header.
    marks.iter().any(|mark| text.contains(mark)) || text.contains("b3BlbnNzaC1rZXktdjE")
}

/// Returns whether a text looks like a key rather than the path of one.
pub fn is_key(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("-----BEGIN") || text.starts_with("---- BEGIN") || begins_with_kind(text)
}

fn begins_with_kind(text: &str) -> bool {
    let word = text.split_whitespace().next().unwrap_or_default();
    let kind = word.starts_with("ssh-") || word.starts_with("ecdsa-sha2-") || word.starts_with("sk-");
    kind && text.trim().contains(' ')
}

/// Parses the contents of a key file. A private key is detected before anything else and no part of it is kept.
pub fn read_bytes(family: Family, bytes: &[u8]) -> Result<PublicKey, String> {
    match std::str::from_utf8(bytes) {
        Ok(text) => read(family, text),
        Err(_) if bytes.first().is_some_and(|first| first & 0x80 != 0) => {
            Err("This is not text. Export a GPG key as text with: gpg --armor --export NAME".into())
        }
        Err(_) => Err("This is not text, and not a key that can be added.".into()),
    }
}

/// Parses the text of a key.
pub fn read(family: Family, text: &str) -> Result<PublicKey, String> {
    if is_private(text) {
        return Err(PRIVATE.into());
    }
    let is_gpg = text.contains("-----BEGIN PGP PUBLIC KEY BLOCK-----");
    match family {
        Family::Gpg if is_gpg => gpg::read(text),
        Family::Gpg => Err("This is not a GPG key; gpg --armor --export NAME prints one.".into()),
        Family::Ssh if is_gpg => Err("This is a GPG key: add it under GPG keys.".into()),
        Family::Ssh => read_ssh(text),
    }
}

fn read_ssh(text: &str) -> Result<PublicKey, String> {
    if text.contains("---- BEGIN SSH2 PUBLIC KEY ----") {
        return read_rfc4716(text);
    }
    if text.contains("-----BEGIN") {
        return Err("Servers only accept keys in OpenSSH format: ssh-keygen -i -m PKCS8 -f FILE converts it.".into());
    }
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let line = lines.next().ok_or("It contains no key.")?;
    if lines.next().is_some() {
        return Err("It has several lines: add one key at a time.".into());
    }
    let mut words = line.splitn(3, char::is_whitespace);
    let (kind, body) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let comment = words.next().unwrap_or_default().trim();
    if !begins_with_kind(line) {
        return Err("This is not a public SSH key: public keys begin with ssh-ed25519, ssh-rsa or ecdsa-sha2-….".into());
    }
    let bytes = decode(body).ok_or("The key is damaged: the data after its type cannot be read.")?;
    describe(kind, &bytes, comment, line.to_owned())
}

/// Parses the format of RFC 4716, which some programs other than OpenSSH write.
fn read_rfc4716(text: &str) -> Result<PublicKey, String> {
    let inside = text.lines().map(str::trim).skip_while(|line| !line.starts_with("---- BEGIN")).skip(1);
    let mut comment = String::new();
    let mut body = String::new();
    let mut continued = false;
    for line in inside.take_while(|line| !line.starts_with("---- END")) {
        if continued || line.contains(": ") {
            continued = line.ends_with('\\');
            if let Some(words) = line.strip_prefix("Comment: ") {
                comment = words.trim_matches('"').to_owned();
            }
        } else {
            body.push_str(line);
        }
    }
    let bytes = decode(&body).ok_or("The key is damaged: its text cannot be read.")?;
    let mut rest = bytes.as_slice();
    let kind = field(&mut rest).map(|kind| String::from_utf8_lossy(kind).into_owned()).unwrap_or_default();
    let line = [kind.as_str(), &STANDARD.encode(&bytes), &comment].join(" ").trim_end().to_owned();
    describe(&kind, &bytes, &comment, line)
}

fn decode(body: &str) -> Option<Vec<u8>> {
    STANDARD.decode(body).or_else(|_| STANDARD_NO_PAD.decode(body)).ok().filter(|bytes| !bytes.is_empty())
}

/// Returns the next field of a body: a length, then that many bytes.
fn field<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, behind) = rest.split_first_chunk::<4>()?;
    let (field, behind) = behind.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    *rest = behind;
    Some(field)
}

/// Returns the number of significant bits of a big-endian number.
fn bits(number: &[u8]) -> usize {
    let first = number.iter().position(|byte| *byte != 0).unwrap_or(number.len());
    let rest = number.get(first..).unwrap_or_default();
    rest.first().map_or(0, |top| rest.len() * 8 - top.leading_zeros() as usize)
}

fn describe(kind: &str, bytes: &[u8], comment: &str, text: String) -> Result<PublicKey, String> {
    let mut rest = bytes;
    let named = field(&mut rest).ok_or("The key is damaged: it is cut short.")?;
    if named != kind.as_bytes() {
        return Err(format!("The key is damaged: it is labeled {kind} but contains something else."));
    }
    if kind.contains("-cert-") {
        return Err("This is a certificate: the public key itself is needed.".into());
    }
    let kind = match kind {
        "ssh-ed25519" => "ED25519".into(),
        "sk-ssh-ed25519@openssh.com" => "ED25519 on a security key".into(),
        "sk-ecdsa-sha2-nistp256@openssh.com" => "ECDSA on a security key".into(),
        "ssh-rsa" => {
            let _exponent = field(&mut rest);
            format!("RSA, {} bits", field(&mut rest).map_or(0, bits))
        }
        "ssh-dss" => format!("DSA, {} bits: current servers reject it", field(&mut rest).map_or(0, bits)),
        other => match other.strip_prefix("ecdsa-sha2-nistp") {
            Some(size) => format!("ECDSA, {size} bits"),
            None => other.to_owned(),
        },
    };
    let fingerprint = format!("SHA256:{}", STANDARD_NO_PAD.encode(Sha256::digest(bytes)));
    Ok(PublicKey { family: Family::Ssh, kind, fingerprint, comment: comment.to_owned(), text })
}

#[cfg(test)]
mod tests {
    use super::*;

    // Generated with ssh-keygen for these tests only; the fingerprints are those that `ssh-keygen -l` prints.
    const ED25519: &str =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILpRKlate28RTaS8YzC2gZgMLVzY5+a0GZLDNcMyI0nj test@labscope";
    const RSA: &str = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQDoYcaEodbYOzG1YiZlbcrWXSqyftt6lEYUWsKdZY5a9vgw+K0aOqvkukEvSM+SeovvuoilVB8I3qp/6wTgD+kW2H7RukeQ147MHMH5nublOyPl5TVVsACaVO+5qeEOI1GZIOubA5TyRzumA1CxBxfb2RJOrsJionayD75srteTxeGivtFJC3RBPhRFCBaCToTJouqy5QLVQ4o8jdAGhgfws6gB1HBZIVU3jh8cQmrF0E3ecRVAWy/LH88rhIU4wMjBX0uHjSFbVCOMDuw8Kr5a+St675qt65g4mQzvMpUeXsLQ3O3uK+4hOSF3kQuAJu0kpEDLXY1ny0GIz/vMGp7d";

    fn ssh(text: &str) -> Result<PublicKey, String> {
        read(Family::Ssh, text)
    }

    #[test]
    fn a_public_key_has_the_kind_and_fingerprint_that_ssh_prints() {
        let key = ssh(ED25519).expect("a key");
        assert_eq!((key.kind.as_str(), key.comment.as_str()), ("ED25519", "test@labscope"));
        assert_eq!(key.fingerprint, "SHA256:9UbhFIurkgwTQIArnScxuyjeQdftI89ndk+DhymeX74");
        let key = ssh(&format!("# mine\n{RSA} two words\n")).expect("a key");
        assert_eq!((key.kind.as_str(), key.comment.as_str()), ("RSA, 2048 bits", "two words"));
        assert_eq!(key.fingerprint, "SHA256:ZUoczWXY2QyYxt2fxrb+s4A0f7bbe3T3BetBC7fhmmc");
        assert_eq!(key.text, format!("{RSA} two words"));
    }

    #[test]
    fn rfc4716_keys_are_converted_to_openssh() {
        let body = ED25519.split(' ').nth(1).expect("a body");
        let (a, b) = body.split_at(40);
        let text =
            format!("---- BEGIN SSH2 PUBLIC KEY ----\nComment: \"mine\"\n{a}\n{b}\n---- END SSH2 PUBLIC KEY ----\n");
        let key = ssh(&text).expect("a key");
        assert_eq!((key.text.as_str(), key.comment.as_str()), (format!("ssh-ed25519 {body} mine").as_str(), "mine"));
    }

    #[test]
    fn private_keys_are_rejected() {
        for text in [
            "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----",
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE",
            "-----BEGIN PGP PRIVATE KEY BLOCK-----\n",
            "PuTTY-User-Key-File-3: ssh-ed25519",
            "b3BlbnNzaC1rZXktdjEAAAAABG5vbmU",
        ] {
            for family in [Family::Ssh, Family::Gpg] {
                let why = read(family, text).expect_err("refused");
                assert!(why.contains("private key") && !why.contains("b3Blbn"), "{why}");
            }
        }
    }

    #[test]
    fn invalid_keys_are_explained() {
        for (text, why) in [
            ("", "contains no key"),
            ("hello world", "not a public SSH key"),
            ("ssh-ed25519 AAAA!", "damaged"),
            ("ssh-ed25519 AAAAB3NzaC1yc2E=", "contains something else"),
            ("ssh-rsa AAAA", "cut short"),
            ("-----BEGIN PUBLIC KEY-----\nMIIB", "ssh-keygen -i"),
            ("-----BEGIN PGP PUBLIC KEY BLOCK-----\n", "GPG key"),
        ] {
            let message = ssh(text).expect_err(text);
            assert!(message.contains(why), "{text}: {message}");
        }
        assert!(ssh(&format!("{ED25519}\n{ED25519}")).expect_err("two").contains("one key at a time"));
        assert!(read_bytes(Family::Gpg, &[0x99, 0x01, 0x0d, 0xff]).expect_err("bytes").contains("--armor"));
    }
}
