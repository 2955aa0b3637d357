//! How far a subject conforms to the RFCs, as a run records it. The check itself is in `check`; here its report is cut
//! to what is worth keeping with every run.

pub use check::{
    Area, CHEAP, CaseVerdict, Evidence, Finding, Level, Protocol, Report, Stamp, Tag,
    VerdictCounts, stamp,
};

use crate::record::Phase;

/// A subject, checked once for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conformance {
    pub subject: String,
    /// The earlier run of the same store that found it, with the same build and the same catalogue; none: this run did.
    pub from_run: Option<u64>,
    /// What was found, or why nothing could be found.
    pub found: Result<Report, String>,
}

/// The name of a run's fact that says why no subject was checked.
pub const LEFT_OUT: &str = "check";

/// How many octets of each side of a failed exchange are kept.
pub(crate) const EVIDENCE: usize = 500;

impl Conformance {
    /// What was found in this run, cut to what is kept: failures and warnings keep their words, failures also their
    /// octets.
    #[must_use]
    pub fn of(subject: &str, found: Result<Report, String>) -> Conformance {
        let found = found.map(|mut report| {
            report.findings.iter_mut().for_each(slim);
            report
        });
        Conformance { subject: subject.into(), from_run: None, found }
    }

    /// Whether HTTP/2 was checked.
    #[must_use]
    pub fn has_http2(&self) -> bool {
        let is_http2 = |finding: &Finding| finding.area.protocol().is_http2();
        self.found.as_ref().is_ok_and(|report| report.findings.iter().any(is_http2))
    }

    /// Leaves out what was found of HTTP/2: a server is not judged by what it was not asked for.
    #[must_use]
    pub fn without_http2(mut self) -> Conformance {
        if let Ok(report) = &mut self.found {
            report.findings.retain(|finding| !finding.area.protocol().is_http2());
        }
        self
    }

    /// The findings as another run takes them over: they name the run that made them.
    #[must_use]
    pub fn taken_over(&self, from_run: u64) -> Conformance {
        Conformance { from_run: self.from_run.or(Some(from_run)), ..self.clone() }
    }

    /// Whether another run with the same build may take it over: it is complete, and made with this program's
    /// catalogue.
    #[must_use]
    pub fn is_lasting(&self) -> bool {
        let is_whole = |report: &Report| report.cut_short.is_empty();
        self.found.as_ref().is_ok_and(|report| is_whole(report) && report.catalogue == stamp())
    }
}

fn slim(finding: &mut Finding) {
    if finding.is_broken() {
        finding.evidence.sent.truncate(EVIDENCE);
        finding.evidence.received.truncate(EVIDENCE);
        return;
    }
    finding.evidence = Evidence::default();
    if finding.verdict != CaseVerdict::Warn {
        finding.demand.clear();
        finding.doubt.clear();
        finding.expected.clear();
    }
}

/// One of the cheapest cases, played beside a trial's load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Before or after the load.
    pub phase: Phase,
    /// The case's id.
    pub id: String,
    pub verdict: CaseVerdict,
    /// What the server did.
    pub why: String,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn finding(verdict: CaseVerdict) -> Finding {
        Finding {
            id: "H1-X01".into(),
            title: "t".into(),
            area: Area::Fields,
            clause: "RFC 9112, 5".into(),
            level: Level::Must,
            weight: 3,
            tags: vec![Tag::Smuggling],
            demand: "d".into(),
            doubt: "b".into(),
            expected: "e".into(),
            verdict,
            why: "w".into(),
            rounds: vec![verdict],
            evidence: Evidence {
                sent: vec![b's'; 600],
                sent_len: 600,
                received: vec![b'h'; 10],
                received_len: 10,
            },
        }
    }

    fn report(verdicts: &[CaseVerdict]) -> Report {
        Report {
            catalogue: stamp(),
            findings: verdicts.iter().copied().map(finding).collect(),
            rounds: 1,
            took_ms: 1,
            cut_short: String::new(),
        }
    }

    #[test]
    fn words_go_with_what_is_amiss_and_octets_with_failures() {
        let all =
            [CaseVerdict::Pass, CaseVerdict::Warn, CaseVerdict::Fail, CaseVerdict::NotTestable];
        let kept = Conformance::of("a", Ok(report(&all))).found.unwrap().findings;
        let lengths = |of: fn(&Finding) -> usize| kept.iter().map(of).collect::<Vec<_>>();
        assert_eq!(lengths(|it| it.evidence.sent.len()), [0, 0, EVIDENCE, 0]);
        assert_eq!(lengths(|it| it.evidence.received.len()), [0, 0, 10, 0]);
        assert_eq!(
            lengths(|it| it.demand.len() + it.doubt.len() + it.expected.len()),
            [0, 3, 3, 0]
        );
        assert_eq!(lengths(|it| it.why.len()), [1; 4]);
    }

    #[test]
    fn a_server_that_is_loaded_over_http1_is_not_judged_by_its_http2() {
        let over_http2 = Finding { area: Area::Http2Frames, ..finding(CaseVerdict::Fail) };
        let mut both = report(&[CaseVerdict::Pass]);
        both.findings.push(over_http2);
        let both = Conformance::of("a", Ok(both));
        assert!(both.has_http2());
        let one = both.without_http2();
        assert!(!one.has_http2() && one.is_lasting());
        assert_eq!(one, Conformance::of("a", Ok(report(&[CaseVerdict::Pass]))));
    }

    #[test]
    fn what_is_whole_and_by_this_catalogue_is_taken_over() {
        let whole = Conformance::of("a", Ok(report(&[CaseVerdict::Pass])));
        assert!(whole.is_lasting());
        assert_eq!(whole.taken_over(3).taken_over(4).from_run, Some(3));
        let change = |change: fn(&mut Report)| {
            let mut report = report(&[CaseVerdict::Pass]);
            change(&mut report);
            Conformance::of("a", Ok(report))
        };
        assert!(!change(|report| report.cut_short = "halted".into()).is_lasting());
        assert!(!change(|report| report.catalogue.hash = "00".into()).is_lasting());
        assert!(!Conformance::of("a", Err("it does not start".into())).is_lasting());
    }
}
