//! `--same-body`: before a load each of its requests is sent once, and its answers must have the body of that answer.

use std::time::Duration;

use lab::ask::{Asked, ask};
use lab::record::Phase;
use lab::workload::Question;
use load::Target;
use tls::Client;
use wire::{Asks, BodyRule, Expect, Template, Values};

use crate::shell::Refusal;

/// More requests of a file than this are not sent beforehand.
const MOST: usize = 1_000;

/// The requests, each with the body of its first correct answer as the right one.
pub(super) fn of_first_answers(
    asks: Asks,
    target: &Target,
    tls: Option<&Client>,
    limit: Duration,
) -> Result<Asks, Refusal> {
    let refused = |says: String| Refusal::new(format!("--same-body: {says}"));
    let Target::Tcp(address) = target else {
        return Err(refused(
            "a server at a Unix socket is not asked beforehand; state --expect-body".into(),
        ));
    };
    if MOST < asks.iter().count() {
        return Err(refused(format!(
            "a file has {MOST} requests at most; state `expect.body` in its lines"
        )));
    }
    let server = Asked { address: *address, tls };
    asks.expecting(|request| {
        if request.is_head() || request.expect.body != BodyRule::Any {
            return Ok(request.expect.clone());
        }
        let question = Question::of(request);
        let line = question.request_line();
        if !request.is_constant() {
            return Err(refused(format!(
                "`{line}` has placeholders, so its answers may differ; leave it out"
            )));
        }
        let first = ask(server, &question, Values::default(), Phase::Before, limit);
        match first.wrong {
            Some(wrong) => Err(refused(format!("the first answer to `{line}`: {wrong}"))),
            None if !first.is_kept_whole() => Err(refused(format!(
                "the answer to `{line}` is larger than 64 KiB; state --expect-body sha256:HEX"
            ))),
            None => {
                let body = BodyRule::Exactly(Template::literal(first.content()));
                Ok(Expect { body, ..request.expect.clone() })
            }
        }
    })
}
