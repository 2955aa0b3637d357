//! What every server must do: the well-formed requests that other cases have as twins.

use crate::case::{Area, Case, Need, semantics, syntax};
use crate::script::Rule::{Echo, Ok, Status, Successes};
use crate::script::Step::Send;

pub(super) const CASES: &[Case] = &[
    Case {
        id: "H1-B01",
        title: "a plain GET",
        area: Area::Methods,
        clause: semantics("9.1"),
        steps: &[Send(b"GET {get} HTTP/1.1\r\nHost: {H}\r\n\r\n")],
        pass: &[Ok],
        demand: "every general-purpose server answers GET",
        ..Case::BLANK
    },
    Case {
        id: "H1-B03",
        title: "a POST with Content-Length",
        area: Area::Framing,
        clause: syntax("6.3"),
        needs: Need::Echo,
        steps: &[Send(b"POST {post} HTTP/1.1\r\nHost: {H}\r\nContent-Length: 5\r\n\r\nhello")],
        pass: &[Echo(b"hello")],
        demand: "Content-Length says how many octets the body has",
        ..Case::BLANK
    },
    Case {
        id: "H1-B04",
        title: "a POST in chunks",
        area: Area::Chunked,
        clause: syntax("7.1"),
        needs: Need::Echo,
        steps: &[Send(
            b"POST {post} HTTP/1.1\r\nHost: {H}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        )],
        pass: &[Echo(b"hello")],
        warn: &[Status(411)],
        demand: "a recipient can decode the chunked coding",
        doubt: "a server may ask for a length (411)",
        ..Case::BLANK
    },
    Case {
        id: "H1-B05",
        title: "a POST with Content-Length, whatever comes back",
        area: Area::Framing,
        clause: syntax("6.3"),
        weight: 1,
        needs: Need::Post,
        steps: &[Send(b"POST {post} HTTP/1.1\r\nHost: {H}\r\nContent-Length: 5\r\n\r\nhello")],
        pass: &[Successes(1)],
        demand: "a body with Content-Length is taken",
        ..Case::BLANK
    },
    Case {
        id: "H1-B06",
        title: "a POST in chunks, whatever comes back",
        area: Area::Chunked,
        clause: syntax("7.1"),
        weight: 1,
        needs: Need::Post,
        steps: &[Send(
            b"POST {post} HTTP/1.1\r\nHost: {H}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        )],
        pass: &[Successes(1)],
        warn: &[Status(411)],
        demand: "a body in chunks is taken",
        doubt: "a server may ask for a length (411)",
        ..Case::BLANK
    },
];
