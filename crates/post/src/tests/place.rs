//! What really runs on the host of an agent, and whether it may.

use std::collections::BTreeMap;

use load::Chance;

use super::network::LONGEST;
use super::world::{LEASE, START};
use crate::{Agent, MILLISECOND, Nanos, SECOND};

/// What an agent needs to notice that its lease is over.
const SLACK: Nanos = 100 * MILLISECOND;

/// What runs on an agent's host.
pub(super) struct Place {
    pub(super) agent: Option<Agent>,
    /// How often it was started.
    pub(super) life: u32,
    /// Its clock minus the world's, at first; and by how many nanoseconds it gains in each millisecond.
    ahead: i64,
    gains: i64,
    pub(super) order: Vec<u8>,
    pub(super) loads: BTreeMap<u64, Running>,
    /// When a line of a run came last.
    pub(super) heard: BTreeMap<String, Nanos>,
}

pub(super) struct Running {
    pub(super) order: Vec<u8>,
    pub(super) run: String,
    /// In the world's time.
    pub(super) origin: Nanos,
    /// When it sends nothing more.
    pub(super) until: Nanos,
    pub(super) is_wanted: bool,
    pub(super) windows: u64,
}

impl Place {
    /// Its clock may be up to an hour from the world's.
    pub(super) fn new(chance: &mut Chance, drifts: bool) -> Place {
        Place {
            gains: if drifts { [-100, 100][chance.below(2)] } else { 0 },
            agent: None,
            life: 0,
            ahead: (chance.draw() % (7_200 * SECOND)) as i64 - 3_600 * SECOND as i64,
            order: Vec::new(),
            loads: BTreeMap::new(),
            heard: BTreeMap::new(),
        }
    }

    /// Its clock minus the world's.
    pub(super) fn ahead(&self, now: Nanos) -> i64 {
        self.ahead + (now.saturating_sub(START) / MILLISECOND) as i64 * self.gains
    }

    /// No load is sent later than the lease after its coordinator was heard last; nor, where that has ended, long after
    /// its end.
    pub(super) fn check(&self, now: Nanos, ended: Option<&(Nanos, String)>) {
        for load in self.loads.values().filter(|load| now < load.until) {
            let heard = self.heard[&load.run];
            assert!(now <= heard + LEASE + SLACK, "a load outlasts its lease");
            if let Some((ended, run)) = ended
                && *run == load.run
            {
                assert!(now <= ended + LONGEST + LEASE + SLACK, "its coordinator ended");
            }
        }
    }
}
