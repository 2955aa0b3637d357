//! A finding as a command that a reader can copy: it sends the same bytes to the same address.

use check::{Finding, Target};

/// A line for a shell, or why there is none.
pub(super) fn command(finding: &Finding, to: &Target) -> Result<String, &'static str> {
    match finding.beyond_bytes() {
        Some(why) => Err(why),
        None => {
            let text = printf(&finding.evidence.sent);
            // It closes after three seconds, because many servers keep the connection open.
            Ok(match &to.tls {
                None => {
                    format!("printf '{text}' | nc -w 3 {} {}", to.address.ip(), to.address.port())
                }
                Some(client) => format!(
                    "printf '{text}' | timeout 3 openssl s_client -quiet -servername {} -connect {}",
                    client.order().host,
                    to.address
                ),
            })
        }
    }
}

/// Octets as the format of `printf` between single quotation marks, for any POSIX shell.
fn printf(octets: &[u8]) -> String {
    let mut text = String::with_capacity(octets.len());
    for (place, octet) in octets.iter().enumerate() {
        match octet {
            b'\r' => text.push_str("\\r"),
            b'\n' => text.push_str("\\n"),
            b'\\' => text.push_str("\\\\"),
            b'%' => text.push_str("%%"),
            // A first `-` would be an option.
            b'-' if place == 0 => text.push_str("\\055"),
            b'\'' => text.push_str("\\047"),
            0x20..=0x7e => text.push(char::from(*octet)),
            other => text.push_str(&format!("\\{other:03o}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn every_octet_comes_out_of_both_shells_as_it_went_in() {
        let every: Vec<u8> = (0..=255).collect();
        let texts =
            [&every[..], b"-n %d \\x41 \\101 '$HOME' `id` \"\\\\\"!", b"1\x002\r\n\t\x003\x7f8"];
        for (shell, octets) in ["sh", "bash"].iter().flat_map(|it| texts.map(|text| (it, text))) {
            let script = format!("printf '{}'", printf(octets));
            let ran = Command::new(shell).args(["-c", &script]).output().unwrap();
            assert_eq!(ran.stdout, octets, "{shell}: {script}");
        }
    }
}
