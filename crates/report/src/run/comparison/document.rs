//! A comparison as a document: the two sides, a table for each workload and load level, the answer, and what a reader
//! must know before believing it.

use analysis::{Change, Comparison, Pair, Row, Unsure, Why};
use lab::figure::Figure;
use units::count;

use super::{Compared, Side, Unjudged, answer, conformance};
use crate::chart::{About, Axis, Column as Chart, Name, Rows, Stand, Value, both};
use crate::document::{
    self, Block, Cell, Column, Depth, Document, Mark, Marks, Section, Table, Tone,
};
use crate::markup::Markup;
use crate::number_format::Written;
use crate::paired::{self, Finding, PairedFigure, Ratio};
use crate::run::why::{self, SampledLoad};
use crate::run::{flames, results};
use crate::time::utc;

/// The difference for which the number of further rounds is computed.
const SOUGHT: f64 = 0.05;

pub(super) fn of(compared: &Compared<'_>) -> Document {
    let [a, b] = &compared.sides;
    let mut sections: Vec<Section> = compared
        .versus
        .pairs
        .chunk_by(|one, other| (one.workload, one.a.point) == (other.workload, other.a.point))
        .enumerate()
        .map(|(place, pairs)| load_level(compared, pairs, place))
        .collect();
    let explained = compared.explained();
    let sampled: Vec<SampledLoad<'_>> = explained
        .iter()
        .map(|(pair, it)| SampledLoad::of(it, heading(compared, pair), vec!["A", "B"]))
        .collect();
    sections.extend(of_samples(compared, &sampled));
    let (brief, cases) = (conformance::brief(compared), conformance::lines(compared));
    let known = compared.notes().into_iter();
    let plain = |text: String| Block::paragraph(Tone::Plain, text);
    sections.push(
        Section::new("conformance", "Conformance", Depth::Brief).with(brief.into_iter().map(plain)),
    );
    sections.push(
        Section::new("cases", "Conformance, case by case", Depth::Full)
            .with(cases.into_iter().map(plain)),
    );
    sections.push(Section::new("known", "What to know", Depth::Brief).with(known.map(plain)));
    let meaning = notes(compared).into_iter().map(|text| Block::paragraph(Tone::Dim, text));
    sections.push(Section::new("meaning", "What the columns mean", Depth::Brief).with(meaning));
    let mut answer = answer::says(compared);
    answer.push(findings(compared));
    if let [only] = sampled.as_slice() {
        answer.extend(why::sentence(only));
    }
    let more = more(compared).map(|text| document::Paragraph::new(Tone::Dim, text));
    Document {
        label: "a comparison".into(),
        title: format!("{}, against {}", name(a), name(b)),
        answer,
        conditions: vec![format!("A: {}", whole(a)), format!("B: {}", whole(b))],
        sections,
        ending: more.into_iter().collect(),
        ..Document::default()
    }
}

/// Where the CPU time of an answer goes on both sides; all pairs of two runs are more than a terminal has room for.
fn of_samples(compared: &Compared<'_>, sampled: &[SampledLoad<'_>]) -> [Section; 2] {
    let is_brief = compared.sides[0].subject.is_some() || sampled.len() < 2;
    let depth = if is_brief { Depth::Brief } else { Depth::Full };
    [Section { depth, ..why::costs(sampled) }, flames::section(sampled)]
}

/// What a pair is called beside others.
fn heading(compared: &Compared<'_>, pair: &Pair<'_>) -> String {
    let title = title(compared, pair).map(|title| format!("{title}, "));
    format!("{}{} at {}", title.unwrap_or_default(), pair.workload, compared.place(pair))
}

/// The name that people use for a side.
fn name(side: &Side<'_>) -> String {
    match side.subject {
        Some(subject) => side.findings.title(subject).into(),
        None => format!("run {}", side.findings.id),
    }
}

fn whole(side: &Side<'_>) -> String {
    let findings = side.findings;
    if let Some(order) = &findings.stated {
        let began = match findings.run.began_unix_ms {
            0 => String::new(),
            began => format!(", {}", utc(began)),
        };
        return format!("{}: {order}{began}", findings.id);
    }
    let subject = side.subject.map_or(String::new(), |name| format!("{}, ", findings.title(name)));
    let began = utc(findings.run.began_unix_ms);
    format!("{subject}{}, run {}, {began}", findings.run.name, findings.id)
}

/// Pairs of one workload at one load level.
fn load_level(compared: &Compared<'_>, pairs: &[Pair<'_>], place: usize) -> Section {
    let heading = pairs
        .first()
        .map_or(String::new(), |pair| format!("{}, at {}", pair.workload, compared.place(pair)));
    let (names, values) = ratios(compared, pairs);
    let tolerance = compared.gate.tolerance;
    let column = Chart {
        shaded: Some((1.0 - tolerance, 1.0 + tolerance)),
        ..Chart::new("B / A", Axis::Ratio, values)
    };
    let rows = Rows {
        about: About {
            title: format!("Ratios: {heading}"),
            description: "each figure of B, divided by that of A".into(),
        },
        note: format!(
            "logarithmic; the line is 1; shaded: the tolerance, {}",
            answer::tolerated(compared.gate)
        ),
        names,
        columns: vec![column],
        bars: "bars: the interval that decides",
    };
    let picture = match rows.names.is_empty() {
        true => Markup::default(),
        false => both(|room| rows.svg(room, Stand::Page)),
    };
    Section::new(format!("pairs{place}"), heading, Depth::Brief)
        .with([Block::picture(picture), Block::Table(table(compared, pairs, place))])
}

/// A subject's name, if there are several subjects.
fn title<'t>(compared: &'t Compared<'_>, pair: &'t Pair<'_>) -> Option<&'t str> {
    let findings = compared.sides[0].findings;
    compared.sides[0].subject.is_none().then(|| findings.title(&pair.a.subject))
}

/// A row for each ratio that can be made.
fn ratios(compared: &Compared<'_>, pairs: &[Pair<'_>]) -> (Vec<Name>, Vec<Value>) {
    let made = pairs.iter().flat_map(|pair| {
        pair.figures.iter().filter_map(move |(figure, made)| Some((pair, *figure, made.ok()?)))
    });
    made.map(|(pair, figure, made)| ratio(compared, pair, figure, &made)).unzip()
}

fn ratio(
    compared: &Compared<'_>,
    pair: &Pair<'_>,
    figure: Figure,
    made: &Comparison,
) -> (Name, Value) {
    let title = match title(compared, pair) {
        Some(title) => format!("{title}: {}", figure.heading()),
        None => figure.heading().into(),
    };
    let tone = match compared.finding(pair, made) {
        Ok(Change::Worse) => "worse",
        Ok(Change::Better | Change::Differs) => "found",
        Ok(Change::Within | Change::NotShown) | Err(_) => "unknown",
    };
    let value = Value { tone: Some(tone), ..Value::from(Ratio::from(made)) };
    (Name { slot: None, title }, value)
}

type Made = Result<Comparison, Why>;

fn table(compared: &Compared<'_>, pairs: &[Pair<'_>], place: usize) -> Table {
    let mut columns = paired::columns(["A", "B"], "B / A [interval]", "B is");
    if compared.sides[0].subject.is_none() {
        columns.insert(0, Column::new("subject", "server", 0).left());
    }
    // What loads of a server that ran already cannot have says nothing.
    let is_shown = |made: &Made| !compared.is_of_loads() || !matches!(made, Err(Why::Missing));
    let rows = pairs.iter().flat_map(|pair| {
        let all = pair.figures.iter().filter(move |(_, made)| is_shown(made)).enumerate();
        all.map(move |(n, (figure, made))| {
            let title = title(compared, pair).map(|title| if n == 0 { title } else { "" });
            let of_pair = title.map(Cell::text).into_iter();
            let cells = of_pair.chain(of_figure(compared, pair, *figure, made).cells()).collect();
            document::Row { cells, ..document::Row::default() }
        })
    });
    Table::of(format!("pairs{place}"), columns, rows)
}

fn of_figure(
    compared: &Compared<'_>,
    pair: &Pair<'_>,
    figure: Figure,
    made: &Made,
) -> PairedFigure {
    PairedFigure {
        name: figure.heading().into(),
        values: [value(pair.a, figure, made, 0), value(pair.b, figure, made, 1)],
        ratio: Ratio::of(pair, figure),
        finding: finding(compared, pair, made),
    }
}

fn finding(compared: &Compared<'_>, pair: &Pair<'_>, made: &Made) -> Finding {
    let Ok(comparison) = made else { return Finding::of(made) };
    match compared.finding(pair, comparison) {
        Err(Unjudged::Unlike) => Finding::NotJudged(None),
        Err(Unjudged::Unsure(Unsure::FewSamples)) => Finding::NotJudged(Some("few samples")),
        Err(Unjudged::Unsure(_)) => Finding::NotJudged(Some("in doubt")),
        Ok(Change::Within) => Finding::Within(answer::tolerated(compared.gate)),
        Ok(Change::NotShown) => Finding::CannotTell,
        Ok(Change::Worse | Change::Better | Change::Differs) => Finding::of(made),
    }
}

fn notes(compared: &Compared<'_>) -> Vec<String> {
    if !compared.is_any() {
        return Vec::new();
    }
    let interval = match compared.sides[0].subject.is_some() && compared.is_one_run() {
        true => "Student's t interval over the logarithms of the rounds' ratios",
        false => "Welch's t interval over the logarithms of the rounds",
    };
    let rounds = match compared.is_of_loads() {
        true => "loads of a server that was not restarted",
        false => "measured rounds, each a fresh process",
    };
    let found = match compared.is_unlike() {
        true => String::new(),
        false => {
            let wider = match compared.versus.made().count() {
                0 | 1 => String::new(),
                figures => format!(
                    ", and is wider than 95 % unless B is within the tolerance, because {} figures are compared \
                     (Holm's correction)",
                    count(figures as u64)
                ),
            };
            format!(
                "; it decides what B is{wider}; worse: by more than {}; cannot tell: the interval allows both",
                answer::tolerated(compared.gate)
            )
        }
    };
    vec![format!(
        "A, B: geometric means over the {rounds}; B / A: their ratio, with {interval}{found}"
    )]
}

/// The mean over the rounds.
fn value(row: &Row, figure: Figure, made: &Made, side: usize) -> Cell {
    let marks = results::verdict_mark(row)
        .when(row.is_doubtful() && results::verdict_mark(row) == Marks::default(), Mark::Suspect);
    match (made, row.estimate(figure)) {
        (Ok(made), estimate) => {
            let marks = marks
                .when(made.bounds()[side], Mark::Bound)
                .when(estimate.is_some_and(|it| !it.is_supported), Mark::FewSamples);
            let mean = made.means[side];
            let interval = estimate.and_then(|estimate| estimate.interval());
            Written::of(figure.unit(), mean, interval).cell(mean).marked(marks)
        }
        (Err(_), Some(estimate)) => {
            let cell = Written::estimate(figure.unit(), &estimate).cell(estimate.value);
            Cell { marks: cell.marks.and(marks), ..cell }
        }
        (Err(_), None) => Cell::none(),
    }
}

fn findings(compared: &Compared<'_>) -> String {
    let all = compared.versus.made().count();
    let [worse, better, differs] =
        [Change::Worse, Change::Better, Change::Differs].map(|finding| compared.count(finding));
    if 0 < all && compared.is_unlike() {
        return "Loads that are not alike have their figures side by side, and none is judged."
            .into();
    }
    let mut figures = compared.versus.pairs.iter().flat_map(|pair| &pair.figures);
    if all == 0 && figures.any(|(_, made)| matches!(made, Err(Why::Faults))) {
        return "Nothing was compared.".into();
    }
    if all == 0 && compared.is_single() && compared.is_unlike() {
        return "The ratios have no intervals, and are not judged.".into();
    }
    if all == 0 && compared.is_single() {
        return "Single loads have no repetitions, so the ratios have no intervals and show no difference; `dyno load \
            --rounds 5` for A and for B gives intervals."
            .into();
    }
    if all == 0 {
        let (what, flag) = match compared.is_of_loads() {
            true => (
                "loads of each, with as many connections or the same rate",
                "`--rounds` of `dyno load`",
            ),
            false => (
                "rounds of each, of the same workload under the same load",
                "`[trials] repeat` in an experiment, or `--rounds` of `dyno race`,",
            ),
        };
        return format!(
            "Nothing could be compared: it takes two measured {what}; {flag} sets their number."
        );
    }
    let unjudged = compared.unjudged();
    let rest = all - worse - better - differs - unjudged;
    let apart = match unjudged {
        0 => String::new(),
        some => format!("; {some} are not judged"),
    };
    format!(
        "All {all} comparisons: B is worse in {worse}, better in {better}, and not shown to be either in {rest}{apart}."
    )
}

/// What more rounds would achieve: for each figure that shows no difference, for the pair that needs the most rounds.
fn more(compared: &Compared<'_>) -> Option<String> {
    if compared.is_unlike() {
        return None;
    }
    let needs = analysis::COMPARED.into_iter().filter_map(|figure| {
        let unsettled = compared.versus.made().filter(|made| {
            made.figure == figure && matches!(made.finding(), Change::NotShown | Change::Within)
        });
        let most = unsettled.map(|made| made.more_rounds(SOUGHT).unwrap_or(usize::MAX)).max()?;
        match most {
            0 => None,
            usize::MAX => Some(format!("{} over 1,000", figure.heading())),
            most => Some(format!("{} {most}", figure.heading())),
        }
    });
    let needs: Vec<String> = needs.collect();
    (!needs.is_empty()).then(|| {
        format!(
            "rounds of each that are needed in addition, to show a true difference of 5 % with a probability of 80 %: \
             {}",
            needs.join(" · ")
        )
    })
}
