//! How requests travel: protocols, streams and resumed sessions, each combination that has a meaning once.

use std::num::NonZeroU16;

use serde::Deserialize;

use super::{FileFlaw, Flaw, Key, LoadKeys, OneOrMany, manners};
use crate::experiment::change::ONLY_HTTP2;
use crate::experiment::check::{refuse_twice, repeated};
use crate::manner::{Manner, Protocol, STREAMS_MAX, unknown_protocol};

/// More tables than these no report could show.
const COUNTS_MAX: usize = 20;

/// One number or several.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a whole number or a list of them")]
pub(super) enum Counts {
    One(u64),
    Many(Vec<u64>),
}

impl Counts {
    fn each_once(&self) -> Result<Vec<u64>, String> {
        let numbers = match self {
            Counts::One(number) => vec![*number],
            Counts::Many(numbers) => numbers.clone(),
        };
        if numbers.is_empty() {
            return Err("an empty list; write at least one number".into());
        }
        if COUNTS_MAX < numbers.len() {
            return Err(format!("{} numbers; at most {COUNTS_MAX}", numbers.len()));
        }
        match repeated(&numbers) {
            Some(number) => Err(format!("{number} is given twice")),
            None => Ok(numbers),
        }
    }
}

impl LoadKeys {
    pub(super) fn manners(&self) -> Result<Vec<Manner>, FileFlaw> {
        let protocols = self.protocol.as_ref().map(protocols).transpose()?;
        let protocols = protocols.unwrap_or(vec![Protocol::Http1]);
        let streams = self.streams.as_ref().map(|counts| streams(counts, &protocols));
        let resumed = self.tls_resume.as_ref().map(|counts| resumed(counts, &protocols));
        let resumed = resumed.transpose().map_err(|says| FileFlaw::at("load.tls_resume", says))?;
        let streams = streams.transpose().map_err(|says| FileFlaw::at("load.streams", says))?;
        Ok(manners(&protocols, &streams.unwrap_or_default(), &resumed.unwrap_or_default()))
    }
}

fn protocols(names: &OneOrMany) -> Result<Vec<Protocol>, Flaw> {
    let named = |name: &String| match Protocol::named(name) {
        Some(protocol) => Ok(protocol),
        None => Key::Protocol.flaw(unknown_protocol(name)),
    };
    let protocols = names.all().iter().map(named).collect::<Result<Vec<_>, _>>()?;
    if protocols.is_empty() {
        return Key::Protocol.flaw("an empty list; name at least one protocol");
    }
    refuse_twice(Key::Protocol, &protocols)?;
    Ok(protocols)
}

fn streams(counts: &Counts, protocols: &[Protocol]) -> Result<Vec<NonZeroU16>, String> {
    if !protocols.iter().any(|it| it.is_http2()) {
        return Err(ONLY_HTTP2.into());
    }
    let in_range = |number: u64| {
        let streams = u16::try_from(number).ok().filter(|streams| *streams <= STREAMS_MAX);
        let wrong = || format!("{number} streams; a whole number from 1 to {STREAMS_MAX}");
        streams.and_then(NonZeroU16::new).ok_or_else(wrong)
    };
    counts.each_once()?.into_iter().map(in_range).collect()
}

fn resumed(counts: &Counts, protocols: &[Protocol]) -> Result<Vec<u8>, String> {
    if !protocols.iter().any(|it| it.is_secured()) {
        let says = "only TLS has sessions that can be resumed; name http/1.1+tls or h2 in `protocol`, or leave \
                    `tls_resume` out";
        return Err(says.into());
    }
    let in_range = |number: u64| {
        let wrong = || format!("{number} of a hundred connections; a whole number from 0 to 100");
        u8::try_from(number).ok().filter(|percent| *percent <= 100).ok_or_else(wrong)
    };
    counts.each_once()?.into_iter().map(in_range).collect()
}

#[cfg(test)]
mod tests {
    use crate::experiment::tests;

    fn read(load: &str) -> Result<Vec<String>, String> {
        let text = "question = '?'\nsubjects = 'all'\nworkload = ['a', 'b']\n";
        let experiment = tests::read(&format!("{text}load = {{ {load} }}\n"))?;
        Ok(experiment.tasks().map(|task| task.to_string()).collect())
    }

    const CLOSED: &str = "closed = { connections = 2 }, total = 9";

    #[test]
    fn a_task_is_a_workload_in_each_manner_that_has_a_meaning() {
        assert_eq!(read(CLOSED).unwrap(), ["a", "b"]);
        let all = "protocol = ['http/1.1', 'http/1.1+tls', 'h2c', 'h2'], streams = [1, 10], tls_resume = [0, 100]";
        let tasks = read(&format!("{CLOSED}, {all}")).unwrap();
        assert_eq!(tasks.len(), 2 * (1 + 2 + 2 + 4));
        assert_eq!(
            tasks[..9],
            [
                "a",
                "a over http/1.1+tls",
                "a over http/1.1+tls, 100 % resumed",
                "a over h2c, 1 stream",
                "a over h2c, 10 streams",
                "a over h2, 1 stream",
                "a over h2, 1 stream, 100 % resumed",
                "a over h2, 10 streams",
                "a over h2, 10 streams, 100 % resumed",
            ]
        );
        assert_eq!(
            read(&format!("{CLOSED}, protocol = 'h2c'")).unwrap()[0],
            "a over h2c, 1 stream"
        );
    }

    #[test]
    fn a_manner_without_a_meaning_is_refused_with_the_way_out() {
        let held = "held = { connections = 4, every = '5s' }";
        let sessions = "sessions = { rate = 9, calls = 2 }, total = 9";
        for (load, keys, says) in [
            (
                CLOSED,
                "protocol = 'h3'",
                "`h3` is not a protocol; there are http/1.1, http/1.1+tls, h2c, h2; did you",
            ),
            (CLOSED, "protocol = []", "an empty list"),
            (CLOSED, "protocol = ['h2', 'h2']", "`h2` is given twice"),
            (CLOSED, "streams = 10", "only HTTP/2 has streams; name h2c or h2"),
            (CLOSED, "protocol = 'h2c', streams = 0", "0 streams; a whole number from 1 to 10000"),
            (CLOSED, "protocol = 'h2c', streams = [1, 70000]", "70000 streams"),
            (CLOSED, "protocol = 'h2c', streams = [2, 2]", "2 is given twice"),
            (CLOSED, "protocol = 'h2c', streams = []", "an empty list"),
            (
                CLOSED,
                &format!("protocol = 'h2c', streams = {:?}", (1..=21).collect::<Vec<_>>()),
                "21 numbers; at most 20",
            ),
            (CLOSED, "protocol = 'h2c', streams = 'many'", "expected a whole number or a list"),
            (
                CLOSED,
                "protocol = 'h2c', streams = 2, keep_alive = false",
                "have one stream at a time",
            ),
            (sessions, "protocol = 'h2c', streams = 2", "have one stream at a time"),
            (CLOSED, "tls_resume = 100", "only TLS has sessions that can be resumed"),
            (CLOSED, "protocol = 'h2', tls_resume = 101", "101 of a hundred connections"),
            (held, "protocol = 'h2c'", "connections are held over HTTP/1.1 only"),
        ] {
            let found = read(&format!("{load}, {keys}")).unwrap_err();
            assert!(found.starts_with("x:4: ") && found.contains(says), "{keys}: {found}");
        }
        assert_eq!(read(&format!("{held}, protocol = 'http/1.1+tls'")).unwrap().len(), 2);
    }
}
