//! The pages of the site: a file for each kind.

pub(crate) mod beside;
pub(crate) mod first;
pub(crate) mod machines;
pub(crate) mod method;
pub(crate) mod rounds;
pub(crate) mod runs;
pub(crate) mod servers;
pub(crate) mod workloads;

use report::document::{Block, Document};
use report::markup::{Markup, markup};
use report::{OfSite, of_site};

use crate::folder::Known;
use crate::settings::Written;
use crate::slug::https;

/// A file of the site.
pub(crate) type File = (String, Vec<u8>);

const STYLE: &str = include_str!("site.css");

/// The pages to which every page leads: the file, and what it is called.
const WAYS: [(&str, &str); 8] = [
    ("w/index.html", "workloads"),
    ("s/index.html", "servers"),
    ("r/index.html", "runs"),
    ("round/index.html", "rounds"),
    ("m/index.html", "machines"),
    ("c/index.html", "compare"),
    ("method/index.html", "method"),
    ("data/rows.jsonl", "data"),
];

/// From a file of the site to its first page's folder: `../../`.
pub(crate) fn root(path: &str) -> String {
    "../".repeat(path.matches('/').count())
}

/// What the page at this path has besides its document.
pub(crate) fn of_page(written: &Written, path: &str) -> OfSite {
    let settings = &written.settings;
    let root = root(path);
    let way = |(to, name): &(&str, &str)| {
        let here = if *to == path { " aria-current=\"page\"" } else { "" };
        markup!("<a href=\"{}{}\"{}>{}</a>\n", root, to, Markup::fixed(here), name)
    };
    let canonical = Some(&settings.base_url).filter(|base| !base.is_empty());
    let canonical =
        canonical.map(|base| markup!("<link rel=\"canonical\" href=\"{}/{}\">\n", base, path));
    let feed = markup!(
        "<link rel=\"alternate\" type=\"application/atom+xml\" title=\"{}\" href=\"{}feed.xml\">\n",
        settings.title,
        root
    );
    OfSite {
        name: settings.title.clone(),
        head: markup!("{}{}", canonical, feed),
        above: markup!(
            "<nav class=\"site\" aria-label=\"the board\"><a class=\"home\" href=\"{}index.html\">{}</a>\n{}</nav>\n",
            root,
            settings.title,
            WAYS.iter().map(way).collect::<Markup>()
        ),
        below: markup!(
            "<footer class=\"site\">Made by dyno {}: every figure is computed from the counts in the files of the runs. <a href=\"{}feed.xml\">Feed</a></footer>\n",
            env!("CARGO_PKG_VERSION"),
            root
        ),
        style: STYLE,
        ..OfSite::default()
    }
}

/// The page at this path.
pub(crate) fn page(known: &Known, path: &str, document: &Document) -> File {
    let text = of_site(document, &of_page(&known.written, path)).into_string();
    (path.into(), text.into_bytes())
}

/// A list of links: the address, the text, and what is said of it. None where there are none.
pub(crate) fn links(all: impl IntoIterator<Item = (String, String, String)>) -> Option<Block> {
    list(all.into_iter().map(|(address, text, note)| {
        let note = Some(note).filter(|note| !note.is_empty());
        let note = note.map(|note| markup!(" <span class=\"dim\">{}</span>", note));
        markup!("<li><a href=\"{}\">{}</a>{}</li>\n", address, text, note)
    }))
}

/// Links that people wrote: those that are none are shown as text.
pub(crate) fn written_links(all: &[String]) -> Option<Block> {
    list(all.iter().take(20).map(|address| match https(address) {
        Some(address) => {
            markup!("<li><a rel=\"nofollow noopener\" href=\"{0}\">{0}</a></li>\n", address)
        }
        None => markup!("<li>{} <span class=\"dim\">no https: link</span></li>\n", address),
    }))
}

fn list(all: impl Iterator<Item = Markup>) -> Option<Block> {
    let mut all = all.peekable();
    all.peek()?;
    Some(Block::picture(markup!("<ul class=\"links\">\n{}</ul>\n", all.collect::<Markup>())))
}

/// A line for a shell.
pub(crate) fn command(line: &str) -> Block {
    Block::picture(markup!("<pre tabindex=\"0\">{}</pre>\n", line))
}
