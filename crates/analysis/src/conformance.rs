//! How far the subjects conform to the RFCs: counts beside the speed, never folded into it; and which subjects do not
//! meet what the experiment requires.

use lab::conformance::{
    Area, CaseVerdict, Conformance, Finding, LEFT_OUT, Protocol, Stamp, VerdictCounts,
};
use lab::experiment::{Experiment, Required};
use lab::record::{Entry, RunRecord};
use lab::subject::Tier;

/// The result of a subject's check.
#[derive(Clone, Debug, PartialEq)]
pub struct Conformity {
    pub subject: String,
    /// It is not a competitor, and nothing is required of it.
    pub is_reference: bool,
    /// The run that found it; none: this one.
    pub from_run: Option<u64>,
    /// What was found, or why nothing was found.
    pub score: Result<Score, String>,
    /// Why it is not ranked, if it is not.
    pub unmet: Option<String>,
}

/// A check in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// The catalogue of cases: scores by different catalogues are not comparable.
    pub catalogue: Stamp,
    /// All cases together.
    pub all: VerdictCounts,
    /// The tally of each protocol to which any case applies.
    pub protocols: Vec<(Protocol, VerdictCounts)>,
    /// The tally of each area to which any case applies.
    pub areas: Vec<(Area, VerdictCounts)>,
    /// How often each case was played.
    pub rounds: usize,
    /// Why the check stopped early; empty if it did not.
    pub cut_short: String,
}

impl Score {
    fn of(found: &lab::conformance::Report) -> Score {
        let counts = |is_counted: &dyn Fn(&Finding) -> bool| {
            VerdictCounts::of(found.findings.iter().filter(|finding| is_counted(finding)))
        };
        let protocol = |protocol: Protocol| {
            (protocol, counts(&|finding: &Finding| finding.area.protocol() == protocol))
        };
        let area = |area: Area| (area, counts(&|finding: &Finding| finding.area == area));
        let protocols = Protocol::ALL.into_iter().map(protocol);
        let areas = Area::ALL.iter().copied().map(area);
        Score {
            catalogue: found.catalogue.clone(),
            all: counts(&|_| true),
            protocols: protocols.filter(|(_, tally)| 0 < tally.applicable()).collect(),
            areas: areas.filter(|(_, tally)| 0 < tally.applicable()).collect(),
            rounds: found.rounds,
            cut_short: found.cut_short.clone(),
        }
    }

    /// Whether it stopped answering after a case.
    #[must_use]
    pub fn has_crashed(&self) -> bool {
        0 < self.all.crash
    }

    /// How it is written beside a speed: `74/86 · MUST 1 · sec 4`.
    #[must_use]
    pub fn short(&self) -> String {
        let VerdictCounts { pass, must_broken, security, crash, .. } = &self.all;
        let mut says = format!("{pass}/{}", self.all.applicable());
        if 0 < *crash {
            says += " · CRASH";
        }
        says + &format!(" · MUST {must_broken} · sec {}", security.len())
    }

    /// A line for each protocol: `HTTP/1.1 74 pass · … | catalogue 1.0 (ab12cd34)`.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.protocols.iter().map(|(protocol, counts)| self.line(*protocol, counts)).collect()
    }

    fn line(&self, protocol: Protocol, counts: &VerdictCounts) -> String {
        let percent = counts.whole_percent().map_or(String::new(), |percent| {
            format!(" | {percent} % ({} of {} tested)", counts.tested(), counts.applicable())
        });
        format!("{} {counts} | catalogue {}{percent}", protocol.name(), self.catalogue)
    }
}

/// Every subject that takes part in a run, in the run's order.
#[must_use]
pub fn conformities(run: &RunRecord, experiment: Option<&Experiment>) -> Vec<Conformity> {
    let takes_part = |entry: &&Entry| run.plan.iter().any(|key| key.subject == entry.name);
    let taking_part = run.entries.iter().filter(takes_part);
    taking_part.map(|entry| conformity(entry, run, experiment)).collect()
}

fn conformity(entry: &Entry, run: &RunRecord, experiment: Option<&Experiment>) -> Conformity {
    let found = run.conformance.iter().find(|found| found.subject == entry.name);
    let score = score(found, run, experiment);
    let is_reference = entry.tier == Tier::Reference.name();
    let require = experiment.and_then(|experiment| experiment.require).filter(|_| !is_reference);
    let require = require.filter(Required::needs_check);
    Conformity {
        subject: entry.name.clone(),
        is_reference,
        from_run: found.and_then(|found| found.from_run),
        unmet: require.and_then(|require| unmet(require, &score)),
        score,
    }
}

fn score(
    found: Option<&Conformance>,
    run: &RunRecord,
    experiment: Option<&Experiment>,
) -> Result<Score, String> {
    if let (None, Some(fact)) = (found, run.facts.iter().find(|fact| fact.name == LEFT_OUT)) {
        return Err(fact.value.clone());
    }
    match (found, experiment) {
        (Some(found), _) => found.found.as_ref().map(Score::of).map_err(Clone::clone),
        (None, Some(experiment)) if !experiment.has_check => {
            Err("the experiment leaves it out".into())
        }
        (None, _) => Err("nothing was kept of it".into()),
    }
}

/// Why a subject does not meet what is required.
fn unmet(require: Required, score: &Result<Score, String>) -> Option<String> {
    let Ok(Score { all, .. }) = score else { return Some("not checked".into()) };
    // A case that was not decided may be broken.
    let undecided = all
        .percent()
        .is_none()
        .then(|| format!("only {} of {} cases decided", all.tested(), all.applicable()));
    let over = |most: Option<usize>, found: usize, what: &str| {
        most.filter(|most| *most < found)
            .map(|most| format!("{what} {found}, at most {most} may be"))
    };
    let all = [
        over(require.must_broken, all.must_broken, "MUST broken"),
        over(require.should_broken, all.should_broken, "SHOULD broken"),
        over(require.security, all.security.len(), "security"),
    ];
    let reasons: Vec<String> = all.into_iter().chain([undecided]).flatten().collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// A case with different verdicts in two checks of the same catalogue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turned<'a> {
    pub a: &'a Finding,
    pub b: &'a Finding,
}

impl Turned<'_> {
    /// Whether B breaks what A did not break.
    #[must_use]
    pub fn is_newly_broken(&self) -> bool {
        !self.a.is_broken() && self.b.is_broken()
    }

    /// Whether B does not break what A broke.
    #[must_use]
    pub fn is_newly_kept(&self) -> bool {
        self.a.is_broken() && !self.b.is_broken()
    }
}

/// Why two checks cannot be compared case by case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incomparable {
    /// One of the two, or both, found nothing: which (`A`, `B`) and why.
    Unchecked(Vec<(&'static str, String)>),
    /// They were made with different catalogues.
    Catalogues(Stamp, Stamp),
}

/// The cases with different verdicts, newly broken first, newly passed next; refused between catalogues.
pub fn turned<'a>(
    a: Option<&'a Conformance>,
    b: Option<&'a Conformance>,
) -> Result<Vec<Turned<'a>>, Incomparable> {
    let found = |side: Option<&'a Conformance>| match side {
        None => Err("nothing was kept of it".to_string()),
        Some(side) => side.found.as_ref().map_err(Clone::clone),
    };
    let (a, b) = match (found(a), found(b)) {
        (Ok(a), Ok(b)) => (a, b),
        (a, b) => {
            let sides = [("A", a.err()), ("B", b.err())].into_iter();
            let said = sides.filter_map(|(side, why)| Some((side, why?)));
            return Err(Incomparable::Unchecked(said.collect()));
        }
    };
    if a.catalogue != b.catalogue {
        return Err(Incomparable::Catalogues(a.catalogue.clone(), b.catalogue.clone()));
    }
    let pairs = a.findings.iter().filter_map(|one| {
        let other = b.findings.iter().find(|other| other.id == one.id)?;
        (one.verdict != other.verdict).then_some(Turned { a: one, b: other })
    });
    let mut all: Vec<Turned<'a>> = pairs.collect();
    all.sort_by_key(|turned| (!turned.is_newly_broken(), !turned.is_newly_kept()));
    Ok(all)
}

/// What failed, the gravest first: crashes, broken obligations, what an attacker could use, the rest.
#[must_use]
pub fn failures(findings: &[Finding]) -> Vec<&Finding> {
    let mut failures: Vec<&Finding> =
        findings.iter().filter(|finding| finding.is_broken()).collect();
    failures.sort_by_key(|finding| {
        (finding.verdict != CaseVerdict::Crash, finding.level, finding.tags.is_empty())
    });
    failures
}

#[cfg(test)]
mod tests;
