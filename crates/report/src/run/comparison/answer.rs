//! The answer of a gate, in words and as JSON: first as a whole, then the reasons.

use analysis::{Gate, GateAnswer, Gated, Unsure};
use lab::experiment::Point;
use units::{count, counted};

use super::json::UNLIKE;
use super::{Compared, conformance};
use crate::grouped::distinct;
use crate::json::json_type;
use crate::paired::{Ratio, listed};

/// The answer first, then its reasons: one sentence each.
pub(super) fn says(compared: &Compared<'_>) -> Vec<String> {
    let gated = compared.gated();
    let tolerance = tolerated(compared.gate);
    let whole = match compared.answer() {
        GateAnswer::Within => Some(format!(
            "Answer: by {}, B is no more than {tolerance} worse than A.",
            figures(gated.iter())
        )),
        GateAnswer::Worse => Some(worse(&gated, &tolerance)),
        GateAnswer::CannotTell => Some(cannot_tell(&gated, &tolerance)),
        GateAnswer::Failing => None,
    };
    let [mut says, tolerated] = conduct(compared);
    says.extend(whole);
    says.extend(tolerated);
    if compared.is_unlike() {
        says.push("The two loads are not alike: see \"What to know\".".into());
    }
    let judged = if compared.is_unlike() { &[][..] } else { &gated[..] };
    let within = judged.iter().filter(|gated| gated.verdict() == GateAnswer::Within).count();
    if 0 < within {
        let rows = format!("{} of {} rows", count(within as u64), count(gated.len() as u64));
        says.push(format!("Within {tolerance}: {rows}, by {}.", figures(gated.iter())));
    }
    let order = [GateAnswer::Worse, GateAnswer::CannotTell].into_iter();
    let others =
        order.flat_map(|answer| judged.iter().filter(move |gated| gated.verdict() == answer));
    says.extend(others.map(|gated| one(compared, gated)));
    says.extend(conformance::answers(compared));
    if gated.is_empty() {
        says.push("No row of A has a measured partner in B.".into());
    }
    let alone = compared.versus.alone[0].iter().filter(|(_, row)| 0 < row.measured()).count();
    if 0 < alone {
        let rows = counted(alone as u64, "row that A measured is", "rows that A measured are");
        says.push(format!("Cannot tell: {rows} not in B."));
    }
    says
}

/// By which figures it cannot be told, where any are judged.
fn cannot_tell(gated: &[Gated<'_, '_>], tolerance: &str) -> String {
    let by = match figures(gated.iter()) {
        names if names.is_empty() => String::new(),
        names => format!("by {names}, "),
    };
    format!("Answer: {by}this data cannot tell whether B is more than {tolerance} worse than A.")
}

/// By which figures B is worse; by none, where it is the clauses of the RFCs.
fn worse(gated: &[Gated<'_, '_>], tolerance: &str) -> String {
    let worse = || gated.iter().filter(|gated| gated.verdict() == GateAnswer::Worse);
    match worse().count() {
        0 => "Answer: B breaks clauses of the RFCs that A keeps.".into(),
        _ => {
            format!("Answer: by {}, B is worse than A by more than {tolerance}.", figures(worse()))
        }
    }
}

/// What the sides answered wrongly or failed, a sentence for each row: of those that are not compared for it, and of
/// the others.
fn conduct(compared: &Compared<'_>) -> [Vec<String>; 2] {
    let pairs = &compared.versus.pairs;
    let rows = pairs.iter().flat_map(|pair| [(pair, pair.a, 0), (pair, pair.b, 1)]);
    let named = rows.map(|(pair, row, n)| {
        let (side, findings) = (["A", "B"][n], compared.sides[n].findings);
        let title = findings.title(&row.subject);
        let name = match pairs.len() {
            1 => format!("{side} ({title})"),
            _ => format!("{side} ({title}, {} at {})", pair.workload, findings.place(row.point)),
        };
        (name, row.conduct)
    });
    crate::conduct::sentences(named, " Not compared.")
}

/// `5 %`: only digits that the user wrote.
pub(super) fn tolerated(gate: Gate) -> String {
    let percent = format!("{:.2}", gate.tolerance * 100.0);
    format!("{} %", percent.trim_end_matches('0').trim_end_matches('.'))
}

/// The headings of the figures that rows were judged by.
fn figures<'g>(gated: impl Iterator<Item = &'g Gated<'g, 'g>>) -> String {
    distinct(gated.map(|gated| gated.figure.heading())).join(" and ")
}

fn one(compared: &Compared<'_>, gated: &Gated<'_, '_>) -> String {
    let pair = gated.pair;
    let title = match compared.sides[0].subject {
        Some(_) => String::new(),
        None => format!("{}, ", compared.sides[0].findings.title(&pair.a.subject)),
    };
    let (place, heading) = (compared.place(pair), gated.figure.heading());
    let name = format!("{title}{} at {place}, {heading}", pair.workload);
    let ratio = gated.made.as_ref().ok().map(Ratio::from);
    let word = match gated.answer {
        Ok(GateAnswer::Worse) => "Worse",
        Ok(GateAnswer::Within) => "Within",
        Ok(GateAnswer::CannotTell) | Err(_) => "Cannot tell",
        Ok(GateAnswer::Failing) => "Not compared",
    };
    let why = gated.answer.err().map(unsure);
    format!("{word}: {}.", listed(&name, ratio, why.as_deref()))
}

fn unsure(why: Unsure) -> String {
    match why {
        Unsure::Not(why) => format!("not compared, {}", why.meaning()),
        Unsure::Wide => {
            "the interval is too wide; run more rounds (`[trials] repeat` in the experiment, or `dyno load --rounds`)"
                .into()
        }
        Unsure::Doubt => "rounds are in doubt: see \"What to know\"".into(),
        Unsure::FewSamples => "a round has too few samples for it; run longer trials".into(),
    }
}

json_type! {
    /// Whether B is as good as A.
    pub(super) struct GateJson as "gate" of compared: Compared<'_> {
        /// within, worse or cannot_tell: exit codes 0, 1, 2; failing: A or B answered wrongly or failed too often, exit
        /// code 1
        #[schemars(extend("enum" = ["within", "worse", "cannot_tell", "failing"]))]
        answer: &'static str = compared.answer().name(),
        /// what is tolerated
        tolerance_percent: f64 = compared.gate.tolerance * 100.0,
        /// the answer of each row
        rows: Vec<GatedJson> =
            compared.gated().iter().map(|gated| GatedJson::of(compared, gated)).collect(),
        /// the answer in words, and its reasons, a sentence each
        says: Vec<String> = says(compared),
    }
}

impl GateJson {
    /// The answer in words.
    pub(super) fn sentence(&self) -> String {
        self.says.first().cloned().unwrap_or_default()
    }
}

json_type! {
    /// The answer of a row.
    struct GatedJson as "gated_row" of gated: Gated<'_, '_>, with compared: Compared<'_>;
        let is_unlike = compared.is_unlike();
    {
        /// the workload
        workload: String = gated.pair.workload.into(),
        #[serde(flatten)]
        point: Point = gated.pair.a.point,
        /// A's server
        a_subject: String = gated.pair.a.subject.clone(),
        /// B's server
        b_subject: String = gated.pair.b.subject.clone(),
        /// the figure by which it is judged
        figure: &'static str = gated.figure.name(),
        /// within, worse, cannot_tell or failing
        answer: &'static str =
            if is_unlike { GateAnswer::CannotTell } else { gated.verdict() }.name(),
        /// why it cannot be decided: unlike_loads, too_wide, in_doubt, few_samples or as in `finding`; null if it is
        why: Option<String> = match is_unlike {
            true => Some(UNLIKE.into()),
            false => gated.answer.err().map(self::why),
        },
    }
}

pub(super) fn why(unsure: Unsure) -> String {
    match unsure {
        Unsure::Not(why) => super::json::not_compared(why),
        Unsure::Wide => "too_wide".into(),
        Unsure::Doubt => "in_doubt".into(),
        Unsure::FewSamples => "few_samples".into(),
    }
}
