//! What was checked of the answers, in a sentence: a reader must not take for checked what was not.

use load::{Failure, Tally};
use wire::{BodyRule, Expect, StatusRule};

/// What was checked: of how many answers, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Whole answers to measured requests.
    pub answers: u64,
    /// `status 2xx and body`.
    pub what: String,
    /// What was done with bodies that are not stated, if any; it begins with a semicolon.
    pub bodies: String,
}

impl Checked {
    /// Of the answers in these tallies to requests with these expectations. `why_not` says why bodies were not compared,
    /// where that was looked at.
    #[must_use]
    pub fn of<'t>(
        tallies: impl Iterator<Item = &'t Tally>,
        expects: &[Expect],
        why_not: Option<&str>,
    ) -> Checked {
        let is_whole = |failure: &Failure| failure.is_of_whole_answer();
        let whole = |tally: &Tally| {
            let wrong = Failure::ALL.into_iter().filter(is_whole);
            tally.correct + wrong.map(|failure| tally.failures(failure)).sum::<u64>()
        };
        let answers = tallies.map(whole).sum();
        Checked { answers, what: what(expects), bodies: bodies(expects, why_not) }
    }
}

fn is_stated(expect: &Expect) -> bool {
    expect.body != BodyRule::Any && !expect.body_is_usual
}

fn what(expects: &[Expect]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut add = |part: String| {
        if !parts.contains(&part) {
            parts.push(part);
        }
    };
    for expect in expects {
        match expect.status {
            StatusRule::Success => add("status 2xx".into()),
            StatusRule::Exactly(status) => add(format!("status {status}")),
            StatusRule::Any => {}
        }
        expect.headers.iter().for_each(|(name, _)| add(format!("field {name}")));
    }
    let stated = || expects.iter().filter(|expect| is_stated(expect));
    let with_body = stated().count();
    let of_each = match with_body {
        0 => None,
        _ if stated().all(|it| matches!(it.body, BodyRule::Length(_))) => {
            Some("length of the body")
        }
        _ => Some("body"),
    };
    let some = if with_body < expects.len() { " where it is stated" } else { "" };
    if let Some(what) = of_each {
        add(format!("{what}{some}"));
    }
    if expects.iter().any(|expect| expect.wait_ns.is_some()) {
        add("time to wait".into());
    }
    match parts.split_last() {
        None => "nothing but their framing".into(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}

fn bodies(expects: &[Expect], why_not: Option<&str>) -> String {
    if expects.iter().any(|expect| expect.body_is_usual) {
        "; each body was compared with those before the load".into()
    } else if expects.iter().any(is_stated) {
        String::new()
    } else {
        format!("; {}", why_not.unwrap_or("the bodies were not compared"))
    }
}

#[cfg(test)]
mod tests {
    use wire::Template;

    use super::*;

    #[test]
    fn what_was_checked_is_named_and_what_was_not_as_well() {
        let body = |body| Expect { body, ..Expect::default() };
        let text = body(BodyRule::Exactly(Template::literal(*b"hi")));
        let usual = Expect { body_is_usual: true, ..text.clone() };
        let any = Expect { status: StatusRule::Any, ..Expect::default() };
        let field = Expect {
            status: StatusRule::Exactly(201),
            headers: vec![("server".into(), Template::literal(*b"x"))],
            ..body(BodyRule::Length(5))
        };
        let check = |expects: &[Expect], why_not: Option<&str>, expected: &str| {
            let found = format!("{}{}", what(expects), bodies(expects, why_not));
            assert_eq!(found, expected);
        };
        let plain = Expect::default();
        let both = [text.clone(), plain.clone()];
        check(std::slice::from_ref(&plain), None, "status 2xx; the bodies were not compared");
        check(
            &[plain],
            Some("the body varies: not compared"),
            "status 2xx; the body varies: not compared",
        );
        check(&[text], None, "status 2xx and body");
        check(&both, None, "status 2xx and body where it is stated");
        check(&[usual], None, "status 2xx; each body was compared with those before the load");
        check(&[field], None, "status 201, field server and length of the body");
        check(&[any], None, "nothing but their framing; the bodies were not compared");
    }
}
