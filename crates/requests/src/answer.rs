//! The expected answer, as the `--expect-…` flags and the lines of a file say it.

use std::path::Path;

use lab::Refusal;
use wire::{BodyRule, Expect, StatusRule, Template};

use crate::file;

/// `200`, or `any`.
pub fn status(text: &str) -> Result<StatusRule, String> {
    match text.parse() {
        _ if text == "any" => Ok(StatusRule::Any),
        _ if text == "2xx" => Ok(StatusRule::Success),
        Ok(status) if (100..600).contains(&status) => Ok(StatusRule::Exactly(status)),
        _ => Err(format!("`{text}` is not a status; write one from 100 to 599, 2xx, or any")),
    }
}

/// `name: value`, cut at the colon.
pub fn field(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().into(), value.trim().into()))
        }
        _ => Err(format!("`{text}` has no colon after its name; write it like 'Name: value'")),
    }
}

/// The expectation that the flags describe together.
pub fn expect(
    status: Option<StatusRule>,
    fields: &[(String, String)],
    body: Option<&str>,
) -> Result<Expect, Refusal> {
    let headers = headers("--expect-header", fields)?;
    let body = body.map_or(Ok(BodyRule::Any), |text| body_rule("--expect-body", text))?;
    Ok(Expect { status: status.unwrap_or_default(), headers, body, ..Expect::default() })
}

/// Header fields that an answer must have; `place` is where they were written.
pub fn headers(
    place: &str,
    fields: &[(String, String)],
) -> Result<Vec<(String, Template)>, Refusal> {
    let template = |value: &str| {
        Template::parse(value.as_bytes()).map_err(|error| Refusal::new(format!("{place} {error}")))
    };
    fields.iter().map(|(name, value)| Ok((name.to_ascii_lowercase(), template(value)?))).collect()
}

/// `TEXT` with placeholders, `@FILE`, `length:N` or `sha256:HEX`; `text:` before a text that looks like one of these.
pub fn body_rule(place: &str, text: &str) -> Result<BodyRule, Refusal> {
    let refused = |why: String| Refusal::new(format!("{place} {why}"));
    if let Some(path) = text.strip_prefix('@') {
        let bytes = file::bytes(place, Path::new(path))?;
        return Ok(BodyRule::Exactly(Template::literal(bytes)));
    }
    if let Some(length) = text.strip_prefix("length:") {
        let length = length.parse().map_err(|_| {
            refused(format!("`{text}`: the length is a number of bytes, as length:13"))
        })?;
        return Ok(BodyRule::Length(length));
    }
    if let Some(hex) = text.strip_prefix("sha256:") {
        let digest = wire::sha256_of_hex(hex).ok_or_else(|| {
            refused(format!("`{text}`: a SHA-256 is 64 hexadecimal digits; see sha256sum"))
        })?;
        return Ok(BodyRule::Sha256(digest));
    }
    let text = text.strip_prefix("text:").unwrap_or(text);
    let template = Template::parse(text.as_bytes()).map_err(refused)?;
    Ok(BodyRule::Exactly(template))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_expected_by_text_length_or_digest() {
        let rule = |text: &str| body_rule("--expect-body", text);
        assert!(matches!(rule("length:13"), Ok(BodyRule::Length(13))));
        assert!(matches!(rule("Hello {seq}"), Ok(BodyRule::Exactly(_))));
        let hex = "315f5bdb76d078c43b8ac0064e4a0164612b1fce77c869345bfc94c75894edd3";
        let Ok(BodyRule::Sha256(digest)) = rule(&format!("sha256:{hex}")) else {
            panic!("a digest");
        };
        assert_eq!(digest[..3], [0x31, 0x5f, 0x5b]);
        let Ok(BodyRule::Exactly(text)) = rule("text:@here") else {
            panic!("a text");
        };
        assert_eq!(text.constant(), Some(&b"@here"[..]));
    }

    #[test]
    fn an_unclear_expectation_names_its_flag() {
        for text in ["length:", "length:-1", "sha256:12", "@/no/such/file", "{random:}"] {
            let refusal = body_rule("--expect-body", text).unwrap_err().to_string();
            assert!(refusal.starts_with("--expect-body "), "{refusal}");
        }
        assert!(status("abc").is_err() && status("99").is_err() && status("600").is_err());
        assert!(field("no colon").unwrap_err().contains("Name: value"));
        assert!(field(": x").is_err());
    }
}
