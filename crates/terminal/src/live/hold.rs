//! The live view of `dyno hold`: connections, messages and their lateness over time.

use std::collections::VecDeque;

use ::agents::AgentNow;
use load::{HoldWindow, Nanos, SECOND};
use units::{count, nanos, rate};

use crate::agents;

use super::picture::{self, Across};
use super::screen::{beside, done};
use report::paint::{Line, Tone};

/// What stays the same while connections are held.
#[derive(Clone, Debug)]
pub struct HoldHeader {
    /// `1,000 connections to ws://…`
    pub title: String,
    /// The steps in words.
    pub steps: String,
    /// When all connections are closed.
    pub length: Nanos,
    /// How many there are in the end.
    pub connections: u64,
}

/// A second, as far as the view shows it.
#[derive(Clone, Debug)]
pub struct Second {
    /// Without its distributions.
    window: HoldWindow,
    late: [Option<Nanos>; 3],
}

impl Second {
    pub(super) fn of(window: &HoldWindow) -> Second {
        let late = window.late.unfold();
        let empty = HoldWindow::new(window.from, window.until);
        let counts = HoldWindow { open_after: empty.open_after, late: empty.late, ..*window };
        Second {
            window: counts,
            late: [0.5, 0.99, 1.0].map(|q| late.quantile(q).map(|late| late.value)),
        }
    }

    fn messages_per_s(&self) -> f64 {
        let HoldWindow { from, until, messages, .. } = self.window;
        messages as f64 * SECOND as f64 / until.saturating_sub(from).max(1) as f64
    }
}

/// The seconds so far.
#[derive(Debug, Default)]
pub(super) struct Seconds {
    /// Oldest first; at most `SECONDS_MAX`.
    all: VecDeque<Second>,
    failed: u64,
    lost: u64,
    /// What the agents do now.
    pub(super) agents: Vec<AgentNow>,
}

/// Nearly three hours.
const SECONDS_MAX: usize = 10_000;

impl Seconds {
    pub(super) fn add(&mut self, second: Second) {
        self.failed += second.window.failed;
        self.lost += second.window.lost;
        self.all.push_back(second);
        if SECONDS_MAX < self.all.len() {
            self.all.pop_front();
        }
    }
}

/// Draws everything that fits.
pub(super) fn draw(
    header: &HoldHeader,
    seconds: &Seconds,
    width: usize,
    height: usize,
) -> Vec<Line> {
    let Some(newest) = seconds.all.back() else {
        return vec![Line::plain("dyno hold: starting …").cut(width)];
    };
    let across = Across::on(width, Some(header.length), 0);
    let share = newest.window.until as f64 / header.length.max(1) as f64;
    let left = header.length.saturating_sub(newest.window.until);
    let mut lines = vec![
        Line::toned(Tone::Strong, format!("dyno hold  {}", header.title)),
        Line::toned(Tone::Dim, header.steps.clone()),
        done(share, newest.window.until, left, width),
    ];
    let is_roomy = 16 <= height;
    let gap = |lines: &mut Vec<Line>| lines.extend(is_roomy.then(Line::default));
    gap(&mut lines);
    lines.extend(rows(header, seconds, newest, across));
    gap(&mut lines);
    lines.push(lateness(newest));
    // One process of this machine needs no name.
    if 1 < seconds.agents.len() {
        lines.extend(agents::lines(&seconds.agents, width));
    }
    let room = height.saturating_sub(lines.len() + 2);
    if let Some(across) = across {
        let slot = |second: &Second| (second.window.from, second.late[0], second.late[1]);
        let slots: Vec<picture::Spread> = seconds.all.iter().map(slot).collect();
        lines.extend(picture::quantiles(across, "lateness", &slots, room.min(26)));
    }
    gap(&mut lines);
    let tone = if seconds.failed + seconds.lost == 0 { Tone::Plain } else { Tone::Bad };
    let (failed, lost) = (count(seconds.failed), count(seconds.lost));
    lines.push(Line::toned(tone, format!("failed  {failed}   lost  {lost}")));
    lines.truncate(height);
    lines.into_iter().map(|line| line.cut(width)).collect()
}

fn rows(
    header: &HoldHeader,
    seconds: &Seconds,
    newest: &Second,
    across: Option<Across>,
) -> [Line; 2] {
    let over_time = |value: &dyn Fn(&Second) -> f64| -> Vec<(Nanos, f64)> {
        seconds.all.iter().map(|second| (second.window.from, value(second))).collect()
    };
    let blocks =
        |slots: &[(Nanos, f64)], top: f64| across.map(|across| picture::blocks(across, slots, top));
    let open = over_time(&|second| second.window.open as f64);
    let messages = over_time(&Second::messages_per_s);
    let most = messages.iter().map(|slot| slot.1).fold(0.0, f64::max);
    let (now, all) = (count(newest.window.open), header.connections as f64);
    let received = format!("{} /s", rate(newest.messages_per_s().round()));
    [
        beside("open", &now, blocks(&open, all), Tone::Good),
        beside("messages", &received, blocks(&messages, most), Tone::Plain),
    ]
}

/// How late the messages of the last second were, and what is still opening.
fn lateness(newest: &Second) -> Line {
    let [p50, p99, max] = newest.late.map(|value| value.map_or("–".to_string(), nanos));
    Line::plain("late     ")
        .and(Tone::Good, format!(" p50 {p50}"))
        .and(Tone::Doubtful, format!("   p99 {p99}"))
        .and(Tone::Plain, format!("   max {max}"))
        .and(Tone::Dim, format!("   opening {}", count(newest.window.opening)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn header() -> HoldHeader {
        HoldHeader {
            title: "1,000 connections to ws://127.0.0.1:8080/wspoll/1".into(),
            steps: "500 more every 10 s, begun at 1,000 a second".into(),
            length: 20 * SECOND,
            connections: 1_000,
        }
    }

    fn seconds(many: u64, lost: u64) -> Seconds {
        let mut seconds = Seconds::default();
        for n in 0..many {
            let late = (n != 0).then_some([100_000, 2_000_000 + n * 400_000, 40_000_000]);
            let window = HoldWindow {
                open: if n < 10 { 500 } else { 1_000 },
                opening: u64::from(n == 10),
                messages: 100 * n,
                lost: if n == 5 { lost } else { 0 },
                ..HoldWindow::new(n * SECOND, (n + 1) * SECOND)
            };
            seconds.add(Second { window, late: late.map_or([None; 3], |late| late.map(Some)) });
        }
        seconds
    }

    fn check(width: usize, height: usize, seconds: &Seconds, expected: &Expect) {
        let lines = draw(&header(), seconds, width, height);
        let text: Vec<String> =
            lines.iter().map(|line| line.shown(false).trim_end().to_string()).collect();
        expected.assert_eq(&text.join("\n"));
    }

    #[test]
    fn a_usual_terminal_shows_connections_messages_and_lateness() {
        check(
            80,
            24,
            &seconds(15, 3),
            &expect![[r#"
            dyno hold  1,000 connections to ws://127.0.0.1:8080/wspoll/1
            500 more every 10 s, begun at 1,000 a second
            ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━─────────────── 15.0 s  5.0 s left

            open            1,000  ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄████████████
            messages     1,400 /s  ▁▁▁▁▁▂▂▂▂▂▃▃▃▃▃▄▄▄▄▄▄▅▅▆▆▆▆▆▆▇▇▇▇▇████

            late      p50 100 µs   p99 7.60 ms   max 40.0 ms   opening 0
            lateness in ms, logarithmic: p99 is the upper line, p50 the lower
                               10                                    ⣀⣀⣀⡀ p99
                                                     ⢀⣀⣀⣀⣀⣠⠤⠤⠴⠒⠒⠒⠒⠚⠉⠉⠁
                                5            ⢠⠤⠤⠖⠒⠚⠉⠉⠉
                                     ⢀⣀⣀⡖⠒⠚⠉⠉⠉

                                1

                              0.5

                              0.2

                              0.1    ⢀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⡀ p50
                                    0 s ─────────────────── 10 s ───────────────── 20 s

            failed  0   lost  3"#]],
        );
    }

    #[test]
    fn a_narrow_one_shows_the_numbers() {
        check(
            40,
            10,
            &seconds(15, 0),
            &expect![[r#"
            dyno hold  1,000 connections to ws://12…
            500 more every 10 s, begun at 1,000 a s…
            ━━━━━━━━━━━━━━━━───── 15.0 s  5.0 s left
            open            1,000  ▄▄▄▄▄▄████
            messages     1,400 /s  ▁▂▃▄▄▅▆▇██
            late      p50 100 µs   p99 7.60 ms   ma…
            failed  0   lost  0"#]],
        );
    }

    #[test]
    fn any_size_is_kept_to_whatever_came() {
        let all = [seconds(0, 0), seconds(1, 0), seconds(20, 7), seconds(30, 0)];
        for (width, height) in (0..90).flat_map(|width| (0..30).map(move |height| (width, height)))
        {
            for seconds in &all {
                let lines = draw(&header(), seconds, width, height);
                assert!(lines.len() <= height.max(1), "{width}×{height}");
                assert!(lines.iter().all(|line| line.width() <= width), "{width}×{height}");
            }
        }
    }

    #[test]
    fn a_second_has_the_lateness_of_its_messages() {
        let mut late = load::Distribution::new(SECOND);
        (1..=100).for_each(|n| late.record(n * 1_000_000));
        let late = load::Folded::of(&late);
        let window = HoldWindow {
            open: 7,
            messages: 50,
            open_after: late.clone(),
            late,
            ..HoldWindow::new(0, SECOND / 2)
        };
        let second = Second::of(&window);
        let ms = second.late.map(|value| value.unwrap() / 1_000_000);
        assert_eq!((ms, second.messages_per_s()), ([50, 99, 100], 100.0));
    }
}
