//! Prices as people and programs see them.

use expect_test::expect;
use lab::record::{RunRecord, TrialKey, TrialRecord};
use load::{Http2, SECOND, Security, Traffic};

use super::*;
use crate::render::{Glyphs, Screen, Shown};
use crate::run::fixture;
use crate::run::tests::{csv, json, order, parts};

const MS: u64 = 1_000_000;
const SCREEN: Screen = Screen { glyphs: Glyphs::Ascii, ..Screen::file(100) };
const CLEAR: &str = "echo-xml";
const TLS: &str = "echo-xml over http/1.1+tls";
const H2: &str = "echo-xml over h2, 10 streams";

const LOAD: &str = "closed = { connections = 8 }, protocol = [\"http/1.1\", \"http/1.1+tls\", \"h2\"], streams = 10";

/// Three servers, of which `idle` is a reference: so many answers in ten seconds of each, task and round.
fn made(
    rounds: u32,
    answers: impl Fn(&str, &str, u32) -> Option<u64>,
) -> (RunRecord, Vec<TrialRecord>) {
    made_of(LOAD, &[H2, TLS, CLEAR], rounds, answers)
}

/// Such servers under any load and its tasks.
fn made_of(
    ordered: &str,
    tasks: &[&str],
    rounds: u32,
    answers: impl Fn(&str, &str, u32) -> Option<u64>,
) -> (RunRecord, Vec<TrialRecord>) {
    let (mut run, model) = (fixture::run(), fixture::trials().remove(0));
    run.files[0].1 = run.files[0].1.replace("article", "# article").replace("history", "# history");
    order(&mut run, ordered);
    for (entry, (name, title, tier)) in run.entries.iter_mut().zip([
        ("quick", "Quick", "default"),
        ("other", "Other", "default"),
        ("idle", "Idle", "reference"),
    ]) {
        (entry.name, entry.title, entry.tier) = (name.into(), title.into(), tier.into());
        entry.skipped = None;
    }
    run.plan.clear();
    let mut trials = Vec::new();
    for repeat in 0..rounds {
        for &task in tasks {
            for entry in &run.entries {
                let Some(answers) = answers(&entry.name, task, repeat) else { continue };
                let (number, point) = (trials.len() as u32, Point::Connections(8));
                let key = TrialKey::new(number, &entry.name, task, point, repeat);
                let mut trial = TrialRecord { key: key.clone(), ..model.clone() };
                trial.checks.clear();
                trial.loaded.as_mut().unwrap().recording = fixture::recording(answers, MS);
                run.plan.push(key);
                trials.push(trial);
            }
        }
    }
    (run, trials)
}

/// Rounds differ by a factor of two; TLS takes an eighth from Quick and nothing from Other, and HTTP/2 doubles Quick.
fn usual(subject: &str, task: &str, round: u32) -> Option<u64> {
    let round = u64::from(round);
    let common = [20_000, 40_000, 24_000, 32_000][round as usize];
    // A little noise of each trial's own.
    let own = |one: u64| one + one / 1_000 * ((round * 7 + task.len() as u64) % 5);
    match (subject, task) {
        ("quick", TLS) => Some(own(common / 8 * 7)),
        ("quick", H2) => Some(own(common / 8 * 14)),
        ("other", H2) => None,
        ("other", _) => Some(own(common / 4)),
        ("idle", _) => (round == 0).then_some(common * 2),
        _ => Some(own(common)),
    }
}

#[test]
fn a_run_in_several_manners_says_what_they_cost() {
    let findings = Findings::found(made(4, usual));
    expect![[r#"
        The price of TLS and HTTP/2  1× is no difference

        TLS: echo-xml over http/1.1+tls ÷ echo-xml over http/1.1, at 8 connections
        server                 throughput/s                p99             CPU/1k  finding
        Other             1.00× [1.00–1.00]  1.00× [1.00–1.00]  1.00× [0.99–1.01]  no difference shown
        Quick             0.87× [0.87–0.88]  1.00× [1.00–1.00]  1.14× [1.13–1.16]  worse
        Idle (reference)              1.00×              1.00×              1.00×  not compared: one round
        each figure with it, divided by the same without it, in the same rounds (geometric mean); in
        brackets the interval that decides: of at least 95 %, wider because all prices of the run are
        decided together (Holm's correction) · finding: what this shows of the first figure, with it

        HTTP/2: echo-xml over h2, 10 streams ÷ echo-xml over http/1.1+tls, at 8 connections
        server                  throughput/s                p99             CPU/1k  finding
        Quick             2.00×? [1.99–2.01]  1.00× [0.99–1.01]  0.50× [0.49–0.51]  better
        Idle (reference)               1.00×              1.00×              1.00×  not compared: one round
        with several streams on a connection more requests are in flight than over HTTP/1.1: that is in the
        throughput, and in the response times

        in short
        verdict: suspect; rows: 4 valid · 1 suspect · 0 invalid
        TLS (echo-xml over http/1.1+tls ÷ echo-xml over http/1.1, at 8 connections): Quick answers 0.87×
        [0.87–0.88] as many requests; for Other this data shows no difference.
        HTTP/2 (echo-xml over h2, 10 streams ÷ echo-xml over http/1.1+tls, at 8 connections): Quick (in
        doubt) answers 2.00× [1.99–2.01] as many requests.
        echo-xml over http/1.1: Quick is fastest with 2,800/s [1,700–4,600], 4.00× the rate of Other with
        700/s [430–1,140]. The lowest p99 is 1.00ms (Quick), the highest 1.00ms (Other).
        echo-xml over http/1.1+tls: Quick is fastest with 2,500/s [1,500–4,000], 3.57× the rate of Other
        with 700/s [430–1,140]. The lowest p99 is 1.00ms (Quick), the highest 1.00ms (Other).
        echo-xml over h2, 10 streams: Quick (in doubt) answered 4,900/s [3,000–8,000].
        The intervals show how much the rounds differ; another day or machine may differ more. Some figures
        are in doubt; they are marked."#]]
    .assert_eq(&parts(&findings.text(SCREEN), &["The price of", "TLS: ", "HTTP/2: ", "in short"]));
}

#[test]
fn markdown_and_json_have_the_same_prices() {
    let findings = Findings::found(made(4, usual));
    let markdown = findings.markdown();
    let row = "| Quick | 0.87× \\[0.87–0.88\\] | 1.00× \\[1.00–1.00\\] | 1.00× \\[1.00–1.00\\] | 1.14× \\[1.13–1.16\\] |";
    assert!(markdown.contains(row), "{markdown}");
    let json = json(&findings);
    let prices = json["prices"].as_array().unwrap();
    for (price, (paid_for, without, with, rows)) in
        prices.iter().zip([("tls", CLEAR, "http/1.1+tls", 3), ("http2", TLS, "h2", 2)])
    {
        let said = [&price["paid_for"], &price["without"]["task"], &price["with"]["protocol"]];
        assert_eq!(said, [paid_for, without, with]);
        assert_eq!(price["rows"].as_array().unwrap().len(), rows);
    }
    let quick = &prices[0]["rows"][1];
    assert_eq!([&quick["a_subject"], &quick["b_subject"]], ["quick", "quick"]);
    let throughput = &quick["figures"][0];
    assert_eq!(throughput["finding"], "worse");
    let ratio = throughput["ratio"].as_f64().unwrap();
    assert!((ratio - 0.875).abs() < 0.005, "{ratio}");
    assert!(throughput["ratio_low"].as_f64().unwrap() < ratio);
}

#[test]
fn the_page_has_a_picture_of_each_price_for_a_desk_and_a_phone() {
    let page = Findings::found(made(4, usual)).page();
    let section = page.split("<section id=\"price\">").nth(1).expect("it has the section");
    let section = section.split("</section>").next().unwrap();
    assert_eq!(section.matches("class=\"wide\"").count(), 2, "{section}");
    assert_eq!(section.matches("class=\"narrow\"").count(), 2);
    assert!(section.contains(">1×</text>") && section.contains("0.87×"), "{section}");
    assert!(!section.contains("NaN") && !section.contains("inf"));
}

#[test]
fn after_one_round_no_price_is_known_and_lines_for_programs_have_the_streams_of_their_task() {
    let findings = Findings::found(made(1, usual));
    let says = sentences(&findings).join(" ");
    let unknown = "after one round, nothing is known of the price for Other and Quick";
    assert!(says.contains(unknown), "{says}");
    let csv = csv(&findings);
    let at = csv.lines().next().unwrap().split(',').position(|head| head == "streams").unwrap();
    // The name of the task over HTTP/2 has a comma of its own, within quotes.
    for (task, at, streams) in [("over h2, 10 streams", at + 1, "10"), (",echo-xml,quick", at, "")]
    {
        let line = csv.lines().find(|line| line.contains(task)).unwrap();
        assert_eq!(line.split(',').nth(at), Some(streams), "{line}");
    }
}

#[test]
fn a_server_that_failed_has_no_price_and_says_why() {
    let (run, mut trials) = made(3, usual);
    let died = lab::record::OutcomeKind::Died;
    let others = trials.iter_mut().filter(|trial| trial.key.subject == "other");
    others.filter(|it| it.key.workload == TLS).for_each(|trial| trial.outcome.kind = died);
    let text = Findings::found((run, trials)).text(SCREEN);
    assert!(text.contains("no price: Other, echo-xml over http/1.1+tls: not measured"), "{text}");
}

#[test]
fn the_sentence_is_about_the_highest_place_at_which_a_server_has_a_price() {
    let (mut run, mut trials) = made(3, usual);
    let mut higher = trials.clone();
    for trial in &mut higher {
        trial.key.point = Point::Connections(64);
        trial.key.number += trials.len() as u32;
        if trial.key.workload == TLS {
            trial.outcome.kind = lab::record::OutcomeKind::Died;
        }
    }
    run.plan.extend(higher.iter().map(|trial| trial.key.clone()));
    trials.extend(higher);
    let says = sentences(&Findings::found((run, trials)));
    assert_eq!(says.len(), 2, "{says:?}");
    for (paid_for, says) in ["TLS (", "HTTP/2 ("].into_iter().zip(&says) {
        assert!(says.starts_with(paid_for) && says.contains("at 8 connections"), "{says}");
    }
}

#[test]
fn nothing_that_is_shown_is_a_difference_is_said_once() {
    let says = sentences(&Findings::found(made(2, |subject, task, round| {
        let own = [1_000, 3_000][round as usize] * (1 + task.len() as u64 % 2 * u64::from(round));
        (subject != "idle").then_some(own)
    })));
    assert_eq!(says.len(), 1, "{says:?}");
    assert!(says[0].starts_with("For no server this data shows a difference that is due to TLS ("));
}

#[test]
fn doubts_about_tls_and_http2_reach_the_report_of_a_run() {
    let (run, mut trials) = made(2, usual);
    for trial in trials.iter_mut().filter(|it| it.key.subject == "quick" && it.key.workload == H2) {
        let total = &mut trial.loaded.as_mut().unwrap().recording.total;
        let traffic = Traffic { calm_after_resets: 1, resets_sent: 11, ..Traffic::default() };
        total.http2 = Some(Box::new(Http2 { traffic, ..Http2::default() }));
        let mut security = Security::new(SECOND);
        security.agreed.versions.add("1.3", 9);
        security.agreed.versions.add("1.2", 1);
        total.security = Some(Box::new(security));
    }
    let entries = crate::run::trouble::doubts(&Findings::found((run, trials)));
    for name in [", tls mixed: ", ", calm: "] {
        let of_quick = "Quick, echo-xml over h2, 10 streams at 8";
        let mut heads = entries.iter().map(|entry| &entry.head);
        let is_there = heads.any(|head| head.starts_with(of_quick) && head.contains(name));
        assert!(is_there, "{name}: {entries:?}");
    }
}

const ONE: &str = "echo-xml over h2c, 1 stream";
const TEN: &str = "echo-xml over h2c, 10 streams";

/// HTTP/2 takes half of what Quick answers with one stream and doubles it with ten; Other is the same with both.
fn by_streams(subject: &str, task: &str, round: u32) -> Option<u64> {
    let noise = 20 * ((u64::from(round) * 7 + task.len() as u64) % 5);
    Some(
        match (subject, task) {
            ("quick", ONE) => 10_000,
            ("quick", TEN) => 40_000,
            _ => 20_000,
        } + noise,
    )
}

#[test]
fn each_number_of_streams_has_its_price() {
    let load = LOAD.replace("\"http/1.1\", \"http/1.1+tls\", \"h2\"", "\"http/1.1\", \"h2c\"");
    let load = load.replace("streams = 10", "streams = [1, 10]");
    let findings = Findings::found(made_of(&load, &[CLEAR, ONE, TEN], 4, by_streams));
    expect![[r#"
        HTTP/2 (echo-xml over h2c, 1 stream ÷ echo-xml over http/1.1, at 8 connections): Quick (in doubt) answers 0.50× [0.50–0.50] as many requests; for Other (in doubt) this data shows no difference.
        HTTP/2 (echo-xml over h2c, 10 streams ÷ echo-xml over http/1.1, at 8 connections): Quick (in doubt) answers 2.00× [1.99–2.01] as many requests; for Other (in doubt) this data shows no difference."#]].assert_eq(&sentences(&findings).join("\n"));
}

#[test]
fn rows_without_a_price_are_grouped_by_their_task() {
    // No round measured anything of Quick over TLS, nor of any server over HTTP/2.
    let findings = Findings::found(made(4, |subject, task, round| match (subject, task) {
        ("quick", TLS) | (_, H2) => Some(0),
        _ => usual(subject, task, round),
    }));
    let prices = findings.board.prices();
    let says: Vec<String> = prices.iter().map(|price| left_out(&findings, price)).collect();
    expect![[r#"
        no price: Quick, echo-xml over http/1.1+tls: invalid
        no price: Quick, echo-xml over http/1.1+tls: invalid; Quick, Other and Idle, echo-xml over h2, 10 streams: invalid"#]].assert_eq(&says.join("\n"));
}
