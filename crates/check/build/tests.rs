//! What the reader makes of files of the catalogue, and what it refuses.

use expect_test::{Expect, expect};

use super::{FIELDS, Source, contents, table, vocabulary};

/// A case of this protocol with these lines, of which the first is the sixth of its file.
fn case(path: &str, area: &str, id: &str, lines: &str) -> Result<String, String> {
    let head = format!("area = \"{area}\"\n[{id}]\ntitle = \"a\"\ndemand = \"b\"");
    let text = format!("{head}\nclause = \"RFC 9112, 3.2\"\n{lines}\n");
    table(&[Source { path, text: &text }])
}

fn http1(lines: &str) -> Result<String, String> {
    case("http1/host.toml", "host", "H1-X01", lines)
}

/// The steps that a case becomes.
fn steps(made: Result<String, String>, expected: &Expect) {
    let rust = made.unwrap();
    expected.assert_eq(rust.split("steps: ").nth(1).unwrap().split(", title").next().unwrap());
}

/// The file has a mistake in this line, and the message says so.
#[track_caller]
fn refused(lines: &str, line: usize, says: &str) {
    let place = format!("crates/check/catalogue/http1/host.toml:{line}: ");
    let message = http1(lines).unwrap_err();
    assert_eq!(message.strip_prefix(&place).unwrap_or(&message), says);
}

#[test]
fn a_case_has_what_its_bases_and_its_file_have_unless_it_says_otherwise() {
    let text = r#"
        area = "host"
        weight = 5
        level = "OUGHT"
        [names]
        FINAL = "all [status 400, closes]"
        [base.bad]
        level = "SHOULD"
        warn = "FINAL, has_host"
        doubt = "why"
        [base.worse]
        like = "bad"
        needs = "echo"
        tags = ["crash", "slow"]
        [H1-X01]
        like = ["worse"]
        title = "none"
        clause = "RFC 9112, 3.2 (erratum 7633)"
        tags = []
        limit = "3 s"
        pass = 'not echo "\xff\0"'
        demand = "one"
    "#;
    let rust = table(&[Source { path: "http1/host.toml", text }]).unwrap();
    expect![[r#"
        const CONDITION_0: Rule = crate::condition::named("has_host", "crates/check/catalogue/http1/host.toml:9: unknown rule `has_host`");
        pub(super) static CASES: &[Case] = &[
        Case { id: "H1-X01", area: Area::Host, clause: Clause { rfc: 9112, section: "3.2", erratum: Some(7633) }, demand: "one", doubt: "why", level: Level::Should, limit: Duration::from_secs(3), needs: Need::Echo, pass: &[Rule::Not(&Rule::Echo(b"\xff\x00"))], tags: &[], title: "none", warn: &[Rule::All(&[Rule::Status(400), Rule::Closes]), CONDITION_0], weight: 5, ..Case::BLANK },
        ];
    "#]]
    .assert_eq(&rust);
}

#[test]
fn octets_are_joined_and_repeated_and_lines_may_go_on() {
    let lines =
        "steps = '''\nsend \"a\" * 2\n     \"b\\x1f\"; fill \"c\" 7\nreceive; receive 300 ms\n'''";
    steps(
        http1(lines),
        &expect![[
            r#"&[Step::Send(b"aab\x1f"), Step::Fill(99, 7), Step::Receive(Duration::ZERO), Step::Receive(Duration::from_millis(300))]"#
        ]],
    );
}

#[test]
fn steps_of_http2_become_one_exchange() {
    let lines = "steps = 'open; repeat 2 higher 2 [get 1; frame 0xfa 3 END_STREAM 0x40: \"x\" * 9, ENABLE_PUSH=2, 7, \
                 CANCEL]; until ok 1'";
    steps(
        case("http2/frames.toml", "h2-frames", "H2-X01", lines),
        &expect![[
            r#"&[Step::Http2(&[crate::h2::OPEN, Act::Repeat(2, 2, &[crate::h2::get(1), Act::Frame(250, 65, 3, &[Piece::Fill(120, 9), Piece::Setting(2, 2), Piece::Number(7), Piece::Number(8)])]), Act::Until(Sign::Ok(1))])]"#
        ]],
    );
}

#[test]
fn frames_of_a_websocket_become_octets() {
    let lines = "steps = '''\ntext more rsv1 mask \"\\x01\\x02\\x03\\x04\" \"ab\", close 1000 \"c\"\nopcode 3 unmasked \
                 long 9\nframes 3 ping 126\n'''";
    steps(
        case("websocket/frames.toml", "ws-frames", "WS-X01", lines),
        &expect![[
            r#"&[Step::Raw(b"A\x82\x01\x02\x03\x04``\x88\x83\x00\x00\x00\x00\x03\xe8c"), Step::Raw(b"\x83\x7f\x00\x00\x00\x00\x00\x00\x00\t"), Step::Frames(137, 126, 3)]"#
        ]],
    );
}

#[test]
fn a_field_or_a_value_that_does_not_exist_is_refused_where_it_stands() {
    let message = http1("clauze = \"RFC 9112, 3\"").unwrap_err();
    assert!(message.contains("http1/host.toml:6: unknown field `clauze`; there are like, title"));
    refused("area = \"hosts\"", 6, "unknown area `hosts`");
    refused("title = \"b\"", 6, "duplicate key");
    refused("level = \"must\"", 6, "unknown level `must`");
    refused("tags = [\"crashes\"]", 6, "unknown tag `crashes`");
    refused("needs = \"post\"\nscheduling = \"later\"", 7, "unknown scheduling `later`");
    refused("weight = 4", 6, "a case weighs 1, 3 or 5, and not 4");
    refused("limit = \"3 min\"", 6, "`min` is neither `ms` nor `s`");
    refused("like = \"worse\"", 6, "no base before this is named `worse`");
}

#[test]
fn an_unknown_word_is_refused_where_it_stands() {
    refused("steps = '''\nsend \"a\"\nsends \"b\"\n'''", 8, "unknown step `sends`");
    refused("pass = '''\nok,\nstatus ok\n'''", 8, "`ok` where a number is expected");
    refused("pass = \"all [ok\"", 6, "the end where `]` is expected");
    refused("pass = \"ok closes\"", 6, "`closes` where the end is expected");
    refused(r#"steps = 'send "a\q"'"#, 6, r#"a bad escape: there are \r \n \t \0 \\ \" and \x41"#);
    refused(
        r#"steps = 'send "a\xg1"'"#,
        6,
        r#"a bad escape: there are \r \n \t \0 \\ \" and \x41"#,
    );
    refused(
        "steps = '''\nsend \"a\n'''",
        7,
        "octets that begin with `\"` do not end on their line",
    );
    let http2 = |lines| case("http2/frames.toml", "h2-frames", "H2-X01", lines).unwrap_err();
    assert!(http2("steps = 'frame HEADS 1'").ends_with("frames.toml:6: unknown kind `HEADS`"));
    assert!(http2("pass = 'ends, connection-error NONE'").ends_with("unknown error code `NONE`"));
}

#[test]
fn a_case_that_is_not_whole_is_refused() {
    refused("twin = \"H1-B01\"", 6, "no case of the protocol is the twin `H1-B01`");
    let unexplained = "what only warns has a `doubt` that says why, and nothing else has";
    refused("warn = \"ok\"", 2, &format!("H1-X01: {unexplained}"));
    refused("doubt = \"why\"", 2, &format!("H1-X01: {unexplained}"));
    let text = "area = \"host\"\n[H1-X01]\ntitle = \"a\"\nclause = \"RFC 9112, 3\"\n";
    let source = Source { path: "http1/host.toml", text };
    assert!(table(&[source]).unwrap_err().ends_with("host.toml:2: H1-X01: a case has a demand"));
    let foreign = case("http1/host.toml", "h2-tls", "H1-X01", "").unwrap_err();
    assert!(foreign.ends_with("host.toml:1: this area belongs to another protocol"), "{foreign}");
    let foreign = case("http1/host.toml", "host", "H2-X01", "").unwrap_err();
    assert!(foreign.contains("host.toml:2: `H2-X01` is no field, nor"), "{foreign}");
}

#[test]
fn an_id_is_given_once() {
    let text =
        "area = \"host\"\n[H1-X01]\ntitle = \"a\"\nclause = \"RFC 9112, 3\"\ndemand = \"b\"\n";
    let sources = ["http1/host.toml", "http1/fields.toml"].map(|path| Source { path, text });
    let message = table(&sources).unwrap_err();
    let place = "crates/check/catalogue/http1/fields.toml:2: ";
    assert_eq!(message, format!("{place}H1-X01: http1/host.toml:2 has the same id"));
}

#[test]
fn contents_list_the_files_in_order() {
    let listed = contents(include_str!("../catalogue/contents.toml")).unwrap();
    assert_eq!(listed[..2], ["http1/bases.toml", "http1/plain.toml"]);
    let message = contents("file = []").unwrap_err();
    assert_eq!(message, "crates/check/catalogue/contents.toml:1: `files` is missing");
}

#[test]
fn every_word_is_explained() {
    let page = include_str!("../catalogue/README.md");
    for word in vocabulary::words().chain(FIELDS) {
        let is_explained = ["`", " ", "\n"].iter().any(|it| page.contains(&format!("`{word}{it}")));
        assert!(is_explained, "{word} is not explained");
    }
}
