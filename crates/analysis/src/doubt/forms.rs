//! Whether a server fails requests only in some of the forms that it must accept.

use load::{FormCounts, Recording, RequestForm};
use units::count;

use super::Doubt;
use super::definition::Definition;
use super::definition::Threshold::Number;
use crate::verdict::Gravity::Note;

/// A form is named if, of its requests, at least so many times the share failed as of those as they are written, …
const TIMES: f64 = 2.0;
/// … and if chance gives so uneven a division of the failures in fewer of so many loads.
const ONE_IN: f64 = 1e6;

pub(super) const ALL: &[Definition] = &[LEGAL_FORM];

pub(crate) const LEGAL_FORM: Definition = Definition::new("legal_form", Note)
    .when("requests are varied (`--vary`), and of those in one form at least {} times the share failed as of those as \
        they are written, which chance does in less than one in {} loads")
    .thresholds(&[Number(TIMES), Number(ONE_IN)])
    .because("RFC 9110 and 9112 give these forms one meaning, and oblige a server to accept them all; the figures are \
        mostly those of the others")
    .way_out("the failures are shown with their requests; send one by hand, and see which form the server needs");

pub(super) fn of_recording(recording: &Recording) -> Option<Doubt> {
    let forms = recording.total.forms?;
    let failing = RequestForm::ALL.into_iter().filter(|form| fails_by_form(&forms, *form));
    let said: Vec<String> = failing
        .map(|form| {
            let (sent, failed) = forms.of(form);
            format!("{form} ({} of {} failed", count(failed), count(sent))
        })
        .collect();
    let (sent, failed) = forms.of(RequestForm::AsWritten);
    (!said.is_empty()).then(|| {
        LEGAL_FORM.found(format!(
            "the server does not parse a legal form of the same request: {}); as written, {} of {} failed",
            said.join("); "),
            count(failed),
            count(sent)
        ))
    })
}

/// Whether the failures of this form are too many beside those of requests as they are written.
fn fails_by_form(forms: &FormCounts, form: RequestForm) -> bool {
    let [(sent, failed), (usual_sent, usual_failed)] =
        [forms.of(form), forms.of(RequestForm::AsWritten)].map(|(a, b)| (a as f64, b as f64));
    let is_share = form != RequestForm::AsWritten && 0.0 < sent && 0.0 < usual_sent;
    let is_more = TIMES * usual_failed / usual_sent <= failed / sent && 0.0 < failed;
    // Chernoff's bound: of all failures, so large a share in this form, whose share of the requests is `expected`.
    let (all, expected) = (failed + usual_failed, sent / (sent + usual_sent));
    let found = failed / all;
    let term = |found: f64, expected: f64| match found {
        0.0 => 0.0,
        found => found * (found / expected).ln(),
    };
    let exponent = all * (term(found, expected) + term(1.0 - found, 1.0 - expected));
    is_share && is_more && ONE_IN.ln() <= exponent
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a form of which so many failed is named, where so many failed of those as written.
    fn is_named(form: RequestForm, (sent, failed): (u64, u64), usual: (u64, u64)) -> bool {
        let mut forms = FormCounts::default();
        for (form, (sent, failed)) in [(form, (sent, failed)), (RequestForm::AsWritten, usual)] {
            (forms.sent[form.index()], forms.failed[form.index()]) = (sent, failed);
        }
        fails_by_form(&forms, form)
    }

    #[test]
    fn a_form_is_named_if_its_failures_are_not_those_of_chance() {
        let (case, segments) = (RequestForm::Case, RequestForm::Segments);
        assert!(is_named(case, (4_000, 4_000), (4_000, 0)));
        assert!(is_named(case, (4_000, 20), (4_000, 0)));
        assert!(!is_named(case, (4_000, 19), (4_000, 0)), "one load in 500,000 has as many");
        assert!(!is_named(case, (4_000, 400), (4_000, 390)));
        assert!(!is_named(case, (400_000, 40_000), (400_000, 30_000)), "certain, and too few");
        assert!(is_named(segments, (200, 5), (4_000, 0)));
        assert!(!is_named(segments, (200, 4), (4_000, 0)));
        assert!(!is_named(case, (4_000, 0), (4_000, 0)));
        assert!(!is_named(case, (0, 0), (4_000, 0)) && !is_named(case, (4_000, 9), (0, 0)));
    }
}
