//! The progress of a run: which trial of how many, what it does now, how long it will take; finished results as they
//! arrive.

use std::time::{Duration, Instant};

use ::agents::AgentNow;
use campaign::race::procedure;
use campaign::{Campaign, EACH, Event};
use lab::conformance::{Conformance, VerdictCounts};
use lab::experiment::Experiment;
use lab::record::{OutcomeKind, TrialKey, TrialRecord};
use lab::trial;
use load::{Glance, Holding, Quantile};

use crate::agents;
use crate::searches::Searches;
use report::paint::{Line, Tone, bar};
use report::run::experiment_text::place_in;
use units::{bytes, count, duration, nanos, rate};

const EVERY: Duration = Duration::from_millis(200);

/// Shows the progress of a run on standard error.
pub struct Progress<'c> {
    experiment: &'c Experiment,
    is_live: bool,
    is_coloured: bool,
    began: Instant,
    /// How long each trial is expected to take: those of this session that have begun, and those that may come.
    expected: Vec<Duration>,
    /// How many have begun in this session.
    begun: usize,
    /// Fewer trials than these may run: their number is determined by the data.
    is_bound: bool,
    /// Those kept before this session.
    before: usize,
    title: String,
    /// Its trials are those of searches for capacities.
    searches: Searches,
    /// Several trials are under way, in turns.
    is_shared: bool,
    doing: Line,
    /// What the agents of the trial do now; empty without agents.
    agents: Vec<AgentNow>,
    drawn: Option<Instant>,
    /// Lines on the screen that will be redrawn.
    rows: usize,
}

/// What happens before a run begins.
pub fn admitting(event: &Event<'_>) {
    match event {
        Event::Notice(says) => crate::notice(&format!("dyno: {says}")),
        Event::Building { name, command } => {
            crate::notice(&format!("building {name}: {command}"));
        }
        Event::BuildLog { name, tail } => {
            crate::notice(&format!("the end of what the build of {name} wrote:"));
            tail.lines().for_each(|line| crate::notice(&format!("  {line}")));
        }
        Event::Excluded { subject, why } => {
            crate::notice(&format!("dyno: {subject} does not take part: {why}"));
        }
        _ => {}
    }
}

impl<'c> Progress<'c> {
    /// This many trials were kept before.
    pub fn open(campaign: &'c Campaign, before: usize) -> Progress<'c> {
        let experiment = &campaign.experiment;
        Progress {
            experiment,
            is_live: crate::stderr_is_live(),
            is_coloured: crate::stderr_is_live() && !crate::colour_is_refused(),
            began: Instant::now(),
            expected: Vec::new(),
            begun: 0,
            is_bound: experiment.until.is_some() || experiment.pairs.is_some(),
            before,
            title: String::new(),
            searches: Searches::default(),
            is_shared: false,
            doing: Line::default(),
            agents: Vec::new(),
            drawn: None,
            rows: 0,
        }
    }

    /// Something happened.
    pub fn update(&mut self, event: &Event<'_>) {
        match event {
            Event::Notice(_)
            | Event::Building { .. }
            | Event::BuildLog { .. }
            | Event::Excluded { .. } => admitting(event),
            Event::Checks { subjects, cases } => {
                crate::notice(&checks(self.experiment, *subjects, *cases));
            }
            Event::Checking { subject, place, subjects, done, cases } => {
                if self.is_live {
                    let title = format!("checking {subject} ({place} of {subjects})");
                    self.draw_check(&title, *done as f64 / (*cases).max(1) as f64);
                }
            }
            Event::Checked(found) => {
                self.clear();
                let from =
                    found.from_run.map_or(String::new(), |run| format!(" (checked in run {run})"));
                crate::notice(&format!("{}: {}{from}", found.subject, short(found)));
            }
            Event::Left(left) => {
                self.expected.truncate(self.begun);
                let expected = |key: &&TrialKey| self.experiment.trial_time(key.point);
                self.expected.extend(left.iter().map(expected));
            }
            Event::Begun(key) => self.begin(key),
            Event::Together(keys) => self.together(keys),
            Event::Trial(key, event) => self.within(key, event),
            Event::Abandoned | Event::SamplingEnded => self.clear(),
            Event::Again(key) => {
                self.clear();
                self.begun = self.begun.saturating_sub(1);
                crate::notice(&format!(
                    "  {}: an agent was lost; the trial is run once more at the end of its round",
                    key.subject
                ));
            }
            Event::Kept(trial) if self.searches.is_empty() => self.end(trial),
            Event::Sampling { key, place, of } => {
                if *place == 1 {
                    crate::notice(&format!(
                        "the measurement is over; {of} sampled trials follow, of about 6 s each (Ctrl-C ends them)"
                    ));
                }
                self.title = format!("{} · sampled trial {place} of {of}", key.subject);
                if !self.is_live {
                    crate::notice(&self.title);
                }
                self.is_shared = false;
                self.draw(true);
            }
            Event::Searching(begin) => self.searches = Searches::of(begin),
            Event::Tried { of, press, tried, progress } => {
                self.clear();
                let number = self.before + self.begun;
                let says = self.searches.add(of, (press, tried), progress);
                let number = Line::toned(Tone::Dim, format!("{number:4} "));
                self.print(number.and(Tone::Plain, says));
            }
            Event::Kept(_) | Event::FirstRoundKept | Event::BuildFailed { .. } => {}
        }
    }

    fn draw_check(&self, title: &str, share: f64) {
        let line =
            Line::toned(Tone::Strong, title).and(Tone::Dim, format!("  {:<10}", bar(share, 10)));
        let line = line.cut(crate::stderr_size().0.saturating_sub(1));
        crate::draw(&format!("\r{}\x1b[K", line.shown(self.is_coloured)));
    }

    /// A trial begins: the first of those that are possible.
    fn begin(&mut self, key: &TrialKey) {
        self.begun += 1;
        self.title = self.title_of(&key.subject, key);
        self.is_shared = false;
        self.doing = Line::toned(Tone::Dim, "starting");
        self.agents.clear();
        self.draw(true);
    }

    fn title_of(&self, subject: &str, key: &TrialKey) -> String {
        let place = place_in(Some(self.experiment), key.point);
        if !self.searches.is_empty() {
            return format!("{subject} · {} · {place}", key.workload);
        }
        format!("{subject} · {} · {place} · round {}", key.workload, key.repeat + 1)
    }

    /// The trial that has begun is one of several that live at once.
    fn together(&mut self, keys: &[&TrialKey]) {
        let subjects: Vec<&str> = keys.iter().map(|key| key.subject.as_str()).collect();
        self.title = self.title_of(&format!("{} in turns", subjects.join(" and ")), keys[0]);
        self.is_shared = true;
    }

    /// Something happened in the trial.
    fn within(&mut self, key: &TrialKey, event: &trial::Event<'_>) {
        let doing = match event {
            trial::Event::Launched { pid, port } => {
                Line::toned(Tone::Dim, format!("process {pid}, port {port}: waiting for an answer"))
            }
            trial::Event::Ready(after) => {
                Line::toned(Tone::Dim, format!("answered after {}", nanos(*after)))
            }
            trial::Event::Checked(check) => match &check.wrong {
                None => Line::toned(Tone::Dim, format!("`{}` is answered correctly", check.ask)),
                Some(wrong) => Line::toned(Tone::Bad, format!("`{}`: {wrong}", check.ask)),
            },
            trial::Event::Glance(glance, vitals) => glimpse(glance, vitals.cpu, vitals.memory),
            trial::Event::Agents(agents) => {
                self.agents = agents.to_vec();
                return self.draw(false);
            }
            trial::Event::Held(window, vitals) => {
                let says = report::hold::second(window);
                let line = Line::plain(says.trim_start().to_string());
                vitals.memory.map_or(line.clone(), |memory| {
                    line.and(Tone::Dim, "  memory ").and(Tone::Plain, bytes(memory as u64))
                })
            }
        };
        self.doing = match self.is_shared {
            true => Line::toned(Tone::Strong, format!("{}: ", key.subject)).joined(&doing),
            false => doing,
        };
        self.draw(!matches!(event, trial::Event::Glance(..) | trial::Event::Held(..)));
    }

    /// The trial was kept.
    fn end(&mut self, trial: &TrialRecord) {
        self.clear();
        let number = self.before + self.begun;
        let all = self.all();
        let width = all.chars().count();
        let line = Line::toned(Tone::Dim, format!("{number:>width$}/{all} "))
            .and(Tone::Plain, format!("{}  ", self.title_of(&trial.key.subject, &trial.key)));
        let (tone, says) = result(trial);
        self.print(line.and(tone, says));
    }

    fn print(&self, line: Line) {
        let line = if self.is_live { line.cut(crate::stderr_size().0) } else { line };
        crate::draw(&(line.shown(self.is_coloured) + "\n"));
    }

    fn draw(&mut self, at_once: bool) {
        let is_due = self.drawn.is_none_or(|drawn| EVERY <= drawn.elapsed());
        if !self.is_live || !(is_due || at_once) {
            return;
        }
        self.drawn = Some(Instant::now());
        let width = crate::stderr_size().0;
        let mut lines = vec![self.headline(), Line::plain("  ").joined(&self.doing)];
        let agents = agents::lines(&self.agents, width.saturating_sub(3));
        lines.extend(agents.into_iter().map(|line| Line::plain("  ").joined(&line)));
        let lines: Vec<String> = lines
            .into_iter()
            .map(|line| line.cut(width.saturating_sub(1)).shown(self.is_coloured) + "\x1b[K")
            .collect();
        let up = if self.rows == 0 { String::new() } else { format!("\x1b[{}A", self.rows) };
        self.rows = lines.len();
        crate::draw(&format!("{up}\r{}\r\n", lines.join("\r\n")));
    }

    /// Removes the lines from the screen that would be redrawn, or the one of a check.
    fn clear(&mut self) {
        match std::mem::take(&mut self.rows) {
            0 if self.is_live => crate::draw("\r\x1b[K"),
            0 => {}
            rows => crate::draw(&format!("\x1b[{rows}A\r\x1b[J")),
        }
    }

    fn headline(&self) -> Line {
        if !self.searches.is_empty() {
            return Line::toned(Tone::Strong, format!("trial {}", self.before + self.begun))
                .and(Tone::Plain, format!("  {}", self.title))
                .and(Tone::Dim, format!("  {}", self.searches.left()));
        }
        // Sampled trials alone.
        if self.begun == 0 {
            return Line::toned(Tone::Strong, self.title.clone());
        }
        let all = self.before + self.expected.len();
        let share = (self.before + self.begun - 1) as f64 / all.max(1) as f64;
        let about = if self.is_bound { "at most" } else { "about" };
        Line::toned(Tone::Strong, format!("trial {}/{}", self.before + self.begun, self.all()))
            .and(Tone::Dim, format!("  {:<10}", bar(share, 10)))
            .and(Tone::Plain, format!("  {}", self.title))
            .and(Tone::Dim, format!("  {about} {} left", duration(self.left())))
    }

    /// How many trials there will be in all; `≤60` if their number is determined by the data.
    fn all(&self) -> String {
        let bound = if self.is_bound { "≤" } else { "" };
        format!("{bound}{}", self.before + self.expected.len())
    }

    /// The remaining time, at the pace so far.
    fn left(&self) -> Duration {
        let sum = |range: &[Duration]| range.iter().sum::<Duration>().as_secs_f64();
        let (done, left) = self.expected.split_at(self.begun - 1);
        let pace =
            if done.len() < 3 { 1.0 } else { self.began.elapsed().as_secs_f64() / sum(done) };
        Duration::from_secs((sum(left) * pace.clamp(0.2, 20.0)).ceil() as u64)
    }
}

/// The load as it runs.
fn glimpse(glance: &Glance<'_>, cpu_ns_per_s: Option<f64>, memory: Option<f64>) -> Line {
    if glance.is_warmup {
        return Line::toned(Tone::Dim, "warming up");
    }
    let seconds = glance.now.saturating_sub(glance.from) as f64 / 1e9;
    let per_s = if seconds > 0.0 { glance.window.answered as f64 / seconds } else { 0.0 };
    let total = glance.total;
    let mut line = Line::plain(format!("{}/s", rate(per_s.round())));
    for (name, share) in [("p50", 0.5), ("p99", 0.99)] {
        if let Some(quantile) = total.response.quantile(share) {
            line = line.and(Tone::Dim, format!("  {name} ")).and(Tone::Plain, shown(quantile));
        }
    }
    let failed = total.failed_in_all();
    let tone = if failed == 0 { Tone::Dim } else { Tone::Bad };
    line = line.and(tone, format!("  failed {}", count(failed)));
    if let Some(cpu) = cpu_ns_per_s {
        line = line.and(Tone::Dim, "  CPU ").and(Tone::Plain, format!("{:.0} %", cpu / 1e7));
    }
    if let Some(memory) = memory {
        line = line.and(Tone::Dim, "  memory ").and(Tone::Plain, bytes(memory as u64));
    }
    line
}

fn shown(quantile: Quantile) -> String {
    format!("{}{}", if quantile.is_bound { "≥ " } else { "" }, nanos(quantile.value))
}

/// A finished trial in a few words.
fn result(trial: &TrialRecord) -> (Tone, String) {
    let measured = trial.outcome.kind == OutcomeKind::Measured;
    let failure = || (Tone::Bad, format!("{}: {}", trial.outcome.kind.name(), trial.outcome.says));
    if let Some(held) = trial.held.as_ref().filter(|_| measured) {
        return held_result(&held.holding);
    }
    let Some(loaded) = trial.loaded.as_ref().filter(|_| measured) else {
        return failure();
    };
    let recording = &loaded.recording;
    let value = |share| recording.total.response.quantile(share).map_or("–".to_string(), shown);
    let failed = recording.total.failed_in_all();
    let tone = if failed == 0 { Tone::Good } else { Tone::Doubtful };
    let throughput = analysis::throughput_per_s(recording).unwrap_or(0.0);
    let says = format!(
        "{}/s  p50 {}  p99 {}  failed {}",
        rate(throughput),
        value(0.5),
        value(0.99),
        count(failed)
    );
    (tone, says)
}

/// A ramp in a few words.
fn held_result(holding: &Holding) -> (Tone, String) {
    let Some(last) = holding.plateaus.last() else { return (Tone::Bad, "nothing was held".into()) };
    let sum = |of: fn(&load::Plateau) -> u64| holding.plateaus.iter().map(of).sum::<u64>();
    let (failed, lost) = (sum(load::Plateau::failed_in_all), sum(load::Plateau::lost_in_all));
    let late = last.late.quantile(0.99).map_or("–".to_string(), |late| nanos(late.value));
    let is_whole = failed + lost + last.silent == 0;
    let tone = if is_whole { Tone::Good } else { Tone::Doubtful };
    let (open, silent) = (count(last.open), count(last.silent));
    let (failed, lost) = (count(failed), count(lost));
    (tone, format!("{open} held  failed {failed}  lost {lost}  silent {silent}  late p99 {late}"))
}

/// How much will be checked, and how long that takes.
fn checks(experiment: &Experiment, subjects: usize, cases: usize) -> String {
    let way_out = match (experiment.name.as_str(), experiment.pairs.is_some()) {
        (procedure::GATE, true) => "; `--gate throughput,cpu` leaves it out",
        // A race has checks only where they are asked for.
        (procedure::NAME, _) => "",
        _ => "; `--no-check` leaves it out",
    };
    let time = EACH * u32::try_from(subjects).unwrap_or(u32::MAX);
    format!(
        "conformance check of {}: {} cases each, about {} in all{way_out}",
        match subjects {
            1 => "1 server".into(),
            many => format!("{} servers", count(many as u64)),
        },
        count(cases as u64),
        duration(time)
    )
}

/// The result in a few words.
fn short(found: &Conformance) -> String {
    match &found.found {
        Err(why) => format!("not checked: {why}"),
        Ok(report) => {
            let tally = VerdictCounts::of(&report.findings);
            let crash = if tally.crash == 0 { "" } else { ", CRASH" };
            let cut_short = match report.cut_short.as_str() {
                "" => String::new(),
                why => format!("; cut short: {why}"),
            };
            format!(
                "{} of {} passed, MUST broken {}, security {}{crash}{cut_short}",
                tally.pass,
                tally.applicable(),
                tally.must_broken,
                tally.security.len()
            )
        }
    }
}
