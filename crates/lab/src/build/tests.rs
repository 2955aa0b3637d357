//! What needs no command to be run; the others are in tests/it.

use super::*;
use std::sync::atomic::{AtomicU32, Ordering};

/// A project's root with one subject in it, `x`.
struct Root(PathBuf);

impl Root {
    fn new(build: &str) -> Root {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let root =
            Root(std::env::temp_dir().join(format!("dyno-build-{}-{number}", std::process::id())));
        fs::create_dir_all(root.0.join("subjects/x/deep")).unwrap();
        root.write("subjects/x/deep/file", "one");
        root.manifest("x", build);
        root
    }

    fn manifest(&self, name: &str, build: &str) {
        let text = format!(
            "title = 'X'\nlanguage = 'sh'\nhome = ''\nprocesses = 'one'\nspeaks = []\npasses = ['SEEN']\n\
             run = './x'\nversion = 'cat out'\nenv = {{ PLACE = '{{build}}' }}\n{build}\n"
        );
        fs::create_dir_all(self.0.join("subjects").join(name)).unwrap();
        self.write(&format!("subjects/{name}/subject.toml"), &text);
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.0.join(path), text).unwrap();
    }

    fn cache(&self) -> BuildCache {
        let variables = vec![
            ("PATH".to_string(), "/usr/bin:/bin".to_string()),
            ("SEEN".into(), "s".into()),
            ("UNSEEN".into(), "u".into()),
            ("http_proxy".into(), "http://127.0.0.1:9".into()),
        ];
        BuildCache { state: self.0.join(".dyno"), dyno: "/dyno".into(), variables }
    }

    fn build(&self, name: &str) -> Result<(Built, Vec<String>), BuildError> {
        let subject = Subject::read(&self.0, name).unwrap();
        let mut commands = Vec::new();
        let mut report = |line: &str| commands.push(line.to_string());
        let built = self.cache().build((&subject).into(), &|| false, &mut report)?;
        Ok((built, commands))
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_subject_sees_nothing_of_the_users_environment_but_what_it_names() {
    let root = Root::new("build = []");
    let (built, _) = root.build("x").unwrap();
    let subject = Subject::read(&root.0, "x").unwrap();
    let seen = root.cache().scrubbed(&subject, &built, Path::new("/work"));
    let names: Vec<&str> = seen.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["PATH", "HOME", "TMPDIR", "LANG", "TZ", "SEEN", "PLACE"]);
}

#[test]
fn what_is_missing_is_named() {
    let root = Root::new("needs = ['no-such-program', 'sh']");
    let subject = Subject::read(&root.0, "x").unwrap();
    let fitness = root.cache().fitness((&subject).into()).unwrap();
    assert_eq!(fitness, Fitness::Missing(vec!["no-such-program".into()]));
}

#[test]
fn a_salted_build_finds_its_salt_in_a_variable_while_it_runs() {
    let root = Root::new("build = []");
    let (built, _) = root.build("x").unwrap();
    let salted = Subject::read(&root.0, "x").unwrap().salted(salt("x", 7, 1));
    let running = root.cache().scrubbed(&salted, &built, &root.0);
    assert!(running.contains(&(SALT.to_string(), salt("x", 7, 1))));
}
