//! Several figures of one gate: the probability that even one of them is called worse by chance is the rule's.

use super::{Answer, Difference, Finding, Rule, concluded};

/// What each figure says, by the method of Holm: each has its share of the probability; once one is worse, the others
/// share it among themselves.
#[must_use]
pub fn judged<D: Copy + Into<Difference>>(figures: &[&[D]], rule: Rule) -> Vec<Finding> {
    let mut found: Vec<Option<Finding>> = vec![None; figures.len()];
    loop {
        let open: Vec<usize> = (0..figures.len()).filter(|&at| found[at].is_none()).collect();
        let level = rule.alpha / open.len().max(1) as f64;
        let now = |&at: &usize| (at, concluded(figures[at], rule, level));
        let findings: Vec<(usize, Finding)> = open.iter().map(now).collect();
        let worse = findings.iter().filter(|(_, it)| it.answer == Answer::Worse);
        let newly: Vec<(usize, Finding)> = worse.copied().collect();
        let is_last = newly.is_empty();
        for (at, finding) in if is_last { findings } else { newly } {
            found[at] = Some(finding);
        }
        if is_last || found.iter().all(Option::is_some) {
            return found.into_iter().flatten().collect();
        }
    }
}
