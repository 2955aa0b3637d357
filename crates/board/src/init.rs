//! The files of a new board, which people fork: texts, settings, and the scripts and workflows of its CI.

#[cfg(test)]
mod tests;

macro_rules! template {
    ($($path:literal),* $(,)?) => {
        [$(($path, include_str!(concat!("../template/", $path)))),*]
    };
}

/// Each with its path in the board.
const TEMPLATE: [(&str, &str); 17] = template![
    ".gitattributes",
    ".github/workflows/comment.yml",
    ".github/workflows/verify.yml",
    ".gitignore",
    "CHANGES.md",
    "README.md",
    "RULES.md",
    "board.toml",
    "ci/changes.sh",
    "ci/comment.sh",
    "ci/verify.sh",
    "machines/README.md",
    "rounds/README.md",
    "runs/README.md",
    "servers/README.md",
    "signers",
    "superseded/README.md",
];

/// The path, the text, and whether it is a program, of each file.
#[must_use]
pub fn files() -> Vec<(&'static str, String, bool)> {
    let version = env!("CARGO_PKG_VERSION");
    let file = |(path, text): &(&'static str, &str)| {
        (*path, text.replace("{version}", version), text.starts_with("#!"))
    };
    TEMPLATE.iter().map(file).collect()
}
