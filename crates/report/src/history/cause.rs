//! Changes by their cause: what changed in several series from the same commit or run on is one change.

use analysis::trend::{Before, Needed, Shift};
use lab::figure::{Better, Figure};
use units::{counted, percent};

use super::line::Line;
use super::naming::{commit, heading, name, place, run};
use super::proof::{clean_commit, proof};
use super::series::{Per, Series, Trend};
use crate::document::{Entry, Tone};
use crate::grouped::grouped;
use crate::number_format::Written;
use crate::time::utc;

/// Changes that began with one run, or with runs of one commit.
pub(super) struct Cause<'t> {
    /// The first run of the new levels.
    first: &'t Line,
    shifts: Vec<(&'t Series, &'t Shift)>,
}

/// The newest first.
pub(super) fn causes(trend: &Trend) -> Vec<Cause<'_>> {
    let mut causes: Vec<Cause<'_>> = Vec::new();
    for (series, shift) in trend.shifts() {
        let Some(first) = series.lines.get(shift.first) else { continue };
        match causes.iter_mut().find(|cause| is_one(cause.first, first)) {
            Some(cause) => cause.shifts.push((series, shift)),
            None => causes.push(Cause { first, shifts: vec![(series, shift)] }),
        }
    }
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.first.run.began_unix_ms));
    causes
}

fn is_one(one: &Line, other: &Line) -> bool {
    one.run.began_unix_ms == other.run.began_unix_ms
        || clean_commit(one).is_some_and(|hash| Some(hash) == clean_commit(other))
}

/// At most this many changes of a cause are in its sentence, and this many causes in the answer.
const NAMED: usize = 4;

/// The answer: since when, and by how much.
pub(super) fn sentence(causes: &[Cause<'_>]) -> String {
    let mut said: Vec<String> = causes.iter().take(NAMED).map(Cause::sentence).collect();
    if let Some(more @ 1..) = causes.len().checked_sub(NAMED) {
        said.push(format!("{} before that.", counted(more as u64, "more change", "more changes")));
    }
    said.join(" ")
}

impl Cause<'_> {
    /// `Since 491c648a: throughput/s −23 %, p50 +30 % (demo, hello: hyper at 64 connections).`
    fn sentence(&self) -> String {
        let since = commit(self.first, 8)
            .unwrap_or_else(|| format!("the run of {}", utc(self.first.run.began_unix_ms)));
        let places = self.shifts.chunk_by(|(one, _), (other, _)| place(one) == place(other));
        let mut left = NAMED;
        let mut said = Vec::new();
        for shifts in places {
            let named: Vec<String> = shifts
                .iter()
                .take(left)
                .map(|(series, shift)| format!("{} {}", heading(series), size(shift)))
                .collect();
            left -= named.len();
            if !named.is_empty() {
                said.push(format!("{} ({})", named.join(", "), place(shifts[0].0)));
            }
        }
        let more = match self.shifts.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        format!("Since {since}: {}{more}.", said.join("; "))
    }

    /// What changed, and the commands that prove it, each once.
    pub(super) fn entries(&self) -> Vec<Entry> {
        let mut entry = match self.shifts[..] {
            [(series, shift)] => {
                let first = format!("first run of the new level: {}", run(self.first));
                let mut entry = Entry::new(tone(series, shift), head(series, shift));
                entry = entry.with(Tone::Plain, first);
                told(series, shift)
                    .into_iter()
                    .fold(entry, |all, (tone, says)| all.with(tone, says))
            }
            _ => self.together(),
        };
        let mut further: Vec<Entry> = Vec::new();
        for (series, shift) in &self.shifts {
            let Some(last) = shift.first.checked_sub(1).and_then(|at| series.lines.get(at)) else {
                continue;
            };
            match proof(last, &series.lines[shift.first]) {
                Ok(proof) if entry.command.is_empty() => {
                    entry = Entry { command: proof.command, ..entry.with(Tone::Plain, proof.says) };
                }
                Ok(proof) => {
                    let mut said = std::iter::once(&entry).chain(&further);
                    if !said.any(|entry| entry.command == proof.command) {
                        let proving =
                            Entry::new(Tone::Plain, format!("{} {}", name(series), proof.says));
                        further.push(Entry { command: proof.command, ..proving });
                    }
                }
                Err(why) if !entry.lines.iter().any(|line| line.text == why) => {
                    entry = entry.with(Tone::Dim, why);
                }
                Err(_) => {}
            }
        }
        std::iter::once(entry).chain(further).collect()
    }

    /// Several series in one entry.
    fn together(&self) -> Entry {
        let is_any =
            |wanted: &Tone| self.shifts.iter().any(|(of, shift)| tone(of, shift) == *wanted);
        let worst = [Tone::Bad, Tone::Doubtful].into_iter().find(is_any);
        let all = counted(self.shifts.len() as u64, "series", "series");
        let head_of_all = format!("since {}: {all} changed", run(self.first));
        let mut entry = Entry::new(worst.unwrap_or(Tone::Good), head_of_all);
        // What is the same of several is said below all of these.
        let alike = grouped(self.shifts.iter().map(|(series, shift)| {
            (told(series, shift), (tone(series, shift), head(series, shift)))
        }));
        for (told, heads) in alike {
            for (tone, says) in heads.into_iter().chain(told) {
                entry = entry.with(tone, says);
            }
        }
        entry
    }
}

/// A percentage has one digit behind the point.
const FINEST: f64 = 0.001;

/// `−23 %`, or `3.1×` where it is more than half or twice; and where it is too small for a percentage.
fn size(shift: &Shift) -> String {
    let ratio = shift.ratio;
    match ratio {
        _ if (ratio - 1.0).abs() < FINEST => {
            format!("{}×", Written::ratio(ratio, Some(shift.interval)).value)
        }
        0.5..1.0 => format!("−{}", percent(1.0 - ratio)),
        1.0..2.0 => format!("+{}", percent(ratio - 1.0)),
        _ => format!("{}×", Written::ratio(ratio, None).value),
    }
}

/// Whether it is better or worse.
fn tone(series: &Series, shift: &Shift) -> Tone {
    match (series.figure.map(Figure::better), 1.0 < shift.ratio) {
        (Some(Better::Higher), true) | (Some(Better::Lower), false) => Tone::Good,
        (Some(Better::Higher), false) | (Some(Better::Lower), true) => Tone::Bad,
        (Some(Better::Neither) | None, _) => Tone::Doubtful,
    }
}

/// Which series changed, and by how much.
fn head(series: &Series, shift: &Shift) -> String {
    let word = match tone(series, shift) {
        Tone::Good => "better",
        Tone::Bad => "worse",
        Tone::Plain | Tone::Dim | Tone::Strong | Tone::Doubtful => "changed",
    };
    let ratio = Written::ratio(shift.ratio, Some(shift.interval));
    format!("{}: {word}, {}×{}", name(series), ratio.value, ratio.between())
}

/// What there is to say of a change, but for the command that proves it.
fn told(series: &Series, shift: &Shift) -> Vec<(Tone, String)> {
    let needed = needs("a change of this size", shift.needed);
    let mut told = vec![(Tone::Dim, format!("p {}; {needed}", probability(shift.p)))];
    told.extend(moved(series, shift.before).map(|says| (Tone::Doubtful, says)));
    let last = shift.first.checked_sub(1).and_then(|at| series.lines.get(at));
    if let Some((last, first)) = last.zip(series.lines.get(shift.first)) {
        told.extend(beside(last, first).into_iter().map(|says| (Tone::Doubtful, says)));
    }
    if series.per == Per::FirstSide {
        told.push((Tone::Dim, "either side may have changed".into()));
    }
    told
}

/// What else changed between two runs, which no commit shows.
fn beside(last: &Line, first: &Line) -> Vec<String> {
    let none = || "unknown".to_string();
    let pairs = [
        ("dyno", last.dyno_version.clone(), first.dyno_version.clone()),
        (
            "the kernel",
            last.kernel.clone().unwrap_or_else(none),
            first.kernel.clone().unwrap_or_else(none),
        ),
    ];
    let changed = pairs.into_iter().filter(|(_, was, is)| was != is);
    changed.map(|(what, was, is)| format!("{what} changed there, too: {was}, then {is}")).collect()
}

fn moved(series: &Series, before: Before) -> Option<String> {
    match before {
        Before::Same => None,
        Before::Nothing => Some("announced with the last run for the first time".into()),
        Before::At(place) => Some(format!(
            "before the last run it was announced at {}",
            series.lines.get(place).map_or(String::new(), run)
        )),
    }
}

fn needs(what: &str, needed: Option<Needed>) -> String {
    match needed {
        Some(Needed::Runs(runs)) => {
            format!("{what} is seen after {runs} runs in nine of ten cases")
        }
        Some(Needed::MoreThan(runs)) => {
            format!("{what} may take more than {runs} runs to be seen")
        }
        None => format!("how many runs {what} needs is not known for so many or so short series"),
    }
}

fn probability(p: f64) -> String {
    if p < 0.001 { "<0.001".into() } else { units::trimmed(p, 3) }
}
