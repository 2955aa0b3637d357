//! Servers that change, and servers that die.

use std::time::Duration;

use check::{CaseVerdict, CheckPlan, Patience, VerdictCounts, case, check};

use crate::script::Act;
use crate::scripted::Scripted;
use crate::{Revives, SHORT, oracle, plan, run, some, verdicts};

#[test]
fn a_server_that_is_right_but_not_always_is_unstable_and_scored_by_its_worst() {
    let (_oracle, address) = oracle();
    let case = case("H1-B03").unwrap();
    let scripts = |hit| -> &'static [Act] {
        if hit < 2 { &[Act::Answer(200, "hello")] } else { &[Act::Answer(200, "goodbye")] }
    };
    let server = Scripted::start(address, case, Box::new(scripts));
    let plan = plan(server.target(), vec![case], 3);
    let report = run(&plan);
    let finding = &report.findings[0];
    assert_eq!(finding.rounds, [CaseVerdict::Pass, CaseVerdict::Pass, CaseVerdict::Fail]);
    assert!(finding.is_unstable());
    assert_eq!(finding.verdict, CaseVerdict::Fail);
    assert!(finding.evidence.received.ends_with(b"goodbye"), "the evidence is of the worst round");
    assert_eq!(VerdictCounts::of(&report.findings).unstable, 1);
}

#[test]
fn a_server_that_dies_of_a_case_has_crashed_and_the_rest_goes_on() {
    let (_oracle, address) = oracle();
    let deadly = case("H1-B04").unwrap();
    let server = Scripted::mortal(address, deadly, Box::new(|_| &[]), 0);
    let plan = plan(server.target(), some(&["H1-B01", "H1-B03", "H1-B04"]), 2);
    // The same case would end it again.
    let report = check(&plan, &Revives(|| server.revive()), &mut |_| {});
    assert_eq!(verdicts(&report), [CaseVerdict::Pass, CaseVerdict::Pass, CaseVerdict::Crash]);
    let tally = VerdictCounts::of(&report.findings);
    assert_eq!(tally.crash, 1);
    assert!(tally.points() <= 50.0, "{}", tally.points());
}

#[test]
fn a_server_that_dies_beside_other_cases_and_of_none_alone_has_crashed_all_the_same() {
    let (_oracle, address) = oracle();
    let deadly = case("H1-B04").unwrap();
    let scripts = |_| -> &'static [Act] { &[Act::Answer(200, "hello")] };
    let server = Scripted::mortal(address, deadly, Box::new(scripts), 0);
    let plan = plan(server.target(), some(&["H1-B01", "H1-B03", "H1-B04"]), 2);
    let report = check(&plan, &Revives(|| server.cure()), &mut |_| {});
    assert_eq!(
        verdicts(&report),
        [CaseVerdict::Pass, CaseVerdict::Pass, CaseVerdict::Pass, CaseVerdict::Crash]
    );
    let lost = &report.findings[3];
    assert_eq!(
        (lost.id.as_str(), lost.rounds.as_slice()),
        ("H1-E06", &[CaseVerdict::Crash, CaseVerdict::Pass][..])
    );
    assert!(lost.why.contains("H1-B04"), "{}", lost.why);
}

#[test]
fn the_last_straw_is_not_blamed_for_all_the_others() {
    let (_oracle, address) = oracle();
    let deadly = case("H1-S05").unwrap();
    let scripts = |_| -> &'static [Act] { &[Act::Answer(413, "")] };
    // It runs alone. The server dies the second time the case runs, and is as new when it is revived.
    let server = Scripted::mortal(address, deadly, Box::new(scripts), 1);
    let plan = CheckPlan { together: 1, ..plan(server.target(), vec![deadly], 2) };
    let report = check(&plan, &Revives(|| server.cure()), &mut |_| {});
    assert_eq!(report.findings[0].verdict, CaseVerdict::Pass, "{}", report.findings[0].why);
    assert_eq!(report.findings[1].id, "H1-E06");
    assert!(report.findings[1].why.contains("H1-S05"), "{}", report.findings[1].why);
}

#[test]
fn a_case_that_was_cut_off_by_another_is_played_again_alone() {
    let (_oracle, address) = oracle();
    let case = case("H1-A07").unwrap();
    let scripts = |hit| -> &'static [Act] {
        if hit == 0 { &[Act::Close] } else { &[Act::Answer(200, "page")] }
    };
    let server = Scripted::start(address, case, Box::new(scripts));
    let plan = plan(server.target(), vec![case], 1);
    let report = run(&plan);
    assert_eq!(report.findings[0].verdict, CaseVerdict::Pass, "{}", report.findings[0].why);
}

#[test]
fn a_server_that_dies_and_is_not_started_again_ends_the_check_and_keeps_what_it_has_shown() {
    let (_oracle, address) = oracle();
    let deadly = case("H1-B03").unwrap();
    let server = Scripted::mortal(address, deadly, Box::new(|_| &[Act::Answer(200, "hello")]), 1);
    let patience = Patience { answer: Duration::from_millis(200), ..SHORT };
    let cases = some(&["H1-B01", "H1-B03", "H1-B04"]);
    let plan = CheckPlan { patience, together: 1, ..plan(server.target(), cases, 3) };
    let report = run(&plan);
    // For a case that was not run again, the first round counts.
    assert_eq!(verdicts(&report), [CaseVerdict::Pass, CaseVerdict::Crash, CaseVerdict::Pass]);
    assert!(report.cut_short.contains("did not come back"), "{}", report.cut_short);
    assert_eq!(report.findings[2].rounds, [CaseVerdict::Pass]);
}

#[test]
fn an_end_that_comes_late_and_unannounced_is_an_end() {
    let (_oracle, address) = oracle();
    let case = case("H1-L01").unwrap();
    let scripts = |_| -> &'static [Act] { &[Act::Answer(400, ""), Act::Pause(700), Act::Close] };
    let server = Scripted::start(address, case, Box::new(scripts));
    let patience = Patience { settle: Duration::from_millis(500), ..SHORT };
    let plan = CheckPlan { together: 1, patience, ..plan(server.target(), vec![case], 1) };
    let report = run(&plan);
    assert_eq!(report.findings[0].verdict, CaseVerdict::Pass, "{}", report.findings[0].why);
}
