//! The terminal: what is under way is drawn on standard error, by a thread of its own where it is a picture; results go
//! to standard output. Whether they are terminals, how wide they are, and how to leave them.

mod agents;
pub mod checking;
pub mod feed;
pub mod live;
pub mod progress;
mod searches;

use std::borrow::Cow;
use std::env;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use lab::Refusal;
use report::paint::{visible, wrapped};
use report::render::{Glyphs, Screen};

/// Leaves the alternate screen and shows the cursor again.
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";
/// Enters the alternate screen and hides the cursor.
const ENTER: &str = "\x1b[?1049h\x1b[?25l";

static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// Prints a line on standard error. Nothing in it moves the cursor or changes the order of the text, and no URL in it has
/// a password, whoever wrote it. If standard error cannot be written, the line is dropped.
pub fn notice(line: &str) {
    let line = units::visible(&units::without_passwords(line));
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Prints a text as `notice` does a line: on a terminal its lines are cut at blanks, and what does not fit is indented
/// so far.
pub fn notice_text(text: &str, indent: usize) {
    let width = if stderr_is_live() { stderr_size().0 } else { usize::MAX };
    for line in text.lines() {
        let parts = wrapped(line, width.saturating_sub(indent).max(20));
        notice(&parts.join(&format!("\n{}", " ".repeat(indent))));
    }
}

/// Writes a result on standard output: on a terminal with all visible that it would obey, elsewhere as it is, because it
/// may be data. If the reader has gone, that is not an error.
pub fn print(text: &str) -> Result<(), Refusal> {
    let mut stdout = io::stdout().lock();
    let shown = if stdout.is_terminal() { Cow::Owned(visible(text)) } else { Cow::Borrowed(text) };
    let written = stdout.write_all(shown.as_bytes()).and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|error| Refusal::new(format!("standard output: {error}"))),
    }
}

/// Colour for terminals, unless the user has turned it off: https://no-color.org.
pub fn stdout_is_coloured() -> bool {
    io::stdout().is_terminal() && !colour_is_refused()
}

/// Whether standard error is a terminal on which the cursor may be moved.
pub fn stderr_is_live() -> bool {
    io::stderr().is_terminal() && !is_dumb()
}

pub fn colour_is_refused() -> bool {
    env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) || is_dumb()
}

fn is_dumb() -> bool {
    env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Columns of the terminal at standard output; a file or a pipe has as many as COLUMNS says, or else a wide line.
pub fn stdout_width() -> usize {
    const PLENTY: usize = 120;
    /// A wider picture would only cost memory.
    const WIDEST: usize = 1_000;
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
    let size = size.map(|size| usize::from(size.ws_col)).filter(|&width| 0 < width);
    let wanted = || env::var("COLUMNS").ok()?.parse().ok().filter(|&width: &usize| 0 < width);
    size.or_else(wanted).unwrap_or(PLENTY).min(WIDEST)
}

/// Standard output as a screen for a brief report.
pub fn screen() -> Screen {
    let (width, is_coloured) = (stdout_width(), stdout_is_coloured());
    Screen { width, is_coloured, is_full: false, glyphs: stdout_glyphs() }
}

/// A terminal whose locale is not UTF-8 gets ASCII letters; a file or a pipe is UTF-8.
fn stdout_glyphs() -> Glyphs {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"].map(env::var_os).into_iter().flatten();
    let locale = set.map(|value| value.to_string_lossy().to_lowercase()).find(|it| !it.is_empty());
    match locale.is_some_and(|it| it.contains("utf-8") || it.contains("utf8")) {
        false if io::stdout().is_terminal() => Glyphs::Ascii,
        true | false => Glyphs::Unicode,
    }
}

/// Columns and rows of the terminal at standard error.
pub fn stderr_size() -> (usize, usize) {
    match rustix::termios::tcgetwinsize(io::stderr()) {
        Ok(size) if 0 < size.ws_col && 0 < size.ws_row => {
            (usize::from(size.ws_col), usize::from(size.ws_row))
        }
        _ => (80, 24),
    }
}

/// Takes the whole screen, until `leave`.
pub fn enter() {
    IS_TAKEN.store(true, Ordering::SeqCst);
    draw(ENTER);
}

/// Restores the screen, if it was taken.
pub fn leave() {
    if IS_TAKEN.swap(false, Ordering::SeqCst) {
        draw(LEAVE);
    }
}

pub fn draw(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

/// A panic must not leave its message on a screen that vanishes.
pub fn restore_on_panic() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        leave();
        usual(info);
    }));
}
