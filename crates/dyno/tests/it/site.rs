//! A board's site in a reader's browser: what axe-core finds on its pages, and how they are used without a pointer.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::browser_rig::Browser;
use crate::lab_rig::not_tested;
use crate::public::{files, id};
use crate::report::{Kept, fixture};
use crate::rig::Rig;

const BOARD: &str = r#"
title = "A board"
question = "Which of the two is faster?"
about = "For tests."
own_machines = ["a-cpu-unknowncpu-unknown-linux-6.18"]
presets = [
    { title = "Which is fastest?", workload = "echo-xml" },
    { title = "Quick or Evil?", compare = ["quick", "evil"] },
]
"#;

/// A site of two runs, and a browser for it.
struct Site {
    browser: Browser,
    root: PathBuf,
    _kept: [Kept; 2],
}

impl Site {
    fn new(name: &str) -> Option<Site> {
        let browser = Browser::start(name)?;
        let (rig, mut run) = (Rig::new(), fixture::run());
        let mut trials = fixture::trials();
        trials.iter_mut().for_each(|trial| fixture::deepen(trial, 20));
        let older = Kept::of(&run, trials.clone());
        run.began_unix_ms += 86_400_000;
        run.entries[0].version = "1.3".into();
        let kept = [older, Kept::of(&run, trials)];
        let root = PathBuf::from(kept[1].path("site"));
        let file = |name: &str| kept[1].path(&format!("board/{name}"));
        for folder in ["runs", "rounds", "servers"] {
            fs::create_dir_all(file(folder)).unwrap();
        }
        let ids = kept.iter().enumerate().map(|(n, kept)| {
            let (store, output) = (kept.path("runs.sqlite"), file(&format!("runs/{n}.dyno")));
            let flags = ["runs", "export", "1", "--public", "-o", &output, "--store", &store];
            id(&rig.dyno(&flags).status(0).stdout)
        });
        let ids: Vec<String> = ids.collect();
        let round =
            format!("title = \"Round 1\"\ndate = \"2026-11-29\"\nruns = [\"{}\"]\n", ids[1]);
        fs::write(file("board.toml"), BOARD).unwrap();
        fs::write(file("rounds/1.toml"), round).unwrap();
        fs::write(file("servers/quick.toml"), "links = [\"https://example.org/\"]").unwrap();
        fs::write(file("runs/bad.dyno"), "no run").unwrap();
        rig.dyno(&["publish", &file("."), "-o", root.to_str().unwrap()]);
        Some(Site { browser, root, _kept: kept })
    }

    /// One page of each kind: pages at the same depth of a part are alike.
    fn kinds(&self) -> Vec<PathBuf> {
        let mut kinds = BTreeMap::new();
        for path in files(&self.root) {
            if path.extension().is_some_and(|it| it == "html") {
                let within = path.strip_prefix(&self.root).unwrap().display().to_string();
                let part = within.split('/').next().unwrap().to_string();
                kinds.entry((part, within.matches('/').count())).or_insert(path);
            }
        }
        assert_eq!(kinds.len(), 13, "{kinds:?}");
        kinds.into_values().collect()
    }

    /// A page two folders below this part of the site.
    fn page(&self, part: &str) -> PathBuf {
        let is_it = |path: &PathBuf| path.ancestors().nth(2).is_some_and(|it| it.ends_with(part));
        self.kinds().into_iter().find(is_it).expect("each part has a page")
    }

    /// Opens a page, with all that is folded on it.
    fn open(&mut self, page: &Path) {
        self.browser.open(page, "");
        self.browser
            .value("document.querySelectorAll('details').forEach((all) => { all.open = true; })");
    }

    fn scheme(&mut self, scheme: &str, media: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        let wanted = json!({ "media": media, "features": features });
        self.browser.ask("Emulation.setEmulatedMedia", &wanted);
    }

    /// What axe-core finds that is serious or critical: each rule with the first elements that break it.
    #[track_caller]
    fn faults(&mut self) -> Vec<Value> {
        let found = self.browser.value(
            "axe.run(document, { resultTypes: ['violations'] }).then((found) => found.violations\
             .filter((it) => ['serious', 'critical'].includes(it.impact))\
             .map((it) => [it.id, ...it.nodes.slice(0, 3).map((node) => node.html.slice(0, 300))].join('\\n')))",
        );
        found.as_array().unwrap().clone()
    }
}

/// The script of axe-core, which .ci/needs installs.
fn axe() -> Option<String> {
    let built = Path::new(env!("CARGO_BIN_EXE_dyno")).ancestors().nth(2).unwrap();
    let script = fs::read_to_string(built.join("needs/axe/node_modules/axe-core/axe.min.js"));
    script
        .inspect_err(|_| not_tested("whether everybody can use the pages", "axe-core"))
        .ok()
        .map(|script| script + ";0")
}

#[test]
fn everybody_can_read_and_use_each_kind_of_page() {
    let (Some(axe), Some(mut site)) = (axe(), Site::new("axe")) else { return };
    for page in site.kinds() {
        site.open(&page);
        site.browser.value(&axe);
        for (width, scheme) in [(390, "light"), (800, "light"), (1_400, "light"), (1_400, "dark")] {
            site.browser.size(width, 900, false);
            site.scheme(scheme, "");
            let faults = site.faults();
            assert!(faults.is_empty(), "{} {width} {scheme}: {faults:#?}", page.display());
        }
    }
    // The checker sees what is wrong.
    let page = site.page("r");
    site.open(&page);
    site.scheme("light", "");
    site.browser.value(&axe);
    site.browser.value(
        "document.querySelector('h1').style.color = '#9aa2ab';\
         document.querySelector('.controls input').removeAttribute('aria-label');\
         document.querySelector('.controls input').removeAttribute('placeholder')",
    );
    let faults = site.faults();
    let broken: Vec<&str> = faults.iter().filter_map(|it| it.as_str()?.lines().next()).collect();
    assert_eq!(broken, ["color-contrast", "label"]);
}

/// Notes what gets the focus: whether it is seen to have it, and whether it comes after the one before. The button that
/// saves a chart goes with the focus from chart to chart.
const NOTE_FOCUS: &str = "window.reached = []; addEventListener('focusin', ({ target }) => {\
     const style = getComputedStyle(target), at = target.getBoundingClientRect(), last = reached.at(-1);\
     const isSeen = style.outlineStyle !== 'none' && 0 < parseFloat(style.outlineWidth) && 0 < at.width\
     && 0 < at.bottom && at.top < innerHeight && 0 < at.right && at.left < innerWidth;\
     const isNext = !last || last.target.matches('.save') || 0 < (last.target.compareDocumentPosition(target) & Node.DOCUMENT_POSITION_FOLLOWING);\
     reached.push({ target, isSeen, isNext }); });\
     window.wanted = Array.from(document.querySelectorAll('a[href],button,select,input,summary,[tabindex=\"0\"]'))\
     .filter((e) => e.getClientRects().length && !e.disabled); wanted.length";

#[test]
fn everything_is_reached_by_tab_in_its_order_and_worked_by_keys() {
    let Some(mut site) = Site::new("keys") else { return };
    for page in site.kinds() {
        site.open(&page);
        let wanted = site.browser.value(NOTE_FOCUS).as_u64().unwrap();
        let charts = site.browser.value("document.querySelectorAll('main svg[tabindex]').length");
        for _ in 0..wanted + charts.as_u64().unwrap() {
            site.browser.key("Tab");
        }
        let faults = site.browser.value(
            "[...wanted.filter((e) => !reached.some(({ target }) => target === e)).map((e) => 'never: ' + e.outerHTML.slice(0, 200)),\
             ...reached.filter(({ isSeen, isNext, target }, n) => !isSeen || (!isNext && target !== reached[0].target))\
             .map(({ target, isSeen }) => (isSeen ? 'order: ' : 'unseen: ') + target.outerHTML.slice(0, 200)),\
             ...(reached[0]?.target.matches('.skip') ? [] : ['no skip link is first'])]",
        );
        assert_eq!(faults, json!([]), "{}", page.display());
    }
    // The first link leads past all others.
    let page = site.page("s");
    site.open(&page);
    ["Tab", "Enter", "Tab"].iter().for_each(|key| site.browser.key(key));
    assert_eq!(site.browser.value("document.activeElement.closest('section')?.id"), "load-0");
    // A table is sorted, and its columns are chosen.
    site.browser.phone();
    site.browser.value("document.querySelector('thead button').focus()");
    site.browser.key("Enter");
    assert_eq!(site.browser.value("document.querySelector('thead th').ariaSort"), "ascending");
    site.browser.value("document.querySelector('.widen').focus()");
    site.browser.key(" ");
    assert_eq!(site.browser.value("document.querySelector('.widen').checked"), true);
    // A server is hidden.
    site.browser.desktop();
    let page = site.page("r");
    site.open(&page);
    site.browser.value("document.querySelector('.chip').focus()");
    site.browser.key(" ");
    assert_eq!(site.browser.value("document.querySelector('.chip').ariaPressed"), "false");
    // Two servers are put beside each other.
    let page = site.root.join("c/index.html");
    site.open(&page);
    assert_eq!(site.browser.value("location.hash"), "#a=evil&b=quick");
    site.browser.value("document.querySelector('select').focus()");
    site.browser.key("ArrowDown");
    assert_eq!(site.browser.value("location.hash"), "#a=quick&b=quick");
    let line =
        "Array.from(document.querySelectorAll('#beside tbody tr')).map((e) => e.cells.length)";
    assert_eq!(site.browser.value(line), json!([11, 11]));
    assert_eq!(site.browser.complaints(), Vec::<String>::new());
}
