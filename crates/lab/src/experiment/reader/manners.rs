//! How requests travel: protocols, streams and resumed sessions, each combination that has a meaning once.

use std::num::NonZeroU16;

use serde::Deserialize;
use toml::Spanned;

use super::{LoadKeys, OneOrMany, Reader, manners};
use crate::manner::{Manner, Protocol, STREAMS_MAX, unknown_protocol};
use crate::source_file::ConfigError;

/// More tables than these no report could show.
const COUNTS_MAX: usize = 20;

/// One number or several.
#[derive(Clone, Deserialize)]
#[serde(untagged, expecting = "expected a whole number or a list of them")]
pub(super) enum Counts {
    One(u64),
    Many(Vec<u64>),
}

impl Counts {
    pub(super) fn all(&self) -> Vec<u64> {
        match self {
            Counts::One(number) => vec![*number],
            Counts::Many(numbers) => numbers.clone(),
        }
    }
}

impl Reader<'_> {
    pub(super) fn manners(&self, keys: &LoadKeys) -> Result<Vec<Manner>, ConfigError> {
        let protocols = keys.protocol.as_ref().map(|names| self.protocols(names));
        let protocols = protocols.transpose()?.unwrap_or(vec![Protocol::Http1]);
        let streams = keys.streams.as_ref().map(|counts| self.streams(counts, &protocols));
        let resumed = keys.tls_resume.as_ref().map(|counts| self.resumed(counts, &protocols));
        let (streams, resumed) = (streams.transpose()?, resumed.transpose()?);
        Ok(manners(&protocols, &streams.unwrap_or_default(), &resumed.unwrap_or_default()))
    }

    fn protocols(&self, names: &Spanned<OneOrMany>) -> Result<Vec<Protocol>, ConfigError> {
        let list = match names.get_ref() {
            OneOrMany::One(name) => std::slice::from_ref(name),
            OneOrMany::Many(list) => list,
        };
        let mut protocols = Vec::new();
        for name in list {
            let protocol =
                Protocol::named(name).ok_or_else(|| self.wrong(names, unknown_protocol(name)))?;
            if protocols.contains(&protocol) {
                return Err(self.wrong(names, format!("`{name}` is given twice")));
            }
            protocols.push(protocol);
        }
        if protocols.is_empty() {
            return Err(self.wrong(names, "an empty list; name at least one protocol"));
        }
        Ok(protocols)
    }

    fn streams(
        &self,
        counts: &Spanned<Counts>,
        protocols: &[Protocol],
    ) -> Result<Vec<NonZeroU16>, ConfigError> {
        if !protocols.iter().any(|it| it.is_http2()) {
            let says =
                "only HTTP/2 has streams; name h2c or h2 in `protocol`, or leave `streams` out";
            return Err(self.wrong(counts, says));
        }
        let in_range = |number: u64| {
            let streams = u16::try_from(number).ok().filter(|streams| *streams <= STREAMS_MAX);
            let wrong = format!("{number} streams; a whole number from 1 to {STREAMS_MAX}");
            streams.and_then(NonZeroU16::new).ok_or_else(|| self.wrong(counts, wrong))
        };
        let streams = self.each_once(counts, counts.get_ref().all())?;
        streams.into_iter().map(in_range).collect()
    }

    fn resumed(
        &self,
        counts: &Spanned<Counts>,
        protocols: &[Protocol],
    ) -> Result<Vec<u8>, ConfigError> {
        if !protocols.iter().any(|it| it.is_secured()) {
            let says = "only TLS has sessions that can be resumed; name http/1.1+tls or h2 in `protocol`, or leave \
                        `tls_resume` out";
            return Err(self.wrong(counts, says));
        }
        let in_range = |number: u64| {
            let percent = u8::try_from(number).ok().filter(|percent| *percent <= 100);
            let wrong = format!("{number} of a hundred connections; a whole number from 0 to 100");
            percent.ok_or_else(|| self.wrong(counts, wrong))
        };
        self.each_once(counts, counts.get_ref().all())?.into_iter().map(in_range).collect()
    }

    fn each_once(&self, at: &Spanned<Counts>, numbers: Vec<u64>) -> Result<Vec<u64>, ConfigError> {
        if numbers.is_empty() {
            return Err(self.wrong(at, "an empty list; write at least one number"));
        }
        if COUNTS_MAX < numbers.len() {
            return Err(self.wrong(at, format!("{} numbers; at most {COUNTS_MAX}", numbers.len())));
        }
        match (1..numbers.len()).find(|&place| numbers[..place].contains(&numbers[place])) {
            Some(place) => Err(self.wrong(at, format!("{} is given twice", numbers[place]))),
            None => Ok(numbers),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::experiment::Experiment;
    use crate::source_file::SourceFile;

    fn read(load: &str) -> Result<Vec<String>, String> {
        let text = format!(
            "question = '?'\nsubjects = 'all'\nworkload = ['a', 'b']\nload = {{ {load} }}\n"
        );
        let source = SourceFile { name: "x".into(), text };
        let experiment = Experiment::parse("x", source).map_err(|error| error.to_string())?;
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
