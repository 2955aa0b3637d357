//! What can be requested.

/// The resource under which a request is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resource {
    Root,
    Echo,
    Hello,
    User,
    Post,
    Poll,
    WsPoll,
    WsEcho,
    WsRoom,
    Delay,
    Header,
    Items,
    Sum,
    /// Whole and as it is.
    File,
    EncodedFile,
    FilePart,
    NotModified,
    Server,
    Unknown,
    Refused,
    Reply,
    Limited,
}

impl Resource {
    /// Names in the order of the variants, as the books list them.
    pub(crate) const NAMES: [&'static str; 22] = [
        "root",
        "echo",
        "hello",
        "user",
        "post",
        "poll",
        "wspoll",
        "wsecho",
        "wsroom",
        "delay",
        "header",
        "items",
        "sum",
        "file",
        "encoded_file",
        "file_part",
        "not_modified",
        "server",
        "unknown",
        "refused",
        "reply",
        "limited",
    ];
}
