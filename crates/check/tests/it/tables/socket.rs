//! RFC 6455. The oracle opens the WebSocket; a script begins where the last part of the case has come.

use super::{Line, breaks, keeps};
use crate::script::Act::{Answer, Say};

pub(super) const ONLY_WARN: &[&str] = &[];

const OPENED: &[u8] = b"HTTP/1.1 101 So\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
const WRONGLY: &[u8] = b"HTTP/1.1 101 So\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Accept: S3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

pub(super) const TABLE: &[Line] = &[
    keeps(&["WS-H01"], &[Say(OPENED)]),
    breaks(&["WS-H01"], &[Say(WRONGLY)]),
    breaks(&["WS-H01"], &[Answer(200, "")]),
];
