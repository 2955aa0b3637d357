//! A folder of a test's own, which is removed at the end.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

pub(crate) struct Folder {
    pub(crate) root: PathBuf,
}

impl Folder {
    pub(crate) fn new() -> Folder {
        static FOLDERS: AtomicU32 = AtomicU32::new(0);
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("dyno-it-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(&root).unwrap();
        Folder { root }
    }

    /// With one file, whose path is returned, too.
    pub(crate) fn with(name: &str, content: impl AsRef<[u8]>) -> (Folder, String) {
        let folder = Folder::new();
        folder.write(name, content);
        let path = folder.path(name);
        (folder, path)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.root.join(name).display().to_string()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    #[track_caller]
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.root.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    #[track_caller]
    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// Whether a file or a folder is there.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.root.join(name).exists()
    }

    /// The names in a folder of it, in order.
    #[track_caller]
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.root.join(folder)).unwrap().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}
