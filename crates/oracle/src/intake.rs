//! Puts a request together from whatever pieces it arrives in. No socket.

use crate::body::Body;
use crate::request::{Head, Refusal, head};

/// What has been read of a request that is not yet whole. Empty between requests.
#[derive(Debug, Default)]
pub(crate) struct Intake {
    head: Vec<u8>,
    /// Present from the head's end on.
    body: Option<Body>,
    content: Vec<u8>,
}

/// What a piece of bytes brought.
#[derive(Debug)]
pub(crate) enum Fed<'a> {
    /// All of it was taken, and the request is not whole. The peer may be waiting for a 100.
    More { say_continue: bool },
    /// A whole request; `used` bytes of the piece belonged to it.
    Whole {
        head: Head<'a>,
        head_bytes: &'a [u8],
        content: &'a [u8],
        used: usize,
    },
}

impl Intake {
    /// Whether the head is whole, and the body is arriving.
    pub(crate) fn has_head(&self) -> bool {
        self.body.is_some()
    }

    /// Takes the next piece. A whole request leaves the intake used up: the next needs a new one.
    pub(crate) fn feed<'a>(&'a mut self, piece: &'a [u8]) -> Result<Fed<'a>, Refusal> {
        if self.head.is_empty() {
            match head(piece)? {
                Some(head) if Body::begin(head.framing)?.is_whole() => {
                    let used = head.length;
                    return Ok(Fed::Whole {
                        head,
                        head_bytes: &piece[..used],
                        content: &[],
                        used,
                    });
                }
                _ => {}
            }
        }
        self.put_together(piece)
    }

    fn put_together<'a>(&'a mut self, piece: &'a [u8]) -> Result<Fed<'a>, Refusal> {
        let mut used = 0;
        let mut say_continue = false;
        if self.body.is_none() {
            let before = self.head.len();
            self.head.extend_from_slice(piece);
            let Some(head) = head(&self.head)? else {
                return Ok(Fed::More {
                    say_continue: false,
                });
            };
            let (length, framing) = (head.length, head.framing);
            say_continue = head.expects_continue && self.head.len() == length;
            used = length - before;
            self.head.truncate(length);
            self.body = Some(Body::begin(framing)?);
        }
        let body = self
            .body
            .as_mut()
            .expect("the head is whole, so the body has begun");
        used += body.take(&piece[used..], &mut self.content)?;
        if !body.is_whole() {
            return Ok(Fed::More { say_continue });
        }
        let head = head(&self.head)?.expect("this head was whole before");
        Ok(Fed::Whole {
            head,
            head_bytes: &self.head,
            content: &self.content,
            used,
        })
    }
}
