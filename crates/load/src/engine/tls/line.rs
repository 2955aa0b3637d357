//! One connection's TLS: records in, plaintext out, and the other way round.

use tls::TlsFault;
use tls::rustls::Error;
use tls::rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use tls::rustls::unbuffered::{
    ConnectionState, EncodeError, EncodeTlsData, EncryptError, UnbufferedStatus,
};

use crate::Nanos;
use crate::engine::Break;

/// A record's header, its type within TLS 1.3, or its nonce in TLS 1.2, and its seal are no more than this.
const RECORD_OVERHEAD: usize = 32;
/// RFC 8446, 5.1.
const RECORD_MAX: usize = 16 << 10;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    #[default]
    Vacant,
    /// TCP is being connected.
    Connecting,
    /// The handshake is under way.
    Handshaking,
    Open,
    /// The server has said that it sends no more.
    Ended,
    /// It has failed, and the lane was told.
    Over,
}

/// One place for a connection. An idle one holds no buffer.
#[derive(Default)]
pub(super) struct Line {
    pub(super) tls: Option<Box<UnbufferedClientConnection>>,
    pub(super) state: State,
    /// When TCP was connected.
    pub(super) reached: Nanos,
    /// The beginning of a record or of a message whose rest has not come.
    pub(super) cut: Vec<u8>,
    /// Ciphertext that the kernel has not taken.
    pub(super) unsent: Vec<u8>,
    pub(super) is_to_be_flushed: bool,
    /// The kernel took fewer bytes than it was given.
    pub(super) is_full: bool,
    /// The lane waits for `Writable`.
    pub(super) owes_writable: bool,
    /// Plaintext has come since the last write.
    pub(super) has_received: bool,
    /// It was to resume a session.
    pub(super) is_meant_to_resume: bool,
    /// Octets that have come since the last plaintext.
    pub(super) without_data: usize,
    /// Tickets that have been counted.
    pub(super) tickets: u32,
}

/// What some bytes meant.
pub(super) struct Taken {
    /// So many of them are not needed any more.
    pub(super) used: usize,
    pub(super) outcome: Result<Next, Error>,
}

/// What a connection waits for after it has taken in what came.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// More of the handshake.
    Handshake,
    /// Data, in either direction.
    Data,
    /// Nothing: the server sends no more.
    End,
}

impl Line {
    /// Takes in what came; `plain` gets what was in it, and `unsent` what is to be answered.
    pub(super) fn take(
        tls: &mut UnbufferedClientConnection,
        bytes: &mut [u8],
        unsent: &mut Vec<u8>,
        plain: &mut dyn FnMut(&[u8]),
    ) -> Taken {
        let (mut used, mut has_ended) = (0, false);
        let outcome = loop {
            let UnbufferedStatus { discard, state } = tls.process_tls_records(&mut bytes[used..]);
            let outcome = match state {
                Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                    while let Some(record) = traffic.next_record() {
                        match record {
                            Ok(record) => plain(record.payload),
                            Err(_) => break,
                        }
                    }
                    None
                }
                Ok(ConnectionState::EncodeTlsData(message)) => {
                    encode(message, unsent);
                    None
                }
                Ok(ConnectionState::TransmitTlsData(message)) => {
                    message.done();
                    None
                }
                Ok(ConnectionState::PeerClosed) => {
                    has_ended = true;
                    None
                }
                Ok(ConnectionState::BlockedHandshake) => Some(Ok(Next::Handshake)),
                Ok(ConnectionState::WriteTraffic(_)) if has_ended => Some(Ok(Next::End)),
                Ok(ConnectionState::WriteTraffic(_)) => Some(Ok(Next::Data)),
                Ok(_) => Some(Ok(Next::End)),
                Err(error) => Some(Err(error)),
            };
            used += discard;
            if let Some(outcome) = outcome {
                break outcome;
            }
        };
        Taken { used, outcome }
    }

    /// Appends `plain` as records, of which there is one for each 16 KiB.
    pub(super) fn seal(&mut self, plain: &[u8], sealed: &mut Vec<u8>) -> Result<(), Break> {
        let Some(tls) = self.tls.as_mut().filter(|_| self.state != State::Over) else {
            return Err(Break::Reset);
        };
        loop {
            let UnbufferedStatus { discard, state } = tls.process_tls_records(&mut self.cut);
            let is_done = match state {
                Ok(ConnectionState::WriteTraffic(mut traffic)) => {
                    let from = sealed.len();
                    let mut room = plain.len() + (plain.len() / RECORD_MAX + 1) * RECORD_OVERHEAD;
                    loop {
                        sealed.resize(from + room, 0);
                        match traffic.encrypt(plain, &mut sealed[from..]) {
                            Ok(len) => break sealed.truncate(from + len),
                            // Something else has to leave before it.
                            Err(EncryptError::InsufficientSize(lack)) => room = lack.required_size,
                            Err(EncryptError::EncryptExhausted) => {
                                return Err(Break::Tls(TlsFault::Protocol));
                            }
                        }
                    }
                    true
                }
                Ok(ConnectionState::EncodeTlsData(message)) => {
                    encode(message, sealed);
                    false
                }
                Ok(ConnectionState::TransmitTlsData(message)) => {
                    message.done();
                    false
                }
                Ok(_) | Err(_) => return Err(Break::Reset),
            };
            self.cut.drain(..discard);
            if is_done {
                return Ok(());
            }
        }
    }

    /// Appends the message with which TLS ends (RFC 8446, 6.1), or the alert that is due.
    pub(super) fn seal_close(&mut self, sealed: &mut Vec<u8>) {
        let Some(tls) = &mut self.tls else { return };
        if self.is_full
            || matches!(self.state, State::Vacant | State::Connecting | State::Handshaking)
        {
            return;
        }
        sealed.append(&mut self.unsent);
        // After an error, only the alert may be asked for.
        while self.state == State::Over {
            if !tls.wants_write() {
                return;
            }
            if let Ok(ConnectionState::EncodeTlsData(message)) =
                tls.process_tls_records(&mut self.cut).state
            {
                encode(message, sealed);
            }
        }
        loop {
            let UnbufferedStatus { discard, state } = tls.process_tls_records(&mut self.cut);
            match state {
                Ok(ConnectionState::EncodeTlsData(message)) => encode(message, sealed),
                Ok(ConnectionState::TransmitTlsData(message)) => message.done(),
                Ok(ConnectionState::PeerClosed) => {}
                Ok(ConnectionState::WriteTraffic(mut traffic)) => {
                    let from = sealed.len();
                    sealed.resize(from + 4 * RECORD_OVERHEAD, 0);
                    let len = traffic.queue_close_notify(&mut sealed[from..]).unwrap_or(0);
                    return sealed.truncate(from + len);
                }
                Ok(_) | Err(_) => return,
            }
            self.cut.drain(..discard);
        }
    }
}

fn encode(mut message: EncodeTlsData<'_, ClientConnectionData>, out: &mut Vec<u8>) {
    let from = out.len();
    let mut room = 0;
    loop {
        out.resize(from + room, 0);
        match message.encode(&mut out[from..]) {
            Ok(len) => return out.truncate(from + len),
            Err(EncodeError::InsufficientSize(lack)) => room = lack.required_size,
            Err(EncodeError::AlreadyEncoded) => return out.truncate(from),
        }
    }
}
