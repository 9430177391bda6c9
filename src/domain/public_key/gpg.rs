//! Parses the first packets of an armored GPG public key.

use super::{Family, PublicKey, bits};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha1::Sha1;
use sha2::{Digest, Sha256};

const BEGIN: &str = "-----BEGIN PGP PUBLIC KEY BLOCK-----";
const END: &str = "-----END PGP PUBLIC KEY BLOCK-----";
/// The maximum number of packets that are read: the key comes first, and its user IDs soon after it.
const MAX_PACKETS: usize = 12;

const PUBLIC: u8 = 6;
const SECRET: u8 = 5;
const USER: u8 = 13;

pub fn read(text: &str) -> Result<PublicKey, String> {
    let damaged = || "The key is damaged: it cannot be read.".to_owned();
    let start = text.find(BEGIN).ok_or_else(damaged)?;
    let inside = text.get(start + BEGIN.len()..).unwrap_or_default();
    let end = inside.find(END).ok_or("The key is cut short: its last line is missing.")?;
    let whole = text.get(start..start + BEGIN.len() + end + END.len()).unwrap_or_default();
    let inner = inside.get(..end).unwrap_or_default().trim();
    // A terminal's line input may have replaced the line ends with spaces.
    let parts: Vec<&str> =
        if inner.contains('\n') { inner.lines().map(str::trim).collect() } else { inner.split_whitespace().collect() };
    let whole = if inner.contains('\n') { whole.to_owned() } else { [BEGIN, "", &parts.join("\n"), END].join("\n") };
    // Headers, then the body; the line of its checksum begins with `=`.
    let body: String = parts.into_iter().filter(|line| !line.contains(": ") && !line.starts_with('=')).collect();
    let bytes = STANDARD.decode(body).map_err(|_| damaged())?;
    let mut rest = bytes.as_slice();
    let mut found: Option<(String, String)> = None;
    let mut comment = String::new();
    for _ in 0..MAX_PACKETS {
        let Some((tag, packet)) = packet(&mut rest) else { break };
        match tag {
            SECRET => return Err(super::PRIVATE.into()),
            PUBLIC if found.is_none() => found = describe(packet),
            USER if comment.is_empty() => comment = String::from_utf8_lossy(packet).into_owned(),
            _ => {}
        }
    }
    let (kind, fingerprint) = found.ok_or_else(damaged)?;
    Ok(PublicKey { family: Family::Gpg, kind, fingerprint, comment, text: whole })
}

/// Returns the tag and the body of the next packet, or `None` at a packet whose length is not given in one piece.
fn packet<'a>(rest: &mut &'a [u8]) -> Option<(u8, &'a [u8])> {
    let (head, behind) = rest.split_first()?;
    let (tag, length, behind) = if head & 0x40 != 0 {
        let (first, behind) = behind.split_first()?;
        let (length, behind) = match first {
            0..192 => (usize::from(*first), behind),
            192..224 => {
                let (second, behind) = behind.split_first()?;
                ((usize::from(*first) - 192) * 256 + usize::from(*second) + 192, behind)
            }
            255 => {
                let (long, behind) = behind.split_first_chunk::<4>()?;
                (u32::from_be_bytes(*long) as usize, behind)
            }
            _ => return None,
        };
        (head & 0x3f, length, behind)
    } else {
        let bytes = 1usize << (head & 3);
        let (long, behind) = behind.split_at_checked(bytes).filter(|_| head & 3 != 3 && head & 0x80 != 0)?;
        (head >> 2 & 0xf, long.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)), behind)
    };
    let (body, behind) = behind.split_at_checked(length)?;
    *rest = behind;
    Some((tag, body))
}

/// Returns the type and the fingerprint of a key.
fn describe(packet: &[u8]) -> Option<(String, String)> {
    let version = *packet.first()?;
    let (algorithm, numbers) = (*packet.get(5)?, packet.get(if version >= 5 { 10 } else { 6 }..)?);
    let size = || numbers.get(2..).map_or(0, |number| number.len().min(usize::from(u16::MAX)));
    let rsa = || {
        let length = numbers.first_chunk::<2>().map_or(0, |bits| usize::from(u16::from_be_bytes(*bits)));
        let bytes = length.div_ceil(8).min(size());
        bits(numbers.get(2..2 + bytes).unwrap_or_default())
    };
    let kind = match algorithm {
        1..=3 => format!("RSA, {} bits", rsa()),
        17 => format!("DSA, {} bits", rsa()),
        18 => "ECDH".into(),
        19 => "ECDSA".into(),
        22 => "EdDSA".into(),
        27 => "ED25519".into(),
        28 => "ED448".into(),
        other => format!("algorithm {other}"),
    };
    let length = packet.len();
    let digest: Vec<u8> = match version {
        4 => {
            let head = [[0x99].as_slice(), &u16::try_from(length).ok()?.to_be_bytes()].concat();
            Sha1::new().chain_update(head).chain_update(packet).finalize().to_vec()
        }
        5 | 6 => {
            let first = if version == 5 { 0x9a } else { 0x9b };
            let head = [[first].as_slice(), &u32::try_from(length).ok()?.to_be_bytes()].concat();
            Sha256::new().chain_update(head).chain_update(packet).finalize().to_vec()
        }
        _ => return None,
    };
    let hex: String = digest.iter().map(|byte| format!("{byte:02X}")).collect();
    let groups: Vec<&str> = (0..hex.len()).step_by(4).filter_map(|at| hex.get(at..hex.len().min(at + 4))).collect();
    Some((kind, groups.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    // The key of RFC 9580, appendix A.1: version 4, EdDSA.
    const SAMPLE: &str = "-----BEGIN PGP PUBLIC KEY BLOCK-----

xjMEU/NfCxYJKwYBBAHaRw8BAQdAPwmJlL3ZFu1AUxl5NOSofIBzOhKA1i+AEJku
Q+47JAY=
-----END PGP PUBLIC KEY BLOCK-----";

    #[test]
    fn a_key_has_a_kind_and_fingerprint() {
        let key = read(SAMPLE).expect("a key");
        assert_eq!(key.kind, "EdDSA");
        assert_eq!(key.fingerprint, "C959 BDBA FA32 A2F8 9A15 3B67 8CFD E121 9796 5A9A");
        assert_eq!(key.text, SAMPLE);
        assert_eq!(read(&SAMPLE.replace('\n', " ")).expect("a key in one line").text, SAMPLE);
    }

    #[test]
    fn damaged_keys_are_reported_without_panic() {
        assert!(read("-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nAAAA").expect_err("cut").contains("cut short"));
        let bytes = STANDARD.decode(SAMPLE.lines().skip(2).take(2).collect::<String>()).expect("Base64");
        for length in 0..bytes.len() {
            let text = format!("{BEGIN}\n\n{}\n{END}", STANDARD.encode(&bytes[..length]));
            assert!(read(&text).expect_err("cut").contains("damaged"), "{length}");
        }
        for byte in 0..=255u8 {
            let text = format!("{BEGIN}\n\n{}\n{END}", STANDARD.encode([byte; 40]));
            let _ = read(&text);
        }
        let secret = [vec![0xc5, bytes[1]], bytes[2..].to_vec()].concat();
        let text = format!("{BEGIN}\n\n{}\n{END}", STANDARD.encode(secret));
        assert!(read(&text).expect_err("secret").contains("private key"));
    }
}
