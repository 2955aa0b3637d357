//! The way to a server: over which link, and how long a connection takes.

use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use machine::link::toward;
use post::{Nanos, Way};

/// As many connections as a median takes, one after the other.
const CONNECTS: usize = 20;
/// No longer than this in all: the coordinator waits, and hears nothing meanwhile.
const WITHIN: Duration = Duration::from_millis(500);

/// Looks at the way to this address, before the load.
pub(super) fn look(target: SocketAddr) -> Way {
    let link = toward(target.ip());
    let mut times = connects(target);
    times.sort_unstable();
    Way {
        speed: link.as_ref().and_then(|link| link.speed),
        mtu: link.as_ref().map(|link| link.mtu),
        link: link.map(|link| link.name),
        connect_p50: times.get(times.len() / 2).copied(),
        connects: times.len() as u32,
    }
}

/// How long each connection took that was opened, and closed at once. What is not answered ends it.
fn connects(target: SocketAddr) -> Vec<Nanos> {
    let until = Instant::now() + WITHIN;
    let mut times = Vec::new();
    while times.len() < CONNECTS {
        let began = Instant::now();
        let left = until.saturating_duration_since(began);
        if left.is_zero() || TcpStream::connect_timeout(&target, left).is_err() {
            break;
        }
        times.push(began.elapsed().as_nanos() as Nanos);
    }
    times
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_way_has_a_link_and_the_time_that_a_connection_takes() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let way = look(listener.local_addr().unwrap());
        assert_eq!((way.link.as_deref(), way.connects), (Some("lo"), CONNECTS as u32));
        assert!(way.connect_p50.is_some_and(|p50| 0 < p50 && p50 < 500_000_000), "{way:?}");
        // Nobody listens there any more.
        let gone = listener.local_addr().unwrap();
        drop(listener);
        assert_eq!((look(gone).connect_p50, look(gone).connects), (None, 0));
    }

    #[test]
    fn a_server_that_takes_no_connection_is_not_waited_for_long() {
        // The backlog of a socket that nothing is accepted of is full soon.
        let socket = rustix::net::socket(
            rustix::net::AddressFamily::INET,
            rustix::net::SocketType::STREAM,
            None,
        )
        .unwrap();
        let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
        rustix::net::bind(&socket, &any).unwrap();
        rustix::net::listen(&socket, 0).unwrap();
        let address: SocketAddr = rustix::net::getsockname(&socket).unwrap().try_into().unwrap();
        let began = Instant::now();
        assert!(look(address).connects < CONNECTS as u32);
        assert!(began.elapsed() < 10 * WITHIN, "{:?}", began.elapsed());
    }
}
