//! One answer for every request: a server's own, head and content, with the oracle's framing.

/// What is answered to every request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Without its line end.
    pub(crate) status_line: String,
    /// Header lines, each with its line end.
    pub(crate) lines: String,
    pub(crate) content: Vec<u8>,
}

/// Fields that the oracle writes itself.
const OWN: [&str; 5] = ["date", "connection", "keep-alive", "content-length", "transfer-encoding"];

impl Reply {
    /// Reads an answer as HTTP/1.1 writes it; whatever follows the head is its content, without any framing.
    pub fn parse(bytes: &[u8]) -> Result<Reply, String> {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.ok_or("no empty line ends the head; lines end with CR LF")?;
        let head = std::str::from_utf8(&bytes[..end]).map_err(|_| "the head is no text")?;
        let mut lines = head.split("\r\n");
        let first = lines.next().unwrap_or_default();
        // `curl -i` writes an answer of HTTP/2 like this.
        let rest = first.strip_prefix("HTTP/1.1 ").or(first.strip_prefix("HTTP/2 "));
        let status_line = format!("HTTP/1.1 {}", rest.unwrap_or_default());
        let status = rest.and_then(|rest| rest.get(..3));
        match status.and_then(|digits| digits.parse::<u16>().ok()) {
            Some(204 | 304) => return Err("an answer without content has nothing to serve".into()),
            Some(200..600) => {}
            _ => return Err("the first line is no status line such as HTTP/1.1 200 OK".into()),
        }
        let mut kept = String::new();
        for line in lines {
            let name = line.split_once(':').map(|(name, _)| name.to_ascii_lowercase());
            let name = name.ok_or_else(|| format!("`{}` is no field", line.escape_debug()))?;
            if line.bytes().any(|byte| byte.is_ascii_control() && byte != b'\t') {
                return Err(format!("`{}` has a control character", line.escape_debug()));
            }
            if !OWN.contains(&name.as_str()) {
                kept.push_str(line);
                kept.push_str("\r\n");
            }
        }
        Ok(Reply { status_line, lines: kept, content: bytes[end + 4..].to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_keeps_its_own_fields_and_content() {
        let text = b"HTTP/1.1 201 Made\r\nDate: x\r\nX-A: b\r\nContent-Length: 9\r\n\r\na\r\n\r\nb";
        let reply = Reply::parse(text).unwrap();
        assert_eq!(reply.status_line, "HTTP/1.1 201 Made");
        assert_eq!((reply.lines.as_str(), &reply.content[..]), ("X-A: b\r\n", &b"a\r\n\r\nb"[..]));
        assert_eq!(Reply::parse(b"HTTP/2 200\r\n\r\nx").unwrap().status_line, "HTTP/1.1 200");
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        for text in [
            "",
            "HTTP/1.1 200 OK\r\n",
            "HTTP/1.0 200 OK\r\n\r\n",
            "HTTP/1.1 100 Go on\r\n\r\n",
            "HTTP/1.1 204 None\r\n\r\n",
            "HTTP/1.1 200 OK\r\nno field\r\n\r\n",
            "HTTP/1.1 200 OK\r\na: b\nc: d\r\n\r\n",
        ] {
            assert!(Reply::parse(text.as_bytes()).is_err(), "{text:?}");
        }
    }
}
