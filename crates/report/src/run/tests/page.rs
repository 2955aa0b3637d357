//! The page of a run.

use super::*;
use crate::run::held::fixture::BEAM;
use crate::{sentence, svg};
use expect_test::expect;
use lab::experiment::Point;
use lab::record::{Series, TrialKey};

const MS: u64 = 1_000_000;

#[test]
fn every_subject_is_shown_in_depth_and_what_strangers_wrote_is_not_obeyed() {
    let (run, mut trials) = fixture::hostile();
    trials.iter_mut().for_each(|trial| fixture::deepen(trial, 20));
    let findings = Findings::found((run, trials));
    let chart = svg(&findings, "echo-xml", crate::Theme::Auto).expect("there are trials");
    let page = findings.page();
    for text in [&page, &chart] {
        for odd in
            ["<script>alert", "<script ", "<img", "<b ", "\u{1b}", "</title></style>", "\"NaN"]
        {
            assert!(!text.contains(odd), "{odd}");
        }
        assert!(text.contains("&lt;script&gt;"), "it is shown");
    }
    assert_eq!((page.matches("<script").count(), chart.matches("<script").count()), (1, 0));
    assert_eq!(page.matches("<details class=\"fold\" data-s").count(), 2);
    assert!(page.contains("class=\"heat h1\"") && page.contains(">4711</td>"));
    assert!(page.contains("2011 and now"), "the article's figures");
}

#[test]
fn a_page_of_five_subjects_at_twelve_places_in_three_rounds_is_light() {
    let (mut run, model) = (fixture::run(), fixture::trials().remove(0));
    let mut trials = Vec::new();
    for number in 0..5 * 12 * 3_u32 {
        let mut trial = model.clone();
        let (subject, place) = (number % 5, number / 5 % 12);
        trial.key = TrialKey::new(
            number,
            &format!("s{subject}"),
            "echo-xml",
            Point::Sessions(f64::from(place + 1) * 100.0),
            number / 60,
        );
        let series = |name: &str| Series {
            name: name.into(),
            unit: "count".into(),
            points: (0..300).map(|n| (n * 100 * MS, ((n * n) % 9_973) as f64)).collect(),
        };
        trial.series = READINGS.map(series).to_vec();
        // Only these are examined closely.
        if place == 0 || place == 11 {
            fixture::deepen(&mut trial, 100);
        }
        trials.push(trial);
    }
    run.plan = trials.iter().map(|trial| trial.key.clone()).collect();
    run.files.push(("subjects/s0/subject.toml".into(), "probe = \"beam\"".into()));
    run.files.push(("probes/beam/probe.toml".into(), BEAM.into()));
    let page = Findings::found((run, trials)).page();
    assert_eq!(page.matches("class=\"strip\"").count(), 10, "of each the lowest and the highest");
    assert_eq!(
        page.matches(">BEAM schedulers in use<").count(),
        10,
        "each with its probe's readings"
    );
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
}

const READINGS: [&str; 8] = [
    "subject.cpu.user",
    "subject.cpu.system",
    "subject.memory.rss",
    "subject.memory.pss",
    "beam.run_queue",
    "beam.scheduler.utilisation_ratio",
    "kernel.tcp.accept_queue",
    "kernel.tcp.listen_overflows",
];

#[test]
fn sessions_are_said_once_and_every_other_rate_counts_requests() {
    let findings = Findings::usual();
    for text in [findings.page(), findings.markdown()] {
        assert_eq!(text.matches("sessions/s").count(), 1, "{text}");
        assert!(
            text.contains("1,000, 2,000 requests/s (= 100, 200 sessions/s × 10 calls)"),
            "{text}"
        );
    }
}

#[test]
fn the_first_link_leads_past_the_controls_to_a_section() {
    let page = Findings::usual().page();
    let (_, body) = page.split_once("<body>\n<a class=\"skip\" href=\"#").expect("it is first");
    let (id, after) = body.split_once('"').unwrap();
    let (_, sections) = after.split_once("class=\"controls\"").expect("there are controls");
    assert!(sections.contains(&format!("<section id=\"{id}\">")), "{id}");
}

#[test]
fn a_page_needs_nothing_from_elsewhere() {
    let page = Findings::usual().page();
    for odd in ["src=", "@import", "<link", "url(http", "unsafe"] {
        assert!(!page.contains(odd), "{odd}");
    }
    assert!(page.contains("default-src 'none'") && page.contains("download=\"run-7.csv\""));
    assert_eq!(page.matches("<h1>").count(), 1);
}

#[test]
fn the_answer_says_which_server_leads_by_how_much_and_which_falls_behind() {
    let says = |of| sentence::all(&Findings::found(of)).join("\n").replace('\u{1b}', "␛");
    expect![[r#"
        Within the limits (p99 ≤ 100ms, at most 1.0% failed, at least 99.0% on time): Axum 0 holds every rate up to 2,000 requests/s; A server with quite a long name 1 holds every rate up to 2,000 requests/s; Node.js http 2 holds every rate up to 2,000 requests/s; Axum 3 holds every rate up to 2,000 requests/s; 19 others follow, the last of which, A server with quite a long name 19 holds no rate that was tried; the lowest is 1,000 requests/s (p99 333ms).
        The intervals show how much the rounds differ; another day or machine may differ more. Trials that failed or have not been run are in no average."#]].assert_eq(&says(fixture::crowd()));
    let first_round = fixture::trials().into_iter().filter(|trial| trial.key.repeat == 0);
    expect![[r#"
        Within the limits (p99 ≤ 100ms, at most 1.0% failed, at least 99.0% on time): Quick holds every rate up to 2,000 requests/s; Evil ␛[31m holds 1,000 requests/s and breaks at 2,000 (p99 ≥5.00s, 4.2% failed, 96% on time).
        There was one round, so the spread between rounds is not known: small differences mean nothing. Trials that failed or have not been run are in no average. Some figures are in doubt; they are marked."#]].assert_eq(&says((fixture::run(), first_round.collect())));
}

#[test]
fn a_crowd_has_a_page_that_stays_small() {
    let page = Findings::found(fixture::crowd()).page();
    assert!((100_000..1_500_000).contains(&page.len()), "{}", page.len());
}

/// Whether the page of three rounds says that some figures are still wider than asked for.
fn says_what_is_wider(repeat: &str) -> bool {
    let findings = Findings::after(|run, trials| {
        for mut trial in trials.clone().into_iter().filter(|trial| trial.key.repeat == 1) {
            trial.key.repeat = 2;
            trials.push(trial);
        }
        run.files[0].1 = run.files[0].1.replace("repeat = 2", repeat);
        fixture::reread(run);
    });
    findings.page().contains("still wider after the most rounds: ")
}

#[test]
fn rounds_that_were_looked_for_say_why_there_are_no_more() {
    assert!(says_what_is_wider("repeat = 3, repeat_max = 3, until = \"±3%\""));
    assert!(!says_what_is_wider("repeat = 2"));
}

#[test]
fn ugly_data_has_whole_pages() {
    for (name, run, trials) in fixture::ugly() {
        let page = Findings::found((run, trials)).page();
        assert!(page.ends_with("</html>\n") && page.len() < 2_000_000, "{name}");
        for odd in ["NaN", "\"inf", "-inf", "<script>alert", "\u{202e}"] {
            assert!(!page.contains(odd), "{name}: {odd}");
        }
    }
}

#[test]
fn a_run_without_trials_has_a_page_and_no_numbers() {
    let findings = Findings::after(|run, trials| {
        run.plan.clear();
        trials.clear();
    });
    assert!(svg(&findings, "echo-xml", crate::Theme::Auto).is_none());
    assert!(findings.page().ends_with("</html>\n"));
    assert!(!findings.markdown().contains("| throughput"));
}
