//! Bodies that are files, followed as they arrive. The first of each form is decoded; later ones are compared with it
//! byte for byte.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::coding::Coding;
use crate::file_rule::{Delivery, FileRule};
use crate::files::Files;
use crate::template::Values;

/// A server with more forms of one file than this has a new one each time.
const FORMS_MAX: usize = 8;
/// All forms of a lane together have no more bytes.
const BYTES_MAX: usize = 32 << 20;

/// A body that is more than twice as long as its file, and by so much, is not looked at: room for 64 kB of extra fields
/// (RFC 1952, 2.3.1.1) and for a server that flushes often.
const MORE: usize = 128 << 10;

/// How files came, of the right answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivered {
    /// Whole and as they are.
    pub identity: u64,
    pub gzip: u64,
    pub br: u64,
    /// Of these three, those to requests that offered a compression.
    pub offered: u64,
    /// The parts that were wanted.
    pub parts: u64,
    /// Whole, where a part was wanted.
    pub ranges_ignored: u64,
    /// Not sent, because the request named the version that there is.
    pub not_modified: u64,
    /// Sent all the same.
    pub conditions_ignored: u64,
}

impl Delivered {
    /// All counts.
    #[must_use]
    pub fn counts(&self) -> [u64; 8] {
        let Delivered { identity, gzip, br, offered, .. } = *self;
        let Delivered { parts, ranges_ignored, not_modified, conditions_ignored, .. } = *self;
        [identity, gzip, br, offered, parts, ranges_ignored, not_modified, conditions_ignored]
    }

    pub fn add(&mut self, other: Delivered) {
        self.identity += other.identity;
        self.gzip += other.gzip;
        self.br += other.br;
        self.offered += other.offered;
        self.parts += other.parts;
        self.ranges_ignored += other.ranges_ignored;
        self.not_modified += other.not_modified;
        self.conditions_ignored += other.conditions_ignored;
    }

    fn count(&mut self, rule: &FileRule, delivery: Delivery) {
        match delivery {
            Delivery::Whole(coding) => {
                *match coding {
                    Coding::Identity => &mut self.identity,
                    Coding::Gzip => &mut self.gzip,
                    Coding::Br => &mut self.br,
                } += 1;
                self.offered += u64::from(rule.offers_compression());
                self.ranges_ignored += u64::from(rule.is_range());
                self.conditions_ignored += u64::from(rule.is_conditional());
            }
            Delivery::Part => self.parts += 1,
            Delivery::NotModified => self.not_modified += 1,
            Delivery::Other => {}
        }
    }
}

/// The forms of files that a lane has learnt.
#[derive(Debug, Default)]
pub(crate) struct FileForms {
    known: HashMap<Key, Vec<Vec<u8>>>,
    bytes: usize,
    pub(crate) delivered: Delivered,
}

/// The seed and the number of a file, and how it is encoded.
type Key = (u64, usize, Coding);

fn key(rule: &FileRule, coding: Coding, values: Values) -> Key {
    (rule.files().seed(), Files::chosen(values), coding)
}

/// Follows one body.
#[derive(Debug)]
pub(crate) enum FileBody {
    /// So far, it is this one of the forms; so many bytes have come.
    Like {
        form: usize,
        len: usize,
    },
    /// It has none of them: its bytes.
    Kept(Vec<u8>),
    Wrong,
}

impl Default for FileBody {
    fn default() -> FileBody {
        FileBody::Like { form: 0, len: 0 }
    }
}

/// How a body that is now whole was found right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    ByBytes,
    /// It was decoded.
    Decoded,
}

impl FileBody {
    pub(crate) fn take(
        &mut self,
        rule: &FileRule,
        delivery: Delivery,
        bytes: &[u8],
        values: Values,
        forms: Option<&FileForms>,
    ) {
        let coding = match delivery {
            Delivery::Whole(coding @ (Coding::Gzip | Coding::Br)) => coding,
            Delivery::Whole(Coding::Identity)
            | Delivery::Part
            | Delivery::NotModified
            | Delivery::Other => return self.take_plain(rule.truth(delivery, values), bytes),
        };
        let no_more = 2 * rule.truth(delivery, values).len() + MORE;
        let next = match self {
            FileBody::Like { form, len } => {
                let known = forms.and_then(|forms| forms.known.get(&key(rule, coding, values)));
                let known = known.map_or(&[][..], Vec::as_slice);
                if known.get(*form).is_some_and(|known| coding.is_alike(known, *len, bytes)) {
                    *len += bytes.len();
                    return;
                }
                other_form(known, coding, (*form, *len), bytes)
            }
            FileBody::Kept(kept) if kept.len() + bytes.len() <= no_more => {
                return kept.extend_from_slice(bytes);
            }
            FileBody::Kept(_) | FileBody::Wrong => FileBody::Wrong,
        };
        *self = next;
    }

    /// Compares a body that is not encoded with what it must be.
    fn take_plain(&mut self, truth: &[u8], bytes: &[u8]) {
        if let FileBody::Like { len, .. } = self {
            if truth.get(*len..*len + bytes.len()) == Some(bytes) {
                *len += bytes.len();
            } else {
                *self = FileBody::Wrong;
            }
        }
    }

    /// How the body, now whole, was found right; none if it is wrong.
    pub(crate) fn found(
        &mut self,
        rule: &FileRule,
        delivery: Delivery,
        values: Values,
        forms: Option<&mut FileForms>,
    ) -> Option<Found> {
        let truth = rule.truth(delivery, values);
        let body = std::mem::take(self);
        let (Delivery::Whole(coding @ (Coding::Gzip | Coding::Br)), Some(forms)) =
            (delivery, forms)
        else {
            let is_right = match body {
                FileBody::Like { len, .. } => len == truth.len() && !is_encoded(delivery),
                FileBody::Kept(body) => rule.is_right(delivery, &body, values),
                FileBody::Wrong => false,
            };
            return is_right.then_some(Found::ByBytes);
        };
        let key = key(rule, coding, values);
        let body = match body {
            FileBody::Like { form, len } => {
                let known = forms.known.get(&key)?.get(form)?;
                if known.len() == len {
                    return Some(Found::ByBytes);
                }
                known[..len].to_vec()
            }
            FileBody::Kept(body) => body,
            FileBody::Wrong => return None,
        };
        rule.is_right(delivery, &body, values).then(|| {
            forms.learn(key, body);
            Found::Decoded
        })
    }
}

fn is_encoded(delivery: Delivery) -> bool {
    matches!(delivery, Delivery::Whole(Coding::Gzip | Coding::Br))
}

/// A body that began like this form does not go on like it with these bytes: a later form that it has, or else what
/// came of it.
fn other_form(
    known: &[Vec<u8>],
    coding: Coding,
    (form, len): (usize, usize),
    bytes: &[u8],
) -> FileBody {
    let begins = known.get(form).map_or(&[][..], |known| &known[..len]);
    let came = [begins, bytes].concat();
    let later = known.iter().enumerate().skip(form + 1);
    let found = later.into_iter().find(|(_, known)| coding.is_alike(known, 0, &came));
    match found {
        Some((form, _)) => FileBody::Like { form, len: came.len() },
        None => FileBody::Kept(came),
    }
}

impl FileForms {
    /// Counts a right answer.
    pub(crate) fn count(&mut self, rule: &FileRule, delivery: Delivery) {
        self.delivered.count(rule, delivery);
    }

    fn learn(&mut self, key: Key, body: Vec<u8>) {
        let forms = self.known.entry(key).or_default();
        if forms.len() < FORMS_MAX && self.bytes + body.len() <= BYTES_MAX {
            self.bytes += body.len();
            forms.push(body);
        }
    }
}
