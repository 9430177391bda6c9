//! X.509 certificates that the user trusts themselves, of any version. The TLS library reads only those of version 3, and
//! does not look for the server's name in the subject.

use rustls::CertificateError;
use rustls::pki_types::{ServerName, UnixTime};
use std::net::IpAddr;

const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const ALTERNATIVE_NAMES: &[u8] = &[0x55, 0x1d, 0x11];
const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x25];
/// The purposes that allow a server: `serverAuth` and `anyExtendedKeyUsage`.
const SERVER_PURPOSES: [&[u8]; 2] = [&[0x2b, 6, 1, 5, 5, 7, 3, 1], &[0x55, 0x1d, 0x25, 0]];

const BIT_STRING: u8 = 3;
const OCTET_STRING: u8 = 4;
const OBJECT_IDENTIFIER: u8 = 6;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
/// The version, the extensions, and the names of hosts and addresses are tagged.
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;
const DNS_NAME: u8 = 0x82;
const IP_ADDRESS: u8 = 0x87;

/// A certificate of any version.
#[derive(Debug)]
pub struct Certificate<'a> {
    /// The whole certificate, without anything that follows it.
    pub der: &'a [u8],
    /// The public key as a `SubjectPublicKeyInfo`.
    pub key_info: &'a [u8],
    /// The algorithm of the public key, without its tag.
    pub key_algorithm: &'a [u8],
    /// The public key.
    pub key: &'a [u8],
    /// The times between which it is valid, as `YYYYMMDDHHMMSSZ`.
    validity: (String, String),
    common_name: Option<String>,
    alternative_names: Vec<Name>,
    /// Whether it may be used by servers.
    is_for_servers: bool,
}

#[derive(Debug, PartialEq)]
enum Name {
    Dns(String),
    Ip(Vec<u8>),
}

impl<'a> Certificate<'a> {
    /// Parses a certificate at the beginning of `der`; `None` if there is none.
    pub fn parse(mut der: &'a [u8]) -> Option<Certificate<'a>> {
        let whole = Element::next(&mut der)?.of(SEQUENCE)?;
        let mut fields = Element::next(&mut { whole.contents })?.of(SEQUENCE)?.contents;
        if fields.first() == Some(&VERSION) {
            Element::next(&mut fields)?;
        }
        let mut field = || Element::next(&mut fields);
        let (_serial, _signature, _issuer) = (field()?, field()?.of(SEQUENCE)?, field()?.of(SEQUENCE)?);
        let mut validity = field()?.of(SEQUENCE)?.contents;
        let subject = field()?.of(SEQUENCE)?.contents;
        let key_info = field()?.of(SEQUENCE)?;
        let mut key_fields = key_info.contents;
        let key_algorithm = Element::next(&mut key_fields)?.of(SEQUENCE)?.contents;
        let (0, key) = Element::next(&mut key_fields)?.of(BIT_STRING)?.contents.split_first()? else { return None };
        let mut certificate = Certificate {
            der: whole.whole,
            key_info: key_info.whole,
            key_algorithm,
            key,
            validity: (time(Element::next(&mut validity)?)?, time(Element::next(&mut validity)?)?),
            common_name: common_name(subject),
            alternative_names: Vec::new(),
            is_for_servers: true,
        };
        while let Some(field) = Element::next(&mut fields) {
            if field.tag == EXTENSIONS {
                certificate.read_extensions(Element::next(&mut { field.contents })?.of(SEQUENCE)?.contents)?;
            }
        }
        Some(certificate)
    }

    fn read_extensions(&mut self, mut extensions: &[u8]) -> Option<()> {
        while !extensions.is_empty() {
            let mut extension = Element::next(&mut extensions)?.of(SEQUENCE)?.contents;
            let id = Element::next(&mut extension)?.of(OBJECT_IDENTIFIER)?.contents;
            let value = elements(extension).find(|element| element.tag == OCTET_STRING)?.contents;
            match id {
                ALTERNATIVE_NAMES => {
                    let names = Element::next(&mut { value })?.of(SEQUENCE)?.contents;
                    self.alternative_names = elements(names).filter_map(Name::of).collect();
                }
                EXTENDED_KEY_USAGE => {
                    let purposes = Element::next(&mut { value })?.of(SEQUENCE)?.contents;
                    self.is_for_servers = elements(purposes).any(|purpose| SERVER_PURPOSES.contains(&purpose.contents));
                }
                _ => {}
            }
        }
        Some(())
    }

    /// Checks a certificate that the user trusts itself: its times, its purpose, and that it is one of `host`. Without
    /// alternative names, the common name counts, as in curl and git.
    pub fn check(&self, host: &ServerName, now: UnixTime) -> Result<(), CertificateError> {
        let now = i64::try_from(now.as_secs()).ok().and_then(|now| jiff::Timestamp::from_second(now).ok());
        let now = now.ok_or(CertificateError::Expired)?.strftime("%Y%m%d%H%M%SZ").to_string();
        if now < self.validity.0 {
            return Err(CertificateError::NotValidYet);
        }
        if now > self.validity.1 {
            return Err(CertificateError::Expired);
        }
        if !self.is_for_servers {
            return Err(CertificateError::InvalidPurpose);
        }
        let of_subject = self.common_name.as_deref().map(Name::of_text);
        let names = match (self.alternative_names.as_slice(), &of_subject) {
            ([], Some(name)) => std::slice::from_ref(name),
            (names, _) => names,
        };
        match names {
            [] => Err(CertificateError::NotValidForName),
            names if names.iter().any(|name| name.covers(host)) => Ok(()),
            names => Err(CertificateError::NotValidForNameContext {
                expected: host.to_owned(),
                presented: names.iter().map(Name::to_text).collect(),
            }),
        }
    }
}

impl Name {
    fn of(element: Element) -> Option<Name> {
        match element.tag {
            DNS_NAME => Some(Name::Dns(String::from_utf8_lossy(element.contents).into_owned())),
            IP_ADDRESS => Some(Name::Ip(element.contents.to_vec())),
            _ => None,
        }
    }

    fn of_text(text: &str) -> Name {
        text.parse().map_or_else(|_| Name::Dns(text.to_owned()), |ip| Name::Ip(octets(ip)))
    }

    fn to_text(&self) -> String {
        match self {
            Name::Dns(name) => name.clone(),
            Name::Ip(bytes) => match (<[u8; 4]>::try_from(bytes.as_slice()), <[u8; 16]>::try_from(bytes.as_slice())) {
                (Ok(four), _) => IpAddr::from(four).to_string(),
                (_, Ok(sixteen)) => IpAddr::from(sixteen).to_string(),
                _ => "an invalid address".to_owned(),
            },
        }
    }

    /// Returns whether this is the name of `host`. A leading `*.` stands for one label, but not of a top-level domain.
    fn covers(&self, host: &ServerName) -> bool {
        match (self, host) {
            (Name::Ip(bytes), ServerName::IpAddress(address)) => *bytes == octets(IpAddr::from(*address)),
            (Name::Dns(pattern), ServerName::DnsName(host)) => {
                let host = host.as_ref().trim_end_matches('.');
                let domain = pattern.strip_prefix("*.").filter(|domain| domain.contains('.'));
                match (domain, host.split_once('.')) {
                    (Some(domain), Some((_, rest))) => domain.eq_ignore_ascii_case(rest),
                    _ => pattern.eq_ignore_ascii_case(host),
                }
            }
            _ => false,
        }
    }
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

/// An element of DER.
#[derive(Clone, Copy)]
struct Element<'a> {
    tag: u8,
    contents: &'a [u8],
    /// The tag, the length and the contents.
    whole: &'a [u8],
}

impl<'a> Element<'a> {
    /// Splits the first element off `input`; `None` if it is incomplete.
    fn next(input: &mut &'a [u8]) -> Option<Element<'a>> {
        let (tag, rest) = input.split_first()?;
        let (first, rest) = rest.split_first()?;
        let (len, rest) = match *first {
            0..=0x7f => (usize::from(*first), rest),
            0x81..=0x83 => {
                let (bytes, rest) = rest.split_at_checked(usize::from(*first & 0x7f))?;
                (bytes.iter().fold(0, |len, byte| len << 8 | usize::from(*byte)), rest)
            }
            _ => return None,
        };
        let (contents, rest) = rest.split_at_checked(len)?;
        let whole = input.get(..input.len() - rest.len())?;
        *input = rest;
        Some(Element { tag: *tag, contents, whole })
    }

    fn of(self, tag: u8) -> Option<Element<'a>> {
        (self.tag == tag).then_some(self)
    }
}

/// Iterates over the elements of `input`, up to one that is incomplete.
fn elements(mut input: &[u8]) -> impl Iterator<Item = Element<'_>> {
    std::iter::from_fn(move || Element::next(&mut input))
}

/// Returns the last common name of a subject, as curl does.
fn common_name(subject: &[u8]) -> Option<String> {
    let attributes = elements(subject).flat_map(|set| elements(set.contents));
    let named = attributes.filter_map(|attribute| {
        let mut parts = elements(attribute.contents);
        (parts.next()?.contents == COMMON_NAME).then(|| parts.next()).flatten()
    });
    named.last().map(|name| String::from_utf8_lossy(name.contents).into_owned())
}

/// Returns a time with a year of four digits, so that times can be compared as text.
fn time(element: Element) -> Option<String> {
    let text = std::str::from_utf8(element.contents).ok()?;
    let is_complete = |len: usize| {
        text.len() == len && text.ends_with('Z') && text.bytes().rev().skip(1).all(|byte| byte.is_ascii_digit())
    };
    match element.tag {
        UTC_TIME if is_complete(13) => Some(format!("{}{text}", if text < "50" { "20" } else { "19" })),
        GENERALIZED_TIME if is_complete(15) => Some(text.to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wildcard_stands_for_one_label() {
        let covers = |pattern: &str, host: &str| {
            Name::of_text(pattern).covers(&ServerName::try_from(host.to_owned()).expect("a name"))
        };
        for (pattern, host, expected) in [
            ("git.example.com", "GIT.example.com", true),
            ("git.example.com", "git.example.com.", true),
            ("*.example.com", "git.example.com", true),
            ("*.example.com", "a.git.example.com", false),
            ("*.example.com", "example.com", false),
            ("*.com", "example.com", false),
            ("*", "localhost", false),
            ("g*.example.com", "git.example.com", false),
            ("10.0.0.1", "10.0.0.1", true),
            ("*.0.0.1", "10.0.0.1", false),
            ("::1", "0:0:0:0:0:0:0:1", true),
            ("", "localhost", false),
        ] {
            assert_eq!(covers(pattern, host), expected, "{pattern} {host}");
        }
    }

    #[test]
    fn times_of_both_kinds_are_compared_as_text() {
        let of = |tag, text: &str| time(Element { tag, contents: text.as_bytes(), whole: &[] });
        assert_eq!(of(UTC_TIME, "491231235959Z").as_deref(), Some("20491231235959Z"));
        assert_eq!(of(UTC_TIME, "500101000000Z").as_deref(), Some("19500101000000Z"));
        assert_eq!(of(GENERALIZED_TIME, "99991231235959Z").as_deref(), Some("99991231235959Z"));
        for text in ["", "Z", "4912312359+0", "491231235959+0100", "ab1231235959Z"] {
            assert_eq!(of(UTC_TIME, text), None, "{text}");
        }
    }

    #[test]
    fn incomplete_and_foreign_data_is_no_certificate() {
        for data in [&b""[..], b"0", b"\x30\x80", b"\x30\x84\xff\xff\xff\xff", b"\x30\x03\x30\x01\x00", &[0x30; 200]] {
            assert!(Certificate::parse(data).is_none(), "{data:?}");
        }
    }
}
