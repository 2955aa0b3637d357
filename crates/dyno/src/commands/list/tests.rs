use super::*;
use expect_test::{Expect, expect};

fn row(name: &str, language: &str, state: &'static str) -> SubjectRow {
    SubjectRow {
        name: name.into(),
        title: None,
        language: Some(language.into()),
        state,
        version: None,
        lack: None,
        missing: Vec::new(),
        next_command: None,
        advice: None,
    }
}

fn missing(name: &str, needs: &[&str], advice: Option<&str>) -> SubjectRow {
    SubjectRow {
        missing: needs.iter().map(ToString::to_string).collect(),
        next_command: Some(format!("dyno setup {name} --yes")),
        advice: advice.map(String::from),
        ..row(name, "Erlang", "missing")
    }
}

fn listing() -> Listing {
    let version = Some("one 1.2, and a library with a long name 3.4, on a runtime 5.6".into());
    let oak = SubjectRow { version, ..row("oak", "JavaScript", "built") };
    let bad = SubjectRow { lack: Some("no run".into()), ..row("bad", "C", "broken") };
    Listing {
        project: String::new(),
        is_embedded: false,
        format: "dyno.list/1",
        subjects: vec![
            missing("yew", &["erl"], None),
            oak,
            missing("ash", &["erl", "mix"], Some("see its README")),
            row("elm", "Go", "buildable"),
            bad,
            missing("fir", &["erl"], None),
            missing("box", &["erl"], Some("see its README")),
        ],
        workloads: vec![NamedRow { name: "hello".into(), says: "Hello".into(), error: None }],
        experiments: Vec::new(),
        runs: Vec::new(),
    }
}

fn check(width: usize, expected: &Expect) {
    let lines = shown(&listing(), width);
    assert!(lines.iter().all(|line| line.width() <= width), "{lines:?}");
    let lines: Vec<String> =
        lines.iter().map(|line| line.shown(false).trim_end().to_string()).collect();
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn what_runs_comes_first_and_what_lacks_the_same_is_one_entry() {
    check(
        80,
        &expect![[r#"
            Subjects that run here  1
              oak  JavaScript  one 1.2, and a library with a long name 3.4, on a runtime 5.6

            Subjects that can be built here, with `dyno setup NAME`  1
              elm  Go

            Subjects that lack something  4
              yew, fir  lacks erl
                  dyno setup yew fir --yes
              ash  lacks erl, mix
                  dyno setup ash --yes; see its README
              box  lacks erl
                  dyno setup box --yes; see its README

            Subjects whose files are broken  1
              bad
                  no run

            Workloads
              hello              Hello

            Experiments"#]],
    );
}

#[test]
fn a_narrow_list_wraps_its_texts() {
    check(
        40,
        &expect![[r#"
            Subjects that run here  1
              oak  JavaScript  one 1.2, and a
                               library with a long
                               name 3.4, on a
                               runtime 5.6

            Subjects that can be built here, with `…
              elm  Go

            Subjects that lack something  4
              yew, fir  lacks erl
                  dyno setup yew fir --yes
              ash  lacks erl, mix
                  dyno setup ash --yes; see its
                  README
              box  lacks erl
                  dyno setup box --yes; see its
                  README

            Subjects whose files are broken  1
              bad
                  no run

            Workloads
              hello              Hello

            Experiments"#]],
    );
}
