//! The index of a store's runs, newest first, and the forms with which two of them are compared. Each is the body of a
//! page.

use lab::experiment::Changed;
use lab::record::{Entry, RunRecord};
use units::{count, counted};

use crate::document::Document;
use crate::markup::{Markup, markup};
use crate::render::html;
use crate::run::Brief;
use crate::time::utc;

/// The commands that delete and copy what is listed.
const DELETING: &str = "`dyno runs rm RUN` deletes a run and its page, `dyno runs prune` old ones; `dyno runs export RUN -o FILE` \
                        writes a run into a file. Add --store where `dyno view` was given it.";

/// A run of the index.
pub struct IndexRow<'r> {
    pub id: String,
    /// What it is a repetition of.
    pub group: &'r str,
    pub began_unix_ms: i64,
    pub is_quick: bool,
    pub planned: u32,
    pub kept: u32,
    /// How it ended, unless it is done.
    pub unfinished: Option<&'static str>,
    /// What is wrong with its own rows. If anything is, the other fields may be.
    pub damage: Option<&'r str>,
    /// None if it is damaged.
    pub record: Option<&'r RunRecord>,
    /// Whether another one that is listed is of the same, so that a trend has both.
    pub is_repeated: bool,
    /// Empty for a run that was not analysed.
    pub brief: Option<Brief>,
}

/// The body of the page: these runs, the newest of the store that have the words; there may be more of them.
pub fn body(search: &str, shown: &[IndexRow<'_>], has_more: bool) -> Markup {
    let rows: Markup = shown.iter().map(row).collect();
    let more = has_more.then(|| {
        let newest = count(shown.len() as u64);
        html::dim(&format!("These are the newest {newest}; there are older ones: search for them."))
    });
    let table = match (shown.is_empty(), search.trim().is_empty()) {
        (true, true) => markup!("<p class=\"lede\">No run has been kept in this store.</p>\n"),
        (true, false) => markup!("<p class=\"lede\">No run has all of these words.</p>\n"),
        (false, _) => markup!(
            "<form action=\"/compare\" method=\"get\">\n<div class=\"scroll\"><table class=\"runs\">\n<thead><tr><th scope=\"col\">A</th>\
             <th scope=\"col\">B</th><th scope=\"col\" class=\"n\">run</th><th scope=\"col\">experiment</th><th scope=\"col\">began</th>\
             <th scope=\"col\">trials</th><th scope=\"col\">verdict</th><th scope=\"col\">the answer, and the servers</th>\
             <th scope=\"col\">machine</th><th scope=\"col\">as</th></tr></thead>\n<tbody>\n{}</tbody>\n\
             </table></div>\n<p><button>Compare B with A</button> <span class=\"dim\">two runs of one experiment; \
             two servers: \
             <a href=\"/compare\">by name</a></span></p>\n</form>\n{}{}{}",
            rows,
            more,
            html::dim(&format!("These pages change nothing. In a terminal: {DELETING}")),
            local_time()
        ),
    };
    markup!(
        "<h1>Runs</h1>\n<form action=\"/\" method=\"get\" role=\"search\"><input type=\"search\" name=\"q\" value=\"{}\" \
         aria-label=\"Search runs\" placeholder=\"experiment, server, date …\"> <button>Search</button></form>\n{}",
        search,
        table
    )
}

/// The form for two sides.
pub fn comparing(a: &str, b: &str) -> Markup {
    markup!(
        "<h2>Compare</h2>\n<form action=\"/compare\" method=\"get\">\n<p><label>A <input name=\"a\" value=\"{}\"></label> \
         <label>B <input name=\"b\" value=\"{}\"></label> <button>Compare B with A</button></p>\n<p class=\"dim\">A run's number, or \
         RUN:SERVER in both.</p>\n</form>\n",
        a,
        b
    )
}

impl IndexRow<'_> {
    /// Whether the command line changed what its experiment's file says.
    fn is_changed(&self) -> bool {
        let experiment = self.record.and_then(|record| record.experiment.as_ref());
        experiment.is_some_and(|experiment| experiment.changed != Changed::default())
    }

    fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.record.iter().flat_map(|record| &record.entries)
    }

    /// The names of the subjects that took part.
    fn servers(&self) -> String {
        const SHOWN: usize = 6;
        let names: Vec<&str> = (self.entries())
            .filter(|entry| entry.skipped.is_none())
            .map(|entry| if entry.title.is_empty() { &entry.name[..] } else { &entry.title[..] })
            .collect();
        match names.len().checked_sub(SHOWN) {
            None | Some(0) => names.join(", "),
            Some(more) => format!("{} and {more} more", names[..SHOWN].join(", ")),
        }
    }
}

/// The body of a page for the runs of one experiment, with what is damaged in them; `unread` of them are not in it yet, and
/// older ones never are.
pub fn trend(
    document: &Document,
    runs: &[String],
    damaged: &[String],
    (unread, has_older): (usize, bool),
) -> Markup {
    let link = |run: &String| markup!(" <a href=\"/run/{0}\">run {0}</a>", run);
    let links: Markup = runs.iter().map(link).collect();
    let unread = (0 < unread).then(|| {
        let says = counted(unread as u64, "older run is", "older runs are");
        html::dim(&format!("{says} not read yet: load this page again."))
    });
    let older = has_older.then(|| html::dim("`dyno trend --run RUN` reads runs older than these."));
    let left_out: Markup = unread.into_iter().chain(older).collect();
    let damaged: Markup =
        damaged.iter().map(|says| markup!("<p class=\"bad\">{}</p>\n", says)).collect();
    let (title, whole) = (&document.title, html::document(document));
    markup!("<h1>{}</h1>\n<p>{}</p>\n{}{}{}", title, links, left_out, damaged, whole)
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

/// A button that makes the run one side of a comparison.
fn side(name: &str, id: &str) -> Markup {
    markup!(
        "<td><input type=\"radio\" name=\"{0}\" value=\"{1}\" aria-label=\"{2} is run {1}\"></td>",
        name,
        id,
        name.to_uppercase()
    )
}

fn row(run: &IndexRow<'_>) -> Markup {
    let (id, brief) = (&run.id, run.brief.as_ref());
    if let Some(says) = run.damage {
        return markup!(
            "<tr><td></td><td></td><td class=\"n\">{}</td><td colspan=\"7\" class=\"bad\">damaged: {}</td></tr>\n",
            id,
            says
        );
    }
    let file = |ending: &str| markup!("<a href=\"/run/{0}.{1}\">{1}</a>", id, ending);
    let files = ["md", "csv", "json", "svg"].map(|ending| markup!(" {}", file(ending)));
    markup!(
        "<tr>{}{}<td class=\"n\">{}</td><th scope=\"row\"><a href=\"/run/{}\">{}</a>{}{}</th><td class=\"w\">{}</td><td class=\"w\">{}</td>\
         <td class=\"w\">{}</td><td>{}{}</td><td>{}{}</td><td class=\"w\">{}{}</td></tr>\n",
        side("a", id),
        side("b", id),
        id,
        id,
        run.group,
        (run.is_quick.then(|| doubtful("quick")).into_iter())
            .chain(run.is_changed().then(|| doubtful("changed")))
            .collect::<Markup>(),
        (run.is_repeated).then(|| markup!("<br><a class=\"dim\" href=\"/trend/{}\">trend</a>", id)),
        time(run.began_unix_ms),
        state(run),
        verdict(brief),
        brief.map_or("", |brief| &brief.answer[..]),
        markup!("<br><span class=\"dim\">{}</span>", run.servers()),
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
fn state(run: &IndexRow<'_>) -> Markup {
    let ended = run.unfinished.map(doubtful);
    markup!("{} of {}{}", count(run.kept.into()), count(run.planned.into()), ended)
}

fn doubtful(says: &str) -> Markup {
    markup!(" <span class=\"doubtful\">{}</span>", says)
}
