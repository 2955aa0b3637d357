//! The expected answer: checked as the bytes arrive, without copying them.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use units::named;

use crate::answer_parts::{Difference, first_difference};
use crate::file_body::FileBody;
use crate::file_rule::{Delivery, FileRule};
use crate::forms::{Forms, MeantBody};
use crate::meaning::Meaning;
use crate::template::{Cursor, Template, Values};

/// What is expected as the answer to a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// The status.
    pub status: StatusRule,
    /// Header fields that must be there: a lower-case name and the exact value; for `content-type`,
    /// the type alone is enough.
    pub headers: Vec<(String, Template)>,
    /// The body.
    pub body: BodyRule,
    /// Another body is no failure: it is counted.
    pub body_is_usual: bool,
    /// The answer is to come so many nanoseconds after its request, and no sooner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_ns: Option<u64>,
}

/// By so much an answer may come before its wait is over: timers of whole milliseconds, such as Node's, fire up to
/// one early.
pub const EARLY_ALLOWED_NS: u64 = 1_000_000;

/// Which statuses are right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatusRule {
    /// 200 to 299.
    #[default]
    Success,
    /// This one.
    Exactly(u16),
    /// Any status.
    Any,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BodyRule {
    /// Any body.
    #[default]
    Any,
    /// These bytes, with the request's own values in the placeholders.
    Exactly(Template),
    /// This many bytes.
    Length(u64),
    /// Bytes with this SHA-256.
    Sha256(#[serde(with = "hexadecimal")] [u8; 32]),
    /// What means this, in any form.
    Meaning(Meaning),
    /// The file that the request names, with the status and the fields that belong to it.
    File(FileRule),
}

named! {
    /// What is wrong with a whole answer.
    pub enum Mismatch {
        Status = "content.status" => "another status than expected",
        /// It is missing, or has another value.
        Header = "content.header" => "a header field is not as expected",
        Body = "content.mismatch" => "another body than expected",
    }
}

impl StatusRule {
    #[must_use]
    pub fn allows(self, status: u16) -> bool {
        match self {
            StatusRule::Success => (200..300).contains(&status),
            StatusRule::Exactly(expected) => status == expected,
            StatusRule::Any => true,
        }
    }
}

impl Expect {
    /// The expectation in words, with the values of one request in it; one line for each rule.
    #[must_use]
    pub fn described(&self, values: Values) -> String {
        let filled = |template: &Template| {
            let mut bytes = Vec::new();
            template.fill(values, &mut bytes);
            bytes
        };
        let mut lines = vec![match self.status {
            StatusRule::Success => "a status from 200 to 299".to_string(),
            StatusRule::Exactly(status) => format!("status {status}"),
            StatusRule::Any => "any status".to_string(),
        }];
        let field = |(name, value): &(String, Template)| {
            format!("the header field {name}: {}", shown(&filled(value)))
        };
        lines.extend(self.headers.iter().map(field));
        match &self.body {
            BodyRule::Any => {}
            _ if self.body_is_usual => {}
            BodyRule::Exactly(template) => {
                let body = filled(template);
                lines.push(format!("a body of {} bytes: {}", body.len(), shown(&body)));
            }
            BodyRule::Length(length) => lines.push(format!("a body of {length} bytes")),
            BodyRule::Sha256(digest) => {
                lines.push(format!("a body whose SHA-256 is {}", units::hex(digest)));
            }
            BodyRule::Meaning(rule) => {
                lines.push(format!("a body of {}", cut(&rule.described(values))));
            }
            BodyRule::File(rule) => lines.push(rule.described(values)),
        }
        if let Some(wait) = self.wait_ns {
            let least = wait.saturating_sub(EARLY_ALLOWED_NS) as f64 / 1e6;
            lines.push(format!("no answer sooner than {least} ms after the request was sent"));
        }
        lines.join("\n")
    }

    /// Where this body first differs from the expected one; none where no body is stated byte for byte, or what came of
    /// it is cut before that place.
    #[must_use]
    pub fn first_difference(
        &self,
        values: Values,
        body: &[u8],
        is_cut: bool,
    ) -> Option<Difference> {
        let BodyRule::Exactly(template) = &self.body else { return None };
        let mut expected = Vec::new();
        template.fill(values, &mut expected);
        first_difference(&expected, body, is_cut)
    }

    /// What is wrong with a body, where that can be said: the place at which it differs, or what of its meaning does.
    #[must_use]
    pub fn body_fault(&self, values: Values, body: &[u8], is_cut: bool) -> Option<String> {
        match &self.body {
            BodyRule::Meaning(_) if is_cut => None,
            BodyRule::Meaning(rule) => rule.judge(body, values).err(),
            BodyRule::File(rule) => rule.body_fault(values, body, is_cut),
            BodyRule::Any | BodyRule::Exactly(_) | BodyRule::Length(_) | BodyRule::Sha256(_) => {
                self.first_difference(values, body, is_cut).map(|place| place.to_string())
            }
        }
    }

    /// Whether a whole answer that came so long after its request was sent came before it could be right.
    #[must_use]
    pub fn is_early(&self, took_ns: u64) -> bool {
        self.wait_ns.is_some_and(|wait| took_ns < wait.saturating_sub(EARLY_ALLOWED_NS))
    }

    /// What the body must mean, if that is how it is judged.
    #[must_use]
    pub fn meaning(&self) -> Option<&Meaning> {
        match &self.body {
            BodyRule::Meaning(rule) => Some(rule),
            _ => None,
        }
    }

    /// Whether an answer is judged by when it came, too.
    #[must_use]
    pub fn needs_times(&self) -> bool {
        self.wait_ns.is_some() || self.meaning().is_some_and(Meaning::needs_times)
    }

    /// What makes an answer a failure.
    #[must_use]
    pub fn failing(&self, mismatch: Option<Mismatch>) -> Option<Mismatch> {
        mismatch.filter(|mismatch| *mismatch != Mismatch::Body || !self.body_is_usual)
    }

    /// Whether the same head is as right or wrong for every request.
    pub(crate) fn judges_all_alike(&self) -> bool {
        !self.is_file() && self.headers.iter().all(|(_, value)| value.constant().is_some())
    }

    /// Whether a head is judged by nothing but its status.
    pub(crate) fn judges_status_alone(&self) -> bool {
        !self.is_file() && self.headers.is_empty()
    }

    fn is_file(&self) -> bool {
        matches!(self.body, BodyRule::File(_))
    }

    /// What body a head announces, or what is wrong with it. `fields`: names in any case, and values.
    pub(crate) fn judge_head<'f>(
        &self,
        status: u16,
        fields: &(impl Iterator<Item = (&'f [u8], &'f [u8])> + Clone),
        values: Values,
    ) -> Result<Delivery, Mismatch> {
        if !self.status.allows(status) {
            return Err(Mismatch::Status);
        }
        let are_there = self.headers.iter().all(|(name, value)| {
            fields.clone().any(|(is_named, is)| {
                is_named.eq_ignore_ascii_case(name.as_bytes())
                    && (is_exactly(value, is, values)
                        || name == "content-type" && is_type(value, is, values))
            })
        });
        if !are_there {
            return Err(Mismatch::Header);
        }
        match &self.body {
            BodyRule::File(rule) => rule.judge_head(status, fields, values),
            BodyRule::Any
            | BodyRule::Exactly(_)
            | BodyRule::Length(_)
            | BodyRule::Sha256(_)
            | BodyRule::Meaning(_) => Ok(Delivery::Other),
        }
    }
}

/// Longer texts are cut.
const SHOWN_MAX: usize = 1 << 10;

fn cut(text: &str) -> String {
    let end = text.char_indices().map(|(at, _)| at).find(|at| SHOWN_MAX <= *at);
    end.map_or(text.into(), |end| format!("{}…", &text[..end]))
}

/// Bytes in readable form: what is not printable is escaped.
fn shown(bytes: &[u8]) -> String {
    let cut = if SHOWN_MAX < bytes.len() { "…" } else { "" };
    format!("{}{cut}", bytes[..bytes.len().min(SHOWN_MAX)].escape_ascii())
}

/// RFC 9110, 8.3.1: parameters such as the charset follow a semicolon; the type is the same without them, and in any
/// case.
fn is_type(template: &Template, bytes: &[u8], values: Values) -> bool {
    let end = bytes.iter().position(|&byte| byte == b';').unwrap_or(bytes.len());
    let found = bytes[..end].trim_ascii_end();
    template.constant().is_some_and(|expected| expected.eq_ignore_ascii_case(found))
        || is_exactly(template, found, values)
}

fn is_exactly(template: &Template, bytes: &[u8], values: Values) -> bool {
    let mut cursor = Cursor::default();
    template.matches(&mut cursor, bytes, values) && template.is_over(cursor)
}

/// Follows one body as it arrives.
#[derive(Debug, Default)]
pub(crate) struct BodyJudge {
    received: u64,
    cursor: Cursor,
    digest: Option<Box<Sha256>>,
    meant: MeantBody,
    /// What its head has announced.
    delivery: Delivery,
    file: FileBody,
    wrong: bool,
}

impl BodyJudge {
    /// Of a body that its head has announced so.
    pub(crate) fn of(delivery: Delivery) -> BodyJudge {
        BodyJudge { delivery, ..BodyJudge::default() }
    }

    pub(crate) fn received(&self) -> u64 {
        self.received
    }

    /// `forms`: those that right bodies have had, where they are learnt.
    pub(crate) fn take(
        &mut self,
        rule: &BodyRule,
        bytes: &[u8],
        values: Values,
        forms: Option<&Forms>,
    ) {
        self.received += bytes.len() as u64;
        match rule {
            BodyRule::Any | BodyRule::Length(_) => {}
            BodyRule::Exactly(template) => {
                self.wrong = self.wrong || !template.matches(&mut self.cursor, bytes, values);
            }
            BodyRule::Sha256(_) => self.digest.get_or_insert_default().update(bytes),
            BodyRule::Meaning(rule) => self.meant.take(rule, bytes, values, forms),
            BodyRule::File(rule) => match forms {
                None => self.file.take(rule, self.delivery, bytes, values, None),
                Some(forms) => forms.take_file(&mut self.file, rule, self.delivery, bytes, values),
            },
        }
    }

    /// Whether the body, now whole, is the one that was expected.
    pub(crate) fn is_right(
        &mut self,
        rule: &BodyRule,
        values: Values,
        forms: Option<&Forms>,
    ) -> bool {
        match rule {
            BodyRule::Any => true,
            BodyRule::Exactly(template) => !self.wrong && template.is_over(self.cursor),
            BodyRule::Length(length) => self.received == *length,
            BodyRule::Sha256(digest) => {
                self.digest.take().unwrap_or_default().finalize().as_slice() == digest
            }
            BodyRule::Meaning(rule) => self.meant.is_right(rule, values, forms),
            BodyRule::File(rule) => match forms {
                None => self.file.found(rule, self.delivery, values, None).is_some(),
                Some(forms) => forms.is_file_right(&mut self.file, rule, self.delivery, values),
            },
        }
    }
}

/// The SHA-256 of some bytes.
#[must_use]
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// The 32 bytes that 64 hexadecimal digits write.
#[must_use]
pub fn sha256_of_hex(hex: &str) -> Option<[u8; 32]> {
    let is_hex = hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    let byte = |at: usize| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).ok();
    let mut digest = [0; 32];
    for (at, slot) in digest.iter_mut().enumerate() {
        *slot = is_hex.then(|| byte(at)).flatten()?;
    }
    Some(digest)
}

/// A SHA-256 in hexadecimal digits.
mod hexadecimal {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::sha256_of_hex;

    pub(super) fn serialize<S: Serializer>(
        digest: &[u8; 32],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&units::hex(digest))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<[u8; 32], D::Error> {
        let hex = String::deserialize(deserializer)?;
        sha256_of_hex(&hex).ok_or_else(|| serde::de::Error::custom("a SHA-256 has 64 digits"))
    }
}
