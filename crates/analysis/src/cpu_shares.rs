//! Which of three is the limit, the load, the server or the service beside it: the one whose CPUs are busy.

use lab::figure::Figure;
use lab::named;
use lab::record::{TrialRecord, fact};
use machine::conditions::Cpus;
use schemars::JsonSchema;
use serde::Serialize;

use crate::estimate::Estimate;

/// The share of its own CPUs that each used, from 0 to 1: a mean of the measured rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "cpu_shares")]
pub struct CpuShares {
    /// of the load: how long dyno's threads had something to do
    pub load: f64,
    /// of the server
    pub server: f64,
    /// of the service beside it, such as a database
    pub service: f64,
}

named! {
    /// One of the three.
    pub enum Limit {
        Load = "load",
        Server = "server",
        Service = "service",
    }
}

/// Whoever uses so much of its CPUs may be the limit.
const BUSY: f64 = 0.9;

impl CpuShares {
    /// Those that may be the limit: none, if a rate, a lock, a single thread or a pool is.
    #[must_use]
    pub fn limits(&self) -> Vec<Limit> {
        let all = [
            (Limit::Load, self.load),
            (Limit::Server, self.server),
            (Limit::Service, self.service),
        ];
        all.into_iter().filter(|(_, share)| BUSY <= *share).map(|(limit, _)| limit).collect()
    }

    /// None where two of the three share a CPU, or one of them is not known.
    pub(crate) fn of(
        estimates: &[Option<Estimate>; Figure::COUNT],
        measured: &[&TrialRecord],
    ) -> Option<CpuShares> {
        let cpus = |name: &str| {
            let known = measured.iter().find_map(|trial| fact(&trial.conditions, name))?;
            Some(known.parse::<Cpus>().ok()?.count() as f64)
        };
        let percent = |figure: Figure| Some(estimates[figure as usize]?.value);
        let share = |percent: f64, cpus: f64| (percent / 100.0 / cpus).min(1.0);
        let shares_cpus = |trial: &&TrialRecord| fact(&trial.conditions, "cpus.shared").is_some();
        let service = cpus("cpus.service").filter(|_| !measured.iter().any(shares_cpus))?;
        Some(CpuShares {
            load: share(percent(Figure::GeneratorBusy)?, 1.0),
            server: share(percent(Figure::CpuShare)?, cpus("cpus.subject")?),
            service: share(percent(Figure::ServiceCpuShare)?, service),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Row;
    use crate::fixture::{at, fact, growing, table};
    use lab::experiment::Point;
    use load::SECOND;

    fn limits(load: f64, server: f64, service: f64) -> Vec<Limit> {
        CpuShares { load, server, service }.limits()
    }

    #[test]
    fn whoever_is_busy_nine_tenths_of_the_time_may_be_the_limit() {
        assert_eq!(limits(0.2, 0.9, 0.5), [Limit::Server]);
        assert_eq!(limits(0.9, 0.899, 0.5), [Limit::Load]);
        assert_eq!(limits(0.0, 0.0, 1.0), [Limit::Service]);
        assert_eq!(limits(0.1, 0.95, 0.95), [Limit::Server, Limit::Service]);
        assert_eq!(limits(0.899, 0.899, 0.899), []);
    }

    /// A trial in which a server and a service used so many CPU seconds in ten, on these CPUs.
    fn row(server_s: f64, service_s: f64, cpus: &[(&str, &str)]) -> Row {
        let mut trial = at("a", Point::Connections(8), 0);
        trial.conditions.push(fact("service", "a store"));
        trial.conditions.extend(cpus.iter().map(|(name, value)| fact(name, value)));
        for (name, seconds) in [("subject.cpu.total", server_s), ("service.cpu.total", service_s)] {
            growing(&mut trial, name, "ns", seconds * SECOND as f64);
        }
        table(&[trial]).rows.remove(0)
    }

    #[test]
    fn a_share_is_of_the_cpus_that_each_has() {
        let own = [("cpus.subject", "0-1"), ("cpus.service", "2-5"), ("cpus.load", "6")];
        let shares = row(19.0, 20.0, &own).shares.unwrap();
        let rounded = [shares.load, shares.server, shares.service].map(|it| (it * 1e3).round());
        assert_eq!(rounded, [500.0, 950.0, 500.0], "{shares:?}");
        assert_eq!(row(30.0, 20.0, &own).shares.unwrap().server, 1.0, "no more than all");
    }

    #[test]
    fn on_fewer_than_three_cpus_there_are_none() {
        let two = [("cpus.subject", "0"), ("cpus.load", "1")];
        assert_eq!(row(9.0, 5.0, &two).shares, None);
        let shared = [("cpus.subject", "0"), ("cpus.load", "0"), ("cpus.service", "1")];
        let shared = [&shared[..], &[("cpus.shared", "they disturb each other")]].concat();
        assert_eq!(row(9.0, 5.0, &shared).shares, None);
    }
}
