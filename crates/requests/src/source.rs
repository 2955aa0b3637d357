//! Where the requests of a load came from, and in which order those of a file come.

use units::named;
use wire::{Ask, Asks};

/// Where the requests came from.
#[derive(Clone, Debug)]
pub enum RequestSource {
    /// The URL and the flags: a single one, with this method.
    Flags {
        method: String,
    },
    File(RequestFile),
}

/// The file that the requests came from.
#[derive(Clone, Debug)]
pub struct RequestFile {
    pub kind: RequestFileKind,
    /// As it was named.
    pub name: String,
    pub sha256: [u8; 32],
    /// How many requests it has.
    pub requests: usize,
    pub order: RequestOrder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestFileKind {
    /// A request on each line.
    Requests,
    /// A workload, as an experiment has it.
    Workload,
    /// What a browser or a proxy recorded. Its hash is that of the lines that were made of it.
    Har,
}

named! {
    /// Which of several requests comes when.
    pub enum RequestOrder {
        InOrder = "in-order" => "In the order of the file, over and over",
        Shuffled = "shuffled" => "In a random order, which --seed determines, over and over",
        Weighted = "weighted"
            => "Drawn at random by the weights of the lines; a line without a weight has 1",
    }
}

impl RequestOrder {
    /// Requests with their weights, in this order; so many lanes share them.
    pub(crate) fn of(self, weighted: Vec<(u32, Ask)>, lanes: usize, seed: u64) -> Asks {
        let bare = |weighted: Vec<(u32, Ask)>| weighted.into_iter().map(|(_, ask)| ask).collect();
        let asks = match self {
            RequestOrder::InOrder => Asks::in_turn(bare(weighted), lanes),
            RequestOrder::Shuffled => Asks::shuffled(bare(weighted), lanes, seed),
            RequestOrder::Weighted => Asks::weighted(weighted),
        };
        asks.expect("a file has a request, and no weight is 0")
    }
}
