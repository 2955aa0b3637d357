//! Parts of requests and answers, as octets.

/// The first value of a query's parameter; `name` with its equals sign.
pub(crate) fn parameter<'a>(query: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    query.split(|byte| *byte == b'&').find_map(|pair| pair.strip_prefix(name))
}

/// Appends a number in decimal digits, without formatting machinery.
pub(crate) fn push_number(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends one chunk of a chunked body.
pub(crate) fn push_chunk(out: &mut Vec<u8>, octets: &[u8]) {
    out.extend_from_slice(format!("{:x}\r\n", octets.len()).as_bytes());
    out.extend_from_slice(octets);
    out.extend_from_slice(b"\r\n");
}
