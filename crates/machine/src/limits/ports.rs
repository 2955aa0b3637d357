//! The kernel's settings for local ports. Pure.

/// How many local ports there are, and how soon one may be used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortFacts {
    /// Local ports for one source address and one target.
    pub per_source: u64,
    pub reuse: Reuse,
}

/// net.ipv4.tcp_tw_reuse: whether a port in TIME_WAIT may be used again after a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reuse {
    Never,
    Always,
    OnLoopback,
}

impl PortFacts {
    /// From the texts of /proc; a text that cannot be parsed gives Linux's default.
    pub fn parse(range: &str, reuse: &str) -> PortFacts {
        let mut ends = range.split_whitespace().map(str::parse::<u64>);
        let per_source = match (ends.next(), ends.next()) {
            (Some(Ok(first)), Some(Ok(last))) if first <= last => last - first + 1,
            _ => 60_999 - 32_768 + 1,
        };
        let reuse = match reuse.trim() {
            "0" => Reuse::Never,
            "1" => Reuse::Always,
            _ => Reuse::OnLoopback,
        };
        PortFacts { per_source, reuse }
    }
}
