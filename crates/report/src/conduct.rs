//! What a server answered wrongly or failed, in words: the sentence of every command names it by this fragment.

use analysis::{Conduct, Faults};
use load::Failure;
use units::{count, percent};

/// `b answered wrongly: 20 % of the requests (3,000 of 15,000)`, without a full stop; nothing of a sound server.
pub(crate) fn says(name: &str, conduct: Conduct) -> Option<String> {
    let share = |times: u64, of: u64| percent(times as f64 / of as f64);
    match conduct {
        Conduct::Sound => None,
        Conduct::Wrong(Faults { wrong, of, .. }) => Some(format!(
            "{name} answered wrongly: {} of the requests ({} of {})",
            share(wrong, of),
            count(wrong),
            count(of)
        )),
        Conduct::Failing(Faults { failed, of, mostly, .. }) => Some(format!(
            "{name} failed {} of the requests ({} of {}){}",
            share(failed, of),
            count(failed),
            count(of),
            mostly_by(mostly)
        )),
        Conduct::Tolerated(Faults { wrong, failed, mostly, of }) => {
            let counted = |times| {
                format!("{} of {} requests ({})", count(times), count(of), share(times, of))
            };
            let wrongly = (0 < wrong).then(|| format!("answered {} wrongly", counted(wrong)));
            let failed =
                (0 < failed).then(|| format!("failed {}{}", counted(failed), mostly_by(mostly)));
            let both: Vec<String> = [wrongly, failed].into_iter().flatten().collect();
            Some(format!("{name} {}", both.join(" and ")))
        }
    }
}

fn mostly_by(failure: Option<Failure>) -> String {
    failure.map_or(String::new(), |failure| format!(", mostly {failure}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_have_their_share_and_their_count() {
        let status = Failure::from_name("content.status");
        let faults = |wrong, failed| Faults { wrong, failed, mostly: status, of: 15_000 };
        let says = |conduct| super::says("b", conduct).unwrap();
        assert_eq!(
            says(Conduct::Wrong(faults(3_000, 7))),
            "b answered wrongly: 20 % of the requests (3,000 of 15,000)"
        );
        assert_eq!(
            says(Conduct::Failing(faults(0, 600))),
            "b failed 4.0 % of the requests (600 of 15,000), mostly content.status"
        );
        assert_eq!(
            says(Conduct::Tolerated(faults(3, 75))),
            "b answered 3 of 15,000 requests (< 0.1 %) wrongly and failed 75 of 15,000 requests (0.5 %), mostly \
             content.status"
        );
        assert_eq!(super::says("b", Conduct::Sound), None);
    }
}
