//! Every reading by name. `docs/readings.md` says what each means; a test compares the two.

/// A reading that there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadingSpec {
    /// The name of its series; `N` stands for a number.
    pub name: &'static str,
    /// The unit of its values.
    pub unit: &'static str,
    /// Whether it only grows: what it means is how much it has grown.
    pub grows: bool,
}

const fn level(name: &'static str, unit: &'static str) -> ReadingSpec {
    ReadingSpec { name, unit, grows: false }
}

const fn total(name: &'static str, unit: &'static str) -> ReadingSpec {
    ReadingSpec { name, unit, grows: true }
}

/// All readings, except those that a probe inside the subject names.
pub const CATALOG: &[ReadingSpec] = &[
    total("subject.cpu.total", "ns"),
    total("subject.cpu.cgroup", "ns"),
    total("subject.cpu.user", "ns"),
    total("subject.cpu.system", "ns"),
    level("subject.memory.rss", "bytes"),
    level("subject.memory.pss", "bytes"),
    level("subject.memory.cgroup", "bytes"),
    total("subject.memory.kills", "count"),
    level("subject.processes", "count"),
    level("subject.threads", "count"),
    level("subject.files", "count"),
    total("subject.switches.voluntary", "count"),
    total("subject.switches.involuntary", "count"),
    total("subject.io.read", "bytes"),
    total("subject.io.written", "bytes"),
    total("subject.disk.read", "bytes"),
    total("subject.disk.written", "bytes"),
    total("service.cpu.total", "ns"),
    level("service.memory.rss", "bytes"),
    level("service.memory.pss", "bytes"),
    level("service.processes", "count"),
    total("load.cpu", "ns"),
    total("load.helpers.cpu", "ns"),
    level("load.memory.rss", "bytes"),
    total("load.lane.N.cpu", "ns"),
    total("load.lane.N.delay", "ns"),
    total("watch.cpu", "ns"),
    level("watch.late", "ns"),
    total("watch.refused", "count"),
    total("machine.cpu.busy", "ns"),
    total("machine.cpu.softirq", "ns"),
    total("machine.cpu.steal", "ns"),
    total("machine.cpu.other", "ns"),
    total("machine.cpu.throttled", "ns"),
    level("machine.clock.offset", "ns"),
    level("machine.load", "count"),
    level("machine.frequency.mean", "hertz"),
    level("machine.frequency.min", "hertz"),
    total("machine.pressure.cpu", "ns"),
    total("machine.pressure.memory", "ns"),
    total("machine.pressure.io", "ns"),
    total("kernel.tcp.listen_overflows", "count"),
    total("kernel.tcp.listen_drops", "count"),
    total("kernel.tcp.request_queue_full", "count"),
    total("kernel.tcp.timeouts", "count"),
    total("kernel.tcp.syn_retransmitted", "count"),
    total("kernel.tcp.retransmitted", "count"),
    level("kernel.tcp.in_use", "count"),
    level("kernel.tcp.time_wait", "count"),
    level("kernel.tcp.memory", "bytes"),
    level("kernel.tcp.accept_queue", "count"),
];

/// First words of dyno's own names: no probe may use them.
pub(super) const OURS: [&str; 6] = ["subject", "service", "load", "watch", "machine", "kernel"];

/// Whether a reading of dyno's own only grows.
#[must_use]
pub fn grows(name: &str) -> bool {
    spec(name).is_some_and(|reading| reading.grows)
}

fn spec(name: &str) -> Option<&'static ReadingSpec> {
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let general: Vec<&str> =
        name.split('.').map(|word| if is_number(word) { "N" } else { word }).collect();
    let general = general.join(".");
    CATALOG.iter().find(|reading| reading.name == general)
}

/// The unit of a reading. A probe's name ends in its unit, or the reading is a count.
pub fn unit(name: &str) -> &'static str {
    let mut words = name.split('.');
    let is_ours = words.next().is_some_and(|first| OURS.contains(&first));
    if !is_ours {
        let known = [("_bytes", "bytes"), ("_ns", "ns"), ("_ratio", "ratio"), ("_hertz", "hertz")];
        let unit = known.into_iter().find(|(ending, _)| name.ends_with(ending));
        return unit.map_or("count", |(_, unit)| unit);
    }
    spec(name).map_or("count", |reading| reading.unit)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn the_page_names_every_reading_and_no_other() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/readings.md");
        let page = std::fs::read_to_string(page).expect("docs/readings.md");
        let rows = page.lines().filter_map(|line| {
            let mut cells = line.strip_prefix("| `")?.split('|').map(str::trim);
            let (name, unit) = (cells.next()?.trim_end_matches('`').to_string(), cells.next()?);
            let grows = cells.next()?.trim_start_matches("¹ ").starts_with("grows");
            Some((name, (unit.to_string(), grows)))
        });
        let documented: BTreeMap<String, (String, bool)> = rows.collect();
        let spec = |reading: &ReadingSpec| (reading.unit.to_string(), reading.grows);
        let known = CATALOG.iter().map(|reading| (reading.name.into(), spec(reading)));
        assert_eq!(documented, known.collect());
    }

    #[test]
    fn units_are_known_by_name() {
        assert_eq!(unit("load.lane.3.delay"), "ns");
        assert_eq!(unit("subject.memory.rss"), "bytes");
        assert_eq!(unit("vm.memory.total_bytes"), "bytes");
        assert_eq!(unit("vm.run_queue"), "count");
        assert!(
            CATALOG.iter().all(|reading| {
                OURS.contains(&reading.name.split('.').next().unwrap_or_default())
            })
        );
    }
}
