//! What the flags of a race or of a load request, as a workload states it.

use campaign::race::texts::{ExpectedBody, StatedRequest, called};
use requests::{answer, file};

use super::flags::AskingFlags;
use super::method;
use crate::shell::Refusal;

/// The request of these flags to this target; `name` is what the workload is called.
pub(crate) fn request(
    asking: &AskingFlags,
    target: String,
    name: &'static str,
) -> Result<StatedRequest, Refusal> {
    let expect = answer::expect(asking.expect_status, &[], asking.expect_body.as_deref())?;
    Ok(StatedRequest {
        method: method(asking),
        target,
        fields: asking.header.clone(),
        send: sent(asking, called(name))?,
        status: asking.expect_status,
        answer_fields: asking.expect_header.clone(),
        body: ExpectedBody::of(&expect.body, asking.expect_body.as_deref()),
    })
}

/// The request's body, which a workload has as a text.
fn sent(asking: &AskingFlags, what: &str) -> Result<String, Refusal> {
    let Some(path) = &asking.body_file else {
        return Ok(asking.body.clone().unwrap_or_default());
    };
    let bytes = wire::quoted(&file::bytes("--body-file", path)?, false);
    String::from_utf8(bytes)
        .map_err(|_| Refusal::new(format!("--body-file: {what} sends text (UTF-8)")))
}
