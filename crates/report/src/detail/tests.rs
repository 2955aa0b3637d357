use expect_test::expect_file;
use lab::figure::Unit;

use crate::chart::{
    About, Dumbbell, Dumbbells, Histogram, Percentile, Percentiles, Plot, Series, Spot, StripPanel,
    Strips, Trace, Trust, Way,
};

fn about() -> About {
    About { title: "A <server>".into(), description: "What it did".into(), ..About::default() }
}

fn histogram(times: &[f64], bins: Vec<[f64; 4]>, given_up: f64) -> String {
    let marks = vec![
        (times[0], 0.5, "p50 \"1ms\"".to_string(), Trust::Full),
        (times[1], 0.99, "p99".into(), Trust::Doubtful),
    ];
    let chart = Histogram {
        about: About { heading: "100 sessions/s".into(), note: "p50 <1ms>".into(), ..about() },
        slot: 1,
        times: times.to_vec(),
        bins,
        given_up: (0.0 < given_up).then(|| (given_up, times[1], "3 given up".into())),
        marks,
    };
    chart.svg(200.0, true).into_string()
}

fn percentiles(steps: &[(f64, f64, bool)]) -> String {
    let line = |name: &str, by: f64| Percentile {
        name: name.into(),
        steps: steps.iter().map(|step| (step.0, step.1 * by, step.2)).collect(),
        marks: vec![(10.0, 2.0 * by, "p90".into())],
    };
    let chart = Percentiles {
        about: About { heading: "100 sessions/s".into(), note: "no less".into(), ..about() },
        slot: 0,
        times: steps.iter().map(|step| step.1).collect(),
        reach: steps.last().map_or(1.0, |step| step.0),
        lines: vec![line("response", 1.0), line("service", 0.5)],
    };
    chart.svg(true).into_string()
}

fn strips(columns: &[(f64, f64)], values: &[Option<f64>]) -> String {
    let trace = |class| Trace {
        name: "a \"name\"".into(),
        class,
        values: values.to_vec(),
        says: values.iter().map(|value| format!("<{value:?}>")).collect(),
    };
    let heat = Way::Heat {
        bins: values
            .iter()
            .flatten()
            .map(|value| vec![(*value, 0.9), (value * 2.0, 0.1)])
            .collect(),
        to_ten: 10.0,
        times: values.iter().flatten().map(|value| value * 2.0).collect(),
        slow: vec![(0.1, 2.0, "request 7".into())],
    };
    let panel = |way, traces| StripPanel {
        heading: "a heading".into(),
        note: "a note".into(),
        unit: Unit::Milliseconds,
        height: 40.0,
        way,
        traces,
    };
    let panels = vec![
        panel(Way::Lines, vec![trace("trace"), trace("dotted")]),
        panel(heat, vec![trace("over")]),
        panel(Way::Stack, vec![trace("fill deep"), trace("fill")]),
        panel(Way::Columns, vec![trace("fill deep")]),
    ];
    let measured = (columns.first().map_or(0.0, |column| column.1), 1e3);
    let chart = Strips { about: about(), slot: 9, columns: columns.to_vec(), measured, panels };
    chart.svg(true).into_string()
}

#[test]
fn the_names_of_percentiles_keep_apart() {
    for reach in [100.0, 1e4, 3e4, 1e5, 1e6, 1e7] {
        let drawn = percentiles(&[(2.0, 1.0, true), (reach, 9.0, true)]);
        let ticks = drawn.split("<text class=\"tick\" text-anchor=\"middle\" x=\"").skip(1);
        let place = |tick: &str| -> (f64, f64) {
            let (x, rest) = tick.split_once('"').unwrap();
            let name = rest.split(['>', '<']).nth(1).unwrap();
            // Digits of 7 units, a blank and a point of 3.5, and a percent sign of 10.5.
            let width = name.chars().map(|letter| match letter {
                ' ' | '.' => 3.5,
                '%' => 10.5,
                _ => 7.0,
            });
            (x.parse().unwrap(), width.sum())
        };
        let places: Vec<(f64, f64)> = ticks.map(place).collect();
        assert!(2 <= places.len(), "{drawn}");
        for pair in places.windows(2) {
            let between = pair[1].0 - pair[0].0 - (pair[0].1 + pair[1].1) / 2.0;
            assert!(6.0 <= between, "{reach}: {between} between two names of {drawn}");
        }
    }
}

fn dumbbells(ends: &[(Option<f64>, Option<f64>)]) -> String {
    let row = |(slot, (then, now)): (usize, &(Option<f64>, Option<f64>))| Dumbbell {
        slot,
        title: "\"Evil\" <server> of a long name".into(),
        then: then.map(|value| (value, "then".into())),
        now: now.map(|value| (value, "now".into())),
        trust: Trust::Full.or_doubtful(slot == 1),
        times: "2.00×".into(),
    };
    let chart = Dumbbells {
        about: About { heading: "the best".into(), note: "stroke: 2009".into(), ..about() },
        rows: ends.iter().enumerate().map(row).collect(),
    };
    chart.svg(Unit::PerSecond, true).into_string()
}

fn plot(points: &[(f64, f64)], is_log: bool) -> String {
    let spot =
        |&(x, value): &(f64, f64)| Spot { x, value, says: "<so many>".into(), ..Spot::default() };
    let series = |slot| Series {
        title: "Somebody & Sons".into(),
        slot,
        dash: 0,
        points: points.iter().map(spot).collect(),
    };
    let chart = Plot {
        about: About {
            heading: "throughput/s · 2009".into(),
            note: "against connections".into(),
            ..about()
        },
        unit: Unit::PerSecond,
        is_log,
        places: points.iter().map(|point| point.0).collect(),
        class: "line",
        series: vec![series(0), series(1)],
    };
    chart.svg(true).into_string()
}

#[test]
fn a_histogram_is_drawn_as_it_was() {
    let bins = vec![[1.0, 1.1, 0.5, 0.5], [1.1, 1.2, 0.2, 0.7], [10.0, 11.0, 0.2, 0.9]];
    expect_file!["golden/histogram.svg"].assert_eq(&histogram(&[1.0, 5_000.0], bins, 0.1));
}

#[test]
fn percentiles_are_drawn_as_they_were() {
    let steps = [(1.0, 1.0, true), (2.0, 1.2, true), (10.0, 2.0, true), (100.0, 9.0, false)];
    expect_file!["golden/percentiles.svg"].assert_eq(&percentiles(&steps));
}

#[test]
fn a_strip_is_drawn_as_it_was() {
    let columns = [(0.0, 0.1), (0.1, 0.2), (0.2, 0.3), (0.3, 0.4), (0.4, 0.5)];
    let values = [Some(1.0), Some(2.0), None, Some(4.0), Some(4.0)];
    expect_file!["golden/strip.svg"].assert_eq(&strips(&columns, &values));
}

#[test]
fn dumbbells_are_drawn_as_they_were() {
    let ends =
        [(Some(900.0), Some(4_000.0)), (Some(1_500.0), Some(1_200.0)), (Some(2_000.0), None)];
    expect_file!["golden/dumbbells.svg"].assert_eq(&dumbbells(&ends));
}

#[test]
fn a_plot_is_drawn_as_it_was() {
    expect_file!["golden/plot.svg"]
        .assert_eq(&plot(&[(1.0, 100.0), (10.0, 900.0), (100.0, 950.0)], false));
}

#[test]
fn ugly_data_stays_on_the_paper_and_is_escaped() {
    let ugly = [0.0, 1e-9, 1e12, f64::NAN, f64::INFINITY];
    let mut drawn = vec![percentiles(&[]), strips(&[], &[]), dumbbells(&[]), plot(&[], true)];
    for value in ugly {
        drawn.push(histogram(&[value, 5.0], vec![[value, value, 0.0, 0.0]], 0.0));
        drawn.push(histogram(&[value, value], Vec::new(), 1.0));
        drawn.push(percentiles(&[(1.0, value, true)]));
        drawn.push(percentiles(&[(1.0, 1.0, false), (1e9, value, false)]));
        drawn.push(strips(&[(0.0, value)], &[Some(value)]));
        drawn.push(strips(&[(0.0, 1.0), (1.0, 2.0)], &[None, Some(value)]));
        drawn.push(dumbbells(&[(Some(value), Some(1.0)), (None, Some(value))]));
        drawn.push(plot(&[(value, value), (1.0, 2.0)], value < 1.0));
    }
    for svg in drawn {
        // Texts that are shown on pointing may contain anything.
        let places = svg.split(['"', 'M', 'L', 'h', 'v', ' ']);
        assert!(!places.into_iter().any(|part| ["NaN", "inf", "-inf"].contains(&part)), "{svg}");
        assert!(!svg.contains("<server>"), "{svg}");
    }
}
