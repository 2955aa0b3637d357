//! What is learnt of a server before it is checked: how it names the versions of its files.

use std::borrow::Cow;
use std::net::SocketAddr;

use wire::{AnswerParts, Files, Validators, Values};

use super::{Trial, outcome, unable};
use crate::arrival::PATIENCE;
use crate::ask::{Asked, ask};
use crate::plan::seed_of;
use crate::record::{Check, Fact, Outcome, OutcomeKind, Phase, TrialRecord};
use crate::workload::Workload;

/// The name of the condition that says that a subject names no versions of its files, so that it is sent no conditional
/// requests.
pub const NO_VALIDATORS: &str = "load.no_validators";

impl<'a> Trial<'a, '_> {
    /// The workload with what was learnt by one request for each file; as it is if nothing has to be learnt.
    pub(super) fn learnt(
        &self,
        address: SocketAddr,
        record: &mut TrialRecord,
    ) -> Result<Cow<'a, Workload>, Outcome> {
        let Some(number) = self.workload.teaches_validators() else {
            return Ok(Cow::Borrowed(self.workload));
        };
        let mut answers = Vec::new();
        for file in 0..Files::COUNT {
            self.heed_halt()?;
            let check = self.fetched(number, file, address);
            if let Some(wrong) = &check.wrong {
                let says = format!("{}, asked before the load: {wrong}", Files::name(file));
                record.checks.push(check);
                return Err(outcome(OutcomeKind::Wrong, says));
            }
            answers.push(check.response);
        }
        let fields: Vec<_> = answers
            .iter()
            .map(|bytes| move |name: &str| AnswerParts::of(bytes).field(name))
            .collect();
        let validators = Validators::of(&fields);
        if validators.is_none() {
            let value = "its answers have neither ETag nor Last-Modified: it is sent no conditional requests";
            record.conditions.push(Fact { name: NO_VALIDATORS.into(), value: value.into() });
        }
        self.workload.knowing(validators.as_ref()).map(Cow::Owned).map_err(unable)
    }

    /// The answer to a request for this file.
    fn fetched(&self, number: usize, file: usize, address: SocketAddr) -> Check {
        let first = seed_of(0xf11e, self.key);
        let mut all = (0..).map(|seq| Values { seq, random: first.wrapping_add(seq) });
        let values = all.find(|values| Files::chosen(*values) == file).unwrap_or_default();
        let server = Asked { address, tls: self.tls };
        ask(server, &self.workload.questions[number], values, Phase::Before, PATIENCE)
    }
}
