//! Where a load came from: a row for each agent, with its host, its way to the server, and its share.

use agents::{AgentFacts, LinkUse, Way};
use load::{Nanos, PartSummary};
use units::{count, nanos, rate, trimmed};

use crate::document::{Cell, Column, Row, Table};
use crate::grouped::grouped;

/// What was seen of an agent, in one load or in several.
struct Seen<'a> {
    /// In the last load.
    newest: &'a AgentFacts,
    all: Vec<&'a AgentFacts>,
}

/// The agents of one load, or of several, as a table; none if there were no agents. Only one load has a rate.
pub(crate) fn table(key: &str, loads: &[&[AgentFacts]]) -> Option<Table> {
    let agents = loads.iter().copied().flatten().map(|agent| (&agent.name, agent));
    let seen: Vec<Seen<'_>> = grouped(agents)
        .into_iter()
        .map(|(_, all)| Seen { newest: all[all.len() - 1], all })
        .collect();
    let columns = columns(loads.len());
    let rows: Vec<Vec<Cell>> =
        seen.iter().map(|it| columns.iter().map(|(_, cell)| cell(it)).collect()).collect();
    // What is known of no agent is no column.
    let is_known = |place: &usize| rows.iter().any(|cells| !cells[*place].is_empty());
    let known: Vec<usize> = (0..columns.len()).filter(is_known).collect();
    let known_cells = |mut cells: Vec<Cell>| Row {
        cells: known.iter().map(|&place| std::mem::take(&mut cells[place])).collect(),
        ..Row::default()
    };
    let rows: Vec<Row> = rows.into_iter().map(known_cells).collect();
    let heads = columns.into_iter().enumerate().filter(|(place, _)| known.contains(place));
    let heads = heads.map(|(_, (column, _))| column).collect();
    (!seen.is_empty()).then(|| Table::of(key.to_string(), heads, rows))
}

type Columns = Vec<(Column, fn(&Seen<'_>) -> Cell)>;

fn column(key: &'static str, heading: &str, priority: u8, meaning: &str) -> Column {
    let column = Column::new(key, heading, priority).folding();
    if meaning.is_empty() { column } else { column.explained().meaning(meaning) }
}

fn columns(loads: usize) -> Columns {
    let mut columns: Columns = vec![
        (Column::new("agent", "agent", 0).left(), |it| Cell::text(&it.newest.name)),
        (column("share", "share", 0, "of the load, by its threads"), share),
    ];
    if loads == 1 {
        columns.push((column("rate", "requests/s", 1, "due in the measured time"), per_s));
    }
    columns.extend::<Columns>(vec![
        (column("late", "sent late p99", 1, "1 % of its requests were sent so late, or later"), late),
        (
            column(
                "busy",
                "busy",
                2,
                "the share of the time in which its threads had something to do",
            ),
            busy,
        ),
        (
            column(
                "connect",
                "to the server",
                1,
                "how long it took to connect by TCP before the load, the median",
            ),
            connect,
        ),
        (
            column(
                "round_trip",
                "to dyno",
                3,
                "how long a message from the machine of this dyno and its answer took, at best",
            ),
            round_trip,
        ),
        (column("link", "link to the server", 2, "").left(), link),
        (
            column(
                "clock",
                "clock",
                4,
                "how far it is from the clock of this dyno's machine, and by how much that may be wrong; no response time depends on it",
            ),
            clock,
        ),
        (
            column(
                "drift",
                "drift",
                5,
                "how far it moved against the clock of this dyno's machine during a load",
            ),
            drift,
        ),
        (column("host", "host", 6, "as it calls itself").left(), |it| named(&it.newest.host.name)),
        (column("cpus", "CPUs", 3, "that it may use"), |it| {
            number(it.newest.host.cpus.len() as u64)
        }),
        (column("cpu", "CPU", 6, "").left(), |it| fact(it, "cpu.model")),
        (column("kernel", "kernel", 7, "").left(), |it| fact(it, "kernel")),
        (column("files", "files", 8, "that it may open"), |it| number(it.newest.files)),
        (column("dyno", "dyno", 9, "").left(), |it| named(&it.newest.host.program.dyno)),
    ]);
    columns
}

fn share(seen: &Seen<'_>) -> Cell {
    Cell::share(Some(seen.newest.lanes as f64 / seen.newest.of.max(1) as f64))
}

fn saw(seen: &Seen<'_>, of: fn(&PartSummary) -> Option<f64>) -> Option<f64> {
    seen.all.iter().filter_map(|agent| of(agent.saw.as_ref()?)).max_by(f64::total_cmp)
}

fn per_s(seen: &Seen<'_>) -> Cell {
    let found = saw(seen, PartSummary::attempted_per_s);
    found.map_or(Cell::none(), |it| Cell::text(rate(it)).valued(Some(it)))
}

fn busy(seen: &Seen<'_>) -> Cell {
    Cell::share(saw(seen, PartSummary::busy))
}

/// The worst of all loads.
fn late(seen: &Seen<'_>) -> Cell {
    let late = seen.all.iter().filter_map(|agent| agent.saw?.late_p99).max();
    late.map_or(Cell::none(), |late| Cell::text(nanos(late)).valued(Some(late as f64)))
}

fn connect(seen: &Seen<'_>) -> Cell {
    span(seen.all.iter().filter_map(|agent| agent.way.as_ref()?.connect_p50))
}

fn round_trip(seen: &Seen<'_>) -> Cell {
    span(seen.all.iter().filter(|agent| !agent.has_our_clock).map(|agent| agent.round_trip_ns))
}

/// The least and the most of all loads.
fn span(values: impl Iterator<Item = Nanos>) -> Cell {
    let mut values: Vec<Nanos> = values.collect();
    values.sort_unstable();
    let (Some(&least), Some(&most)) = (values.first(), values.last()) else {
        return Cell::none();
    };
    let (low, high) = (nanos(least), nanos(most));
    let text = if low == high { high } else { format!("{low} – {high}") };
    Cell::text(text).valued(Some(most as f64))
}

fn link(seen: &Seen<'_>) -> Cell {
    let used = seen.newest.beside.link.as_ref();
    let of_use = |link: &LinkUse| (link.name.clone(), link.speed, Some(link.mtu));
    let of_way = |way: &Way| Some((way.link.clone()?, way.speed, way.mtu));
    let found = seen.newest.way.as_ref().and_then(of_way).or_else(|| used.map(of_use));
    Cell::known(found.map(|(name, speed, mtu)| of_link(&name, speed, mtu)))
}

/// `eth0, 10 Gbit/s, MTU 1,500`
pub(crate) fn of_link(name: &str, speed: Option<u64>, mtu: Option<u32>) -> String {
    let speed = speed.map_or("speed not known".into(), bits);
    let mtu = mtu.map_or(String::new(), |mtu| format!(", MTU {}", count(u64::from(mtu))));
    format!("{name}, {speed}{mtu}")
}

/// `2.5 Gbit/s`
fn bits(per_s: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")];
    let unit = UNITS.into_iter().find(|(size, _)| *size <= per_s);
    let (size, prefix) = unit.unwrap_or((1, ""));
    format!("{} {prefix}bit/s", trimmed(per_s as f64 / size as f64, 1))
}

fn clock(seen: &Seen<'_>) -> Cell {
    let agent = seen.newest;
    if agent.has_our_clock {
        return Cell::none();
    }
    Cell::text(offset(agent.offset_ns, agent.offset_error_ns)).valued(Some(agent.offset_ns as f64))
}

/// `+3.20 ms ± 90.0 µs`
pub(crate) fn offset(ns: i64, error: Nanos) -> String {
    format!("{} ± {}", signed(ns), nanos(error))
}

/// The farthest of all loads.
fn drift(seen: &Seen<'_>) -> Cell {
    let drifts = seen.all.iter().filter(|agent| !agent.has_our_clock);
    let most = drifts.filter_map(|agent| agent.drift_ns).max_by_key(|drift| drift.unsigned_abs());
    most.map_or(Cell::none(), |drift| Cell::text(signed(drift)).valued(Some(drift as f64)))
}

fn signed(ns: i64) -> String {
    let sign = if ns < 0 { '−' } else { '+' };
    format!("{sign}{}", nanos(ns.unsigned_abs()))
}

fn named(text: &str) -> Cell {
    if text.is_empty() { Cell::none() } else { Cell::text(text) }
}

fn number(number: u64) -> Cell {
    match number {
        0 => Cell::none(),
        some => Cell::text(count(some)).valued(Some(some as f64)),
    }
}

fn fact(seen: &Seen<'_>, name: &str) -> Cell {
    let mut facts = seen.newest.host.facts.iter();
    Cell::known(facts.find(|(other, _)| other == name).map(|(_, value)| value))
}

#[cfg(test)]
mod tests {
    use agents::{Host, Program};

    use super::*;

    const US: Nanos = 1_000;

    /// An agent on another machine, in one load.
    fn agent(name: &str, connect_us: Nanos, late_us: Nanos) -> AgentFacts {
        AgentFacts {
            name: name.into(),
            host: Host {
                name: format!("{name}.lan"),
                program: Program { dyno: "0.1.0".into(), sha256: None },
                cpus: vec![0, 1],
                facts: vec![("kernel".into(), "Linux 6.1".into())],
                ..Host::default()
            },
            first: 0,
            lanes: 1,
            of: 4,
            offset_ns: -3_000_000,
            offset_error_ns: 40 * US,
            round_trip_ns: 80 * US,
            drift_ns: Some(2_000),
            files: 20_000,
            saw: Some(PartSummary {
                attempted: 1_000,
                late_p99: Some(late_us * US),
                lanes: 1,
                idle: load::SECOND,
                measured: 2 * load::SECOND,
                ..PartSummary::default()
            }),
            way: Some(Way {
                link: Some("eth0".into()),
                speed: Some(2_500_000_000),
                mtu: Some(1_500),
                connect_p50: Some(connect_us * US),
                connects: 20,
            }),
            ..AgentFacts::default()
        }
    }

    fn texts(table: &Table) -> Vec<Vec<String>> {
        let rows = table.views[0].rows.iter();
        rows.map(|row| row.cells.iter().map(|cell| cell.text.clone()).collect()).collect()
    }

    fn heads(table: &Table) -> Vec<&str> {
        table.columns.iter().map(|column| column.heading.as_str()).collect()
    }

    #[test]
    fn each_agent_has_a_row_with_its_host_and_its_way() {
        let one = [agent("desk2", 200, 12), agent("desk3", 210, 15)];
        let table = table("origin", &[&one]).unwrap();
        let cells = heads(&table).into_iter().zip(texts(&table).remove(0));
        let cells: Vec<String> = cells.map(|(head, cell)| format!("{head}: {cell}")).collect();
        assert_eq!(
            cells.join("; "),
            "agent: desk2; share: 25 %; requests/s: 500; sent late p99: 12.0 µs; busy: 50 %; to the server: 200 µs; \
             to dyno: 80.0 µs; link to the server: eth0, 2.5 Gbit/s, MTU 1,500; clock: −3.00 ms ± 40.0 µs; \
             drift: +2.00 µs; host: desk2.lan; CPUs: 2; kernel: Linux 6.1; files: 20,000; dyno: 0.1.0"
        );
    }

    #[test]
    fn of_several_loads_the_worst_is_shown_and_nothing_is_averaged() {
        let (one, two) = ([agent("desk2", 200, 90)], [agent("desk2", 260, 12)]);
        let table = table("origin", &[&one, &two]).unwrap();
        let found = texts(&table);
        assert_eq!(found.len(), 1);
        assert!(!heads(&table).contains(&"requests/s"), "each load has another rate");
        assert!(found[0].contains(&"90.0 µs".to_string()), "{found:?}");
        assert!(found[0].contains(&"200 µs – 260 µs".to_string()), "{found:?}");
    }

    #[test]
    fn processes_of_this_machine_have_no_clock_and_no_way_of_their_own() {
        let local = AgentFacts {
            name: "local 1".into(),
            has_our_clock: true,
            lanes: 1,
            of: 2,
            ..AgentFacts::default()
        };
        let table = table("origin", &[&[local]]).unwrap();
        assert_eq!(heads(&table), ["agent", "share"]);
        assert!(super::table("origin", &[]).is_none());
    }

    #[test]
    fn speeds_are_in_bits() {
        let all = [10_000_000_000, 2_500_000_000, 100_000_000, 9_600, 50].map(bits);
        assert_eq!(all, ["10 Gbit/s", "2.5 Gbit/s", "100 Mbit/s", "9.6 kbit/s", "50 bit/s"]);
    }
}
