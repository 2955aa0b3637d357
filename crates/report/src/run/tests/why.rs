//! What is said of sampled trials: in a text, in JSON, on a page.

use analysis::Gate;
use expect_test::expect;
use lab::record::{ProfileRecord, RunRecord, TrialKey, TrialRecord};

use super::*;

fn sampled() -> Findings<'static> {
    Findings::after(|run, _| fixture::sample(run))
}

/// What the section says, in so many columns.
fn section(findings: &Findings<'_>, width: usize) -> String {
    let text = full(findings, width, false);
    let from = text.find("Where the CPU time").expect("the section");
    let lines = text[from..].lines();
    let is_in = |line: &&str| !line.starts_with("The article's figures");
    lines.take_while(is_in).fold(String::new(), |all, line| all + line + "\n")
}

#[test]
fn a_text_says_where_the_time_goes_and_why_it_is_not_known() {
    let findings = sampled();
    expect![[r#"
            Where the CPU time of an answer goes  shares of sampled trials, of the CPU time that the rounds measured

            echo-xml at 1,000 requests/s
                                           Quick, µs  Evil ␛[31m, µs  difference, µs
            an answer                  499 [487–512]             500           +1.00
            the program                218 [212–224]             360            +143
              garbage collection    36.3 [33.2–39.3]             270            +234
              package express          181 [176–187]            90.1           −91.4
            the kernel                 272 [266–278]             135            −137
              send                     272 [266–278]             135            −137
            not named                 9.1 [7.5–10.6]            4.50           −4.57
            system calls an answer              3.00            3.00               –
            intervals of 95 %, those of differences wider, so that all lines are right together; a difference in grey is not shown.
            Lines below 0.5 % of the time are left out
            Quick: 8,250 samples in 6 trials · 997/s of its CPUs · 138 µs an answer while it was sampled · 0.50 µs of waiting for a
            CPU · system calls an answer: read 2.00, writev 1.00
            Quick: an answer cost 72 % less CPU time in the sampled trials than in the measured ones
            Quick: the runtime had flags that it has in no measured trial
            Evil ␛[31m: 16,650 samples in 6 trials · 997/s of its CPUs · 278 µs an answer while it was sampled · 0.50 µs of waiting
            for a CPU · system calls an answer: read 2.00, writev 1.00
            Evil ␛[31m: the runtime had flags that it has in no measured trial

            echo-xml at 2,000 requests/s
            Quick: no profile: this kernel lets only root sample

        "#]].assert_eq(&section(&findings, 120));
    expect!["A single round does not show whether the CPU time of an answer differs between Quick and Evil [31m."]
        .assert_eq(&crate::run::why::sentences(&findings).join("\n"));
}

#[test]
fn json_has_every_line_and_a_page_shows_no_name_as_markup() {
    let findings = sampled();
    let json = json(&findings);
    let why = &json["why"][0];
    assert_eq!((&why["task"], &why["point"]), (&"echo-xml".into(), &100.0.into()));
    let lines = why["explanation"]["difference"]["lines"].as_array().expect("lines");
    assert_eq!(lines[0]["line"]["name"], "garbage collection");
    assert!(lines[0]["gap"]["us"].as_f64().is_some_and(|us| 0.0 < us), "{}", lines[0]);
    assert_eq!(json["why"][1]["unsampled"][0][1], "this kernel lets only root sample");
    let page = findings.page();
    assert!(!page.contains("<script>alert(1)") && !page.contains('\u{1b}'));
    assert!(page.contains("alert(1)"), "the function's box has its name");
}

/// Seven of many servers, each sampled twice.
fn seven() -> Findings<'static> {
    let (mut run, trials) = fixture::crowd();
    for number in 0..14 {
        let subject = format!("server-{}", number % 7);
        let key = TrialKey { number, subject, ..run.plan[0].clone() };
        run.profiles.push(ProfileRecord { key, found: Ok(fixture::profile(4 + number % 7)) });
    }
    Findings::found((run, trials))
}

fn names(findings: &Findings<'_>) -> Vec<String> {
    findings.charts().map(|chart| chart.name).collect()
}

#[test]
fn of_several_servers_five_pairs_have_tables_and_one_of_them_has_graphs() {
    let findings = seven();
    let json = json(&findings);
    let explanation = &json["why"][0]["explanation"];
    let pairs = explanation["pairs"].as_array().expect("pairs");
    assert!(pairs.len() == 5 && pairs.iter().all(|pair| pair["first"] == "server-0"));
    let says = "Any other pair: `dyno compare --run 7 A B`";
    let full = full(&findings, 120, false);
    assert!(full.contains(says) && full.matches("\nAxum 0 and ").count() == 5, "{full}");
    assert!(!findings.text(Screen::file(120)).contains(says));
    let page = findings.page();
    assert_eq!(page.matches(">Axum 0 and ").count(), 5);
    // On a phone the sentence has several lines.
    assert_eq!(page.matches("What is called stands below its caller").count(), 3);
    let all = names(&findings);
    assert_eq!((all.len(), all[0].as_str()), (1 + 7 + 5, "run-7-echo-xml"));
    assert_eq!(all[2], "run-7-echo-xml-100-flame-2-server-1");
}

#[test]
fn a_difference_graph_says_what_it_is_of_and_charts_are_those_of_the_workload() {
    let mut findings = seven();
    let svg = findings.charts().last().expect("a graph").svg;
    assert!(svg.contains(" against Axum 0"), "{svg}");
    assert!(svg.contains("echo-xml at 1,000 requests/s, two · run 7 · "), "{svg}");
    findings.drawn.workload = Some("another".into());
    assert_eq!(names(&findings), [""; 0]);
}

#[test]
fn a_graph_without_the_kernels_stacks_has_its_time_as_one_box() {
    let findings = Findings::after(|run, _| {
        fixture::sample(run);
        for found in run.profiles.iter_mut().filter_map(|it| it.found.as_mut().ok()) {
            found.stacks.retain(|stack| stack.line != 2);
            found.method.user_only = true;
        }
    });
    let graphs: Vec<Chart> = findings.charts().filter(|it| it.name.contains("flame")).collect();
    let svg = &graphs[0].svg;
    assert!(svg.contains("499 µs of CPU time an answer"), "{svg}");
    assert!(svg.contains("<title>in the kernel: 272 µs an answer, 55 %</title>"), "{svg}");
}

/// Of Quick nothing is shown if in each trial a process ended whose CPU time is not known, and all if one trial failed.
#[test]
fn a_kernel_whose_part_is_not_known_is_not_shown_as_nothing() {
    let (mut run, trials) = (fixture::run(), fixture::trials());
    fixture::sample(&mut run);
    let unsampled = |run: &RunRecord| {
        let findings = Findings::of(&7, run, &trials, Vec::new());
        let found = &findings.explained()[0];
        (found.explanation.servers.len(), found.unsampled.clone())
    };
    let mut failed = run.clone();
    failed.profiles[0].found = Err("it ended".into());
    assert_eq!(unsampled(&failed), (2, Vec::new()));
    for record in run.profiles.iter_mut().filter(|it| it.key.subject == "quick") {
        let Ok(profile) = &mut record.found else { continue };
        (profile.method.user_only, profile.cpu_ns) = (true, 0);
    }
    let (servers, says) = unsampled(&run);
    assert_eq!((servers, says.len(), says[0].0.as_str()), (1, 1, "quick"));
    assert!(says[0].1.starts_with("the kernel's part is not known"), "{says:?}");
}

/// What is said of Quick's profiles, of which one thing has been changed.
#[track_caller]
fn check_unsampled(change: impl Fn(&mut RunRecord, &mut TrialRecord), says: &str) {
    let (mut run, mut trials) = (fixture::run(), fixture::trials());
    fixture::sample(&mut run);
    trials.iter_mut().filter(|it| it.key.subject == "quick").for_each(|it| change(&mut run, it));
    let text = Findings::of(&7, &run, &trials, Vec::new()).text(Screen::file(200));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(&format!("Quick: no profile: it {says}")), "{text}");
}

#[test]
fn a_profile_of_nothing_is_not_left_out_silently() {
    let unmeasured = "was sampled, but no round measured how much CPU time an answer takes";
    let is_cpu = |it: &machine::Series| it.name == "subject.cpu.total";
    check_unsampled(|_, trial| trial.series.retain(|it| !is_cpu(it)), unmeasured);
    check_unsampled(
        |_, trial| {
            for reading in trial.series.iter_mut().filter(|it| is_cpu(it)) {
                reading.points.iter_mut().for_each(|(_, value)| *value = 0.0);
            }
        },
        unmeasured,
    );
    check_unsampled(
        |run, _| {
            let quick = run.profiles.iter_mut().filter(|it| it.key.subject == "quick");
            for profile in quick.filter_map(|it| it.found.as_mut().ok()) {
                profile.stacks.clear();
            }
        },
        "used so little CPU time that no sample met it",
    );
}

/// The answer's last paragraph, and the tables of samples.
fn compared(sides: [(&RunRecord, &str); 2]) -> String {
    let trials = fixture::trials();
    let [a, b] = [7, 8].map(|id| (id, sides[id as usize - 7]));
    let [a, b] = [a, b].map(|(id, (run, _))| Findings::of(&id, run, &trials, Vec::new()));
    let [first, second] = sides.map(|(_, subject)| Some(subject));
    let (a, b) = (Side { findings: &a, subject: first }, Side { findings: &b, subject: second });
    let document = Compared::of(a, b, Gate::default()).document();
    let sentence = document.answer.last().cloned().unwrap_or_default();
    let text = render::text(&document, Screen::file(100));
    let from = text.find("Where the CPU time").unwrap_or(text.len());
    let until = text[from..].find("Lines below").unwrap_or(0);
    format!("{sentence}\n{}", &text[from..from + until])
}

#[test]
fn a_comparison_shows_why_two_rows_differ_if_both_were_sampled() {
    let mut before = fixture::run();
    fixture::sample(&mut before);
    let mut after = before.clone();
    for found in after.profiles.iter_mut().filter_map(|it| it.found.as_mut().ok()) {
        found.stacks[0].counts.iter_mut().for_each(|(_, count)| *count *= 3);
    }
    expect![[r#"
        The CPU time of an answer is not shown to differ between A and B.
        Where the CPU time of an answer goes  shares of sampled trials, of the CPU time that the rounds mea…
                                           A, µs             B, µs          difference, µs
        an answer                  499 [487–512]     499 [487–512]         0 [−6.0 to 6.0]
        the program                218 [212–224]     253 [248–259]             +36 [25–46]
          garbage collection    36.3 [33.2–39.3]  95.0 [90.7–99.4]       +58.8 [51.6–66.0]
          package express          181 [176–187]     158 [153–164]  −23.0 [−32.1 to −13.9]
        the kernel                 272 [266–278]     238 [232–243]        −35 [−45 to −24]
          send                     272 [266–278]     238 [232–243]        −35 [−45 to −24]
        not named                 9.1 [7.5–10.6]     7.9 [6.6–9.3]      −1.2 [−3.5 to 1.2]
        system calls an answer              3.00              3.00                       –
        intervals of 95 %, those of differences wider, so that all lines are right together; a difference in
        grey is not shown. "#]].assert_eq(&compared([(&before, "quick"), (&after, "quick")]));
    let unsampled = fixture::run();
    assert!(!compared([(&before, "quick"), (&unsampled, "quick")]).contains("CPU time of an"));
}
