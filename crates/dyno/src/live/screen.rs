//! The live view as lines of text, for any size of terminal. Pure.

use load::{Failure, Nanos, SECOND};

use super::history::{History, Slot, Snapshot};
use report::chart::braille::{Braille, LogAxis, braille, sparkline};
use report::paint::{Ink, Line};
use report::units::{count, nanos, percent, rate, time};

/// What stays the same during the run.
#[derive(Clone, Debug)]
pub(super) struct Header {
    /// `GET http://…`
    pub(super) target: String,
    /// The load in words.
    pub(super) load: String,
    pub(super) warmup: Nanos,
    /// The measured time, if it is known.
    pub(super) length: Option<Nanos>,
    /// The number of requests, if it is known.
    pub(super) total: Option<u64>,
    pub(super) has_schedule: bool,
}

/// Draws everything that fits: if there is little room, the most important lines come first.
pub(super) fn draw(header: &Header, history: &History, width: usize, height: usize) -> Vec<Line> {
    let (Some(newest), Some(lately)) = (history.newest(), history.lately()) else {
        return vec![Line::plain("dyno load: starting …").cut(width)];
    };
    let mut lines = vec![
        Line::ink(Ink::Bold, header.target.clone()),
        Line::ink(Ink::Dim, header.load.clone()),
        progress(header, history, newest, width),
    ];
    let is_roomy = 16 <= height;
    let gap = |lines: &mut Vec<Line>| lines.extend(is_roomy.then(Line::default));
    gap(&mut lines);
    lines.extend(rates(header, history, &lately, width));
    gap(&mut lines);
    lines.extend(latencies(&lately, newest, width));
    let failures = failures(newest, width);
    let room = height.saturating_sub(lines.len() + failures.len().min(4) + 2);
    if 5 <= room && 2 * MARGIN <= width {
        lines.push(Line::ink(Ink::Dim, "p50 and p99 of the response time"));
        lines.extend(chart(header, history, width, room.min(25) - 1));
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
            return Line::ink(Ink::Doubtful, "opening connections");
        }
        let left = header.warmup.saturating_sub(newest.now);
        return Line::ink(Ink::Doubtful, format!("warming up, {} left", seconds(left)));
    }
    let elapsed = newest.now.saturating_sub(history.measured_from);
    let by_time = header.length.map(|length| elapsed as f64 / length.max(1) as f64);
    let by_count = header.total.map(|total| newest.total_attempted as f64 / total.max(1) as f64);
    let share = by_time.into_iter().chain(by_count).fold(0.0, f64::max).min(1.0);
    let left = match share {
        share if 0.01 < share => elapsed as f64 * (1.0 - share) / share,
        _ => header.length.map_or(0.0, |length| length.saturating_sub(elapsed) as f64),
    };
    let words = format!(" {}  {} left", seconds(elapsed), seconds(left as Nanos));
    let room = width.saturating_sub(words.chars().count()).min(60);
    let done = (share * room as f64).round() as usize;
    Line::ink(Ink::Good, "━".repeat(done))
        .and(Ink::Dim, "─".repeat(room - done))
        .and(Ink::Plain, words)
}

fn seconds(time: Nanos) -> String {
    format!("{:.1} s", time as f64 / SECOND as f64)
}

/// Left of every picture: they share one time axis.
const MARGIN: usize = 23;

fn rates(header: &Header, history: &History, lately: &Slot, width: usize) -> Vec<Line> {
    let columns = width.saturating_sub(MARGIN);
    let offered = over_time(header, history, columns, Slot::attempted_per_s);
    let answered = over_time(header, history, columns, Slot::correct_per_s);
    let shown = if header.has_schedule { &offered } else { &answered };
    let top = shown.iter().chain(&answered).copied().fold(0.0, f64::max);
    let line = |name: &str, now: f64, values: &[f64], ink: Ink| {
        let words = format!("{name:<9}{:>9} /s  ", rate(now.round()));
        Line::plain(words).and(ink, sparkline(values, top))
    };
    let mut lines = Vec::new();
    if header.has_schedule {
        lines.push(line("offered", lately.attempted_per_s(), &offered, Ink::Dim));
    }
    lines.push(line("answered", lately.correct_per_s(), &answered, Ink::Good));
    lines
}

/// A value for each column that time has reached: the mean of its slots, or the value before.
fn over_time(
    header: &Header,
    history: &History,
    columns: usize,
    value: fn(&Slot) -> f64,
) -> Vec<f64> {
    let dots = 2 * columns;
    let first = first_shown(header, history.slots.len(), dots);
    let mut means: Vec<f64> = Vec::new();
    let mut slots_in_column = 0.0;
    for (n, slot) in history.slots.iter().skip(first).enumerate() {
        let column = place(header, slot, n, dots) / 2;
        if means.len() <= column {
            let before = means.last().copied().unwrap_or_else(|| value(slot));
            means.resize(column + 1, before);
            slots_in_column = 0.0;
        }
        slots_in_column += 1.0;
        means[column] += (value(slot) - means[column]) / slots_in_column;
    }
    means
}

fn latencies(lately: &Slot, newest: &Snapshot, width: usize) -> Vec<Line> {
    let value = |value: Option<Nanos>| value.map_or("–".to_string(), nanos);
    let quantiles = Line::plain("response ")
        .and(Ink::Good, format!(" p50 {}", value(lately.p50)))
        .and(Ink::Plain, format!("   p90 {}", value(lately.p90)))
        .and(Ink::Doubtful, format!("   p99 {}", value(lately.p99)))
        .and(Ink::Plain, format!("   max {}", value(lately.max)));
    let state = format!(
        "in flight {}   late p99 {}",
        rate(newest.in_flight.round()),
        value(newest.late_p99)
    );
    if quantiles.width() + 3 + state.len() <= width {
        return vec![quantiles.and(Ink::Dim, format!("   {state}"))];
    }
    if quantiles.width() <= width {
        return vec![quantiles, Line::ink(Ink::Dim, format!("          {state}"))];
    }
    vec![
        Line::ink(Ink::Good, format!("p50 {:<9}", value(lately.p50)))
            .and(Ink::Plain, format!(" p90 {}", value(lately.p90))),
        Line::ink(Ink::Doubtful, format!("p99 {:<9}", value(lately.p99)))
            .and(Ink::Plain, format!(" max {}", value(lately.max))),
        Line::ink(Ink::Dim, state),
    ]
}

/// p50 and p99 over time, on a logarithmic scale.
fn chart(header: &Header, history: &History, width: usize, height: usize) -> Vec<Line> {
    let slots = &history.slots;
    let low = slots.iter().filter_map(|slot| slot.p50).min();
    let high = slots.iter().filter_map(|slot| slot.p99).max();
    let (Some(low), Some(high)) = (low, high) else {
        return vec![Line::default(); height];
    };
    let axis = LogAxis::around(low, high);
    let mut medians = Braille::new(width - MARGIN, height);
    let mut tails = Braille::new(width - MARGIN, height);
    let across = medians.dots_across();
    let first = first_shown(header, slots.len(), across);
    let (mut last_median, mut last_tail) = (None, None);
    for (n, slot) in slots.iter().skip(first).enumerate() {
        let x = place(header, slot, n, across);
        last_median = follow(&mut medians, axis, x, slot.p50, last_median);
        last_tail = follow(&mut tails, axis, x, slot.p99, last_tail);
    }
    let mut lines = Vec::new();
    for row in 0..height {
        let label = match row {
            0 => format!("{:>1$}  ", time(axis.high), MARGIN - 2),
            _ if row + 1 == height => format!("{:>1$}  ", time(axis.low), MARGIN - 2),
            _ => " ".repeat(MARGIN),
        };
        lines.push(cells(Line::ink(Ink::Dim, label), &medians, &tails, row, width - MARGIN));
    }
    lines
}

fn cells(mut line: Line, medians: &Braille, tails: &Braille, row: usize, width: usize) -> Line {
    for column in 0..width {
        let (median, tail) = (medians.cell(column, row), tails.cell(column, row));
        let ink = match (median, tail) {
            (0, 0) => Ink::Plain,
            (_, 0) => Ink::Good,
            (_, _) => Ink::Doubtful,
        };
        let text = if median | tail == 0 { ' ' } else { braille(median | tail) };
        line = line.and(ink, text);
    }
    line
}

/// A run of known length has its whole time across; otherwise the newest slots are shown.
fn first_shown(header: &Header, slots: usize, across: usize) -> usize {
    if header.length.is_some() { 0 } else { slots.saturating_sub(across) }
}

fn place(header: &Header, slot: &Slot, n: usize, across: usize) -> usize {
    match header.length {
        None => n,
        Some(length) => {
            let whole = (header.warmup + length).max(1) as f64;
            ((slot.from as f64 / whole * across as f64) as usize).min(across.saturating_sub(1))
        }
    }
}

/// Draws from where the line was to where it is now.
fn follow(
    canvas: &mut Braille,
    axis: LogAxis,
    x: usize,
    value: Option<Nanos>,
    last: Option<(usize, usize)>,
) -> Option<(usize, usize)> {
    let bottom = canvas.dots_down() - 1;
    let y = bottom - (axis.share(value?) * bottom as f64).round() as usize;
    let (last_x, last_y) = last.unwrap_or((x, y));
    for between in last_x..x {
        canvas.dot(between, last_y);
    }
    for between in y.min(last_y)..=y.max(last_y) {
        canvas.dot(x, between);
    }
    Some((x, y))
}

/// Each kind with its count, the most frequent first.
fn failures(newest: &Snapshot, width: usize) -> Vec<Line> {
    let total: u64 = newest.total_failed.iter().sum();
    let share = total as f64 / newest.total_attempted.max(1) as f64;
    let head = format!("of {} attempts ({})", count(newest.total_attempted), percent(share));
    if total == 0 {
        return vec![Line::plain("failures  0 ").and(Ink::Dim, head)];
    }
    let mut kinds: Vec<(Failure, u64)> =
        Failure::ALL.into_iter().zip(newest.total_failed).filter(|(_, times)| 0 < *times).collect();
    kinds.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    let mut lines =
        vec![Line::ink(Ink::Bad, format!("failures  {} ", count(total))).and(Ink::Dim, head)];
    for (failure, times) in kinds {
        let line = Line::ink(Ink::Bad, format!("{:>9}  {failure}", count(times)));
        let meaning = if 70 <= width { format!("  {}", failure.meaning()) } else { String::new() };
        lines.push(line.and(Ink::Dim, meaning));
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

                offered      1,000 /s  ██████████████████████████████████
                answered     1,000 /s  ██████████████████████████████████

                response  p50 4.00 ms   p90 7.00 ms   p99 30.0 ms   max 70.0 ms
                          in flight 10   late p99 12.0 µs
                p50 and p99 of the response time
                               100 ms        ⢀⣀      ⢀⣀      ⢀⣀      ⢀⣀
                                           ⢠⠼⠉⢸    ⢠⠼⠉⢸    ⢠⠼⠉⢸    ⢠⠼⠉⢸
                                         ⡤⠏⠉  ⢸  ⡤⠏⠉  ⢸  ⡤⠏⠉  ⢸  ⡤⠏⠉  ⢸
                                        ⡤⠇    ⢸ ⡤⠇    ⢸ ⡤⠇    ⢸ ⡤⠇    ⢸ ⡄
                                       ⣀⡇     ⢸⣀⡇     ⢸⣀⡇     ⢸⣀⡇     ⢸⣀⡇
                                             ⢀⣀      ⢀⣀      ⢀⣀      ⢀⣀
                                          ⣀⣰⠚⠉⢸   ⣀⣰⠚⠉⢸   ⣀⣰⠚⠉⢸   ⣀⣰⠚⠉⢸
                                         ⡤⠇   ⢸  ⡤⠇   ⢸  ⡤⠇   ⢸  ⡤⠇   ⢸
                                        ⡖⠃    ⢸ ⡖⠃    ⢸ ⡖⠃    ⢸ ⡖⠃    ⢸ ⡆
                              1.00 ms  ⣀⡇     ⢸⣀⡇     ⢸⣀⡇     ⢸⣀⡇     ⢸⣀⡇

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
                offered      1,000 /s  ██████████
                answered     1,000 /s  ██████████
                p50 4.00 ms   p90 7.00 ms
                p99 30.0 ms   max 70.0 ms
                in flight 10   late p99 12.0 µs
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
