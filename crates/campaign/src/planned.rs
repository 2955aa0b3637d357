//! The rule of an experiment's plan: round by round, the trials that are not kept and still needed.

use std::collections::{BTreeMap, VecDeque};

use analysis::Rounds;
use lab::Refusal;
use lab::record::{Entry, Fact, OutcomeKind, TrialKey, TrialRecord};
use lab::trial::Beside;
use store::{Extent, Kept};

use crate::Ended;
use crate::event::{Event, Watch};
use crate::trials::{Means, Next, Rule, Run, has_lost_agent};

/// What is left of the plan. The subjects are checked after the first round, which gives a first picture sooner, or before
/// the only one.
pub(crate) struct PlannedTrials<'a> {
    left: VecDeque<&'a TrialKey>,
    /// What the kept trials imply for the remaining ones.
    rounds: Rounds,
    /// The round under way.
    round: Option<u32>,
    has_tried: bool,
    /// The subjects that are still to be checked; none after the checks.
    unchecked: Option<Vec<&'a Entry>>,
    /// What was said of trials that lost an agent: each is tried once more, at the end of its round.
    lost: BTreeMap<u32, String>,
}

impl<'a> PlannedTrials<'a> {
    pub(crate) fn of(run: &mut Run<'a>, watch: Watch<'_>) -> Result<PlannedTrials<'a>, Refusal> {
        let unchecked = Some(run.unchecked(watch)?);
        let kept = run.store.kept(run.id)?;
        let record = run.record;
        let left = record.plan.iter().filter(|key| !kept.contains(&key.number)).collect();
        let rounds = rounds_so_far(run)?;
        Ok(PlannedTrials {
            left,
            rounds,
            round: None,
            has_tried: false,
            unchecked,
            lost: BTreeMap::new(),
        })
    }

    /// The other trials of this one's round that live at the same time. References are tried alone.
    fn take_others_of_round(&mut self, run: &Run<'a>, key: &TrialKey) -> Vec<TrialKey> {
        let campaign = run.campaign;
        let is_here = |other: &&TrialKey| {
            (&other.workload, other.point, other.repeat) == (&key.workload, key.point, key.repeat)
                && !campaign.is_extra(&other.subject)
        };
        if campaign.experiment.slices.is_none() || campaign.is_extra(&key.subject) {
            return Vec::new();
        }
        let (here, rest): (Vec<&TrialKey>, Vec<&TrialKey>) = self.left.drain(..).partition(is_here);
        self.left = rest.into();
        here.into_iter().cloned().collect()
    }
}

impl<'a> Rule<'a> for PlannedTrials<'a> {
    /// Whether more rounds are needed is decided between rounds.
    fn next(&mut self, run: &mut Run<'a>, watch: Watch<'_>) -> Result<Next, Refusal> {
        if self.left.front().map(|key| key.repeat) != self.round {
            let plan = self.left.make_contiguous().to_vec();
            self.left.retain(|key| self.rounds.needs(key, &plan));
            self.round = self.left.front().map(|key| key.repeat);
            watch(&Event::Left(self.left.make_contiguous()));
        }
        let has_rounds = run.record.plan.iter().any(|key| key.repeat != 0);
        let is_early = has_rounds && self.left.front().is_some_and(|key| key.repeat == 0);
        if let Some(unchecked) = self.unchecked.take_if(|_| !is_early) {
            if self.has_tried {
                watch(&Event::FirstRoundKept);
            }
            if run.check_subjects(&unchecked, watch)? == Ended::Interrupted {
                return Ok(Next::End(Ended::Interrupted));
            }
        }
        let Some(key) = self.left.pop_front() else { return Ok(Next::End(Ended::Done)) };
        self.has_tried = true;
        let mut keys = vec![key.clone()];
        keys.extend(self.take_others_of_round(run, key));
        Ok(Next::Trials(keys))
    }

    fn make(
        &self,
        run: &Run<'a>,
        keys: &[TrialKey],
        watch: Watch<'_>,
    ) -> Result<Vec<TrialRecord>, Refusal> {
        let means = Means { build: self.rounds.build_of(keys[0].repeat), ..run.means() };
        match keys {
            [key] => {
                let experiment = &run.campaign.experiment;
                let mut tried = means.tried(experiment, key, Beside::default(), watch)?;
                let is_first = is_first_of_place(&run.record.plan, key);
                if is_first && tried.outcome.kind != OutcomeKind::Interrupted {
                    tried.conditions.extend(means.service_alone(key));
                }
                Ok(vec![tried])
            }
            keys => means.try_together(keys, watch),
        }
    }

    /// A trial that lost an agent is made again with the same agents. After a second loss the run stops, and can be
    /// resumed.
    fn to_keep(
        &mut self,
        run: &Run<'a>,
        mut tried: Vec<TrialRecord>,
    ) -> Result<Option<Vec<TrialRecord>>, Refusal> {
        let (Some(generators), [trial]) = (&run.admitted.resources.elsewhere, tried.as_mut_slice())
        else {
            return Ok(Some(tried));
        };
        let number = trial.key.number;
        let earlier = self.lost.remove(&number);
        if !has_lost_agent(trial) {
            let value = |says| format!("it was tried before, and {says}");
            let fact =
                earlier.map(|says| Fact { name: "agent.first_try".into(), value: value(says) });
            trial.conditions.extend(fact);
            return Ok(Some(tried));
        }
        let says = trial.outcome.says.clone();
        if let Some(earlier) = earlier {
            return Err(Refusal::new(format!(
                "{}: its load lost an agent twice, so the run stops: {says}; before, {earlier}",
                trial.key.subject
            )));
        }
        run.meet_agents_again(generators, trial)?;
        self.lost.insert(number, says);
        let of_later_round = |other: &&TrialKey| other.repeat != trial.key.repeat;
        let end = self.left.iter().position(of_later_round).unwrap_or(self.left.len());
        let key = run.record.plan.iter().find(|key| key.number == number);
        key.into_iter().for_each(|key| self.left.insert(end, key));
        Ok(None)
    }

    fn heed(&mut self, _: &Run<'a>, trial: &TrialRecord, _: Watch<'_>) -> Result<(), Refusal> {
        self.rounds.add(trial);
        Ok(())
    }
}

/// What concerns a place as a whole is measured beside the first of its trials.
fn is_first_of_place(plan: &[TrialKey], key: &TrialKey) -> bool {
    let here = |other: &&TrialKey| (&other.workload, other.point) == (&key.workload, key.point);
    plan.iter().find(here).is_some_and(|first| first.number == key.number)
}

/// The kept trials are read only where they matter.
fn rounds_so_far(run: &Run<'_>) -> Result<Rounds, Refusal> {
    let experiment = &run.campaign.experiment;
    let mut rounds = Rounds::of(experiment);
    if experiment.until.is_some() || experiment.pairs.is_some() {
        for kept in run.store.trials(run.id, Extent::Summary)? {
            match kept.computable() {
                Kept::Whole(trial) => rounds.add(&trial),
                Kept::Damaged(_) => {}
            }
        }
    }
    Ok(rounds)
}
