//! The load of a trial: what is ordered, and what becomes of a subject that ends meanwhile.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Instant;

use agents::{AgentFacts, LoadEvent};
use load::{Glance, Halt, Nanos, Order, Recording, Stop, Target, monotonic_ns, press};
use wire::Limits;
use wire::h2::{H2Order, Windows};

use super::elsewhere::lost_agents;
use super::in_turns::Attendance;
use super::inserting::beside;
use super::lookout::Lookout;
use super::sampled::beside_samples;
use super::{Ended, Event, HERE, Trial, Vitals, unable};
use crate::experiment::Shape;
use crate::plan::seed_of;
use crate::record::{LoadRecord, Outcome, TrialRecord};
use machine::Fact;
use machine::monitor::Watch;

/// The name of the condition that says whether dyno polled while it waited.
pub const SPIN: &str = "load.spin";

/// The name of the condition that says how many kinds of requests a subject was not sent, because it takes no bodies in
/// chunks.
pub const LEFT_OUT: &str = "load.left_out";

/// What this process recorded by itself.
fn alone(recording: Recording) -> (Option<Recording>, Vec<AgentFacts>) {
    (Some(recording), Vec::new())
}

/// Tells what happens of a load; which agents were lost is known in the end.
pub(super) fn tell(
    event: LoadEvent<'_>,
    watch: &Watch,
    report: &mut (dyn FnMut(Event<'_>) + Send),
) {
    match event {
        LoadEvent::Glance(glance) => report(Event::Glance(glance, Vitals::of(watch))),
        LoadEvent::Second(window) => report(Event::Held(window, Vitals::of(watch))),
        LoadEvent::Agents(agents) => report(Event::Agents(agents)),
        LoadEvent::Lost(_) => {}
    }
}

impl Trial<'_, '_> {
    pub(super) fn press(
        &self,
        address: SocketAddr,
        began: Instant,
        ended: Ended<'_>,
        watch: &Watch,
        record: &mut TrialRecord,
        report: &mut (dyn FnMut(Event<'_>) + Send),
    ) -> Result<(), Outcome> {
        let stop = Halt::default();
        let mut lookout = Lookout::new(ended, began, self.halt, &stop);
        let mut order = self.order(address);
        let inserting = self.inserting(&mut order);
        record.conditions.push(Fact { name: SPIN.into(), value: order.spin.name().into() });
        if 0 < self.left_out {
            let value = format!("{} of the requests: bodies in chunks", self.left_out);
            record.conditions.push(Fact { name: LEFT_OUT.into(), value });
        }
        // A load whose clock is fixed begins when that does.
        let ahead = order.origin.map_or(0, |origin| origin.saturating_sub(monotonic_ns()));
        let mut load_began = began.elapsed().as_nanos() as Nanos + ahead;
        let mut look = |event: LoadEvent<'_>| {
            lookout.look();
            self.heed(event, &stop);
            tell(event, watch, report);
        };
        let mut glance = |glance: &Glance<'_>| look(LoadEvent::Glance(glance));
        let pressed = match (self.attendance, self.setup.elsewhere) {
            (None, None) => {
                let press = || press(&order, &stop, &mut glance).map(alone);
                let load = || beside(inserting.as_ref(), &mut record.conditions, press);
                beside_samples(self.sampled, &stop, load, |pressed| {
                    pressed.as_ref().ok()?.0.as_ref()
                })
            }
            (Some(attendance), _) => attendance.press(&order, began, &stop, &mut glance).map(alone),
            (None, Some(elsewhere)) => {
                Ok(elsewhere.press(&order, &stop, &mut look, &mut record.conditions)?)
            }
        };
        let in_turns = self.attendance.and_then(Attendance::in_turns);
        if let Some((first, _)) = in_turns {
            load_began = first;
        }
        let in_turns = in_turns.map(|(_, in_turns)| in_turns);
        let (recording, agents) = pressed.map_err(|error| unable(error.to_string()))?;
        record.loaded = recording.map(|recording| LoadRecord {
            began: load_began,
            in_turns,
            agents,
            recording,
        });
        self.heed_halt()?;
        if let Some(outcome) = lost_agents(&record.conditions) {
            return Err(outcome);
        }
        lookout.has_survived(load_began)
    }

    /// Ends a load of which enough is known.
    fn heed(&self, event: LoadEvent<'_>, stop: &Halt) {
        if let (LoadEvent::Glance(glance), Some(enough)) = (event, self.setup.beside.enough)
            && (enough.0)(glance)
        {
            stop.ask();
        }
    }

    fn order(&self, address: SocketAddr) -> Order {
        let experiment = self.setup.experiment;
        let load = experiment.load(self.key.point);
        let cpus: Vec<usize> = self.setup.split.load.iter().collect();
        let seed = seed_of(experiment.seed, self.key);
        let asks = self.workload.asks(experiment.keep_alive);
        let is_varied = self.workload.vary || experiment.vary;
        let asks = if is_varied { asks.varied(seed) } else { asks };
        let target = Target::Tcp(address);
        Order {
            sources: match address.ip() == HERE {
                true => self.setup.sources.to_vec(),
                false => Vec::new(),
            },
            stop: Stop { total: experiment.total, duration: experiment.duration },
            warmup: experiment.warmup,
            timeout: experiment.timeout,
            on_time_within: experiment.on_time_within(),
            tls: self.tls.cloned(),
            protocol: self.protocol(),
            server_cpus: self.server_cpus(&target),
            keep_alive: experiment.keep_alive || matches!(experiment.shape, Shape::Sessions { .. }),
            lanes: cpus.len().min(load.connections_max()).max(1),
            cpus,
            spin: experiment.spin,
            seed,
            ..Order::new(target, asks, load)
        }
    }

    /// The CPUs of a subject: those that it is given, or all of this machine if it runs on it already.
    fn server_cpus(&self, target: &Target) -> Option<u64> {
        let split = &self.setup.split;
        match self.candidate.subject.serving.command() {
            Some(_) => Some(split.subject.count() as u64),
            None => target.is_here().then(|| {
                split.load.iter().chain(split.subject.iter()).collect::<BTreeSet<_>>().len() as u64
            }),
        }
    }

    /// How the load speaks: as a browser would, with the largest windows and all that compresses fields.
    fn protocol(&self) -> load::Protocol {
        match self.manner.protocol.is_http2() {
            false => load::Protocol::Http1,
            true => load::Protocol::Http2(H2Order {
                streams: self.manner.streams,
                windows: Windows::default(),
                indexed: true,
                limits: Limits::default(),
            }),
        }
    }
}
