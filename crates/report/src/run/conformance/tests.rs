use lab::conformance::{Area, Conformance, Evidence, Level, Report, Tag, stamp};
use lab::record::{RunRecord, TrialRecord};

use super::super::fixture;
use super::super::tests::{csv, full, json};
use super::*;
use crate::render::Shown;
use crate::svg;

const HOSTILE: &str = fixture::POLYGLOT;

fn finding(place: usize, verdict: CaseVerdict, says: &str) -> Finding {
    Finding {
        id: format!("H1-X{place:02}"),
        title: says.into(),
        area: Area::ALL[place % Area::ALL.len()],
        clause: "RFC 9112, 6.3".into(),
        level: Level::Must,
        weight: 5,
        tags: vec![Tag::Smuggling],
        demand: says.into(),
        doubt: says.into(),
        expected: says.into(),
        verdict,
        why: says.into(),
        rounds: vec![CaseVerdict::Pass, verdict],
        evidence: Evidence {
            sent: format!("GET / HTTP/1.1\r\n{says}").into_bytes(),
            sent_len: 5_000,
            received: b"\xff\x00\x1b[31m</pre><script>".to_vec(),
            received_len: 20,
        },
    }
}

fn checked(subject: &str, verdicts: &[CaseVerdict], says: &str) -> Conformance {
    let place = |(place, verdict): (usize, &CaseVerdict)| finding(place, *verdict, says);
    let report = Report {
        catalogue: stamp(),
        findings: verdicts.iter().enumerate().map(place).collect(),
        rounds: 2,
        took_ms: 1,
        cut_short: String::new(),
    };
    Conformance::of(subject, Ok(report))
}

/// Quick keeps everything; Evil crashes, breaks seven more, warns, and sends text of its own. One breach is allowed.
pub(in crate::run) fn found() -> (RunRecord, Vec<TrialRecord>) {
    let (mut run, trials) = (fixture::run(), fixture::trials());
    run.files[0].1 = format!("require = {{ must_broken = 1 }}\n{}", run.files[0].1);
    fixture::reread(&mut run);
    let mut evil =
        vec![CaseVerdict::Pass, CaseVerdict::Crash, CaseVerdict::Warn, CaseVerdict::NotTestable];
    evil.extend([CaseVerdict::Fail; 7]);
    let quick = checked("quick", &[CaseVerdict::Pass; 11], "well");
    run.conformance = vec![quick.taken_over(3), checked("evil", &evil, HOSTILE)];
    (run, trials)
}

#[test]
fn a_text_has_the_score_beside_the_speed_and_the_gravest_failures() {
    let text = full(&Findings::found(found()), 160, false);
    let lines: Vec<&str> = text.lines().collect();
    let place = |what: &str| lines.iter().position(|line| line.contains(what)).expect(what);
    let evil = lines[place("Evil ␛[31m (not ranked)")];
    assert!(evil.contains("1/11 · CRASH · MUST 8 · sec 8") && evil.contains('†'), "{evil}");
    assert!(text.contains("11/11 · MUST 0 · sec 0"));
    assert!(text.contains("As checked for run 3, with the same build"));
    assert!(text.contains("CRASH  H1-X01  ") && text.contains("came      "), "{text}");
    let reason = "MUST broken 8, at most 1 may be";
    assert!(text.contains("B Evil ␛[31m (not ranked)"), "in the legend of the curves: {text}");
    assert!(text.contains(&format!("Evil ␛[31m\n  {reason}")), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
    assert!(
        text.replace('\n', " ")
            .contains("Not ranked, because what the experiment requires is not met: Evil"),
        "{text}"
    );
}

#[test]
fn every_format_says_it() {
    let findings = Findings::found(found());
    let markdown = findings.markdown();
    assert!(
        markdown.contains("| 11/11 · MUST 0 · sec 0 |")
            && markdown.contains("Evil ␛\\[31m (not ranked)")
    );
    assert!(markdown.find("| Quick |") < markdown.find("| Evil"), "the ranked come first");
    let csv = csv(&findings);
    assert!(csv.lines().next().unwrap().contains(",conformance,must_broken,security,not_ranked,"));
    assert!(csv.contains(",1 of 11,8,8,\"MUST broken 8, at most 1 may be\","), "{csv}");
    let json = json(&findings);
    let [quick, evil] = &json["conformance"].as_array().unwrap()[..] else { panic!("two") };
    assert_eq!(
        (&quick["from_run"], &evil["not_ranked"]),
        (&3.into(), &"MUST broken 8, at most 1 may be".into())
    );
    assert_eq!(evil["all"]["crash"], 1);
    assert_eq!(evil["findings"][4]["received"], "\\xff\\x00\\x1b[31m</pre><script>");
    assert_eq!(
        (&evil["findings"][0]["received"], &evil["findings"][0]["verdict"]),
        (&serde_json::Value::Null, &"pass".into())
    );
}

#[test]
fn the_page_shows_what_servers_did_and_obeys_nothing_of_it() {
    let findings = Findings::found(found());
    let page = findings.page();
    for odd in ["<script>alert", "</pre><script", "<img", "\u{1b}", "</title></style>"] {
        assert!(!page.contains(odd), "{odd}");
    }
    assert_eq!(page.matches("<script").count(), 1);
    assert!(page.contains("&lt;/pre&gt;&lt;script&gt;") && page.contains("GET / HTTP/1.1\\r\\n\n"));
    assert!(page.contains("tolerable: 1</summary>") && page.contains("not testable: 1</summary>"));
    assert!(page.contains(" octets more)"), "what is left out is said");
    assert!(page.contains("MUST broken 8, at most 1 may be</span>"));
    assert!(page.contains("CRASH  H1-X01") && page.contains("round by round: pass, fail"));
    for what in ["svg ", ".results tr"] {
        let pale = |slot: usize| format!("{what}[data-s=\"{slot}\"]{{filter:grayscale(1)");
        assert!(page.contains(&pale(1)), "a server that is not ranked is pale: {what}");
        assert!(!page.contains(&pale(0)), "{what}");
    }
    let alone = svg(&findings, "echo-xml", crate::Theme::Dark).unwrap();
    assert!(
        alone.contains("svg [data-s=\"1\"]{filter:grayscale(1)") && alone.contains("data-s=\"1\"")
    );
    let quick = page.find("11/11 · MUST 0 · sec 0").unwrap();
    assert!(quick < page.find("1/11 · CRASH · MUST 8 · sec 8").unwrap(), "and comes last");
}

#[test]
fn a_page_of_27_subjects_and_200_cases_is_light() {
    let plain = Findings::found(found()).page().len();
    let (mut run, trials) = found();
    let verdicts: Vec<CaseVerdict> = (0..200)
        .map(|place| match place % 10 {
            0 => CaseVerdict::Fail,
            1 => CaseVerdict::Warn,
            _ => CaseVerdict::Pass,
        })
        .collect();
    run.conformance.clear();
    for n in 0..27 {
        let name = format!("s{n}");
        let entry = lab::record::Entry { name: name.clone(), ..run.entries[0].clone() };
        run.entries.push(entry);
        run.plan.push(lab::record::TrialKey { subject: name.clone(), ..run.plan[0].clone() });
        run.conformance.push(checked(&name, &verdicts, "a server's answer, and what it should be"));
    }
    let page = Findings::found((run, trials)).page().len();
    assert!(plain < page && page < plain + 1_500_000, "{plain} and {page}");
}
