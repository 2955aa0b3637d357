//! Whether dyno itself was running all the time, and fast enough.

use super::definition::Definition;
use super::definition::Threshold::{Share, Time};
use super::{Doubt, Ordered};
use crate::verdict::Gravity::{Invalid, Suspect};
use agents::AgentFacts;
use lab::figure::{
    generator::{generator_busy, generator_on_cpu},
    rates::measured_s,
    readings,
};
use lab::record::TrialRecord;
use load::{Holding, Nanos, PartSummary, Plateau, Recording};
use units::{count, nanos, percent, time};

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
/// A larger share of the time of any thread, in which it can do nothing else.
const SLOWLY: f64 = 0.1;
/// Any scheduler now and then causes a shorter pause.
const STILL_SHORTEST: Nanos = 5_000_000;

/// Who sent late: an agent, or dyno itself where it generated the load here.
struct LateSender {
    agent: Option<String>,
    /// The p99 of the delay, milliseconds.
    p99_ms: f64,
    /// The delay that would be tolerable, milliseconds.
    bound_ms: f64,
}

/// Whose threads had something to do most of the time: an agent's, or those of dyno itself.
struct BusyThreads {
    agent: Option<String>,
    /// The share of their time in which they had something to do.
    busy: f64,
    /// The share of their time for which they had a CPU.
    cpu: f64,
}

pub(super) const ALL: &[Definition] =
    &[INSTRUMENT_STOOD_STILL, INSTRUMENT_LATE, INSTRUMENT_BUSY, INSTRUMENT_STARVED, CHECKED_SLOWLY];

/// Bodies had to be parsed, because the server writes the same answer in many forms.
pub(crate) const CHECKED_SLOWLY: Definition = Definition::new("checked_slowly", Suspect)
    .when("parsing bodies or decoding files took more than {} of the time of one of dyno's threads: each body whose form (the order of \
        members, white space, numbers) was not seen before for its request, and all beyond 8 forms of an answer or 32 \
        MB of them")
    .thresholds(&[Share(SLOWLY)])
    .because("the rate and the response times contain dyno's own work")
    .way_out("let the server write equal answers in equal bytes, or give dyno more CPUs");

/// dyno was not running: it was stopped, paused with the whole machine, or kept from the CPU. What the server did
/// meanwhile is unknown, and its answers waited unread.
pub(crate) const INSTRUMENT_STOOD_STILL: Definition = Definition::new("instrument_stood_still", Suspect)
    .graver_above(STILL_INVALID, "of the measured time", Invalid)
    .when("a thread of dyno slept for longer than intended, or lost its CPU while it worked, or the monitors took no \
        reading, for {} or more: and that was longer than the p99 of the response time (for held connections: of the \
        messages' lateness), or all such times (of 1 ms or more) are above {} of the measured time; of several agents, \
        the one is named that was not running for longest")
    .thresholds(&[Time(STILL_SHORTEST as f64), Share(STILL)])
    .because("a stopped process, a paused machine or a busy CPU: answers that arrived meanwhile were read late")
    .way_out("let nothing stop or pause dyno while it measures, stop the other programs, and run it again");

/// dyno sent late, relative to the response times, which include this delay.
pub(crate) const INSTRUMENT_LATE: Definition = Definition::new("instrument_late", Suspect)
    .when("1 % of the requests were sent late by more than {}, and by more than {} of the median response time. Of \
        several agents each is judged separately and named, the worst first")
    .thresholds(&[Time(LATE_MS * 1e6), Share(LATE_SHARE)])
    .because("the response times contain this delay")
    .way_out("give dyno a CPU of its own, or offer less")
    .by_flags("free a CPU for dyno (--load-cpus), try --spin always, or offer less");

/// dyno's threads were almost never idle: the rate may be the limit of dyno.
pub(crate) const INSTRUMENT_BUSY: Definition = Definition::new("instrument_busy", Suspect)
    .when("dyno's threads were busy more than {} of the time, and had a CPU for at least {} of that; of several \
        agents, each is judged separately and named")
    .thresholds(&[Share(BUSY), Share(STARVED)])
    .because("the rate may be dyno's limit")
    .way_out("give dyno more CPUs, apart from the server's")
    .by_flags("give dyno more threads (--threads) on CPUs of their own (--load-cpus), apart from the server's");

/// dyno's threads had something to do, but other programs had the CPU.
pub(crate) const INSTRUMENT_STARVED: Definition = Definition::new("instrument_starved", Suspect)
    .when("dyno's threads had something to do more than {} of the time, and a CPU for less than {} of that; of \
        several agents, each is judged separately and named")
    .thresholds(&[Share(BUSY), Share(STARVED)])
    .because("other programs had the CPU, or dyno's CPU time is limited")
    .way_out("stop the other programs, or give dyno CPUs of its own")
    .by_flags("stop the other programs, or give dyno CPUs of its own (--load-cpus), apart from the server's");

const LATE_ON_AGENTS: &str = "free CPUs on that host for dyno (ssh:HOST:cpus=LIST names them), let the load come from \
    more hosts, or offer less";
const BUSY_ON_AGENTS: &str = "let the load come from more hosts, or give dyno more CPUs there (ssh:HOST:cpus=LIST \
    names them)";
const STARVED_ON_AGENTS: &str = "stop the other programs on that host, or name CPUs for dyno that they do not use \
    (ssh:HOST:cpus=LIST)";

/// The worst of those that sent late, and the others.
fn late_doubt(worst: &LateSender, others: &[LateSender]) -> Doubt {
    let (p99, bound) = (milliseconds(worst.p99_ms), milliseconds(worst.bound_ms));
    let Some(agent) = &worst.agent else {
        return INSTRUMENT_LATE.found(format!(
            "dyno sent 1 % of the requests at least {p99} late (limit: {bound}); the response times contain this delay"
        ));
    };
    let others = match listed(others, |other| (&other.agent, milliseconds(other.p99_ms))) {
        None => String::new(),
        Some(others) => format!("; also late: {others}"),
    };
    let says = format!(
        "agent {agent} sent 1 % of its requests at least {p99} late (limit: {bound}){others}; the response times \
         contain this delay"
    );
    Doubt { is_of_agents: true, ..INSTRUMENT_LATE.found(says).with_way_out(LATE_ON_AGENTS) }
}

fn busy_doubt(worst: &BusyThreads, others: &[BusyThreads]) -> Doubt {
    let busy = percent(worst.busy);
    let Some(agent) = &worst.agent else {
        return INSTRUMENT_BUSY.found(format!(
            "dyno's own threads were busy {busy} of the time: the rate may be dyno's limit"
        ));
    };
    let says = format!(
        "the threads of agent {agent} were busy {busy} of the time{}: the rate may be the limit of that host, and not \
         the server's",
        so_were("were", others)
    );
    Doubt { is_of_agents: true, ..INSTRUMENT_BUSY.found(says).with_way_out(BUSY_ON_AGENTS) }
}

fn starved_doubt(worst: &BusyThreads, others: &[BusyThreads]) -> Doubt {
    let had = format!(
        "had something to do {} of the time, and a CPU for {} of it",
        percent(worst.busy),
        percent(worst.cpu)
    );
    let Some(agent) = &worst.agent else {
        return INSTRUMENT_STARVED.found(format!(
            "dyno's own threads {had}: other programs, or a limit on its CPU time, delayed it"
        ));
    };
    let says = format!(
        "the threads of agent {agent} {had}{}: other programs there, or a limit on dyno's CPU time, delayed it",
        so_were("had", others)
    );
    Doubt { is_of_agents: true, ..INSTRUMENT_STARVED.found(says).with_way_out(STARVED_ON_AGENTS) }
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
    (!texts.is_empty()).then(|| units::listed(&texts))
}

fn milliseconds(value: f64) -> String {
    time(value * 1e6)
}

/// Every doubt about the part that dyno itself had in a load.
pub(super) fn of_recording(
    recording: &Recording,
    agents: &[AgentFacts],
    ordered: Ordered,
) -> impl Iterator<Item = Doubt> {
    let own = [stood_still(recording, agents, ordered), late(recording, agents)];
    own.into_iter().flatten().chain(busy(recording, agents)).chain(checked_slowly(recording))
}

fn checked_slowly(recording: &Recording) -> Option<Doubt> {
    let compared = recording.total.compared?;
    // Of what an older dyno recorded, only the mean over threads is known.
    let mean_ns = compared.meaning_ns / recording.lanes.len().max(1) as u64;
    let longest_ns =
        recording.lanes.iter().filter_map(|lane| lane.meaning).max().unwrap_or(mean_ns);
    let share = longest_ns as f64 / (measured_s(recording) * 1e9).max(1.0);
    (SLOWLY < share).then(|| CHECKED_SLOWLY.found(format!(
        "a thread of dyno spent {} of its time parsing bodies or decoding files: in all, {} were compared by their \
         meaning, {} by their bytes",
        percent(share),
        count(compared.by_meaning),
        count(compared.by_bytes)
    )))
}

/// The times in which lanes slept too long, or had no CPU, and in which the monitors read nothing. Of several agents, the
/// one is named that was not running for longest.
fn stood_still(recording: &Recording, agents: &[AgentFacts], ordered: Ordered) -> Option<Doubt> {
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

/// The times in which lanes that held connections did not run, on the step in which it was worst. Their times are those
/// of messages, or of opening connections where no message arrived.
pub(super) fn held_still(holding: &Holding, lanes: u64) -> Option<Doubt> {
    let found = holding.plateaus.iter().filter_map(|plateau| still_at(holding, plateau, lanes));
    found.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, doubt)| doubt)
}

/// The share of a plateau for which a lane did not run, and the doubt about it.
fn still_at(holding: &Holding, plateau: &Plateau, lanes: u64) -> Option<(f64, Doubt)> {
    let lasted = holding.closed_at.min(plateau.times.until).saturating_sub(plateau.times.from);
    let share = plateau.still.sum as f64 / lanes.max(1) as f64 / lasted.max(1) as f64;
    let times = [plateau.lateness(), &plateau.agree].into_iter().find(|times| 0 < times.count());
    let p99 = times.and_then(|times| times.quantile(0.99)).map_or(0, |p99| p99.value);
    Some((share, still_for(plateau.still.longest(), share, p99, None)?))
}

fn still_for(longest: Nanos, share: f64, p99: Nanos, agent: Option<String>) -> Option<Doubt> {
    let is_it = STILL_SHORTEST <= longest && (STILL < share || p99 < longest);
    let share = share.min(1.0);
    is_it.then(|| {
        let measured = if p99 == 0 {
            String::new()
        } else {
            format!(" (the p99 of what it measured: {})", nanos(p99))
        };
        let says = format!(
            "{} was not running for up to {}, {} of the time in all{measured}: answers that arrived meanwhile are \
             timed too late",
            agent.map_or("dyno".into(), |agent| format!("agent {agent}")),
            nanos(longest),
            percent(share)
        );
        INSTRUMENT_STOOD_STILL.found_in(share, 1.0, says)
    })
}

/// Each agent is judged by itself: among others that send in time, one that does not is hardly seen.
fn late(recording: &Recording, agents: &[AgentFacts]) -> Option<Doubt> {
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
    senders.split_first().map(|(worst, others)| late_doubt(worst, others))
}

fn late_sender(agent: Option<&String>, p99_ms: f64, bound_ms: f64) -> Option<LateSender> {
    (bound_ms < p99_ms).then(|| LateSender { agent: agent.cloned(), p99_ms, bound_ms })
}

fn late_bound_ms(median_ms: f64) -> f64 {
    (median_ms * LATE_SHARE).max(LATE_MS)
}

/// Threads that always have something to do are busy if they have a CPU for most of the time, and otherwise starved.
/// Each agent is judged by itself; the starved ones and the busy ones are two doubts.
fn busy(recording: &Recording, agents: &[AgentFacts]) -> Vec<Doubt> {
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
    let starved = starved.split_first().map(|(worst, others)| starved_doubt(worst, others));
    let busy = busy.split_first().map(|(worst, others)| busy_doubt(worst, others));
    starved.into_iter().chain(busy).collect()
}

fn busy_threads(agent: Option<&String>, busy: f64, cpu: f64) -> Option<BusyThreads> {
    (BUSY < busy).then(|| BusyThreads { agent: agent.cloned(), busy, cpu })
}

/// The step in which dyno's lanes used the most of their CPUs.
pub(super) fn held_busy(holding: &Holding, lanes: u64) -> Option<Doubt> {
    let share = |plateau: &Plateau| {
        let time = plateau.measured as f64 * lanes.max(1) as f64;
        (0 < plateau.measured).then(|| plateau.cpu as f64 / time)
    };
    let busiest = holding.plateaus.iter().filter_map(share).max_by(f64::total_cmp)?;
    Some(busy_doubt(&busy_threads(None, busiest, busiest)?, &[]))
}

/// The longest time for which dyno was not running during a load, on any lane, or in which no monitor looked.
pub(crate) fn longest_pause(trial: &TrialRecord) -> Option<Nanos> {
    let still = trial.loaded.as_ref()?.recording.total.still;
    Some(still.longest().max(looked_away(trial).unwrap_or(0)))
}

/// The longest time in which no monitor read anything, although it was to; none without a monitor.
pub(super) fn looked_away(trial: &TrialRecord) -> Option<Nanos> {
    match trial.loaded.as_ref().and_then(|loaded| loaded.in_turns) {
        None => readings::longest_gap(trial),
        Some(turns) => turns.looked_away,
    }
}
