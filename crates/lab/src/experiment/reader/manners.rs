//! How requests travel: protocols, streams and resumed sessions, each combination that has a meaning once.

use std::num::NonZeroU16;

use serde::Deserialize;
use toml::Spanned;

use super::{LoadKeys, OneOrMany, Reader};
use crate::experiment::Shape;
use crate::manner::{Manner, Protocol, STREAMS_MAX, unknown_protocol};
use crate::source_file::ConfigError;

/// One number or several.
#[derive(Clone, Deserialize)]
#[serde(untagged, expecting = "expected a whole number or a list of them")]
pub(super) enum Counts {
    One(u64),
    Many(Vec<u64>),
}

impl Counts {
    fn all(&self) -> Vec<u64> {
        match self {
            Counts::One(number) => vec![*number],
            Counts::Many(numbers) => numbers.clone(),
        }
    }
}

impl Reader<'_> {
    pub(super) fn manners(
        &self,
        keys: &LoadKeys,
        shape: &Shape,
    ) -> Result<Vec<Manner>, ConfigError> {
        let protocols = match &keys.protocol {
            None => vec![Protocol::Http1],
            Some(names) => self.protocols(names, shape)?,
        };
        let streams = match &keys.streams {
            None => vec![NonZeroU16::MIN],
            Some(counts) => self.streams(counts, &protocols, keys, shape)?,
        };
        let resumed = match &keys.tls_resume {
            None => vec![0],
            Some(counts) => self.resumed(counts, &protocols)?,
        };
        let mut manners = Vec::new();
        for protocol in protocols {
            let streams = if protocol.is_http2() { &streams[..] } else { &[NonZeroU16::MIN] };
            let resumed = if protocol.is_secured() { &resumed[..] } else { &[0] };
            for &streams in streams {
                manners.extend(
                    resumed.iter().map(|&resumed| Manner { protocol, streams, resumed }),
                );
            }
        }
        Ok(manners)
    }

    fn protocols(
        &self,
        names: &Spanned<OneOrMany>,
        shape: &Shape,
    ) -> Result<Vec<Protocol>, ConfigError> {
        let list = match names.get_ref() {
            OneOrMany::One(name) => std::slice::from_ref(name),
            OneOrMany::Many(list) => list,
        };
        let mut protocols = Vec::new();
        for name in list {
            let protocol = Protocol::named(name)
                .ok_or_else(|| self.wrong(names, unknown_protocol(name)))?;
            if protocols.contains(&protocol) {
                return Err(self.wrong(names, format!("`{name}` stands here twice")));
            }
            protocols.push(protocol);
        }
        if protocols.is_empty() {
            return Err(self.wrong(names, "an empty list; name at least one protocol"));
        }
        match shape {
            Shape::Held(_) if protocols.iter().any(|it| it.is_http2()) => Err(self.wrong(
                names,
                "connections are held over HTTP/1.1 only: name http/1.1 or http/1.1+tls",
            )),
            _ => Ok(protocols),
        }
    }

    fn streams(
        &self,
        counts: &Spanned<Counts>,
        protocols: &[Protocol],
        keys: &LoadKeys,
        shape: &Shape,
    ) -> Result<Vec<NonZeroU16>, ConfigError> {
        if !protocols.iter().any(|it| it.is_http2()) {
            let says = "only HTTP/2 has streams; name h2c or h2 in `protocol`, or leave `streams` out";
            return Err(self.wrong(counts, says));
        }
        let of = |number: u64| {
            let streams = u16::try_from(number).ok().filter(|it| *it <= STREAMS_MAX);
            streams.and_then(NonZeroU16::new).ok_or_else(|| {
                self.wrong(counts, format!("{number} streams; a whole number from 1 to {STREAMS_MAX}"))
            })
        };
        let streams = self.each_once(counts, counts.get_ref().all())?;
        let streams: Vec<NonZeroU16> = streams.into_iter().map(of).collect::<Result<_, _>>()?;
        let is_single = matches!(shape, Shape::Sessions { .. }) || keys.keep_alive == Some(false);
        match streams.iter().any(|it| 1 < it.get()) {
            true if is_single => Err(self.wrong(
                counts,
                "sessions, and connections that carry one request, have one stream at a time; leave `streams` out",
            )),
            _ => Ok(streams),
        }
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
        let of = |number: u64| {
            u8::try_from(number).ok().filter(|it| *it <= 100).ok_or_else(|| {
                self.wrong(counts, format!("{number} of a hundred connections; a whole number from 0 to 100"))
            })
        };
        self.each_once(counts, counts.get_ref().all())?.into_iter().map(of).collect()
    }

    fn each_once(&self, at: &Spanned<Counts>, numbers: Vec<u64>) -> Result<Vec<u64>, ConfigError> {
        if numbers.is_empty() {
            return Err(self.wrong(at, "an empty list; write at least one number"));
        }
        match (1..numbers.len()).find(|&place| numbers[..place].contains(&numbers[place])) {
            Some(place) => Err(self.wrong(at, format!("{} stands here twice", numbers[place]))),
            None => Ok(numbers),
        }
    }
}
