//! `dyno load --why`: the CPU time of a server of this machine is read while it is loaded; after that it is loaded once
//! more, and sampled. None of it is in a figure of the load.

use std::sync::Mutex;
use std::time::Instant;

use campaign::project::Project;
use lab::experiment::Profiling;
use lab::record::{ProfileRecord, TrialKey};
use lab::trial::{LEAST_WARMUP, SAMPLED_LOAD, Sampling, beside_load, is_here, processes};
use load::{Halt, Order, Stop, Target};
use machine::Series;
use machine::monitor::{Watch, WatchPlan};

use crate::order::Plan;
use crate::shell::Refusal;

/// Reads the CPU time of a server of this machine.
pub(crate) struct ServerWatch(Watch);

impl ServerWatch {
    /// None: there is nothing that can be sampled later, or read now.
    pub(crate) fn start(target: &Target) -> Option<ServerWatch> {
        let port = port(target).ok()?;
        let plan = WatchPlan {
            period: WatchPlan::PERIOD,
            began: Instant::now(),
            root: None,
            found: processes(port),
            helpers: Vec::new(),
            readings: None,
            port: None,
            probe_socket: None,
            service: None,
        };
        Watch::start(plan).ok().map(ServerWatch)
    }

    /// What is needed to say how much CPU time an answer takes, and nothing that a load without `--why` lacks.
    pub(crate) fn stop(self) -> Vec<Series> {
        let mut readings = self.0.stop();
        readings.retain(|reading| reading.name.starts_with("subject.cpu."));
        readings
    }
}

/// The port of a server whose processes can be sampled; or why they cannot, in a sentence.
fn port(target: &Target) -> Result<u16, String> {
    match target {
        Target::Tcp(address) if !is_here(address.ip()) => Err(format!(
            "{} is not certainly an address of this machine: name it localhost",
            address.ip()
        )),
        Target::Tcp(address) if processes(address.port()).is_empty() => Err(format!(
            "the processes that listen on port {} may not be seen: run dyno as their user, or as root",
            address.port()
        )),
        Target::Tcp(address) => Ok(address.port()),
        Target::Unix(_) => Err("of a Unix socket it is not known which processes serve it".into()),
    }
}

/// Loads once more as planned, and samples the server beside it. None: interrupted.
pub(crate) fn profile(
    plan: &Plan,
    key: &TrialKey,
    halt: &Halt,
) -> Result<Option<ProfileRecord>, Refusal> {
    let kept = |found| Ok(Some(ProfileRecord { key: key.clone(), found }));
    let port = match port(&plan.order.target) {
        Ok(port) => port,
        Err(says) => return kept(Err(says)),
    };
    terminal::notice(
        "the load is over; the server is loaded once more, and sampled (Ctrl-C ends it)",
    );
    let probes = campaign::probes(&Project::embedded()?)?;
    let sampling =
        Sampling { probes: &probes, hz: Profiling::default().hz, found: Mutex::new(None) };
    let order = Order {
        stop: Stop { total: None, duration: Some(SAMPLED_LOAD) },
        warmup: plan.order.warmup.max(LEAST_WARMUP),
        ..plan.order.clone()
    };
    let stop = Halt::default();
    let mut glance = |_: &load::Glance<'_>| {
        if halt.is_asked() {
            stop.ask();
        }
    };
    let press = || load::press(&order, &stop, &mut glance);
    let how = (port, order.warmup, key);
    let pressed = beside_load(&sampling, how, &stop, press, |pressed| pressed.as_ref().ok());
    if halt.is_asked() {
        return Ok(None);
    }
    kept(sampling.into_found(pressed.err().map(|error| error.to_string())))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn only_processes_of_this_machine_that_may_be_seen_can_be_sampled() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let here = listener.local_addr().unwrap();
        assert_eq!(port(&Target::Tcp(here)), Ok(here.port()));
        drop(listener);
        for (target, says) in [
            (Target::Tcp(here), "may not be seen"),
            (Target::Tcp("10.0.0.1:80".parse().unwrap()), "name it localhost"),
            (Target::Unix("x.sock".into()), "of a Unix socket"),
        ] {
            assert!(port(&target).is_err_and(|found| found.contains(says)), "{says}");
        }
    }
}
