//! The head of a request, encoded as far as it can be before there is a connection.

use std::collections::BTreeMap;

use units::rfc7541::STATIC;

use super::integer;
use super::table::{DEFAULT_SIZE, OVERHEAD};
use crate::h2::account::push_field;
use crate::template::{Template, Values};

/// The fields of one kind of request, in order.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    /// As they are shown.
    fields: Vec<(String, Template)>,
    counts_body: bool,
    pub(super) pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
pub(super) enum Piece {
    /// The octets of a block that is the same for every request on every connection.
    Ready(Vec<u8>),
    /// A field that is always the same, so that a table may know it.
    Constant(Constant),
    /// A field whose value differs; `name` has all that stands before the value's length.
    Filled { name: Vec<u8>, value: Template },
    /// The length of a body that differs.
    Length { name: Vec<u8> },
}

#[derive(Clone, Debug)]
pub(super) struct Constant {
    /// Its place among the fields for which tables have room.
    pub(super) place: Option<u8>,
    /// A literal that is inserted into the table.
    pub(super) inserting: Vec<u8>,
    /// A literal that is not.
    pub(super) plain: Vec<u8>,
    /// What it takes of the table.
    pub(super) size: usize,
}

/// No more entries fit: each takes at least one octet and what it counts besides.
pub(super) const PLACES_MAX: usize = DEFAULT_SIZE / (OVERHEAD + 1);

/// The first octet of a literal field, and how many bits of it are left for the index of its name.
const INSERTING: (u8, u8) = (0x40, 6);
const PLAIN: (u8, u8) = (0x00, 4);
const NEVER_INDEXED: (u8, u8) = (0x10, 4);

impl Prepared {
    /// `fields`: names in lower case, pseudo-header fields first. `counts_body`: a `content-length` follows them, which
    /// differs from request to request.
    pub(crate) fn new(fields: Vec<(String, Template)>, counts_body: bool) -> Prepared {
        let mut pieces = Vec::new();
        for (name, value) in &fields {
            match value.constant() {
                Some(value) => push_constant(name, value, &mut pieces),
                None => pieces.push(Piece::Filled {
                    name: named(name, if is_secret(name) { NEVER_INDEXED } else { PLAIN }),
                    value: value.clone(),
                }),
            }
        }
        if counts_body {
            pieces.push(Piece::Length { name: named("content-length", PLAIN) });
        }
        Prepared { fields, counts_body, pieces }
    }

    pub(crate) fn fields(&self) -> &[(String, Template)] {
        &self.fields
    }

    /// The same request with these fields.
    pub(crate) fn with_fields(&self, fields: Vec<(String, Template)>) -> Prepared {
        Prepared::new(fields, self.counts_body)
    }

    /// Writes the fields as they are shown; `length` is that of the request's body.
    pub(crate) fn show(&self, values: Values, length: u64, output: &mut Vec<u8>) {
        for (name, value) in &self.fields {
            let mut filled = Vec::new();
            value.fill(values, &mut filled);
            push_field(name.as_bytes(), &filled, output);
        }
        if self.counts_body {
            push_field(b"content-length", length.to_string().as_bytes(), output);
        }
    }
}

/// Decides which fields of these requests are worth a place in a table of the usual size: those of most requests first,
/// as many as fit. So no table ever evicts one.
pub(crate) fn assign_places(requests: &mut [&mut Prepared]) {
    let mut found: BTreeMap<Vec<u8>, (usize, usize, usize)> = BTreeMap::new();
    for constant in requests.iter_mut().flat_map(|request| constants(request)) {
        let order = found.len();
        let (count, ..) =
            found.entry(constant.inserting.clone()).or_insert((0, order, constant.size));
        *count += 1;
    }
    let mut wanted: Vec<_> = found.into_iter().collect();
    wanted.sort_by_key(|&(_, (count, order, _))| (std::cmp::Reverse(count), order));
    let mut left = DEFAULT_SIZE;
    let mut places: BTreeMap<Vec<u8>, u8> = BTreeMap::new();
    for (field, (_, _, size)) in wanted {
        if let Some(rest) = left.checked_sub(size) {
            left = rest;
            places.insert(field, places.len() as u8);
        }
    }
    for constant in requests.iter_mut().flat_map(|request| constants(request)) {
        constant.place = places.get(&constant.inserting).copied();
    }
}

fn constants(request: &mut Prepared) -> impl Iterator<Item = &mut Constant> {
    request.pieces.iter_mut().filter_map(|piece| match piece {
        Piece::Constant(constant) => Some(constant),
        Piece::Ready(_) | Piece::Filled { .. } | Piece::Length { .. } => None,
    })
}

fn push_constant(name: &str, value: &[u8], pieces: &mut Vec<Piece>) {
    let known = STATIC.iter().position(|&(other, is)| other == name && is.as_bytes() == value);
    let ready = match known {
        Some(index) => {
            let mut field = Vec::new();
            integer::encode(0x80, 7, index + 1, &mut field);
            field
        }
        None if is_secret(name) || is_guessable(name, value) => literal(name, value, NEVER_INDEXED),
        None => {
            return pieces.push(Piece::Constant(Constant {
                place: None,
                inserting: literal(name, value, INSERTING),
                plain: literal(name, value, PLAIN),
                size: name.len() + value.len() + OVERHEAD,
            }));
        }
    };
    match pieces.last_mut() {
        Some(Piece::Ready(before)) => before.extend(ready),
        _ => pieces.push(Piece::Ready(ready)),
    }
}

/// RFC 7541, 7.1.3: what must never stand in a table, where others' fields could be compared with it.
fn is_secret(name: &str) -> bool {
    ["authorization", "proxy-authorization"].contains(&name)
}

/// A cookie that is so short that it can be guessed by what a table does with it.
fn is_guessable(name: &str, value: &[u8]) -> bool {
    name == "cookie" && value.len() < 20
}

/// All of a literal field that stands before the length of its value.
fn named(name: &str, (mark, prefix): (u8, u8)) -> Vec<u8> {
    let mut field = Vec::new();
    match STATIC.iter().position(|&(other, _)| other == name) {
        Some(index) => integer::encode(mark, prefix, index + 1, &mut field),
        None => {
            field.push(mark);
            integer::encode_string(name.as_bytes(), &mut field);
        }
    }
    field
}

fn literal(name: &str, value: &[u8], kind: (u8, u8)) -> Vec<u8> {
    let mut field = named(name, kind);
    integer::encode_string(value, &mut field);
    field
}
