//! Rows of runs as a table: each with its date, versions, class, trials and verdict.

use analysis::{Estimate, Verdict};
use lab::figure::Figure;
use report::document::{Cell, Column, Row, Sign, Table, Tone};
use report::run::cell_of;

use crate::pages::{runs, servers};
use crate::ranking::{Ranked, Shown};
use crate::summary::RowSummary;

/// What a table shows of its rows besides what every row has.
#[derive(Clone, Copy, Default)]
pub(crate) struct With {
    /// Numbers, and why a row has none.
    pub(crate) ranks: bool,
    /// The load, and the figure as the file claims it and as it is computed now, and no others.
    pub(crate) printed: bool,
    /// Rows that began before this are pale: milliseconds since 1970.
    pub(crate) pale_before: i64,
}

/// Figures besides the leading one, and how soon each column is left out.
const OTHERS: [(Figure, u8); 6] = [
    (Figure::Throughput, 2),
    (Figure::ResponseP50, 5),
    (Figure::ResponseP99, 2),
    (Figure::CpuPerThousand, 2),
    (Figure::RssPeak, 4),
    (Figure::FailedShare, 3),
];
/// No table has more rows.
pub(crate) const ROWS_MOST: usize = 300;

/// A table of these rows; `root` leads from its page to the site's first page.
pub(crate) fn table(key: &str, root: &str, rows: &[Ranked<'_>], with: With) -> Table {
    let shown = &rows[..rows.len().min(ROWS_MOST)];
    let leading = shown.first().map_or(Figure::Throughput, |ranked| ranked.shown.row.leading);
    let is_shown = |figure: &Figure| {
        let mut rows = shown.iter().map(|ranked| ranked.shown.row);
        !with.printed && *figure != leading && rows.any(|row| row.estimate(*figure).is_some())
    };
    let others: Vec<(Figure, u8)> =
        OTHERS.into_iter().filter(|(figure, _)| is_shown(figure)).collect();
    let entries = shown.iter().map(|ranked| entries(root, ranked, leading, &others, with));
    let mut made = table_of(key, entries);
    for (row, ranked) in made.views[0].rows.iter_mut().zip(shown) {
        (row.tie, row.is_reference) = (ranked.rank, ranked.shown.row.is_reference);
    }
    let caption = match shown.len() {
        ROWS_MOST => format!("the first {ROWS_MOST} rows; data/rows.jsonl has all"),
        _ => String::new(),
    };
    made.captioned(caption)
}

/// A table of rows whose cells stand beside their columns.
pub(crate) fn table_of(key: &str, rows: impl IntoIterator<Item = Vec<(Column, Cell)>>) -> Table {
    let (mut columns, mut made) = (Vec::new(), Vec::new());
    for entries in rows {
        let (of_row, cells) = entries.into_iter().unzip();
        columns = of_row;
        made.push(Row { cells, ..Row::default() });
    }
    Table::of(key, columns, made)
}

/// A column of texts.
pub(crate) fn left(key: &'static str, heading: &str, priority: u8) -> Column {
    Column::new(key, heading, priority).left()
}

/// The columns of a table, each with its cell in the row of this server.
fn entries(
    root: &str,
    ranked: &Ranked<'_>,
    leading: Figure,
    others: &[(Figure, u8)],
    with: With,
) -> Vec<(Column, Cell)> {
    let Ranked { shown: Shown { run, row, .. }, .. } = *ranked;
    let is_pale = run.began_unix_ms < with.pale_before || row.is_reference;
    let toned =
        |cell: Cell, tone: Tone| if is_pale { cell.toned(Tone::Dim) } else { cell.toned(tone) };
    let text = |text: &str| toned(Cell::text(text), Tone::Plain);
    let figure = |figure: Figure, priority, tone| {
        let value = row.estimate(figure).map_or_else(Cell::none, |it| cell_of(figure, it));
        let column = Column::new(figure.name(), figure.heading(), priority);
        (column.meaning(figure.meaning()), toned(value, tone))
    };
    let mut all = Vec::new();
    if with.ranks {
        let meaning =
            "first to last place: within a group no row is shown to differ from the first one";
        all.push((left("rank", "rank", 0).meaning(meaning), rank(ranked.rank)));
    }
    let server = Cell { sign: Sign::Slot, ..Cell::text(&row.title) };
    let server = server.linked(format!("{root}{}", servers::address(&row.server)));
    all.push((left("subject", "server", 0), server));
    if with.printed {
        let load = text(&format!("{}, {}", row.task, row.place));
        all.push((left("load", "workload and load", 0), load));
        let printed_as = Column::new("printed", "as printed", 0);
        let now = Column::new("now", "as computed now", 1);
        all.extend([left("figure", "figure", 2), printed_as, now].into_iter().zip(printed(row)));
    } else {
        let main = if row.verdict == Verdict::Valid { Tone::Strong } else { Tone::Doubtful };
        let (column, value) = figure(leading, 0, main);
        all.push((column.explained(), value));
    }
    let verdict = Cell { sign: Sign::Verdict(row.verdict), ..Cell::text(row.verdict.name()) };
    all.push((left("verdict", "verdict", 0), verdict));
    all.extend(others.iter().map(|(of, priority)| figure(*of, *priority, Tone::Plain)));
    let trials = text(&format!("{}/{}", row.measured, row.planned));
    let class = text(&run.class.label).linked(format!("{root}m/index.html#{}", run.class.label));
    all.extend([
        (left("version", "server's version", 1), text(row.stated_version())),
        (
            Column::new("trials", "trials", 1).meaning("measured, of those planned"),
            trials.valued(Some(row.measured as f64)),
        ),
        (left("date", "date", 1), text(&run.date()).valued(Some(run.began_unix_ms as f64))),
        (left("dyno", "dyno", 1), text(&run.dyno)),
        (left("class", "machine class", 1), class),
        (left("run", "run", 1), toned(runs::linked(run, root), Tone::Plain)),
    ]);
    if with.ranks {
        all.push((left("why", "why it has no number", 2), text(&ranked.why)));
    }
    all
}

/// A figure's name, what the file claims of it, and what is computed now.
fn printed(row: &RowSummary) -> [Cell; 3] {
    let cell = |estimate: &Estimate| cell_of(row.leading, estimate);
    let now = row.estimate(row.leading).map_or_else(Cell::none, cell);
    let claimed = row.claimed.as_ref().map_or_else(|| now.clone(), cell);
    let is_same = claimed.whole_text() == now.whole_text();
    let now = if is_same { Cell::text("the same").toned(Tone::Dim) } else { now };
    [Cell::text(row.leading.heading()), claimed.toned(Tone::Strong), now]
}

fn rank(places: Option<(usize, usize)>) -> Cell {
    let Some((first, last)) = places else { return Cell::none() };
    let text = if first == last { first.to_string() } else { format!("{first}–{last}") };
    Cell::text(text).valued(Some(first as f64)).toned(Tone::Dim)
}

/// Rows as they are, without numbers.
pub(crate) fn unnumbered<'k>(rows: impl IntoIterator<Item = Shown<'k>>) -> Vec<Ranked<'k>> {
    rows.into_iter().map(|shown| Ranked { shown, rank: None, why: String::new() }).collect()
}
