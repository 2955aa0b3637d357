//! Sessions that later connections resume, and which connections do so.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::pki_types::ServerName;

/// More tickets than this are not kept; a server may send any number, of any size up to 64 KiB.
const KEPT: usize = 256;

/// What one server gave for later connections. All connections of a run go to one server.
#[derive(Clone, Default)]
pub(crate) struct Sessions(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    group: Option<NamedGroup>,
    session: Option<Tls12ClientSessionValue>,
    tickets: Vec<Tls13ClientSessionValue>,
}

impl Sessions {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sessions of a lane, for a connection that resumes one or for a connection that only leaves one for later.
pub(crate) struct Store {
    pub(crate) sessions: Sessions,
    pub(crate) gives: bool,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}

impl ClientSessionStore for Store {
    fn set_kx_hint(&self, _server: ServerName<'static>, group: NamedGroup) {
        self.sessions.kept().group = Some(group);
    }

    fn kx_hint(&self, _server: &ServerName<'_>) -> Option<NamedGroup> {
        self.sessions.kept().group
    }

    fn set_tls12_session(&self, _server: ServerName<'static>, value: Tls12ClientSessionValue) {
        self.sessions.kept().session = Some(value);
    }

    fn tls12_session(&self, _server: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.sessions.kept().session.clone().filter(|_| self.gives)
    }

    fn remove_tls12_session(&self, _server: &ServerName<'static>) {
        self.sessions.kept().session = None;
    }

    fn insert_tls13_ticket(&self, _server: ServerName<'static>, value: Tls13ClientSessionValue) {
        let tickets = &mut self.sessions.kept().tickets;
        if tickets.len() == KEPT {
            tickets.remove(0);
        }
        tickets.push(value);
    }

    /// RFC 8446, C.4: a ticket is used once.
    fn take_tls13_ticket(&self, _server: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        self.gives.then(|| self.sessions.kept().tickets.pop()).flatten()
    }
}
