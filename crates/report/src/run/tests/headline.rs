//! The first sentence and the first row are one judgement; both mention wrong answers.

use lab::experiment::Point;
use lab::record::{Entry, Fact, OutcomeKind, RunRecord, TrialRecord};
use load::{Evidence, Failure};

use super::*;
use crate::chart::{Room, Stand};

/// The two servers of the fixture in a closed loop, both rounds of one place.
fn closed(change: impl Fn(&mut TrialRecord)) -> (RunRecord, Vec<TrialRecord>) {
    let (run, mut trials) = under("closed = { connections = 8 }", Point::Connections(8), 200.0);
    trials.iter_mut().for_each(change);
    (run, trials)
}

/// Evil fails no more requests than is tolerated: others are still under way.
fn forbear(trial: &mut TrialRecord) {
    let total = &mut trial.loaded.as_mut().unwrap().recording.total;
    let failed = &mut total.failed[Failure::Deadline.index()];
    let left = *failed / 2;
    *failed -= left;
    total.under_way += left;
}

/// In each of its rounds one body is not the expected one, and its bytes are kept.
fn lie(trial: &mut TrialRecord) {
    if trial.key.subject != "quick" {
        return;
    }
    let failure = Failure::named("content.mismatch").unwrap();
    let total = &mut trial.loaded.as_mut().unwrap().recording.total;
    total.failed[failure.index()] += 1;
    total.correct -= 1;
    total.correct_inside -= 1;
    total.evidence.push(Evidence {
        failure,
        at: 0,
        seq: 7,
        request: b"GET /?value=1 HTTP/1.1\r\n\r\n".to_vec(),
        expected: "a body of 12 bytes: {\"price\":42}".into(),
        received: b"HTTP/1.1 200 OK\r\n\r\n{\"price\":41}<script>\x1b[2J".to_vec(),
        lacks_beginning: false,
        is_cut: false,
        stream: None,
        reason: None,
    });
}

fn of(findings: &Findings<'_>) -> String {
    crate::sentence::all(findings).join(" ")
}

#[test]
fn the_server_that_leads_the_headline_stands_in_the_first_row() {
    let mut all = fixture::ugly();
    let (run, trials) = closed(forbear);
    all.push(("closed", run, trials));
    let (run, trials) = closed(lie);
    all.push(("a liar", run, trials));
    all.push(("two", fixture::run(), fixture::trials()));
    let mut compared = 0;
    for (name, run, trials) in &all {
        let findings = Findings::of(&7, run, trials, Vec::new());
        let said = of(&findings);
        for table in &findings.board.tables {
            let bests = table.bests();
            let Some(first) = bests.first().filter(|first| first.row.judgement.is_ranked()) else {
                continue;
            };
            // What is not ranked for its answers is named before.
            let ranking = said.rfind("Not ranked. ").map_or(&*said, |at| &said[at..]);
            let named = |subject: &str| ranking.find(findings.title(subject));
            let place = named(&first.row.subject);
            for other in &bests[1..] {
                let later = named(&other.row.subject)
                    .is_none_or(|at| place.is_some_and(|first| first < at));
                // A server whose name begins another's name is found in that name.
                let is_part =
                    findings.title(&other.row.subject).contains(findings.title(&first.row.subject));
                assert!(later || is_part, "{name}: {said}");
                compared += 1;
            }
        }
    }
    assert!(2 < compared, "something was compared: {compared}");
}

#[test]
fn the_faster_of_two_is_named_with_a_ratio_that_a_reader_can_recompute() {
    let findings = Findings::found(closed(forbear));
    let said = of(&findings);
    // As a reader does it, with the figures that stand there.
    let mut rates = said.split(" with ").skip(1).map(|rest| {
        let figure = rest.split('/').next().unwrap_or_default().replace(',', "");
        figure.parse::<f64>().unwrap()
    });
    let (first, next) = (rates.next().unwrap(), rates.next().unwrap());
    let ratio = format!("{:.2}× the rate of Evil", first / next);
    assert!(said.starts_with("Quick is fastest with ") && said.contains(&ratio), "{said}");
}

#[test]
fn a_server_with_wrong_answers_is_named_and_not_ranked_and_its_bytes_are_shown() {
    let findings = Findings::found(closed(|trial| {
        lie(trial);
        forbear(trial);
    }));
    let said = of(&findings);
    let wrong = "Quick answered wrongly: < 0.1 % of the requests (2 of 40,040). Not ranked.";
    assert!(!said.contains("fastest") && said.starts_with(wrong), "{said}");
    let failed = "failed 200 of 24,000 requests (0.8 %), all recv.deadline.";
    assert!(said.contains(failed), "tolerated: {said}");
    assert_eq!(findings.outcome(), RunOutcome::Failing(1));
    let said = of(&Findings::found(closed(|_| {})));
    let failed =
        "failed 1.7 % of the requests (400 of 24,000), all recv.deadline. Not ranked. Quick";
    assert!(said.contains(failed), "{said}");
    let findings = Findings::found(closed(lie));
    let text = full(&findings, 200, false);
    assert!(text.contains("received: HTTP/1.1 200 OK\\r\\n\\r\\n{\\\"price\\\":41}"), "{text}");
    assert!(text.contains("expected: a body of 12 bytes"), "{text}");
    assert!(!text.contains('\u{1b}'), "its bytes are shown, not obeyed");
    let page = findings.page();
    assert!(page.contains(":41}") && !page.contains("41}<script>"), "{page}");
    let json = json(&findings);
    let row = &json["tables"][0]["rows"][0];
    assert_eq!((&row["subject"], &row["wrong_answers"]), (&"quick".into(), &2.into()));
    assert_eq!(row["evidence"].as_array().unwrap().len(), 2);
    assert!(row["not_ranked"].as_str().unwrap().contains("wrong content"), "{row}");
}

/// The faster server needs more CPU time of its own for an answer than the other one.
fn beside_a_service(trial: &mut TrialRecord) {
    forbear(trial);
    trial.conditions.push(Fact { name: "service".into(), value: "a store".into() });
    let dear = if trial.key.subject == "quick" { 100.0 } else { 1.0 };
    let cpu = trial.series.iter_mut().filter(|series| series.name == "subject.cpu.total");
    cpu.for_each(|series| series.points.iter_mut().for_each(|(_, value)| *value *= dear));
}

/// A run whose service has CPUs of its own: in Quick's trials the server is always busy, in Evil's the service.
fn with_three_cpus(trial: &mut TrialRecord) {
    beside_a_service(trial);
    let fact = |name: &str, value: &str| Fact { name: name.into(), value: value.into() };
    let own = [("cpus.service", "1"), ("cpus.load", "2")];
    trial.conditions.extend(own.map(|(name, value)| fact(name, value)));
    if trial.key.subject == "quick" && trial.key.repeat == 0 {
        trial.conditions.push(fact("service.ceiling", "41000.4 pgbench"));
    }
    let of_server = trial.series.iter_mut().find(|series| series.name == "subject.cpu.total");
    let (whole, half) = (20e9, 10e9);
    let (server, service) =
        if trial.key.subject == "quick" { (whole, half) } else { (half, whole) };
    let points = |used| vec![(0, 0.0), (20 * load::SECOND, used)];
    of_server.unwrap().points = points(server);
    let (name, unit) = ("service.cpu.total".into(), "ns".into());
    trial.series.push(lab::record::Series { name, unit, points: points(service) });
}

#[test]
fn where_a_service_has_cpus_of_its_own_rates_are_ranked_and_the_limit_is_named() {
    let (run, mut trials) = closed(with_three_cpus);
    let findings = Findings::of(&7, &run, &trials, Vec::new());
    let said = of(&findings);
    assert!(said.starts_with("Quick is fastest with 2,002/s ["), "{said}");
    let of_quick = "By CPU shares, the limit is the server for Quick (load 50 %, server 100 %, database 50 %); the \
                    database for Evil";
    assert!(said.contains(of_quick), "{said}");
    assert!(said.contains("The database alone answered 41,000/s by pgbench."), "{said}");
    let table = &findings.board.tables[0];
    assert!(!table.shares_cpu && table.bests()[0].row.subject == "quick");
    assert!(table.bests().iter().all(|placed| placed.rank.is_some()), "{said}");
    let text = findings.markdown();
    for absent in ["on one CPU", "dyno's own server has no valid figure"] {
        assert!(!text.contains(absent), "{text}");
    }
    let page = findings.page();
    assert!(!page.contains("server and database on one CPU"));
    assert!(page.contains("by the database alone (pgbench)"), "{page}");
    let json = json(&findings);
    let table = &json["tables"][0];
    let ceiling = &table["service_ceiling"][0];
    assert_eq!((&ceiling["answers_per_s"], &ceiling["by"]), (&41_000.4.into(), &"pgbench".into()));
    let rows = table["rows"].as_array().unwrap().iter();
    let limits = rows.map(|row| row["limits"].to_string()).collect::<Vec<_>>();
    assert_eq!(limits, ["[\"server\"]", "[\"service\"]"]);
    // A command that fails is a sentence; of servers that wait, none of the three is the limit.
    trials.iter_mut().for_each(|trial| {
        for series in &mut trial.series {
            series.points.iter_mut().for_each(|(_, value)| *value *= 0.5);
        }
        let ceiling = trial.conditions.iter_mut().find(|fact| fact.name == "service.ceiling");
        ceiling.into_iter().for_each(|fact| fact.value = "unknown: `pgbench` was not found".into());
    });
    let said = of(&Findings::of(&7, &run, &trials, Vec::new()));
    let why = "What the database alone answers is not known: `pgbench` was not found.";
    assert!(said.contains(why), "{said}");
    let none = "the limit is none of the three for Quick (load 50 %, server 50 %, database 25 %)";
    assert!(said.contains(none), "{said}");
}

#[test]
fn beside_a_service_on_its_cpus_nothing_is_said_of_a_limit() {
    let findings = Findings::found(closed(|trial| {
        with_three_cpus(trial);
        trial.conditions.retain(|fact| fact.name != "cpus.service");
    }));
    let said = of(&findings);
    assert!(findings.page().contains("throughput: server and database on one CPU"));
    assert!(said.contains("their throughput is not ranked"), "{said}");
    assert!(!said.contains("alone") && !said.contains("limit"), "{said}");
    let json = json(&findings);
    let table = &json["tables"][0];
    let row = &table["rows"][0];
    assert!(row["limits"].is_null() && row["cpu_shares"].is_null(), "{row}");
    assert_eq!(table["service_ceiling"], serde_json::json!([]));
}

#[test]
fn beside_a_service_on_its_cpus_the_server_with_the_least_cpu_time_is_named() {
    let (run, trials) = closed(beside_a_service);
    let findings = Findings::of(&7, &run, &trials, Vec::new());
    let said = of(&findings);
    let first = "needs the least CPU time of its own for 1,000 answers; Quick (25.0s [";
    assert!(said.starts_with("Evil") && said.contains(first), "{said}");
    assert!(!said.contains("fastest") && said.contains("their throughput is not ranked"), "{said}");
    assert_eq!(findings.board.tables[0].bests()[0].row.subject, "evil");
    let text = findings.markdown();
    assert!(text.contains("server and database on one CPU: throughput is that of both"), "{text}");
    // In the first round alone Evil fails too many requests.
    let one: Vec<TrialRecord> = trials.into_iter().filter(|it| it.key.repeat == 0).collect();
    let said = of(&Findings::of(&7, &run, &one, Vec::new()));
    assert!(said.contains("Quick (25.0s): CPU time for 1,000 answers; server and"), "{said}");
}

/// Of one rate for all, whoever keeps it: the dear server, whose answers take less time, is not first.
#[test]
fn an_experiment_orders_its_servers_by_cpu_time_where_it_says_so() {
    let (mut run, mut trials) = (fixture::run(), fixture::trials());
    trials.retain(|trial| trial.key.point == Point::Sessions(100.0));
    run.plan = trials.iter().map(|trial| trial.key.clone()).collect();
    for trial in trials.iter_mut().filter(|trial| trial.key.subject == "evil") {
        let cpu = trial.series.iter_mut().filter(|series| series.name == "subject.cpu.total");
        cpu.flat_map(|series| &mut series.points).for_each(|(_, value)| *value *= 100.0);
    }
    let first = |run: &RunRecord, trials: &[TrialRecord]| {
        let findings = Findings::of(&7, run, trials, Vec::new());
        (findings.board.tables[0].bests()[0].row.subject.clone(), of(&findings))
    };
    assert_eq!(first(&run, &trials).0, "evil");
    run.files[0].1 = format!("order = 'cpu'\n{}", run.files[0].1);
    fixture::reread(&mut run);
    let (best, said) = first(&run, &trials);
    assert_eq!(best, "quick", "{said}");
    let kept = "All servers kept up with 1,000 requests/s. ";
    let cost = "CPU time of the server for 1,000 answers: Quick (499ms [487–512]) to Evil";
    assert!(said.starts_with(&format!("{kept}{cost}")), "{said}");
    assert!(!said.contains("database") && !said.contains("not ranked"), "{said}");
    // A CPU time that is not known is no place.
    for trial in trials.iter_mut().filter(|trial| trial.key.subject == "quick") {
        trial.series.retain(|series| series.name != "subject.cpu.total");
    }
    let findings = Findings::of(&7, &run, &trials, Vec::new());
    assert!(findings.board.tables[0].bests().iter().all(|placed| placed.rank.is_none()));
    let text = findings.markdown();
    assert!(text.contains("because the CPU time of quick is not known"), "{text}");
    let said = of(&findings);
    let is_one_known =
        said.contains("answers: Evil") && said.contains("; that of Quick is not known.");
    assert!(is_one_known, "{said}");
    for trial in &mut trials {
        trial.series.retain(|series| series.name != "subject.cpu.total");
    }
    let said = of(&Findings::of(&7, &run, &trials, Vec::new()));
    assert!(said.contains("The CPU time of ") && said.contains(" is not known."), "{said}");
}

#[test]
fn a_server_without_a_measured_trial_is_not_among_those_that_kept_up() {
    let (mut run, mut trials) = (fixture::run(), fixture::trials());
    trials.retain(|trial| trial.key.point == Point::Sessions(100.0));
    let twin = |trial: &TrialRecord| {
        let mut twin = trial.clone();
        twin.key.subject = "twin".into();
        twin
    };
    let quick = trials.iter().filter(|trial| trial.key.subject == "quick");
    let twins: Vec<TrialRecord> = quick.map(twin).collect();
    let evil = trials.iter_mut().filter(|trial| trial.key.subject == "evil");
    evil.for_each(|trial| (trial.outcome.kind, trial.loaded) = (OutcomeKind::Wrong, None));
    trials.extend(twins);
    run.entries.push(Entry { name: "twin".into(), ..run.entries[0].clone() });
    run.plan = trials.iter().map(|trial| trial.key.clone()).collect();
    let said = of(&Findings::of(&7, &run, &trials, Vec::new()));
    assert!(said.contains("kept up with 1,000 requests/s.") && !said.contains("All"), "{said}");
}

/// Evil with so many connections, and with so many more failures in each round.
fn evil_at(connections: u32, more: u64, trials: &[TrialRecord]) -> Vec<TrialRecord> {
    let mut trials = trials.to_vec();
    trials.retain(|trial| trial.key.subject == "evil");
    for trial in &mut trials {
        trial.key.point = Point::Connections(connections);
        let total = &mut trial.loaded.as_mut().unwrap().recording.total;
        total.failed[Failure::Deadline.index()] += more;
    }
    trials
}

#[test]
fn a_server_that_is_not_ranked_is_named_once_and_its_reasons_with_their_places() {
    let (mut run, mut trials) = closed(|_| {});
    let more = [(16, 7), (32, 7), (64, 0)].map(|(at, more)| evil_at(at, more, &trials));
    trials.extend(more.into_iter().flatten());
    run.plan = trials.iter().map(|trial| trial.key.clone()).collect();
    let findings = Findings::of(&7, &run, &trials, Vec::new());
    let entries = super::super::trouble::unranked(&findings);
    let [evil] = entries.as_slice() else { panic!("{entries:?}") };
    let lines: Vec<&str> = evil.lines.iter().map(|line| line.text.as_str()).collect();
    let [first, second] = lines.as_slice() else { panic!("{lines:?}") };
    assert!(first.starts_with("at 8, 64: 400 of "), "{first}");
    assert!(second.starts_with("at 16, 32: 414 of "), "{second}");
}

/// Where the CPU time and the throughput stand in the first picture of a run.
fn places_in_the_picture(run: &RunRecord, trials: &[TrialRecord]) -> [Option<usize>; 2] {
    let findings = Findings::of(&7, run, trials, Vec::new());
    let table = &findings.board.tables[0];
    let drawn = crate::signature::drawn(&findings, table, Room::Wide, Stand::Page);
    [">CPU for 1,000 answers<", ">throughput/s<"].map(|heading| drawn.as_str().find(heading))
}

#[test]
fn the_first_picture_of_a_table_begins_with_the_figure_by_which_it_is_ordered() {
    let (mut run, trials) = closed(forbear);
    assert!(matches!(places_in_the_picture(&run, &trials), [None, Some(_)]));
    run.files[0].1 = format!("order = 'cpu'\n{}", run.files[0].1);
    fixture::reread(&mut run);
    let places = places_in_the_picture(&run, &trials);
    assert!(matches!(places, [Some(cpu), Some(throughput)] if cpu < throughput), "{places:?}");
}

#[test]
fn that_a_server_has_one_round_is_said_of_no_other() {
    let (run, mut trials) = closed(forbear);
    // In the first round alone Evil fails too many requests.
    trials.retain(|trial| trial.key.subject == "quick" || trial.key.repeat == 1);
    let says = of(&Findings::of(&7, &run, &trials, Vec::new()));
    assert!(says.contains("No server is ahead, because Evil"), "{says}");
    assert!(
        says.contains(" has only one measured round: ") && !says.contains("After one"),
        "{says}"
    );
    trials.retain(|trial| trial.key.repeat == 1);
    let says = of(&Findings::of(&7, &run, &trials, Vec::new()));
    assert!(says.contains("After one round no server is ahead: "), "{says}");
}
