use expect_test::expect_file;
use lab::figure::Unit;

use super::*;

fn series(title: &str, slot: usize, points: &[(f64, f64)]) -> Series {
    let spot = |&(x, value): &(f64, f64)| Spot {
        x,
        value,
        interval: (slot == 0).then_some((value * 0.9, value * 1.1)),
        trust: Trust::Full.or_doubtful(slot == 1),
        is_after_gap: false,
        says: format!("{value} at {x}"),
    };
    Series { title: title.into(), slot, dash: 0, points: points.iter().map(spot).collect() }
}

fn about() -> About {
    About {
        id: "a".into(),
        title: "Two <servers>".into(),
        description: "What they did".into(),
        ..About::default()
    }
}

fn ceiling(places: &[(f64, f64)]) -> Option<Ceiling> {
    let spot = |&(x, value): &(f64, f64)| Spot { x, value, ..Spot::default() };
    Some(Ceiling { by: "Oracle".into(), spots: places.iter().map(spot).collect() })
}

fn curves(series: Vec<Series>) -> Curves {
    let panel = Panel {
        heading: "throughput/s".into(),
        note: "more is better".into(),
        unit: Unit::PerSecond,
        is_log: false,
        height: 160.0,
        thin: Vec::new(),
        past: Vec::new(),
        past_peaks: vec![(0, 900.0)],
        has_even_line: true,
        limit: None,
        ceiling: ceiling(&[(1_000.0, 1_500.0), (2_000.0, 2_600.0)]),
        way: Some("rate"),
        series,
    };
    let (about, axis) = (about(), "offered/s".into());
    Curves { about, axis, panels: vec![panel], ..Curves::default() }
}

/// As a page has them.
fn page(curves: &Curves, room: Room) -> String {
    curves.svg(room, Stand::Page).into_string()
}

#[test]
fn two_curves_are_drawn_as_they_were() {
    let two = vec![
        series("Quick", 0, &[(1_000.0, 1_000.0), (2_000.0, 1_990.0)]),
        series("\"Evil\"", 1, &[(1_000.0, 990.0), (2_000.0, 1_175.0)]),
    ];
    let style = Theme::Auto.style();
    expect_file!["golden/curves.svg"].assert_eq(
        curves(two).svg(Room::Wide, Stand::Alone { style: &style, notes: &[] }).as_str(),
    );
}

#[test]
fn dots_are_drawn_as_they_were() {
    let column = Column {
        heading: "p99".into(),
        unit: Unit::Milliseconds,
        is_log: true,
        is_ratio: false,
        series: vec![series("Quick", 0, &[(1.0, 3.0)])],
        thin: vec![series("Quick", 0, &[(1.0, 1.0)])],
        ceiling: None,
        way: None,
    };
    let titles = vec![(0, "Quick".to_string()), (1, "Gone".to_string())];
    let dots = Dots { about: about(), titles, columns: vec![column], note: "One round.".into() };
    expect_file!["golden/dots.svg"].assert_eq(dots.svg(Room::Narrow, Stand::Page).as_str());
}

#[test]
fn ugly_data_stays_on_the_paper() {
    for points in [&[][..], &[(0.0, 0.0)], &[(1e-9, 1e12), (1e9, 1e-12)], &[(1.0, f64::NAN)]] {
        let drawn = page(&curves(vec![series("x", 0, points)]), Room::Narrow);
        assert!(!drawn.contains("NaN\"") && !drawn.contains("inf"), "{drawn}");
    }
}

#[test]
fn a_ceiling_far_above_all_does_not_press_them_to_the_ground() {
    let mut far = curves(vec![series("x", 0, &[(1_000.0, 1_000.0)])]);
    far.panels[0].ceiling = ceiling(&[(1_000.0, 90_000.0)]);
    let drawn = page(&far, Room::Wide);
    let (first, other) = drawn.split_once("class=\"other\"").expect("both ways are drawn");
    assert!(!first.contains(">ceiling<") && !first.contains("20,000"), "{first}");
    assert!(other.contains(">ceiling<"), "by factors there is room: {other}");
    let beyond = "the ceiling, 90,000 by Oracle, lies beyond the axis";
    assert!(first.contains(beyond) && !first.contains("grey:"), "{first}");
    assert!(other.contains("grey: the ceiling, by Oracle") && !other.contains(beyond), "{other}");
}

#[test]
fn the_legend_of_dots_names_the_ceiling_only_where_it_is_drawn() {
    let drawn = |value: f64, way| {
        let column = Column {
            heading: "throughput/s".into(),
            unit: Unit::PerSecond,
            is_log: false,
            is_ratio: false,
            series: vec![series("Quick", 0, &[(1.0, 1_000.0)])],
            thin: Vec::new(),
            ceiling: ceiling(&[(1.0, value)]),
            way,
        };
        let titles = vec![(0, "Quick".to_string())];
        let dots = Dots { about: about(), titles, columns: vec![column], note: String::new() };
        dots.svg(Room::Wide, Stand::Page).into_string()
    };
    for (value, is_drawn) in [(1_200.0, true), (90_000.0, false)] {
        let drawn = drawn(value, None);
        assert_eq!(drawn.contains("class=\"ceiling\""), is_drawn, "{drawn}");
        assert_eq!(drawn.contains("grey: the ceiling, by Oracle"), is_drawn, "{drawn}");
        assert_ne!(drawn.contains("90,000 by Oracle, lies beyond"), is_drawn, "{drawn}");
    }
    let both = drawn(90_000.0, Some("rate"));
    assert_eq!(both.matches("class=\"ceiling\"").count(), 1, "by factors: {both}");
    assert_eq!(both.matches("grey: the ceiling").count(), 1, "{both}");
}

/// Two strokes through the point.
#[test]
fn an_invalid_value_is_crossed_out_and_a_doubtful_one_is_hollow_in_every_chart() {
    for trust in [Trust::Full, Trust::Doubtful, Trust::Invalid] {
        let mut one = series("Quick", 0, &[(1.0, 3.0)]);
        (one.points[0].trust, one.points[0].interval) = (trust, None);
        let column = Column {
            heading: "p99".into(),
            unit: Unit::Milliseconds,
            is_log: true,
            is_ratio: false,
            series: vec![one.clone()],
            thin: Vec::new(),
            ceiling: None,
            way: None,
        };
        let titles = vec![(0, "Quick".to_string())];
        let dots = Dots { about: about(), titles, columns: vec![column], note: String::new() };
        let panel = Panel::new("p99", "", Unit::Milliseconds, 100.0, vec![one]);
        let curves = Curves { about: about(), panels: vec![panel], ..Curves::default() };
        let price = Price { value: Some(3.0), trust, ..Price::default() };
        let prices = Prices { about: about(), rows: vec![price] };
        let now = Some((3.0, "now".into()));
        let dumbbell = Dumbbell { now, trust, ..Dumbbell::default() };
        let dumbbells = Dumbbells { about: about(), rows: vec![dumbbell] };
        for drawn in [
            dots.svg(Room::Wide, Stand::Page).into_string(),
            page(&curves, Room::Wide),
            prices.svg(Unit::Milliseconds, false).into_string(),
            dumbbells.svg(Unit::Milliseconds, false).into_string(),
        ] {
            let crosses = drawn.matches("<line class=\"line s0\"").count();
            let is_hollow = drawn.contains("mark hollow");
            let expected = if trust == Trust::Invalid { 2 } else { 0 };
            assert_eq!((crosses, is_hollow), (expected, trust != Trust::Full), "{drawn}");
            let says = ["hollow: in doubt", "crossed: invalid"].map(|it| drawn.contains(it));
            assert_eq!(says, [trust == Trust::Doubtful, trust == Trust::Invalid], "{drawn}");
        }
    }
}

#[test]
fn of_a_crowd_a_few_have_names_and_all_are_in_the_legend() {
    let all: Vec<Series> =
        (0..24).map(|n| series(&format!("server {n}"), n, &[(1.0, 5.0), (2.0, 9.0)])).collect();
    let crowd = Curves { first: vec![23, 7], ..curves(all) };
    let drawn = page(&crowd, Room::Wide);
    let names = |n: usize| drawn.matches(&format!(">server {n}<")).count();
    // Twice beside the lines, because they are drawn both ways, and once in the legend.
    assert_eq!((names(23), names(7), names(22)), (3, 3, 1));
}

#[test]
fn a_subject_s_lines_are_distinguished_by_how_they_are_broken() {
    let points = [(1_000.0, 1_000.0), (2_000.0, 1_990.0)];
    let broken = |dash| Series { dash, ..series("Quick", 0, &points) };
    let drawn = |all| page(&curves(all), Room::Narrow);
    let both = drawn(vec![broken(0), broken(1)]);
    // A line each, both ways; and a piece of each in the legend.
    assert_eq!(both.matches("\"line s0\"").count(), 3, "{both}");
    assert_eq!(both.matches("\"line s0 d0\"").count(), 3, "{both}");
    let whole = drawn(vec![broken(0), broken(0)]);
    assert_eq!(whole.matches("\"line s0\"").count(), 4, "no piece where none is broken: {whole}");
}

/// A value, and its interval.
type Ends = (f64, Option<(f64, f64)>);

fn prices(ends: &[Ends]) -> String {
    let row = |(slot, &(value, interval)): (usize, &Ends)| Price {
        slot,
        title: "\"Evil\" <server> · wspoll".into(),
        value: Some(value),
        interval,
        trust: Trust::Full.or_doubtful(slot == 1),
        shown: "6.1<kB>".into(),
        says: "6.1 kB a connection".into(),
    };
    let absent =
        Price { slot: 9, title: "Gone".into(), says: "nothing".into(), ..Price::default() };
    let chart = Prices {
        about: About {
            heading: "memory of a connection".into(),
            note: "less is better".into(),
            ..about()
        },
        rows: ends.iter().enumerate().map(row).chain([absent]).collect(),
    };
    chart.svg(Unit::Bytes, true).into_string()
}

fn stacks(columns: &[(f64, f64)]) -> String {
    let stack = |(n, &(one, other)): (usize, &(f64, f64))| Stack {
        place: format!("{}", (n + 1) * 1_000),
        layers: vec![
            Layer { kind: 0, value: one, says: "7 <failed>".into() },
            Layer { kind: 40, value: other, says: "lost".into() },
        ],
    };
    let chart = Stacks {
        about: About {
            heading: "\"Evil\" <server>".into(),
            note: "failed or lost".into(),
            ..about()
        },
        slot: 1,
        columns: columns.iter().enumerate().map(stack).collect(),
    };
    chart.svg(true).into_string()
}

#[test]
fn prices_are_drawn_as_they_were() {
    let ends =
        [(6_100.0, Some((5_900.0, 6_300.0))), (9_000.0, Some((0.0, 90_000.0))), (50.0, None)];
    expect_file!["golden/prices.svg"].assert_eq(&prices(&ends));
}

#[test]
fn stacks_are_drawn_as_they_were() {
    let columns = [(0.0, 0.0), (3.0, 0.0), (5.0, 70.0), (0.0, 900.0)];
    expect_file!["golden/stacks.svg"].assert_eq(&stacks(&columns));
}

#[test]
fn ugly_prices_and_losses_stay_on_the_paper_and_are_escaped() {
    let mut drawn = vec![prices(&[]), stacks(&[])];
    for value in [0.0, 1e-9, 1e12, f64::NAN, f64::INFINITY, -5.0] {
        drawn.push(prices(&[(value, Some((value, 5.0))), (1.0, Some((-value, value)))]));
        drawn.push(stacks(&[(value, 1.0), (3.0, value)]));
    }
    for svg in drawn {
        let places = svg.split(['"', 'M', 'L', 'h', 'v', ' ']);
        assert!(!places.into_iter().any(|part| ["NaN", "inf", "-inf"].contains(&part)), "{svg}");
        assert!(!svg.contains("<server>") && !svg.contains("<failed>"), "{svg}");
    }
}

fn with_intervals(points: &[(f64, f64, (f64, f64))]) -> Series {
    let spot = |&(x, value, interval): &(f64, f64, (f64, f64))| Spot {
        x,
        value,
        interval: Some(interval),
        ..Spot::default()
    };
    Series { title: "x".into(), slot: 0, dash: 0, points: points.iter().map(spot).collect() }
}

#[test]
fn an_interval_that_leaves_the_paper_has_an_arrow_where_it_is_cut() {
    let arrows = |interval| {
        let column = Column {
            heading: "throughput/s".into(),
            unit: Unit::PerSecond,
            is_log: false,
            is_ratio: false,
            series: vec![with_intervals(&[(1.0, 17_000.0, interval)])],
            thin: Vec::new(),
            ceiling: None,
            way: None,
        };
        let titles = vec![(0, "x".to_string())];
        let dots = Dots { about: about(), titles, columns: vec![column], note: String::new() };
        dots.svg(Room::Wide, Stand::Page).as_str().matches("class=\"arrow").count()
    };
    assert_eq!(arrows((16_000.0, 18_000.0)), 0);
    assert_eq!(arrows((4_438.0, 46_292.0)), 1);
    assert_eq!(arrows((-84.5, 46_292.0)), 2);
    let spots = [(1_000.0, 900.0, (800.0, 9_000.0)), (2_000.0, 1_900.0, (1_800.0, 1_950.0))];
    let drawn = page(&curves(vec![with_intervals(&spots)]), Room::Wide);
    let panel = drawn.split("class=\"other\"").next().unwrap();
    assert_eq!(panel.matches("class=\"arrow").count(), 1, "{drawn}");
}

#[test]
fn no_line_crosses_a_place_that_was_not_measured() {
    let lines = |gap: bool| {
        let mut found =
            series("x", 2, &[(1_000.0, 1.0), (2_000.0, 2.0), (16_000.0, 3.0), (17_000.0, 4.0)]);
        found.points[2].is_after_gap = gap;
        let drawn = page(&curves(vec![found]), Room::Wide);
        let polylines = drawn.lines().filter(|line| line.contains("<polyline class=\"line"));
        polylines.map(|line| line.matches(',').count()).collect::<Vec<_>>()
    };
    assert!(lines(false).iter().all(|corners| *corners == 4), "{:?}", lines(false));
    assert!(lines(true).iter().all(|corners| *corners == 2), "{:?}", lines(true));
}

#[test]
fn a_limit_is_drawn_with_its_name() {
    let mut found = curves(vec![series("x", 2, &[(1_000.0, 10.0), (2_000.0, 30.0)])]);
    found.panels[0].limit = Some((20.0, "promise: p99 ≤ 20ms".into()));
    let drawn = page(&found, Room::Wide);
    assert!(drawn.contains("class=\"limit\"") && drawn.contains("promise: p99 ≤ 20ms"), "{drawn}");
}

#[test]
fn a_comparison_shades_what_is_tolerated_and_marks_one() {
    let row = |ratio: f64, interval| Ratio {
        label: "p99".into(),
        ratio,
        interval,
        says: format!("{ratio}×"),
        is_found: true,
        is_worse: 1.0 < ratio,
    };
    let drawn = |tolerance: f64| {
        let rows = vec![row(0.5, (0.4, 0.6)), row(2.0, (1.5, 2.5)), row(3.0, (0.01, 90.0))];
        let tolerated = (1.0 - tolerance, 1.0 + tolerance);
        let percent = format!("{:.0} %", tolerance * 100.0);
        Ratios { about: about(), rows, tolerated, tolerance: percent }.svg().into_string()
    };
    let places = |svg: &str, class: &str| -> Vec<f64> {
        let line = svg.lines().find(|line| line.contains(class)).unwrap();
        let parts = line.split('"').filter_map(|part| part.parse().ok());
        parts.collect()
    };
    let wide = drawn(0.2);
    // Of the shade its left end, top, width and height; of the line at 1 its place, twice.
    let (shade, one) = (places(&wide, "shade tolerance"), places(&wide, "\"base\""));
    let (left, right) = (one[0] - shade[0], shade[0] + shade[2] - one[0]);
    let share = (1.2_f64.ln() / -(0.8_f64.ln()), right / left);
    assert!((share.0 - share.1).abs() < 0.02, "{share:?} in {wide}");
    assert!(wide.contains("the tolerance, 20 %") && wide.contains("logarithmic"), "{wide}");
    assert!(places(&drawn(0.05), "shade tolerance")[2] < shade[2]);
    assert_eq!(places(&drawn(0.0), "shade tolerance")[2], 0.0);
    assert_eq!(wide.matches("class=\"arrow").count(), 2, "both ends of the widest: {wide}");
}

#[test]
fn an_axis_of_names_has_as_many_as_fit_and_a_break_says_why() {
    let mut found = curves(vec![series("x", 2, &[(0.5, 1.0), (1.5, 2.0), (2.5, f64::NAN)])]);
    let gone = &mut found.panels[0].series[0].points[2];
    (gone.trust, gone.says) = (Trust::Invalid, "gone".into());
    found.names = ["7", "8", "9"].map(String::from).to_vec();
    found.breaks = vec![(2.0, "kernel <6>".into())];
    let drawn = page(&found, Room::Wide);
    for name in [">7<", ">8<", ">9<", ">kernel &lt;6&gt;<"] {
        assert!(drawn.contains(name), "{name} in {drawn}");
    }
    assert!(!drawn.contains("NaN"), "{drawn}");
    // Two arms, drawn both ways.
    assert_eq!(drawn.matches("<line class=\"line s2\"").count(), 4, "{drawn}");
    found.names = (0..200).map(|n| format!("run{n}")).collect();
    let crowd = page(&found, Room::Narrow);
    assert!((4..12).contains(&crowd.matches(">run").count()), "{crowd}");
}
