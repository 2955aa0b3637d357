//! What of a result is printed, and in which files it is written: one rule for all commands that have one.

use std::cell::{Cell, RefCell};
use std::fs;
use std::path::{Path, PathBuf};

use archive::keep;
use clap::Args;
use clap::builder::{PathBufValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use report::early_end::{EarlyEnd, Word};
use report::render::{FORMATS, Format, JSON, MARKDOWN, SVG, Screen, Shown, TEXT};

use crate::shell::{ExitStatus, Refusal, command_line_without_passwords, print};

/// The flag that names files.
const FLAG: &str = "--output";
/// Columns of a text in a file.
const FILE_WIDTH: usize = 120;

/// What trials were made for (a run, a race, loads), what pairs were measured for (a gate), what says yes or no (a
/// check), and all other results: places in `LACKS`.
pub(crate) const OF_TRIALS: usize = 0;
pub(crate) const OF_PAIRS: usize = 1;
pub(crate) const OF_CASES: usize = 2;
pub(crate) const OF_FIGURES: usize = 3;

/// The formats that there are not of each kind of results.
const LACKS: [&[&str]; 4] = [
    &["junit"],
    &["csv", "svg"],
    &["csv", "svg", "bmf", "customBiggerIsBetter", "customSmallerIsBetter"],
    &["csv", "svg", "junit", "bmf", "customBiggerIsBetter", "customSmallerIsBetter"],
];

fn formats<const KIND: usize>() -> impl Iterator<Item = &'static Format> {
    FORMATS.into_iter().filter(|format| !LACKS[KIND].contains(&format.name))
}

/// A file, and the format in which it is written.
#[derive(Clone, Debug)]
struct Output {
    format: &'static Format,
    path: PathBuf,
}

// No sentence for readers of the help: clap would take it for the command's own.
#[derive(Args, Default)]
#[command(next_help_heading = "Results")]
pub(crate) struct ResultFlags<const KIND: usize> {
    /// What is printed [default: text]
    #[arg(long, value_name = "NAME", value_parser = named::<KIND>())]
    format: Option<&'static Format>,
    /// Short for --format md
    #[arg(long, conflicts_with = "format")]
    markdown: bool,
    /// Short for --format json
    #[arg(long, conflicts_with_all = ["format", "markdown"])]
    json: bool,
    /// Also write the results to this file, atomically, in the format of its extension (x.json, x.md, x.html, x.txt …)
    /// or of a prefix (json:FILE); may be given again. If there is no result, the file says why
    #[arg(short, long, value_name = "FILE", value_parser = PathBufValueParser::new().try_map(output::<KIND>))]
    output: Vec<Output>,
    /// Whether the files were written.
    #[arg(skip)]
    is_written: Cell<bool>,
    /// Why there is no result, where that is no refusal.
    #[arg(skip)]
    failure: RefCell<Option<String>>,
}

/// The formats, each with its use.
fn named<const KIND: usize>() -> impl TypedValueParser<Value = &'static Format> {
    let values = formats::<KIND>().map(|format| PossibleValue::new(format.name).help(format.about));
    PossibleValuesParser::new(values).try_map(|name| Format::named(&name).ok_or("no such format"))
}

/// A file as it was written on the command line.
fn output<const KIND: usize>(path: PathBuf) -> Result<Output, String> {
    let text = path.to_string_lossy();
    let prefixed = text.split_once(':').and_then(|(name, rest)| Some((Format::named(name)?, rest)));
    let of_ending = |path: &Path| Format::of_ending(path.extension()?.to_str()?);
    let (format, path) = match (prefixed, of_ending(&path)) {
        (Some((format, rest)), _) => (Some(format), PathBuf::from(rest)),
        (None, format) => (format, path),
    };
    if path.as_os_str().is_empty() {
        return Err("no file is named behind the format; write json:FILE".into());
    }
    if path.as_os_str() == "-" {
        return Err("`-` is not a file; to print in this format, write --format NAME".into());
    }
    let format = format.filter(|format| formats::<KIND>().any(|there| there == *format));
    format.map(|format| Output { format, path }).ok_or_else(|| {
        let endings: Vec<String> = formats::<KIND>().map(|it| format!(".{}", it.ending)).collect();
        let endings = endings.join(", ");
        format!("its ending names the format, one of {endings}; or write the format before it: json:FILE")
    })
}

impl<const KIND: usize> ResultFlags<KIND> {
    fn format(&self) -> &'static Format {
        match (self.json, self.markdown) {
            (true, _) => &JSON,
            (_, true) => &MARKDOWN,
            (false, false) => self.format.unwrap_or(&TEXT),
        }
    }

    /// Whether people are to read what is printed.
    pub(crate) fn prints_text(&self) -> bool {
        *self.format() == TEXT
    }

    /// Whether anything is to be printed or written in another format than these.
    pub(crate) fn wants_other_than(&self, these: &[&Format]) -> bool {
        let all = self.output.iter().map(|output| output.format).chain([self.format()]);
        all.into_iter().any(|format| !these.contains(&format))
    }

    pub(crate) fn wants(&self, format: &Format) -> bool {
        self.format() == format || self.output.iter().any(|output| output.format == format)
    }

    /// The files that are to be written, if all of them are of this format.
    pub(crate) fn files_of(&self, format: &Format) -> Option<Vec<&Path>> {
        let are_all = self.output.iter().all(|output| output.format == format);
        are_all.then(|| self.output.iter().map(|output| output.path.as_path()).collect())
    }

    /// The files that are to be written, with their flags.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let files = self.output.iter().filter(|output| !output.is_folder());
        files.map(|output| (FLAG, output.path.as_path()))
    }

    /// Refuses, before anything is measured, a file that could not be written in the end, or that is one of the others.
    pub(crate) fn check(&self, others: &[(&'static str, &Path)]) -> Result<(), Refusal> {
        for folder in self.output.iter().filter(|output| output.is_folder()) {
            let is_there = folder.path.is_dir();
            let checked =
                if is_there { folder.path.join("dyno.svg") } else { folder.without_slash() };
            keep::check(FLAG, &checked)?;
        }
        keep::check_all(&self.files().collect::<Vec<_>>(), others)
    }

    /// Does what is to have a result. However it ends, the files are written: if there is no result, with why.
    pub(crate) fn to_the_end(
        &self,
        run: impl FnOnce() -> Result<ExitStatus, Refusal>,
    ) -> Result<ExitStatus, Refusal> {
        let ended = run();
        if self.is_written.get() {
            return ended;
        }
        let failure = self.failure.take();
        let (word, says) = match (&ended, failure) {
            (Err(refusal), _) => (Word::Refused, refusal.to_string()),
            (Ok(ExitStatus::Interrupted), _) => {
                (Word::Interrupted, "there is no result yet; begin anew".into())
            }
            (Ok(_), Some(says)) => (Word::Failed, says),
            (Ok(_), None) => return ended,
        };
        let command = command_line_without_passwords();
        let written = self.write(&EarlyEnd { word, says: &says, command: &command }, false);
        let ended = ended?;
        written.map(|()| ended)
    }

    /// Says why there will be no result.
    pub(crate) fn fail(&self, says: String) {
        terminal::notice(&format!("dyno: {says}"));
        self.failure.replace(Some(says));
    }

    /// Prints the result, and writes it to the files, even if it cannot be printed.
    pub(crate) fn deliver(&self, shown: &dyn Shown, is_full: bool) -> Result<(), Refusal> {
        let printed = self.print(shown, is_full);
        self.write(shown, is_full).and(printed)
    }

    pub(crate) fn print(&self, shown: &dyn Shown, is_full: bool) -> Result<(), Refusal> {
        print(&self.printed(shown, is_full)?).map(drop)
    }

    /// What is printed of a result.
    pub(crate) fn printed(&self, shown: &dyn Shown, is_full: bool) -> Result<String, Refusal> {
        let screen = Screen { is_full, ..terminal::screen() };
        self.format().of(shown, screen).map_err(Refusal::new)
    }

    /// Writes each file, even if another one cannot be written.
    pub(crate) fn write(&self, shown: &dyn Shown, is_full: bool) -> Result<(), Refusal> {
        self.is_written.set(true);
        let write = |output: &Output| output.write(shown, is_full);
        let written: Vec<Result<(), Refusal>> = self.output.iter().map(write).collect();
        written.into_iter().collect()
    }
}

impl Output {
    /// A folder, or what is called one, is for charts, each in a file of its own.
    fn is_folder(&self) -> bool {
        let is_called = self.path.as_os_str().as_encoded_bytes().ends_with(b"/");
        *self.format == SVG && (is_called || self.path.is_dir())
    }

    fn without_slash(&self) -> PathBuf {
        self.path.components().collect()
    }

    fn write(&self, shown: &dyn Shown, is_full: bool) -> Result<(), Refusal> {
        if self.is_folder() {
            fs::create_dir_all(&self.path).map_err(|error| {
                Refusal::new(format!("{FLAG} {}: {error}", self.path.display()))
            })?;
            return shown.charts().try_for_each(|chart| {
                let file = format!("{}.{}", chart.name, SVG.ending);
                keep::write_for(FLAG, &self.path.join(file), &chart.svg)
            });
        }
        let screen = Screen { is_full, ..Screen::file(FILE_WIDTH) };
        let text = self.format.of(shown, screen).map_err(Refusal::new)?;
        keep::write_for(FLAG, &self.path, &text)
    }
}
