//! Checks each subject of a run once, after the first round: how much of the RFCs it keeps. A stored result of the same
//! build is taken over, and before that round.

use std::time::Duration;

use check::{Case, CheckPlan, Report, Scheduling, Target, catalogue};
use lab::Refusal;
use lab::conformance::Conformance;
use lab::manner::Protocol;
use lab::record::{Entry, OutcomeKind, RACE, RunRecord};
use lab::subject::{Serving, Site, Subject};
use lab::visit::{RunningServer, Visit, VisitSetup, target};
use lab::workload::Workload;
use load::Halt;
use store::{Store, StoreError};
use tls::Client;

use crate::event::{Event, Watch};
use crate::trials::{Ended, Run};
use crate::{Campaign, Entrant};

/// About how long one check takes.
pub const EACH: Duration = Duration::from_secs(12);

/// The cases of a run, of HTTP/2 or of HTTP/1.1 and WebSocket: without the slow ones, which would take minutes.
fn cases(is_http2: bool) -> Vec<&'static Case> {
    let is_one = |case: &&Case| {
        case.scheduling != Scheduling::Slow && case.protocol().is_http2() == is_http2
    };
    catalogue().iter().filter(is_one).collect()
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
        let needs_http2 = needs_http2(campaign, entry);
        if lasting(store, record, entry, needs_http2)?.is_none() {
            expected += if needs_http2 { EACH * 2 } else { EACH };
        }
    }
    Ok(expected)
}

impl Campaign {
    /// Checks a subject that dyno starts, by itself; none if interrupted.
    pub fn checked(&self, entrant: &Entrant, halt: &Halt) -> Option<Conformance> {
        let (setup, over) =
            (self.visits(Protocol::Http1, halt), self.checked_over(&entrant.subject));
        checked(setup, entrant, &over, &mut |_, _| {})
    }

    /// What a subject is checked over: HTTP/1.1 in cleartext, if it speaks it; and HTTP/2 where the experiment loads it over
    /// that, within TLS if it does so.
    pub fn checked_over(&self, subject: &Subject) -> Vec<Protocol> {
        let asked = self.experiment.protocols();
        let has_certificate = self.identity.is_some();
        let is_spoken =
            |it: &Protocol| subject.answers_over(*it) && (has_certificate || !it.is_secured());
        // What a user's own command speaks is not declared.
        let is_declared = matches!(subject.serving, Serving::Built(_));
        let is_asked = |it: &Protocol| is_declared || asked.contains(it);
        let first = [Protocol::Http1, Protocol::Http1Tls].into_iter();
        let first = first.filter(is_asked).find(is_spoken);
        let second = [Protocol::H2, Protocol::H2c].into_iter();
        let second = second.filter(|it| asked.contains(it)).find(is_spoken);
        first.into_iter().chain(second).collect()
    }
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
            let found = match self.admitted.entrants.iter().any(runs_already) {
                true => None,
                false => lasting(self.store, record, entry, needs_http2(self.campaign, entry))?,
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
        let is_http2 = left.iter().any(|entry| needs_http2(campaign, entry));
        let count = cases(false).len() + if is_http2 { cases(true).len() } else { 0 };
        watch(&Event::Checks { subjects: left.len(), cases: count });
        let is_race = self.record.facts.iter().any(|fact| fact.name == RACE);
        for (place, entry) in left.iter().enumerate() {
            let entrant = self.admitted.entrants.iter().find(|it| it.subject.name == entry.name);
            let Some(entrant) = entrant else { continue };
            let on = &mut |done: usize, cases: usize| {
                let (subject, subjects) = (entry.name.as_str(), left.len());
                watch(&Event::Checking { subject, place: place + 1, subjects, done, cases });
            };
            let checked = match &entrant.subject.serving {
                // A check may harm a server: one that dyno did not start is checked only where that was asked for.
                Serving::Found(site) if is_race && site.address.ip().is_loopback() => {
                    let protocol = campaign.experiment.manners[0].protocol;
                    checked_where_it_runs(campaign.visits(protocol, self.halt), entrant, site, on)
                }
                Serving::Found(_) | Serving::ByUrl(_) | Serving::Built(_) | Serving::Own(..) => {
                    let setup = campaign.visits(Protocol::Http1, self.halt);
                    checked(setup, entrant, &campaign.checked_over(&entrant.subject), on)
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

/// Whether a subject's check has cases of HTTP/2.
fn needs_http2(campaign: &Campaign, entry: &Entry) -> bool {
    let subjects = campaign.members.iter().filter_map(|member| member.subject.as_ref().ok());
    let subject = subjects.into_iter().find(|subject| subject.name == entry.name);
    subject.is_some_and(|it| campaign.checked_over(it).into_iter().any(Protocol::is_http2))
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
    needs_http2: bool,
) -> Result<Option<Conformance>, StoreError> {
    let folder = format!("subjects/{}/subject.", entry.name);
    let manifest = record.files.iter().find(|(name, _)| name.starts_with(&folder));
    let Some((_, manifest)) = manifest else { return Ok(None) };
    let (name, build, version) = (&entry.name, &entry.build, &entry.version);
    let found = store.lasting_conformance(name, build, version, manifest, needs_http2)?;
    Ok(found.map(|found| if needs_http2 { found } else { found.without_http2() }))
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
    let is_http2 = setup.protocol.is_http2();
    let page = Target { authority: site.host.clone(), get, tls, is_http2, ..usual };
    let (cases, help) = (cases(page.is_http2), RunningServer(setup.halt));
    let plan = CheckPlan::new(page, cases);
    let report = check::check(&plan, &help, &mut |now| on(now.done, now.all));
    let name = &entrant.subject.name;
    (!setup.halt.is_asked()).then(|| Conformance::of(name, Ok(report)))
}

/// Starts a subject for each of these protocols, runs all cases of it, and ends it; none if interrupted.
fn checked(
    setup: VisitSetup<'_>,
    entrant: &Entrant,
    protocols: &[Protocol],
    on: &mut dyn FnMut(usize, usize),
) -> Option<Conformance> {
    let name = &entrant.subject.name;
    let all: Vec<usize> = protocols.iter().map(|it| cases(it.is_http2()).len()).collect();
    let mut whole: Option<Report> = None;
    for (place, &protocol) in protocols.iter().enumerate() {
        let setup = VisitSetup { protocol, service: entrant.services.first(), ..setup };
        let visit = match Visit::begin(setup, &entrant.subject, &entrant.built) {
            Ok(visit) => visit,
            Err(outcome) if outcome.kind == OutcomeKind::Interrupted => return None,
            Err(outcome) => {
                let says = match protocols {
                    [_] => outcome.says,
                    _ => format!("over {protocol}: {}", outcome.says),
                };
                // What was found over another protocol stands.
                let found = match whole {
                    None => Err(says),
                    Some(report) => Ok(Report { cut_short: says, ..report }),
                };
                return Some(Conformance::of(name, found));
            }
        };
        let target = visit.target();
        let plan = CheckPlan::new(target.clone(), cases(target.is_http2));
        let before: usize = all[..place].iter().sum();
        let report =
            check::check(&plan, &visit, &mut |now| on(before + now.done, all.iter().sum()));
        visit.end();
        if setup.halt.is_asked() {
            return None;
        }
        whole = Some(match whole {
            None => report,
            Some(whole) => whole.and(report),
        });
    }
    Some(Conformance::of(name, whole.ok_or_else(|| "it speaks no protocol that is checked".into())))
}

/// Every workload of the project that can be read: from them a subject's paths are known.
pub(crate) fn spoken(project: &crate::project::Project) -> Vec<Workload> {
    let names = project.workloads().into_iter();
    names.filter_map(|name| Workload::read(&project.root, &name).ok()).collect()
}
