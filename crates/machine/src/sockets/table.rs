//! TCP sockets by `/proc/net/tcp`: all of them, where sock_diag is not available.

use std::io::Result;

use super::{Side, Socket, State};

/// Every socket, of these states, with this port on that side.
pub(super) fn sockets(port: u16, side: Side, state: State) -> Result<Vec<Socket>> {
    let mut sockets = all()?;
    sockets.retain(|socket| {
        let own_port = match side {
            Side::Local => socket.local_port,
            Side::Remote => socket.remote_port,
        };
        own_port == port && (state == State::Any || socket.state == Socket::LISTEN)
    });
    Ok(sockets)
}

/// Every socket that listens, on any port.
pub(super) fn listening() -> Result<Vec<Socket>> {
    let mut all = all()?;
    all.retain(|socket| socket.state == Socket::LISTEN);
    Ok(all)
}

fn all() -> Result<Vec<Socket>> {
    // The thread's own file: it may have a network of its own.
    let mut text = std::fs::read_to_string("/proc/thread-self/net/tcp")?;
    text += &std::fs::read_to_string("/proc/thread-self/net/tcp6").unwrap_or_default();
    Ok(text.lines().filter_map(read).collect())
}

/// `0: 0100007F:4650 00000000:0000 0A 00000000:00000003 00:00000000 00000000 0 0 4711 …`
fn read(line: &str) -> Option<Socket> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let port = |field: usize| {
        let (_, port) = fields.get(field)?.split_once(':')?;
        u16::from_str_radix(port, 16).ok()
    };
    let (_, waiting) = fields.get(4)?.split_once(':')?;
    Some(Socket {
        local_port: port(1)?,
        remote_port: port(2)?,
        state: u8::from_str_radix(fields.get(3)?, 16).ok()?,
        waiting: u32::from_str_radix(waiting, 16).ok()?,
        backlog: None,
        inode: fields.get(9)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read() {
        let row = "   0: 0100007F:4650 00000000:0000 0A 00000000:00000003 00:00000000 00000000 \
                   0        0 4711 1 ffff8880 100 0 0 10 0";
        let listener = Socket {
            state: Socket::LISTEN,
            local_port: 18_000,
            remote_port: 0,
            waiting: 3,
            backlog: None,
            inode: 4711,
        };
        assert_eq!(read(row), Some(listener));
        assert_eq!(
            read("  sl  local_address rem_address   st tx_queue rx_queue tr tm->when"),
            None
        );
    }
}
