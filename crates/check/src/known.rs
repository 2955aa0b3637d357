//! Which failures libraries are known to have, so that a server's own can be told from those of its library.

use std::collections::BTreeSet;

use crate::finding::{CaseVerdict, Finding};

/// A library with its version, a colon, and the cases that it fails, whatever program stands in front of it.
const LIBRARIES: &str = include_str!("../known-failures.txt");

/// Cases that both fail, of those that either fails: with less they are not alike.
const LIKE: f64 = 0.7;
/// With fewer failures in common they are alike by chance.
const SHARED_MIN: usize = 4;

/// Known libraries that fail like a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Likeness {
    /// Those that are alike to the same degree.
    pub libraries: Vec<&'static str>,
    /// The failures in common.
    pub shared: Vec<&'static str>,
    /// Failures of cases that these libraries pass.
    pub own: Vec<&'static str>,
}

/// The libraries and their cases.
fn libraries() -> impl Iterator<Item = (&'static str, BTreeSet<&'static str>)> {
    let lines = LIBRARIES.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, cases)| (name, cases.split(' ').collect()))
}

/// The libraries whose known failures are most like these; none if no library's are.
#[must_use]
pub fn likeness(findings: &[Finding]) -> Option<Likeness> {
    let with = |verdicts: &[CaseVerdict]| -> BTreeSet<&str> {
        let found = findings.iter().filter(|finding| verdicts.contains(&finding.verdict));
        found.map(|finding| finding.id.as_str()).collect()
    };
    let failed = with(&[CaseVerdict::Fail, CaseVerdict::Crash]);
    let passed = with(&[CaseVerdict::Pass, CaseVerdict::Warn]);
    // Of other cases it is not known which library fails them.
    let noted: BTreeSet<&str> = libraries().flat_map(|(_, cases)| cases).collect();
    let mut best: Option<(f64, Likeness)> = None;
    for (name, cases) in libraries() {
        let (shared, own): (Vec<&str>, Vec<&str>) = noted
            .iter()
            .filter(|case| failed.contains(*case))
            .partition(|case| cases.contains(*case));
        let only_its = cases.iter().filter(|case| passed.contains(*case)).count();
        let alike = shared.len() as f64 / (shared.len() + own.len() + only_its).max(1) as f64;
        match &mut best {
            _ if alike < LIKE || shared.len() < SHARED_MIN => {}
            Some((degree, found)) if *degree == alike && found.shared == shared => {
                found.libraries.push(name);
            }
            Some((degree, _)) if alike <= *degree => {}
            _ => best = Some((alike, Likeness { libraries: vec![name], shared, own })),
        }
    }
    best.map(|(_, found)| found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::catalogue;

    /// A check in which these cases failed, and all others passed.
    fn failing(failed: &[&str]) -> Vec<Finding> {
        let finding = |case: &crate::case::Case| {
            let verdict =
                if failed.contains(&case.id) { CaseVerdict::Fail } else { CaseVerdict::Pass };
            Finding { verdict, ..Finding::of(case) }
        };
        catalogue().iter().map(finding).collect()
    }

    #[test]
    fn a_library_is_known_by_its_failures() {
        let node = "H1-A05 H1-H02 H1-H03 H1-H04 H1-H06 H1-H07 H1-H08 H1-H09 H1-Q05 H1-R06 WS-H10";
        let node: Vec<&str> = node.split(' ').collect();
        let found = likeness(&failing(&node)).unwrap();
        assert_eq!(found.libraries, ["node-http 20.20.2 with ws 8.23.0"]);
        assert_eq!((found.shared.len(), found.own.len()), (11, 0));
        let found = likeness(&failing(&[&node[..9], &["H1-T01"]].concat())).unwrap();
        assert_eq!((found.shared.len(), &found.own[..]), (9, &["H1-T01"][..]));
        let hyper = likeness(&failing(
            &"H1-H01 H1-H02 H1-H03 H1-H04 H1-H05 H1-H06 H1-H07 H1-H08 H1-H09 H1-Q05 WS-H10"
                .split(' ')
                .collect::<Vec<_>>(),
        ));
        assert_eq!(hyper.unwrap().libraries, ["axum 0.8.9", "hyper 1.12.0"]);
        for few in [&[][..], &["H1-R06", "H1-A05"], &["H1-T01", "H1-T02", "H1-K01", "H1-L01"]] {
            assert_eq!(likeness(&failing(few)), None, "{few:?}");
        }
    }

    #[test]
    fn what_is_known_is_what_the_page_says_of_cases_that_there_are() {
        let page = include_str!("../../../results/conformance.md");
        let (mut known, ids) = (0, catalogue().iter().map(|case| case.id).collect::<BTreeSet<_>>());
        for (name, cases) in libraries() {
            assert!(cases.is_subset(&ids), "{name}: {cases:?}");
            let (subject, version) = name.split_once(' ').unwrap();
            let begins = format!("| {subject} | {version} | HTTP/1.1 |");
            let row = page.lines().find(|line| line.starts_with(&begins)).expect(name);
            let security = row.split('|').nth(10).unwrap();
            for short in security.split_once(':').map_or("", |(_, cases)| cases).split_whitespace()
            {
                assert!(cases.contains(&*format!("H1-{short}")), "{name}: {short}");
                known += 1;
            }
        }
        assert!(200 < known, "the page's table is another one: {known}");
    }
}
