//! A figure of two sides that are compared, B with A: both values, their ratio with the interval that decides, and what it
//! says of B. Gates, comparisons, prices and races have it in the same words, in a table as in a sentence.

mod sentence;

use std::fmt;

use analysis::{Change, Comparison, Pair, Why};
use lab::figure::Figure;
use units::{count, digits};

use crate::chart::Value;
use crate::document::{Cell, Column, Tone};
use crate::number_format::Written;
pub(crate) use sentence::{NAMED, against, each, listed};

/// Ends of intervals beyond a factor of a thousand have no digits that mean anything.
const LEAST: f64 = 0.001;
const MOST: f64 = 1_000.0;

/// B divided by A.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ratio {
    pub(crate) value: f64,
    /// None: of single rounds.
    pub(crate) interval: Option<(f64, f64)>,
    /// Whether A is a bound, so that the true ratio may be less, and whether B is one.
    pub(crate) bounds: [bool; 2],
}

impl From<&Comparison> for Ratio {
    fn from(made: &Comparison) -> Ratio {
        Ratio { value: made.ratio, interval: Some(made.interval), bounds: made.bounds() }
    }
}

impl Ratio {
    /// Of a figure of a pair, also where it is of single rounds.
    pub(crate) fn of(pair: &Pair<'_>, figure: Figure) -> Option<Ratio> {
        let made = pair.made(figure).ok().map(|made| Ratio::from(&made));
        made.or_else(|| pair.single_ratio(figure).map(Ratio::single))
    }

    /// Of single rounds, which have no interval.
    pub(crate) fn single(value: f64) -> Ratio {
        Ratio { value, interval: None, bounds: [false; 2] }
    }

    /// `0.98×` and `[0.95–1.01]`; of a bound `≥1.91×` and `[≥1.88]`.
    pub(crate) fn written(&self) -> (String, Option<String>) {
        match self.bounds {
            [true, _] => self.bounded("≤", self.interval.map(|(_, high)| high)),
            [_, true] => self.bounded("≥", self.interval.map(|(low, _)| low)),
            [false, false] => {
                let written = Written::ratio(self.value, self.interval);
                (format!("{}×", written.value), self.far_ends().or(written.interval))
            }
        }
    }

    /// A bound and the end of its interval that bounds it, too.
    fn bounded(&self, mark: &str, end: Option<f64>) -> (String, Option<String>) {
        let written = |value| format!("{mark}{}", Written::bare(value, None).value);
        (format!("{}×", written(self.value)), end.map(|end| format!("[{}]", written(end))))
    }

    /// `[0.95 to >1,000]`, where an end has no digits that mean anything. A ratio that itself lies beyond these bounds has
    /// its interval in full: otherwise an end would lie on its wrong side.
    fn far_ends(&self) -> Option<String> {
        let (low, high) = self.interval?;
        let is_far = low < LEAST || MOST < high;
        let is_usual = (LEAST..=MOST).contains(&self.value);
        (is_usual && is_far).then(|| format!("[{} to {}]", far_end(low), far_end(high)))
    }

    pub(crate) fn cell(&self) -> Cell {
        let (text, interval) = self.written();
        Cell { interval, ..Cell::text(text).valued(Some(self.value)) }
    }
}

/// As a chart shows it.
impl From<Ratio> for Value {
    fn from(ratio: Ratio) -> Value {
        Value {
            value: Some(ratio.value),
            interval: ratio.interval,
            shown: ratio.written().0,
            says: ratio.to_string(),
            ..Value::default()
        }
    }
}

fn far_end(end: f64) -> String {
    match end {
        end if end < LEAST => format!("<{LEAST}"),
        end if MOST < end => format!(">{}", count(MOST as u64)),
        end => digits(end),
    }
}

/// `0.98× [0.95–1.01]`.
impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.written() {
            (ratio, None) => f.write_str(&ratio),
            (ratio, Some(interval)) => write!(f, "{ratio} {interval}"),
        }
    }
}

/// What is said of B.
#[derive(Clone, Debug)]
pub(crate) enum Finding {
    Worse,
    Better,
    Differs,
    /// It is no worse than is tolerated, by so much.
    Within(String),
    NotWorse,
    CannotTell,
    NotShown,
    /// It decides nothing.
    NotGated,
    /// Why it is not judged although it was compared: the loads are unlike, or it is in doubt.
    NotJudged(Option<&'static str>),
    NotCompared(Why),
}

impl Finding {
    /// What is found where any difference counts.
    pub(crate) fn of(made: &Result<Comparison, Why>) -> Finding {
        match made.as_ref().map(Comparison::finding) {
            Err(why) => Finding::NotCompared(*why),
            Ok(Change::Worse) => Finding::Worse,
            Ok(Change::Better) => Finding::Better,
            Ok(Change::Differs) => Finding::Differs,
            Ok(Change::Within | Change::NotShown) => Finding::NotShown,
        }
    }

    pub(crate) fn cell(&self) -> Cell {
        let (text, tone) = match self {
            Finding::Worse => ("worse".into(), Tone::Bad),
            Finding::Better => ("better".into(), Tone::Good),
            Finding::Differs => ("different".into(), Tone::Strong),
            Finding::Within(tolerance) => {
                (format!("alike, or worse by less than {tolerance}"), Tone::Dim)
            }
            Finding::NotWorse => ("not worse".into(), Tone::Good),
            Finding::CannotTell => ("cannot tell".into(), Tone::Doubtful),
            Finding::NotShown => ("no difference shown".into(), Tone::Dim),
            Finding::NotGated => ("not gated".into(), Tone::Dim),
            Finding::NotJudged(None) => ("not judged".into(), Tone::Dim),
            Finding::NotJudged(Some(why)) => (format!("not judged: {why}"), Tone::Doubtful),
            Finding::NotCompared(why) => (format!("not compared: {}", why.meaning()), Tone::Dim),
        };
        Cell::text(text).toned(tone)
    }
}

/// One figure of both sides.
pub(crate) struct PairedFigure {
    /// What it is of: `throughput/s, 16 connections`.
    pub(crate) name: String,
    /// A's value and B's.
    pub(crate) values: [Cell; 2],
    pub(crate) ratio: Option<Ratio>,
    pub(crate) finding: Finding,
}

/// The columns of such figures; the sides and the finding are headed like this.
pub(crate) fn columns([a, b]: [&str; 2], ratio: &str, finding: &str) -> Vec<Column> {
    vec![
        Column::new("figure", "figure", 0).left(),
        Column::new("a", a, 2),
        Column::new("b", b, 2),
        Column::new("ratio", ratio, 0),
        Column::new("finding", finding, 0).left(),
    ]
}

impl PairedFigure {
    /// Its row in these columns.
    pub(crate) fn cells(self) -> Vec<Cell> {
        let [a, b] = self.values;
        let ratio = self.ratio.map_or_else(Cell::none, |ratio| ratio.cell());
        vec![Cell::text(self.name), a, b, ratio, self.finding.cell()]
    }
}

#[cfg(test)]
mod tests {
    use super::Ratio;

    #[test]
    fn no_end_of_an_interval_lies_on_the_wrong_side_of_its_ratio() {
        let says = |value, interval| {
            Ratio { value, interval: Some(interval), bounds: [false; 2] }.written().1.unwrap()
        };
        assert_eq!(says(0.98, (0.95, 1.01)), "[0.95–1.01]");
        assert_eq!(says(12.0, (2.0, 75_000.0)), "[2.00 to >1,000]");
        assert_eq!(says(0.5, (0.000_01, 25.0)), "[<0.001 to 25.0]");
        assert_eq!(says(1_130.0, (917.0, 1_390.0)), "[920–1,390]");
    }
}
