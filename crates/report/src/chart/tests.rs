use expect_test::expect_file;
use lab::figure::Unit;

use super::*;

const ALL: [Room; 3] = [Room::Wide, Room::Narrow, Room::Small(400.0)];
const UGLY: [f64; 6] = [0.0, 1e-9, 1e12, f64::NAN, f64::INFINITY, -5.0];

fn about() -> About {
    About { title: "Two <servers>".into(), description: "What they did".into() }
}

fn series(title: &str, slot: usize, points: &[(f64, f64)]) -> Series {
    let spot = |&(x, value): &(f64, f64)| Spot {
        x,
        value,
        interval: (slot == 0).then_some((value * 0.9, value * 1.1)),
        trust: Trust::Full.or_doubtful(slot == 1),
        says: format!("{value} at {x}"),
        ..Spot::default()
    };
    let points = points.iter().map(spot).collect();
    Series { title: title.into(), slot, points, ..Series::default() }
}

fn ceiling(places: &[(f64, f64)]) -> Option<Ceiling> {
    let spot = |&(x, value): &(f64, f64)| Spot { x, value, ..Spot::default() };
    Some(Ceiling { by: "Oracle".into(), spots: places.iter().map(spot).collect() })
}

fn curves(series: Vec<Series>) -> Lines {
    let panel = Panel {
        has_even_line: true,
        ceiling: ceiling(&[(1_000.0, 1_500.0), (2_000.0, 2_600.0)]),
        way: Some("rate"),
        ..Panel::new("throughput/s", "more is better", Unit::PerSecond, 160.0, series)
    };
    Lines { about: about(), axis: "offered/s".into(), panels: vec![panel], ..Lines::default() }
}

fn lines(lines: &Lines, room: Room) -> String {
    lines.svg(room, Stand::Page).into_string()
}

/// One column of values of the servers 0, 1, ….
fn rows(axis: Axis, values: Vec<Value>) -> Rows {
    let name = |slot: usize| Name { slot: Some(slot), title: format!("\"Evil\" <server> {slot}") };
    Rows {
        about: about(),
        names: (0..values.len()).map(name).collect(),
        columns: vec![Column::new("p99", axis, values)],
        bars: "bars: 95 %",
        ..Rows::default()
    }
}

fn drawn(rows: &Rows) -> String {
    rows.svg(Room::Wide, Stand::Page).into_string()
}

fn value(value: f64, interval: Option<(f64, f64)>) -> Value {
    Value {
        value: Some(value),
        interval,
        shown: format!("{value}<b>"),
        says: format!("{value} in words"),
        ..Value::default()
    }
}

/// Numbers between quotes in the line that has this.
fn places(svg: &str, class: &str) -> Vec<f64> {
    let line = svg.lines().find(|line| line.contains(class)).unwrap_or_else(|| panic!("{svg}"));
    line.split('"').filter_map(|part| part.parse().ok()).collect()
}

/// The place of the first mark of a slot.
fn mark(svg: &str, slot: usize) -> (f64, f64) {
    let (_, rest) = svg.split_once(&format!("s{slot} mark")).expect("there is a mark");
    let (_, rest) = rest.split_once("translate(").expect("it is somewhere");
    let (x, rest) = rest.split_once(' ').unwrap();
    (x.parse().unwrap(), rest.split(')').next().unwrap().parse().unwrap())
}

#[test]
fn rows_are_drawn_as_they_were() {
    let times = vec![
        Value { second: Some((1.0, "p50 1 ms".into())), ..value(3.0, Some((2.5, 3.5))) },
        Value { trust: Trust::Doubtful, second: Some((9.0, "2011".into())), ..value(30.0, None) },
        Value::absent("not measured"),
    ];
    let rates = vec![
        Value { value: None, ..value(0.0, Some((1_000.0, 1_050.0))) },
        Value { value: None, trust: Trust::Doubtful, ..value(0.0, Some((900.0, f64::INFINITY))) },
        value(700.0, Some((-10.0, 90_000.0))),
    ];
    let mut both = rows(Axis::ByFactors(Unit::Milliseconds), times);
    both.columns.push(Column::new("throughput/s", Axis::FromZero(Unit::PerSecond), rates));
    expect_file!["golden/rows.svg"].assert_eq(both.svg(Room::Narrow, Stand::Page).as_str());
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

/// Every form of a series, along time.
fn strip(values: &[f64]) -> Lines {
    let of = |form: Form| Series {
        title: "a \"name\"".into(),
        slot: 9,
        form,
        points: values
            .iter()
            .enumerate()
            .map(|(n, &value)| Spot {
                x: n as f64 + 0.5,
                width: 1.0,
                value,
                says: format!("<{value}>"),
                ..Spot::default()
            })
            .collect(),
        ..Series::default()
    };
    let panel = |forms: &[Form]| {
        let series = forms.iter().map(|form| of(*form)).collect();
        Panel::new("a heading", "a note", Unit::Milliseconds, 40.0, series)
    };
    let heat = Heat {
        columns: (0..values.len()).map(|n| (n as f64, n as f64 + 1.0)).collect(),
        bins: values.iter().map(|value| vec![(*value, 0.9), (value * 2.0, 0.1)]).collect(),
        to_ten: 10.0,
    };
    let map = Panel {
        heat: Some(heat),
        is_log: true,
        includes: values.to_vec(),
        ..panel(&[Form::Line("over"), Form::Marks("slow")])
    };
    Lines {
        about: about(),
        across: SharedAxis::Seconds(values.len() as f64),
        panels: vec![
            panel(&[Form::Told, Form::Line("trace")]),
            map,
            panel(&[Form::Area("fill deep"), Form::Area("fill")]),
            panel(&[Form::Columns("fill deep")]),
        ],
        shaded: vec![(0.0, 1.0), (4.0, 4.0)],
        slot: Some(9),
        ..Lines::default()
    }
}

#[test]
fn a_strip_is_drawn_as_it_was() {
    let drawn = lines(&strip(&[1.0, 2.0, f64::NAN, 4.0, 4.0]), Room::Small(400.0));
    expect_file!["golden/strip.svg"].assert_eq(&drawn);
}

#[test]
fn ugly_data_stays_on_the_paper_and_is_escaped() {
    let mut all = Vec::new();
    for ugly in UGLY {
        for points in
            [&[][..], &[(ugly, ugly)], &[(1.0, ugly), (2.0, 5.0)], &[(ugly, 1.0), (1e9, 2.0)]]
        {
            let found = curves(vec![series("<x>", 0, points)]);
            all.extend(ALL.map(|room| lines(&found, room)));
        }
        all.push(lines(&strip(&[ugly]), Room::Small(200.0)));
        all.push(lines(&strip(&[]), Room::Small(200.0)));
        for across in [
            SharedAxis::Percentiles(ugly),
            SharedAxis::Times(vec![ugly]),
            SharedAxis::Names(Vec::new()),
        ] {
            all.push(lines(
                &Lines { across, ..curves(vec![series("<x>", 0, &[(1.0, ugly)])]) },
                Room::Wide,
            ));
        }
        for axis in [Axis::FromZero(Unit::Bytes), Axis::ByFactors(Unit::Bytes), Axis::Ratio] {
            let second = Some((ugly, "then".into()));
            let values = vec![
                Value { second, ..value(ugly, Some((ugly, 5.0))) },
                value(1.0, Some((-ugly, ugly))),
                Value { value: None, ..value(0.0, Some((f64::NEG_INFINITY, ugly))) },
                Value::absent("<gone>"),
            ];
            all.extend(
                ALL.map(|room| rows(axis, values.clone()).svg(room, Stand::Page).into_string()),
            );
        }
        all.push(drawn(&rows(Axis::Ratio, Vec::new())));
    }
    for svg in all {
        // Texts that are shown on pointing may contain anything.
        let outside: String =
            svg.split("<title>").map(|part| part.split("</title>").last().unwrap()).collect();
        let places = outside.split(['"', ',', '(', 'M', 'L', 'h', 'v', ' ']);
        assert!(!places.into_iter().any(|part| ["NaN", "inf", "-inf"].contains(&part)), "{svg}");
        for text in ["<servers>", "<server>", "<gone>", "<x>", "<b>"] {
            assert!(!svg.contains(text), "{text} in {svg}");
        }
    }
}

#[test]
fn a_mark_is_where_its_value_is_by_factors_and_from_zero() {
    // 100 lies in the middle between 1 and 10,000 by factors, and at a hundredth of the way from zero.
    for (axis, share) in
        [(Axis::ByFactors(Unit::PerSecond), 0.5), (Axis::FromZero(Unit::PerSecond), 0.01)]
    {
        let values = vec![value(100.0, None), value(10_000.0, None), value(1.0, None)];
        let svg = drawn(&rows(axis, values));
        let (middle, high, low) = (mark(&svg, 0).0, mark(&svg, 1).0, mark(&svg, 2).0);
        let left = if share == 0.5 { low } else { low - (high - low) / 9_999.0 };
        assert!(((middle - left) / (high - left) - share).abs() < 0.003, "{svg}");
    }
    let points = [(1.0, 100.0), (2.0, 50.0), (3.0, 25.0)];
    let each = (0..3).map(|slot| series("x", slot, &points[slot..=slot])).collect();
    let panel = Panel::new("throughput/s", "", Unit::PerSecond, 100.0, each);
    let svg = lines(&Lines { panels: vec![panel], ..Lines::default() }, Room::Wide);
    let found = [0, 1, 2].map(|slot| mark(&svg, slot));
    assert!((found[1].0 - found[0].0 - (found[2].0 - found[1].0)).abs() < 0.2, "{svg}");
    let rise = (found[1].1 - found[0].1) / (found[2].1 - found[1].1);
    assert!((rise - 2.0).abs() < 0.05, "{rise} in {svg}");
}

#[test]
fn a_ceiling_far_above_all_does_not_press_them_to_the_ground() {
    let mut far = curves(vec![series("x", 0, &[(1_000.0, 1_000.0)])]);
    far.panels[0].ceiling = ceiling(&[(1_000.0, 90_000.0)]);
    let drawn = lines(&far, Room::Wide);
    let (first, other) = drawn.split_once("class=\"other\"").expect("both ways are drawn");
    assert!(!first.contains(">ceiling<") && !first.contains("20,000"), "{first}");
    assert!(other.contains(">ceiling<"), "by factors there is room: {other}");
    let beyond = "the ceiling, 90,000 by Oracle, lies beyond the axis";
    assert!(first.contains(beyond) && !first.contains("grey:"), "{first}");
    assert!(other.contains("grey: the ceiling, by Oracle") && !other.contains(beyond), "{other}");
}

#[test]
fn the_legend_of_rows_names_the_ceiling_only_where_it_is_drawn() {
    let with = |reached: f64, way| {
        let mut found = rows(Axis::FromZero(Unit::PerSecond), vec![value(1_000.0, None)]);
        (found.columns[0].ceiling, found.columns[0].way) = (ceiling(&[(1.0, reached)]), way);
        drawn(&found)
    };
    for (reached, is_drawn) in [(1_200.0, true), (90_000.0, false)] {
        let drawn = with(reached, None);
        assert_eq!(drawn.contains("class=\"ceiling\""), is_drawn, "{drawn}");
        assert_eq!(drawn.contains("grey: the ceiling, by Oracle"), is_drawn, "{drawn}");
        assert_ne!(drawn.contains("90,000 by Oracle, lies beyond"), is_drawn, "{drawn}");
    }
    let both = with(90_000.0, Some("rate"));
    assert_eq!(both.matches("class=\"ceiling\"").count(), 1, "by factors: {both}");
    assert_eq!(both.matches("grey: the ceiling").count(), 1, "{both}");
}

/// Two strokes through the point.
#[test]
fn an_invalid_value_is_crossed_out_and_a_doubtful_one_is_hollow_in_every_chart() {
    for trust in [Trust::Full, Trust::Doubtful, Trust::Invalid] {
        let mut one = series("Quick", 2, &[(1.0, 3.0)]);
        one.points[0].trust = trust;
        let panel = Panel::new("p99", "", Unit::Milliseconds, 100.0, vec![one]);
        let curves = Lines { about: about(), panels: vec![panel], ..Lines::default() };
        let mut rows = rows(Axis::Ratio, vec![Value { trust, ..value(3.0, None) }]);
        rows.names[0].slot = Some(2);
        for drawn in [lines(&curves, Room::Wide), lines(&curves, Room::Narrow), drawn(&rows)] {
            // A line of one point is a short one.
            let crosses = drawn.matches("<line class=\"line s2\"").count();
            assert_eq!(crosses, if trust == Trust::Invalid { 2 } else { 0 }, "{drawn}");
            assert_eq!(drawn.contains("mark hollow"), trust != Trust::Full, "{drawn}");
            let says = ["hollow: in doubt", "crossed: invalid"].map(|it| drawn.contains(it));
            assert_eq!(says, [trust == Trust::Doubtful, trust == Trust::Invalid], "{drawn}");
        }
    }
}

#[test]
fn of_a_crowd_a_few_have_names_and_all_are_in_the_legend() {
    let all: Vec<Series> =
        (0..24).map(|n| series(&format!("server {n}"), n, &[(1.0, 5.0), (2.0, 9.0)])).collect();
    let crowd = Lines { first: vec![23, 7], ..curves(all) };
    let drawn = lines(&crowd, Room::Wide);
    let names = |n: usize| drawn.matches(&format!(">server {n}<")).count();
    // Twice beside the lines, because they are drawn both ways, and once in the legend.
    assert_eq!((names(23), names(7), names(22)), (3, 3, 1));
}

#[test]
fn a_subject_s_lines_are_distinguished_by_how_they_are_broken() {
    let points = [(1_000.0, 1_000.0), (2_000.0, 1_990.0)];
    let broken = |dash| Series { dash, ..series("Quick", 0, &points) };
    let drawn = |all| lines(&curves(all), Room::Narrow);
    let both = drawn(vec![broken(0), broken(1)]);
    // A line each, both ways; and a piece of each in the legend.
    assert_eq!(both.matches("\"line s0\"").count(), 3, "{both}");
    assert_eq!(both.matches("\"line s0 d0\"").count(), 3, "{both}");
    let whole = drawn(vec![broken(0), broken(0)]);
    assert_eq!(whole.matches("\"line s0\"").count(), 4, "no piece where none is broken: {whole}");
}

#[test]
fn an_interval_that_leaves_the_paper_has_an_arrow_where_it_is_cut() {
    let arrows = |value: Value| {
        let rows = rows(Axis::FromZero(Unit::PerSecond), vec![value]);
        drawn(&rows).matches("class=\"arrow").count()
    };
    assert_eq!(arrows(value(17_000.0, Some((16_000.0, 18_000.0)))), 0);
    assert_eq!(arrows(value(17_000.0, Some((4_438.0, 46_292.0)))), 1);
    assert_eq!(arrows(value(17_000.0, Some((-84.5, 46_292.0)))), 2);
    let mut wide = series("x", 0, &[(1_000.0, 900.0), (2_000.0, 1_900.0)]);
    wide.points[0].interval = Some((800.0, 9_000.0));
    let drawn = lines(&curves(vec![wide]), Room::Wide);
    let panel = drawn.split("class=\"other\"").next().unwrap();
    assert_eq!(panel.matches("class=\"arrow").count(), 1, "{drawn}");
}

#[test]
fn an_interval_without_a_value_has_two_ends_and_an_open_one_an_arrow() {
    let bracket = |low: f64, high: f64, trust| {
        let value = Value { value: None, trust, ..value(0.0, Some((low, high))) };
        let mut rows = rows(Axis::FromZero(Unit::PerSecond), vec![value]);
        rows.columns[0].includes = vec![1_500.0];
        drawn(&rows)
    };
    let counts = |svg: &str| {
        [svg.matches("<line class=\"line s0\"").count(), svg.matches("class=\"arrow").count()]
    };
    assert_eq!(counts(&bracket(1_000.0, 1_050.0, Trust::Full)), [2, 0]);
    assert_eq!(counts(&bracket(1_000.0, f64::INFINITY, Trust::Full)), [1, 1]);
    assert_eq!(counts(&bracket(f64::NEG_INFINITY, 1_050.0, Trust::Full)), [1, 1]);
    let doubtful = bracket(1_000.0, 1_050.0, Trust::Doubtful);
    assert!(doubtful.contains("class=\"past s0\"") && doubtful.contains("dashed: in doubt"));
    assert!(doubtful.contains("class=\"s0 key\""), "its shape stands before its name: {doubtful}");
}

#[test]
fn no_line_crosses_a_place_that_was_not_measured() {
    let corners = |gap: bool, third: f64| {
        let mut found =
            series("x", 2, &[(1_000.0, 1.0), (2_000.0, 2.0), (16_000.0, third), (17_000.0, 4.0)]);
        found.points[2].is_after_gap = gap;
        let drawn = lines(&curves(vec![found]), Room::Wide);
        let polylines = drawn.lines().filter(|line| line.contains("<polyline class=\"line"));
        polylines.map(|line| line.matches(',').count()).collect::<Vec<_>>()
    };
    assert_eq!(corners(false, 3.0), [4, 4], "drawn both ways");
    assert_eq!(corners(true, 3.0), [2, 2, 2, 2]);
    assert_eq!(corners(false, f64::NAN), [2, 2, 2, 2], "the last is a short line of its own");
}

#[test]
fn a_limit_is_drawn_with_its_name() {
    let mut found = curves(vec![series("x", 2, &[(1_000.0, 10.0), (2_000.0, 30.0)])]);
    found.panels[0].limit = Some((20.0, "limit: p99 ≤ 20ms".into()));
    let drawn = lines(&found, Room::Wide);
    assert!(drawn.contains("class=\"limit\"") && drawn.contains("limit: p99 ≤ 20ms"), "{drawn}");
}

#[test]
fn ratios_shade_what_is_tolerated_and_mark_one() {
    let with = |tolerance: f64| {
        let values = vec![
            Value { tone: Some("found"), ..value(0.5, Some((0.4, 0.6))) },
            Value { tone: Some("worse"), ..value(2.0, Some((1.5, 2.5))) },
            value(3.0, Some((0.01, 90.0))),
        ];
        let mut rows = rows(Axis::Ratio, values);
        rows.columns[0].shaded = Some((1.0 - tolerance, 1.0 + tolerance));
        drawn(&rows)
    };
    let wide = with(0.2);
    // Of the shade its left end, top, width and height; of the line at 1 its place, twice.
    let (shade, one) = (places(&wide, "\"tolerance\""), places(&wide, "\"rung base\""));
    let (left, right) = (one[0] - shade[0], shade[0] + shade[2] - one[0]);
    let share = (1.2_f64.ln() / -(0.8_f64.ln()), right / left);
    assert!((share.0 - share.1).abs() < 0.02, "{share:?} in {wide}");
    assert!(places(&with(0.05), "\"tolerance\"")[2] < shade[2]);
    assert_eq!(places(&with(0.0), "\"tolerance\"")[2], 0.0);
    assert_eq!(wide.matches("class=\"arrow").count(), 2, "both ends of the widest: {wide}");
    assert!(wide.contains("\"worse mark\"") && wide.contains("\"found mark\""), "{wide}");
}

#[test]
fn an_axis_of_names_has_as_many_as_fit_and_a_break_says_why() {
    let mut found = curves(vec![series("x", 2, &[(0.5, 1.0), (1.5, 2.0), (2.5, f64::NAN)])]);
    let gone = &mut found.panels[0].series[0].points[2];
    (gone.trust, gone.says) = (Trust::Invalid, "gone".into());
    found.across = SharedAxis::Names(["7", "8", "9"].map(String::from).to_vec());
    found.breaks = vec![(2.0, "kernel <6>".into())];
    let drawn = lines(&found, Room::Wide);
    for name in [">7<", ">8<", ">9<", ">kernel &lt;6&gt;<"] {
        assert!(drawn.contains(name), "{name} in {drawn}");
    }
    assert!(!drawn.contains("NaN"), "{drawn}");
    // Two arms, drawn both ways.
    assert_eq!(drawn.matches("<line class=\"line s2\"").count(), 4, "{drawn}");
    found.across = SharedAxis::Names((0..200).map(|n| format!("run{n}")).collect());
    let crowd = lines(&found, Room::Narrow);
    assert!((4..12).contains(&crowd.matches(">run").count()), "{crowd}");
    assert!(crowd.contains(">run199<"), "the last has its name: {crowd}");
}

#[test]
fn the_names_of_percentiles_keep_apart() {
    for reach in [100.0, 1e4, 3e4, 1e5, 1e6, 1e7] {
        let found = curves(vec![series("x", 0, &[(2.0, 1.0), (reach, 9.0)])]);
        let drawn =
            lines(&Lines { across: SharedAxis::Percentiles(reach), ..found }, Room::Small(400.0));
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
        let mut places: Vec<(f64, f64)> = ticks.map(place).collect();
        places.sort_by(|one, other| one.0.total_cmp(&other.0));
        assert!(2 <= places.len(), "{drawn}");
        for pair in places.windows(2) {
            let between = pair[1].0 - pair[0].0 - (pair[0].1 + pair[1].1) / 2.0;
            assert!(6.0 <= between, "{reach}: {between} between two names of {drawn}");
        }
    }
}

#[test]
fn stacked_areas_stand_on_each_other() {
    let stack = |slot, value: f64| Series {
        form: Form::Area("k"),
        points: [0.5, 1.5].map(|x| Spot { x, value, ..Spot::default() }).into(),
        slot,
        ..Series::default()
    };
    let panel = Panel::new("", "", Unit::Count, 100.0, vec![stack(0, 10.0), stack(1, 30.0)]);
    let drawn = lines(&Lines { panels: vec![panel], ..Lines::default() }, Room::Wide);
    assert_eq!(drawn.matches("<polygon").count(), 2);
    assert!(drawn.contains(">40<"), "the axis has room for both: {drawn}");
}
