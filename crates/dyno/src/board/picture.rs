//! A run as a page and as a chart: what there is to show, handed to the room that shows it.

use report::{Findings, Words};

use super::{Told, csv, doubt, heading, trouble, words};
use crate::report::paint::Line;
use crate::report::time::utc;

/// Prose is not wrapped here: a page does that itself.
const WIDE: usize = 4_000;

/// The whole page.
pub(super) fn page(told: &Told<'_>) -> String {
    report::page(&findings(told))
}

/// A workload's signature plot; nothing of one that was not asked for.
pub(super) fn svg(told: &Told<'_>, workload: &str, theme: report::Theme) -> Option<String> {
    report::svg(&findings(told), workload, theme)
}

/// The answer in two or three sentences.
pub(super) fn sentences(told: &Told<'_>) -> Vec<String> {
    report::sentences(&findings(told))
}

fn findings<'t>(told: &'t Told<'_>) -> Findings<'t> {
    let troubles = [
        trouble::doubts(told, WIDE),
        trouble::under_load(told, WIDE),
        trouble::failures(told, WIDE),
    ];
    Findings {
        id: &told.id,
        run: told.run,
        experiment: told.experiment.as_ref(),
        board: &told.board,
        fairness: &told.fairness,
        history: &told.history,
        words: Words {
            began: utc(told.run.began_unix_ms),
            load: told.experiment.as_ref().map(words::load).unwrap_or_default(),
            machine: heading::machine(told.run, told.trials),
            warnings: heading::warnings(told),
            alarms: told.board.alarms().iter().map(doubt::alarm).collect(),
            troubles: troubles.iter().map(|lines| plain(lines)).collect(),
            csv: csv::of(told),
        },
        number: words::number,
    }
}

fn plain(lines: &[Line]) -> Vec<String> {
    lines.iter().map(|line| line.shown(false)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::fixture;

    #[test]
    fn what_strangers_wrote_is_shown_and_not_obeyed() {
        let (run, trials) = fixture::hostile();
        let told = Told::of(&7, &run, &trials, Vec::new(), None);
        let chart = svg(&told, "echo-xml", report::Theme::Auto).expect("there are trials");
        let page = page(&told);
        for text in [&page, &chart] {
            for odd in ["<script>alert", "<script ", "<img", "<b ", "\u{1b}", "</title></style>"] {
                assert!(!text.contains(odd), "{odd}");
            }
            assert!(text.contains("&lt;script&gt;"), "it is shown");
        }
        assert_eq!((page.matches("<script").count(), chart.matches("<script").count()), (1, 0));
    }

    #[test]
    fn a_page_needs_nothing_from_elsewhere() {
        let (run, trials) = (fixture::run(), fixture::trials());
        let page = page(&Told::of(&7, &run, &trials, Vec::new(), None));
        for odd in ["src=", "@import", "<link", "url(http", "unsafe"] {
            assert!(!page.contains(odd), "{odd}");
        }
        assert!(page.contains("default-src 'none'") && page.contains("download=\"run-7.csv\""));
        assert_eq!(page.matches("<h1>").count(), 1);
    }

    #[test]
    fn a_crowd_has_a_page_that_stays_small() {
        let (run, trials) = fixture::crowd();
        let page = page(&Told::of(&7, &run, &trials, Vec::new(), None));
        assert!((100_000..1_500_000).contains(&page.len()), "{}", page.len());
    }

    #[test]
    fn a_run_without_trials_has_a_page_and_no_numbers() {
        let mut run = fixture::run();
        run.plan.clear();
        let told = Told::of(&7, &run, &[], Vec::new(), None);
        assert!(
            svg(&told, "echo-xml", report::Theme::Auto).is_none()
                && page(&told).ends_with("</html>\n")
        );
    }
}
