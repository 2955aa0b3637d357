//! What the flags of a race or of a load request, as a workload states it.

use campaign::race::procedure::called;
use lab::workload::{StatedRequest, Workload};
use requests::{answer, file};

use super::flags::AskingFlags;
use super::method;
use crate::shell::Refusal;

/// The workload of these flags with this target; `name` is what it is called.
pub(crate) fn workload(
    asking: &AskingFlags,
    target: String,
    name: &'static str,
) -> Result<Workload, Refusal> {
    Workload::stated(name, &request(asking, target, name)?).map_err(Refusal::new)
}

/// The request of these flags to this target.
pub(crate) fn request(
    asking: &AskingFlags,
    target: String,
    name: &str,
) -> Result<StatedRequest, Refusal> {
    let what = called(name);
    for fields in [&asking.header, &asking.expect_header] {
        refuse_twice(fields, what)?;
    }
    let body = asking.expect_body.as_deref();
    Ok(StatedRequest {
        method: method(asking),
        target,
        headers: asking.header.clone(),
        body: sent(asking, what)?,
        expect: answer::expect(asking.expect_status, &asking.expect_header, body)?,
    })
}

fn refuse_twice(fields: &[(String, String)], what: &str) -> Result<(), Refusal> {
    let is_earlier = |at: &usize| {
        fields[..*at].iter().any(|(name, _)| name.eq_ignore_ascii_case(&fields[*at].0))
    };
    match (1..fields.len()).find(is_earlier) {
        None => Ok(()),
        Some(at) => Err(Refusal::new(format!(
            "the field `{}` is given twice; {what} sends it once",
            fields[at].0.escape_debug()
        ))),
    }
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
