//! A whole check: rounds of cases, side by side where the server can bear it, each followed by a plain request that says
//! whether the server is still there.
//!
//! A refusal counts only if the well-formed twin was accepted in the same round; silence is never a pass.

mod alone;
mod crowd;
mod features;
mod passive;
mod patient;
mod sighting;

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::{Duration, Instant};

use crate::case::{Case, Scheduling};
use crate::catalogue::stamp;
use crate::exchange::{Patience, exchange};
use crate::finding::{CaseVerdict, Finding, Report};
use crate::h1;
use crate::h2;
use crate::pulse::Pulse;
use crate::target::Target;
use crate::ws;
use features::{Features, Offer, concurrency};
use passive::{breaches_of_all, form_of_all, frames_of_all};
use sighting::Sighting;

/// Which cases run against which server.
#[derive(Clone, Debug)]
pub struct CheckPlan {
    pub target: Target,
    /// The cases; the twins that they need run, too, but are not reported.
    pub cases: Vec<&'static Case>,
    /// How often each case runs.
    pub rounds: usize,
    /// How many cases run at once, at most.
    pub together: usize,
    /// How long the whole check may take; slow cases have a limit of their own, which is part of this one.
    pub limit: Duration,
    /// Whether cases that could harm the server may be sent to it.
    pub may_be_rude: bool,
    /// How long the server may take.
    pub patience: Patience,
}

impl CheckPlan {
    /// Cases for a target, as they run by default.
    #[must_use]
    pub fn new(target: Target, cases: Vec<&'static Case>) -> CheckPlan {
        let may_be_rude = target.address.ip().is_loopback();
        let slow = cases.iter().filter(|case| case.scheduling == Scheduling::Slow);
        let limit = Duration::from_secs(180) + slow.map(|case| case.limit).sum::<Duration>();
        CheckPlan {
            target,
            cases,
            rounds: 3,
            together: 24,
            limit,
            may_be_rude,
            patience: Patience::default(),
        }
    }
}

/// What a program that started the server can do for a check.
pub trait Help: Sync {
    /// The memory of the server, in octets.
    fn memory(&self) -> Option<u64> {
        None
    }

    /// Starts the server again after it has gone, and returns whether it is there.
    fn revive(&self) -> bool {
        false
    }

    /// Whether the user wants the check to end.
    fn is_halted(&self) -> bool {
        false
    }
}

/// How far a check is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The exchanges that are over.
    pub done: usize,
    pub all: usize,
    /// The case of the last one.
    pub case: &'static Case,
}

/// Runs the whole check.
pub fn check(plan: &CheckPlan, help: &dyn Help, on_progress: &mut dyn FnMut(Progress)) -> Report {
    let began = Instant::now();
    let mut run = Run::begin(plan, help, began);
    while run.rounds.len() < plan.rounds.max(1) && run.pulse.is_some() && run.is_over().is_none() {
        run.round(on_progress);
    }
    run.slow_cases(on_progress);
    Report {
        catalogue: stamp(),
        findings: run.findings(),
        rounds: run.rounds.len(),
        took_ms: began.elapsed().as_millis() as u64,
        cut_short: run.cut_short,
    }
}

type Round = HashMap<&'static str, Sighting>;

/// A plain request is answered within this time, or the server is gone.
const ALIVE: Duration = Duration::from_secs(2);
/// After this many mishaps side by side, every case runs alone.
const MISHAPS: usize = 3;

struct Run<'a> {
    plan: &'a CheckPlan,
    help: &'a dyn Help,
    until: Instant,
    /// How the server shows that it is there; none if it is not.
    pulse: Option<Pulse>,
    features: Features,
    /// Why no case of HTTP/2 applies, if none does.
    not_offered: Option<String>,
    /// The cases to run: the selected ones that apply, and their twins.
    asked: Vec<&'static Case>,
    /// The cases that do not run, and why.
    skipped: HashMap<&'static str, String>,
    together: usize,
    mishaps: usize,
    /// The cases at which the server waits for more even when it serves few others.
    waiting: HashSet<&'static str>,
    rounds: Vec<Round>,
    done: usize,
    /// The cases that were under way last.
    under_way: Vec<&'static str>,
    /// The cases that were under way each time the server was lost in this round, and came back or was started again.
    losses: Vec<Vec<&'static str>>,
    /// Whether the server has gone for good.
    is_gone: bool,
    cut_short: String,
}

impl<'a> Run<'a> {
    fn begin(plan: &'a CheckPlan, help: &'a dyn Help, began: Instant) -> Run<'a> {
        let pulse = Pulse::find(&plan.target, ALIVE);
        let not_offered = match pulse {
            None if plan.target.is_http2 => h2::not_offered(&plan.target, &plan.patience),
            _ => None,
        };
        let features = match pulse {
            Some(_) => Features::discover(&plan.target, &plan.patience),
            None => Features::unknown(&plan.target),
        };
        let together = match pulse {
            Some(pulse) => concurrency(&plan.target, pulse, &features.post, plan.together),
            None => 1,
        };
        let mut run = Run {
            plan,
            help,
            until: began + plan.limit,
            pulse,
            together,
            features,
            not_offered,
            asked: Vec::new(),
            skipped: HashMap::new(),
            mishaps: 0,
            waiting: HashSet::new(),
            rounds: Vec::new(),
            done: 0,
            under_way: Vec::new(),
            losses: Vec::new(),
            is_gone: false,
            cut_short: String::new(),
        };
        run.select();
        run
    }

    fn select(&mut self) {
        for case in &self.plan.cases {
            match self.skip_reason(case) {
                Some(why) => {
                    self.skipped.insert(case.id, why);
                }
                None => self.ask_with_twins(case),
            }
        }
    }

    fn ask_with_twins(&mut self, case: &'static Case) {
        if self.asked.iter().any(|it| it.id == case.id) {
            return;
        }
        if let Some(twin) = case.twin.and_then(crate::catalogue::case) {
            self.ask_with_twins(twin);
        }
        self.asked.push(case);
    }

    /// Why a case does not apply.
    fn skip_reason(&self, case: &Case) -> Option<String> {
        if let Some(why) = &self.not_offered {
            return Some(why.clone());
        }
        if case.is_flood() && !self.plan.target.address.ip().to_canonical().is_loopback() {
            return Some("not sent: floods are only for servers on this machine".into());
        }
        if case.is_rude() && !self.plan.may_be_rude {
            return Some(UNSENT.into());
        }
        match self.features.offer(case.needs) {
            Offer::Yes | Offer::Unclear => None,
            Offer::No(why) => Some(why.clone()),
        }
    }

    fn round(&mut self, on_progress: &mut dyn FnMut(Progress)) {
        let mut seen = Round::new();
        let (mut crowd, alone): (Vec<&'static Case>, Vec<_>) = (self.asked.iter().copied())
            .filter(|case| !case.steps.is_empty() && case.scheduling != Scheduling::Slow)
            .partition(|case| case.scheduling == Scheduling::Together);
        // The cases that take longest go first, and the others beside them.
        crowd.sort_by_key(|case| !self.waiting.contains(case.id));
        let mut left = VecDeque::from(crowd);
        while !left.is_empty() {
            let workers = if self.mishaps < MISHAPS { self.together } else { 1 };
            let suspects = self.run_concurrently(&mut left, workers, &mut seen, on_progress);
            self.mishaps += usize::from(!suspects.is_empty());
            self.clear(suspects, &mut seen);
        }
        self.ask_the_waiting_again(&mut seen, on_progress);
        self.ask_the_cut_off_again(&mut seen);
        for case in alone {
            seen.insert(case.id, self.alone(case));
            self.report_progress(case, on_progress);
        }
        seen.insert(self.staying_id(), self.staying(&seen));
        self.rounds.push(seen);
    }

    /// A time-out among many cases may be due to the others; among few it is not.
    fn ask_the_waiting_again(&mut self, seen: &mut Round, on_progress: &mut dyn FnMut(Progress)) {
        let few = (self.together / 3).max(1);
        let again = seen.iter().filter(|(id, it)| it.has_waited && !self.waiting.contains(*id));
        let again: HashSet<&str> = again.map(|(id, _)| *id).collect();
        let again = self.asked.iter().copied().filter(|case| again.contains(case.id));
        let (first, then): (Vec<&'static Case>, Vec<_>) =
            again.partition(|case| is_testable(case, seen));
        for group in [first, then] {
            // A case whose twin also waits for ever says nothing.
            let group = group.into_iter().filter(|case| is_testable(case, seen));
            let mut left: VecDeque<&'static Case> = group.collect();
            self.waiting.extend(left.iter().map(|case| case.id));
            self.done -= left.len().min(self.done);
            while !left.is_empty() {
                let suspects = self.run_concurrently(&mut left, few, seen, on_progress);
                self.clear(suspects, seen);
            }
        }
    }

    /// A case whose connection was cut off beside others may have suffered from one of them.
    fn ask_the_cut_off_again(&mut self, seen: &mut Round) {
        let is_cut = |it: &Sighting| it.was_cut_off && it.verdict > CaseVerdict::Pass;
        let again = self.asked.iter().copied().filter(|case| seen.get(case.id).is_some_and(is_cut));
        for case in again.collect::<Vec<_>>() {
            if self.together > 1 && self.is_over().is_none() {
                seen.insert(case.id, self.alone(case));
            }
        }
    }

    fn report_progress(&mut self, case: &'static Case, on_progress: &mut dyn FnMut(Progress)) {
        self.done += 1;
        let asked = self.asked.iter().filter(|case| !case.steps.is_empty());
        let all = asked.map(|case| rounds_of(case, self.plan.rounds)).sum();
        on_progress(Progress { done: self.done, all, case });
    }

    /// Why no more cases run, if so.
    fn is_over(&mut self) -> Option<String> {
        if self.cut_short.is_empty() {
            if self.help.is_halted() {
                self.cut_short = "interrupted".into();
            } else if Instant::now() >= self.until {
                self.cut_short =
                    format!("the {} s of the check were over", self.plan.limit.as_secs());
            }
        }
        (!self.cut_short.is_empty()).then(|| self.cut_short.clone())
    }

    fn findings(&self) -> Vec<Finding> {
        let staying = self.staying_id();
        let was_lost =
            |round: &Round| round.get(staying).is_some_and(|it| it.verdict > CaseVerdict::Pass);
        let mut reported = self.plan.cases.clone();
        // Being there earns nothing. A server that was lost is reported, whatever was selected.
        reported.retain(|case| ![h1::STAYING, h2::STAYING].contains(&case.id));
        if self.rounds.iter().any(was_lost) {
            reported.extend(crate::catalogue::case(staying));
        }
        reported.into_iter().map(|case| self.finding(case)).collect()
    }

    fn staying_id(&self) -> &'static str {
        if self.plan.target.is_http2 { h2::STAYING } else { h1::STAYING }
    }

    fn finding(&self, case: &'static Case) -> Finding {
        let mut finding = Finding::of(case);
        if let Some(why) = self.skipped.get(case.id) {
            finding.why.clone_from(why);
            return finding;
        }
        let mut worst = match self.pulse {
            Some(_) => None,
            None => Some(self.absent(case)),
        };
        finding.rounds.extend(worst.iter().map(|sighting| sighting.verdict));
        let rounds = self.rounds.iter().take(rounds_of(case, self.rounds.len()));
        let (asked, skipped): (Vec<Sighting>, Vec<_>) =
            rounds.map(|round| gated(case, round)).partition(|sighting| sighting.is_asked);
        for sighting in asked {
            finding.rounds.push(sighting.verdict);
            if worst.as_ref().is_none_or(|worst| worst.verdict < sighting.verdict) {
                worst = Some(sighting);
            }
        }
        // A round that was cut short does not override what other rounds have shown.
        let worst = worst.or(skipped.into_iter().next());
        let worst = worst.unwrap_or_else(|| Sighting::untestable(&self.cut_short));
        (finding.verdict, finding.why, finding.evidence) =
            (worst.verdict, worst.why, worst.evidence);
        finding
    }

    /// The result for a server that does not answer: it fails the plain GET and the plain handshake, and nothing else
    /// can be tested.
    fn absent(&self, case: &Case) -> Sighting {
        match case.id {
            PLAIN | OPENING | h2::PLAIN => Sighting {
                verdict: CaseVerdict::Fail,
                ..Sighting::of(case, &exchange(case, &self.plan.target, "/", &self.plan.patience))
            },
            _ if self.plan.target.is_http2 => Sighting::untestable(
                "a plain GET is not answered with success; is there another page to ask for?",
            ),
            _ => Sighting::untestable(
                "a plain GET is not answered with success, nor is a WebSocket opened; is there another page to ask for?",
            ),
        }
    }
}

/// In how many rounds a case runs.
fn rounds_of(case: &Case, rounds: usize) -> usize {
    match case.scheduling {
        Scheduling::Together | Scheduling::Alone => rounds,
        Scheduling::Slow => rounds.min(1),
    }
}

/// Why cases that could harm the server were not sent.
const UNSENT: &str = "not sent: it could harm a server that is neither on this machine nor started by dyno; if its owner \
                      agrees, add --i-may-probe-this-target";

/// The plain GET.
const PLAIN: &str = "H1-B01";
/// The plain handshake.
const OPENING: &str = "WS-H01";

/// Whether the case's twin was accepted, if it has one.
fn is_testable(case: &Case, round: &Round) -> bool {
    let twin = case.twin.and_then(crate::catalogue::case);
    twin.is_none_or(|twin| gated(twin, round).verdict == CaseVerdict::Pass)
}

/// What a round says about a case, given its twin's result.
fn gated(case: &Case, round: &Round) -> Sighting {
    let own = match (case.id, round.get(case.id)) {
        (h1::PASSIVE, _) => form_of_all(round),
        (h2::PASSIVE, _) => breaches_of_all(round),
        (ws::PASSIVE, _) => frames_of_all(round),
        (_, Some(sighting)) => sighting.clone(),
        (_, None) => Sighting::untestable("it was not asked"),
    };
    let Some(twin) = case.twin.and_then(crate::catalogue::case) else { return own };
    let twin_said = gated(twin, round);
    match twin_said.verdict {
        CaseVerdict::Pass => own,
        _ if !own.is_asked => own,
        _ if !twin_said.is_asked && own.verdict != CaseVerdict::Crash => twin_said,
        _ if own.verdict == CaseVerdict::Crash => own,
        CaseVerdict::NotApplicable => Sighting {
            verdict: CaseVerdict::NotApplicable,
            why: format!("its twin {} ({}) does not apply", twin.id, twin.title),
            ..own
        },
        CaseVerdict::Warn | CaseVerdict::NotTestable | CaseVerdict::Fail | CaseVerdict::Crash => {
            Sighting {
                verdict: CaseVerdict::NotTestable,
                why: format!("its twin {} ({}) was not accepted", twin.id, twin.title),
                ..own
            }
        }
    }
}
