//! Tests of valid and invalid archives: listing, unpacking, rejecting.

use super::*;
use ::zip::write::{FileOptions, SimpleFileOptions};
use ::zip::{CompressionMethod, ZipWriter};
use std::io::{Cursor, Write};

fn packed(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, bytes) in files {
        // Short texts are stored uncompressed, because tests change them.
        let method = if bytes.len() < 9 { CompressionMethod::Stored } else { CompressionMethod::Deflated };
        zip.start_file(*path, SimpleFileOptions::default().compression_method(method)).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn listed(bytes: Vec<u8>) -> Result<CentralDirectory, Refusal> {
    match list(&Parts::whole(bytes.into()), &|| false) {
        Step::Done(made) => made,
        Step::Need(range) => panic!("{range:?} of a whole archive"),
    }
}

fn extracted(bytes: Vec<u8>, index: usize) -> Result<Bytes, Refusal> {
    let parts = Parts::whole(bytes.clone().into());
    match extract_to_memory(&parts, &listed(bytes).unwrap().entries[index], 1 << 20) {
        Step::Done(made) => made,
        Step::Need(range) => panic!("{range:?} of a whole archive"),
    }
}

/// Overwrites the first occurrence of `old`.
fn patch(bytes: &mut [u8], old: &[u8], new: &[u8]) {
    let at = memchr::memmem::find(bytes, old).expect("what is to be changed");
    bytes[at..at + new.len()].copy_from_slice(new);
}

#[test]
fn files_are_listed_and_unpacked_from_parts_of_the_archive() {
    let long = "a line of some text\n".repeat(40_000);
    let noise: Vec<u8> = (0..600_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
    let bytes = packed(&[("a.txt", b"one"), ("noise.bin", &noise), ("dir/b.txt", long.as_bytes())]);
    let total = bytes.len() as u64;
    let mut parts = Parts::of(total);
    let mut asked = Vec::new();
    let list = loop {
        match list(&parts, &|| false) {
            Step::Done(made) => break made.unwrap(),
            Step::Need(range) => {
                parts.add(range.start, bytes[range.start as usize..range.end as usize].to_vec().into());
                asked.push(range);
            }
        }
    };
    assert_eq!(asked.len(), 1, "the end alone: {asked:?}");
    let paths: Vec<_> = list.entries.iter().map(|e| (e.path.as_str(), e.uncompressed_size)).collect();
    assert_eq!(paths, [("a.txt", 3), ("noise.bin", 600_000), ("dir/b.txt", long.len() as u64)]);
    let mut parts = Parts::of(total);
    let Step::Need(range) = extract_to_memory(&parts, &list.entries[0], 1 << 20) else { panic!("nothing is here yet") };
    parts.add(range.start, bytes[range.start as usize..range.end as usize].to_vec().into());
    let Step::Done(made) = extract_to_memory(&parts, &list.entries[0], 1 << 20) else { panic!("it is here now") };
    assert_eq!(made.unwrap(), "one");
    assert_eq!(extracted(bytes, 2).unwrap(), long);
}

#[test]
fn invalid_and_damaged_archives_are_reported() {
    assert_eq!(listed(b"no".to_vec()), Err(Refusal::NotZip));
    assert_eq!(listed(vec![b'x'; 4000]), Err(Refusal::NotZip));
    let whole = packed(&[("a.txt", b"one"), ("b.txt", b"two")]);
    // The end is missing, as after an interrupted upload.
    assert_eq!(listed(whole[..whole.len() - 30].to_vec()), Err(Refusal::NotZip));
    // The start is missing: the central directory declares more data before itself than there is.
    assert_eq!(listed(whole[20..].to_vec()), Err(Refusal::Corrupt("the directory of the archive is inconsistent")));
    let mut damaged = whole.clone();
    patch(&mut damaged, b"one", b"onE");
    let wrong = "the checksum of the file does not match";
    let stored = |bytes: Vec<u8>| extracted(bytes, 0);
    assert!(matches!(stored(damaged), Err(Refusal::Corrupt(why)) if why == wrong || why.contains("invalid")));
    let mut list = whole.clone();
    let second = memchr::memmem::rfind(&list, b"PK\x01\x02").unwrap();
    list[second] = b'X';
    let list = listed(list).unwrap();
    assert_eq!((list.entries.len(), list.corruption), (1, Some("the directory of the archive is truncated")));
    for cut in 0..whole.len() {
        let _ = listed(whole[..cut].to_vec());
        let mut changed = whole.clone();
        changed[cut] ^= 0xff;
        if let Ok(list) = listed(changed.clone()) {
            for index in 0..list.entries.len() {
                let _ = extracted(changed.clone(), index);
            }
        }
    }
}

#[test]
fn traversal_links_and_encrypted_files_are_reported_and_not_opened() {
    let bytes = packed(&[("../../etc/passwd", b"x"), ("/etc/passwd", b"x"), ("C:\\boot.ini", b"x"), ("a//b", b"x")]);
    let list = listed(bytes.clone()).unwrap();
    // The crate that writes these entries sanitizes some paths; the rest are odd or harmless.
    for entry in &list.entries {
        assert!(entry.anomaly.is_some() || !entry.path.contains(".."), "{}", entry.path);
    }
    for (path, anomaly) in [
        ("../x", Some(Anomaly::PathTraversal)),
        ("a/../../x", Some(Anomaly::PathTraversal)),
        ("a\\..\\x", Some(Anomaly::PathTraversal)),
        ("/etc/passwd", Some(Anomaly::Absolute)),
        ("\\\\host\\share", Some(Anomaly::Absolute)),
        ("c:/x", Some(Anomaly::Absolute)),
        ("a:b.txt", cfg!(windows).then_some(Anomaly::Absolute)),
        ("", Some(Anomaly::InvalidPath)),
        ("a//b", Some(Anomaly::InvalidPath)),
        ("./a", Some(Anomaly::InvalidPath)),
        ("a\0b", Some(Anomaly::InvalidPath)),
        ("a/b..c/..d", None),
        ("folder/", None),
    ] {
        assert_eq!(path_anomaly(path), anomaly, "{path:?}");
    }
    for (levels, anomaly) in [(64, None), (65, Some(Anomaly::TooDeep))] {
        assert_eq!(path_anomaly(&"a/".repeat(levels)), anomaly, "{levels}");
    }
    assert_eq!(Anomaly::TooDeep.message(), "Its path has too many levels, so it is not opened.");
    assert!(Anomaly::TooDeep.is_path_anomaly());
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.add_symlink("link", "/etc/passwd", FileOptions::<()>::default()).unwrap();
    let bytes = zip.finish().unwrap().into_inner();
    // It is not followed: its content is its target.
    assert_eq!(listed(bytes.clone()).unwrap().entries[0].anomaly, Some(Anomaly::Link));
    assert_eq!(extracted(bytes, 0).unwrap(), "/etc/passwd");
}

#[test]
fn zip_bombs_are_detected_by_declared_and_actual_sizes() {
    let zeros = vec![0; 200_000];
    let mut bytes = packed(&[("zeros", &zeros)]);
    let claimed = 200_000_u32.to_le_bytes();
    // Declares four bytes, but unpacks to many.
    patch(&mut bytes, &claimed, &4_u32.to_le_bytes());
    patch(&mut bytes, &claimed, &4_u32.to_le_bytes());
    assert_eq!(
        extracted(bytes.clone(), 0),
        Err(Refusal::Corrupt("the file unpacks to more than the archive declares"))
    );
    // Declares two gigabytes, far more than so few bytes can contain.
    let list_at = memchr::memmem::find(&bytes, b"PK\x01\x02").unwrap();
    bytes[list_at + 24..list_at + 28].copy_from_slice(&2_000_000_000_u32.to_le_bytes());
    assert_eq!(extracted(bytes, 0), Err(Refusal::Anomaly(Anomaly::ZipBomb)));
    // A correct size, but too large to be shown.
    let honest = packed(&[("text", "x y z ".repeat(400_000).as_bytes())]);
    assert_eq!(extracted(honest, 0), Err(Refusal::TooLarge(2_400_000)));
}

#[test]
fn an_archive_after_other_bytes_is_read() {
    let mut bytes = b"#!/bin/sh\nexec unzip \"$0\"\n".to_vec();
    bytes.extend(packed(&[("a.txt", b"one")]));
    assert_eq!(extracted(bytes, 0).unwrap(), "one");
}
