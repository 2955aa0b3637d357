//! Parses `/proc/PID/stat`.

/// The fields that dyno needs. proc(5) numbers the fields from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    /// Field 3: `R`, `S`, `D`, `Z`, `T`, …
    pub(crate) state: char,
    /// Field 4.
    pub(crate) parent: u32,
    /// Field 5.
    pub(crate) group: u32,
    /// Field 6.
    pub(crate) session: u32,
    /// Field 14, clock ticks.
    pub(crate) user: u64,
    /// Field 15, clock ticks.
    pub(crate) system: u64,
    /// Field 16, clock ticks: of children that were waited for.
    pub(crate) children_user: u64,
    /// Field 17, clock ticks: of children that were waited for.
    pub(crate) children_system: u64,
    /// Field 20.
    pub(crate) threads: u64,
    /// Field 22, clock ticks since the machine started.
    pub(crate) started: u64,
    /// Field 24, pages.
    pub(crate) resident: u64,
}

impl Stat {
    /// That of a living process, or of a dead one that was not waited for yet.
    pub(crate) fn of(pid: u32) -> Option<Stat> {
        Stat::parse(&std::fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    /// From the file's text.
    pub(crate) fn parse(text: &[u8]) -> Option<Stat> {
        // A name may hold anything, also brackets and line ends: it ends at the last bracket.
        let text = String::from_utf8_lossy(text);
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
        let small = |field: usize| u32::try_from(number(field)?).ok();
        Some(Stat {
            state: fields.first()?.chars().next()?,
            parent: small(4)?,
            group: small(5)?,
            session: small(6)?,
            user: number(14)?,
            system: number(15)?,
            children_user: number(16)?,
            children_system: number(17)?,
            threads: number(20)?,
            started: number(22)?,
            resident: number(24)?,
        })
    }

    /// The CPU time of the process and of its children that were waited for, in clock ticks.
    pub(crate) fn ticks(&self) -> u64 {
        self.user + self.system + self.children_user + self.children_system
    }

    /// Whether it has ended and only waits to be waited for.
    pub(crate) fn is_dead(&self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = "4242 (a) R (b)\n) S 17 4242 17 0 -1 4194560 9 8 0 0 301 52 7 5 20 0 3 0 \
                          815 1000000 250 18446744073709551615 1 1 0 0 0 0 0 0 0\n";

    #[test]
    fn a_name_may_hold_brackets_and_line_ends() {
        let stat = Stat::parse(SAMPLE.as_bytes()).expect("a sample");
        assert_eq!((stat.state, stat.parent, stat.group, stat.session), ('S', 17, 4242, 17));
        assert_eq!((stat.user, stat.system), (301, 52));
        assert_eq!((stat.children_user, stat.children_system), (7, 5));
        assert_eq!((stat.threads, stat.started, stat.resident), (3, 815, 250));
        assert!(!stat.is_dead());
    }

    #[test]
    fn a_text_that_ends_early_is_no_stat() {
        for cut in 0..SAMPLE.len() - 60 {
            let _ = Stat::parse(&SAMPLE.as_bytes()[..cut]);
        }
        assert_eq!(Stat::parse(b"4242 (sh) S 1 2"), None);
        assert_eq!(Stat::parse(b")("), None);
    }

    #[test]
    fn this_process_has_one() {
        let own = Stat::of(std::process::id()).expect("this process lives");
        assert!(0 < own.threads && 0 < own.resident && !own.is_dead());
    }
}
