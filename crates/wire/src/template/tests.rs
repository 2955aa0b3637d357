//! Templates: what is filled, what is refused, and what is read back as it was.

use super::*;

fn filled_text(text: &str, seq: u64) -> String {
    let values = Values { seq, random: 7 };
    let template = Template::parse(text.as_bytes()).unwrap();
    let mut output = Vec::new();
    template.fill(values, &mut output);
    assert_eq!(output.len(), template.filled_len(values));
    String::from_utf8(output).unwrap()
}

#[test]
fn placeholders_are_filled_and_other_braces_stand_for_themselves() {
    assert_eq!(filled_text("/a?n={seq}&{{x}{", 120), "/a?n=120&{x}{");
    assert_eq!(filled_text("{{seq}={seq} {{{seq}", 5), "{seq}=5 {{seq}");
    assert_eq!(filled_text("{seq}", 0), "0");
    assert_eq!(filled_text("{seq}", u64::MAX), "18446744073709551615");
}

#[test]
fn every_random_hole_of_a_request_says_the_same() {
    let text = filled_text("{random:8}/{random:8}/{random:12}", 1);
    assert_eq!(text[..8], text[9..17]);
    assert_eq!(text[..8], text[18..26]);
}

#[test]
fn a_hole_without_a_width_is_refused() {
    for text in ["{random:}", "{random:0}", "{random:65}", "{random:8", "{random:x}"] {
        assert!(Template::parse(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn a_number_lies_between_its_bounds_and_all_of_them_come_equally_often() {
    let number = Number::between(3, 10).unwrap();
    let mut seen = [0_u32; 11];
    (0..8_000).for_each(|n| seen[number.of(Values { seq: 0, random: mix(n) }) as usize] += 1);
    assert_eq!(seen[..3], [0; 3]);
    assert!(seen[3..].iter().all(|times| (880..1_120).contains(times)), "{seen:?}");
    let all = Number::between(0, u32::MAX).unwrap();
    assert!((0..100).any(|n| u32::MAX / 2 < all.of(Values { seq: 0, random: mix(n) })));
}

#[test]
fn numbers_with_the_same_bounds_are_equal_and_others_are_independent() {
    let text = filled_text("{number:7-7}/{number:1-999}/{number:1-999}", 1);
    let parts: Vec<&str> = text.split('/').collect();
    assert_eq!((parts[0], parts[1]), ("7", parts[2]));
    let (count, times) = (Number::between(1, 50).unwrap(), Number::between(1, 8).unwrap());
    let pairs: std::collections::BTreeSet<(u32, u32)> = (0..8_000)
        .map(|n| Values { seq: n, random: mix(n) })
        .map(|values| (count.of(values), times.of(values)))
        .collect();
    assert_eq!(pairs.len(), 400, "each with each");
}

#[test]
fn a_number_without_two_bounds_in_order_is_refused() {
    for text in
        ["{number:}", "{number:1}", "{number:2-1}", "{number:+1-2}", "{number:1-4294967296}"]
    {
        let error = Template::parse(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("{number:A-B}"), "{text}: {error}");
    }
}

#[test]
fn bytes_are_others_for_each_request_and_the_same_in_any_cut() {
    let template = Template::parse(b"<{bytes:10000}>").unwrap();
    let filled = |n| template.beginning(20_000, Values { seq: n, random: mix(n) });
    let all: std::collections::HashSet<Vec<u8>> = (0..1_000).map(filled).collect();
    assert_eq!(all.len(), 1_000);
    let (values, whole) = (Values { seq: 3, random: mix(3) }, filled(3));
    assert_eq!((whole.len(), template.filled_len(values)), (10_002, 10_002));
    for cut in [0, 1, 2, 5_000, 10_001] {
        let (left, right) = whole.split_at(cut);
        let mut cursor = Cursor::default();
        assert!(template.matches(&mut cursor, left, values));
        assert!(template.matches(&mut cursor, right, values) && template.is_over(cursor));
        let other = Values { random: mix(4), ..values };
        assert!(!template.matches(&mut Cursor::default(), &whole, other));
    }
    for text in ["{bytes:0}", "{bytes:262145}", "{bytes:x}"] {
        assert!(Template::parse(text.as_bytes()).is_err(), "{text}");
    }
    // Not one byte is more frequent than it may be.
    let mut seen = [0_u32; 256];
    all.iter().flatten().for_each(|byte| seen[usize::from(*byte)] += 1);
    assert!(seen.iter().all(|times| (35_000..45_000).contains(times)), "{seen:?}");
}

#[test]
fn integers_are_a_list_of_json_with_other_numbers_for_each_request() {
    let mut sums = std::collections::HashSet::new();
    for n in 0..1_000 {
        let values = Values { seq: n, random: mix(n) };
        let text = Template::parse(b"[{integers:150}]").unwrap().beginning(2_000, values);
        let list: Vec<u64> = serde_json::from_slice(&text).unwrap();
        assert!(list.iter().all(|integer| (100_000..1_000_000).contains(integer)));
        assert_eq!((list.len(), list.iter().sum::<u64>()), (150, sum(150, values)));
        sums.insert(sum(150, values));
    }
    assert!(980 < sums.len(), "{}", sums.len());
    for text in ["{integers:0}", "{integers:4097}", "{integers:}"] {
        assert!(Template::parse(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn what_is_written_like_a_placeholder_and_is_none_is_refused() {
    for text in ["/u/{rand:8}", "{uuid}", r#"{"id":"{uuid}"}"#, r#"{"a":{"n":{seqq}}}"#, "{SEQ}"] {
        let error = Template::parse(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("there are {seq}, {random:N}"), "{text}: {error}");
    }
}

#[test]
fn json_and_graphql_pass_byte_for_byte() {
    for text in [
        r#"{"a":{"b":[{"c":1},{}]},"d":"{ not a name }","e":"a:{\"f\":2}"}"#,
        r#"{"query":"{user(id:\"4\"){name friends(first:2){id}}}"}"#,
        "query Q($n: Int) { user(id: $n) { name } }",
        "{user{id}}",
        "{ me { id } }",
    ] {
        assert_eq!(filled_text(text, 1), text);
    }
}

#[test]
fn quoted_bytes_are_read_as_they_were() {
    for text in ["{seq}", "{{seq}}", "{me}{{{a:b}}", "{random:8}{random:99}", "plain {"] {
        let quoted = |fill| String::from_utf8(quoted(text.as_bytes(), fill)).unwrap();
        assert_eq!(filled_text(&quoted(false), 3), text);
        let is_filled = text.starts_with("{seq}") || text.starts_with("{random:8}");
        assert_eq!(filled_text(&quoted(true), 3) != text, is_filled, "{text}");
    }
}

#[test]
fn matching_in_any_cut_is_matching_as_a_whole() {
    let template = Template::parse(b"<v>{random:8}</v>{seq}!").unwrap();
    let values = Values { seq: 42, random: 9 };
    let mut whole = Vec::new();
    template.fill(values, &mut whole);
    for cut in 0..=whole.len() {
        let mut cursor = Cursor::default();
        let (left, right) = whole.split_at(cut);
        assert!(template.matches(&mut cursor, left, values));
        assert_eq!(template.is_over(cursor), right.is_empty());
        assert!(template.matches(&mut cursor, right, values));
        assert!(template.is_over(cursor));
        assert!(!template.matches(&mut cursor, b"x", values), "nothing may follow");
    }
}

#[test]
fn a_sum_takes_the_place_of_whole_numbers_only() {
    let values = Values { seq: 1, random: 7 };
    let form = |before: &str, after: &str| {
        let body = format!("{before}{}{after}", sum(2, values));
        Template::with_sum(body.as_bytes(), 2, values)
    };
    assert!(form("{\"sum\":", ".0}").is_some());
    assert!(form("[", "0e-1]").is_some());
    // With as many digits as this sum it means the same, and with others it does not.
    assert_eq!(form("[0.", "e7]"), None);
    assert_eq!(form("[1", "]"), None);
}
