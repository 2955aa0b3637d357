//! Requests that are stated by flags, or by a run that keeps them: as values, which no file has.

use serde::{Deserialize, Serialize};
use wire::{Ask, BodyRule, Expect, Request, StatusRule, Template};

use super::{HOST, Interaction, Question, Workload, asks};
use crate::source_file::{ConfigError, SourceFile};

/// A request, and what its answer must have.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatedRequest {
    pub method: String,
    pub target: String,
    pub headers: Vec<(String, String)>,
    /// With placeholders, as the target and the values of the fields.
    pub body: String,
    pub expect: Expect,
}

impl StatedRequest {
    /// The request of a workload that a run keeps, if no file has it.
    #[must_use]
    pub fn of_run(path: &str, text: &str) -> Option<StatedRequest> {
        let is_one = path.starts_with("workloads/") && path.ends_with(".json");
        let kept = is_one.then(|| serde_json::from_str::<Kept>(text).ok()).flatten();
        kept.map(|kept| kept.request)
    }

    /// What is stated, but for the path, each thing by its name with its flag.
    #[must_use]
    pub fn things(&self) -> Vec<(&'static str, String)> {
        let mut things = vec![("method", self.method.clone())];
        if !self.headers.is_empty() {
            things.push(("header fields (--header)", fields(&self.headers)));
        }
        if !self.body.is_empty() {
            things.push(("body (--body)", self.body.clone()));
        }
        let Expect { status, headers, body, .. } = &self.expect;
        let status = match status {
            StatusRule::Success => None,
            StatusRule::Exactly(status) => Some(status.to_string()),
            StatusRule::Any => Some("any".into()),
        };
        things.extend(status.map(|status| ("expected status (--expect-status)", status)));
        if !headers.is_empty() {
            let values = headers.iter().map(|(name, value)| (name.clone(), written(value)));
            things.push(("expected fields (--expect-header)", fields(&values.collect::<Vec<_>>())));
        }
        let body = match body {
            BodyRule::Any => None,
            BodyRule::Exactly(template) => Some(written(template)),
            BodyRule::Length(length) => Some(format!("{length} bytes")),
            BodyRule::Sha256(digest) => Some(format!("one with SHA-256 {}", units::hex(digest))),
            BodyRule::Meaning(_) => Some("by its meaning".into()),
            BodyRule::File(_) => Some("the file that the path names".into()),
        };
        things.extend(body.map(|body| ("expected body (--expect-body)", body)));
        things
    }
}

fn fields(fields: &[(String, String)]) -> String {
    let shown: Vec<String> =
        fields.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    shown.join(", ")
}

fn written(template: &Template) -> String {
    match template.constant() {
        Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        None => serde_json::to_string(template).unwrap_or_default(),
    }
}

/// A workload as a run keeps it that no file has.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    title: String,
    request: StatedRequest,
}

impl Workload {
    /// One request.
    pub fn stated(name: &str, request: &StatedRequest) -> Result<Workload, String> {
        let title = format!("{} {}", request.method, request.target);
        Workload::of_kept(name, &Kept { title, request: request.clone() })
    }

    fn of_kept(name: &str, kept: &Kept) -> Result<Workload, String> {
        let StatedRequest { method, target, headers, body, expect } = kept.request.clone();
        let body = body.into_bytes();
        let request = Request { method, headers, body, ..Request::get(HOST, &target) };
        let asks = asks(&request, &expect).map_err(|error| error.to_string())?;
        let title = kept.title.clone();
        Ok(Workload {
            name: name.into(),
            title,
            service: None,
            vary: false,
            rate: None,
            questions: vec![Question::made(request, asks)],
            source: source(name, kept)?,
        })
    }

    /// A workload of a run, whose text was kept.
    pub fn of_run(path: &str, text: &str) -> Result<Workload, ConfigError> {
        let source = SourceFile { name: path.into(), text: text.into() };
        let file = path.strip_prefix("workloads/").unwrap_or(path);
        let Some(name) = file.strip_suffix(".json") else {
            return Workload::parse(file.strip_suffix(".toml").unwrap_or(file), source);
        };
        let kept: Kept = source.parse_json(0..text.len())?;
        Workload::of_kept(name, &kept).map_err(|says| source.wrong(None, says))
    }

    /// The workload with the body of the answer to its only request, which states none: another body is a failure, or
    /// is only counted.
    pub fn with_body(&self, body: &[u8], is_usual: bool) -> Result<Workload, String> {
        let question = &self.questions[0];
        let Question { request, ask, .. } = question;
        let quoted = wire::quoted(body, false);
        let rule = match std::str::from_utf8(&quoted) {
            Ok(_) => {
                let template = Template::parse(&quoted)?;
                BodyRule::Exactly(template)
            }
            Err(_) => BodyRule::Sha256(wire::sha256(body)),
        };
        let expect = Expect { body: rule, body_is_usual: is_usual, ..ask.expect.clone() };
        let body = String::from_utf8(request.body.clone());
        let stated = StatedRequest {
            method: request.method.clone(),
            target: request.target.clone(),
            headers: request.headers.clone(),
            body: body.map_err(|_| "the request's body is not text".to_string())?,
            expect: expect.clone(),
        };
        let kept = Kept { title: self.title.clone(), request: stated };
        Ok(Workload {
            questions: vec![question.remade(request.clone(), &expect)?],
            source: source(&self.name, &kept)?,
            ..self.clone()
        })
    }
}

fn source(name: &str, kept: &Kept) -> Result<SourceFile, String> {
    let text = serde_json::to_string(kept).map_err(|error| error.to_string())?;
    Ok(SourceFile { name: format!("workloads/{name}.json"), text })
}

impl Question {
    /// A request that no workload has.
    #[must_use]
    pub fn of(ask: &Ask) -> Question {
        Question::made(ask.made_from().clone(), (ask.clone(), ask.clone()))
    }

    fn made(request: Request, (ask, last_ask): (Ask, Ask)) -> Question {
        Question {
            name: "ask".into(),
            method: request.method.clone(),
            path: request.target.clone(),
            weight: 1,
            request,
            ask,
            last_ask,
            interaction: Interaction::Answer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stated_request_comes_out_of_what_is_kept_unchanged() {
        let odd = "a \"b\" \\ \n\t\u{7f}\u{1b} é ' # { port }";
        let body = Template::parse(odd.as_bytes()).unwrap();
        let stated = StatedRequest {
            method: "POST".into(),
            target: "/a?b={seq}".into(),
            headers: vec![("X-Odd".into(), "a\"b".into())],
            body: odd.replace('\u{1b}', ""),
            expect: Expect { body: BodyRule::Exactly(body), ..Expect::default() },
        };
        let made = Workload::stated("race", &stated).unwrap();
        let kept = Workload::of_run(&made.source.name, &made.source.text).unwrap();
        assert_eq!((kept.name.as_str(), kept.title.as_str()), ("race", "POST /a?b={seq}"));
        assert_eq!(kept.questions[0].ask.expect, stated.expect);
        let encoded = |workload: &Workload| {
            let mut bytes = Vec::new();
            workload.questions[0].ask.encode(wire::Values { seq: 3, random: 0 }, &mut bytes);
            bytes
        };
        assert_eq!(encoded(&kept), encoded(&made));
        assert!(encoded(&made).starts_with(b"POST /a?b=3 HTTP/1.1\r\n"));
    }

    #[test]
    fn a_body_may_be_added_to_what_is_expected() {
        let text = "title = 'x'\n[[ask]]\nname = 'first'\nrequest = 'GET / HTTP/1.0'\n";
        let whole = crate::workload::tests::read(text).unwrap();
        let with = whole.with_body(b"{seq}", true).unwrap();
        let Question { name, ask, .. } = &with.questions[0];
        let BodyRule::Exactly(body) = &ask.expect.body else { panic!("a body") };
        assert_eq!((name.as_str(), body.constant()), ("first", Some(&b"{seq}"[..])));
        assert!(ask.expect.body_is_usual && with.questions[0].request.http_1_0);
        let kept = Workload::of_run(&with.source.name, &with.source.text).unwrap();
        assert_eq!(kept.questions[0].ask.expect, ask.expect);
        let binary = whole.with_body(&[0xff, 0], false).unwrap();
        assert_eq!(binary.questions[0].ask.expect.body, BodyRule::Sha256(wire::sha256(&[0xff, 0])));
    }
}
