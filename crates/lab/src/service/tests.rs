use super::*;

const WHOLE: &str = r#"
title = "Some store"
needs = ["sh"]
programs = "/usr/b*n"
debian = ["store"]
starts = "a store on port 1"
prevent = ["true"]
build = ["sh template.sh"]
run = "serve {work} {port}"
ready = "test -e ready"
seed = ["cp tables/world.csv ."]
read = "cat {table}.csv"
ceiling = "press {connections} {seconds}"
settings = "data/settings.conf"
stop = "QUIT"
[env]
SECRET = "{password}"
[gives]
STORE_URL = "store://u:{password}@127.0.0.1:{port}/"
"#;

/// The result of reading the manifest when one text in it is replaced by another.
fn check(old: &str, new: &str) -> Result<Service, String> {
    assert!(WHOLE.contains(old), "{old}");
    let source =
        SourceFile { name: "services/x/service.toml".into(), text: WHOLE.replace(old, new) };
    let read = Service::parse(Path::new("/nowhere"), "x", source, &[]);
    read.map_err(|error| error.to_string())
}

#[test]
fn a_manifest_is_read() {
    let service = check("", "").unwrap();
    let Manifest { stop, ready_within, starts, .. } = service.manifest;
    assert_eq!((stop.number(), ready_within), (3, Duration::from_secs(30)));
    let path = service.plan.env.iter().find(|(name, _)| name == "PATH").unwrap();
    assert_eq!(path.1, format!("/usr/bin:{PATH}"));
    assert_eq!(starts.unwrap(), "a store on port 1");
    assert_eq!(check("/usr/b*n", "/no/such/*").unwrap().plan.env[0].1, PATH);
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    for (old, new, line, says) in [
        ("needs = ", "need = ", 3, "unknown key `need`; did you mean `needs`?"),
        ("serve {work} {port}", "serve {password}", 9, "`{password}` is not a placeholder here"),
        ("cat {table}.csv", "cat {tabel}", 12, "`{tabel}` is not a placeholder here"),
        ("u:{password}@", "u:{secret}@", 19, "`{secret}` is not a placeholder here"),
        ("STORE_URL =", "\"STORE URL\" =", 19, "`STORE URL` is not a variable's name"),
        ("\"QUIT\"", "\"KILL\"", 15, "unknown word `KILL`; known are TERM, INT, QUIT"),
        ("data/settings.conf", "../settings.conf", 14, "a file of the template is named by a path"),
        ("/usr/b*n", "bin", 4, "the folder of its programs is a path from /"),
        ("prevent = [\"true\"]", "", 6, "what a package starts is to be prevented"),
        ("starts = \"a store on port 1\"", "", 7, "say in `starts` what this prevents"),
        ("debian = [\"store\"]", "debian = [\"A b\"]", 5, "`A b` is not a package's name"),
    ] {
        let found = check(old, new).unwrap_err();
        let start = format!("services/x/service.toml:{line}: {says}");
        assert!(found.starts_with(&start), "{new}: {found}");
    }
    let missing = check("ready = \"test -e ready\"", "").unwrap_err();
    assert!(missing.contains("the key `ready` is missing"), "{missing}");
}
