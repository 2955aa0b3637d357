//! What was seen of HTTP/2: what servers announced, what their frames were, and how long windows were waited for.

use serde::{Deserialize, Serialize};
use wire::h2::{self, Facts, FrameKind};
pub use wire::h2::{HeadCounts, Settings as ServerSettings};

use crate::Nanos;
use crate::distribution::Distribution;
use crate::json_form;
use crate::order::Order;
use crate::security::Counts;

/// What connections with HTTP/2 had in a stretch of time: their beginnings, and what passed over them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Http2 {
    pub wanted: WantedStreams,
    /// From the establishment of a connection, TLS included, until the SETTINGS of its server; none if none came.
    pub ready: Option<Distribution>,
    /// What servers announced first, and on how many connections; in ascending order.
    pub settings: Vec<(ServerSettings, u64)>,
    /// The least that any announced later as the limit of streams on a connection.
    pub least_streams: Option<u32>,
    #[serde(flatten)]
    pub traffic: Traffic,
}

/// What passed over connections with HTTP/2.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Traffic {
    /// answers that became complete
    pub answers: u64,
    /// reads in which at least one did: `answers` ÷ `reads_with_answers` is how many came at once
    pub reads_with_answers: u64,
    /// frames that came, by type
    #[serde(rename = "frames_received")]
    pub frames: Counts,
    /// connections whose end the server announced (GOAWAY), by the error code that it gave first
    pub goaways: Counts,
    /// streams that the server ended, by error code
    pub resets_received: Counts,
    /// streams that dyno ended, because the request was given up or the answer was broken
    pub resets_sent: u64,
    /// ENHANCE_YOUR_CALM on connections on which dyno had ended streams
    pub calm_after_resets: u64,
    /// requests that came back untouched, to be sent again: REFUSED_STREAM, or beyond the last stream of a GOAWAY
    pub refused: u64,
    /// WINDOW_UPDATE frames that dyno sent
    pub window_updates_sent: u64,
    /// how often and how long a connection could receive nothing, because the server had used up a window of dyno's
    pub own_window: Waits,
    /// how often and how long bodies of requests waited for windows of the server's
    pub peer_window: Waits,
    #[serde(flatten)]
    pub heads: HeadCounts,
}

/// What was ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WantedStreams {
    /// The most connections at once.
    pub connections: u64,
    /// Requests at once on each of them.
    pub streams: u64,
    /// The CPUs of the server where they are known, or of its machine where that is this one.
    pub server_cpus: Option<u64>,
}

impl WantedStreams {
    pub(crate) fn of(order: &Order) -> WantedStreams {
        WantedStreams {
            connections: order.load.connections_max() as u64,
            streams: order.protocol.streams() as u64,
            server_cpus: order.server_cpus,
        }
    }
}

/// How often something was waited for, and how long.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[schemars(rename = "waits")]
pub struct Waits {
    /// how often
    pub times: u64,
    /// all waits together
    #[serde(rename = "sum_s", with = "json_form::seconds")]
    #[schemars(with = "f64")]
    pub sum: Nanos,
    /// the longest
    #[serde(rename = "longest_s", with = "json_form::seconds")]
    #[schemars(with = "f64")]
    pub longest: Nanos,
}

impl Waits {
    pub(crate) fn add(&mut self, length: Nanos) {
        if 0 < length {
            self.merge(Waits { times: 1, sum: length, longest: length });
        }
    }

    fn merge(&mut self, other: Waits) {
        self.times += other.times;
        // Many wait beside one another.
        self.sum = self.sum.saturating_add(other.sum);
        self.longest = self.longest.max(other.longest);
    }
}

impl Http2 {
    /// The least and the most requests at once that the order and the servers allowed on a connection; none if no
    /// server has said so.
    #[must_use]
    pub fn effective_streams(&self) -> Option<(u64, u64)> {
        let later = self.least_streams.map(|most| self.wanted.streams.min(most.into()));
        let allowed = self.settings.iter().map(|(settings, _)| {
            let wanted = self.wanted.streams;
            settings.max_concurrent_streams.map_or(wanted, |most| wanted.min(most.into()))
        });
        Some((allowed.clone().chain(later).min()?, allowed.max()?))
    }

    /// Adds what a ledger has seen.
    pub(crate) fn add(&mut self, facts: &Facts) {
        for &(settings, connections) in &facts.settings {
            self.note_settings(settings, connections);
        }
        self.note_least(facts.least_streams);
        self.traffic.add(facts);
    }

    fn note_least(&mut self, least: Option<u32>) {
        let both = [self.least_streams, least];
        self.least_streams = both.into_iter().flatten().min();
    }

    /// Of too many kinds, the first few are kept, and the others count as the last of these: so it does not matter which
    /// was seen first, nor in which order threads are merged.
    fn note_settings(&mut self, settings: ServerSettings, connections: u64) {
        if let Some((_, sum)) = self.settings.iter_mut().find(|(known, _)| *known == settings) {
            *sum += connections;
            return;
        }
        let place = self.settings.partition_point(|(known, _)| *known < settings);
        self.settings.insert(place, (settings, connections));
        if h2::SETTINGS_MAX < self.settings.len()
            && let Some((_, surplus)) = self.settings.pop()
            && let Some((_, sum)) = self.settings.last_mut()
        {
            *sum += surplus;
        }
    }

    /// Adds all of what another load has seen.
    pub fn merge(&mut self, other: &Http2) {
        self.merge_beginnings(other);
        self.traffic.merge(&other.traffic);
    }

    /// Adds what another thread or another stretch of time has seen of connections' beginnings.
    fn merge_beginnings(&mut self, other: &Http2) {
        if self.wanted == WantedStreams::default() {
            self.wanted = other.wanted;
        }
        match (&mut self.ready, &other.ready) {
            (Some(mine), Some(theirs)) => mine.merge(theirs),
            (mine @ None, theirs) => mine.clone_from(theirs),
            (Some(_), None) => {}
        }
        for &(settings, connections) in &other.settings {
            self.note_settings(settings, connections);
        }
        self.note_least(other.least_streams);
    }
}

impl Traffic {
    fn add(&mut self, facts: &Facts) {
        let counts = &facts.counts;
        self.answers += counts.answers;
        self.reads_with_answers += counts.reads_with_answers;
        self.frames.add_all(FrameKind::ALL.map(FrameKind::name), counts.frames_received);
        self.goaways.add_all(h2::ErrorCode::ALL.map(h2::ErrorCode::name), counts.goaways);
        self.resets_received
            .add_all(h2::ErrorCode::ALL.map(h2::ErrorCode::name), counts.resets_received);
        self.resets_sent += counts.resets_sent;
        self.calm_after_resets += counts.calm_after_resets;
        self.refused += counts.refused;
        self.window_updates_sent += counts.window_updates_sent;
        // How many were not decoded is no property of the server's.
        self.heads.merge(HeadCounts { known: 0, ..facts.heads });
    }

    fn merge(&mut self, other: &Traffic) {
        self.answers += other.answers;
        self.reads_with_answers += other.reads_with_answers;
        self.frames.merge(&other.frames);
        self.goaways.merge(&other.goaways);
        self.resets_received.merge(&other.resets_received);
        self.resets_sent += other.resets_sent;
        self.calm_after_resets += other.calm_after_resets;
        self.refused += other.refused;
        self.window_updates_sent += other.window_updates_sent;
        self.own_window.merge(other.own_window);
        self.peer_window.merge(other.peer_window);
        self.heads.merge(other.heads);
    }
}

/// Adds what was seen of connections' beginnings elsewhere, if anything was.
pub(crate) fn merge_beginnings(mine: &mut Option<Box<Http2>>, theirs: Option<&Http2>) {
    if let Some(theirs) = theirs {
        mine.get_or_insert_default().merge_beginnings(theirs);
    }
}

/// Adds the rest of what was seen elsewhere.
pub(crate) fn merge_traffic(mine: &mut Option<Box<Http2>>, theirs: Option<&Http2>) {
    if let Some(theirs) = theirs {
        mine.get_or_insert_default().traffic.merge(&theirs.traffic);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn announced(streams: Option<u32>) -> ServerSettings {
        ServerSettings { max_concurrent_streams: streams, ..ServerSettings::default() }
    }

    #[test]
    fn the_streams_are_those_that_both_sides_allow() {
        let seen = |all: &[Option<u32>]| {
            let settings = all.iter().map(|&streams| (announced(streams), 1)).collect();
            let wanted = WantedStreams { streams: 100, ..WantedStreams::default() };
            Http2 { wanted, settings, ..Http2::default() }.effective_streams()
        };
        assert_eq!(seen(&[]), None, "no server has said anything");
        assert_eq!(seen(&[None]), Some((100, 100)));
        assert_eq!(seen(&[Some(128)]), Some((100, 100)));
        assert_eq!(seen(&[Some(10), None, Some(0)]), Some((0, 100)));
    }

    #[test]
    fn lanes_add_up_and_kinds_of_settings_are_bounded() {
        let mut one = Http2::default();
        for number in 0..100 {
            one.note_settings(announced(Some(number)), 1);
        }
        let mut all = Some(Box::new(one.clone()));
        merge_beginnings(&mut all, Some(&one));
        merge_beginnings(&mut all, None);
        let all = all.unwrap();
        assert_eq!(all.settings.len(), h2::SETTINGS_MAX);
        assert_eq!(all.settings.iter().map(|(_, connections)| connections).sum::<u64>(), 200);
        let mut waits = Waits::default();
        waits.add(3);
        waits.add(2);
        assert_eq!(waits, Waits { times: 2, sum: 5, longest: 3 });
    }
}
