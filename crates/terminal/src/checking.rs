//! The progress of a check, on standard error: one line that is redrawn on a terminal, and two lines elsewhere.

use std::time::{Duration, Instant};

use check::{Report, VerdictCounts};

use report::paint::{Line, Tone, bar};
use units::duration;

const EVERY: Duration = Duration::from_millis(100);

/// Shows the progress of one check.
pub struct Progress {
    name: String,
    is_live: bool,
    is_coloured: bool,
    drawn: Option<Instant>,
}

impl Progress {
    pub fn begin(name: &str, cases: usize, rounds: usize) -> Progress {
        let is_live = crate::stderr_is_live();
        let is_coloured = is_live && !crate::colour_is_refused();
        if !is_live {
            crate::notice(&format!("checking {name}: {}", plan(cases, rounds)));
        }
        Progress { name: name.into(), is_live, is_coloured, drawn: None }
    }

    /// A case was run.
    pub fn update(&mut self, now: check::Progress) {
        if !self.is_live || self.drawn.is_some_and(|drawn| drawn.elapsed() < EVERY) {
            return;
        }
        self.drawn = Some(Instant::now());
        let share = now.done as f64 / now.all.max(1) as f64;
        let line = Line::toned(Tone::Strong, format!("checking {}", self.name))
            .and(Tone::Dim, format!("  {:<10}  {}/{}", bar(share.min(1.0), 10), now.done, now.all))
            .and(Tone::Plain, format!("  {} {}", now.case.id, now.case.title));
        let width = crate::stderr_size().0.saturating_sub(1);
        crate::draw(&format!("\r{}\x1b[K", line.cut(width).shown(self.is_coloured)));
    }

    /// The check is over.
    pub fn end(&self, report: &Report) {
        if self.is_live {
            crate::draw("\r\x1b[K");
        }
        let tally = VerdictCounts::of(&report.findings);
        let took = duration(Duration::from_millis(report.took_ms.max(1)));
        crate::notice(&format!(
            "checked {} in {took}: {} of {} cases decided, {} failed",
            self.name,
            tally.tested(),
            tally.applicable(),
            tally.fail + tally.crash
        ));
    }
}

fn plan(cases: usize, rounds: usize) -> String {
    let times = if rounds == 1 { "once".to_string() } else { format!("{rounds} times each") };
    let cases = if cases == 1 { "1 case".to_string() } else { format!("{cases} cases") };
    format!("{cases}, {times}")
}
