//! How much of the RFCs both sides keep, case by case. A case is newly broken only if a later run of the same subject
//! breaks it; of two servers one breaks what the other keeps. Scores of different catalogues are not compared.

use analysis::{GateAnswer, Incomparable, Turned, turned};
use lab::conformance::Conformance;
use units::counted;

use super::{Compared, Side};
use crate::grouped::grouped;
use crate::json::json_type;

/// Two checks, compared with each other.
pub(crate) struct Checks<'t> {
    a_subject: &'t str,
    b_subject: &'t str,
    titles: [&'t str; 2],
    /// Whether B is a later run of the same server: if so, every difference is new.
    is_later: bool,
    found: Result<Vec<Turned<'t>>, Incomparable>,
}

/// For each server that takes part in both; or for the two that are named.
pub(super) fn all<'t>(compared: &Compared<'t>) -> Vec<Checks<'t>> {
    let [a, b] = &compared.sides;
    let names = |side: &Side<'t>| -> Vec<&'t str> {
        side.findings.board.conformities.iter().map(|found| found.subject.as_str()).collect()
    };
    let pairs: Vec<(&str, &str)> = match (a.subject, b.subject) {
        (Some(one), Some(other)) => vec![(one, other)],
        _ => {
            let there = names(b);
            names(a)
                .into_iter()
                .filter(|name| there.contains(name))
                .map(|name| (name, name))
                .collect()
        }
    };
    let checks = pairs.into_iter().map(|(one, other)| Checks {
        a_subject: one,
        b_subject: other,
        titles: [a.findings.title(one), b.findings.title(other)],
        is_later: one == other && !compared.is_one_run(),
        found: turned(check(a, one), check(b, other)),
    });
    checks.collect()
}

fn check<'t>(side: &Side<'t>, subject: &str) -> Option<&'t Conformance> {
    side.findings.run.conformance.iter().find(|found| found.subject == subject)
}

impl Checks<'_> {
    /// Whether a later run of the same server breaks what an earlier one kept, and did so in each of its rounds. For
    /// checks by different catalogues this is unknown. Two servers may differ.
    pub(super) fn answer(&self) -> GateAnswer {
        match &self.found {
            _ if !self.is_later => GateAnswer::Within,
            Err(Incomparable::Catalogues(..)) => GateAnswer::CannotTell,
            Err(Incomparable::Unchecked(_)) => GateAnswer::Within,
            Ok(found) => match found.iter().any(is_newly_broken) {
                true => GateAnswer::Worse,
                false => GateAnswer::Within,
            },
        }
    }

    /// The servers of both sides.
    fn whose(&self) -> String {
        match self.titles {
            [one, other] if one == other => one.into(),
            [one, other] => format!("{one} and {other}"),
        }
    }

    /// Sentences, each a line or more.
    fn says(&self) -> Vec<String> {
        match &self.found {
            Ok(found) if found.is_empty() => vec!["no case differs".into()],
            Ok(found) => found.iter().map(|turned| differs(self, turned)).collect(),
            Err(incomparable) => vec![refused(incomparable)],
        }
    }
}

/// Broken by B and not by A, in all rounds.
fn is_newly_broken(turned: &Turned<'_>) -> bool {
    turned.is_newly_broken() && !turned.a.is_unstable() && !turned.b.is_unstable()
}

/// The part of it that decides the answer.
pub(super) fn answers(compared: &Compared<'_>) -> Vec<String> {
    let all = all(compared);
    let answers = all.iter().filter_map(|checks| match (checks.answer(), &checks.found) {
        (GateAnswer::Worse, Ok(found)) => {
            let new = found.iter().filter(|turned| is_newly_broken(turned));
            let cases: Vec<&str> = new.map(|turned| turned.b.id.as_str()).collect();
            Some(format!("Worse: {} newly breaks {}.", checks.whose(), cases.join(", ")))
        }
        (GateAnswer::CannotTell, _) => Some(format!(
            "Cannot tell: {} was checked by different catalogues of the RFCs' clauses.",
            checks.whose()
        )),
        _ => None,
    });
    answers.collect()
}

/// Each case that a later run newly breaks or keeps; for other differences, how many cases and which.
pub(super) fn brief(compared: &Compared<'_>) -> Vec<String> {
    if compared.sides.iter().all(|side| side.findings.run.conformance.is_empty()) {
        return Vec::new();
    }
    let mut texts = Vec::new();
    for checks in all(compared) {
        let whose = checks.whose();
        let Ok(found) = &checks.found else { continue };
        let (new, rest): (Vec<&Turned<'_>>, Vec<&Turned<'_>>) = found.iter().partition(|turned| {
            checks.is_later && (turned.is_newly_broken() || turned.is_newly_kept())
        });
        texts.extend(new.iter().map(|turned| format!("{whose}: {}", differs(&checks, turned))));
        let rest = rest.into_iter().map(|turned| (kind(&checks, turned), turned.b.id.as_str()));
        texts.extend(grouped(rest).iter().map(|(what, ids)| {
            let cases = counted(ids.len() as u64, "case", "cases");
            format!("{whose}: {what}: {cases} ({})", ids.join(", "))
        }));
    }
    let said = |checks: &Checks<'_>| checks.found.as_ref().is_ok_and(|found| !found.is_empty());
    let others = lines_of(all(compared).iter().filter(|checks| !said(checks)));
    texts.into_iter().chain(others).collect()
}

/// A sentence that is true of several servers is printed once. Empty if neither side was checked.
pub(super) fn lines(compared: &Compared<'_>) -> Vec<String> {
    if compared.sides.iter().all(|side| side.findings.run.conformance.is_empty()) {
        return Vec::new();
    }
    lines_of(all(compared).iter())
}

fn lines_of<'t, 'c: 't>(all: impl Iterator<Item = &'t Checks<'c>>) -> Vec<String> {
    let said = all.flat_map(|checks| checks.says().into_iter().map(|says| (says, checks.whose())));
    grouped(said)
        .into_iter()
        .map(|(says, titles)| format!("{}: {says}", titles.join(", ")))
        .collect()
}

/// The way in which a case differs.
fn kind(checks: &Checks<'_>, turned: &Turned<'_>) -> String {
    let [one, other] = checks.titles;
    match (turned.is_newly_broken(), turned.is_newly_kept()) {
        (true, _) if checks.is_later => "newly broken".into(),
        (false, true) if checks.is_later => "newly kept".into(),
        (true, _) => format!("{other} breaks what {one} keeps"),
        (false, true) => format!("{one} breaks what {other} keeps"),
        (false, false) => "answered otherwise".into(),
    }
}

fn differs(checks: &Checks<'_>, turned: &Turned<'_>) -> String {
    let (a, b) = (turned.a, turned.b);
    let what = kind(checks, turned);
    let unstable = match (a.is_unstable(), b.is_unstable()) {
        (false, false) => "",
        (true, _) | (_, true) => "; its rounds differ, so it may be chance",
    };
    format!(
        "{what}: {} {} {} ({}): A {} ({}), B {} ({}){unstable}",
        b.id,
        b.level.name(),
        b.title,
        b.clause,
        a.verdict.name(),
        a.why,
        b.verdict.name(),
        b.why
    )
}

fn refused(incomparable: &Incomparable) -> String {
    match incomparable {
        Incomparable::Unchecked(sides) => {
            let sides = sides.iter().map(|(side, why)| format!("{side} was not checked ({why})"));
            format!("conformance not compared: {}", sides.collect::<Vec<_>>().join("; "))
        }
        Incomparable::Catalogues(a, b) => format!(
            "conformance not compared: A was checked by catalogue {a}, B by {b}, and scores by different ones say nothing of \
             each other; run the older one once more with this dyno"
        ),
    }
}

json_type! {
    /// The RFCs' cases of two servers.
    pub(super) struct ChecksJson<'t> as "compared_checks" of checks: Checks<'_>;
        let found = checks.found.as_ref().map_or(&[][..], Vec::as_slice);
    {
        /// A's server
        a_subject: &'t str,
        /// B's server
        b_subject: &'t str,
        /// why they are not compared; null if they are
        not_compared: Option<String> = checks.found.as_ref().err().map(refused),
        /// cases that differ
        differences: Vec<DifferenceJson<'t>> =
            found.iter().map(|turned| DifferenceJson::of(checks, turned)).collect(),
    }
}

json_type! {
    /// A case that differs.
    struct DifferenceJson<'t> as "compared_case" of turned: Turned<'_>, with checks: Checks<'_> {
        /// the case's id
        id: &'t str = &turned.b.id,
        /// the case in words
        title: &'t str = &turned.b.title,
        /// MUST, SHOULD or OUGHT
        level: &'static str = turned.b.level.name(),
        /// of a later run of the same server newly_broken or newly_kept, else only_b_breaks or only_a_breaks; or
        /// differs
        finding: &'static str = match (turned.is_newly_broken(), turned.is_newly_kept()) {
            (true, _) if checks.is_later => "newly_broken",
            (false, true) if checks.is_later => "newly_kept",
            (true, _) => "only_b_breaks",
            (false, true) => "only_a_breaks",
            (false, false) => "differs",
        },
        /// A's verdict
        a_verdict: &'static str = turned.a.verdict.name(),
        /// B's verdict
        b_verdict: &'static str = turned.b.verdict.name(),
        /// what A did
        a_did: &'t str = &turned.a.why,
        /// what B did
        b_did: &'t str = &turned.b.why,
        /// the rounds of one of the two differ
        is_unstable: bool = turned.a.is_unstable() || turned.b.is_unstable(),
    }
}

#[cfg(test)]
mod tests {
    use lab::conformance::CaseVerdict;

    use super::*;
    use crate::render::Shown;
    use crate::run::conformance::tests::found;
    use crate::run::findings::Findings;
    use lab::conformance::Finding;
    use lab::record::RunRecord;

    fn finding(run: &mut RunRecord, place: usize) -> &mut Finding {
        &mut run.conformance[0].found.as_mut().unwrap().findings[place]
    }

    /// The text on run 7 against a changed copy of it; whether B is worse, and whether the comparison was refused.
    fn compared(change: impl FnOnce(&mut RunRecord)) -> (Vec<String>, bool, bool, String) {
        compared_of(8, None, change)
    }

    fn compared_of(
        id: u64,
        subjects: Option<[&str; 2]>,
        change: impl FnOnce(&mut RunRecord),
    ) -> (Vec<String>, bool, bool, String) {
        let (run, _) = found();
        let mut other = run.clone();
        change(&mut other);
        let (a, b) =
            (Findings::of(&7, &run, &[], Vec::new()), Findings::of(&id, &other, &[], Vec::new()));
        let [one, other] = subjects.map_or([None, None], |[one, other]| [Some(one), Some(other)]);
        let (a, b) = (Side { findings: &a, subject: one }, Side { findings: &b, subject: other });
        let compared = Compared::of(a, b, analysis::Gate::default());
        let answer = all(&compared).iter().map(Checks::answer).max();
        let is = |other| answer == Some(other);
        let (is_worse, is_refused) = (is(GateAnswer::Worse), is(GateAnswer::CannotTell));
        (lines(&compared), is_worse, is_refused, compared.json().unwrap())
    }

    #[test]
    fn a_case_that_is_newly_broken_makes_b_worse_unless_its_rounds_differ() {
        let (says, is_worse, ..) = compared(|_| {});
        let once = "Quick, Evil \u{1b}[31m: no case differs";
        assert_eq!((says.len(), says[0].as_str(), is_worse), (1, once, false));

        let fail = |is_unstable: bool| {
            compared(move |run| {
                let finding = finding(run, 2);
                finding.verdict = CaseVerdict::Fail;
                finding.why = "200".into();
                let first = if is_unstable { CaseVerdict::Pass } else { CaseVerdict::Fail };
                finding.rounds = vec![first, CaseVerdict::Fail];
            })
        };
        let (says, is_worse, is_refused, json) = fail(false);
        assert_eq!(
            says[0],
            "Quick: newly broken: H1-X02 MUST well (RFC 9112, 6.3): A pass (well), B fail (200)"
        );
        assert!(is_worse && !is_refused);
        assert!(json.contains("\"finding\": \"newly_broken\""), "{json}");
        let (says, is_worse, ..) = fail(true);
        let chance = "; its rounds differ, so it may be chance";
        assert!(says[0].ends_with(chance) && !is_worse, "{says:?}");
    }

    #[test]
    fn within_one_run_nothing_is_new_and_the_one_that_breaks_is_named() {
        let (run, _) = found();
        let names: Vec<&str> = run.conformance.iter().map(|found| found.subject.as_str()).collect();
        let pass = |run: &mut RunRecord| finding(run, 2).verdict = CaseVerdict::Pass;
        let (says, is_worse, _, json) = compared_of(7, Some([names[0], names[1]]), pass);
        let says = says.join("\n");
        assert!(!is_worse && !says.contains("newly") && !json.contains("newly"), "{says}");
        assert!(says.contains("Evil \u{1b}[31m breaks what Quick keeps: H1-"), "{says}");
        let (back, is_worse, ..) = compared_of(7, Some([names[1], names[0]]), |_| {});
        let back = back.join("\n");
        assert!(!is_worse && back.contains("Evil \u{1b}[31m breaks what Quick keeps: H1-"));
    }

    #[test]
    fn a_case_that_is_newly_kept_is_reported_and_worsens_nothing() {
        let (says, is_worse, _, json) = compared(|run| {
            let evil = run.conformance[1].found.as_mut().unwrap();
            evil.findings[5].verdict = CaseVerdict::Pass;
        });
        assert!(says[1].contains("newly kept: H1-X05") && !is_worse, "{says:?}");
        assert!(json.contains("\"newly_kept\""));
    }

    #[test]
    fn scores_of_different_catalogues_are_not_compared() {
        let (says, is_worse, is_refused, json) = compared(|run| {
            for found in &mut run.conformance {
                found.found.as_mut().unwrap().catalogue.hash = "00000000".into();
            }
            finding(run, 0).verdict = CaseVerdict::Fail;
        });
        assert_eq!(says.len(), 1, "what is true of all is said once: {says:?}");
        assert!(says[0].contains("conformance not compared: A was checked by catalogue"));
        let other = format!("B by {} (00000000)", check::stamp().version);
        assert!(says[0].contains(&other) && is_refused && !is_worse, "{says:?}");
        assert!(json.contains("\"differences\": []"), "{json}");
    }

    #[test]
    fn a_server_that_was_not_checked_is_named() {
        let (says, is_worse, is_refused, _) = compared(|run| run.conformance.clear());
        assert_eq!(
            says[0],
            "Quick, Evil \u{1b}[31m: conformance not compared: B was not checked (nothing was kept of it)"
        );
        assert!(!is_worse && !is_refused);
    }
}
