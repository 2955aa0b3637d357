//! Which servers and which cases a check is about, and the check from start to end.

pub(crate) mod aim;
pub(crate) mod choice;
pub(crate) mod interview;
