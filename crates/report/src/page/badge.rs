//! Verdicts as badges: a sign and a word, so that nobody needs the colour.

use analysis::{Verdict, Worth};

/// What stands in a row's cell: a class of its own, and the sign.
pub(crate) fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Valid => "verdict valid",
        Verdict::Suspect => "verdict suspect",
        Verdict::Invalid => "verdict invalid",
    }
}

/// A tick, a question mark, a cross: drawn, because not every font has them.
pub(crate) fn sign(verdict: Verdict) -> String {
    let drawn = match verdict {
        Verdict::Valid => "M3.5 8.4l3 3 6-6.6",
        Verdict::Suspect => "M5.4 5.9a2.6 2.6 0 1 1 3.8 2.3c-.8.5-1.2.9-1.2 1.9M8 12.6v.1",
        Verdict::Invalid => "M4 4l8 8M12 4l-8 8",
    };
    format!(
        "<svg class=\"icon\" viewBox=\"0 0 16 16\" aria-hidden=\"true\"><path d=\"{drawn}\"/></svg>"
    )
}

/// So many rows are worth what.
pub(super) fn badges(worth: Worth) -> String {
    let badge = |verdict: Verdict, count: usize| {
        let (class, none) = (class(verdict), if count == 0 { " none" } else { "" });
        let (sign, name) = (sign(verdict), verdict.name());
        format!("<li class=\"{class}{none}\">{sign}{count} {name}</li>")
    };
    let all = [
        badge(Verdict::Valid, worth.valid),
        badge(Verdict::Suspect, worth.suspect),
        badge(Verdict::Invalid, worth.invalid),
    ];
    let untried = match worth.untried {
        0 => String::new(),
        count => format!("<li class=\"why\">{count} not yet run</li>"),
    };
    format!(
        "<ul class=\"badges\" aria-label=\"what the figures are worth\">{}{untried}\
         <li class=\"why\"><a href=\"#doubt\">why</a></li></ul>\n",
        all.concat()
    )
}
