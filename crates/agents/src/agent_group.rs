//! Load by agents: other processes, on this machine or on others.

mod agent_meeting;
mod driver;
mod results;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use load::{Halt, HoldOrder, Order, Share, Target};
use post::{
    Assignment, CoordinatorAction, CoordinatorEvent, Host, MILLISECOND, Nanos, PeerFacts, SECOND,
    Task, Terms, encode_task,
};

use units::counted;

use crate::carrier::child::plain;
use crate::carrier::{Carriers, Named, Reach};
use crate::identity::{digest_to_ask_for, greeting, nonce};
use crate::loads::{AgentFacts, Held, LoadEvent, Loads, LoadsError, Pressed};
use crate::place::Place;
use crate::split::split;
pub use agent_meeting::AgentMeeting;
use driver::{Driver, News};
use results::{HoldResults, LoadEnd, LoadResults, Results};

/// How often an interrupt is looked for.
const LOOK: Duration = Duration::from_millis(20);
/// How often it is asked whether to go on, where no agent says anything.
const ASK_EVERY: Duration = Duration::from_millis(200);
/// An agent that hears nothing for so long ends its load, and one of which nothing is heard for so long is lost.
const LEASE: Nanos = 2 * SECOND;
/// The lease of processes of this machine, whose end is seen at once: a busy machine is no reason to lose one.
const LOCAL_LEASE: Nanos = 5 * SECOND;
/// Hosts are reached, and get a dyno if they have none, within this time.
const MEET_WITHIN: Nanos = 60 * SECOND;
const ARM_WITHIN: Nanos = 20 * SECOND;
/// Between the moment when all agents have their orders and the beginning of the load.
const LEAD: Nanos = 500 * MILLISECOND;
const LOCAL_LEAD: Nanos = 150 * MILLISECOND;
const LOCAL_LEAD_EACH: Nanos = 15 * MILLISECOND;
/// After the end, results must be there within this time.
const GRACE: Nanos = 60 * SECOND;

/// How agents are to be reached, and what for.
pub struct Wish<'a> {
    pub place: &'a Place,
    /// The program whose command `agents run` is an agent.
    pub program: PathBuf,
    /// What is to be loaded: agents that this user starts himself on other hosts are allowed to load exactly this.
    pub targets: &'a [SocketAddr],
    /// Whether the other agents go on when one is lost.
    pub goes_on: bool,
}

/// Agents that have been met, and wait for their orders. They end when this is dropped.
pub struct AgentGroup {
    driver: Driver,
    names: Vec<Named>,
    facts: Vec<PeerFacts>,
    blinked: Vec<Nanos>,
    is_local: bool,
}

impl AgentGroup {
    /// Starts a place's agents, or reaches them, and waits until all have answered.
    pub fn meet(wish: &Wish<'_>, halt: &Halt) -> Result<AgentGroup, LoadsError> {
        AgentGroup::meet_as(&run_name(), wish, halt)
    }

    fn meet_as(run: &str, wish: &Wish<'_>, halt: &Halt) -> Result<AgentGroup, LoadsError> {
        let is_local = wish.place.is_local();
        let digest = digest_to_ask_for(is_local)?;
        let reach = Reach {
            program: &wish.program,
            digest: digest.as_deref().unwrap_or_default(),
            targets: wish.targets,
        };
        let (carriers, names) = Carriers::start(wish.place, &reach).map_err(LoadsError::Refused)?;
        let terms = terms(is_local, names.len(), digest, wish.goes_on);
        let driver =
            Driver::start(carriers, run, names.len(), terms).map_err(LoadsError::Refused)?;
        let blinked = vec![0; names.len()];
        let mut group = AgentGroup { driver, names, facts: Vec::new(), blinked, is_local };
        group.await_meeting(halt)?;
        group.check_cpus()?;
        Ok(group)
    }

    /// Where they are, in words: the agents' names, as they were given, or how many processes of this machine they are.
    #[must_use]
    pub fn places(&self) -> String {
        match self.is_local {
            true => format!(
                "{} of this machine",
                counted(self.names.len() as u64, "process", "processes")
            ),
            false => {
                let names: Vec<&str> = self.names.iter().map(|it| it.name.as_str()).collect();
                names.join(", ")
            }
        }
    }

    fn await_meeting(&mut self, halt: &Halt) -> Result<(), LoadsError> {
        while !halt.is_asked() {
            match self.news()? {
                Some(CoordinatorAction::Met) => return Ok(()),
                Some(CoordinatorAction::NotMet(reasons)) => {
                    return Err(LoadsError::Refused(self.reasons(&reasons)));
                }
                Some(_) | None => {}
            }
        }
        Err(LoadsError::Interrupted)
    }

    /// The CPUs that were named for a host are CPUs of it.
    fn check_cpus(&self) -> Result<(), LoadsError> {
        for (named, facts) in self.names.iter().zip(&self.facts) {
            let known = &facts.host.cpus;
            if let Some(cpu) = named.cpus.iter().find(|cpu| !known.contains(cpu)) {
                return Err(LoadsError::Refused(format!(
                    "agent {}: it may use no CPU {cpu}, only {known:?}",
                    named.name
                )));
            }
        }
        Ok(())
    }

    /// The next thing that is not a fact, if there is one soon.
    fn news(&mut self) -> Result<Option<CoordinatorAction>, LoadsError> {
        match self.driver.news.recv_timeout(LOOK) {
            Ok(News::Action(action)) => return Ok(Some(action)),
            Ok(News::Facts(facts)) => self.facts = facts,
            Ok(News::Blinked { agent, nanos }) => self.blinked[agent] += nanos,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(LoadsError::Refused("the thread of the agents has ended".into()));
            }
        }
        Ok(None)
    }

    /// A trial has only its own interruptions, and none of the trials and pauses before it.
    fn forget_blinks(&mut self) {
        while let Ok(news) = self.driver.news.try_recv() {
            if let News::Facts(facts) = news {
                self.facts = facts;
            }
        }
        self.blinked.fill(0);
    }

    /// Each agent that stands in the way, with the reason.
    fn reasons(&self, reasons: &[(usize, String)]) -> String {
        let line = |(agent, says): &(usize, String)| {
            format!("agent {}: {}", self.names[*agent].name, plain(says))
        };
        reasons.iter().map(line).collect::<Vec<_>>().join("\n  ")
    }

    /// The agents that were lost before a load.
    fn lost_before(&self, reasons: &[(usize, String)]) -> String {
        let line = |(agent, how): &(usize, String)| {
            let (name, how) = (&self.names[*agent].name, plain(how));
            format!("agent {name} was lost before the load began: {how}")
        };
        reasons.iter().map(line).collect::<Vec<_>>().join("; ")
    }

    /// How much of a load each agent takes: as many lanes as it has CPUs for them.
    fn weights(&self) -> Vec<usize> {
        let weight = |(named, facts): (&Named, &PeerFacts)| match named.cpus.len() {
            _ if self.is_local => 1,
            0 => facts.host.cpus.len().max(1),
            named => named,
        };
        self.names.iter().zip(&self.facts).map(weight).collect()
    }

    /// For each agent: its first lane, and how many it has.
    fn shares(&self, lanes: usize) -> Result<Vec<(usize, usize)>, LoadsError> {
        let shares = split(lanes, &self.weights()).ok_or_else(|| {
            LoadsError::Refused(format!(
                "{} agents share {lanes} threads that send, each with a connection or more, and an agent without a \
                 thread would be idle: ask for more connections or threads, or for fewer agents",
                self.names.len()
            ))
        })?;
        let mut first = 0;
        Ok(shares
            .into_iter()
            .map(|lanes| {
                first += lanes;
                (first - lanes, lanes)
            })
            .collect())
    }

    /// The CPUs of an agent's lanes. Those of this machine are given in turn over all agents.
    fn cpus(&self, agent: usize, given: &[usize], (first, lanes): (usize, usize)) -> Vec<usize> {
        match self.is_local {
            true if given.is_empty() => Vec::new(),
            true => (first..first + lanes).map(|lane| given[lane % given.len()]).collect(),
            false => self.names[agent].cpus.clone(),
        }
    }

    /// Has a trial carried out. `results` is asked now and then to show the agents, so that the load can be ended also
    /// while no agent says anything.
    fn carry_out(
        &mut self,
        orders: Vec<Vec<u8>>,
        lasts: Option<Nanos>,
        halt: &Halt,
        results: &mut dyn Results,
    ) -> Result<(), LoadsError> {
        let course = Assignment { orders, lasts, grace: GRACE };
        self.forget_blinks();
        self.driver.want(CoordinatorEvent::Begin(course));
        let (mut was_halted, mut taken) = (false, Instant::now());
        loop {
            if halt.is_asked() && !was_halted {
                was_halted = true;
                self.driver.want(CoordinatorEvent::Halt);
            }
            match self.news()? {
                Some(CoordinatorAction::Over) => return Ok(()),
                Some(CoordinatorAction::NotBegun(reasons)) if reasons.is_empty() => {
                    return Err(LoadsError::Interrupted);
                }
                Some(CoordinatorAction::NotBegun(reasons)) => {
                    return Err(LoadsError::Refused(self.reasons(&reasons)));
                }
                Some(CoordinatorAction::LostBefore(reasons)) => {
                    return Err(LoadsError::Lost(self.lost_before(&reasons)));
                }
                None if taken.elapsed() < ASK_EVERY => {}
                action => {
                    taken = Instant::now();
                    match action {
                        Some(CoordinatorAction::Window { agent, window }) => {
                            let follows = results.window(agent, window);
                            follows.into_iter().for_each(|event| self.driver.want(event));
                        }
                        Some(CoordinatorAction::Result { agent, bytes }) => {
                            results.result(agent, &bytes);
                        }
                        Some(CoordinatorAction::Lost(loss)) => results.lost(&loss),
                        Some(_) => {}
                        None => results.show_agents(),
                    }
                }
            }
        }
    }

    fn agents(&self, shares: &[(usize, usize)]) -> Vec<AgentFacts> {
        let of = shares.iter().map(|(_, lanes)| lanes).sum();
        let all = self.names.iter().zip(&self.facts).zip(shares).zip(&self.blinked);
        all.map(|(((named, facts), &(first, lanes)), &blinked_ns)| {
            let agent = AgentFacts {
                name: named.name.clone(),
                host: facts.host.clone(),
                has_our_clock: self.is_local,
                first,
                lanes,
                of,
                blinked_ns,
                ..AgentFacts::default()
            };
            agent.with(facts.clock, facts.clock_after, facts.ready.clone())
        })
        .collect()
    }
}

impl Loads for AgentGroup {
    fn lanes(&self) -> Option<usize> {
        Some(self.weights().iter().sum())
    }

    fn count(&self) -> usize {
        self.names.len()
    }

    fn hosts(&self) -> Vec<(String, Host)> {
        let all = self.names.iter().zip(&self.facts).filter(|_| !self.is_local);
        all.map(|(named, facts)| (named.name.clone(), facts.host.clone())).collect()
    }

    fn processes(&self) -> Vec<u32> {
        self.driver.processes()
    }

    fn press(
        &mut self,
        order: &Order,
        halt: &Halt,
        watch: &mut dyn FnMut(LoadEvent<'_>),
    ) -> Result<Pressed, LoadsError> {
        let shares = self.shares(order.lanes)?;
        let mut orders = Vec::new();
        for (agent, &(first, lanes)) in shares.iter().enumerate() {
            let order = Order {
                lanes,
                share: Some(Share { first, of: order.lanes }),
                cpus: self.cpus(agent, &order.cpus, (first, lanes)),
                origin: None,
                ..order.clone()
            };
            orders.push(encode(&Task::Load(Box::new(order)))?);
        }
        let lasts = order.stop.duration.map(|length| {
            nanos(order.warmup + length + order.timeout)
                + 100_000 * order.load.connections_max() as Nanos
        });
        let mut results = LoadResults::new(order, &self.names, &shares, watch);
        self.carry_out(orders, lasts, halt, &mut results)?;
        let LoadEnd { recording, saw, lost } = results.end();
        let mut agents = self.agents(&shares);
        for (agent, saw) in agents.iter_mut().zip(saw) {
            if let Some((saw, beside)) = saw {
                (agent.saw, agent.beside) = (Some(saw), beside);
            }
        }
        Ok(Pressed { recording, agents, lost })
    }

    fn hold(
        &mut self,
        order: &HoldOrder,
        targets: &[Target],
        halt: &Halt,
        watch: &mut dyn FnMut(LoadEvent<'_>),
    ) -> Result<Held, LoadsError> {
        let shares = self.shares(order.lanes)?;
        let mut orders = Vec::new();
        for (agent, &(first, lanes)) in shares.iter().enumerate() {
            let target = match targets.len() {
                0 => &order.target,
                many => &targets[agent % many],
            };
            let order = HoldOrder {
                target: target.clone(),
                lanes,
                share: Share { first, of: order.lanes },
                cpus: self.cpus(agent, &order.cpus, (first, lanes)),
                origin: None,
                ..order.clone()
            };
            orders.push(encode(&Task::Hold(Box::new(order)))?);
        }
        let lasts = Some(order.ramp.end());
        let mut results = HoldResults::new(order, &self.names, &shares, watch);
        self.carry_out(orders, lasts, halt, &mut results)?;
        let (holding, lost) = results.end();
        Ok(Held { holding, agents: self.agents(&shares), lost })
    }
}

/// No two runs have the same.
fn run_name() -> String {
    format!("{:016x}", nonce())
}

fn terms(is_local: bool, agents: usize, digest: Option<String>, goes_on: bool) -> Terms {
    let lease = if is_local { LOCAL_LEASE } else { LEASE };
    let local_lead = LOCAL_LEAD + LOCAL_LEAD_EACH * agents as Nanos;
    Terms {
        greeting: greeting(digest, lease),
        has_one_clock: is_local,
        meet_within: MEET_WITHIN,
        arm_within: ARM_WITHIN,
        lead: if is_local { local_lead } else { LEAD },
        goes_on,
    }
}

fn encode(task: &Task) -> Result<Vec<u8>, LoadsError> {
    encode_task(task).map_err(|error| LoadsError::Refused(format!("the order: {error}")))
}

fn nanos(duration: Duration) -> Nanos {
    Nanos::try_from(duration.as_nanos()).unwrap_or(Nanos::MAX)
}
