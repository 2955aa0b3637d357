//! Servers that change, and servers that die.

use std::time::Duration;

use check::{CaseVerdict, CheckPlan, Help, Patience, VerdictCounts, case, catalogue, check};

use crate::script::Act;
use crate::scripted::Scripted;
use crate::{NoHelp, SHORT, oracle};

#[test]
fn a_server_that_is_right_but_not_always_is_unstable_and_scored_by_its_worst() {
    let (oracle, address) = oracle();
    let case = case("H1-B03").unwrap();
    let scripts = |hit| -> &'static [Act] {
        if hit < 2 { &[Act::Answer(200, "hello")] } else { &[Act::Answer(200, "goodbye")] }
    };
    let server = Scripted::start(address, case, Box::new(scripts));
    let plan = CheckPlan { patience: SHORT, ..CheckPlan::new(server.target(), vec![case]) };
    let report = check(&plan, &NoHelp, &mut |_| {});
    let finding = &report.findings[0];
    assert_eq!(finding.rounds, [CaseVerdict::Pass, CaseVerdict::Pass, CaseVerdict::Fail]);
    assert!(finding.is_unstable());
    assert_eq!(finding.verdict, CaseVerdict::Fail);
    assert!(finding.evidence.received.ends_with(b"goodbye"), "the evidence is of the worst round");
    assert_eq!(VerdictCounts::of(&report.findings).unstable, 1);
    let _ = oracle.stop();
}

/// Starts the server again; the same case would end it again.
pub(crate) struct Restarts<'a>(pub(crate) &'a Scripted);

impl Help for Restarts<'_> {
    fn revive(&self) -> bool {
        self.0.revive();
        true
    }
}

#[test]
fn a_server_that_dies_of_a_case_has_crashed_and_the_rest_goes_on() {
    let (oracle, address) = oracle();
    let deadly = case("H1-B04").unwrap();
    let server = Scripted::mortal(address, deadly, Box::new(|_| &[]), 0);
    let cases = catalogue().iter().filter(|case| matches!(case.id, "H1-B01" | "H1-B03" | "H1-B04"));
    let plan = CheckPlan {
        patience: SHORT,
        rounds: 2,
        ..CheckPlan::new(server.target(), cases.collect())
    };
    let report = check(&plan, &Restarts(&server), &mut |_| {});
    let verdicts: Vec<CaseVerdict> =
        report.findings.iter().map(|finding| finding.verdict).collect();
    assert_eq!(verdicts, [CaseVerdict::Pass, CaseVerdict::Pass, CaseVerdict::Crash]);
    let tally = VerdictCounts::of(&report.findings);
    assert_eq!(tally.crash, 1);
    assert!(tally.points() <= 50.0, "{}", tally.points());
    let _ = oracle.stop();
}

/// Starts the server again, and no case ends it any more.
struct RestartsImmune<'a>(&'a Scripted);

impl Help for RestartsImmune<'_> {
    fn revive(&self) -> bool {
        self.0.cure();
        true
    }
}

#[test]
fn a_server_that_dies_beside_other_cases_and_of_none_alone_has_crashed_all_the_same() {
    let (oracle, address) = oracle();
    let deadly = case("H1-B04").unwrap();
    let scripts = |_| -> &'static [Act] { &[Act::Answer(200, "hello")] };
    let server = Scripted::mortal(address, deadly, Box::new(scripts), 0);
    let cases = catalogue().iter().filter(|case| matches!(case.id, "H1-B01" | "H1-B03" | "H1-B04"));
    let plan = CheckPlan {
        patience: SHORT,
        rounds: 2,
        ..CheckPlan::new(server.target(), cases.collect())
    };
    let report = check(&plan, &RestartsImmune(&server), &mut |_| {});
    let verdicts: Vec<CaseVerdict> =
        report.findings.iter().map(|finding| finding.verdict).collect();
    assert_eq!(
        verdicts,
        [CaseVerdict::Pass, CaseVerdict::Pass, CaseVerdict::Pass, CaseVerdict::Crash]
    );
    let lost = &report.findings[3];
    assert_eq!(
        (lost.id.as_str(), lost.rounds.as_slice()),
        ("H1-E06", &[CaseVerdict::Crash, CaseVerdict::Pass][..])
    );
    assert!(lost.why.contains("H1-B04"), "{}", lost.why);
    let _ = oracle.stop();
}

#[test]
fn the_last_straw_is_not_blamed_for_all_the_others() {
    let (oracle, address) = oracle();
    let deadly = case("H1-S05").unwrap();
    let scripts = |_| -> &'static [Act] { &[Act::Answer(413, "")] };
    // It runs alone. The server dies the second time the case runs, and is as new when it is revived.
    let server = Scripted::mortal(address, deadly, Box::new(scripts), 1);
    let plan = CheckPlan {
        patience: SHORT,
        together: 1,
        rounds: 2,
        ..CheckPlan::new(server.target(), vec![deadly])
    };
    let report = check(&plan, &RestartsImmune(&server), &mut |_| {});
    assert_eq!(report.findings[0].verdict, CaseVerdict::Pass, "{}", report.findings[0].why);
    assert_eq!(report.findings[1].id, "H1-E06");
    assert!(report.findings[1].why.contains("H1-S05"), "{}", report.findings[1].why);
    let _ = oracle.stop();
}

#[test]
fn a_case_that_was_cut_off_by_another_is_played_again_alone() {
    let (oracle, address) = oracle();
    let case = case("H1-A07").unwrap();
    let scripts = |hit| -> &'static [Act] {
        if hit == 0 { &[Act::Close] } else { &[Act::Answer(200, "page")] }
    };
    let server = Scripted::start(address, case, Box::new(scripts));
    let plan =
        CheckPlan { patience: SHORT, rounds: 1, ..CheckPlan::new(server.target(), vec![case]) };
    let report = check(&plan, &NoHelp, &mut |_| {});
    assert_eq!(report.findings[0].verdict, CaseVerdict::Pass, "{}", report.findings[0].why);
    let _ = oracle.stop();
}

#[test]
fn a_server_that_dies_and_is_not_started_again_ends_the_check_and_keeps_what_it_has_shown() {
    let (oracle, address) = oracle();
    let deadly = case("H1-B03").unwrap();
    let server = Scripted::mortal(address, deadly, Box::new(|_| &[Act::Answer(200, "hello")]), 1);
    let ids = ["H1-B01", "H1-B03", "H1-B04"];
    let cases = catalogue().iter().filter(|case| ids.contains(&case.id));
    let patience = Patience { answer: Duration::from_millis(200), ..SHORT };
    let plan =
        CheckPlan { patience, together: 1, ..CheckPlan::new(server.target(), cases.collect()) };
    let report = check(&plan, &NoHelp, &mut |_| {});
    let verdicts: Vec<CaseVerdict> =
        report.findings.iter().map(|finding| finding.verdict).collect();
    // For a case that was not run again, the first round counts.
    assert_eq!(verdicts, [CaseVerdict::Pass, CaseVerdict::Crash, CaseVerdict::Pass]);
    assert!(report.cut_short.contains("did not come back"), "{}", report.cut_short);
    assert_eq!(report.findings[2].rounds, [CaseVerdict::Pass]);
    let _ = oracle.stop();
}

#[test]
fn an_end_that_comes_late_and_unannounced_is_an_end() {
    let (oracle, address) = oracle();
    let case = case("H1-L01").unwrap();
    let scripts = |_| -> &'static [Act] { &[Act::Answer(400, ""), Act::Pause(700), Act::Close] };
    let server = Scripted::start(address, case, Box::new(scripts));
    let patience = Patience { settle: Duration::from_millis(500), ..SHORT };
    let plan = CheckPlan {
        rounds: 1,
        together: 1,
        patience,
        ..CheckPlan::new(server.target(), vec![case])
    };
    let report = check(&plan, &NoHelp, &mut |_| {});
    assert_eq!(report.findings[0].verdict, CaseVerdict::Pass, "{}", report.findings[0].why);
    let _ = oracle.stop();
}
