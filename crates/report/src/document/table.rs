//! Tables: columns that know their meaning, rows in one or several views, and a legend of what is used.

use std::borrow::Cow;

use analysis::Verdict;
use units::percent;

use super::{Marks, Tone};

#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Its name in links.
    pub key: String,
    pub caption: String,
    pub columns: Vec<Column>,
    /// The first one is shown where there is room for one only.
    pub views: Vec<View>,
    /// What a reader must know about all columns.
    pub notes: Vec<String>,
}

/// Some rows of a table, under a name by which they can be chosen.
#[derive(Clone, Debug)]
pub struct View {
    pub key: String,
    pub name: String,
    pub rows: Vec<Row>,
}

#[derive(Clone, Debug)]
pub struct Column {
    /// The name in files and links.
    pub key: Cow<'static, str>,
    pub heading: String,
    pub meaning: String,
    /// 0 always stays; where room is short, the highest goes first. From `MORE` on a column is only shown on demand.
    pub priority: u8,
    pub align: Align,
    /// Where all cells are alike, one line stands for all of them.
    pub may_fold: bool,
    /// Its meaning goes into the legend.
    pub is_explained: bool,
}

/// Columns from this priority on are "more columns".
pub const MORE: u8 = 10;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Align {
    Left,
    #[default]
    Right,
}

#[derive(Clone, Debug, Default)]
pub struct Row {
    /// The slot of its subject, which decides a colour and a sign.
    pub slot: Option<usize>,
    /// First and last place of the rows that cannot be distinguished from it.
    pub tie: Option<(usize, usize)>,
    /// It shows what is possible, and does not compete.
    pub is_reference: bool,
    pub cells: Vec<Cell>,
}

#[derive(Clone, Debug, Default)]
pub struct Cell {
    pub text: String,
    /// In full, for sorting and for programs.
    pub value: Option<f64>,
    /// Shown after the text and its marks.
    pub interval: Option<String>,
    pub marks: Marks,
    pub tone: Tone,
    pub sign: Sign,
    /// Where a page leads from here.
    pub link: Option<String>,
}

/// A sign that is drawn before a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sign {
    #[default]
    None,
    /// The sign of the row's slot.
    Slot,
    Verdict(Verdict),
}

impl Column {
    pub fn new(
        key: impl Into<Cow<'static, str>>,
        heading: impl Into<String>,
        priority: u8,
    ) -> Column {
        Column {
            key: key.into(),
            heading: heading.into(),
            meaning: String::new(),
            priority,
            align: Align::Right,
            may_fold: false,
            is_explained: false,
        }
    }

    /// Columns whose headings say all, each with its priority; the first one is to the left.
    pub(crate) fn listed(headings: &[(&'static str, u8)]) -> Vec<Column> {
        let mut columns: Vec<Column> = headings
            .iter()
            .map(|(heading, priority)| Column::new(*heading, *heading, *priority))
            .collect();
        columns.iter_mut().take(1).for_each(|first| first.align = Align::Left);
        columns
    }

    #[must_use]
    pub fn left(mut self) -> Column {
        self.align = Align::Left;
        self
    }

    #[must_use]
    pub fn meaning(mut self, meaning: impl Into<String>) -> Column {
        self.meaning = meaning.into();
        self
    }

    #[must_use]
    pub fn explained(mut self) -> Column {
        self.is_explained = true;
        self
    }

    #[must_use]
    pub fn folding(mut self) -> Column {
        self.may_fold = true;
        self
    }
}

impl Cell {
    pub fn text(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), ..Cell::default() }
    }

    /// The text of a cell without a figure.
    const NONE: &str = "–";

    /// A cell without a figure.
    pub fn none() -> Cell {
        Cell { text: Cell::NONE.into(), tone: Tone::Dim, ..Cell::default() }
    }

    /// A number that is no measurement.
    pub(crate) fn number(number: usize) -> Cell {
        Cell::text(number.to_string()).valued(Some(number as f64))
    }

    /// A text, if it is known.
    pub(crate) fn known(text: Option<impl Into<String>>) -> Cell {
        text.map_or_else(Cell::none, Cell::text)
    }

    /// A share, if it is known.
    pub(crate) fn share(share: Option<f64>) -> Cell {
        share.map_or_else(Cell::none, |share| Cell::text(percent(share)).valued(Some(share)))
    }

    /// A verdict with its sign; there is none before the first trial.
    pub(crate) fn verdict(verdict: Option<Verdict>) -> Cell {
        let Some(verdict) = verdict else { return Cell::text("not run yet") };
        Cell { sign: Sign::Verdict(verdict), ..Cell::text(verdict.name()) }
    }

    #[must_use]
    pub fn toned(mut self, tone: Tone) -> Cell {
        self.tone = tone;
        self
    }

    #[must_use]
    pub fn marked(mut self, marks: Marks) -> Cell {
        self.marks = marks;
        self
    }

    #[must_use]
    pub fn linked(mut self, address: impl Into<String>) -> Cell {
        self.link = Some(address.into());
        self
    }

    #[must_use]
    pub fn valued(mut self, value: Option<f64>) -> Cell {
        self.value = value;
        self
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() || self.text == Cell::NONE
    }

    /// The text with its marks around it.
    pub(crate) fn marked_text(&self) -> String {
        self.marks.around(&self.text)
    }

    /// The text with its marks and its interval: `1,000? [981–1,020]`.
    pub fn whole_text(&self) -> String {
        match &self.interval {
            None => self.marked_text(),
            Some(interval) => format!("{} {interval}", self.marked_text()),
        }
    }
}

impl Table {
    /// A table of one view.
    pub fn of(
        key: impl Into<String>,
        columns: Vec<Column>,
        rows: impl IntoIterator<Item = Row>,
    ) -> Table {
        let view = View { key: "0".into(), name: String::new(), rows: rows.into_iter().collect() };
        Table { key: key.into(), columns, views: vec![view], ..Table::default() }
    }

    #[must_use]
    pub(crate) fn noting(mut self, notes: Vec<String>) -> Table {
        self.notes = notes;
        self
    }

    #[must_use]
    pub fn captioned(mut self, caption: impl Into<String>) -> Table {
        self.caption = caption.into();
        self
    }

    /// Without the columns with these keys.
    #[must_use]
    pub(crate) fn without(mut self, keys: &[&str]) -> Table {
        let is_kept = |column: &Column| !keys.contains(&column.key.as_ref());
        let kept: Vec<bool> = self.columns.iter().map(is_kept).collect();
        self.columns.retain(is_kept);
        for row in self.views.iter_mut().flat_map(|view| &mut view.rows) {
            let mut kept = kept.iter();
            row.cells.retain(|_| kept.next().is_none_or(|kept| *kept));
        }
        self
    }

    /// All rows of all views except the view of best rows, subject by subject; if there is one view only, its rows as
    /// they are.
    pub(crate) fn all_rows(&self) -> Vec<&Row> {
        let views = if 1 < self.views.len() { &self.views[1..] } else { &self.views[..] };
        let mut rows: Vec<&Row> = views.iter().flat_map(|view| &view.rows).collect();
        if 1 < self.views.len() {
            rows.sort_by_key(|row| (row.is_reference, row.slot));
        }
        rows
    }

    /// Columns with the same text in every row, with that text.
    pub fn alike(&self) -> Vec<(usize, String)> {
        let text = |row: &Row, place: usize| Some(row.cells.get(place)?.whole_text());
        let rows = || self.views.iter().flat_map(|view| &view.rows);
        let only_text = |place: usize| {
            let mut texts = rows().filter_map(|row| text(row, place));
            let first = texts.next()?;
            (texts.next()? == first && texts.all(|text| text == first)).then_some((place, first))
        };
        let folding = (0..self.columns.len()).filter(|&place| self.columns[place].may_fold);
        folding.filter_map(only_text).collect()
    }

    /// `the same in all rows: rounds 1 · failed 0 %`, for columns up to this priority; none if no column is alike.
    pub(crate) fn alike_line(&self, priority: u8) -> Option<String> {
        let alike = self.alike();
        let is_said = |text: &str| !text.is_empty() && text != Cell::NONE;
        let said: Vec<String> = alike
            .iter()
            .filter(|(place, text)| self.columns[*place].priority <= priority && is_said(text))
            .map(|(place, text)| format!("{} {text}", self.columns[*place].heading))
            .collect();
        (!said.is_empty()).then(|| format!("the same in all rows: {}", said.join(" · ")))
    }

    /// The indices of the columns that remain.
    pub(crate) fn columns_shown(&self) -> Vec<usize> {
        let alike: Vec<usize> = self.alike().into_iter().map(|(place, _)| place).collect();
        (0..self.columns.len()).filter(|place| !alike.contains(place)).collect()
    }

    /// Those of them up to this priority.
    pub(crate) fn columns_upto(&self, priority: u8) -> Vec<usize> {
        let mut places = self.columns_shown();
        places.retain(|&place| self.columns[place].priority <= priority);
        places
    }

    /// The meaning of the columns that are shown and of the marks that occur, without what other tables have `said`.
    pub(crate) fn legend(
        &self,
        shown: &[usize],
        rows: &[&Row],
        said: &mut Vec<String>,
    ) -> Vec<String> {
        let columns = shown.iter().map(|&place| &self.columns[place]);
        let explained = columns.filter(|column| column.is_explained);
        let cells = rows.iter().flat_map(|row| shown.iter().filter_map(|&at| row.cells.get(at)));
        let marks = cells.fold(Marks::default(), |all, cell| all.and(cell.marks));
        let mut parts = self.notes.clone();
        parts.extend(explained.map(|column| format!("{}: {}", column.heading, column.meaning)));
        parts.extend(marks.iter().map(|mark| format!("{} {}", mark.name(), mark.meaning())));
        parts.retain(|part| !said.contains(part));
        said.extend_from_slice(&parts);
        parts
    }
}
