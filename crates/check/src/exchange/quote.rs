//! Fills placeholders in what is sent with values from an earlier answer.

use crate::answer::ReceivedAnswer;
use crate::target::filled;

/// A template whose placeholders an answer has filled; none if the answer has no such value.
pub(super) fn quoted(template: &[u8], answer: Option<&ReceivedAnswer>) -> Option<Vec<u8>> {
    let answer = answer.filter(|answer| answer.is_whole)?;
    let etag = answer.field("etag");
    let weak = etag.map(|etag| [b"W/", etag.strip_prefix(b"W/").unwrap_or(etag)].concat());
    let modified = answer.field("last-modified");
    let in_one_line = |value: &[u8]| value.iter().copied().filter(|octet| *octet >= b' ').collect();
    let [etag, weak, modified]: [Option<Vec<u8>>; 3] =
        [etag, weak.as_deref(), modified].map(|value| value.map(in_one_line));
    let values = [("{etag}", &etag), ("{weak}", &weak), ("{modified}", &modified)];
    filled(template, &values.map(|(name, value)| (name, value.as_deref())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(template: &[u8], fields: &[(&str, &[u8])]) -> Option<String> {
        let fields = fields.iter().map(|(name, value)| ((*name).into(), value.to_vec())).collect();
        let answer =
            ReceivedAnswer { status: 200, is_whole: true, fields, ..ReceivedAnswer::default() };
        quoted(template, Some(&answer)).map(|filled| String::from_utf8(filled).unwrap())
    }

    #[test]
    fn placeholders_are_filled_by_the_answer() {
        let tag: (&str, &[u8]) = ("etag", b"\"a\"");
        assert_eq!(filled(b"T: {etag}, {weak}.", &[tag]).unwrap(), "T: \"a\", W/\"a\".");
        assert_eq!(filled(b"{weak}", &[("etag", b"W/\"a\"")]).unwrap(), "W/\"a\"");
        assert_eq!(filled(b"{modified}{H}", &[("last-modified", b"once")]).unwrap(), "once{H}");
    }

    #[test]
    fn what_the_answer_does_not_tell_cannot_be_sent() {
        assert_eq!(filled(b"T: {etag}", &[("date", b"once")]), None);
        assert_eq!(quoted(b"{etag}", None), None);
        let half = ReceivedAnswer {
            fields: vec![("etag".into(), b"\"a\"".to_vec())],
            ..ReceivedAnswer::default()
        };
        assert_eq!(quoted(b"{etag}", Some(&half)), None);
    }

    #[test]
    fn a_hostile_answer_adds_no_line_and_does_not_hang_us() {
        assert_eq!(filled(b"T: {etag}", &[("etag", b"a\rX: 1\n")]).unwrap(), "T: aX: 1");
        assert_eq!(filled(b"T: {etag}", &[("etag", b"{etag}{weak}")]).unwrap(), "T: {etag}{weak}");
    }
}
