use expect_test::expect_file;
use lab::figure::Unit;

use super::*;

fn series(title: &str, slot: usize, points: &[(f64, f64)]) -> Series {
    let spot = |&(x, value): &(f64, f64)| Spot {
        x,
        value,
        interval: (slot == 0).then_some((value * 0.9, value * 1.1)),
        is_doubtful: slot == 1,
        says: format!("{value} at {x}"),
    };
    Series { title: title.into(), slot, points: points.iter().map(spot).collect() }
}

fn about() -> About {
    About { id: "a".into(), title: "Two <servers>".into(), description: "What they did".into() }
}

fn curves(series: Vec<Series>) -> Curves {
    let panel = Panel {
        heading: "answered/s".into(),
        note: "more is better".into(),
        unit: Unit::PerSecond,
        is_log: false,
        height: 160.0,
        thin: Vec::new(),
        past: Vec::new(),
        past_peaks: vec![(0, 900.0)],
        has_even_line: true,
        ceiling: [(1_000.0, 1_500.0), (2_000.0, 2_600.0)]
            .map(|(x, value)| Spot { x, value, ..Spot::default() })
            .to_vec(),
        way: Some("rate"),
        series,
    };
    Curves { about: about(), axis: "offered/s".into(), panels: vec![panel], first: Vec::new() }
}

#[test]
fn two_curves_are_drawn_as_they_were() {
    let two = vec![
        series("Quick", 0, &[(1_000.0, 1_000.0), (2_000.0, 1_990.0)]),
        series("\"Evil\"", 1, &[(1_000.0, 990.0), (2_000.0, 1_175.0)]),
    ];
    expect_file!["golden/curves.svg"]
        .assert_eq(&curves(two).svg(Room::Wide, Stand::Alone(Theme::Auto)));
}

#[test]
fn dots_are_drawn_as_they_were() {
    let column = Column {
        heading: "p99".into(),
        unit: Unit::Milliseconds,
        is_log: true,
        series: vec![series("Quick", 0, &[(1.0, 3.0)])],
        thin: vec![series("Quick", 0, &[(1.0, 1.0)])],
        ceiling: None,
        way: None,
    };
    let titles = vec![(0, "Quick".to_string()), (1, "Gone".to_string())];
    let dots = Dots { about: about(), titles, columns: vec![column], note: "One round.".into() };
    expect_file!["golden/dots.svg"].assert_eq(&dots.svg(Room::Narrow, Stand::Page));
}

#[test]
fn ugly_data_stays_on_the_paper() {
    for points in [&[][..], &[(0.0, 0.0)], &[(1e-9, 1e12), (1e9, 1e-12)], &[(1.0, f64::NAN)]] {
        let drawn = curves(vec![series("x", 0, points)]).svg(Room::Narrow, Stand::Page);
        assert!(!drawn.contains("NaN\"") && !drawn.contains("inf"), "{drawn}");
    }
}

#[test]
fn a_ceiling_far_above_all_does_not_press_them_to_the_ground() {
    let mut far = curves(vec![series("x", 0, &[(1_000.0, 1_000.0)])]);
    far.panels[0].ceiling[0].value = 90_000.0;
    far.panels[0].ceiling.truncate(1);
    let drawn = far.svg(Room::Wide, Stand::Page);
    let (told, other) = drawn.split_once("class=\"other\"").expect("both ways are drawn");
    assert!(!told.contains(">ceiling<") && !told.contains("20,000"), "{told}");
    assert!(other.contains(">ceiling<"), "by factors there is room: {other}");
}

#[test]
fn of_a_crowd_a_few_have_names_and_all_are_in_the_legend() {
    let all: Vec<Series> =
        (0..24).map(|n| series(&format!("server {n}"), n, &[(1.0, 5.0), (2.0, 9.0)])).collect();
    let crowd = Curves { first: vec![23, 7], ..curves(all) };
    let drawn = crowd.svg(Room::Wide, Stand::Page);
    let names = |n: usize| drawn.matches(&format!(">server {n}<")).count();
    // Twice beside the lines, because they are drawn both ways, and once in the legend.
    assert_eq!((names(23), names(7), names(22)), (3, 3, 1));
}
