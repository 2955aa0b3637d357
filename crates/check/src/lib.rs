//! Probes a server: clause by clause, what the RFCs require and what the server did. Raw bytes over sockets with
//! deadlines; nothing is shared with the load, whose client is too polite for this.

mod answer;
mod awaited;
mod case;
mod catalogue;
mod condition;
mod exchange;
mod finding;
mod flaw;
mod frame;
mod h1;
mod h2;
mod judge;
mod known;
mod labels;
mod observation;
mod pulse;
#[cfg(test)]
#[path = "../build/reader.rs"]
mod reader;
mod repeat;
#[cfg(test)]
#[path = "../../units/tests/fixture/rfc7541.rs"]
mod rfc7541;
mod run;
mod score;
mod script;
mod slow;
mod target;
mod transcript;
mod ws;

#[cfg(test)]
use h2::frame as http2_frame;

pub use case::{Area, Case, Clause, Level, Need, Protocol, Scheduling, Tag};
pub use catalogue::{CHEAP, case, catalogue, stamp};
pub use exchange::Patience;
pub use finding::{CaseVerdict, Evidence, Finding, Report, Stamp};
pub use h2::{Act, Hello, Piece, Sign};
pub use known::{Likeness, likeness};
pub use run::{CheckPlan, Help, Progress, check};
pub use score::{FailOn, VerdictCounts};
pub use script::{Crowd, Rule, Step, Then, Trickle};
pub use target::Target;
