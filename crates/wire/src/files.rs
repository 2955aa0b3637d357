//! The files that a server is given to serve: twenty, whose names and lengths are always the same and whose contents a
//! seed determines.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use crate::chance::{Chance, mix};
use crate::template::Values;

/// Twenty files. Equal seeds make equal files.
#[derive(Clone, Serialize, Deserialize)]
#[serde(from = "u64", into = "u64")]
pub struct Files(Arc<Made>);

struct Made {
    seed: u64,
    /// Made when one of them is first wanted: most workloads want none.
    contents: OnceLock<Vec<Vec<u8>>>,
}

/// What a file holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Text of these lines, in which `~` stands for a word and `#` for a number.
    Text(&'static [&'static str]),
    /// Bytes of any value, as compressed pictures and fonts have.
    Packed,
}

const CSS: Kind = Kind::Text(&[
    ".~-~ {\n  margin: #px #px;\n  color: var(--~);\n}\n",
    ".~ > .~:hover {\n  background-color: rgba(#, #, #, 0.#);\n  transition: ~ 0.#s ease-in-out;\n}\n",
    "@media (min-width: #px) {\n  .~-~ { display: flex; flex-wrap: wrap; padding: #px; }\n}\n",
    "#~, .~-~::before {\n  font: 400 #px/1.5 \"~\", sans-serif;\n  border-radius: #px;\n}\n",
    "/* ~ ~ ~ of the ~ */\n",
]);
const JS: Kind = Kind::Text(&[
    "export function ~(~, ~) {\n  if (~ === undefined) return null;\n  return ~.~(~ * #);\n}\n",
    "const ~ = require(\"./~\");\n",
    "  this.~ = options.~ ?? #;\n  this.~.addEventListener(\"~\", (event) => this.~(event.~));\n",
    "for (let i = 0; i < ~.length; i++) {\n  ~.push({ id: #, ~: ~[i], name: \"~ ~\" });\n}\n",
    "// The ~ of a ~ is ~ before it is ~.\n",
    "var ~=function(~){return ~.~?~(~.~,#):void 0};\n",
]);
const HTML: Kind = Kind::Text(&[
    "<div class=\"~ ~-~\" id=\"~#\">\n  <a href=\"/~/~?page=#\">~ ~</a>\n</div>\n",
    "<p>The ~ has ~ the ~ and ~, which is ~ &amp; ~ for # ~.</p>\n",
    "<li><img src=\"/static/~#.webp\" alt=\"~ ~\" width=\"#\" height=\"#\"></li>\n",
]);
const SVG: Kind = Kind::Text(&[
    "<path d=\"M#.# #.#c#.#-# # #.#-#.# #l-#.# #h#v-#.#z\" fill=\"#~\"/>\n",
    "<g id=\"~-~\" transform=\"translate(# #)\"><circle cx=\"#\" cy=\"#\" r=\"#\"/></g>\n",
    "<symbol id=\"~\" viewBox=\"0 0 # #\"><use href=\"#~\"/></symbol>\n",
]);
const JSON: Kind = Kind::Text(&[
    "  {\"id\": #, \"name\": \"~ ~\", \"~\": [#, #, #], \"active\": true},\n",
    "  {\"src\": \"/static/~.webp\", \"sizes\": \"#x#\", \"type\": \"image/~\"},\n",
]);

/// The names are those that HttpArena's static test has; the lengths grow by the same factor from each to the next.
const FILES: [(&str, usize, Kind); Files::COUNT] = [
    ("logo.svg", 1_000, SVG),
    ("manifest.json", 1_439, JSON),
    ("footer.html", 2_069, HTML),
    ("reset.css", 2_977, CSS),
    ("header.html", 4_282, HTML),
    ("helpers.js", 6_158, JS),
    ("analytics.js", 8_859, JS),
    ("theme.css", 12_742, CSS),
    ("thumb1.webp", 18_330, Kind::Packed),
    ("thumb2.webp", 26_367, Kind::Packed),
    ("layout.css", 37_927, CSS),
    ("utilities.css", 54_556, CSS),
    ("regular.woff2", 78_476, Kind::Packed),
    ("bold.woff2", 112_884, Kind::Packed),
    ("components.css", 162_378, CSS),
    ("router.js", 233_572, JS),
    ("icon-sprite.svg", 335_982, SVG),
    ("app.js", 483_293, JS),
    ("hero.webp", 695_193, Kind::Packed),
    ("vendor.js", 1_000_000, JS),
];

impl Files {
    /// How many there are.
    pub const COUNT: usize = 20;

    #[must_use]
    pub fn of(seed: u64) -> Files {
        Files(Arc::new(Made { seed, contents: OnceLock::new() }))
    }

    pub(crate) fn seed(&self) -> u64 {
        self.0.seed
    }

    /// The name of the file with this number, from 0.
    #[must_use]
    pub fn name(number: usize) -> &'static str {
        FILES[number].0
    }

    #[must_use]
    pub fn content(&self, number: usize) -> &[u8] {
        &self.contents()[number]
    }

    /// Makes them, where that was not done yet: not while a load runs.
    pub fn make(&self) {
        let _ = self.contents();
    }

    fn contents(&self) -> &[Vec<u8>] {
        self.0.contents.get_or_init(|| {
            let mut chance = Chance::new(self.0.seed ^ 0xf11e5);
            let words: Vec<String> = (0..WORDS).map(|_| word(&mut chance)).collect();
            FILES.iter().map(|(_, len, kind)| kind.content(*len, &words, &mut chance)).collect()
        })
    }

    /// The number of the file that a request names.
    #[must_use]
    pub fn chosen(values: Values) -> usize {
        place(mix(values.random ^ 0xf11e), Files::COUNT)
    }

    /// The first and the last byte that a request for a part of its file names.
    #[must_use]
    pub fn range(values: Values) -> (usize, usize) {
        let len = FILES[Files::chosen(values)].1;
        let first = place(mix(values.random ^ 0xf1_257), len);
        (first, first + place(mix(values.random ^ 0x1a_57), len - first))
    }
}

impl Kind {
    fn content(self, len: usize, words: &[String], chance: &mut Chance) -> Vec<u8> {
        let mut content = Vec::with_capacity(len + 512);
        while content.len() < len {
            match self {
                Kind::Packed => content.extend_from_slice(&chance.draw().to_le_bytes()),
                Kind::Text(lines) => {
                    push_line(lines[chance.below(lines.len())], words, chance, &mut content);
                }
            }
        }
        content.truncate(len);
        content
    }
}

/// How many words there are.
const WORDS: usize = 600;

/// Two to four syllables.
fn word(chance: &mut Chance) -> String {
    const SYLLABLES: [&str; 24] = [
        "al", "be", "con", "da", "el", "for", "gen", "ha", "in", "ject", "ko", "lin", "mo", "na",
        "or", "per", "qua", "re", "sta", "tor", "un", "ver", "wa", "zy",
    ];
    (0..2 + chance.below(3)).map(|_| SYLLABLES[chance.below(SYLLABLES.len())]).collect()
}

/// Words at the beginning of the list come more often, as in any text.
fn push_line(line: &str, words: &[String], chance: &mut Chance, content: &mut Vec<u8>) {
    for byte in line.bytes() {
        match byte {
            b'~' => {
                let upto = 1 + chance.below(words.len());
                content.extend_from_slice(words[chance.below(upto)].as_bytes());
            }
            b'#' => {
                let number = chance.below(1_000);
                content.extend_from_slice(number.to_string().as_bytes());
            }
            byte => content.push(byte),
        }
    }
}

/// A place from 0 to `count - 1`.
fn place(bits: u64, count: usize) -> usize {
    ((u128::from(bits) * count as u128) >> 64) as usize
}

impl Default for Files {
    fn default() -> Files {
        Files::of(0)
    }
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Files({})", self.0.seed)
    }
}

impl PartialEq for Files {
    fn eq(&self, other: &Files) -> bool {
        self.0.seed == other.0.seed
    }
}

impl From<Files> for u64 {
    fn from(files: Files) -> u64 {
        files.0.seed
    }
}

impl From<u64> for Files {
    fn from(seed: u64) -> Files {
        Files::of(seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::gzip;

    #[test]
    fn a_seed_makes_the_same_files_and_another_seed_others() {
        let (files, same, others) = (Files::of(7), Files::of(7), Files::of(8));
        for (number, (name, len, _)) in FILES.iter().enumerate() {
            let content = files.content(number);
            assert_eq!((Files::name(number), content.len()), (*name, *len));
            assert!(content == same.content(number) && content != others.content(number), "{name}");
        }
    }

    #[test]
    fn text_compresses_as_text_does_and_pictures_do_not() {
        let files = Files::of(7);
        for (number, (name, len, kind)) in FILES.iter().enumerate() {
            let share = gzip(files.content(number), 6).len() as f64 / *len as f64;
            let usual = if *kind == Kind::Packed { 0.99..1.05 } else { 0.15..0.6 };
            assert!(usual.contains(&share), "{name}: {share}");
        }
    }

    #[test]
    fn requests_name_all_files_equally_often_and_ranges_within_them() {
        let mut counts = [0; Files::COUNT];
        for seq in 0..20_000 {
            let values = Values { seq, random: mix(seq) };
            let number = Files::chosen(values);
            counts[number] += 1;
            let (first, last) = Files::range(values);
            assert!(first <= last && last < FILES[number].1);
        }
        assert!(counts.iter().all(|count| (850..1_150).contains(count)), "{counts:?}");
    }
}
