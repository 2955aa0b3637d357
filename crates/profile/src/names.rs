//! What the addresses of stacks are called.

use std::cell::{Cell, OnceCell};
use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::rc::Rc;

use crate::elf::{Elf, MOST_BYTES, NAME_BYTES, Section};
use crate::foreign_file::{open, open_mapped};
use crate::maps::Maps;
use crate::pattern::fill;
use crate::perf_map::PerfMap;
use crate::processes::executable;
use crate::records::Mapping;
use crate::rules::{Function, Runtime};
use crate::unwind::{Unwinding, sections};

/// Longer names are cut.
const MOST_CHARACTERS: usize = 200;
/// Where code is that is in no file.
const COMPILED: &str = "compiled code";

/// The names of all that runs, read once each.
pub(crate) struct Names<'a> {
    maps: &'a Maps,
    runtimes: &'a [Runtime],
    /// Below it, paths are said from here; of other paths only the last part is kept.
    folder: String,
    kernel: Vec<(u64, String)>,
    files: HashMap<(u32, String), Option<Rc<ReadFile>>>,
    /// The same by device and inode: a server's processes, of which there may be hundreds, run the same files.
    by_inode: HashMap<(u64, u64), Option<Rc<ReadFile>>>,
    /// How many bytes of them may still be read.
    left: Cell<u64>,
    processes: HashMap<u32, Process<'a>>,
    functions: HashMap<(u32, u64), Rc<Function>>,
}

/// A file that is open, its symbols, and what unwinding needs of it.
struct ReadFile {
    file: File,
    elf: Elf,
    sections: OnceCell<[Option<Section>; 2]>,
}

#[derive(Default)]
struct Process<'a> {
    compiled: PerfMap,
    runtimes: Vec<&'a Runtime>,
    unwinding: Option<Unwinding>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(maps: &'a Maps, runtimes: &'a [Runtime], folder: &str) -> Names<'a> {
        Names {
            maps,
            runtimes,
            folder: folder.trim_end_matches('/').to_owned(),
            kernel: kernel_functions(),
            files: HashMap::new(),
            by_inode: HashMap::new(),
            left: Cell::new(MOST_BYTES),
            processes: HashMap::new(),
            functions: HashMap::new(),
        }
    }

    /// Reads what a living process says of itself, and removes its map of compiled code if that is wanted.
    pub(crate) fn read(&mut self, pid: u32, removes_map: bool) {
        let executable = executable(pid).unwrap_or_default();
        let is_meant = |runtime: &&Runtime| runtime.is_named(&executable);
        let mut meant: Vec<&'a Runtime> = self.runtimes.iter().filter(is_meant).collect();
        let program =
            self.maps.of(pid).find(|mapping| mapping.path.ends_with(&executable)).cloned();
        let program = program.and_then(|mapping| self.file(pid, &mapping));
        meant.retain(|runtime| match &runtime.symbol {
            None => true,
            Some(symbol) => program.as_ref().is_some_and(|file| file.elf.has(symbol)),
        });
        let compiled = PerfMap::read(pid, removes_map);
        let process = Process { compiled, runtimes: meant, unwinding: None };
        self.processes.insert(pid, process);
    }

    pub(crate) fn runtimes(&self, pid: u32) -> &[&'a Runtime] {
        self.processes.get(&pid).map_or(&[], |process| &process.runtimes)
    }

    /// The kernel's function; none if the kernel hides them.
    pub(crate) fn kernel(&self, address: u64) -> Option<&str> {
        let after = self.kernel.partition_point(|(from, _)| *from <= address);
        Some(&self.kernel.get(after.checked_sub(1)?)?.1)
    }

    /// The stack behind registers and a copy of its top.
    pub(crate) fn unwound(&mut self, pid: u32, raw: &crate::records::RawStack) -> Vec<u64> {
        if self.processes.get(&pid).is_none_or(|process| process.unwinding.is_none()) {
            let (maps, mut unwinding) = (self.maps, Unwinding::default());
            for mapping in maps.of(pid) {
                let Some(read) = self.file(pid, mapping) else { continue };
                let Some(address) = read.elf.address(mapping.offset) else { continue };
                let found = || sections(&read.file, &self.left);
                unwinding.add(mapping, address, read.sections.get_or_init(found));
            }
            self.processes.entry(pid).or_default().unwinding = Some(unwinding);
        }
        let process = self.processes.get_mut(&pid);
        process.and_then(|it| it.unwinding.as_mut()).map_or(Vec::new(), |it| it.stack(raw))
    }

    /// The function at an address of a process.
    pub(crate) fn function(&mut self, pid: u32, address: u64) -> Rc<Function> {
        if let Some(known) = self.functions.get(&(pid, address)) {
            return Rc::clone(known);
        }
        let function = Rc::new(self.look_up(pid, address));
        self.functions.insert((pid, address), Rc::clone(&function));
        function
    }

    fn look_up(&mut self, pid: u32, address: u64) -> Function {
        let compiled = self.processes.get(&pid).and_then(|it| it.compiled.function(address));
        if let Some(name) = compiled.map(str::to_owned) {
            return self.named(pid, &name, COMPILED.into());
        }
        let mapping = self.maps.find(pid, address).cloned();
        let Some(mapping) = mapping.filter(|it| it.path.starts_with('/') || it.path == "[vdso]")
        else {
            return Function { name: None, place: COMPILED.into(), package: COMPILED.into() };
        };
        let path = mapping.path.trim_end_matches(" (deleted)");
        let place = clean(path.rsplit('/').next().unwrap_or_default(), &self.folder);
        let in_file = (address - mapping.from).saturating_add(mapping.offset);
        let file = self.file(pid, &mapping);
        match file.as_ref().and_then(|file| file.elf.function(in_file)) {
            Some(name) => self.named(pid, name, place),
            None => Function { name: None, package: place.clone(), place },
        }
    }

    /// A function by its symbol: as its language writes it, or as the runtime's probe says.
    fn named(&self, pid: u32, symbol: &str, place: String) -> Function {
        let (name, is_rust) = demangled(symbol);
        let rules = self.runtimes(pid).iter().flat_map(|runtime| &runtime.names);
        let fitting = rules.filter_map(|rule| Some((rule, rule.pattern.kept(&name)?))).next();
        let (name, package) = match fitting {
            Some((rule, kept)) => {
                let filled = |text: &Option<String>| text.as_ref().map(|text| fill(text, &kept));
                (filled(&rule.function).unwrap_or(name), filled(&rule.package))
            }
            None if is_rust => {
                let package = crate_of(&name);
                (name, package)
            }
            None => (name, None),
        };
        let name = Some(clean(&name, &self.folder));
        let package = package.map(|package| clean(&package, &self.folder));
        Function { name, package: package.unwrap_or_else(|| place.clone()), place }
    }

    /// The symbols of a file, which is opened once; none where it cannot be read.
    fn file(&mut self, pid: u32, mapping: &Mapping) -> Option<Rc<ReadFile>> {
        let key = (pid, mapping.path.clone());
        if !self.files.contains_key(&key) {
            let file = match mapping.path.ends_with(" (deleted)") {
                true => open_mapped(pid, mapping.from, mapping.length),
                // One that has ended has no root any more; its relatives have the same.
                false => open(pid, &mapping.path).or_else(|| {
                    self.processes.keys().find_map(|other| open(*other, &mapping.path))
                }),
            };
            let read = file.and_then(|file| {
                let facts = file.metadata().ok()?;
                let known = self.by_inode.entry((facts.dev(), facts.ino()));
                let read = || {
                    let elf = Elf::read(&file, &self.left)?;
                    Some(Rc::new(ReadFile { file, elf, sections: OnceCell::new() }))
                };
                known.or_insert_with(read).clone()
            });
            self.files.insert(key.clone(), read);
        }
        self.files.get(&key).cloned().flatten()
    }
}

/// Addresses and names of the kernel's functions; empty where it hides the addresses.
fn kernel_functions() -> Vec<(u64, String)> {
    let text = std::fs::read_to_string("/proc/kallsyms").unwrap_or_default();
    let mut all: Vec<(u64, String)> = text.lines().filter_map(kernel_function).collect();
    all.sort();
    all
}

fn kernel_function(line: &str) -> Option<(u64, String)> {
    let mut words = line.split_whitespace();
    let address = u64::from_str_radix(words.next()?, 16).ok()?;
    let is_code = matches!(words.next()?, "t" | "T" | "w" | "W");
    (is_code && address != 0).then(|| Some((address, words.next()?.to_owned()))).flatten()
}

/// The name as the language writes it, and whether that is Rust.
fn demangled(symbol: &str) -> (String, bool) {
    if let Ok(name) = rustc_demangle::try_demangle(symbol) {
        return (format!("{name:#}"), true);
    }
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    if let Some(cpp) =
        symbol.starts_with("_Z").then(|| cpp_demangle::Symbol::new(symbol).ok()).flatten()
    {
        let mut name = Beginning(String::new());
        let written = cpp.structured_demangle(&mut name, &options);
        if written.is_ok() || NAME_BYTES < name.0.len() {
            return (name.0, false);
        }
    }
    // Parts of a function that the compiler moved elsewhere are that function.
    let plain = symbol.split(".cold").next().unwrap_or(symbol);
    (plain.split("@@").next().unwrap_or(plain).to_owned(), false)
}

/// A name of C++ of which no more is written once it is longer than any that is shown: two hundred letters of a symbol can
/// stand for gigabytes.
struct Beginning(String);

impl std::fmt::Write for Beginning {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.push_str(text);
        if self.0.len() <= NAME_BYTES { Ok(()) } else { Err(std::fmt::Error) }
    }
}

/// The crate of a function of Rust: `hyper` of `<hyper::proto::Conn<I> as core::future::Future>::poll`.
fn crate_of(name: &str) -> Option<String> {
    let from = name.trim_start_matches(['<', '&', '*']).trim_start_matches("mut ");
    let end = from.find("::")?;
    let krate = &from[..end];
    let is_name = krate.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    is_name.then(|| format!("crate {krate}"))
}

/// A name for readers: without what controls a terminal, without the user's folders, and no longer than a line.
fn clean(name: &str, folder: &str) -> String {
    let mut shown = name.replace("file://", "");
    // It is the root of which nothing is left.
    if !folder.is_empty() {
        shown = shown.replace(&format!("{folder}/"), "");
    }
    let mut text = String::new();
    let mut rest = shown.as_str();
    // Of a path that begins at the root only its last part is kept.
    while let Some(at) = rest.find('/') {
        let begins = at == 0 || rest[..at].ends_with([' ', '(', ':', '"', '\'']);
        let end = rest[at..].find([' ', ')', '"', '\'']).map_or(rest.len(), |end| at + end);
        text.push_str(&rest[..at]);
        let path = &rest[at..end];
        text.push_str(if begins { path.rsplit('/').next().unwrap_or(path) } else { path });
        rest = &rest[end..];
    }
    text.push_str(rest);
    let is_shown = |letter: &char| !letter.is_control() && !is_mark(*letter);
    let mut text: String = text.chars().filter(is_shown).collect();
    if let Some((end, _)) = text.char_indices().nth(MOST_CHARACTERS) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Marks that turn the direction of writing or are invisible.
fn is_mark(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_several_processes_run_is_read_once() {
        let path = std::env::current_exe().unwrap().display().to_string();
        let mapping = Mapping { from: 0, length: 1, offset: 0, path };
        let maps = Maps::default();
        let mut names = Names::new(&maps, &[], "");
        let parent = rustix::process::getppid().unwrap().as_raw_nonzero().get().cast_unsigned();
        let [own, other] =
            [std::process::id(), parent].map(|pid| names.file(pid, &mapping).unwrap());
        assert!(Rc::ptr_eq(&own, &other) && own.elf.has("main"));
    }

    #[test]
    fn a_file_has_a_name_for_readers() {
        let mut maps = Maps::default();
        let path = "/none/a\u{1b}\u{202e}b".to_owned();
        maps.add(1, Mapping { from: 0, length: 16, offset: 0, path });
        assert_eq!(Names::new(&maps, &[], "").function(1, 5).package, "ab");
    }

    #[test]
    fn names_are_as_their_languages_write_them() {
        let rust = "_ZN5hyper5proto2h14conn4Conn4poll17h0123456789abcdefE";
        assert_eq!(demangled(rust), ("hyper::proto::h1::conn::Conn::poll".into(), true));
        assert_eq!(
            demangled("_ZN2v88internal4Heap3runEi"),
            ("v8::internal::Heap::run".into(), false)
        );
        // Each type is a pair of the one before.
        let pairs =
            "S2_S2_ S3_S3_ S4_S4_ S5_S5_ S6_S6_ S7_S7_ S8_S8_ S9_S9_ SA_SA_ SB_SB_ SC_SC_ SD_SD_";
        let pairs = pairs.split(' ').map(|two| format!("S0_I{two}E")).collect::<String>();
        let long = demangled(&format!("_Z1fI1AIiiES0_IS1_S1_E{pairs}Evv")).0;
        assert!(long.starts_with("f<A<int, int>, A<A<int, int>,") && long.len() < 2 * NAME_BYTES);
        assert_eq!(demangled("ngx_http_parse.cold"), ("ngx_http_parse".into(), false));
        assert_eq!(demangled("memcpy@@GLIBC_2.14"), ("memcpy".into(), false));
        assert_eq!(crate_of("<hyper::A as core::B>::poll").as_deref(), Some("crate hyper"));
        assert_eq!(crate_of("main"), None);
    }

    #[test]
    fn names_hold_no_folder_of_the_users_and_no_control_characters() {
        let cleaned = |name: &str| clean(name, "/srv/app");
        assert_eq!(cleaned("handle /srv/app/lib/router.js:12"), "handle lib/router.js:12");
        assert_eq!(cleaned("handle file:///home/anna/secret/x.js:1:2"), "handle x.js:1:2");
        assert_eq!(cleaned("py::handler:/home/anna/app.py"), "py::handler:app.py");
        assert_eq!(cleaned("net/http.(*conn).serve"), "net/http.(*conn).serve");
        assert_eq!(clean("handle /home/anna/x.js (a/b)", ""), "handle x.js (a/b)");
        assert_eq!(cleaned("a\u{1b}[31m\u{202e}b\n<i>"), "a[31mb<i>");
        assert_eq!(cleaned(&"x".repeat(300)).chars().count(), MOST_CHARACTERS + 1);
    }
}
