//! Slow clients in crowds: many connections that send requests and do not read, or never finish a request, and what
//! that does to an honest client.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::net::sockopt::{Timeout, set_socket_recv_buffer_size, set_socket_timeout};
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with};

use tls::Stream;

use crate::observation::Slow;
use crate::pulse::Pulse;
use crate::script::{Crowd, Then};
use crate::target::Target;

/// How much a member of the crowd accepts unread, in octets; the kernel may round it.
const WINDOW: usize = 4 << 10;

/// Opens a crowd, keeps it slow, and sends honest requests beside it.
pub(crate) fn gather(
    crowd: &Crowd,
    target: &Target,
    post: &str,
    is_halted: &dyn Fn() -> bool,
) -> Slow {
    let ask = target.fill(crowd.ask, post).repeat(crowd.times);
    let mut members = assemble(crowd.size, target, is_halted);
    for member in &mut members {
        member.ask(&ask);
    }
    let (opened, honest) = (members.len(), Mutex::new(Vec::new()));
    let until = Instant::now() + crowd.lasting;
    let mut next_honest = Instant::now();
    std::thread::scope(|scope| {
        while Instant::now() < until && !is_halted() {
            let turn = Instant::now() + crowd.every;
            for member in &mut members {
                member.ask(&ask);
                member.then(crowd.then);
            }
            while !crowd.honest_every.is_zero() && next_honest < turn.min(until) {
                sleep_until(next_honest);
                scope.spawn(|| {
                    let time = honestly(target, crowd.honest_limit);
                    honest.lock().unwrap_or_else(PoisonError::into_inner).push(time);
                });
                next_honest += crowd.honest_every;
            }
            sleep_until(turn.min(until));
        }
    });
    let honest = honest.into_inner().unwrap_or_else(PoisonError::into_inner);
    Slow { opened, honest: in_order(honest), ..Slow::default() }
}

/// Opens connections. A server with a short queue accepts them slowly; if it accepts no more, that is left at that.
fn assemble(size: usize, target: &Target, is_halted: &dyn Fn() -> bool) -> Vec<Member> {
    const LIMIT: Duration = Duration::from_secs(20);
    const REFUSALS: usize = 3;
    let (until, mut members, mut refusals) = (Instant::now() + LIMIT, Vec::new(), 0);
    while members.len() < size && refusals < REFUSALS && Instant::now() < until && !is_halted() {
        match Member::open(target) {
            Ok(member) => members.push(member),
            Err(_) => refusals += 1,
        }
    }
    members
}

/// Shortest first; an unanswered request counts as longer than any other.
fn in_order(mut honest: Vec<Option<Duration>>) -> Vec<Option<Duration>> {
    honest.sort_by_key(|time| time.unwrap_or(Duration::MAX));
    honest
}

fn sleep_until(instant: Instant) {
    std::thread::sleep(instant.saturating_duration_since(Instant::now()));
}

fn honestly(target: &Target, limit: Duration) -> Option<Duration> {
    let began = Instant::now();
    Pulse::Page.beats(target, limit).then(|| began.elapsed())
}

/// One connection of a crowd.
struct Member {
    socket: Stream,
    asked: usize,
    is_gone: bool,
}

impl Member {
    /// With a window so small that the server has to keep what is not read.
    fn open(target: &Target) -> std::io::Result<Member> {
        // A connection that a full queue drops is tried again by the kernel after a second.
        const CONNECT: Duration = Duration::from_millis(2500);
        let family =
            if target.address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let socket = socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        set_socket_recv_buffer_size(&socket, WINDOW)?;
        set_socket_timeout(&socket, Timeout::Send, Some(CONNECT))?;
        connect(&socket, &target.address)?;
        let socket = target.secure(TcpStream::from(socket), CONNECT)?;
        socket.socket().set_nonblocking(true)?;
        Ok(Member { socket, asked: 0, is_gone: false })
    }

    /// Sends as much of the requests as the server takes now.
    fn ask(&mut self, all: &[u8]) {
        while !self.is_gone && self.asked < all.len() {
            match self.socket.write(&all[self.asked..]) {
                Ok(count) => self.asked += count,
                Err(error) => return self.judge(&error),
            }
        }
    }

    fn then(&mut self, then: Then) {
        if self.is_gone {
            return;
        }
        let done = match then {
            Then::Send(octet) => self.socket.write(&[octet]),
            Then::Sip => self.socket.read(&mut [0]),
            Then::Nothing => return,
        };
        match done {
            Ok(0) => self.is_gone = true,
            Ok(_) => {}
            Err(error) => self.judge(&error),
        }
    }

    fn judge(&mut self, error: &std::io::Error) {
        self.is_gone = !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p99(honest: Vec<Option<Duration>>) -> Option<Duration> {
        Slow { honest: in_order(honest), ..Slow::default() }.honest_p99()
    }

    #[test]
    fn one_of_a_hundred_may_fail_but_not_two() {
        let ms = |count| Some(Duration::from_millis(count));
        assert_eq!(p99((1..=100).rev().map(ms).collect()), ms(99));
        let but =
            |unanswered: u64| (0..100).map(|it| ms(it).filter(|_| it >= unanswered)).collect();
        assert_eq!(p99(but(1)), ms(99));
        assert_eq!(p99(but(2)), None);
        assert_eq!(p99(vec![ms(7)]), ms(7));
        assert_eq!(p99(Vec::new()), None);
    }
}
