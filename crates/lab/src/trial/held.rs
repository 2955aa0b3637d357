//! Held connections as a trial's load: a whole ramp, and then a check of what the subject releases.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use agents::LoadEvent;
use load::{Halt, HoldOrder, HoldWindow, Nanos, Ramp, Share, Target, hold};

use super::elsewhere::lost_agents;
use super::lookout::Lookout;
use super::press::tell;
use super::{Event, HERE, Trial, outcome, unable};
use crate::experiment::Shape;
use crate::plan::seed_of;
use crate::record::{HeldRecord, Outcome, OutcomeKind, TrialRecord};
use machine::monitor::Watch;
use machine::process::Running;

impl Trial<'_, '_> {
    /// Adds connections and keeps them; afterwards the subject is watched for what it releases.
    #[expect(clippy::too_many_arguments, reason = "the arguments of `press`, and the ramp")]
    pub(super) fn hold(
        &self,
        ramp: Ramp,
        address: SocketAddr,
        began: Instant,
        running: &mut Running,
        watch: &Watch,
        record: &mut TrialRecord,
        report: &mut (dyn FnMut(Event<'_>) + Send),
    ) -> Result<(), Outcome> {
        let Some(order) = self.hold_order(ramp, address) else {
            let says =
                format!("the answers of `{}` end: there is nothing to hold", self.workload.name);
            return Err(outcome(OutcomeKind::Unable, says));
        };
        let stop = Halt::default();
        let ended = &mut || running.ended();
        let mut lookout = Lookout::new(ended, began, self.halt, &stop);
        let load_began = began.elapsed().as_nanos() as Nanos;
        let mut look = |event: LoadEvent<'_>| {
            lookout.look();
            tell(event, watch, report);
        };
        let (holding, agents) = match self.setup.elsewhere {
            None => {
                let second = &mut |window: &HoldWindow| look(LoadEvent::Second(window));
                let holding = hold(&order, &stop, second).map_err(|it| unable(it.to_string()))?;
                (Some(holding), Vec::new())
            }
            Some(elsewhere) => elsewhere.hold(&order, &stop, &mut look, &mut record.conditions)?,
        };
        record.held = holding.map(|holding| HeldRecord { began: load_began, agents, holding });
        self.heed_halt()?;
        if let Some(outcome) = lost_agents(&record.conditions) {
            return Err(outcome);
        }
        lookout.has_survived(load_began)?;
        self.drain()
    }

    /// Leaves the subject alone while the monitors go on.
    fn drain(&self) -> Result<(), Outcome> {
        let Shape::Held(holds) = self.setup.experiment.shape else { return Ok(()) };
        let until = Instant::now() + holds.drain;
        while Instant::now() < until {
            self.heed_halt()?;
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    fn hold_order(&self, ramp: Ramp, address: SocketAddr) -> Option<HoldOrder> {
        let experiment = self.setup.experiment;
        let Shape::Held(holds) = experiment.shape else { return None };
        let what = self.workload.held()?;
        let cpus: Vec<usize> = self.setup.split.load.iter().collect();
        let lanes = cpus.len().min(ramp.connections).max(1);
        Some(HoldOrder {
            sources: match address.ip() == HERE {
                true => self.setup.sources.to_vec(),
                false => Vec::new(),
            },
            tls: self.tls.cloned(),
            beat: holds.beat,
            silence: holds.silence,
            timeout: experiment.timeout,
            reopen: holds.reopen,
            lanes,
            share: Share { first: 0, of: lanes },
            cpus,
            seed: seed_of(experiment.seed, self.key),
            ..HoldOrder::new(Target::Tcp(address), what, ramp)
        })
    }
}
