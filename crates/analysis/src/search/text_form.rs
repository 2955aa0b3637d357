//! A search as a line of text, with which a kept run says what it was to find.

use super::{Aim, Limit, Search};

/// By which rules the trials of a search follow each other. A search by other rules is not read.
const RULES: u32 = 2;

impl Search {
    /// As `read` takes it.
    #[must_use]
    pub fn written(&self) -> String {
        let Search { aim, width, least, most, ceiling, limit_s, is_fresh, seed } = self;
        let ceiling = ceiling.map_or(String::new(), |per_s| format!(" ceiling={per_s}"));
        let limits = aim.limits.iter();
        let limits = limits.map(|limit| format!(" p{}={}ns", limit.percent, limit.within));
        format!(
            "width={width} least={least} most={most} limit_s={limit_s} fresh={is_fresh} seed={seed} failures={}{} rules={RULES}{ceiling}",
            aim.failures,
            limits.collect::<String>()
        )
    }

    /// None if this is no search, or one that cannot be.
    #[must_use]
    pub fn read(text: &str) -> Option<Search> {
        let mut aim = Aim { limits: Vec::new(), failures: 0.0 };
        let (mut width, mut least, mut most, mut limit_s) = (0.0, 0.0, 0.0, 0.0);
        let (mut is_fresh, mut seed, mut rules, mut ceiling) = (false, 0, 0, None);
        for word in text.split(' ') {
            let (name, value) = word.split_once('=')?;
            let number = || value.parse().ok().filter(|number: &f64| number.is_finite());
            match name {
                "width" => width = number()?,
                "least" => least = number()?,
                "most" => most = number()?,
                "ceiling" => ceiling = Some(number()?),
                "limit_s" => limit_s = number()?,
                "failures" => aim.failures = number()?,
                "fresh" => is_fresh = value.parse().ok()?,
                "seed" => seed = value.parse().ok()?,
                "rules" => rules = value.parse().ok()?,
                _ => {
                    let percent = name.strip_prefix('p')?.parse().ok()?;
                    let within = value.strip_suffix("ns")?.parse().ok()?;
                    aim.limits.push(Limit { percent, within });
                }
            }
        }
        let is_percent = |limit: &Limit| 0.0 < limit.percent && limit.percent < 100.0;
        let is_sound = !aim.limits.is_empty()
            && aim.limits.iter().all(is_percent)
            && (0.0..1.0).contains(&aim.failures)
            && (0.001..=10.0).contains(&width)
            && 0.0 < least
            && least <= most
            && most <= 1e9
            && 0.0 < limit_s
            && rules == RULES;
        let search = Search { aim, width, least, most, ceiling, limit_s, is_fresh, seed };
        is_sound.then_some(search)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::tests::{aim, search};

    #[test]
    fn what_is_written_is_read_back_and_nothing_else_is_believed() {
        let usual = search(aim(99.0, 20_000_000), u64::MAX);
        let mut search = Search { most: 43_478.26, ceiling: Some(50_000.5), ..usual };
        search.aim.limits.push(Limit { percent: 99.95, within: 1 });
        let text = search.written();
        assert_eq!(Search::read(&text), Some(search));
        for (from, to) in [
            ("width=0.05", "width=NaN"),
            ("width=0.05", "width=0"),
            ("least=10", "least=-1"),
            ("most=4", "most=inf4"),
            ("most=43478.26", "most=9"),
            ("p99=", "p100="),
            ("p99=", "q99="),
            ("20000000ns", "20000000"),
            ("fresh=true", "fresh"),
            ("failures=0.01", "failures=1"),
            ("rules=2", "rules=3"),
            (" rules=2", ""),
        ] {
            assert!(text.contains(from), "{from}");
            assert_eq!(Search::read(&text.replace(from, to)), None, "{from} {to}");
        }
        assert_eq!(Search::read(""), None);
    }
}
