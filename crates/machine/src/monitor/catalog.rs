//! Every reading by name. `docs/readings.md` says what each means; a test compares the two.

/// A reading that there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadingSpec {
    /// The name of its series; `N` stands for a number.
    pub name: &'static str,
    /// The unit of its values.
    pub unit: &'static str,
}

const fn ns(name: &'static str) -> ReadingSpec {
    ReadingSpec { name, unit: "ns" }
}

const fn bytes(name: &'static str) -> ReadingSpec {
    ReadingSpec { name, unit: "bytes" }
}

const fn count(name: &'static str) -> ReadingSpec {
    ReadingSpec { name, unit: "count" }
}

const fn hertz(name: &'static str) -> ReadingSpec {
    ReadingSpec { name, unit: "hertz" }
}

/// All readings, except those that a probe inside the subject names.
pub const CATALOG: &[ReadingSpec] = &[
    ns("subject.cpu.total"),
    ns("subject.cpu.user"),
    ns("subject.cpu.system"),
    bytes("subject.memory.rss"),
    bytes("subject.memory.pss"),
    bytes("subject.memory.cgroup"),
    count("subject.memory.kills"),
    count("subject.processes"),
    count("subject.threads"),
    count("subject.files"),
    count("subject.switches.voluntary"),
    count("subject.switches.involuntary"),
    bytes("subject.io.read"),
    bytes("subject.io.written"),
    bytes("subject.disk.read"),
    bytes("subject.disk.written"),
    ns("load.cpu"),
    bytes("load.memory.rss"),
    ns("load.lane.N.cpu"),
    ns("load.lane.N.delay"),
    ns("watch.cpu"),
    ns("watch.late"),
    count("watch.refused"),
    ns("machine.cpu.busy"),
    ns("machine.cpu.softirq"),
    ns("machine.cpu.steal"),
    ns("machine.cpu.other"),
    ns("machine.clock.offset"),
    count("machine.load"),
    hertz("machine.frequency.mean"),
    hertz("machine.frequency.min"),
    ns("machine.pressure.cpu"),
    ns("machine.pressure.memory"),
    ns("machine.pressure.io"),
    count("kernel.tcp.listen_overflows"),
    count("kernel.tcp.listen_drops"),
    count("kernel.tcp.request_queue_full"),
    count("kernel.tcp.timeouts"),
    count("kernel.tcp.syn_retransmitted"),
    count("kernel.tcp.retransmitted"),
    count("kernel.tcp.in_use"),
    count("kernel.tcp.time_wait"),
    bytes("kernel.tcp.memory"),
    count("kernel.tcp.accept_queue"),
];

/// First words of dyno's own names: no probe may use them.
pub(super) const OURS: [&str; 5] = ["subject", "load", "watch", "machine", "kernel"];

/// The unit of a reading. A probe's name ends in its unit, or the reading is a count.
pub fn unit(name: &str) -> &'static str {
    let mut words = name.split('.');
    let is_ours = words.next().is_some_and(|first| OURS.contains(&first));
    if !is_ours {
        let known = [("_bytes", "bytes"), ("_ns", "ns"), ("_ratio", "ratio"), ("_hertz", "hertz")];
        let unit = known.into_iter().find(|(ending, _)| name.ends_with(ending));
        return unit.map_or("count", |(_, unit)| unit);
    }
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let general: Vec<&str> =
        name.split('.').map(|word| if is_number(word) { "N" } else { word }).collect();
    let general = general.join(".");
    CATALOG.iter().find(|reading| reading.name == general).map_or("count", |reading| reading.unit)
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
            Some((cells.next()?.trim_end_matches('`').to_string(), cells.next()?.to_string()))
        });
        let documented: BTreeMap<String, String> = rows.collect();
        let known = CATALOG.iter().map(|reading| (reading.name.into(), reading.unit.into()));
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
