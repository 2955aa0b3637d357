//! Whether dyno itself was running all the time, and fast enough.

use agents::AgentFacts;
use load::{Holding, Nanos, PartSummary, Plateau, Recording};
use units::{count, percent, time};

use super::definition::{WaysOut, Weight, duration, family, in_percent};
use super::{Doubt, Ordered};
use crate::generator::{generator_busy, generator_on_cpu};
use crate::rates::measured_s;
use crate::verdict::Gravity;

/// A thread that is busier than this may be the limit: what waits for a thread that is busy nine tenths of the time
/// waits long.
const BUSY: f64 = 0.9;
/// A shorter trial is only a beginning: it is busy opening its connections.
const BUSY_AFTER_S: f64 = 0.1;
/// If a thread had a CPU for less than this share of the time in which it had something to do, other programs had the
/// CPU.
const STARVED: f64 = 0.7;
/// A tenth of the median time does not change a result …
pub(super) const LATE_SHARE: f64 = 0.1;
/// … and less than a millisecond does not matter to any.
pub(super) const LATE_MS: f64 = 1.0;
/// A share of the measured time of each lane: a longer time may have changed a p99.9.
const STILL: f64 = 0.001;
/// If dyno was not running for a larger share, the rest is not a sample of what was ordered.
const STILL_INVALID: f64 = 0.01;
/// Any scheduler now and then causes a shorter pause.
const STILL_SHORTEST: Nanos = 5_000_000;

/// Who sent late: an agent, or dyno itself where it generated the load here.
#[derive(Clone, Debug, PartialEq)]
pub struct LateSender {
    pub agent: Option<String>,
    /// The p99 of the delay, milliseconds.
    pub p99_ms: f64,
    /// The delay that would be tolerable, milliseconds.
    pub bound_ms: f64,
}

/// Whose threads had something to do most of the time: an agent's, or those of dyno itself.
#[derive(Clone, Debug, PartialEq)]
pub struct BusyThreads {
    pub agent: Option<String>,
    /// The share of their time in which they had something to do.
    pub busy: f64,
    /// The share of their time for which they had a CPU.
    pub cpu: f64,
}

family! {
    /// dyno itself was not fast enough. Agents are named, the worst first.
    GeneratorDoubt;

    /// dyno was not running: it was stopped, paused with the whole machine, or kept from the CPU. What the server did
    /// meanwhile is unknown, and its answers waited unread.
    StoodStill {
        /// The longest time, milliseconds.
        longest_ms: f64,
        /// All such times together, as a share of the measured time.
        share: f64,
        /// The p99 of the response time that is printed, milliseconds.
        p99_ms: f64,
        /// Which agent it was, where agents carried out the load.
        agent: Option<String>,
    }
    id: "instrument_stood_still",
    gravity: Weight::ByShare {
        usual: Gravity::Suspect,
        graver: Gravity::Invalid,
        part: *share,
        whole: 1.0,
        bound: STILL_INVALID,
        of: "of the measured time",
    },
    when: format!(
        "a lane slept for longer than intended, or was kept from its CPU in mid-turn, or the monitors did not look, for \
         {} or more: and that was longer than the p99 of the response time (for held connections: of the messages' \
         lateness), or all such times (of 1 ms or more) are above {} of the measured time; of several agents, the one is \
         named that was not running for longest",
        duration(STILL_SHORTEST as f64),
        in_percent(STILL)
    ),
    because: "a stopped process, a paused machine or a busy CPU: what the server did meanwhile is not known, and its \
        answers lay unread",
    says: format!(
        "{} was not running for up to {}, {} of the time in all{}: what the server did meanwhile is not known",
        agent.as_ref().map_or("dyno".into(), |agent| format!("agent {agent}")),
        milliseconds(*longest_ms),
        percent(*share),
        if *p99_ms == 0.0 {
            String::new()
        } else {
            format!(" (the p99 of what it measured: {})", milliseconds(*p99_ms))
        }
    ),
    way_out: "let nothing stop or pause dyno while it measures, stop the other programs, and run it again",
    examples: [
        { longest_ms: 30.0, share: 0.005, p99_ms: 2.0, agent: None },
        { longest_ms: 2_000.0, share: 0.2, p99_ms: 2.0, agent: Some("desk2".into()) },
    ],

    /// dyno sent late, relative to the response times, which include this delay.
    Late { senders: Vec<LateSender> }
    id: "instrument_late",
    gravity: Gravity::Suspect,
    when: format!(
        "1 % of the requests were sent later than {} and {} of the median. Where agents carry the load out, each is judged \
         by itself and named, the worst first: one of many would be hidden in the sum of all",
        duration(LATE_MS * 1e6),
        in_percent(LATE_SHARE)
    ),
    because: "this delay is in the response times",
    says: late_says(senders),
    way_out: if is_of_agents(senders.first().map(|worst| &worst.agent)) {
        "free CPUs on that host for dyno (ssh:HOST:cpus=LIST names them), let the load come from more hosts, or offer less"
            .into()
    } else {
        WaysOut {
            flags: "free a CPU for dyno (--cpus), try --spin always, or offer less",
            experiment: "give dyno a CPU of its own, or offer less",
        }
    },
    examples: [{ senders: senders(None, 1) }, { senders: senders(Some("desk"), 6) }],

    /// dyno's threads were almost never idle: the rate may be the limit of dyno.
    Busy { threads: Vec<BusyThreads> }
    id: "instrument_busy",
    gravity: Gravity::Suspect,
    when: format!(
        "dyno's threads were busy more than {} of the time, and had a CPU for at least {} of that; those of each agent by \
         itself, which is named",
        in_percent(BUSY),
        in_percent(STARVED)
    ),
    because: "the rate may be dyno's limit",
    says: busy_says(threads),
    way_out: if is_of_agents(threads.first().map(|worst| &worst.agent)) {
        "let the load come from more hosts, or give dyno more CPUs there (ssh:HOST:cpus=LIST names them)".into()
    } else {
        WaysOut {
            flags: "give dyno more lanes (--lanes) on CPUs of their own (--cpus), apart from the server's",
            experiment: "give dyno more CPUs, apart from the subject's",
        }
    },
    examples: [{ threads: threads(None, 1) }, { threads: threads(Some("desk"), 2) }],

    /// dyno's threads had something to do, but other programs had the CPU.
    Starved { threads: Vec<BusyThreads> }
    id: "instrument_starved",
    gravity: Gravity::Suspect,
    when: format!(
        "dyno's threads had something to do more than {} of the time, and a CPU for less than {} of that; those of each \
         agent by itself, which is named",
        in_percent(BUSY),
        in_percent(STARVED)
    ),
    because: "other programs had the CPU, or dyno's CPU time is limited",
    says: starved_says(threads),
    way_out: if is_of_agents(threads.first().map(|worst| &worst.agent)) {
        "stop the other programs on that host, or name CPUs for dyno that they do not use (ssh:HOST:cpus=LIST)".into()
    } else {
        WaysOut {
            flags: "stop the other programs, or give dyno CPUs of its own (--cpus), apart from the server's",
            experiment: "stop the other programs, or give dyno CPUs of its own",
        }
    },
    examples: [{ threads: threads(None, 1) }, { threads: threads(Some("desk"), 3) }],
}

fn is_of_agents(worst: Option<&Option<String>>) -> bool {
    worst.is_some_and(Option::is_some)
}

/// Examples: so many agents, or dyno itself, that sent late, the worst first.
fn senders(name: Option<&str>, times: usize) -> Vec<LateSender> {
    let sender = |number: usize| LateSender {
        agent: name.map(|name| format!("{name}{number}")),
        p99_ms: 9.0 - number as f64,
        bound_ms: 1.0,
    };
    (1..=times).map(sender).collect()
}

/// Examples: the threads of so many agents, or of dyno itself, the busiest first.
fn threads(name: Option<&str>, times: usize) -> Vec<BusyThreads> {
    let threads = |number: usize| BusyThreads {
        agent: name.map(|name| format!("{name}{number}")),
        busy: 0.98 - number as f64 / 100.0,
        cpu: 0.5,
    };
    (1..=times).map(threads).collect()
}

fn late_says(senders: &[LateSender]) -> String {
    let Some((worst, others)) = senders.split_first() else { return String::new() };
    let (p99, bound) = (milliseconds(worst.p99_ms), milliseconds(worst.bound_ms));
    let Some(agent) = &worst.agent else {
        return format!(
            "dyno sent 1 % of the requests {p99} or more late (bound: {bound}); this is in the response times"
        );
    };
    let others = match listed(others, |other| (&other.agent, milliseconds(other.p99_ms))) {
        None => String::new(),
        Some(others) => format!("; also late: {others}"),
    };
    format!(
        "agent {agent} sent 1 % of its requests {p99} or more late (bound: {bound}){others}; this is in the response times"
    )
}

fn busy_says(threads: &[BusyThreads]) -> String {
    let Some((worst, others)) = threads.split_first() else { return String::new() };
    let busy = percent(worst.busy);
    match &worst.agent {
        None => {
            format!("dyno's own threads were busy {busy} of the time: the rate may be dyno's limit")
        }
        Some(agent) => format!(
            "the threads of agent {agent} were busy {busy} of the time{}: the rate may be the limit of that host, and not \
             the server's",
            so_were("were", others)
        ),
    }
}

fn starved_says(threads: &[BusyThreads]) -> String {
    let Some((worst, others)) = threads.split_first() else { return String::new() };
    let had = format!(
        "had something to do {} of the time, and a CPU for {} of it",
        percent(worst.busy),
        percent(worst.cpu)
    );
    match &worst.agent {
        None => format!(
            "dyno's own threads {had}: other programs, or a limit on its CPU time, kept it waiting"
        ),
        Some(agent) => format!(
            "the threads of agent {agent} {had}{}: other programs there, or a limit on dyno's CPU time, kept it waiting",
            so_were("had", others)
        ),
    }
}

fn so_were(verb: &str, others: &[BusyThreads]) -> String {
    match listed(others, |other| (&other.agent, percent(other.busy))) {
        None => String::new(),
        Some(others) => format!(", and so {verb} those of {others}"),
    }
}

/// As many agents as a sentence has room for beside the worst.
const NAMED: usize = 3;

/// The first few agents by name, each with its figure, and how many more there are; none of nothing.
fn listed<T>(agents: &[T], named: fn(&T) -> (&Option<String>, String)) -> Option<String> {
    let (first, more) = agents.split_at(agents.len().min(NAMED));
    let with_figure = |agent: &T| {
        let (name, figure) = named(agent);
        format!("{} ({figure})", name.as_deref().unwrap_or("dyno"))
    };
    let mut texts: Vec<String> = first.iter().map(with_figure).collect();
    if !more.is_empty() {
        texts.push(format!("{} more", count(more.len() as u64)));
    }
    let last = texts.pop()?;
    Some(if texts.is_empty() { last } else { format!("{} and {last}", texts.join(", ")) })
}

fn milliseconds(value: f64) -> String {
    time(value * 1e6)
}

/// All of it, of any load.
pub(super) fn of_recording(
    recording: &Recording,
    agents: &[AgentFacts],
    ordered: Ordered,
) -> impl Iterator<Item = Doubt> {
    let own = [stood_still(recording, agents, ordered), late(recording, agents)];
    own.into_iter().flatten().chain(busy(recording, agents)).map(Doubt::from)
}

/// The times in which lanes slept too long, or had no CPU, and in which the monitors read nothing. Of several agents, the
/// one is named that stood still for longest.
fn stood_still(
    recording: &Recording,
    agents: &[AgentFacts],
    ordered: Ordered,
) -> Option<GeneratorDoubt> {
    let lanes = recording.lanes.len().max(1) as f64;
    let still = recording.total.still;
    let looked_away = ordered.looked_away.unwrap_or(0);
    let longest = still.longest().max(looked_away);
    let measured_ns = measured_s(recording) * 1e9;
    let share = (still.sum as f64 / lanes).max(looked_away as f64) / measured_ns.max(1.0);
    let p99 = recording.total.response.quantile(0.99).map_or(0, |p99| p99.value);
    let stillest = agents.iter().max_by_key(|agent| agent.saw.map_or(0, |saw| saw.still));
    let is_of_agent = |agent: &&AgentFacts| {
        agent.saw.is_some_and(|saw| looked_away <= saw.still && 0 < saw.still)
    };
    still_for(longest, share, p99, stillest.filter(is_of_agent).map(|agent| agent.name.clone()))
}

/// The same for held connections, on the step in which it was worst. Their times are those of messages, or of opening
/// connections where no message arrived.
pub(super) fn held_still(holding: &Holding, lanes: u64) -> Option<GeneratorDoubt> {
    let of = |plateau: &Plateau| {
        let lasted = holding.closed_at.min(plateau.times.until).saturating_sub(plateau.times.from);
        let share = plateau.still.sum as f64 / lanes.max(1) as f64 / lasted.max(1) as f64;
        let times = [&plateau.late, &plateau.agree].into_iter().find(|times| 0 < times.count());
        let p99 = times.and_then(|times| times.quantile(0.99)).map_or(0, |p99| p99.value);
        Some((share, still_for(plateau.still.longest(), share, p99, None)?))
    };
    let found = holding.plateaus.iter().filter_map(of);
    found.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, doubt)| doubt)
}

fn still_for(
    longest: Nanos,
    share: f64,
    p99: Nanos,
    agent: Option<String>,
) -> Option<GeneratorDoubt> {
    let is_it = STILL_SHORTEST <= longest && (STILL < share || p99 < longest);
    is_it.then_some(GeneratorDoubt::StoodStill {
        longest_ms: longest as f64 / 1e6,
        share: share.min(1.0),
        p99_ms: p99 as f64 / 1e6,
        agent,
    })
}

/// Each agent is judged by itself: among others that send in time, one that does not is hardly seen.
fn late(recording: &Recording, agents: &[AgentFacts]) -> Option<GeneratorDoubt> {
    let total = &recording.total;
    let median_ms = total.response.quantile(0.5)?.value as f64 / 1e6;
    let of_agent = |agent: &AgentFacts| {
        let saw = agent.saw?;
        let bound_ms = late_bound_ms(saw.p50.map_or(median_ms, |p50| p50 as f64 / 1e6));
        late_sender(Some(&agent.name), saw.late_p99? as f64 / 1e6, bound_ms)
    };
    let mut senders: Vec<LateSender> = agents.iter().filter_map(of_agent).collect();
    senders.sort_by(|one, other| other.p99_ms.total_cmp(&one.p99_ms));
    if senders.is_empty() {
        let p99_ms = total.late.quantile(0.99)?.value as f64 / 1e6;
        senders.extend(late_sender(None, p99_ms, late_bound_ms(median_ms)));
    }
    (!senders.is_empty()).then_some(GeneratorDoubt::Late { senders })
}

fn late_sender(agent: Option<&String>, p99_ms: f64, bound_ms: f64) -> Option<LateSender> {
    (bound_ms < p99_ms).then(|| LateSender { agent: agent.cloned(), p99_ms, bound_ms })
}

fn late_bound_ms(median_ms: f64) -> f64 {
    (median_ms * LATE_SHARE).max(LATE_MS)
}

/// Threads that always have something to do are busy if they have a CPU for most of the time, and otherwise starved.
/// Each agent is judged by itself; the starved ones and the busy ones are two doubts.
fn busy(recording: &Recording, agents: &[AgentFacts]) -> Vec<GeneratorDoubt> {
    if measured_s(recording) < BUSY_AFTER_S {
        return Vec::new();
    }
    let of_agent = |agent: &AgentFacts| {
        let saw: PartSummary = agent.saw?;
        busy_threads(Some(&agent.name), saw.busy()?, saw.on_cpu()?)
    };
    let mut all: Vec<BusyThreads> = agents.iter().filter_map(of_agent).collect();
    all.sort_by(|one, other| other.busy.total_cmp(&one.busy));
    if all.is_empty() {
        let own = generator_busy(&recording.lanes).zip(generator_on_cpu(&recording.lanes));
        all.extend(own.and_then(|(busy, cpu)| busy_threads(None, busy, cpu)));
    }
    let is_starved = |threads: &BusyThreads| threads.cpu < STARVED * threads.busy;
    let (starved, busy): (Vec<_>, Vec<_>) = all.into_iter().partition(is_starved);
    let starved = (!starved.is_empty()).then_some(GeneratorDoubt::Starved { threads: starved });
    let busy = (!busy.is_empty()).then_some(GeneratorDoubt::Busy { threads: busy });
    starved.into_iter().chain(busy).collect()
}

fn busy_threads(agent: Option<&String>, busy: f64, cpu: f64) -> Option<BusyThreads> {
    (BUSY < busy).then(|| BusyThreads { agent: agent.cloned(), busy, cpu })
}

/// The step in which dyno's lanes used the most of their CPUs.
pub(super) fn held_busy(holding: &Holding, lanes: u64) -> Option<GeneratorDoubt> {
    let share = |plateau: &Plateau| {
        let time = plateau.measured as f64 * lanes.max(1) as f64;
        (0 < plateau.measured).then(|| plateau.cpu as f64 / time)
    };
    let busiest = holding.plateaus.iter().filter_map(share).max_by(f64::total_cmp)?;
    let threads = busy_threads(None, busiest, busiest)?;
    Some(GeneratorDoubt::Busy { threads: vec![threads] })
}
