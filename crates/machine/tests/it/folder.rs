//! A folder of its own, processes that report when they are ready, and a way to see when all of them are gone.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

use machine::process::{Marker, Spec};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Longer than anything should take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn marker() -> Marker {
    Marker::unique()
}

/// The marker of a dyno that was here and is dead: no process id is as high.
pub(crate) fn dead_marker() -> String {
    let own = marker().to_string();
    let parts: Vec<&str> = own.split('-').collect();
    format!("dyno-{}-4194305-3-{}", parts[1], parts[4])
}

pub(crate) fn program() -> OsString {
    std::env::current_exe().unwrap().into_os_string()
}

pub(crate) fn warden() -> Vec<OsString> {
    vec![program(), "warden".into()]
}

/// A temporary folder.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Folder {
        let folder = std::env::temp_dir().join(format!("lab-{}", marker()));
        fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// This command, with a PATH and nothing else. `LINE` stands for the path of the folder's line.
pub(crate) fn spec(folder: &Folder, argv: &[&str]) -> Spec {
    let line = folder.at("line").display().to_string();
    let argv = argv.iter().map(|word| match *word {
        "LINE" => line.clone(),
        word => word.to_string(),
    });
    let mut spec = Spec::new(marker(), argv.collect(), folder.0.clone());
    spec.env = vec![("PATH".into(), "/usr/sbin:/usr/bin:/sbin:/bin".into())];
    spec.grace_ms = 200;
    spec
}

/// This program as a subject that does what the words say.
pub(crate) fn worker(folder: &Folder, words: &[&str]) -> Spec {
    let program = program().into_string().unwrap();
    spec(folder, &[&[program.as_str(), "worker", "LINE"], words].concat())
}

/// A named pipe that a subject's processes hold open: what they write is read in lines, and its end is reached when the
/// last of them is gone.
pub(crate) struct Line {
    reader: BufReader<File>,
}

impl Line {
    /// A folder, and the line in it.
    pub(crate) fn with_folder() -> (Folder, Line) {
        let folder = Folder::new();
        let path = folder.at("line");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let fifo = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, &path, fifo, mode, 0).unwrap();
        // Not blocking: opening it must not wait for a writer.
        let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap();
        let file = OpenOptions::new().read(true).custom_flags(flags).open(&path).unwrap();
        (folder, Line { reader: BufReader::new(file) })
    }

    /// The next line.
    pub(crate) fn hear(&mut self) -> String {
        let mut line = String::new();
        while !line.ends_with('\n') {
            if self.reader.buffer().is_empty() {
                assert!(self.has_news(PATIENCE), "nothing heard; so far `{line}`");
            }
            match self.reader.read_line(&mut line) {
                Ok(0) => panic!("all processes have ended; they printed `{line}`"),
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(error) => panic!("{error}"),
            }
        }
        line.trim_end().to_string()
    }

    /// Whether all processes that held it are gone, now or soon.
    pub(crate) fn is_silent_within(&mut self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        loop {
            if !self.has_news(deadline.saturating_duration_since(Instant::now())) {
                return false;
            }
            if self.reader.read(&mut [0; 4096]).is_ok_and(|read| read == 0) {
                return true;
            }
        }
    }

    fn has_news(&self, patience: Duration) -> bool {
        let limit = Timespec::try_from(patience).unwrap();
        let mut source = [PollFd::new(self.reader.get_ref(), PollFlags::IN)];
        poll(&mut source, Some(&limit)).unwrap() != 0
    }
}

/// A process of the test's own, which does not outlive it, even if the test fails.
pub(crate) struct Doomed(pub(crate) Child);

impl Drop for Doomed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits for a condition that no event reports.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

pub(crate) fn lives(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(" Z"))
}
