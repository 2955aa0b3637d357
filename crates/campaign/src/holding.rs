//! What held connections need, and whether this machine has it. Pure.

use std::net::{IpAddr, Ipv4Addr};

use lab::Refusal;
use units::{bytes, count, counted, time};

#[derive(Clone, Debug, PartialEq)]
pub struct Required {
    pub connections: u64,
    /// Addresses over which they are spread.
    pub targets: u64,
    /// The servers are on this machine, too.
    pub is_loopback: bool,
    /// They are in 127.0.0.0/8, of which every address is one of this machine; of IPv6 there is ::1 alone.
    pub has_addresses: bool,
    /// Local addresses that were given.
    pub sources: Vec<IpAddr>,
    /// Processes that were given.
    pub parts: Option<u64>,
    /// Begun each second.
    pub per_second: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Available {
    /// Files that a process may open.
    pub files: u64,
    /// Files that the machine may still open.
    pub files_of_all: u64,
    /// Local ports of one address towards one target.
    pub ports: u64,
    /// Bytes of available memory.
    pub memory: Option<u64>,
    /// Connections that the kernel may still track; none where it tracks none.
    pub tracked: Option<u64>,
    /// The shortest accept queue of the servers, where they are on this machine.
    pub backlog: Option<u32>,
}

/// How the connections are held.
#[derive(Clone, Debug, PartialEq)]
pub struct Resources {
    /// Processes.
    pub parts: u64,
    /// Local addresses, in turn; if empty, the kernel chooses.
    pub sources: Vec<IpAddr>,
    /// The calculation, a line for each item.
    pub sum: Vec<String>,
}

/// Files of a holding process besides its connections.
const OTHER_FILES: u64 = 64;
/// Measured here: a TCP socket with its file and its place in an epoll, and what dyno keeps for it.
const KERNEL_BYTES: u64 = 4_500;
const OWN_BYTES: u64 = 700;
/// More processes than this are never useful.
const PARTS_MAX: u64 = 64;
/// The kernel assigns one of this many of an address' ports at once; for the others it searches all of them, each time.
const EASY_SHARE: u64 = 2;
/// 127.0.0.1 to 127.0.0.250.
const SOURCES_MAX: u64 = 250;

impl Resources {
    /// Adds up, and refuses with the calculation if something is short.
    pub fn weigh(required: &Required, available: Available) -> Result<Resources, Refusal> {
        let per_part = available.files.saturating_sub(OTHER_FILES).max(1);
        // Each address has a process of its own, or several.
        let fewest = required.targets.clamp(1, required.connections.max(1));
        let parts =
            required.parts.unwrap_or_else(|| required.connections.div_ceil(per_part).max(fewest));
        let each = required.connections.div_ceil(parts.max(1));
        let per_target = required.connections.div_ceil(required.targets.max(1));
        let addresses = match required.sources.len() as u64 {
            0 if required.has_addresses => {
                per_target.div_ceil((available.ports / EASY_SHARE).max(1)).max(1)
            }
            given => given.max(1),
        };
        let sides = if required.is_loopback { 2 } else { 1 };
        let memory = required.connections * (sides * KERNEL_BYTES + OWN_BYTES);
        let sum = sum(required, available, (parts, each), addresses, (sides, memory));
        let short = |what: String, way_out: String| {
            let sum: String = sum.iter().map(|line| format!("\n  {line}")).collect();
            Err(Refusal::new(format!("{what}{sum}\n  {way_out}")))
        };
        if per_part < each || PARTS_MAX < parts {
            return short(
                format!(
                    "{} connections in {} processes take more files than a process may open",
                    count(required.connections),
                    count(parts)
                ),
                format!(
                    "raise the limit with `ulimit -n {}`, or hold fewer, or in more processes: --load-on local:N (at most {PARTS_MAX})",
                    each + OTHER_FILES
                ),
            );
        }
        if available.files_of_all < sides * required.connections {
            return short(
                "the machine has too few files left".into(),
                format!(
                    "raise fs.file-max: `sysctl fs.file-max={}`",
                    2 * sides * required.connections
                ),
            );
        }
        if available.ports * addresses < per_target || SOURCES_MAX < addresses {
            return short(
                format!(
                    "{} connections to one target take more local ports than there are",
                    count(per_target)
                ),
                "give more local addresses with --source, more targets, or widen \
                 `sysctl net.ipv4.ip_local_port_range=\"1024 65535\"`"
                    .into(),
            );
        }
        if available.memory.is_some_and(|there| there < memory) {
            return short("there is too little memory".into(), "hold fewer connections".into());
        }
        if available.tracked.is_some_and(|there| there < required.connections) {
            return short(
                "the kernel tracks connections, and its table has too few places left".into(),
                format!(
                    "raise net.netfilter.nf_conntrack_max: `sysctl net.netfilter.nf_conntrack_max={}`, or take the rules \
                     away that track connections",
                    2 * required.connections
                ),
            );
        }
        let own: Vec<IpAddr> = match addresses {
            1 => Vec::new(),
            many => (1..=many as u8).map(|last| Ipv4Addr::new(127, 0, 0, last).into()).collect(),
        };
        let sources = if required.sources.is_empty() { own } else { required.sources.clone() };
        Ok(Resources { parts, sources, sum })
    }
}

/// The calculation, a line for each item: processes with so many connections each, local addresses, and memory on one
/// side or both.
fn sum(
    required: &Required,
    available: Available,
    (parts, each): (u64, u64),
    addresses: u64,
    (sides, memory): (u64, u64),
) -> Vec<String> {
    let mut sum = vec![
        format!(
            "files    {}, {} open files each; a process may open {}",
            counted(parts, "process", "processes"),
            count(each + OTHER_FILES),
            count(available.files)
        ),
        format!(
            "files    {} on this machine, which may open {} more",
            count(sides * required.connections),
            count(available.files_of_all)
        ),
        format!(
            "ports    {} to {}; {} available on each of {}",
            count(required.connections),
            counted(required.targets, "target", "targets"),
            count(available.ports),
            counted(addresses, "local address", "local addresses"),
        ),
        format!(
            "memory   about {} on {}{}",
            bytes(memory),
            if sides == 2 { "both ends" } else { "this end" },
            available.memory.map_or(String::new(), |there| format!("; {} available", bytes(there)))
        ),
    ];
    sum.extend(available.tracked.map(|there| {
        let all = count(required.connections);
        format!(
            "tracked  {all} by the kernel (nf_conntrack), which may track {} more",
            count(there)
        )
    }));
    sum.extend(available.backlog.map(|backlog| queue(required, backlog)));
    sum
}

/// For how long a server may stop accepting before its queue is full.
fn queue(required: &Required, backlog: u32) -> String {
    let per_second = required.per_second / required.targets.max(1) as f64;
    let whole = f64::from(backlog) / per_second.max(1e-9);
    format!(
        "backlog  a server's accept queue holds {}; at {} connections/s it is full after {} without an accept",
        count(u64::from(backlog)),
        count(per_second.ceil() as u64),
        time(whole * 1e9)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const AVAILABLE: Available = Available {
        files: 20_000,
        files_of_all: 9_000_000,
        ports: 28_232,
        memory: Some(16 << 30),
        tracked: None,
        backlog: None,
    };

    fn required(connections: u64, targets: u64) -> Required {
        let per_second = 1_000.0;
        Required {
            connections,
            targets,
            is_loopback: true,
            has_addresses: true,
            sources: Vec::new(),
            parts: None,
            per_second,
        }
    }

    #[test]
    fn ten_thousand_fit_one_process_and_one_address() {
        let resources = Resources::weigh(&required(10_000, 1), AVAILABLE).unwrap();
        assert_eq!((resources.parts, resources.sources.len()), (1, 0));
    }

    #[test]
    fn a_hundred_thousand_take_six_processes_and_eight_addresses() {
        let resources = Resources::weigh(&required(100_000, 1), AVAILABLE).unwrap();
        assert_eq!((resources.parts, resources.sources.len()), (6, 8));
        let resources = Resources::weigh(&required(100_000, 6), AVAILABLE).unwrap();
        assert_eq!((resources.parts, resources.sources.len()), (6, 2));
    }

    #[test]
    fn a_short_queue_is_reported_with_how_long_it_lasts() {
        let available = Available { backlog: Some(128), ..AVAILABLE };
        let sum = Resources::weigh(&required(10_000, 1), available).unwrap().sum;
        let last = sum.last().unwrap();
        assert!(
            last.contains("queue holds 128;") && last.ends_with("after 128 ms without an accept"),
            "{last}"
        );
    }

    fn refused(required: &Required, available: Available) -> String {
        Resources::weigh(required, available).unwrap_err().to_string()
    }

    #[test]
    fn what_is_short_is_named_with_the_sum_and_the_way_out() {
        let one = Required { parts: Some(1), ..required(30_000, 1) };
        let says = refused(&one, AVAILABLE);
        assert!(says.contains("30,064 open files each; a process may open 20,000"), "{says}");
        assert!(says.contains("`ulimit -n 30064`"), "{says}");
        let ipv6 = Required { has_addresses: false, ..required(30_000, 1) };
        for required in [Required { is_loopback: false, ..ipv6.clone() }, ipv6] {
            let says = refused(&required, AVAILABLE);
            assert!(says.contains("--source") && says.contains("ip_local_port_range"), "{says}");
        }
        let says = refused(&required(100_000, 1), Available { memory: Some(1 << 20), ..AVAILABLE });
        assert!(says.contains("too little memory") && says.contains("on both ends"), "{says}");
        let says = refused(&required(100_000, 1), Available { files_of_all: 150_000, ..AVAILABLE });
        assert!(says.contains("fs.file-max"), "{says}");
        let tracked = Available { tracked: Some(262_044), ..AVAILABLE };
        let says = refused(&required(300_000, 6), tracked);
        assert!(
            says.contains("tracked  300,000") && says.contains("nf_conntrack_max=600000"),
            "{says}"
        );
        assert!(Resources::weigh(&required(200_000, 6), tracked).is_ok());
        let says = refused(
            &required(100_000_000, 1),
            Available { memory: None, files_of_all: u64::MAX, ..AVAILABLE },
        );
        assert!(says.contains("--load-on local:N"), "{says}");
    }
}
