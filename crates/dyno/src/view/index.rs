//! The index: every run of the store, newest first, and two of them to be compared.

use std::collections::BTreeMap;

use host::{Response, Status};
use lab::record::RunRecord;
use report::document::Document;
use report::markup::{Markup, markup};
use report::render::html;
use report::run::Brief;
use store::{RunEnd, RunId, RunSummary, Store};

use super::frame::framed;
use crate::shell::Refusal;
use report::time::utc;
use report::units::{count, counted};

/// More runs than these are not listed at once.
const MOST: usize = 300;

/// A run, and the record that is searched.
struct Listed {
    run: RunSummary,
    /// None if it is damaged.
    record: Option<RunRecord>,
    /// How many runs of its experiment have trials.
    alike: usize,
}

/// The body of the page: runs that contain every word of the search.
pub(super) fn body(
    store: &Store,
    search: &str,
    brief: &mut dyn FnMut(&RunSummary) -> Option<Brief>,
) -> Result<Markup, Refusal> {
    let mut runs = store.runs().map_err(|error| Refusal::new(error.to_string()))?;
    runs.sort_by_key(|run| std::cmp::Reverse(run.id));
    let all = runs.len();
    let mut of_experiment: BTreeMap<String, usize> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.damage.is_none() && 0 < run.kept) {
        *of_experiment.entry(run.name.clone()).or_default() += 1;
    }
    let listed = |run: RunSummary| {
        let alike = of_experiment.get(&run.name).copied().unwrap_or_default();
        Listed { record: store.run(run.id).ok(), alike, run }
    };
    let listed = runs.into_iter().map(listed);
    let found: Vec<Listed> = listed.filter(|listed| listed.has(search)).collect();
    let shown: Markup =
        found.iter().take(MOST).map(|listed| row(listed, brief(&listed.run).as_ref())).collect();
    let more = match found.len().saturating_sub(MOST) {
        0 => None,
        more => Some(html::dim(&format!("{} more: search for them.", count(more as u64)))),
    };
    let table = match (found.is_empty(), all) {
        (true, 0) => markup!("<p class=\"lede\">No run has been kept in this store.</p>\n"),
        (true, _) => markup!("<p class=\"lede\">No run has all of these words.</p>\n"),
        (false, _) => markup!(
            "<form action=\"/compare\" method=\"get\">\n<div class=\"scroll\"><table class=\"runs\">\n<thead><tr><th scope=\"col\">A</th>\
             <th scope=\"col\">B</th><th scope=\"col\" class=\"n\">run</th><th scope=\"col\">experiment</th><th scope=\"col\">began</th>\
             <th scope=\"col\">trials</th><th scope=\"col\">verdict</th><th scope=\"col\">the answer, and the servers</th>\
             <th scope=\"col\">machine</th><th scope=\"col\">as</th></tr></thead>\n<tbody>\n{}</tbody>\n\
             </table></div>\n<p><button>Compare B with A</button> <span class=\"dim\">two runs of one experiment; two subjects: \
             <a href=\"/compare\">by name</a></span></p>\n</form>\n{}{}",
            shown,
            more,
            local_time()
        ),
    };
    Ok(markup!(
        "<h1>Runs</h1>\n<form action=\"/\" method=\"get\" role=\"search\"><input type=\"search\" name=\"q\" value=\"{}\" \
         aria-label=\"Search runs\" placeholder=\"experiment, subject, date …\"> <button>Search</button></form>\n{}",
        search,
        table
    ))
}

/// The form for two sides.
pub(super) fn comparing(a: &str, b: &str) -> Markup {
    markup!(
        "<h2>Compare</h2>\n<form action=\"/compare\" method=\"get\">\n<p><label>A <input name=\"a\" value=\"{}\"></label> \
         <label>B <input name=\"b\" value=\"{}\"></label> <button>Compare B with A</button></p>\n<p class=\"dim\">A run's number, or \
         RUN:SUBJECT in both.</p>\n</form>\n",
        a,
        b
    )
}

impl Listed {
    fn has(&self, search: &str) -> bool {
        let mut text = format!("{} {} {}", self.run.id, self.run.name, utc(self.run.began_unix_ms));
        if self.run.is_quick {
            text.push_str(" quick");
        }
        for entry in self.record.iter().flat_map(|record| &record.entries) {
            text.push_str(&format!(" {} {}", entry.name, entry.title));
        }
        let text = text.to_lowercase();
        search.to_lowercase().split_whitespace().all(|word| text.contains(word))
    }

    /// The names of the subjects that took part.
    fn servers(&self) -> String {
        const SHOWN: usize = 6;
        let entries = self.record.iter().flat_map(|record| &record.entries);
        let names: Vec<&str> = entries
            .filter(|entry| entry.skipped.is_none())
            .map(|entry| if entry.title.is_empty() { &entry.name[..] } else { &entry.title[..] })
            .collect();
        match names.len().checked_sub(SHOWN) {
            None | Some(0) => names.join(", "),
            Some(more) => format!("{} and {more} more", names[..SHOWN].join(", ")),
        }
    }
}

/// A page for the runs of one experiment; `left_out` of them are not in it.
pub(super) fn trend(document: &Document, runs: &[RunId], left_out: usize) -> Response {
    let link = |run: &RunId| markup!(" <a href=\"/run/{0}\">run {0}</a>", run.to_string());
    let links: Markup = runs.iter().map(link).collect();
    let left_out = (0 < left_out).then(|| {
        let says = counted(left_out as u64, "older run is", "older runs are");
        html::dim(&format!("{says} not shown: not read yet (load this page again), or too many."))
    });
    let title = document.title.clone();
    let body =
        markup!("<h1>{}</h1>\n<p>{}</p>\n{}{}", title, links, left_out, html::document(document));
    framed(Status::Ok, &title, &body)
}

/// In UTC; a script adds the reader's own time, where that differs.
fn time(unix_ms: i64) -> Markup {
    let utc = utc(unix_ms);
    let machine_readable = utc.replacen(' ', "T", 1).replace(" UTC", "Z");
    markup!("<time datetime=\"{}\"><span>{}</span></time>", machine_readable, utc)
}

/// What the times of a page need.
fn local_time() -> Markup {
    Markup::fixed("<script src=\"/local-time.js\"></script>\n")
}

fn row(listed: &Listed, brief: Option<&Brief>) -> Markup {
    let run = &listed.run;
    let id = run.id.to_string();
    if let Some(says) = &run.damage {
        return markup!(
            "<tr><td></td><td></td><td class=\"n\">{}</td><td colspan=\"7\" class=\"bad\">damaged: {}</td></tr>\n",
            id,
            says
        );
    }
    let side = |name: &str| {
        markup!(
            "<td><input type=\"radio\" name=\"{0}\" value=\"{1}\" aria-label=\"{2} is run {1}\"></td>",
            name,
            id,
            name.to_uppercase()
        )
    };
    let file = |ending: &str| markup!("<a href=\"/run/{0}.{1}\">{1}</a>", id, ending);
    let files = ["md", "csv", "json", "svg"].map(|ending| markup!(" {}", file(ending)));
    markup!(
        "<tr>{}{}<td class=\"n\">{}</td><th scope=\"row\"><a href=\"/run/{}\">{}</a>{}{}</th><td class=\"w\">{}</td><td class=\"w\">{}</td>\
         <td class=\"w\">{}</td><td>{}{}</td><td>{}{}</td><td class=\"w\">{}{}</td></tr>\n",
        side("a"),
        side("b"),
        id,
        id,
        run.name,
        run.is_quick.then(|| doubtful("quick")),
        (1 < listed.alike).then(|| {
            let alike = count(listed.alike as u64);
            markup!("<br><a class=\"dim\" href=\"/trend/{}\">trend of {} runs</a>", id, alike)
        }),
        time(run.began_unix_ms),
        state(run),
        verdict(brief),
        brief.map_or("", |brief| &brief.answer[..]),
        markup!("<br><span class=\"dim\">{}</span>", listed.servers()),
        brief.map(|brief| &brief.machine),
        brief.map(|brief| markup!("<br><span class=\"dim\">{}</span>", brief.programs)),
        file("txt"),
        files.into_iter().collect::<Markup>()
    )
}

/// A sign and a word; empty for a run that was not analysed.
fn verdict(brief: Option<&Brief>) -> Markup {
    let Some(verdict) = brief.and_then(|brief| brief.verdict) else { return markup!("–") };
    let name = verdict.name();
    markup!("<span class=\"verdict {}\">{}{}</span>", name, html::verdict_sign(verdict), name)
}

/// How far the run is.
fn state(run: &RunSummary) -> Markup {
    let ended = match run.ended {
        Some((_, RunEnd::Done)) => None,
        Some((_, RunEnd::Interrupted)) => Some(doubtful("interrupted")),
        None => Some(doubtful("under way, or killed")),
    };
    markup!("{} of {}{}", count(run.kept.into()), count(run.planned.into()), ended)
}

fn doubtful(says: &str) -> Markup {
    markup!(" <span class=\"doubtful\">{}</span>", says)
}
