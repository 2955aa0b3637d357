//! The kernel's sockets, by edge-triggered epoll: one registration per connection, one `recv` and
//! one `send` per exchange, one `epoll_wait` for all that came in the meantime.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, sockopt,
};
use rustix::thread::ClockId;
use rustix::time::Timespec;

use super::pacer::Pacer;
use super::wait::Wait;
use super::{Break, Conn, Engine, Event, Idle, Slept};
use crate::order::{Spin, Target};
use crate::pause::LOOK_UP;
use crate::turns::Rest;
use crate::{Nanos, SECOND};

/// Read at once from one connection, so that no connection keeps the others waiting.
const READ_SIZE: usize = 64 << 10;
/// Events taken at once.
const BATCH: usize = 256;
/// A load begins within this time.
const AHEAD_MAX: Nanos = 3_600 * SECOND;

/// The common zero of the clocks of all lanes of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    instant: Timespec,
}

impl Origin {
    pub(crate) fn now() -> Origin {
        Origin { instant: rustix::time::clock_gettime(ClockId::Monotonic) }
    }

    /// An instant of the machine's monotonic clock, which other processes share.
    pub(crate) fn at(nanos: u64) -> Origin {
        let (tv_sec, tv_nsec) = ((nanos / SECOND) as i64, (nanos % SECOND) as i64);
        Origin { instant: Timespec { tv_sec, tv_nsec } }
    }

    /// The instant that was ordered, or now. It must not be too far away.
    pub(crate) fn ordered(nanos: Option<u64>) -> Result<Origin, String> {
        let (now, nanos) = (Origin::now(), nanos.unwrap_or(0));
        match nanos.saturating_sub(now.nanos()) {
            _ if nanos == 0 => Ok(now),
            0..=AHEAD_MAX => Ok(Origin::at(nanos)),
            ahead => Err(format!("it would begin in {} s only", ahead / SECOND)),
        }
    }

    /// On the machine's monotonic clock.
    pub(crate) fn nanos(self) -> u64 {
        self.instant.tv_sec as u64 * SECOND + self.instant.tv_nsec as u64
    }

    /// Sleeps until this instant.
    pub(crate) fn wait(self) {
        self.wait_unless(&|| false);
    }

    /// Sleeps until this instant, unless that is not wanted any more; returns whether the instant has come.
    pub(crate) fn wait_unless(self, is_over: &dyn Fn() -> bool) -> bool {
        loop {
            let left = self.nanos().saturating_sub(Origin::now().nanos());
            if is_over() {
                return false;
            }
            if left == 0 {
                return true;
            }
            std::thread::sleep(Duration::from_nanos(left.min(LOOK_UP)));
        }
    }

    pub(crate) fn elapsed(self) -> Nanos {
        let now = rustix::time::clock_gettime(ClockId::Monotonic);
        let seconds = (now.tv_sec - self.instant.tv_sec) * SECOND as i64;
        (seconds + now.tv_nsec - self.instant.tv_nsec) as Nanos
    }
}

pub(crate) struct Epoll {
    epoll: OwnedFd,
    wait: Wait,
    origin: Origin,
    target: Target,
    /// Used in turn, from `next_source` on; if empty, the kernel chooses.
    sources: Vec<IpAddr>,
    next_source: usize,
    registrations: Vec<Registration>,
    events: Vec<epoll::Event>,
    /// Connections that may hold more bytes than one read took, and whether their end was announced.
    unread: Vec<(Conn, u32, bool)>,
    /// Those of the last turn, while they are read again; empty between turns.
    unread_before: Vec<(Conn, u32, bool)>,
    buffer: Box<[u8]>,
    pacer: Pacer,
    idle: Idle,
}

/// `era` counts the connections of a place, so that events of an older one are recognised.
#[derive(Default)]
struct Registration {
    socket: Option<OwnedFd>,
    era: u32,
    is_connected: bool,
    /// The kernel took fewer bytes than it was given.
    is_full: bool,
}

impl Epoll {
    /// What an engine needs from the kernel before its thread starts.
    pub(crate) fn descriptor() -> Result<OwnedFd, Errno> {
        epoll::create(CreateFlags::CLOEXEC)
    }

    /// Each lane starts its round through the sources at a different one.
    pub(crate) fn new(
        epoll: OwnedFd,
        target: Target,
        sources: Vec<IpAddr>,
        spin: Spin,
        origin: Origin,
        lane: usize,
    ) -> Epoll {
        Epoll {
            epoll,
            wait: Wait::Directly,
            origin,
            target,
            sources,
            next_source: lane,
            registrations: Vec::new(),
            events: Vec::with_capacity(BATCH),
            unread: Vec::new(),
            unread_before: Vec::new(),
            buffer: vec![0; READ_SIZE].into_boxed_slice(),
            pacer: Pacer::new(spin),
            idle: Idle::default(),
        }
    }

    fn connect(&mut self) -> Result<OwnedFd, Errno> {
        let family = match &self.target {
            Target::Tcp(address) if address.is_ipv4() => AddressFamily::INET,
            Target::Tcp(_) => AddressFamily::INET6,
            Target::Unix(_) => AddressFamily::UNIX,
        };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
        let connected = match &self.target {
            Target::Tcp(address) => {
                sockopt::set_tcp_nodelay(&socket, true)?;
                if !self.sources.is_empty() {
                    let source = self.sources[self.next_source % self.sources.len()];
                    self.next_source += 1;
                    // The port is chosen at connect, where the peer is known: one port serves
                    // many peers.
                    bind_address_only(&socket, source)?;
                }
                rustix::net::connect(&socket, address)
            }
            // unix(7): EAGAIN says that the backlog is full.
            Target::Unix(path) => {
                rustix::net::connect(&socket, &SocketAddrUnix::new(path.as_path())?)
                    .map_err(|error| if error == Errno::AGAIN { Errno::CONNREFUSED } else { error })
            }
        };
        match connected {
            Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
            Err(error) => Err(error),
        }
    }

    /// Asks the kernel what is ready; returns whether there is anything to hand over.
    fn poll(&mut self, timeout: Nanos) -> bool {
        let timeout = if self.unread.is_empty() { timeout } else { 0 };
        let timeout =
            Timespec { tv_sec: (timeout / SECOND) as i64, tv_nsec: (timeout % SECOND) as i64 };
        self.events.clear();
        match self.wait.wait(&self.epoll, &mut self.events, &timeout) {
            Ok(()) | Err(Errno::INTR) => {}
            Err(error) => panic!("waiting on our own descriptor: {error}"),
        }
        !self.events.is_empty() || !self.unread.is_empty()
    }

    fn hand_over(&mut self, deliver: &mut impl FnMut(Conn, Event<'_>, Nanos)) {
        std::mem::swap(&mut self.unread, &mut self.unread_before);
        while let Some((conn, era, ends)) = self.unread_before.pop() {
            if self.registrations[conn as usize].era == era {
                self.read(conn, ends, deliver);
            }
        }
        let events = std::mem::take(&mut self.events);
        for event in &events {
            let (conn, era) = (event.data.u64() as u32, (event.data.u64() >> 32) as u32);
            if self.registrations[conn as usize].era == era {
                self.hand_over_one(conn, event.flags, deliver);
            }
        }
        self.events = events;
    }

    fn hand_over_one(
        &mut self,
        conn: Conn,
        flags: EventFlags,
        deliver: &mut impl FnMut(Conn, Event<'_>, Nanos),
    ) {
        let registration = &mut self.registrations[conn as usize];
        if !registration.is_connected {
            if flags.intersects(EventFlags::ERR | EventFlags::HUP) {
                let error = registration.socket.as_ref().map(sockopt::socket_error);
                let cause = match error {
                    Some(Ok(Err(error)) | Err(error)) => cause(error),
                    Some(Ok(Ok(()))) | None => Break::Reset,
                };
                return deliver(conn, Event::Broken(cause), self.origin.elapsed());
            }
            if !flags.contains(EventFlags::OUT) {
                return;
            }
            registration.is_connected = true;
            deliver(conn, Event::Connected, self.origin.elapsed());
        } else if registration.is_full && flags.contains(EventFlags::OUT) {
            registration.is_full = false;
            deliver(conn, Event::Writable, self.origin.elapsed());
        }
        let ends = EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR;
        if flags.intersects(EventFlags::IN | ends) {
            self.read(conn, flags.intersects(ends), deliver);
        }
    }

    /// One `recv`: a short read means that there is no more, unless the end was announced.
    fn read(&mut self, conn: Conn, ends: bool, deliver: &mut impl FnMut(Conn, Event<'_>, Nanos)) {
        let registration = &self.registrations[conn as usize];
        let Some(socket) = &registration.socket else { return };
        match rustix::net::recv(socket, &mut *self.buffer, RecvFlags::empty()) {
            Ok((_, 0)) => deliver(conn, Event::Ended, self.origin.elapsed()),
            Ok((_, len)) => {
                deliver(conn, Event::Bytes(&self.buffer[..len]), self.origin.elapsed());
                if len == self.buffer.len() || ends {
                    self.unread.push((conn, registration.era, ends));
                }
            }
            Err(Errno::AGAIN) => {}
            Err(Errno::INTR) => self.unread.push((conn, registration.era, ends)),
            Err(error) => deliver(conn, Event::Broken(cause(error)), self.origin.elapsed()),
        }
    }
}

impl Engine for Epoll {
    fn now(&self) -> Nanos {
        self.origin.elapsed()
    }

    fn open(&mut self, conn: Conn) -> Result<(), Break> {
        if self.registrations.len() <= conn as usize {
            self.registrations.resize_with(conn as usize + 1, Registration::default);
        }
        let socket = self.connect().map_err(cause)?;
        let registration = &mut self.registrations[conn as usize];
        let data = EventData::new_u64(u64::from(registration.era) << 32 | u64::from(conn));
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        epoll::add(&self.epoll, &socket, data, flags).map_err(cause)?;
        registration.socket = Some(socket);
        registration.is_connected = false;
        registration.is_full = false;
        Ok(())
    }

    fn close(&mut self, conn: Conn) {
        let registration = &mut self.registrations[conn as usize];
        registration.socket = None;
        registration.era = registration.era.wrapping_add(1);
    }

    fn write(&mut self, conn: Conn, bytes: &[u8]) -> Result<usize, Break> {
        let registration = &mut self.registrations[conn as usize];
        let Some(socket) = &registration.socket else {
            return Err(Break::Reset);
        };
        let written = match rustix::net::send(socket, bytes, SendFlags::NOSIGNAL) {
            Ok(written) => written,
            Err(Errno::AGAIN | Errno::INTR) => 0,
            Err(error) => return Err(cause(error)),
        };
        registration.is_full = written < bytes.len();
        Ok(written)
    }

    fn sleep(&mut self, deadline: Nanos, in_flight: usize) -> Slept {
        let start = self.now();
        let mut now = start;
        let mut polled = 0;
        let poll_until = self.pacer.poll_until(start, deadline, in_flight);
        let mut is_ready = false;
        while !is_ready && now < poll_until {
            is_ready = self.poll(0);
            let after = self.now();
            polled += after - now;
            now = after;
        }
        // Wake up a little before the deadline, by as much as the lane has recently overslept; the rest of the time
        // is polled, so that what is due leaves when it is due.
        while !is_ready {
            let rise = self.pacer.rise(now, deadline);
            let asleep = rise.saturating_sub(now);
            is_ready = self.poll(asleep);
            let after = self.now();
            if 0 < asleep && !is_ready {
                self.pacer.overslept(after.saturating_sub(rise));
            }
            if asleep == 0 {
                polled += after - now;
            }
            now = after;
            if deadline <= now {
                break;
            }
        }
        self.pacer.waited(now - start);
        self.idle.waited += now - start;
        self.idle.polled += polled;
        Slept { from: start, until: now }
    }

    fn deliver(&mut self, deliver: &mut impl FnMut(Conn, Event<'_>, Nanos)) -> bool {
        let is_any = !self.events.is_empty() || !self.unread.is_empty();
        self.hand_over(deliver);
        is_any
    }

    fn idle(&self) -> Idle {
        self.idle
    }

    fn rested(&mut self, passed_at: Nanos, rest: Rest) -> Nanos {
        let next = rest.from.saturating_sub(self.origin.nanos());
        self.origin = Origin::at(rest.until - next);
        // Until the last turn ended, this lane waited for the others of its side.
        self.idle.waited += self.now().saturating_sub(passed_at);
        next
    }

    fn cpu(&self) -> Nanos {
        let time = rustix::time::clock_gettime(ClockId::ThreadCPUTime);
        time.tv_sec as Nanos * SECOND + time.tv_nsec as Nanos
    }
}

fn cause(error: Errno) -> Break {
    match error {
        // There is no such Unix socket.
        Errno::CONNREFUSED | Errno::NOENT => Break::Refused,
        Errno::CONNRESET | Errno::PIPE | Errno::CONNABORTED | Errno::NOTCONN => Break::Reset,
        Errno::TIMEDOUT => Break::TimedOut,
        // ip(7): EAGAIN of `connect` says that no local port is free.
        Errno::ADDRNOTAVAIL | Errno::ADDRINUSE | Errno::AGAIN => Break::NoPorts,
        Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM | Errno::NOSPC => Break::NoFiles,
        _ => Break::Unreachable,
    }
}

/// Binds an address and leaves the port to `connect`.
#[allow(unsafe_code)]
fn bind_address_only(socket: &OwnedFd, source: IpAddr) -> Result<(), Errno> {
    let yes: libc::c_int = 1;
    // SAFETY: the descriptor is open, and the option's value is an int that outlives the call.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            (&raw const yes).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if done != 0 {
        return Err(std::io::Error::last_os_error()
            .raw_os_error()
            .map_or(Errno::INVAL, Errno::from_raw_os_error));
    }
    rustix::net::bind(socket, &SocketAddr::new(source, 0))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixListener;

    use super::*;

    /// EAGAIN of TCP says that no local port is free, that of a Unix socket that the server's backlog is full.
    #[test]
    fn a_full_backlog_refuses_and_a_lack_of_ports_is_ours() {
        assert_eq!(cause(Errno::AGAIN), Break::NoPorts);
        let path = std::env::temp_dir().join(format!("dyno-full-{}", std::process::id()));
        let listener = UnixListener::bind(&path).unwrap();
        rustix::net::listen(&listener, 0).unwrap();
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).unwrap();
        let target = Target::Unix(path.clone());
        let mut engine = Epoll::new(epoll, target, Vec::new(), Spin::Never, Origin::now(), 0);
        let opened: Vec<_> = (0..4).map(|conn| engine.open(conn)).collect();
        std::fs::remove_file(path).unwrap();
        assert_eq!((opened[0], opened[3]), (Ok(()), Err(Break::Refused)));
    }

    /// The kernel announces an end once, maybe while more lies before it than one read takes.
    #[test]
    fn the_end_of_a_connection_is_read_however_much_lies_before_it() {
        let path = std::env::temp_dir().join(format!("dyno-end-{}", std::process::id()));
        let listener = UnixListener::bind(&path).unwrap();
        for before in [0, 1, READ_SIZE - 1, READ_SIZE, READ_SIZE + 1] {
            let target = Target::Unix(path.clone());
            let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).unwrap();
            let mut engine = Epoll::new(epoll, target, Vec::new(), Spin::Never, Origin::now(), 0);
            engine.open(0).unwrap();
            let (mut peer, _) = listener.accept().unwrap();
            engine.sleep(engine.now(), 0);
            engine.deliver(&mut |_, event, _| assert!(matches!(event, Event::Connected)));
            peer.write_all(&vec![b'x'; before]).unwrap();
            drop(peer);
            let (mut came, mut has_ended) = (0, false);
            for _ in 0..5 {
                engine.sleep(engine.now(), 0);
                engine.deliver(&mut |_, event, _| match event {
                    Event::Bytes(bytes) => came += bytes.len(),
                    event => has_ended |= matches!(event, Event::Ended),
                });
            }
            assert_eq!((came, has_ended), (before, true));
        }
        std::fs::remove_file(path).unwrap();
    }
}
