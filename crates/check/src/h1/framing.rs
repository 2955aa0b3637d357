//! RFC 9112, 6: where a body ends. Content-Length, Transfer-Encoding, both, and lookalikes of them.

use super::refusal::{
    BROKEN_OFF, FINAL_5XX, FINAL_400, OTHERWISE, OTHERWISE_DOUBT, STRICT_DOUBT, UNCLEARLY,
    UNCLEARLY_DOUBT, post,
};
use crate::case::{Area, Case, Level, Need, Tag, semantics, syntax};
use crate::script::Rule::{
    All, Answers, Class, Closes, Echo, Not, Ok, Silent, Status, Successes, Waits,
};
use crate::script::Step::{HalfClose, Send};

/// An accepted body.
const GOOD: Case = Case { area: Area::Framing, needs: Need::Echo, ..Case::BLANK };

/// RFC 9112, 6.3: a Content-Length that is not a number.
const BAD_LENGTH: Case = Case {
    area: Area::Framing,
    clause: syntax("6.3"),
    weight: 5,
    tags: &[Tag::Smuggling],
    twin: Some("H1-B05"),
    needs: Need::Post,
    pass: &[FINAL_400],
    warn: UNCLEARLY,
    demand: "an invalid Content-Length is answered with 400, and the connection ends",
    doubt: UNCLEARLY_DOUBT,
    ..Case::BLANK
};

/// RFC 9112, 6.3: Transfer-Encoding of which the last coding is not chunked.
const NOT_CHUNKED: Case = Case {
    twin: Some("H1-B06"),
    demand: "a request whose last transfer coding is not chunked is answered with 400, and the connection ends",
    ..BAD_LENGTH
};

/// RFC 9112, 6.3: the same length more than once.
const SAME_LENGTH: Case = Case {
    clause: syntax("6.3"),
    tags: &[Tag::Smuggling],
    twin: Some("H1-B03"),
    pass: &[FINAL_400, Echo(b"hello")],
    warn: UNCLEARLY,
    demand: "a length that is said twice is taken once, or the request is refused with 400 and the connection ends",
    doubt: UNCLEARLY_DOUBT,
    ..GOOD
};

/// RFC 9110, 8.6: an unusual but valid length.
const ODD_LENGTH: Case = Case {
    clause: semantics("8.6"),
    tags: &[Tag::Smuggling],
    twin: Some("H1-B03"),
    warn: UNCLEARLY,
    demand: "Content-Length is a decimal number of any number of digits",
    doubt: STRICT_DOUBT,
    ..GOOD
};

/// RFC 9112, 6.1: framing that two recipients may read in two ways.
const AMBIGUOUS: Case = Case {
    clause: syntax("6.1"),
    warn: &[All(&[Class(4), Closes]), Silent],
    doubt: "another 4xx with the connection's end, or an end without an answer refuses it as safely, but does not tell \
        the client what is wrong",
    ..NOT_CHUNKED
};

pub(super) const CASES: &[Case] = &[
    Case {
        id: "H1-L01",
        title: "Content-Length: abc",
        steps: post!("Content-Length: abc\r\n", "hello"),
        ..BAD_LENGTH
    },
    Case {
        id: "H1-L02",
        title: "Content-Length: -1",
        steps: post!("Content-Length: -1\r\n", "hello"),
        ..BAD_LENGTH
    },
    Case {
        id: "H1-L03",
        title: "Content-Length: +5",
        steps: post!("Content-Length: +5\r\n", "hello"),
        ..BAD_LENGTH
    },
    Case {
        id: "H1-L04",
        title: "Content-Length: 0x5",
        steps: post!("Content-Length: 0x5\r\n", "hello"),
        ..BAD_LENGTH
    },
    Case {
        id: "H1-L05",
        title: "Content-Length: 5 5",
        steps: post!("Content-Length: 5 5\r\n", "hello"),
        ..BAD_LENGTH
    },
    Case {
        id: "H1-L06",
        title: "an empty Content-Length",
        steps: post!("Content-Length: \r\n", "hello"),
        ..BAD_LENGTH
    },
    Case {
        id: "H1-L07",
        title: "Content-Length: 5, 6",
        steps: post!("Content-Length: 5, 6\r\n", "hello"),
        ..BAD_LENGTH
    },
    Case {
        id: "H1-L08",
        title: "two Content-Length lines that differ",
        steps: post!("Content-Length: 5\r\nContent-Length: 6\r\n", "hello"),
        ..BAD_LENGTH
    },
    Case {
        id: "H1-L11",
        title: "Content-Length: 5.0",
        steps: post!("Content-Length: 5.0\r\n", "hello"),
        ..BAD_LENGTH
    },
    Case {
        id: "H1-L12",
        title: "Content-Length: 0_5",
        steps: post!("Content-Length: 0_5\r\n", "hello"),
        ..BAD_LENGTH
    },
    Case {
        id: "H1-L13",
        title: "a vertical tab before Content-Length's number",
        steps: post!("Content-Length: \x0b5\r\n", "hello"),
        ..BAD_LENGTH
    },
    Case {
        id: "H1-L14",
        title: "a blank of Latin-1 before Content-Length's number",
        steps: &[Send(b"POST {post} HTTP/1.1\r\nHost: {H}\r\nContent-Length: \xa05\r\n\r\nhello")],
        ..BAD_LENGTH
    },
    Case {
        id: "H1-L15",
        title: "Content-Length: 5, 5",
        steps: post!("Content-Length: 5, 5\r\n", "hello"),
        ..SAME_LENGTH
    },
    Case {
        id: "H1-L16",
        title: "two equal Content-Length lines",
        steps: post!("Content-Length: 5\r\nContent-Length: 5\r\n", "hello"),
        ..SAME_LENGTH
    },
    Case {
        id: "H1-L17",
        title: "Content-Length: 010",
        steps: post!("Content-Length: 010\r\n", "0123456789"),
        pass: &[Echo(b"0123456789")],
        ..ODD_LENGTH
    },
    Case {
        id: "H1-L18",
        title: "Content-Length with 40 leading zeros",
        steps: post!("Content-Length: 00000000000000000000000000000000000000005\r\n", "hello"),
        pass: &[Echo(b"hello")],
        ..ODD_LENGTH
    },
    Case {
        id: "H1-L09",
        title: "Content-Length that overflows 64 bits to 5",
        clause: semantics("8.6"),
        tags: &[Tag::Smuggling, Tag::Size],
        twin: Some("H1-B03"),
        needs: Need::Echo,
        steps: post!("Content-Length: 18446744073709551621\r\n", "hello"),
        pass: &[Status(400), Status(413)],
        warn: &[Class(4), Class(5), Silent, Waits],
        demand: "a length that is too large for the server's numbers is not taken for a smaller one",
        doubt: "any refusal is safe, and so is waiting for the rest of such a body",
        ..BAD_LENGTH
    },
    Case {
        id: "H1-L10",
        title: "half of a body, and then the client's end",
        weight: 3,
        twin: Some("H1-B03"),
        needs: Need::Echo,
        tags: &[],
        steps: &[
            Send(b"POST {post} HTTP/1.1\r\nHost: {H}\r\nContent-Length: 10\r\n\r\nhello"),
            HalfClose,
        ],
        pass: &[Silent, FINAL_400, BROKEN_OFF],
        warn: &[Class(4), FINAL_5XX],
        demand: "a body that ends before its length is incomplete, and the connection ends",
        doubt: "any refusal shows that the body was not taken for a whole one",
        ..BAD_LENGTH
    },
    Case {
        id: "H1-T01",
        title: "Content-Length beside Transfer-Encoding",
        steps: post!("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
        pass: &[FINAL_400, All(&[Ok, Closes, Not(&Echo(b"0\r\n\r\n"))])],
        demand: "a request with both is refused, or its body is read in chunks; the connection ends in either case",
        ..AMBIGUOUS
    },
    Case {
        id: "H1-T02",
        title: "Content-Length beside Transfer-Encoding, and a request hidden behind them",
        steps: post!(
            "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
            "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: {H}\r\n\r\n"
        ),
        pass: &[All(&[Answers(1), Closes])],
        warn: &[Silent],
        demand: "after the answer to a request with both, the connection ends, and nothing more is answered",
        doubt: "an end without an answer is as safe, but does not tell the client what is wrong",
        ..AMBIGUOUS
    },
    Case {
        id: "H1-T03",
        title: "Transfer-Encoding: chunked, gzip",
        steps: post!("Transfer-Encoding: chunked, gzip\r\n", "5\r\nhello\r\n0\r\n\r\n"),
        warn: &[Class(4), Status(501), Silent, FINAL_5XX],
        doubt: "501 says that the coding is not known; another refusal does not say what is wrong",
        ..NOT_CHUNKED
    },
    Case {
        id: "H1-T04",
        title: "Transfer-Encoding: xchunked",
        clause: syntax("6.1"),
        level: Level::Should,
        steps: post!("Transfer-Encoding: xchunked\r\n", "5\r\nhello\r\n0\r\n\r\n"),
        pass: &[Status(501), Status(400)],
        warn: OTHERWISE,
        demand: "a transfer coding that the server does not know is answered with 501",
        doubt: OTHERWISE_DOUBT,
        ..NOT_CHUNKED
    },
    Case {
        id: "H1-T05",
        title: "a vertical tab before chunked",
        steps: post!("Transfer-Encoding: \x0bchunked\r\n", "5\r\nhello\r\n0\r\n\r\n"),
        ..UNKNOWN_NAME
    },
    Case {
        id: "H1-T09",
        title: "a blank of Latin-1 before chunked",
        steps: &[Send(
            b"POST {post} HTTP/1.1\r\nHost: {H}\r\nTransfer-Encoding: \xa0chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        )],
        ..UNKNOWN_NAME
    },
    Case {
        id: "H1-T10",
        title: "Transfer-Encoding: \"chunked\", in quotes",
        steps: post!("Transfer-Encoding: \"chunked\"\r\n", "5\r\nhello\r\n0\r\n\r\n"),
        ..UNKNOWN_NAME
    },
    Case {
        id: "H1-T11",
        title: "Transfer-Encoding: identity beside Content-Length",
        steps: post!("Transfer-Encoding: identity\r\nContent-Length: 5\r\n", "hello"),
        ..UNKNOWN_NAME
    },
    Case {
        id: "H1-T12",
        title: "a line with chunked and another with identity",
        steps: post!(
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
            "5\r\nhello\r\n0\r\n\r\n"
        ),
        ..UNKNOWN_NAME
    },
    Case {
        id: "H1-T06",
        title: "Transfer-Encoding in HTTP/1.0",
        steps: &[Send(
            b"POST {post} HTTP/1.0\r\nHost: {H}\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n\
              5\r\nhello\r\n0\r\n\r\n",
        )],
        // A server that sees no body at all answers the body as if it were the next request.
        pass: &[All(&[FINAL_400, Answers(1)]), All(&[Ok, Answers(1), Closes])],
        demand: "Transfer-Encoding in HTTP/1.0 is faulty framing, and the connection ends after one answer",
        ..AMBIGUOUS
    },
    Case {
        id: "H1-T07",
        title: "a parameter of chunked",
        clause: syntax("7.1"),
        weight: 3,
        steps: post!("Transfer-Encoding: chunked;a=b\r\n", "5\r\nhello\r\n0\r\n\r\n"),
        demand: "chunked has no parameters, and one is treated as an error",
        ..TOLERATED
    },
    Case {
        id: "H1-T08",
        title: "chunked twice",
        weight: 3,
        steps: post!("Transfer-Encoding: chunked, chunked\r\n", "5\r\nhello\r\n0\r\n\r\n"),
        demand: "chunked is applied no more than once, so a request that says otherwise is refused as one that is not \
            understood",
        ..TOLERATED
    },
    Case {
        id: "H1-T13",
        title: "tabs and blanks around chunked",
        clause: semantics("5.5"),
        tags: &[Tag::Smuggling],
        steps: post!("Transfer-Encoding: \t chunked\t \r\n", "5\r\nhello\r\n0\r\n\r\n"),
        ..ODD_CODING
    },
    Case {
        id: "H1-T14",
        title: "empty members beside chunked",
        clause: semantics("5.6.1.2"),
        tags: &[Tag::Smuggling],
        steps: post!("Transfer-Encoding: , chunked, \r\n", "5\r\nhello\r\n0\r\n\r\n"),
        demand: "a reasonable number of empty members of a list is ignored",
        ..ODD_CODING
    },
];

/// Codings that only look like chunked.
const UNKNOWN_NAME: Case = Case {
    warn: &[Class(4), Status(501), Silent, FINAL_5XX],
    doubt: "501 says that the coding is not known; another refusal does not say what is wrong",
    ..NOT_CHUNKED
};

/// Codings that some servers accept as chunked.
const TOLERATED: Case = Case {
    clause: syntax("6.1"),
    level: Level::Should,
    pass: &[Status(400), Status(501)],
    warn: &[Class(4), Silent, Successes(1)],
    doubt: "a server that reads the body in chunks reads what was meant; another refusal does not say what is wrong",
    ..NOT_CHUNKED
};

/// Chunked, unusually written.
const ODD_CODING: Case = Case {
    twin: Some("H1-B04"),
    pass: &[Echo(b"hello")],
    warn: &[Status(501), Class(4), Silent, FINAL_5XX],
    demand: "blanks and tabs around a value do not belong to it",
    doubt: STRICT_DOUBT,
    ..GOOD
};
