//! What a scripted server does once it has recognised the case under test.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::net::sockopt;

use crate::date::imf_fixdate;

/// One step of a scripted server. When a script is over, the connection stays open until the client ends it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    /// A well-formed answer with this status and content.
    Answer(u16, &'static str),
    /// A well-formed answer with these field lines, too.
    With(u16, &'static str, &'static str),
    /// A well-formed answer that announces that it is the last one; the connection is closed after it.
    Last(u16, &'static str),
    /// Octets as they are, except `{date}`, which becomes the current date.
    Say(&'static [u8]),
    /// Waits until the client has sent something more.
    Receive,
    /// Waits before the next step.
    Pause(u64),
    /// Sends back whatever arrives, until nothing more arrives.
    Mirror,
    /// Sends this for ever.
    Flood(&'static [u8]),
    /// Ends the connection properly: what is still arriving is read.
    Close,
    /// Resets the connection.
    Reset,
}

/// Plays a script to its end. None if the connection is to end, too; else everything that the client will send.
pub(crate) fn play(script: &[Act], client: &mut TcpStream) -> Option<()> {
    for act in script {
        perform(*act, client)?;
    }
    drain(client);
    Some(())
}

/// None if the client has gone.
fn perform(act: Act, client: &mut TcpStream) -> Option<()> {
    match act {
        Act::Answer(status, content) => client.write_all(&answer(status, content, "")).ok(),
        Act::With(status, more, content) => client.write_all(&answer(status, content, more)).ok(),
        Act::Last(status, content) => {
            client.write_all(&answer(status, content, "Connection: close\r\n")).ok()?;
            perform(Act::Close, client)
        }
        Act::Say(octets) => {
            let text = String::from_utf8_lossy(octets);
            match text.contains("{date}") {
                true => client.write_all(text.replace("{date}", &date()).as_bytes()).ok(),
                false => client.write_all(octets).ok(),
            }
        }
        Act::Receive => client.read(&mut [0; 16 << 10]).ok().filter(|count| *count > 0).map(|_| ()),
        Act::Pause(ms) => {
            std::thread::sleep(Duration::from_millis(ms));
            Some(())
        }
        Act::Mirror => {
            let mut buffer = [0; 16 << 10];
            loop {
                let count = client.read(&mut buffer).ok().filter(|count| *count > 0)?;
                client.write_all(&buffer[..count]).ok()?;
            }
        }
        Act::Flood(octets) => {
            let block = octets.repeat((64 << 10) / octets.len() + 1);
            while client.write_all(&block).is_ok() {}
            None
        }
        Act::Close => {
            client.shutdown(Shutdown::Write).ok()?;
            drain(client);
            None
        }
        Act::Reset => {
            // A socket with a linger time of zero is closed with a reset.
            let _ = sockopt::set_socket_linger(&*client, Some(Duration::ZERO));
            None
        }
    }
}

fn drain(client: &mut TcpStream) {
    let mut buffer = [0; 64 << 10];
    while client.read(&mut buffer).is_ok_and(|count| count > 0) {}
}

/// A well-formed answer.
pub(crate) fn answer(status: u16, content: &str, more: &str) -> Vec<u8> {
    let (date, length) = (date(), content.len());
    format!(
        "HTTP/1.1 {status} So\r\nDate: {date}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n{more}\r\n{content}"
    )
    .into_bytes()
}

/// The current date, in the form of RFC 9110, 5.6.7.
fn date() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    String::from_utf8(imf_fixdate(now).to_vec()).unwrap()
}
