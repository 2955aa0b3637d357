//! Lines between a coordinator and its agents: they are lost, repeated, held up, and overtake one another.

use load::Chance;

use crate::{MILLISECOND, Nanos, SECOND};

/// What may go wrong.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Faults {
    /// The share of the lines that never come.
    pub(super) losses: f64,
    /// The share of the lines that come twice.
    pub(super) repeats: f64,
    /// Some lines take much longer than others.
    pub(super) is_held_up: bool,
    pub(super) ends_agents: bool,
    pub(super) ends_coordinators: bool,
    /// For some time nothing passes between the coordinator and an agent.
    pub(super) cuts_lines: bool,
    /// Clocks gain or lose 100 µs a second, and there are minutes between the trials.
    pub(super) drifts: bool,
}

/// No line takes longer: longer than a whole trial.
pub(super) const LONGEST: Nanos = 6 * SECOND;

#[derive(Debug)]
pub(super) struct Network {
    faults: Faults,
    /// For each agent: nothing passes in this time.
    cuts: Vec<std::ops::Range<Nanos>>,
    /// For each agent: how long a line takes to it, and from it.
    ways: Vec<[Nanos; 2]>,
}

impl Network {
    pub(super) fn new(agents: usize, faults: Faults, chance: &mut Chance) -> Network {
        let mut cuts = Vec::new();
        let mut ways = Vec::new();
        for _ in 0..agents {
            let from = chance.draw() % (20 * SECOND);
            let until = from + chance.draw() % (4 * SECOND);
            cuts.push(if faults.cuts_lines { from..until } else { 0..0 });
            ways.push([chance.draw() % (8 * MILLISECOND), chance.draw() % (8 * MILLISECOND)]);
        }
        Network { faults, cuts, ways }
    }

    /// When a line that is sent now arrives: never, once or twice.
    pub(super) fn carry(
        &self,
        agent: usize,
        is_back: bool,
        now: Nanos,
        chance: &mut Chance,
    ) -> Vec<Nanos> {
        if self.cuts[agent].contains(&now) {
            return Vec::new();
        }
        let mut times = 1;
        times -= u32::from(chance.unit() < self.faults.losses);
        times += u32::from(chance.unit() < self.faults.repeats);
        let way = self.ways[agent][usize::from(is_back)];
        let arrival = |chance: &mut Chance| {
            let is_held_up = self.faults.is_held_up && chance.unit() < 0.05;
            let usual = way + chance.draw() % MILLISECOND;
            now + if is_held_up { chance.draw() % LONGEST } else { usual }
        };
        (0..times).map(|_| arrival(chance)).collect()
    }
}

/// Lines are written and read as they are between processes.
pub(super) fn through_the_codec<T>(frame: &T) -> Box<T>
where
    T: serde::Serialize + serde::de::DeserializeOwned,
{
    let line = crate::encode(frame).unwrap();
    Box::new(crate::decode(line.trim_end().as_bytes()).unwrap())
}
