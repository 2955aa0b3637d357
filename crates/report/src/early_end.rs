//! What a command leaves in the files it was to write if it ends before it has a result: why, in every format. A file of
//! an earlier run that stayed in its place would be taken for this one's result.

use lab::named;

use crate::document::Document;
use crate::json::{json_type, written};
use crate::markup::markup;
use crate::render::{Chart, Charts, End, Measure, Shown, Suite, Test, csv, test_cases};

named! {
    /// How a command ended that has no result.
    pub enum Word {
        /// It was not begun, or could not be done.
        Refused = "refused",
        /// What was to be measured failed before it could be.
        Failed = "failed",
        Interrupted = "interrupted",
    }
}

/// A command that ended before it had a result.
pub struct EarlyEnd<'a> {
    pub word: Word,
    /// Why, as it is said on standard error.
    pub says: &'a str,
    /// The command line.
    pub command: &'a str,
}

json_type! {
    /// A command that ended before it had a result: it was refused, its server failed before it could be measured, or
    /// it was interrupted. Any command writes it, in the files that it was to write.
    pub(crate) struct EarlyEndJson<'t> as "early end", "dyno.early_end/1" of end: EarlyEnd<'_> {
        /// why, in plain words
        sentence: String = end.sentence(),
        /// refused, failed or interrupted
        #[schemars(extend("enum" = ["refused", "failed", "interrupted"]))]
        answer: &'static str = end.word.name(),
        /// the command line
        command: &'t str,
    }
}

impl EarlyEnd<'_> {
    fn sentence(&self) -> String {
        let begins = match self.word {
            Word::Refused => "Refused",
            Word::Failed => "Not measured",
            Word::Interrupted => "Interrupted",
        };
        format!("{begins}: {}", self.says)
    }
}

impl Shown for EarlyEnd<'_> {
    fn document(&self) -> Document {
        Document {
            label: "no result".into(),
            title: self.command.into(),
            answer: vec![self.sentence()],
            ..Document::default()
        }
    }

    fn json(&self) -> serde_json::Result<String> {
        written(&EarlyEndJson::from(self))
    }

    fn csv(&self) -> Option<String> {
        let heads = ["answer", "sentence"].map(String::from);
        let cells = [self.word.name().into(), csv::text(&self.sentence())];
        Some(csv::line(&heads) + &csv::line(&cells))
    }

    /// None, and so the file of an earlier run is gone: these formats have no place for a reason.
    fn measures(&self) -> Option<Vec<Measure>> {
        Some(Vec::new())
    }

    fn charts(&self) -> Charts<'_> {
        let svg = markup!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 800 40\"><text x=\"10\" y=\"25\">{}</text></svg>\n",
            self.sentence()
        );
        Box::new([Chart { name: "no-result".into(), svg: svg.into_string() }].into_iter())
    }

    fn junit(&self) -> Option<String> {
        let end = End::Error(self.sentence());
        let test = Test { class: "dyno".into(), name: "has a result".into(), end };
        Some(test_cases("dyno", &[Suite { name: "dyno".into(), tests: vec![test], took_s: None }]))
    }
}
