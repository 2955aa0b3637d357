//! Marks for figures and rows: one list of symbols and meanings, in the order of legends.

use analysis::named;

named! {
    /// A symbol beside a figure or in its row, and what it means.
    pub enum Mark {
        Bound = "≥" => "requests were given up at the time-out: the true value is no lower",
        Open = "≥" => "the server still kept up at the highest load that was tried: it may be able to do more",
        CutBeats = "~" => "over the measured part, up to one message of each connection too many or too few: give the \
                           interval (--interval) to count whole intervals",
        FewSamples = "*" => "fewer than 10 samples lie beyond this percentile",
        Crashed = "†" => "the server was gone after a case of its conformance check",
        Behind = "↓" => "the server did not keep up with the offered rate, or the trial was too short to tell",
        Suspect = "?" => "suspect: read why before you use the figure",
        Invalid = "!" => "invalid: the figure does not answer the question; it is not ranked",
        Reference = "(reference)" => "a server that does nothing but answer: the ceiling of this machine and of dyno, not a \
                                      competitor",
        Unranked = "(not ranked)" => "wrong answers, a requirement that is not met, or invalid figures; the report says which",
    }
}

impl Mark {
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
            self.iter().filter(|mark| mark.stands_before()).map(Mark::name).collect();
        before.dedup();
        let after = self.iter().filter(|mark| !mark.stands_before());
        let after: String = after
            .map(|mark| match mark {
                Mark::Reference | Mark::Unranked => format!(" {}", mark.name()),
                _ => mark.name().to_string(),
            })
            .collect();
        format!("{}{text}{after}", before.concat())
    }
}
