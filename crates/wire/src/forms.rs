//! The forms of right bodies that a lane has learnt. The first body for each key is parsed; later ones are compared with
//! it byte for byte as they arrive, and only one in another form is kept and parsed again. Rows of a database differ in
//! each body: what is compared there is the text around their numbers.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::file_body::{Delivered, FileBody, FileForms, Found};
use crate::file_rule::{Delivery, FileRule};
use crate::meaning::{Meaning, Statement};
use crate::rows::{RowCounter, RowForm, Rows};
use crate::tables::FORTUNES;
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
    forms: HashMap<(usize, u64), Vec<Form>>,
    /// By the rule's address.
    row_forms: HashMap<usize, Vec<RowForm>>,
    bytes: usize,
    compared: Compared,
    rows: RowCounter,
    /// What right bodies have said that are judged by when they came, too, by the number of the request.
    unheard: VecDeque<(u64, Statement)>,
    /// What is wrong with the last body that was found wrong, with the number of its request.
    fault: Option<(u64, String)>,
    /// The rows of one body.
    read: Vec<(u32, u32)>,
    /// Nanoseconds since any instant.
    clock: fn() -> u64,
    /// The beginning of a body, while it is compared with other forms.
    came: Vec<u8>,
    files: FileForms,
}

/// What bodies of one form equal, and what they say.
struct Form {
    template: Template,
    statement: Statement,
}

impl fmt::Debug for Forms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Forms")
    }
}

/// Follows one body as it arrives.
#[derive(Debug)]
pub(crate) enum MeantBody {
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

impl Default for MeantBody {
    fn default() -> MeantBody {
        MeantBody::Like { form: 0, cursor: Cursor::default(), len: 0 }
    }
}

impl MeantBody {
    pub(crate) fn take(
        &mut self,
        rule: &Meaning,
        bytes: &[u8],
        values: Values,
        forms: Option<&Forms>,
    ) {
        let next = match self {
            MeantBody::Like { form, cursor, len } => {
                let learnt = forms.map(|forms| forms.0.borrow_mut());
                let Some(mut learnt) = learnt else { return *self = MeantBody::Kept(bytes.into()) };
                let known = learnt.known(rule, values);
                if known.get(*form).is_some_and(|it| it.template.matches(cursor, bytes, values)) {
                    *len += bytes.len();
                    return;
                }
                learnt.other_form(rule, values, (*form, *len), bytes)
            }
            MeantBody::Kept(kept) if kept.len() + bytes.len() <= BODY_MAX => {
                return kept.extend_from_slice(bytes);
            }
            MeantBody::Kept(_) | MeantBody::TooLong => MeantBody::TooLong,
        };
        *self = next;
    }

    /// Whether the body, now whole, means what it must.
    pub(crate) fn is_right(
        &mut self,
        rule: &Meaning,
        values: Values,
        forms: Option<&Forms>,
    ) -> bool {
        let mut learnt = forms.map(|forms| forms.0.borrow_mut());
        let body = match (std::mem::take(self), &mut learnt) {
            (MeantBody::Kept(body), _) => body,
            (MeantBody::TooLong, _) | (MeantBody::Like { .. }, None) => return false,
            (MeantBody::Like { form, cursor, len }, Some(learnt)) => {
                match learnt.known(rule, values).get(form) {
                    None => return false,
                    Some(known) if known.template.is_over(cursor) => {
                        let statement = known.statement.clone();
                        learnt.compared.by_bytes += 1;
                        learnt.hear(rule, values, statement);
                        return true;
                    }
                    Some(known) => known.template.beginning(len, values),
                }
            }
        };
        match learnt {
            None => rule.judge(&body, values).is_ok(),
            Some(mut learnt) => learnt.judge(rule, values, &body),
        }
    }
}

impl Forms {
    /// Nothing is known yet. `clock` says how long the parsing takes.
    #[must_use]
    pub fn new(clock: fn() -> u64) -> Forms {
        Forms(Rc::new(RefCell::new(Learnt {
            forms: HashMap::new(),
            row_forms: HashMap::new(),
            bytes: 0,
            compared: Compared::default(),
            rows: RowCounter::default(),
            unheard: VecDeque::new(),
            fault: None,
            read: Vec::new(),
            clock,
            came: Vec::new(),
            files: FileForms::default(),
        })))
    }

    /// The rows of all right answers so far; none if none has any.
    #[must_use]
    pub fn rows(&self) -> Option<Rows> {
        Some(self.0.borrow().rows.counted()).filter(|rows| 0 < rows.answers)
    }

    /// What the right answer to the request of this number said, if that is judged by when it came. Answers are asked
    /// about in the order in which they came; each once.
    #[must_use]
    pub fn statement(&self, seq: u64) -> Option<Statement> {
        let unheard = &mut self.0.borrow_mut().unheard;
        let at = unheard.iter().position(|(of, _)| *of == seq)?;
        unheard.drain(..=at).next_back().map(|(_, statement)| statement)
    }

    /// Says what is wrong with the answer to this request, whose body by itself is right.
    pub fn blame(&self, seq: u64, says: String) {
        self.0.borrow_mut().fault = Some((seq, says));
    }

    /// What is wrong with the body of the answer to this request, if that was the last one found wrong.
    #[must_use]
    pub fn fault(&self, seq: u64) -> Option<String> {
        let learnt = self.0.borrow();
        learnt.fault.as_ref().filter(|(of, _)| *of == seq).map(|(_, says)| says.clone())
    }

    pub(crate) fn take_file(
        &self,
        body: &mut FileBody,
        rule: &FileRule,
        delivery: Delivery,
        bytes: &[u8],
        values: Values,
    ) {
        body.take(rule, delivery, bytes, values, Some(&self.0.borrow().files));
    }

    /// Whether a file, now whole, is what it must be. Right ones are counted.
    pub(crate) fn is_file_right(
        &self,
        body: &mut FileBody,
        rule: &FileRule,
        delivery: Delivery,
        values: Values,
    ) -> bool {
        let learnt = &mut *self.0.borrow_mut();
        let began = (learnt.clock)();
        let found = body.found(rule, delivery, values, Some(&mut learnt.files));
        match found {
            Some(Found::ByBytes) => learnt.compared.by_bytes += 1,
            Some(Found::Decoded) | None => {
                learnt.compared.by_meaning += 1;
                learnt.compared.meaning_ns += (learnt.clock)().saturating_sub(began);
            }
        }
        if found.is_some() {
            learnt.files.count(rule, delivery);
        }
        found.is_some()
    }

    /// How files have come since this was asked last; none if none has.
    #[must_use]
    pub fn take_delivered(&self) -> Option<Delivered> {
        let delivered = std::mem::take(&mut self.0.borrow_mut().files.delivered);
        (delivered != Delivered::default()).then_some(delivered)
    }

    /// How bodies were compared since this was asked last.
    #[must_use]
    pub fn take(&self) -> Compared {
        std::mem::take(&mut self.0.borrow_mut().compared)
    }
}

impl Learnt {
    fn key(rule: &Meaning, values: Values) -> (usize, u64) {
        (std::ptr::from_ref(rule) as usize, rule.key(values))
    }

    fn known(&self, rule: &Meaning, values: Values) -> &[Form] {
        self.forms.get(&Learnt::key(rule, values)).map_or(&[], Vec::as_slice)
    }

    /// A body that began like this form does not go on like it with these bytes: a later form that it has, or else what
    /// came of it.
    fn other_form(
        &mut self,
        rule: &Meaning,
        values: Values,
        (form, len): (usize, usize),
        bytes: &[u8],
    ) -> MeantBody {
        let mut came = std::mem::take(&mut self.came);
        came.clear();
        let known = self.known(rule, values);
        if let Some(known) = known.get(form) {
            known.template.fill_from(&mut Cursor::default(), values, len, &mut came);
        }
        came.extend_from_slice(bytes);
        let like = |(form, known): (usize, &Form)| {
            let mut cursor = Cursor::default();
            let is_like = known.template.matches(&mut cursor, &came, values);
            is_like.then_some(MeantBody::Like { form, cursor, len: came.len() })
        };
        let found = known.iter().enumerate().skip(form + 1).find_map(like);
        let found = found.unwrap_or_else(|| MeantBody::Kept(came.clone()));
        self.came = came;
        found
    }

    /// Judges a whole body: by the text around its rows, where one is known, or by its meaning.
    fn judge(&mut self, rule: &Meaning, values: Values, body: &[u8]) -> bool {
        let mut read = std::mem::take(&mut self.read);
        let address = std::ptr::from_ref(rule) as usize;
        let row_forms = self.row_forms.get(&address).map_or(&[][..], Vec::as_slice);
        let is_known = row_forms.iter().any(|form| form.read(body, rule, &mut read));
        if is_known {
            self.compared.by_bytes += 1;
            self.count(rule, values, &read);
        }
        self.read = read;
        is_known || self.judge_meaning(rule, values, body)
    }

    fn judge_meaning(&mut self, rule: &Meaning, values: Values, body: &[u8]) -> bool {
        let began = (self.clock)();
        let judged = rule.judge(body, values);
        let is_right = judged.is_ok();
        match judged {
            Ok(statement) => {
                self.learn(rule, values, body, &statement);
                match &statement {
                    Statement::Rows(rows) => self.count(rule, values, rows),
                    _ => self.hear(rule, values, statement),
                }
            }
            Err(says) => self.fault = Some((values.seq, says)),
        }
        self.compared.by_meaning += 1;
        self.compared.meaning_ns += (self.clock)().saturating_sub(began);
        is_right
    }

    fn count(&mut self, rule: &Meaning, values: Values, rows: &[(u32, u32)]) {
        self.rows.count(rule, rows);
        if rule.needs_times() {
            self.unheard.push_back((values.seq, Statement::Rows(rows.to_vec())));
        }
    }

    fn hear(&mut self, rule: &Meaning, values: Values, statement: Statement) {
        if let Statement::Fortunes { with_inserted } = statement {
            self.rows.count_page(FORTUNES + u32::from(with_inserted));
        }
        if rule.needs_times() {
            self.unheard.push_back((values.seq, statement));
        }
    }

    fn learn(&mut self, rule: &Meaning, values: Values, body: &[u8], statement: &Statement) {
        if let Statement::Rows(rows) = statement {
            let forms = self.row_forms.entry(std::ptr::from_ref(rule) as usize).or_default();
            if forms.len() < FORMS_MAX {
                forms.extend(RowForm::of(body, rows));
            }
            return;
        }
        let forms = self.forms.entry(Learnt::key(rule, values)).or_default();
        let len = body.len();
        if forms.len() < FORMS_MAX
            && self.bytes + len <= BYTES_MAX
            && let Some(template) = rule.form(body, values)
        {
            self.bytes += len;
            forms.push(Form { template, statement: statement.clone() });
        }
    }
}

#[cfg(test)]
mod tests;
