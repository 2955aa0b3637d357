//! HTTP/2 (RFC 9113 and RFC 7541): a writer of frames that can write anything, a lenient reader, and what only some
//! cases ask. The cases are in `catalogue/http2`.

mod act;
mod breach;
mod conditions;
pub(crate) mod frame;
mod frame_text;
mod hello;
mod hpack;
mod offered;
mod received;
mod sent;
mod sign;
mod talk;

pub use act::{Act, Piece};
pub(crate) use act::{HELD, OPEN, get, post};
pub(crate) use breach::Breach;
pub(crate) use conditions::CONDITIONS;
pub use hello::Hello;
pub(crate) use hello::{Greeting, greet};
pub(crate) use offered::{HALF, PAGE, POST, not_offered};
pub(crate) use received::Received;
pub use sign::Sign;
pub(crate) use talk::{Stage, converse};

/// The plain GET.
pub(crate) const PLAIN: &str = "H2-B01";

/// The case that sends nothing and judges every frame of the server that was seen.
pub(crate) const PASSIVE: &str = "H2-V01";

/// Another case that sends nothing: it checks whether the server was there all the time.
pub(crate) const STAYING: &str = "H2-E01";
