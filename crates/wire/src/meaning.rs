//! What a body means that may be written in many ways: JSON, a page of fortunes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::dataset::Dataset;
use crate::fortunes_page;
use crate::json::Json;
use crate::tables::{Tables, WORLDS};
use crate::template::{Number, Template, Values, sum};

/// What the body of an answer must mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Meaning {
    /// `{"items": …, "count": N}`: the first N items of a data set, each with its `total`, price × quantity × `times`.
    Items { dataset: Dataset, count: Number, times: Number },
    /// `{"sum": …, "count": N}` of the N integers that the request lists.
    Sum(u16),
    /// `{"id": …, "randomNumber": …}`: any row of `world`; where there is a count, a list of so many.
    Rows { tables: Tables, count: Option<u16> },
    /// Rows of `world`, a list of so many, each with the number that the server has just given it.
    Updated(u16),
    /// The page of all rows of `fortune`, and of one that the server adds.
    Fortunes {
        tables: Tables,
        #[serde(skip)]
        insertion: Insertion,
    },
}

/// What a right body says beside being right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    Nothing,
    /// These rows of `world`: id and number.
    Rows(Vec<(u32, u32)>),
    /// All fortunes, and whether the inserted one is among them.
    Fortunes {
        with_inserted: bool,
    },
}

/// When a row was inserted into `fortune` during the load: shared with the one who inserts it.
#[derive(Clone, Debug)]
pub struct Insertion(Arc<AtomicU64>);

impl Insertion {
    /// The row was there at this instant of the load's clock.
    pub fn committed(&self, at_ns: u64) {
        self.0.store(at_ns, Ordering::Release);
    }

    /// Whether an answer to a request that was sent then must have the row.
    #[must_use]
    pub fn is_due(&self, sent_ns: u64) -> bool {
        self.0.load(Ordering::Acquire) < sent_ns
    }
}

impl Default for Insertion {
    fn default() -> Insertion {
        Insertion(Arc::new(AtomicU64::new(u64::MAX)))
    }
}

impl PartialEq for Insertion {
    fn eq(&self, _: &Insertion) -> bool {
        true
    }
}

impl Meaning {
    /// The rule for a server that has this data set and these tables.
    #[must_use]
    pub fn with(&self, dataset: &Dataset, tables: &Tables) -> Meaning {
        match self {
            Meaning::Items { count, times, .. } => {
                Meaning::Items { dataset: dataset.clone(), count: *count, times: *times }
            }
            Meaning::Rows { count, .. } => Meaning::Rows { tables: tables.clone(), count: *count },
            Meaning::Fortunes { .. } => {
                Meaning::Fortunes { tables: tables.clone(), insertion: Insertion::default() }
            }
            Meaning::Sum(_) | Meaning::Updated(_) => self.clone(),
        }
    }

    /// How many rows of a table each answer has; none if its answers are not made of rows.
    #[must_use]
    pub fn rows(&self) -> Option<u32> {
        match self {
            Meaning::Rows { count, .. } => Some(count.unwrap_or(1).into()),
            Meaning::Updated(count) => Some((*count).into()),
            Meaning::Items { .. } | Meaning::Sum(_) | Meaning::Fortunes { .. } => None,
        }
    }

    /// Whether its answers are judged by when they came, too.
    #[must_use]
    pub fn needs_times(&self) -> bool {
        matches!(self, Meaning::Updated(_) | Meaning::Fortunes { .. })
    }

    /// Requests with equal keys have equal answers, but for a sum and for rows.
    pub(crate) fn key(&self, values: Values) -> u64 {
        match self {
            Meaning::Items { count, times, .. } => {
                (u64::from(count.of(values)) << 32) | u64::from(times.of(values))
            }
            Meaning::Sum(_)
            | Meaning::Rows { .. }
            | Meaning::Updated(_)
            | Meaning::Fortunes { .. } => 0,
        }
    }

    /// The value that a body of JSON must have, where that follows from the request.
    pub(crate) fn value(&self, values: Values) -> Option<Json> {
        match self {
            Meaning::Items { dataset, count, times } => {
                let (count, times) = (count.of(values), times.of(values));
                let items = dataset.items.iter().take(count as usize);
                Some(Json::object([
                    ("items", Json::List(items.map(|item| item.with_total(times)).collect())),
                    ("count", Json::Integer(count.into())),
                ]))
            }
            Meaning::Sum(count) => Some(Json::object([
                ("sum", Json::Integer(sum(*count, values) as i64)),
                ("count", Json::Integer((*count).into())),
            ])),
            Meaning::Rows { .. } | Meaning::Updated(_) | Meaning::Fortunes { .. } => None,
        }
    }

    /// What is expected, in words.
    pub(crate) fn described(&self, values: Values) -> String {
        match self {
            Meaning::Items { .. } | Meaning::Sum(_) => {
                let text = serde_json::to_string(&self.value(values)).unwrap_or_default();
                format!("JSON that means {text}")
            }
            Meaning::Rows { count: None, .. } => "JSON: a row of `world` as it was seeded".into(),
            Meaning::Rows { count: Some(count), .. } => {
                format!("JSON: a list of {count} rows of `world`, each as it was seeded")
            }
            Meaning::Updated(count) => {
                format!("JSON: a list of {count} rows of `world`, each with its new number")
            }
            Meaning::Fortunes { .. } => {
                "HTML: all rows of `fortune` and the added one, sorted by message, escaped".into()
            }
        }
    }

    /// What other bodies with the same key must equal to be right, as this one is: a sum is that of each request. None
    /// if it cannot be found in the body, because it is written in another form.
    pub(crate) fn form(&self, body: &[u8], values: Values) -> Option<Template> {
        match self {
            Meaning::Items { .. } | Meaning::Fortunes { .. } => Some(Template::literal(body)),
            Meaning::Sum(count) => Template::with_sum(body, *count, values),
            Meaning::Rows { .. } | Meaning::Updated(_) => None,
        }
    }

    /// What a whole body says, or in words what is wrong with it.
    pub fn judge(&self, body: &[u8], values: Values) -> Result<Statement, String> {
        if let Meaning::Fortunes { tables, .. } = self {
            let with_inserted = fortunes_page::judge(body, tables)?;
            return Ok(Statement::Fortunes { with_inserted });
        }
        let found =
            Json::parse(body).map_err(|says| format!("it is not JSON as it must be: {says}"))?;
        match (self, self.value(values)) {
            (_, Some(expected)) => expected.difference(&found).map_or(Ok(Statement::Nothing), Err),
            (Meaning::Rows { count: None, .. }, None) => {
                let row = row(&found, "it")?;
                self.judge_row(row, "it")?;
                Ok(Statement::Rows(vec![row]))
            }
            (_, None) => self.judge_list(&found),
        }
    }

    fn judge_list(&self, found: &Json) -> Result<Statement, String> {
        let wanted = self.rows().unwrap_or(0);
        let Json::List(list) = found else {
            return Err(format!("it is {found}; a list of {wanted} rows is expected"));
        };
        if list.len() != wanted as usize {
            return Err(format!("it has {} rows; {wanted} are expected", list.len()));
        }
        let judged = list.iter().enumerate().map(|(at, found)| {
            let place = format!("[{at}]");
            let row = row(found, &place)?;
            self.judge_row(row, &place)?;
            Ok(row)
        });
        judged.collect::<Result<Vec<_>, String>>().map(Statement::Rows)
    }

    fn judge_row(&self, (id, number): (u32, u32), place: &str) -> Result<(), String> {
        match (self, self.row_is_right(id, number)) {
            (_, true) => Ok(()),
            (Meaning::Rows { tables, .. }, false) => Err(match tables.number(id) {
                Some(seeded) => format!(
                    "`{place}` is row {id} with the number {number}; it was seeded with {seeded}"
                ),
                None => format!("`{place}` is row {id}, which is not in the table"),
            }),
            (_, false) => Err(format!(
                "`{place}` is row {id} with the number {number}; both go from 1 to {WORLDS}"
            )),
        }
    }

    /// Whether a row of `world` may be answered.
    pub(crate) fn row_is_right(&self, id: u32, number: u32) -> bool {
        match self {
            Meaning::Rows { tables, .. } => {
                tables.number(id).is_some_and(|it| u32::from(it) == number)
            }
            _ => (1..=WORLDS).contains(&id) && (1..=WORLDS).contains(&number),
        }
    }
}

/// A row of `world` and nothing else.
fn row(found: &Json, place: &str) -> Result<(u32, u32), String> {
    let wrong =
        || format!("`{place}` is {found}; `id` and `randomNumber`, two integers, are expected");
    let Json::Object(members) = found else { return Err(wrong()) };
    let member = |name| match members.get(name) {
        Some(Json::Integer(number)) => u32::try_from(*number).ok(),
        _ => None,
    };
    match (member("id"), member("randomNumber"), members.len()) {
        (Some(id), Some(number), 2) => Ok((id, number)),
        _ => Err(wrong()),
    }
}
