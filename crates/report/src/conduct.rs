//! What a server answered wrongly or failed, in words: the sentence of every command names it by this fragment.

use analysis::{Conduct, Faults};
use units::{count, percent};

/// `b answered wrongly: 20 % of the requests (3,000 of 15,000)`, without a full stop; nothing of a sound server.
pub(crate) fn says(name: &str, conduct: &Conduct) -> Option<String> {
    let faults = conduct.faults()?;
    let Faults { wrong, failed, of, .. } = faults;
    let unit = faults.unit();
    let share = |times: u64| percent(times as f64 / of as f64);
    match conduct {
        Conduct::Sound => None,
        Conduct::Wrong(_) => Some(format!(
            "{name} answered wrongly: {} of the {unit} ({} of {})",
            share(wrong),
            count(wrong),
            count(of)
        )),
        Conduct::Failing(_) => Some(format!(
            "{name} failed {} of the {unit} ({} of {}){}",
            share(failed),
            count(failed),
            count(of),
            faults.why()
        )),
        Conduct::Tolerated(_) => {
            let counted =
                |times| format!("{} of {} {unit} ({})", count(times), count(of), share(times));
            let wrongly = (0 < wrong).then(|| format!("answered {} wrongly", counted(wrong)));
            let failed =
                (0 < failed).then(|| format!("failed {}{}", counted(failed), faults.why()));
            let both: Vec<String> = [wrongly, failed].into_iter().flatten().collect();
            Some(format!("{name} {}", both.join(" and ")))
        }
    }
}

/// A sentence for each server that answered wrongly or failed: of those that are left out for it, which is added, and of
/// the others.
pub(crate) fn sentences(
    named: impl IntoIterator<Item = (String, Conduct)>,
    left_out: &str,
) -> [Vec<String>; 2] {
    let mut all = [Vec::new(), Vec::new()];
    for (name, conduct) in named {
        let is_tolerated = conduct.is_tolerated();
        let end = if is_tolerated { "" } else { left_out };
        let says = says(&name, &conduct).map(|says| format!("{says}.{end}"));
        all[usize::from(is_tolerated)].extend(says);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::Ways;
    use load::{Cut, Failure};

    #[test]
    fn a_session_that_the_server_ended_has_failed_after_so_many_calls() {
        let says = |cut, failed| {
            let ways = Ways::one(Failure::RecvReset, failed);
            let (of, failed, of_sessions) = (150, failed + cut, true);
            let cut = Cut { sessions: cut, unreached: 1, calls_min: 90, calls_max: 100 };
            let faults = Faults { wrong: 0, failed, ways, of, of_sessions, cut };
            super::says("b", &Conduct::Failing(faults)).unwrap()
        };
        assert_eq!(
            says(150, 0),
            "b failed 100 % of the sessions (150 of 150): in 150 the server closed the connection after 90 to 100 calls"
        );
        assert!(says(50, 25).ends_with("calls; in the others a call failed, all recv.reset"));
        assert_eq!(says(0, 75), "b failed 50 % of the sessions (75 of 150), all recv.reset");
    }

    #[test]
    fn faults_have_their_share_and_their_count() {
        let status = Failure::named("content.status").unwrap();
        let faults = |wrong, failed| Faults {
            wrong,
            failed,
            ways: Ways::one(status, failed),
            of: 15_000,
            ..Faults::default()
        };
        let sentence = |conduct: Conduct| super::says("b", &conduct).unwrap();
        assert_eq!(
            sentence(Conduct::Wrong(faults(3_000, 7))),
            "b answered wrongly: 20 % of the requests (3,000 of 15,000)"
        );
        assert_eq!(
            sentence(Conduct::Failing(faults(0, 600))),
            "b failed 4.0 % of the requests (600 of 15,000), all content.status"
        );
        assert_eq!(
            sentence(Conduct::Tolerated(faults(3, 75))),
            "b answered 3 of 15,000 requests (< 0.1 %) wrongly and failed 75 of 15,000 requests (0.5 %), all \
             content.status"
        );
        assert_eq!(super::says("b", &Conduct::Sound), None);
    }
}
