//! A check for people: what is broken first, with its bytes; then what is doubtful, what cannot be said, and the sums.

use check::{Area, Finding, Report, Stamp, Tally, Verdict};

use super::excerpt::{Cut, lines as excerpt};
use super::{Came, Checked, rounds};
use crate::report::paint::{Ink, Line, wrapped};
use crate::report::table::{Cell, lines};
use crate::report::units::duration;

/// How it is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    pub(crate) width: usize,
    pub(crate) is_coloured: bool,
    /// Every case with all of its exchange.
    pub(crate) is_verbose: bool,
    /// Whether only a part of the catalogue was asked.
    pub(crate) is_part: bool,
}

/// One server.
pub(crate) fn of(checked: &Checked, style: Style) -> String {
    let mut page = Page { style, told: Vec::new() };
    page.heading(checked);
    match &checked.came {
        Err(why) => page.wrap(Ink::Bad, "  ", why),
        Ok(came) => page.came(came),
    }
    page.told
        .iter()
        .map(|line| line.shown(style.is_coloured).trim_end().to_string() + "\n")
        .collect()
}

/// All of them in a line each, when there were several.
pub(crate) fn summary(checked: &[Checked], stamp: &Stamp, is_coloured: bool) -> String {
    let mut rows = Vec::new();
    for one in checked {
        match &one.came {
            Err(why) => rows.push(vec![
                Cell::ink(Ink::Bold, &one.name),
                Cell::left(Ink::Plain, ""),
                Cell::left(Ink::Bad, format!("not checked: {why}")),
            ]),
            Ok(came) => rows.extend(came.tallies().into_iter().map(|(protocol, tally)| {
                let says = match tally.applicable() {
                    0 => Cell::left(Ink::Dim, "not applicable"),
                    _ => Cell::left(ink_of(&tally), tally.to_string()),
                };
                vec![
                    Cell::ink(Ink::Bold, &one.name),
                    Cell::left(Ink::Plain, protocol.title()),
                    says,
                ]
            })),
        }
    }
    let mut text: String = lines(&rows, 0)
        .iter()
        .map(|line| line.shown(is_coloured).trim_end().to_string() + "\n")
        .collect();
    text += &format!("catalogue {stamp}\n");
    text
}

fn ink_of(tally: &Tally) -> Ink {
    if tally.crash + tally.must_broken + tally.security.len() > 0 {
        Ink::Bad
    } else if tally.fail + tally.warn > 0 {
        Ink::Doubtful
    } else {
        Ink::Good
    }
}

fn ink(verdict: Verdict) -> Ink {
    match verdict {
        Verdict::Pass => Ink::Good,
        Verdict::Warn => Ink::Doubtful,
        Verdict::Fail | Verdict::Crash => Ink::Bad,
        Verdict::NotTestable | Verdict::NotApplicable => Ink::Dim,
    }
}

struct Page {
    style: Style,
    told: Vec<Line>,
}

impl Page {
    fn say(&mut self, line: Line) {
        self.told.push(line);
    }

    /// A text in as many lines as it takes, each behind the same indent.
    fn wrap(&mut self, ink: Ink, indent: &str, text: &str) {
        let width = self.style.width.saturating_sub(indent.chars().count()).max(40);
        for part in wrapped(text, width) {
            self.say(Line::plain(indent).and(ink, part));
        }
    }

    /// A text behind a word; what follows stands below its beginning.
    fn field(&mut self, word: &str, text: &str) {
        const WORD: usize = 10;
        let width = self.style.width.saturating_sub(WORD + 2).max(40);
        for (number, part) in wrapped(text, width).into_iter().enumerate() {
            let word = if number == 0 { word } else { "" };
            self.say(Line::ink(Ink::Dim, format!("  {word:<WORD$}")).and(Ink::Plain, part));
        }
    }

    fn heading(&mut self, checked: &Checked) {
        let mut line = Line::ink(Ink::Bold, checked.name.clone());
        for text in [&checked.title, &checked.version] {
            if !text.is_empty() {
                line = line.and(Ink::Plain, format!(" · {text}"));
            }
        }
        self.say(line);
    }

    fn came(&mut self, came: &Came) {
        self.wrap(Ink::Dim, "  ", &asked(came));
        if !came.report.cut_short.is_empty() {
            let why =
                format!("cut short: {}; what was not asked is not testable", came.report.cut_short);
            self.wrap(Ink::Doubtful, "  ", &why);
        }
        self.say(Line::default());
        for finding in came.with(&[Verdict::Crash, Verdict::Fail]) {
            self.whole(finding);
        }
        self.warnings(came);
        self.unstable(came);
        self.reasons("Not testable", came, Verdict::NotTestable);
        self.reasons("Not applicable, and not counted", came, Verdict::NotApplicable);
        if self.style.is_verbose {
            let rest = [Verdict::Pass, Verdict::Warn, Verdict::NotTestable];
            for finding in came.report.findings.iter().filter(|it| rest.contains(&it.verdict)) {
                self.whole(finding);
            }
        }
        self.areas(&came.report);
        self.sums(came);
    }

    /// A finding with all that there is to know of it.
    fn whole(&mut self, finding: &Finding) {
        let word = match finding.verdict {
            Verdict::Crash => "CRASH".to_string(),
            other => other.name().to_string(),
        };
        let tags: String = finding.tags.iter().map(|tag| format!(" · {}", tag.name())).collect();
        let about = format!("  {}, {}{tags}", finding.clause, finding.level.name());
        self.say(
            Line::ink(ink(finding.verdict), format!("{word:<5} "))
                .and(Ink::Bold, format!("{}  {}", finding.id, finding.title))
                .and(Ink::Dim, about),
        );
        self.field("demands", &finding.demand);
        self.field("expected", &finding.expected);
        self.field("came", &finding.why);
        if finding.verdict == Verdict::Warn {
            self.field("doubt", &finding.doubt);
        }
        if finding.is_unstable() {
            self.field("unstable", &format!("round by round: {}", rounds(finding)));
        }
        let kept = &finding.evidence;
        self.bytes("sent", &kept.sent, kept.sent_len);
        self.bytes("received", &kept.heard, kept.heard_len);
        self.say(Line::default());
    }

    fn bytes(&mut self, word: &str, bytes: &[u8], len: u64) {
        let cut = if self.style.is_verbose { Cut::WHOLE } else { Cut::SHORT };
        for (number, text) in excerpt(bytes, len, cut).into_iter().enumerate() {
            let word = if number == 0 { word } else { "" };
            self.say(Line::ink(Ink::Dim, format!("  {word:<10}")).and(Ink::Plain, text));
        }
    }

    fn warnings(&mut self, came: &Came) {
        let found = came.with(&[Verdict::Warn]);
        self.list("Warnings", &found, |finding| match finding.doubt.is_empty() {
            true => finding.why.clone(),
            false => format!("{}; {}", finding.why, finding.doubt),
        });
    }

    fn unstable(&mut self, came: &Came) {
        let found = came.report.findings.iter().filter(|finding| finding.is_unstable());
        let found: Vec<&Finding> = found.collect();
        self.list("Unstable: the worst of the rounds counts", &found, rounds);
    }

    /// A line or two a finding.
    fn list(&mut self, title: &str, found: &[&Finding], says: impl Fn(&Finding) -> String) {
        if found.is_empty() {
            return;
        }
        self.say(Line::ink(Ink::Bold, format!("{title} ({})", found.len())));
        for finding in found {
            let verdict = ink(finding.verdict);
            let text = format!("{}: {}", finding.title, says(finding));
            let width = self.style.width.saturating_sub(10).max(40);
            for (number, part) in wrapped(&text, width).into_iter().enumerate() {
                let id = if number == 0 { finding.id.as_str() } else { "" };
                self.say(Line::ink(verdict, format!("  {id:<8}")).and(Ink::Plain, part));
            }
        }
        self.say(Line::default());
    }

    /// What has the same reason stands together.
    fn reasons(&mut self, title: &str, came: &Came, verdict: Verdict) {
        let found = came.report.findings.iter().filter(|finding| finding.verdict == verdict);
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for finding in found {
            match reasons.iter_mut().find(|(why, _)| *why == finding.why) {
                Some((_, ids)) => ids.push(&finding.id),
                None => reasons.push((&finding.why, vec![&finding.id])),
            }
        }
        if reasons.is_empty() {
            return;
        }
        let all: usize = reasons.iter().map(|(_, ids)| ids.len()).sum();
        self.say(Line::ink(Ink::Bold, format!("{title} ({all})")));
        for (why, ids) in reasons {
            let ids = self.named(&ids);
            self.wrap(Ink::Plain, "  ", &format!("{ids}: {why}"));
        }
        self.say(Line::default());
    }

    /// All of them, or as many as a reader takes in.
    fn named(&self, ids: &[&str]) -> String {
        const SHOWN: usize = 10;
        match ids.len() > SHOWN + 2 && !self.style.is_verbose {
            true => format!("{} and {} more", ids[..SHOWN].join(" "), ids.len() - SHOWN),
            false => ids.join(" "),
        }
    }

    fn areas(&mut self, report: &Report) {
        let heads = ["area", "pass", "warn", "fail", "crash", "not testable", "n/a"];
        let mut rows: Vec<Vec<Cell>> = vec![heads.map(|head| Cell::ink(Ink::Dim, head)).into()];
        for area in Area::ALL {
            let own = report.findings.iter().filter(|finding| finding.area == *area);
            let tally = Tally::of(own);
            if tally.applicable() + tally.not_applicable > 0 {
                rows.push(area_row(area.name(), &tally));
            }
        }
        lines(&rows, 0).into_iter().for_each(|line| self.say(line));
        self.say(Line::default());
    }

    fn sums(&mut self, came: &Came) {
        for (protocol, tally) in came.tallies() {
            let title = protocol.title();
            if tally.applicable() == 0 {
                let why = came.of(protocol).next().map_or("", |finding| finding.why.as_str());
                self.wrap(Ink::Dim, "", &format!("{title} not applicable: {why}"));
                continue;
            }
            let line = format!("{title} {tally} | catalogue {}", came.report.catalogue);
            self.say(Line::ink(ink_of(&tally), line));
            self.wrap(Ink::Dim, "  ", &notes(&tally, self.style.is_part));
        }
    }
}

fn area_row(name: &str, tally: &Tally) -> Vec<Cell> {
    let cell = |ink: Ink, count: usize| match count {
        0 => Cell::ink(Ink::Dim, "·"),
        count => Cell::ink(ink, count.to_string()),
    };
    vec![
        Cell::plain(name),
        cell(Ink::Good, tally.pass),
        cell(Ink::Doubtful, tally.warn),
        cell(Ink::Bad, tally.fail),
        cell(Ink::Bad, tally.crash),
        cell(Ink::Plain, tally.not_testable),
        cell(Ink::Dim, tally.not_applicable),
    ]
}

/// Whom, where, how often.
fn asked(came: &Came) -> String {
    let target = &came.target;
    let mut parts = vec![format!("at {}", target.address)];
    if !came.is_socket {
        parts.push(format!("page {}", target.get));
        if !target.posts.is_empty() {
            parts.push(format!("POST {}", target.posts.join(" or ")));
        }
    }
    parts.extend(target.socket.as_ref().map(|path| format!("WebSocket {path}")));
    let report = &came.report;
    let times =
        if report.rounds == 1 { "1 round".into() } else { format!("{} rounds", report.rounds) };
    let took = duration(std::time::Duration::from_millis(report.took_ms.max(1)));
    parts.push(format!("{times} in {took}"));
    parts.join(", ")
}

/// What the sum does not say by itself.
fn notes(tally: &Tally, is_part: bool) -> String {
    let mut notes = vec![tally.score()];
    if tally.not_applicable > 0 {
        notes.push(format!("{} not applicable, apart from these", tally.not_applicable));
    }
    if tally.unstable > 0 {
        notes.push(format!("{} unstable", tally.unstable));
    }
    if is_part {
        notes.push("only a part of the catalogue was asked: no score of the server".into());
    }
    notes.join("; ")
}
