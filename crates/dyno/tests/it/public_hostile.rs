//! Files in which a stranger has changed something, in a board: `make public-truth` publishes some hundreds of them.

#[path = "../../../public/tests/it/changed_files.rs"]
mod changed_files;

use std::fs;

use public::PublicRun;
use wire::Chance;

use crate::lab_rig::Lab;
use changed_files::{hostile, in_lines, lines_of};

/// A third of them: a board is built as a whole.
fn many() -> usize {
    std::env::var("DYNO_PUBLIC_CHANGES").map_or(8, |many| many.parse::<usize>().unwrap() / 3)
}

#[test]
fn hostile_files_of_a_board_are_listed_and_the_rest_is_built_in_300_mb() {
    // What it writes into memory is limited; a program that needs more ends.
    let lab = Lab::new().before("ulimit -d 300000");
    lab.write("race.sqlite", crate::public::shown_store("race"));
    let [store, file] = ["race.sqlite", "good.dyno"].map(|name| lab.path(name));
    lab.dyno(&["runs", "export", "1", "--public", "-o", &file, "--store", &store]).status(0);
    let good = fs::read(&file).unwrap();
    let lab = lab.file("board/board.toml", "title = 't'\nquestion = 'q'\nbase_url = ''\n");
    let runs = lab.root.join("board/runs");
    fs::create_dir(&runs).unwrap();
    fs::write(runs.join("good.dyno"), &good).unwrap();
    fs::write(runs.join("none.dyno"), &good[..good.len() / 2]).unwrap();
    let lines = lines_of(&good);
    let forms = [in_lines(&lines), lines];
    let mut chance = Chance::new(39);
    let mut refused = vec!["none".to_string()];
    for turn in 0..many() {
        let bytes = hostile(&forms, &mut chance, turn);
        fs::write(runs.join(format!("turn-{turn}.dyno")), &bytes).unwrap();
        refused.extend(PublicRun::read(&bytes).is_err().then(|| format!("turn-{turn}")));
    }
    let ran = lab.dyno(&["publish", "board", "-o", "site"]).status(0);
    let list = lab.read("site/r/index.html");
    for name in &refused {
        assert!(list.contains(&format!("runs/{name}.dyno")), "{name}: {list}");
    }
    let good = PublicRun::read(&good).unwrap().short_id();
    assert!(lab.has(&format!("site/r/{good}/index.html")), "{ran}");
    assert!(1 < refused.len() && refused.len() <= many(), "{refused:?}");
}
