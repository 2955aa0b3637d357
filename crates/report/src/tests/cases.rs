//! The grid: what is found, and how each kind of report shows it.

use std::fmt;

use analysis::Gate;
use lab::experiment::Point;
use lab::record::{Fact, RACE, RunRecord, TrialRecord};
use load::{Distribution, Failure, Http2, Recording, SECOND};
use serde_json::Value;
use wire::Mismatch;

use crate::load::first_json;
use crate::load::{FinishedLoad, fixture as of_load};
use crate::render::{self, Screen, Shown as _};
use crate::run;
use crate::run::{Compared, Findings, Side, fixture, race};

const MS: u64 = 1_000_000;

/// A finding of the grid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) kind: &'static str,
    /// So many of 10,000 requests failed for reasons on dyno's side: none are valid, 50 suspect, 300 invalid.
    own_failures: u64,
    pub(super) is_open: bool,
    given_up: u64,
    failure: Option<Failure>,
    is_http2: bool,
}

/// What is shown of one.
pub(super) struct Shown {
    pub(super) case: Case,
    pub(super) json: Value,
    formats: [(&'static str, String); 4],
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl Shown {
    pub(super) fn text(&self, format: &str) -> &str {
        self.formats.iter().find(|(name, _)| *name == format).map_or("", |(_, text)| text)
    }
}

pub(super) const SCREEN: Screen = Screen { is_full: true, ..Screen::file(400) };

impl Case {
    pub(super) fn all() -> Vec<Case> {
        let mut all = Vec::new();
        let wrong = Failure::Content(Mismatch::Body);
        for place in 0..72_usize {
            let digit = |among: usize, step: usize| place / step % among;
            for kind in ["load", "run", "race", "compare"] {
                all.push(Case {
                    kind,
                    own_failures: [0, 50, 300][digit(3, 1)],
                    is_open: digit(2, 3) == 1,
                    given_up: [0, 150][digit(2, 6)],
                    failure: [None, Some(Failure::RecvReset), Some(wrong)][digit(3, 12)],
                    is_http2: digit(2, 36) == 1,
                });
            }
        }
        all
    }

    pub(super) fn shown(&self) -> Shown {
        if self.kind == "load" {
            return self.load();
        }
        let (record, trials) = self.record();
        let findings = Findings::of(&7, &record, &trials, Vec::new());
        let side = |subject| Side { findings: &findings, subject: Some(subject) };
        let compared = Compared::of(side("quick"), side("evil"), Gate::default());
        let (json, document) = match self.kind {
            "run" => (findings.json(), findings.document()),
            "race" => (race::json::of(&findings), findings.document()),
            _ => (compared.json(), compared.document()),
        };
        let page = match self.kind {
            "compare" => render::html::document(&document).into_string(),
            _ => findings.page(),
        };
        self.formats(&json.unwrap(), &document, page, run::tests::csv(&findings))
    }

    fn formats(
        &self,
        json: &str,
        of: &crate::document::Document,
        page: String,
        csv: String,
    ) -> Shown {
        Shown {
            case: *self,
            json: serde_json::from_str(json).unwrap(),
            formats: [
                ("text", render::text(of, SCREEN)),
                ("Markdown", render::markdown(of)),
                ("page", page),
                ("CSV", csv),
            ],
        }
    }

    /// A load that is measured.
    pub(super) fn recording(&self) -> Recording {
        let mut recording = of_load::healthy();
        let slower: Vec<(u64, u64)> = (0..10_000).map(|n| (1, MS + n * n / 7)).collect();
        of_load::answer_after(&mut recording.total, &slower);
        (0..5).for_each(|n| recording.total.blocked.record(3 * MS + n * 1_234));
        let total = &mut recording.total;
        for (failure, times) in self.failures() {
            total.failed[failure.index()] += times;
            total.attempted += times;
            total.due += times;
        }
        for times in [&mut total.response, &mut total.service, &mut total.first_byte] {
            // Those that were under way at the end were given up earlier than others.
            (0..self.given_up).for_each(|n| times.record_censored(5 * SECOND - n % 2 * 4_999 * MS));
        }
        if self.is_http2 {
            let mut ready = Distribution::new(SECOND);
            (0..10).for_each(|n| ready.record(MS + n * 54_321));
            total.http2 = Some(Box::new(Http2 { ready: Some(ready), ..Http2::default() }));
        }
        recording
    }

    pub(super) fn finished(&self, recording: Recording) -> FinishedLoad {
        let order = if self.is_open { of_load::open() } else { of_load::closed() };
        of_load::finished(order, recording)
    }

    fn load(&self) -> Shown {
        let finished = self.finished(self.recording());
        of_load::told(&finished, |findings| {
            let document = findings.document();
            let page = render::html::document(&document).into_string();
            self.formats(&first_json(findings).unwrap(), &document, page, String::new())
        })
    }

    /// Of one side, or of a load.
    fn failures(&self) -> Vec<(Failure, u64)> {
        let given_up = (Failure::Deadline, self.given_up);
        let own = (Failure::NoPorts, self.own_failures);
        [given_up, own].into_iter().chain(self.failure.map(|failure| (failure, 40))).collect()
    }

    /// Two sides at one place in three rounds; what is found is found of the second.
    fn record(&self) -> (RunRecord, Vec<TrialRecord>) {
        let (load, point) = match self.is_open {
            true => ("open = { rate = 1000 }", Point::Requests(1_000.0)),
            false => ("closed = { connections = 8 }", Point::Connections(8)),
        };
        let (mut record, trials) = run::tests::sides(2, 3, load, point, |side, trial| {
            if self.is_http2 {
                trial.key.workload = "echo-xml over h2c, 1 stream".into();
            }
            let recording = &mut trial.loaded.as_mut().unwrap().recording;
            *recording = self.of_round(u64::from(trial.key.repeat), side == 1);
        });
        // What was given up is tolerated, so that it is compared.
        record.files[0].1.insert_str(0, "promise = { failures = \"5%\" }\n");
        fixture::reread(&mut record);
        if self.kind == "race" {
            record.facts.push(Fact { name: RACE.into(), value: "dyno race quick other".into() });
        }
        (record, trials)
    }

    fn of_round(&self, round: u64, is_second: bool) -> Recording {
        let mut found = fixture::recording(9_760 + 13 * round, MS + 31_000 * round);
        let total = &mut found.total;
        for times in [&mut total.response, &mut total.service, &mut total.first_byte] {
            (0..400).for_each(|n| times.record(2 * MS + n * 9_177));
        }
        for counted in [
            &mut total.due,
            &mut total.attempted,
            &mut total.correct,
            &mut total.correct_inside,
            &mut total.on_time,
        ] {
            *counted += 400;
        }
        if is_second {
            for (failure, times) in self.failures() {
                total.failed[failure.index()] += times;
                (total.due, total.attempted) = (total.due + times, total.attempted + times);
            }
            (0..self.given_up).for_each(|_| total.response.record_censored(5 * SECOND));
        }
        found
    }
}
