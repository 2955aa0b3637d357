//! A window of ours: how much DATA the server may still send on a stream, or on all of them together.

use super::fault::FrameFault;

#[derive(Debug, Default)]
pub(super) struct Window {
    /// What the server may have under way at most.
    size: u32,
    /// What it may still send; never below 0.
    left: u32,
    /// What it has sent since we last gave it more.
    owed: u32,
    /// What we have given it in this read: it did not know that when it sent what we read.
    fresh: u32,
    read: u32,
}

/// What DATA makes of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    /// The server is given so much more, if that is not 0.
    pub(super) more: u32,
    /// It has sent all that it might, and had to wait.
    pub(super) emptied: bool,
}

impl Window {
    pub(super) fn new(size: u32) -> Window {
        Window { size, left: size, ..Window::default() }
    }

    /// Takes octets that came in the read with this number. When half of the window is used up, the server is given
    /// more.
    pub(super) fn take(&mut self, length: u32, read: u32) -> Result<Taken, FrameFault> {
        if self.read != read {
            (self.read, self.fresh) = (read, 0);
        }
        let had_room = self.fresh < self.left;
        self.left = self.left.checked_sub(length).ok_or(FrameFault::Overrun)?;
        let emptied = had_room && self.left <= self.fresh;
        self.owed += length;
        let more = if self.size / 2 < self.owed { std::mem::take(&mut self.owed) } else { 0 };
        self.left += more;
        self.fresh += more;
        Ok(Taken { more, emptied })
    }
}
