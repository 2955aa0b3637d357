//! Open files: how many a load needs against how many the limits allow. Pure.

/// RLIMIT_NOFILE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileLimit {
    pub soft: u64,
    /// soft <= hard
    pub hard: u64,
}

/// Files besides connections: standard streams, epolls, the terminal, what libraries open.
const OTHERS: u64 = 32;

impl FileLimit {
    /// As many connections as the hard limit has files for.
    pub fn connections_max(self) -> u64 {
        self.hard.saturating_sub(OTHERS).max(1)
    }

    /// The soft limit that this many connections need, if it must be raised.
    pub fn raised_for(self, connections: u64) -> Result<Option<u64>, String> {
        let needed = connections + OTHERS;
        if needed <= self.soft {
            return Ok(None);
        }
        if needed <= self.hard {
            return Ok(Some(needed));
        }
        Err(format!(
            "the limit of open files (RLIMIT_NOFILE) is {}, and {needed} are needed, for connections \
             ({connections}) and {OTHERS} others: {} too few; raise it with `ulimit -n {needed}` (as root, or in \
             /etc/security/limits.conf), or ask for fewer connections (--connections, --max-connections; an \
             experiment's `load`)",
            self.hard,
            needed - self.hard,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: FileLimit = FileLimit { soft: 1_024, hard: 20_000 };

    #[test]
    fn the_soft_limit_is_raised_only_where_it_must_be() {
        assert_eq!(LIMIT.raised_for(992), Ok(None));
        assert_eq!(LIMIT.raised_for(993), Ok(Some(1_025)));
        assert_eq!(LIMIT.raised_for(19_968), Ok(Some(20_000)));
        assert_eq!(LIMIT.connections_max(), 19_968);
    }

    #[test]
    fn too_low_a_hard_limit_is_named_with_what_is_missing_and_the_command() {
        let refusal = LIMIT.raised_for(20_000).unwrap_err();
        assert!(refusal.contains("RLIMIT_NOFILE) is 20000"), "{refusal}");
        assert!(refusal.contains("32 too few"), "{refusal}");
        assert!(refusal.contains("`ulimit -n 20032`"), "{refusal}");
    }
}
