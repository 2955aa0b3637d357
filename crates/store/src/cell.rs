//! One value in one column: how each type of dyno is written there, and how it is read back.

use rusqlite::types::{Value, ValueRef};

/// A row's values, after the columns that say which record owns it.
pub(crate) type Row = Vec<Value>;

/// A type that can be written to a column.
pub(crate) trait Cell: Sized {
    /// The value as it is written there.
    fn cell(&self) -> Value;
    /// The value read back; or a description of what it should have been.
    fn read(value: Value) -> Result<Self, String>;
}

/// A value that takes one column, or several that stand together.
pub(crate) trait Columns: Sized {
    fn put(&self, row: &mut Row);
    fn take(row: &mut RowReader) -> Result<Self, String>;
}

impl<T: Cell> Columns for T {
    fn put(&self, row: &mut Row) {
        row.push(self.cell());
    }

    fn take(row: &mut RowReader) -> Result<T, String> {
        T::read(row.value()?)
    }
}

impl<A: Columns, B: Columns> Columns for (A, B) {
    fn put(&self, row: &mut Row) {
        self.0.put(row);
        self.1.put(row);
    }

    fn take(row: &mut RowReader) -> Result<(A, B), String> {
        Ok((row.next()?, row.next()?))
    }
}

/// A row of values, in the order of the table's columns.
macro_rules! row {
    ($($value:expr),*) => {{
        let mut row = $crate::cell::Row::new();
        $($crate::cell::Columns::put(&$value, &mut row);)*
        row
    }};
}
pub(crate) use row;

/// A row that is being read, column by column.
pub(crate) struct RowReader(std::vec::IntoIter<Value>);

impl RowReader {
    pub(crate) fn of(row: Row) -> RowReader {
        RowReader(row.into_iter())
    }

    pub(crate) fn value(&mut self) -> Result<Value, String> {
        self.0.next().ok_or_else(|| "a row is too short".into())
    }

    pub(crate) fn next<T: Columns>(&mut self) -> Result<T, String> {
        T::take(self)
    }
}

/// A copy of the value in the database. Damaged text need not be UTF-8.
pub(crate) fn copied(value: ValueRef<'_>) -> Result<Value, String> {
    Ok(match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Value::Text(text.to_string()),
            Err(_) => return Err("a text is not UTF-8".to_string()),
        },
    })
}

fn misfit<T>(wanted: &str, value: &Value) -> Result<T, String> {
    let found = match value {
        Value::Null => "nothing".to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => format!("{text:.40?}"),
        Value::Blob(bytes) => format!("{} bytes", bytes.len()),
    };
    Err(format!("{wanted} was expected and {found} found"))
}

impl Cell for u128 {
    // SQLite's integers end at 2^63-1. A larger number is written as text, where the column takes any type.
    fn cell(&self) -> Value {
        match i64::try_from(*self) {
            Ok(number) => Value::Integer(number),
            Err(_) => Value::Text(self.to_string()),
        }
    }

    fn read(value: Value) -> Result<u128, String> {
        let number = match &value {
            Value::Integer(number) => u128::try_from(*number).ok(),
            Value::Text(text) => text.parse().ok(),
            Value::Null | Value::Real(_) | Value::Blob(_) => None,
        };
        number.map_or_else(|| misfit("a whole number", &value), Ok)
    }
}

macro_rules! whole_numbers {
    ($($type:ty),*) => { $(
        impl Cell for $type {
            fn cell(&self) -> Value {
                (*self as u128).cell()
            }

            fn read(value: Value) -> Result<$type, String> {
                let number = u128::read(value)?;
                number.try_into().map_err(|_| format!("{number} is too large"))
            }
        }
    )* };
}
whole_numbers!(u64, u32, u16, u8, usize);

impl Cell for i64 {
    fn cell(&self) -> Value {
        Value::Integer(*self)
    }

    fn read(value: Value) -> Result<i64, String> {
        match value {
            Value::Integer(number) => Ok(number),
            other => misfit("a whole number", &other),
        }
    }
}

impl Cell for f64 {
    // SQLite stores a NaN as NULL, and -0.0 as 0: so the seal is computed over the values that SQLite returns.
    fn cell(&self) -> Value {
        if self.is_nan() { Value::Null } else { Value::Real(*self + 0.0) }
    }

    fn read(value: Value) -> Result<f64, String> {
        match value {
            Value::Real(number) => Ok(number),
            Value::Null => Ok(f64::NAN),
            other => misfit("a number", &other),
        }
    }
}

impl Cell for bool {
    fn cell(&self) -> Value {
        Value::Integer(i64::from(*self))
    }

    fn read(value: Value) -> Result<bool, String> {
        match value {
            Value::Integer(0) => Ok(false),
            Value::Integer(1) => Ok(true),
            other => misfit("0 or 1", &other),
        }
    }
}

impl Cell for String {
    fn cell(&self) -> Value {
        Value::Text(self.clone())
    }

    fn read(value: Value) -> Result<String, String> {
        match value {
            Value::Text(text) => Ok(text),
            other => misfit("a text", &other),
        }
    }
}

impl Cell for Vec<u8> {
    fn cell(&self) -> Value {
        Value::Blob(self.clone())
    }

    fn read(value: Value) -> Result<Vec<u8>, String> {
        match value {
            Value::Blob(bytes) => Ok(bytes),
            other => misfit("bytes", &other),
        }
    }
}

impl Cell for [u8; 32] {
    fn cell(&self) -> Value {
        Value::Blob(self.to_vec())
    }

    fn read(value: Value) -> Result<[u8; 32], String> {
        let bytes = Vec::read(value)?;
        bytes.try_into().map_err(|bytes: Vec<u8>| format!("a digest of {} bytes", bytes.len()))
    }
}

impl<T: Cell> Cell for Option<T> {
    fn cell(&self) -> Value {
        self.as_ref().map_or(Value::Null, Cell::cell)
    }

    fn read(value: Value) -> Result<Option<T>, String> {
        match value {
            Value::Null => Ok(None),
            value => T::read(value).map(Some),
        }
    }
}
