//! When a subject is ready: it has given its first correct answer, and that answer is its own.

use std::time::{Duration, Instant};

use crate::record::{Check, Outcome, OutcomeKind};
use machine::process::{Exit, Running};
use machine::sockets::{Ownership, owner_is_among};

/// The time between two attempts to get a first answer.
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(2);
/// How long an answer may take, for readiness and for checks.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// Why there was no first correct answer.
#[derive(Debug)]
pub(crate) enum Absence {
    /// The user asked for the end.
    Halted,
    /// The subject's process ended first.
    Ended(Exit),
    /// The time was over; this is the last attempt that shows anything.
    Late(Option<Box<Check>>),
    /// It answers, and refuses the request with the same status of the 4xx class all the time.
    Refuses(Box<Check>),
}

/// After so long a status of the 4xx class is no sign of a start that is under way: servers that are not ready refuse
/// connections or answer with 5xx.
const REFUSAL_SETTLED: Duration = Duration::from_secs(3);

/// Since when a server has answered with the same 4xx status.
#[derive(Debug, Default)]
struct SteadyRefusal(Option<(u16, Instant)>);

impl SteadyRefusal {
    /// Takes the next wrong answer; whether the refusal is settled.
    fn is_settled(&mut self, status: &str, now: Instant) -> bool {
        let status = status.parse().ok().filter(|status| (400..500).contains(status));
        self.0 = status.map(|status| match self.0 {
            Some((before, since)) if before == status => (status, since),
            Some(_) | None => (status, now),
        });
        self.0.is_some_and(|(_, since)| REFUSAL_SETTLED <= now.duration_since(since))
    }
}

/// An attempt that has less time than this, and uses it up, shows the deadline, not the subject.
const BRIEF: Duration = Duration::from_millis(500);

/// Whether an attempt says more than the one before: any that received bytes does, and none that the deadline cut short.
fn says_more(last: &Check, check: &Check, is_cut: bool) -> bool {
    !check.response.is_empty() || (last.response.is_empty() && !is_cut)
}

/// After so many attempts in vain the subject is looked for on other ports.
const BETWEEN_SEARCHES: u32 = 25;

/// Asks until the answer is right, or until the deadline, and returns that answer; `seek` looks for the subject on
/// other ports.
pub(crate) fn first_answer(
    running: &mut Running,
    deadline: Instant,
    is_halted: &dyn Fn() -> bool,
    seek: &dyn Fn(&Running),
    ask: &dyn Fn(Duration) -> Check,
) -> Result<Check, Absence> {
    let (mut last, mut refusal) = (None::<Check>, SteadyRefusal::default());
    for attempt in 1.. {
        if is_halted() {
            return Err(Absence::Halted);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Absence::Late(last.map(Box::new)));
        }
        let check = ask(left.min(PATIENCE));
        if check.wrong.is_none() {
            return Ok(check);
        }
        if let Some(exit) = running.ended() {
            return Err(Absence::Ended(exit));
        }
        if refusal.is_settled(check.status(), Instant::now()) {
            return Err(Absence::Refuses(Box::new(check)));
        }
        let is_cut = left < BRIEF && deadline <= Instant::now();
        if last.as_ref().is_none_or(|last| says_more(last, &check, is_cut)) {
            last = Some(check);
        }
        if attempt % BETWEEN_SEARCHES == 0 {
            seek(running);
        }
        std::thread::sleep(BETWEEN_ATTEMPTS);
    }
    unreachable!("attempts do not end by themselves")
}

impl Absence {
    /// What follows for a subject that had so long, and the answer that shows why. `words` finds in the output of one that
    /// ended what is said of it.
    pub(crate) fn setback(
        self,
        running: &mut Running,
        port: u16,
        had: Duration,
        words: fn(&[u8]) -> String,
    ) -> (Setback, Option<Check>) {
        let strangers = refuse_strangers(port, running).err();
        let (kind, says, last) = match (self, strangers) {
            (Absence::Halted, _) => (OutcomeKind::Interrupted, "interrupted".into(), None),
            (_, Some(strangers)) => return (strangers, None),
            (Absence::Ended(exit), None) => {
                let tail = running.tail();
                if found_its_port_taken(&tail) {
                    let says = format!("it ended{}", last_words(&tail));
                    return (Setback::PortTaken(says), None);
                }
                let says = format!("it ended before it answered: {exit}{}", words(&tail));
                (OutcomeKind::Died, says, None)
            }
            (Absence::Refuses(check), None) => (OutcomeKind::Wrong, refused(&check), Some(*check)),
            (Absence::Late(last), None) => {
                let has_answered = last.as_ref().is_some_and(|check| !check.response.is_empty());
                let kind = if has_answered { OutcomeKind::Wrong } else { OutcomeKind::NotReady };
                let wrong = last.as_ref().and_then(|check| check.wrong.as_deref());
                let (had, wrong) = (had.as_secs_f64(), wrong.unwrap_or_default());
                let says = format!("no correct answer within {had} s; the last attempt: {wrong}");
                (kind, says, last.map(|check| *check))
            }
        };
        (Setback::Final(Outcome { kind, says }), last)
    }
}

/// The message for a server that refuses the first request of a load, with what would change that request.
fn refused(check: &Check) -> String {
    let line = check.request.split(|&byte| byte == b'\r').next().unwrap_or_default();
    let way_out = match check.status() {
        "401" | "403" | "407" => "-H adds a header field with credentials",
        "405" => "--method names another method, --path another path",
        _ => "--path names a path that it has",
    };
    format!(
        "it has answered `{}` with status {} for {} s; {way_out} (the workload does, in an experiment)",
        line.escape_ascii(),
        check.status(),
        REFUSAL_SETTLED.as_secs()
    )
}

/// *Asking the wrong server* is the worst error: only the subject's own processes may listen. If no process listens,
/// the questions will find that out.
pub(crate) fn foreign_listener(port: u16, running: &Running) -> Option<String> {
    match owner_is_among(port, &running.tree()) {
        Ok(Ownership::Theirs | Ownership::NoListener) => None,
        Ok(Ownership::Another(Some(pid), name)) => {
            Some(format!("port {port} is process {pid}'s (`{name}`), which is not the server's"))
        }
        Ok(Ownership::Another(None, name)) => {
            Some(format!("port {port} belongs to another program ({name})"))
        }
        Err(error) => Some(format!("which program listens on port {port} is not known: {error}")),
    }
}

/// Refuses the subject's port if another process has it.
pub(crate) fn refuse_strangers(port: u16, running: &Running) -> Result<(), Setback> {
    foreign_listener(port, running).map_or(Ok(()), |says| Err(Setback::PortTaken(says)))
}

/// How often a subject is started again, each time on another port, if it finds its port taken.
const OTHER_PORTS: u32 = 2;

/// Why a start failed.
#[derive(Debug)]
pub(crate) enum Setback {
    /// Another process had the port before the subject listened on it: another port is worth a try.
    PortTaken(String),
    /// A failure that another port would not mend.
    Final(Outcome),
}

impl From<Outcome> for Setback {
    fn from(outcome: Outcome) -> Setback {
        Setback::Final(outcome)
    }
}

/// Tries on another port, a few times, while another process has the port.
pub(crate) fn on_another_port<T>(
    mut attempt: impl FnMut() -> Result<T, Setback>,
) -> Result<T, Outcome> {
    let mut last = String::new();
    for _ in 0..=OTHER_PORTS {
        match attempt() {
            Ok(started) => return Ok(started),
            Err(Setback::Final(outcome)) => return Err(outcome),
            Err(Setback::PortTaken(says)) => last = says,
        }
    }
    let ports = OTHER_PORTS + 1;
    let says = format!(
        "another process listened before the server did, on each of {ports} ports; the last: {last}"
    );
    Err(Outcome { kind: OutcomeKind::Unable, says })
}

/// Whether a subject that ended early did so because its port was taken. The other process may be gone by now.
pub(crate) fn found_its_port_taken(tail: &[u8]) -> bool {
    let text = String::from_utf8_lossy(tail).to_lowercase();
    ["eaddrinuse", "address already in use", "address in use"].iter().any(|it| text.contains(it))
}

/// How many of the last lines of a server's output are shown where none of them names an error.
const LAST_LINES: usize = 10;

/// Why a server ended, in its own words: the line that names the error, or else its last lines.
pub(crate) fn last_words(tail: &[u8]) -> String {
    let error = error_words(tail);
    if !error.is_empty() {
        return error;
    }
    let lines = printable_lines(tail);
    match &lines[lines.len().saturating_sub(LAST_LINES)..] {
        [] => String::new(),
        [line] => format!(" (`{}`)", line.trim()),
        lines => format!("; the end of its output:\n  {}", lines.join("\n  ")),
    }
}

/// The last line at the left margin that names an error. Stack traces, notes and versions follow such a line, and are
/// indented or say nothing of errors. Where the message is on the next line, as after a panic of Rust, it is added.
pub(crate) fn error_words(tail: &[u8]) -> String {
    let lines = printable_lines(tail);
    let Some(place) = lines.iter().rposition(|line| names_error(line)) else {
        return String::new();
    };
    let next = lines.get(place + 1).filter(|_| lines[place].ends_with(':'));
    let next = next.map_or(String::new(), |next| format!(" {}", next.trim()));
    format!(" (`{}{next}`)", lines[place].trim())
}

/// Whether a line at the left margin names an error.
pub(crate) fn names_error(line: &str) -> bool {
    const WORDS: [&str; 5] = ["error", "exception", "panic", "fatal", "cannot "];
    let text = line.to_lowercase();
    !line.starts_with([' ', '\t']) && WORDS.iter().any(|word| text.contains(word))
}

/// Without empty lines and control characters.
fn printable_lines(tail: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(tail);
    let printable = |line: &str| -> String {
        line.chars().filter(|letter| !letter.is_control() || *letter == '\t').collect()
    };
    text.lines().map(printable).filter(|line| !line.trim().is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_steady_status_of_the_4xx_class_ends_the_wait() {
        let start = Instant::now();
        let settled = |answers: &[(u64, &str)]| {
            let mut refusal = SteadyRefusal::default();
            let mut ends = answers.iter().filter(|(at_ms, status)| {
                refusal.is_settled(status, start + Duration::from_millis(*at_ms))
            });
            ends.next().map(|(at_ms, _)| *at_ms)
        };
        assert_eq!(settled(&[(9, "404"), (3_008, "404"), (3_009, "404")]), Some(3_009));
        let changing = [(0, "404"), (2_000, "403"), (3_500, "404"), (6_400, "404")];
        assert_eq!(settled(&changing), None);
        assert_eq!(settled(&[(0, "404"), (2_000, "none"), (4_000, "404")]), None, "restarted");
        assert_eq!(settled(&[(0, "503"), (9_000, "503")]), None, "it is starting");
    }

    #[test]
    fn an_attempt_that_the_deadline_cut_short_hides_none_before_it() {
        let got = |response: &[u8]| Check {
            phase: crate::record::Phase::Before,
            ask: String::new(),
            wrong: Some("it is".into()),
            request: Vec::new(),
            response: response.into(),
            head_len: 0,
            rest_len: 0,
            digest: None,
        };
        let (nothing, bytes) = (got(b""), got(b"HTTP/1.1 500 No\r\n\r\n"));
        assert!(says_more(&nothing, &nothing, false), "the newer of two alike");
        assert!(!says_more(&nothing, &nothing, true), "an untrusted certificate, and a time-out");
        assert!(!says_more(&bytes, &nothing, false));
        assert!(says_more(&nothing, &bytes, true) && says_more(&bytes, &bytes, false));
    }

    #[test]
    fn last_words_are_the_line_with_the_error_or_the_last_lines() {
        let node = "node:internal/modules/cjs/loader:1210\n  throw err;\n  ^\n\n\
                    Error: Cannot find module '/a/nofile.js'\n    at Module._load (node:x:1)\n  code: 'X'\n}\n\n\
                    Node.js v20.20.2\n";
        let python = "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    import x\n\
                      ModuleNotFoundError: No module named 'x'\n";
        let rust = "thread 'main' panicked at src/main.rs:2:5:\nno such file\nnote: run with `RUST_BACKTRACE=1`\n";
        for (output, words) in [
            (node, " (`Error: Cannot find module '/a/nofile.js'`)"),
            (python, " (`ModuleNotFoundError: No module named 'x'`)"),
            (rust, " (`thread 'main' panicked at src/main.rs:2:5: no such file`)"),
            ("bad\u{1b}[2J luck\n", " (`bad[2J luck`)"),
            ("", ""),
        ] {
            assert_eq!(last_words(output.as_bytes()), words);
        }
        let many: String = (1..=12).map(|line| format!("line {line}\n")).collect();
        let words = last_words(many.as_bytes());
        assert!(words.starts_with("; the end of its output:\n  line 3\n  line 4\n"), "{words}");
    }

    #[test]
    fn a_port_that_was_taken_is_seen_in_a_subjects_last_words() {
        for words in [
            "OSError: [Errno 98] Address already in use",
            "Error: listen EADDRINUSE: address already in use 127.0.0.1:18475",
            "listen tcp 127.0.0.1:1: bind: address already in use",
        ] {
            assert!(found_its_port_taken(words.as_bytes()), "{words}");
        }
        assert!(!found_its_port_taken(b"I was petrified"));
    }
}
