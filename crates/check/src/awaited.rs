//! What a rule waits for: how the exchange knows that nothing more needs to arrive.

use crate::observation::Observation;
use crate::script::Rule;

impl Rule {
    /// Whether the part of the rule is true that can become true by something that arrives, and then stays true; none
    /// if it has no such part.
    pub(crate) fn has_come(&self, seen: &Observation) -> Option<bool> {
        match self {
            Rule::Opened
            | Rule::Pong(_)
            | Rule::Said(_)
            | Rule::Fails
            | Rule::FailsWith(_)
            | Rule::ClosesWith(_)
            | Rule::SaysClose
            | Rule::Http2(_) => Some(self.holds(seen)),
            Rule::All(rules) => {
                rules.iter().filter_map(|it| it.has_come(seen)).reduce(|a, b| a && b)
            }
            Rule::Any(rules) => {
                rules.iter().filter_map(|it| it.has_come(seen)).reduce(|a, b| a || b)
            }
            Rule::Ok
            | Rule::Status(_)
            | Rule::Class(_)
            | Rule::Echo(_)
            | Rule::Silent
            | Rule::Waits
            | Rule::Successes(_)
            | Rule::Answers(_)
            | Rule::Closes
            | Rule::GrewLess(_)
            | Rule::MemoryUnknown
            | Rule::ActsWithin(_)
            | Rule::HonestWithin(_)
            | Rule::Not(_)
            | Rule::When(..) => None,
        }
    }

    /// Whether it requires the end of the connection.
    pub(crate) fn wants_end(&self) -> bool {
        let (Rule::All(rules) | Rule::Any(rules)) = self else {
            return matches!(self, Rule::Closes);
        };
        rules.iter().any(Rule::wants_end)
    }

    /// Whether it requires the failure of a WebSocket.
    pub(crate) fn wants_failure(&self) -> bool {
        let (Rule::All(rules) | Rule::Any(rules)) = self else {
            return matches!(self, Rule::Fails | Rule::FailsWith(_));
        };
        rules.iter().any(Rule::wants_failure)
    }
}
