//! What `dyno agents check` found: the hosts from which load may come, for readers and for programs.

use agents::{AgentFacts, LinkUse, Program};
use analysis::{generator_busy, throughput_per_s};
use load::Recording;
use serde::Serialize;
use units::{count, counted, duration, percent, rate, time};

use crate::agents::{estimated, of_link, offset};
use crate::document::{
    Align, Block, Cell, Column, Depth, Document, Paragraph, Row, Section, Table, Tone,
};
use crate::json::{json_type, written};
use crate::render::{self, Screen};

/// From this share on, a part counts as the one that bounds the rate.
const FULL: f64 = 0.9;
const LINK_FULL: f64 = 0.8;

#[derive(Serialize)]
pub struct Hosts {
    pub schema: &'static str,
    pub dyno_version: &'static str,
    /// What was loaded for a second; null if nothing was.
    pub target: Option<String>,
    pub hosts: Vec<HostRow>,
}

/// A host, or a process of this machine.
#[derive(Serialize)]
pub struct HostRow {
    /// As it was named.
    pub name: String,
    pub can_load: bool,
    /// Why it cannot.
    pub says: Option<String>,
    /// Null if it was not met.
    pub known: Option<HostKnown>,
    /// Null if it was not loaded from.
    pub ceiling: Option<HostCeiling>,
    /// Why not, where there was something to load.
    pub no_ceiling: Option<String>,
}

json_type! {
    /// What a host said of itself, and what was found out by meeting it. Where a login may start any command, the agent
    /// was given these rules, which bound nothing.
    pub struct HostKnown as "host_known" of facts: AgentFacts, with given: [String];
        let host = &facts.host;
    {
        /// As it calls itself.
        host: String = host.name.clone(),
        #[serde(flatten)]
        program: Program = host.program.clone(),
        cpus: Vec<usize> = host.cpus.clone(),
        files: u64 = host.files,
        has_our_clock: bool,
        /// Its monotonic clock minus this machine's, and the most by which that may be wrong; null where it is the same.
        clock_offset_s: Option<f64> = estimated(facts, facts.offset_ns as f64 / 1e9),
        clock_error_s: Option<f64> = estimated(facts, units::seconds(facts.offset_error_ns)),
        round_trip_s: Option<f64> = estimated(facts, units::seconds(facts.round_trip_ns)),
        /// What its owner allows it to load; null: whatever dyno orders.
        may_load: Option<Vec<String>> = host.allow.clone().filter(|rules| *rules != *given),
        max_rate_per_s: Option<u64> = host.caps.rate,
        max_connections: Option<u64> = host.caps.connections,
        max_duration_s: Option<u64> = host.caps.seconds,
    }
}

/// How fast a host loads, alone, in a closed loop.
#[derive(Serialize)]
pub struct HostCeiling {
    pub connections: usize,
    pub throughput_per_s: f64,
    /// Of its lanes' time.
    pub busy_share: f64,
    /// Of the time of the server's threads; null where the server is none of dyno's.
    pub server_busy_share: Option<f64>,
    pub link: Option<HostLink>,
    /// `cpus`, `link`, `server` or `round_trips`
    pub bound_by: &'static str,
}

json_type! {
    /// Its link towards the target.
    pub struct HostLink as "host_link" of link: LinkUse {
        name: String = link.name.clone(),
        bits_per_s: Option<u64> = link.speed,
        mtu: u32,
        /// Of what it can carry; null where that is not known.
        used_share: Option<f64> = link.full(),
    }
}

impl Hosts {
    #[must_use]
    pub fn new(target: Option<String>, hosts: Vec<HostRow>) -> Hosts {
        let dyno_version = env!("CARGO_PKG_VERSION");
        Hosts { schema: "dyno.agents-check/1", dyno_version, target, hosts }
    }

    #[must_use]
    pub fn all_can_load(&self) -> bool {
        self.hosts.iter().all(|host| host.can_load)
    }

    pub fn json(&self) -> serde_json::Result<String> {
        written(self)
    }
}

impl HostCeiling {
    /// `server`: the share of its time for which dyno's own server was busy.
    #[must_use]
    pub fn of(
        connections: usize,
        recording: &Recording,
        link: Option<&LinkUse>,
        server: Option<f64>,
    ) -> HostCeiling {
        let busy_share = generator_busy(&recording.lanes).unwrap_or(0.0);
        let used = link.and_then(LinkUse::full);
        let bound_by = match () {
            () if used.is_some_and(|used| LINK_FULL <= used) => "link",
            () if FULL <= busy_share => "cpus",
            () if server.is_some_and(|busy| FULL <= busy) => "server",
            () => "round_trips",
        };
        HostCeiling {
            connections,
            throughput_per_s: throughput_per_s(recording).unwrap_or(0.0),
            busy_share,
            server_busy_share: server,
            link: link.map(HostLink::from),
            bound_by,
        }
    }

    fn bound(&self) -> String {
        match self.bound_by {
            "link" => "its link".into(),
            "cpus" => format!("its CPUs, {} busy", percent(self.busy_share)),
            "server" => "dyno's server here".into(),
            _ => counted(self.connections as u64, "connection's", "connections'") + " round trips",
        }
    }
}

/// A table, and a sentence for each host of which there is more to say.
#[must_use]
pub fn text(found: &Hosts, is_coloured: bool) -> String {
    let able = found.hosts.iter().filter(|host| host.can_load).count();
    let head = match found.hosts.len() {
        1 if able == 1 => "Load can come from there.".into(),
        2 if able == 2 => "Load can come from both hosts.".into(),
        all if able == all => format!("Load can come from all {} hosts.", count(all as u64)),
        all => format!("Load can come from {able} of {}.", counted(all as u64, "host", "hosts")),
    };
    let remarks = found.hosts.iter().flat_map(remarks).chain(same_program(found));
    let more = found.target.is_none().then(|| Paragraph::new(Tone::Dim, NO_TARGET));
    let document = Document {
        title: head,
        sections: vec![Section::new("hosts", "", Depth::Brief).with([Block::Table(table(found))])],
        ending: remarks.chain(more).collect(),
        ..Document::default()
    };
    render::text(&document, Screen { is_coloured, ..Screen::file(160) })
}

const NO_TARGET: &str = "How fast they load was not measured: name an address of this machine that they reach, \
                         with --listen-on ADDRESS, or a server with --target URL.";

fn table(found: &Hosts) -> Table {
    let heads =
        ["host", "CPUs", "files", "round trip", "clock", "link", "requests/s", "bounded by"];
    let mut columns = Column::listed(&heads.map(|head| (head, 0)));
    for at in [5, 7] {
        columns[at].align = Align::Left;
    }
    Table::of("hosts", columns, found.hosts.iter().map(row))
}

fn row(host: &HostRow) -> Row {
    let (known, ceiling) = (host.known.as_ref(), host.ceiling.as_ref());
    let trip = known.and_then(|known| known.round_trip_s);
    let link = ceiling.and_then(|it| it.link.as_ref());
    let cells = vec![
        Cell::text(&host.name).toned(if host.can_load { Tone::Plain } else { Tone::Bad }),
        Cell::known(known.map(|known| known.cpus.len().to_string())),
        Cell::known(known.map(|known| count(known.files))),
        Cell::known(trip.map(|trip| time(trip * 1e9))),
        Cell::known(known.map(clock)),
        Cell::known(link.map(|link| of_link(&link.name, link.bits_per_s, Some(link.mtu)))),
        Cell::known(ceiling.map(|it| rate(it.throughput_per_s))).toned(Tone::Strong),
        Cell::known(ceiling.map(HostCeiling::bound)),
    ];
    Row { cells, ..Row::default() }
}

fn clock(known: &HostKnown) -> String {
    let found = known.clock_offset_s.zip(known.clock_error_s);
    found.map_or("this one's".into(), |(ahead, error)| {
        offset((ahead * 1e9).round() as i64, (error * 1e9).round() as u64)
    })
}

/// Why it cannot load, why its ceiling is not known, and what its owner allows it.
fn remarks(host: &HostRow) -> impl Iterator<Item = Paragraph> {
    let allowed = host.known.as_ref().and_then(allowed);
    let said = [
        (Tone::Bad, " cannot load", host.says.clone()),
        (Tone::Doubtful, ": how fast it loads was not measured", host.no_ceiling.clone()),
        (Tone::Plain, "", allowed.map(|allowed| format!("its owner allows it {allowed}"))),
    ];
    said.into_iter().filter_map(|(tone, what, says)| {
        Some(Paragraph::new(tone, format!("{}{what}: {}", host.name, says?)))
    })
}

fn allowed(known: &HostKnown) -> Option<String> {
    /// So many rules are shown.
    const SHOWN: usize = 8;
    let most = [
        known.max_rate_per_s.map(|most| format!("{}/s", count(most))),
        known.max_connections.map(|most| counted(most, "connection", "connections")),
        known
            .max_duration_s
            .map(|most| format!("{} a load", duration(std::time::Duration::from_secs(most)))),
    ];
    let most: Vec<String> = most.into_iter().flatten().collect();
    let most = (!most.is_empty()).then(|| format!("at most {}", most.join(", ")));
    let places = known.may_load.as_ref().map(|rules| match rules.len() {
        0 => "no target at all".to_string(),
        all if SHOWN < all => {
            format!("{}, and {} more", rules[..SHOWN].join(", "), count((all - SHOWN) as u64))
        }
        _ => rules.join(", "),
    });
    let said: Vec<String> = places.into_iter().chain(most).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

/// Agents on other machines are met only if they are the same program.
fn same_program(found: &Hosts) -> Option<Paragraph> {
    let known = found.hosts.iter().filter_map(|host| host.known.as_ref());
    let digest = known.filter_map(|known| known.program.sha256.as_deref()).next()?;
    let text = format!(
        "All that were met are dyno {}, the same program as here (SHA-256 {}…).",
        found.dyno_version,
        digest.get(..12).unwrap_or_default()
    );
    Some(Paragraph::new(Tone::Dim, text))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn known(name: &str) -> HostKnown {
        HostKnown {
            host: name.into(),
            program: Program { dyno: "1.0.0".into(), sha256: Some("0123456789abcdef".repeat(4)) },
            cpus: (0..8).collect(),
            files: 1_048_576,
            has_our_clock: false,
            clock_offset_s: Some(0.0032),
            clock_error_s: Some(90e-6),
            round_trip_s: Some(180e-6),
            may_load: None,
            max_rate_per_s: None,
            max_connections: None,
            max_duration_s: None,
        }
    }

    fn able(name: &str) -> HostRow {
        let ceiling = HostCeiling {
            connections: 256,
            throughput_per_s: 81_234.0,
            busy_share: 0.97,
            server_busy_share: Some(0.5),
            link: Some(HostLink {
                name: "eth0".into(),
                bits_per_s: Some(10_000_000_000),
                mtu: 1_500,
                used_share: Some(0.1),
            }),
            bound_by: "cpus",
        };
        HostRow {
            name: name.into(),
            can_load: true,
            says: None,
            known: Some(known(name)),
            ceiling: Some(ceiling),
            no_ceiling: None,
        }
    }

    #[test]
    fn each_host_has_a_row_and_a_sentence_where_there_is_more_to_say() {
        let mut bounded = able("me@desk3");
        bounded.known.as_mut().unwrap().may_load = Some(vec!["10.0.0.0/24:80-80".into()]);
        bounded.known.as_mut().unwrap().max_rate_per_s = Some(50_000);
        bounded.ceiling = None;
        bounded.no_ceiling = Some("its owner does not allow it to load 10.0.0.5:4000".into());
        let silent = HostRow {
            name: "desk4".into(),
            can_load: false,
            says: Some("it ended: exit status 255: ssh: no route to host".into()),
            known: None,
            ceiling: None,
            no_ceiling: None,
        };
        let found = Hosts::new(Some("x".into()), vec![able("desk2"), bounded, silent]);
        let found = Hosts { dyno_version: "1.0.0", ..found };
        assert!(!found.all_can_load());
        expect![[r#"
            Load can come from 2 of 3 hosts.

            host      CPUs      files  round trip               clock  link                        requests/s  bounded by
            desk2        8  1,048,576      180 µs  +3.20 ms ± 90.0 µs  eth0, 10 Gbit/s, MTU 1,500      81,234  its CPUs, 97 % busy
            me@desk3     8  1,048,576      180 µs  +3.20 ms ± 90.0 µs  –                                    –  –
            desk4        –          –           –                   –  –                                    –  –

            me@desk3: how fast it loads was not measured: its owner does not allow it to load 10.0.0.5:4000
            me@desk3: its owner allows it 10.0.0.0/24:80-80; at most 50,000/s
            desk4 cannot load: it ended: exit status 255: ssh: no route to host
            All that were met are dyno 1.0.0, the same program as here (SHA-256 0123456789ab…).
        "#]]
        .assert_eq(&text(&found, false));
    }

    #[test]
    fn what_bounds_the_rate_is_the_first_part_that_is_full() {
        let bound = |ceiling: HostCeiling| ceiling.bound();
        let row = able("x").ceiling.unwrap();
        assert_eq!(bound(row), "its CPUs, 97 % busy");
        let mut row = able("x").ceiling.unwrap();
        row.bound_by = "round_trips";
        assert_eq!(bound(row), "256 connections' round trips");
    }
}
