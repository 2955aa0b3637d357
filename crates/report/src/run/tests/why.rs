//! What is said of sampled trials: in a text, in JSON, on a page.

use expect_test::expect;
use lab::record::{ProfileRecord, RunRecord, TrialKey};
use profile::{BLOCKS, Calls, Line, Method, Profile, Side, Stack, Target};

use super::*;

fn stack(line: u32, functions: &[u32], count: u32) -> Stack {
    let counts = (0..BLOCKS as u8).map(|block| (block, count)).collect();
    Stack { line, functions: functions.to_vec(), counts }
}

/// A trial of a server that collects garbage for so many samples a block.
fn profile(garbage: u32) -> Profile {
    let line = |side, name: &str| Line { side, name: name.into() };
    Profile {
        method: Method { hz: 997, target: Target::Cpus, user_only: false, dwarf_bytes: None },
        lines: vec![
            line(Side::Program, "garbage collection"),
            line(Side::Program, "package express"),
            line(Side::Kernel, "send"),
            line(Side::NotNamed, "not named"),
        ],
        functions: ["main", "collect", "<script>alert(1)</script>\u{1b}[31m"]
            .map(String::from)
            .into(),
        stacks: vec![
            stack(0, &[0, 1], garbage),
            stack(1, &[0, 2], 20),
            stack(2, &[0], 30),
            stack(3, &[], 1),
        ],
        sampled_ns: 3_000_000_000,
        cpu_ns: u64::from(51 + garbage) * BLOCKS as u64 * 1_003_009,
        user_cpu_ns: None,
        answers: 10_000,
        waited_for_cpu_ns: 5_000_000,
        lost: 0,
        calls: Ok(Calls {
            answers: 1_000,
            counts: vec![("read".into(), 2_000), ("writev".into(), 1_000)],
        }),
        with_flags: true,
    }
}

fn key(number: u32, subject: &str, rate: f64) -> TrialKey {
    TrialKey {
        number,
        subject: subject.into(),
        workload: "echo-xml".into(),
        point: Point::Sessions(rate),
        repeat: number / 2,
    }
}

/// Both servers were sampled at 100 sessions/s, and one was refused at 200.
fn sampled(run: &mut RunRecord) {
    for number in (0..12).step_by(2) {
        let found = |garbage| Ok(profile(garbage));
        run.profiles.push(ProfileRecord { key: key(number, "quick", 100.0), found: found(4) });
        run.profiles.push(ProfileRecord { key: key(number + 1, "evil", 100.0), found: found(60) });
    }
    let found = Err("this kernel lets only root sample".into());
    run.profiles.push(ProfileRecord { key: key(12, "quick", 200.0), found });
}

fn findings(test: impl FnOnce(&Findings<'_>)) {
    let (mut run, trials) = (fixture::run(), fixture::trials());
    sampled(&mut run);
    test(&Findings::of(&7, &run, &trials, Vec::new()));
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
    findings(|findings| {
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
            Quick: not sampled: this kernel lets only root sample

        "#]].assert_eq(&section(findings, 120));
        expect!["A single round does not show whether the CPU time of an answer differs between Quick and Evil [31m."]
            .assert_eq(&why_sentences(findings).join("\n"));
    });
}

#[test]
fn json_has_every_line_and_a_page_shows_no_name_as_markup() {
    findings(|findings| {
        let json: serde_json::Value =
            serde_json::from_str(&json(findings).expect("JSON")).expect("JSON");
        let why = &json["why"][0];
        assert_eq!((&why["task"], &why["point"]), (&"echo-xml".into(), &100.0.into()));
        let lines = why["explanation"]["difference"]["lines"].as_array().expect("lines");
        assert_eq!(lines[0]["line"]["name"], "garbage collection");
        assert!(lines[0]["gap"]["us"].as_f64().is_some_and(|us| 0.0 < us), "{}", lines[0]);
        assert_eq!(json["why"][1]["unsampled"][0][1], "this kernel lets only root sample");
        let page = page(findings);
        assert!(!page.contains("<script>alert(1)") && !page.contains('\u{1b}'));
        assert!(page.contains("alert(1)"), "the function's box has its name");
    });
}
