use expect_test::expect;
use profile::Line;

use super::*;

fn stack(functions: &[&str], line: &str, side: Side, us: f64) -> CostedStack {
    let functions = functions.iter().map(ToString::to_string).collect();
    CostedStack { functions, line: Line { side, name: line.into() }, us }
}

fn before() -> Vec<CostedStack> {
    vec![
        stack(&["main", "parse"], "the program", Side::Program, 4.0),
        stack(&["main", "hash"], "the program", Side::Program, 2.0),
        stack(&["main", "write"], "send", Side::Kernel, 3.0),
        stack(&["main"], "the program", Side::Program, 1.0),
    ]
}

fn after() -> Vec<CostedStack> {
    vec![
        stack(&["main", "parse"], "the program", Side::Program, 8.0),
        stack(&["main", "parse", "copy"], "not named (libc)", Side::NotNamed, 4.0),
        stack(&["main", "write"], "send", Side::Kernel, 2.0),
        stack(&[], "receive", Side::Kernel, 2.0),
    ]
}

fn boxes(graph: &FlameGraph) -> String {
    let line = |frame: &Frame| {
        let Frame { depth, left, width, class, says, .. } = frame;
        format!("{}{left:.3} {width:.3} {class} | {says}\n", "  ".repeat(*depth))
    };
    graph.frames.iter().map(line).collect()
}

#[test]
fn a_difference_is_by_microseconds_and_what_has_gone_stands_beside_it() {
    let graph = FlameGraph::difference(["before", "after"], [&before(), &after()]);
    expect![[r#"
        0.000 0.880 above | all: 16.0 µs an answer, 100 %; +6.00 µs
          0.000 0.770 more q4 | main: 14.0 µs an answer, 88 %; +4.00 µs
            0.000 0.660 more q4 | parse: 12.0 µs an answer, 75 %; +8.00 µs
              0.000 0.220 more q4 | copy: 4.00 µs an answer, 25 %; +4.00 µs
                0.000 0.220 more q4 | not named (libc): 4.00 µs an answer, 25 %; +4.00 µs
        0.890 0.110 above | only in before: 2.00 µs of what it calls, only in before
          0.770 0.110 more q3 | receive: 2.00 µs an answer, 12 %; +2.00 µs
          0.890 0.110 above | main: 2.00 µs of what it calls, only in before
            0.660 0.110 less q2 | write: 2.00 µs an answer, 12 %; −1.00 µs
            0.890 0.110 gone | hash: 2.00 µs an answer, only in before
              0.660 0.110 less q2 | send: 2.00 µs an answer, 12 %; −1.00 µs
    "#]]
    .assert_eq(&boxes(&graph));
}

/// What a function takes is a share of its caller's, from the left, by name; the kernel stands right of the program.
#[test]
fn boxes_are_as_wide_as_their_time_and_stand_below_their_caller() {
    let graph = FlameGraph::of("\"after\" <b>", &after());
    expect![[r#"
        <svg xmlns="http://www.w3.org/2000/svg" class="wide" role="img" viewBox="0 0 960 168" width="960" height="168">
        <title>&quot;after&quot; &lt;b&gt;</title>
        <desc>16.0 µs of CPU time an answer.</desc>
        <text class="head" x="2" y="16">&quot;after&quot; &lt;b&gt;</text>
        <text class="note" text-anchor="start" x="2" y="34">16.0 µs of CPU time an answer. What is called stands below its caller; what is narrower than 0.2 % of the width is left out.</text>
        <g class="flame"><rect class="program" x="2" y="57" width="12" height="12"/></g>
        <text class="note" text-anchor="start" x="20" y="67">the program</text>
        <g class="flame"><rect class="kernel" x="109.7" y="57" width="12" height="12"/></g>
        <text class="note" text-anchor="start" x="127.7" y="67">the kernel</text>
        <g class="flame"><rect class="nameless" x="210.7" y="57" width="12" height="12"/></g>
        <text class="note" text-anchor="start" x="228.7" y="67">not named</text>
        <g class="flame" transform="translate(0 79)"><rect class="above" x="0" width="960" height="16"><title>all: 16.0 µs an answer, 100 %</title></rect><text x="3" y="12">all 16.0 µs</text>
        </g>
        <g class="flame" transform="translate(0 96)"><rect x="0" width="840" height="16"><title>main: 14.0 µs an answer, 88 %</title></rect><text x="3" y="12">main 14.0 µs</text>
        <rect class="kernel" x="840" width="120" height="16"><title>receive: 2.00 µs an answer, 12 %</title></rect><text x="843" y="12">receive 2.00 µs</text>
        </g>
        <g class="flame" transform="translate(0 113)"><rect x="0" width="720" height="16"><title>parse: 12.0 µs an answer, 75 %</title></rect><text x="3" y="12">parse 12.0 µs</text>
        <rect x="720" width="120" height="16"><title>write: 2.00 µs an answer, 12 %</title></rect><text x="723" y="12">write 2.00 µs</text>
        </g>
        <g class="flame" transform="translate(0 130)"><rect x="0" width="240" height="16"><title>copy: 4.00 µs an answer, 25 %</title></rect><text x="3" y="12">copy 4.00 µs</text>
        <rect class="kernel" x="720" width="120" height="16"><title>send: 2.00 µs an answer, 12 %</title></rect><text x="723" y="12">send 2.00 µs</text>
        </g>
        <g class="flame" transform="translate(0 147)"><rect class="nameless" x="0" width="240" height="16"><title>not named (libc): 4.00 µs an answer, 25 %</title></rect><text x="3" y="12">not named (libc) 4.00 µs</text>
        </g>
        </svg>
    "#]].assert_eq(graph.drawn(Room::Wide, Stand::Page).as_str());
}

/// As many boxes as there may be, each of them with a name that is made to break out.
fn hostile(seed: u64) -> Vec<CostedStack> {
    let mut state = seed;
    let mut next = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let evil =
        ["</title><script>alert(1)</script>", "\u{1b}[31m\u{0}\u{202e}", "\"'&<b>", "تجربة﷽"];
    (0..600)
        .map(|_| {
            let depth = 1 + next(90);
            let name = |level: u64, which: u64| {
                format!("{}{level}.{which}{}", evil[which as usize % 4], "&".repeat(300))
            };
            // Near the root few functions, so that many boxes are wide enough.
            let functions = (0..depth).map(|level| name(level, next(2 + level / 8))).collect();
            let sides = [Side::Program, Side::Kernel, Side::NotNamed];
            let us = 0.01 + next(100) as f64 / 50.0;
            let line = Line { side: sides[next(3) as usize], name: evil[0].into() };
            CostedStack { functions, line, us }
        })
        .collect()
}

#[test]
fn two_graphs_and_their_difference_stay_small_and_no_name_breaks_out() {
    let (a, b) = (hostile(1), hostile(2));
    let name = "\"><img src=x>\u{202e}".repeat(40);
    let graphs = [
        FlameGraph::of(&name, &a),
        FlameGraph::of(&name, &b),
        FlameGraph::difference([&name, &name], [&a, &b]),
    ];
    let page: String = graphs.iter().map(|graph| graph.figure().into_string()).collect();
    assert!((90_000..120_000).contains(&page.len()), "{}", page.len());
    assert!(300 < graphs[0].frames.len(), "{}", graphs[0].frames.len());
    for forbidden in ["<script", "<img", "<b>", "\u{1b}", "\u{202e}", "\u{0}", "&&"] {
        assert!(!page.contains(forbidden), "{forbidden:?}");
    }
    let alone = graphs[0].alone(Theme::Auto, "a note").into_string();
    assert!(alone.len() < 100_000 && alone.contains(".flame .kernel{"), "{}", alone.len());
}

#[test]
fn what_is_called_is_never_wider_than_its_caller_and_nothing_is_lost() {
    let (a, b) = (hostile(3), hostile(4));
    let sum = |stacks: &[CostedStack]| stacks.iter().map(|stack| stack.us).sum::<f64>();
    let tree = Node::of([&a, &b]);
    assert!((tree.us[0] - sum(&a)).abs() < 1e-9 && (tree.us[1] - sum(&b)).abs() < 1e-9);
    for graph in [FlameGraph::of("b", &b), FlameGraph::difference(["a", "b"], [&a, &b])] {
        let tops: Vec<&Frame> = graph.frames.iter().filter(|it| it.depth == 0).collect();
        let whole = tops.iter().map(|top| top.width).sum::<f64>();
        assert!((whole + 0.01 * (tops.len() - 1) as f64 - 1.0).abs() < 1e-9, "{whole}");
        for (place, frame) in graph.frames.iter().enumerate().filter(|(_, it)| 0 < it.depth) {
            let holds = |other: &&Frame| {
                other.depth + 1 == frame.depth
                    && other.left < frame.left + 1e-9
                    && frame.left + frame.width < other.left + other.width + 1e-9
            };
            assert!(graph.frames[..place].iter().any(|it| holds(&it)), "{frame:?} has no caller");
        }
    }
}

#[test]
fn a_graph_of_nothing_says_so_and_one_side_alone_is_new_or_gone() {
    let wrong = [f64::NAN, -1.0, 0.0, f64::INFINITY];
    let none = wrong.map(|us| stack(&["main"], "", Side::Program, us));
    let graph = FlameGraph::of("idle", &none);
    let drawn = graph.figure().into_string();
    assert!(drawn.contains("No samples.") && !drawn.contains("<g class=\"flame\" t"), "{drawn}");
    assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
    let classes = |sides: [&[CostedStack]; 2]| {
        let graph = FlameGraph::difference(["a", "b"], sides);
        assert!(!graph.figure().into_string().contains("NaN"));
        graph.frames.iter().skip(1).map(|it| it.class.clone()).collect::<Vec<_>>()
    };
    assert!(classes([&none, &none]).is_empty());
    assert!(classes([&none, &before()]).iter().all(|class| class.starts_with("more")));
    assert!(classes([&before(), &none]).iter().all(|class| class == "gone"));
    assert!(classes([&before(), &before()]).iter().all(|class| class == "alike"));
}

#[test]
fn the_order_of_the_stacks_changes_nothing() {
    let mut turned = after();
    turned.reverse();
    assert_eq!(boxes(&FlameGraph::of("x", &turned)), boxes(&FlameGraph::of("x", &after())));
}

#[test]
fn a_label_is_cut_to_its_box() {
    assert_eq!(fitting("parse_request", 100.0), "parse_request");
    assert_eq!(fitting("parse_request", 50.0), "parse_…");
    assert_eq!(fitting("parse_request", 18.0), "");
}
