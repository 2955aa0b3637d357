//! Answers that are files, in whole or in part, compressed or not: what must be answered follows from the request.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::answer_parts::first_difference;
use crate::coding::Coding;
use crate::expect::Mismatch;
use crate::files::Files;
use crate::template::{Values, whole};

/// The answer is the file that the request names, as the request wants it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileRule {
    files: Files,
    /// The request offers this coding.
    gzip: bool,
    br: bool,
    /// The request wants a part of the file. All of it is right, too.
    is_range: bool,
    /// The request wants the file only if it is not the one with this validator. All of it is right, too.
    is_conditional: bool,
    /// By these the files are known. None until they have been learnt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    validators: Option<Validators>,
}

/// How a server names the versions of its files, one for each: by entity tags, or by the times of their changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Validators {
    are_tags: bool,
    values: Vec<String>,
}

/// What a head says of the body after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Delivery {
    Whole(Coding),
    /// The part that was wanted.
    Part,
    NotModified,
    /// It is not a file.
    #[default]
    Other,
}

/// RFC 9110, 13.1: with these, other answers would be right.
const OTHER_CONDITIONS: [&str; 4] =
    ["if-modified-since", "if-match", "if-unmodified-since", "if-range"];

/// The placeholder of a validator that has not been learnt.
const VALIDATOR: &str = "{validator}";

impl Validators {
    /// Those of answers with all files, in their order, each read by the names of its fields. None where an answer has
    /// no validator.
    #[must_use]
    pub fn of<'f>(answers: &[impl Fn(&str) -> Option<&'f [u8]>]) -> Option<Validators> {
        let all = |name: &str| {
            let value = |answer: &_| validator(answer, name);
            answers.iter().map(value).collect::<Option<Vec<String>>>()
        };
        let tags = all("etag").map(|values| Validators { are_tags: true, values });
        tags.or_else(|| Some(Validators { are_tags: false, values: all("last-modified")? }))
            .filter(|learnt| learnt.values.len() == Files::COUNT)
    }

    /// Puts them in place of their placeholder, if that is the value of this field.
    pub(crate) fn fill(&self, (name, value): &mut (String, String)) {
        if value == VALIDATOR {
            *name = self.field().into();
            *value = self.placeholder();
        }
    }

    /// The field by which a request names one.
    fn field(&self) -> &'static str {
        if self.are_tags { "If-None-Match" } else { "If-Modified-Since" }
    }

    /// The placeholder for them.
    fn placeholder(&self) -> String {
        let all: Vec<String> = self.values.iter().map(|value| STANDARD.encode(value)).collect();
        format!("{{validator:{}}}", all.join(","))
    }

    /// What the argument of a placeholder says.
    pub(crate) fn of_placeholder(argument: &str) -> Option<Vec<String>> {
        let decoded = |text| sendable(&STANDARD.decode(text).ok()?);
        let all: Vec<String> = argument.split(',').map(decoded).collect::<Option<_>>()?;
        (all.len() == Files::COUNT).then_some(all)
    }
}

fn validator<'f>(answer: &impl Fn(&str) -> Option<&'f [u8]>, name: &str) -> Option<String> {
    sendable(answer(name)?)
}

/// RFC 9110, 8.8.3: a tag is visible characters. Anything else would not survive in a request.
fn sendable(value: &[u8]) -> Option<String> {
    let is_sendable = (1..=200).contains(&value.len())
        && value.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ');
    String::from_utf8(value.to_vec()).ok().filter(|_| is_sendable)
}

impl FileRule {
    /// The rule that follows from a request's target and fields.
    pub fn of(target: &str, fields: &[(String, String)]) -> Result<FileRule, &'static str> {
        let is = |name: &str, other: &str| name.eq_ignore_ascii_case(other);
        let mut rule = FileRule {
            files: Files::default(),
            gzip: false,
            br: false,
            is_range: false,
            is_conditional: false,
            validators: None,
        };
        for (name, value) in fields {
            if is(name, "accept-encoding") {
                for coding in value.split(',').map(str::trim) {
                    match coding {
                        "identity" => {}
                        "gzip" => rule.gzip = true,
                        "br" => rule.br = true,
                        _ => return Err("the codings of a file are identity, gzip and br"),
                    }
                }
            } else if is(name, "range") {
                if value != "bytes={range}" {
                    return Err("a part of a file is wanted by `Range = \"bytes={range}\"`");
                }
                rule.is_range = true;
            } else if is(name, "if-none-match") {
                if value != VALIDATOR {
                    return Err("a file is known by `If-None-Match = \"{validator}\"`");
                }
                rule.is_conditional = true;
            } else if OTHER_CONDITIONS.iter().any(|other| is(name, other)) {
                return Err("the only condition for a file is `If-None-Match = \"{validator}\"`");
            }
        }
        if !target.contains("{file}") {
            return Err("a file is named by its path, as in /static/{file}");
        }
        if rule.is_range && (rule.gzip || rule.br) {
            return Err("what a part of a compressed file is depends on the server; send \
                        `Accept-Encoding = \"identity\"`");
        }
        Ok(rule)
    }

    /// The rule for a server that has these files.
    #[must_use]
    pub fn with(self, files: &Files) -> FileRule {
        FileRule { files: files.clone(), ..self }
    }

    /// The rule for a server that names their versions so.
    #[must_use]
    pub fn knowing(self, validators: &Validators) -> FileRule {
        let validators = self.is_conditional.then(|| validators.clone());
        FileRule { validators, ..self }
    }

    #[must_use]
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// Whether the request names a version that it has.
    #[must_use]
    pub fn is_conditional(&self) -> bool {
        self.is_conditional
    }

    /// Whether any request of the kind wants a file as it is.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        let FileRule { gzip, br, is_range, is_conditional, .. } = *self;
        !(gzip || br || is_range || is_conditional)
    }

    pub(crate) fn offers_compression(&self) -> bool {
        self.gzip || self.br
    }

    pub(crate) fn is_range(&self) -> bool {
        self.is_range
    }

    /// What the body must be before it is encoded.
    pub(crate) fn truth(&self, delivery: Delivery, values: Values) -> &[u8] {
        let whole = self.files.content(Files::chosen(values));
        match delivery {
            Delivery::Whole(_) | Delivery::Other => whole,
            Delivery::Part => {
                let (first, last) = Files::range(values);
                &whole[first..=last]
            }
            Delivery::NotModified => &[],
        }
    }

    /// What body a head announces, or what is wrong with it.
    pub(crate) fn judge_head<'f>(
        &self,
        status: u16,
        fields: &(impl Iterator<Item = (&'f [u8], &'f [u8])> + Clone),
        values: Values,
    ) -> Result<Delivery, Mismatch> {
        let delivery = match status {
            200 => Delivery::Whole(self.coding(fields)?),
            206 if self.is_range => Delivery::Part,
            304 if self.is_conditional => Delivery::NotModified,
            _ => return Err(Mismatch::Status),
        };
        let is_right = match delivery {
            Delivery::Whole(_) | Delivery::Other => true,
            Delivery::Part => {
                self.coding(fields)? == Coding::Identity && self.is_the_range(fields, values)
            }
            Delivery::NotModified => self.is_the_version(fields, values),
        };
        if is_right { Ok(delivery) } else { Err(Mismatch::Header) }
    }

    /// RFC 9110, 8.4: no field is identity. What was not offered is wrong.
    fn coding<'f>(
        &self,
        fields: &(impl Iterator<Item = (&'f [u8], &'f [u8])> + Clone),
    ) -> Result<Coding, Mismatch> {
        let values = values_of(fields, b"content-encoding");
        let all =
            values.flat_map(|value| value.split(|&byte| byte == b',')).map(<[u8]>::trim_ascii);
        // RFC 9110, 5.6.1.2: empty elements of a list are ignored.
        let mut all = all.filter(|value| !value.is_empty());
        let coding = match (all.next(), all.next()) {
            (None, _) => Coding::Identity,
            (Some(value), None) => match value.to_ascii_lowercase().as_slice() {
                b"identity" => Coding::Identity,
                b"gzip" | b"x-gzip" if self.gzip => Coding::Gzip,
                b"br" if self.br => Coding::Br,
                _ => return Err(Mismatch::Header),
            },
            (Some(_), Some(_)) => return Err(Mismatch::Header),
        };
        Ok(coding)
    }

    /// RFC 9110, 14.4: the range that was wanted, of the length that the file has.
    fn is_the_range<'f>(
        &self,
        fields: &(impl Iterator<Item = (&'f [u8], &'f [u8])> + Clone),
        values: Values,
    ) -> bool {
        let found = values_of(fields, b"content-range").next().and_then(numbers_of);
        let len = self.files.content(Files::chosen(values)).len();
        found.is_some_and(|(first, last, of)| {
            (first, last) == Files::range(values) && of.is_none_or(|of| of == len)
        })
    }

    /// RFC 9110, 15.4.5 and 8.8.3.2: the validator that was sent, if there is one; tags are compared weakly.
    fn is_the_version<'f>(
        &self,
        fields: &(impl Iterator<Item = (&'f [u8], &'f [u8])> + Clone),
        values: Values,
    ) -> bool {
        let Some((validators, sent)) = self.validator_of(values) else { return false };
        let name = if validators.are_tags { &b"etag"[..] } else { b"last-modified" };
        let weakly = |value| <[u8]>::strip_prefix(value, b"W/").unwrap_or(value);
        values_of(fields, name).all(|value| weakly(value) == weakly(sent.as_bytes()))
    }

    /// How the server names versions, and the one that the request names. What another machine wrote may lack it.
    fn validator_of(&self, values: Values) -> Option<(&Validators, &str)> {
        let validators = self.validators.as_ref()?;
        Some((validators, validators.values.get(Files::chosen(values))?))
    }

    /// Whether a whole body is what its head announced.
    pub(crate) fn is_right(&self, delivery: Delivery, body: &[u8], values: Values) -> bool {
        let coding = match delivery {
            Delivery::Whole(coding) => coding,
            Delivery::Part | Delivery::NotModified | Delivery::Other => Coding::Identity,
        };
        coding.decodes_to(body, self.truth(delivery, values))
    }

    /// What must be answered, in words.
    #[must_use]
    pub fn described(&self, values: Values) -> String {
        let number = Files::chosen(values);
        let (name, len) = (Files::name(number), self.files.content(number).len());
        let mut text = format!("200 with the file {name} ({len} bytes)");
        let codings = [(self.gzip, "gzip"), (self.br, "br")];
        for (_, coding) in codings.iter().filter(|(is_offered, _)| *is_offered) {
            text.push_str(&format!(", or its {coding}"));
        }
        if self.is_range {
            let (first, last) = Files::range(values);
            text.push_str(&format!(", or 206 with its bytes {first} to {last}"));
        }
        if let Some((_, sent)) = self.validator_of(values) {
            text.push_str(&format!(", or 304 for {sent}"));
        }
        text
    }

    /// What is wrong with the body of an answer whose head is right, in words.
    #[must_use]
    pub fn body_fault(&self, values: Values, body: &[u8], is_cut: bool) -> Option<String> {
        if body.starts_with(&[0x1f, 0x8b]) {
            return Some(
                "it is gzip, and not that of the file, or its head does not say so".into(),
            );
        }
        let truths = [Delivery::Other, Delivery::Part].map(|it| self.truth(it, values));
        let truth =
            if self.is_range && body.len() == truths[1].len() { truths[1] } else { truths[0] };
        first_difference(truth, body, is_cut).map(|place| place.to_string())
    }
}

/// `bytes FIRST-LAST/LENGTH`, where the length may be unknown.
fn numbers_of(content_range: &[u8]) -> Option<(usize, usize, Option<usize>)> {
    let (unit, text) = std::str::from_utf8(content_range).ok()?.split_once(' ')?;
    let (range, of) = text.trim().split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let of = if of == "*" { None } else { Some(whole(of)?) };
    let is_in_bytes = unit.eq_ignore_ascii_case("bytes");
    is_in_bytes.then_some((whole(first)?, whole(last)?, of))
}

/// The values of all fields with this name.
fn values_of<'f>(
    fields: &(impl Iterator<Item = (&'f [u8], &'f [u8])> + Clone),
    name: &'static [u8],
) -> impl Iterator<Item = &'f [u8]> {
    let is_named = move |field: &(&[u8], &[u8])| field.0.eq_ignore_ascii_case(name);
    fields.clone().filter(is_named).map(|(_, value)| value.trim_ascii())
}

#[cfg(test)]
mod tests;
