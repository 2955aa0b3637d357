//! Beats: one after another on a schedule, with a lateness drawn from a law. Bytes out; no socket, no clock.

use std::time::Duration;

use crate::delays::Delay;
use crate::octets::{parameter, push_chunk, push_number};
use crate::socket::frames::{Opcode, push_frame};
use crate::state::{BUFFER, ThreadState};
use crate::xml;

/// The beats that a request asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rhythm {
    every: Duration,
    /// The law of their lateness; none: the server's own law, if it has one.
    late: Option<Delay>,
    /// How many there are, if their number is limited.
    most: Option<u64>,
    /// What follows the last one.
    last: After,
}

/// What follows a beat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// Another beat, at this instant.
    Next(u64),
    End,
    /// Nothing, forever.
    Silence,
}

/// How each beat is wrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrap {
    /// HTTP/1.0 gets it without wrapping.
    Bare,
    Chunk,
    /// A WebSocket's message of text.
    Frame,
}

impl Rhythm {
    /// The beats of this period that a query asks for, or why they are impossible.
    pub(crate) fn asked(every: Duration, query: Option<&[u8]>) -> Result<Rhythm, &'static str> {
        let query = query.unwrap_or_default();
        let text = |name| {
            let value = parameter(query, name)?;
            Some(String::from_utf8_lossy(&xml::unescaped(value, true)).into_owned())
        };
        let law = |law: String| {
            law.parse().map_err(|_| "late is a distribution of delays, such as constant:5ms\n")
        };
        let late = text(b"late=").map(law).transpose()?;
        let count = |count: String| count.parse().map_err(|_| "beats and stops are numbers\n");
        let ends = text(b"beats=").map(count).transpose()?;
        let stops = text(b"stops=").map(count).transpose()?;
        match (ends, stops) {
            (Some(_), Some(_)) => Err("the beats end or stop, not both\n"),
            (most, None) => Ok(Rhythm { every, late, most, last: After::End }),
            (None, most) => Ok(Rhythm { every, late, most, last: After::Silence }),
        }
    }
}

/// Beats under way.
#[derive(Debug)]
pub(crate) struct Beats {
    rhythm: Rhythm,
    wrap: Wrap,
    /// The number of the next beat.
    number: u64,
    /// When the next beat should leave.
    due_ns: u64,
    /// When the next beat will leave. due_ns <= leaves_ns
    leaves_ns: u64,
}

impl Beats {
    /// The first beat is due now.
    pub(crate) fn begin(rhythm: Rhythm, wrap: Wrap, state: &mut ThreadState, now_ns: u64) -> Beats {
        let late = rhythm.late.or(state.config().late);
        let rhythm = Rhythm { late, ..rhythm };
        let mut beats = Beats { rhythm, wrap, number: 0, due_ns: now_ns, leaves_ns: now_ns };
        beats.schedule(state);
        beats
    }

    /// Writes the beats whose time has come.
    pub(crate) fn push_due(&mut self, state: &mut ThreadState, now_ns: u64) -> After {
        while !self.are_over() && self.leaves_ns <= now_ns && state.out.len() < BUFFER {
            self.push(&mut state.out);
            state.books.beats += 1;
            if self.rhythm.late.is_some() {
                state.books.late_ns.saturating_record(self.leaves_ns - self.due_ns);
            }
            self.number += 1;
            self.due_ns += self.every_ns();
            self.schedule(state);
        }
        if self.are_over() { self.rhythm.last } else { After::Next(self.leaves_ns) }
    }

    fn are_over(&self) -> bool {
        self.rhythm.most.is_some_and(|most| most <= self.number)
    }

    fn every_ns(&self) -> u64 {
        self.rhythm.every.as_nanos() as u64
    }

    /// Draws how late the next beat leaves; no beat overtakes the previous one.
    fn schedule(&mut self, state: &mut ThreadState) {
        let late_ns = self.rhythm.late.map_or(0, |law| law.draw_ns(&mut state.dice));
        self.leaves_ns = self.leaves_ns.max(self.due_ns + late_ns);
    }

    /// `beat=3 due_ns=1234567890`: the number, and when it should leave by the monotonic clock.
    fn push(&self, out: &mut Vec<u8>) {
        let mut line = Vec::with_capacity(64);
        line.extend_from_slice(b"beat=");
        push_number(&mut line, self.number);
        line.extend_from_slice(b" due_ns=");
        push_number(&mut line, self.due_ns);
        line.push(b'\n');
        match self.wrap {
            Wrap::Bare => out.extend_from_slice(&line),
            Wrap::Chunk => push_chunk(out, &line),
            Wrap::Frame => push_frame(Opcode::Text, &line, out),
        }
    }

    /// Ends the stream, if the protocol can do so.
    pub(crate) fn push_end(&self, out: &mut Vec<u8>) {
        match self.wrap {
            Wrap::Bare => {}
            Wrap::Chunk => out.extend_from_slice(b"0\r\n\r\n"),
            Wrap::Frame => push_frame(Opcode::Close, &1000_u16.to_be_bytes(), out),
        }
    }

    /// Leaves out the beats that should have left while the peer did not read.
    pub(crate) fn skip(&mut self, now_ns: u64, skipped: &mut u64) {
        let left = self.rhythm.most.map_or(u64::MAX, |most| most.saturating_sub(self.number));
        let missed = left.min(now_ns.saturating_sub(self.leaves_ns) / self.every_ns());
        self.number += missed;
        self.due_ns += missed * self.every_ns();
        self.leaves_ns += missed * self.every_ns();
        *skipped += missed;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Config;
    use crate::state::Shared;

    const MS: u64 = 1_000_000;

    fn state() -> ThreadState {
        ThreadState::new(Arc::new(Shared::new(Config::default(), None)), 0)
    }

    /// When each of a query's first beats leaves, and when it is due, in ms; one beat every 10 ms.
    fn left(query: &str, most: usize) -> (Vec<(u64, u64)>, After) {
        let rhythm = Rhythm::asked(Duration::from_millis(10), Some(query.as_bytes())).unwrap();
        let (mut state, mut seen, mut now_ns) = (state(), Vec::new(), 0);
        let mut late_ns = state.books.late_ns.clone();
        let mut beats = Beats::begin(rhythm, Wrap::Bare, &mut state, 0);
        loop {
            let after = beats.push_due(&mut state, now_ns);
            let text = String::from_utf8(std::mem::take(&mut state.out)).unwrap();
            for line in text.lines() {
                let (_, due_ns) = line.split_once(" due_ns=").unwrap();
                let due_ns: u64 = due_ns.parse().unwrap();
                seen.push((now_ns / MS, due_ns / MS));
                late_ns.record(now_ns - due_ns).unwrap();
            }
            match after {
                After::Next(at_ns) if seen.len() < most => now_ns = at_ns,
                after => {
                    assert!(!query.contains("late") || late_ns == state.books.late_ns, "{query}");
                    return (seen, after);
                }
            }
        }
    }

    #[test]
    fn beats_leave_on_their_schedule_or_as_late_as_was_drawn() {
        assert_eq!(left("", 3).0, [(0, 0), (10, 10), (20, 20)]);
        assert_eq!(left("late=constant:25ms", 3).0, [(25, 0), (35, 10), (45, 20)]);
        let (uniform, _) = left("late=uniform:0,40ms", 500);
        assert!(uniform.windows(2).all(|pair| pair[0].0 <= pair[1].0), "one has overtaken another");
        assert!(uniform.iter().all(|(left, due)| due <= left && *left <= due + 40));
        assert!(uniform.iter().enumerate().all(|(number, (_, due))| *due == 10 * number as u64));
    }

    #[test]
    fn counted_beats_end_or_stop() {
        assert_eq!(left("beats=2", 9), (vec![(0, 0), (10, 10)], After::End));
        assert_eq!(left("stops=3", 9), (vec![(0, 0), (10, 10), (20, 20)], After::Silence));
        assert_eq!(left("stops=0", 9), (vec![], After::Silence));
    }

    #[test]
    fn the_books_know_how_late_each_one_was() {
        let rhythm = Rhythm::asked(Duration::from_millis(10), Some(b"late=constant:5ms")).unwrap();
        let mut state = state();
        let mut beats = Beats::begin(rhythm, Wrap::Chunk, &mut state, 0);
        assert_eq!(beats.push_due(&mut state, 30 * MS), After::Next(35 * MS));
        assert_eq!((state.books.late_ns.len(), state.books.beats), (3, 3));
        assert!(state.books.late_ns.equivalent(state.books.late_ns.max(), 5 * MS));
    }

    #[test]
    fn what_was_not_read_is_left_out_up_to_the_last_one() {
        let rhythm = Rhythm::asked(Duration::from_millis(10), Some(b"beats=5")).unwrap();
        let (mut state, mut skipped) = (state(), 0);
        let mut beats = Beats::begin(rhythm, Wrap::Bare, &mut state, 0);
        beats.skip(25 * MS, &mut skipped);
        assert_eq!((skipped, beats.number, beats.due_ns), (2, 2, 20 * MS));
        beats.skip(1_000 * MS, &mut skipped);
        assert_eq!(skipped, 5);
        assert_eq!(beats.push_due(&mut state, 1_000 * MS), After::End);
    }

    #[test]
    fn what_cannot_be_is_said() {
        let asked = |query: &str| Rhythm::asked(Duration::from_millis(10), Some(query.as_bytes()));
        for query in ["late=soon", "beats=-1", "beats=x", "stops=", "beats=1&stops=2"] {
            assert!(asked(query).is_err(), "{query}");
        }
        assert!(asked("late=uniform:1ms%2C2ms&x=1").is_ok());
    }
}
