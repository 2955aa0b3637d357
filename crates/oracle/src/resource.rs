//! What can be requested.

use units::named;

named! {
    /// The resource under which a request is counted, in the order in which the books list them.
    pub(crate) enum Resource {
        Root = "root",
        Echo = "echo",
        Hello = "hello",
        User = "user",
        Post = "post",
        Poll = "poll",
        WsPoll = "wspoll",
        WsEcho = "wsecho",
        WsRoom = "wsroom",
        Delay = "delay",
        Header = "header",
        Items = "items",
        Sum = "sum",
        /// Whole and as it is.
        File = "file",
        EncodedFile = "encoded_file",
        FilePart = "file_part",
        NotModified = "not_modified",
        Server = "server",
        Unknown = "unknown",
        Refused = "refused",
        Reply = "reply",
        Limited = "limited",
    }
}
