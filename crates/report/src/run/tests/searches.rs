//! Runs that searched for capacities: brackets, ties, what is not known, and what a server wrote.

use analysis::search::{
    Aim, Answer, Conclusion, End, Ending, Evidence, Judged, Noise, OddTrial, Place, RunSearch,
    Search, Searched,
};
use lab::record::{Entry, OutcomeKind};
use lab::search_goal::Limit;
use load::Quantile;

use super::super::searches::searches_by_task;
use super::*;
use crate::capacity;

const EXPERIMENT: &str = "question = 'What does each hold?'\nsubjects = 'all'\nworkload = 'echo-xml'\n\
                          load = { open = { rate = 'search' }, warmup = '1s' }\n\
                          [search]\np99 = '10ms'\nmost = 9000\n";

const P99: Quantile = Quantile { value: 9_000_000, is_bound: false, is_supported: true };

pub(crate) fn aim() -> Aim {
    Aim { limits: vec![Limit { percent: 99.0, within: 10_000_000 }], failures: 0.01 }
}

/// Five trials of 10,000 requests, of which so many were late.
fn end(rate: f64, late: u64, is_short: bool) -> End {
    let trial = |n: u64| Evidence {
        due: 10_000,
        lost: vec![late + n, 0],
        answered_per_s: rate,
        percentile: Some(P99),
        ..Evidence::default()
    };
    let trials: Vec<Evidence> = (0..5).map(trial).collect();
    let judged = Judged::of(&aim(), &trials.iter().collect::<Vec<_>>());
    End { rate, judged, is_short, answered_per_s: rate, percentile: Some(P99) }
}

fn holds(rate: f64) -> Option<End> {
    Some(end(rate, 40, false))
}

fn breaks(rate: f64) -> Option<End> {
    Some(end(rate, 400, false))
}

fn unable(says: &str) -> Conclusion {
    Conclusion::CannotTell { says: says.into(), in_a_row: 3 }
}

pub(crate) fn of(
    subject: &str,
    conclusion: Conclusion,
    ends: (Option<End>, Option<End>),
) -> Searched {
    let place = |end: &End| Place {
        rate: end.rate,
        judged: (!end.is_short).then(|| end.judged.clone()),
        short: end.is_short.then(|| end.judged.clone()),
    };
    let places = [&ends.0, &ends.1].into_iter().flatten().map(place).collect();
    Searched {
        of: RunSearch {
            subject: subject.into(),
            task: "echo-xml".into(),
            search: Search {
                aim: aim(),
                width: 0.05,
                least: 10.0,
                most: 9_000.0,
                ceiling: Some(10_350.0),
                limit_s: 1_200.0,
                is_fresh: true,
                seed: 1,
            },
            first: 0,
            cpus: 1.0,
        },
        answer: Answer {
            conclusion,
            lower: ends.0,
            upper: ends.1,
            places,
            inversions: Vec::new(),
            stalls: None,
            noise: Vec::new(),
            most: 9_000.0,
            ceiling: Some(10_350.0),
            trials: 12,
            seconds: 130.0,
        },
        endings: Vec::new(),
        odd: None,
    }
}

/// Entries for these servers, titled as they are called.
fn record(searches: &[Searched]) -> RunRecord {
    let mut run = fixture::run();
    run.name = "capacities".into();
    run.files = vec![
        ("experiments/capacities.toml".into(), EXPERIMENT.into()),
        (
            "workloads/echo-xml.toml".into(),
            "title = 'Echo'\n[[ask]]\nrequest = 'GET / HTTP/1.1'".into(),
        ),
    ];
    fixture::reread(&mut run);
    run.plan = Vec::new();
    let entry = |found: &Searched| Entry {
        name: found.of.subject.clone(),
        title: found.of.subject.to_uppercase(),
        ..Entry::default()
    };
    run.entries = searches.iter().map(entry).collect();
    run
}

pub(crate) fn with<T>(searches: Vec<Searched>, then: impl FnOnce(&Findings<'_>) -> T) -> T {
    let run = record(&searches);
    let mut findings = Findings::of(&7, &run, &[], Vec::new());
    findings.searches = searches;
    then(&findings)
}

fn sentence(searches: Vec<Searched>) -> String {
    with(searches, |findings| crate::sentence::all(findings).join(" "))
}

/// The servers in their order, each with its ranks.
fn ranked(searches: Vec<Searched>) -> Vec<String> {
    with(searches, |findings| {
        let all = searches_by_task(findings).remove(0).into_iter();
        all.map(|it| match it.rank {
            Some((first, last)) => format!("{} {first} to {last}", it.of.subject),
            None => it.of.subject.clone(),
        })
        .collect()
    })
}

fn found(subject: &str, low: f64, high: f64) -> Searched {
    of(subject, Conclusion::Found, (holds(low), breaks(high)))
}

#[test]
fn brackets_that_overlap_share_their_ranks_and_the_headline_names_no_winner() {
    let three = || {
        vec![found("c", 100.0, 105.0), found("a", 1_000.0, 1_050.0), found("b", 1_020.0, 1_070.0)]
    };
    assert_eq!(ranked(three()), ["b 1 to 2", "a 1 to 2", "c 3 to 3"]);
    assert_eq!(
        sentence(three()),
        "With p99 ≤ 10 ms and at most 1 % failed (Poisson arrivals), these searches cannot tell which of B and A holds \
         most: B holds 1,020/s and not 1,070/s; A holds 1,000/s and not 1,050/s; C holds 100/s and not 105/s."
    );
    let two = vec![found("a", 1_000.0, 1_050.0), found("b", 1_050.0, 1_100.0)];
    assert!(
        sentence(two).contains("B holds most: B holds 1,050/s and not 1,100/s; A holds 1,000/s")
    );
}

#[test]
fn at_least_ties_with_what_is_above_and_what_is_not_known_has_no_rank() {
    let all = vec![
        of("open", Conclusion::AtLeast, (holds(500.0), None)),
        found("more", 900.0, 950.0),
        of("missed", Conclusion::NotMet, (None, breaks(10.0))),
        of("late", Conclusion::OutOfTime { needed_s: 60.0 }, (Some(end(700.0, 10, true)), None)),
        of("mute", unable("no answer"), (holds(5_000.0), breaks(5_100.0))),
    ];
    let ranks = ["more 1 to 2", "open 1 to 2", "missed 3 to 3", "mute", "late"];
    assert_eq!(ranked(all.clone()), ranks);
    let says = sentence(all);
    for part in [
        "of those with a known capacity, these searches cannot tell which of MORE and OPEN holds most",
        "OPEN holds at least 500/s",
        // Its p99 was 9 ms, and the limit is 10 ms: all trials together lost too much.
        "MISSED does not hold even 10/s (4.02 % took longer than 10 ms)",
        "LATE holds 700/s, and perhaps more, as far as short trials show",
        "MUTE has no known capacity",
    ] {
        assert!(says.contains(part), "{part}: {says}");
    }
}

#[test]
fn one_that_is_known_has_no_rank_and_none_that_holds_anything_is_said() {
    let alone = vec![found("a", 100.0, 105.0), of("b", unable("x"), (None, None))];
    assert_eq!(ranked(alone.clone()), ["a", "b"]);
    assert!(!sentence(alone).contains("most:"));
    let missed = |name| of(name, Conclusion::NotMet, (None, breaks(10.0)));
    assert!(
        sentence(vec![missed("a"), missed("b")])
            .contains("no server holds the lowest rate that was tried")
    );
    let several = ["a", "b"].map(|name| of(name, unable("x"), (None, None))).to_vec();
    assert!(sentence(several).contains("no server's capacity is known: A has no known capacity"));
    let none = vec![of("a", unable("x"), (None, None))];
    assert!(sentence(none).contains("(Poisson arrivals), A has no known capacity."));
}

#[test]
fn a_trial_that_does_not_belong_there_makes_the_answer_invalid_and_unranked() {
    let mut odd = found("a", 2_000.0, 2_100.0);
    odd.odd = Some(OddTrial { number: 3 });
    let all = vec![odd, found("b", 100.0, 105.0), found("c", 200.0, 210.0)];
    assert_eq!(ranked(all.clone()), ["c 1 to 1", "b 2 to 2", "a"]);
    let text = with(all, |findings| full(findings, 140, false));
    let says = "A: invalid, capacity odd trial: Trial 3 is damaged, missing, or not the one";
    assert!(text.contains(says), "{text}");
}

#[test]
fn the_table_has_both_rates_with_what_decided_them() {
    let mut died = of("b", Conclusion::NotMet, (None, breaks(10.0)));
    died.endings = vec![Ending { kind: OutcomeKind::Died, times: 2, says: "signal 9".into() }];
    let all = vec![
        found("a", 1_000.0, 1_050.0),
        died,
        of("c", Conclusion::OutOfTime { needed_s: 60.0 }, (Some(end(700.0, 10, true)), None)),
    ];
    let text = with(all, |findings| full(findings, 140, false));
    let upto = text.find("Which servers took part").unwrap();
    expect![[r#"
        capacities · run 7 · 2026-11-21 13:28 UTC
        What does each hold?
        the rate that each server holds is searched for, from 10 to 9,000 requests/s: p99 ≤ 10 ms and at most 1 % failed;
        requests at random (Poisson); to 5 %, in at most 1,200 s of trials each; 1 s of warm-up, time-out 5 s
        A CPU · Linux 6.18 · dyno 0.1.0 · seed 7
        verdict: suspect; rows: 2 valid · 1 suspect · 0 invalid

        echo-xml: Echo
        rank  server      holds/s  not/s  answers/s    kept  kept above  the search                   verdict  trials  time of trials
        1     A             1,000  1,050      1,000  5 of 5      0 of 5  as narrow as asked for       valid        12           2 min
        2     B                 –     10          –       –      0 of 5  the lowest rate is not held  valid        12           2 min
        –     C       700 (short)?     –        700  5 of 5           –  out of time                  suspect      12           2 min
        the same in all rows: conformance not checked
        dyno's own server gives 10,350 answers/s here · rank: first to last place: a server is ahead of another only if what it
        holds is no less than what the other does not hold · holds/s: the highest rate that is held, below all that are not ·
        not/s: the lowest rate that is not held: the capacity lies between the two · answers/s: correct answers each second at
        the rate that is held · kept: trials that met the limits by themselves, at the rate that is held · kept above: the same
        at the rate that is not held · ? suspect: read why before you use the figure
        A: every rate that was tried
        requests/s            kept             > 10 ms         failed
        1,000       holds   5 of 5  0.42 % [0.35–0.50]  0 % [0–0.007]
        1,050       breaks  0 of 5  4.02 % [3.81–4.24]  0 % [0–0.007]
        B: every rate that was tried
        requests/s            kept             > 10 ms         failed
        10          breaks  0 of 5  4.02 % [3.81–4.24]  0 % [0–0.007]
        C: every rate that was tried
        requests/s                  kept              > 10 ms         failed
        700         short trials  5 of 5  0.12 % [0.087–0.16]  0 % [0–0.007]

        What to doubt
        B: note, capacity trials ended: 2 of 12 trials were no measurement (died): signal 9.
          what to do: see what the server wrote, and what it was asked, in "What went wrong" of the report
        C: suspect, capacity out of time: The time limit ended the search: about 60 s more would be needed for a bracket of 5 %.
          what to do: give it more time with `limit`, or ask for less with `width`

    "#]]
    .assert_eq(&text[..upto]);
}

#[test]
fn what_is_left_out_of_ranks_is_left_out_of_the_run_s_result_and_the_rest_is_worth_what_it_is() {
    let all = vec![
        found("a", 1_000.0, 1_050.0),
        of("b", Conclusion::OutOfTime { needed_s: 60.0 }, (Some(end(700.0, 10, true)), None)),
        of("c", unable("dyno sent late"), (None, None)),
    ];
    with(all, |findings| {
        let text = findings.markdown();
        let says = "3 trials in a row were no evidence, and were not counted: dyno sent late";
        assert!(text.contains(says), "{text}");
        let worth = findings.worth();
        assert_eq!((worth.valid, worth.suspect, worth.invalid), (1, 1, 1));
        assert_eq!(findings.in_vain(), Some(("B".into(), 2)));
    });
    with(vec![found("a", 1_000.0, 1_050.0)], |findings| {
        assert_eq!(findings.in_vain(), None);
    });
}

#[test]
fn the_page_and_the_chart_alone_have_a_bar_for_each_server_and_escape_their_names() {
    let mut evil = found("evil", 1_000.0, 1_050.0);
    evil.endings =
        vec![Ending { kind: OutcomeKind::Wrong, times: 1, says: fixture::POLYGLOT.into() }];
    let searches = vec![evil, of("b", Conclusion::AtLeast, (holds(9_000.0), None))];
    let mut run = record(&searches);
    run.entries[0].title = fixture::POLYGLOT.into();
    let mut findings = Findings::of(&7, &run, &[], Vec::new());
    findings.searches = searches;
    let page = findings.page();
    assert!(!page.contains("<script>alert(1)"), "a title breaks out of the page");
    assert!(page.contains("1,000–1,050") && page.contains("≥ 9,000"), "both rows are drawn");
    assert!(!page.contains("dyno run --resume"), "it is over");
    let markdown = findings.markdown();
    assert!(!markdown.contains("<script>") && markdown.contains("1,050"), "{markdown}");
}

#[test]
fn json_has_each_search_as_dyno_capacity_writes_it() {
    let all =
        vec![found("a", 1_000.0, 1_050.0), of("b", Conclusion::AtLeast, (holds(500.0), None))];
    let json = with(all, json);
    let first = &json["searches"][0];
    assert_eq!((&first["subject"], &first["rank_first"]), (&"a".into(), &1.into()));
    assert_eq!(first["search"]["capacity"]["upper_per_s"], 1_050.0);
    assert_eq!(json["searches"][1]["rank_last"], 2);
    assert_eq!(json["searches"][1]["search"]["capacity"]["conclusion"], "at_least");
    assert!(json["prices"].as_array().unwrap().is_empty());
    // In a run of anything else there is none.
    let other = super::json(&Findings::usual());
    assert!(other["searches"].as_array().unwrap().is_empty());
}

#[test]
fn what_a_trial_lost_that_ended_early_is_a_bound_in_every_format() {
    let cut = Evidence { due: 10_000, lost: vec![500, 0], is_cut: true, ..Evidence::default() };
    let mut broken = end(10.0, 400, false);
    broken.judged = Judged::of(&aim(), &[&cut; 5]);
    let mut missed = of("a", Conclusion::NotMet, (None, Some(broken)));
    missed.answer.places[0].short = Some(Judged::of(&aim(), &[&cut]));
    let screen = Screen { is_full: true, ..Screen::file(140) };
    let missed = || vec![missed.clone()];
    let text = with(missed(), |it| it.text(screen));
    for row in
        ["breaks, ended early       0 of 5  ≥ 5.00 %", "short trial, ended early  0 of 1  ≥ 5.00 %"]
    {
        assert!(text.contains(row), "{row}: {text}");
    }
    let page = with(missed(), |it| it.page());
    assert!(page.contains("≥ 5.00 % &gt; 10 ms; 0 of 5 trials met the limits; 5 ended early"));
    let json = with(missed(), |it| capacity::json(it).unwrap());
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let tried = &json["tried"][0];
    assert_eq!((&tried["ended_early"], &tried["short_ended_early"]), (&5.into(), &1.into()));
    for lost in [&tried["lost"][0], &tried["short_lost"][0]] {
        assert_eq!((&lost["is_bound"], lost["high_percent"].is_null()), (&true.into(), true));
    }
}

#[test]
fn a_sentence_says_which_end_was_not_tested_in_full_and_what_disturbed_the_search() {
    let late = Conclusion::OutOfTime { needed_s: 69.0 };
    let mut short = end(1_996.0, 1_000, true);
    short.judged.of = 1;
    let found = of("a", late.clone(), (holds(1_642.0), Some(short)));
    assert_eq!(
        sentence(vec![found]),
        "With p99 ≤ 10 ms and at most 1 % failed (Poisson arrivals), A holds 1,642/s and not 1,996/s (1,996/s was not \
         tested in full, but in 1 short trial only). 5 of 5 fresh processes met the limits at 1,642/s. The time limit \
         ended the search: about 69 s more would be needed for a bracket of 5 %."
    );
    let mut few = end(2_912.0, 0, false);
    few.judged = Judged::of(
        &aim(),
        &[&Evidence { due: 10_000, lost: vec![0, 0], ..Evidence::default() }; 4],
    );
    let mut found = of("a", late, (Some(few), None));
    found.answer.noise = vec![(Noise::OtherPrograms { cpus: 1.24 }, 3), (Noise::Late, 1)];
    let answer = found.answer.clone();
    let says = sentence(vec![found]);
    for part in [
        "A holds 2,912/s, and perhaps more, as far as 4 full trials show. 4 of 4 fresh processes met the limits at \
         2,912/s.",
        "4 of 12 trials were repeated and not counted: other programs used 1.2 CPUs (3), dyno itself sent late \
         (1).",
    ] {
        assert!(says.contains(part), "{part}: {says}");
    }
    let outcome = capacity::outcome(&answer);
    assert_eq!(outcome, capacity::SearchOutcome::CannotTell);
}
