//! A connection of HTTP/2 as a session: what a lane, which knows no protocol, may ask of it.

use super::account::End;
use super::fault::{FrameFault, H2Fault};
use super::frames::FIRST_WINDOW;
use super::{Account, ErrorCode, H2, H2News, frames};
use crate::ask::Ask;
use crate::template::Values;
use crate::{ExchangeId, Progress, Session};

impl<'a> Session<'a> for H2<'a> {
    type Fault = H2Fault;
    const SHARED: bool = true;

    /// `Ready` follows when the server has sent its SETTINGS, or at once.
    fn open(&mut self, news: &mut Vec<H2News>, output: &mut Vec<u8>) {
        output.extend_from_slice(frames::PREFACE);
        frames::push_settings(&self.order.settings(), output);
        let more = self.order.windows.connection() - FIRST_WINDOW;
        if 0 < more {
            frames::push_window_update(0, more, output);
        }
        if self.is_eager {
            self.slots.grow(self.streams_max());
            news.push(H2News::Ready);
        }
    }

    fn room(&self) -> usize {
        if self.is_draining || !(self.is_ready || self.is_eager) {
            return 0;
        }
        self.streams_max().saturating_sub(self.under_way)
    }

    fn submit(
        &mut self,
        exchange: ExchangeId,
        ask: &'a Ask,
        values: Values,
        news: &mut Vec<H2News>,
        output: &mut Vec<u8>,
    ) -> Option<&'a [u8]> {
        self.start(exchange, ask, values, news, output);
        None
    }

    fn has_more(&self) -> bool {
        self.bodies_can_go_on()
    }

    fn send_more(&mut self, news: &mut Vec<H2News>, output: &mut Vec<u8>) {
        self.send_bodies(news, output);
    }

    /// Bodies are not appended: `has_more` says whether any can go on now. After an error, what was appended says why
    /// to the server.
    fn receive(
        &mut self,
        bytes: &[u8],
        news: &mut Vec<H2News>,
        output: &mut Vec<u8>,
    ) -> Result<(), H2Fault> {
        self.take(bytes, news, output)
    }

    fn ended(&mut self, _news: &mut Vec<H2News>) -> Result<(), H2Fault> {
        match self.ended_by {
            Some(code) => Err(H2Fault::Goaway(code)),
            None if !self.is_ready => {
                let fault = FrameFault::Preface.into();
                self.end.get_or_insert_with(|| Box::new(End::said(fault, self.incoming.partial())));
                Err(fault)
            }
            None => Ok(()),
        }
    }

    fn under_way(&self, found: &mut Vec<(ExchangeId, Progress)>) {
        found.extend(self.slots.iter().map(|slot| (slot.exchange, slot.progress())));
    }

    fn is_at_rest(&self) -> bool {
        self.under_way == 0
    }

    fn account(&self, exchange: ExchangeId) -> Option<Account> {
        Some(self.account_of(exchange))
    }

    fn abandon(&mut self, exchange: ExchangeId, news: &mut Vec<H2News>, output: &mut Vec<u8>) {
        if let Some(stream) = self.find(exchange).map(|slot| slot.stream) {
            self.reset_stream(stream, ErrorCode::Cancel, news, output);
            self.vacate(stream);
        }
    }

    fn close(&mut self, output: &mut Vec<u8>) {
        // After a fault, it has been said why.
        if !self.is_broken {
            frames::push_goaway(ErrorCode::NoError, output);
        }
        self.is_draining = true;
    }

    fn reset(&mut self) {
        let (is_eager, forms) = (self.is_eager, self.forms.take());
        *self = H2 { is_eager, forms, ..H2::new(self.order, self.ledger.clone()) };
    }
}
