//! The live view as lines of text, for any size of terminal. Pure.

use load::{Failure, Nanos, SECOND};
use units::{count, nanos, percent, rate};

use crate::agents;

use super::history::{History, Slot, Snapshot};
use super::picture::{self, Across};
use report::paint::{Line, Tone};

/// What stays the same during the run.
#[derive(Clone, Debug)]
pub(super) struct Header {
    /// `GET http://…`
    pub(super) target: String,
    pub(super) load: String,
    pub(super) warmup: Nanos,
    /// The measured time, if it is known.
    pub(super) length: Option<Nanos>,
    /// The number of requests, if it is known.
    pub(super) total: Option<u64>,
    pub(super) has_schedule: bool,
}

impl Header {
    /// How time lies across the pictures; None if there is no room for any.
    fn across(&self, history: &History, newest: &Snapshot, width: usize) -> Option<Across> {
        let zero = if newest.is_warmup { self.warmup } else { history.measured_from };
        Across::on(width, self.length.map(|length| zero + length), zero)
    }
}

/// Draws everything that fits: if there is little room, the most important lines come first.
pub(super) fn draw(header: &Header, history: &History, width: usize, height: usize) -> Vec<Line> {
    let (Some(newest), Some(lately)) = (history.newest(), history.lately()) else {
        return vec![Line::plain("dyno load: starting …").cut(width)];
    };
    let across = header.across(history, newest, width);
    let mut lines = vec![
        Line::toned(Tone::Strong, header.target.clone()),
        Line::toned(Tone::Dim, header.load.clone()),
        progress(header, history, newest, width),
    ];
    let is_roomy = 16 <= height;
    let gap = |lines: &mut Vec<Line>| lines.extend(is_roomy.then(Line::default));
    gap(&mut lines);
    lines.extend(rates(header, history, &lately, across));
    gap(&mut lines);
    lines.extend(latencies(&lately, newest, width));
    lines.extend(agents::lines(&history.agents, width));
    let failures = failures(newest, width);
    let room = height.saturating_sub(lines.len() + failures.len().min(4) + 1);
    if let Some(across) = across {
        let slots = history.slots.iter().map(|slot| (slot.from, slot.p50, slot.p99));
        let slots: Vec<picture::Spread> = slots.collect();
        lines.extend(picture::quantiles(across, "response time", &slots, room.min(26)));
    }
    gap(&mut lines);
    lines.extend(failures);
    lines.truncate(height);
    lines.into_iter().map(|line| line.cut(width)).collect()
}

/// The progress: by time or by count, whichever is further.
fn progress(header: &Header, history: &History, newest: &Snapshot, width: usize) -> Line {
    if newest.is_warmup {
        if header.warmup == 0 {
            return Line::toned(Tone::Doubtful, "opening connections");
        }
        let left = header.warmup.saturating_sub(newest.now);
        return Line::toned(Tone::Doubtful, format!("warming up, {} left", tenths(left)));
    }
    let elapsed = newest.now.saturating_sub(history.measured_from);
    let by_time = header.length.map(|length| elapsed as f64 / length.max(1) as f64);
    let by_count = header.total.map(|total| newest.total_attempted as f64 / total.max(1) as f64);
    let share = by_time.into_iter().chain(by_count).fold(0.0, f64::max).min(1.0);
    let left = match share {
        share if 0.01 < share => elapsed as f64 * (1.0 - share) / share,
        _ => header.length.map_or(0.0, |length| length.saturating_sub(elapsed) as f64),
    };
    done(share, elapsed, left as Nanos, width)
}

/// A bar, the time that has passed, and the time that is left.
pub(super) fn done(share: f64, elapsed: Nanos, left: Nanos, width: usize) -> Line {
    let words = format!(" {}  {} left", tenths(elapsed), tenths(left));
    let room = width.saturating_sub(words.chars().count()).min(60);
    let done = (share.clamp(0.0, 1.0) * room as f64).round() as usize;
    Line::toned(Tone::Good, "━".repeat(done))
        .and(Tone::Dim, "─".repeat(room - done))
        .and(Tone::Plain, words)
}

fn tenths(time: Nanos) -> String {
    format!("{:.1} s", time as f64 / SECOND as f64)
}

fn rates(header: &Header, history: &History, lately: &Slot, across: Option<Across>) -> Vec<Line> {
    let over_time = |value: fn(&Slot) -> f64| -> Vec<(Nanos, f64)> {
        history.slots.iter().map(|slot| (slot.from, value(slot))).collect()
    };
    let offered = over_time(Slot::attempted_per_s);
    let answered = over_time(Slot::correct_per_s);
    let shown = if header.has_schedule { &offered } else { &answered };
    let top = shown.iter().chain(&answered).map(|slot| slot.1).fold(0.0, f64::max);
    let line = |name: &str, now: f64, values: &[(Nanos, f64)], tone: Tone| {
        let now = format!("{} /s", rate(now.round()));
        beside(name, &now, across.map(|across| picture::blocks(across, values, top)), tone)
    };
    let mut lines = Vec::new();
    if header.has_schedule {
        lines.push(line("offered", lately.attempted_per_s(), &offered, Tone::Dim));
    }
    lines.push(line("answered", lately.correct_per_s(), &answered, Tone::Good));
    lines
}

/// A name and a value, and their picture over time.
pub(super) fn beside(name: &str, now: &str, picture: Option<String>, tone: Tone) -> Line {
    let words = format!("{name:<9}{now:>12}  ");
    Line::plain(words).and(tone, picture.unwrap_or_default())
}

fn latencies(lately: &Slot, newest: &Snapshot, width: usize) -> Vec<Line> {
    let value = |value: Option<Nanos>| lately.written(value);
    let quantiles = Line::plain("response ")
        .and(Tone::Good, format!(" p50 {}", value(lately.p50)))
        .and(Tone::Plain, format!("   p90 {}", value(lately.p90)))
        .and(Tone::Doubtful, format!("   p99 {}", value(lately.p99)))
        .and(Tone::Plain, format!("   max {}", value(lately.max)));
    let state = format!(
        "in flight {}   sent late p99 {}",
        rate(newest.in_flight.round()),
        newest.late_p99.map_or("–".into(), nanos)
    );
    if quantiles.width() + 3 + state.chars().count() <= width {
        return vec![quantiles.and(Tone::Dim, format!("   {state}"))];
    }
    if quantiles.width() <= width {
        return vec![quantiles, Line::toned(Tone::Dim, format!("          {state}"))];
    }
    vec![
        Line::toned(Tone::Good, format!("p50 {:<9}", value(lately.p50)))
            .and(Tone::Plain, format!(" p90 {}", value(lately.p90))),
        Line::toned(Tone::Doubtful, format!("p99 {:<9}", value(lately.p99)))
            .and(Tone::Plain, format!(" max {}", value(lately.max))),
        Line::toned(Tone::Dim, state),
    ]
}

/// Each kind with its count, the most frequent first.
fn failures(newest: &Snapshot, width: usize) -> Vec<Line> {
    let total: u64 = newest.total_failed.iter().sum();
    let share = total as f64 / newest.total_attempted.max(1) as f64;
    let head = format!("of {} attempts ({})", count(newest.total_attempted), percent(share));
    if total == 0 {
        return vec![Line::plain("failures  0 ").and(Tone::Dim, head)];
    }
    let mut kinds: Vec<(Failure, u64)> =
        Failure::ALL.into_iter().zip(newest.total_failed).filter(|(_, times)| 0 < *times).collect();
    kinds.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    let mut lines =
        vec![Line::toned(Tone::Bad, format!("failures  {} ", count(total))).and(Tone::Dim, head)];
    for (failure, times) in kinds {
        let line = Line::toned(Tone::Bad, format!("{:>9}  {failure}", count(times)));
        let meaning = if 70 <= width { format!("  {}", failure.meaning()) } else { String::new() };
        lines.push(line.and(Tone::Dim, meaning));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::history::tests::snapshot;
    use super::*;
    use expect_test::{Expect, expect};

    fn header() -> Header {
        Header {
            target: "GET http://127.0.0.1:8080/hello".into(),
            load: "open: 1,000 requests/s, evenly spaced, for 5 s".into(),
            warmup: 0,
            length: Some(5 * SECOND),
            total: None,
            has_schedule: true,
        }
    }

    fn history(failed: u64) -> History {
        let mut history = History::new(SECOND / 10);
        for n in 0..30 {
            let mut snapshot = snapshot(n, 1 + n % 7);
            snapshot.total_failed[0] = failed;
            history.add(snapshot);
        }
        history
    }

    fn check(width: usize, height: usize, failed: u64, expected: &Expect) {
        let lines = draw(&header(), &history(failed), width, height);
        let text: Vec<String> =
            lines.iter().map(|line| line.shown(false).trim_end().to_string()).collect();
        expected.assert_eq(&text.join("\n"));
    }

    #[test]
    fn a_usual_terminal() {
        check(
            80,
            24,
            7,
            &expect![[r#"
                GET http://127.0.0.1:8080/hello
                open: 1,000 requests/s, evenly spaced, for 5 s
                ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━──────────────────────── 3.0 s  2.0 s left

                offered      1,000 /s  ███████████████████████████████
                answered     1,000 /s  ███████████████████████████████

                response  p50 4.00 ms   p90 7.00 ms   p99 30.0 ms   max 70.0 ms
                          in flight 10   sent late p99 12.0 µs
                response time in ms, logarithmic: p99 is the upper line, p50 the lower
                                  100        ⣀⡀     ⢀⣀      ⣀⡀     ⢀⣀
                                           ⡤⠏⠁⡇   ⢠⠼⠉⢸    ⡤⠏⠁⡇   ⢠⠼⠉⢸
                                         ⡤⠏⠁  ⡇ ⢠⠼⠉  ⢸ ⢠⠤⠏⠁  ⡇ ⡤⠏⠉  ⢸
                                        ⡤⠇    ⡇⡤⠼    ⢸⢠⠼     ⡇⡤⠇    ⢸⢠ p99
                                   10  ⣀⡇     ⣇⡇     ⢸⣸      ⣇⡇     ⢸⣸
                                             ⣀⡀     ⢀⣀      ⣀⡀     ⢀⣀
                                    5     ⣀⡖⠋⠁⡇  ⢀⣰⠚⠉⢸   ⣀⡖⠋⠁⡇  ⣀⣰⠚⠉⢸
                                         ⡤⠇   ⡇ ⢠⠼   ⢸ ⢠⠤⠇   ⡇ ⡤⠇   ⢸
                                        ⡖⠃    ⡇⡖⠚    ⢸⢰⠚     ⡇⡖⠃    ⢸⢰ p50
                                    1  ⣀⡇     ⣇⡇     ⢸⣸      ⣇⡇     ⢸⣸
                                        0 s ─────────────────── 2.5 s ───────────────── 5 s

                failures  7 of 3,000 attempts (0.2 %)
                        7  connect.refused  no server listens there"#]],
        );
    }

    #[test]
    fn a_narrow_one() {
        check(
            40,
            12,
            0,
            &expect![[r#"
                GET http://127.0.0.1:8080/hello
                open: 1,000 requests/s, evenly spaced, …
                ━━━━━━━━━━━━━───────── 3.0 s  2.0 s left
                offered      1,000 /s  ████████
                answered     1,000 /s  ████████
                p50 4.00 ms   p90 7.00 ms
                p99 30.0 ms   max 70.0 ms
                in flight 10   sent late p99 12.0 µs
                failures  0 of 3,000 attempts (0 %)"#]],
        );
    }

    #[test]
    fn any_size_is_kept_to() {
        for (width, height) in (0..90).flat_map(|width| (0..30).map(move |height| (width, height)))
        {
            let lines = draw(&header(), &history(3), width, height);
            assert!(lines.len() <= height, "{width}×{height}");
            assert!(lines.iter().all(|line| line.width() <= width), "{width}×{height}");
        }
        let empty = History::new(SECOND);
        assert_eq!(draw(&header(), &empty, 10, 1)[0].width(), 10);
    }
}
