//! Other forms of a request that a server must accept as it accepts the usual one: made once, one chosen for each request.

use serde::{Deserialize, Serialize};
use units::named;

use crate::chance::{Chance, mix};
use crate::h2::Prepared;
use crate::template::{Template, Values};

named! {
    /// How a request is written, with what differs. The fields mean the same in each form (RFC 9110, 5.1 and 5.3; RFC 9112,
    /// 5).
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum RequestForm {
        AsWritten = "as written",
        /// Those of one name keep their order.
        Order = "another order of the fields",
        /// Lower case, upper case or both.
        Case = "another case of the field names",
        /// One more field, which no server knows.
        Unknown = "an unknown field",
        /// No, other or more spaces and tabs.
        Spaces = "other white space around the field values",
        /// The second one is sent later.
        Segments = "a head in two segments",
    }
}

impl RequestForm {
    /// Its place in `ALL`.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// One request of so many has a head in two segments.
const SEGMENTS_EACH: u64 = 100;

/// So many heads are made of each form.
const EACH: u64 = 8;

/// The forms of one kind of request, and which of its requests has which.
#[derive(Clone, Debug)]
pub(crate) struct Varied {
    seed: u64,
    /// Those that this kind of request can have.
    forms: Vec<RequestForm>,
    heads: Heads,
}

/// `EACH` for each form, in its order.
#[derive(Clone, Debug)]
enum Heads {
    Http1(Vec<Template>),
    Http2(Vec<Prepared>),
}

impl Varied {
    /// The forms of a head of HTTP/1.1, which is whole, or ends before the value of its last field.
    pub(crate) fn of_http1(head: &Template, seed: u64) -> Varied {
        let head = Lines::of(head);
        let mut forms = vec![RequestForm::Case, RequestForm::Unknown, RequestForm::Spaces];
        forms.extend(has_orders(&head.fields).then_some(RequestForm::Order));
        let varied = each(&forms, seed, |form, chance| head.varied(form, chance));
        Varied { seed, forms, heads: Heads::Http1(varied) }
    }

    /// The forms of the fields of HTTP/2, pseudo-header fields first. Names in upper case and white space around values
    /// are malformed there (RFC 9113, 8.2.1).
    pub(crate) fn of_http2(head: &Prepared, seed: u64) -> Varied {
        let usual = head.fields();
        let is_pseudo = |field: &&(String, Template)| field.0.starts_with(':');
        let (pseudo, fields) = usual.split_at(usual.iter().take_while(is_pseudo).count());
        let mut forms = vec![RequestForm::Unknown];
        forms.extend(has_orders(fields).then_some(RequestForm::Order));
        let varied = each(&forms, seed, |form, chance| {
            let is_order = form == RequestForm::Order;
            let fields =
                if is_order { reordered(fields, chance) } else { with_unknown(fields, chance) };
            head.with_fields([pseudo, &fields].concat())
        });
        Varied { seed, forms, heads: Heads::Http2(varied) }
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// Bits that the seed and the request's number determine.
    fn bits(&self, values: Values) -> u64 {
        mix(self.seed ^ mix(values.seq.wrapping_add(0x9e37_79b9_7f4a_7c15)))
    }

    fn is_in_segments(&self, bits: u64) -> bool {
        matches!(self.heads, Heads::Http1(_)) && bits.is_multiple_of(SEGMENTS_EACH)
    }

    /// Which head the request has; none: the usual one. All forms, and the usual one, are equally frequent.
    fn place(&self, values: Values) -> Option<usize> {
        let bits = self.bits(values);
        if self.is_in_segments(bits) {
            return None;
        }
        let place = (bits >> 32) % (EACH * (self.forms.len() as u64 + 1));
        place.checked_sub(EACH).map(|place| place as usize)
    }

    pub(crate) fn form(&self, values: Values) -> RequestForm {
        if self.is_in_segments(self.bits(values)) {
            return RequestForm::Segments;
        }
        self.place(values).map_or(RequestForm::AsWritten, |place| self.forms[place / EACH as usize])
    }

    /// Where the first segment ends, if the request that begins so has a head in two.
    pub(crate) fn cut(&self, values: Values, request: &[u8]) -> Option<usize> {
        let bits = self.bits(values);
        if !self.is_in_segments(bits) {
            return None;
        }
        let head = memchr::memmem::find(request, b"\r\n\r\n")? + b"\r\n\r\n".len();
        Some(1 + (bits >> 32) as usize % (head - 1))
    }

    pub(crate) fn http1(&self, values: Values) -> Option<&Template> {
        match &self.heads {
            Heads::Http1(heads) => heads.get(self.place(values)?),
            Heads::Http2(_) => None,
        }
    }

    pub(crate) fn http2(&self, values: Values) -> Option<&Prepared> {
        match &self.heads {
            Heads::Http1(_) => None,
            Heads::Http2(heads) => heads.get(self.place(values)?),
        }
    }

    pub(crate) fn http2_mut(&mut self) -> &mut [Prepared] {
        match &mut self.heads {
            Heads::Http1(_) => &mut [],
            Heads::Http2(heads) => heads,
        }
    }
}

fn each<T>(
    forms: &[RequestForm],
    seed: u64,
    mut make: impl FnMut(RequestForm, &mut Chance) -> T,
) -> Vec<T> {
    let all = forms.iter().flat_map(|form| (0..EACH).map(move |number| (*form, number)));
    let varied = all.map(|(form, number)| {
        make(form, &mut Chance::new(mix(seed) ^ (form.index() as u64 * EACH + number)))
    });
    varied.collect()
}

/// A name, and the value.
type Field = (String, Template);

/// A head of HTTP/1.1, line by line.
struct Lines {
    first: Template,
    fields: Vec<Field>,
    /// The name of the field whose value follows the head.
    open: Option<String>,
}

impl Lines {
    fn of(head: &Template) -> Lines {
        let mut lines = head.lines();
        let open = lines.pop().filter(|last| !last.is_empty());
        let mut lines = lines.into_iter().filter(|line| !line.is_empty());
        let first = lines.next().unwrap_or_else(|| Template::literal(*b""));
        let fields = lines.filter_map(Template::named).collect();
        Lines { first, fields, open: open.and_then(Template::named).map(|(name, _)| name) }
    }

    fn varied(&self, form: RequestForm, chance: &mut Chance) -> Template {
        let (fields, open) = (&self.fields, self.open.as_deref());
        match form {
            RequestForm::AsWritten | RequestForm::Segments => self.joined(": ", fields, open),
            RequestForm::Order => self.joined(": ", &reordered(fields, chance), open),
            RequestForm::Unknown => self.joined(": ", &with_unknown(fields, chance), open),
            RequestForm::Spaces => self.joined(":", &with_spaces(fields, chance), open),
            RequestForm::Case => {
                let all = fields.iter().map(|(name, _)| name.as_str()).chain(open);
                let mut names = in_other_case(&all.collect::<Vec<_>>(), chance);
                let open = self.open.as_ref().and_then(|_| names.pop());
                let values = fields.iter().map(|(_, value)| value.clone());
                let fields: Vec<Field> = names.into_iter().zip(values).collect();
                self.joined(": ", &fields, open.as_deref())
            }
        }
    }

    fn joined(&self, colon: &str, fields: &[Field], open: Option<&str>) -> Template {
        let mut head = self.first.clone();
        for (name, value) in fields {
            head =
                head.joined(Template::literal(format!("\r\n{name}{colon}"))).joined(value.clone());
        }
        head.joined(Template::literal(match open {
            Some(name) => format!("\r\n{name}: "),
            None => "\r\n\r\n".into(),
        }))
    }
}

/// Whether the fields have more than one name, so that their order can be another one.
fn has_orders(fields: &[Field]) -> bool {
    fields.iter().any(|(name, _)| !name.eq_ignore_ascii_case(&fields[0].0))
}

/// RFC 9110, 5.3: the order of fields with different names means nothing, and that of fields with the same name does.
fn reordered(fields: &[Field], chance: &mut Chance) -> Vec<Field> {
    let names: Vec<String> = fields.iter().map(|(name, _)| name.to_ascii_lowercase()).collect();
    let mut shuffled = names.clone();
    while shuffled == names {
        chance.shuffle(&mut shuffled);
    }
    let mut left: Vec<_> = names.iter().zip(fields).collect();
    let next = shuffled.iter().filter_map(|name| {
        let place = left.iter().position(|(other, _)| *other == name)?;
        Some(left.remove(place).1.clone())
    });
    next.collect()
}

/// RFC 9110, 5.1: fields that are not known are ignored.
fn with_unknown(fields: &[Field], chance: &mut Chance) -> Vec<Field> {
    let mut token = |letters: usize| -> String {
        (0..letters).map(|_| char::from(b'a' + chance.below(26) as u8)).collect()
    };
    let name = format!("x-unknown-{}", token(6));
    let value = Template::literal(token(12));
    let mut fields = fields.to_vec();
    fields.insert(chance.below(fields.len() + 1), (name, value));
    fields
}

/// RFC 9112, 5: white space before and after a value is no part of it.
fn with_spaces(fields: &[Field], chance: &mut Chance) -> Vec<Field> {
    const BEFORE: [&str; 5] = ["", " ", "  ", "\t", " \t "];
    const AFTER: [&str; 4] = ["", " ", "\t", "\t  "];
    let usual = (1, 0);
    let mut drawn = vec![usual; fields.len()];
    while drawn.iter().all(|gaps| *gaps == usual) {
        drawn.fill_with(|| (chance.below(BEFORE.len()), chance.below(AFTER.len())));
    }
    let spaced = |((name, value), (before, after)): (&Field, (usize, usize))| {
        let value = Template::literal(BEFORE[before]).joined(value.clone());
        (name.clone(), value.joined(Template::literal(AFTER[after])))
    };
    fields.iter().zip(drawn).map(spaced).collect()
}

/// RFC 9110, 5.1: the case of names means nothing.
fn in_other_case(names: &[&str], chance: &mut Chance) -> Vec<String> {
    loop {
        let style = chance.below(3);
        let mut in_case = |name: &&str| match style {
            0 => name.to_ascii_lowercase(),
            1 => name.to_ascii_uppercase(),
            _ => name.chars().map(|letter| in_any_case(letter, chance)).collect(),
        };
        let others: Vec<String> = names.iter().map(&mut in_case).collect();
        if others != names {
            return others;
        }
    }
}

fn in_any_case(letter: char, chance: &mut Chance) -> char {
    if chance.below(2) == 0 { letter.to_ascii_lowercase() } else { letter.to_ascii_uppercase() }
}

#[cfg(test)]
mod tests;
