//! Servers whose capacity is known, simulated arrival by arrival.

use load::{Chance, Nanos};

use crate::fixture::MS;
use crate::search::aim::PARTS;
use crate::search::{Aim, Answer, End, Evidence, Found, Limit, Noise, Press, Search, Step, Tried};

/// A server: some queue, and what else is the matter with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct World {
    /// So many servers behind one queue; none: there is no queue, every answer takes the time of its service.
    pub(super) servers: usize,
    /// The mean time of a service, in seconds, and whether it is always that.
    pub(super) mean: f64,
    pub(super) is_constant: bool,
    /// Each process is faster or slower by up to this share.
    pub(super) lottery: f64,
    /// Where the queue is as long as this, the server becomes ten times as slow, and stays so.
    pub(super) collapses_at: Option<usize>,
    /// So many requests each second get a token, with a store of a tenth of a second's; the others fail.
    pub(super) tokens: Option<f64>,
    /// Offered rates between these take 50 ms more.
    pub(super) slow_between: Option<(f64, f64)>,
    /// Every so many seconds, at another time in each process, nothing is served for a second.
    pub(super) stalls_every: Option<f64>,
    /// Above this rate the load itself is late.
    pub(super) instrument: Option<f64>,
    /// After so many trials, this share of them has a load that is late, at whatever rate.
    pub(super) disturbed: Option<(usize, f64)>,
    /// One process for all trials: a collapse stays.
    pub(super) is_one_process: bool,
    /// What a trial takes besides its load, in seconds.
    pub(super) around_s: f64,
}

pub(super) const PLAIN: World = World {
    servers: 1,
    mean: 500e-6,
    is_constant: false,
    lottery: 0.0,
    collapses_at: None,
    tokens: None,
    slow_between: None,
    stalls_every: None,
    instrument: None,
    disturbed: None,
    is_one_process: false,
    around_s: 0.7,
};

/// A world that is under search.
pub(super) struct Measured {
    world: World,
    chance: Chance,
    has_collapsed: bool,
    made: usize,
}

pub(in crate::search) fn aim(percent: f64, within: Nanos) -> Aim {
    Aim { limits: vec![Limit { percent, within }], failures: 0.01 }
}

pub(super) fn p99(milliseconds: u64) -> Aim {
    aim(99.0, milliseconds * MS)
}

pub(in crate::search) fn search(aim: Aim, seed: u64) -> Search {
    Search {
        aim,
        width: 0.05,
        least: 10.0,
        most: 50_000.0,
        ceiling: None,
        limit_s: 1_200.0,
        is_fresh: true,
        seed,
    }
}

/// Searches to the end; of each trial is known what it finds. Each takes 0.7 s besides its load.
pub(super) fn scripted(search: &Search, mut finds: impl FnMut(&Press) -> Found) -> Answer {
    searched(search, |press| Tried { found: finds(press), took_s: press.seconds + 0.7 }).0
}

/// Searches a world to the end.
pub(super) fn found(world: World, search: &Search) -> (Answer, Vec<Tried>) {
    let mut measured =
        Measured { world, chance: Chance::new(search.seed), has_collapsed: false, made: 0 };
    searched(search, |press| measured.tried(press, &search.aim))
}

/// The answer, and the trials that it took.
fn searched(search: &Search, mut tries: impl FnMut(&Press) -> Tried) -> (Answer, Vec<Tried>) {
    let mut trials = Vec::new();
    loop {
        assert!(trials.len() < 500, "it ends");
        match search.next(&trials) {
            Step::Press(press) => trials.push(tries(&press)),
            Step::Done(answer) => return (*answer, trials),
        }
    }
}

impl Measured {
    fn tried(&mut self, press: &Press, aim: &Aim) -> Tried {
        let Some(rate) = press.rate else {
            let servers = self.world.servers.max(1) as f64;
            let per_s = (servers / self.world.mean).min(self.world.tokens.unwrap_or(f64::MAX));
            let took_s = press.seconds + self.world.around_s;
            return Tried { found: Found::Closed { per_s }, took_s };
        };
        self.made += 1;
        let is_disturbed = self
            .world
            .disturbed
            .is_some_and(|(at, share)| at < self.made && self.chance.unit() < share);
        let (evidence, lasted) = self.loaded(rate, press.seconds, aim);
        let is_late = self.world.instrument.is_some_and(|most| most < rate);
        let found = match is_disturbed || is_late {
            true => Found::Disturbed { noise: Noise::Late, is_broken: !evidence.keeps(aim) },
            false => Found::Open(evidence),
        };
        Tried { found, took_s: lasted + self.world.around_s }
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.chance.unit()).ln()
    }

    /// What a load shows, and how long it lasted.
    fn loaded(&mut self, rate: f64, seconds: f64, aim: &Aim) -> (Evidence, f64) {
        let world = self.world;
        let planned = (rate * seconds) as u64;
        let luck = 1.0 + world.lottery * (2.0 * self.chance.unit() - 1.0);
        let phase = world.stalls_every.map(|every| (every, every * self.chance.unit()));
        let is_slow = world.slow_between.is_some_and(|(low, high)| (low..high).contains(&rate));
        if !world.is_one_process {
            self.has_collapsed = false;
        }
        let mut free = vec![0.0_f64; world.servers];
        let mut tokens = world.tokens.map_or(0.0, |limit| limit / 10.0);
        let mut before = 0.0;
        let mut evidence = Evidence {
            lost: vec![0; aim.limits.len() + 1],
            parts: vec![(0, 0); PARTS],
            ..Evidence::default()
        };
        let mut now = self.exponential(1.0 / rate);
        let mut answered = 0_u64;
        while now < seconds {
            evidence.due += 1;
            let place = (now / seconds * PARTS as f64) as usize;
            let is_failed = world.tokens.is_some_and(|limit| {
                tokens = (tokens + (now - before) * limit).min(limit / 10.0);
                let is_empty = tokens < 1.0;
                tokens -= if is_empty { 0.0 } else { 1.0 };
                is_empty
            });
            before = now;
            let slow = if self.has_collapsed { 10.0 } else { 1.0 };
            let mean = world.mean * luck * slow;
            let service = if world.is_constant { mean } else { self.exponential(mean) };
            let waits_until = phase.map_or(now, |(every, phase)| {
                let since = (now + phase) % every;
                if since < 1.0 { now + 1.0 - since } else { now }
            });
            let response = match free.iter_mut().min_by(|one, other| one.total_cmp(other)) {
                None => service,
                Some(server) => {
                    let begins = server.max(waits_until);
                    *server = begins + service;
                    let queue = ((begins - now) / mean) as usize;
                    self.has_collapsed |= world.collapses_at.is_some_and(|most| most < queue);
                    begins + service - now
                }
            } + if is_slow { 0.05 } else { 0.0 };
            for (limit, lost) in aim.limits.iter().zip(&mut evidence.lost) {
                *lost += u64::from(is_failed || limit.within as f64 / 1e9 < response);
            }
            let is_lost = is_failed || aim.limits[0].within as f64 / 1e9 < response;
            evidence.lost[aim.limits.len()] += u64::from(is_failed);
            evidence.parts[place].0 += u64::from(is_lost);
            evidence.parts[place].1 += 1;
            answered += u64::from(!is_failed);
            if aim.is_hopeless(&evidence.lost, planned) {
                evidence.is_cut = true;
                evidence.due = planned;
                evidence.answered_per_s = answered as f64 / now;
                return (evidence, now);
            }
            now += self.exponential(1.0 / rate);
        }
        evidence.answered_per_s = answered as f64 / seconds;
        (evidence, seconds)
    }
}

/// Both ends, as rates: 0, or infinite, where one is not known.
pub(super) fn ends(answer: &Answer) -> (f64, f64) {
    let rate = |end: &Option<End>| end.as_ref().map(|end| end.rate);
    (rate(&answer.lower).unwrap_or(0.0), rate(&answer.upper).unwrap_or(f64::INFINITY))
}

/// The probability that an answer of M/M/c takes longer than this, by Erlang's formula.
fn late_mmc(servers: usize, mu: f64, rate: f64, limit: f64) -> f64 {
    let offered = rate / mu;
    let c = servers as f64;
    if c <= offered {
        return 1.0;
    }
    let mut blocked = 1.0;
    for count in 1..=servers {
        blocked = offered * blocked / (count as f64 + offered * blocked);
    }
    let waits = blocked / (1.0 - offered / c * (1.0 - blocked));
    let drain = c * mu - rate;
    let at_once = (-mu * limit).exp();
    if (drain - mu).abs() < 1e-6 * mu {
        return (1.0 - waits) * at_once + waits * (1.0 + mu * limit) * at_once;
    }
    let queued = (drain * at_once - mu * (-drain * limit).exp()) / (drain - mu);
    (1.0 - waits) * at_once + waits * queued
}

/// The rate at which 1 % of the answers of M/M/c are later than this.
pub(super) fn truth_mmc(servers: usize, mu: f64, limit: f64) -> f64 {
    let (mut low, mut high) = (0.0, servers as f64 * mu);
    for _ in 0..60 {
        let rate = f64::midpoint(low, high);
        match late_mmc(servers, mu, rate, limit) < 0.01 {
            true => low = rate,
            false => high = rate,
        }
    }
    low
}

/// How many of so many searches hold the truth, reach the width, and what they cost at the median.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) held: usize,
    pub(super) narrow: usize,
    pub(super) too_low: usize,
    pub(super) too_high: usize,
    pub(super) trials: usize,
    pub(super) seconds: f64,
    /// Searches of which an end is not known.
    pub(super) open: usize,
    /// Searches both of whose ends full trials have decided.
    pub(super) full: usize,
    /// Nine in ten of the brackets are no wider.
    pub(super) width: f64,
}

pub(super) fn tally(world: World, truth: f64, aim: &Aim, limit_s: f64, searches: u64) -> Tally {
    let (mut trials, mut seconds, mut widths) = (Vec::new(), Vec::new(), Vec::new());
    let mut tally = Tally::default();
    for seed in 0..searches {
        let search = Search { limit_s, ..search(aim.clone(), 1_000 + seed) };
        let (answer, _) = found(world, &search);
        let (low, high) = ends(&answer);
        tally.held += usize::from(low <= truth && truth <= high);
        tally.too_high += usize::from(truth < low);
        tally.too_low += usize::from(high < truth);
        tally.narrow += usize::from(answer.is_narrow());
        let is_decided = |end: &Option<End>| end.as_ref().is_some_and(End::is_decided);
        tally.full += usize::from(is_decided(&answer.lower) && is_decided(&answer.upper));
        tally.open += usize::from(low == 0.0 || high.is_infinite());
        widths.push(if low == 0.0 { f64::INFINITY } else { high / low - 1.0 });
        trials.push(answer.trials);
        seconds.push(answer.seconds);
    }
    trials.sort_unstable();
    seconds.sort_by(f64::total_cmp);
    widths.sort_by(f64::total_cmp);
    tally.width = widths[widths.len() * 9 / 10];
    tally.trials = trials[trials.len() / 2];
    tally.seconds = seconds[seconds.len() / 2];
    tally
}

/// How many searches there are of each law: some for every day, and more by `make searches`.
pub(super) fn searches() -> u64 {
    option_env!("DYNO_SEARCHES").and_then(|many| many.parse().ok()).unwrap_or(12)
}
