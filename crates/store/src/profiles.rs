//! Sampled trials of a run: stored one by one after its trials, each under a seal of its own.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use lab::experiment::Point;
use lab::record::{ProfileRecord, TrialKey};
use profile::Profile;
use rusqlite::{Connection, Transaction};

use crate::cell::row;
use crate::error::Fault;
use crate::ledger;
use crate::sealed::{PROFILES, unlike};
use crate::table::{PROFILE, Rows};

/// The profiles of one run: more than the sampled trials of any experiment.
const MOST: usize = 100_000;
/// A profile is never longer when it is no longer compressed.
const LONGEST: u64 = 32 << 20;

pub(crate) fn insert(
    transaction: &Transaction<'_>,
    run: i64,
    record: &ProfileRecord,
) -> Result<(), Fault> {
    PROFILES.insert(transaction, &[run, i64::from(record.key.number)], &rows(record))
}

/// The profiles of a run. A damaged one is reported in its place.
pub(crate) fn read(connection: &Connection, run: i64) -> Result<Vec<ProfileRecord>, Fault> {
    let numbers = numbers(connection, run)?.into_iter();
    numbers.map(|number| one(connection, [run, i64::from(number)], number)).collect()
}

fn one(connection: &Connection, owner: [i64; 2], number: u32) -> Result<ProfileRecord, Fault> {
    let read = sealed(connection, owner);
    match read.and_then(|rows| profile(number, rows).map_err(Fault::Damaged)) {
        Err(Fault::Damaged(says) | Fault::Disk(says) | Fault::Refused(says)) => {
            let found = Err(format!("what was kept of it is damaged: {says}"));
            Ok(ProfileRecord { key: said_key(connection, owner, number)?, found })
        }
        read => read,
    }
}

/// Which server and load a damaged profile says that it is of; none that there is, if it no longer says that.
fn said_key(connection: &Connection, owner: [i64; 2], number: u32) -> Result<TrialKey, Fault> {
    let said = match ledger::read(connection, &owner, PROFILE) {
        Ok(mut rows) => rows.take("run_profile").next(),
        Err(Fault::Damaged(_) | Fault::Disk(_) | Fault::Refused(_)) => None,
        Err(fault) => return Err(fault),
    };
    Ok(match said.and_then(|mut row| row.next::<TrialKey>().ok()) {
        Some(key) => TrialKey { number, ..key },
        None => TrialKey::new(number, "", "", Point::Connections(0), 0),
    })
}

/// The numbers of the profiles that were stored.
pub(crate) fn numbers(connection: &Connection, run: i64) -> Result<Vec<u32>, Fault> {
    let sql = "SELECT profile FROM run_profile_seal WHERE run = ?1
               UNION SELECT profile FROM run_profile WHERE run = ?1 ORDER BY profile";
    let mut statement = connection.prepare_cached(sql)?;
    let numbers = statement.query_map([run], |row| row.get(0))?;
    let numbers: Vec<u32> = numbers.take(MOST + 1).collect::<Result<_, _>>()?;
    match numbers.len() {
        0..=MOST => Ok(numbers),
        _ => Err(Fault::TooMuch(format!("run {run}: more than {MOST} profiles"))),
    }
}

/// The rows of a profile; they are those that were sealed.
pub(crate) fn sealed(connection: &Connection, owner: [i64; 2]) -> Result<Rows, Fault> {
    PROFILES.read(connection, &owner, unlike)?.ok_or_else(unlike)
}

pub(crate) fn rows(record: &ProfileRecord) -> Rows {
    let (wrong, body) = match &record.found {
        Ok(profile) => (None, Some(packed(profile))),
        Err(wrong) => (Some(wrong.clone()), None),
    };
    let mut rows = Rows::default();
    rows.add("run_profile", row![record.key, wrong, body]);
    rows
}

/// The profile that is read from these rows.
pub(crate) fn profile(number: u32, mut rows: Rows) -> Result<ProfileRecord, String> {
    let (key, said): (TrialKey, (Option<String>, Option<Vec<u8>>)) =
        rows.take_only("run_profile")?;
    let found = match said {
        (Some(wrong), None) => Err(wrong),
        (None, Some(body)) => Ok(unpacked(&body)?),
        (Some(_), Some(_)) | (None, None) => {
            return Err("run_profile: a body, or why there is none".into());
        }
    };
    Ok(ProfileRecord { key: TrialKey { number, ..key }, found })
}

fn packed(profile: &Profile) -> Vec<u8> {
    let text = serde_json::to_vec(profile).expect("our own values can be written as JSON");
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::best());
    let written = packer.write_all(&text).and_then(|()| packer.finish());
    written.expect("memory takes what is written to it")
}

fn unpacked(bytes: &[u8]) -> Result<Profile, String> {
    let mut text = Vec::new();
    let read = ZlibDecoder::new(bytes).take(LONGEST + 1).read_to_end(&mut text);
    read.map_err(|error| format!("its body cannot be unpacked: {error}"))?;
    if LONGEST < text.len() as u64 {
        return Err(format!("its body has more than {LONGEST} bytes"));
    }
    let profile: Profile = serde_json::from_slice(&text)
        .map_err(|error| format!("its body cannot be read: {error}"))?;
    match profile.is_sound() {
        true => Ok(profile),
        false => Err(
            "its body has a stack with a line or a function that it does not name, or more than a profile has".into(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_would_grow_without_bound_is_refused() {
        let mut packer = ZlibEncoder::new(Vec::new(), Compression::best());
        let block = vec![b' '; 1 << 20];
        (0..33).for_each(|_| packer.write_all(&block).expect("memory"));
        let packed = packer.finish().expect("memory");
        assert!(packed.len() < 1 << 18);
        assert!(unpacked(&packed).is_err_and(|says| says.contains("more than")));
    }

    /// A profile with one function and these stacks, unpacked, with one text in it replaced.
    fn changed(stacks: &str, (old, new): (&str, &str)) -> Result<Profile, String> {
        let profile = format!(
            r#"{{"method":{{"hz":997,"target":"cpus","user_only":false,"dwarf_bytes":null}},
            "lines":[{{"side":"kernel","name":"send"}}],
            "functions":["main"],"stacks":[{stacks}],"sampled_ns":1,"cpu_ns":1,"user_cpu_ns":null,"answers":1,
            "waited_for_cpu_ns":0,"lost":0,"calls":{{"Err":"x"}},"with_flags":false}}"#
        );
        assert!(profile.contains(old), "{old}");
        let profile = profile.replace(old, new);
        let mut packer = ZlibEncoder::new(Vec::new(), Compression::best());
        packer.write_all(profile.as_bytes()).expect("memory");
        unpacked(&packer.finish().expect("memory"))
    }

    #[test]
    fn numbers_of_what_is_not_there_are_refused() {
        let stack =
            |stack: &str| changed(stack, ("", "")).map_err(|says| says.contains("does not name"));
        assert!(stack("").is_ok());
        assert!(stack(r#"{"line":0,"functions":[0],"counts":[[0,1]]}"#).is_ok());
        assert_eq!(stack(r#"{"line":1,"functions":[0],"counts":[[0,1]]}"#), Err(true));
        assert_eq!(stack(r#"{"line":0,"functions":[1],"counts":[[0,1]]}"#), Err(true));
        assert!(unpacked(b"no zlib").is_err());
    }

    /// Each of them would make a report of it take gigabytes, or a sum that is none.
    #[test]
    fn more_than_a_profile_has_is_refused() {
        let deep = ["0"; 65].join(",");
        let stack = format!(r#"{{"line":0,"functions":[{deep}],"counts":[[0,1]]}}"#);
        let functions: Vec<String> = (0..=1 << 16).map(|n| format!("\"{n}\"")).collect();
        for (stacks, old, new) in [
            (stack.as_str(), "", ""),
            ("", r#""main""#, &functions.join(",")),
            ("", r#""cpu_ns":1"#, r#""cpu_ns":18446744073709551615"#),
            ("", r#"{"Err":"x"}"#, r#"{"Ok":{"answers":18446744073709551615,"counts":[]}}"#),
        ] {
            let says = changed(stacks, (old, new)).unwrap_err();
            assert!(says.contains("more than a profile has"), "{old}: {says}");
        }
    }
}
