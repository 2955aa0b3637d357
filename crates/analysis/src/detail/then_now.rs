//! What an article published, and what this run found for the same figures.

use lab::experiment::Point;
use lab::figure::Figure;
use lab::history::PublishedFigures;

use crate::board::{Row, Table};
use crate::estimate::Estimate;

/// The article's table of one workload, with a column of this run beside each of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct ThenNow {
    pub workload: String,
    /// The columns: the article's own, otherwise the figures that it states.
    pub figures: Vec<Figure>,
    /// By subject in the run's order; for each from low to high, the best of all loads last.
    pub lines: Vec<ThenNowRow>,
}

/// One subject at one place.
#[derive(Clone, Debug, PartialEq)]
pub struct ThenNowRow {
    pub subject: String,
    /// Where on the axis; none: the best of all loads.
    pub place: Option<f64>,
    /// The corresponding place in this run, if it has one.
    pub at: Option<Point>,
    /// A cell for each of the figures.
    pub cells: Vec<Cell>,
}

/// One figure, then and now.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cell {
    /// The published value.
    pub then: Option<f64>,
    /// The value found.
    pub now: Option<Estimate>,
    /// The value found divided by the published one.
    pub times: Option<f64>,
}

/// An article's figures for a table's subjects; none if it has none.
#[must_use]
pub fn then_now(table: &Table, history: &PublishedFigures, columns: &[Figure]) -> Option<ThenNow> {
    let published = history.figures.iter().filter(|found| found.workload == table.workload);
    let stated: Vec<Figure> = published.map(|found| found.figure).collect();
    let figures: Vec<Figure> = match columns.is_empty() {
        true => Figure::OF_TRIALS.into_iter().filter(|figure| stated.contains(figure)).collect(),
        false => columns.to_vec(),
    };
    let of_subjects = table.rows.chunk_by(|one, other| one.subject == other.subject);
    let lines: Vec<ThenNowRow> =
        of_subjects.flat_map(|rows| lines(table, rows, history, &figures)).collect();
    let is_any = lines.iter().any(|line| line.cells.iter().any(|cell| cell.then.is_some()));
    is_any.then(|| ThenNow { workload: table.workload.clone(), figures, lines })
}

fn lines(
    table: &Table,
    rows: &[Row],
    history: &PublishedFigures,
    figures: &[Figure],
) -> Vec<ThenNowRow> {
    let Some(subject) = rows.first().map(|row| row.subject.as_str()) else { return Vec::new() };
    let then = |place, figure| Some(history.find(subject, &table.workload, place, figure)?.value);
    let line = |place: Option<f64>, row: Option<&Row>| {
        let now = |figure| row?.estimate(figure);
        let cells = figures.iter().map(|&figure| cell(then(place, figure), now(figure))).collect();
        ThenNowRow { subject: subject.into(), place, at: row.map(|row| row.point), cells }
    };
    let of_subject = history
        .figures
        .iter()
        .filter(|found| found.subject == subject && found.workload == table.workload);
    let mut places: Vec<f64> = of_subject.filter_map(|found| found.point).collect();
    let has_places = !places.is_empty();
    if has_places {
        places.extend(rows.iter().map(|row| row.point.value()));
        places.sort_by(f64::total_cmp);
        places.dedup();
    }
    let row_at = |place: f64| rows.iter().find(|row| row.point.value().total_cmp(&place).is_eq());
    let mut lines: Vec<ThenNowRow> =
        places.into_iter().map(|place| line(Some(place), row_at(place))).collect();
    if figures.iter().any(|&figure| then(None, figure).is_some()) {
        lines.push(line(None, best(table, rows)));
    }
    lines
}

/// The row with which a subject's best is compared: that of its peak; in a table with one place, its only one.
fn best<'r>(table: &Table, rows: &'r [Row]) -> Option<&'r Row> {
    let subject = &rows.first()?.subject;
    let peak = table.peaks.iter().find(|peak| peak.subject == *subject);
    match peak {
        Some(peak) => rows.iter().find(|row| row.point == peak.point),
        None => rows.first().filter(|_| rows.len() == 1),
    }
}

fn cell(then: Option<f64>, now: Option<Estimate>) -> Cell {
    let pair = then.zip(now).filter(|(then, _)| 0.0 < *then);
    Cell { then, now, times: pair.map(|(then, now)| now.value / then) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Board;
    use crate::detail::tests::{ran, trial};
    use lab::source_file::SourceFile;

    fn found(history: &str, columns: &[Figure]) -> Option<ThenNow> {
        let text = format!("subject,workload,point,figure,value,note\n{history}");
        let page = SourceFile { name: "x-2009.csv".into(), text };
        let history = PublishedFigures::parse(&page).expect("a sound file");
        let trials =
            [trial("a", 100.0, 0, 100), trial("a", 200.0, 0, 180), trial("b", 100.0, 0, 50)];
        then_now(&Board::of(&ran(), &trials).tables[0], &history, columns)
    }

    fn shown(found: &ThenNow) -> Vec<String> {
        let line = |line: &ThenNowRow| {
            let number =
                |value: Option<f64>| value.map_or("–".into(), |value| format!("{value:.1}"));
            let cell = |cell: &Cell| {
                let now = cell.now.map(|now| now.value);
                format!("{} {} {}", number(cell.then), number(now), number(cell.times))
            };
            let cells: Vec<String> = line.cells.iter().map(cell).collect();
            format!("{} {} | {}", line.subject, number(line.place), cells.join(" | "))
        };
        found.lines.iter().map(line).collect()
    }

    #[test]
    fn published_places_and_ours_stand_in_one_table() {
        let history = "a,hello,100,throughput_per_s,50,\na,hello,400,throughput_per_s,60,\na,hello,100,failed_percent,0,\n";
        let found = found(history, &[]).expect("it has figures");
        assert_eq!(found.figures, [Figure::Throughput, Figure::FailedShare]);
        assert_eq!(
            shown(&found),
            [
                "a 100.0 | 50.0 100.0 2.0 | 0.0 0.0 –",
                "a 200.0 | – 180.0 – | – 10.0 –",
                "a 400.0 | 60.0 – – | – – –",
            ]
        );
    }

    #[test]
    fn a_published_peak_meets_ours() {
        let found = found(
            "a,hello,peak,throughput_per_s,60,almost\nb,hello,peak,throughput_per_s,25,\n",
            &[],
        );
        let found = found.expect("it has figures");
        assert_eq!(shown(&found), ["a – | 60.0 180.0 3.0", "b – | 25.0 50.0 2.0"]);
        assert_eq!(found.lines[0].at, Some(Point::Requests(200.0)));
    }

    #[test]
    fn an_article_of_other_things_is_no_table() {
        assert_eq!(found("a,other,peak,throughput_per_s,60,\n", &[Figure::Throughput]), None);
        assert_eq!(found("c,hello,peak,throughput_per_s,60,\n", &[]), None);
    }
}
