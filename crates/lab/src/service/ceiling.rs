//! What a service answers with no server before it.

use crate::record::{Fact, fact};

/// The condition of the first trial of a place that says this: a number, and by what it was measured; or why it is
/// unknown.
pub const CEILING: &str = "service.ceiling";
const UNKNOWN: &str = "unknown: ";

/// So many answers a second, as this program measured them.
#[derive(Clone, Debug, PartialEq)]
pub struct ServiceCeiling {
    pub answers_per_s: f64,
    pub by: String,
}

impl ServiceCeiling {
    /// The last line that the service's command printed: `answers_per_second=NUMBER PROGRAM`.
    pub(super) fn printed(output: &str) -> Result<ServiceCeiling, String> {
        let last = output.trim_end().lines().next_back().unwrap_or_default();
        let found = last.strip_prefix("answers_per_second=").and_then(ServiceCeiling::parse);
        found.ok_or_else(|| {
            let last = last.escape_debug();
            format!("its last line, `{last}`, is not `answers_per_second=NUMBER PROGRAM`")
        })
    }

    fn parse(text: &str) -> Option<ServiceCeiling> {
        let (number, by) = text.split_once(' ')?;
        let answers_per_s = number.parse().ok().filter(|it: &f64| it.is_finite() && 0.0 < *it)?;
        (!by.is_empty()).then(|| ServiceCeiling { answers_per_s, by: by.into() })
    }

    /// As a condition of a trial.
    pub(crate) fn fact(measured: &Result<ServiceCeiling, String>) -> Fact {
        let value = match measured {
            Ok(ServiceCeiling { answers_per_s, by }) => format!("{answers_per_s} {by}"),
            Err(says) => format!("{UNKNOWN}{says}"),
        };
        Fact { name: CEILING.into(), value }
    }

    /// What a trial's conditions say of it, or why it is unknown; none if it was not measured beside that trial.
    #[must_use]
    pub fn of(conditions: &[Fact]) -> Option<Result<ServiceCeiling, String>> {
        let value = fact(conditions, CEILING)?;
        let why = || value.strip_prefix(UNKNOWN).unwrap_or(value).to_string();
        Some(ServiceCeiling::parse(value).ok_or_else(why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_has_the_number_and_the_program() {
        let found = ServiceCeiling::printed("tps = 1\nanswers_per_second=1234.5 pgbench\n\n");
        let right = ServiceCeiling { answers_per_s: 1_234.5, by: "pgbench".into() };
        assert_eq!(found, Ok(right.clone()));
        assert_eq!(ServiceCeiling::of(&[ServiceCeiling::fact(&found)]), Some(Ok(right)));
        for text in ["", "1234.5 pgbench", "=1 x", "answers_per_second=1", "answers_per_second=0 x"]
            .into_iter()
            .chain(["answers_per_second=inf x", "answers_per_second=-1 x", "answers_per_second=1 "])
        {
            let says = ServiceCeiling::printed(text).unwrap_err();
            assert!(says.contains("is not `answers_per_second=NUMBER PROGRAM`"), "{text}: {says}");
        }
    }

    #[test]
    fn why_it_is_unknown_is_kept() {
        let kept = ServiceCeiling::fact(&Err("`x` ended with exit status 1".into()));
        let read = ServiceCeiling::of(&[kept]);
        assert_eq!(read, Some(Err("`x` ended with exit status 1".into())));
        assert_eq!(ServiceCeiling::of(&[]), None);
    }
}
