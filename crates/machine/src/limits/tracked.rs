//! Connections that the kernel tracks, for a firewall or for translation of addresses: where it does so, a full table
//! loses packets of every further connection.

use std::net::{TcpListener, TcpStream};

use crate::proc::number;

const COUNT: &str = "/proc/sys/net/netfilter/nf_conntrack_count";
const MOST: &str = "/proc/sys/net/netfilter/nf_conntrack_max";

/// How many more connections may be tracked; none where none is tracked, or that is not known.
#[must_use]
pub fn tracked_left() -> Option<u64> {
    let most = number(MOST)?;
    // The table is there as soon as the module is; it is used only where a rule needs it. Then it has this connection.
    let listener = TcpListener::bind(("127.0.0.1", 0)).ok()?;
    let _connection = TcpStream::connect(listener.local_addr().ok()?).ok()?;
    left(most, number(COUNT)?)
}

fn left(most: u64, tracked: u64) -> Option<u64> {
    (0 < tracked).then(|| most.saturating_sub(tracked))
}

#[cfg(test)]
mod tests {
    use super::left;

    #[test]
    fn a_table_that_has_not_even_our_connection_is_not_used() {
        assert_eq!(left(262_144, 0), None);
        assert_eq!(left(262_144, 100), Some(262_044));
        assert_eq!(left(100, 101), Some(0));
    }
}
