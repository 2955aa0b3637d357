//! What held connections need, and whether this machine has it. Pure.

use std::net::{IpAddr, Ipv4Addr};

use crate::shell::Refusal;
use report::units::{bytes, count, counted, time};

/// What is to be held.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Want {
    pub(crate) connections: u64,
    /// Addresses over which they are spread.
    pub(crate) targets: u64,
    /// The servers are on this machine, too.
    pub(crate) is_loopback: bool,
    /// Local addresses that were given.
    pub(crate) sources: Vec<IpAddr>,
    /// Processes that were given.
    pub(crate) parts: Option<u64>,
    /// Begun each second.
    pub(crate) per_second: f64,
}

/// What this machine has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Have {
    /// Files that a process may open.
    pub(crate) files: u64,
    /// Files that the machine may still open.
    pub(crate) files_of_all: u64,
    /// Local ports of one address towards one target.
    pub(crate) ports: u64,
    /// Bytes of available memory.
    pub(crate) memory: Option<u64>,
    /// The shortest accept queue of the servers, where they are on this machine.
    pub(crate) backlog: Option<u32>,
}

/// How the connections are held.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Means {
    /// Processes.
    pub(crate) parts: u64,
    /// Local addresses, in turn; if empty, the kernel chooses.
    pub(crate) sources: Vec<IpAddr>,
    /// The calculation, a line for each item.
    pub(crate) sum: Vec<String>,
}

/// Files of a holding process besides its connections.
const OTHERS: u64 = 64;
/// Measured here: a TCP socket with its file and its place in an epoll, and what dyno keeps for it.
const KERNEL_BYTES: u64 = 4_500;
const OWN_BYTES: u64 = 700;
/// More processes than this are never useful.
const PARTS_MAX: u64 = 64;
/// The kernel assigns half of an address' ports at once; for the others it searches all of them, each time.
const EASY: u64 = 2;
/// 127.0.0.1 to 127.0.0.250.
const SOURCES_MAX: u64 = 250;

impl Means {
    /// Adds up, and refuses with the calculation if something is short.
    pub(crate) fn weigh(want: &Want, have: Have) -> Result<Means, Refusal> {
        let per_part = have.files.saturating_sub(OTHERS).max(1);
        let parts = want.parts.unwrap_or_else(|| want.connections.div_ceil(per_part).max(1));
        let each = want.connections.div_ceil(parts.max(1));
        let per_target = want.connections.div_ceil(want.targets.max(1));
        let addresses = match want.sources.len() as u64 {
            0 if want.is_loopback => per_target.div_ceil((have.ports / EASY).max(1)).max(1),
            given => given.max(1),
        };
        let sides = if want.is_loopback { 2 } else { 1 };
        let memory = want.connections * (sides * KERNEL_BYTES + OWN_BYTES);
        let mut sum = vec![
            format!(
                "files    {} in {}, {} each; a process may open {}",
                count(want.connections),
                counted(parts, "process", "processes"),
                count(each + OTHERS),
                count(have.files)
            ),
            format!(
                "files    {} of the machine, which may open {} more",
                count(sides * want.connections),
                count(have.files_of_all)
            ),
            format!(
                "ports    {} to {}; {} on each of {}",
                count(want.connections),
                counted(want.targets, "target", "targets"),
                count(have.ports),
                counted(addresses, "local address", "local addresses"),
            ),
            format!(
                "memory   about {} on {}{}",
                bytes(memory),
                if sides == 2 { "both sides" } else { "this side" },
                have.memory.map_or(String::new(), |there| format!("; {} can be had", bytes(there)))
            ),
        ];
        sum.extend(have.backlog.map(|backlog| queue(want, backlog)));
        let short = |what: String, way_out: String| {
            let sum: String = sum.iter().map(|line| format!("\n  {line}")).collect();
            Err(Refusal::new(format!("{what}{sum}\n  {way_out}")))
        };
        if per_part < each || PARTS_MAX < parts {
            return short(
                format!(
                    "{} connections in {} processes take more files than a process may open",
                    count(want.connections),
                    count(parts)
                ),
                format!(
                    "raise the limit with `ulimit -n {}`, or hold fewer, or in more --parts (at most {PARTS_MAX})",
                    each + OTHERS
                ),
            );
        }
        if have.files_of_all < sides * want.connections {
            return short(
                "the machine has too few files left".into(),
                format!("raise fs.file-max: `sysctl fs.file-max={}`", 2 * sides * want.connections),
            );
        }
        if have.ports * addresses < per_target || SOURCES_MAX < addresses {
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
        if have.memory.is_some_and(|there| there < memory) {
            return short("there is too little memory".into(), "hold fewer connections".into());
        }
        let own: Vec<IpAddr> = match addresses {
            1 => Vec::new(),
            many => (1..=many as u8).map(|last| Ipv4Addr::new(127, 0, 0, last).into()).collect(),
        };
        let sources = if want.sources.is_empty() { own } else { want.sources.clone() };
        Ok(Means { parts, sources, sum })
    }
}

/// For how long a server may stop accepting before its queue is full.
fn queue(want: &Want, backlog: u32) -> String {
    let per_second = want.per_second / want.targets.max(1) as f64;
    let whole = f64::from(backlog) / per_second.max(1e-9);
    format!(
        "backlog  {} in a server's accept queue; at {} a second it is full when nothing is accepted for {}",
        count(u64::from(backlog)),
        count(per_second.ceil() as u64),
        time(whole * 1e9)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const HAVE: Have = Have {
        files: 20_000,
        files_of_all: 9_000_000,
        ports: 28_232,
        memory: Some(16 << 30),
        backlog: None,
    };

    fn want(connections: u64, targets: u64) -> Want {
        let per_second = 1_000.0;
        Want {
            connections,
            targets,
            is_loopback: true,
            sources: Vec::new(),
            parts: None,
            per_second,
        }
    }

    #[test]
    fn ten_thousand_fit_one_process_and_one_address() {
        let means = Means::weigh(&want(10_000, 1), HAVE).unwrap();
        assert_eq!((means.parts, means.sources.len()), (1, 0));
    }

    #[test]
    fn a_hundred_thousand_take_six_processes_and_eight_addresses() {
        let means = Means::weigh(&want(100_000, 1), HAVE).unwrap();
        assert_eq!((means.parts, means.sources.len()), (6, 8));
        let means = Means::weigh(&want(100_000, 6), HAVE).unwrap();
        assert_eq!((means.parts, means.sources.len()), (6, 2));
    }

    #[test]
    fn a_short_queue_is_told_with_how_long_it_lasts() {
        let have = Have { backlog: Some(128), ..HAVE };
        let sum = Means::weigh(&want(10_000, 1), have).unwrap().sum;
        let last = sum.last().unwrap();
        assert!(last.contains("128 in a server's") && last.ends_with("for 128 ms"), "{last}");
    }

    fn refused(want: &Want, have: Have) -> String {
        Means::weigh(want, have).unwrap_err().to_string()
    }

    #[test]
    fn what_is_short_is_named_with_the_sum_and_the_way_out() {
        let one = Want { parts: Some(1), ..want(30_000, 1) };
        let says = refused(&one, HAVE);
        assert!(says.contains("30,064 each; a process may open 20,000"), "{says}");
        assert!(says.contains("`ulimit -n 30064`"), "{says}");
        let elsewhere = Want { is_loopback: false, ..want(30_000, 1) };
        let says = refused(&elsewhere, HAVE);
        assert!(says.contains("--source") && says.contains("ip_local_port_range"), "{says}");
        let says = refused(&want(100_000, 1), Have { memory: Some(1 << 20), ..HAVE });
        assert!(says.contains("too little memory") && says.contains("on both sides"), "{says}");
        let says = refused(&want(100_000, 1), Have { files_of_all: 150_000, ..HAVE });
        assert!(says.contains("fs.file-max"), "{says}");
        let says =
            refused(&want(100_000_000, 1), Have { memory: None, files_of_all: u64::MAX, ..HAVE });
        assert!(says.contains("--parts"), "{says}");
    }
}
