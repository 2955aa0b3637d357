//! One small document in each format.

use expect_test::expect;

use super::{Screen, html, markdown, text};
use crate::document::{
    Block, Cell, Column, Depth, Document, Entry, MORE, Mark, Marks, Row, Section, Sign, Table, Tone,
};

fn row(name: &str, rate: f64, marks: Marks, failed: &str) -> Row {
    let rate = Cell::text(format!("{rate}")).valued(Some(rate)).marked(marks);
    let interval = Some("[9–11]".into());
    let cells = vec![
        Cell::text(name),
        Cell { interval, ..rate },
        Cell::text("2,000.00ms"),
        Cell::text("90.0ms").marked(Marks::default().with(Mark::FewSamples)),
        Cell::text(failed),
        Cell::text("seldom asked for"),
        Cell::none(),
    ];
    Row { cells, ..Row::default() }
}

/// Two servers, one of them suspect; one column is alike, one empty, and one only shown on demand.
fn document() -> Document {
    let columns = vec![
        Column::new("subject", "server", 0).left(),
        Column::new("rate", "rate", 0).meaning("answers by time").explained(),
        Column::new("p50", "p50", 2),
        Column::new("max", "max", 3).meaning("the longest").explained(),
        Column::new("failed", "failed", 1).folding(),
        Column::new("more", "seldom", MORE),
        Column::new("empty", "empty", 1).folding(),
    ];
    let suspect = Marks::default().with(Mark::Suspect);
    let rows =
        vec![row("one|two of them", 10.0, suspect, "0%"), row("<b>", 5.0, Marks::default(), "0%")];
    let table = Table::of("t", columns, rows);
    let entry = Entry::new(Tone::Bad, "one broke").with(Tone::Plain, "it did");
    let deep = Block::paragraph(Tone::Plain, "all of it");
    Document {
        label: "label".into(),
        title: "A question?".into(),
        answer: vec!["An answer.".into()],
        sections: vec![
            Section::new("results", "Results", Depth::Brief)
                .with([Block::Table(table), Block::Entries(vec![entry])]),
            Section::new("deep", "In depth", Depth::Full).with([deep]),
        ],
        ..Document::default()
    }
}

fn shown(width: usize, is_full: bool) -> String {
    text(&document(), Screen { is_full, ..Screen::file(width) })
}

#[test]
fn a_name_is_shortened_before_a_figure_is_cut() {
    let columns = vec![
        Column::new("function", "with all they call", 0).left(),
        Column::new("difference", "difference, µs", 0),
    ];
    let named = |name: String| Row {
        cells: vec![Cell::text(name), Cell::text("+1.08 [0.85–1.30]")],
        ..Row::default()
    };
    let rows = ["short".to_string(), "v8::internal::".repeat(20)].map(named);
    let table = Block::Table(Table::of("t", columns, rows));
    let sections = vec![Section::new("results", "Results", Depth::Brief).with([table])];
    let document = Document { sections, ..Document::default() };
    let shown = |width: usize| text(&document, Screen::file(width));
    expect![[r#"
        Results
        with all they call                            difference, µs
        short                                      +1.08 [0.85–1.30]
        v8::internal::v8::internal::v8::internal…  +1.08 [0.85–1.30]
    "#]]
    .assert_eq(&shown(60));
}

#[test]
fn where_there_is_no_room_what_matters_least_goes_first() {
    expect![[r#"
        label
        A question?

        Results
        server                 rate         p50     max
        one|two of them  10? [9–11]  2,000.00ms  90.0ms*
        <b>                5 [9–11]  2,000.00ms  90.0ms*
        the same in all rows: failed 0%
        rate: answers by time · max: the longest · * fewer than 10 samples lie beyond this
        percentile · ? suspect: read why before you use the figure
        one broke
          it did

        in short
        An answer.
    "#]]
    .assert_eq(&shown(90, false));
    expect![[r#"
        label
        A question?

        Results
        server                 rate         p50
        one|two of them  10? [9–11]  2,000.00ms
        <b>                5 [9–11]  2,000.00ms
        the same in all rows: failed 0%
        rate: answers by time · ? suspect: read
        why before you use the figure
        one broke
          it did

        in short
        An answer.
    "#]]
    .assert_eq(&shown(40, false));
    let lines = shown(90, true);
    assert!(lines.contains("In depth\nall of it"), "{lines}");
}

#[test]
fn columns_that_matter_stand_below_one_another_where_there_is_no_room() {
    let columns =
        ["", "samples", "mean", "p50", "p99", "max"].map(|head| Column::new(head, head, 0));
    let cells = |name: &str| {
        let figures = ["20,000,000", "1,234.56ms", "1,000.00ms", "4,999.99ms", "5,000.00ms"];
        Row {
            cells: [&[name][..], &figures].concat().into_iter().map(Cell::text).collect(),
            ..Row::default()
        }
    };
    let table = Table::of("t", columns.to_vec(), vec![cells("response"), cells("service")]);
    let section = Section::new("times", "Times", Depth::Brief).with([Block::Table(table)]);
    let document = Document { sections: vec![section], ..Document::default() };
    expect![[r#"
        Times
                     samples        mean         p50
        response  20,000,000  1,234.56ms  1,000.00ms
        service   20,000,000  1,234.56ms  1,000.00ms
                         p99         max
        response  4,999.99ms  5,000.00ms
        service   4,999.99ms  5,000.00ms
    "#]]
    .assert_eq(&text(&document, Screen::file(46)));
}

#[test]
fn markdown_and_html_show_what_others_wrote_and_obey_nothing() {
    expect![[r#"
        **A question?** (label)

        An answer.

        **Results**

        | server | rate | p50 | max |
        | --- | --: | --: | --: |
        | one\|two of them | 10? \[9–11\] | 2,000.00ms | 90.0ms\* |
        | \<b\> | 5 \[9–11\] | 2,000.00ms | 90.0ms\* |

        <details><summary>every row and column</summary>

        | server | rate | p50 | max | seldom |
        | --- | --: | --: | --: | --: |
        | one\|two of them | 10? \[9–11\] | 2,000.00ms | 90.0ms\* | seldom asked for |
        | \<b\> | 5 \[9–11\] | 2,000.00ms | 90.0ms\* | seldom asked for |

        </details>

        the same in all rows: failed 0%

        rate: answers by time · max: the longest · \* fewer than 10 samples lie beyond this percentile · ? suspect: read why before you use the figure

        - one broke
          it did
    "#]].assert_eq(&markdown(&document()));
    expect![[r#"
        <p class="lede">An answer.</p>
        <section id="results">
        <h2>Results</h2>
        <div class="results" data-table="t">
        <div class="tools"><label><input type="checkbox" class="widen" autocomplete="off"> more columns</label></div>
        <div class="scroll" tabindex="0" role="region" aria-label="results"><table>
        <caption></caption>
        <thead><tr><th scope="col" class="text" data-key="subject">server</th><th scope="col" data-key="rate" title="answers by time">rate</th><th scope="col" class="mid" data-key="p50">p50</th><th scope="col" class="mid" data-key="max" title="the longest">max</th><th scope="col" class="more late" data-key="more">seldom</th></tr></thead>
        <tbody class="at-0">
        <tr><td class="text">one|two of them</td><td data-v="10">10? <span class="interval">[9–11]</span></td><td class="mid">2,000.00ms</td><td class="mid">90.0ms*</td><td class="more late">seldom asked for</td></tr>
        <tr><td class="text">&lt;b&gt;</td><td data-v="5">5 <span class="interval">[9–11]</span></td><td class="mid">2,000.00ms</td><td class="mid">90.0ms*</td><td class="more late">seldom asked for</td></tr>
        </tbody>
        </table></div>
        <ul class="rest at-0">
        <li><strong>one|two of them</strong> seldom seldom asked for</li>
        <li><strong>&lt;b&gt;</strong> seldom seldom asked for</li>
        </ul>
        <p class="dim">the same in all <dfn class="term" tabindex="0">rows<span class="gloss" role="tooltip">one server under one load, with all its rounds.</span></dfn>: failed 0%</p>
        <p class="dim">rate: answers by time · max: the longest · * fewer than 10 samples lie beyond this percentile · ? <dfn class="term" tabindex="0">suspect<span class="gloss" role="tooltip">some of the numbers may be wrong, or mean something else than they seem to.</span></dfn>: read why before you use the figure</p>
        </div>
        <ul class="found">
        <li><strong class="bad">one broke</strong><br><span>it did</span></li>
        </ul>
        </section>
        <section id="deep">
        <h2>In depth</h2>
        <p>all of it</p>
        </section>
    "#]].assert_eq(html::document(&document()).as_str());
}

#[test]
fn paper_has_the_rank_and_seven_columns_and_the_rest_as_a_list() {
    let mut columns = vec![
        Column::new("rank", "rank", 8),
        Column::new("subject", "server", 0),
        Column::new("place", "requests/s", 0),
    ];
    columns.extend((3..10).map(|n| Column::new(format!("c{n}"), format!("h{n}"), n)));
    columns.push(Column::new("more", "seldom", MORE));
    let mut cells = vec![Cell::text("1"), Cell::text("<one>"), Cell::text("2,000")];
    cells.extend((3..10).map(|n| Cell::text(format!("v{n}"))));
    cells.push(Cell::none());
    let row = Row { cells, ..Row::default() };
    let shown = html::table(&Table::of("t", columns, [row]), &mut Vec::new()).into_string();
    let (table, list) = shown.split_once("</table>").expect("there is a table");
    let late = table.split("<th ").filter(|head| head.contains("late"));
    let late: Vec<&str> = late.filter_map(|head| Some(&head[head.find('>')? + 1..][..2])).collect();
    assert_eq!(late, ["h8", "h9", "se"]);
    assert!(list.contains("<li><strong>&lt;one&gt;, 2,000</strong> h8 v8 · h9 v9</li>"), "{list}");
}

#[test]
fn on_a_phone_the_load_stands_below_the_servers_name() {
    let columns = [("subject", "server"), ("place", "connections"), ("p99", "p99")];
    let columns = columns.map(|(key, heading)| Column::new(key, heading, 0)).to_vec();
    let name = Cell { sign: Sign::Slot, ..Cell::text("one") };
    let row = Row { cells: vec![name, Cell::text("32"), Cell::text("1ms")], ..Row::default() };
    let shown = html::table(&Table::of("t", columns, [row]), &mut Vec::new()).into_string();
    assert!(shown.contains("<th scope=\"row\" data-load=\"32 connections\">"), "{shown}");
    assert!(shown.contains("<td class=\"load\">32</td><td>1ms</td>"), "{shown}");
}
