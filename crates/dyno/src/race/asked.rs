//! What the flags of a race or of a load request, as a workload has it.

use super::texts::{Asked, ExpectedBody, called};
use crate::order;
use crate::order::flags::AskingFlags;
use crate::shell::Refusal;
use requests::{answer, file};

impl Asked {
    /// As the flags say it, for a race or a load.
    pub(crate) fn of(
        asking: &AskingFlags,
        target: String,
        name: &'static str,
    ) -> Result<Asked, Refusal> {
        let expect = answer::expect(asking.expect_status, &[], asking.expect_body.as_deref())?;
        Ok(Asked {
            method: order::method(asking),
            target,
            fields: asking.header.clone(),
            send: sent(asking, called(name))?,
            status: asking.expect_status,
            answer_fields: asking.expect_header.clone(),
            body: ExpectedBody::of(&expect.body, asking.expect_body.as_deref()),
        })
    }
}

/// The request's body, which a workload has as a text.
fn sent(asking: &AskingFlags, what: &str) -> Result<String, Refusal> {
    let Some(path) = &asking.body_file else {
        return Ok(asking.body.clone().unwrap_or_default());
    };
    let text = String::from_utf8(file::bytes("--body-file", path)?).ok();
    let is_plain = |text: &String| !text.contains("{seq}") && !text.contains("{random:");
    text.filter(is_plain).ok_or_else(|| {
        Refusal::new(format!(
            "--body-file: {what} sends text (UTF-8), without {{seq}} and {{random:N}} in it"
        ))
    })
}
