//! The forms of right bodies of JSON that a lane has learnt. The first body for each key is parsed; later ones are
//! compared with it byte for byte as they arrive, and only one in another form is kept and parsed again.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::json_rule::JsonRule;
use crate::template::{Cursor, Template, Values};

/// A server with more forms of one answer than this has a new one each time.
const FORMS_MAX: usize = 8;
/// All forms of a lane together have no more bytes.
const BYTES_MAX: usize = 32 << 20;
/// A longer body is wrong, unless it has a form that is known.
const BODY_MAX: usize = 1 << 20;

/// How bodies were compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compared {
    /// Equal to a body that had been found right before.
    pub by_bytes: u64,
    /// Parsed, and found right or wrong.
    pub by_meaning: u64,
    /// The time that this took.
    pub meaning_ns: u64,
}

impl Compared {
    pub fn add(&mut self, other: Compared) {
        self.by_bytes += other.by_bytes;
        self.by_meaning += other.by_meaning;
        self.meaning_ns += other.meaning_ns;
    }
}

/// What a lane has learnt, shared by its connections.
#[derive(Clone)]
pub struct Forms(Rc<RefCell<Learnt>>);

struct Learnt {
    /// By the rule's address, which does not change while a lane runs, and the key of the request.
    forms: HashMap<(usize, u64), Vec<Template>>,
    bytes: usize,
    compared: Compared,
    /// Nanoseconds since any instant.
    clock: fn() -> u64,
    /// The beginning of a body, while it is compared with other forms.
    came: Vec<u8>,
}

impl fmt::Debug for Forms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Forms")
    }
}

/// Follows one body as it arrives.
#[derive(Debug)]
pub(crate) enum JsonBody {
    /// So far, it is this one of the forms, up to here; so many bytes have come.
    Like {
        form: usize,
        cursor: Cursor,
        len: usize,
    },
    /// It has none of them: its bytes.
    Kept(Vec<u8>),
    TooLong,
}

impl Default for JsonBody {
    fn default() -> JsonBody {
        JsonBody::Like { form: 0, cursor: Cursor::default(), len: 0 }
    }
}

impl JsonBody {
    pub(crate) fn take(
        &mut self,
        rule: &JsonRule,
        bytes: &[u8],
        values: Values,
        forms: Option<&Forms>,
    ) {
        let next = match self {
            JsonBody::Like { form, cursor, len } => {
                let learnt = forms.map(|forms| forms.0.borrow_mut());
                let Some(mut learnt) = learnt else { return *self = JsonBody::Kept(bytes.into()) };
                let known = learnt.known(rule, values);
                if known.get(*form).is_some_and(|it| it.matches(cursor, bytes, values)) {
                    *len += bytes.len();
                    return;
                }
                learnt.other_form(rule, values, (*form, *len), bytes)
            }
            JsonBody::Kept(kept) if kept.len() + bytes.len() <= BODY_MAX => {
                return kept.extend_from_slice(bytes);
            }
            JsonBody::Kept(_) | JsonBody::TooLong => JsonBody::TooLong,
        };
        *self = next;
    }

    /// Whether the body, now whole, means what it must.
    pub(crate) fn is_right(
        &mut self,
        rule: &JsonRule,
        values: Values,
        forms: Option<&Forms>,
    ) -> bool {
        let mut learnt = forms.map(|forms| forms.0.borrow_mut());
        let body = match (std::mem::take(self), &mut learnt) {
            (JsonBody::Kept(body), _) => body,
            (JsonBody::TooLong, _) | (JsonBody::Like { .. }, None) => return false,
            (JsonBody::Like { form, cursor, len }, Some(learnt)) => {
                match learnt.known(rule, values).get(form) {
                    None => return false,
                    Some(known) if known.is_over(cursor) => {
                        learnt.compared.by_bytes += 1;
                        return true;
                    }
                    Some(known) => known.beginning(len, values),
                }
            }
        };
        match learnt {
            None => rule.fault(&body, values).is_none(),
            Some(mut learnt) => learnt.judge(rule, values, body),
        }
    }
}

impl Forms {
    /// Nothing is known yet. `clock` says how long the parsing takes.
    #[must_use]
    pub fn new(clock: fn() -> u64) -> Forms {
        let (forms, compared) = (HashMap::new(), Compared::default());
        Forms(Rc::new(RefCell::new(Learnt { forms, bytes: 0, compared, clock, came: Vec::new() })))
    }

    /// How bodies were compared since this was asked last.
    #[must_use]
    pub fn take(&self) -> Compared {
        std::mem::take(&mut self.0.borrow_mut().compared)
    }
}

impl Learnt {
    fn key(rule: &JsonRule, values: Values) -> (usize, u64) {
        (std::ptr::from_ref(rule) as usize, rule.key(values))
    }

    fn known(&self, rule: &JsonRule, values: Values) -> &[Template] {
        self.forms.get(&Learnt::key(rule, values)).map_or(&[], Vec::as_slice)
    }

    /// A body that began like this form does not go on like it with these bytes: a later form that it has, or else what
    /// came of it.
    fn other_form(
        &mut self,
        rule: &JsonRule,
        values: Values,
        (form, len): (usize, usize),
        bytes: &[u8],
    ) -> JsonBody {
        let mut came = std::mem::take(&mut self.came);
        came.clear();
        let known = self.known(rule, values);
        if let Some(known) = known.get(form) {
            known.fill_from(&mut Cursor::default(), values, len, &mut came);
        }
        came.extend_from_slice(bytes);
        let like = |(form, known): (usize, &Template)| {
            let mut cursor = Cursor::default();
            let is_like = known.matches(&mut cursor, &came, values);
            is_like.then_some(JsonBody::Like { form, cursor, len: came.len() })
        };
        let found = known.iter().enumerate().skip(form + 1).find_map(like);
        let found = found.unwrap_or_else(|| JsonBody::Kept(came.clone()));
        self.came = came;
        found
    }

    fn judge(&mut self, rule: &JsonRule, values: Values, body: Vec<u8>) -> bool {
        let began = (self.clock)();
        let is_right = rule.fault(&body, values).is_none();
        if is_right {
            self.learn(rule, values, body);
        }
        self.compared.by_meaning += 1;
        self.compared.meaning_ns += (self.clock)().saturating_sub(began);
        is_right
    }

    fn learn(&mut self, rule: &JsonRule, values: Values, body: Vec<u8>) {
        let forms = self.forms.entry(Learnt::key(rule, values)).or_default();
        let len = body.len();
        if forms.len() < FORMS_MAX
            && self.bytes + len <= BYTES_MAX
            && let Some(form) = rule.form(body, values)
        {
            self.bytes += len;
            forms.push(form);
        }
    }
}

#[cfg(test)]
mod tests;
