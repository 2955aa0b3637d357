//! Folds exchanges into windows, and hands each window over when its time is up.

use crate::Nanos;
use crate::equal_times::EqualTimes;
use wire::h2::Ledger;
use wire::{Forms, Meaning, Mismatch, Statement};

use crate::distribution::Distribution;
use crate::engine::Idle;
use crate::evidence::{EVIDENCE_KEPT, Evidence};
use crate::failure::Failure;
use crate::handover::{Handover, WindowReport};
use crate::http2::{Http2, WantedStreams};
use crate::in_flight::InFlight;
use crate::lane::Exchange;
use crate::long_turns::LongTurns;
use crate::pause::Pause;
use crate::plan::Times;
use crate::recording::{SessionEnd, Slow};
use crate::section::Section;
use crate::security::{self, SecurityLog};
use crate::silence::GapLog;
use crate::tally::{Tally, Waited};
use crate::written::Written;

pub(crate) struct Recorder {
    lane: usize,
    window: Tally,
    times: Times,
    index: u64,
    /// The current window ends here.
    pub(crate) turn: Nanos,
    sections: Vec<Section>,
    /// How many failures of each class have been kept with their bytes.
    kept: [u8; Failure::COUNT],
    in_flight: InFlight,
    clocks: Clocks,
    long_turns: LongTurns,
    gaps: GapLog,
    /// What the engine writes down of TLS, if there is any.
    security: Option<SecurityLog>,
    /// Where connections write down what they see of HTTP/2, if it is spoken, and what was ordered.
    http2: Option<(Ledger, WantedStreams)>,
    /// Where connections learn the forms of right bodies, if any are learnt.
    forms: Option<Forms>,
    /// What right answers said was written, if any is to be.
    written: Option<Box<Written>>,
    /// Times of answers that the window's distributions do not have yet.
    equal_times: EqualTimes,
    /// A window whose time is up but whose clocks have not been read yet.
    ended: Option<WindowReport>,
    handover: Handover,
}

/// A lane's own clocks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clocks {
    pub(crate) cpu: Nanos,
    pub(crate) idle: Idle,
}

impl Recorder {
    pub(crate) fn new(lane: usize, times: Times, handover: Handover) -> Recorder {
        let longest = times.longest;
        let section = |time: &std::ops::Range<Nanos>| Section::new(time.start, time.end, longest);
        Recorder {
            lane,
            window: handover.empty.try_recv().unwrap_or_else(|_| Tally::new(longest)),
            index: 0,
            turn: times.width,
            sections: times.sections.iter().map(section).collect(),
            kept: [0; Failure::COUNT],
            in_flight: InFlight::default(),
            clocks: Clocks::default(),
            long_turns: LongTurns::default(),
            gaps: GapLog::new(times.measured.start),
            security: None,
            http2: None,
            forms: None,
            written: None,
            equal_times: EqualTimes::default(),
            ended: None,
            handover,
            times,
        }
    }

    /// Keeps what an engine writes down of TLS.
    pub(crate) fn reading(self, log: SecurityLog) -> Recorder {
        Recorder { security: Some(log), ..self }
    }

    /// Keeps what connections write down of HTTP/2.
    pub(crate) fn counting(self, ledger: Ledger, wanted: WantedStreams) -> Recorder {
        Recorder { http2: Some((ledger, wanted)), ..self }
    }

    /// Keeps how bodies were compared, and what they said was written, if anything is.
    pub(crate) fn comparing(self, forms: Option<Forms>, writes: bool) -> Recorder {
        Recorder { forms, written: writes.then(Box::default), ..self }
    }

    /// How much of this time lies in the measured time.
    pub(crate) fn measured_part(&self, since: Nanos, until: Nanos) -> Nanos {
        until.min(self.times.measured.end).saturating_sub(since.max(self.times.measured.start))
    }

    /// What the window has seen of HTTP/2.
    pub(crate) fn http2(&mut self) -> &mut Http2 {
        self.window.http2.get_or_insert_default()
    }

    /// A server has sent its SETTINGS so long after its connection was established.
    pub(crate) fn ready(&mut self, took: Nanos) {
        let longest = self.times.longest;
        self.http2().ready.get_or_insert_with(|| Distribution::new(longest)).record(took);
    }

    pub(crate) fn window(&mut self) -> &mut Tally {
        &mut self.window
    }

    pub(crate) fn measured_until(&self) -> Nanos {
        self.times.measured.end
    }

    /// Nothing is measured from here on.
    pub(crate) fn stop_at(&mut self, now: Nanos) {
        self.times.measured.end = self.times.measured.end.min(now);
    }

    /// Ends the window and begins the one in which `now` lies. `settle` must follow.
    pub(crate) fn turn_over(&mut self, now: Nanos) {
        // A long turn that began before the measured time and reaches into it counts as a whole.
        if self.times.measured.start < self.turn {
            self.long_turns.worked(now, &mut self.window.still);
        }
        self.next_window(now);
    }

    fn next_window(&mut self, now: Nanos) {
        self.end_window(None);
        self.index = now / self.times.width;
        self.turn = (self.index + 1) * self.times.width;
    }

    /// Whether an ended window waits for its clocks.
    pub(crate) fn is_unsettled(&self) -> bool {
        self.ended.is_some()
    }

    /// Hands over the window that has ended.
    pub(crate) fn settle(&mut self, clocks: Clocks) {
        let Some(mut report) = self.ended.take() else {
            return;
        };
        let cpu = clocks.cpu - self.clocks.cpu;
        self.long_turns.settle(&mut report.tally.still, cpu);
        report.tally.cpu += cpu;
        report.tally.idle += clocks.idle.waited - self.clocks.idle.waited;
        report.tally.polled += clocks.idle.polled - self.clocks.idle.polled;
        self.clocks = clocks;
        // If the receiver is gone, the run is over and the window is not needed.
        let _ = self.handover.full.send(report);
    }

    /// Another window ended before the clocks were read: their values then cover both.
    fn hand_on_unsettled(&mut self, mut report: WindowReport) {
        self.long_turns.hand_on(&mut report.tally.still, &mut self.window.still);
        let _ = self.handover.full.send(report);
    }

    /// Hands over the last window.
    pub(crate) fn finish(&mut self, now: Nanos, clocks: Clocks) {
        self.end_window(Some(now));
        self.settle(clocks);
    }

    fn end_window(&mut self, ended: Option<Nanos>) {
        let is_last = ended.is_some();
        if let Some(report) = self.ended.take() {
            self.hand_on_unsettled(report);
        }
        self.in_flight.count(self.turn, &mut self.window);
        self.equal_times.flush(&mut self.window);
        if let Some(log) = &self.security {
            security::merge(&mut self.window.security, log.take().as_deref());
        }
        if let Some((ledger, wanted)) = &self.http2 {
            let seen = self.window.http2.get_or_insert_default();
            seen.wanted = *wanted;
            seen.add(&ledger.take());
        }
        if let Some(forms) = &self.forms {
            self.window.compared.get_or_insert_default().add(forms.take());
            if let Some(delivered) = forms.take_delivered() {
                self.window.delivered.get_or_insert_default().add(delivered);
            }
            if is_last {
                self.window.rows = forms.rows();
                self.window.written = self.written.take();
            }
        }
        let empty = self.handover.empty.try_recv();
        let empty = empty.unwrap_or_else(|_| Tally::new(self.times.longest));
        let tally = std::mem::replace(&mut self.window, empty);
        let sections = if is_last { std::mem::take(&mut self.sections) } else { Vec::new() };
        self.long_turns.end_window();
        let (lane, index, quiet) = (self.lane, self.index, self.gaps.take(is_last));
        self.ended = Some(WindowReport { lane, index, tally, quiet, ended, sections });
    }

    pub(crate) fn session_attempted(&mut self, intended: Nanos) {
        self.window.sessions.attempted += u64::from(self.times.measured.start <= intended);
    }

    pub(crate) fn session_over(&mut self, intended: Nanos, end: SessionEnd) {
        if self.times.measured.start <= intended {
            self.window.sessions.end(end);
        }
    }

    /// Whether the exchange was due in the measured time, or belongs to a session that was.
    pub(crate) fn is_measured(&self, exchange: &Exchange) -> bool {
        self.times.measured.start <= exchange.due
    }

    /// Whether the window's distributions include this exchange: warm-up in warm-up windows,
    /// measured ones in measured windows, never one in the other.
    fn belongs_here(&self, exchange: &Exchange) -> bool {
        self.is_measured(exchange) || self.turn <= self.times.measured.start
    }

    fn lands(&mut self, exchange: &Exchange, at: Nanos) {
        self.in_flight.count(at, &mut self.window);
        self.in_flight.lands(self.is_measured(exchange));
    }

    fn section(&mut self, at: Nanos) -> Option<&mut Section> {
        let after = self.sections.partition_point(|section| section.from <= at);
        let section = self.sections.get_mut(after.checked_sub(1)?)?;
        (at < section.until).then_some(section)
    }

    /// A closed loop may go on in the middle of a turn, when the next window has begun.
    fn keep_up(&mut self, at: Nanos) {
        if self.turn <= at {
            self.turn_over(at);
        }
    }

    /// Several requests became due at once: the calls of a session, or just one.
    pub(crate) fn due(&mut self, due: Nanos, requests: u32) {
        self.keep_up(due);
        if self.times.measured.start <= due {
            self.window.due += u64::from(requests);
            self.window.last_due = self.window.last_due.max(due);
            if let Some(section) = self.section(due) {
                section.due += u64::from(requests);
            }
        }
    }

    pub(crate) fn attempted(&mut self, exchange: &Exchange) {
        self.keep_up(exchange.intended);
        self.gaps.due(exchange.intended);
        if self.is_measured(exchange) {
            self.window.attempted += 1;
        } else {
            self.window.warmup_attempted += 1;
        }
    }

    /// `own_connect`: it waited for a connection opened for it alone, which is counted separately as connect time.
    pub(crate) fn sent(&mut self, exchange: &Exchange, own_connect: bool) {
        self.in_flight.count(exchange.sent, &mut self.window);
        self.in_flight.takes_off(self.is_measured(exchange));
        // A request that goes out again has waited for the server, and was counted when it left first.
        if !self.belongs_here(exchange) || !exchange.is_first_sending() {
            return;
        }
        if let Some(form) = exchange.form.filter(|_| self.is_measured(exchange)) {
            self.window.forms.get_or_insert_default().sent[form.index()] += 1;
        }
        self.window.late.record(exchange.sent - exchange.ready);
        if exchange.intended < exchange.ready && !own_connect {
            self.window.blocked.record(exchange.ready - exchange.intended);
        }
    }

    /// A whole answer came, right or wrong, in so many octets.
    pub(crate) fn answered(&mut self, exchange: &Exchange, status: u16, bytes: u64) {
        if self.is_measured(exchange) {
            self.window.answers.count(status, bytes);
        }
    }

    /// A correct answer came that was to wait; `correct` follows.
    pub(crate) fn waited(&mut self, exchange: &Exchange, wait: Nanos, done: Nanos) {
        if self.is_measured(exchange) {
            Waited::count(&mut self.window.waited, wait, done - exchange.sent);
        }
    }

    /// What is wrong with a right body that has come at this time, if anything is; `correct` or `failed` follows.
    pub(crate) fn judge_time(
        &mut self,
        exchange: &Exchange,
        rule: &Meaning,
        at: Nanos,
    ) -> Option<Failure> {
        let (forms, seq) = (self.forms.as_ref()?, exchange.values.seq);
        match (rule, forms.statement(seq)?) {
            (Meaning::Fortunes { insertion, .. }, Statement::Fortunes { with_inserted: false })
                if insertion.is_due(exchange.sent) =>
            {
                forms.blame(
                    seq,
                    "it lacks the row that was inserted before it was asked for".into(),
                );
                Some(Failure::Content(Mismatch::Body))
            }
            (_, Statement::Rows(rows)) => {
                if let Some(written) = &mut self.written {
                    written.answered(exchange.sent, at, &rows);
                }
                None
            }
            _ => None,
        }
    }

    /// What is wrong with the body that answered, where its meaning was judged.
    pub(crate) fn body_fault(&self, exchange: &Exchange) -> Option<String> {
        self.forms.as_ref()?.fault(exchange.values.seq)
    }

    /// What a request has written is not known: it has no right answer, or the server may have seen it twice.
    pub(crate) fn unanswered(&mut self, exchange: &Exchange) {
        if let Some(written) = &mut self.written {
            written.unanswered += u64::from(exchange.is_sent());
        }
    }

    pub(crate) fn correct(&mut self, exchange: &Exchange, done: Nanos, status: u16) {
        self.lands(exchange, done);
        self.gaps.answered(done);
        let is_measured = self.is_measured(exchange);
        let is_timed = !exchange.is_in_segments();
        let is_on_time = !is_timed || done - exchange.intended <= self.times.on_time_within;
        self.window.last_done = self.window.last_done.max(done);
        self.window.answered += 1;
        if self.times.measured.contains(&done) {
            self.window.correct_inside += 1;
            self.window.carried_in += u64::from(!is_measured);
            if let Some(section) = self.section(done) {
                section.correct_inside += 1;
            }
        }
        if !self.belongs_here(exchange) {
            return;
        }
        if is_timed {
            self.timed(exchange, done, status);
        }
        if is_measured {
            let window = &mut self.window;
            window.correct += 1;
            window.flight.correct += u128::from(done - exchange.sent);
            window.on_time += u64::from(is_on_time);
            if !is_timed {
                window.forms.get_or_insert_default().untimed += 1;
            }
            if let Some(section) = self.section(exchange.due) {
                section.correct += 1;
                section.on_time += u64::from(is_on_time);
                if is_timed {
                    section.response.record(done - exchange.intended);
                }
            }
        }
    }

    /// The times of an answer as expected.
    fn timed(&mut self, exchange: &Exchange, done: Nanos, status: u16) {
        let is_measured = self.is_measured(exchange);
        let window = &mut self.window;
        self.equal_times.add(
            window,
            [done - exchange.intended, done - exchange.sent, exchange.first_byte - exchange.sent],
        );
        window.receipt.get_or_insert_default().whole(done - exchange.first_byte);
        if is_measured {
            window.keep_if_slow(Slow {
                intended: exchange.intended,
                sent: exchange.sent,
                first_byte: exchange.first_byte,
                done,
                seq: exchange.values.seq,
                status,
            });
        }
    }

    pub(crate) fn failed(
        &mut self,
        exchange: &Exchange,
        failure: Failure,
        at: Nanos,
        limit: Nanos,
    ) {
        self.window.last_done = self.window.last_done.max(at);
        self.gaps.ended();
        self.unanswered(exchange);
        if exchange.is_sent() {
            self.lands(exchange, at);
        }
        if !self.belongs_here(exchange) {
            return;
        }
        if failure.is_censored() {
            // The time-out hides how long the exchange would have taken; that it took at least this long is known.
            self.censored(exchange, exchange.intended + limit);
        }
        if self.is_measured(exchange) {
            self.window.failed[failure.index()] += 1;
            // It has a form once it has left, even if that was in vain and it has not left again.
            if let Some(form) = exchange.form.filter(|_| !failure.is_own()) {
                self.window.forms.get_or_insert_default().failed[form.index()] += 1;
            }
            if exchange.is_sent() {
                self.window.flight.failed += u128::from(at - exchange.sent);
            }
            if let Some(section) = self.section(exchange.due) {
                section.failed += 1;
            }
        } else {
            self.window.warmup_failed += 1;
        }
    }

    /// The exchange was given up or left, and would have taken longer: its times are known to reach at least to
    /// `until`.
    fn censored(&mut self, exchange: &Exchange, until: Nanos) {
        if exchange.is_in_segments() {
            let times = u64::from(self.is_measured(exchange));
            self.window.forms.get_or_insert_default().untimed_given_up += times;
            return;
        }
        let window = &mut self.window;
        window.response.record_censored(until - exchange.intended);
        if exchange.is_sent() {
            let age = until.saturating_sub(exchange.sent);
            window.service.record_censored(age);
            // What was read after the generator was not running may have come at any time.
            match exchange.has_begun_to_be_answered() && exchange.first_byte < until {
                true => {
                    window.first_byte.record(exchange.first_byte - exchange.sent);
                    let receipt = window.receipt.get_or_insert_default();
                    receipt.given_up(until - exchange.first_byte);
                }
                false => window.first_byte.record_censored(age),
            }
        }
        if self.times.measured.start <= exchange.due
            && let Some(section) = self.section(exchange.due)
        {
            section.response.record_censored(until - exchange.intended);
        }
    }

    /// The exchange is neither answered nor given up, and the run is over.
    pub(crate) fn left(&mut self, exchange: &Exchange, at: Nanos) {
        self.gaps.ended();
        self.unanswered(exchange);
        if exchange.is_sent() {
            self.lands(exchange, at);
        }
        if self.is_measured(exchange) {
            self.window.under_way += 1;
            self.censored(exchange, at);
            if exchange.is_sent() {
                self.window.flight.failed += u128::from(at - exchange.sent);
            }
        }
    }

    /// The request goes out again on another connection; or its head is whole only now.
    pub(crate) fn unsent(&mut self, exchange: &Exchange, at: Nanos) {
        self.lands(exchange, at);
        if self.is_measured(exchange) {
            self.window.flight.unsent += u128::from(at - exchange.sent);
        }
    }

    /// Whether more failures of this class are to be kept with their bytes.
    pub(crate) fn wants_evidence(&self, failure: Failure) -> bool {
        usize::from(self.kept[failure.index()]) < EVIDENCE_KEPT
    }

    pub(crate) fn evidence(&mut self, evidence: Evidence) {
        self.kept[evidence.failure.index()] += 1;
        self.window.keep_if_early(evidence);
    }

    /// A turn and the sleep after it are over. In them, the lane could not look at what had come while it was working, if
    /// that was long, and for as long as it overslept.
    pub(crate) fn looked_up(&mut self, pause: &Pause) {
        let until = pause.slept.until;
        // Time that began before the measured time and reached into it counts.
        if pause.still_from.is_some()
            && self.turn <= self.times.measured.start
            && self.turn <= until
        {
            self.next_window(until);
        }
        let still = &mut self.window.still;
        self.long_turns.worked(pause.slept.from, still);
        still.overslept = still.overslept.max(pause.overslept);
        still.sum += pause.overslept;
        self.gaps.looked_up(pause);
        self.woke(until);
    }

    /// The lane begins its first turn.
    pub(crate) fn began(&mut self, now: Nanos) {
        self.gaps.stalled(0..now);
        self.woke(now);
    }

    /// A turn begins.
    pub(crate) fn woke(&mut self, now: Nanos) {
        self.long_turns.awake_since = now;
    }
}
