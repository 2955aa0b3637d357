//! An echo client on dyno's WebSocket, to be checked by Autobahn's test suite (docs/hold.md has the results): it asks
//! how many cases there are, runs each, and has the report written.
//!
//! `cargo run --release --example autobahn -- 127.0.0.1:9001`

#![expect(clippy::print_stdout, reason = "it is a program")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use wire::{HeldEvent, HeldLimits, HeldSession, Limits, Socket, socket_ask};

const AGENT: &str = "dyno";

fn main() {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:9001".into());
    let mut count = 0;
    talk(&address, "/getCaseCount", |text| {
        count = String::from_utf8_lossy(text).parse().unwrap_or(0);
    });
    for case in 1..=count {
        talk(&address, &format!("/runCase?case={case}&agent={AGENT}"), |_| {});
    }
    talk(&address, &format!("/updateReports?agent={AGENT}"), |_| {});
    println!("{count} cases");
}

/// Holds one connection until it has ended, and echoes every message.
fn talk(address: &str, target: &str, mut receive: impl FnMut(&[u8])) {
    let ask = socket_ask(address, target, &[]).expect("a sound target");
    // The largest messages of the suite have 16 MiB.
    let (limits, held_limits) =
        (Limits::default(), HeldLimits { message: 64 << 20, fragments: 1 << 20 });
    let mut held = HeldSession::Socket(Socket::new(&ask, &limits, held_limits));
    let mut stream = TcpStream::connect(address).expect("the suite listens");
    let _ = stream.set_nodelay(true);
    let _ = stream.set_read_timeout(Some(Duration::from_secs(60)));
    let (mut output, mut buffer, mut parts) = (Vec::new(), vec![0; 64 << 10], Vec::new());
    held.begin(0x5eed, &mut output);
    while stream.write_all(&output).is_ok() {
        output.clear();
        let Some(count) = stream.read(&mut buffer).ok().filter(|count| 0 < *count) else { return };
        let (mut messages, mut is_over, mut kind) = (Vec::new(), false, true);
        let heard = held.receive(&buffer[..count], &mut output, &mut |heard| match heard {
            HeldEvent::Part { bytes, is_text } => {
                parts.extend_from_slice(bytes);
                kind = is_text;
            }
            HeldEvent::Message { .. } => messages.push((std::mem::take(&mut parts), kind)),
            HeldEvent::Close(_) => is_over = true,
            HeldEvent::Opened | HeldEvent::Ping | HeldEvent::Pong => {}
        });
        if heard.is_err() {
            // The last message is sent, and the server closes.
            let _ = stream.write_all(&output);
            return;
        }
        for (message, is_text) in messages {
            receive(&message);
            if let HeldSession::Socket(socket) = &mut held {
                socket.reply(&message, is_text, &mut output);
            }
        }
        if is_over {
            let _ = stream.write_all(&output);
            // The server closes first.
            while stream.read(&mut buffer).is_ok_and(|count| 0 < count) {}
            return;
        }
    }
}
