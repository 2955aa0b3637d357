//! Frames about the connection as a whole, and about whether and how far a stream goes on.

use units::rfc9113::HEADER_TABLE_SIZE;

use super::account::End;
use super::fault::{ErrorCode, FrameFault, H2Fault};
use super::frames::{self, ACK, Kind, LARGEST};
use super::slot::Stage;
use super::{H2, H2News};
use crate::Session;

/// RFC 9113, 10.5: more frames that demand an answer, without any whole answer of the server's, are an attack.
const DEMANDS_MAX: u32 = 10_000;

impl H2<'_> {
    pub(super) fn take_settings(
        &mut self,
        payload: &[u8],
        news: &mut Vec<H2News>,
        output: &mut Vec<u8>,
    ) -> Result<(), H2Fault> {
        let (room, before) = (self.room(), self.peer.initial_window_size);
        for setting in payload.chunks_exact(6) {
            let (name, value) = (u16::from_be_bytes([setting[0], setting[1]]), &setting[2..]);
            self.peer.take(name, frames::code(value))?;
            if name == HEADER_TABLE_SIZE {
                self.encoder.allow(self.peer.header_table_size);
            }
        }
        // RFC 9113, 6.9.2: the windows of streams under way change with it, and may fall below zero.
        let more = i64::from(self.peer.initial_window_size) - i64::from(before);
        for slot in self.slots.iter_mut() {
            slot.window_out += more;
            if i64::from(LARGEST) < slot.window_out {
                return Err(FrameFault::SettingWindow.into());
            }
        }
        frames::push_head(0, Kind::Settings, ACK, 0, output);
        let is_first = !std::mem::replace(&mut self.is_ready, true);
        self.slots.grow(self.streams_max());
        if is_first {
            self.ledger.note(self.peer);
            news.push(H2News::Introduced);
        } else {
            self.ledger.note_change(self.peer);
        }
        if is_first && !self.is_eager {
            news.push(H2News::Ready);
        } else if room < self.room() {
            news.push(H2News::Room);
        }
        self.acknowledged()
    }

    pub(super) fn take_ping(
        &mut self,
        payload: &[u8],
        output: &mut Vec<u8>,
    ) -> Result<(), H2Fault> {
        frames::push_head(payload.len(), Kind::Ping, ACK, 0, output);
        output.extend_from_slice(payload);
        self.acknowledged()
    }

    fn acknowledged(&mut self) -> Result<(), H2Fault> {
        self.demands += 1;
        if DEMANDS_MAX < self.demands { Err(FrameFault::Flood.into()) } else { Ok(()) }
    }

    pub(super) fn take_goaway(
        &mut self,
        payload: &[u8],
        news: &mut Vec<H2News>,
    ) -> Result<(), H2Fault> {
        let (last, code) = (frames::number(payload), ErrorCode::read(frames::code(&payload[4..])));
        if !std::mem::replace(&mut self.is_leaving, true) {
            self.ledger.count().goaways[code as usize] += 1;
        }
        self.note_calm(code);
        // RFC 9113, 6.8: what lies beyond has been sent again by now.
        if self.last_taken < last {
            return Err(FrameFault::LastIdRaised.into());
        }
        self.last_taken = last;
        if code != ErrorCode::NoError {
            self.ended_by = Some(code);
            self.end = Some(Box::new(End::said(H2Fault::Goaway(code), &payload[8..])));
        }
        self.drain(news);
        let beyond = |slot: &&mut super::Slot<'_>| last < slot.stream;
        let mut vacated = 0;
        for slot in self.slots.iter_mut().filter(beyond) {
            news.push(H2News::Refused(slot.exchange));
            slot.stream = 0;
            self.unsent -= usize::from(0 < slot.unsent);
            vacated += 1;
        }
        self.under_way -= vacated;
        self.ledger.count().refused += vacated as u64;
        Ok(())
    }

    pub(super) fn take_reset(&mut self, stream: u32, code: ErrorCode, news: &mut Vec<H2News>) {
        let Some(slot) = self.slots.open(stream) else { return };
        slot.ended = stream;
        slot.fault = Some(H2Fault::Reset(code));
        let (exchange, stage) = (slot.exchange, slot.stage);
        self.vacate(stream);
        self.ledger.count().resets_received[code as usize] += 1;
        self.note_calm(code);
        // RFC 9113, 8.7: the server did nothing with it.
        if code == ErrorCode::RefusedStream && stage == Stage::Requested {
            self.ledger.count().refused += 1;
            news.push(H2News::Refused(exchange));
        } else {
            news.push(H2News::Failed(exchange, H2Fault::Reset(code)));
        }
    }

    /// RFC 9113, 7: the server finds that we make too much work, which may be for the streams that we ended.
    fn note_calm(&self, code: ErrorCode) {
        if code == ErrorCode::EnhanceYourCalm && 0 < self.resets_sent {
            self.ledger.count().calm_after_resets += 1;
        }
    }

    pub(super) fn take_window_update(
        &mut self,
        stream: u32,
        increment: u32,
        news: &mut Vec<H2News>,
        output: &mut Vec<u8>,
    ) -> Result<(), H2Fault> {
        let window = match stream {
            0 => &mut self.window_out,
            // A stream that has ended needs no window.
            _ => match self.slots.open(stream) {
                Some(slot) => &mut slot.window_out,
                None => return Ok(()),
            },
        };
        *window += i64::from(increment);
        let fault = match increment {
            0 => FrameFault::NoIncrement,
            _ if i64::from(LARGEST) < *window => FrameFault::WindowOverflow,
            _ => return Ok(()),
        };
        if stream == 0 {
            return Err(fault.into());
        }
        self.fail(stream, fault.into(), news, output);
        Ok(())
    }
}
