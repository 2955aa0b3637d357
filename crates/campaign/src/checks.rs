//! Checks each subject of a run once, after the first round: how much of the RFCs it keeps. A stored result of the same
//! build is taken over, and before that round.

use std::time::Duration;

use check::{Case, CheckPlan, Scheduling, Target, catalogue};
use lab::Refusal;
use lab::conformance::Conformance;
use lab::manner::Protocol;
use lab::record::{Entry, OutcomeKind, RACE, RunRecord};
use lab::subject::{Serving, Site};
use lab::visit::{RunningServer, Visit, VisitSetup, target};
use lab::workload::Workload;
use store::{Store, StoreError};
use tls::Client;

use crate::event::{Event, Watch};
use crate::trials::{Ended, Run};
use crate::{Campaign, Entrant};

/// About how long one check takes.
pub const EACH: Duration = Duration::from_secs(12);

/// The cases of a run: without the slow ones, which would take minutes.
fn cases() -> Vec<&'static Case> {
    catalogue().iter().filter(|case| case.scheduling != Scheduling::Slow).collect()
}

/// About how long the checks take that have no kept result yet.
pub fn expected_checks(
    campaign: &Campaign,
    record: &RunRecord,
    store: &Store,
) -> Result<Duration, Refusal> {
    let mut expected = Duration::ZERO;
    let unchecked = record.entries.iter().filter(|entry| is_unchecked(record, entry));
    for entry in unchecked.filter(|_| campaign.experiment.has_check) {
        if lasting(store, record, entry)?.is_none() {
            expected += EACH;
        }
    }
    Ok(expected)
}

impl<'a> Run<'a> {
    /// The subjects that are to be checked and have no kept result.
    pub(crate) fn unchecked(&mut self, watch: Watch<'_>) -> Result<Vec<&'a Entry>, Refusal> {
        let record = self.record;
        let mut left = Vec::new();
        if !self.campaign.experiment.has_check {
            return Ok(left);
        }
        for entry in record.entries.iter().filter(|entry| is_unchecked(record, entry)) {
            let runs_already = |it: &Entrant| {
                it.subject.name == entry.name && matches!(it.subject.serving, Serving::Found(_))
            };
            // What an address answered once, another server may answer today.
            let found = match self.entrants.iter().any(runs_already) {
                true => None,
                false => lasting(self.store, record, entry)?,
            };
            match found {
                None => left.push(entry),
                Some(found) => {
                    self.store.keep_conformance(self.id, &found)?;
                    watch(&Event::Checked(&found));
                }
            }
        }
        Ok(left)
    }

    /// Checks these subjects; each result is kept when the check is over.
    pub(crate) fn check_subjects(
        &mut self,
        left: &[&Entry],
        watch: Watch<'_>,
    ) -> Result<Ended, Refusal> {
        if left.is_empty() {
            return Ok(Ended::Done);
        }
        let campaign = self.campaign;
        watch(&Event::Checks { subjects: left.len(), cases: cases().len() });
        let (warden, workloads) = (campaign.warden(), &campaign.spoken);
        let setup = VisitSetup {
            cache: &campaign.cache,
            warden: &warden,
            workloads,
            protocol: Protocol::Http1,
            identity: campaign.identity.as_ref(),
            halt: self.halt,
        };
        let is_race = self.record.facts.iter().any(|fact| fact.name == RACE);
        for (place, entry) in left.iter().enumerate() {
            let entrant = self.entrants.iter().find(|it| it.subject.name == entry.name);
            let Some(entrant) = entrant else { continue };
            let on = &mut |done: usize, cases: usize| {
                let (subject, subjects) = (entry.name.as_str(), left.len());
                watch(&Event::Checking { subject, place: place + 1, subjects, done, cases });
            };
            let checked = match &entrant.subject.serving {
                // A check may harm a server: one that dyno did not start is checked only where that was asked for.
                Serving::Found(site) if is_race && site.address.ip().is_loopback() => {
                    checked_where_it_runs(setup, entrant, site, on)
                }
                Serving::Found(_) | Serving::ByUrl(_) | Serving::Built(_) | Serving::Own(..) => {
                    checked(setup, entrant, on)
                }
            };
            let Some(found) = checked else {
                watch(&Event::Abandoned);
                return Ok(Ended::Interrupted);
            };
            self.store.keep_conformance(self.id, &found)?;
            watch(&Event::Checked(&found));
        }
        Ok(Ended::Done)
    }
}

/// Whether a subject takes part without a kept result.
fn is_unchecked(record: &RunRecord, entry: &Entry) -> bool {
    record.plan.iter().any(|key| key.subject == entry.name)
        && !record.conformance.iter().any(|found| found.subject == entry.name)
}

fn lasting(
    store: &Store,
    record: &RunRecord,
    entry: &Entry,
) -> Result<Option<Conformance>, StoreError> {
    let path = format!("subjects/{}/subject.toml", entry.name);
    let manifest = record.files.iter().find(|(name, _)| *name == path);
    let Some((_, manifest)) = manifest else { return Ok(None) };
    store.lasting_conformance(&entry.name, &entry.build, &entry.version, manifest)
}

/// Runs all cases against a server that runs already, and goes on running; none if interrupted.
fn checked_where_it_runs(
    setup: VisitSetup<'_>,
    entrant: &Entrant,
    site: &Site,
    on: &mut dyn FnMut(usize, usize),
) -> Option<Conformance> {
    let usual = target(site.address, &entrant.subject, setup.workloads);
    let get = site.target.clone().unwrap_or_else(|| usual.get.clone());
    let tls = match site.tls.as_ref().map(Client::new).transpose() {
        Ok(tls) => tls,
        Err(says) => return Some(Conformance::of(&entrant.subject.name, Err(says))),
    };
    let page = Target { authority: site.host.clone(), get, tls, ..usual };
    let (plan, help) = (CheckPlan::new(page, cases()), RunningServer(setup.halt));
    let report = check::check(&plan, &help, &mut |now| on(now.done, now.all));
    let name = &entrant.subject.name;
    (!setup.halt.is_asked()).then(|| Conformance::of(name, Ok(report)))
}

/// Starts a subject, runs all cases against it, and ends it; none if interrupted.
fn checked(
    setup: VisitSetup<'_>,
    entrant: &Entrant,
    on: &mut dyn FnMut(usize, usize),
) -> Option<Conformance> {
    let name = &entrant.subject.name;
    let visit = match Visit::begin(setup, &entrant.subject, &entrant.built) {
        Ok(visit) => visit,
        Err(outcome) if outcome.kind == OutcomeKind::Interrupted => return None,
        Err(outcome) => return Some(Conformance::of(name, Err(outcome.says))),
    };
    let plan = CheckPlan::new(visit.target(), cases());
    let report = check::check(&plan, &visit, &mut |now| on(now.done, now.all));
    visit.end();
    (!setup.halt.is_asked()).then(|| Conformance::of(name, Ok(report)))
}

/// Every workload of the project that can be read: from them a subject's paths are known.
pub(crate) fn spoken(project: &crate::project::Project) -> Vec<Workload> {
    let names = project.workloads().into_iter();
    names.filter_map(|name| Workload::read(&project.root, &name).ok()).collect()
}
