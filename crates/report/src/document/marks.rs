//! Marks for figures and rows: one list of symbols and meanings, in the order of legends.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Requests were given up at the time-out.
    Bound,
    /// The last load level was still held.
    Open,
    /// Held connections whose beat is not known.
    CutBeats,
    FewSamples,
    Crashed,
    Behind,
    Suspect,
    Invalid,
    Reference,
    Unranked,
}

impl Mark {
    pub const ALL: [Mark; 10] = [
        Mark::Bound,
        Mark::Open,
        Mark::CutBeats,
        Mark::FewSamples,
        Mark::Crashed,
        Mark::Behind,
        Mark::Suspect,
        Mark::Invalid,
        Mark::Reference,
        Mark::Unranked,
    ];

    /// The symbol beside the text.
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Mark::Bound | Mark::Open => "≥",
            Mark::CutBeats => "~",
            Mark::FewSamples => "*",
            Mark::Crashed => "†",
            Mark::Behind => "↓",
            Mark::Suspect => "?",
            Mark::Invalid => "!",
            Mark::Reference => "(reference)",
            Mark::Unranked => "(not ranked)",
        }
    }

    pub fn meaning(self) -> &'static str {
        match self {
            Mark::Bound => "requests were given up at the time-out: the true value is no lower",
            Mark::Open => {
                "the server still kept up at the highest load that was tried: it may be able to do more"
            }
            Mark::CutBeats => {
                "over the measured part, up to one message of each connection too many or too few: give the interval \
                 (--interval) to count whole intervals"
            }
            Mark::FewSamples => "fewer than 10 samples lie beyond this percentile",
            Mark::Crashed => "the server was gone after a case of its conformance check",
            Mark::Behind => {
                "the server did not keep up with the offered rate, or the trial was too short to tell"
            }
            Mark::Suspect => "suspect: read why before you use the figure",
            Mark::Invalid => "invalid: the figure does not answer the question; it is not ranked",
            Mark::Reference => {
                "a server that does nothing but answer: the ceiling of this machine and of dyno, not a competitor"
            }
            Mark::Unranked => {
                "wrong answers, a requirement that is not met, or invalid figures; the report says which"
            }
        }
    }

    /// `≥5.00s`, but `1,000?` and `oracle (reference)`.
    fn stands_before(self) -> bool {
        matches!(self, Mark::Bound | Mark::Open | Mark::CutBeats)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks(u16);

impl Marks {
    #[must_use]
    pub fn with(self, mark: Mark) -> Marks {
        Marks(self.0 | 1 << mark as u16)
    }

    /// With the mark if the condition holds.
    #[must_use]
    pub fn when(self, holds: bool, mark: Mark) -> Marks {
        if holds { self.with(mark) } else { self }
    }

    #[must_use]
    pub fn and(self, other: Marks) -> Marks {
        Marks(self.0 | other.0)
    }

    pub fn iter(self) -> impl Iterator<Item = Mark> {
        Mark::ALL.into_iter().filter(move |&mark| self.0 & (1 << mark as u16) != 0)
    }

    /// The text with its marks around it.
    pub fn around(self, text: &str) -> String {
        let mut before: Vec<&str> =
            self.iter().filter(|mark| mark.stands_before()).map(Mark::symbol).collect();
        before.dedup();
        let after = self.iter().filter(|mark| !mark.stands_before());
        let after: String = after
            .map(|mark| match mark {
                Mark::Reference | Mark::Unranked => format!(" {}", mark.symbol()),
                _ => mark.symbol().to_string(),
            })
            .collect();
        format!("{}{text}{after}", before.concat())
    }
}
