use super::*;

fn remarks() -> [Remark; 5] {
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    [
        Remark::NoCeiling([1, 16].map(lab::experiment::Point::Connections).to_vec()),
        Remark::Apart(analysis::Answers {
            workload: "hello".into(),
            ask: "ask".into(),
            alike: names(&["a", "b"]),
            apart: names(&["c"]),
        }),
        Remark::RequestsUnlike { ask: "ask".into(), subjects: names(&["c"]) },
        Remark::TlsUnlike { what: "version", first: "a".into(), subjects: names(&["c"]) },
        Remark::TlsMissing { first: "a".into(), subjects: names(&["c"]) },
    ]
}

#[test]
fn an_alarm_names_the_rows_that_are_alike() {
    let run = crate::run::fixture::run();
    let findings = Findings::of(&1, &run, &[], Vec::new());
    let alarm = |figure, low, high| {
        super::alarm(
            &findings,
            &Alarm {
                workload: "hello".into(),
                point: lab::experiment::Point::Connections(64),
                figure,
                subjects: ["a", "b", "c", "d"].map(String::from).to_vec(),
                of: 6,
                low,
                high,
            },
        )
    };
    let rate = alarm(Figure::Throughput, 15_000.0, 15_100.0);
    let median = alarm(Figure::ResponseP50, 1.0, 1.0);
    expect_test::expect![[r#"
        hello at 64 connections: 4 of 6 servers achieved 15,000 to 15,100/s (a, b, c, d); see how busy dyno and the CPUs were, and what dyno's own server reaches here (`dyno load --calibrate`)
        hello at 64 connections: 4 of 6 servers share one p50, 1.00ms (a, b, c, d); see how busy dyno and the CPUs were, and what dyno's own server reaches here (`dyno load --calibrate`)
    "#]].assert_eq(&format!("{rate}\n{median}\n"));
}

#[test]
fn every_remark_says_what_is_odd_and_the_way_out_which_is_no_flag_of_a_load() {
    let remarks = remarks();
    let lines: Vec<String> = remarks
        .iter()
        .map(|remark| format!("{}; {}\n", says(remark, &|point| point), remark.way_out()))
        .collect();
    assert!(remarks.iter().all(|remark| !remark.way_out().contains(" -")));
    expect_test::expect![[r#"
        dyno's own server has no valid figure at 1, 16 connections: what dyno and the machine can reach there is not known; let a server of tier `reference` take part, and see why if it could not
        to `ask`, c answered differently from a, b; all were right; see what differs between their answers before they are compared
        not all were sent the same fields and body: `ask` was another request for c; this is a bug in dyno: please report it
        not all agreed on the same TLS: c had another version than a; give all servers the same certificate chain (a server that dyno starts should send {cert} unchanged), and look in their settings for what makes them choose another version, suite or group
        a was loaded over TLS, and c without it; the difference between them includes what TLS costs
    "#]].assert_eq(&lines.concat());
}
