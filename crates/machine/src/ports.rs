//! Port arithmetic: a closed connection holds its local port for a while. Pure.

use std::net::{IpAddr, Ipv4Addr};

use crate::limits::{PortFacts, Reuse};

/// Linux keeps the side that closed first in TIME_WAIT for this long.
const TIME_WAIT_S: f64 = 60.0;
/// With tcp_tw_reuse, for this long.
const REUSED_AFTER_S: f64 = 1.0;
/// dyno itself never uses more addresses than this.
const OWN_SOURCES_MAX: u64 = 200;

/// The connections that a load will open and close.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turnover {
    /// New ones each second.
    pub per_s: f64,
    /// For how long.
    pub for_s: f64,
    /// The most that are open at once.
    pub at_once: u64,
}

/// What to do about ports.
#[derive(Clone, Debug, PartialEq)]
pub enum Ports {
    Enough,
    /// These loopback addresses are to be used in turn.
    Spread(Vec<IpAddr>),
    /// The number needed at once, and the number available.
    Short {
        needed: u64,
        there: u64,
        held_s: f64,
    },
}

/// Compares what is needed with what is available.
pub fn weigh(facts: PortFacts, turnover: Turnover, target: IpAddr, sources: &[IpAddr]) -> Ports {
    let reused = match facts.reuse {
        Reuse::Never => false,
        Reuse::Always => true,
        Reuse::OnLoopback => target.is_loopback(),
    };
    let held_s = if reused { REUSED_AFTER_S } else { TIME_WAIT_S };
    let waiting = turnover.per_s * turnover.for_s.min(held_s);
    let needed = waiting.ceil() as u64 + turnover.at_once;
    let there = facts.per_source * sources.len().max(1) as u64;
    if needed <= there {
        return Ports::Enough;
    }
    let short = Ports::Short { needed, there, held_s };
    let is_ours_to_spread = sources.is_empty() && target.is_loopback() && target.is_ipv4();
    if !is_ours_to_spread {
        return short;
    }
    match needed.div_ceil(facts.per_source) {
        count if count <= OWN_SOURCES_MAX => Ports::Spread(loopback(count as u8)),
        _ => short,
    }
}

/// 127.0.0.1, 127.0.0.2, …
fn loopback(count: u8) -> Vec<IpAddr> {
    (1..=count).map(|last| IpAddr::V4(Ipv4Addr::new(127, 0, 0, last))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
    const THERE: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 7));

    fn facts(reuse: Reuse) -> PortFacts {
        PortFacts { per_source: 28_232, reuse }
    }

    fn sessions(per_s: f64, for_s: f64) -> Turnover {
        Turnover { per_s, for_s, at_once: 0 }
    }

    #[test]
    fn the_kernels_texts_are_read() {
        let parsed = PortFacts::parse("32768\t60999\n", "2\n");
        assert_eq!(parsed, facts(Reuse::OnLoopback));
        assert_eq!(PortFacts::parse("", "0").per_source, 28_232);
    }

    #[test]
    fn a_second_of_connections_is_enough_where_ports_are_reused() {
        let turnover = sessions(9_000.0, 600.0);
        assert_eq!(weigh(facts(Reuse::OnLoopback), turnover, HERE, &[]), Ports::Enough);
        assert_eq!(weigh(facts(Reuse::Always), turnover, THERE, &[]), Ports::Enough);
    }

    #[test]
    fn a_minute_of_connections_takes_several_loopback_addresses() {
        let Ports::Spread(sources) =
            weigh(facts(Reuse::Never), sessions(1_200.0, 600.0), HERE, &[])
        else {
            panic!("72,000 connections a minute do not fit one address");
        };
        assert_eq!(sources, loopback(3));
        let short_run = sessions(1_200.0, 10.0);
        assert_eq!(weigh(facts(Reuse::Never), short_run, HERE, &[]), Ports::Enough);
    }

    #[test]
    fn elsewhere_the_shortage_is_reported_with_its_figures() {
        let turnover = Turnover { per_s: 1_000.0, for_s: 600.0, at_once: 50 };
        assert_eq!(
            weigh(facts(Reuse::OnLoopback), turnover, THERE, &[]),
            Ports::Short { needed: 60_050, there: 28_232, held_s: 60.0 }
        );
        let own = [THERE, HERE, THERE];
        assert_eq!(weigh(facts(Reuse::OnLoopback), turnover, THERE, &own), Ports::Enough);
    }
}
