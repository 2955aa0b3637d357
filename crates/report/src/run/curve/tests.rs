use super::*;
use expect_test::expect;
use lab::record::{RunRecord, TrialRecord};

fn drawn(
    change: impl FnOnce(&mut RunRecord, &mut Vec<TrialRecord>),
    width: usize,
    glyphs: Glyphs,
) -> String {
    let findings = Findings::after(change);
    let tables = findings.board.tables.iter();
    let lines = tables.flat_map(|table| lines(&findings, table, width, glyphs));
    lines.map(|line| line.shown(false).trim_end().to_string() + "\n").collect()
}

#[test]
fn an_invalid_value_has_a_mark_beside_its_letter() {
    let nothing = |_: &mut RunRecord, trials: &mut Vec<TrialRecord>| {
        let is_last =
            |key: &lab::record::TrialKey| key.subject == "evil" && 150.0 < key.point.value();
        for trial in trials.iter_mut().filter(|trial| is_last(&trial.key)) {
            let Some(loaded) = &mut trial.loaded else { continue };
            let total = &mut loaded.recording.total;
            (total.correct, total.correct_inside, total.answered) = (0, 0, 0);
        }
    };
    let text = drawn(nothing, 80, Glyphs::Unicode);
    assert!(text.lines().any(|line| line.ends_with("!b")), "{text}");
    assert!(text.contains("small letters: in doubt") && text.ends_with("! invalid\n"), "{text}");
}

#[test]
fn curves_in_40_columns_are_of_plain_letters() {
    expect![[r#"
        echo-xml: throughput/s and p99 against …
        throughput/s
         2,500|
              |
              |                         .......A
              |                .........
              |        .........
              |*...............................b
              |
              |
              |
             0|
             1,000                         2,000
            p99
          1.00s|                            ...b
               |                       .....
               |                  .....
               |              .....
               |         .....
               |    .....
         1.00ms|*..............................A
              1,000                        2,000
        A Quick, B Evil ␛[31m
        * several at once
        small letters: in doubt
    "#]]
    .assert_eq(&drawn(|_, _| {}, 40, Glyphs::Ascii));
}

#[test]
fn more_curves_than_can_be_told_apart_are_counted_and_long_names_cut() {
    let text = drawn(
        |run, trials| {
            let (entry, rounds) = (run.entries[0].clone(), trials.clone());
            for number in 0..9 {
                let name = format!("{number}, a server with a very long name");
                run.entries.push(lab::record::Entry {
                    name: name.clone(),
                    title: name.clone(),
                    ..entry.clone()
                });
                let alike = rounds.iter().filter(|trial| trial.key.subject == "quick").cloned();
                trials.extend(alike.map(|mut trial| {
                    trial.key.subject.clone_from(&name);
                    trial
                }));
            }
        },
        80,
        Glyphs::Unicode,
    );
    assert!(text.contains("3 more in the table"), "{text}");
    assert!(text.contains("0, a server with a very…"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn where_there_is_nothing_to_see_nothing_is_drawn() {
    assert_eq!(drawn(|_, trials| trials.clear(), 80, Glyphs::Unicode), "");
    let fail_all = |_: &mut RunRecord, trials: &mut Vec<TrialRecord>| {
        for trial in trials {
            let total = &mut trial.loaded.as_mut().unwrap().recording.total;
            (total.correct, total.correct_inside, total.answered) = (0, 0, 0);
            total.response = load::Distribution::new(5 * load::SECOND);
        }
    };
    assert_eq!(drawn(fail_all, 80, Glyphs::Unicode), "");
}

#[test]
fn nine_orders_of_magnitude_fit() {
    let spread = |run: &mut RunRecord, trials: &mut Vec<TrialRecord>| {
        let wide = |point: &mut Point| {
            let factor = if point.value() < 150.0 { 1e-4 } else { 1e7 };
            *point = Point::Sessions(point.value() * factor);
        };
        run.plan.iter_mut().for_each(|key| wide(&mut key.point));
        trials.iter_mut().for_each(|trial| wide(&mut trial.key.point));
    };
    for width in [40, 80, 200] {
        for glyphs in [Glyphs::Unicode, Glyphs::Ascii] {
            let text = drawn(spread, width, glyphs);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
            assert!(text.contains("0.1") && text.contains("20,000,000,000"), "{text}");
        }
    }
}
