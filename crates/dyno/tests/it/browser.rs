//! The behaviour of the page in a reader's browser.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::browser_rig::Browser;
use crate::report::{Kept, fixture};
use crate::rig::Rig;

/// A store's page in a browser that shows it.
struct Shown {
    browser: Browser,
    page: PathBuf,
}

impl Shown {
    fn of(name: &str, kept: &Kept) -> Option<Shown> {
        let mut browser = Browser::start(name)?;
        let page = browser.folder.root.join("page.html");
        let store = kept.path("runs.sqlite");
        let flags = ["report", "--store", &store, "-o", page.to_str().unwrap()];
        Rig::new().dyno(&flags).status(0);
        browser.open(&page, "");
        Some(Shown { browser, page })
    }

    fn new(name: &str) -> Option<Shown> {
        Shown::of(name, &Kept::new())
    }

    fn crowd(name: &str) -> Option<Shown> {
        let (run, trials) = fixture::crowd();
        Shown::of(name, &Kept::of(&run, trials))
    }

    /// With all data of a round along its time.
    fn deep(name: &str) -> Option<Shown> {
        let (run, mut trials) = (fixture::run(), fixture::trials());
        trials.iter_mut().for_each(|trial| fixture::deepen(trial, 20));
        Shown::of(name, &Kept::of(&run, trials))
    }

    fn open(&mut self, fragment: &str) {
        self.browser.open(&self.page, fragment);
    }

    fn text(&mut self, expression: &str) -> String {
        self.browser.value(expression).as_str().unwrap_or_default().to_string()
    }

    /// On a desk and on a phone, after this was done, nothing is too wide, and no text stands on another.
    #[track_caller]
    fn fits_both(&mut self, name: &str, after: impl Fn(&mut Shown, bool)) {
        for is_phone in [false, true] {
            match is_phone {
                true => self.browser.phone(),
                false => self.browser.desktop(),
            }
            self.open("");
            let root = "document.documentElement";
            let wide = format!("{root}.scrollWidth - {root}.clientWidth");
            assert_eq!(self.browser.value(&wide), 0, "{name}, phone: {is_phone}");
            after(self, is_phone);
            assert_eq!(self.browser.value(&wide), 0, "{name}, phone: {is_phone}");
            assert_eq!(self.browser.value(OVERLAPS), json!([]), "{name}, phone: {is_phone}");
            self.browser.is_quiet();
        }
    }

    fn count(&mut self, selector: &str) -> u64 {
        let seen = format!(
            "Array.from(document.querySelectorAll({selector:?})).filter((e) => e.getClientRects().length).length"
        );
        self.browser.value(&seen).as_u64().unwrap()
    }

    /// The names of the visible rows, from top to bottom.
    fn rows(&mut self) -> Vec<String> {
        let rows = "Array.from(document.querySelectorAll('.results[data-table=\"0\"] tbody th'))\
                    .filter((e) => e.getClientRects().length).map((e) => e.textContent)";
        let rows = self.browser.value(rows);
        rows.as_array().unwrap().iter().map(|row| row.as_str().unwrap().to_string()).collect()
    }
}

#[test]
fn a_value_is_shown_where_one_points_and_where_the_focus_is() {
    let Some(mut shown) = Shown::new("values") else { return };
    let tip = "document.querySelector('.tip').innerText";
    assert_eq!(shown.count(".tip"), 0);
    shown.browser.point_at("figure [data-s='0'] .mark");
    assert_eq!(shown.text(tip), "Quick\n1,002 [977–1,028] throughput/s at 1,000 requests/s");
    shown.browser.value("document.querySelector('figure svg').focus()");
    assert_eq!(shown.count(".tip"), 0, "the chart has the focus, and none of its marks");
    shown.browser.key("ArrowRight");
    let first = shown.text(tip);
    shown.browser.key("ArrowRight");
    let second = shown.text(tip);
    assert!(
        first.contains("at 1,000 requests/s") && second.contains("at 2,000 requests/s"),
        "{second}"
    );
    shown.browser.key("ArrowDown");
    assert!(shown.text(tip).starts_with("Evil"), "another subject at the same place");
    shown.browser.key("Escape");
    assert_eq!(shown.count(".tip"), 0);
    shown.browser.is_quiet();
}

#[test]
fn a_cursor_says_what_a_round_did_at_that_time() {
    let Some(mut shown) = Shown::deep("cursor") else { return };
    let output = "document.querySelector('figure.cursor output').textContent";
    assert_eq!(shown.text(output), "");
    shown.browser.value("document.querySelector('figure.cursor').focus()");
    shown.browser.key("ArrowRight");
    let first = shown.text(output);
    assert!(first.starts_with("at 0ns · due/s 3,000 · throughput/s 2,900 · p50 "), "{first}");
    shown.browser.key("ArrowRight");
    let next = shown.text(output);
    assert!(next.starts_with("at 100ms · due/s 3,000 · throughput/s 2,910 · p50 "), "{next}");
    assert_eq!(shown.count("line.cursor"), 1);
    shown.browser.key("Escape");
    assert_eq!((shown.text(output), shown.count("line.cursor")), (String::new(), 0));
    shown.browser.point_at("figure.cursor .strip .trace");
    let middle = shown.text(output);
    assert!(middle.starts_with("at 900ms") || middle.starts_with("at 1.00s"), "{middle}");
    shown.browser.is_quiet();
}

#[test]
fn a_subject_is_hidden_and_found_everywhere_at_once() {
    let Some(mut shown) = Shown::new("toggle") else { return };
    let (quick, evil) = ("main [data-s='0']:not(.chip)", "main [data-s='1']:not(.chip)");
    let (all_quick, all_evil) = (shown.count(quick), shown.count(evil));
    assert!(8 < all_quick && 8 < all_evil, "{all_quick} {all_evil}");
    shown.browser.click(".chip[data-s='1']");
    assert_eq!((shown.count(quick), shown.count(evil)), (all_quick, 0));
    assert_eq!(shown.rows(), ["Quick"]);
    shown.browser.click(".chip[data-s='1']");
    assert_eq!(shown.count(evil), all_evil);
    shown.browser.click(".controls input");
    shown.browser.ask("Input.insertText", &json!({ "text": "QUI" }));
    assert_eq!((shown.count(quick), shown.count(evil)), (all_quick, 0), "by its name");
    shown.browser.click("button[data-all='on']");
    shown.browser.click("button[data-all='off']");
    assert_eq!((shown.count(quick), shown.count(evil)), (0, 0));
    shown.browser.click("button[data-all='on']");
    assert_eq!((shown.count(quick), shown.count(evil)), (all_quick, all_evil));
    shown.browser.is_quiet();
}

#[test]
fn a_server_that_is_pointed_at_stands_out_and_one_that_is_clicked_stays_so() {
    let Some(mut shown) = Shown::new("light") else { return };
    let dimmed = "Array.from(document.querySelectorAll('figure g[data-s]')).filter((e) => e.getClientRects().length \
                  && e.closest('.lighting') && !e.classList.contains('lit')).every((e) => e.dataset.s === '1')";
    shown.browser.point_at(".chip[data-s='0']");
    assert_eq!(shown.count(".lighting"), 1);
    assert_eq!(shown.browser.value(dimmed), true);
    shown.browser.point_at("h1");
    assert_eq!(shown.count(".lighting"), 0);
    shown.browser.click(".results tr[data-s='0'] th");
    shown.browser.point_at("h1");
    assert_eq!(shown.count(".lighting"), 1);
    assert_eq!(shown.text("location.hash"), "#lit=quick");
    shown.browser.key("Escape");
    assert_eq!((shown.count(".lighting"), shown.text("location.hash")), (0, String::new()));
    shown.browser.is_quiet();
}

#[test]
fn a_table_is_sorted_by_a_heading_and_goes_back() {
    let Some(mut shown) = Shown::new("sort") else { return };
    let rows = shown.rows();
    assert_eq!(rows[0], "Quick");
    let by = "th[data-key='throughput_per_s']";
    shown.browser.click(&format!("{by} button"));
    assert_eq!(shown.rows(), rows, "most first");
    assert_eq!(shown.text(&format!("document.querySelector(\"{by}\").ariaSort")), "descending");
    shown.browser.click(&format!("{by} button"));
    assert_eq!(shown.rows(), rows.iter().rev().cloned().collect::<Vec<_>>());
    assert_eq!(shown.text(&format!("document.querySelector(\"{by}\").ariaSort")), "ascending");
    shown.browser.click(&format!("{by} button"));
    assert_eq!(shown.rows(), rows);
    assert_eq!(shown.text(&format!("document.querySelector(\"{by}\").ariaSort")), "none");
    shown.browser.click("th[data-key='subject'] button");
    assert_eq!(shown.rows(), rows.iter().rev().cloned().collect::<Vec<_>>(), "by the alphabet");
    shown.browser.is_quiet();
}

#[test]
fn axes_turn_in_all_charts_at_once() {
    let Some(mut shown) = Shown::new("turn") else { return };
    let (first, other) = ("figure [data-way='rate'].stated", "figure [data-way='rate'].other");
    let rates = shown.count(first);
    assert_eq!((0 < rates, shown.count(other)), (true, 0));
    shown.browser.click("button[data-way='rate']");
    assert_eq!((shown.count(first), shown.count(other)), (0, rates));
    assert!(0 < shown.count("figure [data-way='time'].stated"), "times stay");
    shown.browser.click("button[data-way='time']");
    assert_eq!(shown.count("figure [data-way='time'].stated"), 0);
    assert_eq!(shown.text("location.hash"), "#rate=other&time=other");
    shown.browser.is_quiet();
}

#[test]
fn an_address_keeps_a_view_and_obeys_no_other() {
    let Some(mut shown) = Shown::new("address") else { return };
    shown.browser.click(".chip[data-s='1']");
    shown.browser.click("button[data-way='time']");
    shown.browser.click("th[data-key='subject'] button");
    shown.browser.value(
        "(() => { const e = document.querySelector('.chosen'); e.value = 'all'; e.dispatchEvent(new Event('change')); })()",
    );
    let fragment = shown.text("location.hash");
    assert_eq!(fragment, "#hide=evil&time=other&at0=all&sort0=subject.up");
    let view = "JSON.stringify([location.hash, Array.from(document.querySelectorAll('.results[data-table=\"0\"] tbody th')).filter((e) => \
                e.getClientRects().length).map((e) => e.textContent), document.documentElement.className])";
    let before = shown.text(view);
    shown.open(&fragment);
    assert_eq!(shown.text(view), before);
    shown.open("");
    let plain = shown.text(view).replacen("\"\"", "", 1);
    for odd in [
        "#hide=none&lit=__proto__&find=&at0=99&sort0=x.up&rate=on",
        "#hide=%3Cscript%3Ealert(1)%3C/script%3E&at0=%22%5D&sort0=subject.%3Cimg%3E",
        "#%E0%A4%A&=&&==&hide&lit&sort0&at0",
        "#sort0=subject&sort0=constructor.up&time=1&at0=all%00",
    ] {
        shown.open(odd);
        let hash = shown.browser.value("JSON.stringify(location.hash)");
        let now = shown.text(view).replacen(hash.as_str().unwrap(), "", 1);
        assert_eq!(now, plain, "{odd}");
        shown.browser.is_quiet();
    }
    shown.open(&format!("#find={}", "x".repeat(100_000)));
    assert_eq!(shown.rows(), Vec::<String>::new(), "no server has this name");
    shown.browser.is_quiet();
}

#[test]
fn a_table_is_copied_as_markdown() {
    let Some(mut shown) = Shown::new("copy") else { return };
    shown.browser.ask(
        "Browser.grantPermissions",
        &json!({ "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"] }),
    );
    shown.browser.ask("Page.bringToFront", &json!({}));
    shown.browser.click(".tools button");
    let copied = shown.text(
        "(async () => document.querySelector('.results textarea')?.value ?? await navigator.clipboard.readText())()",
    );
    let lines: Vec<&str> = copied.lines().collect();
    assert_eq!(lines.len(), 4, "{copied}");
    assert!(lines[0].starts_with("| rank | server | requests/s |"), "{copied}");
    assert!(lines[1].contains("| --- |") && lines[1].contains("| ---: |"), "{copied}");
    assert!(lines[3].contains("Evil ␛\\[31m"), "no text is markup: {copied}");
    assert!(!copied.contains("/C calc"), "what is not shown is not copied: {copied}");
    let pipes = |line: &str| line.replace("\\|", "").matches('|').count();
    assert!(lines.iter().all(|line| pipes(line) == pipes(lines[0])), "{copied}");
}

#[test]
fn a_chart_is_saved_as_it_is_shown() {
    let Some(mut shown) = Shown::new("save") else { return };
    let folder = shown.browser.folder.root.join("saved");
    let allow = json!({ "behavior": "allow", "downloadPath": folder, "eventsEnabled": true });
    shown.browser.ask("Browser.setDownloadBehavior", &allow);
    shown.browser.click("button[data-way='rate']");
    shown.browser.click(".chip[data-s='1']");
    shown.browser.point_at("figure svg");
    shown.browser.click(".save");
    let begun = shown.browser.until("Browser.downloadWillBegin", |_| true);
    shown.browser.until("Browser.downloadProgress", |event| event["state"] == "completed");
    let name = begun["suggestedFilename"].as_str().unwrap();
    assert_eq!(name, "two-echo-xml.svg");
    shown.browser.is_quiet();
    let path = folder.join(name);
    let saved = fs::read_to_string(&path).unwrap();
    assert!(saved.contains("<style") && saved.contains("<title>two: echo-xml</title>"), "{saved}");
    shown.browser.open(&path, "");
    assert_eq!(shown.count("[data-s='1']"), 0, "a server that was hidden is not there");
    assert!(0 < shown.count("[data-s='0'] .mark") && 0 < shown.count("text.head"));
    let colour = "getComputedStyle(document.querySelector('.mark')).stroke";
    assert_eq!(shown.text(colour), "rgb(0, 103, 165)");
    shown.browser.is_quiet();
}

#[test]
fn a_page_is_whole_without_script() {
    let Some(mut shown) = Shown::new("noscript") else { return };
    shown.browser.ask("Emulation.setScriptExecutionDisabled", &json!({ "value": true }));
    shown.open("#hide=evil");
    for seen in ["h1", ".lede", ".badges", "figure svg", ".results .chosen", "a[download]"] {
        assert!(0 < shown.count(seen), "{seen}");
    }
    for needs_script in [".controls", ".tools button", ".tip", ".save", "thead button"] {
        assert_eq!(shown.count(needs_script), 0, "{needs_script}");
    }
    assert_eq!(shown.rows().len(), 2, "each at its best");
    shown.browser.value("document.querySelector('.chosen').value = 'all'");
    assert_eq!(shown.rows().len(), 4, "at every place");
    shown.browser.value("document.querySelector('.chosen').value = '1'");
    assert_eq!(shown.rows().len(), 2, "at the second");
    shown.browser.is_quiet();
}

/// Texts that overlap.
const OVERLAPS: &str = "(() => { const found = []; for (const svg of document.querySelectorAll('main svg')) {\
    const texts = Array.from(svg.querySelectorAll('text')).filter((e) => e.getClientRects().length && e.textContent.trim());\
    const boxes = texts.map((e) => e.getBoundingClientRect());\
    boxes.forEach((a, i) => boxes.forEach((b, j) => { if (i < j && a.left + 1 < b.right && b.left + 1 < a.right \
    && a.top + 3.5 < b.bottom && b.top + 3.5 < a.bottom) found.push(texts[i].textContent + ' / ' + texts[j].textContent); })); }\
    return found; })()";

#[test]
fn a_crowd_fits_a_phone_and_a_desk_and_no_text_stands_on_another() {
    let Some(mut shown) = Shown::crowd("crowd") else { return };
    shown.fits_both("the crowd", |shown, is_phone| {
        let (narrow, broad) = (shown.count("figure svg.narrow"), shown.count("figure svg.wide"));
        assert_eq!((0 < narrow, 0 < broad), (is_phone, !is_phone));
        assert_eq!(shown.browser.value(OVERLAPS), json!([]), "phone: {is_phone}");
        shown.browser.click("button[data-way='rate']");
        shown.browser.click("button[data-way='time']");
    });
}

#[test]
fn depth_fits_a_phone_and_a_desk_and_no_text_stands_on_another() {
    let Some(mut shown) = Shown::deep("depth") else { return };
    shown.fits_both("depth", |shown, is_phone| {
        let unfold = "document.querySelectorAll('details').forEach((all) => { all.open = true; })";
        shown.browser.value(unfold);
        assert!(8 < shown.count("svg.small"), "phone: {is_phone}");
    });
}

#[test]
fn ugly_data_fits_a_phone_and_a_desk() {
    for (name, run, trials) in fixture::ugly() {
        let folder = name.replace(' ', "-");
        let Some(mut shown) = Shown::of(&folder, &Kept::of(&run, trials)) else { return };
        shown.fits_both(name, |_, _| {});
    }
}

#[test]
fn what_strangers_wrote_runs_nowhere() {
    let (run, trials) = fixture::hostile();
    let Some(mut shown) = Shown::of("polyglot", &Kept::of(&run, trials)) else { return };
    assert_eq!(
        shown.browser.value("[document.scripts.length, document.images.length]"),
        json!([1, 0])
    );
    assert!(
        shown.text("document.body.innerText").contains("<script>alert(1)</script>"),
        "it is shown"
    );
    shown.browser.point_at("figure .mark");
    assert!(shown.text("document.querySelector('.tip').innerText").contains("<img src=x"));
    shown.browser.click(".chip");
    shown.browser.click(".tools button");
    assert_eq!(
        shown.browser.value("[document.scripts.length, document.images.length]"),
        json!([1, 0])
    );
    shown.browser.is_quiet();
}

#[test]
fn the_policy_lets_nothing_else_run_and_nothing_leave() {
    let Some(mut shown) = Shown::new("policy") else { return };
    shown.browser.is_quiet();
    shown.browser.value(
        "(() => { const s = document.createElement('script'); s.textContent = 'window.owned = 1'; document.body.append(s);\
         const b = document.createElement('b'); b.setAttribute('onclick', 'window.owned = 2'); document.body.append(b); b.click();\
         const i = new Image(); i.src = 'http://127.0.0.1:9/x.png'; document.body.append(i); })()",
    );
    let left = "fetch('http://127.0.0.1:9/').then(() => 'left', (error) => String(error))";
    assert!(shown.text(left).contains("Failed to fetch"));
    assert_eq!(shown.browser.value("window.owned ?? null"), json!(null));
    let said = shown.browser.complaints().join("\n");
    for directive in ["script-src", "connect-src", "img-src"] {
        assert!(said.contains(directive), "{directive}: {said}");
    }
    let failed = shown.browser.requests();
    assert!(failed.iter().all(|url| url.starts_with("http://127.0.0.1:9/")), "{failed:?}");
}

#[test]
fn dark_and_paper_are_as_the_reader_has_them() {
    let Some(mut shown) = Shown::new("media") else { return };
    let paper = "getComputedStyle(document.documentElement).backgroundColor";
    for (scheme, colour) in [("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 23, 27)")] {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        shown.browser.ask("Emulation.setEmulatedMedia", &json!({ "features": features }));
        assert_eq!(shown.text(paper), colour);
    }
    shown.browser.ask("Emulation.setEmulatedMedia", &json!({ "media": "print" }));
    assert_eq!((shown.count(".controls"), shown.count(".tools button")), (0, 0));
    assert!(0 < shown.count("figure svg.wide") && shown.count("figure svg.narrow") == 0);
    shown.browser.is_quiet();
}

#[test]
fn a_word_is_explained_at_the_keyboard_and_under_the_pointer_but_not_on_paper() {
    let Some(mut shown) = Shown::new("words") else { return };
    assert_eq!(shown.count(".gloss"), 0);
    assert!(2 < shown.count(".results .term"));
    shown.browser.value("document.querySelector('.results .term').focus()");
    assert_eq!(shown.count(".gloss"), 1);
    let seen = "document.activeElement.querySelector('.gloss').getBoundingClientRect()";
    let is_inside = format!("{seen}.left >= 0 && {seen}.right <= innerWidth");
    assert_eq!(shown.browser.value(&is_inside), true);
    // The next word takes over.
    shown.browser.key("Tab");
    assert!(shown.count(".gloss") <= 1);
    shown.browser.value("document.activeElement.blur()");
    shown.browser.point_at(".results .term");
    assert_eq!(shown.count(".gloss"), 1);
    shown.browser.phone();
    shown.browser.value("document.querySelector('.results .term').focus()");
    assert_eq!(shown.browser.value(&is_inside), true);
    shown.browser.ask("Emulation.setEmulatedMedia", &json!({ "media": "print" }));
    assert_eq!(shown.count(".gloss"), 0);
}
