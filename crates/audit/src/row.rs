//! One row of published results: the figures that were published of one load, as plain values.

use analysis::Gravity;

use crate::text::time;

/// Of three digits, two different figures share all in one of several hundred cases.
const DIGITS: f64 = 0.01;

/// A time as it was published.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Time {
    /// In nanoseconds; in the publisher's unknown unit where the row has no unit.
    pub value: f64,
    /// What the last printed digit stands for: the true value is at most half of it away.
    pub step: f64,
}

impl Time {
    /// A time that was not rounded for a reader.
    #[must_use]
    pub fn exact(value: f64) -> Time {
        Time { value, step: 0.0 }
    }

    /// Whether it has so few digits that different times may have the same by chance.
    #[must_use]
    pub fn is_coarse(self) -> bool {
        DIGITS * self.value < self.step
    }

    /// The least that was rounded to it.
    #[must_use]
    pub fn least(self) -> f64 {
        self.value - self.step / 2.0
    }

    /// The most that was rounded to it.
    #[must_use]
    pub fn most(self) -> f64 {
        self.value + self.step / 2.0
    }
}

/// How many requests can have been under way at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// At most so many: connections, times the requests that each carries at once.
    UnderWay(f64),
    Unknown(NoLimit),
}

/// Why it is not known how many requests can have been under way at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoLimit {
    /// The file does not say how many connections there were.
    Connections,
    /// A connection carries many requests at once (HTTP/2, HTTP/3, gRPC), and the file does not say how many.
    Streams,
    /// The figures are means of several runs: the product of two means is not the mean of the products.
    Averages,
    /// Requests were pipelined, and the file does not say how many at once.
    Pipelined,
    /// Requests were due by a schedule: their times include a wait that no connection carried.
    Schedule,
    /// The file does not say what started the requests: virtual users or a schedule.
    Executor,
    /// What was loaded how is written in the file's name, and this name does not say.
    Profile,
}

/// Which figure has no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MarkOf {
    /// The one by which rows are ranked.
    Rate,
    /// A mean or a percentile.
    Time,
    /// Any other.
    Aside,
}

/// A number that stands for the absence of a number: −1, 0, NaN.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mark {
    pub of: MarkOf,
    /// The name of the figure in its file.
    pub figure: String,
    /// What stands there.
    pub text: String,
}

/// What a file itself says against one of its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnVerdict {
    pub gravity: Gravity,
    /// The stable names of its reasons, as they stand in the file.
    pub doubts: Vec<String>,
}

/// What was published of one load.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The server, or the file.
    pub name: String,
    /// The name is the server's. Rows without one may all be of one server, which has one speed.
    pub names_server: bool,
    /// What was loaded how: rows of one place can be compared.
    pub place: String,
    pub connections: Option<f64>,
    pub limit: Limit,
    /// Requests each second.
    pub rate_per_s: Option<f64>,
    /// The constant rate that was to be offered, if there was one.
    pub asked_per_s: Option<f64>,
    pub mean: Option<Time>,
    /// Shares from 0 to 1 and times, by ascending share. The shortest time has the share 0, the longest 1.
    pub percentiles: Vec<(f64, Time)>,
    /// How many requests the times are of.
    pub samples: Option<f64>,
    /// How many requests failed, at least.
    pub failed: Option<f64>,
    /// How many more may have failed: the file does not say of these whether they did.
    pub unclear: f64,
    /// How many requests the stated rate counts, and in how many seconds, as it was printed. None where a program does not
    /// say which requests its rate counts.
    pub counted: Option<(f64, Time)>,
    /// The standard deviation of the times.
    pub sd: Option<Time>,
    /// How many requests there were, failed ones included.
    pub requests: Option<f64>,
    /// Whether the times have a unit.
    pub has_unit: bool,
    /// Other figures that were printed without their unit.
    pub unitless: Vec<String>,
    pub marks: Vec<Mark>,
    /// None where the file says nothing against the row.
    pub own: Option<OwnVerdict>,
}

const PERCENTILES_AT_MOST: usize = 64;
/// A time that is printed as zero is rounded if its last digit stands for at least so many nanoseconds.
const COARSE: f64 = 1e5;

impl Row {
    pub(crate) fn new(name: impl Into<String>, place: impl Into<String>, limit: Limit) -> Row {
        Row {
            name: name.into(),
            names_server: false,
            place: place.into(),
            connections: None,
            limit,
            rate_per_s: None,
            asked_per_s: None,
            mean: None,
            percentiles: Vec::new(),
            samples: None,
            failed: None,
            unclear: 0.0,
            counted: None,
            sd: None,
            requests: None,
            has_unit: true,
            unitless: Vec::new(),
            marks: Vec::new(),
            own: None,
        }
    }

    /// Adds the time that this share of the requests took at most, unless it is there already; of no request it is the
    /// shortest one, by which nothing is ranked. No program writes more of them than so many.
    pub(crate) fn percentile(&mut self, figure: &str, share: f64, time: Option<Time>) {
        let of = if share == 0.0 { MarkOf::Aside } else { MarkOf::Time };
        let Some(time) = time.and_then(|time| self.time_of(of, figure, time)) else { return };
        let is_room = self.percentiles.len() < PERCENTILES_AT_MOST;
        if is_room && (0.0..=1.0).contains(&share) && self.at(share).is_none() {
            let place = self.percentiles.partition_point(|(other, _)| *other < share);
            self.percentiles.insert(place, (share, time));
        }
    }

    /// A time as it is printed; if it has no unit, the row has none.
    pub(crate) fn printed(&mut self, text: Option<&str>) -> Option<Time> {
        let (found, has_unit) = time(text?)?;
        let is_figure = 0.0 < found.value && found.value.is_finite();
        self.has_unit &= has_unit || !is_figure;
        Some(found)
    }

    /// The time of a percentile.
    #[must_use]
    pub fn at(&self, share: f64) -> Option<Time> {
        let near = |(other, _): &&(f64, Time)| (other - share).abs() < 1e-9;
        self.percentiles.iter().find(near).map(|(_, time)| *time)
    }

    /// A rate or a total, which is above zero where it was measured; anything else is a mark.
    pub(crate) fn above_zero(&mut self, figure: &str, number: Option<f64>) -> Option<f64> {
        self.kept(MarkOf::Rate, figure, number?, |number| 0.0 < number)
    }

    /// A count, which may be zero.
    pub(crate) fn count(&mut self, figure: &str, number: Option<f64>) -> Option<f64> {
        self.kept(MarkOf::Aside, figure, number?, |number| 0.0 <= number)
    }

    /// A time above zero; anything else is a mark.
    pub(crate) fn time(&mut self, figure: &str, time: Option<Time>) -> Option<Time> {
        self.time_of(MarkOf::Time, figure, time?)
    }

    fn time_of(&mut self, of: MarkOf, figure: &str, time: Time) -> Option<Time> {
        if time.value == 0.0 && COARSE <= time.step {
            return None;
        }
        let step = time.step;
        self.kept(of, figure, time.value, |value| 0.0 < value).map(|value| Time { value, step })
    }

    fn kept(
        &mut self,
        of: MarkOf,
        figure: &str,
        number: f64,
        is_figure: impl Fn(f64) -> bool,
    ) -> Option<f64> {
        if number.is_finite() && is_figure(number) {
            return Some(number);
        }
        self.marks.push(Mark { of, figure: figure.into(), text: number.to_string() });
        None
    }

    /// Whether its rate is a number, or simply not given.
    pub(crate) fn is_measured(&self) -> bool {
        self.marks.iter().all(|mark| mark.of != MarkOf::Rate)
    }

    /// A load ended with so many requests under way, which no figure counts. If fewer than a tenth as many were under way on
    /// average, by Little's law, these were perhaps waiting for answers that never came.
    pub(crate) fn ended_with(&mut self, under_way: f64) {
        let Some((rate_per_s, mean)) = self.rate_per_s.zip(self.mean) else { return };
        if rate_per_s * mean.most() / 1e9 < under_way / 10.0 {
            self.unclear += under_way;
            self.requests = self.requests.map(|requests| requests + under_way);
        }
    }

    /// The share of the requests that failed.
    #[must_use]
    pub fn failed_share(&self) -> Option<f64> {
        let (failed, requests) = (self.failed?, self.requests?);
        (0.0 < requests).then(|| failed / requests)
    }
}

/// The place of a row of which no more is known than its connections.
pub(crate) fn place_of(connections: Option<f64>) -> String {
    connections.map_or(String::new(), |number| format!("{number} connections"))
}
